"""A double pendulum with two T-Motor AK80-6 under a PD loop on the host (DFKI, Wiebe et al., RA-L 2024): 75 s at 300 Hz.

Published: link masses and inertias, and a forward error of 7.9 and 5.0 mrad with the published joint parameters. The torque
channel is what the host commanded, so the host's law can be read off exactly:

    e_k = p(t_k+1) − q_k        τ_k = 20 e_k + 0.6 (e_k − e_k−1) · 300 Hz

p is not the desired trajectory itself: the controller replaced it by 40 cubics, each fitted to its share of the samples and
not joined to the next, so that p jumps by up to 27 mrad. With both known the logged torque is reproduced to 1e-5 N·m; the
command is rebuilt here from the desired trajectory alone, and no measurement enters it. A torque computed from q_k acts from
t_k+1 to t_k+2: one sample of delay and half of one of hold, inside the loop.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

from reality.tables import Structure, choose, errors, intervals, residual
from surefoot import Recording, Robot, Unknowns, compare, identify
from surefoot.identify import Fit, verdict
from surefoot.identify.unknowns import EXTRA
from surefoot.simulate import Physics

Array = np.ndarray
PUBLISHED = np.array([7.9e-3, 5.0e-3])  # [rad], all 75 s
STIFFNESS, DAMPING, RATE = 20.0, 0.6, 300.0  # of the host's loop
PIECES, DEGREE = 40, 3
FIT_END, HALF = 25.0, 37.5  # [s]
STEP = 1 / 1200  # [s]


def run(folder: Path, console: Console) -> list[str]:
    """Choose the structure inside the first half, fit the first half, judge on the second."""
    robot = Robot.load(folder / "double_pendulum_A0_model_2.0.xml").replace(torque_limit=np.full(2, 10.0))
    measured = np.loadtxt(next(folder.glob("*_PD_measured.csv")), delimiter=",", skiprows=1)
    desired = np.loadtxt(folder / "trajectory-pos-20.csv", delimiter=",", skiprows=1)
    whole = recorded(robot, measured, host_command(desired, measured[:, 0]))
    console.print(f"the host's law reproduces the logged torque to {law_error(whole, measured[:, 5:7]):.1e} N·m (rms)")
    first, second = whole.between(0, HALF).replace(name="first half"), whole.between(HALF).replace(name="second half")
    fit, validation = first.between(0, FIT_END).replace(name="0-25 s"), first.between(FIT_END).replace(name="25-37.5 s")
    ranked = compare(robot, [fit], held_out=[validation], physics=Physics(timestep=STEP))
    console.print("compare: " + ", ".join(f"{r.variant.name} {1e3 * r.held_out:.2f}" for r in ranked) + " mrad")
    console.print(f"compare: {verdict(ranked)}")
    kept = choose(console, robot, fit, validation, structures())
    found = identify(robot, [first], held_out=[second], physics=kept.physics, unknowns=kept.unknowns)
    simple = whole.replace(target=resampled(desired, 1, whole.time), target_velocity=resampled(desired, 3, whole.time),
                               command_hold=False)  # fmt: skip
    plain = identify(robot, [simple.between(0, HALF)], held_out=[simple.between(HALF)], physics=Physics(timestep=STEP))
    judged = found.held_out[0]
    rows = [
        ("published, forward, 75 s", PUBLISHED),
        ("fitted, first half", found.rmse),
        ("held out, second half", judged.rmse),
        ("no model, second half", judged.rmse_no_model),
        ("held out, desired trajectory as the command, paper's model", plain.held_out[0].rmse),
    ]
    errors(console, f"double pendulum, {kept.name}", rows, robot.joints)
    intervals(console, found, robot.joints)
    for line in misfit(found):
        console.print(line, markup=False)
    worse = [i for i in range(2) if not judged.rmse[i] < PUBLISHED[i]]
    missed = "dfki_double_pendulum: {} {:.2f} mrad, published {:.1f} mrad"
    return [missed.format(robot.joints[i], 1e3 * judged.rmse[i], 1e3 * PUBLISHED[i]) for i in worse]


def structures() -> list[Structure]:
    """From the paper's model to the richest, simple ones first."""
    inside = Physics(timestep=STEP, delay_on="torque")
    rows = [Structure(name="paper: delay on the command", physics=Physics(timestep=STEP), hold=True)]
    rows += [Structure(name="delay inside the loop", physics=inside, hold=True)]
    tried = [("load",), ("gain_scale",), ("breakaway",), ("load_friction",), ("load_friction", "gain_scale")]
    for extra in tried:
        if set(extra) <= set(EXTRA):
            name = f"delay inside the loop, {' and '.join(extra)}"
            rows.append(Structure(name=name, physics=inside, unknowns=Unknowns(extra=extra), hold=True))
    return rows


def host_command(desired: Array, stamps: Array) -> Array:
    """What the host's loop aimed at in the row of each stamp, shape (T, 2): its cubics, read at the next stamp."""
    at = np.minimum(np.append(stamps[1:], 2 * stamps[-1] - stamps[-2]), desired[-1, 0])
    parts = np.array_split(desired, PIECES)
    piece = np.searchsorted([part[-1, 0] for part in parts], at)
    out = np.empty((len(at), 2))
    for k, part in enumerate(parts):
        here, middle = piece == k, part[:, 0].mean()
        for j in range(2):
            cubic = np.polynomial.Polynomial.fit(part[:, 0] - middle, part[:, 1 + j], DEGREE)
            out[here, j] = cubic(at[here] - middle)
    return out


def recorded(robot: Robot, measured: Array, command: Array) -> Recording:
    """The recording: measured positions at their stamps under the host's command, held from row to row."""
    return Recording(
        joints=robot.joints,
        time=measured[:, 0],
        target=command,
        target_velocity=np.diff(command, axis=0, prepend=command[:1]) * RATE,
        position=measured[:, 1:3],
        stiffness=np.full(2, STIFFNESS),
        damping=np.full(2, DAMPING),
        command_hold=True,
        name="double pendulum",
    )


def law_error(rec: Recording, torque: Array) -> float:
    """How far the rebuilt law is from the logged torque [N·m], rms; the first and last rows are cut off."""
    error = rec.target - rec.position
    rebuilt = STIFFNESS * error + DAMPING * RATE * np.diff(error, axis=0, prepend=error[:1])
    return float(np.sqrt(((rebuilt - torque)[20:-20] ** 2).mean()))


def resampled(desired: Array, column: int, time: Array) -> Array:
    """Two columns of the desired trajectory at the measured stamps, shape (T, 2)."""
    return np.stack([np.interp(time, desired[:, 0], desired[:, column + j]) for j in range(2)], axis=1)


def misfit(fit: Fit) -> list[str]:
    """What is left, as a torque, how slow it is, and how much of it a wrong link mass would explain."""
    score, out = fit.recordings[0], []
    q = score.measured
    gravity = np.stack([np.sin(q[:, 0]), np.sin(q[:, 0] + q[:, 1])], axis=1)
    for j, joint in enumerate(fit.joints):
        torque = STIFFNESS * residual(score, j)
        answer = np.linalg.lstsq(gravity, torque, rcond=None)[0]
        share = 1 - np.var(torque - gravity @ answer) / np.var(torque)
        power = np.cumsum(np.abs(np.fft.rfft(torque)) ** 2)
        slow = np.fft.rfftfreq(len(torque), 1 / RATE)[np.searchsorted(power, 0.5 * power[-1])]
        out.append(
            f"{joint}: the residual is worth {torque.std():.3f} N·m, half of its power below {slow:.2f} Hz; "
            f"{100 * share:.0f} % of it has the shape of gravity"
        )
    return out
