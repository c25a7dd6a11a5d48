"""The reference: the same replay by MuJoCo itself, one `mj_step` after another. The in-air kernel is tested against it.

It shares no arithmetic with the kernel: the drive is `robot.drive`, the command is NumPy's interpolation, the mechanics are
MuJoCo's. It is some hundred times slower, and it takes any model that MuJoCo takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.record.recording import Recording
from surefoot.robot.drive import drive_torque, torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inair import smoothing, tilted
from surefoot.simulate.physics import Physics, hung_model, hung_order
from surefoot.simulate.schedule import Schedule
from surefoot.simulate.tree import branches

Array = np.ndarray
DIVERGED = 1e6  # [rad/s] no joint is that fast: beyond it a candidate is given up, before MuJoCo starts it over from rest
DRIVEN = 1e9  # [kg·m²] armature of a joint whose motion is prescribed: nothing else moves it


class Reference:
    """Replays one recording on one robot, one candidate at a time."""

    def __init__(self, robot: Robot, recording: Recording, physics: Physics) -> None:
        self.robot, self.recording, self.physics = robot, recording, physics
        self.model = hung_model(robot, recording.joints, physics)
        self.model.opt.tolerance = 0.0  # the friction solver runs until it cannot improve
        self.order = hung_order(self.model, recording.joints)
        self.schedule = Schedule.of(recording, physics)
        self.rows = robot.select(recording.joints)
        self.drives = _select(robot, recording.joints)

    @property
    def groups(self) -> list[Array]:
        """Joints of each independent branch, as indices into the recording's joints."""
        joint_of = {int(dof): j for j, dof in enumerate(self.order)}
        chains = [np.array([joint_of[dof] for dof in branch.dofs]) for branch in branches(self.model)]
        moving = [chain[~self.schedule.given[chain]] for chain in chains]
        return [chain for chain in moving if len(chain)]

    def trajectories(self, candidates: JointDynamics, *, torque: bool = False) -> tuple[Array, Array | None, Array]:
        """Encoder readings (L, T, n), drive torques if asked for, and in how many steps each drive was saturated (L, n)."""
        results = [self.replay(candidates.lane(i)) for i in range(candidates.batch[0])]
        position, push, saturated = (np.stack(x) for x in zip(*results, strict=True))
        return position, push if torque else None, saturated

    def scores(self, candidates: JointDynamics) -> Array:
        """Mean squared position error of each candidate and joint [rad²], shape (L, n)."""
        error = self.trajectories(candidates)[0] - self.recording.position
        weight = np.ones_like(self.recording.position) if self.recording.valid is None else self.recording.valid.astype(float)
        scores = np.einsum("ltn,tn->ln", error**2, weight) / np.maximum(weight.sum(0), 1)
        return np.where(np.isfinite(scores), scores, np.inf)

    def replay(self, dynamics: JointDynamics) -> tuple[Array, Array, Array]:
        """One candidate: encoder readings (T, n), torques (T, n) and how often each drive was saturated (n,)."""
        import mujoco

        schedule, n = self.schedule, self.recording.n
        model = self._with(dynamics)
        data = mujoco.MjData(model)
        drive = self.drive(dynamics)
        data.qpos[self.order] = schedule.start_position + (dynamics.bias if self.physics.bias_form == "encoder" else 0.0)
        data.qvel[self.order] = schedule.start_velocity
        position, torque = np.empty((len(self.recording.time), n)), np.empty((len(self.recording.time), n))
        given = np.flatnonzero(schedule.given)
        for i in range(schedule.steps):
            data.qpos[self.order[given]] = schedule.motion[i, 0, given]
            data.qvel[self.order[given]] = schedule.motion[i, 1, given]
            q, v = data.qpos[self.order].copy(), data.qvel[self.order].copy()
            push = drive.write(i, q, v, model, data)
            data.qfrc_applied[self.order] = dynamics.load
            data.qfrc_applied[self.order[given]] = DRIVEN * schedule.motion[i, 2, given]
            self._friction(model, dynamics, v, push)
            mujoco.mj_step(model, data)
            stamps = slice(schedule.first[i], schedule.first[i + 1])
            since = schedule.fraction[stamps, None]
            reading = q + since * data.qvel[self.order]
            position[stamps] = reading - dynamics.bias if self.physics.bias_form == "encoder" else reading
            torque[stamps] = push
            if not (np.abs(data.qvel) < DIVERGED).all():
                position[schedule.first[i] :] = np.nan
                break
        position[:, given] = self.recording.position[:, given]
        torque[:, given] = 0.0
        return position, torque, drive.saturated

    def drive(self, dynamics: JointDynamics) -> ReplayedDrives:
        """What turns the command into torque, made anew for every candidate."""
        return ReplayedDrives(self, dynamics)

    def _with(self, dynamics: JointDynamics) -> Any:
        """The model with a candidate's numbers in it, compiled so that MuJoCo's own constants follow, and one motor a joint."""
        import mujoco

        from surefoot.robot.canonical import canonical_text

        names = [self.model.joint(j).name for j in range(self.model.njnt)]
        spec = mujoco.MjSpec.from_string(canonical_text(self.model, self.robot.name, names, {}))
        for j, name in enumerate(self.recording.joints):
            joint = spec.joint(name)
            given = bool(self.schedule.given[j])
            joint.armature = DRIVEN if given else dynamics.armature[j]
            joint.damping = [0.0 if given else dynamics.damping[j], 0, 0]
            joint.frictionloss = 0.0 if given else dynamics.friction[j]
            motor = spec.add_actuator(
                target=name,
                trntype=mujoco.mjtTrn.mjTRN_JOINT,
                gaintype=mujoco.mjtGain.mjGAIN_FIXED,
                biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            )
            motor.gainprm[0] = 1.0
            motor.forcelimited = True
            motor.forcerange = [-1e30, 1e30]
        model = spec.compile()
        model.opt.timestep, model.opt.tolerance = self.physics.timestep, 0.0
        model.opt.ls_tolerance = 1e-10
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        model.opt.gravity[:] = tilted(self.model.opt.gravity, dynamics.tilt[None])[0]
        return model

    def _friction(self, model: Any, dynamics: JointDynamics, v: Array, torque: Array) -> None:
        """Friction that depends on the load or on the speed, as it is in this step."""
        if dynamics.breakaway.any() or dynamics.load_friction.any():
            rise = dynamics.load_friction * np.abs(torque) + dynamics.breakaway / (1 + (v / dynamics.stribeck_speed) ** 2)
            model.dof_frictionloss[self.order] = np.where(self.schedule.given, 0.0, dynamics.friction + rise)


class ReplayedDrives:
    """The drives as MuJoCo actuators: what depends on q and q̇ at this instant is theirs, the rest is their control."""

    def __init__(self, reference: Reference, dynamics: JointDynamics) -> None:
        self.of, self.dynamics = reference, dynamics
        rec, schedule, h = reference.recording, reference.schedule, reference.physics.timestep
        delay = np.broadcast_to(dynamics.delay, (rec.n,)) * (reference.physics.delay_on == "command")
        when = np.arange(schedule.steps)[:, None] * h - delay
        step = h if rec.command_hold else 0.0
        sample = lambda x: np.zeros_like(when) if x is None else _sampled(when, schedule.since, x, step)  # noqa: E731
        self.target, self.rate, self.forward = sample(rec.target), sample(rec.target_velocity), sample(rec.feedforward)
        self.p, self.d = rec.stiffness * dynamics.gain_scale, rec.damping * dynamics.gain_scale
        self.share = smoothing(dynamics.cutoff, h)
        self.seen = np.zeros(rec.n)
        self.past: list[Array] = []
        self.saturated = np.zeros(rec.n)

    def write(self, i: int, q: Array, v: Array, model: Any, data: Any) -> Array:
        """Set gains, bounds and controls for step i; the torque that the drives will give."""
        ref = self.of
        on = np.ones(len(q)) if ref.schedule.enabled is None else ref.schedule.enabled[i]
        on = on * ~ref.schedule.given
        old = self.seen
        self.seen = old + self.share * (v - old)
        torque = drive_torque(
            ref.drives, self.target[i], q, v, stiffness=self.p, damping=self.d, bias=self.dynamics.bias,
            target_velocity=self.rate[i], feedforward=self.forward[i], enabled=on > 0, filtered_velocity=self.seen,
        )  # fmt: skip
        computed, (low, high) = torque, torque_bounds(ref.drives, q, v)
        if ref.physics.delay_on == "torque":
            self.past.append(torque)
            torque = self._delayed(i)
            model.actuator_biasprm[:, 1:3] = 0.0
            data.ctrl[:] = torque
        else:
            model.actuator_biasprm[:, 1] = -self.p * on
            model.actuator_biasprm[:, 2] = -self.d * self.share * on
            explicit = (
                self.p * (self.target[i] + self.dynamics.bias)
                + self.d * (self.rate[i] - (1 - self.share) * old)
                + self.forward[i]
            )
            data.ctrl[:] = explicit * on
            model.actuator_forcerange[:, 0], model.actuator_forcerange[:, 1] = np.maximum(low, -1e30), np.minimum(high, 1e30)
        self.saturated += ((computed <= low) | (computed >= high)) & (on > 0)
        return torque

    def _delayed(self, i: int) -> Array:
        """The torque of T_d ago, linear between steps; before the first step it was what it was then."""
        back = np.broadcast_to(self.dynamics.delay, (len(self.seen),)) / self.of.physics.timestep
        whole = np.floor(back).astype(int)
        past, joint = np.array(self.past), np.arange(len(back))
        newer, older = past[np.maximum(i - whole, 0), joint], past[np.maximum(i - whole - 1, 0), joint]
        return newer + (back - whole) * (older - newer)


def _sampled(when: Array, since: Array, values: Array, step: float) -> Array:
    """A command, one column a joint, when each joint's drive is due: linear, or held and averaged over `step` [s]."""
    out = np.empty_like(when)
    if not step:
        for j in range(when.shape[1]):
            out[:, j] = np.interp(when[:, j], since, values[:, j])
        return out
    early, late = min(since[0], when.min()) - step, max(since[-1], when.max()) + 2 * step
    stamps = np.concatenate([[early], since, [late]])
    for j in range(when.shape[1]):
        held = np.concatenate([values[:1, j], values[:, j]])
        integral = np.concatenate([[0.0], np.cumsum(held * np.diff(stamps))])
        out[:, j] = np.diff(np.interp([when[:, j], when[:, j] + step], stamps, integral), axis=0)[0] / step
    return out


def _select(robot: Robot, joints: tuple[str, ...]) -> Robot:
    """The drives of these joints only, in this order."""
    from surefoot.robot.spec import Robot as Kind

    rows = robot.select(joints)
    names = ("stiffness", "damping", "torque_limit", "stall_torque", "no_load_speed", "gear_position", "gear_ratio", "geared",
             "lower", "upper", "soft_band", "posture")  # fmt: skip
    picked = {name: getattr(robot, name)[rows] for name in names}
    kinds = tuple(robot.kinds[i] for i in rows)
    motor = {key: value[rows] for key, value in robot.motor.items()}
    return Kind(name=robot.name, source=robot.source, model=robot.model, joints=joints, kinds=kinds, motor=motor, **picked)
