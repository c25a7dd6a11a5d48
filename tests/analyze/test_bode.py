"""Bandwidth, dead time and fitted transfer functions against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from surefoot import SurefootError
from surefoot.analyze import FrequencyResponse, bandwidth, current_transfer, dead_time, fit_transfer, joint_transfer

GAINS = {"stiffness": 60.0, "damping": 2.0}
WINDING = {"resistance": 1.04, "inductance": 0.53e-3}


def response_of(values, f, coherence=1.0):
    return FrequencyResponse(frequency=f, response=values, coherence=np.full(len(f), coherence), averages=20)


def noisy(values, f, seed, relative=0.02):
    """A response whose scatter is what its coherence claims."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((2, len(f))) * relative
    return response_of(values * (1 + noise[0] + 1j * noise[1]), f, 1 / (1 + 2 * 18 * relative**2))


def test_the_joint_is_a_second_order_low_pass():
    f = np.array([1e-3, np.sqrt(60 / 0.06) / (2 * np.pi), 100.0])
    h = joint_transfer(f, inertia=0.06, viscous=0.1, delay=0.0, **GAINS)
    assert h[0] == pytest.approx(1.0, abs=1e-3)
    assert h[1] == pytest.approx(-1j * 60 / (2.1 * np.sqrt(60 / 0.06)))  # at its natural frequency: 90 degrees late
    assert h[2] == pytest.approx(-60 / (0.06 * (2 * np.pi * 100) ** 2), rel=0.06)
    _, other = signal.freqs([60.0], [0.06, 2.1, 60.0], worN=2 * np.pi * f)
    np.testing.assert_allclose(h, other)


def test_a_delay_turns_the_phase_and_nothing_else():
    f = np.linspace(0.5, 20, 40)
    with_delay, without = (joint_transfer(f, inertia=0.06, viscous=0.1, delay=d, **GAINS) for d in (0.01, 0.0))
    np.testing.assert_allclose(np.abs(with_delay), np.abs(without))
    np.testing.assert_allclose(np.unwrap(np.angle(with_delay / without)), -2 * np.pi * f * 0.01)


def test_a_current_loop_tuned_to_cancel_its_winding_is_of_first_order():
    """P / L = I / R makes the open loop an integrator: its bandwidth is the cross-over, P / (2π L)."""
    f = np.geomspace(1, 2000, 400)
    loop = current_transfer(f, **WINDING, proportional=1.0, integral=1.04 / 0.53e-3, dead_time=0.0)
    np.testing.assert_allclose(loop, 1 / (1 + 2j * np.pi * f * 0.53e-3), rtol=1e-9)
    assert bandwidth(response_of(loop, f), 10 * np.log10(2)) == pytest.approx(1 / (2 * np.pi * 0.53e-3), rel=1e-3)


def test_a_free_rotor_eats_voltage_at_low_frequencies_only():
    f = np.array([0.5, 5000.0])
    tuned = {**WINDING, "proportional": 1.0, "integral": 300.0, "dead_time": 2e-4}
    locked = current_transfer(f, **tuned)
    free = current_transfer(f, **tuned, back_emf=0.5, torque_constant=0.59, inertia=4e-4, viscous=1e-3)
    assert abs(free[0] / locked[0] - 1) > 0.2
    assert abs(free[1] / locked[1] - 1) < 0.01


@given(corner=st.floats(2, 50), drop=st.floats(1, 10))
@settings(max_examples=40, deadline=None)
def test_bandwidth_is_where_a_first_order_lag_has_fallen(corner, drop):
    f = np.geomspace(0.1, 500, 600)
    found = bandwidth(response_of(1 / (1 + 1j * f / corner), f), drop)
    assert found == pytest.approx(corner * np.sqrt(10 ** (drop / 10) - 1), rel=1e-3)


def test_a_bandwidth_outside_of_the_band_is_refused():
    f = np.linspace(1, 20, 30)
    with pytest.raises(SurefootError, match="does not fall by 3 dB up to 20 Hz"):
        bandwidth(response_of(np.ones(30, complex), f))
    with pytest.raises(SurefootError, match=r"6\.02 dB down already at its lowest frequency, 1 Hz"):
        bandwidth(response_of(np.full(30, 0.5 + 0j), f))


@given(delay=st.floats(1e-5, 2e-3))
@settings(max_examples=30, deadline=None)
def test_a_pure_delay_is_the_slope_of_its_phase(delay):
    f = np.linspace(5, 300, 60)
    found, deviation = dead_time(response_of(0.8 * np.exp(-2j * np.pi * f * delay), f))
    assert found == pytest.approx(delay, abs=1e-9)
    assert deviation < 1e-5


def test_the_interval_of_a_dead_time_contains_it_about_19_times_of_20():
    f, truth = np.linspace(5, 300, 60), 4e-4
    inside = 0
    for seed in range(200):
        found, deviation = dead_time(noisy(np.exp(-2j * np.pi * f * truth), f, seed))
        inside += abs(found - truth) < 1.96 * deviation
    assert 180 <= inside <= 198


def test_a_slope_needs_three_points():
    with pytest.raises(SurefootError, match="3 frequencies or more; there are 2"):
        dead_time(response_of(np.ones(2, complex), np.array([1.0, 2.0])))


def test_a_fit_finds_the_joint_behind_a_noisy_response():
    f = np.linspace(0.3, 10, 40)
    truth = {"inertia": 0.0627, "viscous": 0.3, "delay": 0.004}

    def model(f, **parameters):
        return joint_transfer(f, **GAINS, **parameters)

    inside = 0
    for seed in range(40):
        fit = fit_transfer(noisy(model(f, **truth), f, seed), model, {"inertia": 0.02, "viscous": 0.0, "delay": 0.0})
        for name, value in truth.items():
            assert fit.values[name] == pytest.approx(value, abs=5 * fit.deviations[name])
            inside += abs(fit.values[name] - value) < 1.96 * fit.deviations[name]
        assert fit.misfit == pytest.approx(0.02 * np.sqrt(2), rel=0.5)
    assert 0.88 <= inside / 120 <= 1.0


def test_a_model_that_does_not_fit_is_not_sure_of_itself():
    f = np.linspace(0.3, 10, 40)
    other = joint_transfer(f, inertia=0.06, viscous=0.3, delay=0.0, **GAINS) / (1 + 1j * f / 5)  # a lag more than the model has

    def model(f, inertia, viscous):
        return joint_transfer(f, inertia=inertia, viscous=viscous, delay=0.0, **GAINS)

    fit = fit_transfer(response_of(other, f), model, {"inertia": 0.02, "viscous": 0.0})
    assert fit.misfit > 0.05
    assert fit.deviations["inertia"] > 1e-3
    with pytest.raises(SurefootError, match="1 frequencies cannot tell 2 parameters apart"):
        fit_transfer(response_of(other[:1], f[:1]), model, {"inertia": 0.02, "viscous": 0.0})
