"""The page of a training: its marks, its curves, and what it refuses."""

import json

import pytest

from surefoot.cli import main
from surefoot.errors import SurefootError
from surefoot.report import training_content, write
from surefoot.report.training import MOST

GOOD = {
    "velocity_error": 0.05, "yaw_error": 0.04, "standing": 1.0, "power": 310.0, "cot": 0.9, "reward": 1.7, "lost": 0,
    "robots": 192,
}  # fmt: skip


def run(folder, iterations=20, **marks):
    """A folder as surefoot train leaves it."""
    folder.mkdir()
    record = {
        "robot": "anymal", "preset": "laptop", "seed": 0, "evaluation": GOOD | marks, "iteration": 15, "iterations": iterations,
        "task": {"period": 0.02, "noise": {"gyro": 0.1}}, "dynamics": {"joints": ["a"]},
    }  # fmt: skip
    (folder / "training.json").write_text(json.dumps(record))
    names = ("iteration", "reward", "velocity_tracking", "energy", "velocity_error", "power", "learning_rate")
    rows = [f"{i},{i / 10},{i / 9},{-i / 90},{1 / i},{900 / i},1e-{3 + i % 2}" for i in range(1, iterations + 1)]
    (folder / "curves.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    (folder / "evaluations.csv").write_text("iteration,velocity_error,yaw_error\n10,0.2,0.1\n20,0.05,0.04\n")
    return folder


def test_a_policy_within_all_marks_walks_and_its_numbers_are_told(tmp_path):
    verdict = training_content(run(tmp_path / "run"))["verdict"]
    assert verdict["colour"] == "green"
    assert "0.05 m/s" in verdict["text"]
    assert "310 W" in verdict["text"]


MISSED = [
    ({"velocity_error": 0.3}, "yellow", "velocity error"),
    ({"standing": 0.2}, "red", "falls"),
    ({"yaw_error": float("inf")}, "yellow", "yaw error"),
]


@pytest.mark.parametrize(("marks", "colour", "word"), MISSED)
def test_a_policy_that_misses_a_mark_is_told_which(tmp_path, marks, colour, word):
    content = training_content(run(tmp_path / "run", **marks))
    assert content["verdict"]["colour"] == colour
    assert f"Not good yet in {word}" in content["verdict"]["text"]
    write(content, tmp_path / "page.html")


def test_the_curves_are_those_of_the_file_with_the_judged_policy_beside_them(tmp_path):
    figures = {figure["title"]: figure for figure in training_content(run(tmp_path / "run"))["figures"]}
    assert set(figures) == {"reward [1/s]", "velocity error [m/s]", "power [W]", "learning rate", "yaw error [rad/s]"}
    seen, judged = figures["velocity error [m/s]"]["lines"]
    assert seen["y"][3] == 0.25
    assert (judged["x"], judged["y"]) == ([10, 20], [0.2, 0.05])


def test_a_long_training_is_thinned(tmp_path):
    figures = training_content(run(tmp_path / "run", iterations=4000))["figures"]
    assert all(len(line["x"]) <= MOST for figure in figures for line in figure["lines"])


def test_a_training_that_runs_or_is_broken_is_refused_in_a_sentence(tmp_path):
    folder = run(tmp_path / "run")
    (folder / "training.json").write_text("{}")
    with pytest.raises(SurefootError, match="not written by surefoot train"):
        training_content(folder)
    (folder / "training.json").unlink()
    with pytest.raises(SurefootError, match="has not ended"):
        training_content(folder)


def test_the_command_knows_a_training_and_draws_it_alone(tmp_path, capsys):
    folder = run(tmp_path / "run")
    assert main(["report", str(folder), "--out", str(tmp_path / "page.html")]) == 0
    assert "It walks." in capsys.readouterr().out
    assert main(["report", str(folder), str(folder), "--out", str(tmp_path / "two.html")]) == 1
    assert "draw it alone" in capsys.readouterr().err


def test_the_page_is_drawn(browser, tmp_path):
    browser.open(write(training_content(run(tmp_path / "run")), tmp_path / "page.html"))
    browser.drawn()
    shown = browser.ask("[...document.querySelectorAll('td[data-mark]')].map((cell) => Number(cell.dataset.value))")
    assert shown == [GOOD[name] for name in ("velocity_error", "yaw_error", "standing", "power", "cot", "reward")]
    assert browser.ask("document.querySelectorAll('#curves canvas').length") == 5
    assert browser.logged() == []
