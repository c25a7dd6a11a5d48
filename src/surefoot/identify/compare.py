"""Which model does this robot need? Variants are fitted to the same recordings and ranked on recordings that none has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.fit import Fit
from surefoot.identify.identify import identify
from surefoot.identify.unknowns import Unknowns
from surefoot.record.recording import Recording
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import Choice

_DELAY = {"torque": "the delay sits inside the loop, on the torque", "command": "the delay sits on the command"}
_BIAS = {"setpoint": "the bias shifts the set-point, not the encoder", "encoder": "the bias is the encoder's"}
GAIN = 0.05  # relative reduction of the held-out error that makes a variant worth its parameters


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A model: its name, what it says of the robot, and how it is asked for."""

    name: str
    meaning: str
    physics: Physics
    unknowns: Unknowns


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One variant's result."""

    variant: Variant
    fit: Fit
    parameters: int
    fitted: float  # rms error on the fitted recordings [rad]
    held_out: float  # rms error on the others [rad]


def variants(physics: Physics | None = None, unknowns: Unknowns | None = None) -> list[Variant]:
    """The paper's model first, then what real robots have been seen to need."""
    p, u = physics or Physics(), unknowns or Unknowns()

    def extra(name: str) -> Unknowns:
        return replace(u, extra=tuple(dict.fromkeys((*u.extra, name))))

    elsewhere = "command" if p.delay_on == "torque" else "torque"
    other_form = "encoder" if p.bias_form == "setpoint" else "setpoint"
    rows = [
        ("paper", f"4n+1 parameters, delay on the {p.delay_on}", p, u),
        (f"{elsewhere}-delay", _DELAY[elsewhere], replace(p, delay_on=elsewhere), u),
        (f"{other_form}-bias", _BIAS[other_form], replace(p, bias_form=other_form), u),
        ("velocity-filter", "the drive damps a low-passed velocity", p, extra("cutoff")),
        ("stribeck", "friction is higher at standstill", p, extra("breakaway")),
        ("load-friction", "friction grows with the drive's torque", p, extra("load_friction")),
        ("joint-delays", "every joint has a delay of its own", p, replace(u, joint_delays=True)),
        ("load", "a constant torque pulls on each joint", p, extra("load")),
        ("tilt", "the base hangs askew", p, extra("tilt")),
    ]
    new = [row for i, row in enumerate(rows) if i == 0 or row[2:] != (p, u)]  # not what the base already has
    return [Variant(name=name, meaning=meaning, physics=a, unknowns=b) for name, meaning, a, b in new]


def compare(
    robot: Robot, recordings: Sequence[Recording], *, held_out: Sequence[Recording], only: Sequence[str] = (), seed: int = 0,
    physics: Physics | None = None, unknowns: Unknowns | None = None, tell: Callable[[str, int, int], None] | None = None,
    say: Callable[[str], None] | None = None, engine: Choice = "auto",
) -> list[Ranked]:  # fmt: skip
    """Every variant, the best on the held-out recordings first."""
    if not held_out:
        raise SurefootError(
            "compare ranks models by recordings they have not seen: pass --held-out REC (another motion or other gains)."
        )
    chosen = variants(physics, unknowns)
    if wrong := [name for name in only if name not in [v.name for v in chosen]]:
        raise SurefootError(f"unknown variant {', '.join(wrong)}; valid: {', '.join(v.name for v in chosen)}.")
    chosen = [v for v in chosen if not only or v.name in only or v.name == "paper"]  # the baseline is always among them
    ranked = []
    for i, variant in enumerate(chosen):
        if tell:
            tell(variant.name, i, len(chosen))
        try:
            fit = identify(
                robot, recordings, held_out=held_out, seed=seed, physics=variant.physics, unknowns=variant.unknowns, say=say,
                engine=engine,
            )  # fmt: skip
        except SurefootError as error:  # one model that cannot be fitted does not take the others with it
            if say:
                say(f"{variant.name}: {error}")
            continue
        free = sum(flag != "fixed" for name in fit.parameters for flag in fit.flags[name])
        ranked.append(
            Ranked(variant=variant, fit=fit, parameters=free, fitted=_total(fit.recordings), held_out=_total(fit.held_out))
        )
    if not ranked:
        raise SurefootError("no model could be fitted; the lines above say why.")
    return sorted(ranked, key=lambda r: r.held_out)


def _total(scores: Sequence) -> float:
    return float(np.sqrt(np.mean([s.total**2 for s in scores])))


def verdict(ranked: Sequence[Ranked]) -> str:
    """What the ranking says, in a sentence."""
    best = ranked[0]
    paper = next((r for r in ranked if r.variant.name == "paper"), None)
    if paper is None:
        return f"'{best.variant.name}' is best; the paper's model, against which it would be judged, could not be fitted."
    gain = 1 - best.held_out / paper.held_out if paper.held_out > 0 else 0.0
    if best is paper or gain < GAIN:
        return f"The paper's model is enough: no variant lowers the held-out error by as much as {100 * GAIN:.0f} %."
    return (
        f"This robot asks for '{best.variant.name}' ({best.variant.meaning}): it lowers the held-out error by {100 * gain:.0f} "
        f"%, from {1e3 * paper.held_out:.3g} to {1e3 * best.held_out:.3g} mrad."
    )
