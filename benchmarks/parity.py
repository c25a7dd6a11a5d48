"""Does the in-air kernel step as MuJoCo does? The largest difference in any joint at any sample of a 20 s chirp, float64.

  python benchmarks/parity.py [robot ...]

Beside the kernel runs the reference engine: one `mj_step` after another (implicitfast, friction and limits by MuJoCo's own
solver). MuJoCo's solver tolerance is set to 0 for it, because the default of 1e-8 stops the friction solver before it has
converged: the column "default tolerance" shows what that alone costs, and it is MuJoCo's error, not the kernel's.

Every joint swings about its posture, or the middle of its range where the posture is too near an end, inside its limits. All have
friction, so that they reverse, and stand at times: the table counts both. The bundled robots run under their own gains and joint
dynamics, the others under gains and dynamics in proportion to their inertias (3 Hz, well damped).

On the torque-speed envelope parity has a limit that is not the kernel's. Tytan's knee has a gear ratio of up to 9, which cuts the
motor's no-load speed of 29 rad/s to 3 rad/s and makes the envelope so steep (stall r²/no-load, 98 N·m·s/rad) that a 2.5 ms step,
in which a saturated torque is explicit, chatters on it. There the motion is chaotic: MuJoCo, started 1e-15 rad beside where it
was, ends elsewhere too. So tytan's chirp stays inside the envelope; the row "tytan, chattering", which is not judged, does not,
and the column "nudged" shows for every case how far MuJoCo moves from itself.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from compile_time import table as compile_table
from robots import EXAMPLES, load
from surefoot import JointDynamics, Physics, Robot
from surefoot.record import Recording
from surefoot.simulate import InAir, Reference

SECONDS, RATE, START = 20.0, 400.0, 0.1  # [s], [Hz], [Hz]
TARGET, SATURATING = 1e-9, 1e-6  # [rad]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One robot through one chirp."""

    name: str
    robot: Robot
    dynamics: JointDynamics
    amplitude: np.ndarray  # [rad] or [m], shape (n,)
    centre: np.ndarray
    top: float = 6.0  # [Hz]
    target: float | None = TARGET  # None: not judged

    def recording(self) -> Recording:
        """The chirp; the robot starts at its target, at rest."""
        time = np.arange(round(SECONDS * RATE)) / RATE
        phase = 2 * np.pi * (START * time + (self.top - START) / (2 * SECONDS) * time**2)
        sense = np.where(np.arange(self.robot.n) % 2, -1.0, 1.0)
        target = self.centre + self.amplitude * sense * np.sin(phase)[:, None]
        return Recording(joints=self.robot.joints, time=time, target=target, position=target, velocity=np.zeros_like(target),
                         stiffness=self.robot.stiffness, damping=self.robot.damping)  # fmt: skip


class Hasty(Reference):
    """MuJoCo with the solver tolerance that it has by default."""

    def _with(self, dynamics: JointDynamics) -> Any:
        model = super()._with(dynamics)
        default = mujoco.MjOption()
        model.opt.tolerance, model.opt.ls_tolerance = default.tolerance, default.ls_tolerance
        return model


def bundled(name: str, amplitude: float = 0.25, *, label: str = "", **more: Any) -> Case:
    """A bundled robot under its own gains and dynamics."""
    robot = load(name)
    assert robot.dynamics is not None
    delayed = robot.dynamics.replace(delay=np.maximum(robot.dynamics.delay, 0.0043))
    size = np.full(robot.n, amplitude)
    return Case(name=label or name, robot=robot, dynamics=delayed, amplitude=size, centre=robot.posture, **more)


def in_proportion(name: str, seed: int = 0) -> Case:
    """A robot of which only the model is known: gains, friction and damping follow from its inertias."""
    robot, rng = load(name), np.random.default_rng(seed)
    slide = np.array([kind == "slide" for kind in robot.kinds])
    span = np.where(np.isfinite(robot.upper - robot.lower), robot.upper - robot.lower, 2.0)
    amplitude = np.minimum(np.where(slide, 0.03, 0.15), 0.3 * span)
    limited = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    middle = np.where(
        limited, 0.5 * np.where(limited, robot.lower, 0.0) + 0.5 * np.where(limited, robot.upper, 0.0), robot.posture
    )
    inside = (robot.posture - 1.5 * amplitude > robot.lower) & (robot.posture + 1.5 * amplitude < robot.upper)
    centre = np.where(inside, robot.posture, middle)
    inertia = 1.2 * _inertia(robot, centre)
    stiffness, damping = inertia * (2 * np.pi * 3) ** 2, 1.2 * inertia * (2 * np.pi * 3)
    share = lambda low, high: rng.uniform(low, high, robot.n)  # noqa: E731
    dynamics = JointDynamics(
        joints=robot.joints, delay=rng.uniform(0.002, 0.008, 1),
        armature=inertia * share(0.05, 0.3), damping=damping * share(0.05, 0.4),
        friction=stiffness * amplitude * share(0.02, 0.3), bias=amplitude * share(-0.1, 0.1),
    )  # fmt: skip
    return Case(
        name=name, robot=robot.with_gains(stiffness, damping), dynamics=dynamics, amplitude=amplitude, centre=centre, top=5.0
    )


def _inertia(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Diagonal of the mass matrix [kg·m²], shape (n,)."""
    model = mujoco.MjModel.from_xml_string(robot.model)
    data, full = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    rows = [model.joint(name).dofadr[0] for name in robot.joints]
    data.qpos[rows] = q
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, full)
    return np.diag(full)[rows]


def saturating() -> Case:
    """ANYmal with motors so weak that torque limit and torque-speed envelope both cut in."""
    case = bundled("anymal", amplitude=0.35)
    n = case.robot.n
    weak = case.robot.replace(torque_limit=np.full(n, 30.0), stall_torque=np.full(n, 45.0), no_load_speed=np.full(n, 6.0))
    return dataclasses.replace(case, name="anymal, weak motors", robot=weak, top=5.0, target=SATURATING)


CASES = {
    "anymal": lambda: bundled("anymal"),
    "tytan": lambda: bundled("tytan"),
    "minimal": lambda: bundled("minimal"),
    "single_drive": lambda: bundled("single_drive"),
    **{name: lambda name=name: in_proportion(name) for name in [*EXAMPLES, "rail"]},
    "anymal, weak motors": saturating,
    "tytan, chattering": lambda: bundled("tytan", amplitude=0.4, label="tytan, chattering", target=None),
}


def row(case: Case) -> tuple[list[str], bool]:
    """One line of the table, and whether the target is met."""
    recording, one = case.recording(), JointDynamics.stack([case.dynamics])
    q, _, clamped = InAir(case.robot, recording, Physics()).trajectories(one)
    truth, _, clamped_truth = Reference(case.robot, recording, Physics()).replay(case.dynamics)
    hasty = Hasty(case.robot, recording, Physics()).replay(case.dynamics)[0]
    nudge = case.dynamics.replace(bias=case.dynamics.bias + 1e-15)
    nudged = Reference(case.robot, recording, Physics()).replay(nudge)[0]
    speed = np.diff(truth, axis=0) * RATE
    error = float(np.abs(q[0] - truth).max())
    good = case.target is None or bool(error <= case.target and (clamped[0] == clamped_truth).all() and np.isfinite(truth).all())
    verdict = "not judged" if case.target is None else f"{case.target:.0e}: " + ("met" if good else "[red]MISSED[/red]")
    low, high = case.amplitude.min(), case.amplitude.max()
    cells = [
        case.name, str(case.robot.n), f"{low:.2g}" if low == high else f"{low:.2g}-{high:.2g}", f"{case.top:g}",
        str(int((np.diff(np.sign(speed), axis=0) != 0).sum())), f"{100 * (np.abs(speed) < 1e-3).mean():.1f}",
        f"{100 * clamped_truth.mean() / len(truth):.1f}", f"{error:.1e}", f"{np.abs(hasty - truth).max():.1e}",
        f"{np.abs(nudged - truth).max():.1e}", verdict,
    ]  # fmt: skip
    return cells, good


def main() -> int:
    console = Console(width=150)
    header(console, __file__)
    table = Table(
        "robot", "joints", "amplitude\n[rad, m]", "to\n[Hz]", "reversals", "standing\n[%]", "saturated\n[%]",
        "kernel - mj_step\n[rad]", "mj_step at default\ntolerance 1e-8", "mj_step nudged\nby 1e-15", "verdict",
        title="20 s chirp, 400 Hz, float64, friction on: max difference to mj_step with its solver tolerance at 0,\n"
        "because MuJoCo's default of 1e-8 stops its friction solver early (what that costs has its own column)",
    )  # fmt: skip
    missed = []
    for name in sys.argv[1:] or CASES:
        cells, good = row(CASES[name]())
        table.add_row(*cells)
        missed += [] if good else [name]
    console.print(table)
    console.print(compile_table(["anymal", "g1"]))
    if missed:
        console.print(f"[red]target missed: {', '.join(missed)}[/red]")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
