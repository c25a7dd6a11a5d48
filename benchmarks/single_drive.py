"""The paper's single-drive study and its appendices, on a virtual drive that is richer than the model that is fitted.

  python benchmarks/single_drive.py [--seconds 20] [--out single-drive-figures]

A current chirp of 1-1250 Hz against the closed form; five loads, three gain sets and two firmware modes, each recorded by a
position chirp of 0.1-10 Hz and identified alone; the outer loop against H_q(s); leg inertia by pendulum, voltage-limited
bandwidth, inertia in stance. Tables here, figures in the folder. `single_drive/` has the bench, the study and the figures.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console

from common import header
from single_drive import figures, tables
from single_drive.study import study


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of a position chirp (at least 16)")
    parser.add_argument("--out", type=Path, default=Path("single-drive-figures"), help="folder of the figures")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 190, highlight=False)
    header(console, __file__)
    began = time.perf_counter()
    judge = tables.Judge(console)
    current = tables.current(console, judge)
    runs = study(console, seconds=options.seconds)
    tables.mechanical(console, judge, runs)
    tables.outer(console, judge, runs)
    tables.appendices(console, judge)
    for path in figures.draw_all(options.out, current, runs, tables.LEG, tables.AIR):
        console.print(f"wrote {path}", markup=False, soft_wrap=True)
    verdict = f"{judge.missed} target(s) MISSED" if judge.missed else "all targets met"
    console.print(f"{verdict}; {time.perf_counter() - began:.0f} s")
    return 1 if judge.missed else 0


if __name__ == "__main__":
    sys.exit(main())
