"""The page in a real browser: everything is drawn, nothing is fetched, and what a hand does to it works."""

import contextlib
import io
import json

import mujoco
import numpy as np
import pytest
from drawn import fit, robot, spoiled, wrong

from surefoot.cli import main
from surefoot.identify import Fit
from surefoot.report import fit_content, fits_content, write
from surefoot.report.scene import scene


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder that `surefoot demo` leaves: 12 joints, a chirp of 20 s and two more recordings."""
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["demo", "--robot", "minimal", "--out", str(folder)]) == 0
    return folder / "fit"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The page of two legs."""
    return write(fit_content(fit(), robot()), tmp_path_factory.mktemp("small") / "page.html")


def choose(browser, label, text):
    """Choose an option of a list."""
    from selenium.webdriver.support.ui import Select

    Select(browser.driver.find_element("css selector", f"select[aria-label='{label}']")).select_by_visible_text(text)
    browser.settle()


def picture(browser, canvas):
    """What a canvas shows, as text."""
    return browser.ask("arguments[0].toDataURL()", canvas)


def read(browser, css):
    """Attributes and text of elements."""
    return browser.ask(f"[...document.querySelectorAll('{css}')].map((cell) => ({{...cell.dataset, text: cell.innerText}}))")


def find(browser, css):
    return browser.driver.find_elements("css selector", css)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_demos_page_draws_everything_logs_nothing_and_asks_nobody(browser, demo, width, dark):
    browser.open(demo / "report.html", width=width, dark=dark)
    browser.drawn()
    assert browser.logged() == []
    assert browser.requested() == [(demo / "report.html").as_uri()]
    assert len(find(browser, "canvas")) == 12 + 1 + 2 + 3 + 12 + 1 + 1
    assert browser.ask("document.documentElement.scrollWidth") == width  # nothing sticks out
    inks = browser.ask(
        "[...document.querySelectorAll('canvas')].map(c => new Set(new Uint32Array(c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.buffer)).size)"
    )
    assert min(inks) > 5  # none is empty


def test_the_demos_page_is_under_six_megabytes(demo):
    assert (demo / "report.html").stat().st_size < 6e6


def test_the_numbers_on_the_page_are_those_of_fit_json(browser, demo):
    browser.open(demo / "report.html")
    browser.drawn()
    data = json.loads((demo / "fit.json").read_text(encoding="utf-8"))
    cells = read(browser, "td[data-parameter]")
    shown = {(c["parameter"], int(c["index"])): c for c in cells}
    assert len(shown) == 49
    for name, p in data["parameters"].items():
        for i, value in enumerate(p["value"]):
            cell = shown[name, i]
            assert [float(cell[key]) for key in ("value", "low", "high")] == [value, p["low"][i], p["high"][i]]
            assert cell["flag"] == p["flag"][i]
            scale = 1e3 if p["unit"] == "s" else 1.0
            number = float(cell["text"].split()[0].replace("−", "-"))
            assert number == pytest.approx(scale * value, abs=0.06 * scale * (p["high"][i] - p["low"][i]) + 1e-9)
    held = read(browser, "td[data-score]")
    for score in data["held_out"]:
        mine = [float(c["value"]) for c in held if c["score"] == score["name"]]
        assert mine == score["rmse"]
    rmse = [float(cell.text) for cell in find(browser, "td[data-rmse]")]
    np.testing.assert_allclose(rmse, 1e3 * Fit.load(demo).rmse, rtol=6e-3)


def test_a_drag_across_one_plot_zooms_all_of_them_and_a_double_click_shows_everything(browser, small):
    from selenium.webdriver import ActionChains

    browser.open(small)
    browser.drawn()
    plots = find(browser, "#motion canvas")
    before = [picture(browser, plot) for plot in plots]
    browser.drag(plots[1], 0.3, 0.6)
    ActionChains(browser.driver).move_to_element(find(browser, "#motion h2")[0]).perform()
    browser.settle()
    after = [picture(browser, plot) for plot in plots]
    assert all(a != b for a, b in zip(after, before, strict=True))
    button = next(b for b in find(browser, "#motion button") if b.text == "show all of it")
    assert button.is_enabled()
    ActionChains(browser.driver).double_click(plots[0]).move_to_element(find(browser, "#motion h2")[0]).perform()
    browser.settle()
    assert [picture(browser, plot) for plot in plots] == before
    assert not button.is_enabled()


def test_the_pointer_reads_values(browser, small):
    from selenium.webdriver import ActionChains

    browser.open(small)
    browser.drawn()
    ActionChains(browser.driver).move_to_element(find(browser, "#motion canvas")[2]).perform()
    browser.until("document.querySelector('#motion .readout').textContent.includes('RF_HIP at')")
    assert "measured" in find(browser, "#motion .readout")[0].text
    ActionChains(browser.driver).move_to_element(find(browser, "#correlation canvas")[0]).perform()
    browser.until("document.querySelector('#correlation .readout').textContent.includes('×')")


def test_series_and_recordings_are_switched(browser, small):
    browser.open(small)
    browser.drawn()
    plot = find(browser, "#motion canvas")[0]
    before = picture(browser, plot)
    find(browser, "#motion button[data-series='none']")[0].click()
    browser.settle()
    without = picture(browser, plot)
    assert without != before
    choose(browser, "recording", "steps (held out)")
    assert picture(browser, plot) != without
    assert browser.logged() == []


def test_the_robot_plays_turns_and_shows_the_other_motion(browser, small):
    browser.open(small)
    browser.drawn()
    stage = find(browser, "#scene canvas")[0]
    still = picture(browser, stage)
    find(browser, "#play")[0].click()
    browser.until("parseFloat(document.querySelector('#scene .readout').textContent) > 0.3")
    find(browser, "#play")[0].click()
    browser.settle()
    played = picture(browser, stage)
    assert played != still
    browser.settle()
    assert picture(browser, stage) == played  # it stands still again
    browser.drag(stage, 0.4, 0.7)
    turned = picture(browser, stage)
    assert turned != played
    for label, text in (("simulated", "no model"), ("difference", "× 10")):
        choose(browser, label, text)
        assert picture(browser, stage) != turned
        turned = picture(browser, stage)
    assert browser.logged() == []


def test_the_links_stand_where_mujoco_puts_them(browser, small):
    browser.open(small)
    geometry = scene(fit(), robot())
    at = np.array([0.3, -0.7, 0.1, 0.9])
    model = mujoco.MjModel.from_xml_string(robot().scene)
    data = mujoco.MjData(model)
    for joint, q in zip(fit().joints, at, strict=True):
        data.qpos[model.joint(joint).qposadr[0]] = q
    mujoco.mj_kinematics(model, data)
    seen = browser.ask("surefoot.poses(arguments[0].links, (axis) => arguments[1][axis.column])", geometry, at.tolist())
    np.testing.assert_allclose([pose["p"] for pose in seen], data.xpos[1:], atol=1e-5)
    for pose, quat in zip(seen, data.xquat[1:], strict=True):
        assert abs(np.dot(pose["q"], quat)) == pytest.approx(1.0, abs=1e-6)


def test_the_theme_can_be_changed(browser, small):
    browser.open(small)
    browser.drawn()
    paper = "getComputedStyle(document.body).backgroundColor"
    before, plot = browser.ask(paper), find(browser, "#search canvas")[0]
    drawn = picture(browser, plot)
    find(browser, "#theme")[0].click()
    browser.settle()
    assert browser.ask(paper) != before
    assert picture(browser, plot) != drawn


def test_a_bad_fit_an_old_fit_and_several_fits_are_drawn_too(browser, tmp_path):
    score, none = fit().recordings[0], np.zeros((0, 0))
    from dataclasses import replace

    old = spoiled(recordings=(replace(score, target=none),), held_out=(), labels=(), matrix=none, checks=(), flags=wrong().flags)
    pages = {"bad": fit_content(wrong(), robot()), "old": fit_content(old), "both": fits_content({"good": fit(), "bad": wrong()})}
    for name, content in pages.items():
        page = write(content, tmp_path / f"{name}.html")
        browser.open(page)
        if name != "both":
            browser.drawn()
        assert find(browser, "#verdict")[0].text.endswith(content["verdict"]["text"])
        assert browser.logged() == []
    assert len(find(browser, "#beside .mark")) == 2 * 17
