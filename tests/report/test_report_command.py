"""`surefoot report`: what it takes, what it writes, and what it refuses in a sentence."""

import pytest
from drawn import LEGS, fit, spoiled

from surefoot.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with two fits of a robot whose model lies beside them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "legs.xml").write_text(LEGS)
    for day, seed in (("monday", 4), ("tuesday", 5)):
        spoiled(source="legs.xml", seed=seed).save(tmp_path / "days" / day)
    return tmp_path


def run(capsys, *words):
    code = main(["report", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


def test_one_fit_becomes_a_page_and_the_verdict_is_printed(here, capsys):
    code, out, err = run(capsys, "days/monday", "--out", "page.html")
    assert (code, err) == (0, "")
    assert "Ready to use" in out
    assert "the report is in page.html" in out
    assert '"kind":"fit"' in (here / "page.html").read_text(encoding="utf-8")


def test_a_folder_of_fits_is_shown_side_by_side_by_their_names(here, capsys):
    code, out, _ = run(capsys, "days", "--out", "page.html")
    assert code == 0
    assert "No parameter differs" in out
    assert '"names":["monday","tuesday"]' in (here / "page.html").read_text(encoding="utf-8")


def test_fits_with_the_same_last_name_are_told_apart(here, capsys):
    fit().save(here / "b" / "monday")
    assert run(capsys, "days/monday", "b/monday", "--out", "page.html")[0] == 0
    assert '"names":["days/monday","b/monday"]' in (here / "page.html").read_text(encoding="utf-8")


def test_a_robot_that_is_gone_costs_the_3d_view_and_a_note_and_can_be_named(here, capsys):
    (here / "legs.xml").rename(here / "moved.xml")
    code, _, err = run(capsys, "days/monday", "--out", "page.html")
    assert code == 0
    assert "no 3-D view" in err
    assert "--robot PATH" in err
    assert '"scene":null' in (here / "page.html").read_text(encoding="utf-8")
    assert run(capsys, "days/monday", "--out", "page.html", "--robot", "moved.xml")[0] == 0
    assert '"scene":null' not in (here / "page.html").read_text(encoding="utf-8")


def test_a_robot_that_changed_since_is_noted(here, capsys):
    (here / "legs.xml").write_text(LEGS.replace('mass="0.8"', 'mass="0.9"'))
    assert "has changed since the fit" in run(capsys, "days/monday", "--out", "page.html")[2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing", "--out", "p.html"), "there is no fit in nothing"),
        (("days/monday", "--out", "days"), "is a folder; name the page"),
        (("days/monday", "days/monday", "--out", "p.html"), "given twice"),
        (("days", "--out", "p.html", "--baseline", "days/monday"), "belong to the page of one fit"),
        (("days/monday", "--out", "p.html", "--robot", "single_drive"), "does not have"),
        (("--out", "p.html"), "there is no fit to draw"),
    ],
)
def test_mistakes_end_in_a_sentence_and_no_page(here, capsys, words, sentence):
    code, _, err = run(capsys, *words)
    assert code == 1
    assert sentence in err.replace("\n", " ")
    assert not (here / "p.html").exists()


def test_a_baseline_is_drawn_beside_the_fit(here, capsys):
    assert run(capsys, "days/monday", "--out", "page.html", "--baseline", "days/tuesday")[0] == 0
    assert '"baseline":{' in (here / "page.html").read_text(encoding="utf-8")
