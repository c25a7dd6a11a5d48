"""Factorisation and solution with a mass matrix, without fill-in: H = Lᵀ D L along the tree (Featherstone 2008, chapter 6)."""

from __future__ import annotations

from typing import Any

from surefoot.simulate.trace import Trace

Entries = dict[tuple[int, int], Any]


def ancestors(entries: Entries, n: int) -> list[list[int]]:
    """For each row the columns left of the diagonal, nearest ancestor first."""
    return [sorted((j for i, j in entries if i == k and j < k), reverse=True) for k in range(n)]


def factorise(t: Trace, entries: Entries, n: int) -> tuple[Entries, list[Any], list[list[int]]]:
    """L (unit diagonal) and 1/D of H = Lᵀ D L, and the tree."""
    h, above = dict(entries), ancestors(entries, n)
    inverse: list[Any] = [None] * n
    for k in reversed(range(n)):
        inverse[k] = t.div(1.0, h[k, k])
        scaled = {i: h[k, i] * inverse[k] for i in above[k]}
        for a, i in enumerate(above[k]):
            for j in [i, *above[k][a + 1 :]]:
                h[i, j] = h[i, j] - scaled[i] * h[k, j]
        for i in above[k]:
            h[k, i] = scaled[i]
    return h, inverse, above


def solve(factors: tuple[Entries, list[Any], list[list[int]]], right: list[Any]) -> list[Any]:
    """x with H x = right: Lᵀ y = right, then D, then L x = y."""
    lower, inverse, above = factors
    x = list(right)
    for k in reversed(range(len(x))):
        for j in above[k]:
            x[j] = x[j] - lower[k, j] * x[k]
    x = [value * inverse[k] for k, value in enumerate(x)]
    for k in range(len(x)):
        for j in above[k]:
            x[k] = x[k] - lower[k, j] * x[j]
    return x
