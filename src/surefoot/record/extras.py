"""Libraries that not everybody needs: imported when a file asks for them, and named when they are not there."""

from __future__ import annotations

import importlib
from typing import Any

from surefoot.errors import SurefootError


def need(module: str, what: str) -> Any:
    """The module of the extra `formats`; without it, a sentence that says what to install for `what`."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise SurefootError(
            f'{what} needs the library {module.split(".")[0]}, which is not installed: pip install "surefoot[formats]".'
        ) from None
