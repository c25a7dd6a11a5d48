"""The page of a recording while the robot still moves: fits of what is on disk so far, until their intervals are narrow enough.

It runs in a process of its own, at the lowest priority, and reads the recorder's journal: the recorder does not know of it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.answer import scales
from surefoot.identify.fit import Fit
from surefoot.identify.identify import identify
from surefoot.record.journal import recover
from surefoot.record.recording import Recording
from surefoot.record.targets import Targets
from surefoot.report.fit import fit_content
from surefoot.report.live import LiveServer, live_content
from surefoot.report.page import plain
from surefoot.report.preview import preview
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_inertia
from surefoot.simulate.physics import Physics
from surefoot.simulate.rehearsal import at_rest

ENOUGH = 0.02  # half an interval over what its parameter is a part of, at which a recording is long enough [-]
JUDGED = ("armature", "damping", "friction", "delay")  # a bias that no motion shows would hold a recording up for ever
SHORTEST = 2.0  # [s] of motion before the first fit
PAUSE, IDLE = 1.0, 4.0  # between two fits at least [s], and in durations of the last one: the robot's loop comes first
LOWEST = 19  # priority; the higher the number, the later its turn


@dataclass(frozen=True, kw_only=True)
class Widest:
    """The parameter of one kind whose interval is the widest, relative to what it is a part of."""

    name: str
    joint: str  # "" for one that the joints share
    share: float  # half the 95 % interval over that whole [-]


def widest(fit: Fit, robot: Robot, recording: Recording) -> tuple[Widest, ...]:
    """One of each kind in `JUDGED`. Wholes: the joint's inertia, D + d, the largest torque asked for, 5 ms."""
    whole = scales(robot, [recording.ordered_for(fit.joints)], fit.dynamics, link_inertia(robot, fit.joints))
    found = []
    for name in (name for name in JUDGED if name in fit.parameters):
        low, high = getattr(fit.low, name), getattr(fit.high, name)
        share = np.where(np.array(fit.flags[name]) == "fixed", 0.0, 0.5 * (high - low) / whole[name])
        k = int(np.argmax(share))
        found.append(Widest(name=name, joint=fit.joints[k] if len(share) == len(fit.joints) > 1 else "", share=float(share[k])))
    return tuple(found)


@dataclass
class Judge:
    """Says when it is enough: the intervals of two fits in a row are narrow."""

    enough: float = ENOUGH
    narrow: int = 0  # fits in a row

    def hear(self, found: tuple[Widest, ...], seconds: float) -> tuple[bool, str]:
        """Whether to stop, and the sentence for it, after so many recorded seconds."""
        worst = max(found, key=lambda one: one.share)
        self.narrow = self.narrow + 1 if worst.share <= self.enough else 0
        what = f"{worst.name} of {worst.joint}" if worst.joint else worst.name
        known = f"after {seconds:.1f} s the widest interval is that of the {what}, ± {100 * worst.share:.2g} %"
        goal = f"{100 * self.enough:.2g} %"
        if self.narrow >= 2:
            return True, f"Good enough: {known}, and {goal} were asked for. Stop when you like (Ctrl-C keeps what is recorded)."
        if self.narrow:
            return False, f"Nearly there: {known}, within the {goal} asked for; one more fit must say so."
        return False, f"Go on: {known}; {goal} are asked for."


def follow(robot: str, targets: Path, journal: Path, port: int, enough: float | None, pipe: Connection) -> None:
    """Serve the page until the pipe says how the recording ended: a file to show, or None.

    Through the pipe come, in this order: the page's address or an error's sentence, "ready", and the last sentence.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the recorder
    with contextlib.suppress(OSError):
        os.nice(LOWEST)
    enough = ENOUGH if enough is None else enough
    try:
        machine, motion = Robot.load(robot), Targets.load(targets)
        motion = motion.ordered_for(machine.joints)
        content = live_content(machine, motion.joints, [*JUDGED[:3], "bias", "delay"]) | {
            "kind": "recording", "title": f"{machine.name}: recording", "duration": motion.duration, "enough": enough,
            "judged": list(JUDGED), "verdict": {"colour": "grey", "text": f"{machine.name} has not moved yet."},
        }  # fmt: skip
        server = LiveServer(content, port)
    except SurefootError as error:
        pipe.send(error)
        return
    with server as live:
        pipe.send(live.url)
        _warm(machine, motion)
        pipe.send("ready")
        sentence = ""
        try:
            sentence = _watch(machine, journal, live, Judge(enough), pipe)
        except EOFError:  # the recorder died
            live.fail("The recorder is gone; surefoot recover makes a recording of its journal.")
        with contextlib.suppress(OSError):
            pipe.send(sentence)


def _warm(robot: Robot, motion: Targets) -> None:
    """Compile what a fit needs before the robot moves: one step on a robot that does not."""
    with contextlib.suppress(SurefootError):
        identify(robot, at_rest(motion), method="least-squares", max_iterations=1)


def _watch(robot: Robot, journal: Path, live: LiveServer, judge: Judge, pipe: Connection) -> str:
    """Fit again and again until the recording has ended; the last sentence."""
    sentence, pause, seen, since = "", PAUSE, 0.0, time.time()
    while not pipe.poll(pause):
        with contextlib.suppress(SurefootError, FileNotFoundError):  # too short yet, or no fit of it
            if journal.stat().st_mtime < since:
                continue  # an earlier recording left it behind
            recording = recover(journal)
            if recording.duration < max(SHORTEST, seen + 0.5 * PAUSE):
                continue
            began, seen = time.monotonic(), recording.duration
            fit = identify(robot, recording, method="least-squares")
            found = widest(fit, robot, recording)
            good, sentence = judge.hear(found, seen)
            live.publish("fit", _told(fit, found, seen, good, sentence))
            live.publish("motion", preview(robot, recording, Physics(), "auto")(fit.dynamics))
            pause = max(PAUSE, IDLE * (time.monotonic() - began))
    ended = pipe.recv()
    if ended is None:
        live.fail("The recording ended without a file.")
        return sentence
    try:
        live.finish(fit_content(identify(robot, Recording.load(ended)), robot))
    except SurefootError as error:
        live.fail(str(error))
        return str(error)
    return sentence


def _told(fit: Fit, found: tuple[Widest, ...], seconds: float, good: bool, sentence: str) -> dict[str, Any]:
    """One fit as an event of the page."""
    names = [name for name in fit.parameters if name != "tilt"]
    of = lambda dynamics: {name: plain(getattr(dynamics, name)) for name in names}  # noqa: E731
    return {
        "seconds": plain(seconds), "share": {one.name: plain(one.share) for one in found}, "good": good, "sentence": sentence,
        "values": of(fit.dynamics), "low": of(fit.low), "high": of(fit.high), "flags": {n: list(fit.flags[n]) for n in names},
    }  # fmt: skip
