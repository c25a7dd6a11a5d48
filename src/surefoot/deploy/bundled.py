"""Policies that come with the package, and where a policy's name leads."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from surefoot.errors import SurefootError
from surefoot.robot.load import bundled_names


def bundled_policies() -> tuple[str, ...]:
    """Names of the bundled robots that come with a policy."""
    folder = resources.files("surefoot").joinpath("policies")
    return tuple(name for name in bundled_names() if folder.joinpath(f"{name}.onnx").is_file())


def find_policy(name: str) -> Path:
    """The file of a policy: of a bundled robot by its name, or a policy.onnx, or the folder of a training."""
    if name in bundled_names():
        if name in bundled_policies():
            return Path(str(resources.files("surefoot").joinpath("policies", f"{name}.onnx")))
        have = ", ".join(bundled_policies()) or "none"
        raise SurefootError(
            f"no policy for {name} comes with this version (those that do: {have}). Train one with surefoot train {name} "
            f"--dynamics robot --out run/, and give run/ in place of {name}."
        )
    path = Path(name)
    path = path / "policy.onnx" if path.is_dir() else path
    if not path.is_file():
        raise SurefootError(
            f"{name!r} is no policy: neither a bundled robot ({', '.join(bundled_names())}) nor a policy.onnx nor a folder with "
            "one."
        )
    return path
