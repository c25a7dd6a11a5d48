"""What the best candidate so far makes of a recording, for a page that watches a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.record.recording import Recording
from surefoot.report.page import exact, packed, plain
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import Choice, Engine, engine

SAMPLES = 1500  # of the motion that is sent


def preview(robot: Robot, recording: Recording, physics: Physics, choice: Choice) -> Callable[[JointDynamics], dict[str, Any]]:
    """A function from joint dynamics to the recording's motion beside theirs, thinned, and the error of every joint [rad].

    The engine is made when the function is first called.
    """
    made: list[Engine] = []
    rows = slice(None, None, max(1, len(recording.time) // SAMPLES))

    def shown(dynamics: JointDynamics) -> dict[str, Any]:
        one = JointDynamics.stack([dynamics])
        if not made:
            made.append(engine(robot, recording.ordered_for(dynamics.joints), physics, choice=choice, candidates=one))
        measured = recording.ordered_for(dynamics.joints).position
        simulated = made[0].trajectories(one)[0][0]
        return {
            "time": exact(recording.time[rows] - recording.time[0]),
            "measured": packed(measured[rows].T),
            "simulated": packed(simulated[rows].T),
            "rmse": plain(np.sqrt(np.mean((simulated - measured) ** 2, axis=0))),
        }

    return shown
