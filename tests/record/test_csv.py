"""CSV logs: conventional column names are understood, a map says the rest, and every cell has an address."""

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.record.recording import Recording

TIME = np.arange(20) * 0.01
RNG = np.random.default_rng(3)
TARGET, POSITION = RNG.normal(size=(2, 20, 2))
GAINS = {"stiffness": 85.0, "damping": 0.6}


def write(path, header, *columns, delimiter=",", encoding="utf-8"):
    table = np.column_stack(columns)
    lines = [delimiter.join(header), *(delimiter.join(repr(float(x)) for x in row) for row in table)]
    (path / "log.csv").write_text("\n".join(lines) + "\n", encoding=encoding)
    return path / "log.csv"


@pytest.mark.parametrize(
    "header",
    [
        ["time", "target_HIP", "target_KNEE", "position_HIP", "position_KNEE"],
        ["t", "q_des_HIP", "q_des_KNEE", "q_HIP", "q_KNEE"],
        ["timestamp", "HIP_cmd", "KNEE_cmd", "HIP_pos", "KNEE_pos"],
        ["# time", "des/HIP", "des/KNEE", "meas/HIP", "meas/KNEE"],
        ["Time", "des_dof_pos[HIP]", "des_dof_pos[KNEE]", "dof_pos[HIP]", "dof_pos[KNEE]"],
    ],
    ids=lambda header: header[1],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_conventional_names_are_understood_exactly(tmp_path, header, delimiter):
    path = write(tmp_path, header, TIME, TARGET, POSITION, delimiter=delimiter)
    recording = Recording.load(path, **GAINS)
    assert recording.joints == ("HIP", "KNEE")
    assert np.array_equal(recording.time, TIME)
    assert np.array_equal(recording.target, TARGET)
    assert np.array_equal(recording.position, POSITION)
    assert header[3] in recording.notes["columns"]


def test_numbered_columns_take_the_names_that_are_passed(tmp_path):
    path = write(tmp_path, ["time", "des2", "des1", "pos1", "pos2"], TIME, TARGET[:, ::-1], POSITION)
    assert Recording.load(path, **GAINS).joints == ("1", "2")
    recording = Recording.load(path, joints=("hip", "knee"), **GAINS)
    assert recording.joints == ("hip", "knee")
    assert np.array_equal(recording.target, TARGET)
    assert np.array_equal(recording.position, POSITION)


def test_optional_channels_come_along_and_other_columns_are_listed(tmp_path):
    header = ["time", "target_a", "position_a", "velocity_a", "tau_ff_a", "torque_a", "enabled_a", "battery"]
    columns = [TIME, TARGET[:, 0], POSITION[:, 0], TARGET[:, 1], POSITION[:, 1], TIME, np.ones(20), TIME]
    recording = Recording.load(write(tmp_path, header, *columns), **GAINS)
    assert np.array_equal(recording.velocity[:, 0], TARGET[:, 1])
    assert np.array_equal(recording.feedforward[:, 0], POSITION[:, 1])
    assert np.array_equal(recording.torque[:, 0], TIME)
    assert recording.enabled.all()
    assert recording.notes["unused"] == "battery"


HEADER = ["clock", "u_HIP", "u_KNEE", "enc0", "enc1", "on"]


@pytest.mark.parametrize(
    ("target", "position", "joints"),
    [
        ("u_{joint}", ["enc0", "enc1"], None),
        (["u_HIP", "u_KNEE"], ["enc0", "enc1"], ("HIP", "KNEE")),
        ("u_{joint}", {"HIP": "enc0", "KNEE": "enc1"}, None),
    ],
)
def test_a_column_map_says_where_each_channel_stands(tmp_path, target, position, joints):
    path = write(tmp_path, HEADER, TIME, TARGET, POSITION, TIME > 0.05)
    columns = {"time": "clock", "target": target, "position": position, "enabled": "on"}
    recording = Recording.load(path, columns=columns, joints=joints, **GAINS)
    assert recording.joints == ("HIP", "KNEE")
    assert np.array_equal(recording.target, TARGET)
    assert np.array_equal(recording.position, POSITION)
    assert np.array_equal(recording.enabled, np.stack([TIME > 0.05] * 2, axis=1))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"time": "clock", "target": "u_{joint}"}, "nothing about position"),
        ({"time": "clock", "target": "u_{joint}", "position": ["enc0"]}, "lists 1 columns for 2 joints"),
        (
            {"time": "t", "target": "u_{joint}", "position": ["enc0", "enc1"]},
            "unknown column of log.csv 't'; valid: clock",
        ),
        ({"time": "clock", "targets": "x", "target": "y", "position": "z"}, "unknown channel in columns 'targets'"),
        ({"time": "clock", "target": ["u_HIP"], "position": ["enc0"]}, "joint names are not known"),
        (
            {"time": "clock", "target": {"HIP": "u_HIP"}, "position": {"HIP": "enc0", "KNEE": "enc1"}},
            "nothing for KNEE",
        ),
    ],
)
def test_a_wrong_map_is_refused_with_the_valid_names(tmp_path, columns, words):
    path = write(tmp_path, HEADER, TIME, TARGET, POSITION, TIME)
    with pytest.raises(SurefootError, match=words):
        Recording.load(path, columns=columns, **GAINS)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (["when", "target_a", "target_b", "position_a", "position_b"], "no column is named time"),
        (["time", "x1", "x2", "position_a", "position_b"], "recognised as target"),
        (["time", "target_a", "target_b", "y", "z"], "recognised as position"),
        (["time", "target_a", "target_b", "position_a", "position_c"], "b, c has a target or a position, but not both"),
        (["time", "target_a", "target_a", "position_a", "position_b"], "two columns named 'target_a'"),
        (["0", "1", "2", "3", "4"], "no header"),
    ],
)
def test_missing_columns_are_named_with_the_way_out(tmp_path, header, words):
    with pytest.raises(SurefootError, match=words):
        Recording.load(write(tmp_path, header, TIME, TARGET, POSITION), **GAINS)


def test_joints_of_another_robot_are_named(tmp_path):
    path = write(tmp_path, ["time", "target_a", "target_b", "position_a", "position_b"], TIME, TARGET, POSITION)
    with pytest.raises(SurefootError, match=r"unknown joint of log.csv 'a', 'b'; valid: hip, knee, foot"):
        Recording.load(path, joints=("hip", "knee", "foot"), **GAINS)


def rows(*changes):
    lines = ["time,target_a,position_a", *(f"{0.01 * k:.2f},{k}.5,{k}.25" for k in range(20))]
    for line, text in changes:
        lines[line] = text
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"time,target_a,position_a\n", "has 0 samples"),
        (b"\xff\xfe\x00t", "not text in UTF-8"),
        (b"time,target_a\x00", "null bytes"),
        (rows((5, "0.04,4.5,")).encode(), "position of joint a is nan at sample 4"),
        (rows((5, "0.04,oops,4.25")).encode(), "line 6 of log.csv, column target_a: 'oops' is not a number"),
        (
            rows((20, "0.19,19.5")).encode(),
            "line 21 of log.csv has 2 cells; the header has 3. The file was probably cut",
        ),
        (rows((9, "0.08,8.5,8.25,1")).encode(), "line 10 of log.csv has 4 cells"),
        (rows((9, "0.07,8.5,8.25")).encode(), "samples 7 and 8 are both 0.07 s"),
        (rows().replace(".", ",").replace(",csv", "").encode(), "cells; the header has 3"),
        (rows().replace(",", ";").replace(".", ",").encode(), "'0,00' is not a number. Use a decimal point"),
        (b'time,target_a,position_a\n"0' + b"x" * 200_000, "line|not a CSV"),
    ],
)
def test_damaged_tables_are_refused_with_the_line(tmp_path, content, words):
    (tmp_path / "log.csv").write_bytes(content)
    with pytest.raises(SurefootError, match=words):
        Recording.load(tmp_path / "log.csv", **GAINS)


def test_byte_order_mark_comments_and_blank_lines_do_no_harm(tmp_path):
    text = rows((3, "# a comment")).replace("\n0.05", "\n\n0.05")
    (tmp_path / "log.csv").write_text(text, encoding="utf-8-sig")
    assert len(Recording.load(tmp_path / "log.csv", **GAINS).time) == 19
