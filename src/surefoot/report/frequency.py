"""Frequency response from command to position: of the data, of the fitted simulator, and of the paper's linear H_q(s)."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.analyze.frequency import FrequencyResponse, frequency_response
from surefoot.analyze.transfer import joint_transfer
from surefoot.errors import SurefootError
from surefoot.identify.fit import Fit, Score
from surefoot.report.page import plain
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_inertia

Array = np.ndarray
RESOLUTION = 0.25  # [Hz], or what four lines of a short recording make
LINES = 4
LEAST = 0.5  # coherence below which a ratio of spectra says nothing and is not drawn
TOP = 60.0  # [Hz] beyond which no joint follows
ASKED = 0.995  # share of the power of the commanded speed that lies in the band shown
DRAWN = 0.5  # [Hz] steps of the analytic curve at its upper end are at most this


def frequency(fit: Fit, robot: Robot | None) -> list[dict[str, Any] | None]:
    """Per recording the curves of every joint; None where it keeps no command, or no joint was commanded to move.

    H_q(s) takes the armature and what the links add to it at the robot's posture, so it is there only when the robot is.
    """
    links = link_inertia(robot, fit.joints) if robot is not None else None
    return [_recording(fit, score, links) for score in (*fit.recordings, *fit.held_out)]


def _recording(fit: Fit, score: Score, links: Array | None) -> dict[str, Any] | None:
    if not score.target.size:
        return None
    joints = [_joint(fit, score, j, links) for j in range(len(score.joints))]
    return {"joints": joints, "analytic": links is not None} if any(joints) else None


def _joint(fit: Fit, score: Score, j: int, links: Array | None) -> dict[str, Any] | None:
    """Curves of one joint; None where it was not commanded, or answered nothing coherent."""
    resolution = max(RESOLUTION, 1.001 * LINES / (score.time[-1] - score.time[0]))
    band = (resolution, highest(score.time, score.target[:, j]))
    if score.joints[j] in fit.prescribed:
        return None
    try:
        seen, made = (
            frequency_response(score.time, score.target[:, j], position[:, j], resolution=resolution, band=band)
            for position in (_bridged(score), score.simulated)
        )
    except SurefootError:  # a target or a position that never changes, or a simulation that diverged
        return None
    trusted = seen.coherence >= LEAST
    if not trusted.any():
        return None
    out = {"measured": _curve(seen, trusted), "simulated": _curve(made, trusted & (made.coherence >= LEAST))}
    if links is not None and score.stiffness[j] > 0:
        f = seen.frequency[: np.flatnonzero(trusted)[-1] + 1]
        dense = np.geomspace(f[0], f[-1], max(60, int((f[-1] - f[0]) / DRAWN)))
        scale = float(fit.dynamics.gain_scale[0])
        response = joint_transfer(
            dense, inertia=float(fit.dynamics.armature[j] + links[j]), viscous=float(fit.dynamics.damping[j]),
            stiffness=scale * float(score.stiffness[j]), damping=scale * float(score.damping[j]),
            delay=float(np.broadcast_to(fit.dynamics.delay, len(score.joints))[j]),
        )  # fmt: skip
        magnitude, phase = 20 * np.log10(np.abs(response)), np.degrees(np.unwrap(np.angle(response)))
        out["analytic"] = {"f": plain(dense, 4), "magnitude": plain(magnitude, 4), "phase": plain(phase, 4)}
    return out


def highest(time: Array, target: Array) -> float:
    """Frequency up to which the command asks for speed [Hz]; half the sample rate, or `TOP`, at most."""
    f = np.fft.rfftfreq(len(time), float(np.median(np.diff(time))))
    power = np.cumsum(np.abs(f * np.fft.rfft(target - np.linspace(target[0], target[-1], len(target)))) ** 2)
    return min(TOP, float(f[np.searchsorted(power, ASKED * power[-1])]))


def _bridged(score: Score) -> Array:
    """Measured positions, drawn straight over samples that were not compared."""
    if not score.valid.size:
        return score.measured
    columns = zip(score.measured.T, score.valid.T, strict=True)
    return np.stack([np.interp(score.time, score.time[v], q[v]) if v.any() else q for q, v in columns], axis=1)


def _curve(response: FrequencyResponse, trusted: Array) -> dict[str, Any]:
    """Magnitude [dB] and phase [°] where the response is trusted, coherence everywhere; f [Hz]."""
    phase = np.full(len(trusted), np.nan)
    phase[trusted] = np.degrees(np.unwrap(np.angle(response.response[trusted])))
    return {
        "f": plain(response.frequency, 4),
        "magnitude": plain(np.where(trusted, response.magnitude, np.nan), 4),
        "phase": plain(phase, 4),
        "coherence": plain(response.coherence, 3),
    }
