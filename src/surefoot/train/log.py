"""The curves of a training: a CSV file that any program reads, and the same figures for TensorBoard."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.train.evaluate import Evaluation

EVALUATED = ("velocity_error", "yaw_error", "standing", "power", "cot", "reward")


class Curves:
    """OUT/curves.csv, OUT/evaluations.csv and OUT/tensorboard; a row is on the disk as soon as it is added."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.curves, self.evaluations = folder / "curves.csv", folder / "evaluations.csv"
        self._new = True
        self._board: Any = _board(folder / "tensorboard")

    def rewind(self, iteration: int) -> None:
        """Forget what came after an iteration that is taken up again."""
        self._new = False
        for path in (self.curves, self.evaluations):
            if path.is_file():
                head, *rows = path.read_text(encoding="utf-8").splitlines()
                kept = [row for row in rows if int(row.split(",", 1)[0]) <= iteration]
                path.write_text("\n".join([head, *kept]) + "\n", encoding="utf-8")

    def add(self, iteration: int, samples: int, figures: dict[str, float]) -> None:
        """The figures of one iteration."""
        if self._new:
            for path in (self.curves, self.evaluations):
                path.unlink(missing_ok=True)
            self._new = False
        _append(self.curves, {"iteration": iteration, "samples": samples} | figures)
        if self._board:
            for name, value in figures.items():
                self._board.add_scalar(f"training/{name}", value, iteration)

    def evaluated(self, iteration: int, marks: Evaluation) -> None:
        """The marks of the mean policy after an iteration."""
        row: dict[str, float] = {name: getattr(marks, name) for name in EVALUATED}
        _append(self.evaluations, {"iteration": iteration} | row)
        if self._board:
            for name, value in row.items():
                self._board.add_scalar(f"evaluation/{name}", value, iteration)

    def close(self) -> None:
        """Write out what TensorBoard still holds."""
        if self._board:
            self._board.close()


def _append(path: Path, row: dict[str, float]) -> None:
    fresh = not path.is_file()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, row, lineterminator=os.linesep)
        if fresh:
            writer.writeheader()
        writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})


def _board(folder: Path) -> Any:
    """TensorBoard's writer, or nothing where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(log_dir=str(folder), flush_secs=10)
