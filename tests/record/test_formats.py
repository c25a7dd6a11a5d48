"""Tables of every format, each written by its own library: the same numbers arrive, or a sentence says why not."""

import json
import sys

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.record import extras
from surefoot.record.formats.registry import FORMATS, find_format
from surefoot.record.formats.words import channel_and_joint, split_unit, time_unit
from surefoot.record.recording import Recording

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import logs

GAINS = {"stiffness": 85.0, "damping": 0.6}
MOTION = logs.motion()
WRITERS = {
    "csv": logs.write_csv,
    "npz": logs.write_npz,
    "mat": logs.write_mat,
    "struct.mat": lambda path, rec: logs.write_mat(path, rec, struct=True),
    "v73.mat": logs.write_mat73,
    "h5": logs.write_hdf5,
    "parquet": logs.write_parquet,
    "pt": logs.write_pace,
}


def same(a, b, *, velocity=True):
    assert a.joints == b.joints
    for channel in ("time", "target", "position", *(("velocity",) if velocity else ())):
        np.testing.assert_array_equal(getattr(a, channel), getattr(b, channel))


@pytest.mark.parametrize("ending", WRITERS)
def test_each_format_brings_the_same_numbers_bit_for_bit(tmp_path, ending):
    path = WRITERS[ending](tmp_path / f"log.{ending}", MOTION)
    names = {"joints": MOTION.joints} if ending == "pt" else {}
    same(Recording.load(path, **names, **GAINS), MOTION)


@pytest.mark.parametrize("ending", ["mat", "v73.mat", "h5", "parquet", "npz", "pt"])
def test_a_log_that_was_cut_short_is_refused_with_a_sentence(tmp_path, ending):
    path = WRITERS[ending](tmp_path / f"log.{ending}", MOTION)
    raw = path.read_bytes()
    for share in (0.1, 0.5, 0.9):
        path.write_bytes(raw[: int(share * len(raw))])
        with pytest.raises(SurefootError, match=r"cut short|damaged|no columns|no column is named"):
            Recording.load(path, joints=MOTION.joints, **GAINS)


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_an_episode_of_a_lerobot_dataset_is_a_recording(tmp_path, version):
    folder = logs.write_lerobot(tmp_path / "pick", MOTION, version=version, episodes=3)
    with pytest.raises(SurefootError, match=r"holds 3 episodes \(0 to 2\); say which one with --episode 0"):
        Recording.load(folder, **GAINS)
    with pytest.raises(SurefootError, match=r"unknown episode of pick '7'; valid: 0, 1, 2"):
        Recording.load(folder, columns={"episode": 7}, **GAINS)
    recording = Recording.load(folder, columns={"episode": 1}, **GAINS)
    same(recording, MOTION, velocity=False)
    assert recording.name == "pick-1"


def test_a_dataset_that_contradicts_itself_is_refused(tmp_path):
    with pytest.raises(SurefootError, match="states 30 frames per second, but its stamps are 400 Hz"):
        Recording.load(logs.write_lerobot(tmp_path / "a", MOTION, fps=30), **GAINS)
    folder = logs.write_lerobot(tmp_path / "b", MOTION)
    (folder / "meta" / "info.json").write_text(json.dumps({"fps": 0, "features": {}}))
    with pytest.raises(SurefootError, match="fps = 0"):
        Recording.load(folder, **GAINS)
    (folder / "meta" / "info.json").write_text("{")
    with pytest.raises(SurefootError, match="cannot be read"):
        Recording.load(folder, **GAINS)


def test_a_map_finds_arrays_lists_and_single_columns(tmp_path):
    np.savez(tmp_path / "a.npz", when=MOTION.time, told=MOTION.target, enc=MOTION.position, kp=np.full(3, 9.0))
    where = {"time": "when", "target": "told", "position": ["enc[2]", "enc[1]", "enc[0]"], "joints": ["c", "b", "a"]}
    recording = Recording.load(tmp_path / "a.npz", columns=where, damping=1.0)
    assert recording.joints == ("c", "b", "a")
    np.testing.assert_array_equal(recording.position, MOTION.position[:, ::-1])
    assert recording.stiffness.tolist() == [9.0] * 3
    with pytest.raises(SurefootError, match=r"unknown column of a.npz 'enc\[3\]'"):
        Recording.load(tmp_path / "a.npz", columns=where | {"position": [f"enc[{k}]" for k in (1, 2, 3)]}, damping=1.0)
    with pytest.raises(SurefootError, match="unknown channel in columns 'speed'"):
        Recording.load(tmp_path / "a.npz", columns=where | {"speed": "x"}, damping=1.0)


@pytest.mark.parametrize("dtype", [np.int64, "datetime64[ns]"])
def test_nanoseconds_since_1970_lose_no_digit(tmp_path, dtype):
    """As a float, 1.7e18 ns is exact to 256 ns; counted from the first stamp as whole numbers, it is exact."""
    import pyarrow
    import pyarrow.parquet

    ns = (np.round(MOTION.time * 1e9).astype(np.int64) + logs.ROS).astype(dtype)
    content = {"timestamp_ns" if dtype is np.int64 else "timestamp": ns}
    content |= {f"{c}_{j}": getattr(MOTION, c)[:, k] for c in ("target", "position") for k, j in enumerate(MOTION.joints)}
    pyarrow.parquet.write_table(pyarrow.table(content), tmp_path / "a.parquet")
    same(Recording.load(tmp_path / "a.parquet", **GAINS), MOTION, velocity=False)


def test_units_in_a_header_are_applied_and_told(tmp_path):
    head = ["t_ms", *(f"{c}_{j} [deg]" for c in ("target", "position") for j in MOTION.joints)]
    rows = np.column_stack([MOTION.time * 1e3, np.rad2deg(MOTION.target), np.rad2deg(MOTION.position)])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header=",".join(head), comments="")
    recording = Recording.load(tmp_path / "a.csv", **GAINS)
    np.testing.assert_allclose(recording.position, MOTION.position, atol=1e-15)
    np.testing.assert_allclose(recording.time, MOTION.time, atol=1e-15)
    assert "degrees, by its name" in recording.notes["units"]
    assert "t_ms: ms" in recording.notes["units"]


def test_a_log_without_stamps_needs_its_rate_and_a_wrong_rate_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", q=MOTION.position, q_des=MOTION.target)
    with pytest.raises(SurefootError, match="--rate HZ"):
        Recording.load(tmp_path / "a.npz", joints=MOTION.joints, **GAINS)
    same(
        Recording.load(tmp_path / "a.npz", joints=MOTION.joints, columns={"rate": 400}, **GAINS),
        MOTION.replace(velocity=None),
        velocity=False,
    )
    path = logs.write_csv(tmp_path / "b.csv", logs.motion(rate=500))
    with pytest.raises(SurefootError, match=r"logged at 500 Hz, and --rate says 400 Hz. No resampling is needed"):
        Recording.load(path, columns={"rate": 400}, **GAINS)
    with pytest.raises(SurefootError, match="rate is 'fast'"):
        Recording.load(tmp_path / "a.npz", columns={"rate": "fast"}, **GAINS)


def test_matlab_rows_are_turned_and_names_in_the_file_win(tmp_path):
    from scipy.io import savemat

    content = {"t": MOTION.time, "q": MOTION.position.T, "q_des": MOTION.target.T, "names": np.array(MOTION.joints, dtype=object)}
    savemat(tmp_path / "a.mat", content)
    same(Recording.load(tmp_path / "a.mat", **GAINS), MOTION, velocity=False)


@pytest.mark.parametrize(("ending", "module"), [("parquet", "pyarrow"), ("h5", "h5py"), ("v73.mat", "h5py")])
def test_a_missing_library_is_named_with_what_to_install(tmp_path, monkeypatch, ending, module):
    path = WRITERS[ending](tmp_path / f"log.{ending}", MOTION)

    def absent(name, package=None):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(extras.importlib, "import_module", absent)
    with pytest.raises(SurefootError, match=rf'needs the library {module}, .* pip install "surefoot\[formats\]"'):
        Recording.load(path, **GAINS)


def test_every_ending_has_one_reader_and_folders_are_known_by_what_is_in_them(tmp_path):
    endings = [ending for kind in FORMATS for ending in kind.endings]
    assert len(endings) == len(set(endings))
    assert all(callable(kind.read) for kind in FORMATS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SurefootError, match=r"is a folder, not a file, and no log: expected metadata.yaml in it \(ROS 2 bag\)"):
        find_format(tmp_path / "empty")


@pytest.mark.parametrize(
    ("name", "unit"), [("t", "s"), ("time_ms", "ms"), ("Timestamp_ns", "ns"), ("t [us]", "us"), ("log.t", "s"), ("target", None)]
)
def test_times_say_their_unit(name, unit):
    assert time_unit(name) == unit


def test_words_of_columns():
    assert split_unit("q_knee [deg]") == ("q_knee", "deg")
    assert split_unit("pos[3]") == ("pos[3]", "")
    assert channel_and_joint("q_des/KNEE") == ("target", "KNEE")
    assert channel_and_joint("joint_8.0.position") == ("position", "joint_8.0")
