"""The fit as a least-squares problem: recordings, a space of unknowns, and the residuals and derivatives of its points.

Branches of the robot do not feel each other, so one lane moves one variable in every branch at once: a robot of 49 unknowns
on four legs needs 14 lanes for all its derivatives, not 50.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.unknowns import Space
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inair import InAir, cores
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import Choice, Engine, engine

Array = np.ndarray
TOGETHER = 64  # candidates whose torques are held in memory at once
STEP = 1e-6  # finite-difference step, as a part of half the bounds' width


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Residuals of one branch on one recording, and their derivatives with respect to the variables that reach it."""

    recording: int
    joints: Array  # shape (f,)
    variables: Array  # shape (m,)
    residual: Array  # simulated − measured, 0 where not compared [rad], shape (T, f · channels)
    jacobian: Array  # d residual / d x, shape (T, f · channels, m)


@dataclass(frozen=True, kw_only=True)
class Linear:
    """The problem around a point of the cube."""

    x: Array
    squares: float  # sum of squared residuals
    hessian: Array  # JᵀJ, shape (d, d)
    gradient: Array  # Jᵀr, shape (d,)
    pieces: tuple[Piece, ...]


class Problem:
    """Residuals of points of a `Space` on one or more recordings."""

    def __init__(
        self, robot: Robot, recordings: Sequence[Recording], space: Space, physics: Physics, *, choice: Choice = "auto",
        torque_weight: float = 0.0, dtype: str = "float64", engines: Sequence[Engine] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        self.robot, self.recordings, self.space, self.physics = robot, list(recordings), space, physics
        one = space.decode(np.full((1, space.size), 0.1))  # with every optional part that is searched switched on
        options = {"choice": choice, "dtype": dtype, "say": say, "candidates": one, "torque": bool(torque_weight)}
        self.engines = list(engines or [engine(robot, rec, physics, **options) for rec in recordings])
        self.torque_weight = torque_weight
        if torque_weight and any(rec.torque is None for rec in recordings):
            raise SurefootError("torque_weight needs measured torque in every recording; leave it at 0 or drop those without.")
        self.groups = self.engines[0].groups
        self.group_of = {int(joint): g for g, joints in enumerate(self.groups) for joint in joints}
        self.reach = self._reach()
        self.lane_of = _colour(self.reach)
        reaching = [[k for k in range(space.size) if g in self.reach[k]] for g in range(len(self.groups))]
        self.variables = [np.array(sorted(ks, key=lambda k: self.lane_of[k]), int) for ks in reaching]  # by lane: a slice
        self.compared = [np.full(rec.n, len(rec.time)) if rec.valid is None else rec.valid.sum(0) for rec in recordings]
        self.samples = float(sum(count.mean() for count in self.compared))
        self._refuse_too_large()
        self.rollouts = 0

    def _reach(self) -> list[frozenset[int]]:
        """Branches that each variable acts on."""
        out: list[set[int]] = [set() for _ in range(self.space.size)]
        for entry, k in zip(self.space.entries, self.space.variable, strict=True):
            if k >= 0:
                out[k] |= {self.group_of[entry.index]} if entry.joint else set(range(len(self.groups)))
        return [frozenset(groups) for groups in out]

    # --- values ------------------------------------------------------------------------------------------------------------
    def squares(self, x: Array) -> Array:
        """Sum of squared residuals of points (L, d), by recording and joint: shape (L, recordings, n); inf where one diverged."""
        candidates = self.space.decode(x)
        self.rollouts += len(np.atleast_2d(x))
        out = []
        for used, rec, count in zip(self.engines, self.recordings, self.compared, strict=True):
            squares = np.where(count > 0, used.scores(candidates) * np.maximum(count, 1), 0.0)
            if self.torque_weight:
                squares = squares + self._torque_squares(used, rec, candidates)
            out.append(squares)
        return np.stack(out, axis=1)

    def loss(self, x: Array) -> Array:
        """The paper's loss of points (L, d): time mean of the squared error over all joints [rad²]."""
        return self.squares(x).sum(axis=(1, 2)) / self.samples

    def _refuse_too_large(self) -> None:
        """Derivatives of long recordings at high rates must fit into memory."""
        lanes = 2 + max(self.lane_of, default=0)
        need = 3 * 8 * lanes * sum(rec.position.size for rec in self.recordings)
        have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else need
        if need > 0.7 * have:
            raise SurefootError(
                f"the derivatives of these recordings need {need / 1e9:.0f} GB; this machine has {have / 1e9:.0f} GB. Fit a "
                "stretch of them (recording.between(...)), or a log at a lower rate."
            )

    def _torque_squares(self, engine: Engine, rec: Recording, candidates: JointDynamics) -> Array:
        parts = [slice(i, i + TOGETHER) for i in range(0, candidates.batch[0], TOGETHER)]
        return np.concatenate([self._torque_part(engine, rec, candidates.lane(part)) for part in parts])

    def _torque_part(self, engine: Engine, rec: Recording, candidates: JointDynamics) -> Array:
        torque = engine.trajectories(candidates, torque=True)[1]
        assert torque is not None
        error = (torque - rec.torque) * self._torque_scale(rec) * (1.0 if rec.valid is None else rec.valid)
        squares = (error**2).sum(axis=1)
        return np.where(np.isfinite(squares), squares, np.inf)

    def _torque_scale(self, rec: Recording) -> Array:
        """Radians that a torque error counts for: those the position gain would turn into it, times the weight."""
        return self.torque_weight / np.where(rec.stiffness > 0, rec.stiffness, 1.0)

    # --- derivatives -------------------------------------------------------------------------------------------------------
    def linearise(self, x: Array) -> Linear:
        """Residuals and forward differences, each variable stepped into the cube."""
        sign = np.where(x > 0, -1.0, 1.0)
        lanes = np.repeat(x[None], 1 + max(self.lane_of, default=-1) + 1, axis=0)
        for k in range(self.space.size):
            lanes[1 + self.lane_of[k], k] += STEP * sign[k]
        self.rollouts += len(lanes)
        candidates = self.space.decode(lanes)
        pieces: list[Piece] = []
        for r in range(len(self.recordings)):
            runs = self._runs(r, candidates)
            pieces += cores().map(lambda run, r=r: self._piece(r, run[0], run[1], sign), runs)
        return _assembled(x, pieces)

    def _piece(self, r: int, joints: Array, runs: Array, sign: Array) -> Piece:
        """Residual and Jacobian of one branch."""
        rec, group = self.recordings[r], self.group_of[int(joints[0])]
        variables = self.variables[group]
        residual = runs[..., 0] - self._measured(rec, joints)
        columns = [1 + self.lane_of[k] for k in variables]
        together = columns == list(range(columns[0], columns[0] + len(columns))) if columns else False
        jacobian = runs[..., columns[0] : columns[-1] + 1] - runs[..., :1] if together else runs[..., columns] - runs[..., :1]
        jacobian *= sign[variables] / STEP
        if rec.valid is not None:
            seen = np.tile(rec.valid[:, joints], (1, runs.shape[1] // len(joints)))
            residual, jacobian = residual * seen, jacobian * seen[..., None]
        return Piece(recording=r, joints=joints, variables=variables, residual=residual, jacobian=jacobian)

    def _measured(self, rec: Recording, joints: Array) -> Array:
        if not self.torque_weight or rec.torque is None:
            return rec.position[:, joints]
        return np.concatenate([rec.position[:, joints], rec.torque[:, joints] * self._torque_scale(rec)[joints]], axis=1)

    def _runs(self, r: int, candidates: JointDynamics) -> list[tuple[Array, Array]]:
        """For each branch its joints and what was simulated of them, shape (T, f · channels, L)."""
        engine, rec, total = self.engines[r], self.recordings[r], candidates.batch[0]
        scale = self._torque_scale(rec) if self.torque_weight else None
        out = []
        if isinstance(engine, InAir):
            for block in engine.blocks(candidates, torque=scale is not None):
                parts = [block.position[..., :total]]
                if scale is not None and block.torque is not None:
                    parts.append(block.torque[..., :total] * scale[block.joints][:, None])
                out.append((block.joints, parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)))
            return out
        position, torque, _ = engine.trajectories(candidates, torque=scale is not None)
        for joints in engine.groups:
            parts = [np.moveaxis(position[:, :, joints], 0, -1)]
            if scale is not None and torque is not None:
                parts.append(np.moveaxis(torque[:, :, joints] * scale[joints], 0, -1))
            out.append((joints, np.concatenate(parts, axis=1)))
        return out


def _assembled(x: Array, pieces: list[Piece]) -> Linear:
    hessian, gradient, squares = np.zeros((len(x), len(x))), np.zeros(len(x)), 0.0
    for piece in pieces:
        jacobian, residual = piece.jacobian.reshape(-1, len(piece.variables)), piece.residual.reshape(-1)
        hessian[np.ix_(piece.variables, piece.variables)] += jacobian.T @ jacobian
        gradient[piece.variables] += jacobian.T @ residual
        squares += float(np.square(residual).sum())  # not `@`, whose threads wait for a busy core
    return Linear(x=x, squares=squares, hessian=hessian, gradient=gradient, pieces=tuple(pieces))


def _colour(reach: list[frozenset[int]]) -> list[int]:
    """A lane for each variable such that variables of the same lane reach no common branch."""
    lanes: list[set[int]] = []
    out = [0] * len(reach)
    for k in sorted(range(len(reach)), key=lambda k: -len(reach[k])):
        lane = next((i for i, taken in enumerate(lanes) if not taken & reach[k]), len(lanes))
        if lane == len(lanes):
            lanes.append(set())
        lanes[lane] |= reach[k]
        out[k] = lane
    return out
