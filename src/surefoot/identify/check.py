"""Can these recordings identify this robot? Every question is asked of the data alone, before any fit."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.errors import SurefootError
from surefoot.identify import check_base, check_clock, check_columns, check_labels, check_motion, check_pooled
from surefoot.identify.finding import Case, Finding
from surefoot.record.recording import Recording
from surefoot.robot.spec import Robot

STAGES = (  # a stop silences the stages behind it, which would ask their questions of nonsense
    (check_clock.rate, check_clock.jitter),
    (check_clock.bandwidth, check_clock.packets, check_clock.stairs, check_columns.copied),
    (check_columns.units, check_columns.motor_side, check_columns.order_and_sign),
    (check_motion.follows, check_clock.offset, check_motion.measured_torque),
    (check_labels.exchanged,),
    (check_motion.saturation, check_motion.limits, check_base.sway, check_base.oscillation),
)
TOGETHER = (check_pooled.excitation, check_pooled.gains_agree)
WORST_FIRST = {"stop": 0, "warn": 1, "ok": 2}


def check(robot: Robot, recordings: Sequence[Recording] | Recording) -> list[Finding]:
    """Findings about each recording and about all of them together, worst first."""
    recordings = [recordings] if isinstance(recordings, Recording) else list(recordings)
    if not recordings:
        raise SurefootError("check needs at least one recording.")
    findings: list[Finding] = []
    sound: list[Case] = []
    for recording in recordings:
        found, case = _fitting(robot, recording)
        if case is not None:
            found += _staged(case)
            if not _stops(found):
                sound.append(case.thinned())
        findings += found
    findings += [finding for detector in TOGETHER for finding in detector(sound)]
    return sorted(findings, key=lambda finding: WORST_FIRST[finding.level])


def _staged(case: Case) -> list[Finding]:
    found: list[Finding] = []
    for clock, stage in enumerate(STAGES):
        case = case if clock < 2 else case.thinned()
        found += [finding for detector in stage for finding in detector(case)]
        if _stops(found):
            break
    return found


def _stops(findings: list[Finding]) -> bool:
    return any(finding.level == "stop" for finding in findings)


def _fitting(robot: Robot, recording: Recording) -> tuple[list[Finding], Case | None]:
    """The recording's identified joints in the robot's order, or why it is not of this robot."""

    def stop(message: str, remedy: str, joints: Sequence[str]) -> tuple[list[Finding], None]:
        joint = ", ".join(joints)
        finding = Finding(level="stop", subject="joints", joint=joint, message=message, remedy=remedy, recording=recording.name)
        return [finding], None

    if foreign := [joint for joint in recording.joints if joint not in robot.joints]:
        return stop(
            f"{robot.name} has no joint {', '.join(foreign)}; its joints are {', '.join(robot.joints)}.",
            f"--rename {foreign[0]}=NAME for another spelling, or --select PATTERN for the joints to keep (in Python: "
            "recording.rename({...}), recording.select([...])).",
            foreign,
        )
    if missing := [joint for joint in robot.joints if joint not in recording.joints]:
        absent = Finding(
            level="warn",
            subject="joints",
            message=f"the recording lacks {', '.join(missing)}; they are taken to rest at the robot's posture.",
            remedy="if they moved, log them too; what cannot be identified can follow its measured motion: --prescribe JOINT.",
            joint=", ".join(missing),
            recording=recording.name,
        )
    else:
        absent = None
    joints = [joint for joint in robot.joints if joint in recording.joints and joint not in recording.prescribed]
    if not joints:
        return stop(
            "every joint is prescribed, so there is nothing to identify.", "let --prescribe match fewer.", recording.joints
        )
    return [absent] if absent else [], Case(robot=robot, recording=recording.select(joints))
