"""Networks learn the drive that made the recording, from its torque or from its encoder alone, and do not learn from nothing."""

import numpy as np
import pytest
from bench import GAINS, pendulum, recorded, truth

from surefoot.errors import SurefootError
from surefoot.identify.motion import smoothed
from surefoot.networks import Network, learn_from_encoder, learn_from_torque, score_network
from surefoot.networks.data import remainder
from surefoot.simulate.inverse import link_torque

COUNT = {"mlp": 1500, "lstm": 300}  # batches


def test_what_the_sensor_does_not_feel_is_the_rotor_and_the_gears_friction():
    rest = remainder(pendulum(), [recorded()])
    late = (GAINS[1] + truth().damping[0]) / 400  # MuJoCo's implicit step damps at its end, the torque is that of its start
    assert rest.armature[0] == pytest.approx(truth().armature[0] + late, rel=0.02)
    assert rest.damping[0] == pytest.approx(truth().damping[0], rel=0.05)
    assert rest.friction[0] == pytest.approx(truth().friction[0], rel=0.2)


def test_a_sensor_at_the_link_leaves_nothing():
    """The torque that the bare link needs along the motion is what such a sensor shows."""
    rec = recorded()
    time, q, v, a = smoothed(rec)
    link = link_torque(pendulum(), rec.joints, q, v, a)
    rest = remainder(pendulum(), [rec.replace(torque=np.interp(rec.time, time, link[:, 0])[:, None])])
    assert rest.armature[0] < 0.1 * truth().armature[0]
    assert rest.damping[0] < 0.05 * truth().damping[0]
    assert rest.friction[0] < 0.1 * truth().friction[0]


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_a_network_learns_the_torque_and_moves_the_joint(kind, tmp_path):
    told = []
    learned = learn_from_torque(pendulum(), [recorded()], kind=kind, iterations=COUNT[kind], tell=told.append)
    assert learned.relative < 0.05
    assert len(told) == COUNT[kind]
    assert np.mean(learned.history[-20:]) < 0.1 * np.mean(learned.history[:3])
    score = score_network(pendulum(), recorded(), learned.network)
    assert score.total < 0.2 * float(score.rmse_no_model[0])
    again = Network.load(learned.network.save(tmp_path / "net.toml"))
    assert np.array_equal(score_network(pendulum(), recorded(), again).simulated, score.simulated)


def test_the_same_seed_learns_the_same_network():
    one, two = (learn_from_torque(pendulum(), [recorded(4.0)], iterations=5, seed=5) for _ in range(2))
    assert one.history == two.history
    assert one.error == two.error


def test_a_network_that_is_told_the_demand_moves_under_other_gains():
    """Plain error and velocity hold one set of gains inside, and refuse others; the demand holds none."""
    blind = learn_from_torque(pendulum(), [recorded()], iterations=5)
    told = learn_from_torque(pendulum(), [recorded()], iterations=1500, inputs=("demand", "velocity"))
    other = recorded(stiffer=0.8)
    assert blind.network.convention.stiffness == 30.0
    with pytest.raises(SurefootError, match="cannot know other gains"):
        score_network(pendulum(), other, blind.network)
    score = score_network(pendulum(), other, told.network)
    assert score.total < 0.15 * float(score.rmse_no_model[0])


def test_encoders_alone_teach_a_network_through_the_simulation():
    rec = recorded().replace(torque=None)
    learned = learn_from_encoder(pendulum(), [rec], iterations=60)
    assert np.mean(learned.history[-10:]) < 0.2 * np.mean(learned.history[:3])
    score = score_network(pendulum(), rec, learned.network)
    assert score.total < 0.25 * float(score.rmse_no_model[0])
    assert learned.network.convention.beside["armature"][0] == pytest.approx(truth().armature[0], rel=0.3)


def test_what_cannot_be_learned_from_is_said():
    robot, rec = pendulum(), recorded(4.0)
    with pytest.raises(SurefootError, match="no recording to learn from"):
        learn_from_torque(robot, [])
    with pytest.raises(SurefootError, match="has no measured torque to learn from"):
        learn_from_torque(robot, [rec.replace(torque=None)])
    with pytest.raises(SurefootError, match="torque is zero everywhere"):
        learn_from_torque(robot, [rec.replace(torque=0 * rec.torque)])
    with pytest.raises(SurefootError, match="different joints"):
        learn_from_torque(robot, [rec, rec.rename({"swing": "other"})])
    with pytest.raises(SurefootError, match="too short to learn from"):
        learn_from_encoder(robot, [rec.between(0, 0.2)])
    off = rec.replace(enabled=np.zeros(rec.position.shape, bool))
    with pytest.raises(SurefootError, match="0 samples with the drives on are too few"):
        learn_from_torque(robot, [off], iterations=1)
