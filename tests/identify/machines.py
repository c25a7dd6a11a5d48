"""Small robots with known joint dynamics, and the recordings that they give: what the tests of identification stand on."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.record.excitation import chirp
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.rehearsal import rehearse

Array = np.ndarray

PENDULUM = """<mujoco><worldbody><body name="load"><joint name="swing" axis="0 1 0"/>
  <inertial pos="0 0 -0.3" mass="1.2" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>"""
"""One horizontal axis: gravity acts on the joint."""

SHAFT = """<mujoco><worldbody><body name="load"><joint name="shaft" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="0.05 0.05 0.05"/></body></worldbody></mujoco>"""
"""One vertical axis: gravity does not act, only its drive holds the joint."""

SLIDE = """<mujoco><worldbody><body name="cart"><joint name="rail" type="slide" axis="1 0 0"/>
  <inertial pos="0.1 0 0" mass="95" diaginertia="2 2 2"/></body></worldbody></mujoco>"""
"""A cart of 95 kg on a level rail."""

FINGER = """<mujoco><worldbody><body name="tip"><joint name="finger" axis="0 1 0"/>
  <inertial pos="0 0 -0.02" mass="0.01" diaginertia="1e-6 1e-6 1e-6"/></body></worldbody></mujoco>"""
"""A finger of 5 mg·m² whose rotor has 25 mg·m²."""

_LEG = """<body name="{0}_thigh" pos="0 {1} 0"><joint name="{0}_HIP" axis="1 0 0"/>
    <inertial pos="0 0 -0.1" mass="0.8" diaginertia="0.004 0.004 0.001"/>
    <body name="{0}_shank" pos="0 0 -0.2"><joint name="{0}_KNEE" axis="0.2 0.98 0"/>
      <inertial pos="0.02 0.01 -0.1" mass="0.4" diaginertia="0.002 0.002 0.0005"/></body></body>"""
LEGS = f"<mujoco><worldbody>{_LEG.format('LF', 0.1)}{_LEG.format('RF', -0.1)}</worldbody></mujoco>"
"""Two alike legs of two joints each: two branches, left and right twins."""

GAINS = {PENDULUM: (30.0, 0.6), SHAFT: (25.0, 0.5), SLIDE: (2.0e4, 900.0), FINGER: (0.08, 4e-4), LEGS: (20.0, 0.3)}


@functools.cache
def machine(text: str) -> Robot:
    """A robot of this MJCF with gains that suit it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.xml"
        path.write_text(text)
        return Robot.load(path).with_gains(*GAINS[text])


def hidden(robot: Robot, seed: int = 0, **more: Any) -> JointDynamics:
    """Joint dynamics in proportion to the robot's stiffness."""
    rng, scale = np.random.default_rng(seed), robot.stiffness / 100
    slide = np.array(robot.kinds) == "slide"
    values = {
        "armature": scale * rng.uniform(0.03, 0.08, robot.n),
        "damping": scale * rng.uniform(0.5, 1.5, robot.n),
        "friction": scale * rng.uniform(0.3, 1.0, robot.n),
        "bias": rng.uniform(0.01, 0.03, robot.n) * rng.choice([-1, 1], robot.n) * np.where(slide, 0.1, 1.0),
        "delay": rng.uniform(0.004, 0.009, 1),
    }
    return JointDynamics(joints=robot.joints, **values | more)


def recorded(
    robot: Robot, dynamics: JointDynamics, *, seconds: float = 4.0, top: float = 8.0, rate: float = 400.0, **more: Any
) -> Recording:
    """The robot's chirp as MuJoCo plays it."""
    motion = chirp(robot, duration=seconds, stop_hz=top, rate=rate, ramp=0.3)
    return rehearse(robot, dynamics, motion, **more)


@functools.cache
def legs() -> tuple[Robot, JointDynamics, Recording]:
    """The two legs, their truth, and four clean seconds of them."""
    robot = machine(LEGS)
    truth = hidden(robot)
    return robot, truth, recorded(robot, truth, name="legs")


@functools.cache
def pendulum() -> tuple[Robot, JointDynamics, Recording]:
    """The pendulum, its truth, and four clean seconds of it."""
    robot = machine(PENDULUM)
    truth = hidden(robot)
    return robot, truth, recorded(robot, truth, name="pendulum")


def errors(found: JointDynamics, truth: JointDynamics) -> dict[str, float]:
    """Largest error of each parameter, relative to its largest true value."""
    out = {}
    for name, true in truth.ordered_for(found.joints).arrays().items():
        scale = np.max(np.abs(true[np.isfinite(true)]), initial=0.0) or 1.0
        gap = getattr(found, name)[np.isfinite(true)] - true[np.isfinite(true)]
        out[name] = float(np.max(np.abs(gap), initial=0.0) / scale)
    return out
