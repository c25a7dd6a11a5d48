"""A policy in command of a robot: one step per state of the machine, the network once per period. Never torch."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from surefoot.deploy.estimator import Estimator
from surefoot.deploy.observation import observe
from surefoot.deploy.policy import Policy
from surefoot.deploy.watchdog import Bounds, Watchdog
from surefoot.record.run import Phase
from surefoot.robot.drive import safe_target
from surefoot.robot.dynamics import Array
from surefoot.robot.hardware import State
from surefoot.robot.spec import Robot


@dataclass(frozen=True, kw_only=True)
class Ramps:
    """How a walk begins and ends. A robot on low gains may fall over in its posture, so the policy takes over at once."""

    rise: float = 0.2  # from where the joints are to the policy's posture along a half cosine, at least [s] ...
    speed: float = 1.0  # ... and no faster than this [rad/s]
    settle: float = 0.5  # then the policy on the spot, with a command of zero [s]
    halt: float = 1.0  # at the end likewise [s]
    stand: float = 0.5  # from the policy's last target back to its posture [s]


class Controller:
    """Targets for the drives from states of the machine.

        controller = Controller(robot, policy, Estimator(Feet(robot)))
        while controller.phase != Phase.DAMPED:
            state = hardware.read()
            hardware.write(Command(target=controller.step(state, command)))

    `step` belongs in the loop of the drives (400 Hz or more): it estimates, watches, and saturates the targets at every state,
    and asks the network when its period has passed. Whatever the watchdog sees ends in `Tripped`; then damp the machine.
    Its buffers are made once.
    """

    def __init__(
        self, robot: Robot, policy: Policy, estimator: Estimator, *, bounds: Bounds | None = None, ramps: Ramps | None = None
    ) -> None:  # fmt: skip
        """`robot` must be the one of the training; its joint limits are taken from the policy."""
        spec = policy.spec
        spec.check(robot)
        self.robot = robot.replace(lower=spec.lower, upper=spec.upper, soft_band=spec.soft_band)
        self.policy, self.estimator, self.ramps = policy, estimator, ramps or Ramps()
        self.watchdog = Watchdog(robot, bounds or Bounds(), spec.command_low, spec.command_high)
        self.phase = Phase.RISING
        self.command = np.zeros(3)  # within the trained range: v̂_x, v̂_y [m/s], ω̂ [rad/s]
        self.cut = False  # whether a command was ever cut to that range
        self.action = np.zeros(robot.n, dtype=np.float32)  # a, the network's last
        self.took, self.asked = 0.0, False  # how long the last step took [s], and whether it asked the network
        self._wish = np.array(spec.posture)  # before the saturation at the limits [rad]
        self._from = np.array(spec.posture)  # where a way to the posture begins [rad]
        self._begun, self._due = -1.0, -1.0  # of the phase, of the network; by the machine's clock [s]; -1: not yet
        self._rise = self.ramps.rise  # how long this rise takes [s]
        self._seen = np.zeros(len(spec.observation), dtype=np.float32)
        self._network = policy.between(self._seen, self.action)

    def step(self, state: State, command: Array) -> Array:
        """Targets û [rad], shape (n,), upon a state; `command` is v̂_x, v̂_y [m/s], ω̂ [rad/s]."""
        begin = time.perf_counter()
        self.watchdog.state(state)
        self._obey(command)
        self.estimator.update(state)
        self.watchdog.base(self.estimator.gravity)
        self.asked = False
        self._advance(state)
        target = safe_target(self.robot, self._wish, state.position)
        self.watchdog.target(target, state)
        self.took = time.perf_counter() - begin
        return target

    def stop(self) -> None:
        """Come to a stand, and then to the end: `phase` becomes DAMPED by itself."""
        if self.phase in (Phase.RISING, Phase.WALKING):
            self._enter(Phase.HALTING if self.phase == Phase.WALKING else Phase.STANDING)

    # --- phases ---------------------------------------------------------------------------------------------------------------
    def _enter(self, phase: Phase) -> None:
        self.phase, self._begun = phase, -1.0
        self._from[:] = self._wish

    def _advance(self, state: State) -> None:
        """What the phase asks for, and the next phase when it is over."""
        ramps, now = self.ramps, state.time
        if self._begun < 0:
            self._begun = now
            if self.phase == Phase.RISING:
                self._from[:] = state.position
                way = float(np.abs(self.policy.spec.posture - state.position).max())
                self._rise = max(ramps.rise, 0.5 * np.pi * way / ramps.speed)
        since = now - self._begun
        if self.phase == Phase.RISING:
            if since < self._rise:
                self._approach(since / self._rise)
                return
            self.command[:] = 0.0
            self._walk(state)
            if since >= self._rise + ramps.settle:
                self._enter(Phase.WALKING)
        elif self.phase == Phase.WALKING:
            self._walk(state)
        elif self.phase == Phase.HALTING:
            self.command[:] = 0.0
            self._walk(state)
            if since >= ramps.halt:
                self._enter(Phase.STANDING)
        elif self.phase == Phase.STANDING:
            self._approach(since / ramps.stand)
            if since >= ramps.stand:
                self._enter(Phase.DAMPED)

    def _approach(self, share: float) -> None:
        """From where the phase began to the posture, along a half cosine."""
        way = 0.5 - 0.5 * np.cos(np.pi * min(share, 1.0))
        self._wish[:] = self._from + way * (self.policy.spec.posture - self._from)

    def _walk(self, state: State) -> None:
        """The network, when it is due: û = q_0 + scale · a."""
        if self._due < 0:
            self._due = state.time
        if state.time < self._due - 1e-9:
            return
        spec, base = self.policy.spec, self.estimator
        self._due += spec.period
        if self._due <= state.time:  # states were lost: go on from here
            self._due = state.time + spec.period
        observe(
            linear_velocity=base.linear, angular_velocity=base.angular, gravity=base.gravity, command=self.command,
            position=state.position, velocity=state.velocity, action=self.action, posture=spec.posture, out=self._seen,
        )  # fmt: skip
        self._network()
        self.asked = True
        self._wish[:] = self.policy.target(self.action)

    def _obey(self, command: Array) -> None:
        """The command within the trained range."""
        self.watchdog.command(command)
        spec = self.policy.spec
        np.clip(command, spec.command_low, spec.command_high, out=self.command)
        self.cut = self.cut or bool((self.command != command).any())
