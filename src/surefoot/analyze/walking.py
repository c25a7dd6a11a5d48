"""How well a robot walked as it was told: step responses, steady velocity, gait as a cycle and as a spectrum, torque.

All of it reads a `Run`: the truth where a virtual robot gives it, else what the robot's own estimator said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.analyze.run import SKIPPED, fall, moving_mean, velocities
from surefoot.errors import SurefootError
from surefoot.record.run import Phase, Run
from surefoot.robot.drive import torque_bounds
from surefoot.robot.spec import Robot

Array = NDArray[np.float64]
RISEN = 0.9  # share of the steady velocity at which a step has risen [-]
SMOOTH = 0.5  # over which a velocity is averaged before its rise and overshoot are read [s]


def base_motion(run: Run) -> Array:
    """Velocity forward and to the left [m/s] and turning rate [rad/s] of the base in its own axes, shape (T, 3)."""
    linear, rate, _ = velocities(run)
    return np.column_stack([linear[:, :2], rate[:, 2]])


def walking(run: Run) -> NDArray[np.bool_]:
    """Rows in which the policy follows commands, shape (T,)."""
    return run["phase"] == Phase.WALKING


@dataclass(frozen=True, kw_only=True, eq=False)
class StepResponse:
    """What a step of the command did to the base, along the axis of the step."""

    axis: int  # index into surefoot.analyze.run.AXES
    command: float  # after the step [m/s or rad/s]
    steady: float  # mean of what followed; nan: it fell before [m/s or rad/s]
    spread: float  # standard deviation of it
    rise: float  # until it stays above RISEN of the steady mean, before SKIPPED [s]; nan: never
    overshoot: float  # highest of the smoothed velocity over the steady mean, minus 1 [-]
    fell: float  # since the step [s]; inf: it did not
    samples: Array  # velocities of the steady state, for a violin

    @property
    def error(self) -> float:
        """|steady − command| / |command| [-]."""
        return abs(self.steady - self.command) / abs(self.command)


def step_response(run: Run, *, distance: float = np.inf) -> StepResponse:
    """The first change of the command from zero, to the end of the walk or until so many metres (or rad) were made."""
    told = np.where(walking(run)[:, None], run["command"], 0.0)
    moving = np.flatnonzero(np.abs(told).max(axis=1) > 0)
    if not len(moving):
        raise SurefootError(f"this run of {run.robot} has no step: its command is zero throughout.")
    first = int(moving[0])
    axis = int(np.abs(told[first]).argmax())
    command = float(told[first, axis])
    same = walking(run) & (run["command"] == run["command"][first]).all(axis=1)
    last = first + int((~same[first:]).argmax()) if (~same[first:]).any() else len(same)
    time, velocity = run.time[first:last] - run.time[first], base_motion(run)[first:last, axis]
    begun = float(run.time[first] - run.time[np.flatnonzero(walking(run))[0]])
    fell = fall(run) - begun
    made = np.concatenate([[0.0], np.cumsum(0.5 * np.sign(command) * (velocity[1:] + velocity[:-1]) * np.diff(time))])
    stays = (time < fell) & (made <= distance)
    settled = stays & (time >= SKIPPED)
    if settled.sum() < 2 or np.isfinite(fell):
        return StepResponse(
            axis=axis, command=command, steady=np.nan, spread=np.nan, rise=np.nan, overshoot=np.nan, fell=fell,
            samples=np.empty(0),
        )  # fmt: skip
    samples = velocity[settled]
    steady = float(samples.mean())
    smooth = moving_mean(time, velocity, SMOOTH)[stays]
    early = time[stays] < SKIPPED
    low = np.flatnonzero((np.sign(command) * smooth < RISEN * abs(steady)) & early)
    return StepResponse(
        axis=axis, command=command, steady=steady, spread=float(samples.std()), fell=fell, samples=samples,
        rise=_risen(time, low, int(early.sum())) if steady * command > 0 else np.nan,
        overshoot=float((np.sign(command) * smooth).max() / abs(steady) - 1) if steady else np.nan,
    )  # fmt: skip


def _risen(time: Array, low: NDArray[np.int64], settle: int) -> float:
    """The time after the last row that was too low; nan where that is the last row before it should be settled."""
    last = int(low[-1]) + 1 if len(low) else 0
    return float(time[last]) if last < settle else np.nan


def density(samples: ArrayLike, at: ArrayLike) -> Array:
    """A violin's width: the density of samples at some values, by Gaussians of Scott's width σ n^(−1/5)."""
    x, grid = np.asarray(samples, dtype=float), np.asarray(at, dtype=float)
    width = max(float(x.std()) * len(x) ** -0.2, 1e-9)
    bells = np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2)
    return bells.mean(axis=1) / (width * np.sqrt(2 * np.pi))


# --- the gait of one joint --------------------------------------------------------------------------------------------------
def spectrum(time: ArrayLike, signal: ArrayLike) -> tuple[Array, Array]:
    """Frequencies [Hz] and amplitudes of the sines in a signal (its own unit), by a Hann window; its mean is taken away."""
    t, x = np.asarray(time, dtype=float), np.asarray(signal, dtype=float)
    even = np.linspace(t[0], t[-1], len(t))
    window = np.hanning(len(t))
    lines = np.fft.rfft(window * (np.interp(even, t, x) - x.mean()))
    amplitude = 2 * np.abs(lines) / window.sum()
    return np.asarray(np.fft.rfftfreq(len(t), float(even[1] - even[0])), dtype=float), np.asarray(amplitude, dtype=float)


def stride(time: ArrayLike, signal: ArrayLike, *, shortest: float = 0.15, longest: float = 2.0) -> float:
    """Period of a gait [s]: the lag at which a joint's motion is most like itself; nan where it repeats itself nowhere."""
    t, x = np.asarray(time, dtype=float), np.asarray(signal, dtype=float)
    h = float(np.median(np.diff(t)))
    x = np.interp(np.arange(t[0], t[-1], h), t, x)
    x = x - x.mean()
    n = len(x)
    if n * h < 2 * shortest or not x.any():
        return float("nan")
    padded = np.fft.irfft(np.abs(np.fft.rfft(x, 2 * n)) ** 2)[: n // 2]
    alike = padded / (padded[0] * (1 - np.arange(n // 2) / n))
    low, high = round(shortest / h), min(round(longest / h), n // 2 - 1)
    inside = alike[low:high]
    peaks = np.flatnonzero((inside[1:-1] >= inside[:-2]) & (inside[1:-1] > inside[2:])) + 1
    strong = peaks[inside[peaks] >= 0.9 * inside[peaks].max()] if len(peaks) else peaks
    if not len(strong) or inside[strong[0]] < 0.3:
        return float("nan")
    k = low + int(strong[0])  # the first of the strong ones: not twice the stride
    a, b, c = alike[k - 1 : k + 2]
    return h * (k + 0.5 * (a - c) / (a - 2 * b + c))


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitCycle:
    """A joint's gait over one stride, at K phases."""

    period: float  # of a stride [s]
    position: Array  # mean over strides [rad], shape (K,)
    velocity: Array  # [rad/s], shape (K,)
    position_spread: Array  # standard deviation over strides, shape (K,)
    velocity_spread: Array

    @property
    def scatter(self) -> float:
        """How far strides differ, over how far the joint moves: root mean square of the spread over the deviation [-]."""
        return float(np.sqrt((self.position_spread**2).mean()) / self.position.std())


def limit_cycle(time: ArrayLike, position: ArrayLike, velocity: ArrayLike, *, phases: int = 60) -> LimitCycle | None:
    """Strides laid over each other; None where there are less than three, or no gait."""
    t, q, v = (np.asarray(x, dtype=float) for x in (time, position, velocity))
    period = stride(t, q)
    if not np.isfinite(period) or t[-1] - t[0] < 3 * period:
        return None
    count = int((t[-1] - t[0]) / period)
    at = t[0] + period * (np.arange(count)[:, None] + np.arange(phases) / phases)
    strides = {name: np.interp(at, t, x) for name, x in (("position", q), ("velocity", v))}
    return LimitCycle(
        period=period, position=strides["position"].mean(0), velocity=strides["velocity"].mean(0),
        position_spread=strides["position"].std(0), velocity_spread=strides["velocity"].std(0),
    )  # fmt: skip


# --- hardware beside simulation ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement:
    """The same commands, followed twice."""

    difference: Array  # root mean square between the two smoothed velocities, for each of AXES [m/s, m/s, rad/s], shape (3,)
    tracking: tuple[Array, Array]  # of each from the command
    explained: Array  # 1 − Σ(a − b)² / Σ(a − mean a)², for each of AXES; nan where a does not move


def agreement(one: Run, other: Run, *, width: float = 0.5) -> Agreement:
    """Base velocities of two runs of one script, averaged over a stride or so; as long as both walk."""
    told, moved = [], []
    seconds = min(_walked(run) for run in (one, other))
    at = np.arange(0.0, seconds, 0.02)
    for run in (one, other):
        rows = walking(run)
        t = run.time[rows] - run.time[rows][0]
        motion = base_motion(run)[rows]
        moved.append(np.column_stack([np.interp(at, t, moving_mean(t, motion[:, k], width)) for k in range(3)]))
        told.append(np.column_stack([np.interp(at, t, moving_mean(t, run["command"][rows][:, k], width)) for k in range(3)]))
    rms = lambda x: np.sqrt((x**2).mean(axis=0))  # noqa: E731
    variance = ((moved[0] - moved[0].mean(axis=0)) ** 2).mean(axis=0)
    explained = np.where(variance > 1e-4, 1 - rms(moved[1] - moved[0]) ** 2 / np.maximum(variance, 1e-12), np.nan)
    return Agreement(
        difference=rms(moved[1] - moved[0]), explained=explained, tracking=(rms(moved[0] - told[0]), rms(moved[1] - told[1]))
    )


def _walked(run: Run) -> float:
    """How long it walked upright [s]."""
    rows = np.flatnonzero(walking(run))
    return min(fall(run), float(run.time[rows[-1]] - run.time[rows[0]]))


@dataclass(frozen=True, kw_only=True, eq=False)
class TorqueTracking:
    """Torque that the drives report, beside what their law asks for, over a walk; each of shape (n,)."""

    rms: Array  # of the difference [N·m]
    size: Array  # root mean square of the torque asked for [N·m]

    @property
    def relative(self) -> Array:
        """The difference over the torque [-]."""
        return self.rms / self.size


def torque_tracking(run: Run, robot: Robot, *, delay: float = 0.0) -> TorqueTracking:
    """τ − τ* with the drive's law τ* = sat(P (û(t − T_d) − q) − D q̇), of what the robot itself reports while it walks.

    The command of a row is sent after the row's state was read, so without a delay it is felt in the next row. `delay` T_d [s] is
    the command's way on top of that.
    """
    rows = walking(run)
    felt = run.time - delay
    before = np.clip(np.searchsorted(run.time, felt + 1e-9, side="right") - 2, 0, None)  # the last one sent before
    q, v = run["position"], run["velocity"]
    low, high = torque_bounds(robot, q, v)
    asked = np.clip(robot.stiffness * (run["target"][before] - q) - robot.damping * v, low, high)[rows]
    rms = lambda x: np.sqrt((x**2).mean(axis=0))  # noqa: E731
    return TorqueTracking(rms=rms(run["torque"][rows] - asked), size=rms(asked))
