"""The paper's figures of on-ground transfer: velocities and violins, phase portraits, limit cycles, spectra, the replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from surefoot.analyze.run import AXES
from surefoot.analyze.walking import base_motion, density, limit_cycle, moving_mean, spectrum, step_response, walking
from surefoot.record.run import Run
from surefoot.robot import Robot

COLOURS = ("#8a8a8a", "#b3262e", "#d9701a", "#1f5fa8", "#3a8f5c")
UNITS = {"forward": "m/s", "sideways": "m/s", "yaw": "rad/s"}
HFE, KFE = 1, 2  # joints of the first leg
plt.rcParams.update({
    "figure.dpi": 110, "savefig.dpi": 160, "savefig.bbox": "tight", "font.size": 10, "axes.grid": True, "grid.color": "#e3e3e3",
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.4,
})  # fmt: skip


def draw_all(folder: Path, walks: Path, content: dict[str, Any], robot: Robot) -> list[Path]:
    """Every figure that the kept runs allow; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    first = content["machines"][0]
    policies = list(dict.fromkeys(row["policy"] for row in content["trials"]))
    colour = dict(zip(policies, COLOURS, strict=False))
    runs = {(p, t): Run.load(path) for p in policies for t in UNITS if (path := walks / f"{p}-{t}-{first}.npz").exists()}
    figures = {f"velocity_{test}": velocity(runs, content, test, colour) for test in UNITS if any(t == test for _, t in runs)}
    forward = {p: run for (p, t), run in runs.items() if t == "forward"}
    if forward:
        figures |= {"phase_portrait": portraits(forward, colour, robot), "limit_cycle": cycles(forward, colour, robot),
                    "spectrum": spectra(forward, colour, robot)}  # fmt: skip
    for policy in policies:
        pair = [walks / f"{policy}-replay-{where}.npz" for where in (first, "fitted")]
        if all(path.exists() for path in pair):
            figures[f"replay_{policy}"] = replayed(*(Run.load(path) for path in pair))
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1])
        plt.close(figure)
    return paths


def velocity(runs: dict[tuple[str, str], Run], content: dict[str, Any], test: str, colour: dict[str, str]) -> plt.Figure:
    """Left: commanded and true velocity on the first machine. Right: the violin of its steady state, and all machines' means."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), width_ratios=(3, 1.4), layout="constrained")
    names = [p for p, t in runs if t == test]
    for k, policy in enumerate(names):
        run = runs[policy, test]
        rows = walking(run)
        time = run.time[rows] - run.time[rows][0]
        axis = int(np.abs(run["command"][rows]).max(axis=0).argmax())
        left.plot(time, base_motion(run)[rows, axis], color=colour[policy], lw=0.8, alpha=0.85, label=policy)
        left.plot(time, run["command"][rows, axis], color="black", ls="--", lw=1)
        answer = step_response(run)
        if answer.samples.size > 2:
            at = np.linspace(answer.samples.min(), answer.samples.max(), 200)
            width = density(answer.samples, at)
            right.fill_betweenx(
                at, k - 0.4 * width / width.max(), k + 0.4 * width / width.max(), color=colour[policy], alpha=0.45
            )
        same = [r for r in content["trials"] if (r["policy"], r["test"]) == (policy, test)]
        means = [r["steady"] for r in same if r.get("steady") is not None]
        right.scatter(np.full(len(means), k), means, s=9, color=colour[policy])
    left.set(xlabel="time [s]", ylabel=f"{test} [{UNITS[test]}]")
    left.legend(ncols=4, fontsize=8)
    right.set(xticks=range(len(names)), xticklabels=names, title="steady state; points: means of all robots")
    right.title.set_fontsize(9)
    return figure


def portraits(runs: dict[str, Run], colour: dict[str, str], robot: Robot) -> plt.Figure:
    """Position and velocity of LF_HFE while each policy walks."""
    figure, axes = plt.subplots(
        1, len(runs), figsize=(3.2 * len(runs), 3.2), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for ax, (policy, run) in zip(axes[0], runs.items(), strict=True):
        rows = _late(run)
        ax.plot(run["position"][rows, HFE], run["velocity"][rows, HFE], color=colour[policy], lw=0.7)
        ax.set(title=policy, xlabel=f"{robot.joints[HFE]} [rad]")
    axes[0, 0].set_ylabel("[rad/s]")
    return figure


def cycles(runs: dict[str, Run], colour: dict[str, str], robot: Robot) -> plt.Figure:
    """Strides of the knee laid over each other, with their spread."""
    figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    for policy, run in runs.items():
        rows = _late(run)
        cycle = limit_cycle(run.time[rows], run["position"][rows, KFE], run["velocity"][rows, KFE])
        if cycle is None:
            continue
        q, v = (np.append(x, x[0]) for x in (cycle.position, cycle.velocity))
        ax.plot(q, v, color=colour[policy], label=f"{policy}: {cycle.period:.2f} s, scatter {cycle.scatter:.2f}")
        ax.errorbar(cycle.position[::6], cycle.velocity[::6], cycle.velocity_spread[::6], cycle.position_spread[::6], fmt="none",
                    ecolor=colour[policy], alpha=0.4)  # fmt: skip
    ax.set(xlabel=f"{robot.joints[KFE]} [rad]", ylabel="[rad/s]")
    ax.legend(fontsize=8)
    return figure


def spectra(runs: dict[str, Run], colour: dict[str, str], robot: Robot) -> plt.Figure:
    """Amplitudes of LF_HFE over frequency in the steady walk."""
    figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for policy, run in runs.items():
        rows = _late(run)
        f, amplitude = spectrum(run.time[rows], run["position"][rows, HFE])
        ax.semilogy(f[f < 25], amplitude[f < 25], color=colour[policy], label=policy)
    ax.set(xlabel="frequency [Hz]", ylabel=f"{robot.joints[HFE]} [rad]")
    ax.legend(fontsize=8)
    return figure


def replayed(hard: Run, soft: Run) -> plt.Figure:
    """The same commands on the machine and in the simulation that the policy was trained in, smoothed over half a second."""
    figure, axes = plt.subplots(3, 1, figsize=(10, 6), sharex=True, layout="constrained")
    for run, colour, name in ((hard, COLOURS[3], "machine"), (soft, COLOURS[2], "fitted simulation")):
        rows = walking(run)
        time = run.time[rows] - run.time[rows][0]
        for k, ax in enumerate(axes):
            ax.plot(time, moving_mean(time, base_motion(run)[rows, k], 0.5), color=colour, label=name)
            if run is hard:
                ax.plot(time, run["command"][rows, k], color="black", ls="--", lw=1, label="command")
    for ax, axis in zip(axes, AXES, strict=True):
        ax.set_ylabel(f"{axis} [{'rad/s' if axis == 'turn' else 'm/s'}]")
    axes[0].legend(ncols=3, fontsize=8)
    axes[-1].set_xlabel("time [s]")
    return figure


def _late(run: Run) -> np.ndarray:
    """The last four seconds of a walk."""
    rows = walking(run)
    return rows & (run.time > run.time[rows][-1] - 4.0)
