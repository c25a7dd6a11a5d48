"""What a Recording accepts: each check says what came, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import SurefootError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SHORTEST = 16  # samples


def names(field: str, value: Sequence[str]) -> tuple[str, ...]:
    """Distinct, non-empty names."""
    if isinstance(value, str):
        raise SurefootError(f"{field} is the text {value!r}; expected a list of joint names.")
    out = tuple(str(name) for name in value)
    if twice := sorted({name for name in out if out.count(name) > 1}):
        raise SurefootError(f"{field} lists {', '.join(twice)} more than once; every joint has one column.")
    if "" in out:
        raise SurefootError(f"{field} contains an empty name at place {out.index('')}.")
    return out


def numbers(field: str, value: ArrayLike | None) -> Array:
    """A read-only float64 copy."""
    array = _array(field, value)
    if array.dtype.kind not in "fiu":
        raise SurefootError(f"{field} holds {_kind(value, array)}; expected numbers.")
    out = np.array(array, dtype=np.float64, order="C")
    out.setflags(write=False)
    return out


def booleans(field: str, value: ArrayLike) -> Flags:
    """A read-only copy of booleans, or of numbers that are all 0 or 1."""
    array = _array(field, value)
    if array.dtype.kind not in "bfiu" or not np.isin(array, (0, 1)).all():
        raise SurefootError(f"{field} holds {_kind(value, array)}; expected True and False, or 1 and 0.")
    out = np.array(array, dtype=np.bool_, order="C")
    out.setflags(write=False)
    return out


def check_time(time: Array, label: str) -> None:
    """Time is one finite, strictly increasing column of at least `SHORTEST` samples."""
    if time.ndim != 1:
        raise SurefootError(f"time has shape {time.shape}; expected one column of stamps in seconds, shape (T,).")
    if len(time) < SHORTEST:
        raise SurefootError(
            f"{label} has {len(time)} sample{'s' * (len(time) != 1)}; at least {SHORTEST} are needed, and 20 s at "
            "400 Hz are a good experiment. Was the file cut short, or the wrong segment chosen?"
        )
    if (bad := np.flatnonzero(~np.isfinite(time))).size:
        raise SurefootError(f"time of sample {bad[0]} is {time[bad[0]]}; every sample needs a time stamp. Remove the row.")
    step = np.diff(time)
    if (same := np.flatnonzero(step == 0)).size:
        i = int(same[0])
        more = f" ({same.size} such pairs)" if same.size > 1 else ""
        raise SurefootError(
            f"time must increase; samples {i} and {i + 1} are both {time[i]:.10g} s{more}. The logger probably "
            "repeated a packet: load it with --drop-repeated (in Python: Recording.load(path, drop_repeated=True))."
        )
    if (back := np.flatnonzero(step < 0)).size:
        i = int(back[0])
        raise SurefootError(
            f"time must increase; sample {i} is {time[i]:.10g} s and sample {i + 1} is {time[i + 1]:.10g} s. Two logs "
            "were probably joined or the clock was set back: save the parts as separate recordings."
        )


def check_series(field: str, value: NDArray[Any], time: Array, joints: tuple[str, ...]) -> None:
    """A channel is finite and of shape (T, n)."""
    expected = (len(time), len(joints))
    if value.shape != expected:
        raise SurefootError(
            f"{field} has shape {value.shape}; expected {expected}: {len(time)} samples of {len(joints)} joints "
            f"({', '.join(joints)})."
        )
    if value.dtype == np.float64 and (bad := np.argwhere(~np.isfinite(value))).size:
        i, j = bad[0]
        raise SurefootError(
            f"{field} of joint {joints[j]} is {value[i, j]} at sample {i} (t = {time[i]:.10g} s), {len(bad)} such "
            f"value{'s' * (len(bad) != 1)} in all. Remove these rows, or fill them and set valid=False there."
        )


def check_gain(field: str, value: Array, joints: tuple[str, ...]) -> None:
    """A gain is finite, not negative and of shape (n,)."""
    if value.shape != (len(joints),):
        raise SurefootError(f"{field} has shape {value.shape}; expected ({len(joints)},): one gain per joint.")
    if (bad := np.flatnonzero(~(np.isfinite(value) & (value >= 0)))).size:
        raise SurefootError(
            f"{field} of joint {joints[bad[0]]} is {value[bad[0]]}; expected a number >= 0: the gain that was in force "
            f"in the drive. Pass --{field} ({field}=...) when loading, or set it in robot.toml."
        )


def _array(field: str, value: ArrayLike | None) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise SurefootError(f"{field} is not a regular table of numbers: {error}.") from None


def _kind(value: object, array: NDArray[Any]) -> str:
    if value is None:
        return "nothing"
    return {"U": "text", "S": "text", "b": "booleans", "c": "complex numbers"}.get(array.dtype.kind, f"{array.dtype} values")
