"""Several fits side by side: left and right, day and day, unit and unit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from surefoot.errors import SurefootError
from surefoot.identify.fit import Fit
from surefoot.report.fit import shared, units
from surefoot.report.verdict import MEANINGS, lights, verdict


def fits_content(fits: Mapping[str, Fit]) -> dict[str, Any]:
    """Parameters of fits by name; joints and parameters are those that all of them have."""
    if len(fits) < 2:
        raise SurefootError("a comparison needs at least two fits.")
    every = list(fits.values())
    joints = [joint for joint in every[0].joints if all(joint in fit.joints for fit in every)]
    if not joints:
        raise SurefootError(
            f"the fits {', '.join(fits)} have no joint in common; compare fits of the same robot, or of units with the same "
            "joint names."
        )
    names = [name for name in every[0].parameters if all(name in fit.parameters for fit in every)]
    first = every[0]
    per_joint = [name for name in names if name not in shared(first) and all(name not in shared(fit) for fit in every)]
    rows = [_row(fits, name, joint) for name in per_joint for joint in joints]
    rows += [_row(fits, name, None, i) for name in names if all(name in shared(fit) for fit in every)
             for i in range(getattr(first.dynamics, name).shape[-1])]  # fmt: skip
    apart = sum(bool(row["apart"]) for row in rows)
    judged = {label: verdict(fit, lights(fit)) for label, fit in fits.items()}
    many = f"{apart} of {len(rows)} parameters differ by more than their 95 % intervals."
    text = many if apart else "No parameter differs by more than its 95 % intervals."
    return {
        "kind": "fits",
        "title": f"{', '.join(fits)}: joint dynamics side by side",
        "verdict": {"colour": "yellow" if apart else "green", "text": text},
        "joints": joints,
        "names": list(fits),
        "fits": [
            {"label": label, "colour": judged[label][0], "text": judged[label][1], "fit": fit.to_dict()}
            for label, fit in fits.items()
        ],
        "rows": rows,
        "meanings": MEANINGS,
    }


def _row(fits: Mapping[str, Fit], name: str, joint: str | None, entry: int = 0) -> dict[str, Any]:
    """One number in every fit, and the pairs whose intervals do not overlap."""
    values = []
    for fit in fits.values():
        i = entry if joint is None else fit.joints.index(joint)
        parts = {key: float(getattr(d, name)[i]) for key, d in (("value", fit.dynamics), ("low", fit.low), ("high", fit.high))}
        parts = {key: number if abs(number) < 1e300 else None for key, number in parts.items()}
        values.append({**parts, "flag": fit.flags[name][i]})
    unit = units(next(iter(fits.values())))[name][entry if joint is None else 0]
    labels = list(fits)
    pairs = combinations(range(len(values)), 2)
    apart = [[labels[a], labels[b]] for a, b in pairs if _apart(values[a], values[b])]
    return {"name": name, "joint": joint or "", "unit": unit, "values": values, "apart": apart}


def _apart(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two intervals, neither of them of a fixed value, have nothing in common."""
    if "fixed" in (a["flag"], b["flag"]) or None in (a["low"], a["high"], b["low"], b["high"]):
        return False
    return a["high"] < b["low"] or b["high"] < a["low"]
