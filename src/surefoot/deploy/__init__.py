"""A policy on its way to the robot: what it observes, the file that carries it, and the controller that runs it. Never torch."""

from surefoot.deploy.bundled import bundled_policies, find_policy
from surefoot.deploy.controller import Controller, Ramps
from surefoot.deploy.estimator import Estimator, Kinematics, Tuning
from surefoot.deploy.observation import observation_names, observe
from surefoot.deploy.policy import Policy, Specification
from surefoot.deploy.walk import walk
from surefoot.deploy.watchdog import Bounds, Tripped, Watchdog

__all__ = [
    "Bounds",
    "Controller",
    "Estimator",
    "Kinematics",
    "Policy",
    "Ramps",
    "Specification",
    "Tripped",
    "Tuning",
    "Watchdog",
    "bundled_policies",
    "find_policy",
    "observation_names",
    "observe",
    "walk",
]
