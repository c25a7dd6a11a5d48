"""Robots of the benchmarks: the bundled ones by name, real URDFs from the example-robot-data package, and a rig with a rail."""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from surefoot import Robot

EXAMPLES = {
    "go2": "go2_description/urdf/go2.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "allegro hand": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}

RAIL = """<mujoco model="rail"><compiler angle="radian"/><worldbody><body name="sledge">
  <joint name="rail" type="slide" axis="0 0 1" range="-0.3 0.3" limited="true"/>
  <inertial pos="0 0 0.1" mass="95" diaginertia="1 1 1"/>
  <body name="thigh"><joint name="hip" axis="0 1 0"/><inertial pos="0 0.05 -0.15" mass="4" diaginertia="0.05 0.05 0.01"/>
  <body name="shank" pos="0 0.05 -0.35"><joint name="knee" axis="0 1 0" ref="-0.8"/>
  <inertial pos="0.02 0 -0.15" mass="1.2" diaginertia="0.012 0.012 0.002"/>
  <body name="toe" pos="0 0 -0.35"><joint name="toe" type="slide" axis="0 0 1" stiffness="800"/>
  <inertial pos="0 0 0" mass="0.3" diaginertia="0.0003 0.0003 0.0003"/></body></body></body></body></worldbody></mujoco>"""
"""One leg under a 95 kg sledge on a vertical rail, with a sprung toe that slides: two slides and two hinges in one branch."""


def load(name: str) -> Robot:
    """A bundled robot, one of EXAMPLES, or "rail"."""
    if name == "rail":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rail.xml"
            path.write_text(RAIL)
            return Robot.load(path)
    return Robot.load(example(EXAMPLES[name]) if name in EXAMPLES else name)


def example(path: str) -> Path:
    """A file of the example-robot-data package."""
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        sys.exit("these benchmarks need real URDFs: pip install 'surefoot[robots]'")
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / path
