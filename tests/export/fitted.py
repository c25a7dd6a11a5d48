"""Fits whose numbers are known, made without a search, and exports that are wrong on purpose."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.export import Values
from surefoot.identify import Fit, Score
from surefoot.identify.answer import model_hash
from surefoot.record.excitation import chirp
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.rehearsal import rehearse

RIG = """<mujoco model="rig">
  <!-- a thigh that rides on a rail -->
  <option timestep="0.002"/>
  <compiler angle="radian" autolimits="true"/>
  <default>
    <joint damping="9" armature="9"/>
    <default class="knee"><joint axis="0 1 0" frictionloss="9"/><position kp="7" kv="3" forcerange="-5 5"/></default>
  </default>
  <worldbody>
    <body name="sledge">
      <joint name="rail" type="slide" axis="0 0 1" range="-0.6 0.6" damping="4"/>   <!-- its damping is a guess -->
      <inertial pos="0 0 0.1" mass="20" diaginertia="1 1 1"/>
      <body name="thigh">
        <joint  name='knee'
                class="knee" />
        <inertial pos="0.02 0.05 -0.15" mass="2" diaginertia="0.02 0.02 0.01"/>
        <geom type="capsule" size="0.02 0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="knee drive" joint="knee" class="knee"/>
    <motor name="lift" joint="rail" gear="50" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
"""Defaults that an export must override, a position actuator, a motor, odd white space and comments."""

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.01 0.02 -0.15"/><mass value="1.5"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.004"/></inertial></link>
  <link name="tube"><inertial><origin xyz="0 0 -0.1"/><mass value="0.6"/>
    <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.001"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/> <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="60" velocity="9"/>
  </joint>
  <!-- the tube slides -->
  <joint name="slide" type="prismatic">
    <parent link="upper"/><child link="tube"/><origin xyz="0 0 -0.3"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.2" effort="300" velocity="2"/>
    <dynamics friction="0.5"
              damping='0.25'/>
  </joint>
</robot>
"""


def saved(text: str, folder: Path, name: str) -> Path:
    """The text as a file."""
    path = folder / name
    path.write_text(text)
    return path


def robot_of(text: str, stiffness: Any, damping: Any, name: str = "robot.xml") -> Robot:
    """A robot of this text with gains."""
    with tempfile.TemporaryDirectory() as folder:
        return Robot.load(saved(text, Path(folder), name)).with_gains(stiffness, damping)


def dynamics_of(robot: Robot, seed: int = 3, **changes: Any) -> JointDynamics:
    """Joint dynamics of a size that suits the robot, none of them zero; slides are heavier."""
    rng = np.random.default_rng(seed)
    size = np.where(np.array(robot.kinds) == "slide", 20.0, 1.0)
    draw = lambda low, high: size * rng.uniform(low, high, robot.n)  # noqa: E731
    known = {
        "armature": draw(0.02, 0.06), "damping": draw(0.3, 0.6), "friction": draw(0.2, 0.5),
        "bias": rng.uniform(0.01, 0.03, robot.n) * rng.choice([-1, 1], robot.n), "delay": np.array([0.0081]),
    }  # fmt: skip
    return JointDynamics(joints=robot.joints, **known | changes)


def fit_of(robot: Robot, *, seconds: float = 3.0, physics: Physics | None = None, **changes: Any) -> tuple[Fit, Recording]:
    """A fit that has the truth, and the recording that it came from: MuJoCo's simulation without noise."""
    dynamics, physics = dynamics_of(robot, **changes), physics or Physics()
    rec = rehearse(robot, dynamics, chirp(robot, duration=seconds, stop_hz=4.0), physics=physics)
    rec = rec.replace(velocity=np.zeros(rec.target.shape))  # it begins at rest, and says so
    none = np.zeros(robot.n)
    score = Score(
        name=rec.name, hash=rec.hash, joints=rec.joints, rmse=none, rmse_no_model=none + 0.1, time=rec.time,
        measured=rec.position, simulated=rec.position, no_model=rec.position, saturated=none,
    )  # fmt: skip
    shift = lambda s: dynamics.replace(armature=dynamics.armature * (1 + s))  # noqa: E731
    fit = Fit(
        robot=robot.name, source=robot.source, model_hash=model_hash(robot), joints=robot.joints,
        kinds=robot.kinds, prescribed=(), dynamics=dynamics,
        low=shift(-0.1), high=shift(0.1),
        flags={name: ("ok",) * len(getattr(dynamics, name)) for name in ("armature", "damping", "friction", "bias", "delay")},
        findings=(), correlation=(), recordings=(score,), held_out=(), physics=physics, method="hybrid", seed=0, seconds=0.1,
        rollouts=1, stop="converged", history=(0.0,), versions={"surefoot": "0"}, unknowns={"extra": [], "fixed": {}}, loss=0.0,
    )  # fmt: skip
    return fit, rec


@functools.cache
def rig() -> tuple[Robot, Fit, Recording]:
    """The rig on a rail, fitted."""
    robot = robot_of(RIG, np.array([9000.0, 60.0]), np.array([200.0, 1.5])).replace(torque_limit=np.array([900.0, 40.0]))
    return robot, *fit_of(robot)


@functools.cache
def arm() -> tuple[Robot, Fit, Recording]:
    """The arm of the URDF, fitted."""
    robot = robot_of(ARM, np.array([60.0, 2000.0]), np.array([1.5, 60.0]), "arm.urdf")
    return robot, *fit_of(robot)


TWINS = {"bias": "bias", "friction": "friction", "gains": "stiffness"}
"""What is wrong with each twin, and the value that a proof must name."""


def twin(values: Values, wrong: str) -> Values:
    """The same values with a mistake that people make."""
    if wrong == "bias":  # the other sign convention
        return values.replace(bias=-values.bias)
    if wrong == "friction":  # only the static field was written
        return values.replace(friction=np.zeros(values.n))
    return values.replace(stiffness=np.ones(values.n), velocity_gain=np.zeros(values.n))  # the metadata of a policy


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that only one of two texts has."""
    import difflib

    rows = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [r[2:] for r in rows if r[:2] == "- "], [r[2:] for r in rows if r[:2] == "+ "]
