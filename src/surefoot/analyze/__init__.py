"""Motion to numbers: frequency responses, and inertias and bandwidths that follow from drawings and data sheets."""

from surefoot.analyze.bode import TransferFit, bandwidth, dead_time, fit_transfer
from surefoot.analyze.frequency import FrequencyResponse, frequency_response, joint_response
from surefoot.analyze.inertia import DriveInertia, PlanetaryDrive, inertia_at_radius
from surefoot.analyze.pendulum import Measured, PendulumInertia, offset_inertia, pendulum_inertia
from surefoot.analyze.stance import StandingLeg
from surefoot.analyze.transfer import current_transfer, joint_transfer
from surefoot.analyze.voltage import torque_bandwidth, winding_bandwidth

__all__ = [
    "DriveInertia",
    "FrequencyResponse",
    "Measured",
    "PendulumInertia",
    "PlanetaryDrive",
    "StandingLeg",
    "TransferFit",
    "bandwidth",
    "current_transfer",
    "dead_time",
    "fit_transfer",
    "frequency_response",
    "inertia_at_radius",
    "joint_response",
    "joint_transfer",
    "offset_inertia",
    "pendulum_inertia",
    "torque_bandwidth",
    "winding_bandwidth",
]
