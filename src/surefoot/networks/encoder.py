"""A drive network from encoders alone, learned through a differentiated in-air simulation.

Short stretches of the recording start from the measured, smoothed state and run freely:

    v⁺ = v + h (M(q̂) + diag I_a)⁻¹ (τ_net − c(q̂, v̂)),   q⁺ = q + h v⁺,   min E (q − q̂)²

M and c of the links are taken along the measured motion q̂, v̂, which a short stretch does not leave; gradients run through the
steps and the network's own history. The armature I_a is learned with the weights: a torque that answers to acceleration, one
step late, would blow an explicit step up where the rotor outweighs the link. The network starts as the drive's PD law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.seed import balance, regress, sampled
from surefoot.networks.convention import Convention
from surefoot.networks.data import Series, same_joints, series
from surefoot.networks.learn import KEPT, PERIOD, RATE, Learned, Tell, descend, make_convention, make_module, seeded
from surefoot.networks.network import Network
from surefoot.networks.torch import one_thread
from surefoot.record.recording import Recording
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_torque, mass_matrix
from surefoot.simulate.physics import Physics

Array = np.ndarray
STRETCH = 40  # steps of the network in a stretch
TOGETHER = 96  # stretches in a batch
SUBSTEPS = 2  # physics steps in a step of the network


@dataclass(frozen=True, kw_only=True, eq=False)
class _Motion:
    """A recording and what its links need along it."""

    table: Series
    mass: Array  # M(q̂) of the free joints, shape (N, f, f)
    force: Array  # c(q̂, v̂) of the free joints, with the prescribed ones' acceleration, shape (N, f)
    starts: Array  # steps at which a stretch may begin


def learn_from_encoder(
    robot: Robot, recordings: Sequence[Recording], *, inputs: tuple[str, ...] = ("error", "velocity"), period: float = PERIOD,
    iterations: int = 300, seed: int = 0, tell: Tell = None,
) -> Learned:  # fmt: skip
    """Learn an mlp for all joints, told which of them it drives; the validation error is of positions [rad]."""
    joints = same_joints(recordings, torque=False)
    t = seeded(seed)
    free = np.array([j for j, name in enumerate(joints) if name not in recordings[0].prescribed])
    armature = _first_armature(robot, recordings)
    convention = make_convention("mlp", inputs, period, joints, recordings, {}, told_joint=True)
    motions = [_motion(robot, rec, period, free) for rec in recordings]
    rows = [m.table.inputs(convention, joints)[:, free] for m in motions]
    law = [_law(m.table)[:, free] for m in motions]
    largest = max(float(np.abs(torque).max()) for torque in law)
    module = make_module(convention, np.concatenate([r.reshape(-1, r.shape[-1]) for r in rows]), largest)
    with one_thread():
        _start_as_law(t, module, rows, law, largest, seed)
    log_armature = t.tensor(np.log(armature[free]), dtype=t.float32, requires_grad=True)
    unroll = _Unroll(t, module, convention, free, log_armature, joints)
    draw = np.random.default_rng(seed)
    pairs = [(m, s) for m in motions for s in m.starts[m.starts < (1 - KEPT) * len(m.table.time) - STRETCH]]
    kept = [(m, s) for m in motions for s in m.starts[m.starts >= (1 - KEPT) * len(m.table.time)]]
    if not pairs or not kept:
        raise SurefootError(f"recordings are too short to learn from: stretches of {STRETCH * period:g} s are cut from them.")
    scale = float(np.concatenate([m.table.smooth[:, free] for m in motions]).std())

    def batch() -> Any:
        return unroll([pairs[i] for i in draw.integers(0, len(pairs), TOGETHER)]) / scale**2

    with one_thread():
        history = descend(t, [*module.parameters(), log_armature], batch, iterations, tell, rate=RATE / 2)
    with t.no_grad():
        error = float(unroll([kept[i] for i in np.linspace(0, len(kept) - 1, min(200, len(kept))).astype(int)]).sqrt())
    values = armature.copy()
    values[free] = np.exp(log_armature.detach().double().numpy())
    beside = {"armature": tuple(values.tolist())}
    final = make_convention("mlp", inputs, period, joints, recordings, beside, told_joint=True)
    span = max(float(np.ptp(m.table.smooth[:, free], axis=0).max()) for m in motions)
    return Learned(
        network=Network(final, module), error=error, span=span, history=tuple(history),
        seconds_of_data=sum(rec.duration for rec in recordings),
    )  # fmt: skip


class _Unroll:
    """The differentiated simulation of stretches, all at once; their mean squared position error [rad²]."""

    def __init__(
        self, t: Any, module: Any, convention: Convention, free: Array, log_armature: Any, joints: tuple[str, ...]
    ) -> None:
        self.t, self.module, self.convention, self.free, self.log_armature = t, module, convention, free, log_armature
        self.names = t.as_tensor(np.eye(len(joints))[free], dtype=t.float32)

    def __call__(self, stretches: list[tuple[_Motion, int]]) -> Any:
        t, c, h = self.t, self.convention, self.convention.period / SUBSTEPS
        take = lambda get: t.as_tensor(np.stack([get(m)[s : s + STRETCH + 1] for m, s in stretches]), dtype=t.float32)  # noqa: E731
        free = self.free
        target, rate = take(lambda m: m.table.target[:, free]), take(lambda m: m.table.target_velocity[:, free])
        measured, force = take(lambda m: m.table.smooth[:, free]), take(lambda m: m.force)
        on = take(lambda m: m.table.usable[:, free])
        inertia = take(lambda m: m.mass) + t.diag(t.exp(self.log_armature))
        mobility = t.linalg.inv(inertia)
        gains = [
            t.as_tensor(np.stack([getattr(m.table, g)[free] for m, _ in stretches]), dtype=t.float32)
            for g in ("stiffness", "damping")
        ]
        past = self._past(stretches)
        names = self.names.expand(len(stretches), *self.names.shape)
        q = measured[:, 0]
        v = t.as_tensor(np.stack([m.table.velocity[s, free] for m, s in stretches]), dtype=t.float32)
        total = 0.0
        for k in range(STRETCH):
            past = [self._now(target[:, k], rate[:, k], q, v, gains), *past[:-1]]
            seen = t.stack([past[lag] for lag in c.lags], dim=-1).flatten(2)
            torque = self.module(t.cat([seen, names], dim=-1)).squeeze(-1) * on[:, k]
            push = t.einsum("bij,bj->bi", mobility[:, k], torque - force[:, k])
            for _ in range(SUBSTEPS):
                v = v + h * push
                q = q + h * v
            total = total + ((q - measured[:, k + 1]) ** 2).clamp(max=1.0).mean()
        return total / STRETCH

    def _now(self, target: Any, rate: Any, q: Any, v: Any, gains: list[Any]) -> Any:
        """`Convention.rows` on tensors."""
        p, d = gains
        value = {"error": target - q, "velocity": v, "velocity_error": rate - v, "demand": p * (target - q) + d * (rate - v)}
        return self.t.stack([value[name] for name in self.convention.inputs], dim=-1)

    def _past(self, stretches: list[tuple[_Motion, int]]) -> list[Any]:
        """Inputs of the steps before each stretch, the newest first, as they were measured."""
        rows = []
        for age in range(1, max(self.convention.lags) + 2):
            at = [(m.table, max(s - age, 0)) for m, s in stretches]
            pick = lambda name, at=at: np.stack([getattr(table, name)[i, self.free] for table, i in at])  # noqa: E731
            gains = [np.stack([getattr(table, g)[self.free] for table, _ in at]) for g in ("stiffness", "damping")]
            now = self.convention.rows(pick("target"), pick("target_velocity"), pick("smooth"), pick("velocity"), *gains)
            rows.append(self.t.as_tensor(now, dtype=self.t.float32))
        return rows


def _motion(robot: Robot, rec: Recording, period: float, free: Array) -> _Motion:
    table = series(rec, period)
    acceleration = np.zeros_like(table.smooth)
    given = np.setdiff1d(np.arange(rec.n), free)
    acceleration[:, given] = np.gradient(table.velocity[:, given], period, axis=0)
    force = link_torque(robot, rec.joints, table.smooth, table.velocity, acceleration)[:, free]
    mass = mass_matrix(robot, rec.joints, table.smooth)[:, free][:, :, free]
    last = len(table.time) - STRETCH - 1
    return _Motion(table=table, mass=mass, force=force, starts=np.arange(0, max(last, 0), 4))


def _law(table: Series) -> Array:
    return table.stiffness * (table.target - table.position) + table.damping * (table.target_velocity - table.velocity)


def _first_armature(robot: Robot, recordings: Sequence[Recording]) -> Array:
    """Regression's guess, which the gradient then improves; never nothing, for it is learned in its logarithm [kg·m²]."""
    found = []
    ready = [sampled(robot, rec) for rec in recordings]
    for delay in (0.0, 0.005, 0.01, 0.015):
        parts = [balance(robot, rec, r, delay) for rec, r in zip(recordings, ready, strict=True)]
        dynamics, misfit = regress(recordings[0].joints, parts, delay, Physics())
        found.append((misfit, delay, dynamics.armature))
    best = min(found)[2]
    return np.maximum(best, max(0.02 * float(best.max()), 1e-7))


def _start_as_law(t: Any, module: Any, rows: list[Array], law: list[Array], largest: float, seed: int) -> None:
    x = t.as_tensor(np.concatenate([r.reshape(-1, r.shape[-1]) for r in rows]), dtype=t.float32)
    y = t.as_tensor(np.concatenate([r.reshape(-1) for r in law]) / largest, dtype=t.float32)
    draw = np.random.default_rng(seed)

    def batch() -> Any:
        pick = t.as_tensor(draw.integers(0, len(x), 2048))
        return ((module(x[pick]).reshape(-1) / largest - y[pick]) ** 2).mean()

    descend(t, module.parameters(), batch, 400, None)
