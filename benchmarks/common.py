"""What every benchmark prints first: the machine, the versions, the date and the command."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from rich.console import Console


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def header(console: Console, script: str) -> None:
    """Say where and how these figures were made."""
    command = " ".join(["python", f"benchmarks/{Path(script).name}", *sys.argv[1:]])
    versions = ", ".join(f"{name} {version(name)}" for name in ("surefoot", "mujoco", "numpy", "llvmlite"))
    console.print(
        f"[bold]{command}[/bold]   {datetime.date.today()}   {os.cpu_count()} cores, {processor()}   {versions}", highlight=False
    )
