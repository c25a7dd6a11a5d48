"""The reference engine against a step written by hand."""

import mujoco
import numpy as np
import pytest
from rigs import PENDULUM, candidates, chirp, load, shaft, tree

from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference


def by_hand(recording, dynamics, *, h: float, inertia: float, weight: float, limit: float = np.inf) -> np.ndarray:
    """Encoder readings of one joint by a semi-implicit Euler step with MuJoCo's regularised Coulomb friction.

    A joint sticks with the force −(f / M + b v) / (1 / M + R), which holds it still but for R = (1 − 0.9) / 0.9 / M₀ and is
    clipped at τ_f; b = 2 / (0.95 · 0.02 s). (0.9, 0.95 and 0.02 s are MuJoCo's default impedance and time constant.)
    """
    armature, damping, friction, bias = (getattr(dynamics, name)[0, 0] for name in ("armature", "damping", "friction", "bias"))
    p, d = recording.stiffness[0], recording.damping[0]
    mass = inertia + armature
    q, v, out = recording.position[0, 0] + bias, 0.0, []
    for time in recording.time:
        out.append(q - bias)
        target = np.interp(time - dynamics.delay[0, 0], recording.time, recording.target[:, 0])
        wanted = p * (target - (q - bias)) - d * v
        torque = np.clip(wanted, -limit, limit)
        force = torque - damping * v - weight * np.sin(q)
        held = np.clip(-(force / mass + 2 / (0.95 * 0.02) * v) / (1 / mass + 0.1 / 0.9 / mass), -friction, friction)
        v = v + h * (force + held) / (mass + h * (damping + (d if torque == wanted else 0.0)))
        q = q + h * v
    return np.array(out)


@pytest.mark.parametrize("limit", [np.inf, 1.5])
@pytest.mark.parametrize("friction", [0.0, 2.0])
def test_one_joint_on_a_vertical_shaft_steps_as_written_by_hand(limit, friction):
    robot = shaft(torque_limit=[limit])
    recording, dynamics = chirp(robot), candidates(robot, seed=3, friction=friction)
    q = Reference(robot, recording, Physics()).trajectories(dynamics)[0][0, :, 0]
    np.testing.assert_allclose(q, by_hand(recording, dynamics, h=0.0025, inertia=0.05, weight=0.0, limit=limit), atol=1e-12)


def test_a_pendulum_does_so_under_its_weight():
    robot = load(PENDULUM, stiffness=[40.0], damping=[1.0])
    recording, dynamics = chirp(robot), candidates(robot, seed=3)
    q = Reference(robot, recording, Physics()).trajectories(dynamics)[0][0, :, 0]
    expected = by_hand(recording, dynamics, h=0.0025, inertia=0.01 + 1.2 * 0.09, weight=1.2 * 9.81 * 0.3)
    np.testing.assert_allclose(q, expected, atol=1e-12)
    light = by_hand(recording, dynamics, h=0.0025, inertia=0.01 + 1.2 * 0.09, weight=1.1 * 9.81 * 0.3)
    assert np.abs(q - light).max() > 1e-4


def test_the_models_own_friction_damping_and_armature_are_replaced_by_the_candidates():
    text = PENDULUM.replace("<joint", '<joint armature="3" damping="7" frictionloss="5"')
    plain, full = (load(x, stiffness=[40.0], damping=[1.0]) for x in (PENDULUM, text))
    recording, dynamics = chirp(plain), candidates(plain)
    answers = [Reference(robot, recording, Physics()).trajectories(dynamics)[0] for robot in (plain, full)]
    np.testing.assert_array_equal(*answers)


def test_a_torque_on_the_load_acts_as_mujocos_applied_force():
    robot = load(PENDULUM, stiffness=[20.0], damping=[4.0])
    still = np.zeros((1600, 1))
    recording = chirp(robot, seconds=4.0, target=still, position=still)
    dynamics = candidates(robot, friction=0, bias=np.zeros((1, 1))).replace(load=[[2.0]])
    q = Reference(robot, recording, Physics()).trajectories(dynamics)[0][0, -1, 0]
    assert 2.0 - 20 * q == pytest.approx(1.2 * 9.81 * 0.3 * np.sin(q), abs=1e-3)


def test_a_tilted_base_lets_a_free_pendulum_hang_askew():
    robot = load(PENDULUM, stiffness=[0.0], damping=[0.0])
    still = np.zeros((1600, 1))
    recording = chirp(robot, seconds=4.0, position=still, target=still, feedforward=still)
    hang = candidates(robot, friction=0, bias=np.zeros((1, 1))).replace(tilt=[[0.0, 0.25]], damping=[[1.0]])
    q = Reference(robot, recording, Physics()).trajectories(hang)[0][0, -1, 0]
    assert q == pytest.approx(-0.25, abs=1e-3)  # the base pitches forward, the pendulum stays plumb


@pytest.mark.parametrize("stiffness", [4e4, 1e12])  # h² P / I = 5 > 4: each swing is larger than the one before; and at once
def test_a_diverging_candidate_scores_infinity_and_is_not_started_over(stiffness, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log file where it warns
    robot = shaft(stiffness=[stiffness], damping=[0.0])
    zero = np.zeros((1, 1))
    wild = candidates(robot, friction=0).replace(armature=zero, damping=zero, bias=[[0.1]])
    engine = Reference(robot, chirp(robot, position=np.zeros((480, 1))), Physics())
    assert np.isinf(engine.scores(wild)).all()


def test_the_groups_are_those_of_the_kernel():
    robot = tree()
    assert [list(g) for g in Reference(robot, chirp(robot, prescribed=("pitch",)), Physics()).groups] == [[0, 2, 3], [4]]


def test_the_solver_runs_until_it_cannot_improve():
    robot = tree()
    engine = Reference(robot, chirp(robot), Physics())
    assert engine._with(candidates(robot).lane(0)).opt.tolerance == 0.0
    assert engine.model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def test_a_joint_that_sticks_creeps_in_mujoco_at_its_torque_over_its_inertia_times_a_millisecond():
    """R g = b v with R = (1 − δ)/δ / I and b = 2 / (δ_w t_c): v = 1.06 ms · τ / I, which docs/theory.md and hardware.md tell."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option gravity='0 0 0' timestep='.0025' integrator='implicitfast'/><worldbody><body>"
        "<joint name='knee' axis='0 1 0' frictionloss='2'/><inertial pos='0 0 0' mass='1' diaginertia='.04 .04 .04'/>"
        "</body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qfrc_applied[0] = 1.8
    mujoco.mj_step(model, data, 400)
    assert data.qvel[0] == pytest.approx(0.1 / 0.9 * 0.95 * 0.02 / 2 * 1.8 / 0.04, rel=1e-6)
