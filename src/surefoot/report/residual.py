"""What is left after a fit: its spectrum, and what it hints at."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from surefoot.identify.fit import Score
from surefoot.report.frequency import highest
from surefoot.report.motion import derivative, even
from surefoot.report.page import plain

Array = np.ndarray
STRETCH = 4.0  # [s] of a periodogram: resolves 0.25 Hz
BINS = 120  # of a drawn spectrum, evenly apart in log f
FLAT = 25.0  # power density of the slow residual over that of the fast above which something is left; coloured noise has less
LINE = 12.0  # density of a line over its surroundings
ALIKE = 0.25  # share of the slow residual that one cause must explain to be named
SLOW = 20.0  # [Hz] up to which joints move

CAUSES = {
    "acceleration": "it follows the acceleration: inertia (a link mass, the armature) or stiffness is not quite right",
    "velocity": "it follows the speed: damping or delay is not quite right",
    "direction": "it follows the direction of motion: dry friction is not what the model says",
    "position": "it follows the position: gravity, a gain or a link mass is not quite right",
}


def residuals(score: Score) -> dict[str, Any]:
    """Amplitude density of every joint's residual, shape (n, F) over f [Hz], and sentences by joint."""
    grid, left = even(score.time, score.simulated - score.measured)
    rate = 1.0 / (grid[1] - grid[0])
    f, power = signal.welch(left, rate, nperseg=min(len(grid), int(STRETCH * rate)), axis=0)
    centres, density = _thinned(f[1:], power[1:])
    told = [_hints(score, j, f[1:], power[1:, j]) for j in range(len(score.joints))]
    return {"f": plain(centres, 4), "density": plain(np.sqrt(density).T, 4), "hints": told}


def _thinned(f: Array, power: Array) -> tuple[Array, Array]:
    """Means of a spectrum over bins that are evenly apart in log f."""
    edges = np.geomspace(f[0], f[-1], BINS + 1)
    which = np.clip(np.searchsorted(edges, f, side="right") - 1, 0, BINS - 1)
    kept = np.unique(which)
    centres = np.array([np.exp(np.mean(np.log(f[which == k]))) for k in kept])
    return centres, np.array([power[which == k].mean(axis=0) for k in kept])


def _hints(score: Score, j: int, f: Array, power: Array) -> list[str]:
    """Sentences about one joint's residual."""
    if not np.isfinite(score.rmse[j]):
        return []
    floor = float(np.median(power[f > f[-1] / 2]))
    if power.max() <= 0:
        return ["nothing is left: the recording is reproduced exactly."]
    out = []
    slow = f <= min(SLOW, f[-1] / 2)
    ratio = float(power[slow].mean() / max(floor, 1e-300))
    if ratio < FLAT:
        out.append("noise: nothing is left in it of what the joint does.")
    else:
        out.append(f"below {f[slow][-1]:.0f} Hz it is {np.sqrt(ratio):.0f} times what the encoder's noise would leave.")
        out += [f"{CAUSES[name]} ({100 * share:.0f} % of it)." for name, share in _causes(score, j) if share > ALIKE]
    surroundings = signal.medfilt(power, min(31, (len(power) - 1) | 1))
    lines = power / np.maximum(surroundings, 1e-300)
    asked = highest(score.time, score.target[:, j]) if score.target.size and np.ptp(score.target[:, j]) else SLOW
    peak = int(np.argmax(np.where(f > asked, lines, 0.0)))
    if f[peak] > asked and lines[peak] > LINE and power[peak] > 0.02 * power.sum():
        out.append(f"a line at {f[peak]:.1f} Hz: a resonance, the stand, or the mains; not a property of the rigid joint.")
    return out


def _causes(score: Score, j: int) -> list[tuple[str, float]]:
    """Share of the slow residual that each possible cause explains alone, the largest first."""
    _, (q, v, a) = derivative(score.time, score.measured[:, j : j + 1], (0, 1, 2))
    _, (left,) = derivative(score.time, (score.simulated - score.measured)[:, j : j + 1], (0,))
    still = 0.05 * np.std(v) + 1e-12
    terms = {"acceleration": a, "velocity": v, "direction": np.tanh(v / still), "position": q}
    shares = [(name, _explained(left[:, 0], term[:, 0])) for name, term in terms.items()]
    return sorted(shares, key=lambda pair: -pair[1])[:1]


def _explained(left: Array, term: Array) -> float:
    if np.std(term) == 0 or np.std(left) == 0:
        return 0.0
    return float(np.corrcoef(left, term)[0, 1] ** 2)
