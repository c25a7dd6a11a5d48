"""The PACE authors' chirp files (`torch.save` of time, des_dof_pos, dof_pos), read without torch.

Such a .pt is a zip archive: `NAME/data.pkl` is a pickle that describes the tensors, `NAME/data/0` ... are their raw
numbers. A pickle can call any function, so this one goes through an unpickler that resolves three kinds of names only:
`torch._utils._rebuild_tensor_v2` (replaced by `_rebuild`, a bounds-checked view of the raw numbers), the storage types
(replaced by a NumPy type), and `collections.OrderedDict`. Any other name is refused before anything is called.
"""

from __future__ import annotations

import collections
import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.record.formats.request import Request

KEYS = {
    "time": "time",
    "des_dof_pos": "target",
    "dof_pos": "position",
    "des_dof_vel": "target_velocity",
    "dof_vel": "velocity",
}
STORAGES = {
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}
LARGEST_PICKLE = 1 << 20  # bytes; the description of three tensors takes 300


class _Storage:
    """Stands where torch names a storage type; it cannot be called."""

    def __init__(self, code: str) -> None:
        self.code = code


class _Refused(pickle.UnpicklingError):
    """The pickle asked for a function that rebuilds no tensor."""


class _TensorUnpickler(pickle.Unpickler):
    """Plain containers, numbers, text and tensors, and nothing else."""

    def __init__(self, archive: zipfile.ZipFile, root: str, order: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{root}data.pkl")), encoding="utf-8")
        self.archive, self.root, self.order = archive, root, order

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """The allowed names; everything else in the world is refused."""
        if (module_name, global_name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module_name == "torch" and global_name in STORAGES:
            return _Storage(STORAGES[global_name])
        if (module_name, global_name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        raise _Refused(f"{module_name}.{global_name}")

    def persistent_load(self, pid: Any) -> NDArray[Any]:
        """The raw numbers that ("storage", type, key, device, count) points at, shape (count,)."""
        kind, storage, key, _, count = pid
        if kind != "storage" or not isinstance(storage, _Storage):
            raise pickle.UnpicklingError("a reference that is no tensor storage")
        dtype = np.dtype(self.order + storage.code)
        info = self.archive.getinfo(f"{self.root}data/{key}")
        if info.file_size != count * dtype.itemsize:
            raise pickle.UnpicklingError(f"storage {key} holds {info.file_size} bytes for {count} numbers")
        return np.frombuffer(self.archive.read(info), dtype)


def _rebuild(storage: NDArray[Any], offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> NDArray[Any]:
    """The tensor as an array: a strided view that must lie inside its storage."""
    if not isinstance(storage, np.ndarray) or len(size) != len(stride) or min((offset, *size, *stride)) < 0:
        raise pickle.UnpicklingError("a tensor of impossible shape")
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 not in size and last >= len(storage):
        raise pickle.UnpicklingError(f"a tensor of shape {size} needs {last + 1} numbers; its storage has {len(storage)}")
    if 0 in size:
        return np.empty(size, storage.dtype)
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, steps).copy()


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` in the file; it has no joint names and no gains."""
    request.allow(("rate",))
    path = request.path
    content = _content(path)
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise SurefootError(f"{path.name} holds a {type(content).__name__}; expected {{time, des_dof_pos, dof_pos}}.")
    if missing := [key for key in ("time", "des_dof_pos", "dof_pos") if not isinstance(content.get(key), np.ndarray)]:
        raise SurefootError(
            f"{path.name} has no tensor {', '.join(missing)}; it holds {', '.join(content) or 'nothing'}. Expected "
            "torch.save({'time': ..., 'des_dof_pos': ..., 'dof_pos': ...})."
        )
    fields: dict[str, Any] = {KEYS[key]: value for key, value in content.items() if key in KEYS and isinstance(value, np.ndarray)}
    fields["time"] = fields["time"].reshape(-1)
    fields["notes"] = {"source": f"PACE chirp file {path.name}"}
    if unused := [key for key in content if KEYS.get(key) not in fields]:
        fields["notes"]["unused"] = ", ".join(unused)
    return fields


def _content(path: Path) -> Any:
    """What `torch.save` was given, with arrays for tensors; whatever is wrong with the bytes becomes one sentence."""
    if not zipfile.is_zipfile(path):
        raise SurefootError(
            f"{path.name} is not a complete zip archive: it was cut short, or torch older than 1.6 wrote it. Copy it "
            "again, or save it again with a newer torch."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            root = next(name for name in names if name.endswith("data.pkl") and name.count("/") <= 1)[: -len("data.pkl")]
            if archive.getinfo(f"{root}data.pkl").file_size > LARGEST_PICKLE:
                raise pickle.UnpicklingError("the description of the tensors is longer than 1 MB")
            big = f"{root}byteorder" in names and archive.read(f"{root}byteorder").strip() == b"big"
            return _TensorUnpickler(archive, root, ">" if big else "<").load()
    except StopIteration:
        raise SurefootError(f"{path.name} is a zip archive without data.pkl; torch.save did not write it.") from None
    except _Refused as error:
        raise SurefootError(
            f"{path.name} asks to run {error}, which no recording needs; it was not run. Do not trust it; if you "
            "made it, save plain tensors: torch.save({'time': ..., 'des_dof_pos': ..., 'dof_pos': ...})."
        ) from error
    except Exception as error:  # a damaged pickle can raise anything
        raise SurefootError(f"{path.name} is damaged ({type(error).__name__}: {error}). Copy it again.") from error
