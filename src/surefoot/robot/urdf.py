"""URDF as it comes from the wild, made readable: shapes dropped, floating joints fixed, thin inertias filled in."""

import xml.etree.ElementTree as ET

import numpy as np

from surefoot.errors import SurefootError

LEAST_MASS = 1e-6  # [kg] given to a moving link without one
LEAST_INERTIA = 1e-9  # [kg·m²] principal inertia given to a moving link without one

_SETTINGS = {
    "balanceinertia": "true",
    "discardvisual": "true",
    "fusestatic": "false",
    "boundmass": "0",
    "boundinertia": "0",
}


def prepare(root: ET.Element, source: str) -> tuple[str, list[str]]:
    """URDF text that MuJoCo's parser takes without any mesh file, and a note for each repair."""
    _refuse_xacro(root, source)
    notes: list[str] = []
    links = {link.get("name", ""): link for link in root.findall("link")}
    for link in links.values():
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    joints = root.findall("joint")
    followers = []
    for joint in joints:
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
            if joint.get("type") != "fixed":
                followers.append(f"{joint.get('name')} (follows {mimic.get('joint')})")
        if joint.get("type") == "floating":
            joint.set("type", "fixed")
            notes.append(f"The floating joint {joint.get('name')} is fixed: the robot hangs in the air by its base.")
        limit = joint.find("limit")
        if joint.get("type") in ("revolute", "prismatic") and not _has_range(limit):
            if limit is not None:
                limit.attrib.pop("lower", None)
                limit.attrib.pop("upper", None)
            if joint.get("type") == "revolute":
                joint.set("type", "continuous")
            notes.append(f"Joint {joint.get('name')} has no usable range (lower < upper): it is loaded without limits.")
    if followers:
        notes.append(f"Mimic joints are ordinary joints here: {', '.join(followers)}. Prescribe them (measured motion) instead.")
    notes += _fill_inertias(links, joints)
    for old in root.findall("mujoco"):
        root.remove(old)
    settings = ET.SubElement(root, "mujoco")
    ET.SubElement(settings, "compiler", _SETTINGS)
    return ET.tostring(root, encoding="unicode"), notes


def _refuse_xacro(root: ET.Element, source: str) -> None:
    if any("xacro" in str(e.tag) for e in root.iter()) or any("${" in v for e in root.iter() for v in e.attrib.values()):
        raise SurefootError(f"{source} is a xacro template, not a URDF. Expand it first: xacro {source} > robot.urdf")


def _has_range(limit: ET.Element | None) -> bool:
    return limit is not None and float(limit.get("lower", 0)) < float(limit.get("upper", 0))


def _fill_inertias(links: dict[str, ET.Element], joints: list[ET.Element]) -> list[str]:
    """Give every moving link, with what is welded to it, a mass and an inertia that can be stepped."""
    children: dict[str, list[tuple[str, bool]]] = {}
    moving: list[str] = []
    for joint in joints:
        parent, child = joint.find("parent"), joint.find("child")
        if parent is None or child is None:
            raise SurefootError(f"joint {joint.get('name')} of the URDF lacks its <parent> or its <child>.")
        welded = joint.get("type") == "fixed"
        children.setdefault(parent.get("link", ""), []).append((child.get("link", ""), welded))
        if not welded:
            moving.append(child.get("link", ""))
    bare, thin, unbalanced = [], [], []
    for name, link in links.items():
        mass, least = _inertial(link)
        welded = _welded_mass(name, links, children)
        if name in moving and mass <= 0 and welded < LEAST_MASS:
            bare.append(name)
            _write_inertial(link, LEAST_MASS, LEAST_INERTIA)
        elif mass > 0 and (least <= 0 or (name in moving and welded <= mass and (mass < LEAST_MASS or least < LEAST_INERTIA))):
            thin.append(name)
            _write_inertial(link, max(mass, LEAST_MASS), LEAST_INERTIA)
        elif mass <= 0:
            _drop_inertial(link)
        if _breaks_triangle(link):
            unbalanced.append(name)
    notes = []
    if bare:
        notes.append(f"Moving links without mass got {LEAST_MASS:g} kg and {LEAST_INERTIA:g} kg·m²: {', '.join(bare)}.")
    if thin:
        notes.append(f"Links with no or a tiny inertia were raised to at least {LEAST_INERTIA:g} kg·m²: {', '.join(thin)}.")
    if unbalanced:
        notes.append(f"Links whose inertia no body can have (A + B < C) got its mean on all axes: {', '.join(unbalanced)}.")
    return notes


def _welded_mass(name: str, links: dict[str, ET.Element], children: dict[str, list[tuple[str, bool]]]) -> float:
    """Mass [kg] of a link and of everything welded to it."""
    total, open_ = 0.0, [name]
    while open_:
        link = open_.pop()
        total += _inertial(links[link])[0] if link in links else 0.0
        open_ += [child for child, welded in children.get(link, []) if welded]
    return total


def _matrix(inertial: ET.Element | None) -> np.ndarray:
    inertia = inertial.find("inertia") if inertial is not None else None
    get = lambda k: float(inertia.get(k, 0)) if inertia is not None else 0.0  # noqa: E731
    xy, xz, yz = get("ixy"), get("ixz"), get("iyz")
    return np.array([[get("ixx"), xy, xz], [xy, get("iyy"), yz], [xz, yz, get("izz")]])


def _inertial(link: ET.Element) -> tuple[float, float]:
    """Mass [kg] and smallest principal inertia [kg·m²] of a link; zero when it has none."""
    inertial = link.find("inertial")
    mass = inertial.find("mass") if inertial is not None else None
    if mass is None:
        return 0.0, 0.0
    return float(mass.get("value", 0)), float(np.linalg.eigvalsh(_matrix(inertial))[0])


def _breaks_triangle(link: ET.Element) -> bool:
    a, b, c = np.linalg.eigvalsh(_matrix(link.find("inertial")))
    return bool(a + b < c * (1 - 1e-12))


def _drop_inertial(link: ET.Element) -> None:
    """Take away an inertial without mass: the link only joins others."""
    for inertial in link.findall("inertial"):
        link.remove(inertial)


def _write_inertial(link: ET.Element, mass: float, least: float) -> None:
    """Set the mass of a link; raise its principal inertias to `least` and to values that a body can have."""
    inertial = link.find("inertial")
    if inertial is None:
        inertial = ET.SubElement(link, "inertial")
    values, axes = np.linalg.eigh(_matrix(inertial))
    values = np.maximum(values, least)
    values[0] = max(values[0], (values[2] - values[1]) * (1 + 1e-9))  # no body has A + B < C
    full = (axes * values) @ axes.T
    for tag in ("mass", "inertia"):
        old = inertial.find(tag)
        if old is not None:
            inertial.remove(old)
    ET.SubElement(inertial, "mass", value=repr(float(mass)))
    names = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
    ET.SubElement(inertial, "inertia", {k: repr(float(full[at])) for k, at in names.items()})
