"""What is free, fixed or tied: the cube that a search sees, and its way back to joint dynamics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.identify.unknowns import CORE, EXTRA, Unknowns, make_space

JOINTS = ("LF_HIP", "LF_KNEE", "RF_HIP", "RF_KNEE")
N = len(JOINTS)


def bounds(n=N):
    """Bounds as `default_bounds` gives them, different from joint to joint."""
    rise = 1 + np.arange(n) / 10
    return {
        "armature": (np.zeros(n), 0.2 * rise),
        "damping": (np.zeros(n), 2.0 * rise),
        "friction": (np.zeros(n), 3.0 * rise),
        "bias": (np.full(n, -0.2), np.full(n, 0.2)),
        "delay": (np.zeros(1), np.full(1, 0.04)),
        "load": (-rise, rise),
        "breakaway": (np.zeros(n), rise),
        "load_friction": (np.zeros(n), rise),
        "cutoff": (np.full(1, 3.0), np.full(1, 1000.0)),
        "tilt": (np.full(2, -0.3), np.full(2, 0.3)),
        "gain_scale": (np.full(1, 0.2), np.full(1, 5.0)),
    }


def space(*, joints=JOINTS, prescribed=(), **unknowns):
    return make_space(joints, prescribed, Unknowns(**unknowns), bounds(len(joints)))


def test_the_paper_has_four_parameters_a_joint_and_one_delay():
    assert space().size == 4 * N + 1
    assert space(extra=EXTRA).size == 4 * N + 1 + 3 * N + 1 + 2 + 1
    assert space(joint_delays=True).size == 5 * N


@given(x=st.lists(st.floats(-1, 1), min_size=4 * N + 1 + 3 * N + 4, max_size=4 * N + 1 + 3 * N + 4))
def test_a_point_survives_the_way_to_joint_dynamics_and_back(x):
    free = space(extra=EXTRA)
    np.testing.assert_allclose(free.encode(free.decode(np.array(x)).lane(0)), x, atol=1e-9)


@given(x=st.lists(st.floats(-1, 1), min_size=8, max_size=8))
def test_decoded_values_lie_within_the_bounds_and_tied_ones_are_the_same_bits(x):
    free = space(tied=("left-right",), fixed={"bias:*_KNEE": 0.01})
    assert free.size == 3 * 2 + 2 + 1
    found = free.decode(np.array([*x, 0.5])).lane(0)
    for name in ("armature", "damping", "friction"):
        row = getattr(found, name)
        assert row[0] == row[2]
        assert row[1] == row[3]
        low, high = bounds()[name]
        assert (row >= low).all()
        assert (row <= high + 1e-12).all()


def test_the_corners_of_the_cube_are_the_bounds():
    free = space(extra=("cutoff", "gain_scale"))
    low, high = (free.decode(np.full(free.size, s)).lane(0) for s in (-1, 1))
    for name in (*CORE, "cutoff", "gain_scale"):
        np.testing.assert_allclose(getattr(low, name), bounds()[name][0], atol=1e-15)
        np.testing.assert_allclose(getattr(high, name), bounds()[name][1], rtol=1e-12)


def test_logarithmic_parameters_have_their_geometric_mean_in_the_middle():
    middle = space(extra=("cutoff", "gain_scale")).decode(np.zeros(4 * N + 3)).lane(0)
    np.testing.assert_allclose(middle.cutoff, np.sqrt(3.0 * 1000.0))
    np.testing.assert_allclose(middle.gain_scale, 1.0)


def test_slopes_are_the_derivatives_of_the_values():
    free = space(extra=("cutoff", "gain_scale", "tilt"))
    x = np.random.default_rng(0).uniform(-0.9, 0.9, free.size)
    step = 1e-6
    numeric = [(free.values(x + step * e) - free.values(x - step * e))[k] / (2 * step) for k, e in enumerate(np.eye(free.size))]
    np.testing.assert_allclose(free.slopes(x), numeric, rtol=1e-7)


def test_a_fixed_parameter_is_in_every_candidate():
    """The trap of other tools: a frozen parameter that is silently left at its default."""
    free = space(fixed={"friction": 0.7, "friction:RF_*": 0.9, "delay": 0.012, "cutoff": 25.0}, extra=("cutoff",))
    batch = free.decode(np.random.default_rng(0).uniform(-1, 1, (5, free.size)))
    np.testing.assert_array_equal(batch.friction, np.tile([0.7, 0.7, 0.9, 0.9], (5, 1)))
    np.testing.assert_array_equal(batch.delay, np.full((5, 1), 0.012))
    np.testing.assert_array_equal(batch.cutoff, np.full((5, 1), 25.0))
    assert free.size == 3 * N


def test_what_is_not_asked_for_is_neutral():
    found = space().decode(np.ones(4 * N + 1)).lane(0)
    assert not found.load.any()
    assert not found.breakaway.any()
    assert not found.tilt.any()
    assert np.isinf(found.cutoff).all()
    assert (found.gain_scale == 1).all()


def test_a_prescribed_joint_has_no_unknowns():
    free = space(prescribed=("RF_KNEE",))
    assert free.size == 4 * (N - 1) + 1
    assert not any("RF_KNEE" in label for label in free.labels())
    assert free.decode(np.ones(free.size)).lane(0).armature[3] == 0


@pytest.mark.parametrize(
    ("tie", "groups"),
    [
        ("*_KNEE", {"armature": [[1, 3]], "damping": [[1, 3]], "friction": [[1, 3]]}),
        ("friction:*", {"friction": [[0, 1, 2, 3]]}),
        ("bias:?F_HIP", {"bias": [[0, 2]]}),
        ("left-right", {"armature": [[0, 2], [1, 3]], "damping": [[0, 2], [1, 3]], "friction": [[0, 2], [1, 3]]}),
    ],
)
def test_a_tie_makes_one_variable_of_what_it_names_and_of_nothing_else(tie, groups):
    free = space(tied=(tie,))
    assert free.size == 4 * N + 1 - sum(len(group) - 1 for rows in groups.values() for group in rows)
    x = np.random.default_rng(1).uniform(-1, 1, free.size)
    found = free.decode(x).lane(0)
    for name in ("armature", "damping", "friction", "bias"):
        row = getattr(found, name)
        tied = {i for group in groups.get(name, []) for i in group}
        for group in groups.get(name, []):
            assert len(set(row[group])) == 1
        assert len(set(row)) == N - len(tied) + len(groups.get(name, []))


def test_ties_that_overlap_join():
    free = space(tied=("friction:LF_*", "friction:*_KNEE"))
    friction = free.decode(np.linspace(-1, 1, free.size)).lane(0).friction
    assert friction[0] == friction[1] == friction[3] != friction[2]


def test_tied_bounds_are_the_common_ones():
    free = space(tied=("friction:*",))
    k = free.labels().index(" = ".join(f"{j} friction" for j in JOINTS))
    assert (free.lower[k], free.upper[k]) == (0.0, 3.0)


def test_joint_delays_are_tied_and_fixed_by_pattern_like_other_parameters():
    free = space(joint_delays=True, tied=("delay:*_KNEE",), fixed={"delay:LF_HIP": 0.003}, bounds={"delay:RF_HIP": (0.0, 0.01)})
    delay = free.decode(np.ones(free.size)).lane(0).delay
    np.testing.assert_allclose(delay, [0.003, 0.04, 0.01, 0.04])
    assert free.size == 4 * N + 2


def test_bounds_are_narrowed_by_name_and_pattern_and_later_ones_win():
    free = space(bounds={"friction": (0.0, 1.0), "friction:RF_*": (0.5, 2.0), "delay": (0.001, 0.06)})
    low, high = (free.decode(np.full(free.size, s)).lane(0) for s in (-1, 1))
    np.testing.assert_allclose(low.friction, [0, 0, 0.5, 0.5])
    np.testing.assert_allclose(high.friction, [1, 1, 2, 2])
    np.testing.assert_allclose([low.delay[0], high.delay[0]], [0.001, 0.06])


def test_encode_averages_what_is_tied_and_clips_what_lies_outside():
    free = space(tied=("friction:*",))
    known = free.decode(np.zeros(free.size)).lane(0).replace(friction=np.array([1.0, 1.0, 2.0, 2.0]), delay=np.array([9.0]))
    back = free.decode(free.encode(known)).lane(0)
    np.testing.assert_allclose(back.friction, 1.5)
    np.testing.assert_allclose(back.delay, 0.04)


def test_labels_name_the_joint_and_the_parameter():
    labels = space(tied=("friction:*_KNEE",), extra=("tilt",)).labels()
    assert "LF_HIP armature" in labels
    assert "LF_KNEE friction = RF_KNEE friction" in labels
    assert labels[-3:] == ["delay", "tilt roll", "tilt pitch"]


@pytest.mark.parametrize(
    ("unknowns", "said"),
    [
        ({"extra": ("stiction",)}, ["stiction", *EXTRA]),
        ({"fixed": {"stiction": 1.0}}, ["stiction", *CORE]),
        ({"fixed": {"load": 1.0}}, ["load", "--extra"]),
        ({"fixed": {"friction:arm_*": 1.0}}, ["arm_*", *JOINTS]),
        ({"fixed": {"delay:LF_*": 0.01}}, ["LF_*"]),
        ({"fixed": {"friction": float("nan")}}, ["friction", "nan"]),
        ({"fixed": {"friction": -1.0}}, ["friction", "-1"]),
        ({"fixed": dict.fromkeys(CORE, 0.0)}, ["every parameter is fixed"]),
        ({"tied": ("arm_*",)}, ["arm_*", "0 joints", *JOINTS]),
        ({"tied": ("LF_HIP",)}, ["LF_HIP", "1 joints"]),
        ({"tied": ("stiction:*",)}, ["stiction", "friction"]),
        ({"tied": ("load:*",)}, ["load", "--extra"]),
        ({"tied": ("tilt:*",), "extra": ("tilt",)}, ["tilt", "joints share this one"]),
        ({"tied": ("delay:*",)}, ["delay", "joints share this one"]),
        ({"tied": ("friction:*",), "fixed": {"friction:LF_HIP": 1.0}}, ["LF_HIP friction is fixed", "LF_KNEE friction"]),
        ({"bounds": {"friction": (1.0, 1.0)}}, ["friction", "lower < upper"]),
        ({"bounds": {"friction": (-1.0, 1.0)}}, ["friction", "at least 0"]),
        ({"bounds": {"friction": (0.0, float("inf"))}}, ["friction", "inf"]),
        ({"bounds": {"friction": (float("nan"), 1.0)}}, ["friction", "nan"]),
        ({"bounds": {"cutoff": (0.0, 50.0)}, "extra": ("cutoff",)}, ["cutoff", "above 0"]),
        ({"bounds": {"stiction": (0.0, 1.0)}}, ["stiction", *CORE]),
        (
            {"tied": ("friction:*_HIP",), "bounds": {"friction:LF_HIP": (0, 1), "friction:RF_HIP": (2, 3)}},
            ["LF_HIP friction", "no room"],
        ),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(unknowns, said):
    with pytest.raises(SurefootError) as raised:
        space(**unknowns)
    for word in said:
        assert word in str(raised.value)


def test_left_right_needs_joints_with_a_side():
    with pytest.raises(SurefootError, match="twin") as raised:
        space(joints=("waist", "neck"), tied=("left-right",))
    assert "waist, neck" in str(raised.value)


def test_left_right_passes_over_joints_that_are_prescribed():
    free = space(prescribed=("LF_KNEE", "RF_KNEE"), tied=("left-right",))
    assert free.size == 4 * 2 - 3 + 1
