"""The drive's equations against closed forms: windings, loops, gear, spring, friction, encoder, energy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import SurefootError
from surefoot.simulate.virtual.drives import Drives, Motors

R, L, K, RATIO = 1.04, 0.534e-3, 0.59, 5.6


def drives(n=1, **changes):
    values = {
        "joints": tuple(f"j{i}" for i in range(n)), "torque_constant": K, "resistance": R, "inductance": L,
        "rotor_inertia": 5e-4, "gear_ratio": RATIO, "gear_position": [[0.0, 1.0]], "current_gain": L * 1000.0,
        "current_integral": R * 1000.0, "current_limit": 32.0, "resolution": 1e-9,
    }  # fmt: skip
    return Drives(**(values | changes))


def locked(motors, seconds, bus=48.0, speed=0.0):
    """Hold the link (or move it at a speed) and note the current after every electrical step."""
    h, n, out = motors.drives.step, motors.drives.n, []
    for k in range(round(seconds / h)):
        motors.advance(np.full(n, speed * k * h), np.full(n, speed), bus, 1)
        out.append(motors.current().copy())
    return np.array(out)


def random_drives(seed, n=5):
    rng = np.random.default_rng(seed)
    draw = lambda low, high: rng.uniform(low, high, n)  # noqa: E731
    return drives(
        n, blanking=draw(0, 1), damping=draw(0, 5), friction=draw(0, 1), load_friction=draw(0, 0.05), breakaway=draw(0, 0.5),
        cogging=draw(0, 0.3), cogging_lobes=draw(50, 200), cogging_phase=draw(0, 6),
        spring=np.where(rng.random(n) < 0.5, np.inf, 2000.0), damper=draw(0, 1), bias=draw(-0.1, 0.1),
        resolution=draw(1e-5, 1e-3),
        on_rotor=rng.integers(0, 2, n), emf_aid=draw(0, 1), velocity_cutoff=draw(30, 200), compensation=True,
        virtual_inertia=draw(0, 0.01),
        friction_aid=draw(0, 0.5), cogging_aid=draw(0, 1), dead_time=5e-5 * int(rng.integers(0, 5)),
    )  # fmt: skip


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_machine_code_is_the_equations(seed):
    """Both arithmetics give the same state and the same sums, whatever the drive is made of."""
    made = random_drives(seed)
    rng = np.random.default_rng(seed + 1)
    both = [Motors(made, np.zeros(5), engine) for engine in ("kernel", "numpy")]
    for _ in range(4):
        target, speed = rng.uniform(-0.5, 0.5, 5), rng.uniform(-3, 3, 5)
        for motors in both:
            motors.command(target=target, stiffness=60.0, damping=2.0, feedforward=0.3)
            motors.advance(0.1 * target, speed, 48.0, 20)
    kernel, numpy = (m.block for m in both)
    np.testing.assert_allclose(kernel.state[:, :5], numpy.state[:, :5], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(kernel.sums[:, :5], numpy.sums[:, :5], rtol=1e-7, atol=1e-7)


def test_a_winding_at_full_voltage_charges_exponentially():
    """i = u/R (1 − exp(−R t / L)) while the loop asks for more than the bus can give."""
    motors = Motors(drives(), np.zeros(1))
    motors.command(target=0, stiffness=0, damping=0, feedforward=1e4)
    current = locked(motors, 5e-4, bus=10.0)[:, 0]
    t = motors.drives.step * np.arange(1, len(current) + 1)
    np.testing.assert_allclose(current, 10.0 / R * (1 - np.exp(-R * t / L)), rtol=1e-12)


def test_a_current_loop_that_cancels_the_winding_answers_in_first_order():
    """With K_p = L ω and K_i = R ω the current follows 1 − exp(−ω t)."""
    motors = Motors(drives(step=1e-5), np.zeros(1))
    motors.command(target=0, stiffness=0, damping=0, feedforward=2.0 * K * RATIO)
    current = locked(motors, 4e-3)[:, 0]
    t = 1e-5 * np.arange(1, len(current) + 1)
    np.testing.assert_allclose(current, 2.0 * (1 - np.exp(-1000.0 * t)), atol=0.02)


def test_nothing_happens_before_the_dead_time_is_over():
    motors = Motors(drives(dead_time=3 * 5e-5), np.zeros(1))
    motors.command(target=0, stiffness=0, damping=0, feedforward=1.0)
    current = locked(motors, 10 * 5e-5)[:, 0]
    assert (current[:3] == 0).all()
    assert (current[3:] > 0).all()


def test_a_motor_gives_no_torque_at_its_no_load_speed():
    """There, u / (k r), the back-EMF has eaten the whole voltage; beyond it the motor brakes."""
    top = 48.0 / (K * RATIO)
    motors = Motors(drives(), np.zeros(1))
    motors.command(target=0, stiffness=0, damping=0, feedforward=50.0)
    assert abs(locked(motors, 0.02, speed=top)[-1, 0]) < 1e-6
    assert locked(motors, 0.02, speed=1.1 * top)[-1, 0] < 0


def test_shorted_windings_brake_like_a_damper():
    """τ = −k² r² / R q̇, without any control."""
    motors = Motors(drives(), np.zeros(1))
    motors.command(target=1.0, stiffness=60.0, damping=2.0, on=False)
    locked(motors, 0.02, speed=2.0)
    assert motors.motor_torque()[0] == pytest.approx(-((K * RATIO) ** 2) / R * 2.0, rel=1e-6)


def test_what_the_bus_gives_is_heat_work_and_magnetism():
    """∫ u i = ∫ R i² + ∫ τ ω + ½ L i², without losses in the inverter."""
    motors = Motors(drives(step=1e-5), np.zeros(1))
    given_, lost, done, h = 0.0, 0.0, 0.0, 1e-5
    for k in range(4000):
        t = k * h
        motors.command(target=0, stiffness=0, damping=0, feedforward=20 * np.sin(2 * np.pi * 50 * t))
        speed = 5 * np.cos(2 * np.pi * 20 * t)
        motors.advance(np.zeros(1), np.array([speed]), 48.0, 1)
        given_, lost = given_ + h * motors.power()[0], lost + h * motors.copper_loss()[0]
        done += h * motors.motor_torque()[0] * speed
    stored = 0.5 * L * motors.current()[0] ** 2
    assert given_ == pytest.approx(lost + done + stored, rel=2e-3)
    assert lost > 0.1 * abs(given_)


def test_an_inverter_that_loses_voltage_loses_current():
    """Without integral action, a blanking voltage lowers the current by u_b / (R + K_p)."""
    shortfall = []
    for lost in (0.0, 1.0):
        motors = Motors(drives(current_integral=1e-9, blanking=lost), np.zeros(1))
        motors.command(target=0, stiffness=0, damping=0, feedforward=5.0 * K * RATIO)
        shortfall.append(locked(motors, 0.05)[-1, 0])
    assert shortfall[0] - shortfall[1] == pytest.approx(1.0 / (R + L * 1000.0), rel=1e-6)


def test_the_encoder_reads_whole_steps_about_its_own_zero():
    made = drives(resolution=1e-3, bias=0.0123)
    for q in np.linspace(-1, 1, 57):
        reading = Motors(made, np.array([q])).reading()[0]
        assert abs(reading - (q - 0.0123)) <= 0.5e-3 + 1e-12
        assert reading / 1e-3 == pytest.approx(round(reading / 1e-3), abs=1e-6)


def free_rotor(made, seconds, torque=0.0, start=0.0, link=0.0):
    """The rotor of an elastic joint whose link is held."""
    motors = Motors(made, np.full(made.n, link))
    motors.block.now("rotor")[:] = link + start
    motors.command(target=0, stiffness=0, damping=0, feedforward=torque)
    out = []
    for _ in range(round(seconds / made.step)):
        motors.advance(np.full(made.n, link), np.zeros(made.n), 1e3, 1)
        out.append(motors.block.now("rotor")[0] - link)
    return np.array(out), motors


def test_a_rotor_swings_on_its_spring():
    """ω = √(k / (J r²)): the windings carry no current, so nothing but the spring acts."""
    made = drives(spring=500.0, torque_constant=1e-6)
    swing, _ = free_rotor(made, 0.3, start=0.01)
    crossings = np.flatnonzero(np.diff(np.sign(swing)) > 0) * made.step
    period = np.diff(crossings).mean()
    assert 2 * np.pi / period == pytest.approx(np.sqrt(500.0 / (5e-4 * RATIO**2)), rel=0.02)


def test_within_the_play_the_link_feels_nothing():
    made = drives(spring=500.0, backlash=0.02, friction=0.5)
    _, motors = free_rotor(made, 0.01, start=0.008)
    assert motors.block.total("torque")[0] == 0.0
    _, motors = free_rotor(made, 1e-4, start=0.015)
    assert motors.block.total("torque")[0] / motors.steps == pytest.approx(500.0 * 0.005, rel=0.05)


def test_friction_holds_what_is_weaker_than_it():
    """A rotor under 0.4 N·m does not move against 0.5 N·m of friction, and moves against 0.3."""
    stuck, _ = free_rotor(drives(spring=1e-6, friction=0.5), 0.05, torque=0.4)
    free, _ = free_rotor(drives(spring=1e-6, friction=0.3), 0.05, torque=0.4)
    assert (stuck == 0).all()
    assert free[-1] > 0.001


def test_breakaway_and_load_add_to_friction():
    made = drives(friction=1.0, breakaway=0.5, load_friction=0.1, stribeck_speed=0.1)
    motors = Motors(made, np.zeros(1))
    motors.command(target=0, stiffness=0, damping=0, feedforward=10.0)
    locked(motors, 0.1)
    assert motors.rigid_friction(np.array([0.1]))[0] == pytest.approx(1.0 + 0.1 * 10.0 + 0.25, rel=1e-3)


def spun_up(made, torque, seconds=0.4):
    """Acceleration of an otherwise free rigid joint under a constant feed-forward."""
    motors, q, v, h = Motors(made, np.zeros(1)), np.zeros(1), np.zeros(1), made.step
    motors.command(target=0, stiffness=0, damping=0, feedforward=torque)
    speeds = []
    for _ in range(round(seconds / h)):
        push = motors.advance(q, v, 1e3, 1)
        v = v + h * push / made.reflected_inertia(q)
        q = q + h * v
        speeds.append(v[0])
    half = len(speeds) // 2
    return (speeds[-1] - speeds[half]) / (h * (len(speeds) - 1 - half))


def test_firmware_compensation_shows_as_virtual_inertia():
    """q̈ = τ / (J r² + I_virtual) where the firmware's acceleration feedback is on, τ / (J r²) where it is off."""
    made = drives(virtual_inertia=0.008, velocity_cutoff=200.0, emf_aid=1.0)
    rotor = 5e-4 * RATIO**2
    assert spun_up(made, 1.0) == pytest.approx(1.0 / rotor, rel=0.01)
    assert spun_up(made.replace(compensation=True), 1.0) == pytest.approx(1.0 / (rotor + 0.008), rel=0.01)


def test_back_emf_that_the_firmware_ignores_shows_as_inertia():
    """Behind a ramp of voltage the integrator runs late: (k r)² / K_i of additional inertia."""
    made = drives(velocity_cutoff=200.0)
    rotor, late = 5e-4 * RATIO**2, (K * RATIO) ** 2 / (R * 1000.0)
    assert spun_up(made, 1.0) == pytest.approx(1.0 / (rotor + late), rel=0.01)


def test_cogging_pulls_with_the_joint_angle_and_can_be_cancelled():
    made = drives(cogging=0.2, cogging_lobes=84.0, cogging_phase=0.3)
    for q in (0.0, 0.011, 0.3):
        motors = Motors(made, np.array([q]))
        motors.command(target=0, stiffness=0, damping=0)
        push = motors.advance(np.array([q]), np.zeros(1), 48.0, 1)
        assert push[0] == pytest.approx(0.2 * np.sin(84.0 * q + 0.3), abs=1e-9)
    aided = Motors(made.replace(compensation=True, cogging_aid=1.0), np.zeros(1))
    aided.command(target=0, stiffness=0, damping=0)
    locked(aided, 0.05)
    assert abs(aided.block.total("torque")[0]) < 1e-3


def test_a_changing_ratio_changes_inertia_and_the_force_that_keeps_energy():
    """With J r² q̇² / 2 the only energy, J r² q̈ + J r r′ q̇² = τ: energy stays when nothing pushes."""
    made = drives(gear_position=[[-1.0, 1.0]], gear_ratio=[[4.0, 8.0]])
    motors, q, v, h = Motors(made, np.zeros(1)), np.array([-0.8]), np.array([1.0]), 1e-4
    motors.command(target=0, stiffness=0, damping=0, on=False)
    energy = []
    for _ in range(12000):
        motors.advance(q, np.zeros(1), 48.0, 1)
        energy.append(0.5 * motors.armature()[0] * v[0] ** 2)
        v = v + h * motors.gear_torque(q, v) / motors.armature()
        q = q + h * v
    assert q[0] > 0.0
    np.testing.assert_allclose(energy, energy[0], rtol=1e-3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"backlash": 0.01}, "j0 has backlash but no spring"),
        ({"resistance": -1.0}, "resistance of joint j0's drive is -1.0; it must be above 0"),
        ({"friction": [1.0, 2.0]}, "friction of the drives has shape"),
        ({"bias": float("nan")}, "bias of joint j0's drive is nan; it must be finite"),
        ({"step": 1e-3}, "10 kHz"),
        ({"dead_time": 1.0}, "dead time"),
    ],
)
def test_a_drive_that_cannot_be_is_refused(changes, words):
    with pytest.raises(SurefootError, match=words):
        drives(**changes)


def test_a_misspelt_property_is_named():
    with pytest.raises(SurefootError, match="stiction"):
        drives().replace(stiction=1.0)
