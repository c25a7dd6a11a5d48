"""What the commands share: where output goes, and what is refused before any work is done."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from surefoot.commands.options import warn
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from rich.console import Console

Files = Annotated[tuple[Path, ...], tyro.conf.Positional]
Name = Annotated[str, tyro.conf.Positional]
Folder = Annotated[Path, tyro.conf.Positional]


def console() -> Console:
    """Where output goes; wide enough for a table when nobody is watching."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 180, highlight=False)


def following(command: str) -> None:
    """The command that comes next, in one line that can be pasted."""
    console().print(f"next: {command}", markup=False, soft_wrap=True)


def seeded(seed: int) -> None:
    """A seed is a whole number from zero."""
    if seed < 0:
        raise SurefootError(f"--seed is {seed}; expected a whole number >= 0.")


def writable(folder: Path, *files: str) -> None:
    """Refuse a folder that cannot be written, before the work is done and not after."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(path))
    reason = ""
    if not there.is_dir():
        reason = f"{there.name} is a file, not a folder"
    elif not os.access(there, os.W_OK | os.X_OK):
        reason = f"{there} may not be written by you"
    elif taken := [name for name in files if (folder / name).is_dir()]:
        reason = f"{taken[0]} in it is a folder"
    if reason:
        raise SurefootError(f"cannot write to {folder}: {reason}. Choose another --out.")


def resumable(out: Path, method: str, resume: bool) -> None:
    """Only a cmaes search can be continued, from the state that it left."""
    if resume and method != "cmaes":
        raise SurefootError(f"--resume continues a cmaes search, and --method is {method}; add --method cmaes or drop --resume.")
    if resume and not (out / "search.npz").exists():
        warn(f"there is no search in {out} to resume (no search.npz); it starts from the beginning.")
