"""What a black-box search makes small: ways to say how far a simulated motion is from the measured one.

    position      mean (q − q̂)²                                    the paper's
    velocity      mean (D q − D q̂)², D the slope over `SLOPE`        weighs fast motion
    torque        mean (τ − τ̂)²                                    needs measured torque
    wasserstein   sliced W₂² of the sets of motion segments          blind to when a segment happened
    mmd           maximum mean discrepancy of the same sets          likewise
    fisher        mean w (q − q̂)², w each sample's leverage          weighs samples by what they say about the unknowns

Every objective maps points of the cube, shape (L, d), to one number each; infinity where the motion diverged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np
from scipy.spatial.distance import cdist

from surefoot.errors import SurefootError
from surefoot.identify.motion import bridged
from surefoot.identify.problem import TOGETHER, Problem
from surefoot.record.recording import Recording

Array = np.ndarray
Loss = Literal["position", "velocity", "torque", "wasserstein", "mmd", "fisher"]
Objective = Callable[[Array], Array]
SLOPE = 0.03  # [s] over which a slope is taken
SEGMENT, POINTS = 0.25, 8  # [s] length of a segment, and the positions that stand for it
DIRECTIONS = 32  # of the sliced distance
SEGMENTS = 120  # of a recording and joint at most


def objective(problem: Problem, loss: Loss, *, seed: int = 0, around: Array | None = None) -> Objective:
    """The objective of that name on a problem; `around` is the point at which `fisher` takes its weights."""
    if loss == "position":
        return problem.loss
    measures: list[Callable[[Array, Array | None], Array]] = []
    if loss == "fisher":
        weights = leverage(problem, np.zeros(problem.space.size) if around is None else around)
        measures = [partial(_weighted, rec, w) for rec, w in zip(problem.recordings, weights, strict=True)]
    elif loss == "torque":
        if lacking := [rec.name for rec in problem.recordings if rec.torque is None]:
            raise SurefootError(f"the loss 'torque' needs measured torque; it is missing in {', '.join(map(repr, lacking))}.")
        measures = [partial(_torque, rec) for rec in problem.recordings]
    elif loss == "velocity":
        measures = [partial(_velocity, rec) for rec in problem.recordings]
    elif loss in ("wasserstein", "mmd"):
        measures = [partial(_sets, rec, _segments(rec), loss, seed) for rec in problem.recordings]
    else:
        raise SurefootError(f"loss is {loss!r}; valid: {', '.join(get_args(Loss))}.")
    return lambda x: _total(problem, measures, np.atleast_2d(x), torque=loss == "torque")


def _total(problem: Problem, measures: list[Callable[[Array, Array | None], Array]], x: Array, *, torque: bool) -> Array:
    """The mean of a measure over the recordings, a few candidates at a time."""
    problem.rollouts += len(x)
    out = np.zeros(len(x))
    for start in range(0, len(x), TOGETHER):
        rows = slice(start, start + TOGETHER)
        candidates = problem.space.decode(x[rows])
        for engine, measure in zip(problem.engines, measures, strict=True):
            position, push, _ = engine.trajectories(candidates, torque=torque)
            with np.errstate(over="ignore", invalid="ignore"):
                value = measure(position, push)
            lost = ~np.isfinite(position).all(axis=(1, 2)) | ~np.isfinite(value)
            out[rows] += np.where(lost, np.inf, value) / len(measures)
    return out


# --- sample by sample ------------------------------------------------------------------------------------------------------
def _weighted(rec: Recording, weight: Array, position: Array, _: Array | None) -> Array:
    return np.einsum("ltn,tn->l", (position - rec.position) ** 2, weight) / weight.sum()


def _seen(rec: Recording) -> Array:
    return np.ones(rec.position.shape) if rec.valid is None else rec.valid.astype(float)


def _torque(rec: Recording, _: Array, push: Array | None) -> Array:
    assert push is not None
    assert rec.torque is not None
    weight = _seen(rec)
    return np.einsum("ltn,tn->l", (push - rec.torque) ** 2, weight) / weight.sum()


def _velocity(rec: Recording, position: Array, _: Array | None) -> Array:
    """The slope is linear, so that of the error is the error of the slopes."""
    few = max(1, round(SLOPE * rec.rate / 2))
    error, time, weight = position - rec.position, rec.time, _seen(rec)
    slope = (error[:, 2 * few :] - error[:, : -2 * few]) / (time[2 * few :] - time[: -2 * few])[:, None]
    both = weight[2 * few :] * weight[: -2 * few]
    return np.einsum("ltn,tn->l", slope**2, both) / max(both.sum(), 1.0)


def leverage(problem: Problem, x: Array) -> list[Array]:
    """diag(J F⁻¹ Jᵀ) of each recording, shape (T, n), F = JᵀJ: how much each sample says about the unknowns, at a point.

    The weights add up to the number of unknowns that the data see at all.
    """
    around = problem.linearise(x)
    if not np.isfinite(around.squares):
        raise SurefootError("the motion diverged where the loss 'fisher' takes its weights; use another loss.")
    information = np.linalg.pinv(around.hessian, rcond=1e-12, hermitian=True)
    out = [np.zeros(rec.position.shape) for rec in problem.recordings]
    for piece in around.pieces:
        jacobian = piece.jacobian[:, : len(piece.joints)]  # positions; torques come after them
        inverse = information[np.ix_(piece.variables, piece.variables)]
        out[piece.recording][:, piece.joints] = np.einsum("tja,ab,tjb->tj", jacobian, inverse, jacobian)
    return [np.maximum(w, 0.0) * _seen(rec) for w, rec in zip(out, problem.recordings, strict=True)]


# --- sets of segments ------------------------------------------------------------------------------------------------------
def _segments(rec: Recording) -> Array:
    """Samples that stand for each segment, shape (S, POINTS)."""
    since = rec.time - rec.time[0]
    starts = np.arange(0.0, since[-1] - SEGMENT, max(SEGMENT / 2, (since[-1] - SEGMENT) / SEGMENTS))
    if len(starts) < 4:
        raise SurefootError(f"recording '{rec.name}' lasts {since[-1]:g} s; sets of {SEGMENT:g} s segments need 1 s at least.")
    return np.clip(np.searchsorted(since, starts[:, None] + np.linspace(0, SEGMENT, POINTS)), 0, len(since) - 1)


def _sets(rec: Recording, segments: Array, loss: str, seed: int, position: Array, _: Array | None) -> Array:
    """Distance of the set of simulated segments from the measured set, mean over the joints that are identified."""
    free = [j for j, name in enumerate(rec.joints) if name not in rec.prescribed]
    measured = bridged(rec)
    centre, scale = measured.mean(axis=0), measured.std(axis=0) + 1e-9
    real = ((measured - centre) / scale)[segments]  # (S, POINTS, n)
    out = np.zeros(len(position))
    for i, run in enumerate(position):
        made = ((run - centre) / scale)[segments]
        if not np.isfinite(made).all():
            out[i] = np.inf
            continue
        distance = sliced_wasserstein if loss == "wasserstein" else mean_discrepancy
        more = {"seed": seed} if loss == "wasserstein" else {}
        out[i] = np.mean([distance(real[:, :, j], made[:, :, j], **more) for j in free])
    return out


def sliced_wasserstein(a: Array, b: Array, *, seed: int = 0) -> float:
    """Mean over random directions of W₂² between the projected sets (S, k): sorted values, mean squared difference."""
    along = np.random.default_rng(seed).standard_normal((a.shape[1], DIRECTIONS))
    along /= np.linalg.norm(along, axis=0)
    return float(((np.sort(a @ along, axis=0) - np.sort(b @ along, axis=0)) ** 2).mean())


def mean_discrepancy(a: Array, b: Array) -> float:
    """MMD² = E k(a, a') + E k(b, b') − 2 E k(a, b), k Gaussian with the median distance within `a` as its width."""
    within = _distances(a, a)
    width = np.median(within[np.triu_indices(len(a), 1)]) + 1e-12
    kernel = lambda squares: np.exp(-squares / (2 * width)).mean()  # noqa: E731
    return float(kernel(within) + kernel(_distances(b, b)) - 2 * kernel(_distances(a, b)))


def _distances(a: Array, b: Array) -> Array:
    return cdist(a, b, "sqeuclidean")
