"""The user's URDF with damping and friction in it, a ros2_control block, and a sidecar for what URDF cannot hold."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.export.mjcf import MARK, actuator
from surefoot.export.values import UNITS, Values, from_table, header, table
from surefoot.export.xmltext import Document, Element, escaped, number
from surefoot.robot import urdf as reading

PARAMETERS = ("stiffness", "velocity_gain", "bias", "delay", "armature", "torque_limit")
"""What the ros2_control block says of each joint."""


def sidecar(out: Path) -> Path:
    """The file beside a URDF that holds what it cannot."""
    return out.with_suffix(".surefoot.json")


def write(values: Values, source: Path | str, out: Path) -> tuple[list[Path], list[str]]:
    """Write the URDF and its sidecar; the files written, and what the user must know."""
    document = Document.read(source) if isinstance(source, Path) else Document(source.encode(), "the model")
    if document.root.tag != "robot":
        raise SurefootError(f"{document.name} starts with <{document.root.tag}>; a URDF starts with <robot>.")
    joints = {e.get("name"): e for e in document.find("joint") if e.parent is document.root}
    step = document.step()
    for j, joint in enumerate(values.joints):
        if joint not in joints:
            raise SurefootError(f"{document.name} has no joint {joint}; it has {', '.join(joints)}.")
        damping, friction = number(values.damping[j]), number(values.friction[j])
        dynamics = joints[joint].child("dynamics")
        if dynamics is None:
            joints[joint].added.append(f'<dynamics damping="{damping}" friction="{friction}"/>')
        else:
            dynamics.set("damping", damping)
            dynamics.set("friction", friction)
    block = document.root.child("ros2_control")
    if block is None:
        document.root.added.append(_block(values, step))
    else:
        _extend(block, values)
    document.comment([*header(values), f"armature, bias, delay and gains: {sidecar(out).name} and the ros2_control block"], MARK)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(document.render())
    sidecar(out).write_text(json.dumps(table(values), indent=1) + "\n", encoding="utf-8")
    notes = ["a URDF holds damping and friction; armature, bias, delay and gains are in the sidecar and in <ros2_control>."]
    if block is None:
        notes.append("the ros2_control block names mock_components/GenericSystem: put your own hardware plugin there.")
    return [out, sidecar(out)], notes


def _block(values: Values, step: str) -> str:
    """A ros2_control block: the interfaces of a torque-controlled joint, and its identified numbers as parameters."""
    lines = [
        f'<ros2_control name="{escaped(values.robot)}" type="system">',
        f"{step}<hardware>",
        f"{step * 2}<plugin>mock_components/GenericSystem</plugin>",
        f"{step}</hardware>",
    ]
    for j, joint in enumerate(values.joints):
        lines.append(f'{step}<joint name="{escaped(joint)}">')
        lines += [step * 2 + '<command_interface name="effort"/>']
        lines += [f'{step * 2}<state_interface name="{name}"/>' for name in ("position", "velocity", "effort")]
        lines += [step * 2 + line for line in _params(values, j)]
        lines.append(f"{step}</joint>")
    return "\n".join([*lines, "</ros2_control>"])


def _params(values: Values, j: int) -> list[str]:
    numbers = {name: getattr(values, name)[j] for name in PARAMETERS}
    return [f'<param name="surefoot_{name}">{number(v)}</param>' for name, v in numbers.items() if np.isfinite(v)]


def _extend(block: Element, values: Values) -> None:
    """Parameters for the joints of a block that the user has."""
    for joint in block.children:
        if joint.tag == "joint" and joint.get("name") in values.joints:
            known = {p.get("name") for p in joint.children if p.tag == "param"}
            if known & {f"surefoot_{name}" for name in PARAMETERS}:
                raise SurefootError("this URDF was written by surefoot export; give --model the original.")
            joint.added += _params(values, values.joints.index(joint.get("name")))


# --- reading back ------------------------------------------------------------------------------------------------------------
def read(path: Path, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Damping and friction as MuJoCo's URDF parser has them, the rest from sidecar and ros2_control, which must agree."""
    m, _ = compiled(path, base_fixed=True, drives=False)
    dof = [m.joint(joint).dofadr[0] for joint in joints]
    data = json.loads(sidecar(path).read_text(encoding="utf-8"))
    side = from_table(data)
    order = [data["joints"].index(joint) for joint in joints]
    out = {name: side[name][order] for name in ("armature", "bias", "delay", "stiffness", "velocity_gain", "torque_limit")}
    out |= {"damping": m.dof_damping[dof], "friction": m.dof_frictionloss[dof]}
    block = {
        e.get("name"): {
            p.get("name"): float(p.text or "nan") for p in e.findall("param") if (p.get("name") or "")[:9] == "surefoot_"
        }
        for e in ET.parse(path).getroot().findall("ros2_control/joint")
    }
    for name in PARAMETERS:
        out[f"ros2_control {name}"] = np.array([block.get(joint, {}).get(f"surefoot_{name}", np.inf) for joint in joints])
    return out


def compiled(path: Path, *, base_fixed: bool = True, drives: bool = True) -> tuple[Any, list[str]]:
    """The URDF as MuJoCo reads it; the sidecar adds rotors, drives and encoders."""
    import mujoco

    text, _ = reading.prepare(ET.fromstring(path.read_bytes()), path.name)
    spec = mujoco.MjSpec.from_string(text)
    if drives:
        data = json.loads(sidecar(path).read_text(encoding="utf-8"))
        values, joints, encoder = from_table(data), data["joints"], "encoder = q - bias" in data["law"]
        named = Values(
            robot=data["robot"], joints=tuple(joints), kinds=tuple(data["kinds"]), timestep=data["timestep"],
            **{name: values[name] for name in UNITS},  # type: ignore[arg-type]
        )  # fmt: skip
        for j, joint in enumerate(joints):
            spec.joint(joint).armature = values["armature"][j]
            _add_drive(spec, joint, actuator(named, j))
            sensor = spec.add_sensor(
                name=f"{joint}_encoder", type=mujoco.mjtSensor.mjSENS_JOINTPOS, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint
            )
            sensor.userdata = [values["bias"][j] if encoder else 0.0]
    return spec.compile(), []


def _add_drive(spec: Any, joint: str, settings: dict[str, str]) -> None:
    import mujoco

    numbers = lambda name: [float(x) for x in settings[name].split()]  # noqa: E731
    a = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    a.gaintype, a.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    a.gainprm[:3], a.biasprm[:3] = numbers("gainprm"), numbers("biasprm")
    a.forcelimited = settings["forcelimited"] == "true"
    if a.forcelimited:
        a.forcerange = numbers("forcerange")
    if "nsample" in settings:
        a.nsample, a.delay = int(settings["nsample"]), float(settings["delay"])
        a.interp = 1  # linear
