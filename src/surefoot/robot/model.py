"""Any MJCF or URDF, read by MuJoCo's own parser and reduced to what a robot in the air is. Nothing is stepped here."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.robot.canonical import canonical_text
from surefoot.robot.dynamics import Array
from surefoot.robot.source import compile_source


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelText:
    """A model file, as far as identification is concerned; arrays have one entry per joint, in model order."""

    name: str
    canonical: str  # MJCF: fixed base, no shapes, no actuators (see robot/canonical.py)
    scene: str  # MJCF or URDF with shapes, or ""
    joints: tuple[str, ...]
    kinds: tuple[str, ...]  # "hinge" or "slide"
    lower: Array  # [rad], -inf: none
    upper: Array  # [rad], inf: none
    torque_limit: Array  # [N·m], inf: none
    stiffness: Array  # P of the model's position actuators [N·m/rad], nan: none
    damping: Array  # D of the model's position actuators [N·m·s/rad], nan: none
    posture: Array  # keyframe "home" or the reference position [rad]
    mass: float  # whole model [kg]
    notes: tuple[str, ...]


def read_model(source: str | Path, joints: Sequence[str] | None = None) -> ModelText:
    """Read a model file, or XML text; `joints`, when given, are the ones that move: the others stay at the posture."""
    import mujoco

    m, scene, name, notes = compile_source(source)
    names = _joint_names(m, notes)
    moving = _moving(m, names, notes)
    if not moving:
        raise SurefootError(f"the model {name} has no hinge or slide joint: there is nothing to identify.")
    posture = _posture(m)
    lock = _lock(m, names, moving, joints, posture, notes)
    kept = [j for j in moving if j not in lock]
    _note_ignored(m, names, notes)
    limit, stiffness, damping = _actuators(m)
    limited = m.jnt_limited.astype(bool)
    return ModelText(
        name=name,
        canonical=canonical_text(m, name, names, lock),
        scene=scene,
        joints=tuple(names[j] for j in kept),
        kinds=tuple("hinge" if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE else "slide" for j in kept),
        lower=np.where(limited, m.jnt_range[:, 0], -np.inf)[kept],
        upper=np.where(limited, m.jnt_range[:, 1], np.inf)[kept],
        torque_limit=limit[kept],
        stiffness=stiffness[kept],
        damping=damping[kept],
        posture=posture[kept],
        mass=float(m.body_mass.sum()),
        notes=tuple(notes),
    )


def _joint_names(m: Any, notes: list[str]) -> list[str]:
    names = [m.joint(j).name for j in range(m.njnt)]
    for j, name in enumerate(names):
        if not name:
            body = m.body(m.jnt_bodyid[j]).name or f"body{m.jnt_bodyid[j]}"
            names[j] = f"{body}_joint" if f"{body}_joint" not in names else f"{body}_joint{j}"
            if m.jnt_type[j] != 0:
                notes.append(f"A joint of body {body} has no name: it is called {names[j]}.")
    return names


def _moving(m: Any, names: list[str], notes: list[str]) -> list[int]:
    """The hinge and slide joints; free joints are left out with a note, ball joints refused."""
    import mujoco

    moving = []
    for j, kind in enumerate(m.jnt_type):
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            raise SurefootError(
                f"joint {names[j]} is a ball joint; only hinge and slide joints are possible. Make it three hinges."
            )
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            notes.append(f"The free body {m.body(m.jnt_bodyid[j]).name} is fixed in the air at its pose.")
        else:
            moving.append(j)
    return moving


def _posture(m: Any) -> Array:
    """Position of every joint [rad] in the keyframe "home", or the reference position."""
    home = [k for k in range(m.nkey) if m.key(k).name == "home"]
    return (m.key_qpos[home[0]] if home else m.qpos0)[m.jnt_qposadr].copy()


def _lock(
    m: Any, names: list[str], moving: list[int], joints: Sequence[str] | None, posture: Array, notes: list[str]
) -> dict[int, float]:
    if joints is None:
        return {}
    valid = [names[j] for j in moving]
    wrong = [j for j in joints if j not in valid]
    if wrong:
        raise unknown("joint", wrong, valid)
    lock = {j: float(posture[j]) for j in moving if names[j] not in joints}
    if lock:
        notes.append(f"Joints that are not listed are held at their posture: {', '.join(names[j] for j in lock)}.")
    return lock


def _note_ignored(m: Any, names: list[str], notes: list[str]) -> None:
    """Say what the in-air model leaves out."""
    import mujoco

    ties = []
    for e in range(m.neq):
        tie = m.equality(e).name or f"{e}"
        if m.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT and m.eq_obj2id[e] >= 0:
            tie = f"{names[m.eq_obj1id[e]]} ~ {names[m.eq_obj2id[e]]}"
        ties.append(tie)
    if ties:
        notes.append(
            f"Equality constraints are ignored in the air: {', '.join(ties)}. Prescribe their joints (measured motion) instead."
        )
    if m.ntendon:
        notes.append(f"{m.ntendon} tendons are ignored in the air.")
    if m.actuator_armature.any() or m.actuator_damping.any():
        notes.append("Armature and damping that the model gives to its actuators are ignored: they are what a fit finds.")
    if m.opt.density or m.opt.viscosity:
        notes.append("The forces of the surrounding fluid (density, viscosity) are ignored.")
    if m.body_gravcomp.any():
        notes.append("The model has gravity compensation (gravcomp): kept on moving bodies, dropped on bodies welded to them.")
    if m.jnt_stiffnesspoly.any() or m.dof_dampingpoly.any():
        notes.append("The model has springs or dampers with polynomial coefficients.")


def _actuators(m: Any) -> tuple[Array, Array, Array]:
    """Torque limit, stiffness and damping of every joint, as the model's joint actuators have them."""
    import mujoco

    limit = np.where(m.jnt_actfrclimited.astype(bool), np.abs(m.jnt_actfrcrange).max(axis=1), np.inf)
    limit[limit == 0] = np.inf
    stiffness, damping = np.full(m.njnt, np.nan), np.full(m.njnt, np.nan)
    on_joint = {int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)}
    for a, transmission in enumerate(m.actuator_trntype.tolist()):
        if transmission not in on_joint or m.jnt_type[m.actuator_trnid[a, 0]] == mujoco.mjtJoint.mjJNT_FREE:
            continue
        j, gear = m.actuator_trnid[a, 0], abs(m.actuator_gear[a, 0])
        if m.actuator_forcelimited[a]:
            limit[j] = min(limit[j], gear * np.abs(m.actuator_forcerange[a]).max())
        kp, affine = m.actuator_gainprm[a, 0], m.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_AFFINE
        if affine and kp > 0 and m.actuator_biasprm[a, 1] == -kp:
            stiffness[j], damping[j] = gear**2 * kp, -(gear**2) * m.actuator_biasprm[a, 2]
        elif m.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_NONE and m.actuator_ctrllimited[m.actuator_ctrladr[a]]:
            limit[j] = min(limit[j], gear * abs(kp) * np.abs(m.actuator_ctrlrange[m.actuator_ctrladr[a]]).max())
    return limit, stiffness, damping
