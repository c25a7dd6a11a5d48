"""The in-air step of one branch as an LLVM function: a block of lanes, one candidate a lane, through a whole recording.

One step equals MuJoCo's `implicitfast` step of a fixed-base model without contact:

    M = CRBA(q) + diag(I_a)
    f = τ_drive − d q̇ − spring − RNEA(q, q̇)
    friction and limits: g minimises MuJoCo's dual, |g| ≤ τ_f     (section `constraints`)
    q̇⁺ = q̇ + h (M + h diag(d + D_active))⁻¹ (f + g),   q⁺ = q + h q̇⁺

Memory is laid out in rows of lanes; `inair` fills it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.simulate.constraints import solve_constraints
from surefoot.simulate.features import Features
from surefoot.simulate.rigid_body import equations, vector
from surefoot.simulate.sampler import CHUNK, sampler
from surefoot.simulate.sparse import factorise, solve
from surefoot.simulate.trace import Trace, Value
from surefoot.simulate.tree import Branch

ARGUMENTS = (
    "ptr %numbers, ptr %gains, ptr %lanes, ptr %delays, ptr %state, ptr %command_time, ptr %command, ptr %plant, "
    "ptr %first, ptr %fraction, ptr %measured, ptr %out, ptr %torque_out, ptr %counts, ptr %history, "
    "ptr %command_short, ptr %parts, i64 %steps, i64 %history_rows, i64 %whole, i64 %last_command, i64 %blocks, "
    "double %h"
)


@dataclass(frozen=True)
class KernelSource:
    """The program of one branch and the numbers it is run with."""

    text: str
    numbers: np.ndarray


def state_rows(features: Features) -> int:
    """Rows of the state: q, q̇ and the friction state, then the filtered velocity, then the running sum of squared errors."""
    n = len(features.free)
    return n * (3 + features.cutoff + (features.output == "score"))


def build(branch: Branch, features: Features, *, lanes: int, dtype: str, gravity: np.ndarray) -> KernelSource:
    """Trace the step of a branch and write the function around it."""
    trace = Trace(lanes, dtype)
    step = Step(trace, branch, features, gravity)
    step.write()
    words = {"T": trace.type, "scalar": dtype, "lanes": lanes}
    n, columns = len(features.free), features.command_columns
    scratch = max(1, CHUNK * n * columns)
    text = "\n".join(
        [
            intrinsics(lanes, dtype),
            f"define void @step({ARGUMENTS}) #0 {{",
            "entry:",
            f"  %scratch = alloca [{scratch} x {trace.type}], align 64",
            f"  %pointer = alloca [{lanes * max(n, 1)} x i64], align 64",
            "  br label %reset",
            *sampler(features, **words),
            *trace.code,
            "}",
            'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }',
        ]
    )
    return KernelSource(text=text, numbers=np.array(trace.table or [0.0]))


def intrinsics(lanes: int, dtype: str) -> str:
    """Declarations of the LLVM functions that traced code may call."""
    kind, suffix = f"<{lanes} x {dtype}>", f"v{lanes}f{64 if dtype == 'double' else 32}"
    lines = [f"declare {kind} @llvm.{name}.{suffix}({kind})" for name in ("fabs", "rint")]
    lines += [f"declare {kind} @llvm.{name}.{suffix}({kind}, {kind})" for name in ("minnum", "maxnum")]
    lines += ["declare i64 @llvm.smax.i64(i64, i64)", "declare i64 @llvm.smin.i64(i64, i64)"]
    lines += [f"declare i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>)"]
    lines += ["declare double @llvm.minnum.f64(double, double)", "declare double @llvm.maxnum.f64(double, double)"]
    return "\n".join(lines)


def sine_cosine(t: Trace, x: Any) -> tuple[Any, Any]:
    """Sine and cosine: reduced to a quarter turn around the nearest multiple of π/2, then their Taylor series."""
    double = t.scalar == "double"
    turns = t.call("rint", x * (2 / math.pi))
    high = float(np.float32(math.pi / 2)) if double else 1.5703125  # few bits: `turns * high` is exact
    y = (x - turns * high) - turns * (math.pi / 2 - high)
    if double:
        y = y - turns * 6.123233995736766e-17  # what π/2 has beyond 53 bits
    z = y * y
    sine = y * _series(z, [(-1) ** k / math.factorial(2 * k + 1) for k in range(8 if double else 5)])
    cosine = _series(z, [(-1) ** k / math.factorial(2 * k) for k in range(9 if double else 6)])
    quarter = t.emit(f"fptosi {t.type} {turns.name} to <{t.lanes} x i32>").name
    odd, half = (_bit(t, quarter, bit) for bit in (1, 2))
    s, c = t.select(odd, cosine, sine), t.select(odd, sine, cosine)
    return t.select(half, -s, s), t.select(t.logic("xor", odd, half), -c, c)


def _series(z: Any, coefficients: list[float]) -> Any:
    total: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * z + c
    return total


def _bit(t: Trace, integer: str, bit: int) -> str:
    many = "<" + ", ".join([f"i32 {bit}"] * t.lanes) + ">"
    masked = t.emit(f"and <{t.lanes} x i32> {integer}, {many}").name
    return t.emit(f"icmp ne <{t.lanes} x i32> {masked}, zeroinitializer").name


class Step:
    """One physics step on symbols, in the order of the docstring above."""

    def __init__(self, trace: Trace, branch: Branch, features: Features, gravity: np.ndarray) -> None:
        self.t, self.branch, self.has, self.gravity = trace, branch, features, gravity
        self.n = len(features.free)
        self.gain_at, _ = features.gain_layout()
        h = trace.emit_raw(f"fptrunc double %h to {trace.scalar}") if trace.scalar == "float" else "%h"
        self.h = trace.splat(h)

    # --- what each lane is made of --------------------------------------------------------------------------------------
    def lane(self, name: str, k: int) -> Value:
        """A parameter of free joint k."""
        return self.t.load_row("%lanes", self.has.lane_rows.index(name) * self.n + k)

    def shared(self, name: str) -> Value:
        """A parameter that the joints of a lane share."""
        return self.t.load_row("%lanes", len(self.has.lane_rows) * self.n + self.has.shared_rows.index(name))

    def gain(self, name: str, joint: int) -> Value:
        """A known number of the drive, the same in every lane."""
        return self.t.load_scalar("%gains", self.gain_at[name, joint])

    def known(self, column: str | int) -> Value:
        """What is prescribed at this physics step, the same in every lane."""
        return self.t.load_scalar("%plant_row", column)

    def write(self) -> None:
        """The whole step, from the state's rows to the state's rows."""
        t, has, free = self.t, self.has, self.has.free
        row = t.emit_raw(f"mul i64 %i, {max(1, has.plant_columns)}")
        t.do(f"%plant_row = getelementptr {t.scalar}, ptr %plant, i64 {row}")
        q, v, a = self.motion()
        self.q = [q[i] for i in free]
        self.v = [v[i] for i in free]
        self.armature, self.damping, self.friction, self.bias, self.effective = (
            [self.lane(name, k) for k in range(self.n)] for name in ("armature", "damping", "friction", "bias", "effective")
        )
        torque, derivative = self.drive()
        bias_force, mass = self.dynamics(q, v, a)
        rank = {joint: k for k, joint in enumerate(free)}
        inertia = {(rank[i], rank[j]): m for (i, j), m in mass.items() if i in rank and j in rank}
        for k in range(self.n):
            inertia[k, k] = inertia[k, k] + self.armature[k]
        force = [
            torque[k] - self.damping[k] * self.v[k] - bias_force[free[k]] - self.spring(k) + self.load(k) for k in range(self.n)
        ]
        links, friction = [self.branch.links[i] for i in free], self.friction_now(torque)
        held = solve_constraints(t, links, inertia, force, self.q, self.v, self.effective, friction, has)
        implicit = dict(inertia)
        for k in range(self.n):
            implicit[k, k] = implicit[k, k] + self.h * (self.damping[k] + derivative[k])
        acceleration = solve(factorise(t, implicit, self.n), [f + g for f, g in zip(force, held, strict=True)])
        new_v = [self.v[k] + self.h * acceleration[k] for k in range(self.n)]
        self.outputs(torque, new_v)
        for k in range(self.n):
            t.store_row(self.q[k] + self.h * new_v[k], "%state", k)
            t.store_row(new_v[k], "%state", self.n + k)
        t.do("br label %next_step")

    def motion(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Positions, velocities and prescribed accelerations of all joints of the branch."""
        q, v, a, k, column = [], [], [], 0, 0
        for given in self.has.prescribed:
            if given:
                rows = [self.known(column + i) for i in range(3)]
                column += 3
            else:
                rows = [self.t.load_row("%state", k), self.t.load_row("%state", self.n + k), 0.0]
                k += 1
            for values, value in zip((q, v, a), rows, strict=True):
                values.append(value)
        return q, v, a

    def dynamics(self, q: list[Any], v: list[Any], a: list[Any]) -> tuple[Any, dict[tuple[int, int], Any]]:
        """Bias forces and mass matrix, by the equations of `rigid_body`."""
        t = self.t
        sine, cosine = vector([0.0] * len(q)), vector([1.0] * len(q))
        for i, link in enumerate(self.branch.links):
            if link.hinge:
                sine[i], cosine[i] = sine_cosine(t, q[i] - t.constant(link.reference))
        gravity = [self.shared(f"gravity_{x}") for x in "xyz"] if self.has.tilt else [t.constant(x) for x in self.gravity]
        return equations(self.branch, vector(q), vector(v), sine, cosine, vector(gravity), t.constant, vector(a))

    def spring(self, k: int) -> Any:
        """A passive spring in the joint."""
        link = self.branch.links[self.has.free[k]]
        stiffness = self.t.constant(link.spring)
        return stiffness * (self.q[k] - self.t.constant(link.rest)) if link.spring else 0.0

    def load(self, k: int) -> Any:
        """A constant load torque."""
        return self.lane("load", k) if self.has.load else 0.0

    def friction_now(self, torque: list[Any]) -> list[Any]:
        """Coulomb friction, with its growth by load, μ |τ|, and its Stribeck rise, τ_s / (1 + (q̇/v_s)²), where asked for."""
        t, friction = self.t, list(self.friction)
        if self.has.load_friction:
            friction = [f + self.lane("load_friction", k) * t.call("fabs", torque[k]) for k, f in enumerate(friction)]
        if self.has.breakaway:
            speed = [v * self.shared("inverse_stribeck") for v in self.v]
            friction = [f + t.div(self.lane("breakaway", k), speed[k] * speed[k] + 1.0) for k, f in enumerate(friction)]
        return friction

    # --- the drive: equal to robot.drive.drive_torque ---------------------------------------------------------------------
    def command(self, k: int, column: int) -> Value:
        """The delayed command of free joint k, sampled for this chunk of steps."""
        width = self.n * self.has.command_columns
        row = self.t.emit(f"mul i64 %in_chunk, {width}").name
        row = self.t.emit(f"add i64 {row}, {k * self.has.command_columns + column}").name
        return self.t.load_row("%scratch", row)

    def drive(self) -> tuple[list[Any], list[Any]]:
        """Torque of each drive and the part of its velocity gain that acts (none where the torque is clamped)."""
        has = self.has
        scale = self.shared("gain_scale") if has.gain_scale else 1.0
        torques, derivatives = [], []
        for k, joint in enumerate(has.free):
            p, d = self.gain("stiffness", joint) * scale, self.gain("damping", joint) * scale
            velocity, active = self.seen_velocity(k)
            error_rate = self.command(k, 1) - velocity if has.target_velocity else -velocity
            torque = p * (self.command(k, 0) - (self.q[k] - self.bias[k])) + d * error_rate
            torque = torque + self.command(k, has.command_columns - 1) if has.feedforward else torque
            derivative = d * active
            on = self.known(3 * sum(has.prescribed) + k) if has.enabled else 1.0
            if has.limited[joint] or has.envelope[joint]:
                torque, derivative = self.saturate(k, joint, torque, derivative, on)
            torque, derivative = torque * on, derivative * on
            torques.append(torque)
            derivatives.append(derivative)
        if has.delay_torque:
            return [self.delayed_torque(k, x) for k, x in enumerate(torques)], [0.0] * self.n
        return torques, derivatives

    def seen_velocity(self, k: int) -> tuple[Any, Any]:
        """The velocity that the drive damps: q̇, or q̇ through the drive's low-pass; and its share of q̇ now."""
        if not self.has.cutoff:
            return self.v[k], 1.0
        share, row = self.shared("smoothing"), 3 * self.n + k
        old = self.t.load_row("%state", row)
        seen = old + share * (self.v[k] - old)
        self.t.store_row(seen, "%state", row)
        return seen, share

    def saturate(self, k: int, joint: int, torque: Value, derivative: Any, on: Any) -> tuple[Value, Value]:
        """Torque limit and torque-speed envelope, both scaled by the gear ratio where it varies over the joint angle."""
        t, has = self.t, self.has
        ratio = self.gear_ratio(k, joint) if has.gear_knots[joint] else 1.0
        low: Any = None
        high: Any = None
        if has.limited[joint]:
            high = self.gain("limit", joint) * ratio
            low = -high
        if has.envelope[joint]:
            stall, speed = self.gain("stall", joint) * ratio, self.v[k] * self.gain("inverse_no_load", joint) * ratio
            push, pull = t.call("maxnum", stall * (1.0 - speed), 0.0), t.call("minnum", -(stall * (speed + 1.0)), 0.0)
            high = push if high is None else t.call("minnum", high, push)
            low = pull if low is None else t.call("maxnum", low, pull)
        inside = t.logic("and", t.less(low, torque), t.less(torque, high))
        if has.output == "trajectory":
            self.count(k, inside, on)
        clamped = t.call("maxnum", t.call("minnum", torque, high), low)
        return clamped, t.select(inside, derivative, 0.0)

    def gear_ratio(self, k: int, joint: int) -> Any:
        """The gear ratio over the joint angle, piecewise linear: r = r₀ + Σ bends · max(q − knot, 0), held at the ends."""
        t, knots = self.t, self.has.gear_knots[joint]
        ratio: Any = self.gain("bend0", joint)
        for m in range(1, knots):
            ratio = ratio + self.gain(f"bend{m}", joint) * t.call("maxnum", self.q[k] - self.gain(f"knot{m}", joint), 0.0)
        return ratio

    def delayed_torque(self, k: int, torque: Value) -> Any:
        """The torque computed T_d ago: from a ring of past torques, interpolated between steps."""
        t = self.t
        t.do(f"%slot{k} = urem i64 %i, %history_rows")
        row = t.emit_raw(f"mul i64 %slot{k}, {self.n}")
        t.store_row(torque, "%history", t.emit_raw(f"add i64 {row}, {k}"))
        parts: list[Any] = ["poison", "poison"]
        for w in range(t.lanes):
            back = t.emit_raw(f"fdiv double {self.lane_delay(k, w)}, %h")
            whole = t.emit_raw(f"fptosi double {back} to i64")
            for age in range(2):
                when = t.emit_raw(f"sub i64 %i, {whole}")
                when = t.emit_raw(f"sub i64 {when}, {age}")
                when = t.emit_raw(f"call i64 @llvm.smax.i64(i64 {when}, i64 0)")
                when = t.emit_raw(f"urem i64 {when}, %history_rows")
                base = t.emit_raw(f"mul i64 {when}, {self.n}")
                base = t.emit_raw(f"add i64 {base}, {k}")
                base = t.emit_raw(f"mul i64 {base}, {t.lanes}")
                one = t.emit_raw(f"load {t.scalar}, ptr {t.at('%history', t.emit_raw(f'add i64 {base}, {w}'))}")
                parts[age] = t.emit_raw(f"insertelement {t.type} {parts[age]}, {t.scalar} {one}, i64 {w}")
        fractions = self.delay_fractions(k)
        newer, older = (Value(t, part) for part in parts)
        return newer + fractions * (older - newer)

    def lane_delay(self, k: int, w: int) -> str:
        """The delay of one lane [s]."""
        index = (k * self.t.lanes if self.has.joint_delays else 0) + w
        return self.t.emit_raw(f"load double, ptr {self.t.at('%delays', index, 'double')}")

    def delay_fractions(self, k: int) -> Value:
        """The part of each lane's delay that is not whole steps."""
        t, out = self.t, "poison"
        for w in range(t.lanes):
            back = t.emit_raw(f"fdiv double {self.lane_delay(k, w)}, %h")
            whole = t.emit_raw(f"sitofp i64 {t.emit_raw(f'fptosi double {back} to i64')} to double")
            part = t.emit_raw(f"fsub double {back}, {whole}")
            if t.scalar == "float":
                part = t.emit_raw(f"fptrunc double {part} to float")
            out = t.emit_raw(f"insertelement {t.type} {out}, {t.scalar} {part}, i64 {w}")
        return Value(t, out)

    # --- what leaves the kernel ---------------------------------------------------------------------------------------------
    def count(self, k: int, inside: str, on: Any) -> None:
        """Count the steps at which a drive was saturated."""
        t = self.t
        t.store_row(t.load_row("%counts", k) + t.select(inside, 0.0, 1.0) * on, "%counts", k)

    def outputs(self, torque: list[Any], new_v: list[Any]) -> None:
        """At every measured stamp inside the step: the encoder's reading, or its squared error summed up."""
        t, n = self.t, self.n
        encoder = [self.q[k] - self.bias[k] if self.has.encoder else self.q[k] for k in range(n)]
        first = t.emit_raw(f"load i64, ptr {t.at('%first', '%i', 'i64')}")
        after = t.emit_raw("add i64 %i, 1")
        last = t.emit_raw(f"load i64, ptr {t.at('%first', after, 'i64')}")
        before = t.emit_raw("icmp slt i64 " + f"{first}, {last}")
        t.do("br label %before_stamps")
        t.label("before_stamps")
        t.do(f"br i1 {before}, label %stamp, label %after_stamps")
        t.enter()
        t.label("stamp")
        t.do(f"%m = phi i64 [ {first}, %before_stamps ], [ %m_next, %stamp ]")
        since = t.load_scalar("%fraction", "%m")
        readings = [encoder[k] + since * new_v[k] for k in range(n)]
        write: Callable[[list[Any]], None] = self.score if self.has.output == "score" else self.trajectory
        write(readings)
        if self.has.torque:
            self.rows("%torque_out", torque)
        t.do("%m_next = add i64 %m, 1")
        more = t.emit_raw(f"icmp slt i64 %m_next, {last}")
        t.do(f"br i1 {more}, label %stamp, label %after_stamps")
        t.label("after_stamps")
        t.leave()

    def rows(self, pointer: str, values: list[Any]) -> None:
        """One row per joint at stamp m; the rows of all blocks stand beside each other."""
        base = self.t.emit_raw(f"mul i64 %m, {self.n}")
        for k, value in enumerate(values):
            row = self.t.emit_raw(f"add i64 {base}, {k}")
            self.t.store_row(value, pointer, self.t.emit_raw(f"mul i64 {row}, %blocks"))

    def trajectory(self, readings: list[Any]) -> None:
        """Keep the readings."""
        self.rows("%out", readings)

    def score(self, readings: list[Any]) -> None:
        """Add the squared errors to the running sums."""
        t, n = self.t, self.n
        columns = n * (1 + self.has.weighted)
        base = t.emit_raw(f"mul i64 %m, {columns}")
        for k in range(n):
            error = readings[k] - t.load_scalar("%measured", t.emit_raw(f"add i64 {base}, {k}"))
            square = error * error
            if self.has.weighted:
                square = square * t.load_scalar("%measured", t.emit_raw(f"add i64 {base}, {n + k}"))
            row = (3 + self.has.cutoff) * n + k
            t.store_row(t.load_row("%state", row) + square, "%state", row)
