"""Targets to recordings: record, recover, and serve, which puts a virtual robot behind a UDP port."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from surefoot.commands.common import Name, console, following, writable
from surefoot.commands.hardware import Place, open_hardware
from surefoot.commands.options import load_robot
from surefoot.commands.reporting import Following
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.record import Recording
    from surefoot.robot.hardware import Hardware, State

File = Annotated[Path, tyro.conf.Positional]


def record(
    robot: Name, targets: File, out: Path, hardware: str, rate: float = 400.0, place: Place | None = None,
    reveal: Path | None = None, live: bool = False, port: int = 0, enough: float | None = None,
) -> int:  # fmt: skip
    """Play targets on a machine and record what its encoders say.

    The joints go gently to the first target, rest there for a second, and are damped at the end, whatever happens.

    Args:
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        targets: what to play, .npz, .csv or .mcap, as surefoot excite writes it; its gains are set first.
        out: the recording, .npz; OUT.journal beside it grows while the robot moves, and is gone when all went well.
        hardware: virtual:SEED, udp:HOST:PORT, or package.module:Class of your own (docs/hardware.md).
        rate: of a virtual robot's log and commands [Hz].
        place: where a virtual robot is; default: on a stand that gives, or fixed where its model has no free base.
        reveal: write what a virtual robot hides to this file (JSON).
        live: show on a page of this machine how the intervals shrink while the robot moves; a virtual robot keeps to the clock.
        port: of the live page; 0 takes a free one.
        enough: half the widest 95 % interval at which the page says that it is enough, over what the parameter is a part
            of; default: 0.02.

    """
    from surefoot.commands import terminal
    from surefoot.record.recorder import CutShort
    from surefoot.record.recorder import record as play
    from surefoot.record.targets import Targets

    if out.suffix != ".npz":
        raise SurefootError(f"--out is {out}; a recording's name must end in .npz.")
    if not live and (port or enough is not None):
        raise SurefootError("--port and --enough are of the live page; add --live or drop them.")
    if enough is not None and not 0 < enough < 1:
        raise SurefootError(f"--enough is {enough:g}; expected a share between 0 and 1, for example 0.02.")
    writable(out.parent, out.name)
    machine, motion = load_robot(robot), Targets.load(targets)
    if motion.robot not in ("", machine.name):
        raise SurefootError(
            f"{targets} was made, and found safe, for {motion.robot}, not for {machine.name}. Make one for this robot: surefoot "
            f"excite {shlex.quote(robot)} --out {shlex.quote(str(targets))}"
        )
    journal = out.with_name(out.name + ".journal")
    page = Following(robot, targets, journal, port, enough) if live else None
    try:  # the page is ready before the machine is woken
        device = open_hardware(hardware, machine, rate=rate, place=place)
        if reveal is not None:
            _reveal(device, reveal, hardware)
    except BaseException:
        if page:
            page.finish(None)
        raise
    pace = _clock() if live and hardware.startswith("virtual") else lambda *_: None
    begin = time.perf_counter()
    try:
        with terminal.progress(console()) as bar:
            task = bar.add_task("recording", total=None, note="")
            shown = 0.0

            def tell(stage: str, done: float, total: float) -> None:
                nonlocal shown
                pace(stage, done)
                if time.perf_counter() - shown > 0.1:
                    shown = time.perf_counter()
                    bar.update(task, description=stage, completed=round(done), total=round(total), note="s")

            taken = play(device, motion, journal=journal, name=out.stem, tell=tell)
    except CutShort as cut:
        kept = None if cut.recording is None else _noted(cut.recording, hardware)
        told = f"{cut} {_keep(kept, out, journal)}"
        if page:
            page.finish(None if kept is None else out)
        if not (page and kept is not None and isinstance(cut.__cause__, KeyboardInterrupt)):
            raise SurefootError(told) from None
        console().print(told, markup=False, soft_wrap=True)  # who watches stops when it is enough
        following(f"surefoot check {shlex.join([robot, str(out)])}")
        return 0
    taken = _noted(taken, hardware)
    taken.save(out)
    journal.unlink(missing_ok=True)
    _say(taken, out, time.perf_counter() - begin, device)
    if page:
        page.finish(out)
    following(f"surefoot check {shlex.join([robot, str(out)])}")
    return 0


def recover(journal: File, out: Path) -> int:
    """Make a recording of the journal that an interrupted surefoot record left behind.

    Args:
        journal: OUT.journal.
        out: the recording, .npz.

    """
    from surefoot.record.journal import recover as read

    saved = read(journal)
    saved.save(out)
    console().print(f"wrote {out}: {len(saved.time)} samples of {saved.n} joints, {saved.duration:.2f} s", markup=False)
    return 0


def serve(
    robot: Name, hardware: str, port: int, host: str = "127.0.0.1", rate: float = 400.0, place: Place | None = None,
    watchdog: float = 0.05, seconds: float = float("inf"), loss: float = 0.0, late: float = 0.0, lateness: float = 0.01,
    cut: float = float("inf"), log: Path | None = None,
) -> int:  # fmt: skip
    """Put a machine behind a UDP port, in real time: surefoot record ROBOT ... --hardware udp:HOST:PORT.

    Args:
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        hardware: virtual:SEED, or package.module:Class of your own.
        port: where to listen; 0: any free port.
        host: address to listen at; 0.0.0.0 for all.
        rate: of a virtual robot's states [Hz].
        place: where a virtual robot is.
        watchdog: commands that stay away for longer than this make it damp its joints [s].
        seconds: how long to serve.
        loss: share of the datagrams that this end drops on purpose.
        late: share of the datagrams that this end holds back on purpose.
        lateness: for how long [s].
        cut: pull the cable so long after the first command [s].
        log: CSV file of every state: time, whether damped, speed of the fastest joint (its true one, where it is known).

    """
    from surefoot.simulate.virtual.server import Faults, Server

    if not 0 <= port < 65536 or not seconds > 0:
        raise SurefootError(f"--port is {port} and --seconds {seconds:g}; give a port from 0 to 65535 and a time above 0.")
    machine = load_robot(robot)
    device = open_hardware(hardware, machine, rate=rate, place=place)
    lines: list[str] = []

    def watch(state: State, damped: bool) -> None:
        truth = getattr(device, "truth", None)
        speed = truth()["joint_velocity"] if truth is not None else state.velocity
        lines.append(f"{state.time:.6f},{int(damped)},{max(map(abs, speed)):.6g}\n")

    server = Server(device, host, port, watchdog=watchdog, faults=Faults(loss=loss, late=late, lateness=lateness, cut=cut),
                    watch=watch if log is not None else None)  # fmt: skip
    print(f"{machine.name} ({hardware}) listens at {host}:{server.port}; stop it with Ctrl-C", flush=True)
    try:
        server.run(seconds=seconds)
    except KeyboardInterrupt:
        print("stopped; the joints were damped")
    finally:
        if log is not None:
            log.write_text("time,damped,fastest\n" + "".join(lines), encoding="utf-8")
    if server.slips:
        console().print(f"{server.slips} periods began late: this computer was busy")
    return 0


# --- what these commands share ----------------------------------------------------------------------------------------------
def _clock() -> Callable[[str, float], None]:
    """Waits until as much time has passed as was simulated in each stage."""
    begun: dict[str, float] = {}

    def wait(stage: str, done: float) -> None:
        time.sleep(max(0.0, begun.setdefault(stage, time.monotonic() - done) + done - time.monotonic()))

    return wait


def _reveal(device: Hardware, path: Path, hardware: str) -> None:
    from surefoot.simulate.virtual.hardware import VirtualHardware

    if not isinstance(device, VirtualHardware):
        raise SurefootError(f"--reveal shows what a virtual robot hides; {hardware} keeps its secrets. Leave it out.")
    device.machine.reveal(path, device.robot, device.period)


def _noted(taken: Recording, hardware: str) -> Recording:
    """The recording with a note of what it was made on."""
    return taken.replace(notes=taken.notes | {"hardware": hardware})


def _keep(taken: Recording | None, out: Path, journal: Path) -> str:
    """Save what there is of a recording that was cut short; what became of it, in a sentence."""
    if taken is None:
        journal.unlink(missing_ok=True)
        return "Nothing was written."
    taken.save(out)
    journal.unlink(missing_ok=True)
    return f"What was recorded until then is in {out}."


def _say(taken: Recording, out: Path, seconds: float, device: Hardware) -> None:
    what = f"{len(taken.time)} samples of {taken.n} joints, {taken.duration:.2f} s at {taken.rate:.4g} Hz"
    console().print(f"wrote {out}: {what}, in {seconds:.1f} s", markup=False, soft_wrap=True)
    missing = round(taken.duration / device.period) + 1 - len(taken.time)
    if missing > 0:
        console().print(f"{missing} states never came; the recording has gaps there", markup=False)
    link = getattr(device, "link", None)
    if link is not None:
        console().print(f"link: {link()}", markup=False, soft_wrap=True)
