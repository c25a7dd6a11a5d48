"""A virtual robot behind the border that real ones stand behind: `surefoot.robot.hardware.Hardware`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.hardware import Command, State
from surefoot.robot.spec import Robot
from surefoot.simulate.terrain import Terrain
from surefoot.simulate.virtual.battery import Bus
from surefoot.simulate.virtual.body import Body, Place
from surefoot.simulate.virtual.drives import Motors
from surefoot.simulate.virtual.engine import Engine
from surefoot.simulate.virtual.hidden import TIMESTEP, Machine, hidden_machine
from surefoot.simulate.virtual.ledger import Ledger
from surefoot.simulate.virtual.path import Wire

Array = np.ndarray
IMU_NOISE = {"imu_angular_velocity": 2e-3, "imu_acceleration": 2e-2}  # [rad/s], [m/s²]


class VirtualHardware:
    """A hidden machine at work. Time is its own: `read` advances it by one period, as fast as it can.

    It wakes up damped, its windings shorted, joints at the robot's posture. Gains arm it; `damp` disarms it.
    """

    def __init__(
        self, robot: Robot, machine: Machine | int, *, place: Place | None = None, period: float = 0.0025,
        timestep: float = TIMESTEP, engine: Engine = "kernel", terrain: Terrain | None = None,
    ) -> None:  # fmt: skip
        """A machine, or the seed that draws one; on its stand unless a place is given (fixed where its base cannot move)."""
        machine = machine if isinstance(machine, Machine) else hidden_machine(robot, machine)
        place = place or ("stand" if machine.stand else "fixed")
        self.robot, self.machine, self.period = robot, machine, period
        self.joints = robot.joints
        drives = machine.drives
        self._turns = max(1, round(period / timestep))  # of the links in one period
        step = period / self._turns
        self._steps = max(1, round(step / drives.step))  # of the electrics in one of those
        if abs(self._steps * drives.step - step) > 1e-9 * step:
            raise SurefootError(
                f"a period of {period:g} s is not a whole number of electrical steps of {drives.step:g} s; give a rate such as "
                "400 Hz, 1000 Hz or 10000 Hz."
            )
        self._step = step
        self.body = Body(robot, place, timestep=step, stand=machine.stand, terrain=terrain)
        self.motors = Motors(drives, self.body.position, engine)
        self.body.weigh(self.motors.armature())
        self.bus = Bus(machine.battery)
        self.ledger: Ledger | None = None
        self._wire = Wire(machine.path, seed=machine.seed)
        self._noise = np.random.default_rng([machine.seed, 21])
        self._rigid_damping = np.where(drives.elastic, 0.0, drives.damping)
        self._elapsed, self._armed = 0, False
        self._gains: tuple[Array, Array] = (np.zeros(robot.n), np.zeros(robot.n))
        self._mean_power = np.zeros(robot.n)
        self._mean_torque = np.zeros(robot.n)

    # --- the border ---------------------------------------------------------------------------------------------------------
    def set_gains(self, stiffness: Array, damping: Array) -> None:
        """Gains of the drives from now on: P [N·m/rad] and D [N·m·s/rad], shape (n,); arms the drives."""
        self._gains = (np.array(stiffness, float), np.array(damping, float))
        for name, gain in zip(("stiffness", "damping"), self._gains, strict=True):
            if gain.shape != (self.robot.n,) or not (np.isfinite(gain) & (gain >= 0)).all():
                raise SurefootError(f"{name} must be {self.robot.n} numbers >= 0, one per joint; got {gain.tolist()}.")
        self._armed = True

    def read(self) -> State:
        """One period later; a state that is lost on its way is never seen, the next one is."""
        while True:
            self._advance()
            if not self._wire.state_lost():
                return self._state()

    def write(self, command: Command) -> None:
        """Send a command; it arrives when it arrives."""
        for name in ("target", "target_velocity", "feedforward"):
            value = getattr(command, name)
            if value is not None and (np.shape(value) != (self.robot.n,) or not np.isfinite(value).all()):
                raise SurefootError(f"{name} must be {self.robot.n} finite numbers, one per joint, in the order of the robot.")
        self._wire.send(command, self.time)

    def damp(self) -> None:
        """Short the windings: each motor brakes with k² r² / R and holds nothing."""
        self._armed = False
        self._wire.clear()
        self.motors.command(target=0.0, stiffness=0.0, damping=0.0, on=False)

    def close(self) -> None:
        """Leave it damped."""
        self.damp()

    # --- what only the inventor of the robot knows ----------------------------------------------------------------------------
    @property
    def time(self) -> float:
        """The machine's clock [s]."""
        return self._elapsed * self._step

    def truth(self) -> dict[str, Array]:
        """True joint motion, base motion and contacts of the feet, for evaluation.

        `joint_position`, `joint_velocity`, those of `Body.base`, and `contact`, 0 or 1 for each of `body.feet`.
        """
        moving = {"joint_position": self.body.position, "joint_velocity": self.body.velocity, **self.body.base()}
        if self.body.place == "ground":
            touching = set(self.body.contacts())
            moving["contact"] = np.array([float(foot in touching) for foot in self.body.feet])
        return moving

    def sag(self, share: float) -> None:
        """From now on the battery has only a share of its voltage: a fault, on purpose."""
        self.bus.battery = dataclasses.replace(self.machine.battery, voltage=share * self.machine.battery.voltage)

    def keep_accounts(self) -> Ledger:
        """Book from now on where every joule goes; costs a little time."""
        self.ledger = Ledger(self)
        return self.ledger

    # --- one period -----------------------------------------------------------------------------------------------------------
    def _advance(self) -> None:
        power, torque = np.zeros(self.robot.n), np.zeros(self.robot.n)
        body, motors = self.body, self.motors
        for _ in range(self._turns):
            if self._armed and (command := self._wire.arrived(self.time)) is not None:
                self._obey(command)
            position, velocity = body.position, body.velocity
            push = motors.advance(position, velocity, self.bus.voltage, self._steps)
            drawn = motors.power()
            self.bus.draw(float(drawn.sum()), self._step, self._armed)
            if self.ledger is not None:
                self.ledger.note(push, velocity, self._step, self._armed)
            body.step(
                push + motors.gear_torque(position, velocity), armature=motors.armature(), damping=self._rigid_damping,
                friction=motors.rigid_friction(velocity),
            )  # fmt: skip
            self._elapsed += 1
            power += drawn
            torque += motors.motor_torque()
        self._mean_power, self._mean_torque = power / self._turns, torque / self._turns

    def _obey(self, command: Command) -> None:
        zero = np.zeros(self.robot.n)
        p, d = self._gains
        self.motors.command(
            target=command.target, stiffness=p, damping=d,
            target_velocity=zero if command.target_velocity is None else command.target_velocity,
            feedforward=zero if command.feedforward is None else command.feedforward,
        )  # fmt: skip

    def _state(self) -> State:
        motors = self.motors
        motors.block.now("link")[:] = self.body.position
        feel: dict[str, Any] = self.body.imu()
        noisy = {name: value + IMU_NOISE[name] * self._noise.standard_normal(3) for name, value in feel.items()}
        more = {
            "current": motors.current().copy(), "power": self._mean_power,
            "bus_voltage": np.array([self.bus.voltage]), "battery_power": np.array([self.bus.power]),
            "charge": np.array([self.bus.charge]), **noisy,
        }  # fmt: skip
        believed = self._mean_torque * self.machine.drives.belief
        return State(time=self.time, position=motors.reading(), velocity=motors.velocity().copy(), torque=believed, more=more)
