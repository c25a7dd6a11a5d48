"""The task: follow commanded velocities with little power. Written against `World` alone, so that any engine can stand behind it.

One `step` is one control step: action to targets, the world's physics steps, rewards, falls, new starts, what is seen next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.deploy.observation import observe
from surefoot.errors import SurefootError
from surefoot.robot.energy import electrical_power, mechanical_power, potential_power, total_power
from surefoot.robot.spec import REWARDS
from surefoot.simulate.snapshot import restore, snapshot
from surefoot.train import rewards
from surefoot.train.chance import Chance
from surefoot.train.observation import privileged

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot
    from surefoot.simulate.on_ground import OnGround
    from surefoot.simulate.world import Motion, State
    from surefoot.train.course import Course
    from surefoot.train.settings import TaskSettings

Array = np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What the policy sees, noise included, and the critic's whole state (the same without noise, and its own part)."""

    policy: Array  # shape (N, 12 + 3n)
    critic: Array  # shape (N, 19 + 3n + feet + cells)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """One control step of N robots."""

    seen: Seen  # after it; of a robot that starts anew, at its start
    reward: Array  # shape (N,)
    terms: dict[str, Array]  # each of REWARDS as it entered the sum, shape (N,)
    fallen: Array  # bool, shape (N,)
    late: Array  # bool, shape (N,): the episode's time is over
    lost: Array  # bool, shape (N,): the engine lost the robot; its other numbers mean nothing
    power: Array  # P_el + P_mech [W], shape (N,)
    linear: Array  # mean velocity of the base over the step's end, in base axes [m/s], shape (N, 3)
    angular: Array  # [rad/s], shape (N, 3)

    @property
    def done(self) -> Array:
        """Robots that start anew."""
        return self.fallen | self.late | self.lost


class Task:
    """N robots that are commanded, pushed, rewarded, and put back on their feet."""

    def __init__(self, robot: Robot, world: OnGround, settings: TaskSettings, course: Course, *, seed: int) -> None:
        if missing := [name for name in REWARDS if name not in robot.rewards]:
            raise SurefootError(
                f"{robot.name} has no reward coefficient for {', '.join(missing)}; add them under [rewards] in its robot.toml, "
                "for example velocity_tracking = 0.2, energy = -16e-5, collisions = -1.0, touchdown = -0.1."
            )
        if world.joints != robot.joints:
            raise SurefootError(f"the world's joints are {', '.join(world.joints)}; {robot.name} has {', '.join(robot.joints)}.")
        if abs(world.timestep * world.substeps - settings.period) > 1e-9:
            raise SurefootError(
                f"the policy's period is {1e3 * settings.period:g} ms and the world makes steps of {1e3 * world.timestep:g} ms x "
                f"{world.substeps}; the period must be a whole number of physics steps."
            )
        self.robot, self.world, self.settings, self.course = robot, world, settings, course
        self.chance = Chance(settings, world, seed)
        self.penalty = 1.0  # κ, set by whoever counts iterations
        self.age = np.zeros(world.robots, dtype=int)  # of the episode [control steps]
        self.action = np.zeros((world.robots, robot.n))
        self.landed = np.ones((world.robots, len(world.feet)), dtype=bool)  # feet that touched in the last step
        self.speeds = np.zeros((world.robots, rewards.WINDOW, len(world.feet)))  # of the feet, newest last [m/s]
        self._widths = settings.noise.widths(robot.n)

    @property
    def robots(self) -> int:
        """N."""
        return self.world.robots

    @property
    def command(self) -> Array:
        """What each robot is asked for: v̂_x, v̂_y [m/s], ω̂_yaw [rad/s], shape (N, 3)."""
        return self.chance.command

    @property
    def last(self) -> int:
        """Control steps of an episode."""
        return round(self.settings.episode / self.settings.period)

    def reset(self) -> Seen:
        """Every robot at a new start."""
        self._start(np.arange(self.robots))
        return self.see(self.world.read())

    def step(self, action: Array) -> Outcome:
        """One control step with actions a, shape (N, n)."""
        self.action = np.array(action, dtype=float)
        self.chance.push()
        motion = self.world.step(self.robot.posture + self.settings.action_scale * self.action)
        state = self.world.read()
        self.age += 1
        lost = motion.diverged | ~np.isfinite(state.position).all(-1)
        terms, power = self._rewards(motion, state)
        terms = {name: np.where(lost, 0.0, self.settings.period * term) for name, term in terms.items()}
        fallen = self.fallen(motion, state) & ~lost
        late = (self.age >= self.last) & ~fallen & ~lost
        outcome = {"linear": state.velocity, "angular": state.rate, "power": np.where(lost, 0.0, power)}
        self.course.walked(state.position, state.velocity, self.command, self.settings.period)
        again = np.flatnonzero(fallen | late | lost)
        if len(again):
            self.course.assess(again, lost[again])
            self._start(again)
            state = self.world.read()
        self.chance.command_anew(self.age)
        return Outcome(
            seen=self.see(state), reward=sum(terms.values(), np.zeros(self.robots)), terms=terms, fallen=fallen, late=late,
            lost=lost, **outcome,
        )  # fmt: skip

    def fallen(self, motion: Motion, state: State) -> Array:
        """Robots that lie, lean or crouch too far."""
        settings, height = self.settings, self.course.height(state.position)
        leaning = -state.down[:, 2] < np.cos(settings.tilt)
        low = state.position[:, 2] - height < settings.crouch * self.world.stand_height
        return motion.trunk_contact.any(1) | leaning | low

    def _rewards(self, motion: Motion, state: State) -> tuple[dict[str, Array], Array]:
        """Each reward with its coefficient and schedule, per second [1/s], and the power of the drives [W]; both (N,)."""
        robot, c = self.robot, self.robot.rewards
        q, v, tau = motion.joint_position, motion.joint_velocity, motion.torque
        electrical, mechanical = electrical_power(robot, tau, q).mean(1), mechanical_power(robot, tau, v).mean(1)
        potential = potential_power(self.world.mass, motion.com_velocity[..., 2].mean(1))
        self.speeds = np.roll(self.speeds, -1, axis=1)
        self.speeds[:, -1] = np.linalg.norm(motion.foot_velocity, axis=-1).max(1)
        touching = np.asarray(motion.foot_contact.any(1))
        landed, self.landed = touching & ~self.landed, touching
        beyond = ((q < robot.lower) | (q > robot.upper)).any(1)
        terms = {
            "velocity_tracking": rewards.velocity_tracking(self.command, state.velocity, state.rate),
            "energy": self.penalty * rewards.energy(self.command, total_power(electrical, mechanical, potential)),
            "collisions": rewards.collision(beyond, motion.thigh_contact.any(1)),
            "touchdown": self.penalty * rewards.touchdown(self.speeds, landed),
        }
        return {name: c[name] * term for name, term in terms.items()}, electrical + mechanical

    def _start(self, which: Array) -> None:
        """Put robots at a new start, with nothing left of their last episode."""
        self.world.reset(which, self.chance.start(which, self.course.origin(which), self.robot.posture))
        self.chance.renew(which)
        self.age[which] = 0
        self.action[which] = 0.0
        self.landed[which] = True  # a robot that is put down does not touch down
        self.speeds[which] = 0.0

    def see(self, state: State) -> Seen:
        """Both observations of the robots as they are."""
        clean = observe(
            linear_velocity=state.velocity, angular_velocity=state.rate, gravity=state.down, command=self.command,
            position=state.encoder, velocity=state.joint_velocity, action=self.action, posture=self.robot.posture,
        )  # fmt: skip
        own = privileged(
            wrench=self.chance.wrench(state.quaternion), friction=self.world.friction, contacts=state.foot_contact,
            scan=self.course.scan(state.position, state.quaternion),
        )  # fmt: skip
        noisy = clean + self._widths * self.chance.rng.uniform(-1.0, 1.0, clean.shape)
        return Seen(policy=noisy, critic=np.concatenate([clean, own], axis=-1))

    # --- what a checkpoint keeps ----------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on, the world's part included."""
        return {
            "age": self.age, "action": self.action, "landed": self.landed, "speeds": self.speeds, "penalty": self.penalty,
            "chance": self.chance.state_dict(), "course": self.course.state_dict(), "world": snapshot(self.world),
        }  # fmt: skip

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.age, self.action, self.landed, self.speeds = (kept[k].copy() for k in ("age", "action", "landed", "speeds"))
        self.penalty = kept["penalty"]
        restore(self.world, kept["world"])
        self.chance.load_state_dict(kept["chance"])
        self.course.load_state_dict(kept["course"])
