"""In which orders people store a robot's joints, for logs whose columns have no names."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from surefoot.robot.spec import Robot

LISTS: Mapping[str, tuple[str, ...]] = {
    # ANYmal's drives, and the bundled robots
    "anydrive": tuple(f"{leg}_{part}" for leg in ("LF", "RF", "LH", "RH") for part in ("HAA", "HFE", "KFE")),
    # a1, b1, go1, go2, laikago: the model files of some begin with the other side
    "unitree-sdk": tuple(f"{leg}_{part}_joint" for leg in ("FR", "FL", "RR", "RL") for part in ("hip", "thigh", "calf")),
    # solo12
    "master-board": tuple(f"{leg}_{part}" for leg in ("FL", "FR", "HL", "HR") for part in ("HAA", "HFE", "KFE")),
    # so100, so101
    "lerobot": ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"),
    # ur3 to ur30
    "ur-controller": tuple(
        f"{part}_joint" for part in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
    ),
}
"""Manufacturers' orders, by the convention's name."""


def orders(robot: Robot) -> dict[str, tuple[str, ...]]:
    """The usual orders of this robot's joints, by name: the model's, manufacturers', simulators', the alphabet's.

    Isaac Lab goes through the tree level by level, Isaac Gym branch by branch; both take siblings by the alphabet.
    """
    path = _paths(robot)
    out = {"model": robot.joints}
    out |= {name: joints for name, joints in LISTS.items() if sorted(joints) == sorted(robot.joints)}
    out["isaac-lab"] = tuple(sorted(robot.joints, key=lambda joint: (len(path[joint]), path[joint])))
    out["isaac-gym"] = tuple(sorted(robot.joints, key=lambda joint: path[joint]))
    out["alphabet"] = tuple(sorted(robot.joints))
    return out


def others(robot: Robot) -> dict[str, tuple[str, ...]]:
    """The usual orders that differ from the model's, each order once."""
    seen: dict[tuple[str, ...], str] = {robot.joints: "model"}
    for name, joints in orders(robot).items():
        seen.setdefault(joints, name)
    return {name: joints for joints, name in seen.items() if name != "model"}


def _paths(robot: Robot) -> dict[str, tuple[str, ...]]:
    """From the base to each joint, the names of the joints on the way."""
    out: dict[str, tuple[str, ...]] = {}

    def walk(element: ET.Element, path: tuple[str, ...]) -> None:
        for child in element:
            if child.tag == "joint" and child.get("name") in robot.joints:
                path = (*path, child.get("name", ""))
                out[path[-1]] = path
        for child in element:
            if child.tag in ("body", "worldbody"):
                walk(child, path)

    walk(ET.fromstring(robot.model), ())
    return out
