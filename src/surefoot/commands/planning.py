"""Before the robot moves: plan what a motion would tell, and write the motion."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.commands.common import Name, console, following, writable
from surefoot.commands.motions import Limits, Motion, Move, Safe, Sense, Sensing, expected, safe_recipe, spelled, stand, typed
from surefoot.commands.options import load_robot
from surefoot.commands.words import again
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.identify.optimise import Improvement
    from surefoot.identify.plan import Encoders, Plan
    from surefoot.record.excitation import Recipe
    from surefoot.robot import Robot
    from surefoot.simulate.safety import Safety


def excite(robot: Name, out: Path, move: Move = Motion(), safe: Safe = Limits()) -> int:
    """Write the commands that excite all joints, once they are found to be safe: .npz, .csv or .mcap.

    Args:
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        out: the file; its ending says which kind.

    """
    from surefoot.record.targets import WRITERS

    if out.suffix.lower() not in WRITERS:
        raise SurefootError(f"--out {out} cannot hold targets; its name must end in {', '.join(WRITERS)}.")
    writable(out.parent, out.name)
    machine = load_robot(robot)
    recipe, found = safe_recipe(machine, move, safe)
    _show_safety(machine, recipe, found, safe)
    out.parent.mkdir(parents=True, exist_ok=True)
    targets = recipe.targets(machine)
    targets.save(out)
    console().print(f"wrote {out}: {targets.n} joints, {len(targets.time)} commands", markup=False, soft_wrap=True)
    console().print("bring the robot slowly to the first target before it is played.")
    following(f"surefoot record {shlex.quote(robot)} {shlex.quote(str(out))} --hardware virtual:7 --out rec.npz")
    return 0


def plan(
    robot: Name, optimise: bool = False, keep_gains: bool = False, longest: float = 0.0, evaluations: int = 160,
    policy_hz: float = 50.0, move: Move = Motion(), safe: Safe = Limits(), sense: Sense = Sensing(),
) -> int:  # fmt: skip
    """What would a fit find out from this motion, and how sure would it be? Asked before the robot moves.

    Args:
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        optimise: search for amplitudes, centres, band and gains whose worst interval is narrower, as safe as before.
        keep_gains: with --optimise: leave the gains as they are.
        longest: with --optimise: the motion may take this long [s]; default: as long as before.
        evaluations: with --optimise: motions to try.
        policy_hz: rate of the policy that will run on the robot [Hz]; it excites nothing above half of it.

    """
    from surefoot.commands import motion_tables as tables
    from surefoot.identify.plan import Encoders
    from surefoot.identify.plan import plan as look_ahead

    if evaluations < 1 or not policy_hz > 0 or not longest >= 0:
        raise SurefootError("--evaluations is at least 1, --policy-hz above 0 and --longest at least 0.")
    machine = load_robot(robot)
    encoders = Encoders(noise=sense.noise, colour=sense.colour, resolution=sense.resolution)
    recipe, found = safe_recipe(machine, move, safe)
    _show_safety(machine, recipe, found, safe)
    console().print(tables.wrench(found, stand(safe)))
    ahead = look_ahead(machine, recipe.targets(machine), dynamics=expected(machine, safe), encoders=encoders)
    _advise(machine, recipe, ahead, found, safe, policy_hz)
    _show_plan(machine, ahead)
    if not optimise:
        following(f"surefoot excite {shlex.quote(robot)}{typed(move, safe)} --out targets.npz")
        return 0
    if longest > recipe.duration:
        recipe = recipe.replace(duration=longest)
    better = _improved(machine, recipe, safe, encoders, policy_hz, keep_gains, evaluations)
    _show_safety(machine, better.recipe, better.safety, safe)
    _show_plan(machine, better.after)
    before, after = ahead.relative[ahead.seen].max(), better.after.relative[ahead.seen].max()
    console().print(
        f"the widest relative interval shrank {before / after:.2g} times, from {100 * before:.2g} % to {100 * after:.2g} % "
        f"({better.evaluations} motions tried)"
    )
    following(f"surefoot excite {shlex.quote(robot)}{spelled(machine, better.recipe, move)}{again(safe)} --out targets.npz")
    return 0


def _improved(
    machine: Robot, recipe: Recipe, safe: Limits, encoders: Encoders, policy_hz: float, keep_gains: bool, evaluations: int
) -> Improvement:  # fmt: skip
    """Search with a bar that shows how far it is."""
    from surefoot.commands import terminal
    from surefoot.identify.optimise import optimise

    with terminal.progress(console()) as bar:
        task = bar.add_task("improving", total=evaluations, note="")
        return optimise(
            machine, recipe, dynamics=expected(machine, safe), encoders=encoders, stand=stand(safe), margin=safe.link_margin,
            top_hz=policy_hz / 2, keep_gains=keep_gains, evaluations=evaluations,
            tell=lambda done, total, cost: bar.update(task, completed=done, total=total, note=f"interval {100 * cost:.2g} %"),
        )  # fmt: skip


def _show_safety(machine: Robot, recipe: Recipe, found: Safety, safe: Limits) -> None:
    from surefoot.commands import motion_tables as tables

    console().print(tables.safety(machine, recipe, found))
    force, moment = found.wrench.peaks
    limits = stand(safe)
    bears = f"; the stand bears {limits.force:g} N and {limits.moment:g} N·m" if limits else "; no --stand-force was given"
    console().print(f"on the stand: {force:.0f} N and {moment:.1f} N·m beyond the weight{bears}", markup=False)
    console().print(f"between links: {found.shapes}", markup=False)


def _show_plan(machine: Robot, ahead: Plan) -> None:
    from surefoot.commands import motion_tables as tables

    console().print(tables.intervals(machine, ahead))
    for line in tables.shared(ahead):
        console().print(line, markup=False)


def _advise(machine: Robot, recipe: Recipe, ahead: Plan, found: Safety, safe: Limits, policy_hz: float) -> None:
    from surefoot.commands import motion_tables as tables
    from surefoot.identify.advise import advise

    given = advise(
        machine, ahead.dynamics, recipe.stiffness, recipe.damping, recipe.amplitude, stop_hz=recipe.stop_hz,
        policy_hz=policy_hz, stand_hz=found.wrench.bearable(stand(safe)),
    )  # fmt: skip
    console().print(tables.advice(given))
    for sentence in given.sentences:
        console().print(f"- {sentence}", markup=False)
