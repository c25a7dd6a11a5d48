"""policy.onnx carries its own truth: whoever loads it learns gains, posture, order and period from the file alone."""

import numpy as np
import pytest
from policies import ROBOT, linear, specification

from surefoot.deploy import Policy
from surefoot.errors import SurefootError
from surefoot.robot import Robot


@pytest.fixture
def file(tmp_path):
    return linear(tmp_path / "policy.onnx", np.eye(12, 48), specification().to_metadata())


def test_everything_comes_back_from_the_metadata(file):
    spec, mine = Policy.load(file).spec, specification()
    for name in ("stiffness", "damping", "posture", "lower", "upper", "soft_band", "command_low", "command_high"):
        np.testing.assert_array_equal(getattr(spec, name), getattr(mine, name))
    assert (spec.robot, spec.joints, spec.action_scale, spec.period) == ("anymal", ROBOT.joints, 0.5, 0.02)
    assert spec.dynamics == ROBOT.dynamics
    assert spec.physics == {"timestep": 0.005, "delay_on": "command"}
    assert spec.evaluation == {"velocity_error": 0.05}


def test_an_action_is_an_offset_from_the_posture(file):
    """The network here repeats the first 12 numbers of what it sees; the targets are q_0 + 0.5 a."""
    policy = Policy.load(file)
    seen = np.arange(96.0).reshape(2, 48)
    assert policy(seen) == pytest.approx(seen[:, :12])
    assert policy(seen[1]) == pytest.approx(seen[1, :12])
    assert policy.target(policy(seen[0])) == pytest.approx(ROBOT.posture + 0.5 * np.arange(12))


def test_a_folder_stands_for_the_policy_in_it(file):
    assert Policy.load(file.parent).spec.robot == "anymal"


def test_infinite_limits_survive(tmp_path):
    path = linear(tmp_path / "p.onnx", np.eye(12, 48), specification(upper=np.full(12, np.inf)).to_metadata())
    assert np.isinf(Policy.load(path).spec.upper).all()


def test_what_is_no_policy_is_refused_in_a_sentence(tmp_path, file):
    with pytest.raises(SurefootError, match=r"there is no policy at .*surefoot train"):
        Policy.load(tmp_path / "nothing.onnx")
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(SurefootError, match="is not an ONNX file"):
        Policy.load(tmp_path / "text.onnx")
    data = file.read_bytes()
    (tmp_path / "half.onnx").write_bytes(data[: len(data) // 2])
    with pytest.raises(SurefootError, match="is not an ONNX file"):
        Policy.load(tmp_path / "half.onnx")
    linear(tmp_path / "foreign.onnx", np.eye(12, 48), {"author": "somebody"})
    with pytest.raises(SurefootError, match="not a policy written by surefoot: its metadata lack format, robot"):
        Policy.load(tmp_path / "foreign.onnx")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("format", '"surefoot-policy-9"', "this version of surefoot reads"), ("posture", "[1, 2]", r"posture has shape \(2,\)"),
     ("joints", "[", "damaged")],
)  # fmt: skip
def test_damaged_metadata_are_named(tmp_path, key, value, said):
    path = linear(tmp_path / "p.onnx", np.eye(12, 48), specification().to_metadata() | {key: value})
    with pytest.raises(SurefootError, match=said):
        Policy.load(path)


def test_a_network_of_another_size_is_refused(tmp_path):
    path = linear(tmp_path / "p.onnx", np.eye(12, 45), specification().to_metadata())
    with pytest.raises(SurefootError, match="takes 45 numbers and its joints make 48"):
        Policy.load(path)


def test_an_observation_of_another_size_is_refused(file):
    with pytest.raises(SurefootError, match=r"shape \(47,\).*linear_velocity\.x"):
        Policy.load(file)(np.zeros(47))


def test_other_gains_or_another_order_than_in_training_are_refused():
    """The commonest way to ruin a deployment: the gains in the file are not those of the robot."""
    spec = specification()
    spec.check(ROBOT)
    with pytest.raises(SurefootError, match="stiffness 85 of joint LF_HAA and anymal has 80"):
        spec.check(ROBOT.with_gains(80.0, 0.6))
    with pytest.raises(SurefootError, match="order and names must agree"):
        spec.check(Robot.load("single_drive"))
    with pytest.raises(SurefootError, match="same order"):
        specification(joints=ROBOT.joints[::-1])
