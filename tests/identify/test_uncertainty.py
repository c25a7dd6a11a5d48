"""Intervals: right for white noise, honest for slow noise, infinite where the data are blind. On linear toy problems."""

import numpy as np
import pytest
from scipy.signal import lfilter

from surefoot.identify.problem import Linear, Piece
from surefoot.identify.uncertainty import uncertainty

T = 8000  # 20 s
TIME = np.arange(T) / 400
DESIGN = np.stack(
    [
        np.sin(2 * np.pi * 0.7 * TIME),
        np.sin(2 * np.pi * (0.5 + 0.2 * TIME) * TIME),
        np.sign(np.sin(2 * np.pi * 1.3 * TIME)) * np.exp(-TIME / 5),
    ],
    axis=1,
)
SIGMA = 0.01


def linear(residual, design, *, pieces=1):
    """The problem around a least-squares solution, split into recordings of equal length."""
    design, residual = np.atleast_3d(design.T).transpose(1, 2, 0), residual[:, None]
    parts = [
        Piece(recording=i, joints=np.array([0]), variables=np.arange(design.shape[2]), residual=r, jacobian=j)
        for i, (r, j) in enumerate(zip(np.split(residual, pieces), np.split(design, pieces), strict=True))
    ]
    flat, error = design[:, 0], residual[:, 0]
    squares, hessian, gradient = float(error @ error), flat.T @ flat, flat.T @ error
    return Linear(x=np.zeros(len(gradient)), squares=squares, hessian=hessian, gradient=gradient, pieces=tuple(parts))


def solved(noise, design=DESIGN):
    """Estimates of parameters that are truly zero, and the residual."""
    estimate, *_ = np.linalg.lstsq(design, noise, rcond=None)
    return estimate, design @ estimate - noise


def draws(make, count=250, design=DESIGN, pieces=1):
    """(true errors, reported deviations, white-noise deviations), each of shape (count, d)."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(count):
        estimate, residual = solved(make(rng), design)
        sure = uncertainty(linear(residual, design, pieces=pieces), T)
        rows.append((estimate, sure.deviation, sure.white))
    return (np.array(x) for x in zip(*rows, strict=True))


def slow(rng, colour=0.95):
    return lfilter([1.0], [1.0, -colour], rng.standard_normal(T + 200) * SIGMA * np.sqrt(1 - colour**2))[200:]


def test_the_white_noise_formula_is_sigma_squared_over_the_hessian():
    _, residual = solved(np.random.default_rng(0).standard_normal(T) * SIGMA)
    sure = uncertainty(linear(residual, DESIGN), T)
    variance = residual @ residual / (T - 3)
    np.testing.assert_allclose(sure.white, np.sqrt(variance * np.diag(np.linalg.inv(DESIGN.T @ DESIGN))), rtol=1e-9)


def test_for_white_noise_the_intervals_are_those_of_the_formula():
    errors, deviations, white = draws(lambda rng: rng.standard_normal(T) * SIGMA)
    np.testing.assert_allclose(np.median(deviations, axis=0), np.median(white, axis=0), rtol=0.2)
    np.testing.assert_allclose(np.median(deviations, axis=0), errors.std(axis=0), rtol=0.25)


def covered(errors, deviations):
    return (np.abs(errors) <= 1.96 * deviations).mean()


@pytest.mark.parametrize("pieces", [1, 2])
def test_slow_noise_makes_them_wider_and_they_still_contain_the_truth(pieces):
    errors, deviations, white = draws(slow, pieces=pieces)
    assert covered(errors, white) < 0.75  # the trap: 95 % that are not
    assert 0.89 <= covered(errors, deviations) <= 0.995
    assert (np.median(deviations, axis=0)[:2] > 1.5 * np.median(white, axis=0)[:2]).all()


def test_noise_that_grows_with_the_motion_is_honest_too():
    """White, but strongest where the third column is: its variance is larger than any stationary noise of that power says."""
    errors, deviations, white = draws(lambda rng: rng.standard_normal(T) * SIGMA * 3 * np.exp(-TIME / 6), count=400)
    true, ours, formula = (np.sqrt((x[:, 2] ** 2).mean()) for x in (errors, deviations, white))
    assert formula < 0.85 * true
    assert 0.9 * true < ours < 1.2 * true


def test_the_interval_is_1_96_deviations_wide_to_each_side():
    _, residual = solved(np.random.default_rng(0).standard_normal(T) * SIGMA)
    sure = uncertainty(linear(residual, DESIGN), T)
    np.testing.assert_allclose(sure.half_width, 1.959964 * sure.deviation, rtol=1e-6)


def test_units_of_a_variable_scale_its_deviation_and_nothing_else():
    _, residual = solved(slow(np.random.default_rng(1)))
    factor = np.array([1e-3, 1.0, 1e3])
    plain, scaled = (uncertainty(linear(residual, DESIGN * f), T) for f in (np.ones(3), factor))
    np.testing.assert_allclose(scaled.deviation * factor, plain.deviation, rtol=1e-6)
    np.testing.assert_allclose(scaled.correlation, plain.correlation, atol=1e-9)


def test_a_variable_that_nothing_depends_on_has_an_infinite_deviation():
    design = np.column_stack([DESIGN, np.zeros(T)])
    _, residual = solved(slow(np.random.default_rng(1)))
    sure, known = uncertainty(linear(residual, design), T), uncertainty(linear(residual, DESIGN), T)
    assert np.isinf(sure.deviation[3])
    assert np.isinf(sure.white[3])
    np.testing.assert_allclose(sure.deviation[:3], known.deviation, rtol=1e-9)


@pytest.mark.parametrize("noise", [SIGMA, 1e-15], ids=["noisy", "noise-free"])
def test_two_variables_that_do_the_same_are_both_infinite_and_correlated(noise):
    design = np.column_stack([DESIGN, -2 * DESIGN[:, 1]])
    residual = np.random.default_rng(1).standard_normal(T) * noise
    sure = uncertainty(linear(residual, design), T)
    assert np.isinf(sure.deviation).tolist() == [False, True, False, True]
    assert sure.correlation[1, 3] == pytest.approx(1.0, abs=1e-6)
    assert not np.isnan(sure.correlation).any()


def test_correlation_is_that_of_the_inverse_hessian():
    _, residual = solved(np.random.default_rng(0).standard_normal(T) * SIGMA)
    sure = uncertainty(linear(residual, DESIGN), T)
    inverse = np.linalg.inv(DESIGN.T @ DESIGN)
    np.testing.assert_allclose(sure.correlation, inverse / np.sqrt(np.outer(np.diag(inverse), np.diag(inverse))), atol=1e-9)


def test_samples_that_are_not_compared_do_not_dilute_the_noise():
    """Half of the rows are masked: the same intervals as without these rows."""
    noise = np.random.default_rng(2).standard_normal(T) * SIGMA
    half = np.arange(T) < T // 2
    estimate, *_ = np.linalg.lstsq(DESIGN[half], noise[half], rcond=None)
    residual = (DESIGN @ estimate - noise) * half
    masked = uncertainty(linear(residual, DESIGN * half[:, None]), T // 2)
    short = uncertainty(linear(residual[half], DESIGN[half]), T // 2)
    np.testing.assert_allclose(masked.white, short.white, rtol=1e-9)
    np.testing.assert_allclose(masked.deviation, short.deviation, rtol=0.35)
