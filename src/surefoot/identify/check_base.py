"""Detectors for motion that nobody commanded: a base that sways, a loop that rings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from surefoot.identify.finding import Case, Finding
from surefoot.record.validation import Array

WINDOW = 4.0  # [s] of the sway spectra
FAINTEST = 4e-4  # [rad] of sway worth a word
LEAKAGE = 0.005  # share of the commanded motion that nonlinear joints spill below its frequency


def sway(case: Case) -> Iterator[Finding]:
    """Does something that nobody commanded move all joints together? A robot that swings in its ropes does.

    Spectra of short windows, below the lowest frequency that any command contains in that window: a chirp leaves that
    range quiet, noise is independent between joints there, and only a moving base makes one pattern of all joints.
    """
    samples = int(WINDOW / case.dt)
    if case.recording.n < 3 or len(case.grid) < 2 * samples:
        return
    cross, motion, windows, f = _quiet_cross_spectrum(case, samples)
    looked = windows >= 5
    if not looked.any():
        return
    cross, motion, f = cross[looked], motion[looked], f[looked]
    strengths = np.linalg.eigvalsh(cross)
    common = strengths[:, -1] / np.maximum(strengths.sum(axis=1), 1e-300)
    amplitude = np.sqrt(2.0 * np.maximum(np.real(np.diagonal(cross, axis1=1, axis2=2)), 0.0))  # [rad], shape (F, n)
    loud = (amplitude > np.maximum(FAINTEST, 1.5 * case.resolution) + LEAKAGE * motion).sum(axis=1)
    swaying = (common > 0.8) & (loud >= 3)
    if swaying.any():
        at = int(np.argmax(np.where(swaying, strengths[:, -1], 0.0)))
        worst = int(np.argmax(amplitude[at]))
        yield case.say(
            "warn",
            "base sway",
            f"{loud[at]} joints swing together at {f[at]:.2f} Hz where nothing was commanded, "
            f"{case.recording.joints[worst]} by {1e3 * amplitude[at, worst]:.2g} mrad: the base sways.",
            "clamp the base to a stiff stand, or wait until the robot hangs still and use smaller or slower motion.",
        )
    else:
        yield case.say("ok", "base sway", f"no common swing below the commands ({len(f)} frequencies looked at).")


def _quiet_cross_spectrum(case: Case, samples: int) -> tuple[NDArray[Any], Array, NDArray[Any], NDArray[Any]]:
    """Over windows that are quiet at f: mean cross-spectrum (F, n, n) [rad²], motion (F, n) [rad]; their number; f."""
    n = case.recording.n
    window = np.hanning(samples)
    scale = 2.0 / float(np.sum(window)) ** 2
    every = np.fft.rfftfreq(samples, case.dt)
    keep = np.flatnonzero((every >= 2.0 / WINDOW) & (every <= 30.0))
    cross, motion = np.zeros((len(keep), n, n), complex), np.zeros((len(keep), n))
    windows = np.zeros(len(keep), int)
    for start in range(0, len(case.grid) - samples + 1, samples // 4):
        pieces = [np.asarray(x[start : start + samples]) for x in (case.target, case.position)]
        u, q = (np.fft.rfft(signal.detrend(x, axis=0) * window[:, None], axis=0) for x in pieces)
        power = scale * (np.abs(u) ** 2).max(axis=1)
        busy = np.flatnonzero(power > max(1e-3 * float(power.max()), 1e-10))
        quiet = every[keep] < (0.6 * every[busy[0]] if busy.size else np.inf)
        spectrum = q[keep][quiet]
        cross[quiet] += spectrum[:, :, None] * spectrum[:, None, :].conj() * scale
        motion[quiet] += pieces[1].std(axis=0)
        windows += quiet
    count = np.maximum(windows, 1)[:, None]
    return cross / count[:, :, None], motion / count, windows, every[keep]


def oscillation(case: Case) -> Iterator[Finding]:
    """Does a loop ring by itself, far above the command?"""
    samples = min(len(case.grid), int(2.0 / case.dt))
    f, commanded = signal.welch(case.target, 1.0 / case.dt, nperseg=samples, axis=0)
    moved = signal.welch(case.position, 1.0 / case.dt, nperseg=samples, axis=0)[1]
    share = np.cumsum(commanded * f[:, None] ** 2, axis=0)
    ringing, at, size = (np.zeros(case.recording.n) for _ in range(3))
    for k in np.flatnonzero(case.excited):
        above = np.flatnonzero(f > 1.5 * f[np.searchsorted(share[:, k], 0.99 * share[-1, k])] + 2.0)
        if len(above) < 20:
            continue
        power = moved[above, k]
        peak = int(np.argmax(power))
        near = np.abs(f[above] - f[above][peak]) < 2.0
        at[k], size[k] = f[above][peak], np.sqrt(2.0 * power[near].sum() * (f[1] - f[0]))
        sharp = power[peak] > 100.0 * np.median(power) and peak > 4
        harmonics = 0.02 * case.position[:, k].std()  # what friction makes of a chirp
        ringing[k] = sharp and size[k] > max(1e-3, 2.0 * case.resolution[k], harmonics)
    if ringing.any():
        worst = int(np.argmax(size * ringing))
        joint = case.recording.joints[worst]
        yield case.say(
            "warn",
            "oscillation",
            f"{joint} oscillates at {at[worst]:.1f} Hz by {1e3 * size[worst]:.2g} mrad, above anything commanded: the "
            "drive's loop is close to instability (gains too high for its delay).",
            f"lower the stiffness or the damping gain of {joint} and record again.",
            case.names(ringing > 0),
        )
