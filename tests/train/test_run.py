"""A training from start to end: its files, its refusals, its continuation after a kill, two processes that learn one policy."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rsl_rl.algorithms import PPO

import surefoot
from surefoot.deploy import Policy
from surefoot.errors import SurefootError
from surefoot.simulate.physics import Physics
from surefoot.train import checkpoint
from surefoot.train.run import Run
from surefoot.train.train import Plan, randomised, train

TRAINING = """
import sys
from dataclasses import replace
from pathlib import Path
import torch
from surefoot.robot import Robot
from surefoot.train.train import Plan, train
robot = Robot.load("anymal")
plan = Plan.of("laptop", dynamics_timestep=None, robots=4, iterations=int(sys.argv[2]))
plan = replace(plan, judged=4, judged_seconds=2.2, learner=plan.learner.replace(hidden=(8,), steps=4, mini_batches=2, epochs=1))
train(robot, robot.dynamics, plan, Path(sys.argv[1]), resume="--resume" in sys.argv)
"""


def tiny(*, iterations=3, seed=0, **changes):
    plan = Plan.of("laptop", dynamics_timestep=None, robots=4, iterations=iterations, seed=seed)
    learner = plan.learner.replace(hidden=(8,), steps=4, mini_batches=2, epochs=1)
    return replace(plan, judged=4, judged_seconds=2.2, learner=learner, **changes)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setattr("surefoot.train.run.cores", lambda: 1)


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_training_leaves_a_policy_and_all_that_is_known_of_it(anymal, tmp_path):
    told = []
    trained = train(anymal, anymal.dynamics, tiny(), tmp_path / "run", tell=told.append)
    assert trained.stopped == "all iterations are done"
    assert [p.iteration for p in told] == [1, 2, 3]
    policy = Policy.load(tmp_path / "run")
    assert policy.spec.joints == anymal.joints
    np.testing.assert_array_equal(policy.spec.stiffness, anymal.stiffness)
    np.testing.assert_array_equal(policy.spec.damping, anymal.damping)
    assert policy.spec.dynamics == anymal.dynamics
    assert policy.spec.physics == {"timestep": 0.005, "delay_on": "command", "bias_form": "encoder"}
    written = json.loads((tmp_path / "run" / "training.json").read_text())
    assert {"velocity_error", "yaw_error", "standing", "power", "cot"} <= set(written["evaluation"])
    assert written["evaluation"] == policy.spec.evaluation
    assert written["seed"] == 0
    assert written["learner"]["robots"] == 4
    assert written["images"] == 4
    curves = rows(tmp_path / "run" / "curves.csv")
    assert [int(row["iteration"]) for row in curves] == [1, 2, 3]
    assert {"velocity_tracking", "energy", "collisions", "touchdown", "penalty", "power"} <= set(curves[0])
    assert any((tmp_path / "run" / "tensorboard").iterdir())


def test_the_file_acts_as_the_network_it_was_written_from(anymal, tmp_path):
    """ONNX and torch agree to float32 on random observations, with a normaliser that is not the identity."""
    run = Run(anymal, anymal.dynamics, tiny(), tmp_path / "run")
    run.iterate(), run.iterate()
    run.evaluate()
    seen = np.random.default_rng(0).normal(size=(50, 48))
    with torch.inference_mode():
        actor = run.training.ppo.get_policy().as_onnx(verbose=False)
        wanted = actor(torch.from_numpy(seen).float()).numpy()
    np.testing.assert_allclose(Policy.load(tmp_path / "run")(seen), wanted, atol=2e-6)
    assert run.training.ppo.get_policy().obs_normalizer.count > 0


def test_the_same_seed_gives_the_same_policy(anymal, tmp_path):
    files = []
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        train(anymal, anymal.dynamics, tiny(seed=seed), tmp_path / name)
        files.append(Policy.load(tmp_path / name)(np.ones(48)))
    np.testing.assert_array_equal(files[0], files[1])
    assert (files[0] != files[2]).any()


def test_resuming_goes_on_and_keeps_the_curves_whole(anymal, tmp_path):
    out = tmp_path / "run"
    before = train(anymal, anymal.dynamics, tiny(iterations=2), out)
    with (out / "curves.csv").open("a") as file:
        file.write("3,garbage of an iteration that no checkpoint knows\n")
    trained = train(anymal, anymal.dynamics, tiny(iterations=4), out, resume=True)
    assert trained.iterations == 4
    assert trained.seconds > before.seconds + sum(float(row["rollout_seconds"]) for row in rows(out / "curves.csv")[2:])
    assert [int(row["iteration"]) for row in rows(out / "curves.csv")] == [1, 2, 3, 4]
    straight = tmp_path / "straight"
    train(anymal, anymal.dynamics, tiny(iterations=4), straight)
    kept = [checkpoint.read(folder / "checkpoint.pt")["learner"]["actor_state_dict"] for folder in (out, straight)]
    assert all(torch.equal(kept[0][name], kept[1][name]) for name in kept[0])


def test_a_learning_that_diverges_is_said_and_loses_nothing(anymal, tmp_path, monkeypatch):
    """One weight becomes NaN in the third update: no checkpoint of it, and training.json says what happened."""
    out, count = tmp_path / "run", iter(range(10))
    whole = PPO.update

    def update(self):
        losses = whole(self)
        if next(count) == 2:
            with torch.no_grad():
                next(self.critic.parameters())[0, 0] = float("nan")
        return losses

    train(anymal, anymal.dynamics, tiny(iterations=1), out)
    monkeypatch.setattr(PPO, "update", update)
    with pytest.raises(SurefootError, match=r"learning diverged in iteration 4.*another --seed"):
        train(anymal, anymal.dynamics, tiny(iterations=6), out, resume=True)
    assert json.loads((out / "training.json").read_text())["stopped"] == "diverged"
    assert checkpoint.read(out / "checkpoint.pt")["iteration"] == 1
    Policy.load(out)


def test_another_training_is_not_resumed(anymal, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(SurefootError, match="no checkpoint"):
        train(anymal, anymal.dynamics, tiny(), out, resume=True)
    train(anymal, anymal.dynamics, tiny(iterations=1), out)
    with pytest.raises(SurefootError, match="it differs in seed"):
        train(anymal, anymal.dynamics, tiny(seed=3), out, resume=True)
    with pytest.raises(SurefootError, match=r"has made all its 1 iterations.*--iterations 2"):
        train(anymal, anymal.dynamics, tiny(iterations=1), out, resume=True)


def test_stopping_early_writes_everything(anymal, tmp_path):
    """Who presses Ctrl-C after the second iteration has a policy, a checkpoint of that iteration, and a reason."""
    asked = []
    trained = train(
        anymal, anymal.dynamics, tiny(iterations=50), tmp_path / "run", stop=lambda: len(asked) == 2, tell=asked.append
    )
    assert (trained.stopped, trained.iterations) == ("interrupted", 2)
    assert Policy.load(tmp_path / "run").spec.training["iteration"] == 2
    assert checkpoint.read(tmp_path / "run" / "checkpoint.pt")["iteration"] == 2


def test_time_is_up(anymal, tmp_path):
    trained = train(anymal, anymal.dynamics, tiny(iterations=50, minutes=1e-6), tmp_path / "run")
    assert trained.iterations == 1
    assert trained.stopped == "1e-06 minutes are over"


def test_a_fit_of_another_step_is_refused():
    """Joint dynamics hold at the step they were identified at, and the sentence says what to type."""
    with pytest.raises(
        SurefootError, match=r"This fit used dt = 2\.5 ms; training asked for 5 ms\..*Pass --timestep 0\.0025, or"
    ):
        Plan.of("laptop", dynamics_timestep=0.0025)
    assert Plan.of("laptop", dynamics_timestep=0.0025, timestep=0.0025).physics.timestep == 0.0025
    fitted = Physics(timestep=0.005, delay_on="torque", bias_form="setpoint")
    assert Plan.of("laptop", dynamics_timestep=0.005, physics=fitted).physics == fitted


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"minutes": -1}, "--minutes is -1"), ({"iterations": 0}, "--iterations is 0"), ({"randomise": 1.5}, "--randomise is 1.5")],
)  # fmt: skip
def test_a_wrong_plan_is_named(wrong, said):
    with pytest.raises(SurefootError, match=said):
        Plan.of("laptop", dynamics_timestep=None, **wrong)
    with pytest.raises(SurefootError, match="valid: paper, laptop"):
        Plan.of("desktop", dynamics_timestep=None)


def test_the_baseline_draws_dynamics_around_the_fit_for_each_robot(anymal):
    drawn = randomised(anymal.dynamics, 100, 0.3, seed=0)
    assert drawn.batch == (100,)
    ratio = drawn.armature / anymal.dynamics.armature
    assert 0.7 <= ratio.min() < 0.75
    assert 1.25 < ratio.max() <= 1.3
    np.testing.assert_array_equal(drawn.bias, np.broadcast_to(anymal.dynamics.bias, (100, 12)))


# --- other processes ----------------------------------------------------------------------------------------------------------
def environment():
    package = str(Path(surefoot.__file__).parents[1])
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": package}


def test_a_killed_training_continues_from_its_last_checkpoint(tmp_path):
    """Kill -9 in the middle: what is on the disk is whole, and --resume makes the rest of the iterations."""
    script, out = tmp_path / "training.py", tmp_path / "run"
    script.write_text(TRAINING)
    process = subprocess.Popen([sys.executable, script, out, "100000"], env=environment(), cwd=tmp_path)
    try:
        until = time.monotonic() + 60
        while not (out / "checkpoint.pt").exists() and time.monotonic() < until and process.poll() is None:
            time.sleep(0.05)
        assert (out / "checkpoint.pt").exists()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    at = checkpoint.read(out / "checkpoint.pt")["iteration"]
    assert at >= 25
    subprocess.run(
        [sys.executable, script, out, str(at + 2), "--resume"], env=environment(), cwd=tmp_path, check=True, timeout=100
    )
    assert checkpoint.read(out / "checkpoint.pt")["iteration"] == at + 2
    assert [int(row["iteration"]) for row in rows(out / "curves.csv")] == list(range(1, at + 3))


def test_two_processes_learn_one_policy_from_twice_the_robots(tmp_path):
    """torchrun with two: the same weights in both, though each had its own robots; samples count for both."""
    script, out = tmp_path / "training.py", tmp_path / "run"
    script.write_text(TRAINING)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29517", script, out, "2"]
    subprocess.run(command, env=environment(), cwd=tmp_path, check=True, timeout=200)
    one, two = (checkpoint.read(checkpoint.path_of(out, rank)) for rank in (0, 1))
    weights = [state["learner"]["actor_state_dict"] for state in (one, two)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not torch.equal(one["seen"]["policy"], two["seen"]["policy"])
    written = json.loads((out / "training.json").read_text())
    assert (written["processes"], written["samples"]) == (2, 2 * 2 * 4 * 4)
