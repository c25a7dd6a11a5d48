"""From a model file, or its text, to MuJoCo's compiled model: what stands in the way is repaired and noted."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.robot import urdf
from surefoot.robot.urdf_shapes import urdf_scene


def compile_source(source: str | Path) -> tuple[Any, str, str, list[str]]:
    """The compiled model, its text with shapes, its name, and a note for each repair."""
    import mujoco

    text, path = _text_of(source)
    where = path.name if path else "the model text"
    notes: list[str] = []
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise SurefootError(f"{where} is not XML: {error}. Expected an MJCF or URDF file.") from None
    scene = ""
    if root.tag == "robot":
        text, notes, scene = *_prepared(root, where), urdf_scene(text, path)
    elif root.tag != "mujoco":
        raise SurefootError(f"{where} starts with <{root.tag}>; expected <mujoco> (MJCF) or <robot> (URDF).")

    def parse() -> Any:
        try:
            if path is not None and root.tag == "mujoco":
                return mujoco.MjSpec.from_file(str(path))  # follows its includes
            return mujoco.MjSpec.from_string(text)
        except ValueError as error:
            raise SurefootError(f"MuJoCo cannot read {where}: {_one_line(error)}") from None

    if root.tag == "mujoco":
        scene = _scene(text, root, parse, path)
    name = root.get("name") or root.get("model") or (path.stem if path else "model")
    return _compile(parse, where, notes), scene, name, notes


def _text_of(source: str | Path) -> tuple[str, Path | None]:
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return source, None
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8"), path
    except UnicodeDecodeError:
        raise SurefootError(f"{path.name} is not a text file; expected an MJCF or URDF file.") from None
    except OSError as error:
        raise SurefootError(f"cannot read {source}: {error.strerror}.") from None


def _prepared(root: ET.Element, where: str) -> tuple[str, list[str]]:
    try:
        return urdf.prepare(root, where)
    except SurefootError:
        raise
    except ValueError as error:
        raise SurefootError(f"{where} has a value that is not a number: {error}.") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _scene(text: str, root: ET.Element, parse: Callable[[], Any], path: Path | None) -> str:
    """The model with its shapes, self-contained: the text as it is when it refers to no other file."""
    if path is None or not any(e.get("file") for e in root.iter()):
        return text
    spec = parse()
    spec.meshdir = str((path.parent / spec.meshdir).resolve())
    spec.texturedir = str((path.parent / spec.texturedir).resolve())
    try:
        return spec.to_xml()
    except ValueError:
        return ""


def _compile(parse: Callable[[], Any], where: str, notes: list[str]) -> Any:
    """The compiled model; missing mesh files are forgiven where the bodies carry their own inertia."""
    try:
        return parse().compile()
    except SurefootError:
        raise
    except ValueError as error:
        first = _one_line(error)
    spec = parse()  # afresh: a spec that failed to compile cannot be read
    if "file" not in first.lower() or not (len(spec.meshes) or len(spec.hfields) or len(spec.textures)):
        raise SurefootError(f"MuJoCo cannot compile {where}: {first}")
    for body in spec.bodies:
        shapes = [g.meshname for g in body.geoms if g.meshname]
        if shapes and not body.explicitinertial and body.name != "world":
            raise SurefootError(
                f"{where}: a file is missing ({first}), and body {body.name} has the mesh {shapes[0]} but no "
                "<inertial> to do without it. Put the mesh beside the model, or give the body an <inertial>."
            )
    _strip_files(spec)
    try:
        m = spec.compile()
    except ValueError as error:
        raise SurefootError(f"MuJoCo cannot compile {where}: {_one_line(error)}") from None
    notes.append(f"Files are missing ({first}): loaded without their shapes, the bodies have their own inertia.")
    return m


def _strip_files(spec: Any) -> None:
    """Remove everything that comes from, or hangs on, another file."""
    for geom in [g for g in spec.geoms if g.meshname or g.hfieldname]:
        spec.delete(geom)
    for geom in spec.geoms:
        geom.material = ""
    for site in spec.sites:
        site.material = ""
    for group in (
        spec.pairs,
        spec.excludes,
        spec.skins,
        spec.meshes,
        spec.hfields,
        spec.materials,
        spec.textures,
        spec.sensors,
    ):
        for element in list(group):
            spec.delete(element)
