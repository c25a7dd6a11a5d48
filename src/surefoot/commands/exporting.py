"""Joint dynamics to other people's simulators: export."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from surefoot.commands.common import Folder, console
from surefoot.commands.options import Read, Reading, load, load_robot, warn
from surefoot.errors import SurefootError

Target = Literal["mjcf", "urdf", "usd", "isaaclab", "mjlab", "legged_gym", "genesis", "json", "yaml", "ros2"]


def export(
    fit: Folder, to: Target, out: Path, robot: str = "", model: Path | None = None,
    recording: Path | None = None, prove: bool = False, python: Path | None = None, read: Read = Reading(),
) -> int:  # fmt: skip
    """Write a fit for a simulator, into the robot's own model file where it has one, and prove that it arrived.

    Args:
        fit: the folder that identify wrote.
        to: the simulator or format.
        out: file to write.
        robot: needed when the fit's robot is not a bundled one.
        model: MJCF, URDF or USD to write into, when it is not the one that the robot is loaded from.
        recording: one of the fit's recordings: its gains are written, its motion is replayed. Default: looked for beside the fit.
        prove: read every value back, replay the recording where the target runs here, and probe each value.
        python: an interpreter with mjlab, to prove an export to mjlab.

    """
    from surefoot.export import export as write
    from surefoot.export import prove as show
    from surefoot.export.report import lines
    from surefoot.export.targets import find_recording
    from surefoot.identify import Fit

    known = Fit.load(fit)
    try:
        machine = load_robot(robot or known.source)
    except SurefootError as error:
        raise SurefootError(f"{error} The fit was made with {known.source}; pass --robot PATH.") from None
    rec = load(machine, recording, read) if recording else find_recording(known, fit)
    rec = rec and rec.select(known.joints).prescribe(*known.prescribed)
    written = write(known, machine, to=to, out=out, model=model, recording=rec)
    for line in lines(written):
        console().print(line, markup=False)
    if not prove:
        return 0
    proof = show(known, machine, written.files[0], to, recording=rec, python=python, say=warn)
    for line in lines(proof):
        console().print(line, markup=False)
    return 0 if proof.good else 1
