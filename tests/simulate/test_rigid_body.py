"""The equations of motion against MuJoCo's, on trees of every kind."""

import mujoco
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rigs import TREE, random_tree

from surefoot.simulate.rigid_body import equations, vector
from surefoot.simulate.tree import branches

joints = st.lists(st.sampled_from(["hinge", "slide"]), max_size=2)  # of one body; none: welded to its parent
shapes = st.lists(st.tuples(st.integers(0, 100), joints), min_size=1, max_size=6)


def ours(model: mujoco.MjModel, q: np.ndarray, v: np.ndarray, a: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Bias forces and mass matrix of the whole model by the equations of each branch."""
    bias, mass = np.zeros(model.nv), np.zeros((model.nv, model.nv))
    for branch in branches(model):
        dofs = branch.dofs
        angle = q[dofs] - np.array([link.reference for link in branch.links])
        push = None if a is None else vector(a[dofs])
        c, entries = equations(
            branch,
            vector(q[dofs]),
            vector(v[dofs]),
            vector(np.sin(angle)),
            vector(np.cos(angle)),
            vector(model.opt.gravity),
            float,
            push,
        )
        bias[dofs] = c
        for (i, j), value in entries.items():
            mass[dofs[i], dofs[j]] = mass[dofs[j], dofs[i]] = value
    return bias, mass


def mujocos(model: mujoco.MjModel, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    return data.qfrc_bias.copy(), mass


@settings(max_examples=60, deadline=None)
@given(shape=shapes, seed=st.integers(0, 2**32 - 1))
def test_mass_matrix_and_bias_forces_of_any_tree_are_mujocos(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_tree(shape, rng).compile()
    q, v = rng.normal(size=model.nv) * 2, rng.normal(size=model.nv) * 5
    for mine, theirs in zip(ours(model, q, v), mujocos(model, q, v), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(shape=shapes, seed=st.integers(0, 2**32 - 1))
def test_a_given_acceleration_costs_mass_times_acceleration(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_tree(shape, rng).compile()
    q, v, a = rng.normal(size=(3, model.nv))
    bias, mass = ours(model, q, v)
    np.testing.assert_allclose(ours(model, q, v, a)[0], bias + mass @ a, rtol=1e-10, atol=1e-10)


def test_a_pendulum_is_pulled_down_by_its_weight_times_its_lever():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint axis="0 1 0"/>'
        '<inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>'
    )
    bias, mass = ours(model, np.array([0.4]), np.array([3.0]))
    assert np.isclose(bias[0], 2 * 9.81 * 0.5 * np.sin(0.4), rtol=1e-12)  # a steady swing about one axis adds nothing
    assert np.isclose(mass[0, 0], 0.1 + 2 * 0.5**2, rtol=1e-12)


def test_joints_of_different_branches_do_not_feel_each_other():
    model = mujoco.MjModel.from_xml_string(TREE)
    lone = model.joint("lone").dofadr[0]
    _, mass = mujocos(model, np.full(5, 0.2), np.zeros(5))
    assert not mass[lone, np.arange(5) != lone].any()
    assert [len(branch.links) for branch in branches(model)] == [4, 1]
