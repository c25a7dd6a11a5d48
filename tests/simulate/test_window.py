"""The window: what it shows, how often, and in a real one where there is a screen to open it on."""

import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from walkers import placed

from surefoot import Robot
from surefoot.simulate.virtual.hardware import VirtualHardware
from surefoot.simulate.virtual.stage import Stage
from surefoot.simulate.window import Window, has_display

ANYMAL = Robot.load("anymal")


class _Screen:
    """What mujoco.viewer gives back, without a screen."""

    def __init__(self, model, data):
        self.model, self.data, self.shown, self.running = model, data, [], True
        self.cam = SimpleNamespace()

    def lock(self):
        return nullcontext()

    def is_running(self):
        return self.running

    def sync(self):
        self.shown.append((self.data.qpos.copy(), self.data.geom_xpos.copy()))

    def close(self):
        self.running = False


@pytest.fixture
def screens(monkeypatch):
    """All that were opened."""
    opened = []

    def launch(model, data, **_):
        opened.append(_Screen(model, data))
        return opened[-1]

    viewer = pytest.importorskip("mujoco.viewer")
    monkeypatch.setattr(viewer, "launch_passive", launch)
    return opened


def test_the_window_shows_the_first_robot_fifty_times_a_second(screens):
    world = placed(ANYMAL, robots=2)
    window = Window(world)
    steps = round(1.0 / (world.substeps * world.timestep))
    for _ in range(steps):
        world.step(np.tile(ANYMAL.posture, (2, 1)))
        window.take()
    (screen,) = screens
    assert len(screen.shown) == 50
    qpos, places = screen.shown[-1]
    np.testing.assert_array_equal(qpos, world.stepper.state()[0][0])
    assert not np.array_equal(places, screen.shown[0][1])  # what is drawn has moved with it


def test_a_virtual_robot_is_shown_too(screens):
    hardware = VirtualHardware(ANYMAL, 3, place="ground")
    window = Window(Stage(hardware))
    for _ in range(16):
        hardware.read()
        window.take()
    assert len(screens[0].shown) == 2  # of states at 400 Hz


def test_a_window_that_the_user_shuts_stops_nothing(screens):
    world = placed(ANYMAL)
    window = Window(world)
    screens[0].running = False
    for _ in range(4):
        window.take()
    assert not window.open
    assert not screens[0].shown
    window.close()


def test_in_real_time_a_second_takes_a_second(screens, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("surefoot.simulate.window.time", SimpleNamespace(
        perf_counter=lambda: clock[0], sleep=lambda seconds: clock.__setitem__(0, clock[0] + seconds)))  # fmt: skip
    world = placed(ANYMAL)
    window = Window(world, real_time=True)
    for _ in range(round(1.0 / (world.substeps * world.timestep))):
        window.take()
    assert clock[0] == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(("screen", "seen"), [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "w"}, True)])
def test_a_display_is_known_by_its_variables(monkeypatch, screen, seen):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    for name, value in screen.items():
        monkeypatch.setenv(name, value)
    assert has_display() is seen


REAL = """
from walkers import placed
from surefoot import Robot
from surefoot.simulate.window import Window
window = Window(placed(Robot.load("anymal")))
for _ in range(20):
    window.take()
assert window.open
window.close()
assert not window.open
"""


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="there is no Xvfb to open a window in")
def test_a_real_window_opens_and_shuts():
    """Its thread has ended when close returns: a model that is freed under it would crash the process."""
    here = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    done = subprocess.run(["xvfb-run", "-a", sys.executable, "-c", REAL], env=os.environ | {"PYTHONPATH": here}, timeout=120)
    assert done.returncode == 0
