"""docs/export.md is true: its commands run and print the lines it shows, and its table has every target."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from surefoot import cli
from surefoot.export import TARGETS

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")


def masked(line: str) -> str:
    """A line without its digits."""
    return re.sub(r"[-−]?\d+(\.\d+)?(e[-+]?\d+)?", "#", line)


def test_the_pages_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Whoever follows the page has a proven export of the demo's robot."""
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    printed = ""
    for line in block.splitlines():
        if line.startswith("$ surefoot "):
            capsys.readouterr()
            assert cli.main(shlex.split(line)[2:]) == 0
            printed = masked(capsys.readouterr().out)
        else:
            wanted = masked(re.sub(r" \(least:.*", "", line))
            assert wanted in printed
    assert (tmp_path / "anymal_identified.xml").is_file()


def test_the_table_has_every_target():
    """No target without a row that says what it writes and what it cannot hold."""
    assert [to for to in TARGETS if f"`{to}`" not in PAGE.split("## Targets")[1].split("## What")[0]] == []
