import mujoco
import numpy as np
import pytest
from rigs import TREE, load, tree

from surefoot.errors import SurefootError
from surefoot.simulate.physics import Physics, hung_model, hung_order


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"timestep": 0.0}, "seconds between"), ({"timestep": 2.5}, "0.0025"), ({"delay_on": "state"}, "command, torque"),
     ({"bias_form": "joint"}, "encoder, setpoint")],
)  # fmt: skip
def test_a_wrong_convention_is_answered_with_the_valid_ones(wrong, said):
    with pytest.raises(SurefootError, match=said):
        Physics(**wrong)


def test_the_hung_model_steps_as_the_physics_say():
    robot = tree()
    model = hung_model(robot, robot.joints, Physics(timestep=0.004))
    assert model.opt.timestep == 0.004
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert model.ngeom == 0


def test_joints_left_out_are_held_at_the_posture():
    robot = tree(posture=[0.0, 0.9, 0.0, 0.0, 0.0])
    model = hung_model(robot, ["roll", "wag"], Physics())
    assert [model.joint(j).name for j in range(model.njnt)] == ["roll", "wag"]
    full = mujoco.MjModel.from_xml_string(robot.model)
    here, there = mujoco.MjData(model), mujoco.MjData(full)
    there.qpos[full.joint("pitch").qposadr[0]] = 0.9
    mujoco.mj_forward(model, here)
    mujoco.mj_forward(full, there)
    np.testing.assert_allclose(here.body("tail").xpos, there.body("tail").xpos, atol=1e-12)


def test_one_of_two_joints_of_a_body_cannot_be_held_alone():
    """The held joint turns the axis of the other one: a body with one frame has no place for that."""
    text = TREE.replace(
        '<joint name="lone" axis="0 1 0"/>', '<joint name="lone" axis="0 1 0"/><joint name="twist" axis="0 0 1"/>'
    )
    robot = load(text, posture=[0.0, 0.3, 0.0, 0.0, 0.0, 0.5])
    with pytest.raises(SurefootError, match="joint twist shares its body with lone"):
        hung_model(robot, robot.joints[:5], Physics())
    both = hung_model(robot, robot.joints[:4], Physics())
    assert [both.joint(j).name for j in range(both.njnt)] == list(robot.joints[:4])


def test_the_order_says_which_degree_of_freedom_each_joint_is():
    robot = tree()
    model = hung_model(robot, robot.joints, Physics())
    assert hung_order(model, ["lone", "roll", "wag"]).tolist() == [4, 0, 3]


def test_a_joint_that_the_robot_lacks_is_named_with_the_valid_ones():
    with pytest.raises(SurefootError, match=r"knee.*roll"):
        hung_model(tree(), ["roll", "knee"], Physics())
