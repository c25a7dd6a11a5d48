"""The page of a recording: its intervals shrink while the robot moves, and it says when that is enough."""

import contextlib
import io
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
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
    """Targets of eight seconds for a drive on a bench."""
    drive = Robot.load("single_drive")
    motion = chirp(drive, duration=8.0, stop_hz=6.0, amplitude=0.2)
    Targets(joints=drive.joints, time=motion.time, target=motion.target, stiffness=drive.stiffness, damping=drive.damping,
            kind="chirp").save(tmp_path / "targets.npz")  # fmt: skip
    monkeypatch.chdir(tmp_path)
    return tmp_path


RECORD = ["record", "single_drive", "targets.npz", "--hardware", "virtual:7", "--out", "rec.npz", "--live"]


def address(text):
    hit = re.search(r"watch at (\S+)", text)
    return hit and hit[1]


def test_a_browser_watches_the_intervals_shrink_until_they_are_narrow_enough(browser, folder):
    out, code = io.StringIO(), []
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        moving = threading.Thread(target=lambda: code.append(main([*RECORD, "--enough", "0.05"])))
        moving.start()
        late = time.monotonic() + 60
        while not address(out.getvalue()) and moving.is_alive() and time.monotonic() < late:
            time.sleep(0.02)
        browser.open(address(out.getvalue()))
        seen, done = {}, "document.documentElement.dataset.done === 'true'"
        while not browser.ask(done) and time.monotonic() < late:
            note, sentence, half = browser.ask(
                "[document.querySelector('#told')?.textContent ?? '', document.querySelector('#verdict').textContent,"
                " [...document.querySelectorAll('td[data-parameter=armature]')].map((c) => c.dataset.high - c.dataset.low)]"
            )
            if half:
                seen.setdefault(note, (sentence, half[0]))
        moving.join(60)
    assert code == [0], out.getvalue()
    widths = [half for _, half in seen.values()]
    assert len(widths) >= 3, seen
    assert widths[-1] < 0.5 * widths[0]
    assert any("Good enough" in sentence for sentence, _ in seen.values()), seen
    browser.drawn()
    assert "simulator follows single_drive" in browser.ask("document.querySelector('#verdict').textContent")
    assert browser.logged() == []
    assert "Good enough: after" in out.getvalue()
    assert Recording.load(folder / "rec.npz").duration > 7.9


def test_who_stops_by_hand_keeps_the_recording_and_nothing_went_wrong(folder):
    """Ctrl-C while the robot moves: the file is there, the exit code is 0, and nothing is late on the recorder's clock."""
    with subprocess.Popen(
        [sys.executable, "-m", "surefoot.cli", *RECORD], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        journal, late = folder / "rec.npz.journal", time.monotonic() + 60
        while time.monotonic() < late and not (journal.exists() and journal.stat().st_size > 40_000):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "it was stopped by hand" in said
    assert "next: surefoot check single_drive rec.npz" in said
    taken = Recording.load(folder / "rec.npz")
    assert 2.0 < taken.duration < 7.0
    assert np.diff(taken.time).max() < 0.02
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
