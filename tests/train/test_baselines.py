"""The baselines that a fit is held against: no model, no model with everything drawn, a drive network."""

import json
from dataclasses import replace

import numpy as np
import pytest

from surefoot import SurefootError, cli
from surefoot.robot import Robot
from surefoot.robot.drive import gear_ratio
from surefoot.robot.dynamics import JointDynamics
from surefoot.train.run import new_task
from surefoot.train.train import Plan, broadly

ANYMAL = Robot.load("anymal")


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
def test_ranges_drawn_from_gains_and_limits_hold_the_published_dynamics(name):
    """What nobody measured is drawn from what gains and limits allow; the paper's own dynamics lie inside, but for few joints."""
    robot = Robot.load(name)
    drawn = broadly(robot, 400, 1.0, seed=0)
    assert drawn.batch == (400,)
    known = robot.dynamics
    for part in ("armature", "damping", "friction", "delay"):
        assert getattr(drawn, part).min() >= 0
        assert (getattr(known, part) <= 1.02 * getattr(drawn, part).max(axis=0)).all(), part
    limit = robot.torque_limit * np.where(robot.geared, gear_ratio(robot, robot.posture), 1.0)
    assert (drawn.friction <= 0.02 * limit).all()
    half = broadly(robot, 400, 0.5, seed=0)
    np.testing.assert_allclose(half.armature, drawn.armature / 2)


def test_nothing_is_drawn_for_the_evaluation_and_something_for_the_training():
    plan = replace(Plan.of("laptop", dynamics_timestep=None, robots=4), randomise=1.0)
    none = JointDynamics.no_model(ANYMAL.joints)
    trained = new_task(ANYMAL, none, plan, robots=4, seed=0)
    judged = new_task(ANYMAL, none, plan, robots=4, seed=0, judged=True)
    assert trained.world.drives.dynamics.batch == (4,)
    assert (trained.world.drives.dynamics.armature > 0).all()
    assert not judged.world.drives.dynamics.armature.any()


def test_a_robot_without_torque_limits_has_no_range():
    free = ANYMAL.replace(torque_limit=np.full(12, np.inf))
    with pytest.raises(SurefootError, match=r"LF_HAA.* has no torque limit to draw friction from"):
        broadly(free, 4, 1.0, seed=0)


def test_a_policy_without_a_model_is_trained_by_the_command(tiny, capsys):
    assert cli.main(["train", "anymal", "--dynamics", "none", "--iterations", "1", "--out", "run", "--no-video"]) == 0
    record = json.loads((tiny / "run" / "training.json").read_text())
    assert record["origin"] == {"dynamics": "none"}
    assert not np.any(record["dynamics"]["armature"])


def test_a_policy_learns_on_a_drive_network(tiny, capsys):
    """The network takes the place of the drives in training and in judging; play cannot rebuild it and says so."""
    pytest.importorskip("torch")
    from surefoot.networks import Network
    from surefoot.networks.convention import Convention
    from surefoot.networks.modules import Mlp

    convention = Convention(
        kind="mlp", inputs=("error", "velocity"), error="target - position", period=0.005, lags=(0,),
    )  # fmt: skip
    Network(convention, Mlp((4,), np.ones(2), 1.0)).save(tiny / "drive.toml")
    assert cli.main(["train", "anymal", "--network", "drive.toml", "--iterations", "1", "--out", "run"]) == 0
    assert "next: surefoot run run --hardware" in capsys.readouterr().out
    assert json.loads((tiny / "run" / "training.json").read_text())["origin"] == {"network": "drive.toml"}
    assert cli.main(["play", "run", "--no-video"]) == 1
    assert "was trained with the drive network drive.toml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fit", "--dynamics", "none"), "--dynamics none leaves the fit fit unused"),
        (("fit", "--network", "drive.toml"), "--network takes the place of the drives; leave out the fit"),
    ],
)
def test_two_models_at_once_are_refused(tiny, capsys, words, said):
    assert cli.main(["train", "anymal", *words, "--out", "run"]) == 1
    assert said in capsys.readouterr().err
