"""What a Bode plot is read for: bandwidth, dead time, and the parameters of a transfer function that fits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.analyze.frequency import Array, Complex, FrequencyResponse
from surefoot.errors import SurefootError

LEAST_DEVIATION = 1e-3
"""Relative deviation below which no value is trusted more: averaging bends a curved response by about that."""

Model = Callable[..., Complex]  # of frequencies [Hz] and parameters by name


def bandwidth(response: FrequencyResponse, drop: float = 3.0) -> float:
    """The first frequency [Hz] at which |H| has fallen `drop` dB below 1, linear in log f between values."""
    f, level = np.log(response.frequency), response.magnitude
    below = np.flatnonzero(level <= -drop)
    if not len(below):
        raise SurefootError(
            f"the response does not fall by {drop:g} dB up to {response.frequency[-1]:.4g} Hz; its bandwidth is beyond what was "
            "excited. Record a chirp to a higher frequency."
        )
    k = int(below[0])
    if k == 0:
        raise SurefootError(
            f"the response is {-level[0]:.3g} dB down already at its lowest frequency, {response.frequency[0]:.4g} Hz; "
            "start the chirp lower, or check that input and output have the same unit."
        )
    return float(np.exp(np.interp(drop, -level[k - 1 : k + 1], f[k - 1 : k + 1])))


def dead_time(response: FrequencyResponse) -> tuple[float, float]:
    """Delay [s] in the slope of the phase, T = −dφ / (2π df), and its standard deviation [s].

    Cut the response to where the phase is straight first (`between`). A pure delay gives itself; a lag adds its own slope.
    """
    if len(response.frequency) < 3:
        raise SurefootError(f"the slope of a phase needs 3 frequencies or more; there are {len(response.frequency)}.")
    sigma = np.maximum(response.deviation, LEAST_DEVIATION)
    terms = np.stack([-2 * np.pi * response.frequency, np.ones_like(sigma)], axis=1) / sigma[:, None]
    (delay, _), covariance = _least_squares(terms, response.phase / sigma)
    return float(delay), float(np.sqrt(covariance[0, 0]))


@dataclass(frozen=True, kw_only=True)
class TransferFit:
    """Parameters of a transfer function, by name, and how well it fits."""

    values: Mapping[str, float]
    deviations: Mapping[str, float]  # standard deviations
    misfit: float  # rms of |H_measured / H_model − 1| [-]


def fit_transfer(response: FrequencyResponse, model: Model, start: Mapping[str, float]) -> TransferFit:
    """Fit `model(f, **parameters)` to a response from `start`, each frequency weighted by its coherence.

    Minimises Σ |H − model|² / (|H| σ)² over the parameters with σ the relative deviation of H.
    """
    from scipy.optimize import least_squares

    names, first = list(start), np.array(list(start.values()), dtype=float)
    if 2 * len(response.frequency) <= len(names):
        raise SurefootError(
            f"{len(response.frequency)} frequencies cannot tell {len(names)} parameters apart; use a finer resolution."
        )
    scale = np.where(first == 0, 1.0, np.abs(first))
    weight = 1.0 / (np.abs(response.response) * np.maximum(response.deviation, LEAST_DEVIATION))

    def residuals(x: Array) -> Array:
        gap = weight * (response.response - model(response.frequency, **dict(zip(names, x * scale, strict=True))))
        return np.concatenate([gap.real, gap.imag])

    found = least_squares(residuals, first / scale, x_scale=1.0)
    freedom = len(found.fun) - len(names)
    excess = max(2 * found.cost / freedom, 1.0)  # a model that does not fit must not be sure of itself
    covariance = np.linalg.pinv(found.jac.T @ found.jac) * excess
    x = found.x * scale
    ratio = response.response / model(response.frequency, **dict(zip(names, x, strict=True)))
    return TransferFit(
        values=dict(zip(names, x.tolist(), strict=True)),
        deviations=dict(zip(names, (np.sqrt(np.diag(covariance)) * scale).tolist(), strict=True)),
        misfit=float(np.sqrt(np.mean(np.abs(ratio - 1) ** 2))),
    )


def _least_squares(terms: NDArray[np.float64], values: Array) -> tuple[Array, Array]:
    """Weighted solution and its covariance, widened where the residuals exceed their deviations."""
    solution = np.linalg.lstsq(terms, values, rcond=None)[0]
    left = values - terms @ solution
    excess = max(float(left @ left) / max(len(values) - terms.shape[1], 1), 1.0)
    return np.asarray(solution, dtype=float), np.linalg.inv(terms.T @ terms) * excess
