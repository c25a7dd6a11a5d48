"""What changes over a training, as functions of the iteration t alone, so that a resumed training goes on where it stopped."""

import math


def penalty_scale(t: float, *, half_life: float) -> float:
    """κ(t) = 1 − e^(−λt) with λ = ln 2 / half-life: how much of the energy and touch-down penalties counts."""
    return 1.0 - math.exp(-math.log(2.0) * t / half_life)


def entropy_coefficient(t: float, *, first: float, last: float, turn_over: float, steepness: float) -> float:
    """ℰ(t) = ℰ_∞ + ε (ℰ_0 − ℰ_∞) with ε = ½ − ½ tanh(η (t − T_ℰ))."""
    share = 0.5 - 0.5 * math.tanh(steepness * (t - turn_over))
    return last + share * (first - last)
