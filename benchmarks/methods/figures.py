"""The figures: error against seconds, and the paper's in-air figures made from the same runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import csd, welch

from methods.cases import TOP, Case
from methods.entries import Answer
from surefoot import JointDynamics
from surefoot.identify import Score
from surefoot.simulate import engine

if TYPE_CHECKING:
    from methods import Row  # type: ignore[attr-defined]

COLOURS = {"no model": "tab:blue", "network": "tab:red", "fit": "tab:orange"}
SHOWN = ("MLP from torque", "LSTM from torque", "MLP from encoders")  # the network of the overlay: the first that is there
FIT = ("hybrid (default)", "least squares", "CMA-ES, paper's size")
PAPER = "CMA-ES, paper's size"
ZOOM = 1.5  # [s]
DRAWS = 48
RANDOMISED = 0.3  # half-width of a usual domain randomisation, relative
KINDS = {"armature": "armature", "damping": "damping", "friction": "friction", "bias": "bias", "delay": "delay"}


def draw(rows: list[Row], shown: list[tuple[Case, dict[str, Answer]]], folder: Path) -> list[Path]:
    """Every figure for which there is data."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 150})
    out = []
    jobs: list[tuple[str, Callable[[Any], Any]]] = [("error-against-seconds", lambda: against_seconds(plt, rows))]
    with_truth = [(c, a) for c, a in shown if c.truth is not None and pick(a, FIT)]
    for case, answers in with_truth[:1]:
        jobs += [
            ("overlay", lambda c=case, a=answers: overlay(plt, c, a)),
            ("delta-phase", lambda c=case, a=answers: delta(plt, c, a)),
        ]
        jobs += [("parameter-spread", lambda c=case, a=answers: spread(plt, c, a))]
        jobs += [("response-spread", lambda c=case, a=answers: response(plt, c, a))]
    if any(PAPER in a for _, a in shown):
        jobs.append(("loss-by-generation", lambda: generations(plt, shown)))
    for name, job in jobs:
        figure = job()
        path = folder / f"{name}.png"
        figure.savefig(path, bbox_inches="tight")
        plt.close(figure)
        out.append(path)
    return out


def pick(answers: dict[str, Answer], names: tuple[str, ...]) -> tuple[str, Answer] | None:
    """The first of these methods that was run."""
    return next(((name, answers[name]) for name in names if name in answers), None)


def against_seconds(plt: Any, rows: list[Row]) -> Any:
    """Median error on unseen motions against median seconds of the search or of learning, a mark for each method."""
    figure, axes = plt.subplots(figsize=(8, 5))
    methods = [m for m in dict.fromkeys(r.method for r in rows) if np.median([r.seconds for r in rows if r.method == m]) > 0]
    points = []
    virtual = [r for r in rows if ":" in r.case] or rows
    for m in methods:
        mine = [r for r in virtual if r.method == m and np.isfinite(r.unseen)]
        if not mine:
            continue
        x, y = np.median([r.seconds for r in mine]), 1e3 * np.median([r.unseen for r in mine])
        network = "from" in m
        axes.plot(x, y, marker="s" if network else "o", color="tab:red" if network else "tab:orange" if m in FIT else "tab:gray")
        points.append((x, y, m))
    bare = [r.unseen for r in virtual if r.method == "no model"]
    if bare:
        axes.axhline(1e3 * np.median(bare), color="tab:blue", linestyle=":", label="no model")
        axes.legend(frameon=False, loc="upper left")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("seconds to find or to learn it (median)")
    axes.set_ylabel("error on other gains, steps and another chirp [mrad] (median)")
    axes.margins(x=0.2, y=0.15)
    axes.grid(alpha=0.2)
    _label(axes, points)
    return figure


def _label(axes: Any, points: list[tuple[float, float, str]]) -> None:
    """Names beside their marks, each at the first place around it that is still free."""
    figure = axes.figure
    figure.canvas.draw()
    marks = [axes.transData.transform((x, y)) for x, y, _ in points]
    taken = [(px - 5, py - 5, px + 5, py + 5) for px, py in marks]
    steps = [0, 11, -11, 22, -22, 33, -33, 44, -44, 55, -55, 66, -66]
    for (x, y, name), (px, py) in sorted(zip(points, marks, strict=True), key=lambda pair: -pair[1][1]):
        for up, side in ((up, side) for up in steps for side in ("left", "right")):
            shift = 7 if side == "left" else -7
            line = {"arrowstyle": "-", "lw": 0.4, "color": "gray"} if abs(up) > 11 else None
            place = {"xytext": (shift, up), "textcoords": "offset points", "va": "center", "ha": side}
            text = axes.annotate(name, (x, y), fontsize=7, arrowprops=line, **place)
            box = _extent(text, figure)
            inside = box[0] > axes.bbox.x0 and box[2] < axes.bbox.x1 + 40
            others = [t for t in taken if not (t[0] < px < t[2] and t[1] < py < t[3])]
            if inside and not any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in others):
                break
            text.remove()
        else:
            text = axes.annotate(name, (x, y), fontsize=7)
        taken.append(_extent(text, figure))


def _extent(text: Any, figure: Any) -> tuple[float, float, float, float]:
    from matplotlib.text import Text

    text.update_positions(figure.canvas.get_renderer())
    box = Text.get_window_extent(text, figure.canvas.get_renderer())
    return box.x0, box.y0, box.x1, box.y1


def _runs(case: Case, answers: dict[str, Answer], kind: str) -> tuple[Any, list[tuple[str, str, Score]]]:
    """The unseen recording of a kind, and what each model makes of it."""
    rec = case.tests[kind][0]
    network, fit = pick(answers, SHOWN), pick(answers, FIT)
    runs = []
    if network:
        runs.append((network[0], COLOURS["network"], network[1].judge(rec)))
    assert fit is not None
    runs.append((fit[0], COLOURS["fit"], fit[1].judge(rec)))
    return rec, runs


def overlay(plt: Any, case: Case, answers: dict[str, Answer]) -> Any:
    """Target, measurement and every model of one joint, zoomed: the paper's trajectory figure."""
    rec, runs = _runs(case, answers, "chirp")
    joint = min(1, rec.n - 1)
    middle = rec.time[0] + 0.6 * rec.duration
    window = (rec.time > middle) & (rec.time < middle + ZOOM)
    figure, axes = plt.subplots(figsize=(8, 3.5))
    t = rec.time[window]
    axes.plot(t, rec.target[window, joint], "--", color="gray", label="target")
    axes.plot(t, rec.position[window, joint], color="tab:green", lw=5, alpha=0.4, label="measured")
    axes.plot(t, runs[0][2].no_model[window, joint], color=COLOURS["no model"], label="no model")
    for name, colour, score in runs:
        axes.plot(t, score.simulated[window, joint], color=colour, label=name)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"{rec.joints[joint]} [rad]")
    axes.set_title(f"{case.name}: another chirp, not seen", loc="left")
    axes.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, -0.38))
    return figure


def delta(plt: Any, case: Case, answers: dict[str, Answer]) -> Any:
    """Simulated minus measured position and velocity: the closer to the origin, the smaller the gap."""
    rec, runs = _runs(case, answers, "chirp")
    joint = 0
    shown = [("no model", COLOURS["no model"], runs[0][2].no_model), *((n, c, s.simulated) for n, c, s in runs)]
    figure, axes = plt.subplots(1, len(shown) + 1, figsize=(3.1 * (len(shown) + 1), 3.2))
    slope = lambda q: np.gradient(np.convolve(q, np.full(5, 0.2), "same"), rec.time)[10:-10]  # noqa: E731
    for k, (name, colour, run) in enumerate(shown):
        error = run[:, joint] - rec.position[:, joint]
        for axis in {axes[k], *([axes[-1]] if k else [])}:
            axis.plot(error[10:-10], slope(error), color=colour, lw=0.5)
        axes[k].set_title(name, fontsize=9)
    first = (
        np.abs(shown[0][2][:, joint] - rec.position[:, joint]).max(),
        np.abs(slope(shown[0][2][:, joint] - rec.position[:, joint])).max(),
    )
    for axis in axes[:-1]:
        axis.set_xlim(-1.1 * first[0], 1.1 * first[0])
        axis.set_ylim(-1.1 * first[1], 1.1 * first[1])
    axes[-1].set_title("without the first, enlarged", fontsize=9)
    for axis in axes:
        axis.axhline(0, color="k", lw=0.3)
        axis.axvline(0, color="k", lw=0.3)
        axis.set_xlabel("Δq [rad]")
    axes[0].set_ylabel(f"{rec.joints[joint]} Δq̇ [rad/s]")
    figure.tight_layout()
    return figure


def generations(plt: Any, shown: list[tuple[Case, dict[str, Answer]]]) -> Any:
    """Best loss by generation of the paper's search, one line for each kind of robot."""
    figure, axes = plt.subplots(figsize=(6, 3.5))
    seen = set()
    for case, answers in sorted(shown, key=lambda pair: not pair[0].name.endswith("whole")):
        kind = case.name.partition(":")[0]
        if PAPER not in answers or kind in seen or answers[PAPER].fit is None:
            continue
        seen.add(kind)
        axes.semilogy(answers[PAPER].fit.history, label=case.name)  # type: ignore[union-attr]
    axes.set_xlabel("generation")
    axes.set_ylabel("best loss [rad²]")
    axes.legend(frameon=False)
    axes.grid(alpha=0.25, which="both")
    return figure


def spread(plt: Any, case: Case, answers: dict[str, Answer]) -> Any:
    """What the fit leaves open against what a randomisation would: each parameter over the hidden machine's own."""
    chosen = pick(answers, FIT)
    assert chosen is not None
    assert chosen[1].fit is not None
    assert case.truth is not None
    fit, truth = chosen[1].fit, case.truth
    figure, axes = plt.subplots(1, len(KINDS), figsize=(11, 3.2), width_ratios=[4, 4, 4, 4, 1])
    for axis, name in zip(axes, KINDS, strict=True):
        true = getattr(truth, name)
        value, low, high = (getattr(x, name) for x in (fit.dynamics, fit.low, fit.high))
        at = np.arange(len(true))
        unit = 1e3 if name in ("bias", "delay") else 1.0
        if name != "bias":
            wide = RANDOMISED * value * unit
            axis.bar(at, 2 * wide, bottom=value * unit - wide, width=0.8, color="tab:blue", alpha=0.2,
                     label=f"±{100 * RANDOMISED:.0f} % randomisation")  # fmt: skip
        around = [(value - low) * unit, (high - value) * unit]
        axis.errorbar(at, value * unit, yerr=around, fmt="o", ms=3, capsize=2, color="tab:orange", label="fit, 95 % interval")
        axis.plot(at, true * unit, "_", color="tab:green", ms=9, mew=2, label="hidden machine, nearest")
        units = {"armature": "kg·m²", "damping": "N·m·s/rad", "friction": "N·m", "bias": "mrad", "delay": "ms"}
        axis.set_title(f"{name} [{units[name]}]", fontsize=9)
        axis.set_xticks(at, [j.replace("_", " ") for j in fit.joints] if len(true) > 1 else ["all"], rotation=90, fontsize=6)
        axis.set_xlim(-0.6, len(true) - 0.4)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, -0.08))
    figure.tight_layout()
    return figure


def response(plt: Any, case: Case, answers: dict[str, Answer]) -> Any:
    """From command to position of the first joint: what a randomisation covers, what the fit leaves open, and what was measured.

    Every curve is the cross spectrum of a whole replay over that of its command: nothing is linearised, nothing left out.
    """
    chosen = pick(answers, FIT)
    assert chosen is not None
    assert chosen[1].fit is not None
    fit, rec, rng = chosen[1].fit, case.train[0], np.random.default_rng(0)
    core = tuple(KINDS)

    def drawn(one: Callable[[str], Any]) -> JointDynamics:
        return JointDynamics.stack([fit.dynamics.replace(**{name: one(name) for name in core}) for _ in range(DRAWS)])

    at = lambda x, name: np.asarray(getattr(x, name))  # noqa: E731
    around = lambda name: rng.uniform(1 - RANDOMISED, 1 + RANDOMISED, at(fit.dynamics, name).shape)  # noqa: E731
    wide = drawn(lambda name: at(fit.dynamics, name) * around(name))
    half = lambda name: (at(fit.high, name) - at(fit.low, name)) / 3.92  # noqa: E731
    low = {name: -np.inf if name == "bias" else 0.0 for name in core}
    narrow = drawn(lambda name: np.maximum(rng.normal(at(fit.dynamics, name), half(name)), low[name]))
    used = engine(case.robot, rec, case.physics, candidates=narrow)
    time = np.arange(rec.time[0], rec.time[-1], 1 / rec.rate)
    top = TOP[case.name.partition(":")[0]]
    length = int(4 * rec.rate)

    def curve(run: Any) -> tuple[Any, Any]:
        q, u = (np.interp(time, rec.time, x[:, 0] - x[:, 0].mean()) for x in (run, rec.target))
        grid, cross = csd(u, q, rec.rate, nperseg=length)
        ratio = cross / welch(u, rec.rate, nperseg=length)[1]
        keep = (grid > 0.25) & (grid < 0.95 * top)
        return grid[keep], ratio[keep]

    f, measured = curve(rec.position)
    bands = [np.array([curve(run)[1] for run in used.trajectories(draws)[0]]) for draws in (wide, narrow)]
    figure, axes = plt.subplots(2, 1, figsize=(6, 5), sharex=True)
    views = (lambda x: 20 * np.log10(np.abs(x)), lambda x: np.rad2deg(np.unwrap(np.angle(x), axis=-1)))
    looks = (("tab:blue", 0.2, f"±{100 * RANDOMISED:.0f} % randomisation"), ("tab:orange", 0.9, "fit, 95 % intervals"))
    for axis, view in zip(axes, views, strict=True):
        for band, (colour, alpha, name) in zip(bands, looks, strict=True):
            axis.fill_between(f, *np.percentile(view(band), (2.5, 97.5), axis=0), color=colour, alpha=alpha, lw=1.0, label=name)
        axis.semilogx(f, view(measured), "--", color="tab:green", lw=1.5, label="measured")
        axis.grid(alpha=0.2, which="both")
        axis.set_xticks([x for x in (0.3, 0.5, 1, 2, 3, 5, 8) if f[0] <= x <= f[-1]])
        axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        axis.xaxis.set_minor_formatter(lambda x, _: "")
    axes[0].set_ylabel("magnitude [dB]")
    axes[1].set_ylabel("phase [°]")
    axes[1].set_xlabel("frequency [Hz]")
    axes[0].set_title(f"{case.name} {rec.joints[0]}: command to position", loc="left", fontsize=9)
    axes[0].legend(frameon=False)
    return figure
