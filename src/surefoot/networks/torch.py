"""torch, asked for when it is needed, and named when it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from surefoot.errors import SurefootError


@lru_cache(maxsize=1)
def torch() -> Any:
    """The library, or a sentence that says how to get it."""
    try:
        import torch as library
    except ImportError:
        raise SurefootError('drive networks need torch: pip install "surefoot[networks]".') from None
    return library


@contextmanager
def one_thread() -> Iterator[Any]:
    """torch on one core: these networks are so small that threads only wait for each other."""
    t = torch()
    before = t.get_num_threads()
    if before == 1:
        yield t
        return
    t.set_num_threads(1)
    try:
        yield t
    finally:
        t.set_num_threads(before)
