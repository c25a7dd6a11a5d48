"""Other people's logs to the canonical recording: convert."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.commands.common import Folder, console, following, writable
from surefoot.commands.options import Read, Reading, load, load_robot, warn
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.identify.finding import Finding
    from surefoot.record import Recording
    from surefoot.robot import Robot

CONVERSION = ("joints", "rate", "measurement", "units", "joint order", "sign", "joint names", "time offset")
"""What a check looks at and a conversion can get wrong."""


def convert(source: Folder, out: Path, robot: str = "", force: bool = False, read: Read = Reading()) -> int:
    """Read a log of any known format and write it as a recording, after its units and its joint order were checked.

    Args:
        source: .npz, .csv, .mat, .parquet, .h5, .pt, .mcap, .db3, the folder of a ROS 2 bag or of a LeRobot dataset.
        out: the .npz to write.
        robot: whose joints these are: names, gains and limits to check against; without it, units and order stay unchecked.
        force: write although the check found the log wrong.

    """
    from surefoot.commands import terminal

    if out.suffix != ".npz":
        raise SurefootError(f"--out {out}: a recording's file name must end in .npz.")
    writable(out.parent, out.name)
    machine = load_robot(robot) if robot else None
    rec = load(machine, source, read)
    found = suspicions(machine, rec)
    if found:
        console().print(terminal.findings(found))
        if not force:
            raise SurefootError(f"{source.name} was not converted (STOP above); correct it as said, or write it with --force.")
    console().print(terminal.recording(rec))
    rec.save(out)
    console().print(f"wrote {out}", markup=False, soft_wrap=True)
    following(f"surefoot check {shlex.quote(robot or 'ROBOT')} {shlex.quote(str(out))}")
    return 0


def suspicions(robot: Robot | None, rec: Recording) -> list[Finding]:
    """What says that the log was read wrongly."""
    from surefoot.identify.check import check
    from surefoot.identify.finding import Finding
    from surefoot.record.units import stamp_problem

    if robot is not None:
        return [finding for finding in check(robot, rec) if finding.level == "stop" and finding.subject in CONVERSION]
    warn("no --robot was given: radians or degrees, joint or motor side, order and signs of the joints were not checked.")
    problem = stamp_problem(rec.rate)
    return [Finding(level="stop", subject="rate", message=problem[0], remedy=problem[1])] if problem else []
