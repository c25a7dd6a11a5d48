"""Files: the canonical .npz comes back bit for bit, and nothing malformed gets past a sentence."""

import io
import pickle
import types
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from surefoot.errors import SurefootError
from surefoot.record.recording import CHANNELS, FLAGS, Recording

JOINTS = ("hip", "knee")
LIGHT = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def recordings(draw):
    samples, n = draw(st.integers(16, 24)), draw(st.integers(1, 3))
    joints = tuple(draw(st.lists(st.text(min_size=1, max_size=5), min_size=n, max_size=n, unique=True)))
    joints = tuple(joint.rstrip("\0") or "j" for joint in joints)
    joints = joints if len(set(joints)) == n else tuple(f"j{k}" for k in range(n))
    number = st.floats(-1e6, 1e6, allow_subnormal=False)
    series = hnp.arrays(np.float64, (samples, n), elements=number)
    flags = hnp.arrays(np.bool_, (samples, n))
    steps = draw(hnp.arrays(np.float64, samples, elements=st.floats(1e-4, 1.0)))
    optional = {c: draw(st.none() | series) for c in CHANNELS[2:]}
    optional |= {"enabled": draw(st.none() | flags), "valid": draw(st.none() | flags.filter(np.any))}
    gains = hnp.arrays(np.float64, n, elements=st.floats(0.1, 1e4))
    return Recording(
        joints=joints,
        time=np.cumsum(steps),
        target=draw(series),
        position=draw(series),
        stiffness=draw(gains),
        damping=draw(gains),
        prescribed=joints[: draw(st.integers(0, n))],
        command_hold=draw(st.booleans()),
        name=draw(st.text(min_size=1)),
        notes=draw(st.dictionaries(st.text(), st.text(), max_size=3)),
        **optional,
    )


@given(recordings())
@LIGHT
def test_a_saved_recording_comes_back_bit_for_bit(tmp_path, recording):
    back = Recording.load(recording.save(tmp_path / "r.npz"))
    assert back.hash == recording.hash
    assert (back.name, back.notes, back.joints) == (recording.name, recording.notes, recording.joints)
    for key in ("time", *CHANNELS, *FLAGS, "stiffness", "damping"):
        a, b = getattr(back, key), getattr(recording, key)
        assert (a is None and b is None) or (a.dtype == b.dtype and a.tobytes() == b.tobytes())


def plain(samples=20):
    rng = np.random.default_rng(0)
    return Recording(
        joints=JOINTS,
        time=np.arange(samples) * 0.01,
        target=rng.normal(size=(samples, 2)),
        position=rng.normal(size=(samples, 2)),
        stiffness=[10.0, 20.0],
        damping=[1.0, 2.0],
    )


def arrays(**changes):
    r = plain()
    keys = ("time", "target", "position", "stiffness", "damping")
    return {"joints": np.array(JOINTS), **{key: getattr(r, key) for key in keys}} | changes


def load(path, content, **options):
    np.savez(path / "r.npz", **{key: value for key, value in content.items() if value is not None})
    return Recording.load(path / "r.npz", **options)


def test_an_npz_written_by_hand_needs_only_the_arrays(tmp_path):
    recording = load(tmp_path, arrays())
    assert recording.name == "r"
    assert recording.hash == plain().hash


def test_what_is_passed_wins_over_what_is_stored(tmp_path):
    recording = load(tmp_path, arrays(), stiffness=[7.0, 8.0], joints=("knee", "hip"))
    assert recording.joints == ("knee", "hip")
    assert recording.stiffness.tolist() == [7.0, 8.0]
    assert recording.damping.tolist() == [2.0, 1.0]


def test_repeated_packets_are_dropped_when_asked(tmp_path):
    time = np.array(plain().time)
    time[7] = time[6]
    with pytest.raises(SurefootError, match=r"drop_repeated=True"):
        load(tmp_path, arrays(time=time))
    assert len(load(tmp_path, arrays(time=time), drop_repeated=True).time) == 19


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"position": None}, "no position"),
        ({"time": None, "target": None}, "no time and no target"),
        ({"joints": None}, "2 joints without names"),
        ({"stiffness": None}, r"no stiffness. Pass the P"),
        ({"feed_forward": np.zeros(3)}, "'feed_forward', which a recording does not have"),
        ({"format": np.array("surefoot-recording-9")}, "of format 'surefoot-recording-9'"),
        ({"notes": np.array("{broken")}, "texts in r.npz are malformed"),
        ({"notes": np.array("[1]")}, "texts in r.npz are malformed"),
        ({"position": np.full((20, 2), np.nan)}, "position of joint hip is nan at sample 0"),
        ({"position": np.array([["a", "b"]] * 20)}, "position holds text"),
        ({"position": np.zeros(20)}, r"position has shape \(20,\)"),
        ({"stiffness": np.array([])}, r"stiffness has shape \(0,\)"),
        ({"command_hold": np.zeros(3)}, "malformed"),
    ],
)
def test_a_wrong_npz_is_refused_with_a_sentence(tmp_path, changes, words):
    with pytest.raises(SurefootError, match=words):
        load(tmp_path, arrays(**changes))


class Bomb:
    """Unpickling it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickled_npz_is_refused_without_running_it(tmp_path):
    content = arrays(target=np.array([Bomb(tmp_path / "ran")], dtype=object))
    with pytest.raises(SurefootError, match=r"pickled Python objects"):
        load(tmp_path, content)
    assert not (tmp_path / "ran").exists()
    (tmp_path / "p.npz").write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(SurefootError, match=r"not a complete .npz"):
        Recording.load(tmp_path / "p.npz")
    assert not (tmp_path / "ran").exists()


@given(st.data())
@LIGHT
def test_a_damaged_npz_loads_unharmed_or_says_so(tmp_path, data):
    raw = bytearray(plain().save(tmp_path / "good.npz").read_bytes())
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
    else:
        for place in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=4)):
            raw[place] = data.draw(st.integers(0, 255))
    (tmp_path / "bad.npz").write_bytes(raw)
    try:
        recording = Recording.load(tmp_path / "bad.npz", stiffness=1.0, damping=1.0)
    except SurefootError:
        return  # any other exception fails the test
    assert np.array_equal(recording.position, plain().position)


def test_paths_that_hold_no_recording_are_named(tmp_path):
    (tmp_path / "log.bag").write_text("x")
    for path, words in [("none.npz", "no file"), ("", "not a file"), ("log.bag", "must end in .npz, .csv, .pt")]:
        with pytest.raises(SurefootError, match=words):
            Recording.load(tmp_path / path)
    with pytest.raises(SurefootError, match=r"must end in .npz"):
        plain().save(tmp_path / "r.csv")
    (tmp_path / "file").write_text("x")
    with pytest.raises(SurefootError, match=r"cannot write"):
        plain().save(tmp_path / "file" / "r.npz")
    plain().save(tmp_path / "r.npz")
    with pytest.raises(SurefootError, match=r"unknown column of r.npz 't'; valid: time, target, position"):
        Recording.load(tmp_path / "r.npz", columns={"time": "t"})


def test_an_overwritten_file_leaves_no_draft(tmp_path):
    plain().save(tmp_path / "deep" / "r.npz")
    plain().save(tmp_path / "deep" / "r.npz")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["r.npz"]


def test_no_member_of_the_archive_needs_pickle(tmp_path):
    with zipfile.ZipFile(plain().save(tmp_path / "r.npz")) as archive:
        for name in archive.namelist():
            np.load(io.BytesIO(archive.read(name)), allow_pickle=False)


def test_a_robot_supplies_joints_and_gains_where_it_knows_them(tmp_path):
    robot = types.SimpleNamespace(name="dog", joints=JOINTS, stiffness=np.array([85.0, 86.0]), damping=np.array([1, 2.0]))
    bare = arrays(joints=None, stiffness=None, damping=None)
    recording = load(tmp_path, bare, robot=robot)
    assert recording.joints == JOINTS
    assert recording.stiffness.tolist() == [85.0, 86.0]
    robot.stiffness[1] = np.nan
    with pytest.raises(SurefootError, match=r"robot dog holds the stiffness of knee"):
        load(tmp_path, bare, robot=robot)
    with pytest.raises(SurefootError, match=r"'toe'; valid: hip, knee"):
        load(tmp_path, arrays(joints=np.array(["hip", "toe"]), damping=None), robot=robot)
    with pytest.raises(SurefootError, match=r"joints=\[...\] has 3"):
        load(tmp_path, bare, joints=("a", "b", "c"), robot=robot)
