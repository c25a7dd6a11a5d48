import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import Robot


@pytest.fixture(scope="module")
def anymal() -> Robot:
    return Robot.load("anymal")


def test_a_joint_is_found_by_name(anymal):
    assert anymal.index("LF_KFE") == 2
    assert anymal.select(["RH_KFE", "LF_HAA"]).tolist() == [11, 0]


def test_an_unknown_joint_is_answered_with_the_valid_names(anymal):
    with pytest.raises(SurefootError, match=r"joint of anymal 'LF_KNEE'; valid: LF_HAA, LF_HFE"):
        anymal.index("LF_KNEE")


def test_one_gain_serves_all_joints(anymal):
    robot = anymal.with_gains(40.0, np.arange(12.0))
    assert robot.stiffness.tolist() == [40.0] * 12
    assert robot.damping[11] == 11.0
    assert anymal.stiffness[0] == 85.0


def test_a_robot_cannot_be_changed_in_place(anymal):
    with pytest.raises(ValueError, match="read-only"):
        anymal.lower[0] = 0.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stiffness": np.ones(3)}, r"stiffness has shape \(3,\); expected \(12,\)"),
        ({"lower": np.full(12, 9.0)}, "lower of joint LF_HAA is 9.0; it must lie below upper"),
        ({"torque_limit": np.zeros(12)}, "torque_limit of joint LF_HAA is 0.0; it must be above 0"),
        ({"damping": np.full(12, -1.0)}, "damping of joint LF_HAA is -1.0"),
        ({"no_load_speed": np.full(12, np.inf)}, "give both or neither"),
        ({"soft_band": np.zeros(12)}, "soft_band"),
        ({"gear_position": np.zeros((12, 2))}, "must increase"),
        ({"gear_ratio": np.ones((12, 3))}, "gear table"),
    ],
)
def test_a_robot_that_cannot_exist_is_refused_by_the_joint(anymal, changes, says):
    with pytest.raises(SurefootError, match=says):
        anymal.replace(**changes)


def test_published_dynamics_take_the_order_of_the_robot(anymal):
    backwards = anymal.dynamics.ordered_for(anymal.joints[::-1])
    assert anymal.replace(dynamics=backwards).dynamics == anymal.dynamics
