"""surefoot convert: a log goes in, a recording comes out, or a sentence and nothing."""

import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot import Recording, Robot, chirp, cli, rehearse

sys.path.insert(0, str(Path(__file__).parent / "record"))
import logs


@pytest.fixture(scope="module")
def truth():
    """ANYmal in the air, 4 s of chirp, with what a bag holds."""
    robot = Robot.load("anymal")
    rec = rehearse(robot, robot.dynamics, chirp(robot, duration=4.0, stop_hz=5.0), noise=1e-4)
    velocity = np.gradient(rec.position, rec.time, axis=0)
    return rec.replace(velocity=velocity, torque=rec.stiffness * (rec.target - rec.position))


def convert(tmp_path, source, *options):
    """(exit code, the recording or None)."""
    out = tmp_path / "out.npz"
    code = cli.main(["convert", str(source), "--out", str(out), *options])
    return code, Recording.load(out) if out.exists() else None


def test_a_bag_becomes_a_recording_and_what_was_taken_is_shown(tmp_path, truth, capsys):
    code, back = convert(tmp_path, logs.write_bag(tmp_path / "bag", logs.messages(truth)), "--robot", "anymal")
    assert code == 0
    assert back.joints == truth.joints
    np.testing.assert_array_equal(back.target, truth.target)
    out, err = capsys.readouterr()
    assert "1600 samples" in out
    assert "next: surefoot check anymal" in out
    assert "measurement: /joint_states (sensor_msgs/msg/JointState): 1600 samples at 400 Hz" in err


def swapped(rec):
    """Two measured columns under each other's name, as a wrong configuration of the publisher makes them."""
    order = [1, 0, *range(2, rec.n)]
    return rec.replace(position=rec.position[:, order], velocity=rec.velocity[:, order])


WRONG = {
    "swapped joints": (swapped, (), "columns are swapped"),
    "degrees": (
        lambda rec: rec.in_radians().replace(position=np.rad2deg(rec.position), target=np.rad2deg(rec.target)),
        (),
        "--degrees",
    ),
    "milliseconds": (lambda rec: rec.replace(time=rec.time * 1e3), (), "--time-scale 0.001"),
    "motor side": (lambda rec: rec.replace(position=9 * rec.position), (), "--motor-side"),
    "500 Hz in a 400 Hz world": (
        lambda rec: rec.replace(time=rec.time * 0.8),
        ("--rate", "400"),
        "logged at 500 Hz, and --rate says",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_log_is_refused_with_what_to_type_and_nothing_is_written(tmp_path, truth, capsys, name):
    spoil, options, words = WRONG[name]
    source = logs.write_csv(tmp_path / "log.csv", spoil(truth))
    code, back = convert(tmp_path, source, "--robot", "anymal", *options)
    out, err = capsys.readouterr()
    assert (code, back) == (1, None)
    assert words in " ".join((out + err).replace("│", " ").split())


def test_a_wrong_log_is_written_when_forced(tmp_path, truth):
    code, back = convert(tmp_path, logs.write_csv(tmp_path / "log.csv", swapped(truth)), "--robot", "anymal", "--force")
    assert code == 0
    assert back is not None


def test_the_remedies_repair(tmp_path, truth):
    """Milliseconds, and angles of a motor in front of a gear of ratio 9, come back as seconds and angles of the joint."""
    spoilt = truth.replace(
        time=truth.time * 1e3, position=9 * truth.position, velocity=9 * truth.velocity, torque=truth.torque / 9
    )
    options = ("--robot", "anymal", "--time-scale", "0.001", "--motor-side", "measured:*=9")
    code, back = convert(tmp_path, logs.write_csv(tmp_path / "log.csv", spoilt), *options)
    assert code == 0
    for channel in ("time", "position", "target", "velocity", "torque"):
        np.testing.assert_allclose(getattr(back, channel), getattr(truth, channel), rtol=1e-12, atol=1e-15)


def test_topics_are_said_on_the_command_line_and_in_a_map(tmp_path, truth, capsys):
    bag = logs.write_mcap_ros2(tmp_path / "log.mcap", logs.messages(truth))
    assert convert(tmp_path, bag, "--robot", "anymal", "--topic", "measurement=/joint_state") == (1, None)
    assert "has no topic /joint_state. Its topics are /joint_command" in capsys.readouterr().err
    (tmp_path / "map.toml").write_text('measurement = "/joint_states"\nchannels = []\n')
    code, back = convert(
        tmp_path, bag, "--robot", "anymal", "--map", str(tmp_path / "map.toml"), "--topic", "command=/joint_command"
    )
    assert code == 0
    assert back.velocity is None
    assert convert(tmp_path, bag, "--topic", "/joint_states")[0] == 1
    assert "expected measurement=/NAME" in capsys.readouterr().err


def test_an_order_names_what_has_no_names_and_other_orders_are_shown(tmp_path, truth, capsys):
    robot = Robot.load("anymal")
    by_level = sorted(range(12), key=lambda k: (k % 3, robot.joints[k]))
    np.savez(tmp_path / "log.npz", t=truth.time, q=truth.position[:, by_level], q_des=truth.target[:, by_level])
    code, back = convert(tmp_path, tmp_path / "log.npz", "--robot", "anymal", "--order", "isaac-lab")
    assert code == 0
    np.testing.assert_array_equal(back.select(robot.joints).target, truth.target)
    capsys.readouterr()
    cli.main(["convert", str(tmp_path / "log.npz"), "--out", str(tmp_path / "b.npz"), "--robot", "anymal", "--force"])
    err = " ".join(capsys.readouterr().err.split())
    assert "names no joints, or not all: its columns are taken as LF_HAA, LF_HFE" in err
    assert "--order isaac-lab: LF_HAA, LH_HAA, RF_HAA, RH_HAA, ..." in err
    assert convert(tmp_path, tmp_path / "log.npz", "--order", "isaac-lab")[0] == 1
    assert "--order isaac-lab needs to know the robot" in capsys.readouterr().err


def test_without_a_robot_it_says_what_was_not_checked(tmp_path, truth, capsys):
    source = logs.write_csv(tmp_path / "log.csv", truth)
    code, back = convert(tmp_path, source, "--stiffness", "85", "--damping", "0.6")
    assert code == 0
    assert back.joints == truth.joints
    assert "were not checked" in capsys.readouterr().err
    milliseconds = logs.write_csv(tmp_path / "ms.csv", truth.replace(time=truth.time * 1e3))
    (tmp_path / "out.npz").unlink()
    assert convert(tmp_path, milliseconds, "--stiffness", "85", "--damping", "0.6") == (1, None)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_bag_writes_nothing(tmp_path, truth, capsys, share):
    bag = logs.write_mcap_ros2(tmp_path / "log.mcap", logs.messages(truth))
    bag.write_bytes(bag.read_bytes()[: int(share * bag.stat().st_size)])
    assert convert(tmp_path, bag, "--robot", "anymal") == (1, None)
    assert "log.mcap is damaged or was cut short" in capsys.readouterr().err


def test_the_name_of_the_output_is_checked_first(tmp_path, capsys):
    assert cli.main(["convert", str(tmp_path / "none.csv"), "--out", str(tmp_path / "out.csv")]) == 1
    assert "must end in .npz" in capsys.readouterr().err
