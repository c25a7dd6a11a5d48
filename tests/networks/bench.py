"""A pendulum with a known drive, and TorchScript files as others would hand them over."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import torch

from surefoot import JointDynamics, Recording, Robot, chirp, rehearse, replay

PENDULUM = """<mujoco model="pendulum"><worldbody><body name="load"><joint name="swing" axis="0 1 0"/>
  <inertial pos="0 0 -0.3" mass="1.2" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>"""
GAINS = 30.0, 0.6


@functools.cache
def pendulum() -> Robot:
    """One joint that gravity acts on."""
    return Robot.load(PENDULUM).with_gains(*GAINS)


@functools.cache
def truth() -> JointDynamics:
    """What the simulated hardware has."""
    one = np.ones(1)
    return JointDynamics(
        joints=("swing",), armature=0.05 * one, damping=0.4 * one, friction=0.15 * one, bias=0 * one, delay=0.005 * one
    )


@functools.cache
def recorded(seconds: float = 8.0, stiffer: float = 1.0, top: float = 5.0) -> Recording:
    """A chirp of the pendulum as MuJoCo plays it, with the torque of its drive."""
    robot = pendulum()
    gains = {"stiffness": stiffer * robot.stiffness, "damping": stiffer * robot.damping}
    rec = rehearse(robot, truth(), chirp(robot, duration=seconds, stop_hz=top, amplitude=0.3), name="swing", **gains)
    return rec.replace(torque=replay(robot, rec, truth()).torque)


class Law(torch.nn.Module):
    """A drive of 30 N·m/rad and 0.6 N·m·s/rad as a network of (error, velocity)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Torque of every row."""
        return 30.0 * x[:, :1] - 0.6 * x[:, 1:2]


class Counter(torch.nn.Module):
    """An lstm's face: the torque is how often it was asked since its state was zero."""

    def forward(
        self, x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Torque of every row, and the next state."""
        h = state[0] + 1.0
        return h[-1, :, :1], (h, state[1])


def script(module, path):
    """Write a module as others do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(module).save(str(path))


def convention(folder, module, text, name="net"):
    """A convention file with its TorchScript file; the path of the former."""
    script(module, folder / f"{name}.pt")
    path = folder / f"{name}.toml"
    path.write_text(f'[network]\nfile = "{name}.pt"\n{text}')
    return path
