"""Python modules for Isaac Lab, mjlab, legged_gym and Genesis: the fit's numbers and the few lines that apply them."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

import numpy as np

from surefoot.export.values import Values, header

TEMPLATES = Path(__file__).parent / "templates"
CANNOT_RUN = {
    "isaaclab": "Isaac Lab needs an NVIDIA GPU and is not run here",
    "legged_gym": "Isaac Gym needs an NVIDIA GPU and is not run here",
    "genesis": "Genesis is not run here",
}
"""Targets whose replay nobody here has seen; their module says so."""
TABLES = {
    "STIFFNESS": "stiffness",
    "VELOCITY_GAIN": "velocity_gain",
    "ARMATURE": "armature",
    "VISCOUS_DAMPING": "damping",
    "DYNAMIC_FRICTION": "friction",
    "STATIC_FRICTION": "static_friction",
    "TORQUE_LIMIT": "torque_limit",
    "STALL_TORQUE": "stall_torque",
    "NO_LOAD_SPEED": "no_load_speed",
    "DELAY": "delay",
}
"""Tables by joint in every module, and the value that each holds."""


def write(values: Values, target: str, out: Path) -> tuple[list[Path], list[str]]:
    """Write the module of a target; the file, and what the user must know."""
    sign = -1.0 if target == "mjlab" else 1.0
    steps = np.round(values.delay / values.timestep).astype(int)
    text = Template((TEMPLATES / f"{target}.txt").read_text(encoding="utf-8")).substitute(
        header="\n".join(header(values)).replace("\\", "\\\\").replace('"""', "'''"),
        proof=f"{CANNOT_RUN[target]}: values and code are checked, motion is not." if target in CANNOT_RUN else "",
        timestep=repr(values.timestep),
        joints=_tuple(values.joints),
        tables="\n".join(_table(values, name, field) for name, field in TABLES.items()),
        bias=_dict({joint: sign * v for joint, v in values.by_joint("bias").items()}),
        measured="True" if values.encoder else "False",
        steps=_dict(dict(zip(values.joints, steps.tolist(), strict=True))),
        patterns=_dict({joint: re.escape(joint).replace("\\-", "-") for joint in values.joints}),
    )
    compile(text, out.name, "exec")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    return [out], _notes(values, target, steps)


def _notes(values: Values, target: str, steps: np.ndarray) -> list[str]:
    notes = []
    if target == "mjlab":
        off = np.abs(steps * values.timestep - values.delay)
        j = int(off.argmax())
        notes.append(
            f"mjlab delays whole physics steps: {values.joints[j]} {1e3 * values.delay[j]:.4g} ms became {steps[j]} steps of "
            f"{1e3 * values.timestep:g} ms, {1e3 * off[j]:.3g} ms off."
        )
        notes.append("mjlab's encoder bias has the other sign (reading = q + bias): the module has it negated.")
        if not values.encoder:
            notes.append(
                "this fit shifts the set-point and not the encoder: mjlab's joint_pos_biased would shift both; read joint_pos."
            )
    if target in CANNOT_RUN:
        notes.append(f"{CANNOT_RUN[target]}: values and code are checked, motion is not.")
    if np.isfinite(values.stall_torque).any() and target in ("mjlab", "genesis"):
        notes.append(f"{target}: the built-in position drive knows the torque limit but not the torque-speed envelope.")
    return notes


def _tuple(names: tuple[str, ...]) -> str:
    return "(\n" + "".join(f"    {name!r},\n" for name in names) + ")"


def _dict(table: dict[str, float] | dict[str, int] | dict[str, str]) -> str:
    return "{\n" + "".join(f"    {name!r}: {value!r},\n" for name, value in table.items()) + "}"


def _table(values: Values, name: str, field: str) -> str:
    units = sorted({values.unit(field, j) for j in range(values.n)})
    return f"{name} = {_dict(values.by_joint(field))}  # [{' or '.join(units)}]"
