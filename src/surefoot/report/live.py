"""A page that updates while something runs: a server on loopback that tells every open page what happened, from the start.

`GET /` is the page, `GET /events` a stream of server-sent events (`progress`, `motion`, `done`, `failed`), `GET /content.json`
what the page shows when all is done. Who comes late hears everything from the beginning. What publishes need not know
what a page does with it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from surefoot.errors import SurefootError
from surefoot.identify.least_squares import Progress
from surefoot.report.page import html, plain
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.robot.spec import Robot

PATIENCE = 10.0  # [s] that `finish` waits for open pages to fetch the result
OFTEN = 0.1  # [s] between two progress events, so that a fast search does not flood the page
SELDOM = 1.0  # [s] between two motions, which cost a replay each; none is made while nobody watches
ALIVE = 2.0  # [s] after which a silent stream says that it is still there


class LiveServer:
    """Serves one live page. Use as a context: it listens inside, and is gone after."""

    def __init__(
        self, content: dict[str, Any], port: int = 0, *, preview: Callable[[JointDynamics], dict[str, Any]] | None = None
    ) -> None:
        self.content, self._preview, self._result = content, preview, b""
        self._events: list[tuple[str, str]] = []
        self._change = threading.Condition()
        self._watching = self._served = 0
        self._told = self._shown = -1e9
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise SurefootError(
                f"cannot serve the live page on port {port}: {reason}. Choose another --port, or 0 for a free one."
            ) from None
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._closed = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._change:
            self._closed = True
            self._change.notify_all()
        self._server.shutdown()
        self._server.server_close()

    @property
    def visited(self) -> bool:
        """Whether a page has listened so far."""
        return self._served + self._watching > 0

    def publish(self, kind: str, data: dict[str, Any]) -> None:
        """An event for every open page, and for those that will open later; of motions, these hear the last."""
        with self._change:
            if kind == "motion":
                self._events = [("motion", "") if old == "motion" else (old, text) for old, text in self._events]
            self._events.append((kind, json.dumps(data, allow_nan=False)))
            self._change.notify_all()

    def tell(self, progress: Progress) -> None:
        """The story of a search, at a pace that a page can follow; the first and the last step are always told."""
        now = time.monotonic()
        if 0 < progress.iteration < progress.limit - 1 and now - self._told < OFTEN:
            return
        self._told = now
        data: dict[str, Any] = {"stage": progress.stage, "iteration": progress.iteration, "limit": progress.limit}
        data["loss"] = plain(progress.loss)
        if progress.dynamics is not None:
            names = [name for name in self.content["units"] if hasattr(progress.dynamics, name)]
            data["values"] = {name: plain(getattr(progress.dynamics, name)) for name in names}
            if self._preview and self._watching and now - self._shown > SELDOM:
                self.publish("motion", self._preview(progress.dynamics))
                self._shown = time.monotonic()
        self.publish("progress", data)

    def fail(self, message: str) -> None:
        """The run ended without a result."""
        self.publish("failed", {"message": message})
        self._wait()

    def finish(self, content: dict[str, Any]) -> None:
        """Hand the result to every open page, and wait until they have it."""
        self._result = json.dumps(content, allow_nan=False).encode()
        self.publish("done", {})
        self._wait()

    def _wait(self) -> None:
        with self._change:
            self._change.wait_for(lambda: self._watching == 0, timeout=PATIENCE)

    def stream(self, write: Any) -> None:
        """Write events to one page until the last one, or until it is closed."""
        told = 0
        with self._change:
            self._watching += 1
        try:
            while True:
                with self._change:
                    self._change.wait_for(lambda told=told: self._closed or len(self._events) > told, timeout=ALIVE)
                    fresh, told, closed = self._events[told:], len(self._events), self._closed
                write(b"".join(f"event: {kind}\ndata: {data}\n\n".encode() for kind, data in fresh if data) or b": waiting\n\n")
                if closed or any(kind == "failed" for kind, _ in fresh):
                    return
                if any(kind == "done" for kind, _ in fresh):
                    with self._change:  # until the page has come for the result
                        self._change.wait_for(lambda: self._closed or self._served > 0, timeout=PATIENCE)
                    return
        finally:
            with self._change:
                self._watching -= 1
                self._change.notify_all()

    def result(self) -> bytes:
        """What /content.json answers: nothing before the end."""
        return self._result

    def served(self) -> None:
        """A page has the result."""
        with self._change:
            self._served += 1
            self._change.notify_all()


def live_content(robot: Robot, joints: Sequence[str], parameters: Sequence[str]) -> dict[str, Any]:
    """What a page of a running search starts from."""
    return {
        "kind": "live",
        "title": f"{robot.name}: joint dynamics",
        "verdict": {"colour": "grey", "text": f"Searching for the joint dynamics of {robot.name}."},
        "joints": list(joints),
        "small": ["mm" if robot.kinds[robot.index(joint)] == "slide" else "mrad" for joint in joints],
        "units": {name: PARAMETERS[name].unit for name in parameters},
    }


def _handler(live: LiveServer) -> type[BaseHTTPRequestHandler]:
    """A handler class that knows its server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """The page, its events, its result; other names of this machine than loopback's are refused (DNS rebinding)."""
            port = self.server.server_address[1]  # type: ignore[index]
            try:
                if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
                    self.send_error(HTTPStatus.FORBIDDEN)
                elif self.path == "/":
                    self._answer("text/html; charset=utf-8", html(live.content, live=True).encode())
                elif self.path == "/content.json" and live.result():
                    self._answer("application/json", live.result())
                    live.served()
                elif self.path == "/events":
                    self._events()
                else:
                    self.send_error(HTTPStatus.NOT_FOUND)
            except (ConnectionError, TimeoutError):  # the page was closed
                self.close_connection = True

        def _answer(self, kind: str, body: bytes) -> None:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def _events(self) -> None:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True

            def write(data: bytes) -> None:
                self.wfile.write(data)
                self.wfile.flush()

            live.stream(write)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing: the command line belongs to the search."""

    return Handler
