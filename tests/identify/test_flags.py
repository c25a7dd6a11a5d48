"""What is said of every parameter: its flag, the reason, and what to do."""

import numpy as np
import pytest

from surefoot.identify.flags import interval, judge, misfit
from surefoot.identify.uncertainty import Uncertainty
from surefoot.identify.unknowns import EXTRA, Unknowns, make_space
from surefoot.robot.dynamics import PARAMETERS

JOINTS = ("hip", "knee")
ONE = np.ones(1)
SCALES = dict.fromkeys(PARAMETERS, ONE)
BOUNDS = {
    "armature": (0 * ONE, ONE),
    "damping": (0 * ONE, ONE),
    "friction": (0 * ONE, 2 * ONE),
    "bias": (-0.2 * ONE, 0.2 * ONE),
    "delay": (0 * ONE, 0.04 * ONE),
    "load": (-ONE, ONE),
    "breakaway": (0 * ONE, ONE),
    "load_friction": (0 * ONE, ONE),
    "cutoff": (3 * ONE, 1000 * ONE),
    "tilt": (-0.3 * ONE, 0.3 * ONE),
    "gain_scale": (0.2 * ONE, 5 * ONE),
}


def space(**unknowns):
    return make_space(JOINTS, (), Unknowns(**unknowns), BOUNDS)


def sure(free, deviation=1e-3, **by_label):
    """Small deviations, some labels' given; no correlation."""
    row = np.full(free.size, deviation)
    for label, value in by_label.items():
        row[free.labels().index(label.replace("_", " "))] = value
    return Uncertainty(deviation=row, correlation=np.eye(free.size), white=row)


def verdict(x=0.5, scales=SCALES, correlate=None, extra=(), **deviations):
    """Flags and findings with all variables at `x` of the cube."""
    free = space(extra=extra)
    known = sure(free, **deviations)
    if correlate:
        i, j = (free.labels().index(label) for label in correlate)
        known.correlation[i, j] = known.correlation[j, i] = 0.99
    return judge(free, np.full(free.size, x), known, scales)


def test_a_sharp_value_inside_its_bounds_is_ok_and_nothing_is_said():
    flags, findings = verdict()
    assert set(flags) == {"armature", "damping", "friction", "bias", "delay", *EXTRA}
    assert flags["friction"] == ("ok", "ok")
    assert flags["delay"] == ("ok",)
    assert findings == []


def test_what_is_not_free_is_fixed():
    free = space(fixed={"friction:knee": 0.1})
    flags, _ = judge(free, np.full(free.size, 0.5), sure(free), SCALES)
    assert flags["friction"] == ("ok", "fixed")
    assert flags["load"] == ("fixed", "fixed")
    assert flags["cutoff"] == ("fixed",)


@pytest.mark.parametrize("deviation", [np.inf, 0.5, 1e6])
def test_an_interval_as_wide_as_the_bounds_is_not_identified(deviation):
    flags, findings = verdict(hip_bias=deviation)
    assert flags["bias"] == ("not identified", "ok")
    assert len(findings) == 1
    assert findings[0].startswith("bias not identified (hip): an encoder offset shows only through gravity")
    assert "Tilt the stand" in findings[0]
    assert "nan" not in findings[0]
    assert "inf" not in findings[0]


def test_an_interval_wider_than_the_value_and_than_its_whole_is_weak():
    small = SCALES | {"friction": 0.1 * ONE}
    flags, findings = verdict(x=-0.98, scales=small, knee_friction=0.02)  # 0.02 ± 0.04 N·m of 0.1
    assert flags["friction"] == ("ok", "weak")
    assert "friction weakly identified (knee 0.02 ± 0.039 N·m)" in findings[0]
    assert "larger amplitude" in findings[0]


def test_a_small_value_is_judged_by_the_whole_of_which_it_is_a_part():
    flags, _ = verdict(x=-0.98, scales=SCALES | {"friction": 10 * ONE}, knee_friction=0.02)  # the same, of 10 N·m
    assert flags["friction"] == ("ok", "ok")


def test_another_parameter_that_does_the_same_is_named():
    _, findings = verdict(extra=("load",), hip_bias=1.0, correlate=("hip bias", "hip load"))
    assert "the data cannot tell it from hip load (correlation +0.99)" in findings[0]


@pytest.mark.parametrize(("x", "side", "value"), [(-1.0, "lower", "0 N·m"), (1.0, "upper", "2 N·m")])
def test_a_value_at_its_bound_is_flagged_with_the_bound(x, side, value):
    flags, findings = verdict(x=x)
    assert flags["friction"] == (f"at {side} bound",) * 2
    said = next(f for f in findings if f.startswith("friction"))
    assert f"{side} bound (hip {value}, knee {value})" in said
    assert ("--bound friction=LOW,HIGH" in said) == (side == "upper")


@pytest.mark.parametrize("name", ["bias", "load", "tilt"])
def test_offsets_at_a_bound_absorb_something_else(name):
    _, findings = verdict(x=1.0, extra=("load", "tilt"))
    assert all("absorbs something else" in f for f in findings if f.startswith(name))
    assert any(f.startswith(name) for f in findings)


def test_a_tied_variable_is_spoken_of_once_and_flagged_at_every_joint():
    free = space(tied=("friction:*",))
    row = np.full(free.size, 1e-3)
    row[free.labels().index("hip friction = knee friction")] = np.inf
    flags, findings = judge(
        free, np.full(free.size, 0.5), Uncertainty(deviation=row, correlation=np.eye(free.size), white=row), SCALES
    )
    assert flags["friction"] == ("not identified", "not identified")
    assert len(findings) == 1


def test_joints_of_which_the_same_is_to_be_said_share_a_sentence():
    _, findings = verdict(hip_bias=np.inf, knee_bias=np.inf)
    assert [f for f in findings if f.startswith("bias")] == findings
    assert findings[0].startswith("bias not identified (hip, knee): ")


def test_shared_parameters_are_spoken_of_without_a_joint():
    _, findings = verdict(delay=np.inf)
    assert findings[0].startswith("delay not identified: the motion is too slow to show a delay")


def test_an_error_far_above_the_noise_is_a_wrong_model():
    assert misfit(JOINTS, np.array([1e-4, 2e-4]), np.array([1e-4, 1e-4])) == []
    said = misfit(JOINTS, np.array([1e-4, 5e-3]), np.array([1e-4, 1e-4]))
    assert len(said) == 1
    assert "knee 5 is up to 50 times" in said[0]
    assert "hip" not in said[0]


def test_intervals_surround_the_value_and_end_at_the_bounds():
    free = space(extra=("cutoff",))
    known = sure(free, deviation=0.1, hip_bias=np.inf)
    x = np.full(free.size, 0.95)
    low, high = interval(free, x, known)
    value = free.decode(x).lane(0)
    for name in ("armature", "damping", "friction", "delay", "cutoff"):
        assert (getattr(low, name) < getattr(value, name)).all()
        assert (getattr(high, name) > getattr(value, name)).all()
        np.testing.assert_allclose(getattr(high, name), BOUNDS[name][1] * np.ones_like(getattr(high, name)))
    np.testing.assert_allclose([low.bias[0], high.bias[0]], [-0.2, 0.2])
    np.testing.assert_allclose(low.friction, value.friction - 1.96 * 0.1, rtol=1e-4)
