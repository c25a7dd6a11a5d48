"""What a check has to say, and the view of a recording that every detector shares."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import signal

from surefoot.record.held import held_samples, resolution
from surefoot.record.recording import CHANNELS, FLAGS, Recording
from surefoot.record.validation import SHORTEST, Array, Flags
from surefoot.robot.spec import Robot

Level = Literal["stop", "warn", "ok"]
FAST = 1000.0  # [Hz]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One sentence about a recording: "stop" a fit would be wrong, "warn" it would be weaker, "ok" all is well."""

    level: Level
    subject: str  # what was looked at: "rate", "units", "excitation", ...
    message: str  # what was found, with numbers
    remedy: str = ""  # the literal thing to do; empty when all is well
    joint: str = ""  # the joints concerned, separated by ", "; empty: all of them
    recording: str = ""  # its name


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """The identified joints of one recording, in the robot's order, with what several detectors need."""

    robot: Robot
    recording: Recording  # its joints: the identified ones only

    def say(self, level: Level, subject: str, message: str, remedy: str = "", joints: Iterable[str] = ()) -> Finding:
        """A finding about this recording."""
        return Finding(
            level=level,
            subject=subject,
            message=message,
            remedy=remedy,
            joint=", ".join(joints),
            recording=self.recording.name,
        )

    def names(self, mask: Flags) -> list[str]:
        """The joints that a mask of shape (n,) selects."""
        return [joint for joint, hit in zip(self.recording.joints, mask, strict=True) if hit]

    @functools.cached_property
    def columns(self) -> list[int]:
        """Where the recording's joints stand among the robot's."""
        return [self.robot.joints.index(joint) for joint in self.recording.joints]

    def of_robot(self, values: Array) -> Array:
        """A per-joint property of the robot, for the recording's joints."""
        return np.asarray(values)[self.columns]

    @functools.cached_property
    def hinge(self) -> Flags:
        """Which joints turn, shape (n,)."""
        return np.array([self.robot.kinds[k] == "hinge" for k in self.columns])

    @functools.cached_property
    def dt(self) -> float:
        """Median time between samples [s]."""
        return 1.0 / self.recording.rate

    @functools.cached_property
    def grid(self) -> Array:
        """A uniform time axis [s] for spectra and filters; checks only, the fit compares at the measured stamps."""
        t = self.recording.time
        return t[0] + self.dt * np.arange(int((t[-1] - t[0]) / self.dt) + 1)

    def on_grid(self, values: Array) -> Array:
        """A (T, n) channel on the uniform grid."""
        return np.stack([np.interp(self.grid, self.recording.time, column) for column in values.T], axis=1)

    @functools.cached_property
    def target(self) -> Array:
        """Commanded position on the uniform grid [rad]."""
        return self.on_grid(self.recording.target)

    @functools.cached_property
    def position(self) -> Array:
        """Measured position on the uniform grid [rad], interpolated where samples were held."""
        rec = self.recording
        pairs = zip(rec.position.T, ~self.held.T, strict=True)
        return np.stack([np.interp(self.grid, rec.time[fresh], column[fresh]) for column, fresh in pairs], axis=1)

    @functools.cached_property
    def held(self) -> Flags:
        """Which measurements only repeat the one before, shape (T, n)."""
        return held_samples(self.recording)

    @functools.cached_property
    def resolution(self) -> Array:
        """Encoder step per joint [rad], shape (n,); tiny when nothing is quantised."""
        return np.array([resolution(column) for column in self.recording.position.T])

    @functools.cached_property
    def excited(self) -> Flags:
        """Which joints were commanded to move, shape (n,)."""
        commanded = [self.recording.target, self.recording.target_velocity, self.recording.feedforward]
        return np.any([np.ptp(c, axis=0) > 1e-6 for c in commanded if c is not None], axis=0)

    @functools.cached_property
    def used(self) -> Flags:
        """Which samples were driven and are compared, on the grid, shape (S, n)."""
        out = np.ones(self.target.shape, bool)
        for flags in (self.recording.enabled, self.recording.valid):
            if flags is not None:
                out &= self.on_grid(flags.astype(float)) == 1.0
        return out

    @functools.cached_property
    def top_frequency(self) -> Array:
        """Frequency below which 95 % of each joint's motion (its speed) lies [Hz], shape (n,); noise is left out."""
        f, power = signal.welch(self.position, 1.0 / self.dt, nperseg=min(len(self.grid), int(4.0 / self.dt)), axis=0)
        floor = 10.0 * np.median(power[3 * len(f) // 4 :], axis=0)
        above = np.sqrt(np.cumsum(power[::-1], axis=0)[::-1] * f[1])  # rms of what is faster [rad]
        heard = (power > floor) & (above > 0.5 * self.resolution)  # the steps of the encoder alone make 0.29
        share = np.cumsum(np.where(heard, power, 0.0) * f[:, None] ** 2, axis=0)
        return np.array([f[np.searchsorted(s, 0.95 * s[-1])] if s[-1] > 0 else 0.0 for s in share.T])

    def thinned(self) -> Case:
        """The same at 1 to 2 kHz, when it was logged faster: no joint moves in less, and spectra become cheap."""
        return self if self.recording.rate < 2.0 * FAST else self._thin

    @functools.cached_property
    def _thin(self) -> Case:
        rec, every = self.recording, int(self.recording.rate / FAST)
        keys = ("time", *CHANNELS, *FLAGS)
        series = {key: value[::every] for key in keys if (value := getattr(rec, key)) is not None}
        if not np.any(series.get("valid", True)) or len(series["time"]) < SHORTEST:
            return self
        return Case(robot=self.robot, recording=rec.replace(**series))

    def low_pass(self, values: Array, frequency: float) -> Array:
        """Zero-phase low-pass of a gridded channel; frequency [Hz]."""
        nyquist = 0.5 / self.dt
        sos = signal.butter(2, min(frequency, 0.9 * nyquist) / nyquist, output="sos")
        return np.asarray(signal.sosfiltfilt(sos, values, axis=0, padlen=min(len(values) - 1, int(nyquist))))

    @functools.cached_property
    def velocity(self) -> Array:
        """Smoothed joint velocity on the grid [rad/s], shape (S, n)."""
        smooth = self.low_pass(self.position, float(np.clip(3.0 * self.top_frequency.max(), 5.0, 40.0)))
        return np.gradient(smooth, self.dt, axis=0)
