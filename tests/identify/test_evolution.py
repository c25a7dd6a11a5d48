"""The paper's search: it finds minima in the cube, tells the truth about its best point, and can be stopped and continued."""

import json

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.identify.evolution import SIGMA, Evolution, evolve
from surefoot.identify.stop import Stop

SIZE = 5
CENTRE = np.array([0.3, -0.6, 0.1, 0.7, -0.2])


def sphere(x):
    return ((x - CENTRE) ** 2).sum(axis=1)


def ellipsoid(x):
    """Turned, with axes from 1 to 1000."""
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((SIZE, SIZE)))
    return (((x - CENTRE) @ turn) ** 2 * np.logspace(0, 6, SIZE)).sum(axis=1)


def rosenbrock(x):
    """A bent valley from (0, ..., 0) to (1, ..., 1) / 2."""
    y = 2 * x
    return (100 * (y[:, 1:] - y[:, :-1] ** 2) ** 2 + (1 - y[:, :-1]) ** 2).sum(axis=1)


@pytest.mark.parametrize(
    ("loss", "minimum", "generations"),
    [(sphere, CENTRE, 80), (ellipsoid, CENTRE, 200), (rosenbrock, np.full(SIZE, 0.5), 300)],
    ids=["sphere", "ellipsoid", "rosenbrock"],
)
def test_the_minimum_is_found(loss, minimum, generations):
    found = evolve(loss, Evolution(SIZE, 24, seed=1), generations=generations)
    np.testing.assert_allclose(found.x, minimum, atol=1e-4)


def test_a_minimum_on_a_face_of_the_cube_is_found_there():
    outside = np.where(np.arange(SIZE) == 1, 1.5, CENTRE)
    found = evolve(lambda x: ((x - outside) ** 2).sum(axis=1) - 0.25, Evolution(SIZE, 24, seed=0), generations=100)
    np.testing.assert_allclose(found.x, np.minimum(outside, 1.0), atol=1e-3)
    assert np.abs(found.x).max() <= 1


def test_generations_lie_in_the_cube():
    search = Evolution(SIZE, 200, seed=0, mean=np.full(SIZE, 0.9), sigma=2.0)
    assert np.abs(search.ask()).max() <= 1


def test_the_paper_starts_in_the_middle_with_half_the_cube():
    search = Evolution(SIZE, 10, seed=0)
    assert (search.cma._mean == 0).all()
    assert search.cma._sigma == SIGMA == 0.5


def test_a_generation_is_distributed_as_the_library_draws_it():
    search = Evolution(3, 4000, seed=0, mean=np.array([0.0, 0.6, -0.2]))
    skew = np.array([[0.3, 0.2, 0.0], [0.2, 0.5, 0.1], [0.0, 0.1, 0.2]])
    search.cma._C, search.cma._B, search.cma._D = skew, None, None
    ours = search.ask()
    theirs = np.array([search.cma.ask() for _ in range(4000)])
    np.testing.assert_allclose(ours.mean(axis=0), theirs.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(np.cov(ours.T), np.cov(theirs.T), atol=0.01)
    for q in (0.05, 0.5, 0.95):
        np.testing.assert_allclose(np.quantile(ours, q, axis=0), np.quantile(theirs, q, axis=0), atol=0.04)


def test_the_best_is_a_point_that_was_evaluated():
    asked = []
    found = evolve(lambda x: asked.append(x) or sphere(x), Evolution(SIZE, 12, seed=0), generations=15)
    points = np.concatenate(asked)
    assert (points == found.x).all(axis=1).any()
    assert found.loss == sphere(points).min() == sphere(found.x[None])[0]


def test_the_history_never_rises_and_has_one_entry_a_generation():
    told = []
    found = evolve(sphere, Evolution(SIZE, 12, seed=0), generations=20, tell=told.append)
    assert len(found.history) == len(told) == 20
    assert (np.diff(found.history) <= 0).all()
    assert [p.iteration for p in told] == list(range(20))
    assert told[-1].loss == found.loss == found.history[-1]
    assert found.stop is Stop.LIMIT


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    one, two, other = (evolve(rosenbrock, Evolution(SIZE, 16, seed=s), generations=30) for s in (4, 4, 5))
    assert one.x.tobytes() == two.x.tobytes()
    assert one.history == two.history
    assert one.x.tobytes() != other.x.tobytes()


def test_the_search_ends_when_a_generation_is_flat():
    found = evolve(lambda x: 1 + sphere(x), Evolution(SIZE, 16, seed=0), generations=500)
    assert found.stop is Stop.SPREAD
    assert len(found.history) < 100
    assert "1 %" in str(found.stop)


def test_candidates_that_diverge_are_the_worst_and_never_the_best():
    """Half of the cube diverges: the search turns away from it and ends at the best of the rest."""

    def loss(x):
        value = ((x + 0.1) ** 2).sum(axis=1)
        value[x[:, 0] < 0] = np.inf
        value[x[:, 1] < -0.9] = np.nan
        return value

    found = evolve(loss, Evolution(SIZE, 24, seed=2), generations=120)
    assert np.isfinite(found.history).all()
    assert found.x[0] >= 0
    np.testing.assert_allclose(found.loss, 0.01, rtol=0.01)


def test_a_generation_that_diverges_altogether_is_said_in_a_sentence():
    with pytest.raises(SurefootError, match=r"every candidate diverged.*timestep"):
        evolve(lambda x: np.full(len(x), np.inf), Evolution(SIZE, 8, seed=0), generations=3)


def interrupt_after(count):
    def tell(progress):
        if progress.iteration + 1 == count:
            raise KeyboardInterrupt

    return tell


def test_an_interrupted_search_keeps_its_best_so_far():
    found = evolve(sphere, Evolution(SIZE, 12, seed=0), generations=50, tell=interrupt_after(7))
    full = evolve(sphere, Evolution(SIZE, 12, seed=0), generations=7)
    assert found.stop is Stop.INTERRUPTED
    assert found.x.tobytes() == full.x.tobytes()
    assert "--resume" in str(found.stop)


@pytest.mark.parametrize("at", [1, 7, 29])
def test_interrupted_and_continued_is_the_same_bits_as_uninterrupted(tmp_path, at):
    path, whole = tmp_path / "deep" / "search.npz", evolve(rosenbrock, Evolution(SIZE, 16, seed=9), generations=30)
    first = Evolution(SIZE, 16, seed=9)
    evolve(rosenbrock, first, generations=30, tell=interrupt_after(at), keep=lambda: first.save(path, "key"))
    second = Evolution(SIZE, 16, seed=0)  # nothing of the first survives but its file
    second.load(path, "key")
    rest = evolve(rosenbrock, second, generations=30)
    assert rest.x.tobytes() == whole.x.tobytes()
    assert rest.loss == whole.loss
    assert rest.history == whole.history


def test_a_search_that_had_ended_flat_does_not_go_on(tmp_path):
    loss = lambda x: 1 + sphere(x)  # noqa: E731
    search = Evolution(SIZE, 16, seed=0)
    ended = evolve(loss, search, generations=500, keep=lambda: search.save(tmp_path / "s.npz", "key"))
    again = Evolution(SIZE, 16, seed=0)
    again.load(tmp_path / "s.npz", "key")
    assert evolve(loss, again, generations=1000).history == ended.history


def saved(path):
    search = Evolution(SIZE, 16, seed=9)
    evolve(sphere, search, generations=3, keep=lambda: search.save(path, "mine"))
    return path.read_bytes()


def test_a_search_of_another_problem_is_not_continued(tmp_path):
    path = tmp_path / "search.npz"
    saved(path)
    with pytest.raises(SurefootError, match=r"another search.*--resume"):
        Evolution(SIZE, 16, seed=9).load(path, "yours")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"not a saved search",
        lambda data: data[: len(data) // 2],
        lambda data: data[:200] + bytes(100) + data[300:],
        lambda data: data[: -len(data) // 4],
    ],
    ids=["empty", "text", "half", "hole", "tail"],
)
def test_a_damaged_file_is_said_in_a_sentence(tmp_path, damage):
    path = tmp_path / "search.npz"
    path.write_bytes(damage(saved(path)))
    with pytest.raises(SurefootError, match=r"is not a saved search.*without --resume"):
        Evolution(SIZE, 16, seed=9).load(path, "mine")


@pytest.mark.parametrize(
    "words", [[], {"key": "mine"}, {"key": "mine", "_sigma": 1.0, "_g": 1, "loss": 0, "flat": False, "rng": 3}]
)
def test_a_file_that_lacks_a_part_is_said_in_a_sentence(tmp_path, words):
    path = tmp_path / "search.npz"
    saved(path)
    with np.load(path) as file:
        parts = dict(file)
    np.savez(path, **parts | {"words": np.array(json.dumps(words))})
    with pytest.raises(SurefootError, match="is not a saved search"):
        Evolution(SIZE, 16, seed=9).load(path, "mine")


def test_nothing_half_written_is_left_behind(tmp_path):
    saved(tmp_path / "search.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["search.npz"]
    with np.load(tmp_path / "search.npz", allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fU" for name in file.files)
