"""What voltage leaves of a motor's bandwidth, against a winding that is integrated step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import SurefootError
from surefoot.analyze import torque_bandwidth, winding_bandwidth

MOTOR = {"resistance": 1.04, "inductance": 0.534e-3, "bus_voltage": 48.0, "back_emf": 0.51}


def test_the_papers_winding_has_310_hz():
    assert winding_bandwidth(1.04, 0.534e-3) == pytest.approx(310, abs=1)


def test_the_largest_current_at_that_frequency_has_that_bandwidth():
    largest = 48 / (np.sqrt(2) * 1.04)
    assert torque_bandwidth(0.0, largest, **MOTOR) == pytest.approx(winding_bandwidth(1.04, 0.534e-3))


@given(speed=st.floats(-60, 60), amplitude=st.floats(1, 12), share=st.floats(0.5, 1.5))
@settings(max_examples=40, deadline=None)
def test_beyond_the_bandwidth_the_bus_cannot_drive_the_current(speed, amplitude, share):
    """v = R i + L di/dt + e of a sinusoidal current, sampled over a period, exceeds the bus above the bandwidth and not below."""
    f = share * torque_bandwidth(speed, amplitude, **MOTOR)
    phase = np.linspace(0, 2 * np.pi, 4001)
    i, slope = amplitude * np.sin(phase), 2 * np.pi * f * amplitude * np.cos(phase)
    v = 1.04 * i + 0.534e-3 * slope + 0.51 * abs(speed)
    if abs(share - 1) > 1e-4:
        assert (v.max() > 48) == (share > 1)


def test_it_falls_with_speed_and_with_amplitude_down_to_nothing():
    at = torque_bandwidth(np.linspace(0, 94, 40)[:, None], np.array([2.0, 10.0, 32.0]), **MOTOR)
    assert at.shape == (40, 3)
    assert (np.diff(at, axis=0) <= 0).all()
    assert (np.diff(at, axis=1) <= 0).all()
    assert at[-1] == pytest.approx([0, 0, 0], abs=1e-9)  # at its no-load speed a motor has no voltage left


def test_a_winding_without_inductance_is_refused():
    with pytest.raises(SurefootError, match="inductance 0 H"):
        winding_bandwidth(1.04, 0.0)
    with pytest.raises(SurefootError, match="amplitude of the current is 0 A"):
        torque_bandwidth(0.0, [1.0, 0.0], **MOTOR)
