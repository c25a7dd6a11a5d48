"""Joint dynamics to a walking policy: train, play."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from surefoot.commands.common import Folder, Name, console, following, seeded, writable
from surefoot.commands.options import load_robot, warn
from surefoot.commands.reporting import draw_training
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.identify import Fit
    from surefoot.robot import Robot
    from surefoot.robot.dynamics import JointDynamics
    from surefoot.simulate.plug import Drive
    from surefoot.train.train import Plan

Ground = Literal["flat", "paper", "rough", "stairs_up", "stairs_down", "boxes", "slope_up", "slope_down"]
FILES = ("policy.onnx", "training.json", "curves.csv", "checkpoint.pt")


def train(
    robot: Name, fit: Annotated[Path | None, tyro.conf.Positional] = None, *, out: Path,
    preset: Literal["laptop", "paper"] = "laptop", minutes: float | None = None, iterations: int | None = None, seed: int = 0,
    terrain: Ground = "flat", dynamics: Literal["fit", "robot", "none"] = "fit", network: Path | None = None,
    timestep: float | None = None, robots: int | None = None, randomise: float = 0.0, resume: bool = False,
    no_video: bool = False, report: bool = False,
) -> int:  # fmt: skip
    """Train a walking policy with identified joint dynamics.

    Args:
        robot: a bundled name or a robot.toml.
        fit: the folder that identify wrote.
        out: folder for policy.onnx, training.json, curves and checkpoint.
        preset: laptop (walks in minutes on two cores) or paper (the published settings).
        minutes: stop after so long; default: when all iterations are done.
        iterations: how many, instead of the preset's; the entropy schedule keeps its own turn-over.
        seed: of everything random.
        terrain: flat, paper (all kinds with a curriculum), or one kind.
        dynamics: fit (the folder); robot: the joint dynamics that come with the robot; none: no model at all, a baseline.
        network: a drive network (its .toml) in the place of the drives: a baseline.
        timestep: physics step [s], instead of the preset's; must be the fit's.
        robots: simulated at once, instead of the preset's.
        randomise: draw armature, damping, friction and delay up to this share off, per robot: a baseline, not needed with a fit.
            With --dynamics none: draw them from this share of all that the gains and limits allow.
        resume: continue the training in OUT.
        no_video: do not film the policy at the end.
        report: write the page OUT/report.html as well.

    """
    from surefoot.train.evaluate import short
    from surefoot.train.train import Plan
    from surefoot.train.train import train as learn

    seeded(seed)
    writable(out, *FILES)
    machine = load_robot(robot)
    drive, joints, origin, known = _dynamics(machine, fit, dynamics, network)
    plan = Plan.of(
        preset, dynamics_timestep=known.physics.timestep if known else None, physics=known.physics if known else None,
        timestep=timestep, terrain=terrain, seed=seed, minutes=minutes, iterations=iterations, robots=robots, randomise=randomise,
        origin=origin,
    )  # fmt: skip
    _announce(machine, plan)
    with _stopping() as stop, _watched(plan) as tell:
        trained = learn(machine, joints, plan, out, resume=resume, drive=drive, tell=tell, stop=stop)
    from surefoot.train.learner import rank

    if rank():
        return 0
    say = console().print
    say(f"{trained.stopped} after {trained.seconds / 60:.1f} min and {trained.iterations} iterations", markup=False)
    say(f"best policy, of iteration {trained.iteration}: {short(trained.evaluation)}", markup=False)
    if plan.terrain != "flat":
        say("highest level passed: " + ", ".join(f"{kind} {level}" for kind, level in trained.passed.items()), markup=False)
    if trained.lost:
        say(f"the engine lost a robot {trained.lost} times; each was started anew and left out of the learning", markup=False)
    if not no_video and network is None:
        _film(machine, out, seed, flat=plan.terrain == "flat")
    say(f"wrote {', '.join(f'{out}/{name}' for name in FILES)}", markup=False, soft_wrap=True)
    if report:
        draw_training(out)
    if trained.iterations < plan.learner.iterations:
        say("to go on, give the same command with --resume", markup=False)
    walk = f'surefoot run {shlex.quote(str(out))} --hardware virtual:3 --command "1 0 0" --out run.npz'
    following(walk if network else f"surefoot play {shlex.quote(str(out))}")
    return 0


def _film(machine: Robot, out: Path, seed: int, *, flat: bool) -> None:
    """Film what was learnt; a machine that cannot draw is no reason to fail."""
    from surefoot.train.play import play as walk

    seconds, robots = (12.0, 4) if flat else (24.0, 192)  # a terrain has many grounds to see
    try:
        walk(machine, out, terrain=None, seconds=seconds, seed=seed, video=out / "walk.mp4", robots=robots)
        console().print(f"wrote {out}/walk.mp4", markup=False, soft_wrap=True)
    except SurefootError as error:
        warn(f"there is no film: {error}")


def _dynamics(
    machine: Robot, folder: Path | None, dynamics: str, network: Path | None
) -> tuple[Callable[[], Drive] | None, JointDynamics, dict[str, str], Fit | None]:
    """What stands in the place of the drives, the joint dynamics, where they came from, and the fit if there is one."""
    from surefoot.export.values import fit_hash
    from surefoot.robot.dynamics import JointDynamics

    if network is not None:
        if folder is not None or dynamics != "fit":
            raise SurefootError("--network takes the place of the drives; leave out the fit and --dynamics.")
        from surefoot.networks import Network

        learned = Network.load(network)
        return learned.drive, learned.convention.dynamics(machine.joints), {"network": network.name}, None
    if dynamics == "none":
        if folder is not None:
            raise SurefootError(f"--dynamics none leaves the fit {folder} unused; give one of the two.")
        return None, JointDynamics.no_model(machine.joints), {"dynamics": "none"}, None
    known = _fit(folder, machine, dynamics)
    if known is None:
        assert machine.dynamics is not None
        return None, machine.dynamics, {"dynamics": "robot.toml"}, None
    assert folder is not None
    origin = {"fit": folder.name, "fit_hash": fit_hash(known), "model_hash": known.model_hash}
    return None, known.dynamics.ordered_for(machine.joints), origin, known


def _fit(folder: Path | None, machine: Robot, dynamics: str) -> Fit | None:
    """The fit whose dynamics are used; None for the robot's own."""
    if dynamics == "robot":
        if folder is not None:
            raise SurefootError(f"--dynamics robot leaves the fit {folder} unused; give one of the two.")
        if machine.dynamics is None:
            raise SurefootError(f"{machine.name} comes without joint dynamics; give a fit, not --dynamics robot.")
        return None
    if folder is None:
        raise SurefootError(
            "training needs joint dynamics: the folder of a fit (surefoot train ROBOT FIT --out run/), or --dynamics robot "
            "for those that come with the robot. Baselines: --dynamics none, --network."
        )
    from surefoot.identify import Fit
    from surefoot.identify.answer import model_hash

    known = Fit.load(folder)
    if missing := [joint for joint in machine.joints if joint not in known.joints]:
        raise SurefootError(f"the fit in {folder} has no dynamics for {', '.join(missing)}; fit all joints of {machine.name}.")
    if known.model_hash != model_hash(machine):
        raise SurefootError(
            f"the fit in {folder} was made with another model of {known.robot} than this {machine.name} ({machine.source}): "
            "links, joints or drives differ. Train with the robot that was fitted, or identify again."
        )
    return known


def _announce(machine: Robot, plan: Plan) -> None:
    from surefoot.train.learner import rank, ranks

    if rank():
        return
    learner, many = plan.learner, f" in each of {ranks()} processes" if ranks() > 1 else ""
    length = f"{plan.minutes:g} min" if plan.minutes else f"{learner.iterations} iterations"
    console().print(
        f"training {machine.name} for {length}: {plan.preset} preset, {learner.robots} robots{many}, {plan.terrain} ground, "
        f"physics step {1e3 * plan.physics.timestep:g} ms, seed {plan.seed}", markup=False, soft_wrap=True,
    )  # fmt: skip


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Ctrl-C ends the training after the running iteration, and everything is written; a second one ends it at once."""
    asked: list[int] = []

    def note(number: int, _: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        console().print("stopping after this iteration; press Ctrl-C again to stop at once", markup=False)

    old = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, old)


@contextmanager
def _watched(plan: Plan) -> Iterator[Callable[..., None]]:
    """A bar with the four rewards and the time left; a line whenever the mean policy was judged."""
    from surefoot.commands import terminal
    from surefoot.train.evaluate import short
    from surefoot.train.learner import rank

    if rank():  # one process of several speaks
        yield lambda _: None
        return
    with terminal.progress(console()) as bar:
        task = bar.add_task("training", total=plan.learner.iterations, note="")

        def tell(now: object) -> None:
            from surefoot.train.train import Progress

            assert isinstance(now, Progress)
            f = now.figures
            note = (
                f"{now.samples_per_second:.0f} steps/s, {now.left / 60:.1f} min left; tracking {f['velocity_tracking']:+.3f} "
                f"energy {f['energy']:+.3f} collisions {f['collisions']:+.3f} touch-down {f['touchdown']:+.3f}, "
                f"error {f['velocity_error']:.2f} m/s"
            )
            bar.update(task, completed=now.iteration, note=note)
            if now.evaluation:
                bar.console.print(f"iteration {now.iteration}, {now.seconds / 60:.1f} min: {short(now.evaluation)}", markup=False)

        yield tell


def play(
    run: Folder, robot: str = "", terrain: Ground | None = None, seconds: float = 12.0, seed: int = 0, robots: int = 192,
    video: Path | None = None, no_video: bool = False,
) -> int:  # fmt: skip
    """Let a trained policy walk: its marks on held commands, seen in a window where there is a display, or as a video.

    Args:
        run: the folder that train wrote.
        robot: needed when the robot is not a bundled one and its file has moved.
        terrain: other ground than it was trained on.
        seconds: how long it walks.
        seed: of the noise and the starts.
        robots: how many walk at once, each with its own command.
        video: film it, into this file; default, where there is no display: RUN/walk.mp4.
        no_video: marks only, neither window nor film.

    """
    from surefoot.simulate.window import has_display
    from surefoot.train.evaluate import short
    from surefoot.train.play import play as walk
    from surefoot.train.play import read_record

    seeded(seed)
    machine = load_robot(robot or read_record(run)["source"])
    window = has_display() and not no_video and video is None
    film = None if no_video or window else video or run / "walk.mp4"
    marks, written = walk(machine, run, terrain=terrain, seconds=seconds, seed=seed, video=film, robots=robots, window=window)
    console().print(short(marks), markup=False)
    if written:
        console().print(f"wrote {written}", markup=False, soft_wrap=True)
    return 0
