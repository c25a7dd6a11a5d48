"""Dry friction and joint limits, exactly as MuJoCo's constraint solver holds them.

MuJoCo minimises over the accelerations a

    ½ (a − M⁻¹f)ᵀ M (a − M⁻¹f) + Σ s_i(a_i − a_ref,i)

where s_i is a Huber function for friction (quadratic with stiffness D_i inside ±τ_f/D_i, linear with slope ±τ_f outside) and
half a parabola for a limit. Each friction row is in one of three states: sliding forward (+1), sticking (0), sliding backward
(−1). Given the states the minimum is one linear solve with M + diag(D of the sticking rows); the states are right when the
solution agrees with them. All rows that disagree change together, a principal pivoting method; after `BLOCK` rounds only the
first row that disagrees changes, which is Murty's rule and cannot cycle. The states of the last step are where the search
starts, so that one round is the rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot.simulate.features import Features
from surefoot.simulate.sparse import Entries, factorise, solve
from surefoot.simulate.trace import Trace, Value
from surefoot.simulate.tree import Link

BLOCK = 12  # rounds in which all disagreeing rows change
ROUNDS = 200  # rounds in all


@dataclass(frozen=True)
class Limit:
    """A joint limit as a constraint row: it pushes with `stiffness · (reference − a)`, away from itself only."""

    stiffness: Any
    reference: Any
    sign: Any  # +1 at the lower limit, -1 at the upper
    violated: str  # mask


def solve_constraints(
    t: Trace, links: list[Link], inertia: Entries, force: list[Any], q: list[Any], v: list[Any], effective: list[Any],
    friction: list[Any], has: Features,
) -> list[Any]:  # fmt: skip
    """The generalised force of friction and limits on each free joint."""
    n = len(links)
    stiff, reference = [], []
    for k, link in enumerate(links):
        ratio = link.friction_impedance / (1 - link.friction_impedance)
        stiff.append(effective[k] * t.constant(ratio))
        reference.append(v[k] * t.constant(-link.friction_damping))
    start = [t.load_row("%state", 2 * n + k) for k in range(n)]
    limited = [k for k in range(n) if has.limits[has.free[k]]]
    rows = (inertia, force, friction, stiff, reference)
    if not limited:
        held, states = _search(t, "free", rows, start, {})
    else:
        held, states = _with_limits(t, links, limited, q, v, effective, rows, start)
    for k in range(n):
        t.store_row(states[k], "%state", 2 * n + k)
    return held


def _with_limits(
    t: Trace, links: list[Link], limited: list[int], q: list[Any], v: list[Any], effective: list[Any], rows: tuple,
    start: list[Value],
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """The search with limit rows where a lane touches a limit, and without them, which is the rule, where none does."""
    n, touched = len(links), "zeroinitializer"
    for k in limited:
        low, high = t.constant(links[k].lower), t.constant(links[k].upper)
        touched = t.logic("or", touched, t.logic("or", t.less(q[k], low), t.less(high, q[k])))
    t.do(f"br i1 {t.any(touched)}, label %at_limits, label %in_range")
    ends, found = [], []
    for label, where in (("at_limits", limited), ("in_range", [])):
        t.enter()
        t.label(label)
        limits = {k: _limit(t, links[k], q[k], v[k], effective[k]) for k in where}
        held, states = _search(t, label, rows, start, limits)
        found.append([t.operand(x) for x in [*held, *states]])
        ends.append(f"{label}_end")
        t.do(f"br label %{label}_end")
        t.label(f"{label}_end")
        t.do("br label %held")
        t.leave()
    t.label("held")
    both = [Value(t, t.emit_raw(f"phi {t.type} [ {a}, %{ends[0]} ], [ {b}, %{ends[1]} ]")) for a, b in zip(*found, strict=True)]
    return list(both[:n]), list(both[n:])


def _search(t: Trace, name: str, rows: tuple, start: list[Value], limits: dict[int, Limit]) -> tuple[list[Any], list[Value]]:
    """Rounds until the assumed states agree with their solution: the constraint force and the friction states."""
    _, _, friction, stiff, reference = rows
    n = len(start)
    t.do(f"br label %{name}_before")
    t.label(f"{name}_before")
    t.do(f"br label %{name}_round")
    t.label(f"{name}_round")
    states = [Value(t, f"%{name}_slide{k}") for k in range(n)]
    touching = {k: f"%{name}_touch{k}" for k in limits}
    entry = len(t.code)
    a, new_states, new_touching, changed = _round(t, name, rows, states, touching, limits)
    again = t.emit_raw(f"add i32 %{name}_rounds, 1")
    unfinished = t.emit_raw(f"icmp slt i32 {again}, {ROUNDS}")
    repeat = t.emit_raw(f"and i1 {t.any(changed)}, {unfinished}")
    t.do(f"br i1 {repeat}, label %{name}_round, label %{name}_done")
    phis = [f"  %{name}_rounds = phi i32 [ 0, %{name}_before ], [ {again}, %{name}_round ]"]
    for k, state in enumerate(states):
        phis.append(f"  {state.name} = phi {t.type} [ {start[k].name}, %{name}_before ], [ {new_states[k].name}, %{name}_round ]")
    for k, touch in touching.items():
        phis.append(f"  {touch} = phi {t.mask} [ {limits[k].violated}, %{name}_before ], [ {new_touching[k]}, %{name}_round ]")
    t.code[entry:entry] = phis
    t.label(f"{name}_done")  # the last round dominates what follows: its values stay known
    held = []
    for k in range(n):
        sticking = t.less(t.call("fabs", new_states[k]), 0.5)
        held.append(t.select(sticking, stiff[k] * (reference[k] - a[k]), -(new_states[k] * friction[k])))
        if k in limits:
            held[k] = held[k] + t.select(new_touching[k], limits[k].stiffness * (limits[k].reference - a[k]), 0.0)
    return held, new_states


def _round(
    t: Trace, name: str, rows: tuple, states: list[Value], touching: dict[int, str], limits: dict[int, Limit]
) -> tuple[list[Any], list[Value], dict[int, str], str]:  # fmt: skip
    """Solve for the assumed states and see which of them the solution contradicts."""
    inertia, force, friction, stiff, reference = rows
    n = len(states)
    system, right = dict(inertia), []
    for k in range(n):
        sticks = t.less(t.call("fabs", states[k]), 0.5)
        add = t.select(sticks, stiff[k], 0.0)
        pull = t.select(sticks, stiff[k] * reference[k], -(states[k] * friction[k]))
        if k in limits:
            add = add + t.select(touching[k], limits[k].stiffness, 0.0)
            pull = pull + t.select(touching[k], limits[k].stiffness * limits[k].reference, 0.0)
        system[k, k] = system[k, k] + add
        right.append(force[k] + pull)
    a = solve(factorise(t, system, n), right)
    single = t.emit_raw(f"icmp sge i32 %{name}_rounds, {BLOCK}")
    single = t.emit_raw(f"insertelement {t.mask} poison, i1 {single}, i64 0")
    single = t.emit_raw(f"shufflevector {t.mask} {single}, {t.mask} poison, <{t.lanes} x i32> zeroinitializer")
    changed, new_states, new_touching = "zeroinitializer", [], {}
    for k in range(n):
        push = stiff[k] * (a[k] - reference[k])
        slides = t.select(t.less(friction[k], push), 1.0, t.select(t.less(push, -friction[k]), -1.0, 0.0))
        slides = t.select(t.less(slides * states[k], -0.5), 0.0, slides)  # from one bound to the other by way of sticking
        differs = t.less(slides, states[k], kind="one")
        allowed = _unless(t, differs, single, changed)
        new_states.append(t.select(allowed, slides, states[k]))
        changed = t.logic("or", changed, differs)
    for k, limit in limits.items():
        wants = t.logic("and", limit.violated, t.less(0.0, limit.sign * (limit.reference - a[k])))
        differs = t.logic("xor", wants, touching[k])
        allowed = _unless(t, differs, single, changed)
        new_touching[k] = t.logic("xor", touching[k], allowed)
        changed = t.logic("or", changed, differs)
    return a, new_states, new_touching, changed


def _unless(t: Trace, differs: str, single: str, earlier: str) -> str:
    """The lanes that may change: all that differ, or, one at a time, those where no earlier row differs."""
    blocked = t.logic("and", single, earlier)
    free = t.logic("xor", blocked, "<" + ", ".join(["i1 true"] * t.lanes) + ">")
    return t.logic("and", differs, free)


def _limit(t: Trace, link: Link, q: Any, v: Any, effective: Any) -> Limit:
    """The limit nearer to q. MuJoCo: a_ref = −b ṙ − k d(r) r with the violation r, along the limit's own direction."""
    stiffness, damping, *solimp = link.limit
    below, above = q - t.constant(link.lower), t.constant(link.upper) - q
    at_lower = t.less(below, above)
    distance = t.select(at_lower, below, above)
    sign = t.select(at_lower, 1.0, -1.0)
    d = _impedance(t, solimp, distance)
    strength = effective * t.div(d, 1.0 - d)
    reference = -(sign * (t.constant(stiffness) * d * distance)) - t.constant(damping) * v
    return Limit(stiffness=strength, reference=reference, sign=sign, violated=t.less(distance, 0.0))


def _impedance(t: Trace, solimp: list[float], distance: Any) -> Any:
    """MuJoCo's impedance d(r): from dmin to dmax over `width`, a power law on either side of the midpoint."""
    dmin, dmax, width, midpoint, power = solimp
    dmin, dmax = min(max(dmin, 1e-4), 0.9999), min(max(dmax, 1e-4), 0.9999)
    if dmin == dmax or width <= 1e-15:
        return t.constant(0.5 * (dmin + dmax))
    x = t.call("minnum", t.call("fabs", distance) * t.constant(1 / width), 1.0)
    if power == 1:
        return x * t.constant(dmax - dmin) + t.constant(dmin)
    exponent = round(power)  # whole: `tree` refuses the others
    low, high = x, 1.0 - x
    rest = high
    for _ in range(exponent - 1):
        low, high = low * x, high * rest
    midpoint = min(max(midpoint, 1e-4), 0.9999)
    low = low * t.constant(midpoint ** (1 - exponent))
    high = 1.0 - high * t.constant((1 - midpoint) ** (1 - exponent))
    y = t.select(t.less(x, midpoint), low, high)
    return y * t.constant(dmax - dmin) + t.constant(dmin)
