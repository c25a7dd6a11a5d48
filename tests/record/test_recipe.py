"""Kinds of motion, and recipes that scale, centre and mirror them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.record.excitation import SHAPES, recipe
from surefoot.record.excitation.motion import leaders
from surefoot.record.excitation.shapes import fall, logarithmic_phase, multisine
from surefoot.robot import Robot, symmetries

ANYMAL, TYTAN, DRIVE = (Robot.load(name) for name in ("anymal", "tytan", "single_drive"))


def targets(robot=ANYMAL, **options):
    return recipe(robot, duration=8.0, **options).targets(robot)


@pytest.mark.parametrize("kind", SHAPES)
def test_every_kind_begins_and_ends_at_its_centre_and_stays_within_its_amplitude(kind):
    swing = np.tile([0.05, 0.1, 0.15], 4)
    made = targets(kind=kind, amplitude=swing, seed=3)
    away = made.target - ANYMAL.posture
    np.testing.assert_allclose(away[[0, -1]], 0.0, atol=1e-9)
    assert (np.abs(away) <= swing + 1e-12).all()
    assert (np.abs(away).max(axis=0) > 0.6 * swing).all()


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("robot", [ANYMAL, TYTAN], ids=lambda r: r.name)
def test_the_mirror_image_of_a_mirrored_motion_is_itself(kind, robot):
    away = targets(robot, kind=kind, seed=1).target - robot.posture
    for plane in symmetries(robot):
        np.testing.assert_allclose(plane.mirror(away), away, atol=1e-12)


def test_without_mirroring_each_joint_has_a_motion_of_its_own():
    away = targets(kind="noise", mirror=False).target - ANYMAL.posture
    correlation = np.corrcoef(away.T) - np.eye(12)
    assert np.abs(correlation).max() < 0.5


def test_a_mirrored_quadruped_has_three_leaders_tytan_six_and_an_arm_one_per_joint():
    count = {r.name: leaders(r, symmetries(r)).count for r in (ANYMAL, TYTAN, DRIVE)}
    assert count == {"anymal": 3, "tytan": 6, "single_drive": 1}


def test_a_multisine_has_a_lower_crest_factor_than_random_phases_and_only_lines_of_its_band():
    time = np.arange(4000) / 400
    signal = multisine(time, 2, 0.5, 10.0)
    crest = np.abs(signal).max(axis=0) / signal.std(axis=0)
    assert (crest < 1.6).all()  # a sine has 1.41, random phases about 3.5
    f = np.fft.rfftfreq(4000, 1 / 400)
    power = np.abs(np.fft.rfft(signal[:, 0])) ** 2
    inside = (f >= 0.5) & (f <= 10.0)
    assert power[~inside].sum() < 1e-20 * power.sum()
    assert power[inside].min() > 0.99 * power[inside].max()


def test_noise_has_no_power_outside_its_band():
    away = targets(kind="noise", start_hz=1.0, stop_hz=5.0, ramp=0.0).target - ANYMAL.posture
    f = np.fft.rfftfreq(len(away), 1 / 400)
    power = np.abs(np.fft.rfft(away[:, 0])) ** 2
    assert power[(f < 1) | (f > 5)].sum() < 1e-18 * power.sum()


def test_a_logarithmic_chirp_spends_the_same_time_in_every_octave():
    time = np.arange(8000) / 400
    f = np.gradient(logarithmic_phase(time, 20.0, 0.1, 12.8), time) / (2 * np.pi)
    spent = [np.count_nonzero((f >= low) & (f < 2 * low)) for low in 0.1 * 2.0 ** np.arange(7)]
    assert max(spent) - min(spent) < 0.02 * np.mean(spent)


def test_beyond_its_corner_a_motion_keeps_its_speed():
    f = np.array([0.5, 1.0, 2.0, 8.0])
    np.testing.assert_allclose(fall(f, 1.0), [1.0, 1.0, 0.5, 0.125])
    fast = np.abs(np.gradient(targets(corner_hz=1.0, ramp=0.0, start_hz=0.5, stop_hz=10.0).target[:, 0], 1 / 400))
    thirds = [fast[i : i + 800].max() for i in (800, 1600, 2300)]
    np.testing.assert_allclose(thirds, 2 * np.pi * 0.2, rtol=0.03)


def test_holds_stand_still_most_of_the_time_and_never_jump():
    away = targets(kind="holds", dwell=1.0, seed=2).target
    speed = np.abs(np.diff(away, axis=0)) * 400
    assert (speed < 1e-9).mean() > 0.7
    assert speed.max() < 0.4 * 1.5 / 0.25 * 1.01  # 3x² − 2x³ over a quarter of the dwell


def test_what_is_said_of_one_joint_holds_for_its_mirror_images():
    made = recipe(ANYMAL, amplitude={"LF_KFE": 0.3}, centre={"LF_KFE": -1.2, "RH_HAA": -0.1})
    np.testing.assert_allclose(made.amplitude, np.tile([0.2, 0.2, 0.3], 4))
    np.testing.assert_allclose(made.centre[[2, 5, 8, 11]], [-1.2, -1.2, 1.2, 1.2])
    np.testing.assert_allclose(made.centre[[0, 3, 6, 9]], [0.1, -0.1, 0.1, -0.1])


def test_two_images_that_are_asked_for_different_things_are_refused_by_name():
    with pytest.raises(SurefootError, match=r"amplitude of RF_KFE is 0.1, but as the image of LF_KFE it is 0.3"):
        recipe(ANYMAL, amplitude={"LF_KFE": 0.3, "RF_KFE": 0.1})
    apart = recipe(ANYMAL, amplitude={"LF_KFE": 0.3, "RF_KFE": 0.1}, mirror=False)
    assert apart.amplitude[2] == 0.3
    assert apart.amplitude[5] == 0.1


@given(st.integers(0, 2**31), st.sampled_from(["steps", "holds", "noise"]))
@settings(max_examples=10, deadline=None)
def test_a_seed_decides_a_drawn_motion(seed, kind):
    one, two, other = (targets(kind=kind, seed=s) for s in (seed, seed, seed + 1))
    assert np.array_equal(one.target, two.target)
    assert not np.array_equal(one.target, other.target)
    assert one.seed == seed


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "wiggle"}, r"kind is 'wiggle'; valid: chirp"),
        ({"start_hz": 5.0, "stop_hz": 3.0}, "does not lie between 0 and half the rate"),
        ({"kind": "log-chirp", "start_hz": 0.0}, "starts above 0 Hz"),
        ({"kind": "multisine", "start_hz": 1.0, "stop_hz": 1.05}, "two or more"),
        ({"kind": "steps", "dwell": 0.0}, "--dwell is 0 s"),
        ({"ramp": 30.0}, "--ramp is 30 s"),
        ({"corner_hz": 0.0}, "--corner-hz is 0 Hz"),
        ({"rate": 1.0}, "at least 16 commands"),
        ({"amplitude": 0.0}, "not all be 0"),
        ({"amplitude": {"LF_KFE": -0.1}}, "amplitude of LF_KFE is -0.1; expected at least 0"),
        ({"amplitude": float("nan")}, "not a finite number"),
        ({"amplitude": {"XX_*": 0.1}}, r"XX_\*"),
    ],
)
def test_what_makes_no_motion_is_refused_in_a_sentence(options, sentence):
    with pytest.raises(SurefootError, match=sentence):
        recipe(ANYMAL, **({"duration": 8.0} | options)).targets(ANYMAL)


def test_a_robot_without_gains_needs_some():
    bare = ANYMAL.replace(stiffness=np.full(12, np.nan))
    with pytest.raises(SurefootError, match="--stiffness 40"):
        recipe(bare)
    assert recipe(bare, stiffness=40.0).stiffness[0] == 40.0
