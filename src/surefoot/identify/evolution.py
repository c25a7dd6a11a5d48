"""The paper's search: CMA-ES over the whole cube, a large population in parallel, zero mean and σ = 0.5.

The library `cmaes` holds and updates the distribution; a generation is drawn from it in one go, with the library's own rule for
points outside the bounds (draw again, in the end clip). The search can be stopped after any generation and continued to the same
bits, for its whole state, random generator included, is arrays and numbers.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from cmaes import CMA

from surefoot.errors import SurefootError
from surefoot.identify.least_squares import Progress, Solution
from surefoot.identify.stop import Stop

Array = np.ndarray
SIGMA = 0.5
FLAT = 1e-2  # relative spread of a generation's losses at which the paper's release stops
REDRAWS = 100
STATE = ("_mean", "_C", "_p_sigma", "_pc")
PLAIN = ("_sigma", "_g")


class Evolution:
    """Ask for a generation, tell its losses; the best point ever evaluated is kept, never the mean."""

    def __init__(
        self, size: int, population: int, seed: int, *, mean: Array | None = None, sigma: float = SIGMA,
        flat: float = FLAT,
    ) -> None:  # fmt: skip
        if population < 4:
            raise SurefootError(f"population is {population}; a generation needs at least 4 candidates (the paper: 4096).")
        start = np.zeros(size) if mean is None else mean
        bounds = np.repeat([[-1.0, 1.0]], size, axis=0)
        self.cma = CMA(mean=start, sigma=sigma, bounds=bounds, seed=seed, population_size=population, n_max_resampling=REDRAWS)
        self.rng = np.random.default_rng(seed)
        self.best, self.loss = start.copy(), np.inf
        self.history: list[float] = []
        self.spread = flat  # relative spread of a generation's losses at which it counts as flat
        self.flat = False  # the last generation's losses hardly differed

    def ask(self) -> Array:
        """A generation (N, d) inside the cube."""
        cma: Any = self.cma
        b, d = cma._eigen_decomposition()
        spread = (b * d) * cma._sigma
        count, size = cma.population_size, len(cma._mean)
        x = cma._mean + self.rng.standard_normal((count, size)) @ spread.T
        for _ in range(REDRAWS):
            outside = np.flatnonzero((np.abs(x) > 1).any(axis=1))
            if len(outside) == 0:
                break
            x[outside] = cma._mean + self.rng.standard_normal((len(outside), size)) @ spread.T
        return np.clip(x, -1, 1)

    def tell(self, x: Array, loss: Array) -> bool:
        """Update the distribution; whether the generation was flat. Points that diverged count as worse than all others."""
        finite = np.isfinite(loss)
        if not finite.any():
            raise SurefootError(str(Stop.DIVERGED))
        k = int(np.argmin(loss))
        if loss[k] < self.loss:
            self.best, self.loss = x[k].copy(), float(loss[k])
        self.history.append(self.loss)
        worst = loss[finite].max()
        self.cma.tell([(row, float(value)) for row, value in zip(x, np.where(finite, loss, 10 * worst), strict=True)])
        self.flat = bool(worst - loss[k] < self.spread * loss[k])
        return self.flat

    # --- stop and go on ------------------------------------------------------------------------------------------------------
    def save(self, path: Path, key: str) -> None:
        """The whole state; `key` names the problem that it belongs to."""
        arrays = {name: np.array(getattr(self.cma, name)) for name in STATE}
        words = {name: getattr(self.cma, name) for name in PLAIN}
        words |= {"key": key, "rng": self.rng.bit_generator.state, "loss": self.loss, "flat": self.flat}
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez(
            part, allow_pickle=False, best=self.best, history=np.array(self.history), words=np.array(json.dumps(words)), **arrays
        )
        part.replace(path)

    def load(self, path: Path, key: str) -> None:
        """Continue from a saved state of the same problem."""
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                words = json.loads(str(file["words"]))
                if words["key"] != key:
                    raise SurefootError(
                        f"{path} belongs to another search (recordings, unknowns, seed or population differ); "
                        "use another --out or drop --resume."
                    )
                for name in STATE:
                    setattr(self.cma, name, file[name])
                self.best, self.history = file["best"], file["history"].tolist()
                for name in PLAIN:
                    setattr(self.cma, name, words[name])
                self.rng.bit_generator.state = words["rng"]
                self.loss, self.flat = words["loss"], words["flat"]
        except (OSError, KeyError, TypeError, ValueError, EOFError, BadZipFile, zlib.error) as error:
            if isinstance(error, SurefootError):
                raise
            raise SurefootError(f"{path} is not a saved search: {error}. Delete it and start again without --resume.") from None
        cma: Any = self.cma
        cma._B = cma._D = None


def evolve(
    loss: Callable[[Array], Array], search: Evolution, *, generations: int, tell: Callable[[Progress], None] | None = None,
    keep: Callable[[], None] | None = None,
) -> Solution:  # fmt: skip
    """Generation after generation until they are flat, the limit is reached or the user stops."""
    stop = Stop.LIMIT
    try:
        while not search.flat and len(search.history) < generations:
            x = search.ask()
            search.tell(x, loss(x))
            if keep:
                keep()
            if tell:
                done = len(search.history) - 1
                tell(Progress(stage="cma-es", iteration=done, loss=search.loss, limit=generations, x=search.best))
        if search.flat:
            stop = Stop.SPREAD
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
    return Solution(x=search.best, loss=search.loss, stop=stop, history=tuple(search.history))
