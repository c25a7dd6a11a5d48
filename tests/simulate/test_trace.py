"""What the trace writes down and what it folds away."""

import numpy as np
import pytest
from rigs import evaluate

from surefoot.simulate.kernel import sine_cosine
from surefoot.simulate.trace import Constant, Trace, Value


@pytest.fixture
def trace() -> Trace:
    return Trace(8, "double")


def symbol(trace: Trace, name: str = "%a") -> Value:
    return Value(trace, name)


def test_zeros_and_ones_cost_no_instruction(trace):
    a = symbol(trace)
    assert a * 0.0 == 0.0
    assert all(x is a for x in (a * 1.0, a + 0.0, 0.0 + a, a - 0.0))
    assert trace.code == []


def test_a_term_that_was_computed_is_used_again_also_in_the_other_order(trace):
    a, b = symbol(trace), symbol(trace, "%b")
    assert a * b is b * a
    assert a + b is b + a
    assert (a - b) is not (b - a)
    assert sum("fmul" in line for line in trace.code) == 1


def test_numbers_of_the_robot_are_combined_while_tracing(trace):
    x, y = trace.constant(0.3), trace.constant(0.4)
    total = x * y + 2.0 * x - y
    assert isinstance(total, Constant)
    assert total.number == pytest.approx(0.3 * 0.4 + 0.6 - 0.4)
    assert trace.code == []
    assert trace.table == []


def test_only_numbers_that_survive_reach_the_table(trace):
    a, x, y = symbol(trace), trace.constant(0.3), trace.constant(0.4)
    _ = a * (x * y)
    assert trace.table == [pytest.approx(0.12)]


@pytest.mark.parametrize(("noisy", "plain"), [(1e-17, 0.0), (1 - 1e-16, 1.0), (-1 + 2e-16, -1.0)])
def test_rounding_noise_of_a_rotation_is_the_number_it_stands_for(trace, noisy, plain):
    assert trace.constant(noisy) == plain


def test_a_small_number_that_is_no_noise_is_kept(trace):
    assert isinstance(trace.constant(1e-9), Constant)  # an inertia of a finger, for example


def test_robots_with_other_numbers_leave_the_same_code_behind():
    def code(x: float, y: float) -> list[str]:
        t = Trace(8, "double")
        a = symbol(t)
        _ = a * t.constant(x) + t.constant(y) - a
        return t.code

    assert code(0.3, 0.4) == code(0.7, -12.0)
    assert code(0.3, 0.4) != code(0.3, 0.0)  # a zero is another code


def test_what_a_conditional_block_computed_is_forgotten_after_it(trace):
    a, b = symbol(trace), symbol(trace, "%b")
    trace.enter()
    inside = a * b
    trace.leave()
    assert a * b is not inside


def test_compiled_arithmetic_is_numpys():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))

    def write(t, rows):
        x, y = rows
        c = t.constant(0.7)
        return [x * c - y, -x, t.div(x, y), t.select(t.less(x, y), x, y), t.call("fabs", x) + 2.0, c - x, (c * c + 1.0) * y]

    expected = [a * 0.7 - b, -a, a / b, np.minimum(a, b), np.abs(a) + 2, 0.7 - a, 1.49 * b]
    np.testing.assert_allclose(evaluate(write, np.stack([a, b])), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 3e-16), ("float32", 3e-7)])
def test_sine_and_cosine_are_right_to_the_last_digits_over_many_turns(dtype, tolerance):
    x = np.concatenate([np.linspace(-30, 30, 4001), np.arange(-8, 9) * np.pi / 4])
    sine, cosine = evaluate(lambda t, rows: list(sine_cosine(t, rows[0])), x[None], dtype=dtype)
    seen = x.astype(dtype).astype(float)
    assert np.abs(sine - np.sin(seen)).max() < tolerance
    assert np.abs(cosine - np.cos(seen)).max() < tolerance
