"""The page of `surefoot demo` in headless Chromium: how large it is and how soon it shows. Needs chromium and chromedriver.

  python benchmarks/report.py [robot]

12 joints, three recordings at 400 Hz, up to 20 s. First plot: from the start of loading until the first figure is on its canvas;
all plots: until every canvas has been drawn. The median of five loads, each in a fresh tab.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from common import header
from surefoot.cli import main
from surefoot.identify import Fit
from surefoot.report import fit_content, write
from surefoot.robot import Robot

LOADS = 5
LARGEST, SOONEST = 6e6, 2.0  # [bytes], [s]
ALL = "[...document.querySelectorAll('canvas')].every((canvas) => canvas.dataset.drawn)"


def browser() -> Any:
    """Headless Chromium as selenium drives it."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    program, driver = (shutil.which(name) for name in ("chromium", "chromedriver"))
    if program is None or driver is None:
        sys.exit("no browser: apt-get install chromium chromium-driver")
    options.binary_location = program
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--window-size=1280,900"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def load(driver: Any, page: Path) -> tuple[float, float]:
    """Seconds until the first plot, and until all of them."""
    driver.switch_to.new_window("tab")
    driver.get(page.as_uri())
    stop = time.monotonic() + 30
    while not driver.execute_script(f"return {ALL}") and time.monotonic() < stop:
        time.sleep(0.01)
    return tuple(t / 1e3 for t in driver.execute_script("return [surefoot.firstPlot, performance.now()]"))


def practice(name: str, folder: Path) -> tuple[Fit, Robot]:
    """The fit of surefoot demo, and its robot."""
    with contextlib.redirect_stdout(io.StringIO()):
        main(["demo", "--robot", name, "--out", str(folder)])
    return Fit.load(folder / "fit"), Robot.load(name)


def table(name: str) -> Table:
    """Size and times beside their targets."""
    out = Table("", "measured", "target", "", title=f"the page of surefoot demo --robot {name}")
    with tempfile.TemporaryDirectory() as folder:
        fit, robot = practice(name, Path(folder))
        begin = time.perf_counter()
        page = write(fit_content(fit, robot), Path(folder) / "page.html")
        took, size, driver = time.perf_counter() - begin, page.stat().st_size, browser()
        try:
            times = [load(driver, page) for _ in range(LOADS)]
        finally:
            driver.quit()
    first, every = (statistics.median(column) for column in zip(*times, strict=True))
    verdict = lambda good: "met" if good else "MISSED"  # noqa: E731
    out.add_row("size", f"{size / 1e6:.2f} MB", f"< {LARGEST / 1e6:g} MB", verdict(size < LARGEST))
    out.add_row("first plot", f"{first:.2f} s", f"< {SOONEST:g} s", verdict(first < SOONEST))
    out.add_row("all plots", f"{every:.2f} s", "-", "")
    out.add_row("written in", f"{took:.2f} s", "-", "")
    return out


if __name__ == "__main__":
    console = Console()
    header(console, __file__)
    console.print(table(sys.argv[1] if len(sys.argv) > 1 else "anymal"))
