import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.robot import PARAMETERS, JointDynamics

JOINTS = ("hip", "knee", "toe")


def some(**changes) -> JointDynamics:
    values = {
        "armature": [0.1, 0.2, 0.3],
        "damping": [1.0, 2.0, 3.0],
        "friction": [0.4, 0.5, 0.6],
        "bias": [-0.01, 0.0, 0.02],
        "delay": [0.0075],
    }
    return JointDynamics(joints=JOINTS, **{k: np.asarray(v) for k, v in (values | changes).items()})


def test_the_paper_identifies_four_parameters_per_joint_and_one_delay():
    core = [p for p in PARAMETERS.values() if p.core]
    assert [p.name for p in core] == ["armature", "damping", "friction", "bias", "delay"]
    assert sum(getattr(some(), p.name).size for p in core) == 4 * 3 + 1


def test_every_parameter_has_its_array_and_optional_ones_are_neutral_unless_given():
    dynamics = some()
    for p in PARAMETERS.values():
        assert getattr(dynamics, p.name).shape[-1] == {"joint": 3, "one": 1, "tilt": 2}[p.size]
        if not p.core:
            assert (getattr(dynamics, p.name) == p.neutral).all()


def test_arrays_are_read_only_and_independent_of_what_was_given():
    given_array = np.ones(3)
    dynamics = some(armature=given_array)
    given_array[0] = 7.0
    assert dynamics.armature[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        dynamics.armature[0] = 2.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"armature": [0.1, -0.2, 0.3]}, "armature of joint knee is -0.2 kg·m²; it must be at least 0"),
        ({"friction": [0.1, 0.2, np.nan]}, "friction of joint toe is nan"),
        ({"damping": [0.1, 0.2]}, r"damping has shape \(2,\); 3 joints"),
        ({"damping": 0.1}, r"damping has shape \(\)"),
        ({"bias": [0.0, np.inf, 0.0]}, "bias of joint knee is inf rad; it must be finite"),
        ({"delay": [-0.001]}, "delay is -0.001 s"),
        ({"delay": [0.001, 0.002]}, r"delay has shape \(2,\)"),
        ({"cutoff": [0.0]}, "cutoff is 0 Hz; it must be above 0"),
        ({"gain_scale": [np.inf]}, "gain_scale is inf"),
        ({"armature": np.ones((2, 3)), "damping": np.ones((4, 3))}, "leading axes"),
    ],
)
def test_values_that_no_joint_can_have_are_refused_by_name(changes, says):
    with pytest.raises(SurefootError, match=says):
        some(**changes)


def test_a_joint_cannot_be_listed_twice():
    with pytest.raises(SurefootError, match="distinct"):
        JointDynamics.no_model(["hip", "hip"])


def test_stacked_candidates_come_back_as_lanes():
    a, b = some(), some(armature=[1.0, 2.0, 3.0], delay=[0.001, 0.002, 0.003])
    both = JointDynamics.stack([a, b])
    assert both.batch == (2,)
    assert both.lane(1) == b
    assert both.lane(0) == a.replace(delay=np.full(3, 0.0075))


def test_dynamics_of_other_joints_do_not_stack():
    with pytest.raises(SurefootError, match="different joints"):
        JointDynamics.stack([some(), JointDynamics.no_model(["a", "b", "c"])])


def test_a_shared_leading_axis_is_broadcast_to_every_parameter():
    batch = some(damping=np.ones((5, 3)))
    assert batch.batch == (5,)
    assert all(v.shape[:-1] == (5,) for v in batch.arrays().values())


def test_parameters_follow_their_joints_into_another_order():
    dynamics = some(delay=[0.001, 0.002, 0.003], load=[1.0, 2.0, 3.0], tilt=[0.1, 0.2])
    other = dynamics.ordered_for(("toe", "hip", "knee"))
    assert other.armature.tolist() == [0.3, 0.1, 0.2]
    assert other.delay.tolist() == [0.003, 0.001, 0.002]
    assert other.load.tolist() == [3.0, 1.0, 2.0]
    assert other.tilt.tolist() == [0.1, 0.2]
    assert other.ordered_for(JOINTS) == dynamics


def test_an_unknown_joint_is_named_together_with_the_known_ones():
    with pytest.raises(SurefootError, match=r"'ankle'; valid: hip, knee, toe"):
        some().ordered_for(("hip", "ankle"))


def test_the_no_model_baseline_has_no_armature_damping_friction_bias_or_delay():
    arrays = JointDynamics.no_model(JOINTS).arrays()
    assert all(not arrays[p.name].any() for p in PARAMETERS.values() if p.core)


finite = st.floats(min_value=0.0, max_value=1e6)


@given(
    armature=st.lists(finite, min_size=3, max_size=3),
    bias=st.lists(st.floats(-10, 10), min_size=3, max_size=3),
    cutoff=st.one_of(st.none(), st.floats(0.1, 1e4)),
    tilt=st.one_of(st.none(), st.lists(st.floats(-1, 1), min_size=2, max_size=2)),
)
def test_json_gives_the_same_dynamics_back_to_the_last_bit(armature, bias, cutoff, tilt):
    more = ({} if cutoff is None else {"cutoff": [cutoff]}) | ({} if tilt is None else {"tilt": tilt})
    dynamics = some(armature=armature, bias=bias, **more)
    assert JointDynamics.from_dict(json.loads(json.dumps(dynamics.to_dict(), allow_nan=False))) == dynamics


def test_a_batch_in_which_only_one_lane_has_a_filter_survives_json():
    dynamics = some(cutoff=[[40.0], [np.inf]])
    assert JointDynamics.from_dict(json.loads(json.dumps(dynamics.to_dict(), allow_nan=False))) == dynamics


def test_a_dictionary_with_a_misspelt_or_a_missing_entry_is_refused():
    data = some().to_dict()
    with pytest.raises(SurefootError, match=r"'frictoin'; valid: joints, armature"):
        JointDynamics.from_dict(data | {"frictoin": [0.0] * 3})
    del data["friction"]
    with pytest.raises(SurefootError, match="lack friction"):
        JointDynamics.from_dict(data)


def test_dynamics_that_differ_in_one_number_are_not_equal():
    assert some() != some(bias=[-0.01, 0.0, 0.0200001])
