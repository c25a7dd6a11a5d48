"""In which unit stamps probably are, told from the rate that they would mean."""

from __future__ import annotations

import numpy as np

PLAUSIBLE = (20.0, 50_000.0)  # [Hz] of a log
STAMPS = {"milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9, "minutes": 60.0, "days": 86_400.0}


def stamp_problem(hz: float) -> tuple[str, str] | None:
    """(what is wrong, what to do) when stamps taken as seconds mean `hz`, which no log has; None when one has."""
    if PLAUSIBLE[0] <= hz <= PLAUSIBLE[1]:
        return None
    message = f"the median time between samples is {1.0 / hz:.4g} s ({hz:.4g} Hz)"
    fitting = [(name, factor) for name, factor in STAMPS.items() if PLAUSIBLE[0] <= hz / factor <= PLAUSIBLE[1]]
    if not fitting:
        return message + ", and in no usual unit would that be the rate of a log.", (
            "stamp every sample in seconds; log at 20 Hz to 50 kHz."
        )
    unit, factor = min(fitting, key=lambda pair: abs(np.log(hz / pair[1] / 500.0)))
    return message + f"; the stamps are probably in {unit} ({hz / factor:.4g} Hz).", (
        f"--time-scale {factor:g} (in Python: recording.replace(time=recording.time * {factor:g}))."
    )
