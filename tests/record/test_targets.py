"""Command files: what is written for a player is what is read back, in all three formats."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from surefoot.errors import SurefootError
from surefoot.record.targets import FORMAT, TOPIC, Targets

LIGHT = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
ENDINGS = (".npz", ".csv", ".mcap")
ARRAYS = ("time", "target", "stiffness", "damping", "target_velocity", "feedforward")


def plain(**changes):
    t = np.arange(40) / 400
    fields = {"joints": ("LF HAA", "knee"), "time": t, "target": np.stack([np.sin(9 * t), t], 1), "stiffness": [85.0, 0.1]}
    return Targets(**fields | {"damping": [0.6, 0.7], "kind": "chirp", "seed": 3, "robot": "dog"} | changes)


@st.composite
def some(draw):
    samples, n = draw(st.integers(16, 20)), draw(st.integers(1, 3))
    series = hnp.arrays(np.float64, (samples, n), elements=st.floats(-1e6, 1e6))
    gains = hnp.arrays(np.float64, n, elements=st.floats(0, 1e4))
    names = st.text(st.characters(codec="utf-8", exclude_characters='\0,"', exclude_categories=("C", "Z")), min_size=1)
    return Targets(
        joints=draw(st.lists(names, min_size=n, max_size=n, unique=True)),
        time=np.cumsum(draw(hnp.arrays(np.int64, samples, elements=st.integers(1, 10**9)))) / 1e9,
        target=draw(series),
        stiffness=draw(gains),
        damping=draw(gains),
        target_velocity=draw(st.none() | series),
        feedforward=draw(st.none() | series),
        kind=draw(st.text()),
        seed=draw(st.none() | st.integers(0)),
        robot=draw(st.text()),
    )


@pytest.mark.parametrize("ending", ENDINGS)
@given(targets=some())
@LIGHT
def test_targets_come_back_bit_for_bit(tmp_path, ending, targets):
    back = Targets.load(targets.save(tmp_path / f"t{ending}"))
    assert (back.joints, back.kind, back.seed, back.robot) == (targets.joints, targets.kind, targets.seed, targets.robot)
    for key in ARRAYS:
        a, b = getattr(back, key), getattr(targets, key)
        assert (a is None and b is None) or a.tobytes() == (b + 0.0).tobytes() or np.array_equal(a, b)


def test_the_mcap_is_what_a_ros_2_player_expects(tmp_path):
    """The ROS 2 decoder of the MCAP project, which we do not use, reads one JointState per sample under its own stamp."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    targets = plain()
    with targets.save(tmp_path / "t.mcap").open("rb") as file:
        messages = list(make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages(topics=[TOPIC]))
    assert len(messages) == 40
    assert [m.decoded_message.name for m in messages[:1]] == [["LF HAA", "knee"]]
    np.testing.assert_array_equal([m.decoded_message.position for m in messages], targets.target)
    np.testing.assert_allclose([m.message.log_time / 1e9 for m in messages], targets.time, rtol=0, atol=1e-9)
    assert messages[0].schema.name == "sensor_msgs/msg/JointState"


def test_the_csv_is_for_everybody(tmp_path):
    lines = plain().save(tmp_path / "t.csv").read_text().splitlines()
    assert lines[0] == f'# format: "{FORMAT}"'
    header = next(line for line in lines if not line.startswith("#"))
    assert header == "time,target_LF HAA,target_knee"
    assert lines[-1] == f"0.0975,{float(np.sin(9 * 0.0975))!r},0.0975"


def test_another_order_of_joints_moves_everything_along():
    turned = plain().ordered_for(("knee", "LF HAA"))
    assert turned.stiffness.tolist() == [0.1, 85.0]
    assert turned.target[:, 0].tolist() == plain().target[:, 1].tolist()
    with pytest.raises(SurefootError, match="'toe'"):
        plain().ordered_for(("knee", "LF HAA", "toe"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": np.zeros(40)}, "time must increase"),
        ({"target": np.zeros((40, 3))}, r"target has shape \(40, 3\)"),
        ({"stiffness": [1.0]}, r"stiffness has shape \(1,\)"),
        ({"damping": [1.0, -1.0]}, "damping of joint knee is -1.0"),
        ({"feedforward": np.full((40, 2), np.nan)}, "feedforward of joint LF HAA is nan"),
        ({"joints": ()}, "no joints"),
    ],
)
def test_what_no_drive_could_follow_is_refused(changes, words):
    with pytest.raises(SurefootError, match=words):
        plain(**changes)


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data())
@LIGHT
def test_a_damaged_target_file_is_read_unharmed_or_refused(tmp_path, ending, data):
    raw = plain().save(tmp_path / f"t{ending}").read_bytes()
    (tmp_path / f"bad{ending}").write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    try:
        back = Targets.load(tmp_path / f"bad{ending}")
    except SurefootError:
        return
    assert len(back.time) <= 40


def test_other_files_are_no_targets(tmp_path):
    for name, words in (("t.bag", "must end in .npz, .csv, .mcap"), ("none.npz", "no file")):
        with pytest.raises(SurefootError, match=words):
            Targets.load(tmp_path / name)
    with pytest.raises(SurefootError, match="must end in"):
        plain().save(tmp_path / "t.txt")
    np.savez(tmp_path / "r.npz", time=np.zeros(3))
    with pytest.raises(SurefootError, match="no 'about'"):
        Targets.load(tmp_path / "r.npz")
    about = {"format": "surefoot-targets-9"}
    np.savez(tmp_path / "r.npz", about=np.array(json.dumps(about)))
    with pytest.raises(SurefootError, match="of format 'surefoot-targets-9'"):
        Targets.load(tmp_path / "r.npz")
    (tmp_path / "t.csv").write_text(plain().save(tmp_path / "u.csv").read_text().replace("target_knee", "target_toe"))
    with pytest.raises(SurefootError, match="'target_toe'"):
        Targets.load(tmp_path / "t.csv")


def test_an_interrupted_save_leaves_the_old_file(tmp_path):
    path = plain().save(tmp_path / "t.csv")
    before = path.read_bytes()
    with pytest.raises(SurefootError, match="comma"):
        plain(joints=("a,b", "c")).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
