"""An exported model, hung in the air and moved by its own actuators: nothing of the fit is used but what the file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.export.mjcf import drive_id, encoder_offset
from surefoot.record.recording import Recording
from surefoot.robot.source import _strip_files
from surefoot.robot.spec import Robot
from surefoot.simulate.inair import tilted
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import DIVERGED, DRIVEN, _sampled
from surefoot.simulate.schedule import Schedule

Array = np.ndarray


def compiled(path: Path, *, base_fixed: bool = True) -> tuple[Any, list[str]]:
    """A file as MuJoCo compiles it, its free joints taken away when the base hangs; missing shapes are left out with a note."""
    import mujoco

    def spec() -> Any:
        loaded = mujoco.MjSpec.from_file(str(path))
        if base_fixed:
            for joint in [j for j in loaded.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]:
                loaded.delete(joint)
            for key in list(loaded.keys):
                loaded.delete(key)
        return loaded

    notes: list[str] = []
    try:
        return spec().compile(), notes
    except ValueError as error:
        first = " ".join(str(error).split())
    if "file" not in first.lower():
        hint = " Add the new controls to the keyframes' ctrl." if "key" in first.lower() else ""
        raise SurefootError(f"MuJoCo cannot compile the export {path.name}: {first}.{hint}")
    bare = spec()
    encoders = [(s.name, s.objname, list(s.userdata)) for s in bare.sensors if s.type == mujoco.mjtSensor.mjSENS_JOINTPOS]
    _strip_files(bare)
    for name, joint, user in encoders:
        sensor = bare.add_sensor(
            name=name, type=mujoco.mjtSensor.mjSENS_JOINTPOS, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint
        )
        sensor.userdata = user
    try:
        model = bare.compile()
    except ValueError as error:
        raise SurefootError(f"MuJoCo cannot compile the export {path.name}: {' '.join(str(error).split())}") from None
    notes.append(
        f"shapes are missing beside {path.name} ({first}): write the export into the folder of the original to load them."
    )
    return model, notes


def in_the_air(model: Any, robot: Robot, recording: Recording, physics: Physics, tilt: Array) -> list[str]:
    """Set the physics in which the fit is true; a note for each option of the file that is another."""
    import mujoco

    notes = []
    if abs(model.opt.timestep - physics.timestep) > 1e-12:
        notes.append(
            f"the file steps by {1e3 * model.opt.timestep:g} ms, the fit is true at {1e3 * physics.timestep:g} ms: set <option "
            f'timestep="{physics.timestep:g}"/>.'
        )
    if model.opt.integrator != mujoco.mjtIntegrator.mjINT_IMPLICITFAST:
        notes.append('the file does not use the fit\'s integrator: set <option integrator="implicitfast"/>.')
    model.opt.timestep, model.opt.integrator = physics.timestep, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.solver, model.opt.iterations = mujoco.mjtSolver.mjSOL_NEWTON, 100
    model.opt.tolerance, model.opt.ls_tolerance = 0.0, 1e-10
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_EQUALITY | flags.mjDSBL_AUTORESET
    model.opt.density = model.opt.viscosity = 0.0
    model.opt.gravity[:] = tilted(model.opt.gravity, tilt[None])[0]
    held = [j for j in range(model.njnt) if model.joint(j).name not in recording.joints]
    model.dof_armature[model.jnt_dofadr[held]] = DRIVEN
    given = [model.joint(joint).dofadr[0] for joint in recording.prescribed]
    model.dof_armature[given] = DRIVEN
    model.dof_frictionloss[[*model.jnt_dofadr[held], *given]] = 0.0
    model.dof_damping[given] = 0.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return notes


def replay(model: Any, robot: Robot, recording: Recording, physics: Physics, identified: tuple[str, ...]) -> Array:
    """Encoder readings at the recording's stamps [rad], shape (T, n), of a model that `in_the_air` has prepared."""
    import mujoco

    schedule, data = Schedule.of(recording, physics), mujoco.MjData(model)
    order = np.array([model.joint(joint).dofadr[0] for joint in recording.joints])
    where = np.array([model.joint(joint).qposadr[0] for joint in recording.joints])
    offset = offsets(model, recording.joints)
    for j in range(model.njnt):
        if (name := model.joint(j).name) not in recording.joints and name in robot.joints:
            data.qpos[model.jnt_qposadr[j]] = robot.posture[robot.index(name)]
    drives = _Drives(model, data, recording, physics, identified)
    given = np.flatnonzero(schedule.given)
    data.qpos[where] = schedule.start_position + offset
    data.qvel[order] = schedule.start_velocity
    position = np.full((len(recording.time), recording.n), np.nan)
    for i in range(schedule.steps):
        data.qpos[where[given]], data.qvel[order[given]] = schedule.motion[i, 0, given], schedule.motion[i, 1, given]
        data.qfrc_applied[order[given]] = DRIVEN * schedule.motion[i, 2, given]
        drives.write(i, schedule.enabled)
        q = data.qpos[where].copy()
        mujoco.mj_step(model, data)
        stamps = slice(schedule.first[i], schedule.first[i + 1])
        position[stamps] = q + schedule.fraction[stamps, None] * data.qvel[order] - offset
        if not (np.abs(data.qvel) < DIVERGED).all():
            position[schedule.first[i] :] = np.nan
            break
    position[:, given] = recording.position[:, given]
    return position


def offsets(model: Any, joints: tuple[str, ...]) -> Array:
    """Joint position minus encoder reading, as the file has it [rad], shape (n,)."""
    return np.array([encoder_offset(model, joint) for joint in joints])


class _Drives:
    """The recording's commands as controls of the file's position actuators."""

    def __init__(self, model: Any, data: Any, recording: Recording, physics: Physics, identified: tuple[str, ...]) -> None:
        self.model, self.data = model, data
        self.columns = np.array([recording.joints.index(joint) for joint in identified])
        self.ids = np.array([drive_id(model, joint) for joint in identified])
        self.gain, self.bias = model.actuator_gainprm.copy(), model.actuator_biasprm.copy()
        schedule = Schedule.of(recording, physics)
        grid = np.arange(schedule.steps)[:, None] * physics.timestep + np.zeros(len(identified))
        held = physics.timestep if recording.command_hold else 0.0
        sample = lambda x: _sampled(grid, schedule.since, x[:, self.columns], held)  # noqa: E731
        self.control = sample(recording.target)
        p = self.gain[self.ids, 0]
        for channel, factor in ((recording.target_velocity, -self.bias[self.ids, 2]), (recording.feedforward, np.ones(len(p)))):
            if channel is not None:  # more torque is a target further away
                self.control += sample(channel) * np.divide(factor, p, out=np.zeros_like(p), where=p > 0)
        self._fill()

    def _fill(self) -> None:
        """Before the recording begins, its first command was in force."""
        import mujoco

        for a, first in zip(self.ids, self.control[0], strict=True):
            if samples := int(self.model.actuator_history[a, 0]):
                mujoco.mj_initCtrlHistory(self.model, self.data, int(a), None, np.full((samples, 1), first))

    def write(self, i: int, enabled: Array | None) -> None:
        """Controls of step i; a drive that is off has no gains."""
        self.data.ctrl[self.ids] = self.control[i]
        if enabled is not None:
            on = enabled[i, self.columns][:, None]
            self.model.actuator_gainprm[self.ids] = self.gain[self.ids] * on
            self.model.actuator_biasprm[self.ids] = self.bias[self.ids] * on
