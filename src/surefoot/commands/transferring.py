"""Policies on machines that none of them has seen: transfer."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from surefoot.commands.common import Name, console, seeded, writable
from surefoot.commands.options import load_robot, warn
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from rich.table import Table

    from surefoot.record.run import Run

Test = Literal["forward", "sideways", "yaw"]
STAND = 1.0  # walking on the spot before the step [s]
TESTS: dict[str, tuple[tuple[float, float, float], float, float]] = {  # step [m/s, m/s, rad/s], its length [s], way [m]
    "forward": ((1.0, 0.0, 0.0), 6.0, 4.0),
    "sideways": ((0.0, 1.0, 0.0), 6.0, 4.0),
    "yaw": ((0.0, 0.0, 2.0), 6.0, math.inf),
}
"""The paper's step responses: 1 m/s over 4 m, 2 rad/s about the vertical; longer than 4 s, for robots that are slower."""
LATE = 4.0  # how much of the end of a walk is looked at for its gait and its power [s]
SHOWN = 1  # the joint of the gait: of the first leg the second, LF_HFE
HELD = (1.0, 4.0)  # how long a command of a replay is held, at least and at most [s]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One policy, one machine, one test; or a replay of commands."""

    robot: str
    policy: str  # the policy's name in the tables
    folder: Path
    machine: int  # seed of the hidden machine; -1: the fitted simulation
    test: str  # of TESTS, or replay
    seconds: float = 0.0  # of a replay
    seed: int = 0  # of its commands
    keep: Path | None = None  # file for the run


def transfer(
    robot: Name, policies: tuple[str, ...], out: Path, machines: int = 20, first: int = 100,
    tests: tuple[Test, ...] = ("forward", "sideways", "yaw"), replay: float = 0.0, keep: int = 1, jobs: int = 2, seed: int = 0,
) -> int:  # fmt: skip
    """Walk policies on virtual robots whose hidden drives none of them has seen: step responses, falls, steady velocity.

    Args:
        robot: a bundled name or a robot.toml.
        policies: NAME=FOLDER of each policy, for example none=runs/none fit=runs/fit.
        out: folder for transfer.json and the runs that are kept.
        machines: how many hidden robots.
        first: seed of the first of them; the others follow.
        tests: which steps: forward and sideways 1 m/s over 4 m, yaw 2 rad/s, or as much as a policy was trained for.
        replay: seconds of commands that each policy follows on the first machine and in its own simulation; 0: none.
        keep: of how many machines the runs are kept as .npz.
        jobs: trials at once.
        seed: of the replay's commands.

    """
    seeded(seed)
    seeded(first)
    for name, value in (("machines", machines), ("jobs", jobs)):
        if value < 1:
            raise SurefootError(f"--{name} is {value}; expected a whole number >= 1.")
    if not tests and not replay > 0:
        raise SurefootError("there is nothing to do: give --tests or --replay.")
    named = _named(policies)
    writable(out, "transfer.json")
    _check(robot, named)
    out.mkdir(parents=True, exist_ok=True)
    trials = [
        Trial(robot=robot, policy=name, folder=folder, machine=first + k, test=test,
              keep=out / f"{name}-{test}-{first + k}.npz" if k < keep else None)
        for name, folder in named.items() for test in tests for k in range(machines)
    ]  # fmt: skip
    if replay > 0:
        trials += [
            Trial(robot=robot, policy=name, folder=folder, machine=machine, test="replay", seconds=replay, seed=seed,
                  keep=out / f"{name}-replay-{'fitted' if machine < 0 else machine}.npz")
            for name, folder in named.items() for machine in (first, -1)
        ]  # fmt: skip
    found = sorted(_all(trials, jobs), key=lambda row: (row["policy"], row["test"], row["machine"]))
    steps = [row for row in found if row["test"] != "replay"]
    summary = summarise(steps)
    replays = [_compared(robot, name, out, first) for name in named] if replay > 0 else []
    content = {"robot": robot, "machines": [first, machines], "summary": summary, "replay": replays, "trials": found}
    (out / "transfer.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if summary:
        console().print(table(summary, machines))
    for policy, test, command in sorted({(r["policy"], r["test"], r["command"]) for r in steps if "command" in r}):
        if abs(command - (asked := max(TESTS[test][0]))) > 1e-9:
            warn(f"{policy} was trained up to {command:g} and not to the {asked:g} of the test {test}; it was told {command:g}.")
    if replays:
        console().print(replay_table(replays, replay))
    console().print(f"wrote {out}/transfer.json", markup=False, soft_wrap=True)
    return 0


def _named(policies: Sequence[str]) -> dict[str, Path]:
    """{name: folder} from NAME=FOLDER."""
    out: dict[str, Path] = {}
    for word in policies:
        name, equals, folder = word.partition("=")
        if not equals or not name or not folder or "/" in name:
            raise SurefootError(f"--policies {word}: expected NAME=FOLDER, for example --policies fit=runs/fit.")
        if name in out:
            raise SurefootError(f"--policies names {name} twice; give each policy its own name.")
        out[name] = Path(folder)
    if not out:
        raise SurefootError("there is no policy to walk: --policies NAME=FOLDER, for example --policies fit=runs/fit.")
    return out


def _check(robot: str, named: dict[str, Path]) -> None:
    """Whatever is wrong with a policy is said before any of them walks."""
    from surefoot.deploy.policy import Policy

    machine = load_robot(robot)
    for folder in named.values():
        Policy.load(folder).spec.check(machine)


def _all(trials: Sequence[Trial], jobs: int) -> Iterator[dict[str, Any]]:
    """Every trial's figures, with a bar."""
    from surefoot.commands import terminal

    with terminal.progress(console()) as bar:
        task = bar.add_task("walking", total=len(trials), note="")
        falls = 0
        for row in _rows(trials, jobs):
            falls += row["fell"] is not None
            bar.update(task, advance=1, note=f"{falls} falls; last: {row['policy']}, {row['test']}, machine {row['machine']}")
            yield row


def _rows(trials: Sequence[Trial], jobs: int) -> Iterator[dict[str, Any]]:
    """As they come, in this process or in several."""
    if jobs == 1:
        yield from map(walked, trials)
        return
    with ProcessPoolExecutor(min(jobs, len(trials)), get_context("spawn")) as pool:
        for done in as_completed([pool.submit(walked, trial) for trial in trials]):
            yield done.result()


def walked(trial: Trial) -> dict[str, Any]:
    """The figures of one trial; whatever ends a walk early is one of them."""
    from surefoot.analyze.run import AXES, fall
    from surefoot.analyze.walking import limit_cycle, step_response, torque_tracking, walking

    machine = load_robot(trial.robot)
    run = _walk(trial)
    if trial.keep is not None:
        run.save(trial.keep)
    row: dict[str, Any] = {"policy": trial.policy, "machine": trial.machine, "test": trial.test, "stop": run.stop}
    rows = walking(run)
    if not rows.any():  # it did not get up
        return row | {"fell": 0.0}
    if trial.test == "replay" or not run["command"][rows].any():  # without a step: a replay, or a walk that ended before it
        return row | {"fell": _number(fall(run))}
    answer = step_response(run, distance=TESTS[trial.test][2])
    told = {"axis": AXES[answer.axis], "command": answer.command}
    numbers = {name: _number(getattr(answer, name)) for name in ("steady", "spread", "rise", "overshoot", "error", "fell")}
    late = rows & (run.time > run.time[rows][-1] - LATE)
    cycle = limit_cycle(run.time[late], run["position"][late][:, SHOWN], run["velocity"][late][:, SHOWN])
    row |= told | numbers
    row |= {
        name: _number(getattr(cycle, part)) if cycle else None for name, part in (("stride", "period"), ("scatter", "scatter"))
    }
    if answer.samples.size:
        row["quantiles"] = [float(x) for x in np.quantile(answer.samples, [0.05, 0.25, 0.5, 0.75, 0.95])]
    if "battery_power" in run:
        row["power"] = float(run["battery_power"][late].mean())
    if "torque" in run:
        delay = float(machine.dynamics.delay.mean()) if machine.dynamics else 0.0
        row["torque_tracking"] = float(np.median(torque_tracking(run, machine, delay=delay).relative))
    return row


def _walk(trial: Trial) -> Run:
    """One walk on a machine; a fall ends it, and is kept."""
    from surefoot.deploy.controller import Controller
    from surefoot.deploy.estimator import Estimator
    from surefoot.deploy.policy import Policy
    from surefoot.deploy.steering import Script
    from surefoot.deploy.walk import CutShort, walk
    from surefoot.simulate.feet import Feet
    from surefoot.simulate.physics import Physics
    from surefoot.simulate.virtual.fitted import FittedHardware
    from surefoot.simulate.virtual.hardware import VirtualHardware

    robot = load_robot(trial.robot)
    policy = Policy.load(trial.folder)
    spec = policy.spec
    # one estimator for all policies: that of the robot, not that of a policy's training
    controller = Controller(robot, policy, Estimator(Feet(robot), robot.dynamics or spec.dynamics))
    if trial.machine < 0:
        machine: Any = FittedHardware(robot, spec.dynamics, Physics(**spec.physics))
    else:
        machine = VirtualHardware(robot, trial.machine, place="ground")
    if trial.test == "replay":
        time, commands = replay_commands(trial.seconds, spec.command_low, spec.command_high, trial.seed)
        seconds = trial.seconds
    else:
        step, length, _ = TESTS[trial.test]
        time, commands = np.array([0.0, STAND]), np.array([np.zeros(3), step])
        seconds = STAND + length
    notes = {"policy": trial.policy, "machine": trial.machine, "test": trial.test}
    try:
        return walk(machine, controller, Script(time, commands), seconds=seconds, notes=notes)
    except CutShort as error:
        if error.run is None:
            raise
        return error.run


def replay_commands(seconds: float, low: np.ndarray, high: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Commands as somebody with two sticks gives them: each held for 1 to 4 s, one in three standing; half of what was trained.

    Times [s], shape (K,), and commands, shape (K, 3). A robot that follows them stays within some metres.
    """
    rng = np.random.default_rng([seed, 90])
    time, rows = [0.0], [np.zeros(3)]
    while time[-1] < seconds:
        time.append(time[-1] + rng.uniform(*HELD))
        drawn = 0.5 * rng.uniform(low, high)
        rows.append(np.zeros(3) if len(rows) % 3 == 0 else -rows[-1] if len(rows) % 3 == 2 else drawn)
    return np.array(time[:-1]), np.array(rows[:-1])


def _number(value: float) -> float | None:
    """JSON knows no infinity and no nan."""
    return float(value) if math.isfinite(value) else None


def summarise(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each policy and test, and one for each policy over all its tests."""
    out = []
    for policy in dict.fromkeys(row["policy"] for row in rows):
        mine = [row for row in rows if row["policy"] == policy]
        for test in (*dict.fromkeys(row["test"] for row in mine), "all"):
            some = [row for row in mine if test in (row["test"], "all")]
            upright = [row for row in some if row["fell"] is None and row.get("steady") is not None]
            mean = lambda name: float(np.mean([row[name] for row in upright])) if upright else None  # noqa: B023, E731
            out.append({
                "policy": policy, "test": test, "trials": len(some), "falls": sum(row["fell"] is not None for row in some),
                "stopped": sum(bool(row["stop"]) and row["fell"] is None for row in some),
                "steady": mean("steady") if test != "all" else None,
                "between": float(np.std([row["steady"] for row in upright])) if upright and test != "all" else None,
                "command": upright[0]["command"] if upright and test != "all" else None,
                "error": mean("error"),
                "power": float(np.mean(watts)) if (watts := [r["power"] for r in upright if "power" in r]) else None,
                "rise": float(np.median(rises)) if (rises := [r["rise"] for r in upright if r["rise"] is not None]) else None,
            })  # fmt: skip
    return out


def table(summary: Sequence[dict[str, Any]], machines: int) -> Table:
    """Falls and steady velocity."""
    from rich.table import Table

    out = Table(title=f"{machines} robots that no policy has seen")
    heads = ("policy", "test", "falls", "stopped", "commanded", "steady, mean over robots", "error \\[%]", "rise \\[s]",
             "power \\[W]")  # fmt: skip
    for head in heads:
        out.add_column(head, justify="left" if head in ("policy", "test") else "right")
    said = lambda value, form: "-" if value is None else form.format(value)  # noqa: E731
    for row in summary:
        steady = "-" if row["steady"] is None else f"{row['steady']:.3f} ± {row['between']:.3f}"
        out.add_row(
            row["policy"], row["test"], f"{row['falls']}/{row['trials']}", str(row["stopped"]), said(row["command"], "{:g}"),
            steady, said(None if row["error"] is None else 100 * row["error"], "{:.1f}"), said(row["rise"], "{:.2f}"),
            said(row["power"], "{:.0f}"), style="bold" if row["test"] == "all" else "", end_section=row["test"] == "all",
        )  # fmt: skip
    return out


def _compared(robot: str, name: str, out: Path, machine: int) -> dict[str, Any]:
    """The replay on the machine beside the one in the fitted simulation."""
    from surefoot.analyze.walking import agreement
    from surefoot.record.run import Run

    hard, soft = (Run.load(out / f"{name}-replay-{where}.npz") for where in (machine, "fitted"))
    same = agreement(hard, soft)
    plain = lambda rows: [_number(x) for x in rows]  # noqa: E731
    return {"policy": name, "machine": machine, "difference": plain(same.difference), "explained": plain(same.explained),
            "tracking": [plain(rows) for rows in same.tracking], "stop": [hard.stop, soft.stop]}  # fmt: skip


def replay_table(replays: Sequence[dict[str, Any]], seconds: float) -> Table:
    """Hardware and simulation under the same commands."""
    from rich.table import Table

    out = Table(title=f"{seconds:g} s of the same commands on the machine and in the simulation the policy was trained in, rms")
    for head in ("policy", "", "forward \\[m/s]", "left \\[m/s]", "turn \\[rad/s]"):
        out.add_column(head, justify="left" if head in ("policy", "") else "right")
    for row in replays:
        cells = {"machine - simulation": row["difference"], "machine - command": row["tracking"][0],
                 "simulation - command": row["tracking"][1]}  # fmt: skip
        for what, values in cells.items():
            out.add_row(row["policy"], what, *("-" if x is None else f"{x:.3f}" for x in values))
    return out
