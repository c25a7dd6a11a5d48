"""The task: who falls, who starts anew, what a lost robot may not do, what is pushed and what is seen."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.deploy import observation_names
from surefoot.errors import SurefootError
from surefoot.robot.energy import electrical_power, mechanical_power
from surefoot.simulate.on_ground import make_world
from surefoot.simulate.physics import Physics
from surefoot.simulate.terrain import terrain
from surefoot.train.course import Course
from surefoot.train.settings import TaskSettings
from surefoot.train.task import Task

CALM = TaskSettings(push_speed=0.0, posture_noise=0.0, velocity_noise=0.0, still=1.0)


def task_of(robot, dynamics=None, *, robots=3, seed=0, settings=CALM, timestep=0.005, ground="flat"):
    field = terrain(ground, seed=0, levels=3, columns=1)
    substeps = round(settings.period / timestep)
    world = make_world(
        robot,
        dynamics or robot.dynamics,
        physics=Physics(timestep=timestep),
        robots=robots,
        substeps=substeps,
        terrain=field,
        threads=1,
    )
    return Task(robot, world, settings, Course(field, robots, seed=seed), seed=seed)


def stand(task, steps):
    return [task.step(np.zeros((task.robots, task.robot.n))) for _ in range(steps)]


def test_a_robot_that_holds_its_posture_stands(anymal):
    """Zero actions for 2 s: nobody falls, tracking of the zero command earns nearly 2 c_v per second, no collisions."""
    task = task_of(anymal)
    seen = task.reset()
    assert seen.policy.shape == (3, 48)
    assert seen.critic.shape == (3, 353)
    outcomes = stand(task, 100)
    assert not any(outcome.done.any() for outcome in outcomes)
    last = outcomes[-1]
    assert last.terms["velocity_tracking"] == pytest.approx(2 * 0.2 * 0.02, rel=0.02)
    assert (last.terms["collisions"] == 0).all()
    assert last.reward == pytest.approx(sum(last.terms.values()))
    down = [observation_names(anymal.joints).index(f"gravity.{axis}") for axis in "xyz"]
    assert last.seen.critic[:, down] == pytest.approx(np.tile([0, 0, -1], (3, 1)), abs=0.15)


def test_the_energy_term_is_power_over_all_physics_steps(anymal, monkeypatch):
    """c_e κ γ_v (P_el + P_mech − P_pot), from the very torques that the drives gave in each of the four physics steps."""
    task = task_of(anymal)
    task.reset()
    stand(task, 20)
    task.command[:] = [1.0, 0.0, 0.5]
    task.penalty = 0.25
    kept = []
    step = task.world.step
    monkeypatch.setattr(task.world, "step", lambda target: kept.append(step(target)) or kept[-1])
    outcome = task.step(0.3 * np.random.default_rng(0).normal(size=(3, 12)))
    m = kept[0]
    assert m.torque.shape == (3, 4, 12)
    drives = electrical_power(anymal, m.torque, m.joint_position) + mechanical_power(anymal, m.torque, m.joint_velocity)
    rise = 9.81 * task.world.mass * m.com_velocity[..., 2]
    wanted = 0.02 * -16e-5 * 0.25 * 0.5 * (drives - rise).mean(1)
    assert outcome.terms["energy"] == pytest.approx(wanted)
    assert outcome.power == pytest.approx(drives.mean(1))


def test_a_robot_thrown_on_its_back_falls_and_starts_anew(anymal):
    task = task_of(anymal)
    task.reset()
    stand(task, 5)
    task.world.push(np.array([1]), np.array([[0.0, 0.0, 2.0, 25.0, 0.0, 0.0]]))
    fallen = np.zeros(3, dtype=bool)
    for outcome in stand(task, 40):
        fallen |= outcome.fallen
    assert fallen.tolist() == [False, True, False]
    assert task.age[0] == 45
    assert task.age[1] < 40


def test_time_over_is_no_fall(anymal):
    task = task_of(anymal, settings=replace(CALM, episode=0.1))
    task.reset()
    last = stand(task, 5)[-1]
    assert last.late.all()
    assert not last.fallen.any()
    assert (task.age == 0).all()


def test_a_lost_robot_is_started_anew_and_counted_and_earns_nothing(anymal):
    """A robot whose state is not a number spoils neither its neighbours nor any sum."""
    task = task_of(anymal)
    twin = task_of(anymal)
    task.reset(), twin.reset()
    stand(task, 3), stand(twin, 3)
    task.world.stepper.state()[1][1] = np.nan
    outcome, calm = stand(task, 1)[0], stand(twin, 1)[0]
    assert outcome.lost.tolist() == [False, True, False]
    assert outcome.reward[1] == 0.0
    assert outcome.power[1] == 0.0
    assert np.isfinite(outcome.seen.policy).all()
    assert np.isfinite(outcome.seen.critic).all()
    np.testing.assert_array_equal(outcome.reward[[0, 2]], calm.reward[[0, 2]])
    assert task.world.diverged == 1
    assert not stand(task, 1)[0].lost.any()


def test_a_push_is_a_force_that_the_critic_sees(anymal):
    """A push of Δv in T seconds is F = m Δv / T, level, in base axes in the critic's state, and over after T."""
    settings = replace(CALM, push_speed=0.4, push_every=0.02, push_length=0.06)
    task = task_of(anymal, settings=settings)
    task.reset()
    outcome = stand(task, 1)[0]
    forces = task.world.wrench[:, :2]
    assert (np.abs(forces) <= 0.4 * task.world.mass / 0.06).all()
    assert (np.linalg.norm(forces, axis=1) > 0).all()
    seen = outcome.seen.critic[:, 48:51]
    assert np.linalg.norm(seen, axis=1) == pytest.approx(np.linalg.norm(forces, axis=1))
    first = forces.copy()
    stand(task, 2)
    np.testing.assert_array_equal(task.world.wrench[:, :2], first)
    stand(task, 1)
    assert (task.world.wrench[:, :2] != first).any(axis=1).all()


def test_only_the_policy_is_given_noise(anymal):
    """The critic's part of the observation is exact; the policy's is within the published widths, commands and actions exact."""
    task = task_of(anymal, robots=64)
    seen = task.reset()
    widths = task.settings.noise.widths(12)
    difference = np.abs(seen.policy - seen.critic[:, :48])
    assert (difference <= widths).all()
    assert (difference[:, widths > 0] > 0).all(axis=0).all()
    assert widths[9:12].tolist() == [0, 0, 0]
    assert widths[36:].tolist() == [0] * 12


def test_the_policy_reads_the_encoders(anymal):
    """Standing with bias q_b, the observed joint offset is q − q_b − q_0."""
    task = task_of(anymal)
    seen = task.reset()
    assert seen.critic[:, 12:24] == pytest.approx(np.tile(-anymal.dynamics.bias, (3, 1)))


def test_commands_and_ground_are_drawn_in_their_ranges(anymal):
    task = task_of(anymal, robots=400, settings=replace(CALM, still=0.25, command_low=(-0.5, 0, -1), command_high=(1.5, 0, 2)))
    task.reset()
    still = (task.command == 0).all(1)
    assert 60 < still.sum() < 140
    assert (task.command[:, 0] >= -0.5).all()
    assert (task.command[:, 0] <= 1.5).all()
    assert (task.command[:, 1] == 0).all()
    assert 0.4 <= task.world.friction.min() < task.world.friction.max() <= 1.2
    assert task.world.friction.std() > 0.1


def test_a_command_is_followed_for_its_time_and_then_another(anymal):
    task = task_of(anymal, settings=replace(CALM, still=0.0, resample=0.1))
    task.reset()
    first = task.command.copy()
    stand(task, 4)
    np.testing.assert_array_equal(task.command, first)
    stand(task, 1)
    assert (task.command != first).all()


def test_the_same_seed_is_the_same_task(anymal):
    one, two, other = (task_of(anymal, seed=seed, settings=TaskSettings()) for seed in (4, 4, 5))
    seen = [task.reset().policy for task in (one, two, other)]
    np.testing.assert_array_equal(seen[0], seen[1])
    assert (seen[0] != seen[2]).any()
    outcomes = [stand(task, 3)[-1].seen.critic for task in (one, two)]
    np.testing.assert_array_equal(*outcomes)


def test_climbing_earns_more_than_descending(anymal):
    """The sign of P_pot: the same robot carried up a slope is charged less than one carried down, all else equal."""

    def charged(rise):
        task = task_of(anymal)
        task.reset()
        stand(task, 10)
        step = task.world.step

        def carried(target):
            motion = step(target)
            lift = motion.com_velocity.copy()
            lift[..., 2] = rise
            return replace(motion, com_velocity=lift)

        task.world.step = carried
        return task.step(np.zeros((3, 12))).terms["energy"]

    up, level, down = charged(0.3), charged(0.0), charged(-0.3)
    assert (up > level).all()
    assert (level > down).all()
    assert up - level == pytest.approx(0.02 * 16e-5 * 9.81 * 0.3 * task_of(anymal).world.mass)


def test_a_robot_without_coefficients_is_told_what_to_type(anymal):
    with pytest.raises(SurefootError, match=r"no reward coefficient for touchdown.*\[rewards\]"):
        task_of(anymal.replace(rewards={"velocity_tracking": 0.2, "energy": -1e-4, "collisions": -1.0}))


def test_a_period_that_is_not_whole_steps_is_refused(anymal):
    with pytest.raises(SurefootError, match="whole number of physics steps"):
        task_of(anymal, settings=replace(CALM, period=0.021))


def test_wrong_settings_are_named():
    with pytest.raises(SurefootError, match="command runs from 1 to -1"):
        TaskSettings(command_low=(1.0, 0, 0), command_high=(-1.0, 0, 0))
    with pytest.raises(SurefootError, match="still is 2"):
        TaskSettings(still=2.0)
    with pytest.raises(SurefootError, match="push_length is 0"):
        TaskSettings(push_length=0.0)
