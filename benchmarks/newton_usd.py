"""A USD layer of ours in Newton on the CPU: `newton_proof` compares, and as a script, in Newton's own environment, it replays.

Newton knows neither encoder bias nor a delay between steps: the script applies surefoot:encoderBias and surefoot:delay itself,
as the user's environment must.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ARM = """<mujoco model="arm"><compiler angle="radian"/><worldbody><body name="upper">
  <joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
  <inertial pos="0.01 0.02 -0.15" mass="1.5" diaginertia="0.02 0.02 0.004"/>
  <body name="tube" pos="0 0 -0.3"><joint name="slide" type="slide" axis="0 0 1" range="-0.2 0.2" limited="true"/>
  <inertial pos="0 0 -0.1" mass="0.6" diaginertia="0.003 0.003 0.001"/></body></body></worldbody></mujoco>"""
"""A hinge and a slide: `usd_of_arm` is the same machine."""
TOLERANCE = 1e-4  # [rad]: 32-bit floats


def usd_of_arm(path: Path) -> Path:
    """The arm as a USD stage in metres, its base fixed to the world."""
    from pxr import Gf, Usd, UsdGeom, UsdPhysics

    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Z")
    scene = UsdPhysics.Scene.Define(stage, "/scene")
    scene.CreateGravityDirectionAttr(Gf.Vec3f(0, 0, -1))
    scene.CreateGravityMagnitudeAttr(9.81)
    root = UsdGeom.Xform.Define(stage, "/arm").GetPrim()
    UsdPhysics.ArticulationRootAPI.Apply(root)
    stage.SetDefaultPrim(root)
    links = {  # place, mass, centre, inertia
        "base": (0.0, 5.0, (0, 0, 0), (0.1, 0.1, 0.1)),
        "upper": (0.0, 1.5, (0.01, 0.02, -0.15), (0.02, 0.02, 0.004)),
        "tube": (-0.3, 0.6, (0, 0, -0.1), (0.003, 0.003, 0.001)),
    }
    for name, (height, mass, centre, inertia) in links.items():
        link = UsdGeom.Xform.Define(stage, f"/arm/{name}")
        link.AddTranslateOp().Set(Gf.Vec3d(0, 0, height))
        UsdPhysics.RigidBodyAPI.Apply(link.GetPrim())
        api = UsdPhysics.MassAPI.Apply(link.GetPrim())
        api.CreateMassAttr(mass)
        api.CreateCenterOfMassAttr(Gf.Vec3f(*centre))
        api.CreateDiagonalInertiaAttr(Gf.Vec3f(*inertia))
        api.CreatePrincipalAxesAttr(Gf.Quatf(1))
    UsdPhysics.FixedJoint.Define(stage, "/arm/hold").CreateBody1Rel().SetTargets(["/arm/base"])
    hinge = UsdPhysics.RevoluteJoint.Define(stage, "/arm/base/shoulder")
    slide = UsdPhysics.PrismaticJoint.Define(stage, "/arm/upper/slide")
    slide.CreateLocalPos0Attr(Gf.Vec3f(0, 0, -0.3))
    for joint, axis, parent, child in ((hinge, "Y", "base", "upper"), (slide, "Z", "upper", "tube")):
        joint.CreateAxisAttr(axis)
        joint.CreateBody0Rel().SetTargets([f"/arm/{parent}"])
        joint.CreateBody1Rel().SetTargets([f"/arm/{child}"])
    stage.Save()
    return path


def newton_proof(folder: Path, python: Path, console: Any) -> bool:
    """Values as Newton's importer has them, 20 s replayed by its MuJoCo solver on the CPU, and wrong layers caught."""
    from export_proof import drawn, fitted, twins
    from surefoot import Robot
    from surefoot.export import export, prove
    from surefoot.export.targets import write

    model = folder / "arm.xml"
    model.write_text(ARM)
    robot = Robot.load(model).with_gains(np.array([60.0, 2000.0]), np.array([1.5, 60.0]))
    robot = robot.replace(torque_limit=np.array([60.0, 300.0]))
    fit, rec = fitted(robot, drawn(robot, 0.0061), stop_hz=4.0)
    source = usd_of_arm(folder / "arm.usda")
    made = export(fit, robot, to="usd", out=folder / "arm_identified.usda", model=source, recording=rec)
    good = True
    cases = {"as exported": (made.values, "")} | twins(made.values)
    for what, (values, value) in cases.items():
        layer = folder / "case.usda"
        write(values, "usd", source, layer)
        failures = prove(fit, robot, layer, "usd", recording=rec).failures
        found = _newton(folder, python, layer, rec, fit)
        expected = {name: getattr(made.values, name) for name in found if name not in ("position", "note")}
        wrong = [name for name in expected if not np.allclose(found[name], expected[name], rtol=1e-5)]
        rmse = np.sqrt(np.mean((found["position"] - fit.recordings[0].simulated) ** 2, axis=0)).max()
        if value:
            caught = any(f.startswith(f"{value} of") for f in failures) and not rmse <= TOLERANCE
            console.print(
                f"{'ok  ' if caught else 'MISS'}   usd in newton, {what}: named '{value}': {caught}, motion {rmse:.2g} rad"
            )
        else:
            caught = not failures and not wrong and rmse <= TOLERANCE
            console.print(
                f"{'ok  ' if caught else 'MISS'} usd in newton: rmse {rmse:.2g} rad over 20 s, {len(expected)} kinds of values "
                f"read by Newton's importer, wrong: {', '.join(wrong) or 'none'}, by usd-core: {len(failures)} wrong"
            )
            console.print(f"       {found['note']}")
        good &= caught
    return good


def _newton(folder: Path, python: Path, layer: Path, rec: Any, fit: Any) -> dict[str, Any]:
    job, result = folder / "job.npz", folder / "result.npz"
    np.savez(job, layer=np.array(str(layer)), joints=np.array(rec.joints), target=rec.target, start=rec.position[0],
             timestep=np.array(fit.physics.timestep))  # fmt: skip
    done = subprocess.run([str(python), __file__, str(job), str(result)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    with np.load(result) as file:
        return {name: file[name] if file[name].ndim else str(file[name]) for name in file.files}


def replay(job_path: str, result_path: str) -> None:
    """In Newton's environment: load the layer, replay the command, write motion and values."""
    import newton  # type: ignore[import-not-found]
    import warp as wp  # type: ignore[import-not-found]
    from pxr import Usd

    with np.load(job_path) as file:
        job = {name: file[name] for name in file.files}
    h, joints = float(job["timestep"]), [str(j) for j in job["joints"]]
    builder = newton.ModelBuilder()
    builder.add_usd(str(job["layer"]))
    labels = [str(label).split("/")[-1] for label in builder.joint_label]
    model = builder.finalize(device="cpu")
    starts = model.joint_qd_start.numpy()
    dofs = np.array([starts[labels.index(joint)] for joint in joints])
    coords = np.array([model.joint_q_start.numpy()[labels.index(joint)] for joint in joints])
    stage = Usd.Stage.Open(str(job["layer"]))
    prims = {prim.GetName(): prim for prim in stage.TraverseAll()}
    bias, delay = (
        np.array([prims[j].GetAttribute(f"surefoot:{name}").Get() for j in joints]) for name in ("encoderBias", "delay")
    )
    names = {"armature": "joint_armature", "friction": "joint_friction", "damping": "joint_damping",
             "stiffness": "joint_target_ke", "velocity_gain": "joint_target_kd",
             "torque_limit": "joint_effort_limit"}  # fmt: skip
    values = {name: getattr(model, row).numpy()[dofs] for name, row in names.items()}
    solver = newton.solvers.SolverMuJoCo(
        model, integrator="implicitfast", iterations=100, ls_iterations=50, tolerance=1e-10, disable_contacts=True
    )
    now, after, control = model.state(), model.state(), model.control()
    q = now.joint_q.numpy()
    q[coords] = job["start"] + bias
    now.joint_q.assign(q)
    newton.eval_fk(model, now.joint_q, now.joint_qd, now)
    time = np.arange(len(job["target"])) * h
    late = np.column_stack([np.interp(time - d, time, job["target"][:, j]) for j, d in enumerate(delay)]) + bias
    goal, row = control.joint_target_q, control.joint_target_q.numpy()
    where = coords if len(row) == model.joint_coord_count else dofs
    positions = np.empty(late.shape)
    for i in range(len(late)):
        positions[i] = now.joint_q.numpy()[coords] - bias
        row[where] = late[i]
        goal.assign(row)
        solver.step(now, after, control, None, h)
        now, after = after, now
    note = f"replayed by Newton {newton.__version__}, warp {wp.__version__}, MuJoCo solver on the CPU, in 32-bit floats"
    np.savez(result_path, position=positions, note=np.array(note), **values)


if __name__ == "__main__":
    replay(sys.argv[1], sys.argv[2])
