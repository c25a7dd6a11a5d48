"""A world's whole state, taken out and put back: what a resumed training needs to go on to the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from surefoot.simulate.on_ground import OnGround

DRIVES = ("past", "fresh", "seen", "efforts", "starting")


def snapshot(world: OnGround) -> dict[str, Any]:
    """Positions, velocities, the solver's last answer, commands on their way: all that the next step depends on."""
    qpos, qvel = world.stepper.state()
    kept = {"qpos": np.array(qpos), "qvel": np.array(qvel), "home": world._home.copy(), "diverged": world.diverged}
    kept |= {"friction": world.friction.copy(), "wrench": world.wrench.copy()}
    warm = _warm(world)
    kept |= {} if warm is None else {"warm": np.array(warm)}
    return kept | {name: getattr(world.drives, name).copy() for name in DRIVES}


def restore(world: OnGround, kept: dict[str, Any]) -> None:
    """The inverse of `snapshot`."""
    world.stepper.put(np.arange(world.robots), kept["qpos"], kept["qvel"])
    warm = _warm(world)
    if warm is not None:
        warm[:] = kept["warm"]
    world._home, world.diverged = kept["home"].copy(), kept["diverged"]
    world.friction[:], world.wrench[:] = kept["friction"], kept["wrench"]
    for name in DRIVES:
        setattr(world.drives, name, kept[name].copy())


def _warm(world: OnGround) -> Any:
    """Where the engine keeps the accelerations that its solver starts from, if it can be reached."""
    batch = getattr(world.stepper, "batch", None)
    return None if batch is None else batch.bind("qacc_warmstart")
