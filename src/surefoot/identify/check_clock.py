"""Detectors for when things were logged: rate, jitter, gaps, lost packets, staircases, a time offset."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from surefoot.identify.finding import Case, Finding
from surefoot.identify.response import HEALTHY_DELAY, responses
from surefoot.record.held import held
from surefoot.record.units import stamp_problem
from surefoot.record.validation import Flags


def rate(case: Case) -> Iterator[Finding]:
    """Is the rate plausible, and fast enough for the motion?"""
    if problem := stamp_problem(case.recording.rate):
        yield case.say("stop", "rate", *problem)


def bandwidth(case: Case) -> Iterator[Finding]:
    """Is the log fast enough for the motion?"""
    hz, fastest = case.recording.rate, float(case.top_frequency.max())
    if hz < 10.0 * fastest:
        joint = case.recording.joints[int(np.argmax(case.top_frequency))]
        yield case.say(
            "warn",
            "rate",
            f"{joint} moves at up to {fastest:.1f} Hz but the log has only {hz:.0f} Hz, {hz / fastest:.1f} samples per period.",
            f"log at {20 * fastest:.0f} Hz or more, or end the chirp at {hz / 20:.1f} Hz.",
            [joint],
        )
    else:
        yield case.say("ok", "rate", f"{hz:.1f} Hz; the motion reaches {fastest:.1f} Hz.")


def jitter(case: Case) -> Iterator[Finding]:
    """Do the stamps come evenly?"""
    step = np.diff(case.recording.time)
    gaps = np.flatnonzero(step > max(5.0 * case.dt, 0.02))
    spread = float(np.sqrt(np.mean((step[step <= 5.0 * case.dt] - case.dt) ** 2)) / case.dt)
    if gaps.size:
        first = int(gaps[0])
        yield case.say(
            "stop" if case.recording.duration > 10.0 * len(step) * case.dt else "warn",
            "gaps",
            f"{gaps.size} gap{'s' * (gaps.size != 1)} in the stamps, the longest {step.max() * 1e3:.0f} ms, the first after "
            f"sample {first} (t = {case.recording.time[first]:.4f} s). What was commanded inside is unknown.",
            "fit the longest piece without one: --start S --end S (in Python: recording.between(start, end)).",
        )
    if spread > 0.25:
        yield case.say(
            "warn",
            "jitter",
            f"the time between samples varies by {100 * spread:.0f} % of its median {case.dt * 1e3:.3g} ms.",
            "stamp each sample where the encoder is read, not where the log is written; if the drives sample evenly, "
            "log their own counter.",
        )
    if not gaps.size and spread <= 0.25:
        yield case.say(
            "ok", "jitter", f"the time between samples varies by {100 * spread:.1f} %; the longest is {step.max() * 1e3:.3g} ms."
        )


def packets(case: Case) -> Iterator[Finding]:
    """Were samples repeated because a packet was lost or a sensor is slow?"""
    rec = case.recording
    mask = case.held.copy()
    if rec.valid is not None:
        mask &= rec.valid
    share, longest = mask.mean(axis=0), np.array([_longest(column) for column in mask.T])
    slow, lost = share > 0.25, (mask.sum(axis=0) > max(3, len(mask) // 1000)) | (longest >= 8)
    if slow.any():
        worst = int(np.argmax(share))
        yield case.say(
            "warn",
            "held samples",
            f"the measurement is a staircase: {100 * share[worst]:.0f} % of the samples of {rec.joints[worst]} repeat the "
            f"one before, so the encoder is refreshed at about {rec.rate / (1 + _usual(mask[:, worst])):.0f} Hz and not "
            f"{rec.rate:.0f} Hz.",
            "compare fresh samples only: --mark-held (in Python: recording.mark_held()); better, log at the encoder's own rate.",
            case.names(slow),
        )
    elif lost.any():
        worst = int(np.argmax(share))
        yield case.say(
            "warn",
            "held samples",
            f"{int(mask[:, worst].sum())} samples of {rec.joints[worst]} only repeat the one before, {longest.max()} in a "
            "row at most: packets were lost.",
            "leave them out of the comparison: --mark-held (in Python: recording.mark_held()).",
            case.names(lost),
        )
    else:
        yield case.say("ok", "held samples", f"{int(mask.sum())} repeated samples while moving.")


def stairs(case: Case) -> Iterator[Finding]:
    """Was the command refreshed more slowly than it was logged?"""
    rec = case.recording
    mask = np.stack([held(column) for column in rec.target.T], axis=1)
    share = mask.mean(axis=0)
    length = share / np.maximum((mask[1:] & ~mask[:-1]).sum(axis=0), 1) * rec.duration  # [s] of a typical step
    steps = (share > 0.2) & (length < 0.1) & (np.abs(np.diff(rec.target, axis=0)) > 0).any(axis=0)
    if steps.any() and not rec.command_hold:
        worst = int(np.argmax(share * steps))
        yield case.say(
            "warn",
            "command",
            f"the command of {rec.joints[worst]} is a staircase that changes at about "
            f"{rec.rate / (1 + _usual(mask[:, worst])):.0f} Hz, but between stamps it would be interpolated.",
            "say that the drive holds it: --hold (in Python: recording.replace(command_hold=True)).",
            case.names(steps),
        )


def offset(case: Case) -> Iterator[Finding]:
    """Do command and measurement share one clock?"""
    found = [r for r in responses(case) if r is not None and r.explained > 0.6]
    if not found:
        return
    delay = float(np.median([r.delay for r in found]))
    if delay < min(HEALTHY_DELAY[0], -1.5 * case.dt):
        yield case.say(
            "stop",
            "time offset",
            f"the joints answer {-1e3 * delay:.1f} ms BEFORE the command (median of {len(found)} joints): command and "
            "measurement were stamped by different clocks, or one column is shifted.",
            "log both in one loop with one clock; a known constant offset can be removed by shifting the target column.",
        )
    elif delay > HEALTHY_DELAY[1]:
        yield case.say(
            "warn",
            "time offset",
            f"the joints answer {1e3 * delay:.0f} ms after the command (median of {len(found)} joints), which no "
            "healthy drive does: the stamps of command and measurement are probably offset.",
            "log both in one loop with one clock. If it is real, raise the bound of the delay: --bound delay=0,0.2.",
        )
    else:
        yield case.say("ok", "time offset", f"the joints answer about {1e3 * delay:.0f} ms after the command.")


def _runs(mask: Flags) -> NDArray[np.intp]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return edges[1::2] - edges[::2]


def _longest(mask: Flags) -> int:
    return int(_runs(mask).max(initial=0))


def _usual(mask: Flags) -> float:
    return float(np.median(_runs(mask))) if mask.any() else 0.0
