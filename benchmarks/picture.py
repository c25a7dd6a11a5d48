"""The picture of the README: the page of `surefoot demo`, light, as headless Chromium draws it. Needs chromium and chromedriver.

  python benchmarks/picture.py [docs/images/report.png]

A look at verdict, motion and 3-D view, cut out of one screenshot, in 256 colours; below 300 kB.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from report import ALL, browser, practice
from surefoot.report import fit_content, write

OUT = Path(__file__).parents[1] / "docs" / "images" / "report.png"
WIDTH, HEIGHT, LARGEST = 1180, 1200, 300_000  # of the picture [px, px, bytes]
ARRANGE = """
const keep = ["motion", "scene"];
document.querySelectorAll("section").forEach((part) => { if (!keep.includes(part.id)) part.remove(); });
document.documentElement.style.scrollbarWidth = "none";
document.querySelectorAll("nav, #theme, .reasons, .lead, .readout").forEach((part) => part.remove());
document.querySelectorAll("#motion .card").forEach((card, k) => { if (k > 5) card.remove(); });
document.querySelectorAll(".canvas").forEach((box) => { if (box.closest("#motion")) box.style.height = "118px"; });
document.querySelector("#scene .stage .canvas").style.height = "400px";
const slider = document.querySelector("#scene input[type=range]");
slider.value = 430;
slider.dispatchEvent(new Event("input"));
"""


def draw(page: Path) -> bytes:
    """A screenshot of the page's best parts, as PNG."""
    from selenium.webdriver import ActionChains

    driver: Any = browser()
    try:
        media = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        screen = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        driver.get(page.as_uri())
        driver.execute_script(ARRANGE)
        stop = time.monotonic() + 30
        while not driver.execute_script(f"return {ALL}") and time.monotonic() < stop:
            time.sleep(0.05)
        first = driver.find_element("css selector", "#motion canvas")
        across = ActionChains(driver, duration=20).move_to_element_with_offset(first, -30, 0).click_and_hold()
        across.move_to_element_with_offset(first, 20, 0).release().move_by_offset(0, -120).perform()  # a zoom
        time.sleep(0.5)  # the last frame
        return driver.get_screenshot_as_png()
    finally:
        driver.quit()


def main() -> None:
    """Fit the demo's robot, draw its page, take the picture."""
    from PIL import Image

    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    with tempfile.TemporaryDirectory() as folder:
        page = write(fit_content(*practice("anymal", Path(folder))), Path(folder) / "report.html")
        shot = Image.open(io.BytesIO(draw(page))).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    out.parent.mkdir(parents=True, exist_ok=True)
    shot.save(out, optimize=True)
    size = out.stat().st_size
    print(f"{out}: {shot.width} x {shot.height}, {size / 1e3:.0f} kB, {'met' if size < LARGEST else 'missed'} (below 300 kB)")


if __name__ == "__main__":
    main()
