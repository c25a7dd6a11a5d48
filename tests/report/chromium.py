"""A real browser, headless, that tells what a page logged and what it asked the network for."""

from __future__ import annotations

import contextlib
import json
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip


@dataclass
class Browser:
    """Selenium's driver with the questions that these tests ask."""

    driver: Any

    def open(self, where: str | Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load a page afresh; what was logged before is forgotten."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        self.driver.get("about:blank")
        self.logged(), self.requested()
        self.driver.get(where.as_uri() if isinstance(where, Path) else where)

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a piece of JavaScript returns."""
        return self.driver.execute_script(f"return {script}", *arguments)

    def until(self, script: str, seconds: float = 20.0) -> Any:
        """Wait until a piece of JavaScript is true."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.05).until(lambda _: self.ask(script), f"never: {script}")

    def drawn(self) -> None:
        """Wait until every canvas has been drawn."""
        canvases = "[...document.querySelectorAll('canvas')]"
        self.until(f"{canvases}.length > 0 && {canvases}.every((canvas) => canvas.dataset.drawn)")

    def settle(self) -> None:
        """Wait until two frames have been drawn."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def logged(self) -> list[str]:
        """What the console has said since the last question."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requested(self) -> list[str]:
        """Addresses that were asked for since the last question."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def drag(self, canvas: Any, start: float, end: float) -> None:
        """Drag across a canvas, between two parts of its width."""
        from selenium.webdriver import ActionChains

        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        wide = canvas.size["width"]
        at = lambda share: round((share - 0.5) * wide)  # noqa: E731
        chain = ActionChains(self.driver, duration=20).move_to_element_with_offset(canvas, at(start), 0).click_and_hold()
        chain.move_to_element_with_offset(canvas, at((start + end) / 2), 0).move_to_element_with_offset(canvas, at(end), 0)
        chain.release().perform()
        self.settle()


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser and its driver, and stop them."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="the page is looked at with selenium: pip install selenium")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("the page is looked at in a browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in QUIET:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of selenium's own
        started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            yield Browser(started)
        finally:
            started.quit()
