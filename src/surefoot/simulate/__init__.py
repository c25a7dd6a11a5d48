"""The only place that knows a physics engine: in-air replay by a compiled kernel, and MuJoCo beside it."""

from surefoot.simulate.inair import InAir
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference
from surefoot.simulate.rehearsal import rehearse
from surefoot.simulate.replay import Engine, Replay, engine, replay

__all__ = ["Engine", "InAir", "Physics", "Reference", "Replay", "engine", "rehearse", "replay"]
