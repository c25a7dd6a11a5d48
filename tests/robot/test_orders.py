"""Orders of joints: what manufacturers and simulators call first."""

import pytest

from surefoot.robot import Robot
from surefoot.robot.orders import LISTS, orders, others


def leg(names, inside=""):
    """A chain of bodies with one joint each."""
    name, *rest = names
    inside = leg(rest) if rest else ""
    return (
        f"<body name='{name}' pos='0.1 0 0'><joint name='{name}' axis='0 1 0'/>"
        f"<inertial pos='0 0 -0.1' mass='1' diaginertia='0.01 0.01 0.01'/>{inside}</body>"
    )


def unitree(order):
    legs = "".join(leg([f"{side}_{part}_joint" for part in ("hip", "thigh", "calf")]) for side in order)
    return Robot.load(f"<mujoco model='go'><worldbody>{legs}</worldbody></mujoco>")


def test_a_go2_logs_the_right_legs_first_and_its_model_the_left_ones():
    known = orders(unitree(("FL", "FR", "RL", "RR")))
    assert known["model"][::3] == ("FL_hip_joint", "FR_hip_joint", "RL_hip_joint", "RR_hip_joint")
    assert known["unitree-sdk"][::3] == ("FR_hip_joint", "FL_hip_joint", "RR_hip_joint", "RL_hip_joint")
    assert "unitree-sdk" in others(unitree(("FL", "FR", "RL", "RR")))


def test_a_go1_model_has_the_manufacturers_order():
    assert "unitree-sdk" not in others(unitree(("FR", "FL", "RR", "RL")))


def test_isaac_lab_goes_level_by_level_and_isaac_gym_branch_by_branch():
    known = orders(Robot.load("anymal"))
    assert known["isaac-lab"][:5] == ("LF_HAA", "LH_HAA", "RF_HAA", "RH_HAA", "LF_HFE")
    assert known["isaac-gym"][:4] == ("LF_HAA", "LF_HFE", "LF_KFE", "LH_HAA")
    assert known["anydrive"] == known["model"]


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal", "single_drive"])
def test_every_order_has_every_joint_once(name):
    robot = Robot.load(name)
    assert all(sorted(joints) == sorted(robot.joints) for joints in orders(robot).values())
    assert all(joints != robot.joints for joints in others(robot).values())


def test_no_manufacturer_lists_a_joint_twice():
    assert all(len(set(joints)) == len(joints) for joints in LISTS.values())
