"""Small mechanisms, recordings and candidates for the tests of the in-air engine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.compiler import INTEGERS, NUMBERS, POINTERS, compiled, lanes_for
from surefoot.simulate.inair import InAir
from surefoot.simulate.kernel import ARGUMENTS, intrinsics
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference
from surefoot.simulate.trace import Trace, Value

Array = np.ndarray

SHAFT = """<mujoco><worldbody><body name="load"><joint name="shaft" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="0.05 0.05 0.05"/></body></worldbody></mujoco>"""
"""A vertical shaft: gravity does not act, the inertia is 0.05 kg·m² at every angle."""

PENDULUM = """<mujoco><worldbody><body name="load"><joint name="swing" axis="0 1 0"/>
  <inertial pos="0 0 -0.3" mass="1.2" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>"""

LIMITED = PENDULUM.replace('axis="0 1 0"', 'axis="0 1 0" range="-8 6" limited="true"')
"""The pendulum between stops at -8 and 6 degrees."""

TREE = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="hip" pos="0 0.1 0" quat="0.98 0.1 0.1 0.05">
    <joint name="roll" axis="1 0 0" pos="0 0 0.02"/>
    <inertial pos="0 0.02 -0.01" mass="1.5" diaginertia="0.004 0.005 0.004"/>
    <body name="thigh" pos="0 0.05 -0.1">
      <joint name="pitch" axis="0 1 0" ref="0.3"/>
      <inertial pos="0 0.01 -0.12" quat="0.9 0.1 0 0.2" mass="2" diaginertia="0.02 0.018 0.005"/>
      <body name="sledge" pos="0 0 -0.3">
        <joint name="rail" type="slide" axis="0 0.6 0.8"/>
        <inertial pos="0.01 0 -0.05" mass="0.8" diaginertia="0.002 0.002 0.001"/>
      </body>
      <body name="tail" pos="0.1 0 -0.1">
        <joint name="wag" axis="0.6 0 0.8" stiffness="2" springref="0.1"/>
        <inertial pos="0.1 0 -0.05" mass="0.4" diaginertia="0.002 0.003 0.001"/>
        <body name="tip" pos="0.2 0 0" quat="0.8 0.6 0 0">
          <inertial pos="0 0 0.02" mass="0.1" diaginertia="0.0002 0.0002 0.0001"/>
        </body>
      </body>
    </body>
  </body>
  <body name="lone" pos="0 -0.1 0">
    <joint name="lone" axis="0 1 0"/>
    <inertial pos="0.05 0 -0.25" mass="1.1" diaginertia="0.005 0.005 0.001"/>
  </body>
</worldbody></mujoco>"""
"""Five joints in two branches: a fork, a slide, a spring, an anchor, a reference angle and a welded body."""

TREE_GAINS = {"stiffness": [60.0, 60.0, 2000.0, 20.0, 40.0], "damping": [2.0, 2.0, 40.0, 0.5, 1.0]}


def load(text: str, **changes: Any) -> Robot:
    """A robot from MJCF text, some fields changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rig.xml"
        path.write_text(text)
        return Robot.load(path).replace(**changes)


def random_tree(shape: list[tuple[int, list[str]]], rng: np.random.Generator) -> mujoco.MjSpec:
    """Bodies (parent, kinds of joints) hung below earlier ones (0: the base); frames, anchors, references, inertias at random."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = rng.normal(size=3) * 5
    bodies = [spec.worldbody]
    for b, (parent, kinds) in enumerate(shape):
        body = bodies[parent % len(bodies)].add_body(pos=rng.normal(size=3) * 0.2, quat=rng.normal(size=4))
        body.explicitinertial, body.mass = True, rng.uniform(0.1, 3)
        body.ipos, body.iquat, body.inertia = rng.normal(size=3) * 0.1, rng.normal(size=4), rng.uniform(0.01, 0.019, 3)
        for j, kind in enumerate(kinds):
            code = mujoco.mjtJoint.mjJNT_HINGE if kind == "hinge" else mujoco.mjtJoint.mjJNT_SLIDE
            frame = {"axis": rng.normal(size=3), "pos": rng.normal(size=3) * 0.1, "ref": rng.uniform(-1, 1)}
            body.add_joint(name=f"{kind}{b}{j}", type=code, **frame)
        bodies.append(body)
    return spec


def tree(**changes: Any) -> Robot:
    """The five joints of TREE with gains."""
    return load(TREE, **TREE_GAINS, **changes)


def shaft(**changes: Any) -> Robot:
    """The vertical shaft with gains."""
    return load(SHAFT, **{"stiffness": [40.0], "damping": [1.0]} | changes)


def chirp(
    robot: Robot, *, seconds: float = 1.2, rate: float = 400.0, top: float = 6.0, amplitude: float = 0.25, **more: Any
) -> Recording:
    """Every joint swings about its posture, faster and faster; the recording claims that it followed its target."""
    time = more.pop("time", np.arange(round(seconds * rate)) / rate)
    phase = 2 * np.pi * (0.3 * time + (top - 0.3) / (2 * seconds) * time**2)
    size = np.where(np.array(robot.kinds) == "hinge", amplitude, 0.1 * amplitude) * np.where(np.arange(robot.n) % 2, 1, -1)
    target = robot.posture + size * np.sin(phase)[:, None]
    given = {"joints": robot.joints, "time": time, "target": target, "position": target,
             "stiffness": robot.stiffness, "damping": robot.damping}  # fmt: skip
    return Recording(**given | more)


def candidates(robot: Robot, count: int = 1, *, seed: int = 0, friction: float = 1.0, **more: Any) -> JointDynamics:
    """A batch of plausible joint dynamics, in proportion to each joint's stiffness."""
    rng, shape, scale = np.random.default_rng(seed), (count, robot.n), robot.stiffness / 100
    given = {
        "armature": scale * rng.uniform(0.02, 0.1, shape),
        "damping": scale * rng.uniform(0.3, 2.0, shape),
        "friction": friction * scale * rng.uniform(0.2, 2.0, shape),
        "bias": rng.uniform(-0.03, 0.03, shape) * np.where(np.array(robot.kinds) == "hinge", 1, 0.1),
        "delay": rng.uniform(0.0, 0.012, (count, 1)),
    }
    return JointDynamics(joints=robot.joints, **given | more)


def both(robot: Robot, recording: Recording, dynamics: JointDynamics, physics: Physics | None = None) -> tuple[Any, Any]:
    """(position, torque, saturated) of every candidate by the kernel and by MuJoCo."""
    physics = physics or Physics()
    kernel = InAir(robot, recording, physics).trajectories(dynamics, torque=True)
    return kernel, Reference(robot, recording, physics).trajectories(dynamics, torque=True)


def simulated(robot: Robot, recording: Recording, dynamics: JointDynamics, physics: Physics | None = None) -> Array:
    """Encoder readings of every candidate by the kernel, shape (L, T, n)."""
    return InAir(robot, recording, physics or Physics()).trajectories(dynamics)[0]


def evaluate(write: Callable[[Trace, list[Value]], list[Any]], rows: Array, *, dtype: str = "float64") -> Array:
    """Compile the code that `write` leaves behind and run it: rows of lanes in, rows of lanes out."""
    kind = "double" if dtype == "float64" else "float"
    lanes = lanes_for(kind)
    t = Trace(lanes, kind)
    results = write(t, [t.load_row("%state", r) for r in range(len(rows))])
    for r, result in enumerate(results):
        t.store_row(result, "%out", r)
    text = "\n".join(
        [
            intrinsics(lanes, kind),
            f"define void @step({ARGUMENTS}) {{",
            "entry:",
            "  br label %go",
            "go:",
            *t.code,
            "  ret void",
            "}",
        ]
    )
    kernel = compiled(text)
    numbers, answers = np.array(t.table or [0.0], dtype), []
    for block in range(0, rows.shape[1], lanes):
        state = np.zeros((len(rows), lanes), dtype)
        state[:, : rows.shape[1] - block] = rows[:, block : block + lanes]
        out = np.zeros((len(results), lanes), dtype)
        pointers: list[Any] = [None] * POINTERS
        pointers[0], pointers[4], pointers[11] = numbers.ctypes.data, state.ctypes.data, out.ctypes.data
        kernel.call(*pointers, *[0] * INTEGERS, *[0.0] * NUMBERS)
        answers.append(out)
    return np.concatenate(answers, axis=1)[:, : rows.shape[1]]
