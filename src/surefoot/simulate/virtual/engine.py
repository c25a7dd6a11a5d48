"""The drive's equations as machine code: a few hundred nanoseconds for one electrical step of a quadruped."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from surefoot.simulate.compiler import Compiled
from surefoot.simulate.kernel import intrinsics, sine_cosine
from surefoot.simulate.trace import Trace
from surefoot.simulate.virtual.motor import INPUTS, NUMBERS, PARTS, STATE, SUMS, lines, step

Array = np.ndarray
Engine = Literal["kernel", "numpy"]
_CALL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)


class _Symbols:
    """The arithmetic of traced values."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def divide(self, a: Any, b: Any) -> Any:
        return self.trace.div(a, b)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        return self.trace.call("maxnum", self.trace.call("minnum", x, high), low)

    def absolute(self, x: Any) -> Any:
        return self.trace.call("fabs", x)

    def nearest(self, x: Any) -> Any:
        return self.trace.call("rint", x)

    def sine(self, x: Any) -> Any:
        return sine_cosine(self.trace, x)[0]


class _Rows:
    """Rows of an array by name, loaded where they are used."""

    def __init__(self, trace: Trace, pointer: str, names: tuple[str, ...]) -> None:
        self.trace, self.pointer, self.names = trace, pointer, names
        self.loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.loaded:
            self.loaded[name] = self.trace.load_row(self.pointer, self.names.index(name))
        return self.loaded[name]


def source(lanes: int, h: float, dead_steps: int) -> str:
    """The LLVM function `step(parts, inputs, state, sums, steps)`; each array has one row of lanes, a joint each, per name."""
    t = Trace(lanes, "double")
    names = (*STATE, *lines(dead_steps))
    state = _Rows(t, "%state", names)
    new, sums = step(_Symbols(t), _Rows(t, "%parts", PARTS), _Rows(t, "%inputs", INPUTS), _all(state, names), h, dead_steps)
    for k, name in enumerate(SUMS):
        t.store_row(t.load_row("%sums", k) + sums[name], "%sums", k)
    for k, name in enumerate(names):
        t.store_row(new[name], "%state", k)
    head = "define void @step(ptr noalias %parts, ptr noalias %inputs, ptr noalias %state, ptr noalias %sums, i64 %steps) {"
    loop = ["entry:", "  br label %loop", "loop:", "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    tail = ["  %next = add i64 %i, 1", "  %more = icmp slt i64 %next, %steps", "  br i1 %more, label %loop, label %done",
            "done:", "  ret void", "}"]  # fmt: skip
    return "\n".join([intrinsics(lanes, "double"), head, *loop, *t.code, *tail])


def _all(rows: _Rows, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: rows[name] for name in names}


@lru_cache(maxsize=32)
def _kernel(lanes: int, h: float, dead_steps: int) -> tuple[Compiled, Any]:
    code = Compiled(source(lanes, h, dead_steps))
    return code, _CALL(code.address)


class Block:
    """Arrays of named rows and the program that advances them."""

    def __init__(self, joints: int, h: float, dead_steps: int, engine: Engine = "kernel") -> None:
        self.h, self.dead_steps = h, dead_steps
        self.names = (*STATE, *lines(dead_steps))
        self.joints, lanes = joints, 1 << (joints - 1).bit_length()  # LLVM lays vectors out in powers of two
        self.parts, self.inputs, self.state, self.sums = (
            np.zeros((len(names), lanes)) for names in (PARTS, INPUTS, self.names, SUMS)
        )
        self.inputs[INPUTS.index("inertia")] = 1.0  # the lanes that are no joint divide by it too
        self._code, self._call = _kernel(lanes, h, dead_steps) if engine == "kernel" else (None, None)
        self._addresses = [array.ctypes.data for array in (self.parts, self.inputs, self.state, self.sums)]

    def part(self, name: str) -> Array:
        """A row of constants, shape (n,); writing to it changes the drive."""
        return self.parts[PARTS.index(name), : self.joints]

    def input(self, name: str) -> Array:
        """A row of inputs."""
        return self.inputs[INPUTS.index(name), : self.joints]

    def now(self, name: str) -> Array:
        """A row of the state."""
        return self.state[self.names.index(name), : self.joints]

    def total(self, name: str) -> Array:
        """A row of the sums over the steps of the last call."""
        return self.sums[SUMS.index(name), : self.joints]

    def advance(self, steps: int) -> None:
        """So many electrical steps with the inputs as they are."""
        self.sums[:] = 0.0
        if self._call is not None:
            self._call(*self._addresses, steps)
            return
        parts, inputs = dict(zip(PARTS, self.parts, strict=True)), dict(zip(INPUTS, self.inputs, strict=True))
        for _ in range(steps):
            before = dict(zip(self.names, self.state.copy(), strict=True))
            after, sums = step(NUMBERS, parts, inputs, before, self.h, self.dead_steps)
            self.state[:] = [after[name] for name in self.names]
            self.sums += np.array([sums[name] for name in SUMS])
