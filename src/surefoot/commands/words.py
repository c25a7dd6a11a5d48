"""Words of a command line: repeated options gathered, tables of numbers read, options written again for the next command."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from surefoot.errors import SurefootError

MANY = ("stiffness", "damping", "amplitude", "centre", "joints", "select", "prescribe", "rename", "extra", "fix", "tie", "bound",
        "fault", "held-out", "only", "topic", "motor-side", "policies", "tests")  # fmt: skip
"""Options that take several values: `--fix a b` and `--fix a --fix b` say the same."""
LONGEST = 160  # characters of a note


def gather(arguments: Sequence[str]) -> list[str]:
    """Each option once: the values of a repeated one behind its first mention; one that takes a single value is refused."""
    groups: list[list[str]] = [[]]
    first: dict[str, list[str]] = {}
    for word in arguments:
        if not re.match("--[a-z]", word):
            groups[-1].append(word)
            continue
        option, equals, value = word.partition("=")
        key = option[2:].replace("_", "-").removeprefix("no-")
        if key in first and key not in MANY:
            raise SurefootError(f"{option} is given twice, and only one can hold; remove the other.")
        if key in MANY and key in first:
            groups.append(first[key])  # what follows goes to where it began
        else:
            first[key] = [option] if key in MANY else [word]
            groups.append(first[key])
        if key in MANY and equals:
            groups[-1].append(value)
    return [word for group in {id(group): group for group in groups}.values() for word in group]


def matching(joints: tuple[str, ...], patterns: tuple[str, ...], option: str) -> list[str]:
    """Joints that match any of the patterns."""
    for pattern in patterns:
        if not any(fnmatchcase(joint, pattern) for joint in joints):
            raise SurefootError(f"{option} {pattern} matches no joint; valid: {', '.join(joints)}.")
    return [joint for joint in joints if any(fnmatchcase(joint, pattern) for pattern in patterns)]


def gains(words: tuple[str, ...], option: str) -> Any:
    """A number, one per joint, or {pattern: number}; None when nothing was said."""
    if not words:
        return None
    if any("=" in word for word in words):
        return table(words, option, 1, example="'*_KFE=85'")
    values = [_numbers(word) for word in words]
    for word, value in zip(words, values, strict=True):
        if len(value) != 1:
            raise SurefootError(
                f"{option} {word}: expected a number, one per joint, or PATTERN=NUMBER, for example {option} 85 or "
                f"{option} '*_KFE=85' '*_HAA=60'."
            )
    return values[0][0] if len(values) == 1 else [value[0] for value in values]


def table(words: Sequence[str], option: str, count: int, *, example: str = "") -> dict[str, Any]:
    """KEY=NUMBER (count 1) or KEY=LOW,HIGH (count 2), each key once."""
    out: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.rpartition("=")
        values = _numbers(text)
        if not equals or not key or len(values) != count:
            form = "KEY=NUMBER" if count == 1 else "KEY=LOW,HIGH"
            example = example or ("delay=0.005" if count == 1 else "delay=0,0.06")
            raise SurefootError(f"{option} {word}: expected {form}, for example {option} {example}.")
        _once(key, out, option)
        out[key] = values[0] if count == 1 else values
    return out


def renaming(words: Sequence[str]) -> dict[str, str]:
    """{old: new} from OLD=NEW."""
    out: dict[str, str] = {}
    for word in words:
        old, _, new = word.partition("=")
        if not old or not new:
            raise SurefootError(f"--rename {word}: expected OLD=NEW, for example --rename hip=LF_HAA.")
        _once(old, out, "--rename")
        out[old] = new
    return out


def _once(key: str, table: dict[str, Any], option: str) -> None:
    if key in table:
        raise SurefootError(f"{option} names {key} twice, and only one can hold; remove the other.")


def _numbers(text: str) -> tuple[float, ...]:
    """Numbers between commas; nothing when one of them is none."""
    try:
        return tuple(float(x) for x in text.split(","))
    except ValueError:
        return ()


def again(options: Any) -> str:
    """The options of a dataclass that differ from their defaults, as they are typed, with a blank before them."""
    words: list[str] = []
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if value == field.default:
            continue
        words.append(f"--{'no-' * (value is False)}{field.name.replace('_', '-')}")
        if not isinstance(value, bool):
            words += map(str, value if isinstance(value, tuple) else [value])
    return f" {shlex.join(words)}" if words else ""


def short(text: str) -> str:
    """One line that fits into a terminal."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 4].rsplit(" ", 1)[0] + " ..."
