"""A run is written whole, comes back as it was, and anything else is refused in a sentence."""

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.record.run import CHANNELS, Run


def run(steps=5, **changes):
    sizes = {"1": (), "3": (3,), "4": (4,), "n": (2,), "F": (1,)}
    rng = np.random.default_rng(0)
    given = {
        "robot": "hopper", "joints": ("hip", "knee"), "feet": ("foot",), "mass": 3.5, "time": 0.0025 * np.arange(steps),
        "channels": {name: rng.normal(size=(steps, *sizes[width])) for name, (width, _) in CHANNELS.items()},
        "stop": "the bus is down", "notes": {"hardware": "virtual:3"},
    }  # fmt: skip
    return Run(**(given | changes))


def test_what_is_saved_comes_back(tmp_path):
    mine = run()
    back = Run.load(mine.save(tmp_path / "run.npz"))
    for name in ("robot", "joints", "feet", "mass", "stop", "notes"):
        assert getattr(back, name) == getattr(mine, name)
    np.testing.assert_array_equal(back.time, mine.time)
    for name in CHANNELS:
        np.testing.assert_array_equal(back[name], mine[name])


def test_rows_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match="read-only"):
        run()["torque"][0] = 1.0


def test_a_channel_that_is_not_there_is_named_with_those_that_are():
    few = run(channels={"position": np.zeros((5, 2))})
    assert "position" in few
    assert "torque" not in few
    with pytest.raises(SurefootError, match=r"'torque'; valid: position\."):
        few["torque"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"time": [0.0, 0.1, 0.1, 0.2, 0.3]}, "increase"), ({"channels": {"torques": np.zeros((5, 2))}}, "unknown channel"),
     ({"channels": {"torque": np.zeros((5, 3))}}, r"shape \(5, 3\); expected \(5, 2\)"),
     ({"channels": {"contact": np.zeros(5)}}, r"expected \(5, 1\)")],
)  # fmt: skip
def test_rows_that_do_not_fit_are_refused(changes, said):
    with pytest.raises(SurefootError, match=said):
        run(**changes)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(SurefootError, match=r"no run at .*surefoot run"):
        Run.load(tmp_path / "none.npz")
    np.savez(tmp_path / "other.npz", time=np.zeros(3))
    with pytest.raises(SurefootError, match="not a run"):
        Run.load(tmp_path / "other.npz")
    path = run().save(tmp_path / "run.npz")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(SurefootError, match="cut short"):
        Run.load(path)
    np.savez(tmp_path / "half.npz", format="surefoot-run-1", time=np.arange(3.0))
    with pytest.raises(SurefootError, match="damaged"):
        Run.load(tmp_path / "half.npz")
    with pytest.raises(SurefootError, match=r"must end in \.npz"):
        run().save(tmp_path / "run.csv")
