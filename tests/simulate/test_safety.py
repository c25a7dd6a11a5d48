"""What would go wrong is found before the robot moves: limits, drives, links, the stand; each with its negative twin."""

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.record.excitation import recipe
from surefoot.record.targets import Targets
from surefoot.robot import JointDynamics, Robot
from surefoot.simulate.safety import Stand, base_wrench, examine, largest_safe, outlook
from surefoot.simulate.safety.shapes import Shapes

ANYMAL = Robot.load("anymal")
PENDULUM = Robot.load(
    "<mujoco><worldbody><body pos='0 0 1'><joint name='swing' axis='0 1 0' range='-57.3 57.3'/>"
    "<inertial pos='0 0 -0.5' mass='2' diaginertia='1e-3 1e-3 1e-3'/></body></worldbody></mujoco>"
).with_gains(60, 6)
FREE = PENDULUM.replace(lower=np.array([-np.inf]), upper=np.array([np.inf]))
SPHERES = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="base" pos="0 0 1"><geom size=".05"/>
<body name="left" pos="0 0.3 0"><joint name="l" type="slide" axis="0 1 0"/><geom size=".1"/></body>
<body name="right" pos="0 -0.3 0"><joint name="r" type="slide" axis="0 1 0"/><geom size=".1"/></body>
</body></worldbody></mujoco>"""


def moved(robot=ANYMAL, *, careful=True, stand=None, margin=0.01, seconds=6.0, **options):
    made = recipe(robot, duration=seconds, **options)
    return examine(robot, made.targets(robot), stand=stand, margin=margin, coarse=not careful)


def kinds(found):
    return {breach.what for breach in found.breaches}


def test_a_small_motion_is_safe_and_says_how_far_from_its_limits_it_stays():
    found = moved(amplitude=0.08)
    assert found.breaches == ()
    found.refuse()
    assert (found.room > 0.3).all()
    assert (found.torque < 0.5).all()
    assert "18 shapes" in found.shapes


def test_the_outlook_has_the_expected_joints_first_and_eight_corners_around_them():
    ahead = outlook(ANYMAL, ANYMAL.stiffness)
    assert ahead.expected == ANYMAL.dynamics
    assert ahead.candidates.batch == (9,)
    assert len(set(ahead.names)) == 9
    ratio = ahead.candidates.armature[1:, 0] / ANYMAL.dynamics.armature[0]
    assert sorted(set(np.round(ratio, 6))) == pytest.approx([1 / 1.6, 1.6])


def test_of_a_robot_without_published_dynamics_a_guess_is_made_and_said():
    ahead = outlook(PENDULUM, 60.0)
    assert "guessed" in ahead.origin
    assert ahead.expected.armature[0] == pytest.approx(0.501, rel=1e-6)  # as heavy as the link: 2 kg at 0.5 m, and its own


def test_a_joint_that_would_reach_its_limit_is_refused_with_an_amplitude_that_does_not():
    found = moved(PENDULUM, amplitude=1.2, stop_hz=0.5)
    limit = next(b for b in found.breaches if b.what == "joint limit")
    assert limit.joint == "swing"
    assert 0 < limit.time < 6
    advised = float(str(limit).split("--amplitude swing=")[1].rstrip("."))
    assert "joint limit" not in kinds(moved(PENDULUM, amplitude=advised, stop_hz=0.5))


def test_a_drive_that_is_asked_for_more_than_its_torque_is_refused():
    weak = ANYMAL.replace(torque_limit=np.full(12, 10.0))
    found = moved(weak, amplitude=0.15)
    assert "torque limit" in kinds(found)
    with pytest.raises(SurefootError, match=r"_(HAA|HFE|KFE) at \d+\.\d\d s: its drive is asked for \d+ % of its torque limit"):
        found.refuse()


def test_a_joint_that_turns_faster_than_it_can_is_refused():
    slow = ANYMAL.replace(no_load_speed=np.full(12, 1.0))
    assert kinds(moved(slow, amplitude=0.15)) & {"speed", "torque-speed envelope"}


def test_the_torque_speed_envelope_is_refused_where_neither_its_torque_nor_its_speed_alone_would_be():
    kneed = FREE.replace(stall_torque=np.array([40.0]), no_load_speed=np.array([6.0]), torque_limit=np.array([1e3]))
    found = moved(kneed, amplitude=0.5, stop_hz=2.0)
    assert kinds(found) == {"torque-speed envelope"}


def test_legs_that_would_collide_are_refused_by_name_and_time():
    found = moved(centre={"LF_HAA": -0.2}, amplitude=0.1)
    touch = next(b for b in found.breaches if b.what == "links")
    assert "SHANK" in touch.message
    assert touch.joint in ANYMAL.joints
    assert "mm deep" in touch.message or "within" in touch.message


def test_two_spheres_are_as_far_apart_as_geometry_says():
    robot = Robot.load(SPHERES)
    shapes = Shapes(robot, 0.02)
    assert shapes.count == 3  # the floor is not there in the air
    apart = lambda d: np.array([[0.0, 0.0], [-d, d]])  # noqa: E731
    assert shapes.nearest(apart(0.12)) is None  # 0.36 m between centres of 0.1 m spheres; 0.03 m to the base
    near = shapes.nearest(apart(0.195))
    assert near.sample == 1
    assert near.distance == pytest.approx(0.6 - 2 * 0.195 - 0.2, abs=1e-9)
    assert {near.first, near.second} == {"left", "right"}
    assert set(near.joints) == {"l", "r"}


def test_links_that_overlap_in_the_posture_as_neighbours_but_one_are_left_out_and_named():
    legged = """<mujoco><worldbody><body name="base"><geom size=".1"/><body name="hip" pos="0 .1 0"><joint name="a" axis="1 0 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/><body name="thigh" pos="0 .02 0"><joint name="b" axis="0 1 0"/>
    <geom size=".05"/></body></body></body></worldbody></mujoco>"""
    shapes = Shapes(Robot.load(legged), 0.01)
    assert shapes.allowed_names == ["the base and thigh"]
    assert shapes.nearest(np.zeros((1, 2))) is None


def test_a_robot_whose_shapes_are_unknown_is_not_called_free_of_collisions():
    found = moved(ANYMAL.replace(scene=""), amplitude=0.1, seconds=3.0)
    assert "NOT checked" in found.shapes


def test_the_wrench_of_a_pendulum_is_that_of_the_textbook():
    time = np.arange(400) / 400
    a, w = 0.3, 2 * np.pi
    q = a * np.sin(w * time)[:, None]
    wrench = base_wrench(PENDULUM, time, q)
    qd, qdd = a * w * np.cos(w * time), -a * w**2 * np.sin(w * time)
    x, z = -0.5 * np.sin(q[:, 0]), -0.5 * np.cos(q[:, 0])  # of the mass, below the hinge
    ax, az = z * qdd - x * qd**2, -x * qdd - z * qd**2
    inner = slice(3, -3)  # differences at the ends are one-sided
    np.testing.assert_allclose(wrench.force[inner, 0], -2 * ax[inner], atol=2e-2)
    np.testing.assert_allclose(wrench.force[inner, 2], -2 * (az - az[0] * 0)[inner], atol=2e-2)
    about = -(1e-3 * qdd + 2 * ((z + 1) * ax - x * (az + 9.81)))
    np.testing.assert_allclose(wrench.moment[inner, 1], about[inner], atol=2e-2)


def test_a_stand_that_is_too_weak_is_refused_and_one_that_bears_it_is_not():
    weak = moved(amplitude=0.1, stand=Stand(force=1.0, moment=0.1))
    assert kinds(weak) == {"stand"}
    assert "--to-hz" in str(weak.breaches[0])
    assert weak.wrench.bearable(Stand(force=1.0)) <= 10
    force, moment = weak.wrench.peaks
    assert moved(amplitude=0.1, stand=Stand(force=1.01 * force, moment=1.01 * moment)).breaches == ()


def test_mirrored_legs_turn_the_base_far_less_than_legs_on_their_own():
    ours, theirs = (moved(kind="noise", amplitude=0.1, mirror=m).wrench for m in (True, False))
    assert ours.peaks[1] < 0.3 * theirs.peaks[1]
    assert np.abs(ours.force[:, :2]).max() < 0.3 * np.abs(theirs.force[:, :2]).max()


def test_a_loop_that_runs_away_is_refused():
    wild = Targets(
        joints=PENDULUM.joints, time=np.arange(800) / 400, target=np.zeros((800, 1)), stiffness=np.array([60.0]),
        damping=np.array([6.0]),
    )  # fmt: skip
    still = JointDynamics.no_model(PENDULUM.joints)
    assert examine(PENDULUM, wild, dynamics=still).breaches == ()
    wilder = wild.replace(target=np.full((800, 1), 1e300))
    assert examine(PENDULUM, wilder, dynamics=still).breaches[0].what in ("divergence", "joint limit")


def test_the_largest_safe_motion_is_safe_and_not_much_smaller_than_it_must_be():
    made, found = largest_safe(ANYMAL, recipe(ANYMAL, duration=6.0, centre={"LF_HAA": -0.05}))
    assert found.breaches == ()
    assert 0.02 < made.amplitude.max() < 0.2
    assert examine(ANYMAL, made.replace(amplitude=made.amplitude / 0.7).targets(ANYMAL)).breaches


def test_where_no_amplitude_is_safe_the_reason_is_said():
    with pytest.raises(SurefootError, match="no amplitude of this chirp is safe for anymal"):
        largest_safe(ANYMAL, recipe(ANYMAL, duration=3.0, centre={"LF_HAA": -0.3}))


def test_legs_that_rest_at_the_first_target_do_not_shake_the_stand_and_smaller_motions_shake_it_less():
    """The joints sag before the motion begins, not during it."""
    small, large = (moved(amplitude=a, stand=Stand(force=1000.0, moment=1000.0)).wrench for a in (0.005, 0.05))
    begins = small.time < 0.05
    assert np.linalg.norm(small.force[begins], axis=1).max() < 0.02 * large.peaks[0]
    assert small.peaks[0] < 0.3 * large.peaks[0]
