"""The same recordings, every method: learn from one chirp, be judged on other gains, random steps and another chirp.

  python benchmarks/methods.py --quick                                        2 virtual robots, short recordings and budgets
  python benchmarks/methods.py [--robots 12] [--data PATH] [--networks DIR]   virtual robots, and the real sets in PATH
  python benchmarks/methods.py anymal:3 --only hybrid lstm --seed 1           one row again

The virtual robots (`surefoot record --hardware virtual:SEED`) have current loops, gears with play and spring, load-dependent and
Stribeck friction, cogging, a lossy command path and a stand that gives: more than any fitted model. They report their motors'
torque, which the rows marked τ learn from. A case is NAME:SEED, one leg of that robot (13 unknowns), NAME:SEED:whole (49), or
a folder of PATH.
On real sets networks are asked for what their logs need (igris_c and bam_xl330: always told the gains). DIR holds convention
files (docs/networks.md): with anydrive.toml, a vendor's network that was learned elsewhere is a row of its own on anymal.

--out FOLDER takes rows.csv and the figures. With --resume the cases that are in rows.csv already are not run again: they are in
the table, and in the figure of errors over seconds, but not in the figures of single robots.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from methods.cases import Case, every
from methods.entries import FULL, QUICK, Answer, Budget, Entry, entries, total, worst
from surefoot import SurefootError

KINDS = {"fitted": "fitted", "gains": "other gains", "steps": "steps", "chirp": "other chirp", "later": "later"}
TARGET_VALIDATION = 0.05  # torque error of a network in its validation data, over its range
REAL_TIME_LIMIT = 300.0  # [s] of --quick


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method on one robot."""

    case: str
    method: str
    errors: dict[str, float]  # rms by kind of test [rad]
    worst: float  # joint of all unseen recordings [rad]
    seconds: float
    evaluations: int
    data: float  # [s]
    torque: bool
    armature: float  # median over the joints of (found − true) / true [-]; nan: unknown
    bias: float  # rms of found − true encoder offset [rad]
    delay: float  # found − true [s]
    validation: float | None

    @property
    def unseen(self) -> float:
        """Root mean square over the tests [rad]."""
        return float(np.sqrt(np.mean([e**2 for kind, e in self.errors.items() if kind != "fitted"])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="NAME:SEED or a real set (default: all)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--robots", type=int, default=12)
    parser.add_argument("--seconds", type=float, help="of the training chirp (default: 20, quick 10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="methods whose names contain one of these")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--networks", type=Path)
    parser.add_argument("--out", type=Path, default=Path("methods"))
    parser.add_argument("--resume", action="store_true", help="go on after the cases that OUT/rows.csv holds")
    asked = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 230, highlight=False)
    header(console, __file__)
    began = time.perf_counter()
    chosen = [e for e in entries(asked.networks) if not asked.only or any(w.lower() in e.name.lower() for w in asked.only)]
    if not chosen:
        parser.error(f"no method contains {asked.only}; valid: {', '.join(e.name for e in entries(asked.networks))}")
    budget, count, whole, seconds = (QUICK, 2, 0, 10.0) if asked.quick else (FULL, asked.robots, 3, 20.0)
    rows = kept(asked.out) if asked.resume else []
    if rows:
        console.print(f"from {asked.out.name}/rows.csv: {', '.join(dict.fromkeys(r.case for r in rows))}", markup=False)
    done = {r.case for r in rows}
    shown: list[tuple[Case, dict[str, Answer]]] = []
    for make in every(asked.cases, asked.data, count=count, whole=whole, seconds=asked.seconds or seconds):
        case = make()
        if case.name in done:
            continue
        answers: dict[str, Answer] = {}
        for entry in chosen:
            if (row := attempt(case, entry, asked.seed, budget, answers, console)) is not None:
                rows.append(row)
        shown.append((case, answers))
        keep(rows, asked.out)
    kind = lambda r: "real" if ":" not in r.case else "virtual, whole" if r.case.endswith("whole") else "virtual, one leg"  # noqa: E731
    for title in dict.fromkeys(kind(r) for r in rows):
        mine = [r for r in rows if kind(r) == title]
        console.print(table(f"{title}: {', '.join(dict.fromkeys(r.case for r in mine))}", chosen, mine))
    from methods import figures

    for path in figures.draw(rows, shown, asked.out):
        console.print(f"figure: {path.name}")
    if asked.networks and (asked.networks / "anydrive.toml").is_file():
        from methods.ground import walk_on_the_spot

        height, lost, torque = walk_on_the_spot(asked.networks / "anydrive.toml")
        console.print(
            "anydrive.toml under 16 robots that step on the spot for 2 s, without a policy, in the training world: lowest base "
            f"{100 * height:.0f} % of standing, {lost} lost by the engine, largest torque {torque:.0f} N·m"
        )
    return verdict(console, rows, time.perf_counter() - began if asked.quick else None)


def attempt(
    case: Case, entry: Entry, seed: int, budget: Budget, answers: dict[str, Answer], console: Console
) -> Row | None:  # fmt: skip
    """One row; None where the method does not apply."""
    if entry.only and not case.name.startswith(entry.only):
        return None
    if entry.torque and any(rec.torque is None for rec in case.train):
        return None
    try:
        answer = entry.run(case, seed, budget)
    except SurefootError as error:
        console.print(f"{case.name}, {entry.name}: {error}", markup=False)
        return None
    answers[entry.name] = answer
    scores = {kind: [answer.judge(rec) for rec in recs] for kind, recs in {"fitted": case.train, **case.tests}.items()}
    truth, found = case.truth, answer.dynamics
    both = truth is not None and found is not None
    row = Row(
        case=case.name, method=entry.name, errors={kind: total(s) for kind, s in scores.items()},
        worst=max(worst(s) for kind, s in scores.items() if kind != "fitted"), seconds=answer.seconds,
        evaluations=answer.evaluations, data=case.seconds, torque=entry.torque,
        armature=float(np.median(found.armature / truth.armature) - 1) if both else np.nan,
        bias=float(np.sqrt(np.mean((found.bias - truth.bias) ** 2))) if both and answer.fit else np.nan,
        delay=float(found.delay.mean() - truth.delay.mean()) if both and answer.fit else np.nan, validation=answer.validation,
    )  # fmt: skip
    console.print(
        f"{case.name}  {entry.name}: unseen {1e3 * row.unseen:.2f} mrad, {answer.seconds:.1f} s", style="dim", markup=False
    )
    return row


def table(title: str, chosen: list[Entry], rows: list[Row]) -> Table:
    """Medians over the robots; the worst joint of the worst robot; the share of the error without a model that is left."""
    out = Table(title=f"{title} (medians over {len({r.case for r in rows})}) \\[mrad]")
    kinds = [kind for kind in KINDS if any(kind in r.errors for r in rows)]
    heads = [*(KINDS[k] for k in kinds), "unseen", "left of no model", "worst joint", "armature off", "bias off", "delay off",
             "data", "seconds", "evaluations"]  # fmt: skip
    out.add_column("method")
    for head in heads:
        out.add_column(head, justify="right")
    bare = {r.case: r.unseen for r in rows if r.method == "no model"}
    for entry in chosen:
        mine = [r for r in rows if r.method == entry.name]
        if not mine:
            out.add_row(entry.name, *["-"] * len(heads))
            continue
        middle = lambda values: float(np.median(v)) if (v := [x for x in values if not np.isnan(x)]) else np.nan  # noqa: E731
        left = [r.unseen / bare[r.case] for r in mine if r.case in bare]
        cells = [number(1e3 * middle([r.errors[k] for r in mine if k in r.errors])) for k in kinds]
        cells += [number(1e3 * middle([r.unseen for r in mine])), f"{100 * middle(left):.1f} %" if left else "-"]
        cells += [number(1e3 * max(r.worst for r in mine))]
        cells += [number(100 * middle([abs(r.armature) for r in mine]), " %"), number(1e3 * middle([r.bias for r in mine]))]
        cells += [number(1e3 * middle([abs(r.delay) for r in mine]), " ms")]
        cells += [f"{middle([r.data for r in mine]):.0f} s{' + τ' if entry.torque else ''}"]
        cells += [number(middle([r.seconds for r in mine])), f"{middle([r.evaluations for r in mine]):.0f}"]
        out.add_row(entry.name, *cells)
    return out


def number(x: float, unit: str = "") -> str:
    """Three digits, or a dash."""
    return f"{x:.3g}{unit}" if np.isfinite(x) else "-" if np.isnan(x) else "diverged"


def keep(rows: list[Row], folder: Path) -> None:
    """Every row as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = [
        {**{k: v for k, v in vars(r).items() if k != "errors"}, **{f"rmse_{k}": r.errors.get(k) for k in KINDS}} for r in rows
    ]
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(plain[0]) if plain else [])
        writer.writeheader()
        writer.writerows(plain)


def kept(folder: Path) -> list[Row]:
    """The rows that `keep` wrote; none where there is no file."""
    path = folder / "rows.csv"
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    return [
        Row(
            case=r["case"], method=r["method"], errors={k: float(r[f"rmse_{k}"]) for k in KINDS if r[f"rmse_{k}"]},
            worst=float(r["worst"]), seconds=float(r["seconds"]), evaluations=int(r["evaluations"]), data=float(r["data"]),
            torque=r["torque"] == "True", armature=float(r["armature"]), bias=float(r["bias"]), delay=float(r["delay"]),
            validation=float(r["validation"]) if r["validation"] else None,
        )
        for r in found
    ]  # fmt: skip


def verdict(console: Console, rows: list[Row], seconds: float | None) -> int:
    """Targets, met or missed."""
    missed = 0

    def say(what: str, good: bool) -> None:
        nonlocal missed
        missed += not good
        console.print(f"{what}: {'met' if good else 'MISSED'}")

    learned = [r.validation for r in rows if r.validation is not None]
    if learned:
        say(f"torque error of networks in validation, largest of {len(learned)}: {100 * max(learned):.2f} % of the range "
            f"(target {100 * TARGET_VALIDATION:.0f} %)", max(learned) < TARGET_VALIDATION)  # fmt: skip
    if seconds is not None:
        count = len({r.method for r in rows})
        say(f"methods: {count} (target 8)", count >= 8)
        say(f"time: {seconds:.0f} s on {os.cpu_count()} cores (target {REAL_TIME_LIMIT:.0f} s)", seconds < REAL_TIME_LIMIT)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
