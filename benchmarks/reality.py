"""Real hardware: three public recordings, fitted and judged on data that the fit has not seen.

  python benchmarks/reality.py --data PATH [dfki_double_pendulum] [igris_c] [bam_xl330]

PATH holds the three folders of those names; nothing of them is kept here. Exits with 1 when a target is missed:

  dfki_double_pendulum  both joints below the published forward error, 7.9 and 5.0 mrad, on the second half of 75 s
  igris_c               nothing is published: 40 s fitted, 20 s held out; left against right
  bam_xl330             mean absolute error over runs with firmware gains that the fit has not seen below the published 0.066 rad

`reality/` has a file for each set, which says how it was recorded and what is known about it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console

from common import header
from reality import humanoid, pendulum, servo
from surefoot import SurefootError

SETS = {"dfki_double_pendulum": pendulum.run, "igris_c": humanoid.run, "bam_xl330": servo.run}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the recordings")
    parser.add_argument("sets", nargs="*", metavar="set", help=f"one or more of {', '.join(SETS)} (default: all)")
    asked = parser.parse_args()
    if wrong := [name for name in asked.sets if name not in SETS]:
        parser.error(f"no set {', '.join(wrong)}; valid: {', '.join(SETS)}")
    console = Console(width=None if sys.stdout.isatty() else 190, highlight=False)
    header(console, __file__)
    missed = []
    for name in asked.sets or SETS:
        began = time.perf_counter()
        console.rule(name)
        try:
            missed += SETS[name](asked.data / name, console)
        except (OSError, SurefootError) as error:
            missed.append(f"{name}: {error}")
        console.print(f"{name}: {time.perf_counter() - began:.0f} s")
    for line in missed:
        console.print(f"MISSED  {line}", markup=False)
    console.print("all targets met" if not missed else f"{len(missed)} target(s) missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
