"""The bench: one Tytan hip drive on a frame, its shaft vertical, five loads, three gain sets, two firmware modes.

Numbers are the paper's where it gives them; the comment says so where they are ours. The drive is virtual hardware, and has
more to it than the fitted model: a current loop, an inverter, friction that falls with speed and grows with load, cogging,
an encoder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot import Recording, Robot, chirp
from surefoot.analyze import DriveInertia, FrequencyResponse, current_transfer, frequency_response, inertia_at_radius
from surefoot.record.recorder import record
from surefoot.record.targets import Targets
from surefoot.robot.hardware import Command
from surefoot.simulate.virtual.battery import Battery
from surefoot.simulate.virtual.drives import Drives
from surefoot.simulate.virtual.hardware import VirtualHardware
from surefoot.simulate.virtual.hidden import Machine
from surefoot.simulate.virtual.path import Path

OUTPUT = DriveInertia(rotor=1.14e-2, sun=0.511e-2, planets=0.00203e-2, shaft=0.00146e-2)
INTERFACE = 8.67e-3  # [kg·m²]
MASS, OWN = 0.503, 1.8e-4  # of the attached mass [kg], about its centre [kg·m²]
GAINS = ((60.0, 2.0), (145.0, 5.0), (250.0, 10.0))  # P [N·m/rad], D [N·m·s/rad]
RATIO, CONSTANT, RESISTANCE, BUS = 5.6, 0.59, 1.04, 48.0
INDUCTANCE = RESISTANCE / (2 * np.pi * 310.0)  # the paper: f∞ = R / (2π L) is about 310 Hz
LOOP = (
    2 * np.pi * 380.0
)  # [rad/s] ours: gives the measured bandwidth of the paper, 346 Hz; the PI zero cancels the winding's pole
VIRTUAL_INERTIA = 8.1e-3  # [kg·m²] the paper's offset with compensation
LINKS = 1e-4  # [s] step of the load's motion
LOG = 4e-4  # [s] the paper's 2.5 kHz
NOTHING = 1e-9  # [kg·m²] link of a drive without a load; MuJoCo wants one
RATE = 1e4  # [Hz] of the current log


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is bolted to the output."""

    name: str
    group: str  # rotor, interface or mass: as the paper groups its errors
    inertia: float  # [kg·m²]
    radius: float | None  # of the mass [m]

    @property
    def total(self) -> float:
        """With the drive's own [kg·m²]."""
        return OUTPUT.total + self.inertia


LOADS = (
    Load(name="no load", group="rotor", inertia=NOTHING, radius=None),
    Load(name="interface", group="interface", inertia=INTERFACE, radius=None),
    *(
        Load(name=f"mass at {100 * r:.1f} cm", group="mass", inertia=INTERFACE + inertia_at_radius(MASS, OWN, r), radius=r)
        for r in (0.159, 0.216, 0.273)
    ),
)


def loaded(load: Load) -> Robot:
    """The bundled drive with another load on its output."""
    flat = load.inertia / 2
    text = (
        "<mujoco model='single_drive'><compiler angle='radian'/><worldbody><body name='load'><joint name='drive' axis='0 0 1'/>"
        f"<inertial pos='0 0 0' mass='1' diaginertia='{flat:.9g} {flat:.9g} {load.inertia:.9g}'/></body></worldbody></mujoco>"
    )
    return Robot.load("single_drive").replace(model=Robot.load(text).model, scene="")


def machine(*, compensation: bool) -> Machine:
    """The drive. Ours: everything about friction, cogging, inverter, encoder and filters."""
    drives = Drives(
        joints=("drive",), torque_constant=CONSTANT, resistance=RESISTANCE, inductance=INDUCTANCE,
        rotor_inertia=OUTPUT.total / RATIO**2, gear_ratio=RATIO, gear_position=[0.0, 1.0],
        current_gain=INDUCTANCE * LOOP, current_integral=RESISTANCE * LOOP, current_limit=32.0, emf_aid=1.0, blanking=0.24,
        damping=0.1, friction=0.3, load_friction=0.01, breakaway=0.1, stribeck_speed=0.08,
        cogging=0.05, cogging_lobes=42 * RATIO, resolution=2 * np.pi / 2**17, velocity_cutoff=1000.0,
        compensation=compensation, virtual_inertia=VIRTUAL_INERTIA, friction_aid=0.15, cogging_aid=0.8,
        compensation_cutoff=200.0, dead_time=5e-5,
    )  # fmt: skip
    battery = Battery(voltage=BUS, regeneration=1.0)  # the paper: a perfect voltage source
    return Machine(robot="single_drive", seed=0, drives=drives, path=Path(), battery=battery, stand=None)


def mechanical(load: Load, gains: tuple[float, float], *, compensation: bool, seconds: float, amplitude: float) -> Recording:
    """The position chirp, 0.1 to 10 Hz, logged at 2.5 kHz."""
    robot = loaded(load)
    motion = chirp(robot, duration=seconds, start_hz=0.1, stop_hz=10.0, amplitude=amplitude, rate=1 / LOG)
    p, d = (np.array([gain]) for gain in gains)
    targets = Targets(joints=robot.joints, time=motion.time, target=motion.target, stiffness=p, damping=d, kind="chirp")
    hardware = VirtualHardware(robot, machine(compensation=compensation), place="fixed", period=LOG, timestep=LINKS)
    return record(hardware, targets, name=f"{load.name} {p[0]:g}/{d[0]:g}")


def current_chirp(*, seconds: float, amplitude: float = 2.0, low: float = 1.0, high: float = 1250.0) -> FrequencyResponse:
    """H_i: a chirp of current [A] into the drive that spins freely, logged at 10 kHz."""
    robot = loaded(LOADS[0])
    hardware = VirtualHardware(robot, machine(compensation=False), place="fixed", period=1 / RATE, timestep=1 / RATE)
    zero = np.zeros(1)
    hardware.set_gains(zero, zero)
    time = np.arange(round(seconds * RATE)) / RATE
    wanted = amplitude * np.sin(2 * np.pi * (low * time + (high - low) / (2 * seconds) * time**2))
    torque, current = CONSTANT * RATIO * wanted, np.zeros_like(time)
    for k, push in enumerate(torque):
        current[k] = hardware.read().more["current"][0]
        hardware.write(Command(target=zero, feedforward=np.array([push])))
    hardware.close()
    return frequency_response(time, wanted, current, resolution=5.0, band=(low, high))


def current_model(frequency: np.ndarray, dead_time: float | None = None) -> np.ndarray:
    """The analytical H_i of the drive; its back-EMF is fed forward, so the rotor counts as locked.

    Dead time of the loop: its own, and half an electrical step for which a voltage is held. Outside of the loop: a logged
    command lasts longer than a step, so that the loop sees it late by half of the difference.
    """
    d = machine(compensation=False).drives
    inside = d.dead_time + d.step / 2 if dead_time is None else dead_time
    loop = current_transfer(
        frequency, resistance=RESISTANCE, inductance=INDUCTANCE, proportional=float(d.current_gain[0]),
        integral=float(d.current_integral[0]), dead_time=inside,
    )  # fmt: skip
    return loop * np.exp(-2j * np.pi * frequency * (1 / RATE - d.step) / 2)
