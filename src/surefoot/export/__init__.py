"""Joint dynamics into other people's simulators, with proof."""

from surefoot.export.prove import Check, Probe, Proof, prove
from surefoot.export.targets import TARGETS, Export, export
from surefoot.export.values import Values, fit_hash, values_of

__all__ = ["TARGETS", "Check", "Export", "Probe", "Proof", "Values", "export", "fit_hash", "prove", "values_of"]
