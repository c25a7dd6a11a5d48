"""The ways to find the parameters.

`least-squares`  from the first guess of `seed` to the nearest minimum.
`hybrid`         the same from several guesses; where the answer leaves a joint badly explained, a short CMA-ES over each branch
                 at a few delays looks elsewhere, and least squares finishes from there. The better of the two is kept.
`cmaes`          the paper's protocol: one large CMA-ES over everything.
`cmaes-small`    the same search at the library's own population, 4 + 3 ln d.
`random`, `bayesian`   to compare with.

The last four take any loss of `objectives`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from surefoot.identify.blackbox import bayesian, random_search
from surefoot.identify.evolution import Evolution, evolve
from surefoot.identify.least_squares import Progress, Solution, least_squares
from surefoot.identify.motion import bridged
from surefoot.identify.objectives import Loss, objective
from surefoot.identify.problem import Problem
from surefoot.identify.seed import seeds
from surefoot.identify.stop import Stop

Array = np.ndarray
Tell = Callable[[Progress], None] | None
Method = Literal["hybrid", "cmaes", "least-squares", "cmaes-small", "random", "bayesian"]
BLACK_BOX = ("cmaes", "cmaes-small", "random", "bayesian")  # searches that only ask for a number: they take any loss
BUDGET = {"cmaes": (4096, 200), "random": (4096, 10), "bayesian": (32, 100)}  # (population, generations) unless asked for
SMALL = 2000, 1e-4  # generations of `cmaes-small`, and the spread of a generation's losses at which it stops
POORLY = 0.3  # share of a joint's motion left unexplained that makes `hybrid` look elsewhere
POPULATION, GENERATIONS, DELAYS = 16, 30, 4  # of the short global stage


def budget(method: str, size: int, population: int | None, generations: int | None) -> tuple[int, int]:
    """Candidates per generation and limit of generations of a black-box search, as asked for or the method's own."""
    own = BUDGET.get(method, (4 + int(3 * np.log(size)), SMALL[0]))
    return own[0] if population is None else population, own[1] if generations is None else generations


def find(problem: Problem, method: str, *, seed: int, tell: Tell = None, max_iterations: int = 60, population: int | None = None,
         generations: int | None = None, checkpoint: Path | None = None, resume: bool = False, key: str = "",
         short: Problem | None = None, loss: Loss = "position") -> Solution:  # fmt: skip
    """Search with one of the methods; `short` is the same problem in single precision for the paper's population."""
    if method in BLACK_BOX:
        count, limit = budget(method, problem.space.size, population, generations)
        value = _objective(problem, short or problem, loss, seed)
        if method == "cmaes":
            return _paper(value, problem.space.size, seed, tell, count, limit, checkpoint, resume, key)
        if method == "cmaes-small":
            small = Evolution(problem.space.size, count, seed, flat=SMALL[1])
            return evolve(value, small, generations=limit, tell=tell)
        search = random_search if method == "random" else bayesian
        return search(value, problem.space.size, seed, population=count, generations=limit, tell=tell)
    guesses = _guesses(problem)
    losses = problem.loss(guesses)
    start = guesses[int(np.argmin(losses))]
    local = least_squares(problem, start, limit=max_iterations, tell=tell)
    if method == "least-squares" or local.stop is Stop.INTERRUPTED or not _poor(problem, local).any():
        return local
    try:
        elsewhere = _global(problem, local, seed, tell)
    except KeyboardInterrupt:
        return replace(local, stop=Stop.INTERRUPTED)
    second = least_squares(problem, elsewhere, limit=max_iterations, tell=tell)
    better = second if second.loss < local.loss else local
    return replace(better, stop=Stop.INTERRUPTED) if second.stop is Stop.INTERRUPTED else better


def _guesses(problem: Problem) -> Array:
    """Regression's guesses, the middle of the bounds, and a nearly frictionless light joint."""
    first = seeds(problem.robot, problem.recordings, problem.space, problem.physics)
    light = np.zeros(problem.space.size)
    for entry, k in zip(problem.space.entries, problem.space.variable, strict=True):
        if k >= 0 and entry.name in ("armature", "damping", "friction", "delay", "breakaway", "load_friction"):
            light[k] = -0.9
    neutral = problem.space.encode(problem.space.base)
    for entry, k in zip(problem.space.entries, problem.space.variable, strict=True):
        if k >= 0 and entry.name in ("cutoff", "gain_scale", "tilt", "load"):  # start from the model without them
            first[:, k] = light[k] = min(neutral[k], 0.9)
    return np.vstack([first, np.zeros((1, problem.space.size)), light])


def _poor(problem: Problem, solution: Solution) -> Array:
    """Joints, by recording, of whose motion a large part is left unexplained."""
    squares = problem.squares(solution.x[None])[0]
    ranges = [np.ptp(bridged(rec), axis=0) for rec in problem.recordings]
    motion = np.array([(x / np.sqrt(8)) ** 2 * count for x, count in zip(ranges, problem.compared, strict=True)])
    return squares > POORLY**2 * np.maximum(motion, 1e-12)


def _global(problem: Problem, known: Solution, seed: int, tell: Tell) -> Array:
    """CMA-ES over each branch at a few delays, all in the same lanes; the best branches at the best delay."""
    space = problem.space
    delay = np.unique(
        [k for e, k in zip(space.entries, space.variable, strict=True) if k >= 0 and e.name == "delay" and not e.joint]
    )
    delay = delay.astype(int)
    islands, own = _islands(problem)
    levels = np.linspace(-0.9, 0.5, DELAYS if len(delay) else 1)
    searches = [
        [Evolution(len(k), POPULATION, seed + 97 * i + g, sigma=0.4) for g, k in enumerate(own)] for i in range(len(levels))
    ]
    for generation in range(GENERATIONS):
        x = np.repeat(known.x[None], len(levels) * POPULATION, axis=0)
        asked = []
        for i in range(len(levels)):
            rows = slice(i * POPULATION, (i + 1) * POPULATION)
            x[rows, delay] = levels[i]
            asked.append([search.ask() for search in searches[i]])
            for k, points in zip(own, asked[i], strict=True):
                x[rows, k] = points
        squares = problem.squares(x).sum(axis=1)
        for i in range(len(levels)):
            for g, search in enumerate(searches[i]):
                loss = squares[i * POPULATION : (i + 1) * POPULATION, islands[g]].sum(axis=1)
                search.tell(asked[i][g], np.where(np.isfinite(loss), loss, 1e12))
        if tell:
            best = min(sum(s.loss for s in row) for row in searches)
            tell(Progress(stage="cma-es", iteration=generation, loss=best / problem.samples, limit=GENERATIONS))
    out = np.repeat(known.x[None], len(levels), axis=0)
    for i in range(len(levels)):
        out[i, delay] = levels[i]
        for k, search in zip(own, searches[i], strict=True):
            out[i, k] = search.best
    return out[int(np.argmin(problem.loss(out)))]


def _islands(problem: Problem) -> tuple[list[Array], list[Array]]:
    """Joints and variables of sets of branches that share no variable but those that all joints share.

    Without ties every branch is an island of its own; the variables that all joints share belong to none.
    """
    entries = list(zip(problem.space.entries, problem.space.variable, strict=True))
    own = sorted({int(k) for e, k in entries if k >= 0 and e.joint})
    island = list(range(len(problem.groups)))
    for k in own:
        first = min(island[g] for g in problem.reach[k])
        olds = {island[g] for g in problem.reach[k]}
        island = [first if i in olds else i for i in island]
    joints, variables = [], []
    for name in sorted(set(island)):
        members = {g for g, i in enumerate(island) if i == name}
        mine = [k for k in own if problem.reach[k] <= members]
        if mine:
            joints.append(np.concatenate([problem.groups[g] for g in sorted(members)]))
            variables.append(np.array(mine, dtype=int))
    return joints, variables


def _objective(problem: Problem, short: Problem, loss: Loss, seed: int) -> Callable[[Array], Array]:
    """The loss of that name; `fisher` takes its weights at the best of the first guesses, in double precision."""
    if loss != "fisher":
        return objective(short, loss, seed=seed)
    guesses = _guesses(problem)
    return objective(problem, loss, around=guesses[int(np.argmin(problem.loss(guesses)))])


def _paper(loss: Callable[[Array], Array], size: int, seed: int, tell: Tell, population: int, generations: int,
           checkpoint: Path | None, resume: bool, key: str) -> Solution:  # fmt: skip
    search = Evolution(size, population, seed)
    if resume and checkpoint is not None and checkpoint.is_file():
        search.load(checkpoint, key)
    keep = None if checkpoint is None else lambda: search.save(checkpoint, key)
    return evolve(loss, search, generations=generations, tell=tell, keep=keep)
