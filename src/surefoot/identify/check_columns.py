"""Detectors for what was logged: degrees, a copied command, swapped joints, a wrong sign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from surefoot.identify.finding import Case, Finding
from surefoot.record.validation import Array, Flags

DEGREES = 180.0 / np.pi


def copied(case: Case) -> Iterator[Finding]:
    """Is the measurement the command itself?"""
    rec = case.recording
    same = np.zeros(rec.n, bool)
    for k in np.flatnonzero(case.excited):
        u, q = rec.target[:, k], rec.position[:, k]
        for shift in range(min(20, len(u) // 4)):
            difference = q[shift:] - u[: len(u) - shift]
            same[k] |= bool(np.std(difference) < 1e-4 * np.std(u))
    if same.any():
        yield case.say(
            "stop",
            "measurement",
            f"the measured position of {', '.join(case.names(same))} is the command itself: the log holds the command twice.",
            "log the encoder, not the set-point that the drive reports back.",
            case.names(same),
        )


def units(case: Case) -> Iterator[Finding]:
    """Radians, or degrees, or one of each?"""
    rec, q = case.recording, case.recording.position
    lower, upper = case.of_robot(case.robot.lower), case.of_robot(case.robot.upper)
    reach = np.where(np.isfinite(upper - lower), upper - lower, 4 * np.pi)
    outside = (q.max(axis=0) > upper + 0.2) | (q.min(axis=0) < lower - 0.2) | ~np.isfinite(upper - lower)
    largest = np.maximum(np.where(np.isfinite(upper - lower), np.maximum(np.abs(lower), np.abs(upper)), 4 * np.pi), 1.0)
    no_load = case.of_robot(case.robot.no_load_speed)
    fast = np.quantile(np.abs(case.velocity), 0.995, axis=0) > np.maximum(60.0, np.where(no_load < np.inf, 3 * no_load, 0))
    wide = outside & ((np.ptp(q, axis=0) > 1.05 * reach) | (np.abs(q).max(axis=0) > 3 * largest))
    slope, likeness = _tracking(case)
    mixed = case.hinge & case.excited & (np.abs(likeness) > 0.8) & (np.abs(np.log(np.abs(slope) + 1e-12)) > np.log(25.0))
    mixed &= np.abs(np.abs(np.log(np.abs(slope) + 1e-12)) - np.log(DEGREES)) < np.log(2.0)
    degrees = case.hinge & (wide | fast) & ~mixed & ~np.logical_or(*_at_motor(case))
    if degrees.any():
        worst = int(np.argmax(np.ptp(q, axis=0) * degrees))
        yield case.say(
            "stop",
            "units",
            f"{rec.joints[worst]} spans {np.ptp(q[:, worst]):.3g} and moves at "
            f"{np.abs(case.velocity[:, worst]).max():.3g} per second: as radians that is impossible, so these are degrees "
            "(or the motor's angles in front of its gear: --motor-side PATTERN=RATIO).",
            "--degrees (in Python: recording.in_radians()).",
            case.names(degrees),
        )
    if mixed.any():
        worst = int(np.flatnonzero(mixed)[0])
        which = "position" if abs(slope[worst]) > 1 else "target"
        yield case.say(
            "stop",
            "units",
            f"the position of {rec.joints[worst]} moves {abs(slope[worst]):.3g} times as far as its target: the "
            f"{which} is in degrees and the other in radians.",
            f"convert it and save the log again: recording.replace({which}=np.deg2rad(recording.{which})).save(...).",
            case.names(mixed),
        )
    if not (degrees.any() or mixed.any()):
        yield case.say("ok", "units", f"positions span up to {np.ptp(q, axis=0).max():.3g} rad (or m).")


def motor_side(case: Case) -> Iterator[Finding]:
    """Is one of position and target the motor's and the other the joint's?"""
    rec, gear = case.recording, case.of_robot(case.robot.gear_ratio).mean(axis=1)
    measured, commanded = _at_motor(case)
    odd = measured | commanded
    if odd.any():
        j = int(np.flatnonzero(odd)[0])
        size = np.abs(_tracking(case)[0])
        side, ratio = ("measured", float(size[j])) if measured[j] else ("commanded", float(1.0 / size[j]))
        ratio = float(gear[j]) if abs(np.log(ratio / gear[j])) < np.log(1.1) else ratio  # nan: the robot's is not known
        yield case.say(
            "stop",
            "units",
            f"the position of {rec.joints[j]} moves {size[j]:.3g} times as far as its target: the {side} angle is probably the "
            f"motor's, in front of a gear of ratio {ratio:.3g}, and the other the joint's.",
            f"--motor-side {side}:{rec.joints[j]}={ratio:.3g}, with the exact ratio (in Python: recording.at_joint(...)).",
            case.names(odd),
        )


def _at_motor(case: Case) -> tuple[Flags, Flags]:
    """Joints whose (measured, commanded) angle alone looks like the motor's, each of shape (n,).

    A drive may follow little, so a small motion is the command's fault only where it shows the robot's own gear ratio.
    """
    gear = case.of_robot(case.robot.gear_ratio).mean(axis=1)
    slope, likeness = _tracking(case)
    size = np.abs(slope) + 1e-12
    follows = case.excited & (np.abs(likeness) > 0.8)
    degrees = np.abs(np.log(size / DEGREES)) < np.log(2.0)  # against radians, which `units` reports
    known = np.isfinite(gear) & (gear > 1.2)
    shows = np.abs(np.log(size * np.where(known, gear, 1.0))) < np.log(1.1)
    return follows & (size > 2.5) & ~degrees, follows & known & shows


def order_and_sign(case: Case) -> Iterator[Finding]:
    """Does each joint follow its own command, in its own direction?"""
    rec = case.recording
    _, likeness = _tracking(case)
    flipped = case.excited & (likeness < -0.5)
    u, q = (case.low_pass(x, _slow(case)) for x in (case.target, case.position))
    cost = np.sqrt(np.mean((u[:, :, None] - q[:, None, :]) ** 2, axis=0))  # target i against position j
    stay = 0.2 * u.std(axis=0).mean() * (1 - np.eye(rec.n))  # among equals, a joint keeps its own column
    partner = linear_sum_assignment(cost + stay)[1]
    own, others = np.diag(cost), cost[np.arange(rec.n), partner]
    swapped = (partner != np.arange(rec.n)) & (others < 0.4 * own) & (own > np.maximum(0.3 * u.std(axis=0), 0.005))
    for _ in range(rec.n):  # a swap counts when every joint in its circle agrees
        swapped &= swapped[partner]
    if swapped.any():
        pairs = [f"{rec.joints[partner[i]]} moves as {rec.joints[i]} is told" for i in np.flatnonzero(swapped)]
        yield case.say(
            "stop",
            "joint order",
            f"columns are swapped: {', '.join(pairs)} (tracking error {others[swapped].max():.3g} instead of "
            f"{own[swapped].min():.3g} rad).",
            "correct the order of the joint names of the target or of the position columns before the Recording is made.",
            case.names(swapped),
        )
    flipped &= ~swapped
    if flipped.any():
        message = f"{', '.join(case.names(flipped))} moves against its command (correlation {likeness[flipped].max():.2f})"
        remedy = "negate that column of position (or of target), in the direction of the model's axis"
        if twins := _opposite(case, flipped):
            message += f": its sign is wrong, or columns are swapped between joints that are told the opposite ({twins})."
            remedy = f"move one joint alone to see which: if another answers, correct the order of the columns; else {remedy}."
        else:
            message, remedy = f"{message}: the encoder or the command counts the other way round.", f"{remedy}."
        yield case.say("stop", "sign", message, remedy, case.names(flipped))
    told = (np.ptp(rec.target, axis=0) > 1e-6) & (rec.stiffness > 0)
    moved = np.ptp(rec.position, axis=0) >= 0.05 * np.ptp(rec.target, axis=0)
    if told.any() and not (swapped.any() or flipped.any()) and (moved & (likeness > 0.5))[told].all():
        who = "every joint" if told.all() else f"each of the {told.sum()} joints that are told to move"
        yield case.say("ok", "joint order", f"{who} follows its own command in its own direction.")


def _opposite(case: Case, flipped: Flags) -> str:
    """Pairs among these joints whose commands mirror each other."""
    at = np.flatnonzero(flipped)
    u = case.target[:, at] - case.target[:, at].mean(axis=0)
    u = u / (np.sqrt((u * u).sum(axis=0)) + 1e-30)
    rows, columns = np.nonzero(np.triu(u.T @ u < -0.9))
    names = case.recording.joints
    return ", ".join(f"{names[at[i]]} and {names[at[j]]}" for i, j in zip(rows, columns, strict=True))


def _tracking(case: Case) -> tuple[Array, Array]:
    """Slope and correlation of slow position against slow target, each of shape (n,)."""
    u, q = (case.low_pass(x, _slow(case)) for x in (case.target, case.position))
    u, q = u - u.mean(axis=0), q - q.mean(axis=0)
    both, uu, qq = (u * q).sum(axis=0), (u * u).sum(axis=0) + 1e-30, (q * q).sum(axis=0) + 1e-30
    return both / uu, both / np.sqrt(uu * qq)


def _slow(case: Case) -> float:
    """A frequency below which drives follow: the lowest quarter of the command's power, 0.3 to 2 Hz."""
    u = case.target - case.target.mean(axis=0)
    power = np.cumsum((np.abs(np.fft.rfft(u, axis=0)) ** 2).sum(axis=1))
    f = np.fft.rfftfreq(len(u), case.dt)
    return float(np.clip(f[np.searchsorted(power, 0.25 * power[-1])], 0.3, 2.0))
