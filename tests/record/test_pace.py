"""The PACE authors' .pt, made here byte by byte: read without torch, and never a way to run code."""

import contextlib
import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.record.recording import Recording

CODES = {"FloatStorage": "f4", "DoubleStorage": "f8", "HalfStorage": "f2", "LongStorage": "i8"}
TIME = np.arange(50) / 100.0
VALUES = np.arange(150.0).reshape(50, 3) / 7.0
GAINS = {"joints": ("a", "b", "c"), "stiffness": 85.0, "damping": 0.6}


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def integers(*values):
    return b"(" + b"".join(b"J" + struct.pack("<i", value) for value in values) + b"t"


def tensor(key, kind, numel, size, stride, offset=0):
    """The opcodes that torch.save writes for one tensor: rebuild, persistent id, offset, size, stride, REDUCE."""
    pid = b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu") + integers(numel)[1:] + b"Q"
    rest = b"J" + struct.pack("<i", offset) + integers(*size) + integers(*stride) + b"\x89" + b"ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + pid + rest + b"tR"


def pickled(**tensors):
    return b"\x80\x02}(" + b"".join(text(key) + body for key, body in tensors.items()) + b"u."


def write(path, description, storages, order="little", root="chirp"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{root}/data.pkl", description)
        archive.writestr(f"{root}/byteorder", order)
        for key, raw in storages.items():
            archive.writestr(f"{root}/data/{key}", raw)
    return path


def chirp(path, kind="DoubleStorage", order="little", **extra):
    code = ("<" if order == "little" else ">") + CODES[kind]
    description = pickled(
        time=tensor("0", kind, 50, (50,), (1,)),
        des_dof_pos=tensor("1", kind, 150, (50, 3), (3, 1)),
        dof_pos=tensor("2", kind, 150, (50, 3), (1, 50)),  # stored transposed
        **extra,
    )
    raw = {"0": np.arange(50.0), "1": VALUES, "2": VALUES.T}
    return write(path, description, {key: np.ascontiguousarray(x).astype(code).tobytes() for key, x in raw.items()}, order)


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("order", ["little", "big"])
def test_every_number_type_and_byte_order_is_read(tmp_path, kind, order):
    recording = Recording.load(chirp(tmp_path / "chirp.pt", kind, order), **GAINS)
    stored = VALUES.astype(CODES[kind]).astype(float)
    assert np.array_equal(recording.time, np.arange(50))
    assert np.array_equal(recording.target, stored)
    assert np.array_equal(recording.position, stored)
    assert recording.joints == ("a", "b", "c")
    assert recording.stiffness.tolist() == [85.0] * 3


def test_names_and_gains_have_to_be_passed(tmp_path):
    path = chirp(tmp_path / "chirp.pt")
    with pytest.raises(SurefootError, match=r"3 joints without names.*joints=\[...\]"):
        Recording.load(path)
    with pytest.raises(SurefootError, match=r"2 .hip, knee."):
        Recording.load(path, joints=("hip", "knee"))
    with pytest.raises(SurefootError, match=r"holds no stiffness. Pass the P .* stiffness=85.0"):
        Recording.load(path, joints=("a", "b", "c"))


def test_unused_tensors_are_listed_in_the_notes(tmp_path):
    path = chirp(tmp_path / "chirp.pt", temperature=tensor("0", "DoubleStorage", 50, (50,), (1,)))
    assert Recording.load(path, **GAINS).notes["unused"] == "temperature"


@pytest.mark.parametrize(
    "description",
    [
        b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR.",
        b"\x80\x02cbuiltins\neval\n(X\x03\x00\x00\x001+1tR.",
        b"\x80\x02ctorch._utils\n_rebuild_parameter\n.",
        b"\x80\x02ctorch\nload\n.",
        b"\x80\x02cnumpy\nload\n.",
        b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94.",
    ],
)
def test_a_pickle_that_asks_for_anything_else_is_refused(tmp_path, description):
    with pytest.raises(SurefootError, match=r"asks to run .* was not run"):
        Recording.load(write(tmp_path / "evil.pt", description, {}), **GAINS)


def test_a_real_attack_leaves_no_trace(tmp_path):
    class Attack:
        def __reduce__(self):
            return open, (str(tmp_path / "ran"), "w")

    for protocol in range(6):
        path = write(tmp_path / "evil.pt", pickle.dumps({"time": Attack()}, protocol=protocol), {})
        with pytest.raises(SurefootError, match=r"was not run"):
            Recording.load(path, **GAINS)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (tensor("0", "DoubleStorage", 50, (51,), (1,)), "needs 51 numbers"),
        (tensor("0", "DoubleStorage", 50, (50,), (2,)), "needs 99 numbers"),
        (tensor("0", "DoubleStorage", 50, (50,), (1,), offset=1), "needs 51 numbers"),
        (tensor("0", "DoubleStorage", 50, (50,), (1,), offset=-1), "impossible shape"),
        (tensor("0", "DoubleStorage", 50, (2, 25), (1,)), "impossible shape"),
        (tensor("0", "DoubleStorage", 49, (49,), (1,)), "400 bytes for 49 numbers"),
        (tensor("9", "DoubleStorage", 50, (50,), (1,)), "damaged"),
        (b"ctorch\nDoubleStorage\n)R", "not callable"),
    ],
)
def test_a_tensor_that_reaches_outside_its_storage_is_refused(tmp_path, body, words):
    path = write(tmp_path / "bad.pt", pickled(time=body), {"0": TIME.tobytes()})
    with pytest.raises(SurefootError, match=words):
        Recording.load(path, **GAINS)


def test_other_content_is_refused_with_a_sentence(tmp_path):
    numbers = tensor("0", "DoubleStorage", 50, (50,), (1,))
    cases = [
        (pickled(time=numbers), "no tensor des_dof_pos, dof_pos; it holds time"),
        (pickle.dumps([1, 2], protocol=2), "holds a list"),
        (pickled(time=b"K\x01", des_dof_pos=numbers, dof_pos=numbers), "no tensor time"),
        (pickled(time=numbers, des_dof_pos=numbers, dof_pos=numbers), r"target has shape \(50,\); expected \(50, 1\)"),
    ]
    for description, words in cases:
        path = write(tmp_path / "bad.pt", description, {"0": TIME.tobytes()})
        with pytest.raises(SurefootError, match=words):
            Recording.load(path, joints=("a",), stiffness=1.0, damping=1.0)
    (tmp_path / "old.pt").write_bytes(pickle.dumps({"time": 1}))
    with pytest.raises(SurefootError, match=r"torch older than 1.6"):
        Recording.load(tmp_path / "old.pt", **GAINS)
    with zipfile.ZipFile(tmp_path / "empty.pt", "w") as archive:
        archive.writestr("x", "y")
    with pytest.raises(SurefootError, match=r"without data.pkl"):
        Recording.load(tmp_path / "empty.pt", **GAINS)


@given(st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_pickle_never_becomes_a_traceback(tmp_path, data):
    stream = io.BytesIO()
    chirp(stream)
    with zipfile.ZipFile(stream) as archive:
        description = bytearray(archive.read("chirp/data.pkl"))
        storages = {key: archive.read(f"chirp/data/{key}") for key in "012"}
    for place in data.draw(st.lists(st.integers(0, len(description) - 1), min_size=1, max_size=4)):
        description[place] = data.draw(st.integers(0, 255))
    path = write(tmp_path / "bad.pt", bytes(description), storages)
    with contextlib.suppress(SurefootError):  # any other exception fails the test
        Recording.load(path, **GAINS)


@given(st.data())
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_truncated_file_is_refused(tmp_path, data):
    raw = chirp(tmp_path / "chirp.pt").read_bytes()
    (tmp_path / "cut.pt").write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    with pytest.raises(SurefootError, match=r"cut.pt"):
        Recording.load(tmp_path / "cut.pt", **GAINS)
