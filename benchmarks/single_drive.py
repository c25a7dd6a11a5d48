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
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from single_drive.bench import (
    BUS,
    CONSTANT,
    GAINS,
    INDUCTANCE,
    LOADS,
    OUTPUT,
    RESISTANCE,
    VIRTUAL_INERTIA,
    current_chirp,
    current_model,
)
from single_drive.study import Run, pick, spread, study
from surefoot.analyze import (
    FrequencyResponse,
    Measured,
    StandingLeg,
    bandwidth,
    dead_time,
    fit_transfer,
    joint_transfer,
    offset_inertia,
    pendulum_inertia,
    torque_bandwidth,
    winding_bandwidth,
)

WITHIN = {"rotor": 0.02, "interface": 0.06, "mass": 0.15}  # the paper's errors of the inertia without compensation
SPREAD = {"rotor": 0.0067, "interface": 0.037, "mass": 0.14}  # its standard deviations over the gain sets
AMPLITUDE = 0.15  # [rad]
LEG = StandingLeg(base_mass=52.8 / 4, length=0.3, hip_inertia=0.076, knee_inertia=0.067)  # ANYmal, I_a of LF_HFE and LF_KFE
AIR = (LEG.hip_inertia, LEG.knee_inertia)


class Judge:
    """Targets, as lines with a verdict."""

    def __init__(self, console: Console) -> None:
        self.console, self.missed = console, 0

    def __call__(self, what: str, value: float, low: float, high: float, form: str = ".3g", unit: str = "") -> None:
        good = low <= value <= high
        self.missed += not good
        target = (
            f"at most {high:{form}}"
            if low == -np.inf
            else f"at least {low:{form}}"
            if high == np.inf
            else f"{low:{form}} to {high:{form}}"
        )
        self.console.print(f"{'met   ' if good else 'MISSED'}  {what}: {value:{form}}{unit} (target {target}{unit})")


def current(console: Console, judge: Judge) -> FrequencyResponse:
    """The inner loop."""
    console.rule("current loop: chirp 1-1250 Hz, 2 A, 25 s, drive spinning freely")
    measured = current_chirp(seconds=25.0)
    model = current_model(measured.frequency)
    table = Table(title="H_i at some frequencies, measured and closed form")
    for head in ("Hz", "dB", "closed form", "phase °", "closed form", "coherence"):
        table.add_column(head, justify="right")
    phase = np.degrees(np.unwrap(np.angle(model)))
    for f in (10, 25, 50, 100, 200, 350, 500, 1000):
        k = int(np.argmin(np.abs(measured.frequency - f)))
        table.add_row(
            f"{measured.frequency[k]:.0f}", f"{measured.magnitude[k]:.2f}", f"{20 * np.log10(abs(model[k])):.2f}",
            f"{np.degrees(measured.phase[k]):.1f}", f"{phase[k]:.1f}", f"{measured.coherence[k]:.4f}",
        )  # fmt: skip
    console.print(table)
    low = measured.between(10, 100)
    ratio = low.response / current_model(low.frequency)
    slope, sigma = dead_time(measured.between(5, 300))
    known = FrequencyResponse(frequency=measured.frequency, response=model, coherence=np.ones_like(model.real), averages=9)
    judge(
        "magnitude against the closed form up to 100 Hz, worst",
        float(np.abs(20 * np.log10(np.abs(ratio))).max()),
        -np.inf,
        1.0,
        ".2f",
        " dB",
    )
    judge(
        "phase against the closed form up to 100 Hz, worst",
        float(np.abs(np.degrees(np.angle(ratio))).max()),
        -np.inf,
        5.0,
        ".1f",
        "°",
    )
    judge("phase lag at 25 Hz", float(-np.interp(25, measured.frequency, np.degrees(measured.phase))), -np.inf, 5.0, ".1f", "°")
    judge("bandwidth, -3 dB (paper: 346)", bandwidth(measured), 0.9 * 346, 1.1 * 346, ".0f", " Hz")
    judge(f"dead time in the phase slope, ±{1.96e6 * sigma:.0f} (paper: about 400)", 1e6 * slope, 350, 450, ".0f", " µs")
    console.print(f"        the closed form's own: bandwidth {bandwidth(known):.0f} Hz, slope {1e6 * dead_time(known.between(5, 300))[0]:.0f} µs; "
                  "it knows neither the inverter's voltage error nor that the back-EMF is fed forward late")  # fmt: skip
    return measured


def mechanical(console: Console, judge: Judge, runs: Sequence[Run]) -> None:
    """The table of five loads, three gain sets and two firmware modes."""
    console.rule("mechanical loop: chirps 0.1-10 Hz logged at 2.5 kHz, one fit each")
    for mode in (False, True):
        said = "offset" if mode else "error"
        table = Table(title=f"inertia at the output [10⁻² kg·m²], firmware compensation {'on' if mode else 'off'}")
        for head in ("load", "analytic", *(f"P {p:g}, D {d:g}" for p, d in GAINS), f"{said}s"):
            table.add_column(head, justify="left" if head == "load" else "right")
        for load in LOADS:
            mine = pick(runs, load=load, compensation=mode)
            notes = "  ".join(f"{100 * r.offset:+.3f}" if mode else f"{100 * r.error:+.2f} %" for r in mine)
            found = (f"{100 * r.inertia:.3f} ± {100 * r.half_width:.3f}" for r in mine)
            table.add_row(load.name, f"{100 * load.total:.3f}", *found, notes)
        console.print(table)
    off = pick(runs, compensation=False)
    for group, limit in WITHIN.items():
        mine = pick(off, group=group)
        judge(f"inertia, {group}: worst error", 100 * max(abs(r.error) for r in mine), -np.inf, 100 * limit, ".2f", " %")
        judge(
            f"inertia, {group}: standard deviation over the gains", 100 * spread(mine), -np.inf, 100 * SPREAD[group], ".2f", " %"
        )
        judge(f"inertia, {group}: worst error with the paper's three parameters", 100 * max(abs(r.paper_error) for r in mine), -np.inf,
              100 * limit, ".2f", " %")  # fmt: skip
    offsets = np.array([r.offset for r in pick(runs, compensation=True)])
    console.print(f"compensation: offset {1e3 * offsets.mean():.2f} ± {1e3 * offsets.std(ddof=1):.2f} · 10⁻³ kg·m² (mean, standard deviation over "
                  f"15 runs); the firmware's acceleration feedback is {1e3 * VIRTUAL_INERTIA:.2f}, the paper's offset 8.1")  # fmt: skip
    judge(
        "offset with compensation: standard deviation over its mean",
        100 * float(offsets.std(ddof=1) / offsets.mean()),
        -np.inf,
        10,
        ".1f",
        " %",
    )
    judge(
        "offset with compensation: mean over the firmware's virtual inertia",
        float(offsets.mean() / VIRTUAL_INERTIA),
        0.9,
        1.1,
        ".3f",
    )


def outer(console: Console, judge: Judge, runs: Sequence[Run]) -> None:
    """H_q at the heaviest load, and the inertia that the Bode plot alone gives."""
    console.rule("outer loop, heaviest load, compensation off")
    table = Table(title="measured against H_q(s) with the identified values, 0.5-10 Hz")
    for head in (
        "gains",
        "-3 dB [Hz]",
        "H_q",
        "at 10 Hz [dB]",
        "H_q",
        "worst [dB]",
        "worst [°]",
        "I by Bode fit",
        "I by identify",
        "analytic",
    ):
        table.add_column(head, justify="right")
    worst = []
    for p, d in GAINS:
        run = pick(runs, load=LOADS[-1], gains=(p, d), compensation=False)[0]
        model = lambda f, inertia, viscous, delay, p=p, d=d: joint_transfer(  # noqa: E731
            f, inertia=inertia, viscous=viscous, stiffness=p, damping=d, delay=delay
        )
        h = run.response.between(0.5, 10)
        truth = model(h.frequency, run.inertia, float(run.dynamics.damping[0]), float(run.dynamics.delay[0]))
        ideal = FrequencyResponse(frequency=h.frequency, response=truth, coherence=np.ones_like(h.coherence), averages=h.averages)
        ratio = h.response / truth
        off = (float(np.abs(20 * np.log10(np.abs(ratio))).max()), float(np.abs(np.degrees(np.angle(ratio))).max()))
        fit = fit_transfer(h, model, {"inertia": 0.03, "viscous": 0.0, "delay": 0.0})
        worst.append((*off, abs(fit.values["inertia"] / run.load.total - 1)))
        drop = f"{bandwidth(h):.2f}" if h.magnitude.min() < -3 else "> 10"
        table.add_row(
            f"{p:g}/{d:g}", drop, f"{bandwidth(ideal):.2f}" if ideal.magnitude.min() < -3 else "> 10", f"{h.magnitude[-1]:.1f}", f"{ideal.magnitude[-1]:.1f}",
            f"{off[0]:.2f}", f"{off[1]:.1f}", f"{100 * fit.values['inertia']:.2f}", f"{100 * run.inertia:.2f}", f"{100 * run.load.total:.2f}",
        )  # fmt: skip
    console.print(table)
    judge("H_q, worst magnitude", max(w[0] for w in worst), -np.inf, 1.0, ".2f", " dB")
    judge("H_q, worst phase", max(w[1] for w in worst), -np.inf, 10.0, ".1f", "°")
    judge("inertia by Bode fit alone, worst error", 100 * max(w[2] for w in worst), -np.inf, 15, ".1f", " %")


def appendices(console: Console, judge: Judge) -> None:
    """Pendulum, voltage, stance."""
    console.rule("appendices")
    judge("drive, rotor + sun + planets + shaft (paper: 1.65)", 100 * OUTPUT.total, 1.645, 1.655, ".4f", " · 10⁻² kg·m²")
    table = Table(title="leg of Tytan by pendulum: inertia about the centre of mass [kg·m²]")
    for head in ("link", "found", "paper"):
        table.add_column(head)
    tip = 0.01  # [m]
    for name, mass, radius, f, paper in (
        ("thigh", 3.775, 0.30, 0.82, (0.0786, 0.0318)),
        ("shank", 0.4803, 0.25, 0.88, (0.00850, 0.00276)),
    ):
        found = pendulum_inertia(mass, Measured(value=radius, deviation=tip), Measured(value=f, deviation=0.03), 9.806).centre
        table.add_row(name, f"{found.value:.3g} ± {found.deviation:.3g}", f"{paper[0]:.3g} ± {paper[1]:.3g}")
        judge(f"{name}, value over the paper's", found.value / paper[0], 0.995, 1.005, ".4f")
        judge(f"{name}, deviation over the paper's", found.deviation / paper[1], 0.995, 1.005, ".4f")
    lever = offset_inertia(3.775, Measured(value=0.105, deviation=tip))
    table.add_row("thigh, by its centre of mass", f"{lever.value:.3g} ± {lever.deviation:.3g}", "0.0416 ± 0.00793")
    console.print(table)
    judge("thigh by its centre of mass, over the paper's", lever.value / 0.0416, 0.995, 1.005, ".4f")
    judge("winding bandwidth R / (2π L) (paper: 310)", winding_bandwidth(RESISTANCE, INDUCTANCE), 309, 311, ".1f", " Hz")
    motor = {"resistance": RESISTANCE, "inductance": INDUCTANCE, "bus_voltage": BUS, "back_emf": CONSTANT}
    at = torque_bandwidth(np.array([0.0, 30.0, 60.0])[:, None], np.array([2.0, 10.0, 32.0]), **motor)
    for speed, row in zip((0, 30, 60), at, strict=True):
        console.print(
            f"        torque bandwidth at {speed:2d} rad/s of the motor, ±2, ±10, ±32 A: {row[0]:.0f}, {row[1]:.0f}, {row[2]:.0f} Hz"
        )
    stance = np.sqrt(2) * LEG.length
    judge("stance over air, knee, vertical", float(LEG.vertical(stance)) / AIR[1], 8, 100, ".1f", " times")
    judge("stance over air, hip, horizontal", float(LEG.horizontal(0.0, stance)) / AIR[0], 10, 100, ".1f", " times")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of a position chirp")
    parser.add_argument("--out", type=Path, default=Path("single-drive-figures"), help="folder of the figures")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 190, highlight=False)
    header(console, __file__)
    began = time.perf_counter()
    judge = Judge(console)
    measured = current(console, judge)
    runs = study(seconds=options.seconds, amplitude=AMPLITUDE)
    mechanical(console, judge, runs)
    outer(console, judge, runs)
    appendices(console, judge)
    from single_drive.figures import draw_all

    for path in draw_all(options.out, measured, runs, LEG, AIR):
        console.print(f"wrote {path}", markup=False)
    console.print(
        f"{'all targets met' if not judge.missed else f'{judge.missed} target(s) MISSED'}; {time.perf_counter() - began:.0f} s"
    )
    return 1 if judge.missed else 0


if __name__ == "__main__":
    sys.exit(main())
