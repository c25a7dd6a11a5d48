"""What a reader is asked for: the file, and what the user said about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError, unknown


@dataclass(frozen=True, kw_only=True)
class Request:
    """One file to read; names of joints are spelt as in the file."""

    path: Path
    map: Mapping[str, Any] = field(default_factory=dict)  # what the user says of columns or topics
    joints: tuple[str, ...] | None = None  # named by the user, in the file's order
    known: tuple[str, ...] | None = None  # the robot's, in its order

    def allow(self, keys: Sequence[str]) -> None:
        """Refuse what this format's map cannot say."""
        if wrong := [key for key in self.map if key not in keys]:
            raise unknown("channel in columns", wrong, tuple(keys))

    @property
    def map_joints(self) -> tuple[str, ...] | None:
        """The joints that the map lists."""
        joints = self.map.get("joints")
        if joints is not None and not (isinstance(joints, list | tuple) and all(isinstance(joint, str) for joint in joints)):
            raise SurefootError(f"joints in the map is {joints!r}; expected a list of names in the file's order.")
        return None if joints is None else tuple(joints)

    @property
    def rate(self) -> float | None:
        """The rate that the log is said to have [Hz]."""
        rate = self.map.get("rate")
        if rate is None:
            return None
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not (math.isfinite(rate) and rate > 0):
            raise SurefootError(f"rate is {rate!r}; expected samples per second, for example --rate 400.")
        return float(rate)
