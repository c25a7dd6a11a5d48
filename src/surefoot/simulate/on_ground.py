"""The one World: drives, commands, lost robots and what a task reads are here; an engine behind `Stepper` does the mechanics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.drives import Drives, Effort
from surefoot.simulate.frames import to_base
from surefoot.simulate.ground import Ground
from surefoot.simulate.physics import Physics
from surefoot.simulate.plug import Drive, OtherDrives
from surefoot.simulate.terrain import Terrain
from surefoot.simulate.world import Motion, Start, State, World

Array = np.ndarray
FASTEST = 1e3  # [m/s, rad/s] no robot moves like that: beyond it the engine has lost it
DOWN = np.array([0.0, 0.0, -1.0])


class Stepper(Protocol):
    """An engine with N copies of one model."""

    def state(self) -> tuple[Array, Array]:
        """qpos (N, nq) and qvel (N, nv) now."""
        ...

    def put(self, which: Array, qpos: Array, qvel: Array) -> None:
        """Set the state of some robots; their sensors follow."""
        ...

    def step(self, effort: Effort, friction: Array, wrench: Array) -> None:
        """One physics step."""
        ...

    def sensors(self) -> Array:
        """Sensor readings as the last step began, shape (N, nsensordata)."""
        ...

    def torque(self) -> Array:
        """What the actuators gave in the last step [N·m], shape (N, n)."""
        ...


class OnGround(World):
    """N robots stepped by an engine; see `World`. With a fixed base they hang in the air."""

    def __init__(
        self, robot: Robot, ground: Ground, drives: Drives, terrain: Terrain, make: Callable[[Ground, Drives], Stepper]
    ) -> None:
        self.robot, self.ground, self.drives, self.terrain = robot, ground, drives, terrain
        self.joints, self.feet, self.mass = robot.joints, ground.feet, ground.mass
        self.robots, self.substeps = drives.robots, drives.substeps
        self.timestep, self.stand_height = drives.physics.timestep, ground.stand_height
        self.friction = np.ones(self.robots)
        self.wrench = np.zeros((self.robots, 6))
        self.diverged = 0
        self.stepper = make(ground, drives)
        self._home = np.tile(ground.model.qpos0, (self.robots, 1))  # where each robot was last put
        self._home[:, ground.positions] = robot.posture
        self.stepper.put(np.arange(self.robots), self._home, np.zeros((self.robots, ground.model.nv)))

    def reset(self, which: Array, start: Start) -> None:
        """Put the robots `which` at `start`."""
        which, g = np.atleast_1d(which), self.ground
        k, n = len(which), self.robot.n
        if not k:
            return
        qpos, qvel = np.tile(g.model.qpos0, (k, 1)), np.zeros((k, g.model.nv))
        given = lambda name, width: _rows(name, getattr(start, name), (k, width))  # noqa: E731
        qpos[:, g.positions], qvel[:, g.dofs] = given("joint_position", n), given("joint_velocity", n)
        if g.free:
            quaternion = given("quaternion", 4)
            quaternion = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
            qpos[:, :3], qpos[:, 3:7] = given("position", 3), quaternion
            qvel[:, :3] = to_base(quaternion * [1, -1, -1, -1], given("velocity", 3))
            qvel[:, 3:6] = given("rate", 3)
        self._home[which] = qpos
        self.stepper.put(which, qpos, qvel)
        self.drives.reset(which)

    def step(self, target: Array) -> Motion:
        """One control step."""
        target = np.asarray(target, dtype=float)
        self._check(target)
        self.drives.command(target)
        steps: list[tuple[Array, ...]] = []
        lost = np.zeros(self.robots, dtype=bool)
        for i in range(self.substeps):
            lost |= self._restore()
            qpos, qvel = self.stepper.state()
            q, v = qpos[:, self.ground.positions], qvel[:, self.ground.dofs]
            self.stepper.step(self.drives.effort(i, q, v), self.friction, self.wrench)
            steps.append((q, v, self.stepper.torque(), self.stepper.sensors()))
        lost |= self._restore()
        q, v, torque, sensors = (np.stack(x, axis=1) for x in zip(*steps, strict=True))
        for rows in (q, v, torque, sensors):
            rows[lost] = 0.0
        seen, at = self._seen(sensors), self.ground.sensors
        return Motion(
            joint_position=q, joint_velocity=v, torque=torque, com_velocity=sensors[..., at["com"]],
            foot_velocity=sensors[..., at["foot_velocity"]], foot_force=-sensors[..., at["foot_force"]],
            foot_contact=seen["foot"], thigh_contact=seen["thigh"], shank_contact=seen["shank"], trunk_contact=seen["trunk"],
            diverged=lost,
        )  # fmt: skip

    def read(self) -> State:
        """The robots now."""
        qpos, qvel = self.stepper.state()
        g, sensors = self.ground, self.stepper.sensors()
        q, seen = qpos[:, g.positions], self._seen(sensors)
        if g.free:
            position, quaternion = qpos[:, :3].copy(), qpos[:, 3:7].copy()
            velocity, rate = to_base(quaternion, qvel[:, :3]), qvel[:, 3:6].copy()
        else:
            body = g.model.body(g.base)
            position, quaternion = np.tile(body.pos, (self.robots, 1)), np.tile(body.quat, (self.robots, 1))
            velocity, rate = np.zeros((self.robots, 3)), np.zeros((self.robots, 3))
        return State(
            position=position, quaternion=quaternion, velocity=velocity, rate=rate, down=to_base(quaternion, DOWN),
            joint_position=q, joint_velocity=qvel[:, g.dofs], encoder=q - self.drives.offset,
            foot_position=sensors[:, g.sensors["foot_position"]], foot_contact=seen["foot"],
            thigh_contact=seen["thigh"], shank_contact=seen["shank"], trunk_contact=seen["trunk"],
        )  # fmt: skip

    def push(self, which: Array, velocity: Array) -> None:
        """Add to the base velocity of some robots."""
        which = np.atleast_1d(which)
        if not self.ground.free:
            raise SurefootError("a robot whose base is fixed cannot be pushed.")
        velocity = _rows("velocity", velocity, (len(which), 6))
        qpos, qvel = (x[which].copy() for x in self.stepper.state())
        qvel[:, :3] += velocity[:, :3]
        qvel[:, 3:6] += to_base(qpos[:, 3:7], velocity[:, 3:])
        self.stepper.put(which, qpos, qvel)

    def _check(self, target: Array) -> None:
        if target.shape != (self.robots, self.robot.n):
            raise SurefootError(f"target has shape {target.shape}; expected ({self.robots}, {self.robot.n}): robots, joints.")
        bad = np.argwhere(~np.isfinite(target))
        if len(bad):
            robot, joint = bad[0]
            raise SurefootError(f"the target of joint {self.joints[joint]} of robot {robot} is {target[robot, joint]}.")

    def _restore(self) -> Array:
        """Put robots that the engine has lost back to their last start; which ones, bool, shape (N,)."""
        qpos, qvel = self.stepper.state()
        astray = np.logical_not((np.abs(qvel) < FASTEST).all(axis=1) & np.isfinite(qpos).all(axis=1))
        lost = np.flatnonzero(astray)
        if len(lost):
            self.diverged += len(lost)
            self.stepper.put(lost, self._home[lost], np.zeros_like(qvel[lost]))
            self.drives.reset(lost)
            self.drives.hold(lost, self.robot.posture)
        return np.asarray(astray)

    def _seen(self, sensors: Array) -> dict[str, Array]:
        """What touches the ground: feet, thighs and shanks (..., F), trunk (...)."""
        at, legs = self.ground.sensors, range(len(self.feet))
        any_of = lambda name: np.asarray(sensors[..., at[name]].any(axis=-1))  # noqa: E731
        side = lambda part: np.stack([any_of(f"{part}{i}") for i in legs], axis=-1)  # noqa: E731
        return {
            "foot": sensors[..., at["foot"]] > 0,
            "thigh": side("thigh"),
            "shank": side("shank"),
            "trunk": any_of("trunk"),
        }


def _rows(name: str, value: Array | None, shape: tuple[int, int]) -> Array:
    """A start value for every robot; zero where none is given."""
    if value is None:
        return np.zeros(shape)
    value = np.asarray(value, dtype=float)
    if value.shape != shape:
        raise SurefootError(f"{name} has shape {value.shape}; expected {shape}.")
    if not np.isfinite(value).all():
        raise SurefootError(f"{name} of a start is not finite.")
    return value


def make_world(
    robot: Robot,
    dynamics: JointDynamics,
    *,
    physics: Physics,
    robots: int,
    substeps: int,
    terrain: Terrain | None = None,
    engine: Literal["batch", "warp"] = "batch",
    threads: int = 0,
    fixed: bool = False,
    drive: Drive | None = None,
) -> OnGround:
    """N robots with the fit's dynamics and physics; `dynamics` with a leading axis gives each robot its own.

    Everything in the dynamics acts as in a replay, but for `tilt`, which is the stand's and not the robot's.

    `engine` "batch" runs on `threads` CPU cores (0: all), "warp" on the GPU, or on the CPU where there is none.
    `drive` takes the place of the robot's own drives: a network, for example; `dynamics` then say what acts beside it.
    """
    if engine not in ("batch", "warp"):
        raise SurefootError(f"engine is {engine!r}; valid: batch, warp.")
    if robots < 1 or substeps < 1:
        raise SurefootError(f"robots is {robots} and substeps is {substeps}; both must be at least 1.")
    if dynamics.batch not in ((), (robots,)):
        raise SurefootError(f"the dynamics have the leading shape {dynamics.batch}; expected () or ({robots},), one per robot.")
    for name in ("stiffness", "damping"):
        unknown = [j for j, x in zip(robot.joints, getattr(robot, name), strict=True) if not np.isfinite(x)]
        if unknown:
            raise SurefootError(f"{robot.name}: the {name} of {', '.join(unknown)} is unknown. Give it in robot.toml.")
    dynamics = dynamics if dynamics.joints == robot.joints else dynamics.ordered_for(robot.joints)
    terrain = terrain if terrain is not None else Terrain()
    first = dynamics.lane(0) if dynamics.batch else dynamics
    ground = Ground.of(robot, first, physics, terrain, free=not fixed)
    if drive is None:
        drives = Drives(robot, dynamics, physics, robots=robots, substeps=substeps)
    else:
        drives = OtherDrives(robot, dynamics, physics, robots=robots, substeps=substeps, drive=drive)
    return OnGround(robot, ground, drives, terrain, _engine(engine, threads))


def _engine(engine: str, threads: int) -> Callable[[Ground, Drives], Any]:
    if engine == "warp":
        from surefoot.simulate.warp_world import WarpStepper

        return WarpStepper
    from surefoot.simulate.batch_world import BatchStepper

    return lambda ground, drives: BatchStepper(ground, drives, threads=threads)
