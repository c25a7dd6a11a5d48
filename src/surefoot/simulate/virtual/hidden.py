"""A hidden machine: a bundled robot whose drives, command path, battery and stand are drawn by a seed."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.drive import gear_ratio
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.virtual.battery import Battery
from surefoot.simulate.virtual.body import Body, Stand, can_move
from surefoot.simulate.virtual.drives import Drives
from surefoot.simulate.virtual.path import Path
from surefoot.simulate.virtual.ringing import quieted

Array = np.ndarray
TIMESTEP = 5e-4  # of the links [s]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Everything about a virtual robot that its user does not see."""

    robot: str
    seed: int
    drives: Drives
    path: Path
    battery: Battery
    stand: Stand | None  # None: the base can only be fixed

    def equivalent(self, robot: Robot, period: float) -> JointDynamics:
        """The joint dynamics that come nearest to this machine at the robot's posture.

        Delay: of the path, and what the current loop takes, dead time + 1/ω_c with ω_c = K_p / L. There is no exact value: the
        machine has more to it than 4n+1 numbers. `period` is that of the commands.
        Armature: rotor, virtual inertia, and (k r)² / K_i for the back-EMF that is not fed forward.
        """
        d = self.drives
        loop = d.dead_time + float(np.mean(d.inductance / d.current_gain))
        mean_wait = self.path.delay + self.path.jitter + self.path.loss * period
        aid = float(d.compensation)
        late = (1 - d.emf_aid) * (d.torque_constant * d.ratio(robot.posture)) ** 2 / np.maximum(d.current_integral, 1e-9)
        return JointDynamics(
            joints=d.joints,
            armature=d.reflected_inertia(robot.posture) + aid * d.virtual_inertia + late,
            damping=d.damping,
            friction=np.maximum(d.friction - aid * d.friction_aid, 0.0),
            bias=d.bias,
            delay=np.array([mean_wait + loop]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        battery = {k: None if v == math.inf else v for k, v in asdict(self.battery).items()}
        return {
            "robot": self.robot, "seed": self.seed, "drives": self.drives.to_dict(), "path": asdict(self.path),
            "battery": battery, "stand": None if self.stand is None else asdict(self.stand),
        }  # fmt: skip

    def reveal(self, path: File, robot: Robot, period: float) -> File:
        """Write the truth as JSON, with the joint dynamics that come nearest to it."""
        content = self.to_dict() | {"nearest_joint_dynamics": self.equivalent(robot, period).to_dict()}
        try:
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise SurefootError(f"cannot write {path}: {error.strerror or error}.") from None
        return path


def hidden_machine(robot: Robot, seed: int) -> Machine:
    """Draw a machine around a robot with published joint dynamics; the same seed gives the same machine."""
    if seed < 0:
        raise SurefootError(f"the seed of the virtual robot is {seed}; expected a whole number >= 0, for example virtual:7.")
    known = robot.dynamics
    if known is None:
        raise SurefootError(
            f"{robot.name} has no joint dynamics to draw a virtual robot around; add [dynamics] to its robot.toml, or use a "
            "bundled robot: anymal, tytan, minimal."
        )
    _require(robot)
    rng = np.random.default_rng([seed, 20])  # apart from other uses of the same seed
    draw = lambda low, high: rng.uniform(low, high, robot.n)  # noqa: E731
    link = Body(robot, "fixed", timestep=TIMESTEP).link_inertia()
    motor = _motor(robot)
    p, r = robot.stiffness, gear_ratio(robot, robot.posture)
    r = np.where(np.isnan(r), 1.0, r)
    armature = known.armature * draw(0.7, 1.4)
    constant, resistance = motor["constant"] * draw(0.95, 1.05), motor["resistance"] * draw(0.9, 1.2)
    bandwidth = 2 * np.pi * draw(120, 250)  # of the current loop [rad/s]
    inductance = resistance / (2 * np.pi * draw(200, 400))
    gravity_scale = np.maximum(known.friction, 0.002 * np.where(np.isfinite(motor["limit"]), motor["limit"], p))
    free = robot.n > 1 and bool((link > 1e-6).all())  # a bench drive is rigid; legs have soft transmissions
    spring = np.where(free, p * draw(30, 80), np.inf)
    stiff = np.where(free, spring, 0.0)
    drives = Drives(
        joints=robot.joints,
        torque_constant=constant, resistance=resistance, inductance=inductance,
        rotor_inertia=armature / r**2,
        gear_ratio=np.where(np.isnan(robot.gear_ratio), 1.0, robot.gear_ratio), gear_position=robot.gear_position,
        current_gain=inductance * bandwidth, current_integral=resistance * bandwidth,
        current_limit=motor["limit"] / (motor["constant"] * np.where(robot.geared, 1.0, r)),
        blanking=0.01 * motor["voltage"] * draw(0.5, 1.5), emf_aid=draw(0.9, 1.0), belief=draw(0.98, 1.02),
        damping=(known.damping + 0.02 * robot.damping) * draw(0.7, 1.4),
        friction=known.friction * draw(0.6, 1.6), load_friction=draw(0.005, 0.03),
        breakaway=gravity_scale * draw(0.1, 0.4), stribeck_speed=draw(0.03, 0.1),
        cogging=gravity_scale * draw(0.02, 0.1), cogging_lobes=np.rint(draw(60, 200)), cogging_phase=draw(0, 2 * np.pi),
        spring=spring, damper=2 * draw(0.05, 0.1) * np.sqrt(stiff * armature * link / (armature + link)),
        backlash=free * draw(0, 1e-3),
        bias=draw(-0.02, 0.02), resolution=np.full(robot.n, 2 * np.pi / 2 ** rng.integers(15, 18)), velocity_cutoff=draw(60, 120),
        compensation=bool(rng.random() < 0.5), virtual_inertia=armature * draw(0.05, 0.2),
        friction_aid=known.friction * draw(0.1, 0.4), cogging_aid=draw(0.3, 0.8), compensation_cutoff=draw(40, 80),
        dead_time=5e-5 * rng.integers(2, 6),
    )  # fmt: skip
    drives = quieted(drives, link, p, robot.damping, TIMESTEP)
    delay = float(known.delay.mean())
    path = Path(delay=float(rng.uniform(0.6, 1.4)) * (delay or 0.002), jitter=float(rng.uniform(1e-4, 5e-4)),
                loss=float(rng.uniform(0.5e-3, 2e-3)), log_loss=float(rng.uniform(0.5e-3, 2e-3)))  # fmt: skip
    voltage = float(np.max(motor["voltage"]))
    regain = robot.motor["regeneration"]
    strength = float(voltage * np.sum(voltage / resistance))  # power of all motors at stall [W]
    charge = 17.2 * robot.mass if np.isfinite(robot.mass) else np.inf  # ANYmal's 907 Wh on 52.8 kg
    battery = Battery(voltage=voltage, resistance=float(rng.uniform(0.1, 0.3)) * voltage**2 / strength, droop=0.15,
                      capacity=robot.battery.get("capacity", charge), **_standby(robot, seed),
                      regeneration=float(np.nanmean(regain)) if np.isfinite(regain).any() else 0.0)  # fmt: skip
    stand = Stand(sway=float(rng.uniform(10, 18)), rock=float(rng.uniform(10, 18)), damping=float(rng.uniform(0.03, 0.1)))
    return Machine(robot=robot.source, seed=seed, drives=drives, path=path, battery=battery,
                   stand=stand if can_move(robot) else None)  # fmt: skip


def _standby(robot: Robot, seed: int) -> dict[str, float]:
    """What electronics and idle inverters of this machine draw [W], around what is known of its kind; nothing if nothing is."""
    off = robot.battery.get("off", 0.0)
    off_draw, rest_draw = np.random.default_rng([seed, 22]).uniform(0.95, 1.05, 2)
    return {"idle": off * off_draw, "switching": (robot.battery.get("rest", off) - off) * rest_draw}


def _require(robot: Robot) -> None:
    """A motor can be drawn only around a known one."""
    for name in ("stiffness", "damping", "torque_limit", "stall_torque", "no_load_speed"):
        for j in np.flatnonzero(~np.isfinite(getattr(robot, name))):
            raise SurefootError(
                f"a virtual robot needs {name} of every joint, and {robot.name} has none for {robot.joints[j]}; add it under "
                f"[[joint]] in its robot.toml."
            )
    for j in np.flatnonzero(np.isnan(robot.motor["bus_voltage"])):
        raise SurefootError(f"a virtual robot needs motor.bus_voltage; {robot.name} has none for {robot.joints[j]}. Add it under "
                            "[[joint]] in its robot.toml.")  # fmt: skip


def _motor(robot: Robot) -> dict[str, Array]:
    """Constant, resistance, bus voltage and torque limit (both of the motor where there is a gear table, else of the joint).

    Where a robot does not disclose its motor, the torque-speed envelope says what the joint sees: k = u / ω₀, R = k u / τ_stall.
    """
    u = robot.motor["bus_voltage"]
    r = np.where(np.isnan(robot.motor["gear_ratio"]) | robot.geared, 1.0, robot.motor["gear_ratio"])
    seen = u / (robot.no_load_speed * r)
    constant = np.where(np.isnan(robot.motor["k_i"]), seen, robot.motor["k_i"])
    stalled = constant * u * r / robot.stall_torque
    resistance = np.where(np.isnan(robot.motor["resistance"]), stalled, robot.motor["resistance"])
    return {"constant": constant, "resistance": resistance, "voltage": u, "limit": robot.torque_limit}
