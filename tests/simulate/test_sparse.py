"""Factorisation along the tree against dense linear algebra."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rigs import evaluate

from surefoot.simulate.sparse import ancestors, factorise, solve

FLOATS: Any = SimpleNamespace(div=lambda a, b: a / b)
parents = st.lists(st.integers(-1, 30), min_size=1, max_size=12).map(lambda raw: [min(p, i - 1) for i, p in enumerate(raw)])


def tree_matrix(parents: list[int], rng: np.random.Generator) -> tuple[np.ndarray, dict[tuple[int, int], float]]:
    """A positive definite matrix that couples each link with its ancestors only."""
    n = len(parents)
    lower = np.eye(n)
    for i in range(n):
        j = parents[i]
        while j >= 0:
            lower[i, j] = rng.normal()
            j = parents[j]
    full = lower.T @ np.diag(rng.uniform(0.5, 2, n)) @ lower
    pattern = [(i, j) for i in range(n) for j in range(i + 1) if lower[i, j]]
    return full, {(i, j): float(full[i, j]) for i, j in pattern}


@settings(max_examples=60, deadline=None)
@given(parents=parents, seed=st.integers(0, 2**32 - 1))
def test_the_solution_is_that_of_a_dense_solver(parents, seed):
    rng = np.random.default_rng(seed)
    full, entries = tree_matrix(parents, rng)
    right = rng.normal(size=len(parents))
    x = solve(factorise(FLOATS, entries, len(parents)), list(right))
    np.testing.assert_allclose(
        full @ np.array(x, float), right, rtol=1e-8, atol=1e-8 * (1 + np.abs(full).max() * np.abs(x).max())
    )


@settings(max_examples=30, deadline=None)
@given(parents=parents, seed=st.integers(0, 2**32 - 1))
def test_no_entry_is_filled_in(parents, seed):
    _, entries = tree_matrix(parents, np.random.default_rng(seed))
    lower, _, _ = factorise(FLOATS, entries, len(parents))
    assert set(lower) == set(entries)


def test_the_nearest_ancestor_comes_first():
    entries = {(0, 0): 1, (1, 1): 1, (1, 0): 1, (2, 2): 1, (2, 1): 1, (2, 0): 1, (3, 3): 1, (3, 0): 1}
    assert ancestors(entries, 4) == [[], [0], [1, 0], [0]]


def test_the_compiled_solution_is_numpys_in_every_lane():
    rng = np.random.default_rng(1)
    shape = [-1, 0, 1, 0, 3]
    systems = [tree_matrix(shape, rng) for _ in range(20)]
    keys, right = list(systems[0][1]), rng.normal(size=(5, 20))

    def write(t, rows):
        entries = dict(zip(keys, rows, strict=False))
        return solve(factorise(t, entries, 5), rows[len(keys) :])

    rows = np.concatenate([[[entries[key] for _, entries in systems] for key in keys], right])
    expected = [np.linalg.solve(full, right[:, k]) for k, (full, _) in enumerate(systems)]
    np.testing.assert_allclose(evaluate(write, rows).T, expected, rtol=1e-9, atol=1e-9)
