"""What the command line says of an export and of its proof."""

from __future__ import annotations

import numpy as np

from surefoot.export.proof import Proof
from surefoot.export.targets import Export

SHOWN = 12  # failures in full
TINY = 1e-9  # [rad] what need not be explained


def lines(result: Export | Proof) -> list[str]:
    """An export or a proof as sentences."""
    return _written(result) if isinstance(result, Export) else _proven(result)


def _written(export: Export) -> list[str]:
    gains = export.values.provenance.get("gains", "")
    return [
        f"wrote {', '.join(map(str, export.files))}   ({export.target}, {export.values.n} joints, gains {gains})",
        *(f"- {note}" for note in export.notes),
    ]


def _proven(proof: Proof) -> list[str]:
    bad = sum(not check.good for check in proof.checks)
    out = [f"values: {len(proof.checks) - bad} of {len(proof.checks)} read back equal"]
    if proof.rmse is not None:
        worst = int(np.nanargmax(proof.rmse)) if not np.isnan(proof.rmse).all() else 0
        out.append(
            f"motion: rmse {proof.rmse[worst]:.2g} rad at most ({proof.joints[worst]}) between {proof.target} and the fit's own "
            f"simulation over {proof.seconds:.3g} s"
        )
    if proof.lost is not None and proof.rest is not None and proof.lost.max() > TINY:
        out.append(
            f"of this, what {proof.target} cannot have makes {proof.lost.max():.2g} rad ({'; '.join(proof.reasons)}); "
            f"against the fit without it the rmse is {proof.rest.max():.2g} rad"
        )
    if proof.probes:
        felt = sum(probe.good for probe in proof.probes)
        least = min(proof.probes, key=lambda probe: probe.moved)
        out.append(
            f"probes: {felt} of {len(proof.probes)} values move the robot when they change (least: {least.name} of "
            f"{least.joint}, {least.moved:.2g} rad)"
        )
    out += [f"- {note}" for note in proof.notes]
    failures = proof.failures
    out += [f"WRONG: {failure}" for failure in failures[:SHOWN]]
    if len(failures) > SHOWN:
        out.append(f"... and {len(failures) - SHOWN} more")
    return [*out, _verdict(proof)]


def _verdict(proof: Proof) -> str:
    if not proof.good:
        return "NOT proven."
    if proof.rmse is None:
        return "proven: the values; the motion was not seen."
    if proof.rmse.max() > proof.tolerance:
        return f"proven, but for what {proof.target} cannot have: its motion is not the fit's."
    return "proven."
