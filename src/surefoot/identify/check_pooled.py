"""Detectors that look at all recordings together: is every joint excited somewhere, and do the stated gains agree?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import signal

from surefoot.identify.finding import Case, Finding, Level
from surefoot.identify.response import responses


def excitation(cases: Sequence[Case]) -> Iterator[Finding]:
    """Over all recordings together: can each joint be identified at all?"""
    for joint in dict.fromkeys(joint for case in cases for joint in case.recording.joints):
        seen = [(case, case.recording.joints.index(joint)) for case in cases if joint in case.recording.joints]
        moved = [(case, k) for case, k in seen if case.excited[k]]
        if not moved:
            message = f"{joint} was never commanded to move: nothing about it can be identified."
            yield _about(joint, "stop", message, f"add a recording that moves it, or --prescribe {joint}.")
            continue
        reach = max(_reach(case, k) for case, k in moved)
        counts = max(_reach(case, k) / max(case.resolution[k], 1e-12) for case, k in moved)
        reversals = sum(_reversals(case, k) for case, k in moved)
        top = max(case.top_frequency[k] for case, k in moved)
        if reach < 0.02 or counts < 50:
            message = f"{joint} moved only {1e3 * reach:.2g} mrad, {counts:.0f} steps of its encoder."
            yield _about(joint, "warn", message, "raise its amplitude, to 0.1 rad or more where the stops allow it.")
        elif reversals < 6:
            message = f"{joint} reversed only {reversals} times: friction cannot be told from a constant load."
            yield _about(joint, "warn", message, "use a chirp or a longer recording: ten reversals or more.")
        elif top < 1.0:
            message = f"{joint} moved at {top:.2f} Hz at most: inertia and delay hardly show."
            yield _about(joint, "warn", message, "let the chirp run to 5-10 Hz, at a lower amplitude if need be.")
        else:
            message = f"{1e3 * reach:.0f} mrad ({counts:.0f} encoder steps), {reversals} reversals, up to {top:.1f} Hz."
            yield _about(joint, "ok", message, "")


def gains_agree(cases: Sequence[Case]) -> Iterator[Finding]:
    """Does a joint feel equally heavy in all recordings? If not, one of them ran under other gains than it says."""
    wrong: list[tuple[float, str, str]] = []
    for joint in dict.fromkeys(joint for case in cases for joint in case.recording.joints):
        felt: list[tuple[float, str]] = []
        for case in (case for case in cases if joint in case.recording.joints):
            r = responses(case)[case.recording.joints.index(joint)]
            if r is not None and r.explained > 0.7 and r.inertial > 0.3 and r.inertia > 0:
                felt.append((r.inertia, case.recording.name))
        if felt and max(felt)[0] > 1.5 * min(felt)[0]:
            (low, one), (high, other) = min(felt), max(felt)
            message = f"{joint} feels like {low:.3g} kg·m² in '{one}' but {high:.3g} kg·m² in '{other}'"
            wrong.append((high / low, joint, message))
    if wrong:
        yield Finding(
            level="stop",
            subject="gains",
            joint=", ".join(joint for _, joint, _ in wrong),
            message=f"{max(wrong)[2]}, under the stiffness that each of them states: one stiffness is wrong.",
            remedy="look up the gains that were in force; --stiffness sets them for all files, in Python "
            "recording.with_gains(stiffness, damping).save(...) for one.",
        )


def _reach(case: Case, k: int) -> float:
    """How far the joint went [rad], a short sag at the start apart."""
    low, high = np.quantile(case.position[:, k], (0.02, 0.98))
    return float(high - low)


def _reversals(case: Case, k: int) -> int:
    """Turning points larger than 3 encoder steps and 2 % of the motion."""
    q = case.low_pass(case.position[:, [k]], 40.0)[:, 0]
    size = max(3.0 * case.resolution[k], 0.02 * float(np.ptp(q)))
    tops, bottoms = (signal.find_peaks(side, prominence=size)[0] for side in (q, -q))
    return len(tops) + len(bottoms)


def _about(joint: str, level: Level, message: str, remedy: str) -> Finding:
    return Finding(level=level, subject="excitation", joint=joint, message=message, remedy=remedy)
