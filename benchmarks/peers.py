"""The same case fitted by surefoot and by MuJoCo's own system-identification toolbox, in one run on one machine.

  python benchmarks/peers.py [--no-cmaes] [--generations 200]

A hung ANYmal with hidden joint dynamics, 20 s of chirp at 400 Hz, simulated by MuJoCo without noise, so that a parameter's
error is the method's own. `mujoco.sysid` is used as its README says: Parameters with modifiers on the MjSpec, a
SignalTransform for the delay (a delayed command and a delayed encoder are the same thing for a loop that starts at rest),
`build_residual_fn`, `optimize` with its default optimizer, all threads. It gets 37 parameters (armature, damping, friction,
delay) and the true bias; surefoot finds the biases as well, 49 parameters. Both start without a hint: sysid in the middle of
the bounds, surefoot as it always does. Then the paper's protocol, CMA-ES with 4096 candidates. The toolbox's own
dependencies are in the extra `dev`.
"""

from __future__ import annotations

import argparse
import sys
import time

import mujoco
import numpy as np
from rich.console import Console
from rich.progress import Progress as Bar
from rich.table import Table

from common import header
from surefoot import JointDynamics, Robot, Unknowns, chirp, identify, rehearse
from surefoot.demo import hidden_robot
from surefoot.identify import Progress
from surefoot.record import Recording
from surefoot.simulate import Physics, Reference

BOUNDS = {"armature": (1e-5, 1.0), "damping": (0.0, 10.0), "friction": (0.0, 5.0), "delay": (0.0, 0.025)}
TARGET, AIM = 80.0, 200.0


def case() -> tuple[Robot, JointDynamics, Recording]:
    """A hung ANYmal, its secret, and its noise-free recording."""
    hidden = hidden_robot("anymal", seed=7)
    motion = chirp(hidden.robot, stop_hz=8.0)
    truth = hidden.truth.replace(bias=np.zeros(hidden.robot.n))
    return hidden.robot, truth, rehearse(hidden.robot, truth, motion, name="chirp")


def with_sysid(robot: Robot, rec: Recording) -> tuple[JointDynamics, float]:
    """mujoco.sysid's answer and its seconds."""
    from mujoco import sysid

    model = Reference(robot, rec, Physics()).model
    spec = mujoco.MjSpec.from_string(robot.model)
    for j, name in enumerate(rec.joints):
        servo = spec.add_actuator(name=f"{name}_servo", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm[0], servo.biasprm[:3] = rec.stiffness[j], [0, -rec.stiffness[j], -rec.damping[j]]
        limit = robot.torque_limit[j]
        servo.forcelimited, servo.forcerange = True, [-limit, limit]
        spec.add_sensor(
            name=f"{name}_pos", type=mujoco.mjtSensor.mjSENS_JOINTPOS, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=name
        )
    parameters = sysid.ParameterDict()

    def add(name: str, kind: str, modifier: object = None) -> None:
        low, high = BOUNDS[kind]
        parameters.add(sysid.Parameter(name, nominal=(low + high) / 2, min_value=low, max_value=high, modifier=modifier))  # type: ignore[arg-type]

    for name in rec.joints:
        add(f"{name}_armature", "armature", lambda s, p, name=name: setattr(s.joint(name), "armature", p.value[0]))
        add(f"{name}_damping", "damping", lambda s, p, name=name: setattr(s.joint(name), "damping", [p.value[0], 0, 0]))
        add(f"{name}_friction", "friction", lambda s, p, name=name: setattr(s.joint(name), "frictionloss", p.value[0]))
    add("delay", "delay")
    compiled = spec.compile()
    transform = sysid.SignalTransform()
    transform.delay("*_pos", parameters["delay"])
    start = sysid.create_initial_state(compiled, rec.position[0], np.zeros(model.nv))
    sequences = sysid.ModelSequences(
        "anymal", spec, "chirp", start, sysid.TimeSeries.from_control_names(rec.time, rec.target, compiled),
        sysid.TimeSeries.from_names(rec.time, rec.position, compiled),
    )  # fmt: skip
    residual = sysid.build_residual_fn(models_sequences=[sequences], modify_residual=transform.apply)
    began = time.perf_counter()
    found, _ = sysid.optimize(parameters, residual, verbose=False)
    seconds = time.perf_counter() - began
    values = {
        kind: np.array([found[f"{name}_{kind}"].value[0] for name in rec.joints]) for kind in ("armature", "damping", "friction")
    }
    delay = np.array([found["delay"].value[0] + model.opt.timestep])  # its sensor rows carry the time of the end of their step
    return JointDynamics(joints=rec.joints, bias=np.zeros(robot.n), delay=delay, **values), seconds


def with_surefoot(robot: Robot, rec: Recording) -> tuple[JointDynamics, float, float]:
    """surefoot's answer, its seconds the first time in this process, and when its kernels are warm."""
    times = []
    for _ in range(6):
        began = time.perf_counter()
        fit = identify(robot, [rec])
        times.append(time.perf_counter() - began)
    return fit.dynamics, times[0], float(np.median(times[1:]))


def paper(robot: Robot, rec: Recording, generations: int, console: Console) -> tuple[JointDynamics, float, int]:
    """The paper's protocol: its answer, seconds in all, generations."""
    stamps: list[float] = []
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task("cma-es, 4096 candidates a generation", total=generations)

        def tell(p: Progress) -> None:
            stamps.append(time.perf_counter())
            bar.update(task, completed=p.iteration + 1)

        began = time.perf_counter()
        bounds = dict(BOUNDS) | {"bias": (-0.1, 0.1)}
        fit = identify(
            robot, [rec], method="cmaes", population=4096, generations=generations, unknowns=Unknowns(bounds=bounds), tell=tell
        )
    return fit.dynamics, (stamps[-1] - began) / len(stamps), len(stamps)


def errors(robot: Robot, rec: Recording, found: JointDynamics, truth: JointDynamics) -> tuple[float, float, float]:
    """rmse of the re-simulated answer [rad], worst relative parameter error, delay error [s]."""
    position = Reference(robot, rec, Physics()).replay(found)[0]
    rmse = float(np.sqrt(((position - rec.position) ** 2).mean()))
    worst = max(float(np.abs(getattr(found, k) / getattr(truth, k) - 1).max()) for k in ("armature", "damping", "friction"))
    return rmse, worst, float(abs(found.delay[0] - truth.delay[0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-cmaes", action="store_true")
    parser.add_argument("--generations", type=int, default=200)
    options = parser.parse_args()
    console = Console(width=150)
    header(console, __file__)
    robot, truth, rec = case()
    ours, first, warm = with_surefoot(robot, rec)
    theirs, slow = with_sysid(robot, rec)
    table = Table(title="12 joints, 20 s at 400 Hz, no noise")
    for head in ("method", "parameters", "seconds", "rmse \\[rad]", "worst relative error", "delay error \\[µs]"):
        table.add_column(head, justify="left" if head == "method" else "right")
    rows = [
        ("mujoco.sysid", 37, f"{slow:.1f}", theirs),
        ("surefoot, warm", 49, f"{warm:.3f}", ours),
        ("surefoot, first in the process", 49, f"{first:.3f}", ours),
    ]
    if not options.no_cmaes:
        answer, each, count = paper(robot, rec, options.generations, console)
        rows.append((f"surefoot --method cmaes, 4096 x {count}", 49, f"{each * count:.0f} ({each:.2f} a generation)", answer))
    results = {name: errors(robot, rec, found, truth) for name, _, _, found in rows}
    for name, count, seconds, _ in rows:
        rmse, worst, delay = results[name]
        table.add_row(name, str(count), seconds, f"{rmse:.2e}", f"{worst:.2e}", f"{1e6 * delay:.3g}")
    console.print(table)
    ratio = slow / warm
    better = (
        results["surefoot, warm"][0] <= results["mujoco.sysid"][0] and results["surefoot, warm"][1] <= results["mujoco.sysid"][1]
    )
    console.print(
        f"surefoot is {ratio:.0f} times faster (target {TARGET:.0f}, aim {AIM:.0f}), first call {slow / first:.0f}; "
        f"its error is {'no larger' if better else 'LARGER'}"
    )
    return 0 if ratio >= TARGET and better else 1


if __name__ == "__main__":
    sys.exit(main())
