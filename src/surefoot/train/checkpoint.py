"""Checkpoints on disk: all or nothing, readable without running anybody's code."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch

from surefoot.errors import SurefootError

FORMAT = "surefoot-checkpoint-1"


def path_of(folder: Path, rank: int) -> Path:
    """The checkpoint of one process."""
    return folder / ("checkpoint.pt" if rank == 0 else f"checkpoint-{rank}.pt")


def write(path: Path, state: dict[str, Any]) -> None:
    """Replace a checkpoint in one move, so that a process that dies leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    torch.save(_tensors({"format": FORMAT} | state), part)
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(path)


def read(path: Path) -> dict[str, Any]:
    """A checkpoint as it was written."""
    if not path.is_file():
        raise SurefootError(
            f"there is no checkpoint at {path} to resume; leave --resume out, or give the folder of a training as --out."
        )
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError, ValueError) as error:
        raise SurefootError(
            f"{path} is not a checkpoint that can be read: {type(error).__name__}. Start again without --resume."
        ) from None
    if not isinstance(state, dict) or state.pop("format", None) != FORMAT:
        raise SurefootError(
            f"{path} is not a checkpoint written by this version of surefoot ({FORMAT}). Start again without --resume."
        )
    return _arrays(state)


_ARRAY = "__numpy__"


def _tensors(value: Any) -> Any:
    """NumPy arrays as marked tensors, big whole numbers as text: what torch reads back without running code."""
    if isinstance(value, np.ndarray):
        return {_ARRAY: torch.from_numpy(np.array(value))}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _tensors(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_tensors(item) for item in value)
    return value


def _arrays(value: Any) -> Any:
    """The inverse of `_tensors`."""
    if isinstance(value, dict):
        return value[_ARRAY].numpy() if _ARRAY in value else {key: _arrays(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_arrays(item) for item in value)
    return value
