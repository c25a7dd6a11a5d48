"""surefoot: measure a legged robot's joints in the air and make the simulator move like the robot.

    robot = surefoot.Robot.load("anymal")
    rec = surefoot.Recording.load("chirp.npz")
    fit = surefoot.identify(robot, [rec])

Importing the package loads nothing but this table of names.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.deploy import Controller as Controller
    from surefoot.deploy import Policy as Policy
    from surefoot.errors import SurefootError as SurefootError
    from surefoot.identify import Fit as Fit
    from surefoot.identify import Unknowns as Unknowns
    from surefoot.identify import check as check
    from surefoot.identify import compare as compare
    from surefoot.identify import identify as identify
    from surefoot.record import Recording as Recording
    from surefoot.record.excitation import chirp as chirp
    from surefoot.record.excitation import steps as steps
    from surefoot.robot import JointDynamics as JointDynamics
    from surefoot.robot import Robot as Robot
    from surefoot.robot import drive_torque as drive_torque
    from surefoot.robot import safe_target as safe_target
    from surefoot.robot.energy import cost_of_transport as cost_of_transport
    from surefoot.simulate import Physics as Physics
    from surefoot.simulate import rehearse as rehearse
    from surefoot.simulate import replay as replay

_HOME = {
    "SurefootError": "errors",
    "Fit": "identify",
    "Unknowns": "identify",
    "check": "identify",
    "compare": "identify",
    "Recording": "record",
    "chirp": "record.excitation",
    "steps": "record.excitation",
    "Controller": "deploy",
    "Policy": "deploy",
    "JointDynamics": "robot",
    "Robot": "robot",
    "cost_of_transport": "robot.energy",
    "drive_torque": "robot",
    "safe_target": "robot",
    "Physics": "simulate",
    "rehearse": "simulate",
    "replay": "simulate",
}
__all__ = [
    "Controller",
    "Fit",
    "JointDynamics",
    "Physics",
    "Policy",
    "Recording",
    "Robot",
    "SurefootError",
    "Unknowns",
    "__version__",
    "check",
    "chirp",
    "compare",
    "cost_of_transport",
    "drive_torque",
    "identify",
    "rehearse",
    "replay",
    "safe_target",
    "steps",
]

try:
    __version__ = version("surefoot")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0"


def __getattr__(name: str) -> Any:
    if name == "identify":  # the package of that name, which can be called
        return import_module("surefoot.identify")
    if name in _HOME:
        return getattr(import_module(f"surefoot.{_HOME[name]}"), name)
    raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
