"""USD: a layer over the user's file, in the units that USD and PhysX mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fitted import TWINS, arm, fit_of, twin

from surefoot.errors import SurefootError
from surefoot.export import export, prove
from surefoot.export.targets import write

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Gf, Usd, UsdGeom, UsdPhysics  # noqa: E402


def arm_usd(folder: Path, metre: float = 1.0, suffix: str = "usda") -> Path:
    """The arm as a USD stage whose length unit is `metre` metres; its joints lie below their links."""
    path = folder / f"arm.{suffix}"
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, metre)
    UsdGeom.SetStageUpAxis(stage, "Z")
    root = UsdGeom.Xform.Define(stage, "/arm").GetPrim()
    UsdPhysics.ArticulationRootAPI.Apply(root)
    stage.SetDefaultPrim(root)
    for name, mass in (("base", 5.0), ("upper", 1.5), ("tube", 0.6)):
        link = UsdGeom.Xform.Define(stage, f"/arm/{name}").GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(link)
        UsdPhysics.MassAPI.Apply(link).CreateMassAttr(mass)
    hinge = UsdPhysics.RevoluteJoint.Define(stage, "/arm/base/shoulder")
    hinge.CreateAxisAttr("Y")
    slide = UsdPhysics.PrismaticJoint.Define(stage, "/arm/upper/slide")
    slide.CreateAxisAttr("Z")
    slide.CreateLocalPos0Attr(Gf.Vec3f(0, 0, -0.3 / metre))
    for joint, parent, child in ((hinge, "base", "upper"), (slide, "upper", "tube")):
        joint.CreateBody0Rel().SetTargets([f"/arm/{parent}"])
        joint.CreateBody1Rel().SetTargets([f"/arm/{child}"])
    drive = UsdPhysics.DriveAPI.Apply(hinge.GetPrim(), "angular")
    drive.CreateStiffnessAttr(1e6)
    stage.Save()
    return path


@pytest.mark.parametrize("suffix", ["usda", "usdc"])
@pytest.mark.parametrize("metre", [1.0, 0.01])
def test_every_value_is_read_back_through_usd_core_in_any_unit_of_length(tmp_path: Path, suffix: str, metre: float):
    """Angles are degrees and lengths stage units there: converted back they are the fit's, to 32-bit floats."""
    robot, fit, rec = arm()
    made = export(fit, robot, to="usd", out=tmp_path / "o.usda", model=arm_usd(tmp_path, metre, suffix), recording=rec)
    proof = prove(fit, robot, made.files[0], "usd", recording=rec)
    assert proof.failures == []
    assert {check.name for check in proof.checks} >= {
        "friction",
        "static_friction",
        "Newton friction",
        "armature",
        "bias",
        "delay",
    }


@pytest.mark.parametrize("wrong", TWINS)
def test_a_proof_names_what_is_wrong(tmp_path: Path, wrong: str):
    """Each twin fails by the value that is wrong."""
    robot, fit, rec = arm()
    source = arm_usd(tmp_path)
    values = export(fit, robot, to="usd", out=tmp_path / "o.usda", model=source, recording=rec).values
    write(twin(values, wrong), "usd", source, tmp_path / "twin.usda")
    failures = prove(fit, robot, tmp_path / "twin.usda", "usd", recording=rec).failures
    assert any(f.startswith(f"{TWINS[wrong]} of shoulder: the export says") for f in failures)


def test_the_numbers_are_those_that_physx_and_newton_mean(tmp_path: Path):
    """By hand: a stiffness of 60 N m/rad is 1.0472 N m/deg, torques and inertias know no degrees, slides are in SI."""
    robot, fit, rec = arm()
    made = export(fit, robot, to="usd", out=tmp_path / "o.usda", model=arm_usd(tmp_path), recording=rec)
    stage, d = Usd.Stage.Open(str(made.files[0])), fit.dynamics
    hinge, slide = (stage.GetPrimAtPath(p) for p in ("/arm/base/shoulder", "/arm/upper/slide"))
    get = lambda prim, name: prim.GetAttribute(name).Get()  # noqa: E731
    assert get(hinge, "drive:angular:physics:stiffness") == pytest.approx(60 * np.pi / 180, rel=1e-6)
    assert get(hinge, "physxJointAxis:angular:armature") == pytest.approx(d.armature[0], rel=1e-6)
    assert get(hinge, "physxJointAxis:angular:dynamicFrictionEffort") == pytest.approx(d.friction[0], rel=1e-6)
    assert get(hinge, "physxJointAxis:angular:viscousFrictionCoefficient") == pytest.approx(d.damping[0] * np.pi / 180, rel=1e-6)
    assert get(hinge, "newton:damping") == pytest.approx(d.damping[0] * np.pi / 180, rel=1e-6)
    assert get(slide, "drive:linear:physics:stiffness") == pytest.approx(2000.0, rel=1e-6)
    assert get(slide, "newton:damping") == pytest.approx(d.damping[1], rel=1e-6)
    assert "PhysxJointAxisAPI:linear" in slide.GetPrimTypeInfo().GetAppliedAPISchemas()
    assert get(hinge, "surefoot:encoderBias") == d.bias[0]


def test_the_users_file_is_untouched_and_lies_below(tmp_path: Path):
    """The layer refers to it by a relative path; its units, default prim and other prims come through."""
    robot, fit, rec = arm()
    source = arm_usd(tmp_path, 0.01)
    before = source.read_bytes()
    made = export(fit, robot, to="usd", out=tmp_path / "sub" / "o.usda", model=source, recording=rec)
    assert source.read_bytes() == before
    stage = Usd.Stage.Open(str(made.files[0]))
    assert list(stage.GetRootLayer().subLayerPaths) == ["../arm.usda"]
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert str(stage.GetDefaultPrim().GetPath()) == "/arm"
    assert UsdPhysics.MassAPI(stage.GetPrimAtPath("/arm/tube")).GetMassAttr().Get() == pytest.approx(0.6)


def test_provenance_lies_in_the_layer(tmp_path: Path):
    """Fit hash and date are custom data of the layer."""
    from surefoot.export import fit_hash

    robot, fit, rec = arm()
    made = export(fit, robot, to="usd", out=tmp_path / "o.usda", model=arm_usd(tmp_path), recording=rec, date="2026-10-01")
    stage = Usd.Stage.Open(str(made.files[0]))
    data = stage.GetRootLayer().customLayerData["surefoot"]
    assert (data["fit"], data["date"]) == (fit_hash(fit), "2026-10-01")


def test_a_hinge_that_is_a_slide_in_the_usd_is_refused(tmp_path: Path):
    """The names fit, the machine does not."""
    robot, _, _ = arm()
    fit, rec = fit_of(robot, seconds=0.1)
    other = robot.replace(kinds=("slide", "hinge"))
    with pytest.raises(SurefootError, match="shoulder is a slide for the fit, but a PhysicsRevoluteJoint"):
        export(fit, other, to="usd", out=tmp_path / "o.usda", model=arm_usd(tmp_path), recording=rec)


def test_without_a_usd_of_the_robot_there_is_no_layer(tmp_path: Path):
    """A layer needs something to lie over."""
    from fitted import ARM, saved

    robot, fit, rec = arm()
    with pytest.raises(SurefootError, match="--model"):
        export(fit, robot, to="usd", out=tmp_path / "o.usda", model=saved(ARM, tmp_path, "arm.urdf"), recording=rec)
