"""Motions to excite the joints with: kinds, sizes, bands, and legs that mirror each other."""

from surefoot.record.excitation.motion import Excitation
from surefoot.record.excitation.recipe import Recipe, recipe
from surefoot.record.excitation.shapes import SHAPES
from surefoot.record.excitation.sweeps import chirp, steps

__all__ = ["SHAPES", "Excitation", "Recipe", "chirp", "recipe", "steps"]
