"""The words that people use for channels, times and units in the names of columns."""

from __future__ import annotations

import re

import numpy as np

TIMES = ("time", "t", "timestamp", "time_s", "t_s", "stamp", "time [s]")
WORDS = {
    "target": "target des desired cmd command ref setpoint goal q_des q_cmd q_ref q_target pos_des pos_cmd des_pos "
    "target_position position_target target_pos desired_position goal_position des_dof_pos action",
    "position": "position q pos measured meas actual q_meas q_act dof_pos joint_pos joint_position measured_position "
    "observation.state",
    "target_velocity": "target_velocity velocity_target qd_des dq_des vel_des des_vel qd_target dq_target des_dof_vel",
    "feedforward": "feedforward feedforward_torque tau_ff torque_ff",
    "velocity": "velocity qd dq vel dof_vel joint_vel joint_velocity measured_velocity",
    "torque": "torque tau effort measured_torque tau_meas joint_torque",
    "enabled": "enabled enable torque_enable",
    "valid": "valid",
}
CHANNEL_OF = {word: channel for channel, words in WORDS.items() for word in words.split()}
ONCE = {  # what a file says once and not per sample
    "joints": "joints joint_names names",
    "stiffness": "stiffness kp p_gain",
    "damping": "damping kd d_gain",
}
ONCE_OF = {word: field for field, words in ONCE.items() for word in words.split()}
SECONDS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
ANGLES = {"deg": np.pi / 180, "°": np.pi / 180, "deg/s": np.pi / 180, "°/s": np.pi / 180}
SI = ("rad", "rad/s", "m", "m/s", "Nm", "N·m", "N.m", "N", "-")


def split_unit(name: str) -> tuple[str, str]:
    """`q_knee [deg]` as ("q_knee", "deg"); a name without a unit in brackets as (name, "")."""
    match = re.fullmatch(r"(.*?)\s*[\[(]\s*([^\[\]()]*?)\s*[\])]", name)
    if match and match[1] and match[2] in (*SI, *ANGLES, *SECONDS):
        return match[1], match[2]
    return name, ""


def time_unit(name: str) -> str | None:
    """The unit in which a column called `name` holds the time ("s" when it says none), or None when it is no time."""
    base, unit = split_unit(name.lower())
    if unit and unit not in SECONDS:
        return None
    if match := re.fullmatch(r"(?:time|t|timestamp|stamp)(?:_(s|sec|ms|us|ns))?", last(base).rsplit(".", 1)[-1]):
        return match[1] or unit or "s"
    return None


def last(name: str) -> str:
    """The name behind the last slash: what an array is called inside its group."""
    return name.rsplit("/", 1)[-1]


def channel_of(name: str) -> str | None:
    """The channel that a table of all joints is called by."""
    base = last(split_unit(name)[0]).lower()
    return CHANNEL_OF.get(base) or CHANNEL_OF.get(base.rsplit(".", 1)[-1])


def channel_and_joint(name: str) -> tuple[str, str] | None:
    """(channel, joint) of the column of one joint, if its name starts or ends with a word from the list."""
    base, _ = split_unit(name)
    for word in sorted(CHANNEL_OF, key=len, reverse=True):
        w = re.escape(word)
        for pattern in (rf"{w}[_/. \[(]+(?P<joint>.+)", rf"(?P<joint>.+?)[_/. ]+{w}", rf"{w}(?P<joint>\d+)"):
            if match := re.fullmatch(pattern, base, flags=re.IGNORECASE):
                return CHANNEL_OF[word], match["joint"].strip("[]() ")
    return None
