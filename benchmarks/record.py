"""Run a benchmark and put what it prints into RESULTS.md, in the place of what stood there; the words around it stay.

  python benchmarks/record.py parity.py
  python benchmarks/record.py reality.py --data PATH

The section's name is the script's and its first argument that names a case, if it has one, or its robot or terrain. The
benchmark prints machine, versions, date and command itself.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def main() -> int:
    script, *arguments = sys.argv[1:]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments], env=os.environ | {"NO_COLOR": "1"}, stdout=subprocess.PIPE, text=True,
        check=False,
    )  # fmt: skip
    took = f"exit code {done.returncode} after {time.perf_counter() - began:.0f} s"
    print(done.stdout + took)
    write(section_name(script, arguments), f"{ESCAPE.sub('', done.stdout).rstrip()}\n{took}")
    return done.returncode


def section_name(script: str, arguments: list[str]) -> str:
    """`export_proof.py mjlab --env DIR` has a section of its own, `reality.py --data DIR` has not."""
    case = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    for option in ("--robot", "--terrain"):
        if option in arguments:
            case = arguments[arguments.index(option) + 1]
    return " ".join(filter(None, (script.removesuffix(".py"), case)))


def write(name: str, output: str) -> None:
    """Replace the output block of a section, or begin a section at the end."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    block = f"```text\n{scrubbed(output)}\n```"
    pattern = re.compile(rf"(?m)^## {re.escape(name)}\n\n```text\n.*?^```$", re.DOTALL)
    section = f"## {name}\n\n{block}"
    if pattern.search(text):
        text = pattern.sub(lambda _: section, text, count=1)
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    RESULTS.write_text(text, encoding="utf-8")


def scrubbed(output: str) -> str:
    """Without trailing blanks, and without folders of the machine that ran it."""
    here = re.escape(str(HERE.resolve().parent.parent))
    return "\n".join(line.rstrip() for line in re.sub(rf"{here}/|/tmp/[^\s/]+/|(?:\.\./)+", "", output).splitlines())


if __name__ == "__main__":
    sys.exit(main())
