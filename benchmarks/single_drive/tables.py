"""What the study prints: tables, and targets with a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

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
from single_drive.study import Run, outer_model, pick, spread
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

WITHIN = {"rotor": 2.0, "interface": 6.0, "mass": 15.0}  # [%] the paper's errors of the inertia without compensation
SPREAD = {"rotor": 0.67, "interface": 3.7, "mass": 14.0}  # [%] its standard deviations over the gain sets
AIR = (0.076, 0.067)  # [kg·m²] the paper's I_a of ANYmal's LF_HFE and LF_KFE
LEG = StandingLeg(base_mass=52.8 / 4, length=0.3, hip_inertia=AIR[0], knee_inertia=AIR[1])
LINKS = (  # the paper's leg of Tytan: mass [kg], radius [m], frequency [Hz], inertia and deviation [kg·m²]
    ("thigh", 3.775, 0.30, 0.82, 0.0786, 0.0318),
    ("shank", 0.4803, 0.25, 0.88, 0.00850, 0.00276),
)


class Judge:
    """Prints targets with a verdict and counts the missed ones."""

    def __init__(self, console: Console) -> None:
        self.console, self.missed = console, 0

    def most(self, what: str, value: float, limit: float, unit: str, form: str = ".2f") -> None:
        """The value must not exceed the limit."""
        self._say(value <= limit, f"{what}: {value:{form}}{unit} (target: at most {limit:g}{unit})")

    def between(self, what: str, value: float, low: float, high: float, unit: str, form: str = ".2f") -> None:
        """The value must lie between the limits."""
        self._say(low <= value <= high, f"{what}: {value:{form}}{unit} (target: {low:g} to {high:g}{unit})")

    def _say(self, good: bool, line: str) -> None:
        self.missed += not good
        self.console.print(f"{'met   ' if good else 'MISSED'}  {line}", markup=False)


def current(console: Console, judge: Judge) -> FrequencyResponse:
    """The inner loop."""
    console.rule("current loop: chirp 1-1250 Hz, 2 A, 25 s, drive spinning freely")
    h = current_chirp(seconds=25.0)
    model = exact(h, current_model(h.frequency))
    table = _table(
        "H_i at some frequencies, measured and closed form", "Hz", "dB", "closed form", "phase °", "closed form", "coherence"
    )
    for f in (10, 25, 50, 100, 200, 350, 500, 1000):
        k = int(np.argmin(np.abs(h.frequency - f)))
        numbers = (h.magnitude[k], model.magnitude[k], *(np.degrees(r.phase[k]) for r in (h, model)))
        table.add_row(f"{h.frequency[k]:.0f}", *(f"{x:.2f}" for x in numbers), f"{h.coherence[k]:.4f}")
    console.print(table)
    decibels, degrees = apart(h.between(10, 100), model.between(10, 100).response)
    slope, sigma = dead_time(h.between(5, 300))
    judge.most("magnitude against the closed form, 10 to 100 Hz, worst", decibels, 1.0, " dB")
    judge.most("phase against the closed form, 10 to 100 Hz, worst", degrees, 5.0, "°")
    judge.most("phase lag at 25 Hz", float(-np.interp(25, h.frequency, np.degrees(h.phase))), 5.0, "°")
    judge.between("bandwidth, -3 dB (paper: 346)", bandwidth(h), 311, 381, " Hz", ".0f")
    judge.between("dead time in the phase slope (paper: about 400)", 1e6 * slope, 350, 450, " µs", ".0f")
    console.print(
        f"        (± {1.96e6 * sigma:.0f} µs.) The closed form alone has {bandwidth(model):.0f} Hz and "
        f"{1e6 * dead_time(model.between(5, 300))[0]:.0f} µs: it knows neither\n        the inverter's voltage error "
        "nor that the back-EMF is fed forward late."
    )
    return h


def mechanical(console: Console, judge: Judge, runs: Sequence[Run]) -> None:
    """Five loads, three gain sets, two firmware modes."""
    console.rule("mechanical loop: chirps 0.1-10 Hz logged at 2.5 kHz, one fit each")
    for mode, said in ((False, "error [%]"), (True, "offset [10⁻³ kg·m²]")):
        title = f"inertia at the output [10⁻² kg·m²], firmware compensation {'on' if mode else 'off'}"
        table = _table(title, "load", "analytic", *(f"P {p:g}, D {d:g}" for p, d in GAINS), *[said] * 3)
        for load in LOADS:
            mine = pick(runs, load=load, compensation=mode)
            found = (f"{100 * r.inertia:.3f} ± {100 * r.half_width:.3f}" for r in mine)
            table.add_row(load.name, f"{100 * load.total:.3f}", *found, *(_off(r, mode) for r in mine))
        console.print(table)
    for group in WITHIN:
        mine = pick(runs, compensation=False, group=group)
        judge.most(f"inertia, {group}: worst error", 100 * max(abs(r.error) for r in mine), WITHIN[group], " %")
        three = 100 * max(abs(r.paper_error) for r in mine)
        judge.most(f"inertia, {group}: worst error with the paper's three parameters", three, WITHIN[group], " %")
        judge.most(f"inertia, {group}: standard deviation over the gains", 100 * spread(mine), SPREAD[group], " %")
    offsets = 1e3 * np.array([r.offset for r in pick(runs, compensation=True)])
    mean, sigma = float(offsets.mean()), float(offsets.std(ddof=1))
    console.print(
        f"compensation, 15 runs: offset {mean:.2f} ± {sigma:.2f} · 10⁻³ kg·m²; the paper's is 8.1, and so is the acceleration "
        "feedback of the virtual firmware"
    )
    judge.most("offset with compensation: standard deviation over the mean", 100 * sigma / mean, 10.0, " %", ".1f")
    judge.between("offset with compensation: mean over the firmware's", 1e-3 * mean / VIRTUAL_INERTIA, 0.9, 1.1, "", ".3f")


def outer(console: Console, judge: Judge, runs: Sequence[Run]) -> None:
    """H_q at the heaviest load, and the inertia that the Bode plot alone gives."""
    console.rule(f"outer loop, {LOADS[-1].name}, compensation off: measured against H_q(s) with the identified values, 0.5-10 Hz")
    heads = (
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
    )
    table, worst = _table("inertia in 10⁻² kg·m²", *heads), []
    for p, d in GAINS:
        run = pick(runs, load=LOADS[-1], gains=(p, d), compensation=False)[0]
        h = run.response.between(0.5, 10)
        model = exact(h, outer_model(run, h.frequency))
        decibels, degrees = apart(h, model.response)
        by_bode = inertia_by_bode(h, p, d)
        worst.append((decibels, degrees))
        numbers = (h.magnitude[-1], model.magnitude[-1], decibels, degrees)
        inertias = (by_bode, run.inertia, run.load.total)
        table.add_row(
            f"{p:g}/{d:g}", _drop(h), _drop(model), *(f"{x:.2f}" for x in numbers), *(f"{100 * x:.2f}" for x in inertias)
        )
    console.print(table)
    judge.most("H_q, worst magnitude", max(w[0] for w in worst), 1.0, " dB")
    judge.most("H_q, worst phase", max(w[1] for w in worst), 10.0, "°")
    console.print(
        "        H_q has its delay on the command, and the current loop is late inside: a Bode fit pays D T of inertia for that."
    )


def inertia_by_bode(h: FrequencyResponse, stiffness: float, damping: float) -> float:
    """Inertia [kg·m²] of the H_q that fits a measured response best."""

    def model(f: np.ndarray, inertia: float, viscous: float, delay: float) -> np.ndarray:
        return joint_transfer(f, inertia=inertia, viscous=viscous, stiffness=stiffness, damping=damping, delay=delay)

    return fit_transfer(h, model, {"inertia": 0.03, "viscous": 0.0, "delay": 0.0}).values["inertia"]


def appendices(console: Console, judge: Judge) -> None:
    """Pendulum, voltage, stance."""
    console.rule("appendices")
    judge.between("drive: rotor, sun, planets, shaft (paper: 1.65)", 100 * OUTPUT.total, 1.645, 1.655, " · 10⁻² kg·m²", ".4f")
    rows = []
    for name, mass, radius, f, paper, sigma in LINKS:
        found = pendulum_inertia(mass, _measured(radius, 0.01), _measured(f, 0.03), 9.806).centre
        rows.append((f"{name}, about its centre of mass", found, paper, sigma))
    rows.append(("thigh, by its centre of mass", offset_inertia(3.775, _measured(0.105, 0.01)), 0.0416, 0.00793))
    table = _table("leg of Tytan by pendulum [kg·m²]", "", "found", "paper")
    for name, found, paper, sigma in rows:
        table.add_row(name, f"{found.value:.3g} ± {found.deviation:.3g}", f"{paper:.3g} ± {sigma:.3g}")
    console.print(table)
    off = max(abs(ratio - 1) for _, found, paper, sigma in rows for ratio in (found.value / paper, found.deviation / sigma))
    judge.most("pendulum, values and deviations: worst difference from the paper's table", 100 * off, 0.5, " %")
    judge.between("winding bandwidth R / 2πL (paper: 310)", winding_bandwidth(RESISTANCE, INDUCTANCE), 309, 311, " Hz", ".1f")
    motor = {"resistance": RESISTANCE, "inductance": INDUCTANCE, "bus_voltage": BUS, "back_emf": CONSTANT}
    table = _table("torque bandwidth at 48 V [Hz]", "motor [rad/s]", "±2 A", "±10 A", "±32 A")
    for speed in (0.0, 20.0, 40.0, 60.0, 80.0):
        table.add_row(f"{speed:g}", *(f"{f:.0f}" for f in torque_bandwidth(speed, [2.0, 10.0, 32.0], **motor)))
    console.print(table)
    level = float(np.sqrt(2) * LEG.length)
    judge.between("stance over air, knee, base moving up", float(LEG.vertical(level)) / AIR[1], 10, 100, " times", ".1f")
    judge.between("stance over air, hip, base moving level", float(LEG.horizontal(0.0, level)) / AIR[0], 10, 100, " times", ".1f")


def exact(like: FrequencyResponse, values: np.ndarray) -> FrequencyResponse:
    """A closed form at the frequencies of a measurement."""
    return FrequencyResponse(
        frequency=like.frequency, response=values, coherence=np.ones_like(like.coherence), averages=like.averages
    )


def apart(h: FrequencyResponse, model: np.ndarray) -> tuple[float, float]:
    """Worst difference of a measurement from a closed form [dB], [°]."""
    ratio = h.response / model
    return float(np.abs(20 * np.log10(np.abs(ratio))).max()), float(np.abs(np.degrees(np.angle(ratio))).max())


def _table(title: str, *heads: str) -> Table:
    table = Table(title=title)
    for k, head in enumerate(heads):
        table.add_column(head.replace("[", "\\["), justify="left" if k == 0 else "right")
    return table


def _measured(value: float, deviation: float) -> Measured:
    return Measured(value=value, deviation=deviation)


def _off(run: Run, mode: bool) -> str:
    return f"{1e3 * run.offset:+.2f}" if mode else f"{100 * run.error:+.2f}"


def _drop(h: FrequencyResponse) -> str:
    return f"{bandwidth(h):.2f}" if h.magnitude.min() < -3 else f"> {h.frequency[-1]:.0f}"
