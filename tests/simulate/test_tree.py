import mujoco
import numpy as np
import pytest
from rigs import LIMITED, TREE

from surefoot.errors import SurefootError
from surefoot.simulate.tree import branches


def test_every_joint_is_one_link_after_its_parent():
    model = mujoco.MjModel.from_xml_string(TREE)
    for branch in branches(model):
        assert all(link.parent < i for i, link in enumerate(branch.links))
    assert sorted(dof for branch in branches(model) for dof in branch.dofs) == list(range(model.nv))


def test_a_welded_body_is_carried_by_the_link_it_hangs_on():
    model = mujoco.MjModel.from_xml_string(TREE)
    leg = branches(model)[0]
    wag = leg.links[leg.dofs.index(model.joint("wag").dofadr[0])]
    assert wag.mass == pytest.approx(0.4 + 0.1)
    # the tip's centre: its body at (0.2, 0, 0), its own centre 0.02 along a z axis turned by 2 acos(0.8) about x
    sine, cosine = 2 * 0.8 * 0.6, 0.8**2 - 0.6**2
    tip = np.array([0.2, 0, 0]) + 0.02 * np.array([0, -sine, cosine])
    np.testing.assert_allclose(wag.moment, 0.4 * np.array([0.1, 0, -0.05]) + 0.1 * tip, atol=1e-15)


def test_of_two_joints_of_one_body_the_first_moves_no_mass_of_its_own():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint axis="1 0 0"/><joint axis="0 1 0"/>'
        '<inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    (branch,) = branches(model)
    assert [link.mass for link in branch.links] == [0.0, 3.0]
    assert branch.ancestors(1) == [1, 0]


def test_a_joint_without_a_range_has_no_limits_and_a_margin_narrows_a_range():
    free = branches(mujoco.MjModel.from_xml_string(TREE))[1].links[0]
    assert (free.lower, free.upper) == (-np.inf, np.inf)
    text = LIMITED.replace("range=", 'margin="0.02" range=')
    held = branches(mujoco.MjModel.from_xml_string(text))[0].links[0]
    assert held.lower == pytest.approx(np.deg2rad(-8) + 0.02)
    assert held.upper == pytest.approx(np.deg2rad(6) - 0.02)


def test_a_ball_joint_is_refused():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint type="ball"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(SurefootError, match="hinge and slide"):
        branches(model)
