"""What can be said on the command line, and what it means: options to robots, recordings, physics and unknowns."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.identify import Unknowns
    from surefoot.record import Recording
    from surefoot.robot import Robot
    from surefoot.simulate import Physics


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read recordings that lack something."""

    stiffness: tuple[str, ...] = ()
    """P gain in force [N·m/rad]: one number, one per joint, or PATTERN=NUMBER. Default: the file's, then the robot's."""
    damping: tuple[str, ...] = ()
    """D gain in force [N·m·s/rad], likewise."""
    joints: tuple[str, ...] = ()
    """Joint names in the order of the file's columns, for files that do not say."""
    columns: Path | None = None
    """TOML file that maps channels to CSV columns, for example: time = "t", target = "des_{joint}"."""
    select: tuple[str, ...] = ()
    """Use only the joints that match these patterns; the others are held at the robot's posture."""
    prescribe: tuple[str, ...] = ()
    """Joints (patterns) that follow their measured motion instead of being identified."""
    hold: bool = False
    """The drive held each command until the next, instead of interpolating."""
    mark_held: bool = False
    """Do not compare samples that only repeat the one before (lost packets)."""
    drop_repeated: bool = False
    """Drop samples whose time stamp repeats the one before."""


@dataclass(frozen=True, kw_only=True)
class World:
    """The physics that the fit is true in, and what is free in it."""

    timestep: float = 0.0025
    """Physics step [s]; training must use the same."""
    delay_on: Literal["command", "torque"] = "command"
    """Where the delay sits: on the command (the paper) or on the computed torque (the authors' code)."""
    bias_form: Literal["encoder", "setpoint"] = "encoder"
    """The encoder reads q - bias, or the set-point is shifted by the bias."""
    extra: tuple[Literal["load", "breakaway", "cutoff", "tilt", "gain_scale"], ...] = ()
    """Optional parameters to find as well."""
    joint_delays: bool = False
    """One delay per joint."""
    fix: tuple[str, ...] = ()
    """NAME[:PATTERN]=VALUE keeps a parameter at a value, for example friction:LF_*=0.3."""
    tie: tuple[str, ...] = ()
    """left-right, PATTERN or NAME:PATTERN: one value for all these joints, for example *_KFE."""
    bound: tuple[str, ...] = ()
    """NAME[:PATTERN]=LOW,HIGH, for example delay=0,0.06."""
    stribeck_speed: float = 0.1
    """Speed [rad/s] at which half of the break-away friction is gone."""
    engine: Literal["auto", "kernel", "mujoco"] = "auto"
    """The compiled in-air kernel, or MuJoCo's own step."""


Read = Annotated[Reading, tyro.conf.arg(name="")]
Physical = Annotated[World, tyro.conf.arg(name="")]


def warn(text: str) -> None:
    """A line for the user, beside the results."""
    print(f"note: {text}", file=sys.stderr)


def load_robot(name: str) -> Robot:
    """The robot, and what was repaired while loading it."""
    from surefoot.robot import Robot, bundled_names

    machine = Robot.load(name)
    for note in () if name in bundled_names() else machine.notes:
        warn(note)
    return machine


def load(robot: Robot, path: Path, read: Reading) -> Recording:
    """One recording, completed from the options and the robot."""
    from surefoot.record import Recording

    columns = None
    if read.columns is not None:
        try:
            columns = tomllib.loads(read.columns.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SurefootError(f"cannot read the column map {read.columns}: {error}.") from None
    rec = Recording.load(
        path, joints=read.joints or None, stiffness=gains(read.stiffness, "--stiffness"),
        damping=gains(read.damping, "--damping"), columns=columns, robot=robot, drop_repeated=read.drop_repeated,
    )  # fmt: skip
    if path.suffix == ".csv" and columns is None:
        warn(f"{path.name}: columns taken as {rec.notes.get('columns', '')}")
    if read.select:
        rec = rec.select(matching(rec.joints, read.select, "--select"))
    if read.prescribe:
        rec = rec.prescribe(*matching(rec.joints, read.prescribe, "--prescribe"))
    rec = rec.replace(command_hold=True) if read.hold else rec
    return rec.mark_held() if read.mark_held else rec


def matching(joints: tuple[str, ...], patterns: tuple[str, ...], option: str) -> list[str]:
    """Joints that match any of the patterns."""
    for pattern in patterns:
        if not any(fnmatchcase(joint, pattern) for joint in joints):
            raise SurefootError(f"{option} {pattern} matches no joint; valid: {', '.join(joints)}.")
    return [joint for joint in joints if any(fnmatchcase(joint, pattern) for pattern in patterns)]


def gains(words: tuple[str, ...], option: str) -> Any:
    """A number, one per joint, or {pattern: number}."""
    if not words:
        return None
    if any("=" in word for word in words):
        return dict(split(word, option, 1) for word in words)
    values = [split(f"x={word}", option, 1)[1] for word in words]
    return values[0] if len(values) == 1 else values


def split(word: str, option: str, count: int) -> tuple[str, Any]:
    """KEY=NUMBER or KEY=LOW,HIGH."""
    key, equals, text = word.rpartition("=")
    try:
        values = tuple(float(x) for x in text.split(","))
    except ValueError:
        values = ()
    if not equals or len(values) != count or not values:
        form = "KEY=NUMBER" if count == 1 else "KEY=LOW,HIGH"
        raise SurefootError(
            f"{option} {word}: expected {form}, for example {option} {'delay=0.005' if count == 1 else 'delay=0,0.06'}."
        )
    return key, values[0] if count == 1 else values


def physics(world: World) -> Physics:
    """The physics of a command line."""
    from surefoot.simulate import Physics

    return Physics(timestep=world.timestep, delay_on=world.delay_on, bias_form=world.bias_form)


def unknowns(world: World) -> Unknowns:
    """What a command line leaves free."""
    from surefoot.identify import Unknowns

    return Unknowns(
        extra=world.extra, joint_delays=world.joint_delays, fixed=dict(split(word, "--fix", 1) for word in world.fix),
        tied=world.tie, bounds=dict(split(word, "--bound", 2) for word in world.bound), stribeck_speed=world.stribeck_speed,
    )  # fmt: skip
