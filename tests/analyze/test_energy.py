"""Cost of transport and its parts: the paper's tables, the track, and the Joule scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Robot, SurefootError
from surefoot.analyze.energy import CAPACITY, PUBLISHED, Discharge, decompose, joule_scale, published_cost, standby
from surefoot.analyze.track import LAP, Stretch, run_down
from surefoot.robot.energy import GRAVITY

BY_NAME = {column.name: column for column in PUBLISHED}


# --- the paper's tables -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("column", [c for c in PUBLISHED if c.cost], ids=lambda c: c.name)
def test_the_paper_s_parts_sum_to_its_whole(column):
    assert column.cost.total == pytest.approx(column.total, abs=1e-9)


def test_tytan_s_cost_follows_from_its_row():
    """0.93 of 907.2 Wh over 6100 m with 52.3 kg: 0.97, as printed."""
    assert published_cost(BY_NAME["Tytan"]) == pytest.approx(0.9705, abs=5e-5)
    assert round(published_cost(BY_NAME["Tytan"]), 2) == BY_NAME["Tytan"].total


def test_anymal_d_s_cost_does_not_follow_from_its_row():
    """0.80 of 907.2 Wh over 4120 m with 52.8 kg is 1.22; the table prints 1.27. Nor do its power and its efficiency follow."""
    column = BY_NAME["ANYmal D"]
    assert published_cost(column) == pytest.approx(1.224, abs=5e-4)
    assert column.total == 1.27
    assert column.discharge.power(CAPACITY) == pytest.approx(531.1, abs=0.1)
    assert column.power == 556
    assert column.power / (column.mass * GRAVITY * column.speed) == pytest.approx(1.263, abs=1e-3)  # where 1.27 is near to


def test_efficiency_is_distance_per_charge_but_for_anymal_d():
    """η compares metres per share of the battery with ANYmal C's: 111 and 196 % follow, 132 % would be 154 %."""
    reach = {c.name: c.distance / (c.discharge.first - c.discharge.last) for c in PUBLISHED}
    ratio = {name: r / reach["ANYmal C"] for name, r in reach.items()}
    assert ratio["AoPS"] == pytest.approx(BY_NAME["AoPS"].efficiency, abs=0.005)
    assert ratio["Tytan"] == pytest.approx(BY_NAME["Tytan"].efficiency, abs=0.005)
    assert ratio["ANYmal D"] == pytest.approx(1.54, abs=0.005)


@pytest.mark.parametrize("column", PUBLISHED, ids=lambda c: c.name)
def test_rounds_are_400_metres(column):
    assert column.rounds * LAP == pytest.approx(column.distance)


def test_bundled_robots_stand_by_as_the_paper_s_parts_say():
    """P_off and P_rest of tytan and ANYmal D, put into the formulas with their rows, give CoE and CoD as printed."""
    for name, column in (("tytan", BY_NAME["Tytan"]), ("anymal", BY_NAME["ANYmal D"])):
        robot = Robot.load(name)
        off, rest = standby(robot)
        parts = decompose(
            energy=column.discharge.energy(robot.battery["capacity"]), duration=column.discharge.duration,
            distance=column.distance, mass=column.mass, off=off, rest=rest,
        )  # fmt: skip
        assert parts.electronics == pytest.approx(column.cost.electronics, abs=0.003)
        assert parts.drives == pytest.approx(column.cost.drives, abs=0.003)
    assert parts.locomotion == pytest.approx(1.224 - 0.74, abs=0.003)  # not 0.53: the whole is 1.22


# --- the formulas -----------------------------------------------------------------------------------------------------------
@given(off=st.floats(0, 300), more=st.floats(0, 300), motion=st.floats(-100, 2000), duration=st.floats(1, 1e4))
def test_parts_are_disjoint_and_complete(off, more, motion, duration):
    """Whatever the powers, CoE, CoD and CoL are those of off, rest − off, and all above rest; their sum is the whole."""
    energy = (off + more + motion) * duration
    parts = decompose(energy=energy, duration=duration, distance=2 * duration, mass=50.0, off=off, rest=off + more)
    weight = 50.0 * GRAVITY * 2.0
    assert parts.electronics == pytest.approx(off / weight)
    assert parts.drives == pytest.approx(more / weight, abs=1e-9)
    assert parts.locomotion == pytest.approx(motion / weight, abs=1e-9)
    assert parts.to_dict()["cot"] == pytest.approx(energy / (50.0 * GRAVITY * 2.0 * duration), abs=1e-9)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"distance": 0.0}, "distance of a walk is 0 m"),
        ({"mass": float("nan")}, "mass of a walk is nan kg"),
        ({"rest": 100.0}, "217 W with its drives disabled and 100 W with them enabled"),
    ],
)
def test_an_account_without_sense_is_refused(wrong, sentence):
    good = {"energy": 1e6, "duration": 1000.0, "distance": 900.0, "mass": 52.8, "off": 217.0, "rest": 321.0}
    with pytest.raises(SurefootError, match=sentence):
        decompose(**(good | wrong))


def test_a_discharge_must_fall():
    with pytest.raises(SurefootError, match="discharged from 15 to 95"):
        Discharge(duration=10.0, first=15, last=95)
    with pytest.raises(SurefootError, match="duration must be above 0 s"):
        Discharge(duration=0.0, first=0.9, last=0.1)


def test_a_robot_that_was_never_at_rest_is_told_what_to_type():
    with pytest.raises(SurefootError, match=r"anymal: what it draws at rest is not known \(off and rest\).*\[battery\].*--off"):
        standby(Robot.load("anymal").replace(battery={}))


# --- the track --------------------------------------------------------------------------------------------------------------
def test_constant_power_empties_a_battery_in_proportion():
    """907.2 Wh from 98 to 5 % at 486.7 W last 104 minutes; at 0.978 m/s those are 6100 m and 15.25 rounds: Tytan's row."""
    tytan = BY_NAME["Tytan"]
    power = tytan.discharge.power(CAPACITY)
    track = run_down([Stretch(charge=0.5, power=power, speed=6100 / 6240)], capacity=CAPACITY, start=0.98, floor=0.05)
    assert track.duration == pytest.approx(104 * 60)
    assert track.rounds == pytest.approx(15.25)
    assert track.power == pytest.approx(power)
    assert track.cost(52.3, 145.0, 251.0).total == pytest.approx(0.9705, abs=5e-5)
    at, charge = track.laps()
    assert len(at) == 17
    assert charge[0] == 0.98
    assert charge[-1] == pytest.approx(0.05)
    np.testing.assert_allclose(np.diff(charge)[:-1] / (0.93 * LAP / 6100), -1.0, rtol=1e-9)


def test_power_that_changes_with_the_charge_is_integrated():
    """P = P₀ (1 + a (1 − SoC)) from full to empty lasts E / P₀ · ln(1 + a) / a."""
    track = run_down(
        [Stretch(charge=1.0, power=400.0, speed=1.0), Stretch(charge=0.0, power=600.0, speed=1.0)], capacity=500.0, floor=0.0
    )
    assert track.duration == pytest.approx(3600 * 500 / 400 * np.log(1.5) / 0.5, rel=1e-6)
    assert track.distance[-1] == pytest.approx(track.duration)


def test_a_robot_that_stands_runs_no_laps():
    with pytest.raises(SurefootError, match="must move forward and draw power"):
        run_down([Stretch(charge=0.5, power=300.0, speed=-0.1)], capacity=900.0)
    with pytest.raises(SurefootError, match="at least one"):
        run_down([], capacity=900.0)
    with pytest.raises(SurefootError, match=r"go from 0\.1 to 0\.5"):
        run_down([Stretch(charge=0.5, power=300.0, speed=1.0)], capacity=900.0, start=0.1, floor=0.5)


# --- the Joule scale --------------------------------------------------------------------------------------------------------
def test_a_lighter_robot_has_a_larger_joule_constant_and_a_smaller_load():
    """Minimal's small motors heat more per N·m than Tytan's; carrying their own weight they heat less."""
    small, large = (joule_scale(Robot.load(name)) for name in ("minimal", "tytan"))
    assert small.mean > large.mean
    assert small.weighed < large.weighed
    hip = large.joints.index("LF_HAA")
    assert large.constant[hip] == pytest.approx(1.04 / (5.6 * 0.59) ** 2)
    assert large.weighed == pytest.approx((large.constant * (52.3 * GRAVITY * 0.1 / 12) ** 2).sum(), rel=1e-3)
