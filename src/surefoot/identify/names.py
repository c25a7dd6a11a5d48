"""Left and right by joint name, as robots' builders write it."""

from __future__ import annotations

import re

TWINS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("L", "R"), ("l", "r"))


def twin(name: str) -> str | None:
    """The name of the joint on the other side: LF_HAA and RF_HAA, FL_hip and FR_hip, left_knee and right_knee."""
    for left, right in TWINS[:3]:
        if left in name or right in name:
            swap = {left: right, right: left}
            return re.sub(f"{left}|{right}", lambda m, swap=swap: swap[m.group()], name)
    word = re.match(r"^([FHRB]?)([LR])([FHB]?)(?=[_\-.]|[A-Z][a-z])", name)
    if word:
        front, side, back = word.groups()
        return front + ("R" if side == "L" else "L") + back + name[word.end() :]
    inner = re.search(r"(?<=[_\-.])([LRlr])(?=$|[_\-.])", name)
    if inner:
        other = {"L": "R", "R": "L", "l": "r", "r": "l"}[inner.group()]
        return name[: inner.start()] + other + name[inner.end() :]
    return None


def mirrored(joints: tuple[str, ...]) -> list[tuple[int, int]]:
    """Index pairs of joints that are each other's mirror image by name."""
    pairs = []
    for i, joint in enumerate(joints):
        other = twin(joint)
        if other in joints and joints.index(other) > i:
            pairs.append((i, joints.index(other)))
    return pairs
