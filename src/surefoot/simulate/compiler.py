"""Kernel source to machine code, once per machine: compiled objects are kept on disk and loaded in milliseconds."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

CHECKSUM = 32  # bytes of SHA-256 in front of the machine code in a cached file
POINTERS, INTEGERS, NUMBERS = 17, 5, 1  # the kernel's arguments, in this order
SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * POINTERS, *[ctypes.c_int64] * INTEGERS, *[ctypes.c_double] * NUMBERS)


def cache_folder() -> Path:
    """Where compiled kernels are kept: $SUREFOOT_CACHE, or surefoot/ in the user's cache folder."""
    root = os.environ.get("SUREFOOT_CACHE")
    return Path(root) if root else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "surefoot"


@lru_cache(maxsize=1)
def _start() -> str:
    """Switch LLVM on for this machine; a text that changes when compiled code would."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return (
        f"{llvmlite.__version__} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    )


def _machine() -> Any:
    """The machine at hand as LLVM's target; an engine takes its own away."""
    import llvmlite.binding as llvm

    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(cpu=cpu, features=features, opt=2, jit=True)


def lanes_for(dtype: str) -> int:
    """Lanes that one vector register of this machine holds."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    wide = 64 if features.get("avx512f") and features.get("avx512dq") else 32
    return wide // (8 if dtype == "double" else 4)


class Compiled:
    """A kernel that can be called; the machine code lives as long as this object does."""

    def __init__(self, text: str) -> None:
        import llvmlite.binding as llvm

        digest = hashlib.sha256(f"{_start()}\n{text}".encode()).hexdigest()[:32]
        path = cache_folder() / f"{digest}.o"
        code = _kept(path)
        self.cached = code is not None
        if code is None:
            code = _compile(text)
            _keep(path, code)
        self._load(llvm, code)

    def _load(self, llvm: Any, code: bytes) -> None:
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        address = self._engine.get_function_address("step")
        if not address:
            raise RuntimeError("no such function")
        self.address = address
        self.call = SIGNATURE(address)


def _compile(text: str) -> bytes:
    import llvmlite.binding as llvm

    machine, module = _machine(), llvm.parse_assembly(text)
    module.triple = machine.triple
    module.verify()
    return machine.emit_object(module)


def _kept(path: Path) -> bytes | None:
    """The kernel in the cache.

    None if there is none, or if its checksum says that the file is damaged (loading it would crash).
    """
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, code = content[:CHECKSUM], content[CHECKSUM:]
    return code if hashlib.sha256(code).digest() == checksum else None


def _keep(path: Path, code: bytes) -> None:
    """Store a compiled kernel behind its checksum; a cache that cannot be written to is no reason to stop."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)


@lru_cache(maxsize=256)
def compiled(text: str) -> Compiled:
    """The kernel of this source: from memory, from disk, or compiled now."""
    return Compiled(text)


def probe() -> None:
    """Compile and load a function that does nothing, in milliseconds: an error where this machine cannot."""
    compiled("define void @step() {\n  ret void\n}")
