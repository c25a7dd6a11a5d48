"""The demonstration: an ANYmal hung in the air whose joint dynamics are hidden, recorded, fitted and held against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.excitation import chirp, steps
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.rehearsal import rehearse

NOISE = 3e-4  # [rad] of the encoders
COLOUR = 0.6  # correlation of the noise from one sample to the next
RESOLUTION = 2 * np.pi / 2**15  # [rad] of the encoders


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """A robot, its secret, and what it gave away."""

    robot: Robot
    truth: JointDynamics
    fitted: Recording  # a chirp
    held_out: tuple[Recording, ...]  # other gains, random steps


def hidden_robot(name: str, seed: int) -> Hidden:
    """A bundled robot whose joint dynamics are drawn around its published ones, and three recordings of it."""
    if seed < 0:
        raise SurefootError(f"seed is {seed}; expected a whole number >= 0.")
    robot = Robot.load(name)
    if robot.dynamics is None:
        raise SurefootError(f"{name} has no published joint dynamics to draw around; try anymal, tytan or minimal.")
    rng, known = np.random.default_rng(seed), robot.dynamics
    truth = known.replace(
        armature=known.armature * rng.uniform(0.6, 1.5, robot.n),
        damping=(known.damping + 0.02 * robot.damping) * rng.uniform(0.6, 1.5, robot.n),
        friction=known.friction * rng.uniform(0.5, 2.0, robot.n),
        bias=rng.uniform(-0.03, 0.03, robot.n),
        delay=rng.uniform(0.003, 0.012, 1),
    )
    world: dict[str, Any] = {"noise": NOISE, "colour": COLOUR, "resolution": RESOLUTION}
    sweep = chirp(robot, stop_hz=8.0)
    return Hidden(
        robot=robot,
        truth=truth,
        fitted=rehearse(robot, truth, sweep, seed=seed + 1, name="chirp", **world),
        held_out=(
            rehearse(
                robot,
                truth,
                sweep,
                stiffness=1.6 * robot.stiffness,
                damping=2 * robot.damping,
                seed=seed + 2,
                name="other-gains",
                **world,
            ),
            rehearse(robot, truth, steps(robot, seed=seed), seed=seed + 3, name="steps", **world),
        ),
    )


def keep(hidden: Hidden, folder: Path) -> None:
    """Write the recordings beside the fit."""
    folder.mkdir(parents=True, exist_ok=True)
    for rec in (hidden.fitted, *hidden.held_out):
        rec.save(folder / f"{rec.name}.npz")
