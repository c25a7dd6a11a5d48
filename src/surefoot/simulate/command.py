"""A recorded command as the physics steps feel it: linear between knots, whether the drive interpolates or holds it.

A drive that holds each command until the next one gives a step the mean of what was in force while it lasted,

    u(t) = (C(t + h) − C(t)) / h,    C the integral of the held command,

taken at t − T_d. C has a corner at every stamp, so u has one at every stamp and one a step before it, and is straight in between:
a held command, too, is continuous in the delay. Where the stamps are the steps, u is the line through the commands.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def knots(since: Array, values: Array, h: float, *, hold: bool) -> tuple[Array, Array]:
    """Times [s], shape (K,), between which the command is linear, and its values there, shape (K, columns)."""
    if not hold:
        return since, values
    corners = np.unique(np.concatenate([since - h, since]))
    return corners, mean_held(since, values, corners, h)


def mean_held(since: Array, values: Array, start: Array, h: float) -> Array:
    """Mean over [start, start + h] of commands held from stamp to stamp; the first and the last stand for ever."""
    last = len(since) - 1
    first, final = (np.clip(np.searchsorted(since, x, side="right") - 1, 0, last) for x in (start, start + h))
    after = np.minimum(first + 1, last)
    whole = np.vstack([np.zeros(values.shape[1]), np.cumsum(values[:-1] * np.diff(since)[:, None], axis=0)])
    head = (since[after] - start)[:, None] * values[first]
    tail = (start + h - since[final])[:, None] * values[final]
    return np.where((first == final)[:, None], values[first], (head + whole[final] - whole[after] + tail) / h)
