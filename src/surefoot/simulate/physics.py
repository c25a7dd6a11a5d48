"""The physics that a fit is true in: the same step and conventions must be used wherever its numbers are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import mujoco

    from surefoot.robot.spec import Robot


@dataclass(frozen=True, kw_only=True)
class Physics:
    """Step size and conventions of the in-air simulation."""

    timestep: float = 0.0025  # [s]
    delay_on: Literal["command", "torque"] = "command"
    bias_form: Literal["encoder", "setpoint"] = "encoder"  # the encoder reads q − q_b, or the set-point is shifted by q_b

    def __post_init__(self) -> None:
        if not 0 < self.timestep <= 0.05:
            raise SurefootError(f"timestep is {self.timestep:g} s; give seconds between 0 and 0.05, for example 0.0025.")
        if self.delay_on not in ("command", "torque"):
            raise SurefootError(f"delay_on is {self.delay_on!r}; valid: command, torque.")
        if self.bias_form not in ("encoder", "setpoint"):
            raise SurefootError(f"bias_form is {self.bias_form!r}; valid: encoder, setpoint.")


def hung_model(robot: Robot, joints: Sequence[str], physics: Physics) -> mujoco.MjModel:
    """The robot hung in the air as MuJoCo sees it; joints that are not listed are held at the robot's posture.

    The degrees of freedom are in the model's order: `hung_order` says which of them each of `joints` is.
    """
    import mujoco

    from surefoot.robot.canonical import canonical_text

    robot.select(joints)  # names a joint that the robot does not have
    model = mujoco.MjModel.from_xml_string(robot.model)
    names = [model.joint(j).name for j in range(model.njnt)]
    lock = {j: float(robot.posture[robot.index(name)]) for j, name in enumerate(names) if name not in joints}
    if lock:
        model = mujoco.MjModel.from_xml_string(canonical_text(model, robot.name, names, lock))
    model.opt.timestep = physics.timestep
    return model


def hung_order(model: mujoco.MjModel, joints: Sequence[str]) -> np.ndarray:
    """The degree of freedom of each joint."""
    return np.array([model.joint(name).dofadr[0] for name in joints], dtype=int)
