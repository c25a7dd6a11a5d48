"""What the machine is: its model, its joints in order, gains, limits and motors, and the law of its drives."""

from surefoot.robot.drive import drive_torque, gear_ratio, safe_target, torque_bounds
from surefoot.robot.dynamics import PARAMETERS, JointDynamics, Parameter
from surefoot.robot.load import bundled_names, load_robot
from surefoot.robot.model import ModelText, read_model
from surefoot.robot.spec import BATTERY, MOTOR, REWARDS, Robot
from surefoot.robot.symmetry import Symmetry, symmetries

__all__ = [
    "BATTERY",
    "MOTOR",
    "PARAMETERS",
    "REWARDS",
    "JointDynamics",
    "ModelText",
    "Parameter",
    "Robot",
    "Symmetry",
    "bundled_names",
    "drive_torque",
    "gear_ratio",
    "load_robot",
    "read_model",
    "safe_target",
    "symmetries",
    "torque_bounds",
]
