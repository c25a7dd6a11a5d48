"""What a plan promises, a fit keeps; and the adviser's closed forms against simulation."""

import numpy as np
import pytest
from machines import LEGS, PENDULUM, SHAFT, hidden, machine

from surefoot.errors import SurefootError
from surefoot.identify import identify
from surefoot.identify.advise import advise, closed_loop_poles, largest_delay
from surefoot.identify.optimise import optimise
from surefoot.identify.plan import Encoders, Outcome, plan
from surefoot.record.excitation import recipe
from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.physics import Physics
from surefoot.simulate.rehearsal import at_rest, rehearse
from surefoot.simulate.replay import replay

SECONDS = 5.0


def planned(text, *, encoders=None, **options):
    robot = machine(text)
    truth = hidden(robot)
    targets = recipe(robot, duration=SECONDS, **options).targets(robot)
    return robot, truth, targets, plan(robot, targets, dynamics=truth, encoders=encoders)


@pytest.mark.parametrize("colour", [0.0, 0.8])
def test_a_fit_gets_the_intervals_that_were_planned(colour):
    encoders = Encoders(noise=5e-4, colour=colour, resolution=2e-4)
    robot, truth, targets, promise = planned(LEGS, encoders=encoders)
    ratios = []
    for seed in range(50, 55):
        rec = rehearse(robot, truth, targets, noise=5e-4, colour=colour, resolution=2e-4, seed=seed)
        fit = identify(robot, [rec], seed=0)
        for kind in ("armature", "damping", "friction", "bias", "delay"):
            ratios += list(promise.of(kind) / ((getattr(fit.high, kind) - getattr(fit.low, kind)) / 2))
    assert 0.8 < np.median(ratios) < 1.25


def test_twice_the_noise_doubles_every_interval():
    one, two = (planned(PENDULUM, encoders=Encoders(noise=n, resolution=0.0))[3] for n in (2e-4, 4e-4))
    np.testing.assert_allclose(two.half_width, 2 * one.half_width, rtol=0.01)


def test_four_times_the_rate_halves_what_white_noise_leaves():
    robot = machine(PENDULUM)
    motions = (recipe(robot, duration=SECONDS, rate=rate).targets(robot) for rate in (200.0, 800.0))
    slow, fast = (Outcome(robot, motion, dynamics=hidden(robot)).white(Encoders(resolution=0.0)) for motion in motions)
    assert slow / fast == pytest.approx(np.full(5, 2.0), rel=0.1)


def test_a_bias_that_gravity_does_not_show_is_planned_as_not_seen():
    _, _, _, promise = planned(SHAFT)
    k = promise.names.index("bias")
    assert not promise.seen[k]
    assert promise.seen[promise.names.index("armature")]
    assert promise.worst != k


def test_encoders_without_any_error_are_refused():
    with pytest.raises(SurefootError, match="not both 0"):
        Encoders(noise=0.0, resolution=0.0)


def test_a_plan_of_a_robot_of_which_nothing_is_known_says_that_it_guesses():
    robot = machine(PENDULUM)
    assert "guessed" in plan(robot, recipe(robot, duration=3.0).targets(robot)).origin


def test_an_optimised_motion_is_safe_and_its_worst_interval_narrower():
    robot = machine(LEGS)
    start = recipe(robot, duration=3.0, amplitude=0.05)
    better = optimise(robot, start, dynamics=hidden(robot), evaluations=30)
    assert better.gain > 1.5
    assert better.safety.breaches == ()
    assert better.evaluations <= 30
    kept = optimise(robot, start, dynamics=hidden(robot), evaluations=12, keep_gains=True)
    np.testing.assert_array_equal(kept.recipe.stiffness, robot.stiffness)


def test_poles_are_the_roots_of_the_characteristic_polynomial():
    i, d, p, k = (np.array(x) for x in ([0.2, 0.05], [4.0, 5.0], [85.0, 40.0], [0.6, 1.0]))
    for s in closed_loop_poles(i, d, p, k).T:
        assert np.abs(i * s**2 + (d + k) * s + p).max() < 1e-9


def test_a_delay_in_the_loop_beyond_the_largest_makes_it_oscillate_and_a_smaller_one_does_not():
    robot = machine(SHAFT)
    inertia, viscous = 0.05 + 0.02, 0.4
    bound = float(largest_delay(np.array([inertia]), np.array([viscous]), robot.stiffness, robot.damping)[0])

    def ringing(delay):
        dynamics = JointDynamics(
            joints=robot.joints, armature=np.array([0.02]), damping=np.array([viscous]), friction=np.zeros(1), bias=np.zeros(1),
            delay=np.array([delay]),
        )  # fmt: skip
        motion = recipe(robot, kind="steps", duration=3.0, dwell=0.2, amplitude=0.1).targets(robot)
        rest = at_rest(motion.replace(target=np.where(motion.time[:, None] < 1, motion.target, 0.0)))
        late = replay(robot, rest, dynamics, physics=Physics(timestep=2.5e-4, delay_on="torque"))
        first, last = (np.abs(late.position[(late.time > t) & (late.time < t + 0.5)]).max() for t in (1.2, 2.4))
        return last / first

    assert ringing(1.1 * bound) > 1.2
    assert ringing(0.9 * bound) < 0.8


def test_the_adviser_names_joints_whose_gains_are_too_high_or_too_low():
    robot = machine(LEGS)
    truth = hidden(robot)
    swing = np.full(robot.n, 0.2)
    ask = lambda p, **more: advise(robot, truth, p, robot.damping, swing, **({"stop_hz": 10.0} | more))  # noqa: E731
    fine = ask(robot.stiffness)
    assert (fine.lowest < robot.stiffness).all()
    stiff = ask(20 * fine.highest)
    assert any("Lower --stiffness" in s for s in stiff.sentences)
    assert any("raise --stiffness" in s for s in ask(0.5 * fine.lowest).sentences)
    assert ask(fine.highest).frequency == pytest.approx(np.full(robot.n, 10.0))


def test_the_band_ends_at_the_lowest_of_excitation_nyquist_and_stand():
    robot = machine(LEGS)
    ask = lambda **more: advise(robot, hidden(robot), robot.stiffness, robot.damping, np.ones(4), **({"stop_hz": 40.0} | more))  # noqa: E731
    assert (ask().top, ask().reason) == (25.0, "half the policy's 50 Hz")
    assert ask(stand_hz=5.0).reason == "what the stand bears"
    assert ask(stop_hz=8.0).top == 8.0
