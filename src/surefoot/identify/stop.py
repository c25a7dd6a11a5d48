"""Why a search ended: each reason is a sentence that says what to try."""

from __future__ import annotations

from enum import StrEnum


class Stop(StrEnum):
    """How a search ended."""

    CONVERGED = "converged: no step improves the fit any more."
    NO_PROGRESS = "stopped: steps no longer improve the fit; if the intervals are wide, record a richer motion."
    SPREAD = "converged: the candidates of a generation differ by less than 1 % in loss."
    LIMIT = "stopped at the limit of iterations before it converged; give it more with --max-iterations or --generations."
    INTERRUPTED = "interrupted: these are the best parameters so far; run again with --resume to go on (cmaes)."
    DIVERGED = "every candidate diverged: the gains are too stiff for this timestep or these bounds; try a smaller --timestep."
