"""A run in numbers: did it fall, how fast did it walk, what did that cost, and how did it step."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from surefoot.analyze.energy import Transport, decompose, standby
from surefoot.errors import SurefootError
from surefoot.record.run import Phase, Run
from surefoot.robot.energy import electrical_power, mechanical_power
from surefoot.robot.spec import Robot
from surefoot.simulate.frames import to_base

Array = NDArray[np.float64]
AXES = ("forward", "left", "turn")  # [m/s, m/s, rad/s]
SKIPPED = 2.0  # [s] after a command has changed, until the walk counts as steady
FALLEN_TILT, FALLEN_HEIGHT = 1.05, 0.4  # leaning [rad], or lower than this share of the first height of the base [-]
SLOWEST = 0.05  # [m/s] below it nothing is transported
TREMBLE = 0.02  # [s] a contact, or a swing, that is shorter is chatter


@dataclass(frozen=True, kw_only=True)
class Step:
    """The answer to one change of the command, over the time until the next; velocity averaged over a stride."""

    axis: str  # of AXES
    time: float  # since the run began [s]
    before: float  # command before [m/s or rad/s]
    after: float  # command after
    rise: float | None  # from 10 to 90 % of the change [s]; None: 90 % was not reached
    overshoot: float  # beyond the command, over the change [-]
    reached: float | None  # mean velocity once steady; None: too short


@dataclass(frozen=True, kw_only=True)
class Gait:
    """How one foot steps while the walk is steady."""

    foot: str
    frequency: float  # [Hz]
    duty: float  # share of the time on the ground [-]


@dataclass(frozen=True, kw_only=True)
class Account:
    """What a run comes to. Steady: while the controller walks, `SKIPPED` after each change of the command."""

    robot: str
    stop: str  # why it ended before its time; "": it did not
    duration: float  # of the whole run [s]
    steady: float  # time that counts as steady [s]
    fell: bool
    measured: str  # "truth" of a virtual robot, or "estimate": where velocities come from
    velocity: tuple[float, float, float] | None  # mean over the steady time: forward, left [m/s], turn [rad/s]
    commanded: tuple[float, float, float] | None
    estimation_error: float | None  # root mean square of the estimated velocity against the true one [m/s]
    power: float | None  # of the battery, mean [W]
    electrical: float | None  # P_el, heat of the coils by the energy model [W]
    mechanical: float | None  # P_mech [W]
    transport: Transport | None  # CoT and its parts; None: it did not walk, or nothing says what it drew
    transport_missing: str  # why there is none
    charge_used: float | None  # over the whole run [-]
    gait: tuple[Gait, ...]
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `velocity` is the mean forward one, `velocities` all three."""
        plain = asdict(self)
        parts = plain.pop("transport")
        plain |= {"velocities": plain["velocity"], "velocity": None if self.velocity is None else self.velocity[0]}
        none = dict.fromkeys(("cot", "coe", "cod", "col"))
        return plain | (none if parts is None or self.transport is None else self.transport.to_dict())


def account(run: Run, robot: Robot, *, off: float | None = None, rest: float | None = None) -> Account:
    """The numbers of a run. `off` and `rest` [W]: what the robot draws standing by, instead of what its robot.toml says."""
    if run.joints != robot.joints:
        raise SurefootError(
            f"the run's joints are {', '.join(run.joints)} and {robot.name} has {', '.join(robot.joints)}; "
            "order and names must agree."
        )
    linear, angular, source = velocities(run)
    moving = np.concatenate([linear[:, :2], angular[:, 2:]], axis=1)
    steady = steady_rows(run)
    some = bool(steady.any())

    def mean(rows: Array) -> tuple[float, float, float]:
        forward, left, turn = map(float, rows[steady].mean(axis=0))
        return forward, left, turn

    velocity = mean(moving) if some else None
    gait = tuple(_gait(run, steady)) if some else ()
    power = float(run["battery_power"][steady].mean()) if some and "battery_power" in run else None
    electrical = mechanical = None
    if some and "torque" in run:
        tau, q, v = run["torque"][steady], run["position"][steady], run["velocity"][steady]
        try:
            electrical = float(electrical_power(robot, tau, q).mean())
            mechanical = float(mechanical_power(robot, tau, v).mean())
        except SurefootError:  # a motor that nobody knows: no power of its coils, and everything else as before
            electrical = mechanical = None
    transport, missing = _transport(run, robot, steady, power, velocity, off, rest)
    return Account(
        robot=run.robot, stop=run.stop, duration=float(run.time[-1]), steady=float(steady.sum() * np.median(np.diff(run.time))),
        fell=fell(run), measured=source, velocity=velocity, commanded=mean(run["command"]) if some else None,
        estimation_error=_estimation(run, linear, steady) if some and source == "truth" else None, power=power,
        electrical=electrical, mechanical=mechanical, transport=transport, transport_missing=missing,
        charge_used=float(run["charge"][0] - run["charge"][-1]) if "charge" in run else None, gait=gait,
        steps=tuple(_steps(run, moving, _stride(gait))),
    )  # fmt: skip


def fell(run: Run) -> bool:
    """Whether the robot fell before it was damped; a damped robot may lie down."""
    return bool(np.isfinite(fall(run)))


def fall(run: Run) -> float:
    """When the robot fell, since it began to walk (or, if it never did, to move) [s]; inf if it did not.

    A fall is a base that leans by more than 60°, or, where its true height is known, one below 0.4 of its first height. The
    watchdog damps a robot that leans so far, before the row is kept: then the last row before tells it.
    """
    walking = np.flatnonzero(run["phase"] == Phase.WALKING)
    began = run.time[walking[0]] if len(walking) else run.time[0]
    upright = np.flatnonzero(run["phase"] < Phase.DAMPED)
    leans = [-run["gravity"][upright, 2]] if "gravity" in run else []
    fallen = np.zeros(len(upright), dtype=bool)
    if "true_orientation" in run:
        leans.append(-to_base(run["true_orientation"][upright], np.array([0.0, 0.0, -1.0]))[:, 2])
    if "true_position" in run:
        fallen |= run["true_position"][upright, 2] < FALLEN_HEIGHT * run["true_position"][0, 2]
    fallen |= leans[-1] < np.cos(FALLEN_TILT)  # the truth, where there is one
    if run.stop and len(upright):
        fallen[-1] |= min(lean[-1] for lean in leans) < np.cos(0.95 * FALLEN_TILT)
    return float(max(run.time[upright[fallen.argmax()]] - began, 0.0)) if fallen.any() else np.inf


def velocities(run: Run) -> tuple[Array, Array, str]:
    """Of the base in its own axes: true where it is known."""
    if "true_velocity" in run:
        turn = run["true_orientation"]
        return to_base(turn, run["true_velocity"]), to_base(turn, run["true_angular_velocity"]), "truth"
    return run["linear_velocity"], run["angular_velocity"], "estimate"


def steady_rows(run: Run) -> NDArray[np.bool_]:
    """Rows of the walk that are `SKIPPED` or more after a change of the command, shape (T,)."""
    walking = run["phase"] == Phase.WALKING
    changed = np.append(True, (np.diff(run["command"], axis=0) != 0).any(axis=1) | (np.diff(run["phase"]) != 0))
    last = np.maximum.accumulate(np.where(changed, run.time, -np.inf))
    return walking & (run.time - last >= SKIPPED)


def _estimation(run: Run, true: Array, steady: NDArray[np.bool_]) -> float:
    error = (run["linear_velocity"] - true)[steady]
    return float(np.sqrt((error**2).sum(axis=1).mean()))


def _transport(
    run: Run, robot: Robot, steady: NDArray[np.bool_], power: float | None, velocity: Any, off: float | None, rest: float | None,
) -> tuple[Transport | None, str]:  # fmt: skip
    """CoT and its parts over the steady time; without them, the reason."""
    if velocity is None:
        return None, f"the robot never walked for {SKIPPED:g} s on one command"
    speed = float(np.hypot(*velocity[:2]))
    if speed < SLOWEST:
        return None, f"the robot went nowhere ({speed:.3f} m/s)"
    if power is None:
        return None, "the run says nothing of the battery's power"
    if off is None or rest is None:
        try:
            known = standby(robot)
        except SurefootError as error:
            return None, str(error)
        off, rest = known[0] if off is None else off, known[1] if rest is None else rest
    return decompose(energy=power, duration=1.0, distance=speed, mass=run.mass, off=off, rest=rest), ""


def _gait(run: Run, steady: NDArray[np.bool_]) -> list[Gait]:
    """Steps of each foot; contacts and swings that are too short to be one are left out."""
    contact = run["true_contact"] if "true_contact" in run else run["contact"]
    period = float(np.median(np.diff(run.time)))
    shortest = max(1, round(TREMBLE / period))
    found = []
    for k, foot in enumerate(run.feet):
        down = _calmed(contact[steady, k] > 0.5, shortest)
        landings = int((np.diff(down.astype(int)) > 0).sum())
        found.append(Gait(foot=foot, frequency=landings / (len(down) * period), duty=float(down.mean())))
    return found


def _calmed(down: NDArray[np.bool_], shortest: int) -> NDArray[np.bool_]:
    """The same without spells that are too short: they are given to what came before."""
    edges = np.flatnonzero(np.diff(down.astype(int))) + 1
    out = down.copy()
    for begin, end in pairwise([*edges, len(down)]):
        if end - begin < shortest:
            out[begin:end] = out[begin - 1]
    return out


def _stride(gait: tuple[Gait, ...]) -> float:
    """How long a stride takes [s]; 0.5 where nobody steps."""
    fastest = max((g.frequency for g in gait), default=0.0)
    return 1.0 / fastest if fastest > 0.5 else 0.5


def moving_mean(time: Array, signal: Array, width: float) -> Array:
    """Mean over a window of so many seconds about each sample; beyond the ends the first and last value go on. Shape (T, ...)."""
    samples = 2 * round(width / float(np.median(np.diff(time))) / 2) + 1  # odd, so that it is centred
    return uniform_filter1d(np.asarray(signal, dtype=float), samples, axis=0, mode="nearest")


def _steps(run: Run, moving: Array, stride: float) -> list[Step]:
    """One for each axis of each change of the command while the robot walks; the first change is from standing."""
    rows = np.flatnonzero(run["phase"] == Phase.WALKING)
    if len(rows) < 2:
        return []
    time, command = run.time[rows], run["command"][rows]
    smooth = moving_mean(time, moving[rows], stride)
    earlier = np.vstack([np.zeros(3), command[:-1]])
    changes = np.flatnonzero((command != earlier).any(axis=1))
    found = []
    for begin, end in pairwise([*changes, len(rows)]):
        for k in np.flatnonzero(command[begin] != earlier[begin]):
            before, after = float(earlier[begin, k]), float(command[begin, k])
            share = (smooth[begin:end, k] - before) / (after - before)
            late = time[begin:end] - time[begin] >= SKIPPED
            found.append(Step(
                axis=AXES[k], time=float(time[begin]), before=before, after=after, rise=_rise(time[begin:end], share),
                overshoot=max(0.0, float(share.max()) - 1.0),
                reached=float(moving[rows[begin:end]][late, k].mean()) if late.any() else None,
            ))  # fmt: skip
    return found


def _rise(time: Array, share: Array) -> float | None:
    """From the first time at 10 % to the first at 90 % [s]."""
    if not (share >= 0.9).any():
        return None
    return float(time[np.argmax(share >= 0.9)] - time[np.argmax(share >= 0.1)])
