"""Does a drive ring by itself? The modes of encoder, loops, winding, rotor, spring and link, and a damper that keeps them down.

A light rotor on a soft spring can be driven by its own current loop, whose dead time turns damping into its opposite. Nobody
keeps a machine that howls on its stand; a hidden one must not either.
"""

from __future__ import annotations

import numpy as np

from surefoot.simulate.virtual.drives import Drives, Motors

Array = np.ndarray
FAST = 50.0  # [Hz] modes of the drive; slower ones are the legs' own, which gains and friction rule
LEAST = 0.05  # damping ratio that a fast mode needs [-]
MORE = 1.25  # factor of the damper from one try to the next
STRETCH = 1e-3  # [rad] the spring is pressed, so that its damper acts
SMALL = 1e-6  # difference of a state


def fast_damping(drives: Drives, link: Array, stiffness: Array, damping: Array, timestep: float, seat: Array) -> Array:
    """Smallest damping ratio of each joint's modes above FAST, shape (n,); 1 where it has none, below 0 where they grow.

    At a position `seat` [rad], which decides the gear ratio. The links move alone, with inertia `link` [kg·m²], by steps of
    `timestep` [s]. Friction, play, cogging and the grid of the encoder are left out: they end a ringing at some amplitude, and
    hide it below another.
    """
    smooth = drives.replace(friction=0.0, load_friction=0.0, breakaway=0.0, cogging=0.0, blanking=0.0, backlash=0.0,
                            friction_aid=0.0, resolution=1e-12)  # fmt: skip
    n = drives.n
    motors = Motors(smooth, seat, "numpy")
    motors.command(target=seat, stiffness=stiffness, damping=damping)
    block, steps = motors.block, round(timestep / drives.step)

    def after(rows: Array, speed: Array) -> Array:
        """State and link speed one step of the links later, shape (S + 1, n)."""
        block.state[:] = rows
        at = block.now("link").copy()
        torque = motors.advance(at, speed, 1e6, steps)  # a bus that never clips
        speed = speed + timestep * torque / (link + motors.armature())
        block.now("link")[:] = at + timestep * speed
        return np.vstack([block.state[:, :n], speed])

    block.now("rotor")[:] += STRETCH
    rows, still = block.state.copy(), np.zeros(n)
    base, columns = after(rows, still), []
    for k in range(len(rows)):
        moved = rows.copy()
        moved[k] += SMALL
        columns.append(after(moved, still) - base)
    columns.append(after(rows, still + SMALL) - base)
    modes = np.linalg.eigvals(np.stack(columns, axis=-1).transpose(1, 0, 2) / SMALL)  # of (n, S + 1, S + 1)
    rate = np.log(np.maximum(np.abs(modes), 1e-12)) + 1j * np.angle(modes)
    fast = (rate.imag / (2 * np.pi * timestep) > FAST) & (rate.imag < 0.999 * np.pi)
    return np.where(fast, -rate.real / np.abs(rate), 1.0).min(axis=1)


def quieted(drives: Drives, link: Array, stiffness: Array, damping: Array, timestep: float, tries: int = 20) -> Drives:
    """The drives with as much more damping between rotor and link as keeps them from ringing, under the gains and under twice."""
    joint = np.arange(drives.n)
    seats = [drives.gear_position[joint, pick(drives.gear_ratio, axis=1)] for pick in (np.argmin, np.argmax)]
    cases = [(seat, factor) for seat in seats for factor in (1.0, 2.0)]
    for _ in range(tries if drives.elastic.any() else 0):
        ratios = [fast_damping(drives, link, factor * stiffness, factor * damping, timestep, seat) for seat, factor in cases]
        rings = drives.elastic & (np.min(ratios, axis=0) < LEAST)
        if not rings.any():
            break
        drives = drives.replace(damper=drives.damper * np.where(rings, MORE, 1.0))
    return drives
