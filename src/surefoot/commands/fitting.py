"""Recording to joint dynamics: robots, check, identify, validate, compare, demo."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from surefoot.commands.common import Files, Folder, Name, console, following, resumable, seeded, writable
from surefoot.commands.options import Physical, Read, Reading, World, load, load_robot, physics, unknowns, warn
from surefoot.commands.reporting import PAGE, draw, watched
from surefoot.commands.words import again
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.identify import Fit, Progress
    from surefoot.record import Recording
    from surefoot.robot import Robot

Method = Literal["hybrid", "cmaes", "least-squares", "cmaes-small", "random", "bayesian"]
Loss = Literal["position", "velocity", "torque", "wasserstein", "mmd", "fisher"]


def robots() -> int:
    """List the bundled robots."""
    from surefoot.commands import terminal
    from surefoot.deploy.bundled import bundled_policies
    from surefoot.robot import Robot, bundled_names

    console().print(terminal.robots([Robot.load(name) for name in bundled_names()], bundled_policies()))
    console().print("any MJCF, URDF or robot.toml file works as well: surefoot check my_robot.urdf chirp.npz")
    return 0


def check(robot: Name, recordings: Files, read: Read = Reading()) -> int:
    """Can these recordings identify this robot? Asked of the data alone, before any fit."""
    from surefoot.commands import terminal
    from surefoot.identify import check as examine

    machine = load_robot(robot)
    found = examine(machine, [load(machine, path, read) for path in recordings])
    console().print(terminal.findings(found))
    stops = sum(f.level == "stop" for f in found)
    if stops:
        console().print(f"[red]{stops} finding(s) would make a fit wrong; fix them first.[/red]")
        return 1
    following(f"surefoot identify {shlex.join([robot, *map(str, recordings)])} --out fit/{again(read)}")
    return 0


def identify(
    robot: Name, recordings: Files, out: Path, held_out: tuple[Path, ...] = (), method: Method = "hybrid", seed: int = 0,
    loss: Loss = "position", torque_weight: float = 0.0, population: int | None = None, generations: int | None = None,
    max_iterations: int = 60, resume: bool = False, force: bool = False, report: bool = False, live: bool = False, port: int = 0,
    read: Read = Reading(), world: Physical = World(),
) -> int:  # fmt: skip
    """Find the joint dynamics that make the simulator move like the robot.

    Args:
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        recordings: what was commanded and measured; several may differ in gains and motion.
        out: folder for fit.json and trajectories.npz.
        held_out: recordings that are only scored.
        method: hybrid (default), least-squares, cmaes (the paper's protocol), or others to compare with (docs/choosing.md).
        seed: the same seed gives the same bits.
        loss: what cmaes, cmaes-small, random and bayesian make small; least squares minimises position errors.
        torque_weight: weight >= 0 of the measured torque in the loss; 1 counts an error like the position error behind it.
        population: candidates per generation; default: 4096 (cmaes, random), 4 + 3 ln d (cmaes-small), 32 (bayesian).
        generations: limit; default: 200 (cmaes), 2000 (cmaes-small), 10 (random), 100 points after the first (bayesian).
        max_iterations: limit of least-squares iterations.
        resume: continue an interrupted cmaes search from OUT.
        force: fit although the check found that the fit would be wrong.
        report: write the page OUT/report.html as well.
        live: show the search while it runs on a page of this machine, and write it as --report does.
        port: of the live page; 0 takes a free one.

    """
    from surefoot.commands import terminal
    from surefoot.identify import check as examine

    seeded(seed)
    if not (math.isfinite(torque_weight) and torque_weight >= 0):
        raise SurefootError(f"--torque-weight is {torque_weight:g}; expected a finite number >= 0 (0: positions only).")
    if port and not live:
        raise SurefootError("--port is of the live page; add --live or drop --port.")
    writable(out, "fit.json", "trajectories.npz", PAGE)
    resumable(out, method, resume)
    machine = load_robot(robot)
    fitted, kept = ([load(machine, path, read) for path in paths] for paths in (recordings, held_out))
    checks = examine(machine, fitted)
    found = [f for f in checks if f.level != "ok"]
    if found:
        console().print(terminal.findings(found))
    if any(f.level == "stop" for f in found) and not force:
        raise SurefootError("the check found that a fit would be wrong (STOP above); fix it, or fit anyway with --force.")
    with watched(live, machine, fitted[0], world, port) as page:
        fit = run(
            machine, fitted, world, held_out=kept, method=method, seed=seed, loss=loss, torque_weight=torque_weight,
            population=population, generations=generations, max_iterations=max_iterations, resume=resume,
            also=page.tell if page else None, checkpoint=out / "search.npz" if method == "cmaes" else None,
        )  # fmt: skip
        fit = replace(fit, checks=tuple(checks))
        show(fit)
        fit.save(out)
        console().print(f"wrote {out}/fit.json and {out}/trajectories.npz", markup=False, soft_wrap=True)
        if report or page:
            draw(fit, machine, out / PAGE, page)
    following(f"surefoot validate {shlex.quote(str(out))} OTHER.npz --robot {shlex.quote(robot)}{again(read)}")
    return 0


def validate(fit: Folder, recordings: Files, robot: str = "", read: Read = Reading()) -> int:
    """Replay a fit on recordings that it has not seen.

    Args:
        fit: the folder that identify wrote.
        recordings: other motions or other gains.
        robot: needed when the fit's robot is not a bundled one.

    """
    from surefoot.commands import terminal
    from surefoot.identify import Fit, score

    known = Fit.load(fit)
    try:
        machine = load_robot(robot or known.source)
    except SurefootError as error:
        hint = "" if robot else f" The fit was made with {known.source}; pass --robot PATH."
        raise SurefootError(f"{error}{hint}") from None
    if not recordings:
        raise SurefootError("there is no recording to replay; pass at least one.")
    if missing := [joint for joint in known.joints if joint not in machine.joints]:
        raise SurefootError(
            f"the fit in {fit} is of {known.robot} and its joint{'s' * (len(missing) > 1)} {', '.join(missing)}, which robot "
            f"{machine.name} does not have (it has {', '.join(machine.joints)}); pass the fitted robot with --robot."
        )
    loaded = [load(machine, path, read).select(known.joints).prescribe(*known.prescribed) for path in recordings]
    scores = [score(machine, rec, known.dynamics, known.physics) for rec in loaded]
    console().print(terminal.errors(scores, f"{known.robot}: the fit on recordings it has not seen"))
    return 0


def compare(
    robot: Name, recordings: Files, held_out: tuple[Path, ...], only: tuple[str, ...] = (), seed: int = 0,
    read: Read = Reading(), world: Physical = World(),
) -> int:  # fmt: skip
    """Which model does this robot need? Variants are fitted and ranked on the held-out recordings.

    Args:
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        recordings: what the variants are fitted to.
        held_out: what they are ranked by.
        only: fit these variants only.
        seed: the same seed gives the same bits.

    """
    from surefoot.commands import terminal
    from surefoot.identify import compare as rank
    from surefoot.identify import verdict

    seeded(seed)
    machine = load_robot(robot)
    fitted, kept = ([load(machine, path, read) for path in paths] for paths in (recordings, held_out))
    with terminal.progress(console()) as bar:
        task = bar.add_task("comparing models", total=None, note="")

        def tell(name: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, note=name)

        ranked = rank(
            machine, fitted, held_out=kept, only=only, seed=seed, physics=physics(world), unknowns=unknowns(world), tell=tell,
            say=warn, engine=world.engine,
        )  # fmt: skip
    console().print(terminal.ranking(ranked))
    console().print(verdict(ranked))
    return 0


def demo(out: Path = Path("surefoot-demo"), robot: str = "anymal", seed: int = 7) -> int:
    """Hang a simulated robot with hidden joint dynamics, record it, find them, and compare with the truth.

    Args:
        out: folder for the recordings and the fit.
        robot: a bundled robot with published dynamics: anymal, tytan, minimal.
        seed: draws the hidden dynamics and the noise.

    """
    from surefoot.commands import terminal
    from surefoot.demo import hidden_robot, keep
    from surefoot.identify import check as examine

    seeded(seed)
    writable(out, "chirp.npz", "steps.npz", "other-gains.npz")
    writable(out / "fit", "fit.json", "trajectories.npz", PAGE)
    console().print(
        f"hanging {robot} in the air: 20 s chirp at 400 Hz, coloured encoder noise and quantisation (simulated by MuJoCo)"
    )
    hidden = hidden_robot(robot, seed)
    keep(hidden, out)
    fit = run(hidden.robot, [hidden.fitted], World(), held_out=list(hidden.held_out), seed=seed)
    fit = replace(fit, checks=tuple(examine(hidden.robot, [hidden.fitted])))
    table, hit, total = terminal.against_truth(fit, hidden.truth)
    console().print(table)
    console().print(
        terminal.errors([*fit.recordings, *fit.held_out], "error on the fitted chirp, on other gains and on random steps")
    )
    summary(fit)
    fit.save(out / "fit")
    console().print(f"{hit} of {total} intervals contain the truth ({100 * hit / total:.0f} %; 95 % expected)")
    console().print(f"the recordings are in {out}/, the numbers in {out}/fit/fit.json", markup=False, soft_wrap=True)
    draw(fit, hidden.robot, out / "fit" / PAGE)
    chirp, steps = (shlex.quote(str(out / f"{name}.npz")) for name in ("chirp", "steps"))
    following(f"surefoot identify {shlex.quote(robot)} {chirp} --held-out {steps} --out my-fit/")
    return 0


# --- what these commands share ----------------------------------------------------------------------------------------------
def run(
    robot: Robot, fitted: list[Recording], world: World, *, also: Callable[[Progress], None] | None = None, **options: Any
) -> Fit:
    """Identify with a bar that shows stage, iteration and loss; `also` hears the same."""
    from surefoot.commands import terminal
    from surefoot.identify import identify as find

    with terminal.progress(console()) as bar:
        unit = " rad²" if options.get("loss", "position") == "position" else ""
        task = bar.add_task("identifying", total=None, note="")

        def tell(p: Progress) -> None:
            if also:
                also(p)
            bar.update(task, description=p.stage, completed=p.iteration + 1, total=p.limit, note=f"loss {p.loss:.4g}{unit}")

        return find(
            robot, fitted, physics=physics(world), unknowns=unknowns(world), engine=world.engine, tell=tell, say=warn, **options
        )


def show(fit: Fit) -> None:
    """A fit as tables and sentences."""
    from surefoot.commands import terminal

    console().print(terminal.parameters(fit))
    if fit.held_out:
        console().print(terminal.errors(fit.held_out, "held-out recordings"))
    summary(fit)


def summary(fit: Fit) -> None:
    """Shared parameters, findings and how the search ended."""
    from surefoot.commands import terminal

    for line in terminal.shared(fit):
        console().print(line)
    for finding in fit.findings:
        console().print(f"- {finding}", markup=False)
    console().print(f"{fit.stop} {fit.rollouts} rollouts in {fit.seconds:.2f} s ({fit.method}, seed {fit.seed})", markup=False)
