import numpy as np

from surefoot.deploy import observation_names, observe
from surefoot.robot import Robot


def test_the_48_numbers_stand_in_the_order_of_their_names():
    """v_B, ω_B, g_B, command, q − q_0, q̇, last action: each number is where its name says."""
    joints = Robot.load("anymal").joints
    posture = np.arange(12) * 0.1
    seen = observe(
        linear_velocity=[1, 2, 3], angular_velocity=[4, 5, 6], gravity=[0, 0, -1], command=[7, 8, 9],
        position=posture + np.arange(20, 32), velocity=np.arange(40, 52), action=np.arange(60, 72), posture=posture,
    )  # fmt: skip
    named = dict(zip(observation_names(joints), seen, strict=True))
    assert seen.shape == (48,)
    assert [named[f"linear_velocity.{axis}"] for axis in "xyz"] == [1, 2, 3]
    assert [named[f"angular_velocity.{axis}"] for axis in "xyz"] == [4, 5, 6]
    assert [named["gravity.z"], named["command.x"], named["command.y"], named["command.yaw"]] == [-1, 7, 8, 9]
    for k, joint in enumerate(joints):
        assert np.allclose([named[f"{part}.{joint}"] for part in ("position", "velocity", "action")], [20 + k, 40 + k, 60 + k])


def test_many_robots_are_seen_at_once_as_each_alone():
    rng = np.random.default_rng(0)
    sizes = {"linear_velocity": 3, "angular_velocity": 3, "gravity": 3, "command": 3, "position": 5, "velocity": 5, "action": 5}
    values = {name: rng.normal(size=(7, size)) for name, size in sizes.items()}
    together = observe(**values, posture=np.ones(5))
    assert together.shape == (7, 27)
    for i in range(7):
        np.testing.assert_array_equal(together[i], observe(**{k: v[i] for k, v in values.items()}, posture=np.ones(5)))
