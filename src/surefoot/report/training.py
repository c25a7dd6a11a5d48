"""One training as the content of a page: the marks of the policy that was kept, and the curves that led there."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.report.page import plain
from surefoot.train.evaluate import GOOD

Columns = dict[str, np.ndarray]  # of a CSV file

FIGURES = {  # columns of curves.csv that are drawn together, by the plot's title
    "reward [1/s]": ("reward", "velocity_tracking", "energy", "collisions", "touchdown"),
    "velocity error [m/s]": ("velocity_error",),
    "yaw error [rad/s]": ("yaw_error",),
    "power [W]": ("power",),
    "falls [per robot and iteration]": ("falls",),
    "spread of the actions": ("std",),
    "penalties in force": ("penalty",),
    "entropy coefficient": ("entropy_coefficient",),
    "learning rate": ("learning_rate",),
    "time of an iteration [s]": ("rollout_seconds", "update_seconds"),
}
LOGARITHMIC = ("learning rate",)
JUDGED = ("velocity_error", "yaw_error", "power")  # evaluations.csv beside the curves of the same name
MOST = 1500  # points of a curve


def is_training(folder: Path) -> bool:
    """Whether a folder was left by a training."""
    return (folder / "training.json").is_file() or (folder / "curves.csv").is_file()


def training_content(folder: Path) -> dict[str, Any]:
    """What the page of a training shows: training.json, curves.csv and evaluations.csv as they are."""
    path = folder / "training.json"
    if not path.is_file():
        raise SurefootError(f"the training in {folder} has not ended: {path.name} is written at its end. Draw it then.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        curves, marks = _columns(folder / "curves.csv"), _columns(folder / "evaluations.csv")
        colour, text = verdict(record)
        figures = [_figure(title, names, curves, marks) for title, names in FIGURES.items()]
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise SurefootError(f"{folder} was not written by surefoot train: {type(error).__name__} {error}.") from None
    return {
        "kind": "training",
        "title": f"{record['robot']}: training",
        "verdict": {"colour": colour, "text": text},
        "record": json.loads(json.dumps(record), parse_constant=lambda _: None),
        "good": GOOD,
        "figures": [figure for figure in figures if figure["lines"]],
    }


def verdict(record: Mapping[str, Any]) -> tuple[str, str]:
    """The kept policy in one colour and one sentence: green when it stays below every mark of a good one."""
    marks = {key: float("nan") if value is None else float(value) for key, value in record["evaluation"].items()}
    marks["falls"] = 1.0 - marks["standing"]
    missed = [name.replace("_", " ") for name, most in GOOD.items() if not marks[name] <= most]
    told = (
        f"The mean policy of iteration {record['iteration']} keeps its velocity to {marks['velocity_error']:.3g} m/s and its yaw "
        f"rate to {marks['yaw_error']:.3g} rad/s; {100 * marks['standing']:.0f} % of the robots stand after 12 s, at "
        f"{marks['power']:.3g} W and a cost of transport of {marks['cot']:.3g}."
    )
    if not missed:
        return "green", f"It walks. {told}"
    return ("red" if marks["falls"] > 0.5 else "yellow"), f"Not good yet in {', '.join(missed)}. {told}"


def _columns(path: Path) -> Columns:
    """A CSV file by column; empty when it is not there."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in (rows[0] if rows else ())}


def _figure(title: str, names: tuple[str, ...], curves: Columns, marks: Columns) -> dict[str, Any]:
    """One plot: its curves over the iteration, thinned, and what the mean policy did when it was judged."""
    lines = [_line(name, curves, name) for name in names if name in curves]
    lines += [_line(name, marks, "mean policy, judged") | {"judged": True} for name in names if name in JUDGED and name in marks]
    return {"title": title, "log": title in LOGARITHMIC, "lines": lines}


def _line(name: str, columns: Columns, label: str) -> dict[str, Any]:
    every = max(1, int(np.ceil(len(columns[name]) / MOST)))
    return {"name": label.replace("_", " "), "x": plain(columns["iteration"][::every], 8), "y": plain(columns[name][::every], 5)}
