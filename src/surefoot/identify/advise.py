"""How low are low gains? What the gains of a position drive mean for identification, one joint at a time.

A joint of inertia I with viscous damping d under a position drive P, D answers a target by P / (I s² + (D + d) s + P): its
natural frequency should lie inside the band that is excited, or its inertia is a guess. Three numbers bound the gains:

    P ≤ I (2π f)²        the natural frequency is below f: the end of the band, of what the policy can ask for (half its rate), or
                         of what the stand bears
    P ≥ m τ_f / A        friction swallows at most 1/m of an amplitude A: what lies below is stuck most of the time
    T ≤ φ / ω_c          a delay T inside the loop eats its phase margin φ at the crossover ω_c, and then the loop oscillates

With the loop L(s) = (P + D s) e^(−T s) / (I s² + d s), |L| = 1 at ω_c² = (D² − d² + √((D² − d²)² + 4 I² P²)) / 2 I².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_torque, mass_matrix

Array = np.ndarray
SWALLOWED = 5.0  # m: amplitudes that friction may swallow one of
SPARE = 2.0  # that the largest delay in the loop should be above the expected delay


@dataclass(frozen=True, kw_only=True, eq=False)
class Advice:
    """Arrays have one entry per joint."""

    joints: tuple[str, ...]
    top: float  # highest frequency that is worth or possible to excite [Hz]
    reason: str  # what sets it
    inertia: Array  # of links and rotor, the other joints held [kg·m²]
    poles: Array  # closed-loop poles s [1/s], complex, shape (n, 2)
    stiffness: Array  # P in force [N·m/rad]
    highest: Array  # P with the poles at the top of the band
    lowest: Array  # P at which friction swallows a fifth of the amplitude
    sag: Array  # what gravity bends the joint by at the posture [rad]
    delay: Array  # the largest in the loop before it oscillates [s]
    sentences: tuple[str, ...]

    @property
    def frequency(self) -> Array:
        """Natural frequency of each joint's loop [Hz], shape (n,)."""
        return np.sqrt(np.abs(self.poles[:, 0] * self.poles[:, 1])) / (2 * np.pi)

    @property
    def damping_ratio(self) -> Array:
        """ζ [-], shape (n,); above 1 the joint creeps, far below 1 it rings."""
        return -self.poles.sum(axis=1).real / (4 * np.pi * self.frequency)


def closed_loop_poles(inertia: Array, viscous: Array, stiffness: Array, damping: Array) -> Array:
    """The roots of I s² + (D + d) s + P [1/s], shape (n, 2)."""
    b = (damping + viscous) / (2 * inertia)
    root = np.sqrt((b**2 - stiffness / inertia).astype(complex))
    return np.stack([-b + root, -b - root], axis=-1)


def largest_delay(inertia: Array, viscous: Array, stiffness: Array, damping: Array) -> Array:
    """The delay inside the loop at which it starts to oscillate [s], shape (n,); inf where nothing pulls."""
    i2, gap = inertia**2, damping**2 - viscous**2
    crossover = np.sqrt((gap + np.sqrt(gap**2 + 4 * i2 * stiffness**2)) / (2 * i2))
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = np.arctan2(crossover * damping, stiffness) + np.arctan2(viscous, inertia * crossover)
        return np.where(stiffness > 0, margin / crossover, np.inf)


def advise(
    robot: Robot, dynamics: JointDynamics, stiffness: Array, damping: Array, amplitude: Array, *, stop_hz: float,
    policy_hz: float = 50.0, stand_hz: float = np.inf,
) -> Advice:  # fmt: skip
    """Gains against the excitation's band, the policy's Nyquist frequency and what the stand lets through."""
    known = dynamics.ordered_for(robot.joints)
    mass = mass_matrix(robot, robot.joints, robot.posture) + np.diag(known.armature)
    held, free = np.diag(mass).copy(), 1 / np.diag(np.linalg.inv(mass))  # the other joints held, or giving way
    top, reason = min(
        (stop_hz, "the excitation ends there"),
        (policy_hz / 2, f"half the policy's {policy_hz:g} Hz"),
        (stand_hz, "what the stand bears"),
    )
    still = np.zeros((1, robot.n))
    weight = np.abs(link_torque(robot, robot.joints, robot.posture[None], still, still)[0])
    delay = np.minimum(*(largest_delay(inertia, known.damping, stiffness, damping) for inertia in (held, free)))
    with np.errstate(divide="ignore", invalid="ignore"):
        lowest = np.where(amplitude > 0, SWALLOWED * known.friction / amplitude, np.inf)
        sag = np.where(stiffness > 0, weight / stiffness, np.inf)
    advice = Advice(
        joints=robot.joints, top=float(top), reason=reason, inertia=held, stiffness=stiffness, sag=sag, delay=delay,
        poles=closed_loop_poles(held, known.damping, stiffness, damping), highest=held * (2 * np.pi * top) ** 2, lowest=lowest,
        sentences=(),
    )  # fmt: skip
    object.__setattr__(advice, "sentences", tuple(_sentences(advice, known, amplitude)))
    return advice


def _sentences(a: Advice, dynamics: JointDynamics, amplitude: Array) -> list[str]:
    out = [f"The band that counts ends at {a.top:g} Hz ({a.reason})."]
    high = a.stiffness > a.highest
    if high.any():
        need = float(a.frequency[high].max())
        out.append(
            f"The natural frequency of {_named(a, high)} lies above it: inertia shows little there. Lower --stiffness below "
            f"{_values(a, high, a.highest)}, or raise --to-hz above {need:.1f} Hz where policy and stand allow it."
        )
    low = (a.stiffness < a.lowest) & ~high
    if low.any():
        out.append(
            f"Friction swallows more than a fifth of the motion of {_named(a, low)}: raise --stiffness above "
            f"{_values(a, low, a.lowest)}, or the amplitude in proportion."
        )
    empty = a.lowest > a.highest
    if empty.any():
        need = SWALLOWED * dynamics.friction / a.highest
        out.append(f"No gain does both for {_named(a, empty)}; amplitudes of at least {_values(a, empty, need)} rad would.")
    late = a.delay < SPARE * np.broadcast_to(dynamics.delay, a.delay.shape)
    if late.any():
        out.append(
            f"If the delay of {1e3 * float(np.max(dynamics.delay)):.3g} ms lay inside the loop, {_named(a, late)} would be "
            f"less than a factor {SPARE:g} from oscillating; lower --stiffness, or damp more."
        )
    if not (high | low | late).any():
        out.append("All natural frequencies lie inside it, friction is small, and the loops bear their delay: the gains suit.")
    return out


def _named(a: Advice, which: Array) -> str:
    return "all joints" if which.all() else ", ".join(np.array(a.joints)[which])


def _values(a: Advice, which: Array, values: Array) -> str:
    """One number where they are alike, else one per joint."""
    chosen = values[which]
    if np.ptp(chosen) <= 0.1 * np.abs(chosen).max():
        return f"{chosen.min():.2g}"
    return ", ".join(f"{joint} {value:.2g}" for joint, value in zip(np.array(a.joints)[which], chosen, strict=True))
