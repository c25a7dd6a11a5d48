"""Run a policy in a loop of your own: read a state, step the controller, write the targets.

Run it with: python examples/04_policy_in_a_loop.py run/policy.onnx, where run/ is a folder that surefoot train wrote.
"""

import sys

import numpy as np

from surefoot.deploy import Controller, Estimator, Policy, find_policy
from surefoot.robot import Robot
from surefoot.robot.hardware import Command
from surefoot.simulate.feet import Feet
from surefoot.simulate.virtual.hardware import VirtualHardware

policy = Policy.load(find_policy(sys.argv[1]))
robot = Robot.load(policy.spec.robot)
controller = Controller(robot, policy, Estimator(Feet(robot), policy.spec.dynamics))
hardware = VirtualHardware(robot, 3, place="ground")
command = np.array([0.5, 0.0, 0.0])  # forward, left [m/s], turn [rad/s]
hardware.set_gains(policy.spec.stiffness, policy.spec.damping)
try:
    state = hardware.read()
    began = state.time
    while state.time - began < 4.0:
        hardware.write(Command(target=controller.step(state, command)))
        state = hardware.read()
    height = hardware.truth()["base_position"][2]
    print(
        f"after {state.time - began:.1f} s the robot is {controller.phase.name.lower()}, its base {height:.2f} m above the ground"
    )
finally:
    hardware.damp()  # whatever happens
    hardware.close()
