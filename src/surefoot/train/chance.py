"""What is random about the task: commands, starts, pushes, the ground's friction. Joint dynamics are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.simulate.frames import to_base
from surefoot.simulate.world import Start

if TYPE_CHECKING:
    from surefoot.simulate.world import World
    from surefoot.train.settings import TaskSettings

Array = np.ndarray


class Chance:
    """One random generator, and everything that it draws for N robots."""

    def __init__(self, settings: TaskSettings, world: World, seed: int) -> None:
        self.settings, self.world = settings, world
        self.rng = np.random.default_rng(seed)
        self.command = np.zeros((world.robots, 3))
        self.pushed = np.zeros(world.robots)  # control steps that a push still lasts

    def renew(self, which: Array) -> None:
        """New command and new ground for robots that start; whatever pushed them is gone."""
        self.command[which] = self._commands(len(which))
        self.world.friction[which] = self.rng.uniform(*self.settings.friction, len(which))
        self.world.wrench[which] = 0.0
        self.pushed[which] = 0

    def command_anew(self, age: Array) -> None:
        """A new command for robots that have followed theirs long enough."""
        if np.isinf(self.settings.resample):
            return
        every = round(self.settings.resample / self.settings.period)
        which = np.flatnonzero((age > 0) & (age % every == 0))
        self.command[which] = self._commands(len(which))

    def _commands(self, count: int) -> Array:
        drawn = self.rng.uniform(self.settings.command_low, self.settings.command_high, (count, 3))
        drawn[self.rng.random(count) < self.settings.still] = 0.0
        return drawn

    def push(self) -> None:
        """Begin and end pushes: a level force F = m Δv / T on the base for T seconds, that is, a free robot would gain Δv."""
        s = self.settings
        if s.push_speed == 0:
            return
        ended = self.pushed == 1
        self.pushed = np.maximum(self.pushed - 1, 0)
        self.world.wrench[ended] = 0.0
        begun = np.flatnonzero((self.pushed == 0) & (self.rng.random(len(self.pushed)) < s.period / s.push_every))
        force = self.world.mass / s.push_length * self.rng.uniform(-s.push_speed, s.push_speed, (len(begun), 2))
        self.world.wrench[begun, :2] = force
        self.pushed[begun] = max(1, round(s.push_length / s.period))

    def wrench(self, quaternion: Array) -> Array:
        """Force [N] and moment [N·m] that push each base, in its own axes, shape (N, 6)."""
        return np.concatenate([to_base(quaternion, part) for part in np.split(self.world.wrench, 2, axis=1)], axis=-1)

    def start(self, which: Array, origin: Array, posture: Array) -> Start:
        """Standing at an origin on the ground, shape (k, 3), turned anywhere, near the posture, hardly moving."""
        s, k, uniform = self.settings, len(which), self.rng.uniform
        half = uniform(-np.pi, np.pi, k) / 2
        quaternion = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)
        return Start(
            position=origin + np.array([0.0, 0.0, self.world.stand_height]),
            quaternion=quaternion,
            joint_position=posture + uniform(-s.posture_noise, s.posture_noise, (k, len(posture))),
            velocity=uniform(-s.velocity_noise, s.velocity_noise, (k, 3)),
            rate=uniform(-s.velocity_noise, s.velocity_noise, (k, 3)),
        )

    def state_dict(self) -> dict[str, Any]:
        """The generator, and what it has drawn that still holds."""
        return {
            "rng": self.rng.bit_generator.state, "command": self.command, "pushed": self.pushed,
            "friction": self.world.friction, "wrench": self.world.wrench,
        }  # fmt: skip

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.rng.bit_generator.state = kept["rng"]
        self.command, self.pushed = kept["command"].copy(), kept["pushed"].copy()
        self.world.friction[:], self.world.wrench[:] = kept["friction"], kept["wrench"]
