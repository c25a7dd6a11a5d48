"""record, recover and serve from the command line: virtual robots, a user's own class, and UDP between two processes."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from surefoot import Recording, Robot
from surefoot.cli import main
from surefoot.record.excitation import chirp
from surefoot.record.targets import Targets

OWN = '''
import numpy as np
from surefoot.robot.hardware import State

class Mine:
    """A machine that is always where it was told to be."""
    period = 0.0025
    def __init__(self, robot):
        self.joints, self.q, self.k = robot.joints, robot.posture, 0
    def set_gains(self, stiffness, damping): pass
    def read(self):
        self.k += 1
        return State(time=self.k * self.period, position=self.q, velocity=np.zeros(len(self.joints)))
    def write(self, command): self.q = command.target
    def damp(self): pass
    def close(self): pass

class Lame:
    def __init__(self, robot): self.joints = robot.joints

class Slow(Mine):
    def read(self):
        import time
        time.sleep(0.001)
        return super().read()

class Broken(Mine):
    def read(self):
        if self.k > 900: raise RuntimeError("the drive of LF_KFE is too hot")
        return super().read()
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with targets for anymal, and a module of the user's own."""
    robot = Robot.load("anymal")
    motion = chirp(robot, duration=2.0, stop_hz=4.0)
    Targets(joints=robot.joints, time=motion.time, target=motion.target, stiffness=robot.stiffness, damping=robot.damping,
            kind="chirp").save(tmp_path / "targets.npz")  # fmt: skip
    (tmp_path / "mine.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    return tmp_path


def test_a_virtual_robot_is_recorded_and_its_secret_told_on_request(folder, capsys):
    code = main(["record", "anymal", "targets.npz", "--hardware", "virtual:7", "--out", "rec.npz", "--reveal", "truth.json"])
    said = capsys.readouterr().out
    assert code == 0
    assert "next: surefoot check anymal rec.npz" in said
    taken = Recording.load(folder / "rec.npz")
    assert taken.joints == Robot.load("anymal").joints
    assert taken.duration > 1.9
    assert taken.notes["hardware"] == "virtual:7"
    assert "friction" in json.loads((folder / "truth.json").read_text())["drives"]
    assert not list(folder.glob("*.journal"))


def test_a_users_own_class_is_a_machine(folder):
    assert main(["record", "anymal", "targets.npz", "--hardware", "mine:Mine", "--out", "rec.npz"]) == 0
    taken = Recording.load(folder / "rec.npz")
    np.testing.assert_allclose(taken.position[1:], taken.target[:-1])


def test_a_machine_that_fails_leaves_what_was_recorded(folder, capsys):
    assert main(["record", "anymal", "targets.npz", "--hardware", "mine:Broken", "--out", "rec.npz"]) == 1
    said = capsys.readouterr().err
    assert "the drive of LF_KFE is too hot" in said
    assert "What was recorded until then is in rec.npz" in said
    assert 0.1 < Recording.load(folder / "rec.npz").duration < 1.9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--hardware": "virtual:x"}, "virtual:7"),
        ({"--hardware": "virtual:"}, "virtual:7"),
        ({"--hardware": "robot"}, "udp:HOST:PORT"),
        ({"--hardware": "udp:here"}, "udp:192.168.0.10:5555"),
        ({"--hardware": "nothing.here:Mine"}, "No module named"),
        ({"--hardware": "mine:Nobody"}, "has no Nobody"),
        ({"--hardware": "mine:Lame"}, "has no period, set_gains, read, write, damp, close"),
        ({"--hardware": "mine:Mine", "--place": "ground"}, "--place says where a virtual robot is"),
        ({"--hardware": "mine:Mine", "--reveal": "truth.json"}, "keeps its secrets"),
        ({"--rate": "0"}, "--rate is 0 Hz"),
        ({"--rate": "333"}, "whole number of electrical steps"),
        ({"--out": "rec.csv"}, "must end in .npz"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(folder, capsys, changes, words):
    options = {"--hardware": "virtual:7", "--out": "rec.npz"} | changes
    assert main(["record", "anymal", "targets.npz", *(x for pair in options.items() for x in pair)]) == 1
    assert words in capsys.readouterr().err
    assert not list(folder.glob("rec*"))


def test_targets_for_other_joints_are_refused(folder, capsys):
    assert main(["record", "single_drive", "targets.npz", "--hardware", "virtual:7", "--out", "rec.npz"]) == 1
    assert "LF_HAA" in capsys.readouterr().err
    assert not list(folder.glob("rec*"))


def test_what_a_dead_computer_left_behind_can_be_recovered(folder, capsys):
    """The journal of a recorder that was killed, not stopped."""
    options = ["--hardware", "mine:Slow", "--out", "rec.npz"]
    command = [sys.executable, "-m", "surefoot.cli", "record", "anymal", "targets.npz", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = folder / "rec.npz.journal"
    while process.poll() is None and (not journal.exists() or journal.stat().st_size < 60_000):
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (folder / "rec.npz").exists()
    assert main(["recover", "rec.npz.journal", "--out", "rec.npz"]) == 0
    assert "samples of 12 joints" in capsys.readouterr().out
    saved = Recording.load(folder / "rec.npz")
    assert "recovered" in saved.notes
    np.testing.assert_allclose(saved.position[1:], saved.target[:-1])


def start_server(folder, *options):
    """surefoot serve in a process of its own; the port that it says it listens at."""
    command = [sys.executable, "-m", "surefoot.cli", "serve", "anymal", "--hardware", "virtual:7", "--port", "0", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert "listens at 127.0.0.1:" in line, process.stderr.read()
    return process, int(line.split(";")[0].rsplit(":", 1)[1])


def test_two_processes_talk_until_the_cable_is_cut(folder, capsys):
    """The computer keeps what it has; the robot, left alone, is at rest 0.2 s after its watchdog has barked."""
    options = ("--loss", "0.01", "--late", "0.01", "--cut", "3.0", "--seconds", "7", "--watchdog", "0.1", "--log", "log.csv")
    process, port = start_server(folder, *options)
    try:
        code = main(["record", "anymal", "targets.npz", "--hardware", f"udp:127.0.0.1:{port}", "--out", "rec.npz"])
    finally:
        process.wait(timeout=60)
        process.stdout.close()
        process.stderr.close()
    said = capsys.readouterr().err
    assert code == 1
    assert "nothing has come" in said
    assert "What was recorded until then is in rec.npz" in said
    taken = Recording.load(folder / "rec.npz")
    assert 0.05 < taken.duration < 1.99
    clock, damped, fastest = np.loadtxt(folder / "log.csv", delimiter=",", skiprows=1).T
    barked = int(np.flatnonzero((np.diff(damped) > 0) & (clock[1:] > 1.0))[-1]) + 1
    assert damped[barked:].all()
    assert fastest[clock > clock[barked] + 0.2].max() < 0.3


def test_targets_that_were_found_safe_for_one_robot_are_not_played_on_another(folder, capsys):
    """anymal and tytan share the names of their joints."""
    Targets.load(folder / "targets.npz").replace(robot="anymal").save(folder / "made.npz")
    assert main(["record", "tytan", "made.npz", "--hardware", "virtual:7", "--out", "rec.npz"]) == 1
    assert "made, and found safe, for anymal, not for tytan" in capsys.readouterr().err
    assert not (folder / "rec.npz").exists()


@pytest.mark.parametrize("wrong", [("--port", "99999"), ("--port", "-1"), ("--port", "0", "--seconds", "nan")])
def test_a_port_that_cannot_be_and_a_time_that_is_none_are_refused_by_serve(capsys, wrong):
    assert main(["serve", "anymal", "--hardware", "virtual:7", *wrong]) == 1
    assert "give a port from 0 to 65535 and a time above 0" in capsys.readouterr().err
