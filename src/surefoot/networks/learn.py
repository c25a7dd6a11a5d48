"""A drive network from recordings with measured torque: error and velocity in, torque out (Hwangbo et al. 2019).

    min over the weights   E (τ_net(x) − τ̂)² / max τ̂²      x: the network's inputs, τ̂: the measured torque

The last part of every recording is kept for validation. What the sensor does not feel (the rotor, the gear's friction) is
regressed from the same torque and acts beside the network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.least_squares import Progress
from surefoot.networks.convention import Convention, Kind
from surefoot.networks.data import remainder, same_joints, series
from surefoot.networks.network import Network
from surefoot.networks.torch import one_thread, torch
from surefoot.record.recording import Recording
from surefoot.robot.spec import Robot

Array = np.ndarray
Tell = Callable[[Progress], None] | None
KEPT = 0.2  # share of every recording, its end, that is kept for validation
HIDDEN = (32, 32, 32)
STATE = (2, 8)  # layers and size of an lstm
LAGS = (0, 2, 4)  # with the period below 0, 10 and 20 ms, as published
PERIOD = 0.005  # [s]
BATCH = {"mlp": 1024, "lstm": 128}  # rows, or sequences, in a batch
ITERATIONS = {"mlp": 4000, "lstm": 2000}
SEQUENCE, BURN_IN = 120, 20  # steps of a sequence of an lstm, and how many of them only warm it up
RATE = 5e-3  # of Adam, falling to nothing along a cosine


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A network and how it came about."""

    network: Network
    error: float  # validation error: rms of the torque, or of the position where no torque was measured
    span: float  # range of the same quantity in the validation data: largest minus smallest
    history: tuple[float, ...]  # training loss of each batch
    seconds_of_data: float

    @property
    def relative(self) -> float:
        """Validation error as a part of the range [-]."""
        return self.error / self.span


def learn_from_torque(
    robot: Robot, recordings: Sequence[Recording], *, kind: Kind = "mlp", inputs: tuple[str, ...] = ("error", "velocity"),
    period: float = PERIOD, iterations: int | None = None, told_joint: bool = True, seed: int = 0, tell: Tell = None,
) -> Learned:  # fmt: skip
    """Learn one network for all joints; with `told_joint` it is told which of them it drives.

    `iterations` are batches: 4000 of an mlp, 2000 of an lstm unless given.
    """
    joints = same_joints(recordings, torque=True)
    t = seeded(seed)
    rest = remainder(robot, recordings)
    beside = {name: tuple(getattr(rest, name).tolist()) for name in ("armature", "damping", "friction")}
    convention = make_convention(kind, inputs, period, joints, recordings, beside, told_joint=told_joint)
    tables = [series(rec, period) for rec in recordings]
    rows = [table.inputs(convention, joints) for table in tables]
    largest = max(float(np.abs(table.torque).max()) for table in tables)
    if largest == 0:
        raise SurefootError("the measured torque is zero everywhere; check the channel torque of the recordings.")
    module = make_module(convention, np.concatenate([r.reshape(-1, r.shape[-1]) for r in rows]), largest)
    cut = [int((1 - KEPT) * len(table.time)) for table in tables]
    data = [(x, table.torque / largest, table.usable) for x, table in zip(rows, tables, strict=True)]
    early = [tuple(part[:c] for part in row) for row, c in zip(data, cut, strict=True)]
    make = _rows if kind == "mlp" else _sequences
    batch = make(t, module, convention, early, seed, largest)
    with one_thread():
        history = descend(t, module.parameters(), batch, iterations or ITERATIONS[kind], tell)
    network = Network(convention, module)
    residual, truth = [], []
    for (x, torque, usable), c in zip(data, cut, strict=True):
        answer = _answers(t, module, convention, x)
        residual.append((answer[c:] - largest * torque[c:])[usable[c:]])
        truth.append(largest * torque[c:][usable[c:]])
    if not sum(map(len, truth)):
        raise SurefootError("the last fifth of the recordings has no valid sample with the drives on; pass longer recordings.")
    return Learned(
        network=network, error=float(np.sqrt(np.mean(np.concatenate(residual) ** 2))), span=float(np.ptp(np.concatenate(truth))),
        history=tuple(history), seconds_of_data=sum(rec.duration for rec in recordings),
    )  # fmt: skip


def seeded(seed: int) -> Any:
    """torch with its generator at a seed."""
    t = torch()
    t.manual_seed(seed)
    return t


def make_convention(
    kind: Kind, inputs: tuple[str, ...], period: float, joints: tuple[str, ...], recordings: Sequence[Recording],
    beside: dict[str, tuple[float, ...]], *, told_joint: bool,
) -> Convention:  # fmt: skip
    """How the network will be asked; it knows its gains only where they are the same for all, or where it is told the demand."""
    gains = {}
    if "demand" not in inputs:
        for name in ("stiffness", "damping"):
            values = np.concatenate([getattr(rec, name) for rec in recordings])
            if np.ptp(values) < 1e-9:
                gains[name] = float(values[0])
    if not told_joint:
        beside = {name: (float(np.median(values)),) for name, values in beside.items()}
    return Convention(
        kind=kind, period=period, inputs=inputs, lags=LAGS if kind == "mlp" else (), state=STATE if kind == "lstm" else (),
        joints=joints if told_joint else (), beside=beside, **gains,
    )  # fmt: skip


def make_module(convention: Convention, rows: Array, largest: float) -> Any:
    """A fresh module whose inputs come out at unit size and whose output at the largest torque."""
    from surefoot.networks.modules import Lstm, Mlp

    scale = 1.0 / np.maximum(rows.std(axis=0), 1e-6 * np.abs(rows).max() + 1e-12)
    if convention.joints:
        scale[-len(convention.joints) :] = 1.0
    if convention.kind == "mlp":
        return Mlp(HIDDEN, scale, largest)
    layers, size = convention.state
    return Lstm(layers, size, scale, largest)


def _rows(t: Any, module: Any, _: Convention, data: list, seed: int, largest: float) -> Callable[[], Any]:
    """The loss of a batch of single rows."""
    x = t.as_tensor(np.concatenate([rows[usable] for rows, _, usable in data]), dtype=t.float32)
    y = t.as_tensor(np.concatenate([torque[usable] for _, torque, usable in data]), dtype=t.float32)
    if len(x) < 100:
        raise SurefootError(f"{len(x)} samples with the drives on are too few to learn from; pass longer recordings.")
    draw = np.random.default_rng(seed)

    def loss() -> Any:
        pick = t.as_tensor(draw.integers(0, len(x), BATCH["mlp"]))
        return ((module(x[pick]).reshape(-1) / largest - y[pick]) ** 2).mean()

    return loss


def _sequences(t: Any, module: Any, convention: Convention, data: list, seed: int, largest: float) -> Callable[[], Any]:
    """The loss of a batch of stretches of a joint's motion, whose first steps only bring the state to where it would be."""
    pieces = []
    for rows, torque, usable in data:
        starts = range(0, len(rows) - SEQUENCE, SEQUENCE // 4)
        both = np.concatenate([rows, torque[..., None], usable[..., None]], axis=-1)
        pieces += [np.moveaxis(both[s : s + SEQUENCE], 1, 0) for s in starts]
    if not pieces:
        raise SurefootError(f"an lstm learns from stretches of {SEQUENCE * convention.period:g} s; pass longer recordings.")
    every = t.as_tensor(np.concatenate(pieces), dtype=t.float32)
    x, y, weight = every[..., :-2], every[:, BURN_IN:, -2], every[:, BURN_IN:, -1]
    draw, (layers, size) = np.random.default_rng(seed), convention.state

    def loss() -> Any:
        pick = t.as_tensor(draw.integers(0, len(x), BATCH["lstm"]))
        zero = t.zeros(layers, len(pick), size)
        answer, _ = module(x[pick], (zero, zero.clone()))
        error = (answer[:, BURN_IN:] / largest - y[pick]) ** 2 * weight[pick]
        return error.sum() / weight[pick].sum().clamp(min=1.0)

    return loss


def descend(t: Any, weights: Any, loss: Callable[[], Any], iterations: int, tell: Tell, rate: float = RATE) -> list[float]:
    """Adam, its rate falling along a cosine; the loss of every batch."""
    adam = t.optim.Adam(weights, lr=rate)
    slower = t.optim.lr_scheduler.CosineAnnealingLR(adam, iterations)
    history = []
    for i in range(iterations):
        value = loss()
        adam.zero_grad()
        value.backward()
        t.nn.utils.clip_grad_norm_(adam.param_groups[0]["params"], 1.0)
        adam.step()
        slower.step()
        history.append(float(value.detach()))
        if not np.isfinite(history[-1]):
            raise SurefootError("learning diverged: the loss is no number. Check the recordings for spikes (surefoot check).")
        if tell:
            tell(Progress(stage="learning", iteration=i, loss=history[-1], limit=iterations))
    return history


def _answers(t: Any, module: Any, convention: Convention, x: Array) -> Array:
    """Torque of whole series (N, n, width), shape (N, n) [N·m]."""
    with t.no_grad():
        if convention.kind == "mlp":
            return module(t.as_tensor(x, dtype=t.float32)).squeeze(-1).double().numpy()
        layers, size = convention.state
        zero = t.zeros(layers, x.shape[1], size)
        answer, _ = module(t.as_tensor(np.moveaxis(x, 1, 0).copy(), dtype=t.float32), (zero, zero.clone()))
        return answer.double().numpy().T
