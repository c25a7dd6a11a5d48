"""A walk ends damped and is kept, whatever happens on the way. The machine is a virtual robot that stands on the ground."""

import numpy as np
import pytest
from policies import ROBOT, linear, specification, standing

from surefoot.deploy import Policy
from surefoot.deploy.controller import Controller, Ramps
from surefoot.deploy.estimator import Estimator
from surefoot.deploy.faults import KINDS, Fault, Faulty
from surefoot.deploy.steering import Script
from surefoot.deploy.walk import CutShort, walk
from surefoot.errors import SurefootError
from surefoot.record.run import Phase
from surefoot.robot.hardware import LinkLost
from surefoot.simulate.feet import Feet
from surefoot.simulate.virtual.hardware import VirtualHardware

SHORT = Ramps(rise=0.2, settle=0.05, speed=2.0, halt=0.1, stand=0.1)
FEET = Feet(ROBOT)


@pytest.fixture
def machine():
    return VirtualHardware(ROBOT, 3, place="ground")


@pytest.fixture
def controller(tmp_path):
    return Controller(ROBOT, Policy.load(standing(tmp_path / "policy.onnx")), Estimator(FEET, ROBOT.dynamics), ramps=SHORT)


def go(machine, controller, seconds=0.4, command=(0.2, 0, 0), **options):
    return walk(machine, controller, Script.held(command), seconds=seconds, **options)


def test_a_walk_goes_through_its_phases_and_carries_every_channel(machine, controller):
    run = go(machine, controller, notes={"hardware": "virtual:3"})
    phases = run["phase"]
    assert (np.diff(phases) >= 0).all()
    assert {Phase(int(p)) for p in phases} == set(Phase) - {Phase.DAMPED}
    assert 0.0025 * (phases == Phase.WALKING).sum() == pytest.approx(0.4, abs=0.01)
    assert (run["command"][phases == Phase.WALKING] == [0.2, 0, 0]).all()
    assert (run["command"][phases != Phase.WALKING] == 0).all()
    expected = {"torque", "current", "power", "bus_voltage", "battery_power", "charge", "linear_velocity", "gravity", "contact",
                "true_position", "true_orientation", "true_velocity", "true_contact", "step_time", "drive_time"}  # fmt: skip
    assert expected <= run.channels.keys()
    assert run.stop == ""
    assert run.feet == ("LF_SHANK", "RF_SHANK", "LH_SHANK", "RH_SHANK")
    assert run["contact"][-1].tolist() == [1, 1, 1, 1] == run["true_contact"][-1].tolist()
    assert np.isfinite(run["step_time"]).sum() == pytest.approx((0.05 + 0.4 + 0.1) / 0.02, abs=2)
    assert not machine._armed


def test_power_is_what_voltage_and_charge_say(machine, controller):
    """The charge that is gone, times the capacity, is the energy that the battery gave, but for what its own resistance took."""
    run = go(machine, controller)
    given = 3600 * machine.machine.battery.capacity * (run["charge"][0] - run["charge"][-1])
    used = float(np.trapezoid(run["battery_power"], run.time))
    assert used < given < 1.15 * used


def expect_cut(machine, controller, fault, **options):
    with pytest.raises(CutShort) as found:
        go(Faulty(machine, (fault,)), controller, seconds=1.5, **options)
    return found.value


@pytest.mark.parametrize(
    ("text", "said"),
    [("lost@0.5", r"no state came for 10\d ms"), ("nan@0.5", "the IMU gives nan"), ("command@0.5", r"the command is 1e\+09"),
     ("sag@0.5", "the bus is down to 2")],
)  # fmt: skip
def test_a_fault_damps_the_robot_and_the_run_is_kept(machine, controller, text, said):
    cut = expect_cut(machine, controller, Fault.parse(text))
    assert cut.run is not None
    assert "The joints were damped." in str(cut)
    with pytest.raises(SurefootError, match=said):
        raise cut
    damped = cut.run["phase"] == Phase.DAMPED
    assert cut.run.time[np.argmax(damped)] == pytest.approx(0.55, abs=0.08)
    assert np.isnan(cut.run["target"][damped]).all()
    assert 0.0025 * damped.sum() == pytest.approx(1.0, abs=0.02)  # a second more is watched
    assert not machine._armed
    assert cut.run.stop in str(cut)


def test_an_encoder_that_sticks_is_found_when_its_joint_is_asked_to_move(machine, tmp_path):
    """The policy swings its knees; the encoder of one stops at 0.5 s, and the robot is damped within 0.3 s."""
    spec = specification(command_low=[-1] * 3, command_high=[1] * 3)
    weights = np.zeros((12, 48))
    weights[[2, 5], 9] = 1.0  # the front knees follow the command
    path = linear(tmp_path / "swing.onnx", weights, spec.to_metadata())
    c = Controller(ROBOT, Policy.load(path), Estimator(FEET, ROBOT.dynamics), ramps=SHORT)
    times = np.arange(0, 1.5, 0.1)
    swing = Script(times, np.stack([0.3 * (-1.0) ** np.arange(len(times)), 0 * times, 0 * times], axis=1))
    with pytest.raises(CutShort, match="the encoder of LF_KFE still says") as found:
        walk(Faulty(machine, (Fault.parse("stuck:LF_KFE@0.5"),)), c, swing, seconds=1.5)
    damped = found.value.run["phase"] == Phase.DAMPED
    assert 0.6 < found.value.run.time[np.argmax(damped)] < 0.9


def test_without_a_fault_the_same_walk_ends_well(machine, controller):
    assert go(Faulty(machine, (Fault.parse("nan@60"),)), controller).stop == ""


class Silent:
    """A machine that falls silent, or is stopped by hand, after some states."""

    def __init__(self, machine, error, states=100):
        self._machine, self._error, self._left = machine, error, states

    def __getattr__(self, name):
        return getattr(self._machine, name)

    def read(self):
        """Some states, and then none."""
        self._left -= 1
        if self._left < 0:
            raise self._error
        return self._machine.read()


@pytest.mark.parametrize("error", [LinkLost("nothing came for 250 ms"), KeyboardInterrupt(), OSError("cable")])
def test_whatever_ends_a_walk_damps_the_robot(machine, controller, error):
    with pytest.raises(CutShort, match=r"the walk ended after 0\.25 s") as found:
        go(Silent(machine, error), controller)
    assert len(found.value.run.time) == 100
    assert not machine._armed


def test_a_machine_that_never_speaks_leaves_no_run(machine, controller):
    with pytest.raises(CutShort, match="before it began") as found:
        go(Silent(machine, LinkLost("nothing came"), states=0), controller)
    assert found.value.run is None


def test_a_machine_with_other_joints_is_refused(machine, controller):
    machine.joints = machine.joints[::-1]
    with pytest.raises(SurefootError, match="order and names must agree"):
        go(machine, controller)


@pytest.mark.parametrize(
    ("text", "said"),
    [("fire@5", "unknown fault 'fire'; valid: lost, stuck"), ("lost", "has no time"), ("stuck@5", "stuck:JOINT@SECONDS"),
     ("nan:LF_KFE@5", "stuck:JOINT@SECONDS"), ("nan@x", "has no time"), ("nan@-1", "seconds >= 0"), ("nan@1e1e1", "has no time")],
)  # fmt: skip
def test_a_fault_that_makes_no_sense_is_refused(text, said):
    with pytest.raises(SurefootError, match=said):
        Fault.parse(text)


def test_faults_are_written_as_they_are_read(machine):
    for text in ("lost@5", "stuck:LF_KFE@2.5"):
        assert str(Fault.parse(text)) == text
    assert set(KINDS) == {"lost", "stuck", "nan", "command", "sag"}
    with pytest.raises(SurefootError, match="unknown joint of the machine 'LF_KNEE'"):
        Faulty(machine, (Fault.parse("stuck:LF_KNEE@5"),))
