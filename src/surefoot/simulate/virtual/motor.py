"""One joint's drive from the target to the torque at the link: the equations of one electrical step, for all joints at once.

They are the paper's block diagram: a position loop on a quantised encoder, firmware compensation, a PI current loop behind
dead time, resistance, inductance and back-EMF, the inverter's voltage error, a gear, cogging, friction, and, where the joint
is elastic, a spring with play between rotor and link. Everything mechanical is seen from the joint.

`step` is written once. It runs on NumPy arrays (`NUMBERS`) and, traced, as machine code (`surefoot.simulate.virtual.engine`).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

PARTS = (  # what does not change, one row of joints each
    "elastic",  # 1: a spring between rotor and link, 0: rigid
    "on_rotor",  # 1: the encoder sits on the rotor, 0: on the link
    "bias",  # q_b: the encoder reads q − q_b [rad]
    "resolution",  # of the encoder [rad]
    "per_resolution",  # its inverse [1/rad]
    "share",  # of the newest difference in the drive's velocity filter [-]
    "slope_share",  # likewise of the acceleration that the firmware compensates with [-]
    "virtual_inertia",  # of the firmware's acceleration feedback [kg·m²]
    "friction_aid",  # friction that the firmware feeds forward [N·m]
    "cogging_aid",  # share of the cogging that the firmware cancels [-]
    "constant",  # k_i [N·m/A]; also the back-EMF's [V·s/rad], as energy demands
    "current_limit",  # [A]
    "gain",  # K_p of the current loop [V/A]
    "integral_gain",  # K_i · h [V/A]
    "emf_aid",  # share of the back-EMF that the firmware adds to the voltage [-]
    "unwind",  # how much of a clipped voltage leaves the integrator in one step [-]
    "blanking",  # voltage that the inverter loses at a current of either sign [V]
    "decay",  # exp(−R h / L): of a current without voltage [-]
    "conductance",  # (1 − decay) / R [A/V]
    "cogging",  # amplitude, at the joint [N·m]
    "lobes",  # of the cogging per joint angle [1/rad]
    "phase",  # of the cogging [rad]
    "friction",  # τ_f [N·m]
    "load_friction",  # μ: friction per torque [-]
    "breakaway",  # τ_s: extra friction at standstill [N·m]
    "per_stribeck",  # 1 / v_s [s/rad]
    "damping",  # h d of the rotor [N·m·s²/rad]
    "spring",  # stiffness of the transmission [N·m/rad]
    "damper",  # beside the spring [N·m·s/rad]
    "play",  # half of the backlash [rad]
)
INPUTS = (  # what holds during one call
    "link_velocity",  # [rad/s]
    "target",  # û [rad]
    "target_velocity",  # [rad/s]
    "feedforward",  # [N·m]
    "stiffness",  # P [N·m/rad]
    "gain_damping",  # D [N·m·s/rad]
    "ratio",  # r(q) [-]
    "per_torque",  # 1 / (k_i r) as the firmware believes it [A/(N·m)]
    "bus",  # voltage [V]
    "on",  # 1: controlled, 0: windings shorted
    "mobility",  # h / (J r²) of the rotor [rad/s per N·m]
    "inertia",  # J r² of the rotor [kg·m²]
)
STATE = (  # what a step hands to the next
    "link",  # q, extrapolated during a call [rad]
    "rotor",  # rotor angle over the ratio [rad]; meaningless where rigid
    "rotor_velocity",  # [rad/s]
    "reading",  # the encoder's last [rad]
    "seen",  # filtered velocity [rad/s]
    "slope",  # filtered acceleration [rad/s²]
    "current",  # i_q [A]
    "integral",  # of the current loop [V]
)  # and then `line0`, `line1`, ...: voltages on their way through the dead time [V]
SUMS = (  # what is added up over the steps of a call
    "torque",  # on the link [N·m]
    "motor_torque",  # k_i r i [N·m]
    "power",  # from the bus, u i [W]
    "square",  # i² [A²]
    "inverter",  # lost in the inverter, u_lost i [W]
    "rubbing",  # friction, damping and damper of an elastic joint [W]
)


class Arithmetic(Protocol):
    """What the equations need beside + − ×."""

    def divide(self, a: Any, b: Any) -> Any:
        """a / b."""
        ...

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        """x within its bounds."""
        ...

    def absolute(self, x: Any) -> Any:
        """|x|."""
        ...

    def nearest(self, x: Any) -> Any:
        """The nearest whole number."""
        ...

    def sine(self, x: Any) -> Any:
        """sin x."""
        ...


class _Numbers:
    """The arithmetic of NumPy arrays."""

    def divide(self, a: Any, b: Any) -> Any:
        return np.divide(a, b)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        return np.clip(x, low, high)

    def absolute(self, x: Any) -> Any:
        return np.abs(x)

    def nearest(self, x: Any) -> Any:
        return np.rint(x)

    def sine(self, x: Any) -> Any:
        return np.sin(x)


NUMBERS: Arithmetic = _Numbers()


def lines(dead_steps: int) -> tuple[str, ...]:
    """Names of the state rows that hold voltages on their way."""
    return tuple(f"line{k}" for k in range(dead_steps))


def step(m: Arithmetic, p: Any, x: Any, s: dict[str, Any], h: float, dead_steps: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """One electrical step of h seconds: the new state, and this step's share of the sums. Rows are dicts by name."""
    rotor = s["link"] + p["elastic"] * (s["rotor"] - s["link"])
    speed = x["link_velocity"] + p["elastic"] * (s["rotor_velocity"] - x["link_velocity"])

    # encoder: q − q_b on its grid; velocity and acceleration are filtered differences of it
    seat = s["link"] + p["on_rotor"] * (rotor - s["link"])
    reading = p["resolution"] * m.nearest((seat - p["bias"]) * p["per_resolution"])
    seen = s["seen"] + p["share"] * ((reading - s["reading"]) * (1 / h) - s["seen"])
    slope = s["slope"] + p["slope_share"] * ((seen - s["seen"]) * (1 / h) - s["slope"])

    # position loop and firmware: τ* = P(û − q_enc) + D(û̇ − q̇_seen) + τ_ff + τ_comp
    cogging = p["cogging"] * m.sine(p["lobes"] * rotor + p["phase"])
    aid = p["friction_aid"] * m.clip(seen * p["per_stribeck"], -1.0, 1.0)
    wanted = (
        x["stiffness"] * (x["target"] - reading) + x["gain_damping"] * (x["target_velocity"] - seen) + x["feedforward"]
        + aid - p["virtual_inertia"] * slope - p["cogging_aid"] * cogging
    )  # fmt: skip

    # current loop: u = K_p e + z + share of k_i r q̇_seen, ż = K_i e, within the bus
    constant = p["constant"] * x["ratio"]
    error = m.clip(wanted * x["per_torque"], -p["current_limit"], p["current_limit"]) - s["current"]
    asked = p["gain"] * error + s["integral"] + p["emf_aid"] * constant * seen
    given = x["on"] * m.clip(asked, -x["bus"], x["bus"])
    integral = x["on"] * (s["integral"] + p["integral_gain"] * error + p["unwind"] * (given - asked))
    passed = [given, *(s[name] for name in lines(dead_steps))]
    volts = x["on"] * passed[-1]  # shorting does not wait for the line

    # winding, exact for a constant voltage: L di/dt = u − R i − k_i r q̇
    lost = x["on"] * p["blanking"] * m.clip(s["current"] * BLANKING_SLOPE, -1.0, 1.0)
    current = p["decay"] * s["current"] + p["conductance"] * (volts - lost - constant * speed)
    mean = 0.5 * (s["current"] + current)
    motor = constant * mean
    push = motor + cogging

    # transmission: spring, damper and play; nothing of it where the joint is rigid
    stretch = rotor - s["link"]
    gap = m.clip(stretch, -p["play"], p["play"])
    touching = m.clip(m.absolute(stretch - gap) * TOUCH, 0.0, 1.0)
    held = p["spring"] * (stretch - gap) + touching * p["damper"] * (speed - x["link_velocity"])

    # rotor: J φ̈ = τ_m − τ_s − d φ̇ − friction; friction stops within the step what it can stop
    loss = p["friction"] + p["load_friction"] * m.absolute(motor)
    loss = loss + m.divide(p["breakaway"], 1.0 + (speed * p["per_stribeck"]) * (speed * p["per_stribeck"]))
    free = m.divide(speed + x["mobility"] * (push - held), 1.0 + m.divide(p["damping"], x["inertia"]))
    stop = x["mobility"] * loss
    rolling = free - m.clip(free, -stop, stop)

    new = {
        "link": s["link"] + h * x["link_velocity"],
        "rotor": rotor + h * rolling,
        "rotor_velocity": rolling,
        "reading": reading,
        "seen": seen,
        "slope": slope,
        "current": current,
        "integral": integral,
        **dict(zip(lines(dead_steps), passed, strict=False)),
    }
    torque = push + p["elastic"] * (held - push)
    # what an elastic joint turns into heat: all that neither speeds the rotor up nor is in the spring, at the mean speed
    midway = 0.5 * (speed + rolling)
    dragged = push - held - (rolling - speed) * x["inertia"] * (1 / h)
    rubbing = p["elastic"] * (dragged * midway + (held - p["spring"] * (stretch - gap)) * (midway - x["link_velocity"]))
    sums = {"torque": torque, "motor_torque": motor, "power": volts * mean, "square": mean * mean, "inverter": lost * mean,
            "rubbing": rubbing}  # fmt: skip
    return new, sums


BLANKING_SLOPE = 20.0  # [1/A] the voltage error of the inverter is full beyond 50 mA
TOUCH = 1e5  # [1/rad] the damper acts fully once the spring is pressed by 10 µrad
