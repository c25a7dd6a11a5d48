"""Ask what a motion would tell, play it on a robot whose drives are hidden, fit it, and compare the promise with the answer.

Run it with: python examples/02_plan_and_record.py. Put a class of your own in the place of VirtualHardware to record your robot.
"""

import surefoot
from surefoot.identify.plan import plan
from surefoot.record.recorder import record
from surefoot.record.targets import Targets
from surefoot.simulate.virtual.hardware import VirtualHardware

robot = surefoot.Robot.load("single_drive")
motion = surefoot.chirp(robot, duration=8.0, stop_hz=6.0, amplitude=0.2)
targets = Targets(
    joints=robot.joints, time=motion.time, target=motion.target, stiffness=robot.stiffness, damping=robot.damping, kind="chirp"
)  # fmt: skip

promised = plan(robot, targets)
for label, value, half in zip(promised.labels, promised.value, promised.half_width, strict=True):
    print(f"expected: {label} {value:.3g} ± {half:.2g}")

recording = record(VirtualHardware(robot, 7), targets, name="chirp")
print(f"recorded {recording.duration:.1f} s at {recording.rate:.0f} Hz")

fit = surefoot.identify(robot, recording)
print(f"armature {fit.dynamics.armature[0]:.4f} kg·m², from {fit.low.armature[0]:.4f} to {fit.high.armature[0]:.4f}")
print(f"error {1e3 * fit.rmse[0]:.2f} mrad; without a model {1e3 * fit.recordings[0].rmse_no_model[0]:.1f} mrad")
print(fit.stop)
