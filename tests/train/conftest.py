"""Worlds for training small enough to be stepped in a test: few robots, few steps, one thread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.robot import JointDynamics, Robot
from surefoot.train.train import Plan


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes warnings into the current folder; one core is enough."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def anymal() -> Robot:
    return Robot.load("anymal")


@pytest.fixture(scope="session")
def even(anymal: Robot) -> JointDynamics:
    """The same joint dynamics in every leg, without bias: what mirror images need to be exact."""
    full = lambda x: np.full(12, x)  # noqa: E731
    return JointDynamics(
        joints=anymal.joints, armature=full(0.07), damping=full(4.0), friction=full(0.5), bias=full(0.0), delay=np.array([0.0075])
    )


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Trainings of a few robots, in an empty folder."""
    of = Plan.of

    def small(name: str, **given: Any) -> Plan:
        plan = of(name, **given | {"robots": 4})
        learner = plan.learner.replace(hidden=(8,), steps=4, mini_batches=2, epochs=1)
        return replace(plan, judged=4, judged_seconds=2.2, learner=learner)

    monkeypatch.setattr(Plan, "of", small)
    monkeypatch.setattr("surefoot.train.run.cores", lambda: 1)
    return tmp_path
