"""A robot at the other end of a UDP link, behind the border of `surefoot.robot.hardware`."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.validation import Array
from surefoot.record.wire import LARGEST, Datagram, Kind, body, command_body, newer, pack, read_welcome, unpack
from surefoot.robot.hardware import Command, LinkLost, State

RETRY = 0.02  # [s] until a request that is not answered is sent again


@dataclass(frozen=True, kw_only=True)
class Link:
    """How a link has behaved so far."""

    states: int  # that came
    lost: int  # whose number never came
    late: int  # that came after a newer one, and were dropped
    interval: Array  # between states [s], shape (states - 1,)

    def __str__(self) -> str:
        if not len(self.interval):
            return f"{self.states} states came, {self.lost} were lost, {self.late} were too late"
        low, middle, high, most = 1e3 * np.quantile(self.interval, [0.01, 0.5, 0.99, 1.0])
        return (f"{self.states} states came, {self.lost} were lost, {self.late} were too late; between two of them "
                f"{middle:.2f} ms (1 % below {low:.2f}, 1 % above {high:.2f}, at most {most:.1f} ms)")  # fmt: skip


class UdpHardware:
    """A robot that answers at HOST:PORT in the datagrams of `surefoot.record.wire`."""

    def __init__(self, host: str, port: int, *, patience: float = 2.0, silence: float = 0.25) -> None:
        """Say hello. `patience`: how long a request may take [s]; `silence`: how long the states may stay away [s]."""
        self.host, self.port, self.patience, self.silence = host, port, patience, silence
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.connect((host, port))
        except OSError as error:
            self._socket.close()
            raise SurefootError(f"there is no way to {host}:{port}: {error.strerror or error}. Check the address.") from None
        self._sent = self._asked = 0
        self._answers = True  # whether the last request was answered
        self._last: int | None = None
        self._lost = self._late = 0
        self._times: list[float] = []
        self._queue: list[Datagram] = []
        try:
            about = read_welcome(self._ask(Kind.HELLO, Kind.WELCOME))
        except LinkLost:
            self._socket.close()
            raise
        if about is None:
            self._socket.close()
            raise SurefootError(f"what answers at {host}:{port} does not say which joints it has; is it a surefoot server?")
        self.joints: tuple[str, ...] = tuple(about["joints"])
        self.period = float(about["period"])
        self._torque, self._more = bool(about["torque"]), dict(about["more"])
        self._queue.clear()

    def set_gains(self, stiffness: Array, damping: Array) -> None:
        """Gains of the drives from now on, acknowledged. States that waited until then are old, and forgotten."""
        self._ask(Kind.GAINS, Kind.ACK, body(np.asarray(stiffness, float), np.asarray(damping, float)))
        self._queue.clear()

    def read(self) -> State:
        """The next state; one that comes after a newer one is dropped."""
        deadline = time.monotonic() + self.silence
        n = len(self.joints)
        while True:
            datagram = self._queue.pop(0) if self._queue else self._receive(deadline)
            if datagram is None:
                raise LinkLost(
                    f"nothing has come from {self.host}:{self.port} for {self.silence:g} s; check the cable, and whether the "
                    "robot's side is running"
                )
            if datagram.kind != Kind.STATE or (parts := datagram.numbers(n, n, n, *self._more.values())) is None:
                continue
            if not self._in_order(datagram.sequence):
                continue
            self._times.append(time.monotonic())
            more = dict(zip(self._more, parts[3:], strict=True))
            torque = parts[2] if self._torque else None
            return State(time=datagram.time, position=parts[0], velocity=parts[1], torque=torque, more=more)

    def write(self, command: Command) -> None:
        """Send a command; nobody says whether it arrived."""
        self._sent += 1
        self._send(pack(Kind.COMMAND, len(self.joints), self._sent, time.monotonic(), command_body(command)))

    def damp(self) -> None:
        """Ask for damping until it is acknowledged; a robot that cannot be reached does it by itself (its watchdog)."""
        self._ask(Kind.DAMP, Kind.ACK)

    def close(self) -> None:
        """Leave the robot damped, as far as it can be reached, and close the socket."""
        if self._socket.fileno() < 0:
            return
        try:
            if self._answers:
                self.damp()
        finally:
            self._socket.close()

    def link(self) -> Link:
        """How the link has behaved."""
        return Link(states=len(self._times), lost=self._lost, late=self._late, interval=np.diff(self._times))

    # --- datagrams ----------------------------------------------------------------------------------------------------------
    def _in_order(self, sequence: int) -> bool:
        """Count what was skipped, and what came too late."""
        if self._last is not None and not newer(sequence, self._last):
            self._late += 1
            self._lost = max(self._lost - 1, 0)  # it had been taken for lost
            return False
        self._lost += 0 if self._last is None else ((sequence - self._last) & 0xFFFFFFFF) - 1
        self._last = sequence
        return True

    def _ask(self, kind: Kind, answer: Kind, content: bytes = b"") -> Datagram:
        """Send a request until its answer comes; states that come meanwhile wait."""
        self._asked += 1
        self._answers = False
        give_up = time.monotonic() + self.patience
        while (now := time.monotonic()) < give_up:
            self._send(pack(kind, len(content) // 16, self._asked, now, content))
            retry = time.monotonic() + RETRY
            while (datagram := self._receive(retry)) is not None:
                if datagram.kind == answer and (answer == Kind.WELCOME or datagram.sequence == self._asked):
                    self._answers = True
                    return datagram
                self._queue.append(datagram)
        raise LinkLost(f"{self.host}:{self.port} does not answer; is it running? For a virtual robot: surefoot serve ROBOT "
                       f"--hardware virtual:7 --port {self.port}")  # fmt: skip

    def _send(self, data: bytes) -> None:
        try:
            self._socket.send(data)
        except ConnectionError:  # an earlier datagram was refused; `read` and `_ask` notice the silence
            pass
        except OSError as error:
            raise LinkLost(f"sending to {self.host}:{self.port} failed: {error.strerror or error}") from None

    def _receive(self, deadline: float) -> Datagram | None:
        """The next datagram of ours, or None at the deadline."""
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                datagram = unpack(self._socket.recv(LARGEST))
            except ConnectionError:
                time.sleep(min(RETRY, left))
                continue
            except OSError:
                return None
            if datagram is not None:
                return datagram
        return None
