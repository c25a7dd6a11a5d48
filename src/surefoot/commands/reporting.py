"""Fits to pages: report, and what identify, record and demo say with --report and --live."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.commands.common import Files, console
from surefoot.commands.options import World, physics, unknowns, warn
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.identify import Fit
    from surefoot.record import Recording
    from surefoot.report.live import LiveServer
    from surefoot.robot import Robot

PAGE = "report.html"


def report(fits: Files, out: Path, robot: str = "", baseline: Path | None = None) -> int:
    """Draw a fit, several fits side by side, a training, or a run as one HTML page that needs no network.

    Args:
        fits: a folder that identify wrote, or several; a folder of such folders counts as all of them. Or a folder that train
            wrote, or a file that run wrote.
        out: the page, for example page.html.
        robot: needed when it is not found where it was, for the 3-D view, the analytic frequency response, and every run.
        baseline: another fit of the same recordings, drawn beside it in the delta phase portrait.

    """
    from surefoot.identify import Fit
    from surefoot.report import fit_content, fits_content, training_content, write
    from surefoot.report.training import is_training

    if not fits:
        raise SurefootError("there is no fit to draw; pass at least one folder that identify wrote.")
    if out.is_dir():
        raise SurefootError(f"{out} is a folder; name the page: --out {out / 'page.html'}.")
    if trainings := [path for path in fits if is_training(path)]:
        if len(fits) > 1 or baseline is not None or robot:
            raise SurefootError(f"{trainings[0]} is a training; draw it alone, without --baseline and --robot.")
        content = training_content(trainings[0])
        told(write(content, out), content)
        return 0
    if runs := [path for path in fits if path.suffix == ".npz"]:
        if len(fits) > 1 or baseline is not None:
            raise SurefootError(f"{runs[0]} is a run; draw it alone, without --baseline.")
        draw_run(runs[0], out, robot)
        return 0
    folders = [folder for path in fits for folder in _folders(path)]
    loaded = {label: Fit.load(folder) for label, folder in zip(_labels(folders), folders, strict=True)}
    if len(loaded) > 1:
        if baseline is not None or robot:
            raise SurefootError("--baseline and --robot belong to the page of one fit; several are shown side by side without.")
        content = fits_content(loaded)
    else:
        (known,) = loaded.values()
        content = fit_content(known, robot_of(known, robot), baseline=Fit.load(baseline) if baseline else None)
    told(write(content, out), content)
    return 0


def _folders(path: Path) -> list[Path]:
    """The fit in a folder, or all fits in the folders inside it."""
    if path.is_dir() and not (path / "fit.json").is_file():
        inside = sorted(folder.parent for folder in path.glob("*/fit.json"))
        return inside or [path]  # reading it says what is missing
    return [path]


def _labels(folders: list[Path]) -> list[str]:
    """A short name for each folder: its last part, or as many as tell them apart."""
    parts = [(folder.parent if folder.name == "fit.json" else folder).absolute().parts for folder in folders]
    longest = max(map(len, parts))
    for count in range(1, longest + 1):
        names = ["/".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    raise SurefootError("the same fit is given twice; name each one once.")


def robot_of(fit: Fit, name: str = "") -> Robot | None:
    """The robot that was fitted, or None with a note when it is not where it was and no other is named."""
    from surefoot.identify.answer import model_hash
    from surefoot.robot import Robot

    try:
        machine = Robot.load(name or fit.source)
    except SurefootError as error:
        if name:
            raise
        warn(f"{error} The page has no 3-D view and no analytic frequency response; pass --robot PATH.")
        return None
    if model_hash(machine) != fit.model_hash:
        warn(f"{machine.source} has changed since the fit of {fit.robot}: the 3-D view shows it as it is now.")
    return machine


def told(page: Path, content: dict[str, Any]) -> None:
    """Where the page is, and its verdict."""
    console().print(content["verdict"]["text"], markup=False)
    console().print(f"the report is in {page}", markup=False, soft_wrap=True)


def draw(fit: Fit, robot: Robot, out: Path, live: LiveServer | None = None) -> None:
    """The page of a fit that was just made; a live page becomes it."""
    from surefoot.report import fit_content, write

    content = fit_content(fit, robot)
    told(write(content, out), content)
    if live is not None:
        live.finish(content)


def draw_run(path: Path, out: Path, robot: str = "") -> None:
    """The page of a run that is on disk."""
    from surefoot.commands.options import load_robot
    from surefoot.record.run import Run
    from surefoot.report import run_content, write

    taken = Run.load(path)
    content = run_content(taken, load_robot(robot or str(taken.notes.get("source", taken.robot))))
    told(write(content, out), content)


def draw_training(folder: Path) -> None:
    """The page of a training that has just ended, beside what it wrote."""
    from surefoot.report import training_content, write

    content = training_content(folder)
    told(write(content, folder / PAGE), content)


@contextlib.contextmanager
def watched(on: bool, robot: Robot, rec: Recording, world: World, port: int) -> Iterator[LiveServer | None]:
    """A live page while a search on a recording runs, if it is asked for; what goes wrong is said there too."""
    if not on:
        yield None
        return
    from surefoot.identify.unknowns import CORE
    from surefoot.report.live import LiveServer, live_content
    from surefoot.report.preview import preview

    joints = [joint for joint in robot.joints if joint in rec.joints]
    content = live_content(robot, joints, [*CORE, *unknowns(world).extra])
    with LiveServer(content, port, preview=preview(robot, rec, physics(world), world.engine)) as live:
        console().print(f"watch at {live.url}", markup=False)
        try:
            yield live
        except BaseException as error:
            live.fail(str(error) or "The search was interrupted.")
            raise


class Following:
    """The page of a recording, in a process of its own: started before the robot moves, told at the end what became of it."""

    def __init__(self, robot: str, targets: Path, journal: Path, port: int, enough: float | None) -> None:
        from surefoot.report.following import follow

        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=follow, args=(robot, targets, journal, port, enough, theirs), daemon=True)
        self._process.start()
        theirs.close()
        try:
            told = self._pipe.recv()
            if isinstance(told, SurefootError):
                raise told
            console().print(f"watch at {told}", markup=False)
            self._pipe.recv()  # it is ready
        except EOFError:
            raise SurefootError("the live page could not be started; record without --live.") from None

    def finish(self, recording: Path | None) -> None:
        """Show the fit of the whole recording, and say how good it was."""
        with contextlib.suppress(EOFError, OSError):
            self._pipe.send(recording)
            if sentence := self._pipe.recv():
                console().print(sentence, markup=False, soft_wrap=True)
        self._process.join()
