"""Where robots start and how hard it is there: the curriculum over a terrain, and the ground under and around a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from surefoot.simulate.terrain import Terrain

Array = np.ndarray
ENOUGH = 0.5  # share of the commanded way that keeps a robot where it is [-]


class Course:
    """One level and one column of the terrain for each robot. On flat ground there is one of each, and nothing to climb.

    When an episode ends, a robot that has left its tile goes up a level; one that has made less than ENOUGH of the commanded way
    goes down one. Who passes the last level starts again at any. Way is ∫ v·v̂/‖v̂‖ dt, so turning on the spot costs nothing.
    """

    def __init__(self, terrain: Terrain, robots: int, *, seed: int, spread: bool = False) -> None:
        """Begin at the lower half of the levels, or (`spread`, for evaluation) evenly over all, where everyone then stays."""
        self.terrain, self.spread = terrain, spread
        self.rng = np.random.default_rng(seed)
        levels, columns = terrain.spots.shape[:2]
        self.column = np.arange(robots) % columns
        self.level = np.arange(robots) // columns % levels if spread else self.rng.integers(0, (levels + 1) // 2, robots)
        self.highest = np.zeros(columns, dtype=int)  # level passed so far in each column, counted from 1
        self.home = np.zeros((robots, 3))
        self.farthest = np.zeros(robots)  # from home in this episode [m]
        self.way = np.zeros((robots, 2))  # commanded, made [m]

    def origin(self, which: Array) -> Array:
        """Where robots start [m], shape (k, 3)."""
        self.home[which] = self.terrain.spots[self.level[which], self.column[which]]
        return self.home[which]

    def walked(self, position: Array, velocity: Array, command: Array, period: float) -> None:
        """Take note of a control step that ended at `position` (world), with a base `velocity` and a `command` in base axes."""
        if self.terrain.levels == 1:
            return
        speed = np.linalg.norm(command[:, :2], axis=-1)
        along = (velocity[:, :2] * command[:, :2]).sum(-1) / np.maximum(speed, 1e-9)
        self.way += period * np.stack([speed, along], axis=-1)
        self.farthest = np.maximum(self.farthest, np.linalg.norm(position[:, :2] - self.home[:, :2], axis=-1))

    def assess(self, which: Array, lost: Array) -> None:
        """Move robots whose episode is over up or down; those the engine `lost` stay."""
        levels = self.terrain.levels
        if levels > 1 and not self.spread:
            commanded, made = self.way[which].T
            up = (self.farthest[which] > self.terrain.tile / 2) & ~lost
            down = (made < ENOUGH * commanded) & ~up & ~lost
            np.maximum.at(self.highest, self.column[which][up], self.level[which][up] + 1)
            level = self.level[which] + up - down
            anywhere = self.rng.integers(0, levels, len(which))
            self.level[which] = np.where(level >= levels, anywhere, np.maximum(level, 0))
        self.farthest[which] = 0.0
        self.way[which] = 0.0

    def height(self, position: Array) -> Array:
        """Of the ground under each robot [m], shape (N,)."""
        return self.terrain.height(position[:, :2])

    def scan(self, position: Array, quaternion: Array) -> Array:
        """How high the base is above the ground around it [m], shape (N, 294)."""
        return position[:, 2:3] - self.terrain.scan(position, quaternion)

    def passed(self) -> dict[str, int]:
        """The highest level passed on each kind of ground, counted from 1; 0: none."""
        kinds = dict.fromkeys(self.terrain.kinds, 0)
        for kind, level in zip(self.terrain.kinds, self.highest, strict=True):
            kinds[kind] = max(kinds[kind], int(level))
        return kinds

    def state_dict(self) -> dict[str, Any]:
        """Levels, and what the running episodes have seen."""
        names = ("level", "highest", "home", "farthest", "way")
        return {name: getattr(self, name) for name in names} | {"rng": self.rng.bit_generator.state}

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        for name in ("level", "highest", "home", "farthest", "way"):
            setattr(self, name, kept[name].copy())
        self.rng.bit_generator.state = kept["rng"]
