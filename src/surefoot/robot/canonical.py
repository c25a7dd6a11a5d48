"""The canonical in-air model: a compiled MuJoCo model written again as the least text with the same motion.

One body per moving link (what is welded to it merged into it), a fixed base that is not written at all, every number
with 17 digits. What remains is what the in-air engine needs and nothing else, and it compiles anywhere.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.errors import SurefootError

TIMESTEP = 0.0025  # [s]
_HINGE, _SLIDE = 3, 2  # mjtJoint
_FAR = 1e6  # [rad] stands for a limit on one side only


def _text(values: Any) -> str:
    return " ".join(repr(float(v)) for v in np.ravel(values))


def canonical_text(m: Any, name: str, names: Sequence[str], lock: Mapping[int, float]) -> str:
    """MJCF of the model's moving tree; `names` are the joints' names, `lock` holds joints at a position."""
    import mujoco

    _refuse_shared(m, names, lock)
    data = mujoco.MjData(m)
    for j, value in lock.items():
        data.qpos[m.jnt_qposadr[j]] = value
    mujoco.mj_kinematics(m, data)
    kept = {b: _kept_joints(m, b, lock) for b in range(m.nbody)}
    anchor = [0] * m.nbody  # the moving body that a body is rigidly part of; 0: the world
    for b in range(1, m.nbody):
        anchor[b] = b if kept[b] else anchor[m.body_parentid[b]]
    root = ET.Element("mujoco", model=name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="false")
    flags = mujoco.mjtDisableBit
    gravity = np.zeros(3) if m.opt.disableflags & flags.mjDSBL_GRAVITY else m.opt.gravity
    ET.SubElement(root, "option", timestep=repr(TIMESTEP), integrator="implicitfast", gravity=_text(gravity))
    elements = {0: ET.SubElement(root, "worldbody")}
    for b in range(1, m.nbody):
        if anchor[b] != b:
            continue
        parent = anchor[m.body_parentid[b]]
        element = ET.SubElement(elements[parent], "body", name=m.body(b).name or f"body{b}")
        pos, quat = _relative_pose(m, data, b, parent, bool(lock))
        element.set("pos", _text(pos))
        element.set("quat", _text(quat))
        if m.body_gravcomp[b]:
            element.set("gravcomp", _text(m.body_gravcomp[b]))
        ET.SubElement(element, "inertial", _inertial(m, data, b, [c for c in range(m.nbody) if anchor[c] == b]))
        for j in kept[b]:
            ET.SubElement(element, "joint", _joint(m, j, names[j]))
        elements[b] = element
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _refuse_shared(m: Any, names: Sequence[str], lock: Mapping[int, float]) -> None:
    """A body that keeps one joint and loses another would need a frame of its own: its pose is that of all its joints."""
    for j in lock:
        first = m.body_jntadr[m.jnt_bodyid[j]]
        free = [k for k in range(first, first + m.body_jntnum[m.jnt_bodyid[j]]) if k not in lock]
        if free:
            raise SurefootError(
                f"joint {names[j]} shares its body with {', '.join(names[k] for k in free)} and cannot be held alone; "
                "add it to the joints that move, or give it a body of its own in the model."
            )


def set_range(text: str, joint: str, lower: float, upper: float) -> str:
    """The same model with another range of one joint."""
    root = ET.fromstring(text)
    for element in root.iter("joint"):
        if element.get("name") == joint:
            limited = np.isfinite(lower) or np.isfinite(upper)
            element.set("limited", "true" if limited else "false")
            element.set("range", _text(np.nan_to_num([lower, upper], posinf=_FAR, neginf=-_FAR)))
    return ET.tostring(root, encoding="unicode") + "\n"


def _kept_joints(m: Any, b: int, lock: Mapping[int, float]) -> list[int]:
    first = m.body_jntadr[b]
    joints = range(first, first + m.body_jntnum[b])
    return [j for j in joints if j not in lock and m.jnt_type[j] in (_HINGE, _SLIDE)]


def _relative_pose(m: Any, data: Any, b: int, parent: int, locked: bool) -> tuple[np.ndarray, np.ndarray]:
    """Pose of a body in its moving ancestor, at the reference configuration."""
    import mujoco

    if m.body_parentid[b] == parent and not locked:
        return m.body_pos[b], m.body_quat[b]
    back = (np.zeros(3), np.zeros(4))
    pose = (np.zeros(3), np.zeros(4))
    mujoco.mju_negPose(*back, data.xpos[parent], data.xquat[parent])
    mujoco.mju_mulPose(*pose, *back, data.xpos[b], data.xquat[b])
    return pose


def _inertial(m: Any, data: Any, b: int, parts: list[int]) -> dict[str, str]:
    """Mass, centre and principal inertia of a moving body with what is welded to it."""
    import mujoco

    pos, quat, inertia, mass = m.body_ipos[b], m.body_iquat[b], m.body_inertia[b], float(m.body_mass[b])
    heavy = [c for c in parts if c != b and m.body_mass[c] > 0]
    if heavy:
        frame = data.xmat[b].reshape(3, 3)
        heavy = [c for c in parts if m.body_mass[c] > 0]
        masses = m.body_mass[heavy]
        mass = float(masses.sum())
        centres = (data.xipos[heavy] - data.xpos[b]) @ frame  # in the frame of b
        pos = masses @ centres / mass
        full = np.zeros((3, 3))
        for c, centre in zip(heavy, centres, strict=True):
            axes = frame.T @ data.ximat[c].reshape(3, 3)
            r = centre - pos
            full += (axes * m.body_inertia[c]) @ axes.T + m.body_mass[c] * (r @ r * np.eye(3) - np.outer(r, r))
        inertia, axes = np.linalg.eigh(full)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        inertia[0] += max(0.0, inertia[2] - inertia[0] - inertia[1])  # rounding may break A + B >= C by an ulp
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, axes.ravel())
    return {"pos": _text(pos), "quat": _text(quat), "mass": repr(mass), "diaginertia": _text(inertia)}


def _joint(m: Any, j: int, name: str) -> dict[str, str]:
    """Every attribute of a joint that moves it."""
    import mujoco

    flags, off = mujoco.mjtDisableBit, m.opt.disableflags
    dof, adr = m.jnt_dofadr[j], m.jnt_qposadr[j]
    keep = lambda flag: 0.0 if off & flag else 1.0  # noqa: E731
    spring = keep(flags.mjDSBL_SPRING) * np.append(m.jnt_stiffness[j], m.jnt_stiffnesspoly[j])
    damper = keep(flags.mjDSBL_DAMPER) * np.append(m.dof_damping[dof], m.dof_dampingpoly[dof])
    limited = bool(m.jnt_limited[j]) and not off & (flags.mjDSBL_LIMIT | flags.mjDSBL_CONSTRAINT)
    friction = m.dof_frictionloss[dof] * keep(flags.mjDSBL_FRICTIONLOSS | flags.mjDSBL_CONSTRAINT)
    return {
        "name": name,
        "type": "hinge" if m.jnt_type[j] == _HINGE else "slide",
        "axis": _text(m.jnt_axis[j]),
        "pos": _text(m.jnt_pos[j]),
        "ref": _text(m.qpos0[adr]),
        "limited": "true" if limited else "false",
        "range": _text(m.jnt_range[j]),
        "margin": _text(m.jnt_margin[j]),
        "springref": _text(m.qpos_spring[adr]),
        "stiffness": _text(spring if spring[1:].any() else spring[0]),
        "damping": _text(damper if damper[1:].any() else damper[0]),
        "armature": _text(m.dof_armature[dof]),
        "frictionloss": _text(friction),
        "solreflimit": _text(m.jnt_solref[j]),
        "solimplimit": _text(m.jnt_solimp[j]),
        "solreffriction": _text(m.dof_solref[dof]),
        "solimpfriction": _text(m.dof_solimp[dof]),
    }
