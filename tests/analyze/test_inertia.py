"""Inertias from drawings and from swinging links: the paper's numbers, kinetic energy counted part by part, and MuJoCo."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Robot, SurefootError
from surefoot.analyze import (
    DriveInertia,
    Measured,
    PlanetaryDrive,
    StandingLeg,
    inertia_at_radius,
    offset_inertia,
    pendulum_inertia,
)

TYTAN_HIP = DriveInertia(rotor=1.14e-2, sun=0.511e-2, planets=0.00203e-2, shaft=0.00146e-2)


def test_the_papers_drive_sums_to_its_output_inertia():
    assert pytest.approx(1.65e-2, rel=5e-3) == TYTAN_HIP.total
    assert Robot.load("single_drive").dynamics.armature[0] == pytest.approx(TYTAN_HIP.total, rel=5e-3)


def test_the_papers_load_cases_weigh_what_the_bundled_model_weighs():
    """Interface and mass at the largest radius, by hand and by MuJoCo; with the drive the paper's 6.27e-2 within 0.5 %."""
    load = 8.67e-3 + inertia_at_radius(0.503, 1.8e-4, 0.273)
    model = mujoco.MjModel.from_xml_string(Robot.load("single_drive").model)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    full = np.zeros((1, 1))
    mujoco.mj_fullM(model, data, full)
    assert full[0, 0] == pytest.approx(load, rel=1e-6)
    assert load + 1.65e-2 == pytest.approx(6.27e-2, rel=5e-3)


@given(sun=st.floats(0.005, 0.03), planet=st.floats(0.005, 0.05), count=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_reduced_inertia_is_the_kinetic_energy_of_parts_that_roll_without_slip(sun, planet, count):
    """Teeth do not slip: a planet rests where it touches the ring, and keeps up with the sun where it touches that."""
    gear = PlanetaryDrive(
        rotor=3.6e-4, sun=1.6e-4, planet=2e-6, planet_mass=0.05, carrier=1e-5, planets=count, sun_radius=sun, planet_radius=planet
    )
    output = 1.7  # [rad/s]
    centre = (sun + planet) * output  # speed of a planet's centre
    turn = -centre / planet  # rests at the ring: centre + turn * planet = 0
    input_speed = (centre - turn * planet) / sun  # the other side of the planet drives the sun
    assert gear.ratio == pytest.approx(input_speed / output)
    energy = 0.5 * (gear.rotor + gear.sun) * input_speed**2 + 0.5 * gear.carrier * output**2
    energy += count * 0.5 * (gear.planet_mass * centre**2 + gear.planet * turn**2)
    assert gear.reduced().total == pytest.approx(2 * energy / output**2)


def test_a_gear_of_ratio_5_6_makes_the_papers_rotor():
    """1.14e-2 kg·m² at the output is 3.64e-4 kg·m² at the motor."""
    gear = PlanetaryDrive(
        rotor=3.635e-4, sun=0, planet=0, planet_mass=0, carrier=0, planets=3, sun_radius=0.01, planet_radius=0.018
    )
    assert gear.ratio == pytest.approx(5.6)
    assert gear.reduced().rotor == pytest.approx(1.14e-2, rel=1e-3)


def test_parts_that_cannot_be_are_refused():
    good = {"rotor": 1e-4, "sun": 1e-4, "planet": 1e-6, "planet_mass": 0.1, "carrier": 1e-5}
    size = {"planets": 3, "sun_radius": 0.01, "planet_radius": 0.02}
    with pytest.raises(SurefootError, match="planet_mass of a planetary drive is -1"):
        PlanetaryDrive(**good | {"planet_mass": -1.0}, **size)
    with pytest.raises(SurefootError, match="sun_radius of a planetary drive is 0; it must be above 0"):
        PlanetaryDrive(**good, **size | {"sun_radius": 0.0})


# --- the pendulum -----------------------------------------------------------------------------------------------------------
CM = 0.01


@pytest.mark.parametrize(
    ("mass", "radius", "frequency", "inertia", "sigma"),
    [(3.775, 0.30, 0.82, 0.0786, 0.0318), (0.4803, 0.25, 0.88, 0.00850, 0.00276)],
    ids=["thigh", "shank"],
)
def test_the_papers_table_of_the_leg(mass, radius, frequency, inertia, sigma):
    found = pendulum_inertia(mass, Measured(value=radius, deviation=CM), Measured(value=frequency, deviation=0.03), 9.806)
    assert found.centre.value == pytest.approx(inertia, rel=2e-3)
    assert found.centre.deviation == pytest.approx(sigma, rel=2e-3)


def test_the_papers_thigh_on_its_hip():
    """What the thigh's centre of mass adds at the hip, measured and from CAD, and how far the two are apart."""
    measured = offset_inertia(3.775, Measured(value=0.105, deviation=CM))
    cad = offset_inertia(3.612, Measured(value=0.075, deviation=0.0))
    assert measured.value == pytest.approx(0.0416, rel=1e-3)
    assert measured.deviation == pytest.approx(0.00793, rel=1e-3)
    assert cad.value == pytest.approx(0.0203, rel=2e-3)
    assert 100 * (measured.value / cad.value - 1) == pytest.approx(100, abs=6)


def test_a_swinging_body_in_mujoco_gives_its_inertia_away():
    xml = """<mujoco><option timestep="0.0005" integrator="RK4"/><worldbody><body><joint name="p" axis="0 1 0"/>
    <inertial pos="0 0 -0.25" mass="0.48" diaginertia="0.0085 0.0085 0.001"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[0] = 0.02
    crossings, last = [], 0.02
    while len(crossings) < 21:
        mujoco.mj_step(model, data)
        now = data.qpos[0]
        if last * now < 0:
            crossings.append(data.time - 0.0005 * now / (now - last))
        last = now
    f = 10 / (crossings[20] - crossings[0])
    exact = [Measured(value=x, deviation=0.0) for x in (0.25, f)]
    found = pendulum_inertia(0.48, exact[0], exact[1], 9.81)
    assert found.centre.value == pytest.approx(0.0085, rel=2e-3)
    assert found.pivot.value == pytest.approx(0.0085 + 0.48 * 0.25**2, rel=2e-3)
    assert found.centre.deviation == 0.0


def test_the_propagated_error_is_the_scatter_of_repeated_measurements():
    rng = np.random.default_rng(0)
    r, f = 0.3 + 0.002 * rng.standard_normal(4000), 0.82 + 0.002 * rng.standard_normal(4000)
    scatter = np.std([3.775 * a * 9.806 / (2 * np.pi * b) ** 2 - 3.775 * a**2 for a, b in zip(r, f, strict=True)])
    found = pendulum_inertia(3.775, Measured(value=0.3, deviation=0.002), Measured(value=0.82, deviation=0.002), 9.806)
    assert found.centre.deviation == pytest.approx(scatter, rel=0.05)


def test_a_pendulum_faster_than_a_point_is_refused():
    """A point mass at r swings fastest of all bodies."""
    with pytest.raises(SurefootError, match=r"swings at 0\.91 Hz or less; 1\.2 Hz was measured"):
        pendulum_inertia(3.775, Measured(value=0.3, deviation=0.0), Measured(value=1.2, deviation=0.0), 9.806)
    with pytest.raises(SurefootError, match="radius of a pendulum is 0"):
        pendulum_inertia(3.775, Measured(value=0.0, deviation=0.0), Measured(value=1.2, deviation=0.0), 9.806)


# --- the standing leg -------------------------------------------------------------------------------------------------------
LEG = StandingLeg(base_mass=10.0, length=0.3, hip_inertia=0.08, knee_inertia=0.07)


def planted(leg, x, z):
    """MuJoCo's mass matrix of base and leg at a hip position, and the joints' velocities that keep the foot where it is."""
    xml = f"""<mujoco><option gravity="0 0 0"/><compiler inertiafromgeom="false"/><worldbody><body>
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="{leg.base_mass}" diaginertia="1 1 1"/>
    <body name="thigh"><joint axis="0 1 0" armature="{leg.hip_inertia}"/>
    <inertial pos="0 0 0" mass="1e-9" diaginertia="1e-12 1e-12 1e-12"/>
    <body name="shank" pos="0 0 {-leg.length}"><joint axis="0 1 0" armature="{leg.knee_inertia}"/>
    <inertial pos="0 0 0" mass="1e-9" diaginertia="1e-12 1e-12 1e-12"/>
    <site name="foot" pos="0 0 {-leg.length}"/></body></body></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    knee = 2 * np.arccos(np.hypot(x, z) / (2 * leg.length))
    data.qpos[:] = x, z, np.arctan2(x, z) - knee / 2, knee
    mujoco.mj_forward(model, data)
    mass, jacobian = np.zeros((4, 4)), np.zeros((3, 4))
    mujoco.mj_fullM(model, data, mass)
    mujoco.mj_jacSite(model, data, jacobian, None, 0)
    assert data.site_xpos[0] == pytest.approx([0, 0, 0], abs=1e-9)
    return mass, jacobian[[0, 2]]


def seen_at(joint, mass, jacobian, direction):
    """Inertia at a joint of the one motion in which the base goes in this direction and the foot stays."""
    speed = np.r_[direction, np.linalg.solve(jacobian[:, 2:], -jacobian[:, :2] @ direction)]
    return speed @ mass @ speed / speed[joint] ** 2


@given(z=st.floats(0.1, 0.55))
@settings(max_examples=40, deadline=None)
def test_vertical_base_inertia_is_mujocos(z):
    assert LEG.vertical(z) == pytest.approx(seen_at(3, *planted(LEG, 0.0, z), np.array([0.0, 1.0])), rel=1e-6)


@given(x=st.floats(-0.2, 0.2))
@settings(max_examples=40, deadline=None)
def test_horizontal_base_inertia_is_mujocos(x):
    """The hip's bend is mirrored in the model below, so the base stands behind the foot there by as much as ahead here."""
    z = np.sqrt(2) * 0.3
    mass, jacobian = planted(LEG, -x, z)
    expected = seen_at(2, mass, jacobian, np.array([1.0, 0.0]))
    assert LEG.horizontal(x, z) == pytest.approx(expected, rel=1e-5)


def test_in_stance_the_base_weighs_ten_to_a_hundred_times_what_the_air_does():
    """ANYmal's 52.8 kg on four legs, its drives' 0.07 kg·m²: one to two orders of magnitude, as the paper says."""
    leg = StandingLeg(base_mass=52.8 / 4, length=0.3, hip_inertia=0.07, knee_inertia=0.065)
    stance = np.sqrt(2) * 0.3
    assert 10 < leg.vertical(stance) / 0.065 < 100
    assert 10 < leg.horizontal(0.0, stance) / 0.07 < 100


def test_a_leg_reaches_no_further_than_its_links():
    with pytest.raises(SurefootError, match=r"reaches between 0 and 0\.6 m, not 0\.7 m"):
        LEG.vertical([0.3, 0.7])
    with pytest.raises(SurefootError, match="base_mass of a standing leg is 0"):
        StandingLeg(base_mass=0.0, length=0.3, hip_inertia=0.1, knee_inertia=0.1)
