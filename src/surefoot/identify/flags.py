"""What a fit may be trusted for: a flag for every parameter, and a sentence for every flag that is not "ok"."""

from __future__ import annotations

import numpy as np

from surefoot.identify.uncertainty import Uncertainty
from surefoot.identify.unknowns import EXTRA, Entry, Space
from surefoot.robot.dynamics import PARAMETERS, JointDynamics

Array = np.ndarray
AT_BOUND = 1e-3  # of the cube
TOGETHER = 0.95  # correlation above which two parameters are said to move together
MISFIT = 8.0  # rms error over the encoders' scatter above which the model is said to be wrong
WEAK = 0.5  # relative half-width of an interval above which a value is weak


def judge(space: Space, x: Array, sure: Uncertainty, scales: dict[str, Array]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Flags by parameter and joint, and the sentences that explain them. `scales` is what counts as much, per parameter."""
    labels, values, half = space.labels(), space.values(x), _half_width(space, x, sure)
    flags = {name: ["fixed"] * getattr(space.base, name).shape[-1] for name in PARAMETERS}
    alike: dict[tuple[str, str, str], list[str]] = {}  # joints about which the same is to be said
    width = space.values(np.ones(space.size)) - space.values(-np.ones(space.size))
    said: set[int] = set()
    for entry, k in zip(space.entries, space.variable, strict=True):
        if k < 0:
            continue
        scale = float(np.broadcast_to(scales[entry.name], (len(flags[entry.name]),))[entry.index])
        flag = _flag(float(x[k]), float(values[k]), float(half[k]), float(width[k]), scale)
        flags[entry.name][entry.index] = flag
        if flag != "ok" and k not in said:
            said.add(int(k))
            why = _why(flag, entry, _partner(sure, labels, int(k)))
            alike.setdefault((entry.name, flag, why), []).append(_value(entry, flag, float(values[k]), float(half[k])))
    kept = {name: tuple(row) for name, row in flags.items() if PARAMETERS[name].core or name in EXTRA}
    return kept, [_sentence(*key, cases) for key, cases in alike.items()]


def _half_width(space: Space, x: Array, sure: Uncertainty) -> Array:
    return sure.half_width * space.slopes(x)


def interval(space: Space, x: Array, sure: Uncertainty) -> tuple[JointDynamics, JointDynamics]:
    """Lower and upper end of every 95 % interval, inside the bounds."""
    half = np.minimum(np.nan_to_num(sure.half_width, posinf=1e9), 1e9)
    low, high = (space.decode(np.clip(x + sign * half, -1, 1)).lane(0) for sign in (-1, 1))
    return low, high


def _flag(x: float, value: float, half: float, width: float, scale: float) -> str:
    if not np.isfinite(half):
        return "not identified"
    sharp = half <= max(WEAK * abs(value), 0.05 * scale)
    if sharp and abs(x) > 1 - AT_BOUND:
        return "at lower bound" if x < 0 else "at upper bound"
    if 2 * half > 0.8 * width:
        return "not identified"
    return "ok" if sharp else "weak"


def _partner(sure: Uncertainty, labels: list[str], k: int) -> tuple[str, float] | None:
    row = np.where(np.arange(len(labels)) == k, 0.0, sure.correlation[k])
    other = int(np.argmax(np.abs(row)))
    return (labels[other], float(row[other])) if abs(row[other]) > TOGETHER else None


def _why(flag: str, entry: Entry, partner: tuple[str, float] | None) -> str:
    if flag.startswith("at "):
        return _AT_BOUND[entry.name, flag.split()[1]]
    unseen = _UNSEEN.get(entry.name, "the motion hardly depends on it")
    why = f"the data cannot tell it from {partner[0]} (correlation {partner[1]:+.2f})" if partner else unseen
    return f"{why}. {_REMEDY.get(entry.name, 'Fix it with --fix, or record a richer motion.')}"


def _value(entry: Entry, flag: str, value: float, half: float) -> str:
    """One case of a sentence: the joint and its number."""
    digits = f"{value:.3g} ± {half:.2g}" if flag == "weak" else f"{value:.3g}"
    number = "" if flag == "not identified" else f"{digits} {PARAMETERS[entry.name].unit}".removesuffix(" -")
    return f"{entry.joint} {number}".strip() if entry.joint else number


def _sentence(name: str, flag: str, why: str, cases: list[str]) -> str:
    how = {"weak": "weakly identified", "at lower bound": "at its lower bound", "at upper bound": "at its upper bound"}.get(
        flag, flag
    )
    return f"{name} {how} ({', '.join(cases)}): {why}" if any(cases) else f"{name} {how}: {why}"


def misfit(joints: tuple[str, ...], rmse: Array, noise: Array) -> list[str]:
    """A model that leaves far more than the encoders' noise unexplained, said once for all joints it holds for."""
    ratio = rmse / np.maximum(noise, 1e-9)
    bad = np.flatnonzero(ratio > MISFIT)
    if not len(bad):
        return []
    names = ", ".join(f"{joints[j]} {1e3 * rmse[j]:.2g}" for j in bad)
    return [
        f"the model does not explain all of the motion: the error [mrad] of {names} is up to {ratio[bad].max():.0f} times what "
        "the encoders scatter from sample to sample. The intervals cover noise, not a wrong model: check the gains and the link "
        "masses, and see with surefoot compare whether another model fits."
    ]


_UNSEEN = {
    "bias": "an encoder offset shows only through gravity and coupling between joints, and here both hardly change with it",
    "friction": "the joint hardly slides, or hardly reverses",
    "armature": "the inertia of the links outweighs it, or the motion is too slow to feel it",
    "damping": "the drive's own damping outweighs it, or the motion is too slow to feel it",
    "delay": "the motion is too slow to show a delay",
}
_REMEDY = {
    "bias": "Tilt the stand, move about a posture where gravity acts on this joint, or measure the offset at a hard stop.",
    "friction": "Use a larger amplitude or lower gains, so that the joint slides and reverses.",
    "armature": "Excite higher frequencies, or lower the gains.",
    "damping": "Excite higher speeds, lower the damping gain, or record a second set of gains.",
    "delay": "Excite higher frequencies.",
    "gain_scale": "Gains scale together with inertia and damping unless gravity acts: fix it, or hang a known mass.",
}
_ZERO = "none is needed to explain the motion; if that cannot be, look for a wrong gain or a wrong link mass."
_MORE = "raise it with --bound {}=LOW,HIGH if the robot can have more; else look for a wrong gain or time base."
_AT_BOUND = {(name, "lower"): _ZERO for name in PARAMETERS} | {(name, "upper"): _MORE.format(name) for name in PARAMETERS}
for _name in ("bias", "load", "tilt"):
    for _side in ("lower", "upper"):
        _AT_BOUND[_name, _side] = "it absorbs something else: a kinematic error, a wrong zero position or a wrong link mass."
