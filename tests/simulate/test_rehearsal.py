import numpy as np
import pytest
from rigs import candidates, shaft, simulated, tree

from surefoot.errors import SurefootError
from surefoot.record.excitation import chirp
from surefoot.simulate.rehearsal import rehearse


def motion(robot, **more):
    return chirp(robot, **{"duration": 1.5, "stop_hz": 4.0, "amplitude": 0.1} | more)


def test_without_noise_a_rehearsal_is_a_replay_of_the_truth():
    robot = tree()
    truth = candidates(robot)
    recording = rehearse(robot, truth.lane(0), motion(robot, amplitude=[0.2, 0.2, 0.02, 0.2, 0.2]))
    np.testing.assert_allclose(simulated(robot, recording, truth)[0], recording.position, atol=1e-11)


def test_its_encoders_add_the_noise_that_was_asked_for():
    robot = shaft()
    truth, plan = candidates(robot).lane(0), motion(robot, duration=10.0)
    clean = rehearse(robot, truth, plan).position
    white, coloured = (
        rehearse(robot, truth, plan, noise=1e-3, colour=c, seed=1).position[:, 0] - clean[:, 0] for c in (0.0, 0.9)
    )
    for noise, colour in ((white, 0.0), (coloured, 0.9)):
        assert noise.std() == pytest.approx(1e-3, rel=0.15)
        assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(colour, abs=0.05)


def test_they_round_to_their_resolution():
    robot = shaft()
    read = rehearse(robot, candidates(robot).lane(0), motion(robot), resolution=0.01).position
    np.testing.assert_allclose(read / 0.01, np.round(read / 0.01), atol=1e-9)
    assert len(np.unique(read)) > 5


def test_the_same_seed_gives_the_same_recording_and_another_seed_another():
    robot = shaft()
    first, again, other = (rehearse(robot, candidates(robot).lane(0), motion(robot), noise=1e-3, seed=s) for s in (1, 1, 2))
    assert first.hash == again.hash != other.hash


def test_it_runs_under_the_gains_that_are_given():
    robot = shaft()
    recording = rehearse(robot, candidates(robot).lane(0), motion(robot), stiffness=77.0, damping=3.0)
    assert (recording.stiffness.tolist(), recording.damping.tolist()) == ([77.0], [3.0])


def test_a_robot_without_gains_is_asked_for_them():
    robot = shaft(stiffness=[np.nan], damping=[np.nan])
    with pytest.raises(SurefootError, match="stiffness="):
        rehearse(robot, candidates(shaft()).lane(0), motion(robot))


def test_gains_that_the_step_cannot_hold_are_an_error_with_the_joint():
    robot = shaft()
    light = candidates(robot).replace(armature=[[0.0]], damping=[[0.0]], friction=[[0.0]]).lane(0)
    with pytest.raises(SurefootError, match="shaft"):
        rehearse(robot, light, motion(robot, duration=3.0), stiffness=4e4, damping=0.0)
