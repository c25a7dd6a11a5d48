"""The user's MJCF with the fit in it: joints, position actuators with native delay, encoders. Everything else stays."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.export.values import Values, header
from surefoot.export.xmltext import Document, Element, number

MARK = "surefoot export"
SHORTCUTS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "dcmotor", "pid", "cylinder", "muscle")
KEPT = ("name", "class", "group", "joint", "jointinparent", "user")  # attributes of an actuator that a rewrite leaves alone
RANGE = ("ctrllimited", "ctrlrange")  # kept when the control was a position before


@dataclass(eq=False)
class Source:
    """A model: its main file and the files that it includes."""

    main: Document
    path: Path | None  # None: the text is not a file's
    included: dict[Path, tuple[Document, Element]]  # file -> document, and the <include> that names it

    @classmethod
    def read(cls, source: Path | str) -> Source:
        """A file with its includes, or MJCF text."""
        if isinstance(source, str):
            return cls(Document(source.encode(), "the model"), None, {})
        main = Document.read(source)
        if main.root.tag != "mujoco":
            raise SurefootError(f"{source.name} starts with <{main.root.tag}>; an MJCF starts with <mujoco>.")
        found: dict[Path, tuple[Document, Element]] = {}
        waiting = [(main, source.parent)]
        while waiting:
            document, folder = waiting.pop()
            for element in document.find("include"):
                places = [source.parent / element.get("file"), folder / element.get("file")]
                path = next((p for p in places if p.is_file()), None)
                if path is None:
                    raise SurefootError(f"{document.name} includes {element.get('file')}, which is not there.")
                inner = Document.read(path)
                found[path] = (inner, element)
                waiting.append((inner, path.parent))
        return cls(main, source, found)

    @property
    def documents(self) -> list[Document]:
        """All files, the main one first."""
        return [self.main, *(document for document, _ in self.included.values())]

    def elements(self) -> list[Element]:
        """All elements of all files."""
        return [element for document in self.documents for element in document.elements]


def write(values: Values, source: Path | str, out: Path) -> tuple[list[Path], list[str]]:
    """Write the model with the fit's values; the files written, and what the user must know."""
    model = Source.read(source)
    notes: list[str] = []
    elements = model.elements()
    joints = {joint: _joint(elements, joint, model.main.name) for joint in values.joints}
    drives = {joint: _drive_of(elements, element.get("name")) for joint, element in joints.items()}
    fresh, encoders = [], []
    for j, (joint, element) in enumerate(joints.items()):
        for attribute, name in (("armature", "armature"), ("damping", "damping"), ("frictionloss", "friction")):
            element.set(attribute, number(getattr(values, name)[j]))
        drive = drives[joint]
        settings = actuator(values, j)
        if drive is None:
            target = element.get("name")
            start = "".join(f' {k}="{v}"' for k, v in {"name": target, "joint": target, **settings}.items())
            fresh.append(f"<general{start}/>")
        else:
            _rewrite(drive, settings, notes)
        encoders += _encoder(elements, values, j, element.get("name"))
    notes += delay_notes(values)
    step = model.main.step()
    for tag, lines in (("actuator", fresh), ("sensor", encoders)):
        if lines:
            model.main.root.added.append(f"<{tag}>\n" + "\n".join(step + line for line in lines) + f"\n</{tag}>")
    model.main.comment(_about(values), MARK)
    return _save(model, out), notes


def actuator(values: Values, j: int) -> dict[str, str]:
    """A drive as a MuJoCo actuator: force = P u + P q_b - P q - D v, clipped; u is the control of `delay` seconds ago."""
    p, d, bias = values.stiffness[j], values.velocity_gain[j], values.bias[j]
    limit, (nsample, delay) = values.torque_limit[j], history(values.delay[j], values.timestep)
    out = {
        "dyntype": "none",
        "gaintype": "fixed",
        "gainprm": f"{number(p)} 0 0",
        "biastype": "affine",
        "biasprm": f"{number(p * bias)} {number(-p)} {number(-d)}",
        "forcelimited": "true" if np.isfinite(limit) else "false",
    }
    if np.isfinite(limit):
        out["forcerange"] = f"{number(-limit)} {number(limit)}"
    if nsample:
        out |= {"nsample": str(nsample), "interp": "linear", "delay": number(delay)}
    return out


def history(delay: float, timestep: float) -> tuple[int, float]:
    """Samples to keep, and the delay [s] that MuJoCo will have: any real one, but none between 0 and one step."""
    steps = delay / timestep
    if steps < 0.5:
        return 0, 0.0
    return math.ceil(max(steps, 1.0) - 1e-9) + 1, max(float(delay), timestep)


def delay_notes(values: Values) -> list[str]:
    """What MuJoCo's native delay cannot do, and what its user must do."""
    real = np.array([history(d, values.timestep)[1] for d in values.delay])
    off = np.abs(real - values.delay)
    notes = []
    if off.max() > 0:
        j = int(off.argmax())
        notes.append(
            f"MuJoCo's shortest delay is one step, {1e3 * values.timestep:g} ms: {values.joints[j]} has "
            f"{1e3 * real[j]:g} ms instead of {1e3 * values.delay[j]:.3g} ms."
        )
    if real.any():
        notes.append(
            "before the first delay has passed, actuators read controls of 0: fill the history at a reset "
            "(mujoco.mj_initCtrlHistory) with the first control."
        )
    return notes


def _joint(elements: list[Element], joint: str, where: str) -> Element:
    """The element of a joint; one without a name is known by its body and gets its name."""
    bodied = [
        e for e in elements if e.tag == "joint" and e.parent is not None and e.parent.tag in ("body", "frame", "mujocoinclude")
    ]
    for element in bodied:
        if element.get("name") == joint:
            return element
    for element in bodied:
        body = element.parent
        if body is not None and not element.get("name") and f"{body.get('name')}_joint" == joint:
            element.set("name", joint)
            return element
    names = ", ".join(e.get("name") for e in bodied if e.get("name"))
    raise SurefootError(
        f"joint {joint} has no <joint> element in {where}; there are: {names or 'none'}. If <replicate>, <attach> or a name "
        "prefix makes it, write the model flat first: python -c "
        "\"import mujoco as m; print(m.MjSpec.from_file('in.xml').to_xml())\"."
    )


def _drive_of(elements: list[Element], joint: str) -> Element | None:
    """The actuator that drives a joint."""
    found = [
        e for e in elements
        if e.tag in SHORTCUTS and joint in (e.get("joint"), e.get("jointinparent")) and not e.within("default", "sensor")
    ]  # fmt: skip
    if len(found) > 1:
        names = ", ".join(e.get("name") or f"<{e.tag}>" for e in found)
        raise SurefootError(f"joint {joint} has {len(found)} actuators ({names}); leave the one that is the drive.")
    return found[0] if found else None


def _rewrite(drive: Element, settings: dict[str, str], notes: list[str]) -> None:
    """Make an actuator the identified drive, in its place and under its name."""
    servo = drive.tag == "position" or (drive.tag == "general" and drive.get("biastype") == "affine")
    keep = KEPT + (RANGE if servo else ())
    for name in drive.attributes:
        if name not in keep and name not in settings:
            drive.set(name, None)
    for name, value in settings.items():
        drive.set(name, value)
    drive.set("gear", "1")
    if not servo:
        drive.set("ctrllimited", "false")
        notes.append(
            f"actuator {drive.get('name') or drive.get('joint')} was a <{drive.tag}>: its control is now a target position."
        )
    if drive.tag != "general":
        drive.renamed = "general"


def _encoder(elements: list[Element], values: Values, j: int, joint: str) -> list[str]:
    """A joint sensor whose `user` holds the bias: the encoder reads sensordata - user."""
    offset, name = number(values.bias[j] if values.encoder else 0.0), f"{joint}_encoder"
    for element in elements:
        if element.tag == "jointpos" and element.get("joint") == joint:
            element.set("user", offset)
            return []
    return [f'<jointpos name="{name}" joint="{joint}" user="{offset}"/>']


def _about(values: Values) -> list[str]:
    reading = "encoder = sensordata - sensor_user of the jointpos sensors" if values.encoder else "the encoder reads the joint"
    return [
        *header(values),
        "drive: force = P (ctrl(t - delay) - (q - bias)) - D v, so biasprm = [P bias, -P, -D]; " + reading,
        f"true for timestep {values.timestep:g} s and integrator implicitfast: set both in <option>",
    ]


def _save(model: Source, out: Path) -> list[Path]:
    """Write the main file to `out`; included files beside it, under a new name when they changed."""
    out.parent.mkdir(parents=True, exist_ok=True)
    written = []
    home = model.path.parent if model.path else None
    for path, (document, include) in reversed(model.included.items()):
        text = document.render()
        relative = Path(os.path.relpath(path, home))
        if text != document.data:
            relative = relative.with_name(f"{relative.stem}_{out.stem}{relative.suffix}")
            include.set("file", relative.as_posix())
        target = out.parent / relative
        if not (target.exists() and target.resolve() == path.resolve()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            written.append(target)
    out.write_bytes(model.main.render())
    return [out, *written]


# --- reading back ------------------------------------------------------------------------------------------------------------
def read(path: Path, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    """What MuJoCo's own compiler makes of the file, in the fit's terms."""
    from surefoot.export.hang import compiled

    return of_model(compiled(path, base_fixed=False)[0], joints)


def of_model(m: Any, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The values that a compiled model holds."""
    rows: dict[str, list[float]] = {}

    def put(name: str, value: float) -> None:
        rows.setdefault(name, []).append(float(value))

    for joint in joints:
        j = m.joint(joint).id
        dof, a = m.jnt_dofadr[j], drive_id(m, joint)
        p = m.actuator_gainprm[a, 0]
        put("armature", m.dof_armature[dof] + m.actuator_armature[a])
        put("damping", m.dof_damping[dof] + m.actuator_damping[a])
        put("friction", m.dof_frictionloss[dof])
        put("stiffness", p if m.actuator_biasprm[a, 1] == -p and m.actuator_gear[a, 0] == 1 else np.nan)
        put("velocity_gain", -m.actuator_biasprm[a, 2])
        put("bias", m.actuator_biasprm[a, 0] / p if p else np.nan)
        put("encoder_bias", encoder_offset(m, joint))
        put("delay", m.actuator_delay[a] if m.actuator_history[a, 0] else 0.0)
        limit = np.abs(m.actuator_forcerange[a]).max() if m.actuator_forcelimited[a] else np.inf
        if m.jnt_actfrclimited[j]:
            limit = min(limit, np.abs(m.jnt_actfrcrange[j]).max())
        put("torque_limit", limit)
    return {name: np.array(row) for name, row in rows.items()}


def drive_id(m: Any, joint: str) -> int:
    """The actuator of a joint in a compiled model."""
    j = m.joint(joint).id
    found = [a for a in range(m.nu) if m.actuator_trntype[a] in (0, 1) and m.actuator_trnid[a, 0] == j]
    if len(found) != 1:
        raise SurefootError(f"joint {joint} has {len(found)} actuators in the exported model; expected one.")
    return found[0]


def encoder_offset(m: Any, joint: str) -> float:
    """What the file says the encoder of a joint reads too little."""
    j = m.joint(joint).id
    for s in range(m.nsensor):
        if m.sensor_type[s] == 9 and m.sensor_objid[s] == j and m.sensor_user.shape[1]:
            return float(m.sensor_user[s, 0])
    return 0.0
