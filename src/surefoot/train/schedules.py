"""What changes over a training: functions of the iteration t, or of what a checkpoint keeps, so that a resumed one goes on."""

import math

WALKING = 0.3  # [m/s] robots whose velocity is less wrong than this walk, however roughly


def penalty_scale(t: float, *, half_life: float) -> float:
    """κ(t) = 1 − e^(−λt) with λ = ln 2 / half-life: how much of the energy and touch-down penalties counts."""
    return 1.0 - math.exp(-math.log(2.0) * t / half_life)


def entropy_coefficient(t: float, *, first: float, last: float, turn_over: float, steepness: float) -> float:
    """ℰ(t) = ℰ_∞ + ε (ℰ_0 − ℰ_∞) with ε = ½ − ½ tanh(η (t − T_ℰ))."""
    share = 0.5 - 0.5 * math.tanh(steepness * (t - turn_over))
    return last + share * (first - last)


def noise_bound(bound: float, error: float, *, half_life: float, least: float) -> float:
    """The next bound on the standard deviation of actions: halved in `half_life` iterations of walking, and kept in others."""
    return max(least, bound * 0.5 ** (1.0 / half_life)) if error < WALKING else bound
