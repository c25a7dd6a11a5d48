"""Left and right by joint name."""

import pytest

from surefoot.identify.names import mirrored, twin

PAIRS = [
    ("LF_HAA", "RF_HAA"),
    ("LH_KFE", "RH_KFE"),
    ("FL_hip_joint", "FR_hip_joint"),
    ("HL_HFE", "HR_HFE"),
    ("left_knee_joint", "right_knee_joint"),
    ("leftShoulder", "rightShoulder"),
    ("LEFT_WRIST", "RIGHT_WRIST"),
    ("knee_left", "knee_right"),
    ("hip_yaw_L", "hip_yaw_R"),
    ("arm_l_elbow", "arm_r_elbow"),
    ("RLeg_3", "LLeg_3"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_twin_has_the_other_side_in_its_name_and_its_own_twin_is_the_first(one, other):
    assert twin(one) == other
    assert twin(other) == one


@pytest.mark.parametrize("name", ["swing", "waist_yaw", "torso", "shoulder", "LIDAR", "roll", "j3"])
def test_a_joint_in_the_middle_has_no_twin(name):
    assert twin(name) is None


def test_mirrored_pairs_each_joint_once_and_leaves_single_ones_out():
    assert mirrored(("LF_HAA", "waist", "RF_HAA", "LH_HAA", "RF_KFE", "LF_KFE")) == [(0, 2), (4, 5)]
