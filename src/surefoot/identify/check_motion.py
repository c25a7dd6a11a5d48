"""Detectors for what the drives did: stand still, saturate, run into stops, work under other gains."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefoot.identify.finding import Case, Finding
from surefoot.identify.response import HEALTHY_DELAY, responses
from surefoot.record.validation import Array
from surefoot.robot.drive import gear_ratio, torque_bounds


def follows(case: Case) -> Iterator[Finding]:
    """Does every commanded joint move at all?"""
    reach, commanded = np.ptp(case.position, axis=0), np.ptp(case.target, axis=0)
    stuck = case.excited & (case.recording.stiffness > 0) & (reach < 0.05 * commanded)
    if stuck.any():
        worst = int(np.flatnonzero(stuck)[0])
        yield case.say(
            "stop",
            "following",
            f"{case.recording.joints[worst]} was commanded over {commanded[worst]:.3g} rad but moved {reach[worst]:.2g} rad.",
            "look for a disabled drive, a blocked joint or a wrong channel; leave the joint out with "
            "--select or --prescribe; torque-off segments need the channel enabled.",
            case.names(stuck),
        )


def saturation(case: Case) -> Iterator[Finding]:
    """Did the drives run into their torque limit or their torque-speed envelope?"""
    rec, robot = case.recording, case.robot
    q, v = (np.zeros((len(case.grid), robot.n)) for _ in range(2))
    q[:] = robot.posture
    q[:, case.columns], v[:, case.columns] = case.position, case.velocity
    low, high = (bound[:, case.columns] for bound in torque_bounds(robot, q, v))
    delays = [r.delay for r in responses(case) if r is not None]
    shift = round(max(float(np.median(delays)), 0.0) / case.dt) if delays else 0
    u = np.concatenate([np.repeat(case.target[:1], shift, axis=0), case.target[: len(case.target) - shift]])
    wanted = _torque(case, u)
    over = ((wanted > high) | (wanted < low)) & case.used
    share = over.mean(axis=0)
    clipped = share > 0.002
    if clipped.any():
        worst = int(np.argmax(share))
        limit = np.maximum(np.abs(low), np.abs(high))[:, worst].max()
        yield case.say(
            "warn",
            "saturation",
            f"the gains of {rec.joints[worst]} ask for up to {np.abs(wanted[:, worst]).max():.3g} N·m where the drive "
            f"has {limit:.3g} N·m; it saturates in {100 * share[worst]:.1f} % of the samples, which say little about the "
            "joint.",
            f"divide the amplitude of {rec.joints[worst]} by {np.abs(wanted[:, worst]).max() / limit:.2g}, or end the "
            "chirp at a lower frequency.",
            case.names(clipped),
        )
    ratio = np.where(robot.geared, gear_ratio(robot, q), 1.0)
    top = (robot.no_load_speed / ratio)[:, case.columns].mean(axis=0)
    rate = np.quantile(np.abs(np.gradient(case.target, case.dt, axis=0)), 0.95, axis=0)
    if (fast := rate > top).any():
        worst = int(np.argmax(rate / top))
        yield case.say(
            "warn",
            "saturation",
            f"{rec.joints[worst]} is commanded at {rate[worst]:.3g} rad/s; its drive ends at {top[worst]:.3g} rad/s.",
            "reduce the amplitude or the highest frequency of the chirp.",
            case.names(fast),
        )
    if not (clipped.any() or fast.any()):
        yield case.say("ok", "saturation", f"at most {100 * share.max(initial=0):.1f} % of the samples saturate.")


def limits(case: Case) -> Iterator[Finding]:
    """Did a joint touch its stops, or is its zero elsewhere?"""
    rec, q = case.recording, case.recording.position
    lower, upper = case.of_robot(case.robot.lower), case.of_robot(case.robot.upper)
    beyond = np.maximum(q.max(axis=0) - upper, lower - q.min(axis=0))
    outside, touched = beyond > 0.1, ((q > upper - 0.01) | (q < lower + 0.01)).mean(axis=0) > 0.0005
    touched |= (rec.target.max(axis=0) > upper) | (rec.target.min(axis=0) < lower)
    touched &= ~outside
    if outside.any():
        worst = int(np.argmax(beyond))
        yield case.say(
            "stop",
            "limits",
            f"{rec.joints[worst]} was measured {beyond[worst]:.3g} rad beyond its limits [{lower[worst]:.3g}, "
            f"{upper[worst]:.3g}] rad: its zero or its direction is not the model's.",
            "add the constant between encoder zero and model zero to target and position of that joint, or correct "
            "lower and upper in robot.toml.",
            case.names(outside),
        )
    if touched.any():
        worst = int(np.flatnonzero(touched)[0])
        yield case.say(
            "warn",
            "limits",
            f"{rec.joints[worst]} was commanded over [{rec.target[:, worst].min():.3g}, "
            f"{rec.target[:, worst].max():.3g}] rad and reached [{q[:, worst].min():.3g}, {q[:, worst].max():.3g}] rad; its "
            f"stops are at {lower[worst]:.3g} and {upper[worst]:.3g} rad. What a stop does is not joint dynamics.",
            "reduce the amplitude or move the centre of the chirp; fit the rest with --start S --end S "
            "(in Python: recording.between(start, end)).",
            case.names(touched),
        )
    if np.isfinite(beyond.max()) and not (outside.any() or touched.any()):
        yield case.say("ok", "limits", f"{-beyond.max():.3g} rad away from the nearest stop.")


def measured_torque(case: Case) -> Iterator[Finding]:
    """Does the measured torque follow from the gains that the recording claims?"""
    rec = case.recording
    if rec.torque is None:
        return
    measured = case.on_grid(rec.torque)
    delays = [r.delay for r in responses(case) if r is not None and r.explained > 0.5]
    delay = float(np.median(delays)) if delays else 0.0
    if not HEALTHY_DELAY[0] <= delay <= HEALTHY_DELAY[1]:
        return  # the clocks disagree, and the detector of that has spoken
    shift = max(round(delay / case.dt), 0)
    u = np.concatenate([np.repeat(case.target[:1], shift, axis=0), case.target[: len(case.target) - shift]])
    wanted = _torque(case, u)
    cutoff = float(np.clip(2.0 * case.top_frequency.max(), 5.0, 40.0))
    slope, likeness = np.ones(rec.n), np.ones(rec.n)
    limit = case.of_robot(case.robot.torque_limit)
    x, y = case.low_pass(wanted, cutoff), case.low_pass(measured, cutoff)
    for k in np.flatnonzero(case.excited):
        use = case.used[:, k] & ((np.abs(wanted[:, k]) < 0.95 * limit[k]) | bool(case.of_robot(case.robot.geared)[k]))
        if np.count_nonzero(use) > 100 and x[use, k].std() > 0:
            slope[k] = np.cov(x[use, k], y[use, k])[0, 1] / x[use, k].var()
            likeness[k] = np.corrcoef(x[use, k], y[use, k])[0, 1] if y[use, k].std() > 0 else 0.0
    wrong = case.excited & ((slope < 0.75) | (slope > 1.33) | (likeness < 0.7))
    if wrong.any():
        worst = int(np.argmax(np.abs(np.log(np.clip(slope, 0.01, None))) * wrong))
        yield case.say(
            "stop" if (likeness[wrong] > 0.7).all() else "warn",
            "gains",
            f"the measured torque of {rec.joints[worst]} is {slope[worst]:.2f} times P(u − q) − D q̇ with P = "
            f"{rec.stiffness[worst]:g}, D = {rec.damping[worst]:g} (correlation {likeness[worst]:.2f}).",
            f"check the gains that were in force (the log suggests P = {slope[worst] * rec.stiffness[worst]:.3g}) and the "
            "unit of the torque (joint side, N·m); then pass --stiffness and --damping (in Python: recording.with_gains(...)).",
            case.names(wrong),
        )
    else:
        yield case.say("ok", "gains", f"measured torque is {slope.min():.2f}-{slope.max():.2f} times what the gains ask for.")


def _torque(case: Case, target: Array) -> Array:
    """What the gains ask for on the grid [N·m], shape (S, n)."""
    rec = case.recording
    speed = case.on_grid(rec.target_velocity) if rec.target_velocity is not None else 0.0
    extra = case.on_grid(rec.feedforward) if rec.feedforward is not None else 0.0
    return rec.stiffness * (target - case.position) + rec.damping * (speed - case.velocity) + extra
