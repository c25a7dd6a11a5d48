"""A policy on its way to the robot: what it observes, and the file that carries it. Never torch."""

from surefoot.deploy.observation import observation_names, observe
from surefoot.deploy.policy import Policy, Specification

__all__ = ["Policy", "Specification", "observation_names", "observe"]
