"""Plain files: JSON, YAML, and parameters for ROS 2 controllers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.export.values import Values, from_table, header, table


def write(values: Values, target: str, out: Path) -> tuple[list[Path], list[str]]:
    """Write a table; the file, and what the user must know."""
    out.parent.mkdir(parents=True, exist_ok=True)
    notes = []
    if target == "json":
        text = json.dumps(table(values), indent=1, allow_nan=False) + "\n"
    else:
        data = table(values) if target == "yaml" else ros2(values)
        text = "".join(f"# {line}\n" for line in header(values, intervals=target == "ros2")) + "\n".join(_yaml(data, 0)) + "\n"
    if target == "ros2":
        notes.append("ros2_control has no encoder bias and no delay of its own: the offsets are under `joint_offsets`.")
    out.write_text(text, encoding="utf-8")
    return [out], notes


def ros2(values: Values) -> dict[str, Any]:
    """Gains for a pid_controller that commands efforts, and the offsets of the encoders."""
    gains = {}
    for j, joint in enumerate(values.joints):
        limit = float(values.torque_limit[j])
        clamp = {"u_clamp_max": limit, "u_clamp_min": -limit} if math.isfinite(limit) else {}
        gains[joint] = {"p": float(values.stiffness[j]), "i": 0.0, "d": float(values.velocity_gain[j]), **clamp}
    offsets = ("bias", "delay", "armature", "damping", "friction")
    return {
        "pid_controller": {
            "ros__parameters": {
                "dof_names": list(values.joints),
                "command_interface": "effort",
                "reference_and_state_interfaces": ["position", "velocity"],
                "gains": gains,
            }
        },
        "joint_offsets": {
            "ros__parameters": {
                "meaning": f"encoder = q - bias{'' if values.encoder else ' for the drive alone'}; commands act after delay",
                **{name: values.by_joint(name) for name in offsets},
            }
        },
    }


def read(path: Path, target: str, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The values of a file, through a parser that is not the writer's."""
    text = path.read_text(encoding="utf-8")
    if target == "json":
        return _ordered(json.loads(text), joints)
    import yaml

    data = yaml.safe_load(text)
    if target == "yaml":
        return _ordered(data, joints)
    controller, offsets = (data[name]["ros__parameters"] for name in ("pid_controller", "joint_offsets"))
    gains = controller["gains"]
    out = {
        name: np.array([offsets[name][joint] for joint in joints])
        for name in ("bias", "delay", "armature", "damping", "friction")
    }
    for name, key in (("stiffness", "p"), ("velocity_gain", "d"), ("torque_limit", "u_clamp_max")):
        out[name] = np.array([gains[joint].get(key, np.inf) for joint in joints])
    return out


def _ordered(data: dict[str, Any], joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    order = [data["joints"].index(joint) for joint in joints]
    return {name: value[order] for name, value in from_table(data).items()}


def _yaml(data: Any, depth: int) -> list[str]:
    """YAML of nested dictionaries, lists of scalars and scalars."""
    lines = []
    for key, value in data.items():
        start = "  " * depth + _scalar(str(key)) + ":"
        if isinstance(value, dict) and value:
            lines += [start, *_yaml(value, depth + 1)]
        elif isinstance(value, list):
            lines.append(f"{start} [{', '.join(_scalar(x) for x in value)}]")
        else:
            lines.append(f"{start} {_scalar(value)}")
    return lines


def _scalar(value: Any) -> str:
    """A scalar; texts are quoted, floats have a point so that every YAML reader takes them for floats."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        mantissa, e, exponent = repr(value).partition("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + (
            e + ("" if exponent[:1] in "+-" else "+") + exponent if e else ""
        )
    return json.dumps(value) if isinstance(value, str | dict) else str(value)
