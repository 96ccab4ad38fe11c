"""Exhibits, which are tables and figures of papers, and how they are reproduced, most of them from scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import NumericalError
from ...record import Line, Panel, largest_plotted_value, panel_figure
from ...scenario import Result, carry_out_whole_plan, prepare_scenario
from ...text import Change

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table = dict[str, np.ndarray]
Row = tuple[str, ...]
Changes = tuple[tuple[str, Any], ...]

PAPERS = {
    "saha-1999": "Saha, Dynamics of serial multibody systems using the decoupled natural orthogonal complement "
    "matrices, ASME Journal of Applied Mechanics 66 (1999)",
    "saha-overview": "Saha, Recursive dynamics algorithms for serial, parallel, and closed-chain multibody systems, "
    "IIT Delhi",
    "hanzaki-2009": "Rahmani Hanzaki, Saha and Rao, An improved dynamic modeling of a multibody system with spherical "
    "joints, Multibody System Dynamics (2009)",
    "khan-2002": "Khan, Distributed dynamics of systems with closed kinematic chains, thesis, McGill University (2002)",
}
SHORT = {
    "saha-1999": "Saha (1999)",
    "saha-overview": "Saha's overview",
    "hanzaki-2009": "Hanzaki, Saha and Rao (2009)",
    "khan-2002": "Khan (2002)",
}
COMPARED = ("", "paper", "denoc")
RANGES = ("column", "line", "unit", "first", "least", "largest", "last")


@dataclass(frozen=True)
class Reproduction:
    """Columns over the table's first one, panels that show them, and rows of the paper's numbers and ours.

    The verdict says in words what these numbers show; it is made of them, so it can't say what they don't.
    """

    table: Table
    panels: tuple[Panel, ...]
    rows: tuple[Row, ...] = ()
    heads: Row = COMPARED
    across: str = "time (s)"
    ranges: bool = True  # whether least and largest values are of interest
    verdict: str = ""  # empty where the paper has nothing that the numbers could confirm or not


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper: its caption, what can be claimed of it, and the function that makes it.

    The claim is about what the paper prints and how it is read here, and holds whatever our numbers are.
    """

    paper: str
    what: str
    caption: str
    claim: str
    make: Callable[[], Reproduction]

    @property
    def id(self) -> str:
        return f"{self.paper}-{self.what.lower().replace('. ', '-').replace(' ', '-')}"

    @property
    def title(self) -> str:
        return f"{SHORT[self.paper]}, {self.what}: {self.caption}"

    def figure(self, made: Reproduction) -> Figure:
        return panel_figure(self.title, made.across, made.table, made.panels)


# ---- from scenarios


@lru_cache(maxsize=4)
def _ran(scenario: str, changes: str) -> Result:
    given = [Change(key, value, f"{scenario}: {key}") for key, value in _KNOWN[changes]]
    result = carry_out_whole_plan(prepare_scenario(scenario, changes=given))
    if not result.as_expected:
        raise NumericalError(f"{scenario} ended as `{result.ended}`: {result.record['reason']}")
    return result


_KNOWN: dict[str, Changes] = {}  # `_ran` caches by text, since values of changes needn't be hashable


def paper_run(scenario: str, changes: Changes = ()) -> Result:
    """The result of a scenario of the library, cached for all figures of the same run."""
    key = repr(changes)
    _KNOWN[key] = changes
    return _ran(scenario, key)


def exhibit_of_run(
    scenario: str,
    *panels: Panel,
    rows: Callable[[Result], Sequence[Row]] | None = None,
    verdict: Callable[[Result], str] | None = None,
    changes: Changes = (),
) -> Callable[[], Reproduction]:
    """A function that makes a reproduction from columns of a scenario's result."""

    def make() -> Reproduction:
        result = paper_run(scenario, changes)
        table = {"t": result.t, **{name: result.table[name] for name in exhibit_column_names(panels)}}
        compared = tuple(rows(result)) if rows else ()
        return Reproduction(table, panels, compared, verdict=verdict(result) if verdict else "")

    return make


def exhibit_ranges(made: Reproduction) -> list[Row]:
    """The first, the least, the largest and the last value of each line, with the times of the extremes."""
    t = next(iter(made.table.values()))
    units = {line.column: (line.label, panel.unit) for panel in made.panels for line in panel.lines}
    largest = max(largest_plotted_value(made.table[name]) for name in units)
    rows: list[Row] = []
    for name, (label, unit) in units.items():
        y = made.table[name]
        y = np.where(abs(y) < 1e-12 * largest, 0.0, y)  # rounding is no value
        reached = np.isfinite(y)
        if not reached.any():
            continue
        low, high, last = int(np.nanargmin(y)), int(np.nanargmax(y)), int(np.flatnonzero(reached)[-1])
        ends = f"{y[low]:.5g} at {t[low]:.4g} s", f"{y[high]:.5g} at {t[high]:.4g} s"
        rows.append((name, label, unit, f"{y[0]:.5g}", *ends, f"{y[last]:.5g}"))
    return rows


def exhibit_column_names(panels: Sequence[Panel]) -> list[str]:
    """The names of the columns that the panels show, without repetition."""
    return list(dict.fromkeys(line.column for panel in panels for line in panel.lines))


def exhibit_panel_of_each_joint(suffix: str, quantities: Mapping[str, tuple[str, str, str]]) -> tuple[Panel, ...]:
    """A panel (a), (b) … for each joint, from a table of joint → (label, quantity, unit)."""
    return tuple(
        Panel(f"({letter}) {joint}", quantity, unit, (Line(f"{joint}.{suffix}", label),))
        for letter, (joint, (label, quantity, unit)) in zip("abcdefgh", quantities.items())
    )


def exhibit_column_span(*values: np.ndarray) -> str:
    """The range of several columns, as text."""
    return f"{min(x.min() for x in values):.2f} to {max(x.max() for x in values):.2f}"


def exhibit_value_at(result: Result, column: str, t: float) -> float:
    """A column's value in the row nearest to t."""
    return float(result.table[column][np.argmin(abs(result.t - t))])
