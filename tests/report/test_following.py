"""The page of a recording: its intervals shrink while the robot moves, and it says when that is enough."""

import contextlib
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from drawn import fit, recorded, robot

from surefoot import Recording, Robot
from surefoot.cli import main
from surefoot.record.excitation import chirp
from surefoot.record.targets import Targets
from surefoot.report.following import ENOUGH, JUDGED, Judge, Widest, widest


def found(share):
    return (Widest(name="armature", joint="LF_HIP", share=share), Widest(name="delay", joint="", share=share / 2))


def test_half_an_interval_is_measured_against_what_its_parameter_is_a_part_of():
    """An interval ten times as wide gives ten times the share; the delay's whole is 5 ms."""
    known, recording = fit(), recorded("chirp", seed=1)
    first = {one.name: one for one in widest(known, robot(), recording)}
    assert tuple(first) == JUDGED
    half = 0.5 * float((known.high.delay - known.low.delay)[0])
    assert first["delay"].share == pytest.approx(half / 0.005)
    assert first["armature"].joint in known.joints
    middle, half = 0.5 * (known.high.friction + known.low.friction), 5.0 * (known.high.friction - known.low.friction)
    wide = replace(known, low=replace(known.low, friction=middle - half), high=replace(known.high, friction=middle + half))
    second = {one.name: one for one in widest(wide, robot(), recording)}
    assert second["friction"].share == pytest.approx(10 * first["friction"].share)


def test_one_narrow_fit_may_be_luck_and_two_in_a_row_are_enough():
    judge = Judge(0.02)
    said = [judge.hear(found(share), 5.0) for share in (0.5, 0.01, 0.03, 0.02, 0.01)]
    assert [good for good, _ in said] == [False, False, False, False, True]
    assert said[0][1] == "Go on: after 5.0 s the widest interval is that of the armature of LF_HIP, ± 50 %; 2 % are asked for."
    assert said[1][1].startswith("Nearly there")
    assert said[4][1].startswith("Good enough")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Targets of a minute for a drive on a bench."""
    drive = Robot.load("single_drive")
    motion = chirp(drive, duration=60.0, stop_hz=6.0, amplitude=0.2)
    Targets(joints=drive.joints, time=motion.time, target=motion.target, stiffness=drive.stiffness, damping=drive.damping,
            kind="chirp").save(tmp_path / "targets.npz")  # fmt: skip
    monkeypatch.chdir(tmp_path)
    return tmp_path


RECORD = ["record", "single_drive", "targets.npz", "--hardware", "virtual:7", "--out", "rec.npz", "--live"]


@contextlib.contextmanager
def recording(folder, *words):
    """`surefoot record --live` in a process of its own, and a function that gives what it has printed so far."""
    said = folder / "said.txt"
    with (
        said.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-u", "-m", "surefoot.cli", *RECORD, *words], cwd=folder, stdout=file, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield process, lambda: said.read_text(encoding="utf-8")
        finally:
            process.kill()


def until(condition, what, seconds=60.0):
    """The first true answer of a condition that is asked again and again."""
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds:g} s")


def test_a_browser_watches_the_intervals_shrink_until_they_are_narrow_enough(browser, folder):
    """Then the robot is stopped by hand, and the page becomes the report of what was recorded."""
    seen = {}

    def enough():
        note, sentence, half = browser.ask(
            "[document.querySelector('#told')?.textContent ?? '', document.querySelector('#verdict').textContent,"
            " [...document.querySelectorAll('td[data-parameter=armature]')].map((c) => c.dataset.high - c.dataset.low)]"
        )
        if half:
            seen.setdefault(note, (sentence, half[0]))
        return "Good enough" in sentence

    with recording(folder, "--enough", "0.05") as (process, said):
        browser.open(until(lambda: re.search(r"watch at (\S+)", said()), "a page")[1])
        until(enough, "an answer that is good enough")
        process.send_signal(signal.SIGINT)
        until(lambda: browser.ask("document.documentElement.dataset.done === 'true'"), "the report")
        assert process.wait(60) == 0, said()
        told = said()
    widths = [half for _, half in seen.values()]
    assert len(widths) >= 2, seen  # two fits in a row are asked for
    assert widths[-1] < widths[0]
    browser.drawn()
    assert "simulator follows single_drive" in browser.ask("document.querySelector('#verdict').textContent")
    assert browser.logged() == []
    assert "Good enough: after" in told
    assert Recording.load(folder / "rec.npz").duration < 60


def test_who_stops_by_hand_keeps_the_recording_and_nothing_went_wrong(folder):
    """Ctrl-C while the robot moves: the file is there, the exit code is 0, the journal is gone."""
    journal = folder / "rec.npz.journal"
    with recording(folder) as (process, said):
        until(lambda: journal.exists() and journal.stat().st_size > 40_000, "a motion")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, said()
        told = said()
    assert "it was stopped by hand" in told
    assert "next: surefoot check single_drive rec.npz" in told
    assert 0.5 < Recording.load(folder / "rec.npz").duration < 60
    assert not journal.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["--enough", "2"], "--enough is 2"), (["--enough", "nan"], "--enough is nan"), (["--port", "70000"], "--port")],
)
def test_what_a_live_recording_cannot_do_is_said_before_the_robot_moves(folder, capsys, words, sentence):
    assert main([*RECORD, *words]) == 1
    assert sentence in capsys.readouterr().err
    assert not list(folder.glob("rec*"))


def test_the_live_pages_options_need_the_live_page(folder, capsys):
    assert main([*RECORD[:-1], "--enough", str(ENOUGH)]) == 1
    assert "add --live" in capsys.readouterr().err
