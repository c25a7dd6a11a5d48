"""Recording to joint dynamics: check, fit, uncertainty, comparison of models."""

import sys
from types import ModuleType
from typing import Any

from surefoot.identify.answer import score
from surefoot.identify.check import check
from surefoot.identify.compare import Ranked, Variant, compare, variants, verdict
from surefoot.identify.finding import Finding
from surefoot.identify.fit import Fit, Score
from surefoot.identify.identify import identify
from surefoot.identify.least_squares import Progress
from surefoot.identify.plan import Encoders, Plan, plan
from surefoot.identify.stop import Stop
from surefoot.identify.unknowns import Unknowns

__all__ = [
    "Encoders",
    "Finding",
    "Fit",
    "Plan",
    "Progress",
    "Ranked",
    "Score",
    "Stop",
    "Unknowns",
    "Variant",
    "check",
    "compare",
    "identify",
    "plan",
    "score",
    "variants",
    "verdict",
]


class _Verb(ModuleType):
    """A package that shares its name with its verb and can be called: `surefoot.identify(robot, [recording])`."""

    def __call__(self, *args: Any, **options: Any) -> Fit:
        return identify(*args, **options)


sys.modules[__name__].__class__ = _Verb
