"""How sure each parameter is: 95 % intervals that stay honest when residuals are not white.

For least squares p̂ − p ≈ −H⁻¹ Jᵀr, hence cov(p̂) = H⁻¹ V H⁻¹ with H = JᵀJ and V = cov(Jᵀr). The textbook's V = σ²H takes the
residuals for white noise; encoders, gears and what the model leaves out make them slow and correlated. Two estimates of V
that do not:

    spectral   V = 1/N Σ_f S(f) J̃(f) J̃(f)*     residuals are stationary noise with the smoothed spectrum S
    blocks     V = Σ_b g_b g_bᵀ, g_b = Jᵀr over a stretch of time     residuals may grow and fade with the motion

The larger variance of the two is reported for each parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft, stats

from surefoot.identify.least_squares import SEEN
from surefoot.identify.problem import Linear, Piece
from surefoot.simulate.inair import cores

Array = np.ndarray
BLOCKS = 40  # stretches of time per recording
SMOOTHING = 1 / 240  # part of the residual's spectrum that is averaged
LEVEL = 0.95
NULL = 1e-12  # eigenvalue of the scaled Hessian, relative to the largest, below which a direction is not seen at all


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """Of the variables of a search, in units of its cube."""

    deviation: Array  # standard deviation, inf where the data do not see the variable, shape (d,)
    correlation: Array  # shape (d, d)
    white: Array  # what the white-noise formula would have said, shape (d,)

    @property
    def half_width(self) -> Array:
        """Half the width of the 95 % interval."""
        return float(stats.norm.ppf((1 + LEVEL) / 2)) * self.deviation


def uncertainty(around: Linear, samples: int) -> Uncertainty:
    """From the derivatives at the solution."""
    d = len(around.x)
    scale = np.sqrt(np.diag(around.hessian))
    seen = scale > SEEN * scale.max(initial=0.0)
    unit = np.where(seen, scale, 1.0)
    inverse, lost = _inverse(around.hessian / np.outer(unit, unit) * np.outer(seen, seen) + np.diag(~seen * 1.0))
    seen &= ~lost
    spectral, blocks = _spectral(around, d), _blocks(around, d)
    covariances = [inverse @ (v / np.outer(unit, unit)) @ inverse / np.outer(unit, unit) for v in (spectral, blocks)]
    larger = np.max([np.diag(c) for c in covariances], axis=0)
    deviation = np.where(seen, np.sqrt(np.maximum(larger, 0.0)), np.inf)
    variance = around.squares / max(samples - d, 1)
    white = np.where(seen, np.sqrt(np.maximum(variance * np.diag(inverse) / unit**2, 0)), np.inf)
    spread = np.sqrt(np.maximum(np.diag(inverse), 1e-300))
    return Uncertainty(deviation=deviation, correlation=inverse / np.outer(spread, spread), white=white)


def _inverse(matrix: Array) -> tuple[Array, Array]:
    """Inverse of a symmetric matrix with a huge variance along directions without curvature, and the variables they move."""
    values, vectors = np.linalg.eigh(matrix)
    null = values < NULL * values.max()
    lost = (vectors[:, null] ** 2).sum(axis=1) > 1e-6
    values = np.maximum(values, NULL * values.max())
    return (vectors / values) @ vectors.T, lost


def _spectral(around: Linear, d: int) -> Array:
    total = np.zeros((d, d))
    for piece, part in zip(around.pieces, cores().map(_spectral_piece, around.pieces), strict=True):
        total[np.ix_(piece.variables, piece.variables)] += part
    return total


def _spectral_piece(piece: Piece) -> Array:
    length = int(fft.next_fast_len(len(piece.residual) + 64, real=True) or 0)
    width, total = max(3, int(SMOOTHING * length) | 1), np.zeros((len(piece.variables),) * 2)
    for c in range(piece.residual.shape[1]):
        residual = piece.residual[:, c]
        count = max(1, np.count_nonzero(residual))
        spectrum = np.abs(np.asarray(fft.rfft(residual, length))) ** 2 / count
        mirrored = np.concatenate([spectrum[width:0:-1], spectrum, spectrum[-2 : -width - 2 : -1]])
        smooth = np.convolve(mirrored, np.full(width, 1 / width), "same")[width:-width]
        weight = np.full(len(smooth), 2.0)  # both signs of the frequency
        weight[0] = 1.0
        if length % 2 == 0:
            weight[-1] = 1.0
        columns = np.asarray(fft.rfft(piece.jacobian[:, c, :], length, axis=0)) * np.sqrt(smooth * weight / length)[:, None]
        stacked = np.concatenate([np.real(columns), np.imag(columns)])
        total += stacked.T @ stacked
    return total


def _blocks(around: Linear, d: int) -> Array:
    total = np.zeros((d, d))
    for r in sorted({piece.recording for piece in around.pieces}):
        pieces = [piece for piece in around.pieces if piece.recording == r]
        length = len(pieces[0].residual)
        starts = np.linspace(0, length, min(BLOCKS, max(2, length // 8)), endpoint=False).astype(int)
        sums = np.zeros((len(starts), d))
        for piece in pieces:
            product = np.einsum("tcm,tc->tm", piece.jacobian, piece.residual)
            sums[:, piece.variables] += np.add.reduceat(product, starts, axis=0)
        total += sums.T @ sums * len(starts) / (len(starts) - 1)
    return total
