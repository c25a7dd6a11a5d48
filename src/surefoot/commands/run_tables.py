"""A run as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from surefoot.analyze.run import Account


def run_figures(found: Account) -> list[Table]:
    """A run in tables: as a whole, its steps, its answers to commands."""
    none = lambda x, form=".3f": "-" if x is None else format(x, form)  # noqa: E731
    whole = Table(title=f"{found.robot}: {found.duration:.1f} s, {'FELL' if found.fell else 'did not fall'}")
    for column in ("", "measured", "commanded"):
        whole.add_column(column, justify="right" if column else "left")
    for k, (axis, unit) in enumerate((("forward", "m/s"), ("left", "m/s"), ("turn", "rad/s"))):
        pick = lambda triple, k=k: none(None if triple is None else triple[k])  # noqa: E731
        whole.add_row(f"{axis} \\[{unit}]", pick(found.velocity), pick(found.commanded))
    whole.add_row("battery \\[W]", none(found.power, ".0f"), "")
    whole.add_row("heat of the coils, by the model \\[W]", none(found.electrical, ".0f"), "")
    whole.add_row("mechanical \\[W]", none(found.mechanical, ".0f"), "")
    parts = found.transport.to_dict() if found.transport else {}
    for key, name in (("cot", "CoT"), ("coe", "CoE"), ("cod", "CoD"), ("col", "CoL")):
        whole.add_row(f"{name} \\[-]", none(parts.get(key)), "")
    if found.estimation_error is not None:
        whole.add_row("error of the estimated velocity \\[m/s]", none(found.estimation_error), "")
    tables = [whole]
    if found.gait:
        gait = Table("foot", "steps \\[Hz]", "on the ground \\[-]", title="gait")
        for g in found.gait:
            gait.add_row(g.foot, f"{g.frequency:.2f}", f"{g.duty:.2f}")
        tables.append(gait)
    if found.steps:
        steps = Table("at \\[s]", "axis", "from", "to", "reached", "rise \\[s]", "overshoot", title="answers to commands")
        for s in found.steps:
            steps.add_row(f"{s.time:.2f}", s.axis, f"{s.before:g}", f"{s.after:g}", none(s.reached), none(s.rise, ".2f"),
                          f"{100 * s.overshoot:.0f} %")  # fmt: skip
        tables.append(steps)
    return tables
