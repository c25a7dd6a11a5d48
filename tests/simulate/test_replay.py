import sys

import numpy as np
import pytest
from rigs import TREE, candidates, chirp, load, shaft, tree

from surefoot.errors import SurefootError
from surefoot.simulate.inair import InAir
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference
from surefoot.simulate.replay import engine, replay
from surefoot.simulate.tree import Unsupported

COMPENSATED = TREE.replace('name="lone" pos', 'name="lone" gravcomp="1" pos')


def test_the_kernel_is_the_rule():
    robot = tree()
    said: list[str] = []
    assert isinstance(engine(robot, chirp(robot), Physics(), say=said.append), InAir)
    assert said == []


def test_where_the_kernel_cannot_mujoco_takes_over_and_one_line_says_so():
    robot = load(COMPENSATED, stiffness=[60.0, 60, 2000, 20, 40], damping=[2.0, 2, 40, 0.5, 1])
    said: list[str] = []
    assert isinstance(engine(robot, chirp(robot), Physics(), say=said.append), Reference)
    assert len(said) == 1
    assert "gravcomp" in said[0]
    with pytest.raises(SurefootError, match="gravcomp"):
        engine(robot, chirp(robot), Physics(), choice="kernel")


def test_mujoco_takes_over_where_kernels_cannot_be_compiled(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("LLVM does not know this machine")

    monkeypatch.setattr(sys.modules[engine.__module__], "InAir", broken)
    robot = shaft()
    said: list[str] = []
    assert isinstance(engine(robot, chirp(robot), Physics(), say=said.append), Reference)
    assert "LLVM does not know this machine" in said[0]


@pytest.mark.parametrize(
    ("plain", "special", "said"),
    [('stiffness="2"', 'stiffness="2 5 1"', "wag is a polynomial"),
     ('name="lone" axis="0 1 0"', 'name="lone" axis="0 1 0" limited="true" range="-1 1" solimplimit="0.8 0.95 0.01 0.5 2.5"',
      "lone has 2.5")],
)  # fmt: skip
def test_mujoco_takes_over_where_the_kernel_would_step_otherwise(plain, special, said):
    robot = load(TREE.replace(plain, special), stiffness=[60.0, 60, 2000, 20, 40], damping=[2.0, 2, 40, 0.5, 1])
    heard: list[str] = []
    assert isinstance(engine(robot, chirp(robot), Physics(), say=heard.append), Reference)
    assert said in heard[0]
    with pytest.raises(Unsupported, match=said):
        engine(robot, chirp(robot), Physics(), choice="kernel")


def test_mujoco_takes_over_where_a_kernel_cannot_be_compiled(monkeypatch):
    """Kernels are compiled late; a replay has its own compiled before it relies on it."""

    def broken(text):
        raise RuntimeError("LLVM ran out of registers")

    robot = shaft()
    recording, dynamics = chirp(robot), candidates(robot).lane(0)
    expected = replay(robot, recording, dynamics, choice="mujoco")
    monkeypatch.setattr("surefoot.simulate.inair.compiled", broken)
    np.testing.assert_array_equal(replay(robot, recording, dynamics).position, expected.position)
    with pytest.raises(RuntimeError, match="registers"):
        replay(robot, recording, dynamics, choice="kernel")
    monkeypatch.setattr("surefoot.simulate.compiler.compiled", broken)
    assert isinstance(engine(robot, recording, Physics()), Reference)


def test_a_mistake_of_the_user_is_not_answered_with_a_slower_engine():
    robot = shaft()
    short = chirp(robot, time=np.arange(20) * 1e-4)
    with pytest.raises(SurefootError, match="record longer"):
        engine(robot, short, Physics())


def test_an_unknown_engine_is_answered_with_the_valid_ones():
    robot = shaft()
    with pytest.raises(SurefootError, match="auto, kernel, mujoco"):
        engine(robot, chirp(robot), Physics(), choice="gpu")  # type: ignore[arg-type]


def test_a_replay_is_the_same_by_either_engine_and_takes_the_dynamics_joint_order():
    robot = tree(torque_limit=[6.0, 5.0, 30.0, np.inf, 3.0])
    turned = tuple(reversed(robot.joints))
    dynamics = candidates(robot).lane(0).ordered_for(turned)
    ours, theirs = (replay(robot, chirp(robot), dynamics, choice=choice) for choice in ("kernel", "mujoco"))
    assert ours.joints == theirs.joints == turned
    np.testing.assert_allclose(ours.position, theirs.position, atol=1e-11)
    np.testing.assert_allclose(ours.torque, theirs.torque, atol=1e-7)
    np.testing.assert_array_equal(ours.saturated, theirs.saturated)
    assert 0 < ours.saturated.max() < 1


def test_both_engines_score_alike():
    robot = tree()
    recording = chirp(robot, position=np.zeros((480, 5)), valid=np.random.default_rng(0).uniform(size=(480, 5)) > 0.3)
    dynamics = candidates(robot, 3)
    scores = [kind(robot, recording, Physics()).scores(dynamics) for kind in (InAir, Reference)]
    np.testing.assert_allclose(*scores, rtol=1e-9)
