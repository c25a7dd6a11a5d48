"""Detector for whole joints under each other's names: command and measurement agree, but gravity and coupling contradict.

Drivers and models disagree about which leg comes first more often than about anything else. A left leg under a right leg's name
follows its command as it should; what betrays it is the torque of its links. With the torque balance of `identify.seed`,

    τ(T_d) − link torque(q, q̇, q̈)  =  I_a q̈ + d q̇ + τ_f sgn(q̇) + P q_b,     I_a, d, τ_f ≥ 0,  |q_b| ≤ 0.05 rad,

the residual of every joint is compared with the one that it has when left and right exchange their names.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import lsq_linear

from surefoot.identify.finding import Case, Finding
from surefoot.identify.names import mirrored
from surefoot.identify.response import responses
from surefoot.identify.seed import balance, sampled
from surefoot.record.recording import Recording
from surefoot.record.validation import Array
from surefoot.robot.spec import Robot

PLAUSIBLE = 0.05  # [rad] an encoder offset up to here is an offset
CLEAR = 2.0  # the residuals of a pair fall by this factor, or nothing is said


def exchanged(case: Case) -> Iterator[Finding]:
    """Do left and right joints explain the motion better under each other's names?"""
    rec, pairs = case.recording, mirrored(case.recording.joints)
    if not pairs or not case.robot.model:
        return
    delays = [response.delay for response in responses(case) if response is not None]
    delay = max(float(np.median(delays)), 0.0) if delays else 0.0
    as_named, as_exchanged = (misfit(case.robot, candidate, delay) for candidate in (rec, rec.rename(_both_ways(rec, pairs))))
    gain = [float(np.sqrt(as_named[[i, j]].prod() / as_exchanged[[i, j]].prod())) for i, j in pairs]
    wrong = [pair for pair, g in zip(pairs, gain, strict=True) if g > CLEAR]
    if wrong:  # whole legs, or those joints alone?
        legs = _legs(case.robot, rec, wrong)
        best = min((legs, wrong), key=lambda some: np.log(misfit(case.robot, rec.rename(_both_ways(rec, some)), delay)).sum())
        told = " ".join(f"{old}={new}" for old, new in _both_ways(rec, best).items())
        yield case.say(
            "stop",
            "joint names",
            f"{', '.join(f'{rec.joints[i]} and {rec.joints[j]}' for i, j in wrong)} carry each other's names: exchanged, the "
            f"links' weight and inertia explain their torque {max(gain):.2g} times better.",
            f"look up the joint order of the driver that made the log; --rename {told} exchanges them (in Python: "
            "recording.rename({...})).",
            sorted(rec.joints[i] for pair in wrong for i in pair),
        )


def _both_ways(rec: Recording, pairs: list[tuple[int, int]]) -> dict[str, str]:
    """{name: other name} of every joint in these pairs."""
    return {rec.joints[i]: rec.joints[j] for pair in pairs for i, j in (pair, pair[::-1])}


def misfit(robot: Robot, rec: Recording, delay: float) -> Array:
    """What the torque balance leaves unexplained of each joint [N·m rms], shape (n,); 1 where it was hardly driven."""
    speed, acceleration, left, stiffness = balance(robot, rec, sampled(robot, rec), delay)
    out = np.ones(rec.n)
    for j in range(rec.n):
        usable = np.isfinite(left[:, j])
        if np.count_nonzero(usable) < 20:
            continue
        v, torque = speed[usable, j], left[usable, j]
        crawl = 0.05 * np.sqrt((v**2).mean()) + 1e-9
        design = np.stack([acceleration[usable, j], v, np.tanh(v / crawl), np.ones_like(v)], axis=1)
        scale = np.sqrt((design**2).mean(axis=0)) + 1e-30
        offset = PLAUSIBLE * stiffness[usable, j].mean() + 1e-12
        answer = lsq_linear(design / scale, torque, bounds=([0.0, 0.0, 0.0, -offset], [np.inf, np.inf, np.inf, offset])).x
        out[j] = np.sqrt(((torque - design @ (answer / scale)) ** 2).mean()) + 1e-12
    return out


def _legs(robot: Robot, rec: Recording, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """All left and right pairs of the branches that these pairs belong to: a leg goes by one name."""
    from surefoot.simulate.physics import Physics, hung_model, hung_order
    from surefoot.simulate.tree import branches

    model = hung_model(robot, rec.joints, Physics())
    branch_of = {int(dof): b for b, branch in enumerate(branches(model)) for dof in branch.dofs}
    branch = [branch_of[int(dof)] for dof in hung_order(model, rec.joints)]
    touched = {branch[i] for pair in pairs for i in pair}
    return [(i, j) for i, j in mirrored(rec.joints) if branch[i] in touched]
