"""Commands come from where they are said to come from, and nonsense is refused before the robot moves."""

import struct

import numpy as np
import pytest

from surefoot.deploy.steering import Gamepad, Keyboard, Script
from surefoot.errors import SurefootError

LOW, HIGH = np.array([-0.5, -1.0, -1.0]), np.array([1.0, 1.0, 2.0])


def script(tmp_path, text):
    path = tmp_path / "script.csv"
    path.write_text(text)
    return Script.load(path)


def test_a_script_holds_each_command_until_the_next(tmp_path):
    found = script(tmp_path, "time,forward,left,turn\n0,0,0,0\n1,1,0,0\n2.5,0,0,2\n")
    asked = [found.command(t).tolist() for t in (0.0, 0.9, 1.0, 2.4, 2.5, 100.0)]
    assert asked == [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 2], [0, 0, 2]]
    assert not found.over(100.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "no commands"), ("time,forward,left,turn\n", "no commands"), ("a,b\n1,2\n", "header time,forward,left,turn"),
     ("time,forward,left,turn\n0,1,0,fast\n", "a number in every place"), ("time,forward,left,turn\n0,1,0\n", "every place"),
     ("time,forward,left,turn\n1,1,0,0\n", "begin at 0"), ("time,forward,left,turn\n0,1,0,0\n0,1,0,0\n", "increase"),
     ("time,forward,left,turn\n0,nan,0,0\n", "must be numbers")],
)  # fmt: skip
def test_a_script_that_makes_no_sense_is_refused(tmp_path, text, said):
    with pytest.raises(SurefootError, match=said):
        script(tmp_path, text)


def test_a_script_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SurefootError, match=r"cannot read the script .*none\.csv"):
        Script.load(tmp_path / "none.csv")


def test_keys_add_up_to_the_largest_command_and_space_stops():
    keys = Keyboard.__new__(Keyboard)
    keys.low, keys.high, keys._now, keys._over = LOW, HIGH, np.zeros(3), False
    for key in "wwwaqq":
        keys.press(key)
    assert keys._now == pytest.approx([0.3, 0.1, 0.2])
    for key in "w" * 20 + "?":
        keys.press(key)
    assert keys._now == pytest.approx([1.0, 0.1, 0.2])
    for key in "s" * 30:
        keys.press(key)
    assert keys._now[0] == pytest.approx(-0.5)
    keys.press(" ")
    assert keys._now.tolist() == [0, 0, 0]
    assert not keys.over(0.0)
    keys.press("x")
    assert keys.over(0.0)


def test_keys_need_a_terminal():
    with pytest.raises(SurefootError, match="--keyboard needs a terminal"):
        Keyboard(LOW, HIGH)


def event(value, kind, number):
    return struct.pack("<IhBB", 0, value, kind, number)


def test_sticks_reach_from_the_lowest_to_the_highest_command(tmp_path):
    """Forward is stick up (a negative number), left is left (negative), turning left likewise; a small tremor is none."""
    device = tmp_path / "js0"
    device.write_bytes(event(-32767, 2, 1) + event(16384, 2, 0) + event(-32767, 2, 3))
    pad = Gamepad(LOW, HIGH, str(device))
    assert pad.command(0.0) == pytest.approx([1.0, -0.5, 2.0], abs=1e-3)
    pad.event(event(32767, 2, 1))
    pad.event(event(1000, 2, 0))
    assert pad.command(0.0) == pytest.approx([-0.5, 0.0, 2.0])
    assert not pad.over(0.0)
    pad.event(event(1, 1, 0))
    assert pad.over(0.0)
    pad.close()


def test_a_gamepad_that_is_not_there_is_said(tmp_path):
    with pytest.raises(SurefootError, match="there is no gamepad at"):
        Gamepad(LOW, HIGH, str(tmp_path / "js9"))
