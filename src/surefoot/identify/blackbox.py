"""Searches that only ask for a number: random draws and Bayesian optimisation, beside the evolution strategies.

They are here to be compared with. Each keeps the best point that was ever evaluated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.least_squares import Progress, Solution
from surefoot.identify.objectives import Objective
from surefoot.identify.stop import Stop

Array = np.ndarray
Tell = Callable[[Progress], None] | None


class _Best:
    """The best point so far, and its story."""

    def __init__(self, stage: str, size: int, limit: int, tell: Tell) -> None:
        self.stage, self.limit, self.tell = stage, limit, tell
        self.x, self.loss = np.zeros(size), np.inf
        self.history: list[float] = []

    def take(self, x: Array, loss: Array) -> None:
        k = int(np.argmin(loss))
        if loss[k] < self.loss:
            self.x, self.loss = x[k].copy(), float(loss[k])
        self.history.append(self.loss)
        if self.tell:
            self.tell(Progress(stage=self.stage, iteration=len(self.history) - 1, loss=self.loss, limit=self.limit))

    def solution(self, stop: Stop) -> Solution:
        if not np.isfinite(self.loss):
            raise SurefootError(str(Stop.DIVERGED))
        return Solution(x=self.x, loss=self.loss, stop=stop, history=tuple(self.history))


def random_search(loss: Objective, size: int, seed: int, *, population: int, generations: int, tell: Tell = None) -> Solution:
    """Points drawn evenly from the cube."""
    rng, best, stop = np.random.default_rng(seed), _Best("random", size, generations, tell), Stop.LIMIT
    try:
        for _ in range(generations):
            x = rng.uniform(-1, 1, (population, size))
            best.take(x, loss(x))
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
    return best.solution(stop)


def bayesian(loss: Objective, size: int, seed: int, *, population: int, generations: int, tell: Tell = None) -> Solution:
    """Expected improvement under a Gaussian process on −log loss (the library bayesian-optimization).

    `population` random points first, then one point after another, `generations` of them.
    """
    try:
        from bayes_opt import BayesianOptimization, acquisition
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise SurefootError(
            'the method bayesian needs a library that is not installed: pip install "surefoot[bayesian]".'
        ) from None
    names = [f"x{k:04d}" for k in range(size)]  # the library keeps its axes in the order of their names
    model = BayesianOptimization(
        f=None, pbounds=dict.fromkeys(names, (-1.0, 1.0)), random_state=seed, verbose=0, allow_duplicate_points=True,
        acquisition_function=acquisition.ExpectedImprovement(xi=0.0),
    )  # fmt: skip
    rng, best, stop = np.random.default_rng(seed), _Best("bayesian", size, generations + 1, tell), Stop.LIMIT
    worst = -np.inf

    def learn(x: Array) -> None:
        nonlocal worst
        values = loss(x)
        best.take(x, values)
        finite = values[np.isfinite(values)]
        worst = max(worst, float(np.max(finite, initial=worst)))
        for row, value in zip(x, np.where(np.isfinite(values), values, max(worst, 1.0)), strict=True):
            model.register(params=row, target=-np.log(max(float(value), 1e-300)))

    try:
        learn(rng.uniform(-1, 1, (population, size)))
        for _ in range(generations):
            with threadpool_limits(1):  # of BLAS: matrices this small only wait for other cores
                point = model.suggest()
            learn(np.array([[point[name] for name in names]]))
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
    return best.solution(stop)
