"""Every method behind one face: a case and a seed go in, something that can be scored comes out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from methods.cases import Case
from surefoot import JointDynamics, Recording, Unknowns, identify
from surefoot.identify import Fit, Score, score
from surefoot.identify.bounds import default_bounds
from surefoot.identify.seed import seeds
from surefoot.identify.unknowns import make_space
from surefoot.networks import Network, learn_from_encoder, learn_from_torque, score_network
from surefoot.simulate.inverse import link_inertia

RICHER = ("load_friction", "breakaway")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a method came up with, and what it took."""

    judge: Callable[[Recording], Score]
    seconds: float
    evaluations: int  # replays of a candidate; of a network: passes over its data
    dynamics: JointDynamics | None = None
    fit: Fit | None = None
    network: Network | None = None
    validation: float | None = None  # a network's torque error over its range


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How long the long ones may take."""

    generations: int  # of the paper's population
    small: int  # of the library's own population
    random: int  # generations of 4096
    bayesian: int  # points after the first 32
    batches: dict[str, int]  # of a network from torque
    iterations: int  # of a network through the simulation


FULL = Budget(generations=200, small=2000, random=10, bayesian=100, batches={"mlp": 4000, "lstm": 2000}, iterations=300)
QUICK = Budget(generations=25, small=400, random=2, bayesian=10, batches={"mlp": 1500, "lstm": 800}, iterations=80)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A method: its row in the table, and whether it needs measured torque or a certain robot."""

    name: str
    run: Callable[[Case, int, Budget], Answer]
    torque: bool = False
    only: str = ""


def fitted(**options: object) -> Callable[[Case, int, Budget], Answer]:
    """A fit by `identify`; options that are functions are asked with the budget."""

    def run(case: Case, seed: int, budget: Budget) -> Answer:
        given = {k: v(budget) if callable(v) else v for k, v in options.items()}
        extra = given.pop("extra", ())
        unknowns = Unknowns(extra=extra, joint_delays=case.unknowns.joint_delays) if extra else case.unknowns
        fit = identify(case.robot, case.train, physics=case.physics, unknowns=unknowns, seed=seed, **given)  # type: ignore[arg-type]
        judge = lambda rec: score(case.robot, rec, fit.dynamics, case.physics)  # noqa: E731
        return Answer(judge=judge, seconds=fit.seconds, evaluations=fit.rollouts, dynamics=fit.dynamics, fit=fit)

    return run


def none(case: Case, seed: int, budget: Budget) -> Answer:
    """No actuator model: the drive's PD law on bare links."""
    bare = JointDynamics.no_model(case.train[0].joints)
    return Answer(judge=lambda rec: score(case.robot, rec, bare, case.physics), seconds=0.0, evaluations=0)


def regression(case: Case, seed: int, budget: Budget) -> Answer:
    """One linear solve on the differentiated encoders: the first guess of `identify`."""
    began = time.perf_counter()
    joints = case.train[0].joints
    bounds = default_bounds(case.robot, case.train, link_inertia(case.robot, joints))
    space = make_space(joints, case.train[0].prescribed, case.unknowns, bounds)
    found = space.decode(seeds(case.robot, case.train, space, case.physics)[:1]).lane(0)
    seconds = time.perf_counter() - began
    judge = lambda rec: score(case.robot, rec, found, case.physics)  # noqa: E731
    return Answer(judge=judge, seconds=seconds, evaluations=0, dynamics=found)


def learned(kind: str, inputs: tuple[str, ...] | None = None) -> Callable[[Case, int, Budget], Answer]:
    """A network from measured torque, or, with the kind "encoder", from positions alone."""

    def run(case: Case, seed: int, budget: Budget) -> Answer:
        began = time.perf_counter()
        given = {"inputs": inputs or case.inputs, "period": case.period, "seed": seed}
        if kind == "encoder":
            result, passes = learn_from_encoder(case.robot, case.train, iterations=budget.iterations, **given), budget.iterations
        else:
            result = learn_from_torque(case.robot, case.train, kind=kind, iterations=budget.batches[kind], **given)  # type: ignore[arg-type]
            passes = budget.batches[kind]
        answer = _of(case, result.network, time.perf_counter() - began, passes)
        return Answer(**{**vars(answer), "validation": None if kind == "encoder" else result.relative})

    return run


def foreign(folder: Path, file: str) -> Callable[[Case, int, Budget], Answer]:
    """Somebody else's network, learned elsewhere."""
    return lambda case, seed, budget: _of(case, Network.load(folder / file), 0.0, 0)


def _of(case: Case, network: Network, seconds: float, passes: int) -> Answer:
    beside = network.convention.dynamics(case.train[0].joints)

    def judge(rec: Recording) -> Score:
        if network.convention.stiffness is None:
            return score_network(case.robot, rec, network, physics=case.physics)
        blind = Network(_without_gains(network), network.module)  # it is asked, though it cannot know the other gains
        return score_network(case.robot, rec, blind, physics=case.physics)

    known = beside if any(network.convention.beside) and seconds else None
    return Answer(judge=judge, seconds=seconds, evaluations=passes, dynamics=known, network=network)


def _without_gains(network: Network) -> object:
    from dataclasses import replace

    return replace(network.convention, stiffness=None, damping=None)


def small(loss: str) -> Callable[[Case, int, Budget], Answer]:
    """The small evolution strategy on another loss."""
    return fitted(method="cmaes-small", loss=loss, generations=lambda b: b.small)


def entries(networks: Path | None) -> list[Entry]:
    """All rows of the table, in its order."""
    told = ("demand", "velocity")
    rows = [
        Entry(name="no model", run=none),
        Entry(name="regression", run=regression),
        Entry(name="least squares", run=fitted(method="least-squares")),
        Entry(name="hybrid (default)", run=fitted(method="hybrid")),
        Entry(name="hybrid, richer friction", run=fitted(method="hybrid", extra=RICHER)),
        Entry(name="CMA-ES, paper's size", run=fitted(method="cmaes", generations=lambda b: b.generations)),
        Entry(name="CMA-ES, default size", run=small("position")),
        Entry(name="random search", run=fitted(method="random", generations=lambda b: b.random)),
        Entry(name="Bayesian optimisation", run=fitted(method="bayesian", generations=lambda b: b.bayesian)),
        Entry(name="CMA-ES, velocity loss", run=small("velocity")),
        Entry(name="CMA-ES, torque loss", run=small("torque"), torque=True),
        Entry(name="CMA-ES, Wasserstein loss", run=small("wasserstein")),
        Entry(name="CMA-ES, MMD loss", run=small("mmd")),
        Entry(name="CMA-ES, Fisher-weighted loss", run=small("fisher")),
        Entry(name="MLP from torque", run=learned("mlp"), torque=True),
        Entry(name="MLP from torque, told the gains", run=learned("mlp", told), torque=True),
        Entry(name="LSTM from torque", run=learned("lstm"), torque=True),
        Entry(name="MLP from encoders", run=learned("encoder")),
        Entry(name="MLP from encoders, told the gains", run=learned("encoder", told)),
    ]
    if networks:
        rows.append(Entry(name="vendor's LSTM, other data", run=foreign(networks, "anydrive.toml"), only="anymal"))
    return rows


def total(scores: list[Score]) -> float:
    """Root mean square over joints and recordings [rad]."""
    return float(np.sqrt(np.nanmean(np.concatenate([s.rmse for s in scores]) ** 2)))


def worst(scores: list[Score]) -> float:
    """Of the worst joint [rad]."""
    return float(np.nanmax([s.rmse for s in scores]))
