"""Candidates as lanes: independent of each other, of their order, of the way in which they are asked for."""

import multiprocessing
import threading
import warnings

import mujoco
import numpy as np
import pytest
from rigs import PENDULUM, TREE, candidates, chirp, load, shaft, simulated, tree

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.inair import InAir, smoothing, tilted
from surefoot.simulate.physics import Physics


def frequency_response(robot, dynamics, frequency: float, timestep: float) -> complex:
    """Gain and phase of q over target at one frequency [Hz], from the last periods of a sine."""
    periods, settled = 12, 8
    time = np.arange(round(periods / frequency / timestep) + 1) * timestep
    swing = 1e-2 * np.sin(2 * np.pi * frequency * time)[:, None]
    recording = chirp(robot, time=time, target=swing, position=np.zeros_like(swing))
    q = simulated(robot, recording, dynamics, Physics(timestep=timestep))[0, :, 0]
    use = time > settled / frequency
    basis = np.stack([np.sin(2 * np.pi * frequency * time[use]), np.cos(2 * np.pi * frequency * time[use])], axis=1)
    in_phase, quadrature = np.linalg.lstsq(basis, q[use], rcond=None)[0] / 1e-2
    return complex(in_phase, quadrature)


def rig(armature: float = 0.02, damping: float = 0.3, delay: float = 0.0, **more) -> JointDynamics:
    values = {"armature": [[armature]], "damping": [[damping]], "friction": [[0.0]], "bias": [[0.0]], "delay": [[delay]]}
    return JointDynamics(joints=("shaft",), **{k: np.array(v) for k, v in (values | more).items()})


@pytest.mark.parametrize("frequency", [0.5, 2.0, 5.0, 8.0])
def test_a_joint_answers_with_the_gain_and_phase_of_its_transfer_function(frequency):
    """H(s) = P e^{−s T_d} / ((I + I_a) s² + (D + d) s + P), the paper's H_q."""
    robot, timestep, delay = shaft(), 0.0002, 0.0061
    s = 2j * np.pi * frequency
    expected = 40 * np.exp(-s * delay) / ((0.05 + 0.02) * s**2 + (1.0 + 0.3) * s + 40)
    found = frequency_response(robot, rig(delay=delay), frequency, timestep)
    assert abs(found - expected) < 0.01 * abs(expected)
    assert abs(found - 40 / ((0.05 + 0.03) * s**2 + 1.3 * s + 40)) > 0.015 * abs(expected)  # another inertia, no delay


def test_in_discrete_time_the_response_is_exactly_that_of_the_step():
    """(I/h² (z − 2 + 1/z) + ...) of v⁺ = v + h (I + h (D + d))⁻¹ (P (u − q) − (D + d) v), q⁺ = q + h v⁺."""
    robot, h, frequency = shaft(), 0.0025, 5.0
    z = np.exp(2j * np.pi * frequency * h)
    k = h / (0.07 + h * 1.3)  # z V = V + k (P (U − Q) − 1.3 V), z Q = Q + h z V
    velocity = lambda error: k * error / (z - 1 + 1.3 * k)  # noqa: E731
    loop = h * z / (z - 1) * velocity(40.0)
    assert abs(frequency_response(robot, rig(), frequency, h) - loop / (1 + loop)) < 1e-7


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_a_delay_of_whole_samples_shifts_the_response_by_exactly_these_samples(steps):
    robot = shaft()
    quiet = np.zeros((480, 1))
    recording = chirp(robot, position=quiet)
    later, now = rig(delay=steps * 0.0025), rig()
    q = simulated(robot, recording, JointDynamics.stack([now.lane(0), later.lane(0)]))
    start = recording.target[0, 0]  # both hold the first command until their time has come: the target starts at rest
    assert start == 0.0
    np.testing.assert_allclose(q[1, steps:, 0], q[0, :-steps, 0], atol=1e-15)
    assert np.abs(q[1] - q[0]).max() > 1e-3


def test_half_a_sample_of_delay_is_the_mean_of_none_and_one_in_a_linear_joint():
    robot = shaft()
    recording = chirp(robot, position=np.zeros((480, 1)))
    q = simulated(robot, recording, JointDynamics.stack([rig(delay=d).lane(0) for d in (0.0, 0.00125, 0.0025)]))
    np.testing.assert_allclose(q[1], (q[0] + q[2]) / 2, atol=1e-14)


def test_a_released_joint_rings_down_as_its_quadratic_says():
    robot, timestep = shaft(stiffness=[30.0], damping=[0.2]), 0.0002
    time = np.arange(3000) * timestep
    start = np.full((3000, 1), 0.1)
    recording = chirp(robot, time=time, target=np.zeros((3000, 1)), position=start)
    q = simulated(robot, recording, rig(damping=0.1), Physics(timestep=timestep))[0, :, 0]
    decay, natural = 0.3 / (2 * 0.07), np.sqrt(30 / 0.07)
    ringing = np.sqrt(natural**2 - decay**2)
    expected = 0.1 * np.exp(-decay * time) * (np.cos(ringing * time) + decay / ringing * np.sin(ringing * time))
    np.testing.assert_allclose(q, expected, atol=4e-4)


def test_the_bias_turns_a_pendulum_by_what_gravity_makes_of_it():
    """At rest P (u − (q − q_b)) = m g l sin q, and the encoder reads q − q_b."""
    robot = load(PENDULUM, stiffness=[20.0], damping=[4.0])
    still = np.zeros((1200, 1))
    recording = chirp(robot, seconds=3.0, target=still, position=still)
    bias = np.array([[0.1]])
    dynamics = candidates(robot, friction=0.0, bias=bias)
    encoder = simulated(robot, recording, dynamics)[0, -1, 0]
    q = encoder + 0.1
    assert 20 * (0 - encoder) == pytest.approx(1.2 * 9.81 * 0.3 * np.sin(q), rel=1e-3)
    other = simulated(robot, recording, dynamics, Physics(bias_form="setpoint"))[0, -1, 0]
    assert other == pytest.approx(q, rel=1e-3)  # the same torque, read without the bias


def test_lanes_do_not_feel_each_other_and_their_order_does_not_matter():
    robot = tree(torque_limit=[6.0, 5.0, 30.0, 2.0, 3.0])
    engine = InAir(robot, chirp(robot), Physics())
    dynamics = candidates(robot, 37, seed=2)
    order = np.random.default_rng(0).permutation(37)
    q, torque, _ = engine.trajectories(dynamics, torque=True)
    shuffled = engine.trajectories(dynamics.lane(order), torque=True)
    np.testing.assert_allclose(shuffled[0], q[order], atol=1e-14, rtol=0)
    np.testing.assert_allclose(shuffled[1], torque[order], atol=1e-10, rtol=0)
    np.testing.assert_allclose(engine.scores(dynamics.lane(order)), engine.scores(dynamics)[order], rtol=1e-11)


def test_a_lane_with_its_own_parameters_and_delay_equals_its_single_run():
    robot = tree()
    engine = InAir(robot, chirp(robot), Physics())
    dynamics = candidates(robot, 19, seed=4)
    together = engine.trajectories(dynamics)[0]
    alone = np.concatenate([engine.trajectories(dynamics.lane(np.array([i])))[0] for i in range(19)])
    np.testing.assert_allclose(together, alone, atol=1e-14, rtol=0)
    assert np.ptp(dynamics.delay) > 0.005
    assert np.ptp(together, axis=0).max() > 1e-3  # they are different candidates


@pytest.mark.parametrize("hold", [False, True])
def test_candidates_of_like_delays_take_the_short_cut_to_the_same_answer(hold):
    """Delays inside one step are sampled for all lanes at once; spread delays lane by lane."""
    robot = tree()
    engine = InAir(robot, chirp(robot, command_hold=hold), Physics())
    near, far = np.linspace(0.0051, 0.0074, 16)[:, None], np.linspace(0.05, 0.1, 16)[:, None]
    alike = candidates(robot, 16, delay=near)
    mixed = JointDynamics.stack([alike.replace(delay=d).lane(i) for i in range(16) for d in (near, far)])
    np.testing.assert_allclose(engine.trajectories(mixed)[0][::2], engine.trajectories(alike)[0], atol=1e-14, rtol=0)


def test_the_same_question_gets_the_same_bits_whatever_the_threads_do():
    robot = tree()
    engine, dynamics = InAir(robot, chirp(robot), Physics()), candidates(robot, 64)
    first = engine.scores(dynamics)
    answers: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: answers.append(engine.scores(dynamics))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(first, answer) for answer in answers)
    assert len(answers) == 3


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_a_forked_child_has_cores_of_its_own():
    """The parent's worker threads do not exist in the child: waiting for them would never end."""
    robot = tree()
    engine, dynamics = InAir(robot, chirp(robot), Physics()), candidates(robot, 64)
    expected = engine.scores(dynamics)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=lambda: answers.put(engine.scores(dynamics)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads: they are what is tested
        child.start()
    child.join(timeout=30)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive
    np.testing.assert_array_equal(answers.get(), expected)


@pytest.mark.parametrize("hz", [100, 400])
@pytest.mark.parametrize("timestep", [0.0025, 0.001])
def test_a_held_command_tells_its_delay(hz, timestep):
    """Held at 100 Hz, logged at the same rate or at 400 Hz: the loss is smooth in the delay and least at the true one."""
    robot, truth = shaft(), 0.0063
    recording = chirp(robot, command_hold=True, position=np.zeros((480, 1)))
    recording = recording.replace(target=recording.target[np.arange(480) // 4 * 4])
    recording = recording.replace(position=simulated(robot, recording, rig(delay=truth), Physics(timestep=timestep))[0])
    engine = InAir(robot, recording, Physics(timestep=timestep)) if hz == 400 else None
    if engine is None:
        keep = slice(None, None, 4)
        engine = InAir(robot, recording.replace(time=recording.time[keep], target=recording.target[keep],
                                                position=recording.position[keep]), Physics(timestep=timestep))  # fmt: skip
    near = truth + np.linspace(-1e-3, 1e-3, 201)
    many = lambda delays: JointDynamics.stack([rig(delay=d).lane(0) for d in delays])  # noqa: E731
    assert near[np.argmin(engine.scores(many(near))[:, 0])] == pytest.approx(truth, abs=2e-5)
    delays = np.arange(0, 0.02, 1e-5)
    loss = np.sqrt(engine.scores(many(delays))[:, 0])
    slope = np.abs(np.diff(loss)) / 1e-5
    assert slope.max() < 5 * np.median(slope)  # no jump
    assert slope[0] > 0.2 * np.median(slope)  # no flat piece at the delay that a search may begin with


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_candidate_that_diverges_scores_infinity_and_leaves_its_neighbours_alone(dtype):
    robot = shaft(stiffness=[1e5], damping=[0.0])  # far beyond what the step size can hold without armature
    engine = InAir(robot, chirp(robot, position=np.zeros((480, 1))), Physics(), dtype=dtype)
    armature = np.full((12, 1), 5.0)
    calm = JointDynamics(
        joints=("shaft",), armature=armature, damping=armature, friction=0 * armature, bias=0 * armature, delay=0 * armature
    )
    wild = calm.replace(armature=np.where(np.arange(12) == 5, 0.0, 5.0)[:, None])
    scores, alone = engine.scores(wild), engine.scores(calm)
    others = np.arange(12) != 5
    assert np.isinf(scores[5, 0])
    assert np.isfinite(scores[others]).all()
    np.testing.assert_array_equal(scores[others], alone[others])


def test_prescribed_joints_score_zero_and_follow_their_measurement():
    robot = tree()
    recording = chirp(robot, prescribed=("pitch", "lone"))
    engine, dynamics = InAir(robot, recording, Physics()), candidates(robot, 3)
    given = [robot.index("pitch"), robot.index("lone")]
    assert not engine.scores(dynamics)[:, given].any()
    np.testing.assert_array_equal(engine.trajectories(dynamics)[0][2][:, given], recording.position[:, given])
    assert [list(group) for group in engine.groups] == [[0, 2, 3]]


def test_the_recordings_joint_order_is_the_order_of_the_answer():
    robot = tree()
    recording, dynamics = chirp(robot), candidates(robot, 2)
    turned = tuple(reversed(robot.joints))
    q = simulated(robot, recording, dynamics)
    np.testing.assert_allclose(
        simulated(robot, recording.select(turned), dynamics.ordered_for(turned)), q[:, :, ::-1], atol=1e-14
    )


def test_joints_that_were_not_recorded_are_held_at_the_posture():
    robot = tree()
    recording = chirp(robot).select(["roll", "pitch"])
    held = simulated(robot, recording, candidates(robot, 2).ordered_for(["roll", "pitch"]))
    stiff = candidates(robot, 2, bias=np.zeros((2, 5)))
    stiff = stiff.replace(
        armature=stiff.armature + np.array([0, 0, 1e9, 1e9, 1e9]), bias=candidates(robot, 2).bias * [1, 1, 0, 0, 0]
    )
    gainless = chirp(robot).with_gains([60.0, 60, 0, 0, 0], [2.0, 2, 0, 0, 0])
    still = gainless.replace(position=gainless.position * [1, 1, 0, 0, 0] + robot.posture * [0, 0, 1, 1, 1])
    np.testing.assert_allclose(held, simulated(robot, still, stiff)[:, :, :2], atol=1e-6)


def test_congruent_branches_share_one_kernel():
    two = TREE.replace("</worldbody>", '<body name="twin"><joint name="twin" axis="0 1 0"/>'
                       '<inertial pos="0.03 0 -0.4" mass="2" diaginertia="0.005 0.005 0.002"/></body></worldbody>')  # fmt: skip
    robot = load(two, stiffness=[60.0, 60, 2000, 20, 40, 40], damping=[2.0, 2, 40, 0.5, 1, 1])
    engine, dynamics = InAir(robot, chirp(robot), Physics()), candidates(robot)
    kernels = [engine.kernel(part, engine.features(part, dynamics, output="score"))[0] for part in engine.parts]
    assert kernels[1] is kernels[2]
    assert kernels[0] is not kernels[1]


def test_gravity_compensation_is_refused_with_a_reason():
    robot = load(
        TREE.replace('name="lone" pos', 'name="lone" gravcomp="1" pos'), stiffness=[60.0, 60, 2000, 20, 40], damping=[1.0] * 5
    )
    with pytest.raises(SurefootError, match="gravcomp"):
        InAir(robot, chirp(robot), Physics())


def test_a_first_order_filter_forgets_as_its_cutoff_says():
    assert smoothing(np.array([np.inf]), 0.0025)[0] == 1.0
    assert smoothing(np.array([10.0]), 0.0025)[0] == pytest.approx(1 - np.exp(-2 * np.pi * 10 * 0.0025))


def test_tilting_the_base_turns_gravity_and_keeps_its_size():
    down = np.array([0.0, 0.0, -9.81])
    roll, pitch = 0.2, -0.3
    turned = tilted(down, np.array([[roll, pitch]]))[0]
    rotation = np.zeros(9)
    quat = np.zeros(4)
    mujoco.mju_euler2Quat(quat, np.array([0.0, pitch, roll]), "zyx")  # R_z(0) R_y(pitch) R_x(roll)
    mujoco.mju_quat2Mat(rotation, quat)
    np.testing.assert_allclose(turned, rotation.reshape(3, 3).T @ down, atol=1e-12)
