"""A machine behind a UDP port, in real time, with a watchdog: when commands stop coming, the joints are damped."""

from __future__ import annotations

import heapq
import itertools
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.wire import LARGEST, Datagram, Kind, newer, pack, state_body, unpack, welcome_body
from surefoot.robot.hardware import Command, Hardware, State

Watch = Callable[[State, bool], None]  # a state, and whether the joints are damped


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What a bad network does to every datagram, in both directions."""

    loss: float = 0.0  # share that vanishes [-]
    late: float = 0.0  # share that is held back [-]
    lateness: float = 0.01  # for how long [s]
    cut: float = np.inf  # when the cable is pulled, after the first command [s]
    seed: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.loss < 1 and 0 <= self.late <= 1 and self.lateness >= 0 and self.cut >= 0):
            raise SurefootError("of a link's faults, loss and late are shares from 0 to 1, lateness and cut are seconds >= 0.")


class Server:
    """One machine, one port, one client at a time: the one that said hello last."""

    def __init__(
        self, hardware: Hardware, host: str = "127.0.0.1", port: int = 0, *, watchdog: float = 0.05, faults: Faults | None = None,
        watch: Watch | None = None,
    ) -> None:  # fmt: skip
        """`watchdog`: how long commands may stay away before the joints are damped [s]; port 0: any free one."""
        if not watchdog > hardware.period:
            raise SurefootError(f"the watchdog is {watchdog:g} s; it must be longer than the period, {hardware.period:g} s.")
        self.hardware, self.watchdog, self.faults = hardware, watchdog, faults or Faults()
        self._watch = watch or (lambda *_: None)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            why = error.strerror or error
            raise SurefootError(f"port {port} at {host} cannot be opened: {why}. Choose another --port.") from None
        self._socket.setblocking(False)
        self.port = int(self._socket.getsockname()[1])
        self._chance = np.random.default_rng(self.faults.seed)
        self._held: list[tuple[float, int, Callable[..., Any], tuple[Any, ...]]] = []
        self._order = itertools.count()
        self._client: Any = None
        self._sent, self._newest = 0, -1
        self._heard = self._first = np.inf  # when the last and the first command came
        self.damped = True
        self.slips = 0  # periods that began late by more than one
        self._state = hardware.read()

    def run(self, *, seconds: float = np.inf, stop: Callable[[], bool] = lambda: False) -> None:
        """Serve in real time: the machine's clock and the wall's run alike."""
        hardware, begin = self.hardware, time.perf_counter()
        origin = self._state.time
        try:
            while time.perf_counter() - begin < seconds and not stop():
                self._guard(time.perf_counter())
                state = self._state = hardware.read()
                due = begin + state.time - origin
                self.slips += time.perf_counter() > due + hardware.period
                if time.perf_counter() > due + 0.25:  # the machine was suspended: do not race to catch up
                    begin, due = begin + time.perf_counter() - due, time.perf_counter()
                self._listen(due)
                self._watch(state, self.damped)
                if self._client is not None:
                    self._sent += 1
                    said = pack(Kind.STATE, len(hardware.joints), self._sent, state.time, state_body(state))
                    self._fly(self._send, self._client, said)
        finally:
            hardware.damp()
            hardware.close()
            self._socket.close()

    # --- safety -------------------------------------------------------------------------------------------------------------
    def _guard(self, now: float) -> None:
        """Damp the joints when commands have stayed away for too long."""
        if not self.damped and now - self._heard > self.watchdog:
            self.hardware.damp()
            self.damped = True

    # --- datagrams ----------------------------------------------------------------------------------------------------------
    def _listen(self, until: float) -> None:
        """Take what comes, and let go what was held back, up to a time."""
        while True:
            now = time.perf_counter()
            while self._held and self._held[0][0] <= now:
                _, _, action, arguments = heapq.heappop(self._held)
                action(*arguments)
            wake = min(until, self._held[0][0]) if self._held else until
            ready, _, _ = select.select([self._socket], [], [], max(wake - now, 0.0))
            if ready:
                self._take()
            elif time.perf_counter() >= until:
                return

    def _take(self) -> None:
        try:
            data, sender = self._socket.recvfrom(LARGEST)
        except OSError:  # an answer of ours was refused: the client is gone, and the watchdog will notice
            return
        datagram = unpack(data)
        if datagram is not None:
            self._fly(self._obey, datagram, sender)

    def _fly(self, action: Callable[..., Any], *arguments: Any) -> None:
        """Do it now, later, or never, as the network pleases."""
        now, faults = time.perf_counter(), self.faults
        if now - self._first > faults.cut or self._chance.random() < faults.loss:
            return
        if self._chance.random() < faults.late:
            heapq.heappush(self._held, (now + faults.lateness, next(self._order), action, arguments))
            return
        action(*arguments)

    def _obey(self, datagram: Datagram, sender: Any) -> None:
        n = len(self.hardware.joints)
        if datagram.kind == Kind.HELLO:
            self._client, self._newest, self._sent = sender, -1, 0
            content = welcome_body(tuple(self.hardware.joints), self.hardware.period, self._state)
            self._send(sender, pack(Kind.WELCOME, n, datagram.sequence, self._state.time, content))
        elif sender != self._client:
            return  # of a client that was replaced
        elif datagram.kind == Kind.GAINS and (gains := datagram.numbers(n, n)) is not None and min(map(np.min, gains)) >= 0:
            self.hardware.set_gains(*gains)
            self.damped, self._heard = False, time.perf_counter()
            self._send(sender, pack(Kind.ACK, n, datagram.sequence, self._state.time))
        elif datagram.kind == Kind.DAMP:
            self.hardware.damp()
            self.damped = True
            self._send(sender, pack(Kind.ACK, n, datagram.sequence, self._state.time))
        elif datagram.kind == Kind.COMMAND and not self.damped and (parts := datagram.numbers(n, n, n)) is not None:
            if self._newest >= 0 and not newer(datagram.sequence, self._newest):
                return
            self._newest, self._heard = datagram.sequence, time.perf_counter()
            self._first = min(self._first, self._heard)
            self.hardware.write(Command(target=parts[0], target_velocity=parts[1], feedforward=parts[2]))

    def _send(self, client: Any, data: bytes) -> None:
        try:
            self._socket.sendto(data, client)
        except OSError:  # full, or refused: a datagram more that is lost
            return
