"""The documentation is true: its commands and its code run, its links lead somewhere, its names exist, its tables are full."""

from __future__ import annotations

import importlib
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot import cli
from surefoot.train.train import Plan

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHORT = ["--iterations", "1", "--robots", "16", "--no-video"]
STAGES = {"plan", "excite", "record", "check", "identify", "validate", "compare", "report", "export", "train", "run", "analyze"}
NUMBER = re.compile(r"[-−]?\d+(\.\d+)?(e[-+]?\d+)?")


# --- running a page ---------------------------------------------------------------------------------------------------------
def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Language, title and text of the code blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def dialogue(text: str) -> list[tuple[str, list[str]]]:
    """A console block as commands and the lines shown below each."""
    out: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            out.append((line[2:], []))
        elif line.strip():
            out[-1][1].append(line)
    return out


def masked(line: str) -> str:
    """A line without its digits, its spacing and the frame of a table: what must not drift."""
    return " ".join(NUMBER.sub("#", re.sub(r"[│┃]", " ", line)).split())


def command(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run one command of a page in the current folder; what it printed. A training is cut short; its policy may fall."""
    words = shlex.split(line)
    capsys.readouterr()
    if words[:2] == ["surefoot", "train"]:
        words += SHORT
    if words[0] == "python":
        runpy.run_path(words[1], run_name="__main__")
    else:
        assert words[0] == "surefoot", line
        code = cli.main(words[1:])
        fell = code == 1 and words[1] == "run" and Path(words[words.index("--out") + 1]).is_file()
        assert code == 0 or fell, f"{line}\n{capsys.readouterr()}"
    out, err = capsys.readouterr()
    return out + err


def play(page: Path, capsys: pytest.CaptureFixture[str], *, known: frozenset[str] = frozenset()) -> set[str]:
    """Follow a page from top to bottom: write its titled files, run its commands and code; the commands that it ran."""
    done = set(known)
    for language, title, text in blocks(page):
        if title:
            Path(title).write_text(text, encoding="utf-8")
        elif language == "console":
            for line, shown in dialogue(text):
                if line.startswith("make ") or line in done:
                    continue
                printed = command(line, capsys)
                lines = {masked(one) for one in printed.splitlines()}
                flat = masked(printed.replace("\n", " "))
                for wanted in shown:
                    assert masked(wanted) in lines or masked(wanted) in flat, (
                        f"{page.name}: {line} no longer prints\n{wanted}\n{printed}"
                    )
                done.add(line)
        elif language == "python" and not any(text in example.read_text(encoding="utf-8") for example in EXAMPLES):
            exec(compile(text, str(page), "exec"), {"__name__": "__main__"})
    return done


def test_walkthrough_and_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever types the walkthrough's commands gets the lines it shows, and its files feed the README's commands."""
    whole = Plan.of
    judged = staticmethod(lambda *a, **b: replace(whole(*a, **b), judged=16, judged_seconds=3.0))
    monkeypatch.setattr(Plan, "of", judged)
    monkeypatch.chdir(tmp_path)
    done = play(ROOT / "docs" / "walkthrough.md", capsys)
    assert {line.split()[1] for line in done} >= STAGES
    assert {p.name for p in (tmp_path / "fit").iterdir()} >= {"fit.json", "trajectories.npz"}
    assert {p.name for p in tmp_path.iterdir()} >= {"fit.html", "walk.npz", "walk.json", "walk.html", "identified.xml"}
    play(ROOT / "README.md", capsys, known=frozenset(done))
    documented_fit_keys(json.loads((tmp_path / "fit" / "fit.json").read_text(encoding="utf-8")))


def documented_fit_keys(fit: dict[str, Any]) -> None:
    """Every key of a real fit.json stands in formats.md."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    inner = [*fit["unknowns"], *fit["versions"], *fit["parameters"]["armature"], *fit["recordings"][0]]
    assert [key for key in (*fit, *inner) if f"`{key}`" not in text] == []


def test_your_robot_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A newcomer who copies the files of your-robot.md gets a first fit that finds the leg's hidden armature."""
    monkeypatch.chdir(tmp_path)
    play(ROOT / "docs" / "your-robot.md", capsys)
    armature = json.loads((tmp_path / "fit" / "fit.json").read_text(encoding="utf-8"))["parameters"]["armature"]["value"]
    assert armature == pytest.approx([0.010, 0.012], rel=0.02)
    assert (tmp_path / "chirp.npz").is_file()


def test_single_drive_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The page's code finds by Bode plot what the bundled drive weighs, and the paper's numbers."""
    monkeypatch.chdir(tmp_path)
    play(ROOT / "docs" / "single-drive.md", capsys)
    out = capsys.readouterr().out
    assert float(re.findall(r"inertia (\S+) ±", out)[0]) == pytest.approx(0.0629, rel=0.05)
    assert "0.0165 + 0.0463 = 0.0629 kg·m²" in out
    assert "310 Hz" in out
    assert "0.0085 ± 0.0028" in out


def test_hardware_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The practice robot is recorded and fitted, and the machine that the page shows is one."""
    monkeypatch.chdir(tmp_path)
    play(ROOT / "docs" / "hardware.md", capsys)
    assert {"rec.npz", "truth.json", "mine.npz"} <= {path.name for path in tmp_path.iterdir()}


def test_planning_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The motion that the page plans is written."""
    monkeypatch.chdir(tmp_path)
    play(ROOT / "docs" / "planning.md", capsys)
    assert (tmp_path / "targets.npz").is_file()


def test_world_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Four robots stand, as the page says."""
    monkeypatch.chdir(tmp_path)
    play(ROOT / "docs" / "world.md", capsys)


def test_energy_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The log that the page shows costs what the page says."""
    monkeypatch.chdir(tmp_path)
    play(ROOT / "docs" / "energy.md", capsys)
    assert cli.main(["energy", "walk.csv", "--robot", "tytan"]) == 0
    assert "1.01" in capsys.readouterr().out


@pytest.mark.parametrize("example", [path for path in EXAMPLES if "policy" not in path.name], ids=lambda path: path.name)
def test_examples_run(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every example of a fit runs from start to end and prints what it found; an export is proven."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    said = capsys.readouterr().out
    assert "converged" in said
    assert "NOT proven" not in said


def test_the_policy_example_walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy that only stands, in a loop of the user's own: after four seconds the robot has not fallen."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "deploy"))
    standing = importlib.import_module("policies").standing(tmp_path / "policy.onnx")
    (example,) = (path for path in EXAMPLES if "policy" in path.name)
    monkeypatch.setattr(sys, "argv", [str(example), str(standing)])
    runpy.run_path(str(example), run_name="__main__")
    assert re.search(r"the robot is walking, its base 0\.[45]", capsys.readouterr().out)


# --- what pages say ---------------------------------------------------------------------------------------------------------
def test_readme_code_is_the_first_example() -> None:
    """The README's block is the first example without its docstring, has twelve lines of code, and so is run as an example."""
    code = next(text for language, _, text in blocks(ROOT / "README.md") if language == "python")
    example = EXAMPLES[0].read_text(encoding="utf-8")
    assert example.endswith('"""\n\n' + code)
    assert len([line for line in code.splitlines() if line.strip() and not line.startswith("#")]) == 12


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link inside the project ends at a file that exists, at a heading that exists in it."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}; headings: {anchors(file)}"


def anchors(page: Path) -> set[str]:
    """The anchors that its headings get."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_public_names_exist(page: Path) -> None:
    """Every dotted name that a page mentions can be imported."""
    text = page.read_text(encoding="utf-8")
    missing = [name for name in sorted(set(re.findall(r"(?<![\w.])surefoot(?:\.[A-Za-z_]\w*)+", text))) if not exists(name)]
    assert missing == []


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or can be reached from one by attributes."""
    words = name.split(".")
    for k in range(len(words), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(words[:k]))
        except ImportError:
            continue
        for word in words[k:]:
            thing = getattr(thing, word, None)
        return thing is not None
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_options_exist(page: Path, options: set[str]) -> None:
    """Every option that a page mentions is one of the command line's; the benchmarks' own apart."""
    text = re.sub(r"`(?:python benchmarks/|torchrun )[^`]*`", "", page.read_text(encoding="utf-8"))
    mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert mentioned - options == set()


@pytest.fixture(scope="module")
def options() -> set[str]:
    """The options of all commands, from their help."""
    import contextlib
    import io

    found: set[str] = set()
    for name in cli.COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit):
            cli.main([name, "--help"])
        found |= set(re.findall(r"--[a-z][a-z-]+", out.getvalue()))
    return found


def test_the_site_builds_without_a_warning_and_holds_every_page(tmp_path: Path) -> None:
    """`make docs` succeeds in its strict mode, every page stands in the navigation, and every public name in the API page."""
    import surefoot

    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    navigation = set(re.findall(r"[\w-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert navigation == {page.name for page in (ROOT / "docs").glob("*.md")}
    page = (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")
    shown = {name.rsplit(".", 1)[-1] for name in re.findall(r'id="(surefoot\.[\w.]+)"', page)}
    assert set(surefoot.__all__) - {"__version__"} - shown == set()


def test_tables_are_complete() -> None:
    """Keys, channels, CSV words, parameters and variants that the code knows all stand in the docs."""
    from surefoot.identify import variants
    from surefoot.identify.unknowns import EXTRA
    from surefoot.record.formats.pace import KEYS as TENSORS
    from surefoot.record.formats.words import TIMES, WORDS
    from surefoot.record.npz import ARRAYS, TEXTS
    from surefoot.robot import MOTOR, PARAMETERS, REWARDS
    from surefoot.robot.load import KEYS

    words = [word for line in WORDS.values() for word in line.split()]
    expected = {
        "your-robot.md": [*(k for k in KEYS if k != "motor"), *(f"motor.{k}" for k in MOTOR), *REWARDS],
        "formats.md": [*ARRAYS, *TEXTS, *TIMES, *words, *TENSORS],
        "theory.md": list(PARAMETERS),
        "choosing.md": [*(f"--extra {name}" for name in EXTRA), *(v.name for v in variants())],
    }
    for page, names in expected.items():
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [name for name in names if f"`{name}`" not in text] == [], page


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CITATION.cff"], ids=lambda path: path.name)
def test_pages_name_no_machine(page: Path) -> None:
    """No page contains a path that exists on one machine only."""
    assert re.findall(r"(?<![\w.])/(?:home|work|tmp|root|usr|Users)/\S*", page.read_text(encoding="utf-8")) == []
