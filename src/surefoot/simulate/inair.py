"""The in-air engine: thousands of candidates through one recording on all cores, each step equal to MuJoCo's.

A kernel is compiled per branch of the robot (shared by congruent branches). Candidates are lanes of vector registers, blocks of
lanes are calls of the kernel, and calls run on all cores at once, for compiled code holds no interpreter lock.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.command import knots
from surefoot.simulate.compiler import Compiled, compiled, lanes_for, probe
from surefoot.simulate.features import Features
from surefoot.simulate.kernel import KernelSource, build, state_rows
from surefoot.simulate.physics import Physics, hung_model, hung_order
from surefoot.simulate.rigid_body import equations, vector
from surefoot.simulate.schedule import Schedule
from surefoot.simulate.tree import Branch, Unsupported, branches

Array = np.ndarray
ROUNDING = 1e-9  # [physics steps] delays this close to a whole number of steps are that number


@lru_cache(maxsize=1)
def cores() -> ThreadPoolExecutor:
    """One worker for each core this process may use."""
    return ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=cores.cache_clear)  # threads stay behind in the parent: a child starts its own


@dataclass(frozen=True, kw_only=True)
class Part:
    """One branch of the robot: its joints among the recording's, and the inertia that its limits and friction are scaled by."""

    branch: Branch
    joints: Array  # index of each link's joint in the recording, shape (b,)
    free: Array  # index of each free joint in the recording, shape (f,)
    rest_inertia: Array  # mass matrix of the free joints at the reference posture, without armature, shape (f, f)


@dataclass(frozen=True, kw_only=True)
class Block:
    """What the lanes of one branch did; lanes beyond the candidates repeat the last one."""

    joints: Array  # index of each joint in the recording, shape (f,)
    position: Array  # encoder readings at the measured stamps, shape (T, f, lanes)
    torque: Array | None  # drive torque there, same shape
    saturated: Array  # steps at which the drive was clamped, shape (blocks, f, lanes of a block)


class InAir:
    """Replays one recording on one robot; candidates come as a batch of joint dynamics."""

    def __init__(self, robot: Robot, recording: Recording, physics: Physics, *, dtype: str = "float64") -> None:
        self.recording, self.physics, self.robot = recording, physics, robot
        self.model = hung_model(robot, recording.joints, physics)
        self.kind = "double" if dtype == "float64" else "float"
        self.dtype, self.lanes = np.dtype(dtype), lanes_for(self.kind)
        self.schedule = Schedule.of(recording, physics)
        self.rows = robot.select(recording.joints)
        self.parts = _parts(self.model, recording, self.schedule.given)
        if (self.model.body_gravcomp != 0).any():
            raise Unsupported("the in-air kernel does not know gravity compensation by MuJoCo (gravcomp).")
        self._tables: dict[Any, Any] = {}

    @property
    def groups(self) -> list[Array]:
        """Joints of each independent branch, as indices into the recording's joints."""
        return [part.free for part in self.parts]

    def prepare(self, candidates: JointDynamics | None, *, torque: bool = False) -> None:
        """Compile what trajectories of such candidates need, or see that kernels can be compiled here at all."""
        if candidates is None:
            probe()
            return
        for part in self.parts:
            self.kernel(part, self.features(part, candidates, output="trajectory", torque=torque))

    # --- the three things an engine can be asked ---------------------------------------------------------------------------
    def blocks(self, candidates: JointDynamics, *, torque: bool = False) -> list[Block]:
        """Trajectories of every candidate, branch by branch, as the kernel lays them out (the fast way for derivatives)."""
        stamps, lanes = len(self.recording.time), self.lanes
        count = -(-candidates.batch[0] // lanes)
        jobs, out = [], []
        for part in self.parts:
            n = len(part.free)
            features = self.features(part, candidates, output="trajectory", torque=torque)
            position = _aligned((stamps, n, count * lanes), self.dtype)
            push = _aligned(position.shape, self.dtype) if torque else None
            saturated = np.zeros((count, n, lanes), self.dtype)
            out.append(Block(joints=part.free, position=position, torque=push, saturated=saturated))
            jobs += self.jobs(part, features, candidates, out=position, torque_out=push, counts=saturated)
        run(jobs)
        return out

    def trajectories(self, candidates: JointDynamics, *, torque: bool = False) -> tuple[Array, Array | None, Array]:
        """Encoder readings (L, T, n), drive torques if asked for, and in how many steps each drive was saturated (L, n)."""
        total, n = candidates.batch[0], self.recording.n
        shape = (total, len(self.recording.time), n)
        position = np.broadcast_to(self.recording.position, shape).astype(float)
        push = np.zeros(shape) if torque else None
        saturated = np.zeros((total, n))
        for block in self.blocks(candidates, torque=torque):
            position[:, :, block.joints] = np.moveaxis(block.position, -1, 0)[:total]
            if push is not None and block.torque is not None:
                push[:, :, block.joints] = np.moveaxis(block.torque, -1, 0)[:total]
            saturated[:, block.joints] = _by_candidate(block.saturated, total)
        return position, push, saturated

    def scores(self, candidates: JointDynamics) -> Array:
        """Mean squared position error of each candidate and joint [rad²], shape (L, n).

        Inf where it diverged, 0 where prescribed.
        """
        order = np.argsort(candidates.delay[:, 0], kind="stable")  # blocks of lanes with like delays run faster
        scores = np.empty((len(order), self.recording.n))
        scores[order] = self._scores(candidates.lane(order))
        return scores

    def _scores(self, candidates: JointDynamics) -> Array:
        total, lanes = candidates.batch[0], self.lanes
        count = -(-total // lanes)
        jobs, states = [], []
        for part in self.parts:
            features = self.features(part, candidates, output="score")
            state = np.empty((count, state_rows(features), lanes), self.dtype)
            states.append(state)
            jobs += self.jobs(part, features, candidates, state=state)
        run(jobs)
        valid = self.recording.valid
        samples = np.full(self.recording.n, len(self.recording.time)) if valid is None else np.maximum(valid.sum(0), 1)
        scores = np.zeros((total, self.recording.n))
        for part, state in zip(self.parts, states, strict=True):
            scores[:, part.free] = _by_candidate(state[:, -len(part.free) :], total) / samples[part.free]
        return np.where(np.isfinite(scores), scores, np.inf)

    # --- preparing calls ------------------------------------------------------------------------------------------------------
    def features(self, part: Part, candidates: JointDynamics, *, output: str, torque: bool = False) -> Features:
        """What the kernel of a branch must contain for these candidates."""
        robot, rows, rec = self.robot, self.rows[part.joints], self.recording
        return Features(
            prescribed=tuple(bool(x) for x in self.schedule.given[part.joints]),
            limited=tuple(bool(x) for x in np.isfinite(robot.torque_limit[rows])),
            envelope=tuple(bool(x) for x in np.isfinite(robot.stall_torque[rows])),
            gear_knots=tuple(robot.gear_position.shape[1] + 1 if x else 0 for x in robot.geared[rows]),
            limits=tuple(bool(np.isfinite(link.lower) or np.isfinite(link.upper)) for link in part.branch.links),
            target_velocity=rec.target_velocity is not None,
            feedforward=rec.feedforward is not None,
            enabled=rec.enabled is not None,
            load=bool(candidates.load.any()),
            breakaway=bool(candidates.breakaway.any()),
            load_friction=bool(candidates.load_friction.any()),
            cutoff=bool(np.isfinite(candidates.cutoff).any()),
            tilt=bool(candidates.tilt.any()),
            gain_scale=bool((candidates.gain_scale != 1).any()),
            joint_delays=candidates.delay.shape[-1] > 1 and candidates.n > 1,
            delay_torque=self.physics.delay_on == "torque",
            encoder=self.physics.bias_form == "encoder",
            output=output,
            torque=torque,
            weighted=output == "score" and rec.valid is not None,
        )

    def kernel(self, part: Part, features: Features) -> tuple[Compiled, Array]:
        """The compiled kernel of a branch and its table of numbers."""
        source = traced(part.branch, features, self.lanes, self.kind, tuple(self.model.opt.gravity))
        return compiled(source.text), np.ascontiguousarray(source.numbers, self.dtype)

    def jobs(
        self, part: Part, features: Features, candidates: JointDynamics, *, state: Array | None = None, out: Array | None = None,
        torque_out: Array | None = None, counts: Array | None = None,
    ) -> list[tuple[Any, ...]]:  # fmt: skip
        """One call of the kernel for every block of lanes."""
        kernel, numbers = self.kernel(part, features)
        fixed = self._fixed(part, features)
        lanes, delays, start = self._lanes(part, features, candidates)
        blocks = len(lanes)
        if state is None:
            state = np.empty((blocks, state_rows(features), self.lanes), self.dtype)
        state[:] = 0.0
        state[:, : start.shape[1]] = start
        state[:, len(part.free) : 2 * len(part.free)] = self.schedule.start_velocity[part.free][:, None]
        ring = self._ring(features, candidates)
        whole, parts = self._alike(features, delays)
        history = np.zeros((blocks, ring * len(part.free), self.lanes), self.dtype)
        result = []
        for b in range(blocks):
            given = (numbers, fixed["gains"], lanes[b], delays[b], state[b], fixed["command_time"], fixed["command"],
                     fixed["plant"], fixed["first"], fixed["fraction"], fixed["measured"], _of_block(out, b, self.lanes),
                     _of_block(torque_out, b, self.lanes), None if counts is None else counts[b], history[b],
                     fixed["command_short"], parts[b])  # fmt: skip
            steps = (self.schedule.steps, ring, int(whole[b]), len(self.recording.time) - 1, blocks)
            result.append((kernel.call, given, (*steps, self.physics.timestep)))
        return result

    def _alike(self, features: Features, delays: Array) -> tuple[Array, Array]:
        """Whole steps that all lanes of a block lag by (-1 where they differ), and the rest of each lane's delay in steps."""
        steps = delays[:, 0] / self.physics.timestep * (not features.delay_torque)
        whole = np.floor(steps.min(axis=1) + ROUNDING)
        part = steps - whole[:, None]
        alike = (part.max(axis=1) <= 1 + ROUNDING) & self.schedule.on_grid & (not features.joint_delays)
        return np.where(alike, whole, -1), np.ascontiguousarray(part, self.dtype)

    def _ring(self, features: Features, candidates: JointDynamics) -> int:
        """Past torques to keep for a delay on the torque."""
        return int(np.ceil(candidates.delay.max() / self.physics.timestep)) + 3 if features.delay_torque else 1

    def _fixed(self, part: Part, features: Features) -> dict[str, Array]:
        """What all lanes share: gains, command, prescribed motion, stamps and, for scores, the measurement."""
        key = (id(part), features)
        if key not in self._tables:
            rec, schedule, free = self.recording, self.schedule, part.free
            columns = [rec.target[:, free]]
            columns += [rec.target_velocity[:, free]] if rec.target_velocity is not None else []
            columns += [rec.feedforward[:, free]] if rec.feedforward is not None else []
            command = np.stack(columns, axis=2).reshape(len(rec.time), -1)
            since, seen = knots(schedule.since, command, self.physics.timestep, hold=rec.command_hold and not schedule.on_grid)
            plant = [schedule.motion[:, :, part.joints[i]] for i, given in enumerate(features.prescribed) if given]
            plant += [schedule.enabled[:, free]] if schedule.enabled is not None else []
            measured = [rec.position[:, free]]
            measured += [rec.valid[:, free]] if rec.valid is not None else []
            self._tables[key] = {
                "gains": self._gains(part, features),
                "command_time": _command_time(since),
                "command_short": np.ascontiguousarray(command, self.dtype),
                "command": np.ascontiguousarray(np.vstack([seen, seen[-1:]]), float),
                "plant": np.ascontiguousarray(np.concatenate(plant, axis=1) if plant else np.zeros((1, 1)), self.dtype),
                "first": schedule.first,
                "fraction": np.ascontiguousarray(schedule.fraction, self.dtype),
                "measured": np.ascontiguousarray(np.concatenate(measured, axis=1), self.dtype),
            }
        return self._tables[key]

    def _gains(self, part: Part, features: Features) -> Array:
        """The known numbers of the drives, in the layout of the features."""
        where, size = features.gain_layout()
        table = np.zeros(max(size, 1))
        robot, rec = self.robot, self.recording
        for i in features.free:
            joint, row = part.joints[i], self.rows[part.joints[i]]
            values = {"stiffness": rec.stiffness[joint], "damping": rec.damping[joint], "limit": robot.torque_limit[row],
                      "stall": robot.stall_torque[row], "inverse_no_load": 1.0 / robot.no_load_speed[row]}  # fmt: skip
            if features.gear_knots[i]:
                values |= _bends(robot.gear_position[row], robot.gear_ratio[row])
            for name, value in values.items():
                if (name, i) in where:
                    table[where[name, i]] = value
        return table.astype(self.dtype)

    def _lanes(self, part: Part, features: Features, candidates: JointDynamics) -> tuple[Array, Array, Array]:
        """Parameters (blocks, rows, lanes), delays (blocks, groups, lanes) and true start positions (blocks, f, lanes)."""
        free = part.free
        rows = {name: getattr(candidates, name)[:, free] for name in features.lane_rows if name != "effective"}
        scaled = np.array([not part.branch.links[i].bare for i in features.free])
        inertia = part.rest_inertia + (rows["armature"] * scaled)[:, :, None] * np.eye(len(free))
        rows["effective"] = 1.0 / np.diagonal(np.linalg.inv(inertia), axis1=1, axis2=2)
        values = [rows[name] for name in features.lane_rows] + self._shared(features, candidates)
        delays = candidates.delay[:, free] if features.joint_delays else candidates.delay[:, :1]
        start = np.broadcast_to(self.schedule.start_position[free], rows["bias"].shape)
        start = start + rows["bias"] if features.encoder else start
        return (
            _in_blocks(np.concatenate(values, axis=1), self.lanes, self.dtype),
            _in_blocks(delays, self.lanes, np.dtype(float)),
            _in_blocks(start, self.lanes, self.dtype),
        )

    def _shared(self, features: Features, candidates: JointDynamics) -> list[Array]:
        """Parameters that the joints of a lane share, each of shape (L, 1)."""
        shared = {}
        if features.breakaway:
            shared["inverse_stribeck"] = 1.0 / candidates.stribeck_speed
        if features.cutoff:
            shared["smoothing"] = smoothing(candidates.cutoff, self.physics.timestep)
        if features.tilt:
            turned = tilted(self.model.opt.gravity, candidates.tilt)
            shared |= {f"gravity_{x}": turned[:, k : k + 1] for k, x in enumerate("xyz")}
        if features.gain_scale:
            shared["gain_scale"] = candidates.gain_scale
        return [shared[name] for name in features.shared_rows]


def smoothing(cutoff: Array, h: float) -> Array:
    """Share of the newest velocity in the drive's first-order low-pass: 1 − exp(−2π f_c h)."""
    return -np.expm1(-2 * np.pi * cutoff * h)


def tilted(gravity: Array, tilt: Array) -> Array:
    """Gravity in the frame of a base that hangs with this roll and pitch [rad], shape (L, 3): (R_y(pitch) R_x(roll))ᵀ g."""
    roll, pitch = tilt[:, 0], tilt[:, 1]
    x, y, z = gravity
    x, z = np.cos(pitch) * x - np.sin(pitch) * z, np.sin(pitch) * x + np.cos(pitch) * z
    y, z = np.cos(roll) * y + np.sin(roll) * z, -np.sin(roll) * y + np.cos(roll) * z
    return np.stack(np.broadcast_arrays(x, y, z), axis=1)


@lru_cache(maxsize=256)
def traced(branch: Branch, features: Features, lanes: int, kind: str, gravity: tuple[float, ...]) -> KernelSource:
    """The source of a branch's kernel; branches with the same numbers are traced once."""
    return build(branch, features, lanes=lanes, dtype=kind, gravity=np.array(gravity))


def run(jobs: list[tuple[Any, ...]]) -> None:
    """Call kernels on all cores."""

    def call(job: tuple[Any, ...]) -> None:
        function, arrays, numbers = job
        function(*(None if a is None else a.ctypes.data for a in arrays), *numbers)

    if len(jobs) == 1:
        call(jobs[0])
    else:
        list(cores().map(call, jobs))


def _parts(model: Any, recording: Recording, given: Array) -> list[Part]:
    order = hung_order(model, recording.joints)
    joint_of = {int(dof): j for j, dof in enumerate(order)}
    parts = []
    for branch in branches(model):
        joints = np.array([joint_of[dof] for dof in branch.dofs])
        moving = ~given[joints]
        if not moving.any():
            continue
        zero, one = vector([0.0] * len(joints)), vector([1.0] * len(joints))
        reference = vector([link.reference for link in branch.links])
        _, entries = equations(branch, reference, zero, zero, one, vector(model.opt.gravity), float)
        inertia = np.zeros((len(joints), len(joints)))
        for (i, j), value in entries.items():
            inertia[i, j] = inertia[j, i] = value
        parts.append(Part(branch=branch, joints=joints, free=joints[moving], rest_inertia=inertia[np.ix_(moving, moving)]))
    return parts


def _command_time(knots: Array) -> Array:
    """Rows (knot, 1 / distance to the next); the last command stands for ever."""
    slope = np.append(1.0 / np.diff(knots), 0.0)
    return np.ascontiguousarray(np.vstack([np.stack([knots, slope], axis=1), [[np.inf, 0.0]]]))


def _bends(position: Array, ratio: Array) -> dict[str, float]:
    """A piecewise-linear table as r₀ + Σ bend · max(q − knot, 0), held at both ends."""
    slope = np.concatenate([[0.0], np.diff(ratio) / np.diff(position), [0.0]])
    bends = {"knot0": 0.0, "bend0": float(ratio[0])}
    for k, (knot, bend) in enumerate(zip(position, np.diff(slope), strict=True), start=1):
        bends |= {f"knot{k}": float(knot), f"bend{k}": float(bend)}
    return bends


def _in_blocks(values: Array, lanes: int, dtype: np.dtype) -> Array:
    """(L, rows) as (blocks, rows, lanes); the last candidate fills the last block."""
    count = -(-len(values) // lanes)
    full = values[np.minimum(np.arange(count * lanes), len(values) - 1)]
    return np.ascontiguousarray(full.reshape(count, lanes, -1).transpose(0, 2, 1), dtype)


def _aligned(shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """An array whose rows of lanes are cache lines: cores that write neighbouring blocks do not wait for each other."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def _of_block(out: Array | None, block: int, lanes: int) -> Array | None:
    """The columns of an array (T, f, lanes of all blocks) that one block writes."""
    return None if out is None else out[:, :, block * lanes : (block + 1) * lanes]


def _by_candidate(blocks: Array, total: int) -> Array:
    """(blocks, ..., lanes) as (L, ...)."""
    moved = np.moveaxis(blocks, -1, 1)
    return moved.reshape(-1, *blocks.shape[1:-1])[:total]
