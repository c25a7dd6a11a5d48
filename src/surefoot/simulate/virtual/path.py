"""The way of a command from the computer to the drives: late, unevenly late, and sometimes lost."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.hardware import Command


@dataclass(frozen=True, kw_only=True)
class Path:
    """How commands travel and how states are logged."""

    delay: float = 0.0  # of every command [s]
    jitter: float = 0.0  # mean of what comes on top, exponentially distributed [s]
    loss: float = 0.0  # share of the commands that never arrive [-]
    log_loss: float = 0.0  # share of the states that never arrive [-]

    def __post_init__(self) -> None:
        for name in ("delay", "jitter"):
            if not 0 <= getattr(self, name) <= 1:
                raise SurefootError(f"the {name} of the command path is {getattr(self, name)} s; it must lie between 0 and 1 s.")
        for name in ("loss", "log_loss"):
            if not 0 <= getattr(self, name) < 1:
                raise SurefootError(f"the {name} of the command path is {getattr(self, name)}; it must lie between 0 and 1.")


class Wire:
    """Commands on their way. A command that is overtaken by a later one is dropped: drives keep the newest."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self._chance = path, np.random.default_rng(seed)
        self._flying: list[tuple[float, int, Command]] = []
        self._numbers, self._newest = itertools.count(), -1

    def send(self, command: Command, now: float) -> None:
        """Hand over a command at a time [s]."""
        late = self.path.delay + self._chance.exponential(1.0) * self.path.jitter
        number = next(self._numbers)
        if self._chance.random() >= self.path.loss:
            heapq.heappush(self._flying, (now + late, number, command))

    def arrived(self, now: float) -> Command | None:
        """The newest command that has come by now, or None if nothing new has."""
        newest = None
        while self._flying and self._flying[0][0] <= now + 1e-9:
            _, number, command = heapq.heappop(self._flying)
            if number > self._newest:
                self._newest, newest = number, command
        return newest

    def state_lost(self) -> bool:
        """Whether the next state goes missing."""
        return bool(self._chance.random() < self.path.log_loss)

    def clear(self) -> None:
        """Forget what is on its way."""
        self._flying.clear()
