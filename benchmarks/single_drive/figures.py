"""The figures: each one file, drawn from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from single_drive.bench import (
    BUS,
    CONSTANT,
    GAINS,
    INDUCTANCE,
    INTERFACE,
    LOADS,
    MASS,
    OUTPUT,
    OWN,
    RESISTANCE,
    Load,
    current_model,
)
from single_drive.study import Run, outer_model, pick
from surefoot.analyze import (
    FrequencyResponse,
    StandingLeg,
    inertia_at_radius,
    torque_bandwidth,
    winding_bandwidth,
)

BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#d9701a", "#3a8f5c", "#8a8a8a"
COLOURS = (BLUE, ORANGE, GREEN)
plt.rcParams.update({
    "figure.dpi": 110, "savefig.dpi": 160, "savefig.bbox": "tight", "font.size": 10, "axes.grid": True, "grid.color": "#e3e3e3",
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.6,
})  # fmt: skip


def draw_all(
    folder: Path, current: FrequencyResponse, runs: Sequence[Run], leg: StandingLeg, air: tuple[float, float]
) -> list[Path]:
    """Write every figure; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        "current_loop": current_loop(current),
        "inertia": inertia(runs),
        "outer_loop": outer_loop(runs),
        "torque_bandwidth": voltage(),
        "stance_inertia": stance(leg, air),
    }
    paths = []
    for name, figure in made.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1])
        plt.close(figure)
    return paths


def current_loop(measured: FrequencyResponse) -> plt.Figure:
    """H_i: magnitude, phase and coherence, against the closed form."""
    figure, axes = plt.subplots(3, 1, figsize=(7, 7), sharex=True, height_ratios=(3, 3, 1.4), layout="constrained")
    f = np.geomspace(measured.frequency[0], measured.frequency[-1], 500)
    model = current_model(f)
    _bode(axes[:2], measured, f, model, BLUE, "virtual drive", "closed form")
    axes[0].axhline(-3, color=GREY, lw=1, ls=":")
    axes[0].text(f[0], -2.8, "-3 dB", color=GREY, fontsize=8, va="bottom")
    axes[2].semilogx(measured.frequency, measured.coherence, color=BLUE)
    axes[2].set(ylim=(0, 1.05), ylabel="coherence", xlabel="frequency [Hz]")
    axes[0].set_title("Current loop, commanded to measured current")
    return figure


def inertia(runs: Sequence[Run]) -> plt.Figure:
    """Identified against analytic inertia over the radius of the mass, without and with compensation."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
    radius = np.linspace(0.14, 0.29, 50)
    with_mass = OUTPUT.total + INTERFACE + inertia_at_radius(MASS, OWN, radius)
    for axis, mode in zip(axes, (False, True), strict=True):
        axis.plot(100 * radius, 100 * with_mass, color=GREY, label="analytic")
        for x, load in ((2, LOADS[0]), (8, LOADS[1])):
            axis.plot([x - 1.5, x + 1.5], [100 * load.total] * 2, color=GREY)
        for k, gains in enumerate(GAINS):
            mine = pick(runs, gains=gains, compensation=mode)
            at = [_place(r.load) for r in mine]
            axis.plot(
                at,
                [100 * r.inertia for r in mine],
                "osD"[k],
                color=COLOURS[k],
                ms=(11, 7, 3)[k],
                mfc="none" if k < 2 else None,
                mew=1.4,
                label=f"P = {gains[0]:g}, D = {gains[1]:g}",
            )
        axis.set_xticks([2, 8, 15.9, 21.6, 27.3], ["no load", "interface", "15.9", "21.6", "27.3"])
        axis.set_xlabel("radius of the mass [cm]")
        axis.set_title(f"firmware compensation {'on' if mode else 'off'}")
    axes[0].set_ylabel("inertia at the output [$10^{-2}$ kg m²]")
    axes[0].set_ylim(0, None)
    axes[0].legend(loc="upper left")
    return figure


def _place(load: Load) -> float:
    """Where a load stands on the axis of radii [cm]."""
    return {"no load": 2.0, "interface": 8.0}[load.name] if load.radius is None else 100 * load.radius


def outer_loop(runs: Sequence[Run]) -> plt.Figure:
    """H_q at the heaviest load under each gain set, against the closed form with the identified values."""
    figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
    f = np.geomspace(0.3, 10, 300)
    for colour, gains in zip(COLOURS, GAINS, strict=True):
        run = pick(runs, gains=gains, compensation=False, load=LOADS[-1])[0]
        _bode(
            axes,
            run.response,
            f,
            outer_model(run, f),
            colour,
            f"P = {gains[0]:g}, D = {gains[1]:g}",
            "$H_q(s)$" if colour == COLOURS[-1] else "",
        )
    axes[0].set_title(f"Position loop, {LOADS[-1].name}")
    axes[0].legend(loc="lower left")
    axes[1].set_xlabel("frequency [Hz]")
    axes[1].set_xticks([0.3, 0.5, 1, 2, 5, 10], ["0.3", "0.5", "1", "2", "5", "10"])
    axes[1].minorticks_off()
    return figure


def voltage() -> plt.Figure:
    """The highest frequency of a torque swing over the motor's speed."""
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    speed = np.linspace(0, BUS / CONSTANT, 600)
    motor = {"resistance": RESISTANCE, "inductance": INDUCTANCE, "bus_voltage": BUS, "back_emf": CONSTANT}
    f_inf = winding_bandwidth(RESISTANCE, INDUCTANCE)
    for colour, amplitude in zip((BLUE, GREEN, ORANGE), (2.0, 10.0, 32.0), strict=True):
        axis.semilogy(
            speed, np.maximum(torque_bandwidth(speed, amplitude, **motor), 1e-3), color=colour, label=f"±{amplitude:g} A"
        )
    axis.axhline(f_inf, color=GREY, ls="--", lw=1)
    axis.text(1, 1.05 * f_inf, f"$R/2\\pi L$ = {f_inf:.0f} Hz", color=GREY, va="bottom", fontsize=9)
    axis.axhline(25, color=GREY, ls=":", lw=1)
    axis.text(28, 26, "Nyquist frequency of a 50 Hz policy", color=GREY, va="bottom", fontsize=9)
    axis.set(ylim=(10, 10000), xlim=(0, BUS / CONSTANT), xlabel="motor speed [rad/s]", ylabel="torque bandwidth [Hz]")
    axis.set_title("What 48 V leave of the torque bandwidth")
    axis.legend(title="current", loc="upper right")
    return figure


def stance(leg: StandingLeg, air: tuple[float, float]) -> plt.Figure:
    """Inertia at knee and hip in stance over the base's position, against that in the air."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    level = np.sqrt(2) * leg.length
    z = np.linspace(0.5 * level, 1.98 * leg.length, 300)
    x = np.linspace(-0.2, 0.2, 400)
    axes[0].semilogy(z, leg.vertical(z), color=BLUE, label="on the ground")
    axes[0].axhline(air[1], color=ORANGE, label="in the air")
    axes[0].set(xlabel="hip height [m]", ylabel="inertia at the knee [kg m²]", title="Vertical motion of the base")
    seen = leg.horizontal(x, level)
    axes[1].semilogy(x, np.where(seen < 100, seen, np.nan), color=BLUE)
    axes[1].axhline(air[0], color=ORANGE)
    axes[1].set(xlabel="hip ahead of the foot [m]", ylabel="inertia at the hip [kg m²]", title="Horizontal motion of the base")
    axes[0].axvline(level, color=GREY, ls=":", lw=1)
    axes[1].axvline(0, color=GREY, ls=":", lw=1)
    axes[0].text(level + 0.005, 0.35, "agile stance", color=GREY, fontsize=9)
    axes[0].legend(loc="center left")
    return figure


def _bode(
    axes: np.ndarray, measured: FrequencyResponse, f: np.ndarray, model: np.ndarray, colour: str, name: str, theory: str
) -> None:  # fmt: skip
    """Magnitude and phase, points for what was measured and a line for the closed form."""
    many = len(measured.frequency) > 100
    style = {"color": colour, "ls": "", "marker": "." if many else "o", "ms": 3 if many else 4, "alpha": 0.8}
    dark = "black"
    axes[0].semilogx(measured.frequency, measured.magnitude, label=name, **style)
    axes[0].semilogx(f, 20 * np.log10(np.abs(model)), color=dark, lw=1.2, label=theory or None)
    axes[1].semilogx(measured.frequency, np.degrees(measured.phase), **style)
    axes[1].semilogx(f, np.degrees(np.unwrap(np.angle(model))), color=dark, lw=1.2)
    axes[0].set_ylabel("magnitude [dB]")
    axes[1].set_ylabel("phase [°]")
    if many:
        axes[0].legend(loc="lower left")
