"""A run whose every number is known: anymal trots at 2 Hz, 0.9 m/s when told 1 m/s, on a virtual machine that never was."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.record.run import Phase, Run
from surefoot.robot import Robot

ROBOT = Robot.load("anymal")
FEET = ("LF", "RF", "LH", "RH")
STRIDE, SWING, SPEED, TOLD = 0.5, 0.2, 0.9, 1.0  # [s], amplitude [rad], [m/s], [m/s]
TORQUE, BATTERY, DUTY = 10.0, 400.0, 0.6  # [N·m], [W], share on the ground


def walk(seconds: float = 12.0, rate: float = 400.0, *, stop: str = "", left_out: tuple[str, ...] = (), **changes: Any) -> Run:
    """Two seconds to rise, a walk, one second to halt."""
    time = np.arange(round(seconds * rate)) / rate
    count, n = len(time), ROBOT.n
    phase = np.full(count, float(Phase.WALKING))
    phase[time < 2.0], phase[time >= seconds - 1.0] = Phase.RISING, Phase.HALTING
    walking = phase == Phase.WALKING
    turn = 2 * np.pi * time[:, None] / STRIDE + np.arange(n)
    triple = lambda x: np.column_stack([x, np.zeros(count), np.zeros(count)])  # noqa: E731
    forward = np.where(walking, SPEED + 0.05 * np.sin(4 * np.pi * time / STRIDE), 0.0)
    contact = ((time[:, None] / STRIDE + np.array([0.0, 0.5, 0.5, 0.0])) % 1.0 < DUTY).astype(float)
    channels: dict[str, Any] = {
        "phase": phase, "command": triple(np.where(walking, TOLD, 0.0)), "position": ROBOT.posture + SWING * np.sin(turn),
        "target": ROBOT.posture + 1.5 * SWING * np.sin(turn + 0.3), "velocity": SWING * 2 * np.pi / STRIDE * np.cos(turn),
        "torque": np.full((count, n), TORQUE), "battery_power": np.full(count, BATTERY), "charge": np.linspace(0.9, 0.8, count),
        "linear_velocity": triple(forward + 0.02), "angular_velocity": np.zeros((count, 3)), "contact": contact,
        "gravity": np.tile([0.0, 0.0, -1.0], (count, 1)), "true_velocity": triple(forward),
        "true_position": np.column_stack([np.cumsum(forward) / rate, np.zeros(count), np.full(count, 0.5)]),
        "true_orientation": np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), "true_angular_velocity": np.zeros((count, 3)),
        "true_contact": contact,
    }  # fmt: skip
    kept = {name: rows for name, rows in channels.items() if name not in left_out}
    notes = {"policy": "anymal", "hardware": "virtual:3"}
    given = {"robot": "anymal", "joints": ROBOT.joints, "feet": FEET, "mass": 50.0, "time": time, "stop": stop}
    return Run(**(given | {"channels": kept, "notes": notes} | changes))
