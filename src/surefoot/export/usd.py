"""A USD layer over the user's file: drive, rotor and friction of each joint, under PhysX' and Newton's names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.export.values import Values, header

DEGREE = np.pi / 180


def _pxr() -> Any:
    try:
        from pxr import Sdf, Usd, UsdGeom, UsdPhysics
    except ImportError:
        raise SurefootError("USD needs the usd-core package: pip install 'surefoot[usd]'") from None
    return Sdf, Usd, UsdGeom, UsdPhysics


def write(values: Values, source: Path | str, out: Path) -> tuple[list[Path], list[str]]:
    """Write a layer that has the user's file below it; the user's file is not touched."""
    Sdf, Usd, _, UsdPhysics = _pxr()
    if not isinstance(source, Path) or source.suffix not in (".usd", ".usda", ".usdc", ".usdz"):
        raise SurefootError("a USD layer lies over the robot's own USD file: pass it with --model robot.usd.")
    out.parent.mkdir(parents=True, exist_ok=True)
    below = Path(os.path.relpath(source.resolve(), out.parent.resolve())).as_posix()
    out.unlink(missing_ok=True)
    layer = Sdf.Layer.CreateNew(str(out))
    layer.subLayerPaths.append(below if below.startswith(".") else f"./{below}")
    stage = Usd.Stage.Open(layer)
    base = stage.GetRootLayer().subLayerPaths and Usd.Stage.Open(str(source))
    for key in ("metersPerUnit", "kilogramsPerUnit", "upAxis"):  # layer metadata does not come through a sublayer
        if base and base.HasAuthoredMetadata(key):
            stage.SetMetadata(key, base.GetMetadata(key))
    if base and base.HasDefaultPrim():
        stage.SetDefaultPrim(stage.GetPrimAtPath(base.GetDefaultPrim().GetPath()))
    prims = _joints(stage, values.joints, source.name)
    for j, joint in enumerate(values.joints):
        prim = prims[joint]
        axis = "linear" if prim.IsA(UsdPhysics.PrismaticJoint) else "angular"
        if (axis == "linear") != (values.kinds[j] == "slide"):
            raise SurefootError(f"joint {joint} is a {values.kinds[j]} for the fit, but a {prim.GetTypeName()} in {source.name}.")
        UsdPhysics.DriveAPI.Apply(prim, axis)
        prim.AddAppliedSchema(f"PhysxJointAxisAPI:{axis}")
        prim.AddAppliedSchema("NewtonJointAPI")
        for name, value in attributes(values, j, axis, _scale(stage, axis)).items():
            prim.CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(float(value))
        prim.CreateAttribute(f"drive:{axis}:physics:type", Sdf.ValueTypeNames.Token, False, Sdf.VariabilityUniform).Set("force")
        for name, value in (("surefoot:encoderBias", values.bias[j]), ("surefoot:delay", values.delay[j])):
            prim.CreateAttribute(name, Sdf.ValueTypeNames.Double, True).Set(float(value))
    layer.customLayerData = {"surefoot": {**dict(values.provenance), "about": "\n".join(header(values))}}
    layer.comment = "\n".join(header(values, intervals=False))
    layer.Save()
    return [out], [
        "USD has no encoder bias and no command delay: they are in surefoot:encoderBias [rad] and surefoot:delay [s], which your "
        "environment must apply.",
        "PhysX is not run here: the layer is read back through usd-core, its motion is not seen.",
    ]


def _joints(stage: Any, joints: tuple[str, ...], name: str) -> dict[str, Any]:
    UsdPhysics = _pxr()[3]
    found: dict[str, Any] = {}
    for prim in stage.TraverseAll():
        if prim.IsA(UsdPhysics.RevoluteJoint) or prim.IsA(UsdPhysics.PrismaticJoint):
            found.setdefault(prim.GetName(), prim)
    if missing := [joint for joint in joints if joint not in found]:
        raise SurefootError(f"{name} has no joint {', '.join(missing)}; it has {', '.join(found) or 'none'}.")
    return found


def _scale(stage: Any, axis: str) -> tuple[float, float]:
    """Stage units per SI unit of a torque (a force for a slide), and per radian (metre)."""
    _, _, UsdGeom, UsdPhysics = _pxr()
    metre, kilogram = 1 / UsdGeom.GetStageMetersPerUnit(stage), 1 / UsdPhysics.GetStageKilogramsPerUnit(stage)
    return (kilogram * metre**2, 1 / DEGREE) if axis == "angular" else (kilogram * metre, metre)


def attributes(values: Values, j: int, axis: str, scale: tuple[float, float]) -> dict[str, float]:
    """USD attributes of one joint in the stage's units; angles there are in degrees, and so are rates."""
    torque, angle = scale
    inertia = torque if axis == "angular" else torque / angle
    drive, physx = f"drive:{axis}:physics", f"physxJointAxis:{axis}"
    out = {
        f"{drive}:stiffness": values.stiffness[j] * torque / angle,
        f"{drive}:damping": values.velocity_gain[j] * torque / angle,
        f"{physx}:armature": values.armature[j] * inertia,
        f"{physx}:staticFrictionEffort": values.static_friction[j] * torque,
        f"{physx}:dynamicFrictionEffort": values.friction[j] * torque,
        f"{physx}:viscousFrictionCoefficient": values.damping[j] * torque / angle,
        "newton:armature": values.armature[j] * inertia,
        "newton:friction": values.friction[j] * torque,
        "newton:damping": values.damping[j] * torque / angle,
    }
    if np.isfinite(values.torque_limit[j]):
        out[f"{drive}:maxForce"] = values.torque_limit[j] * torque
    return out


def read(path: Path, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The composed stage's values in SI, through usd-core."""
    _, Usd, _, UsdPhysics = _pxr()
    stage = Usd.Stage.Open(str(path))
    prims = _joints(stage, joints, path.name)
    rows: dict[str, list[float]] = {}
    for joint in joints:
        prim = prims[joint]
        axis = "linear" if prim.IsA(UsdPhysics.PrismaticJoint) else "angular"
        torque, angle = _scale(stage, axis)
        inertia = torque if axis == "angular" else torque / angle
        drive, physx = UsdPhysics.DriveAPI(prim, axis), f"physxJointAxis:{axis}"
        get = lambda name, prim=prim: float(a.Get()) if (a := prim.GetAttribute(name)) and a.HasAuthoredValue() else np.nan  # noqa: E731
        limit = drive.GetMaxForceAttr().Get()
        found = {
            "stiffness": drive.GetStiffnessAttr().Get() * angle / torque,
            "velocity_gain": drive.GetDampingAttr().Get() * angle / torque,
            "torque_limit": limit / torque,
            "armature": get(f"{physx}:armature") / inertia,
            "static_friction": get(f"{physx}:staticFrictionEffort") / torque,
            "friction": get(f"{physx}:dynamicFrictionEffort") / torque,
            "damping": get(f"{physx}:viscousFrictionCoefficient") * angle / torque,
            "Newton armature": get("newton:armature") / inertia,
            "Newton friction": get("newton:friction") / torque,
            "Newton damping": get("newton:damping") * angle / torque,
            "bias": get("surefoot:encoderBias"),
            "delay": get("surefoot:delay"),
        }
        for name, value in found.items():
            rows.setdefault(name, []).append(float(value))
    return {name: np.array(row) for name, row in rows.items()}
