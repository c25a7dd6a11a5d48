"""Run equations once on symbols and keep the straight-line code they leave behind.

A :class:`Value` overloads ``+ - *`` and unary minus. Arithmetic on values is written down as LLVM vector instructions, one
lane per candidate; zeros and ones are folded away, and a term that was computed before is reused. Numbers of the robot become
:class:`Constant`: they are folded among themselves while tracing, and the ones that survive are loaded from a table at run
time. So two branches with the same zeros and ones, such as the four legs of a quadruped, leave the same code behind and
share one compiled kernel with different tables.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

Scalar: TypeAlias = "float | Value"  # what an equation may contain: a plain 0, 1, -1 or a symbol


class Value:
    """A vector of lanes, known by its name in the code."""

    __slots__ = ("name", "trace")

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name = trace, name

    def __add__(self, other: Scalar) -> Scalar:
        return self.trace.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return self.trace.sub(self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return self.trace.sub(other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        return self.trace.mul(self, other)

    __rmul__ = __mul__

    def __neg__(self) -> Scalar:
        return self.trace.mul(self, -1.0)


class Constant(Value):
    """A number of this robot: the code depends on that it is neither 0 nor 1, never on its value."""

    __slots__ = ("number",)

    def __init__(self, trace: Trace, name: str, number: float) -> None:
        super().__init__(trace, name)
        self.number = number


class Trace:
    """The code written so far: one instruction a line, in single static assignment form."""

    def __init__(self, lanes: int, dtype: str) -> None:
        self.lanes, self.scalar = lanes, dtype  # dtype: "double" or "float"
        self.type = f"<{lanes} x {dtype}>"
        self.mask = f"<{lanes} x i1>"
        self.code: list[str] = []
        self.table: list[float] = []  # numbers loaded at run time, in the order of their first use
        self.memo: dict[tuple[str, ...], Value] = {}
        self.blocks: list[dict[tuple[str, ...], Value]] = []
        self.counter = 0  # of named instructions
        self.constants = 0  # apart, so that numbers that are folded away leave no trace in the names

    # --- numbers -------------------------------------------------------------------------------------------------------
    def constant(self, number: float) -> Scalar:
        """A number of the robot; rounding noise of rotations (1e-14) is taken for the 0 or ±1 it stands for."""
        for plain in (0.0, 1.0, -1.0):
            if abs(number - plain) < 1e-14:
                return plain
        self.constants += 1
        return Constant(self, f"c{self.constants}", float(number))

    def literal(self, number: float) -> str:
        """A number that is part of the method, the same in every lane and for every robot."""
        if self.scalar == "float":
            number = struct.unpack("f", struct.pack("f", number))[0]
        word = f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
        return "<" + ", ".join([f"{self.scalar} {word}"] * self.lanes) + ">"

    def operand(self, x: Scalar) -> str:
        """How ``x`` is written as an operand; a robot's number is fetched from the table here, next to its use."""
        if isinstance(x, Constant):
            return self.load_number(x).name
        return x.name if isinstance(x, Value) else self.literal(x)

    def load_number(self, x: Constant) -> Value:
        """Fetch one number from the table and repeat it in every lane."""
        key = ("number", x.name)
        if key not in self.memo:
            self.table.append(x.number)
            self.memo[key] = self.splat(self.emit_raw(f"load {self.scalar}, ptr {self.at('%numbers', len(self.table) - 1)}"))
        return self.memo[key]

    # --- instructions --------------------------------------------------------------------------------------------------
    def emit_raw(self, instruction: str) -> str:
        """Write an instruction down and name its result."""
        self.counter += 1
        name = f"%x{self.counter}"
        self.code.append(f"  {name} = {instruction}")
        return name

    def emit(self, instruction: str) -> Value:
        """Write an instruction that yields a vector of lanes, or reuse it where it stands already."""
        key = ("code", instruction)
        if key not in self.memo:
            self.memo[key] = Value(self, self.emit_raw(instruction))
        return self.memo[key]

    def do(self, instruction: str) -> None:
        """Write an instruction that has no result."""
        self.code.append(f"  {instruction}")

    def at(self, pointer: str, index: int | str, kind: str | None = None) -> str:
        """The address of an element."""
        return self.emit_raw(f"getelementptr {kind or self.scalar}, ptr {pointer}, i64 {index}")

    def splat(self, scalar: str) -> Value:
        """Repeat a scalar in every lane."""
        one = self.emit_raw(f"insertelement {self.type} poison, {self.scalar} {scalar}, i64 0")
        return Value(
            self, self.emit_raw(f"shufflevector {self.type} {one}, {self.type} poison, <{self.lanes} x i32> zeroinitializer")
        )

    def load_row(self, pointer: str, row: int | str) -> Value:
        """One vector from an array of rows of lanes."""
        return Value(self, self.emit_raw(f"load {self.type}, ptr {self.at(pointer, row, self.type)}, align 8"))

    def store_row(self, x: Scalar, pointer: str, row: int | str) -> None:
        """One vector into an array of rows of lanes."""
        where = self.at(pointer, row, self.type)
        self.do(f"store {self.type} {self.operand(x)}, ptr {where}, align 8")

    def load_scalar(self, pointer: str, index: int | str) -> Value:
        """One number that is the same in every lane."""
        return self.splat(self.emit_raw(f"load {self.scalar}, ptr {self.at(pointer, index)}"))

    def label(self, name: str) -> None:
        """Start a basic block. What was computed in blocks that need not have run is forgotten: call :meth:`enter`."""
        self.code.append(f"{name}:")

    def enter(self) -> None:
        """Remember what is known now; :meth:`leave` forgets what a conditional block adds."""
        self.blocks.append(dict(self.memo))

    def leave(self) -> None:
        """Forget what was computed since :meth:`enter`: it does not dominate what follows."""
        self.memo = self.blocks.pop()

    # --- arithmetic, with zeros and ones folded --------------------------------------------------------------------------
    def _fold(self, kind: str, a: Scalar, b: Scalar, number: float) -> Scalar:
        """Arithmetic among numbers of the robot happens now; the result is a number of the robot, once per pair."""
        key = (kind, a.name if isinstance(a, Value) else repr(a), b.name if isinstance(b, Value) else repr(b))
        if key not in self.memo:
            self.constants += 1
            self.memo[key] = Constant(self, f"c{self.constants}", number)
        return self.memo[key]

    def _binary(self, kind: str, a: Scalar, b: Scalar) -> Value:
        x, y = self.operand(a), self.operand(b)
        if kind != "fsub" and y < x:
            x, y = y, x
        return self.emit(f"{kind} contract {self.type} {x}, {y}")

    def add(self, a: Scalar, b: Scalar) -> Scalar:
        """a + b."""
        if not isinstance(a, Value):
            a, b = b, a
        if not isinstance(b, Value):
            if b == 0:
                return a
            if not isinstance(a, Value):
                return a + b
        if isinstance(a, Constant) and (isinstance(b, Constant) or not isinstance(b, Value)):
            return self._fold("+", a, b, a.number + (b.number if isinstance(b, Constant) else b))
        return self._binary("fadd", a, b)

    def sub(self, a: Scalar, b: Scalar) -> Scalar:
        """a - b."""
        if not isinstance(b, Value):
            return self.add(a, -b)
        if isinstance(b, Constant) and (isinstance(a, Constant) or not isinstance(a, Value)):
            return self._fold("-", a, b, (a.number if isinstance(a, Constant) else a) - b.number)
        if not isinstance(a, Value) and a == 0:
            return self.mul(b, -1.0)
        return self._binary("fsub", a, b)

    def mul(self, a: Scalar, b: Scalar) -> Scalar:
        """a b."""
        if not isinstance(a, Value):
            a, b = b, a
        if not isinstance(b, Value):
            if b == 0:
                return 0.0
            if b == 1:
                return a
            if not isinstance(a, Value):
                return a * b
            if b == -1 and not isinstance(a, Constant):
                return self.emit(f"fneg {self.type} {a.name}")
        if isinstance(a, Constant) and (isinstance(b, Constant) or not isinstance(b, Value)):
            return self._fold("*", a, b, a.number * (b.number if isinstance(b, Constant) else b))
        return self._binary("fmul", a, b)

    # --- lane-wise functions ---------------------------------------------------------------------------------------------
    def div(self, a: Scalar, b: Scalar) -> Scalar:
        """a / b."""
        if isinstance(a, Constant) and isinstance(b, Constant):
            return self._fold("/", a, b, a.number / b.number)
        return self.emit(f"fdiv {self.type} {self.operand(a)}, {self.operand(b)}")

    def call(self, name: str, *xs: Scalar) -> Value:
        """An LLVM intrinsic on whole vectors: minnum, maxnum, fabs, rint."""
        suffix = f"v{self.lanes}f{64 if self.scalar == 'double' else 32}"
        arguments = ", ".join(f"{self.type} {self.operand(x)}" for x in xs)
        return self.emit(f"call {self.type} @llvm.{name}.{suffix}({arguments})")

    def less(self, a: Scalar, b: Scalar, *, kind: str = "olt") -> str:
        """A mask of the lanes where a < b (or another ordered comparison)."""
        return self.emit(f"fcmp {kind} {self.type} {self.operand(a)}, {self.operand(b)}").name

    def select(self, mask: str, a: Scalar, b: Scalar) -> Value:
        """a where the mask is set, else b."""
        return self.emit(f"select {self.mask} {mask}, {self.type} {self.operand(a)}, {self.type} {self.operand(b)}")

    def logic(self, kind: str, a: str, b: str) -> str:
        """and, or, xor of two masks."""
        return self.emit(f"{kind} {self.mask} {a}, {b}").name

    def any(self, mask: str) -> str:
        """True where at least one lane is set (a scalar i1)."""
        return self.emit(f"call i1 @llvm.vector.reduce.or.v{self.lanes}i1({self.mask} {mask})").name
