"""A page from its content: one file with its own style, code and numbers, readable from disk for as long as there are browsers.

The content is a dictionary that JSON can hold; its `kind` says which sections `assets/page.js` lays out. Nothing is fetched: the
page's own content security policy forbids it.
"""

from __future__ import annotations

import base64
import html as _html
import json
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError

Array = np.ndarray
_PARTS = ("core", "plot", "charts", "scene", "sections", "several", "live", "training", "run", "page")
SCRIPTS = tuple(f"{name}.js" for name in _PARTS)  # in the order in which they need each other
LARGEST = 32767  # of a 16-bit number; the one below the smallest stands for "not there"


def html(content: dict[str, Any], *, live: bool = False) -> str:
    """The page as text; a `live` one may talk to the server that it came from, and to nobody else."""
    allowed = {"default": "'none'", "img": "data:", "style": "'unsafe-inline'", "script": "'unsafe-inline'"}
    allowed["connect"] = "'self'" if live else "'none'"
    policy = "; ".join(f"{kind}-src {source}" for kind, source in allowed.items())
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"POLICY": policy, "TITLE": _html.escape(content["title"]), "STYLE": _asset("style.css"), "DATA": data}
    parts["SCRIPT"] = "\n".join(_asset(name) for name in SCRIPTS)
    before, *rest = _asset("page.html").split("{{")
    pieces = [part.split("}}", 1) for part in rest]
    return before + "".join(parts[name] + after for name, after in pieces)


def write(content: dict[str, Any], out: str | Path) -> Path:
    """Write the page to a file; its folder is made."""
    out = Path(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(f".{out.name}.part")
        part.write_text(html(content), encoding="utf-8")
        part.replace(out)
    except OSError as error:
        raise SurefootError(f"cannot write the page to {out}: {error.strerror or error}. Choose another --out.") from None
    return out


@lru_cache
def _asset(name: str) -> str:
    return resources.files("surefoot.report").joinpath("assets", name).read_text(encoding="utf-8")


def packed(values: Array) -> dict[str, Any]:
    """An array as 16-bit numbers: value = step · integer. Not-a-number and infinity become gaps."""
    values = np.asarray(values, dtype=float)
    there = np.isfinite(values)
    step = float(np.max(np.abs(values[there]), initial=0.0)) / LARGEST or 1.0
    whole = np.where(there, np.round(np.where(there, values, 0.0) / step), -LARGEST - 1).astype("<i2")
    return {"shape": list(values.shape), "step": step, "data": base64.b64encode(whole.tobytes()).decode()}


def exact(values: Array) -> dict[str, Any]:
    """A row as 32-bit numbers, for what sixteen bits are too coarse for: time."""
    return {
        "shape": list(np.shape(values)),
        "float": True,
        "data": base64.b64encode(np.asarray(values, "<f4").tobytes()).decode(),
    }


def plain(values: Array | float, digits: int = 6) -> Any:
    """An array as nested lists of rounded numbers, None for what is not finite."""
    if np.ndim(values):
        return [plain(row, digits) for row in np.asarray(values)]
    return float(f"{float(values):.{digits}g}") if np.isfinite(values) else None
