"""Joints as they may turn out to be: a nominal guess before anything is measured, and the extremes around it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_inertia

PUBLISHED, GUESSED, FITTED = 1.6, 2.5, 1.15
"""Factors within which joint dynamics are expected to lie: published ones of the same type, a guess, a fit of this robot."""
DELAY = 0.005  # [s] of a drive of which nothing is known
DAMPING = 0.15  # of critical, likewise
FRICTION = 0.01  # of the stiffness times 1 rad, likewise


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlook:
    """Joint dynamics, one expected and eight extreme, as a batch of nine; and what each of them is."""

    candidates: JointDynamics  # batch (9,), the expected one first
    names: tuple[str, ...]
    origin: str  # where the expected ones come from, for the reader

    @property
    def expected(self) -> JointDynamics:
        """The nominal dynamics."""
        return self.candidates.lane(0)


def expected(robot: Robot, stiffness: ArrayLike) -> tuple[JointDynamics, float, str]:
    """What is known of the robot's joints, the factor that it may be off by, and where it comes from.

    Without published dynamics: a rotor as heavy as the links that it moves, 15 % of critical damping, friction of 10 mrad
    of the stiffness, 5 ms of delay.
    """
    if robot.dynamics is not None:
        return robot.dynamics, PUBLISHED, f"published for {robot.name}"
    p, links = np.broadcast_to(np.asarray(stiffness, float), (robot.n,)), link_inertia(robot, robot.joints)
    armature = links
    dynamics = JointDynamics(
        joints=robot.joints, armature=armature, damping=DAMPING * 2 * np.sqrt(p * (links + armature)), friction=FRICTION * p,
        bias=np.zeros(robot.n), delay=np.array([DELAY]),
    )  # fmt: skip
    return dynamics, GUESSED, "guessed from the links and the gains (robot.toml has no [dynamics])"


def outlook(
    robot: Robot, stiffness: ArrayLike, *, dynamics: JointDynamics | None = None, factor: float | None = None
) -> Outlook:  # fmt: skip
    """The expected joint dynamics (or those given, as of a fit) and all corners of light/heavy, loose/tight, prompt/late."""
    known, spread, origin = expected(robot, stiffness) if dynamics is None else (dynamics, FITTED, "as given")
    known, s = known.ordered_for(robot.joints), spread if factor is None else factor
    batch, names = [known], ["as expected"]
    words = (("light", "heavy"), ("little damped", "much damped"), ("prompt", "late"))
    for corner in itertools.product((0, 1), repeat=3):
        inertia, loss, delay = ((1 / s, s)[k] for k in corner)
        batch.append(
            known.replace(
                armature=known.armature * inertia, damping=known.damping * loss, friction=known.friction * loss,
                delay=known.delay * delay,
            )
        )  # fmt: skip
        names.append(", ".join(pair[k] for pair, k in zip(words, corner, strict=True)))
    return Outlook(candidates=JointDynamics.stack(batch), names=tuple(names), origin=origin)
