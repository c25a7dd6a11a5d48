"""Write a fit into a MuJoCo model, and prove that it arrived: read it back, replay the motion, move every value.

Run it with: python examples/03_export_and_prove.py. It writes identified.xml where it is started.
"""

from pathlib import Path

import surefoot
from surefoot.export import export, prove

robot = surefoot.Robot.load("single_drive")
motion = surefoot.chirp(robot, duration=8.0, stop_hz=6.0, amplitude=0.2)
recording = surefoot.rehearse(robot, robot.dynamics, motion, noise=3e-4, seed=1)
fit = surefoot.identify(robot, recording)
print(fit.stop)

written = export(fit, robot, to="mjcf", out=Path("identified.xml"), recording=recording)
proof = prove(fit, robot, written.files[0], "mjcf", recording=recording)
print(f"{sum(check.good for check in proof.checks)} of {len(proof.checks)} values read back equal")
print("proven" if proof.good else "NOT proven")
