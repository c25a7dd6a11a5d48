"""The commands: a network is learned, written, read back and judged; what cannot be is a sentence."""

import pytest
from bench import PENDULUM, Law, convention, recorded

from surefoot import cli

MLP = 'kind = "mlp"\nperiod = 0.0025\ninputs = ["error", "velocity"]\nlags = [0]\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a pendulum, its chirp with torque, and the same without."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.xml").write_text(PENDULUM)
    recorded().save(tmp_path / "chirp.npz")
    recorded().replace(torque=None).save(tmp_path / "bare.npz")
    return tmp_path


def test_learning_writes_a_network_that_validation_reads(here, capsys):
    words = ["learn-network", "pendulum.xml", "chirp.npz", "--out", "net", "--iterations", "50", "--held-out", "bare.npz"]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "% of the range" in said
    assert "next: surefoot validate-network net/network.toml" in said
    assert {p.name for p in (here / "net").iterdir()} == {"network.toml", "network.pt"}
    assert cli.main(["validate-network", "net/network.toml", "bare.npz", "--robot", "pendulum.xml"]) == 0
    assert "no model" in capsys.readouterr().out


def test_a_foreign_network_is_judged(here, capsys):
    convention(here, Law(), MLP)
    assert cli.main(["validate-network", "net.toml", "chirp.npz", "--robot", "pendulum.xml"]) == 0
    assert "net.toml in the in-air replay" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["learn-network", "pendulum.xml", "bare.npz", "--out", "net"], "--source encoder"),
        (["learn-network", "pendulum.xml", "chirp.npz", "--out", "net", "--source", "encoder", "--kind", "lstm"], "--kind mlp"),
        (["learn-network", "pendulum.xml", "chirp.npz", "--out", "net", "--iterations", "0"], "at least 1"),
        (["learn-network", "pendulum.xml", "chirp.npz", "--out", "net", "--period", "0"], "period is 0"),
        (["validate-network", "none.toml", "chirp.npz", "--robot", "pendulum.xml"], "cannot read the network"),
        (["validate-network", "none.toml", "--robot", "pendulum.xml"], "cannot read the network"),
    ],
)
def test_what_cannot_be_is_a_sentence(here, capsys, words, sentence):
    assert cli.main(words) == 1
    assert sentence in capsys.readouterr().err


def test_a_timestep_that_does_not_divide_the_period_is_refused(here, capsys):
    convention(here, Law(), MLP)
    assert cli.main(["validate-network", "net.toml", "chirp.npz", "--robot", "pendulum.xml", "--timestep", "0.002"]) == 1
    assert "choose a --timestep that divides it" in capsys.readouterr().err
