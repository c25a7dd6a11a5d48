"""What can be said on the command line, and what it means: options to robots, recordings, physics and unknowns."""

from __future__ import annotations

import math
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from surefoot.commands.words import gains, matching, renaming, short, table
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
    rename: tuple[str, ...] = ()
    """OLD=NEW: a joint that the file calls OLD is the robot's NEW."""
    columns: Annotated[Path | None, tyro.conf.arg(aliases=["--map"])] = None
    """TOML file that says where things are, for example: time = "t", target = "des_{joint}"; or the topics of a bag."""
    topic: tuple[str, ...] = ()
    """measurement=/NAME and command=/NAME: the topics of a bag. Default: the only ones that can be."""
    order: str = ""
    """Order of unnamed columns: model, alphabet, isaac-lab, isaac-gym, or the manufacturer's, for example unitree-sdk."""
    episode: int | None = None
    """Which episode of a LeRobot dataset."""
    rate: float | None = None
    """Rate that the log has [Hz]: stamps a log without time; refuses one whose stamps say otherwise."""
    motor_side: tuple[str, ...] = ()
    """PATTERN=RATIO: angles, speeds and torques of these joints were logged at the motor, RATIO times as fast as the joint;
    measured:PATTERN=RATIO or commanded:PATTERN=RATIO when only one side was."""
    degrees: bool = False
    """Positions, targets and velocities of the file are in degrees."""
    time_scale: float = 1.0
    """Factor that makes the stamps seconds: 0.001 for milliseconds, 1e-6, 1e-9."""
    start: float | None = None
    """Use the recording from here on [s after its first stamp]."""
    end: float | None = None
    """Use the recording up to here [s after its first stamp]."""
    lead_in: float = 0.0
    """Seconds before --start that are simulated but not compared."""
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
    extra: tuple[Literal["load", "breakaway", "load_friction", "cutoff", "tilt", "gain_scale"], ...] = ()
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


def load(robot: Robot | None, path: Path, read: Reading) -> Recording:
    """One recording, completed from the options and, where there is one, the robot."""
    from surefoot.record import Recording

    p, d = gains(read.stiffness, "--stiffness"), gains(read.damping, "--damping")
    rec = Recording.load(
        path, joints=read.joints or None, stiffness=p, damping=d, columns=_where(read), robot=robot,
        drop_repeated=read.drop_repeated, rename=renaming(read.rename),
    )  # fmt: skip
    _tell(robot, path, rec, read)
    rec = _piece(_units(robot, rec, read), read)
    if read.select:
        rec = rec.select(matching(rec.joints, read.select, "--select"))
    if read.prescribe:
        rec = rec.prescribe(*matching(rec.joints, read.prescribe, "--prescribe"))
    rec = rec.replace(command_hold=True) if read.hold else rec
    return rec.mark_held() if read.mark_held else rec


def _where(read: Reading) -> dict[str, Any] | None:
    """Where things are in the file: the map, and what was said beside it."""
    said: dict[str, Any] = {"order": read.order or None, "episode": read.episode, "rate": read.rate}
    for word in read.topic:
        role, _, topic = word.partition("=")
        if role not in ("measurement", "command") or not topic:
            raise SurefootError(f"--topic {word}: expected measurement=/NAME or command=/NAME.")
        said[role] = topic
    said = {key: value for key, value in said.items() if value is not None}
    return ((_columns(read.columns) or {}) | said) or None


def _columns(path: Path | None) -> dict[str, Any] | None:
    """The column map of a file."""
    if path is None:
        return None
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SurefootError(f"cannot read the column map {path}: {error}.") from None


def _tell(robot: Robot | None, path: Path, rec: Recording, read: Reading) -> None:
    """What was assumed while reading: columns, gains."""
    if read.columns is None and (columns := rec.notes.get("columns")):
        shown = (part.split(", ") for part in columns.split("; "))
        parts = [part[0] if len(part) == 1 else f"{part[0]} .. {part[-1]} ({len(part)})" for part in shown]
        warn(short(f"{path.name}: columns taken as {'; '.join(parts)}"))
    for note in ("units", "measurement", "command", "alignment", "left out", "not used"):
        if said := rec.notes.get(note):
            warn(short(f"{path.name}: {said if note in ('units', 'alignment') else f'{note}: {said}'}"))
    if (order := rec.notes.get("joint order")) is not None:
        warn(f"{path.name} names no joints, or not all: its columns are taken as {order}{_other_orders(robot)}")
    if unused := rec.notes.get("unused"):
        warn(short(f"{path.name}: not used: {unused}"))
    if (lacking := rec.notes.get("default gains")) is not None:
        ranges = {"stiffness": f"P {_span(rec.stiffness)}", "damping": f"D {_span(rec.damping)}"}
        used, named = (", ".join(form(g) for g in lacking.split()) for form in (ranges.__getitem__, "--{}".format))
        owner = robot.name if robot else "the options"
        warn(f"{path.name} holds no {' and no '.join(lacking.split())}: using those of {owner}, {used}; if others were in "
             f"force, pass {named}.")  # fmt: skip


def _other_orders(robot: Robot | None) -> str:
    """The robot's other usual orders, and how to choose one."""
    from surefoot.robot.orders import others

    known = others(robot) if robot else {}
    return "".join(f"; --order {name}: {', '.join(joints[:4])}{', ...' * (len(joints) > 4)}" for name, joints in known.items())


def _span(values: Any) -> str:
    low, high = float(min(values)), float(max(values))
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _units(robot: Robot | None, rec: Recording, read: Reading) -> Recording:
    """Seconds and radians, at the joint."""
    if not (math.isfinite(read.time_scale) and read.time_scale > 0):
        raise SurefootError(f"--time-scale is {read.time_scale:g}; expected a factor > 0, for example 0.001 for milliseconds.")
    if read.time_scale != 1.0 and "counted from the first stamp" in rec.notes.get("units", ""):
        raise SurefootError(f"{rec.name} names the unit of its stamps, and they were read as seconds; leave out --time-scale.")
    if read.time_scale != 1.0:
        rec = rec.replace(time=rec.time * read.time_scale)
    if read.degrees and "degrees" in rec.notes.get("units", ""):
        raise SurefootError(f"{rec.name} says itself that columns are in degrees, and they were converted; leave out --degrees.")
    if read.degrees:
        slides = [j for j, kind in zip(robot.joints, robot.kinds, strict=True) if kind == "slide"] if robot else []
        rec = rec.in_radians(slides)
    for key, ratio in table(read.motor_side, "--motor-side", 1, example="'*_KFE=9.1'").items():
        side, _, pattern = key.rpartition(":")
        if side not in ("", "measured", "commanded"):
            raise SurefootError(f"--motor-side {key}={ratio:g}: expected measured:PATTERN=RATIO or commanded:PATTERN=RATIO.")
        hit = matching(rec.joints, (pattern,), "--motor-side")
        ratios = [float(ratio) if joint in hit else 1.0 for joint in rec.joints]
        rec = rec.at_joint(ratios, measured=side != "commanded", commanded=side != "measured")
    return rec


def _piece(rec: Recording, read: Reading) -> Recording:
    """From --start to --end."""
    if not (math.isfinite(read.lead_in) and read.lead_in >= 0):
        raise SurefootError(f"--lead-in is {read.lead_in:g} s; expected seconds >= 0.")
    if read.start is None and read.end is None:
        if read.lead_in:
            raise SurefootError("--lead-in says how much before --start is simulated; pass --start too.")
        return rec
    start, end = read.start or 0.0, math.inf if read.end is None else read.end
    if not 0 <= start < end:
        raise SurefootError(f"--start {start:g} and --end {end:g}: expected 0 <= start < end, seconds after the first stamp.")
    return rec.between(rec.time[0] + start, rec.time[0] + end, lead_in=read.lead_in)


def physics(world: World) -> Physics:
    """The physics of a command line."""
    from surefoot.simulate import Physics

    return Physics(timestep=world.timestep, delay_on=world.delay_on, bias_form=world.bias_form)


def unknowns(world: World) -> Unknowns:
    """What a command line leaves free."""
    from surefoot.identify import Unknowns

    return Unknowns(
        extra=world.extra, joint_delays=world.joint_delays, fixed=table(world.fix, "--fix", 1),
        tied=world.tie, bounds=table(world.bound, "--bound", 2), stribeck_speed=world.stribeck_speed,
    )  # fmt: skip
