"""Convention files: what they say is read back, and every mistake in one is a sentence."""

import numpy as np
import pytest
from bench import Counter, Law, convention, script

from surefoot.errors import SurefootError
from surefoot.networks import Convention, Network

MLP = 'kind = "mlp"\nperiod = 0.005\ninputs = ["error", "velocity"]\nlags = [0]\n'


def test_what_is_written_is_read_back(tmp_path):
    one = Convention(
        kind="mlp", period=0.005, inputs=("demand", "velocity"), lags=(0, 2), joints=("a", "b"), input_scale=(1.0, 0.5),
        output_scale=2.0, beside={"armature": (0.1, 0.2), "friction": (0.3,)},
    )  # fmt: skip
    one.save(tmp_path / "x.toml", "x.pt")
    assert Convention.load(tmp_path / "x.toml") == (one, tmp_path / "x.pt")


def test_the_sign_of_the_error_and_the_scales_are_the_files():
    c = Convention(kind="lstm", period=0.005, inputs=("error", "velocity"), state=(1, 2), error="position - target",
                   input_scale=(2.0, 0.1))  # fmt: skip
    rows = c.rows(np.array([1.0]), np.zeros(1), np.array([0.25]), np.array([3.0]), np.ones(1), np.ones(1))
    assert rows.tolist() == [[-1.5, pytest.approx(0.3)]]


def test_a_demand_is_the_drives_law_with_the_gains_in_force():
    c = Convention(kind="lstm", period=0.005, inputs=("demand", "velocity_error"), state=(1, 2))
    rows = c.rows(np.array([1.0]), np.array([0.5]), np.array([0.25]), np.array([3.0]), np.array([40.0]), np.array([2.0]))
    assert rows.tolist() == [[40 * 0.75 - 2 * 2.5, -2.5]]


def test_what_acts_beside_goes_to_the_joint_of_its_name():
    c = Convention(kind="mlp", period=0.005, inputs=("error",), lags=(0,), joints=("a", "b"), beside={"armature": (0.1, 0.2)})
    assert c.dynamics(("b", "a")).armature.tolist() == [0.2, 0.1]
    with pytest.raises(SurefootError, match=r"unknown joint of the network 'c'; valid: a, b"):
        c.dynamics(("c",))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('kind = "gru"\nperiod = 0.005\ninputs = ["error"]\n', "kind is 'gru'; valid: mlp, lstm"),
        (MLP.replace('"velocity"', '"speed"'), "unknown input 'speed'; valid: error, velocity"),
        (MLP.replace("[0]", "[]"), "an mlp needs the age of its inputs"),
        ('kind = "lstm"\nperiod = 0.005\ninputs = ["error"]\n', r"an lstm needs \[layers, size\]"),
        (MLP + 'error = "wrong"\n', "valid: target - position, position - target"),
        (MLP.replace("0.005", "0"), "period is 0"),
        (MLP + "input_scale = [1.0]\n", "input_scale has 1 numbers; 2 inputs"),
        (MLP + "gears = 3\n", "unknown entry of .network.*'gears'"),
        ('kind = "mlp"\n', "lacks period, inputs"),
        (MLP + "[beside]\nmass = 1.0\n", "unknown entry in .beside. 'mass'"),
        (MLP + "[beside]\narmature = -1.0\n", "give one number >= 0"),
        (MLP.replace("period = 0.005", 'period = "fast"'), "docs/networks.md"),
    ],
)
def test_mistakes_are_sentences(tmp_path, text, sentence):
    with pytest.raises(SurefootError, match=sentence):
        Network.load(convention(tmp_path, Law(), text))


def test_files_that_are_not_there_or_not_torchscript_are_named(tmp_path):
    with pytest.raises(SurefootError, match="cannot read the network"):
        Network.load(tmp_path / "none.toml")
    path = convention(tmp_path, Law(), MLP)
    (tmp_path / "net.pt").write_bytes(b"pickle")
    with pytest.raises(SurefootError, match=r"net\.pt is not a TorchScript file"):
        Network.load(path)
    (tmp_path / "net.pt").unlink()
    with pytest.raises(SurefootError, match=r"names net\.pt, and there is no such file"):
        Network.load(path)
    (tmp_path / "bare.toml").write_text("kind = 1\n")
    with pytest.raises(SurefootError, match=r"no \[network\] table"):
        Network.load(tmp_path / "bare.toml")


def test_a_convention_that_does_not_fit_its_network_is_noticed_when_it_is_loaded(tmp_path):
    with pytest.raises(SurefootError, match="does not take 2 numbers per joint"):
        Network.load(convention(tmp_path, Counter(), MLP))
    path = convention(tmp_path, torch_linear(3), MLP)
    with pytest.raises(SurefootError, match="does not take 2 numbers per joint"):
        Network.load(path)
    script(torch_linear(2, 2), tmp_path / "net.pt")
    with pytest.raises(SurefootError, match="expected one torque for each"):
        Network.load(path)


def torch_linear(width, out=1):
    import torch

    return torch.nn.Linear(width, out)
