"""A policy to motion to numbers: run, analyze, and the policy as C for a microcontroller."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from surefoot.commands.common import Name, console, following, writable
from surefoot.commands.hardware import open_hardware
from surefoot.commands.options import load_robot, warn
from surefoot.commands.reporting import draw_run
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.analyze.run import Account
    from surefoot.deploy.controller import Controller
    from surefoot.deploy.policy import Policy
    from surefoot.deploy.steering import Steering
    from surefoot.record.run import Run
    from surefoot.robot.hardware import State

File = Annotated[Path, tyro.conf.Positional]


def run(
    policy: Name, hardware: str, out: Path, command: str = "", script: Path | None = None, keyboard: bool = False,
    gamepad: bool = False, seconds: float = 20.0, robot: str = "", rate: float = 400.0, fault: tuple[str, ...] = (),
    video: Path | None = None, no_video: bool = False, report: bool = False,
) -> int:  # fmt: skip
    """Let a policy walk on a machine, and keep what was commanded, measured and drawn from the battery.

    The robot rises to the policy's posture, walks as it is told, stops, stands and is damped. A watchdog damps it at once when
    states stay away, when the base leans over, or when something is not a number; the run is written all the same.

    Args:
        policy: a bundled robot that comes with a policy, a policy.onnx, or the folder that train wrote.
        hardware: virtual:SEED (on the ground), udp:HOST:PORT, or package.module:Class of your own (docs/hardware.md).
        out: the run, .npz.
        command: held for the whole walk: "FORWARD LEFT TURN" in m/s, m/s and rad/s.
        script: CSV of commands, time,forward,left,turn; each holds until the next.
        keyboard: steer with w a s d q e, space to stand, x to stop.
        gamepad: steer with a gamepad.
        seconds: how long to walk.
        robot: needed when the policy's robot is not a bundled one: its robot.toml.
        rate: of a virtual robot's states and commands [Hz].
        fault: make something go wrong: lost@5, nan@5, command@5, sag@5 or stuck:JOINT@5, at that second.
        video: film of a virtual robot; default: OUT with .mp4, where there is no display to see it in a window.
        no_video: neither film nor window.
        report: write the page OUT.html as well.

    """
    from surefoot.commands import terminal
    from surefoot.deploy.bundled import find_policy
    from surefoot.deploy.controller import Controller
    from surefoot.deploy.estimator import Estimator
    from surefoot.deploy.faults import Fault, Faulty
    from surefoot.deploy.policy import Policy
    from surefoot.deploy.walk import CutShort, walk
    from surefoot.simulate.feet import Feet

    if out.suffix != ".npz":
        raise SurefootError(f"--out is {out}; a run's name must end in .npz.")
    if not (np.isfinite(seconds) and seconds > 0):
        raise SurefootError(f"--seconds is {seconds:g}; expected a number above 0.")
    writable(out.parent, out.name)
    faults = tuple(map(Fault.parse, fault))
    path = find_policy(policy)
    net = Policy.load(path)
    machine = load_robot(robot or net.spec.robot)
    controller = Controller(machine, net, Estimator(Feet(machine), net.spec.dynamics))
    steering, live = _steering(net, command, script, keyboard, gamepad)
    virtual = hardware.partition(":")[0] == "virtual"
    device = open_hardware(hardware, machine, rate=rate, place="ground" if virtual else None)
    eye, film = (None, None) if no_video or not virtual else _eye(device, video or out.with_suffix(".mp4"), video is not None)
    ramps = controller.ramps
    total = ramps.rise + ramps.settle + seconds + ramps.halt + ramps.stand
    notes = {"policy": policy, "hardware": hardware, "source": machine.source, "seconds": seconds,
             "faults": ", ".join(map(str, faults)), "trained": dict(net.spec.training).get("origin", "")}  # fmt: skip
    with terminal.progress(console()) as bar:
        task, start = bar.add_task("running", total=round(total), note="s"), [np.nan]

        def watch(state: State, now: Controller) -> None:
            start[0] = state.time if np.isnan(start[0]) else start[0]
            bar.update(task, description=now.phase.name.lower(), completed=round(state.time - start[0]))
            if eye is not None:
                eye()

        try:
            taken = walk(Faulty(device, faults), controller, steering, seconds=seconds, notes=notes, real_time=live and virtual,
                         watch=watch)  # fmt: skip
            cut = None
        except CutShort as error:
            taken, cut = error.run, str(error)
    kept = "Nothing was written."
    if taken is not None:
        taken.save(out)
        kept = f"The run until then is in {out}."
        console().print(f"wrote {out}: {len(taken.time)} states of {taken.n} joints, {taken.time[-1]:.2f} s", markup=False)
        _timing(taken)
    if film is not None:
        film()
    if report and taken is not None:
        draw_run(out, out.with_suffix(".html"), machine.source)
    if cut is not None:
        raise SurefootError(f"{cut} {kept}")
    if controller.cut:
        low, high = (", ".join(f"{x:g}" for x in row) for row in (net.spec.command_low, net.spec.command_high))
        warn(f"a command was cut to the range that the policy was trained with: {low} to {high}.")
    following(f"surefoot analyze {shlex.quote(str(out))}")
    return 0


def _steering(net: Policy, command: str, script: Path | None, keyboard: bool, gamepad: bool) -> tuple[Steering, bool]:
    """Where commands come from, and whether a person gives them."""
    from surefoot.deploy.steering import Gamepad, Keyboard, Script

    given = [bool(command), script is not None, keyboard, gamepad]
    if sum(given) != 1:
        raise SurefootError('give one of --command "1 0 0", --script FILE, --keyboard and --gamepad.')
    low, high = net.spec.command_low, net.spec.command_high
    if keyboard or gamepad:
        live = Keyboard if keyboard else Gamepad
        console().print(str(live.__doc__).partition("\n")[0], markup=False)
        return live(low, high), True
    if script is not None:
        return Script.load(script), False
    try:
        values = [float(word) for word in command.replace(",", " ").split()]
    except ValueError:
        values = []
    if len(values) != 3:
        raise SurefootError(
            f'--command is {command!r}; expected three numbers, forward and left [m/s] and turn [rad/s]: "1 0 0".'
        )
    return Script.held(values), False


def _eye(device: Any, path: Path, asked: bool) -> tuple[Callable[[], None] | None, Callable[[], None] | None]:
    """What looks at a virtual robot: a window where there is a display, a film otherwise; and how the film is finished."""
    from surefoot.simulate.video import Film
    from surefoot.simulate.virtual.stage import Stage
    from surefoot.simulate.window import Window, has_display

    if has_display() and not asked:
        window = Window(Stage(device))
        return window.take, window.close
    try:
        film = Film(Stage(device))
    except SurefootError as error:
        if asked:
            raise
        warn(f"there is no film: {error}")
        return None, None

    def finish() -> None:
        try:
            console().print(f"wrote {film.write(path)}", markup=False, soft_wrap=True)
        except SurefootError as error:
            if asked:
                raise
            warn(f"there is no film: {error}")

    return film.take, finish


def _timing(taken: Run) -> None:
    """How long the controller took for a step, where it asked the network and in between."""
    for name, what in (("step_time", "with the network"), ("drive_time", "in between")):
        times = taken[name][np.isfinite(taken[name])]
        if len(times):
            middle, late, most = 1e6 * np.quantile(times, [0.5, 0.99, 1.0])
            console().print(f"a step of the controller {what} took {middle:.0f} µs (1 % above {late:.0f}, at most {most:.0f})")


def analyze(
    run: File, robot: str = "", off: float | None = None, rest: float | None = None,
    output: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
) -> int:  # fmt: skip
    """The numbers of a run: velocity, falls, cost of transport and its parts, step responses, gait.

    Args:
        run: what surefoot run wrote.
        robot: needed when its robot.toml has moved.
        off: power with drives disabled [W], instead of the robot's.
        rest: power with drives enabled but idle [W], instead of the robot's.
        output: file for the figures.

    """
    from surefoot.analyze.run import account
    from surefoot.commands.run_tables import run_figures
    from surefoot.record.run import Run

    if output is not None:
        writable(output.parent, output.name)
    taken = Run.load(run)
    machine = load_robot(robot or str(taken.notes.get("source", taken.robot)))
    figures = account(taken, machine, off=off, rest=rest)
    for part in run_figures(figures):
        console().print(part)
    _remarks(figures)
    if output is not None:
        output.write_text(json.dumps(figures.to_dict(), indent=1) + "\n", encoding="utf-8")
        console().print(f"wrote {output}", markup=False, soft_wrap=True)
    return 0


def _remarks(figures: Account) -> None:
    if figures.stop:
        warn(f"the run ended before its time: {figures.stop}")
    if figures.transport_missing:
        warn(f"there is no cost of transport: {figures.transport_missing}")
    if figures.measured == "estimate":
        warn("velocities are the robot's own estimate; only a virtual robot knows its true ones")


def csource(policy: Name, out: Path) -> int:
    """Write a policy as one C file without dependencies: weights, observation, network and joint-limit saturation.

    Args:
        policy: a bundled robot that comes with a policy, a policy.onnx, or the folder that train wrote.
        out: the file, .c.

    """
    from surefoot.deploy.bundled import find_policy
    from surefoot.deploy.csource import write

    if out.suffix not in (".c", ".h"):
        raise SurefootError(f"--out is {out}; expected a name that ends in .c or .h.")
    writable(out.parent, out.name)
    write(find_policy(policy), out)
    console().print(f"wrote {out}: cc -O2 -c {out}", markup=False, soft_wrap=True)
    return 0
