"""The recorder on machines that behave, and on machines that do not."""

import numpy as np
import pytest

from surefoot import SurefootError
from surefoot.record.journal import Journal, recover
from surefoot.record.recorder import GENTLE, CutShort, record
from surefoot.record.targets import Targets
from surefoot.robot.hardware import LinkLost, State

JOINTS = ("hip", "knee")


class Puppet:
    """A machine whose joints are where they were told to be one period ago; it notes all that is asked of it."""

    joints = JOINTS
    period = 0.0025

    def __init__(self, start=(0.0, 0.0), torque=True):
        self.position, self.turn, self.said, self.torque = np.array(start), 0, [], torque
        self.gains = None
        self.closed = False

    def stamp(self):
        """The machine's clock [s]."""
        return self.turn * self.period

    def set_gains(self, stiffness, damping):
        """Note them."""
        self.gains = (stiffness, damping)

    def read(self):
        """One period later."""
        self.turn += 1
        torque = np.full(2, float(self.turn)) if self.torque else None
        return State(time=self.stamp(), position=self.position, velocity=np.zeros(2), torque=torque)

    def write(self, command):
        """Obey at once."""
        self.said.append(command)
        self.position = command.target

    def damp(self):
        """Note it."""
        self.said.append("damp")

    def close(self):
        """Note it."""
        self.said.append("close")
        self.closed = True


def targets(duration=0.5, rate=400.0, joints=JOINTS, **more):
    time = np.arange(round(duration * rate)) / rate
    target = 0.2 + 0.1 * np.stack([np.sin(20 * time), np.cos(20 * time)], axis=1)
    values = {"stiffness": np.array([60.0, 50.0]), "damping": np.array([2.0, 1.0]), "kind": "sines", "seed": 3}
    return Targets(joints=joints, time=time, target=target, **(values | more))


def test_what_is_commanded_and_what_is_measured_stand_side_by_side():
    """Row k: what was measured at its stamp, and what was commanded upon it; the puppet obeys by the next row."""
    puppet, plan = Puppet(), targets()
    taken = record(puppet, plan)
    assert taken.joints == JOINTS
    assert taken.time[0] == 0.0
    np.testing.assert_allclose(taken.time, plan.time, atol=1e-9)
    np.testing.assert_allclose(taken.target, plan.target, atol=1e-9)
    np.testing.assert_array_equal(taken.position[1:], taken.target[:-1])
    assert taken.torque is not None
    assert taken.command_hold
    assert taken.notes == {"motion": "sines", "seed": "3"}
    np.testing.assert_array_equal(taken.stiffness, [60.0, 50.0])
    np.testing.assert_array_equal(puppet.gains[1], [2.0, 1.0])


def test_the_way_to_the_first_target_is_gentle_and_ends_at_rest():
    puppet, plan = Puppet(start=(-1.0, 0.5)), targets()
    record(puppet, plan)
    said = np.array([c.target for c in puppet.said if not isinstance(c, str)])
    way = said[: len(said) - len(plan.time)]
    assert np.abs(np.diff(way, axis=0)).max() / puppet.period <= GENTLE * 1.001
    np.testing.assert_allclose(way[0], [-1.0, 0.5], atol=1e-3)
    np.testing.assert_allclose(way[-300:], np.tile(plan.target[0], (300, 1)))


def test_the_joints_are_let_go_at_the_end():
    puppet = Puppet()
    record(puppet, targets())
    assert puppet.said[-1] == "close"


def test_targets_at_another_rate_are_interpolated_at_the_machines_own_stamps():
    puppet, plan = Puppet(), targets(rate=100.0)
    taken = record(puppet, plan)
    assert taken.rate == pytest.approx(400.0)
    for j in range(2):
        np.testing.assert_allclose(taken.target[:, j], np.interp(taken.time, plan.time, plan.target[:, j]), atol=1e-9)


def test_target_velocity_and_feedforward_are_played_and_kept():
    shape = targets().target.shape
    plan = targets(target_velocity=np.full(shape, 0.3), feedforward=np.full(shape, -1.0))
    taken = record(Puppet(torque=False), plan)
    assert taken.torque is None
    np.testing.assert_array_equal(taken.target_velocity, 0.3)
    np.testing.assert_array_equal(taken.feedforward, -1.0)


def test_joints_are_played_in_the_machines_order():
    plan = targets(joints=("knee", "hip"))
    taken = record(Puppet(), plan)
    assert taken.joints == JOINTS
    np.testing.assert_allclose(taken.target[:, 0], plan.target[:, 1])
    with pytest.raises(SurefootError, match="ankle"):
        record(Puppet(), targets(joints=("hip", "ankle")))


class Repeating(Puppet):
    """Says everything twice, and leaves out every tenth state."""

    def stamp(self):
        """The machine's clock [s]."""
        whole = self.turn // 2
        return (whole + whole // 10) * self.period


def test_repeated_states_are_dropped_and_lost_ones_are_gaps():
    taken = record(Repeating(), targets())
    steps = np.diff(taken.time) / 0.0025
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
    assert set(np.round(steps)) == {1.0, 2.0}


class Failing(Puppet):
    """Works for some turns, then raises."""

    def __init__(self, error, turns):
        super().__init__()
        self.error, self.turns = error, turns

    def read(self):
        """One period later."""
        if self.turn >= self.turns:
            raise self.error
        return super().read()


@pytest.mark.parametrize("error", [LinkLost("the cable is out"), RuntimeError("overheated"), KeyboardInterrupt()])
def test_whatever_happens_the_joints_are_damped_and_the_recording_is_there(error, tmp_path):
    machine = Failing(error, turns=1200)
    with pytest.raises(CutShort) as caught:
        record(machine, targets(duration=2.0), journal=tmp_path / "j")
    taken = caught.value.recording
    assert taken is not None
    assert 0.2 < taken.duration < 1.9
    assert "cut short" in taken.notes
    assert machine.said[-2:] == ["damp", "close"]
    assert recover(tmp_path / "j").hash == taken.hash
    assert str(error) in str(caught.value)
    assert ("watchdog" in str(caught.value)) == isinstance(error, LinkLost)


def test_a_machine_that_fails_before_the_first_target_leaves_nothing(tmp_path):
    with pytest.raises(CutShort, match="before it began") as caught:
        record(Failing(RuntimeError("no power"), turns=3), targets(), journal=tmp_path / "j")
    assert caught.value.recording is None
    assert not (tmp_path / "j").exists()


class Backwards(Puppet):
    """Its clock runs back after a while."""

    def stamp(self):
        """The machine's clock [s]."""
        return super().stamp() if self.turn < 900 else 0.1


class Stuck(Puppet):
    """Its clock stands still."""

    def stamp(self):
        """The machine's clock [s]."""
        return 1.0


class Blind(Puppet):
    """Has lost an encoder."""

    def read(self):
        """One period later."""
        self.position = np.array([0.0, np.nan])
        return super().read()


@pytest.mark.parametrize(
    ("kind", "words"), [(Backwards, "went back"), (Stuck, "repeats the state"), (Blind, "no position for knee")]
)
def test_a_clock_or_an_encoder_that_fails_is_named(kind, words):
    with pytest.raises(CutShort, match=words):
        record(kind(), targets(duration=2.0))


def journal(path, rows):
    about = {"joints": list(JOINTS), "stiffness": [60.0, 50.0], "damping": [2.0, 1.0], "name": "x", "notes": {}}
    book = Journal(path, about, ["target", "position"])
    for k in range(rows):
        book.add(0.0025 * k, [0.1, 0.2], [0.0, k])
    return book


def test_a_journal_that_was_never_closed_can_be_read(tmp_path):
    """All but the rows of the last tenth of a second, as after a power cut."""
    book = journal(tmp_path / "j", 200)
    saved = recover(tmp_path / "j")
    assert 200 - 40 <= len(saved.time) <= 200
    np.testing.assert_array_equal(saved.position[:, 1], np.arange(len(saved.time)))
    assert "recovered" in saved.notes
    book.close()


def test_half_a_row_at_the_end_is_left_out(tmp_path):
    journal(tmp_path / "j", 50).close()
    whole = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(whole[:-13])
    assert len(recover(tmp_path / "j").time) == 49


def test_what_is_no_journal_is_refused(tmp_path):
    (tmp_path / "j").write_bytes(b"\x00\x01nonsense")
    with pytest.raises(SurefootError, match="not a journal"):
        recover(tmp_path / "j")
    with pytest.raises(SurefootError, match="cannot read"):
        recover(tmp_path / "none")
    journal(tmp_path / "k", 2).close()
    with pytest.raises(SurefootError, match="only 2 samples"):
        recover(tmp_path / "k")


def test_a_row_of_the_wrong_width_is_refused(tmp_path):
    with journal(tmp_path / "j", 1) as book, pytest.raises(SurefootError, match="rows of 5 numbers"):
        book.add(1.0, [0.1], [0.2])
