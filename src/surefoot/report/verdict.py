"""A fit judged: a light for every joint with its reasons, and one sentence for the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.identify.fit import Fit, Score
from surefoot.identify.search import POORLY
from surefoot.identify.stop import Stop

Array = np.ndarray
Colour = Literal["green", "yellow", "red", "grey"]
WORSE = 2.0  # held-out error over fitted error at which one doubts the model
NOTICED = 0.02  # error over motion below which nobody would notice it
SATURATED = 0.02  # share of steps with a clamped drive that is mentioned
DONE = (Stop.CONVERGED, Stop.SPREAD)

MEANINGS = {
    "ok": "the data determine it: half of its interval is small beside the value, or beside what it is a part of.",
    "weak": "half of its interval exceeds half of the value: right order, no more.",
    "not identified": "this motion does not depend on it; the simulator moves alike whatever its value.",
    "at lower bound": "the search pushed it to the least it may be. Zero can be right; else a gain or a link mass is wrong.",
    "at upper bound": "the search pushed it to the most it may be: the bound is too tight, or it absorbs another error.",
    "fixed": "given by the user, not searched.",
}


@dataclass(frozen=True, kw_only=True)
class Light:
    """What one joint's numbers may be trusted for."""

    joint: str
    colour: Colour  # green: use it; yellow: read the reasons; red: do not use it; grey: not identified on purpose
    reasons: tuple[str, ...]


def lights(fit: Fit) -> list[Light]:
    """One light per joint, in the fit's order."""
    return [_light(fit, j) for j in range(len(fit.joints))]


def _light(fit: Fit, j: int) -> Light:
    joint = fit.joints[j]
    if joint in fit.prescribed:
        return Light(joint=joint, colour="grey", reasons=("follows its measured motion; nothing was identified",))
    bad, doubts = [], []
    for score in (*fit.recordings, *fit.held_out):
        share = _unexplained(score)[j]
        if not share <= POORLY:
            told = f"{100 * share:.0f} %" if np.isfinite(share) else "all"
            bad.append(f"{told} of the motion in '{score.name}' is left unexplained")
    for score in fit.held_out:
        ratio = score.rmse[j] / max(fit.rmse[j], 1e-300)
        if ratio > WORSE and _unexplained(score)[j] > NOTICED:
            doubts.append(f"the error on '{score.name}', which the fit has not seen, is {ratio:.1f} times the fitted one")
    for score in fit.recordings:
        if len(score.saturated) and score.saturated[j] > SATURATED:
            doubts.append(f"its drive was saturated for {100 * score.saturated[j]:.0f} % of '{score.name}'")
    for name in fit.parameters:
        flags = fit.flags[name]
        if len(flags) == len(fit.joints) and name != "tilt" and flags[j] not in ("ok", "fixed"):
            doubts.append(f"{name} is {'weakly identified' if flags[j] == 'weak' else flags[j]}")
    colour: Colour = "red" if bad else "yellow" if doubts else "green"
    return Light(joint=joint, colour=colour, reasons=(*bad, *doubts))


def _unexplained(score: Score) -> Array:
    """Error over motion, both rms, per joint; inf where it diverged, 0 where nothing moved and nothing was wrong."""
    motion = np.maximum(np.std(score.measured, axis=0), 1e-12)
    return np.nan_to_num(score.rmse / motion, nan=0.0, posinf=np.inf)


def verdict(fit: Fit, found: list[Light]) -> tuple[Colour, str]:
    """The whole fit in one colour and one sentence."""
    error, none = _total(fit.rmse), _total(np.sqrt(np.mean([s.rmse_no_model**2 for s in fit.recordings], axis=0)))
    unit = "mm" if set(fit.kinds) == {"slide"} else "mrad"
    better = f", {_times(none / error)} less than without joint dynamics" if 0 < error < none < np.inf else ""
    seen = f"The simulator follows {fit.robot} to {1e3 * error:.3g} {unit} rms{better}"
    if fit.held_out:
        apart = _total(np.sqrt(np.mean([s.rmse**2 for s in fit.held_out], axis=0)))
        seen += f", and to {1e3 * apart:.3g} {unit} on recordings that it has not seen"
    else:
        seen += "; no recording was held back to test it"
    red, yellow = ([light.joint for light in found if light.colour == colour] for colour in ("red", "yellow"))
    if fit.stop not in map(str, DONE):
        return "red", f"Not ready: the search did not converge. {seen}."
    if red:
        return "red", f"Not ready: {_some(red)} left poorly explained. {seen}."
    flags = [flag for name in fit.parameters for flag in fit.flags[name] if flag != "fixed"]
    good = sum(flag == "ok" for flag in flags)
    count = f"{good} of {len(flags)} parameters are well identified"
    if yellow or good < len(flags):
        who = f"; read the reasons for {_some(yellow)}" if yellow else ""
        return "yellow", f"Usable, with doubts: {count}{who}. {seen}."
    return "green", f"Ready to use: all {len(flags)} parameters are well identified. {seen}."


def _total(rmse: Array) -> float:
    return float(np.sqrt(np.nanmean(rmse**2)))


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.2g} times"


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more joints"
