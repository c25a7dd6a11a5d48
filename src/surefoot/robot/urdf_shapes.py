"""The shapes of a URDF: its collision geometry kept, with mesh files where they are found."""

import os
import xml.etree.ElementTree as ET
from pathlib import Path

from surefoot.robot import urdf

MESHES = (".stl", ".obj", ".msh")  # what MuJoCo reads


def urdf_scene(text: str, path: Path | None) -> str:
    """The URDF with its collision shapes, self-contained; a mesh that is not found, or of another format, is left out."""
    root = ET.fromstring(text)
    kept: dict[str, list[ET.Element]] = {}
    for link in root.findall("link"):
        kept[link.get("name", "")] = [shape for shape in link.findall("collision") if _usable(shape, path)]
    urdf.prepare(root, path.name if path else "the model text")
    for link in root.findall("link"):
        link.extend(kept[link.get("name", "")])
    for compiler in root.iter("compiler"):
        compiler.set("strippath", "false")
    return ET.tostring(root, encoding="unicode")


def _usable(shape: ET.Element, path: Path | None) -> bool:
    mesh = shape.find("geometry/mesh")
    if mesh is None:
        return shape.find("geometry") is not None
    file = _found(mesh.get("filename", ""), path)
    if file is None or file.suffix.lower() not in MESHES:
        return False
    mesh.set("filename", str(file))
    return True


def _found(name: str, path: Path | None) -> Path | None:
    """The file that a URDF means: package://PACKAGE/... lies below a folder that the URDF is in too, or on ROS_PACKAGE_PATH."""
    for scheme in ("package://", "model://", "file://"):
        name = name.removeprefix(scheme) if scheme != "file://" or not name.startswith("file:///") else name[7:]
    near = list(path.resolve().parents) if path is not None else []
    told = [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
    for folder in [*near, *told, *(f.parent for f in told)]:
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None
