"""The datagrams of a UDP link, and a link between two threads that loses and delays them."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_recorder import Puppet, targets

from surefoot import SurefootError
from surefoot.record.recorder import CutShort, record
from surefoot.record.udp import UdpHardware
from surefoot.record.wire import Kind, body, command_body, newer, pack, read_welcome, state_body, unpack, welcome_body
from surefoot.robot.hardware import Command, LinkLost, State
from surefoot.simulate.virtual.server import Faults, Server

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40)


@given(kind=st.sampled_from(Kind), sequence=st.integers(0, 2**32 - 1), time=st.floats(-1e6, 1e6), values=NUMBERS)
def test_a_datagram_comes_out_as_it_went_in(kind, sequence, time, values):
    there = unpack(pack(kind, 12, sequence, time, body(np.array(values))))
    assert there is not None
    assert (there.kind, there.joints, there.sequence, there.time) == (kind, 12, sequence, time)
    parts = there.numbers(len(values))
    assert parts is not None
    np.testing.assert_array_equal(parts[0], values)


@given(data=st.binary(max_size=100))
def test_noise_is_no_datagram(data):
    assert unpack(data) is None or data.startswith(b"SFLK")


def test_numbers_that_are_too_few_or_not_finite_are_refused():
    there = unpack(pack(Kind.COMMAND, 2, 1, 0.0, body(np.array([1.0, np.nan]))))
    assert there is not None
    assert there.numbers(2) is None
    assert there.numbers(1) is None


@given(start=st.integers(0, 2**32 - 1), ahead=st.integers(1, 2**31 - 1))
def test_sequence_numbers_wrap(start, ahead):
    later = (start + ahead) % 2**32
    assert newer(later, start)
    assert not newer(start, later)
    assert not newer(start, start)


def test_what_is_left_out_of_a_command_or_state_is_zero():
    sent = unpack(pack(Kind.COMMAND, 2, 1, 0.0, command_body(Command(target=np.ones(2)))))
    assert sent is not None
    np.testing.assert_array_equal(sent.numbers(6), [[1, 1, 0, 0, 0, 0]])
    state = State(time=0.0, position=np.ones(2), velocity=np.zeros(2), more={"current": np.full(2, 5.0)})
    there = unpack(pack(Kind.STATE, 2, 1, 0.0, state_body(state)))
    assert there is not None
    np.testing.assert_array_equal(there.numbers(8), [[1, 1, 0, 0, 0, 0, 5, 5]])


def test_a_welcome_says_what_the_machine_is():
    state = State(time=0.0, position=np.ones(2), velocity=np.zeros(2), more={"charge": np.ones(1)})
    there = unpack(pack(Kind.WELCOME, 2, 1, 0.0, welcome_body(("hip", "knee"), 0.0025, state)))
    assert there is not None
    assert read_welcome(there) == {"joints": ["hip", "knee"], "period": 0.0025, "torque": False, "more": {"charge": 1}}
    for wrong in (b"", b"[]", b'{"joints": ["hip"], "period": 1, "torque": false, "more": {}}', b'{"joints": 3}'):
        broken = unpack(pack(Kind.WELCOME, 2, 1, 0.0, wrong))
        assert broken is not None
        assert read_welcome(broken) is None


def served(machine, **more):
    """A machine behind a port of this computer; the thread ends when `done` is set."""
    server, done = Server(machine, **({"watchdog": 0.5} | more)), threading.Event()
    thread = threading.Thread(target=server.run, kwargs={"stop": done.is_set, "seconds": 30.0})
    thread.start()

    def end():
        done.set()
        thread.join()

    return server, end


def test_over_a_link_a_machine_is_the_same_machine():
    puppet = Puppet()
    server, end = served(puppet)
    try:
        far = UdpHardware("127.0.0.1", server.port)
        assert (far.joints, far.period) == (puppet.joints, puppet.period)
        taken = record(far, targets(duration=0.3))
    finally:
        end()
    assert taken.torque is not None
    np.testing.assert_array_equal(puppet.gains[0], [60.0, 50.0])
    assert np.abs(taken.position[-10:] - taken.target[-10:]).max() < 0.05
    assert puppet.said[-1] == "close"


def test_who_dawdles_before_the_gains_does_not_act_upon_old_states():
    """Half a second of states waits in the socket; the way to the first target would be played upon them in no time."""
    puppet = Puppet()
    server, end = served(puppet)
    try:
        far = UdpHardware("127.0.0.1", server.port)
        time.sleep(0.5)
        far.set_gains(np.array([60.0, 50.0]), np.array([2.0, 1.0]))
        newest = puppet.stamp()
        assert far.read().time > newest - 0.1
        far.close()
    finally:
        end()


def test_lost_and_late_datagrams_leave_gaps_and_never_turn_time_back():
    server, end = served(Puppet(), faults=Faults(loss=0.05, late=0.05, lateness=0.008, seed=1))
    try:
        far = UdpHardware("127.0.0.1", server.port)
        taken = record(far, targets(duration=1.0))
        link = far.link()
    finally:
        end()
    assert (np.diff(taken.time) > 0).all()
    assert link.lost > 0
    assert link.late > 0
    assert "were lost" in str(link)


def test_a_cut_cable_damps_the_machine_and_keeps_the_recording():
    """The computer sees silence; the machine's side sees it too, and damps without being asked."""
    puppet = Puppet()
    server, end = served(puppet, watchdog=0.1, faults=Faults(cut=2.5))
    try:
        far = UdpHardware("127.0.0.1", server.port, patience=0.3)
        with pytest.raises(CutShort, match="nothing has come") as caught:
            record(far, targets(duration=20.0))
        said = len(puppet.said)
    finally:
        end()
    assert caught.value.recording is not None
    assert caught.value.recording.duration > 0.1
    assert server.damped
    assert "damp" in puppet.said[:said]


def test_nobody_at_the_other_end_is_said_so():
    with pytest.raises(LinkLost, match="does not answer"):
        UdpHardware("127.0.0.1", 9, patience=0.1)
    with pytest.raises(SurefootError, match="no way to"):
        UdpHardware("256.1.1.1", 9)


def test_a_port_in_use_and_a_hasty_watchdog_are_refused():
    first = Server(Puppet(), watchdog=0.1)
    with pytest.raises(SurefootError, match="cannot be opened"):
        Server(Puppet(), port=first.port)
    with pytest.raises(SurefootError, match="longer than the period"):
        Server(Puppet(), watchdog=0.001)
    first.run(seconds=0.0)


def test_faults_are_shares_and_seconds():
    with pytest.raises(SurefootError, match="shares"):
        Faults(loss=2.0)
