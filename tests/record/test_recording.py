"""The Recording: what it accepts, and the recordings that can be made from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.record.recording import CHANNELS, FLAGS, Recording

JOINTS = ("hip", "knee", "foot")


def make(samples=40, joints=JOINTS, seed=0, **changes):
    rng = np.random.default_rng(seed)
    shape = (samples, len(joints))
    fields = {
        "joints": joints,
        "time": np.cumsum(rng.uniform(0.5, 1.5, samples)) * 0.01,
        "target": rng.normal(size=shape),
        "position": rng.normal(size=shape),
        "stiffness": rng.uniform(1, 100, len(joints)),
        "damping": rng.uniform(0, 5, len(joints)),
    }
    return Recording(**(fields | changes))


def full(samples=40, seed=0):
    """Every optional channel is there."""
    rng = np.random.default_rng(seed + 1)
    shape = (samples, 3)
    series = {channel: rng.normal(size=shape) for channel in CHANNELS}
    flags = {flag: rng.random(shape) < 0.7 for flag in FLAGS}
    return make(samples, seed=seed, **series, **flags, prescribed=("foot",), command_hold=True, name="walk")


def same(a, b):
    return a.hash == b.hash


def test_arrays_are_read_only_copies():
    mine = np.zeros((40, 3))
    recording = make(target=mine)
    mine[:] = 7.0
    assert recording.target.max() == 0.0
    with pytest.raises(ValueError, match=r"read-only"):
        recording.target[0, 0] = 1.0


def test_rate_and_duration_come_from_the_stamps():
    recording = make(samples=101, time=5.0 + np.arange(101) / 400.0)
    assert recording.rate == pytest.approx(400.0)
    assert recording.duration == pytest.approx(0.25)


@pytest.mark.parametrize("channel", ["target", "position", "velocity", "torque", "feedforward", "target_velocity"])
def test_a_nan_is_named_with_joint_sample_and_time(channel):
    values = np.zeros((40, 3))
    values[17, 1] = np.nan
    with pytest.raises(SurefootError, match=rf"{channel} of joint knee is nan at sample 17 \(t = 0.17 s\)"):
        make(time=np.arange(40) * 0.01, **{channel: values})


def test_a_repeated_stamp_is_named_with_both_samples():
    time = np.arange(40) * 0.0025 + 10.0
    time[18] = time[17]
    with pytest.raises(SurefootError, match=r"time must increase; samples 17 and 18 are both 10.0425 s"):
        make(time=time)


def test_a_clock_that_runs_back_is_named():
    time = np.arange(40) * 0.01
    time[20:] -= 0.1
    with pytest.raises(SurefootError, match=r"sample 19 is 0.19 s and sample 20 is 0.1 s"):
        make(time=time)


@pytest.mark.parametrize("samples", [0, 1, 15])
def test_too_short_recordings_are_refused(samples):
    with pytest.raises(SurefootError, match=f"has {samples} sample.*at least 16"):
        make(samples=samples)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": np.full(40, np.nan)}, "time of sample 0 is nan"),
        ({"time": np.zeros((40, 1))}, "time has shape"),
        ({"position": np.zeros((40, 2))}, r"position has shape \(40, 2\); expected \(40, 3\)"),
        ({"position": None}, "position holds nothing"),
        ({"target": [["a"] * 3] * 40}, "target holds text"),
        ({"target": [[1.0], [1.0, 2.0]]}, "not a regular table"),
        ({"target": np.zeros((40, 3), complex)}, "complex"),
        ({"stiffness": np.zeros(3)}, "stiffness of every joint .* is zero"),
        ({"stiffness": [1.0, -2.0, 3.0]}, "stiffness of joint knee is -2.0"),
        ({"damping": [1.0, 2.0, np.nan]}, "damping of joint foot is nan"),
        ({"damping": [1.0, 2.0]}, r"damping has shape \(2,\)"),
        ({"enabled": np.full((40, 3), 0.5)}, "enabled holds"),
        ({"valid": np.zeros((40, 3), bool)}, "no valid sample"),
        ({"prescribed": ("toe",)}, "unknown prescribed joint 'toe'; valid: hip, knee, foot"),
        ({"joints": ("hip", "hip", "foot")}, "hip more than once"),
        ({"joints": "hip"}, "list of joint names"),
        ({"joints": ("hip", "", "foot")}, "empty name"),
    ],
)
def test_malformed_content_is_refused_with_a_sentence(changes, words):
    with pytest.raises(SurefootError, match=words):
        make(**changes)


def test_zero_stiffness_is_accepted_where_something_else_pushes():
    assert make(stiffness=np.zeros(3), feedforward=np.ones((40, 3))).stiffness.max() == 0.0
    assert make(stiffness=np.zeros(3), enabled=np.zeros((40, 3))).enabled is not None


def test_flags_may_be_given_as_numbers():
    recording = make(enabled=np.ones((40, 3), int))
    assert recording.enabled is not None
    assert recording.enabled.dtype == np.bool_


def test_the_hash_follows_the_data_and_not_the_label():
    recording = full()
    assert recording.hash == full().hash == recording.replace(name="other", notes={"a": "b"}).hash
    assert len(recording.hash) == 16
    nudged = np.array(recording.position)
    nudged[3, 1] = np.nextafter(nudged[3, 1], 9.0)
    changed = [{"position": nudged}, {"velocity": None}, {"command_hold": False}, {"prescribed": ()}, {"valid": None}]
    assert len({recording.hash, *(recording.replace(**change).hash for change in changed)}) == 6


edges = st.floats(0.0, 1.2)


@given(edges, edges, edges, edges)
@settings(deadline=None, max_examples=60)
def test_between_twice_is_between_the_intersection(a, b, c, d):
    recording = full(samples=200)
    start, end = max(a, c), min(b, d)
    count = np.count_nonzero((recording.time >= start) & (recording.time < end))
    try:
        twice = recording.between(a, b).between(c, d)
    except SurefootError:
        once = np.count_nonzero((recording.time >= a) & (recording.time < b))
        valid = recording.valid[(recording.time >= start) & (recording.time < end)]
        assert once < 16 or count < 16 or not valid.any()
    else:
        assert len(twice.time) == count
        assert same(twice, recording.between(start, end))


@given(st.floats(0.2, 0.6), st.floats(0.0, 0.3))
@settings(deadline=None, max_examples=30)
def test_a_lead_in_adds_samples_but_no_compared_ones(start, lead_in):
    recording = make(samples=200)
    longer = recording.between(start, 1.5, lead_in=lead_in)
    plain = recording.between(start, 1.5)
    early = longer.time < start
    assert early.sum() == np.count_nonzero((recording.time >= start - lead_in) & (recording.time < start))
    assert not early.any() or not longer.valid[early].any()
    assert np.array_equal(longer.position[~early], plain.position)
    assert longer.valid is None or longer.valid[~early].all()


def test_a_range_without_samples_says_where_the_recording_runs():
    with pytest.raises(SurefootError, match=r"between 5 s and 9 s .* has 0 samples"):
        make().between(5.0, 9.0)


@given(st.permutations(JOINTS))
@settings(deadline=None)
def test_another_order_and_back_is_the_same_recording(order):
    recording = full()
    other = recording.ordered_for(order)
    assert other.joints == tuple(order)
    assert same(other.ordered_for(JOINTS), recording.replace(prescribed=other.ordered_for(JOINTS).prescribed))
    for joint in JOINTS:
        assert np.array_equal(other.torque[:, other.joints.index(joint)], recording.torque[:, recording.joints.index(joint)])
        assert other.stiffness[other.joints.index(joint)] == recording.stiffness[recording.joints.index(joint)]


def test_missing_and_additional_joints_are_both_named():
    with pytest.raises(SurefootError, match=r"lacks toe and has foot in addition"):
        make().ordered_for(("hip", "knee", "toe"))


def test_select_keeps_the_columns_of_its_joints():
    part = full().select(["foot", "hip"])
    assert part.prescribed == ("foot",)
    assert np.array_equal(part.position, full().position[:, [2, 0]])
    with pytest.raises(SurefootError, match=r"'toe'; valid: hip, knee, foot"):
        full().select(["toe"])


def test_prescribe_and_rename_keep_the_data():
    recording = full().rename({"foot": "toe"})
    assert recording.joints == ("hip", "knee", "toe")
    assert recording.prescribed == ("toe",)
    assert recording.prescribe("knee", "hip").prescribed == ("hip", "knee")
    assert recording.prescribe().prescribed == ()
    with pytest.raises(SurefootError, match=r"'foot'"):
        recording.prescribe("foot")
    with pytest.raises(SurefootError, match=r"'foot'"):
        recording.rename({"foot": "x"})
    with pytest.raises(SurefootError, match=r"hip more than once"):
        recording.rename({"knee": "hip"})


def test_gains_come_as_a_number_a_list_or_by_pattern():
    recording = make()
    assert recording.with_gains(5, 1).stiffness.tolist() == [5, 5, 5]
    assert recording.with_gains([1, 2, 3], 1).stiffness.tolist() == [1, 2, 3]
    assert recording.with_gains({"*": 1, "k*": 9}, 1).stiffness.tolist() == [1, 9, 1]
    for gain, words in [
        ({"hip": 1}, "not given for knee, foot"),
        ({"toe*": 1}, "'toe\\*'"),
        ([1, 2], "2 numbers; expected one"),
        ("stiff", "'stiff'; expected a number"),
    ]:
        with pytest.raises(SurefootError, match=words):
            recording.with_gains(gain, 1)
