"""The page of a run: it shows what the run says, and a run whose numbers are known shows those."""

import json

import numpy as np
import pytest
from strides import DUTY, FEET, ROBOT, SPEED, STRIDE, SWING, TOLD, TORQUE, walk

from surefoot.analyze.run import account
from surefoot.cli import main
from surefoot.report import run_content, write
from surefoot.robot.energy import joule_constant


def numbers(packed):
    """The array behind its packed form."""
    import base64

    raw = base64.b64decode(packed["data"])
    flat = np.frombuffer(raw, "<f4") if packed.get("float") else packed["step"] * np.frombuffer(raw, "<i2").astype(float)
    return flat.reshape(packed["shape"])


@pytest.fixture(scope="module")
def content():
    return run_content(walk(), ROBOT)


def test_the_page_can_be_written_as_plain_json(content):
    assert json.loads(json.dumps(content, allow_nan=False))["kind"] == "run"


def test_its_numbers_are_those_of_the_account(content):
    assert content["account"] == account(walk(), ROBOT).to_dict()
    assert content["account"]["velocity"] == pytest.approx(SPEED, abs=1e-3)


def test_velocity_is_told_and_true_with_what_the_estimator_said_beside_it(content):
    forward = content["velocity"][0]
    time, lines = numbers(content["time"]), {name: numbers(row) for name, row in forward["lines"].items()}
    inside = (time > 3) & (time < 10)
    assert lines["commanded"][inside] == pytest.approx(TOLD)
    assert lines["over a stride"][inside].mean() == pytest.approx(SPEED, abs=1e-3)
    assert lines["estimated"][inside] - lines["measured"][inside] == pytest.approx(0.02, abs=1e-3)
    assert forward["mean"] == pytest.approx(SPEED - TOLD, abs=1e-3)


def test_a_violin_is_a_density(content):
    """It holds everything once, and 90 % of a sine of amplitude a lie within 0.988 a."""
    (forward,) = [one for one in content["violins"] if one["axis"] == "forward"]
    assert np.trapezoid(forward["density"], forward["at"]) == pytest.approx(1.0, abs=0.05)
    assert forward["command"] == TOLD
    assert forward["high"] - forward["mean"] == pytest.approx(0.05 * np.sin(0.45 * np.pi), rel=0.03)


def test_bars_of_the_gait_are_as_long_as_the_feet_were_down(content):
    assert content["gait"]["feet"] == list(FEET)
    for spell in content["gait"]["spells"]:
        lengths = np.diff(np.reshape(spell, (-1, 2)), axis=1)[1:-1]
        assert lengths == pytest.approx(DUTY * STRIDE, abs=0.006)


def test_the_limit_cycle_of_a_sine_is_an_ellipse(content):
    for j, cycle in enumerate(content["cycles"]):
        assert cycle["period"] == pytest.approx(STRIDE, rel=0.01)
        q, v = numbers(cycle["mean"]["q"]) - ROBOT.posture[j], numbers(cycle["mean"]["v"])
        assert np.hypot(q / SWING, v * STRIDE / (2 * np.pi * SWING)) == pytest.approx(1.0, abs=0.02)


def test_the_spectrum_stands_at_the_frequency_of_the_stride(content):
    for one in content["spectra"]:
        f, position = np.array(one["f"]), np.array(one["lines"]["position"])
        assert f[position.argmax()] == pytest.approx(1 / STRIDE, abs=0.1)
        assert position.max() == pytest.approx(SWING, rel=0.2)


def test_heat_is_that_of_the_coils_and_a_sine_drives_as_much_as_it_brakes(content):
    power = content["power"]
    heat = TORQUE**2 * joule_constant(ROBOT, ROBOT.posture)
    assert power["joints"]["heat of the coils"] == pytest.approx(heat, rel=1e-3)
    assert power["mean"]["heat of the coils"] == pytest.approx(heat.sum(), rel=1e-3)
    assert power["joints"]["driving"] == pytest.approx(-np.array(power["joints"]["braking"]), rel=1e-2)
    assert power["mean"]["battery"] == pytest.approx(400.0)


def test_a_walk_near_its_command_is_green_and_a_cut_one_red(content):
    assert content["verdict"]["colour"] == "green"
    assert "0.1 m/s off the commanded 1 m/s" in content["verdict"]["text"]
    red = run_content(walk(stop="the bus is down"), ROBOT)["verdict"]
    assert (red["colour"], red["text"]) == ("red", "It stopped after 12 s: the bus is down.")
    assert run_content(walk(4.5), ROBOT)["verdict"]["colour"] == "yellow"


def test_a_machine_that_says_less_has_a_page_with_less():
    """No truth, no torque, no battery: what is left is drawn, and no number is made up."""
    truth = [f"true_{name}" for name in ("position", "orientation", "velocity", "angular_velocity", "contact")]
    bare = ("torque", "battery_power", "charge", *truth)
    less = run_content(walk(left_out=bare), ROBOT)
    assert less["power"] == {"lines": {}, "mean": {}, "joints": {}}
    assert "estimated" not in less["velocity"][0]["lines"]
    assert less["account"]["cot"] is None
    assert less["cycles"]


def test_it_is_drawn_in_a_browser(browser, content, tmp_path):
    """Every figure is on its canvas, the console is silent, nothing is fetched, and gait, velocity and power zoom together."""
    page = write(content, tmp_path / "run.html")
    browser.open(page)
    browser.drawn()
    assert browser.ask("document.querySelectorAll('canvas').length") == 3 + 3 + 1 + 2 * ROBOT.n + 1
    for mark, value in {"forward": content["account"]["velocities"][0], "cot": content["account"]["cot"]}.items():
        assert float(browser.ask(f"document.querySelector('[data-mark={mark}]').dataset.value")) == value
    power = "document.querySelector('#power canvas')"
    before = int(browser.ask(f"{power}.dataset.drawn"))
    browser.ask("document.querySelector('#strides').click()")
    browser.until(f"Number({power}.dataset.drawn) > {before}")
    assert browser.logged() == []
    assert browser.requested() == [page.as_uri()]
    browser.open(page, width=390, dark=True)
    browser.drawn()
    assert browser.ask("document.documentElement.scrollWidth") <= 390


def test_a_run_is_drawn_from_its_file(tmp_path, capsys):
    walk().save(tmp_path / "run.npz")
    assert main(["report", str(tmp_path / "run.npz"), "--robot", "anymal", "--out", str(tmp_path / "page.html")]) == 0
    assert "It walked." in capsys.readouterr().out
    assert (tmp_path / "page.html").stat().st_size < 2e6


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["two.npz"], "draw it alone"),
        (["--baseline", "fit"], "without --baseline"),
        (["--robot", "single_drive"], "order and names"),
    ],
)
def test_what_a_run_has_no_use_for_is_refused(tmp_path, capsys, more, sentence):
    path = walk().save(tmp_path / "run.npz")
    assert main(["report", str(path), *more, "--out", str(tmp_path / "page.html")]) == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()
