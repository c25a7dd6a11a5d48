"""The ground: flat, or the paper's terrains in one height field, tile by tile, harder from row to row.

A height field is a grid of heights, `cell` apart; between its points the ground is straight. Tile (level, column) is a square
of side `tile`; its kind is that of its column, its difficulty (level + 1) / levels. Robots start on a tile's middle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from surefoot.errors import unknown
from surefoot.simulate.frames import heading

Array = np.ndarray

SCAN_X = 0.15 * (np.arange(21) - 10.0)  # [m] forward of the base: 3 m
SCAN_Y = 0.15 * (np.arange(14) - 6.5)  # [m] to its left: 2 m
SCAN = np.stack(np.meshgrid(SCAN_X, SCAN_Y, indexing="ij"), axis=-1).reshape(-1, 2)
"""Points of the height scan in the base's heading frame [m], shape (294, 2); the last index runs along y."""


def _zero() -> Array:
    return np.zeros((2, 2), dtype=np.float32)


@dataclass(frozen=True, kw_only=True, eq=False)
class Terrain:
    """Heights on a grid whose first axis is x; point (0, 0) is at `corner`. Beyond its edges the ground is that of the edge."""

    name: str = "flat"
    heights: Array = field(default_factory=_zero)  # [m], shape (X, Y), float32
    cell: float = 1.0  # [m]
    corner: tuple[float, float] = (0.0, 0.0)  # x, y [m]
    kinds: tuple[str, ...] = ("flat",)  # of each column of tiles
    spots: Array = field(default_factory=lambda: np.zeros((1, 1, 3)))  # where robots start, shape (levels, columns, 3) [m]
    tile: float = np.inf  # [m]

    @property
    def flat(self) -> bool:
        """The ground is one plane."""
        return not self.heights.any()

    @property
    def levels(self) -> int:
        """Rows of the curriculum."""
        return len(self.spots)

    def height(self, points: Array) -> Array:
        """Height [m] of the nearest grid point to each (x, y), shape (...)."""
        if self.flat:
            return np.zeros(np.shape(points)[:-1])
        x, y = (np.asarray(points)[..., k] for k in (0, 1))
        i = np.rint((x - self.corner[0]) / self.cell).astype(np.intp)
        j = np.rint((y - self.corner[1]) / self.cell).astype(np.intp)
        i, j = (np.clip(k, 0, size - 1) for k, size in zip((i, j), self.heights.shape, strict=True))
        return self.heights[i, j].astype(float)

    def scan(self, position: Array, quaternion: Array) -> Array:
        """Height of the ground [m] at `SCAN` around each position (N, 3), turned by the base's heading, shape (N, 294)."""
        if self.flat:
            return np.zeros((len(position), len(SCAN)))
        yaw = heading(quaternion)[:, None]
        c, s = np.cos(yaw), np.sin(yaw)
        px, py = SCAN.T
        at = np.stack([position[:, :1] + c * px - s * py, position[:, 1:2] + s * px + c * py], axis=-1)
        return self.height(at)


Shape = Callable[[Array, Array, float, np.random.Generator], Array]
"""Heights over (x, y) measured from a tile's middle [m], for a difficulty between 0 and 1."""

MIDDLE = 1.0  # [m] half the side of the level square in a tile's middle
STEP = 0.3  # [m] depth of a stair


def _rings(x: Array, y: Array) -> Array:
    """How many stairs a point lies outside the middle."""
    return np.ceil(np.maximum(np.maximum(np.abs(x), np.abs(y)) - MIDDLE, 0.0) / STEP)


def stairs_up(x: Array, y: Array, difficulty: float, rng: np.random.Generator) -> Array:
    """Square rings of stairs, 5 to 23 cm each, that rise from a pit in the middle to the tile's rim at height 0."""
    rings = _rings(x, y)
    return (0.05 + 0.18 * difficulty) * (rings - rings.max())


def stairs_down(x: Array, y: Array, difficulty: float, rng: np.random.Generator) -> Array:
    """The same stairs, falling from a hill in the middle to the rim."""
    return -stairs_up(x, y, difficulty, rng)


def slope_up(x: Array, y: Array, difficulty: float, rng: np.random.Generator) -> Array:
    """A pyramid upside down, up to 22 degrees steep: up from the middle to the rim."""
    away = np.maximum(np.maximum(np.abs(x), np.abs(y)) - MIDDLE, 0.0)
    return 0.4 * difficulty * (away - away.max())


def slope_down(x: Array, y: Array, difficulty: float, rng: np.random.Generator) -> Array:
    """A pyramid: down from the middle to the rim."""
    return -slope_up(x, y, difficulty, rng)


def rough(x: Array, y: Array, difficulty: float, rng: np.random.Generator) -> Array:
    """Random heights every 20 cm, straight between them, up to ±10 cm."""
    side = int(np.ceil((x.max() - x.min()) / 0.2)) + 2
    knots = rng.uniform(-1.0, 1.0, (side, side)) * (0.02 + 0.08 * difficulty)
    u, v = (x - x.min()) / 0.2, (y - y.min()) / 0.2
    i, j = u.astype(int), v.astype(int)
    a, b = u - i, v - j
    near = (1 - b) * knots[i, j] + b * knots[i, j + 1]
    far = (1 - b) * knots[i + 1, j] + b * knots[i + 1, j + 1]
    return (1 - a) * near + a * far


def boxes(x: Array, y: Array, difficulty: float, rng: np.random.Generator) -> Array:
    """Boxes of 45 cm, each of its own height, up to ±20 cm; the middle is level."""
    side = int(np.ceil((x.max() - x.min()) / 0.45)) + 1
    tops = rng.uniform(-1.0, 1.0, (side, side)) * (0.025 + 0.175 * difficulty)
    top = tops[((x - x.min()) / 0.45).astype(int), ((y - y.min()) / 0.45).astype(int)]
    return np.where(np.maximum(np.abs(x), np.abs(y)) <= MIDDLE, 0.0, top)


SHAPES: dict[str, Shape] = {
    "rough": rough,
    "stairs_up": stairs_up,
    "stairs_down": stairs_down,
    "boxes": boxes,
    "slope_up": slope_up,
    "slope_down": slope_down,
}
NAMES = ("flat", "paper", *SHAPES)


def terrain(
    name: str = "flat", *, seed: int, levels: int = 10, columns: int = 2, tile: float = 8.0, cell: float = 0.05
) -> Terrain:
    """The terrain "flat"; "paper", with `columns` columns of every kind; or columns of one kind by its name."""
    if name not in NAMES:
        raise unknown("terrain", [name], NAMES)
    if name == "flat":
        return Terrain()
    kinds = tuple(k for k in (SHAPES if name == "paper" else (name,)) for _ in range(columns))
    rng = np.random.default_rng(seed)
    side = round(tile / cell)
    at = (np.arange(side) + 0.5) * cell - tile / 2
    x, y = np.meshgrid(at, at, indexing="ij")
    border = round(2.0 / cell)  # level ground around everything
    heights = np.zeros((levels * side + 2 * border, len(kinds) * side + 2 * border), dtype=np.float32)
    spots = np.zeros((levels, len(kinds), 3))
    corner = (-levels * tile / 2 - border * cell + cell / 2, -len(kinds) * tile / 2 - border * cell + cell / 2)
    for level in range(levels):
        for k, kind in enumerate(kinds):
            i, j = border + level * side, border + k * side
            heights[i : i + side, j : j + side] = SHAPES[kind](x, y, (level + 1) / levels, rng)
            middle = heights[i : i + side, j : j + side][np.maximum(np.abs(x), np.abs(y)) <= MIDDLE / 2]
            spots[level, k] = (level + 0.5) * tile - levels * tile / 2, (k + 0.5) * tile - len(kinds) * tile / 2, middle.max()
    return Terrain(name=name, heights=heights, cell=cell, corner=corner, kinds=kinds, spots=spots, tile=tile)
