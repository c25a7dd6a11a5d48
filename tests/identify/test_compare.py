"""Which model does the robot need? The variant that made the data comes first."""

import functools

import numpy as np
import pytest
from machines import LEGS, hidden, machine, recorded

from surefoot.errors import SurefootError
from surefoot.identify.compare import compare, variants, verdict
from surefoot.identify.unknowns import Unknowns
from surefoot.simulate.physics import Physics

CORE = machine(LEGS), hidden(machine(LEGS))


@functools.cache
def ranked(name):
    """All variants on data that one of them made, with a little noise."""
    robot, truth = CORE
    physics = Physics(
        delay_on="torque" if name == "torque-delay" else "command", bias_form="setpoint" if name == "setpoint-bias" else "encoder"
    )
    truth = truth.replace(
        **{
            "stribeck": {"breakaway": 1.5 * truth.friction},
            "load-friction": {"load_friction": np.full(4, 0.3)},
            "velocity-filter": {"cutoff": [12.0]},
            "joint-delays": {"delay": np.linspace(0.001, 0.012, 4)},
            "load": {"load": np.array([0.3, -0.3, 0.2, -0.2])},
        }.get(name, {})
    )
    fitted = recorded(robot, truth, seconds=3.0, noise=2e-4, physics=physics, name="fitted")
    other = recorded(
        robot, truth, seconds=3.0, top=5.0, stiffness=35.0, damping=0.7, noise=2e-4, seed=1, physics=physics, name="other"
    )
    return compare(robot, [fitted], held_out=[other])


@pytest.mark.parametrize(
    "name", ["stribeck", "load-friction", "torque-delay", "velocity-filter", "joint-delays", "load", "setpoint-bias"]
)
def test_the_model_that_made_the_data_comes_first_and_is_asked_for(name):
    table = ranked(name)
    assert table[0].variant.name == name
    assert f"asks for '{name}'" in verdict(table)
    assert table[0].held_out == pytest.approx(2e-4, rel=0.1)  # nothing but the noise is left


def test_a_robot_of_the_papers_kind_needs_no_more():
    table = ranked("paper")
    assert "paper's model is enough" in verdict(table)
    assert next(r for r in table if r.variant.name == "paper").held_out < 1.05 * table[0].held_out


def test_the_table_is_sorted_and_counts_parameters():
    table = ranked("paper")
    assert [r.held_out for r in table] == sorted(r.held_out for r in table)
    count = {r.variant.name: r.parameters for r in table}
    assert count == {"paper": 17, "torque-delay": 17, "setpoint-bias": 17, "velocity-filter": 18, "stribeck": 21,
                     "load-friction": 21, "joint-delays": 20, "load": 21, "tilt": 19}  # fmt: skip


def test_only_some_variants_may_be_asked_for_and_each_is_told():
    robot, truth = CORE
    rec = recorded(robot, truth, seconds=1.0)
    told = []
    table = compare(robot, [rec], held_out=[rec], only=("tilt", "paper"), tell=lambda *x: told.append(x))
    assert {r.variant.name for r in table} == {"paper", "tilt"}
    assert told == [("paper", 0, 2), ("tilt", 1, 2)]


def test_the_users_choices_hold_for_every_variant():
    base = Unknowns(extra=("load",), fixed={"bias": 0.0})
    for v in variants(Physics(timestep=0.005), base):
        assert v.physics.timestep == 0.005
        assert v.unknowns.fixed == {"bias": 0.0}
        assert "load" in v.unknowns.extra
        assert len(set(v.unknowns.extra)) == len(v.unknowns.extra)


def test_wrong_words_are_answered_with_the_right_ones():
    robot, truth = CORE
    rec = recorded(robot, truth, seconds=1.0)
    with pytest.raises(SurefootError, match="unknown variant magic; valid: paper, torque-delay"):
        compare(robot, [rec], held_out=[rec], only=("magic",))
    with pytest.raises(SurefootError, match="--held-out"):
        compare(robot, [rec], held_out=[])


def test_a_verdict_is_never_given_without_the_baseline():
    """Asked for one variant only, the paper's model is fitted beside it."""
    robot, truth = CORE
    fitted, other = (recorded(robot, truth, seconds=2.0, noise=2e-4, seed=s) for s in (0, 1))
    ranked = compare(robot, [fitted], held_out=[other], only=["stribeck"])
    assert sorted(r.variant.name for r in ranked) == ["paper", "stribeck"]


def test_a_model_that_cannot_be_fitted_does_not_take_the_others_with_it(monkeypatch):
    """One variant's error is said, the rest is ranked."""
    import sys

    module, said = sys.modules["surefoot.identify.compare"], []
    real = module.identify

    def sometimes(*args, **options):
        if "breakaway" in options["unknowns"].extra:
            raise SurefootError("no such luck")
        return real(*args, **options)

    monkeypatch.setattr(module, "identify", sometimes)
    robot, truth = CORE
    fitted, other = (recorded(robot, truth, seconds=2.0, noise=2e-4, seed=s) for s in (0, 1))
    ranked = compare(robot, [fitted], held_out=[other], only=["stribeck", "load"], say=said.append)
    assert sorted(r.variant.name for r in ranked) == ["load", "paper"]
    assert said == ["stribeck: no such luck"]
