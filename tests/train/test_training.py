"""Learning: the mini-batches hold the images, schedules follow the iteration, a resumed training is the uninterrupted one."""

import numpy as np
import pytest
import torch
from test_task import task_of

from surefoot.errors import SurefootError
from surefoot.train import checkpoint
from surefoot.train.run import mirrors
from surefoot.train.schedules import entropy_coefficient, penalty_scale
from surefoot.train.settings import PRESETS, TaskSettings
from surefoot.train.training import Tally, Training

TINY = PRESETS["laptop"][1].replace(
    robots=2, hidden=(8,), steps=6, mini_batches=2, epochs=2, penalty_half_life=2.0, entropy_turn_over=2.0
)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def training_of(anymal, *, seed=0, robots=2, mirrored=True, episode=0.16):
    task = task_of(anymal, robots=robots, seed=seed, settings=TaskSettings(episode=episode))
    images = mirrors(anymal, task.world) if mirrored else []
    return Training(task, TINY.replace(robots=robots), images, seed=seed)


def same(one, two):
    """Two states, entry by entry, to the same bits."""
    if isinstance(one, dict):
        return set(one) == set(two) and all(same(one[k], two[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, torch.Tensor):
        return torch.equal(one, two)
    return np.array_equal(one, two, equal_nan=True) if isinstance(one, np.ndarray) else one == two


def test_a_resumed_training_is_the_uninterrupted_one(anymal, tmp_path):
    """Two iterations, a checkpoint, two more; or two, new objects from the file, and two: the same bits everywhere."""
    straight = training_of(anymal, robots=1)
    for _ in range(2):
        straight.iterate()
    checkpoint.write(tmp_path / "checkpoint.pt", straight.state_dict())
    figures = [straight.iterate() for _ in range(2)]
    torch.manual_seed(999)
    resumed = training_of(anymal, robots=1)
    resumed.load_state_dict(checkpoint.read(tmp_path / "checkpoint.pt"))
    assert resumed.iteration == 2
    again = [resumed.iterate() for _ in range(2)]
    assert same(straight.state_dict(), resumed.state_dict())
    for one, two in zip(figures, again, strict=True):
        assert {k: v for k, v in one.items() if "seconds" not in k} == {k: v for k, v in two.items() if "seconds" not in k}


def test_the_comparison_sees_a_difference(anymal):
    """The negative twin: another seed is another state, and one more iteration too."""
    one, two = training_of(anymal, seed=0), training_of(anymal, seed=1)
    assert not same(one.state_dict(), two.state_dict())
    before = {k: v.clone() for k, v in one.ppo.get_policy().state_dict().items()}
    one.iterate()
    assert not same(before, dict(one.ppo.get_policy().state_dict()))


def test_schedules_follow_the_iteration(anymal):
    training = training_of(anymal)
    for t in range(3):
        figures = training.iterate()
        assert figures["penalty"] == penalty_scale(t, half_life=2.0)
        wanted = entropy_coefficient(t, first=2e-3, last=5e-4, turn_over=2.0, steepness=0.005)
        assert figures["entropy_coefficient"] == pytest.approx(wanted)
    assert training.samples == 3 * 2 * 6


def test_each_mini_batch_holds_its_samples_and_their_three_images(anymal):
    training = training_of(anymal)
    training.ppo.update = lambda: {"value": 0.0, "surrogate": 0.0}  # keep the rollout
    training.iterate()
    storage, images = training.ppo.storage, mirrors(anymal, training.task.world)
    (first, *_) = storage.mini_batch_generator(2, 1)
    log_prob = first.old_actions_log_prob.clone()
    rows = torch.argmax((log_prob == storage.actions_log_prob.flatten(0, 1).T).int(), dim=1)  # where these samples come from
    original = storage.actions.flatten(0, 1)[rows].numpy()
    seen = storage.observations.flatten(0, 1)[rows]
    storage.augment_batch(first, 6)
    assert first.actions.shape == (24, 12)
    for k, image in enumerate(images, start=1):
        rows = slice(6 * k, 6 * k + 6)
        np.testing.assert_allclose(first.actions[rows].numpy(), image.action(original), atol=1e-6)
        np.testing.assert_allclose(first.observations["policy"][rows].numpy(), image.policy(seen["policy"].numpy()), atol=1e-5)
        np.testing.assert_allclose(first.observations["critic"][rows].numpy(), image.critic(seen["critic"].numpy()), atol=1e-5)
        assert torch.equal(first.old_actions_log_prob[rows], log_prob)
    np.testing.assert_array_equal(first.actions[:6].numpy(), original)


def test_every_sample_is_seen_once_in_each_epoch(anymal):
    training = training_of(anymal, mirrored=False)
    training.ppo.update = lambda: {"value": 0.0, "surrogate": 0.0}
    training.iterate()
    storage = training.ppo.storage
    seen = [batch.old_actions_log_prob.clone() for batch in storage.mini_batch_generator(2, 3)]
    assert len(seen) == 6
    for epoch in range(3):
        values = torch.cat(seen[2 * epoch : 2 * epoch + 2]).flatten().sort().values
        assert torch.equal(values, storage.actions_log_prob.flatten().sort().values)


def test_a_lost_robot_is_in_no_mean(anymal):
    """Figures over two robots of which one was lost are those of the other alone."""
    task = task_of(anymal, robots=2)
    task.reset()
    task.world.stepper.state()[1][1] = np.nan
    outcome = task.step(np.zeros((2, 12)))
    tally = Tally()
    tally.add(outcome, np.zeros((2, 3)))
    figures = tally.figures(0.02)
    assert tally.steps == 1
    assert figures["lost"] == 1
    assert figures["reward"] == pytest.approx(outcome.reward[0] / 0.02)
    assert figures["power"] == pytest.approx(outcome.power[0])
    assert figures["velocity_error"] == pytest.approx(np.linalg.norm(outcome.linear[0, :2]))


def test_the_mean_action_has_no_chance_in_it(anymal):
    training = training_of(anymal)
    seen = training.task.see(training.task.world.read())
    np.testing.assert_array_equal(training.act(seen), training.act(seen))


def test_a_damaged_checkpoint_is_said_to_be_one(tmp_path):
    with pytest.raises(SurefootError, match=r"no checkpoint at .* to resume"):
        checkpoint.read(tmp_path / "checkpoint.pt")
    path = tmp_path / "checkpoint.pt"
    checkpoint.write(path, {"iteration": 3, "arrays": [np.arange(3), {"deep": np.eye(2)}]})
    kept = checkpoint.read(path)
    assert kept["iteration"] == 3
    np.testing.assert_array_equal(kept["arrays"][1]["deep"], np.eye(2))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(SurefootError, match="not a checkpoint that can be read"):
        checkpoint.read(path)
    torch.save({"somebody": "else"}, path)
    with pytest.raises(SurefootError, match="not a checkpoint written by this version"):
        checkpoint.read(path)
