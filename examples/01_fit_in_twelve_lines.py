"""Hang a bundled robot in simulation, record it, check the recording, and find its joint dynamics.

Run it with: python examples/01_fit_in_twelve_lines.py. It takes a few seconds and writes the folder fit/ where it is started.
"""

import surefoot

robot = surefoot.Robot.load("anymal")
motion = surefoot.chirp(robot, stop_hz=8.0)
# your own log: recording = surefoot.Recording.load("chirp.csv", robot=robot)
recording = surefoot.rehearse(robot, robot.dynamics, motion, noise=3e-4, seed=1)

for finding in surefoot.check(robot, [recording]):
    if finding.level != "ok":
        print(finding.message, finding.remedy)

fit = surefoot.identify(robot, [recording])
for joint, value, low, high in zip(fit.joints, fit.dynamics.armature, fit.low.armature, fit.high.armature, strict=True):
    print(f"{joint} armature {value:.4f} kg·m², 95 % interval {low:.4f} to {high:.4f}")
print(fit.stop)
fit.save("fit")
