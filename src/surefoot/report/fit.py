"""One fit as the content of a page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.fit import Fit
from surefoot.identify.names import mirrored
from surefoot.report import motion
from surefoot.report.frequency import frequency
from surefoot.report.page import packed
from surefoot.report.residual import residuals
from surefoot.report.scene import scene
from surefoot.report.verdict import MEANINGS, lights, verdict
from surefoot.robot.dynamics import PARAMETERS
from surefoot.robot.spec import Robot


def fit_content(fit: Fit, robot: Robot | None = None, *, baseline: Fit | None = None) -> dict[str, Any]:
    """Everything that the page of a fit shows; without its robot there is no 3-D view and no analytic frequency response."""
    scores = [*fit.recordings, *fit.held_out]
    if any(not score.measured.size for score in scores):
        raise SurefootError(
            f"the fit of {fit.robot} has no trajectories: trajectories.npz is missing beside its fit.json. Copy it there, or "
            "identify again."
        )
    if robot is not None and (missing := [joint for joint in fit.joints if joint not in robot.joints]):
        raise SurefootError(
            f"the fit is of {fit.robot} and its joint{'s' * (len(missing) > 1)} {', '.join(missing)}, which robot {robot.name} "
            f"does not have (it has {', '.join(robot.joints)}); pass the fitted robot with --robot."
        )
    if baseline is not None and not {s.hash for s in scores} & {s.hash for s in (*baseline.recordings, *baseline.held_out)}:
        raise SurefootError(
            "the baseline was neither fitted to nor scored on any recording of this fit, so there is nothing to compare; "
            "identify it with the same recordings, for example as --held-out."
        )
    found = lights(fit)
    colour, sentence = verdict(fit, found)
    return {
        "kind": "fit",
        "title": f"{fit.robot}: joint dynamics",
        "verdict": {"colour": colour, "text": sentence},
        "lights": [asdict(light) for light in found],
        "fit": fit.to_dict(),
        "rmse": [None if np.isnan(value) else float(value) for value in np.minimum(fit.rmse, 1e300)],
        "symbols": {name: PARAMETERS[name].symbol for name in fit.parameters},
        "units": units(fit),
        "shared": shared(fit),
        "meanings": MEANINGS,
        "twins": mirrored(fit.joints),
        "recordings": motion.recordings(fit),
        "portrait": motion.portrait(fit, baseline),
        "frequency": frequency(fit, robot),
        "residuals": [residuals(score) for score in scores],
        "matrix": {"labels": list(fit.labels), "values": packed(fit.matrix)} if fit.matrix.size else None,
        "scene": scene(fit, robot) if robot is not None else None,
    }


def units(fit: Fit) -> dict[str, list[str]]:
    """The unit of every entry of every parameter."""
    out = {}
    for name in fit.parameters:
        unit, count = fit.unit(name), getattr(fit.dynamics, name).shape[-1]
        out[name] = list(unit) if isinstance(unit, list) else [unit] * count
    return out


def shared(fit: Fit) -> list[str]:
    """Parameters whose entries are not one per joint."""
    n = len(fit.joints)
    of_joint = lambda name: PARAMETERS[name].size == "joint" or (name == "delay" and fit.dynamics.delay.shape[-1] == n > 1)  # noqa: E731
    return [name for name in fit.parameters if not of_joint(name)]
