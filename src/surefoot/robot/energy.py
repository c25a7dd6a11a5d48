"""What moving costs: the power of the drives and of gravity, once, for the reward that trains and for the accounts afterwards.

Every function broadcasts over leading axes; the last axis is the robot's joints in `robot.joints` order.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError
from surefoot.robot.drive import gear_ratio
from surefoot.robot.dynamics import Array

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot

GRAVITY = 9.81  # g [m/s²]


def joule_constant(robot: "Robot", position: ArrayLike) -> Array:
    """Heat of the coils per squared joint torque, R / (r(q) k_i)² [W/(N·m)²], shape (..., n).

    A robot whose motors are not disclosed gives the whole as one number, `motor.joule_constant`.
    """
    q = np.asarray(position, dtype=float)
    given = robot.motor["joule_constant"]
    r, k_i = gear_ratio(robot, q), robot.motor["k_i"]
    constant = np.where(np.isnan(given), robot.motor["resistance"] / (r * k_i) ** 2, given)
    for j in np.flatnonzero(np.isnan(constant).any(axis=tuple(range(constant.ndim - 1)))):
        raise SurefootError(
            f"{robot.name}: the motor of joint {robot.joints[j]} is not known, so its heat cannot be counted. Give motor.k_i, "
            "motor.resistance and motor.gear_ratio in its [[joint]] block of robot.toml, or their motor.joule_constant "
            "[W/(N·m)²] as a whole."
        )
    return constant


def regeneration(robot: "Robot") -> float:
    """k_regen: the share of braking power that returns to the bus [-], one number for the robot."""
    shares = np.unique(robot.motor["regeneration"])
    if len(shares) != 1 or np.isnan(shares[0]):
        raise SurefootError(
            f"{robot.name}: motor.regeneration is {', '.join(f'{s:g}' for s in shares)}; expected one number for all joints, "
            'because they share one bus. Give it in a [[joint]] block of robot.toml with match = "*", for example '
            "motor.regeneration = 0.0."
        )
    return float(shares[0])


def electrical_power(robot: "Robot", torque: ArrayLike, position: ArrayLike) -> Array:
    """P_el = Σ_j τ_j² R_j / (r_j² k_i,j²) [W], shape (...): heat of the coils."""
    return (np.asarray(torque) ** 2 * joule_constant(robot, position)).sum(-1)


def mechanical_power(robot: "Robot", torque: ArrayLike, velocity: ArrayLike) -> Array:
    """P_mech = τᵀq̇ where the drives push, k_regen τᵀq̇ where they brake [W], shape (...)."""
    power = (np.asarray(torque) * np.asarray(velocity)).sum(-1)
    return np.where(power > 0, power, regeneration(robot) * power)


def potential_power(mass: float, velocity: ArrayLike) -> Array:
    """P_pot = m g v_z [W]: what gravity stores, from the velocity of the centre of mass against gravity v_z [m/s].

    Σ_b m_b g v_b,z over the bodies is the same sum, because Σ_b m_b v_b = m v.
    """
    return mass * GRAVITY * np.asarray(velocity)


def total_power(electrical: ArrayLike, mechanical: ArrayLike, potential: ArrayLike) -> Array:
    """P_total = P_el + P_mech − P_pot [W]: what is spent and not stored.

    The paper prints + P_pot, and says that climbing is rewarded; with a negative coefficient only the minus does that.
    """
    return np.asarray(electrical) + np.asarray(mechanical) - np.asarray(potential)


def cost_of_transport(power: ArrayLike, mass: float, speed: ArrayLike) -> Array:
    """CoT = P / (m g v) [-] of a mean power [W] and a mean speed over ground [m/s]."""
    return np.asarray(power) / (mass * GRAVITY * np.asarray(speed))
