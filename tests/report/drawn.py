"""Small fits to draw: two legs, a cart, a fit that is wrong on purpose. Each is made once."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.identify import Fit, check, identify
from surefoot.record.excitation import chirp, steps
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.rehearsal import rehearse

_LEG = """<body name="{0}_thigh" pos="0 {1} 0"><joint name="{0}_HIP" axis="1 0 0"/>
    <inertial pos="0 0 -0.1" mass="0.8" diaginertia="0.004 0.004 0.001"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03"/>
    <body name="{0}_shank" pos="0 0 -0.2"><joint name="{0}_KNEE" axis="0.2 0.98 0"/>
      <inertial pos="0.02 0.01 -0.1" mass="0.4" diaginertia="0.002 0.002 0.0005"/>
      <geom type="box" pos="0 0 -0.1" size="0.01 0.03 0.1" euler="0 0 30"/></body></body>"""
LEGS = f"""<mujoco model="legs"><worldbody><geom type="plane" size="1 1 1" pos="0 0 -1"/>
  <body name="base" pos="0 0 0.6"><freejoint/><inertial pos="0 0 0" mass="5" diaginertia="1 1 1"/>
  <geom type="box" size="0.2 0.1 0.05"/>{_LEG.format("LF", 0.1)}{_LEG.format("RF", -0.1)}</body></worldbody></mujoco>"""


@functools.cache
def robot() -> Robot:
    """Two legs on a free base."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "legs.xml"
        path.write_text(LEGS)
        return Robot.load(path).with_gains(20.0, 0.3)


def truth() -> JointDynamics:
    """What is to be found."""
    return JointDynamics(
        joints=robot().joints, armature=[0.012, 0.008, 0.011, 0.009], damping=[0.2, 0.15, 0.22, 0.12],
        friction=[0.1, 0.08, 0.12, 0.07], bias=[0.02, -0.01, 0.01, -0.02], delay=[0.006],
    )  # fmt: skip


def recorded(name: str, motion: str = "chirp", **more: Any) -> Recording:
    """A noisy recording of the legs."""
    plan = chirp(robot(), duration=6.0, stop_hz=8.0, amplitude=0.3) if motion == "chirp" else steps(robot(), duration=4.0)
    return rehearse(robot(), truth(), plan, name=name, noise=2e-4, resolution=1e-4, **more)


@functools.cache
def fit() -> Fit:
    """A good fit with two recordings that it has not seen, and what the check said."""
    rec = recorded("chirp", seed=1)
    held = [recorded("steps", "steps", seed=2), recorded("gains", stiffness=35.0, damping=0.8, seed=3)]
    return replace(identify(robot(), [rec], held_out=held, seed=4), checks=tuple(check(robot(), [rec])))


@functools.cache
def wrong() -> Fit:
    """The same recording fitted with a third of its stiffness, and an optional parameter."""
    rec = recorded("chirp", seed=1)
    return identify(robot(), [rec.with_gains(7.0, 0.3)], held_out=[recorded("steps", "steps", seed=2)], seed=4)


def spoiled(**changes: Any) -> Fit:
    """The good fit with some fields changed."""
    return replace(fit(), **changes)


def flagged(name: str, j: int, flag: str) -> Fit:
    """The good fit with another flag."""
    row = list(fit().flags[name])
    row[j] = flag
    return spoiled(flags={**fit().flags, name: tuple(row)})


def residual(error: Any) -> Fit:
    """The good fit whose simulation is the measurement plus `error(time, measured)`, shape (T, n)."""
    score = fit().recordings[0]
    simulated = score.measured + error(score.time, score.measured)
    rmse = np.sqrt(np.mean((simulated - score.measured) ** 2, axis=0))
    return spoiled(recordings=(replace(score, simulated=simulated, rmse=rmse),))
