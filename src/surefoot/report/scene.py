"""The 3-D view's geometry: links, axes and capsules as plain numbers; the page moves them itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.identify.fit import Fit
from surefoot.report.page import plain
from surefoot.robot.shape import shape_of
from surefoot.robot.spec import Robot


def scene(fit: Fit, robot: Robot) -> dict[str, Any]:
    """Links with their axes, capsules, and where each axis takes its position from: a column of the fit, or a fixed value.

    Encoders read q − bias; the links stand at q, so the page adds `bias` to what was measured and simulated.
    """
    shape = shape_of(robot)
    rest = dict(zip(robot.joints, robot.posture.tolist(), strict=True))
    columns = {joint: j for j, joint in enumerate(fit.joints)}
    links = [
        {
            "parent": link.parent,
            "position": plain(link.position),
            "rotation": plain(link.rotation),
            "axes": [
                {
                    "slide": axis.kind == "slide",
                    "axis": plain(axis.axis),
                    "anchor": plain(axis.anchor),
                    "reference": axis.reference,
                    "column": columns.get(axis.joint, -1),
                    "rest": rest.get(axis.joint, axis.reference),
                }
                for axis in link.axes
            ],
        }
        for link in shape.links
    ]
    capsules = [{"link": c.link, "start": plain(c.start), "end": plain(c.end), "radius": plain(c.radius)} for c in shape.capsules]
    bias = fit.dynamics.bias if fit.physics.bias_form == "encoder" else np.zeros(len(fit.joints))
    return {"links": links, "capsules": capsules, "bias": bias.tolist()}
