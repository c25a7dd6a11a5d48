"""What was shown of an export: values read back, the motion replayed, values felt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray
FELT = 1e-9  # [rad] a value whose change moves a joint by less has not reached the simulator


@dataclass(frozen=True, kw_only=True)
class Check:
    """One value, read back by the target's own means."""

    name: str
    joint: str
    expected: float
    found: float
    unit: str = ""
    good: bool = True

    def __str__(self) -> str:
        return f"{self.name} of {self.joint}: the export says {self.found:.6g}, the fit {self.expected:.6g} {self.unit}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One value changed in the file, and how far the motion moved."""

    name: str
    joint: str
    moved: float  # rms of the largest change of any joint of its leg, or of its encoder [rad]

    @property
    def good(self) -> bool:
        """The simulator felt the change."""
        return self.moved > FELT

    def __str__(self) -> str:
        return (
            f"{self.name} of {self.joint} was changed in the export and the motion stayed the same (within {self.moved:.1g} rad)"
        )


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What was shown of an export."""

    target: str
    joints: tuple[str, ...]
    checks: tuple[Check, ...]
    probes: tuple[Probe, ...] = ()
    rmse: Array | None = None  # of the target's replay against the fit's own [rad], shape (n,); None: it cannot run here
    reasons: tuple[str, ...] = ()  # what a drive of the target cannot have
    lost: Array | None = None  # what that alone costs [rad], shape (n,): the fit's own motion without it
    rest: Array | None = None  # of the target's replay against the fit's own motion without it [rad], shape (n,)
    tolerance: float = np.inf
    seconds: float = 0.0  # of motion that was replayed
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> list[str]:
        """What is wrong, a sentence each; none: the export is proven as far as it can be here."""
        out = [str(check) for check in self.checks if not check.good]
        error = self.rmse if self.rest is None else self.rest
        if error is not None:
            bad = np.flatnonzero(~(error <= self.tolerance))
            out += [
                f"{self.joints[j]} moves differently: rmse {error[j]:.3g} rad against the fit's own motion, "
                f"allowed {self.tolerance:g}"
                for j in bad
            ]
        return out + [str(probe) for probe in self.probes if not probe.good]

    @property
    def good(self) -> bool:
        """Nothing is wrong."""
        return not self.failures
