"""The live page: a browser follows a fit from its first generation to its last, and whoever comes late misses nothing."""

import contextlib
import http.client
import io
import json
import threading
import time

import pytest
from drawn import LEGS, fit, recorded, robot

from surefoot.cli import main
from surefoot.errors import SurefootError
from surefoot.identify import identify
from surefoot.identify.least_squares import Progress
from surefoot.report import fit_content
from surefoot.report.live import LiveServer, live_content
from surefoot.report.preview import preview
from surefoot.simulate.physics import Physics

PARAMETERS = ("armature", "damping", "friction", "bias", "delay")


def served():
    shown = preview(robot(), recorded("chirp", seed=1), Physics(), "auto")
    return LiveServer(live_content(robot(), robot().joints, PARAMETERS), preview=shown)


def step(i, limit=10):
    return Progress(stage="cma-es", iteration=i, loss=10.0 / (i + 1), limit=limit, dynamics=fit().dynamics)


def get(url, path, host=None):
    """Status, type and body of one answer."""
    address = url.removeprefix("http://").rstrip("/")
    link = http.client.HTTPConnection(address, timeout=10)
    try:
        link.request("GET", path, headers={} if host is None else {"Host": host})
        answer = link.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read()
    finally:
        link.close()


def test_a_late_listener_hears_the_story_from_the_beginning():
    with served() as live:
        for i in (0, 9):
            live.tell(step(i))
        heard = {}
        thread = threading.Thread(target=lambda: heard.update(all=get(live.url, "/events")))
        thread.start()
        live.fail("the disk is full")
        thread.join(10)
    status, kind, body = heard["all"]
    events = [part.split("\n") for part in body.decode().split("\n\n") if part.startswith("event")]
    assert (status, kind) == (200, "text/event-stream")
    assert [event[0] for event in events] == ["event: progress", "event: progress", "event: failed"]
    told = json.loads(events[1][1].removeprefix("data: "))
    assert (told["iteration"], told["loss"]) == (9, 1.0)
    assert told["values"]["armature"] == pytest.approx(fit().dynamics.armature.tolist(), rel=1e-5)
    assert "disk is full" in events[2][1]


def test_a_fast_search_is_told_at_a_pace_that_a_page_can_follow():
    with served() as live:
        for i in range(1000):
            live.tell(step(i, limit=1000))
        assert len(live._events) < 50
        assert json.loads(live._events[0][1])["iteration"] == 0
        assert json.loads(live._events[-1][1])["iteration"] == 999


def test_it_answers_on_loopback_by_its_own_name_only_and_has_no_result_before_the_end():
    with served() as live:
        assert live.url.startswith("http://127.0.0.1:")
        status, kind, page = get(live.url, "/")
        assert (status, kind) == (200, "text/html; charset=utf-8")
        assert b"connect-src 'self'" in page
        assert get(live.url, "/content.json")[0] == 404
        assert get(live.url, "/etc/passwd")[0] == 404
        assert get(live.url, "/", host="evil.example")[0] == 403


def test_without_a_visitor_the_end_waits_for_nobody():
    with served() as live:
        began = threading.Event()
        thread = threading.Thread(target=lambda: (live.finish({"kind": "fit"}), began.set()))
        thread.start()
        assert began.wait(5)
        assert json.loads(get(live.url, "/content.json")[2]) == {"kind": "fit"}


def test_a_port_that_is_taken_is_said_in_a_sentence():
    with served() as live:
        port = int(live.url.split(":")[2].rstrip("/"))
        with pytest.raises(SurefootError, match="--port"):
            LiveServer(live_content(robot(), robot().joints, PARAMETERS), port)


def test_every_step_of_a_search_brings_what_it_stands_for():
    steps = []
    found = identify(robot(), recorded("chirp", seed=1), method="least-squares", tell=steps.append)
    assert steps[-1].dynamics.joints == found.joints
    assert steps[-1].dynamics.armature == pytest.approx(found.dynamics.armature, rel=1e-6)


def test_a_browser_follows_a_fit_and_ends_on_its_report(browser):
    content = fit_content(fit(), robot())
    with served() as live:
        browser.open(live.url)
        browser.until("document.querySelector('#told') !== null")
        while not live.visited:
            time.sleep(0.01)
        live.tell(step(0))
        browser.until("document.querySelector('#told').textContent.includes('1 of at most 10')")
        assert "Searching" in browser.ask("document.querySelector('#verdict').textContent")
        cells = browser.ask("[...document.querySelectorAll('table tbody tr')].map((row) => row.innerText)")
        assert len(cells) == 4 + 1
        browser.until("document.querySelectorAll('#moving canvas[data-drawn]').length === 4")
        caption = browser.ask("document.querySelector('#moving .caption').textContent")
        assert float(caption.split()[0]) == pytest.approx(1e3 * fit().rmse[0], rel=0.01)
        live.tell(step(9))
        browser.until("document.querySelector('#told').textContent.includes('10 of at most 10')")
        live.finish(content)
        browser.until("document.documentElement.dataset.done === 'true'")
    browser.drawn()
    assert browser.ask("document.querySelector('#verdict').textContent").endswith(content["verdict"]["text"])
    assert browser.logged() == []
    assert {address.removeprefix(live.url) for address in browser.requested()} <= {"", "events", "content.json"}


def test_a_browser_hears_that_a_run_failed(browser):
    with served() as live:
        browser.open(live.url)
        live.tell(step(0))
        live.fail("the recordings diverged")
        browser.until("document.querySelector('#told').textContent === 'the recordings diverged'")


def test_identify_live_is_followed_from_start_to_end(browser, tmp_path, monkeypatch):
    """The search is made to wait for the page before its first step, and for the eye at every other."""
    (tmp_path / "legs.xml").write_text(LEGS)
    recorded("chirp", seed=1).save(tmp_path / "chirp.npz")
    open_pages, tell, running = threading.Event(), LiveServer.tell, []
    started = threading.Event()

    def slowly(live, progress):
        running.append(live)
        started.set()
        assert open_pages.wait(60)
        tell(live, progress)
        time.sleep(0.03)

    monkeypatch.setattr(LiveServer, "tell", slowly)
    out, code = io.StringIO(), []
    words = (
        f"identify {tmp_path}/legs.xml {tmp_path}/chirp.npz --out {tmp_path}/fit --method cmaes --population 32 --generations 60"
    )
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        search = threading.Thread(target=lambda: code.append(main([*words.split(), "--live"])))
        search.start()
        assert started.wait(60), out.getvalue()
        browser.open(running[0].url)
        open_pages.set()
        seen, done, late = [], "document.documentElement.dataset.done === 'true'", time.monotonic() + 60
        while not browser.ask(done) and time.monotonic() < late:
            seen.append(browser.ask("document.querySelector('#told')?.textContent ?? ''"))
        search.join(60)
    assert code == [0], out.getvalue()
    assert f"watch at {running[0].url}" in out.getvalue()
    generations = sorted({int(note.split()[1]) for note in seen if note.startswith("cma-es: ")})
    data = json.loads((tmp_path / "fit" / "fit.json").read_text(encoding="utf-8"))
    assert len(generations) >= 3
    assert generations[0] < len(data["history"]) // 2
    browser.drawn()
    shown = browser.ask("[...document.querySelectorAll('td[data-parameter=friction]')].map((cell) => Number(cell.dataset.value))")
    assert shown == data["parameters"]["friction"]["value"]
    assert "did not converge" in browser.ask("document.querySelector('#verdict').textContent")
    assert (tmp_path / "fit" / "report.html").stat().st_size > 1e5
    assert browser.logged() == []


def test_a_port_without_a_live_page_is_refused(capsys):
    assert main(["identify", "anymal", "chirp.npz", "--out", "fit", "--port", "8000"]) == 1
    assert "add --live" in capsys.readouterr().err
