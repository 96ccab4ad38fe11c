"""Sections `record` and `plots`: the points and formulas that are recorded, and what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import did_you_mean
from ...record import TIME, Drawing
from ...text import Keys
from ...text.expressions import lookups_in_formula, names_in_formula, parsed_formula
from ...text.fields import size_of_unit
from ..column_names import hint_at_column
from ..schema import DrawingEntry
from ..tabulate import FormulaColumn
from .formulas import read_formula_table
from .reading import Reading

Others = Callable[[], Mapping[str, Mapping[str, Any]]]  # further columns, and the keys of `record` that make them
OF_POINTS = ("point_velocities", "point_accelerations")


def read_record_points(reading: Reading) -> tuple[tuple[str, str], ...]:
    """The link and the point of each name under `points`."""
    robot, names = reading.robot, reading.file.record.points
    for key in OF_POINTS:
        if not names and getattr(reading.file.record, key, False):
            raise reading.error(
                ("record", key), "no points are recorded", allowed="names of points beside it: `points: [link.point]`"
            )
    known = [f"{link.name}.{point}" for link in robot.links for point in link.points]
    for k, name in enumerate(names):
        if name not in known:
            raise reading.error(
                ("record", "points", k),
                f"{robot.name} has no point `{name}`",
                allowed=", ".join(known) or "none: the robot's links name no `points`",
                hint=did_you_mean(name, known),
            )
        if name in names[:k]:
            raise reading.error(("record", "points", k), f"`{name}` stands here twice", allowed="each point once")
    return tuple((name.split(".")[0], name.split(".")[1]) for name in names)


def read_record_formulas(reading: Reading, known: Sequence[str], others: Others) -> tuple[FormulaColumn, ...]:
    """The columns under `expressions`, each over the `known` ones, the time and those before it."""
    there = [TIME, *known]
    made = []
    for name, entry in reading.file.record.expressions.items():
        path: Keys = ("record", "expressions", name)
        if name in there:
            raise reading.error(path, f"there is a column `{name}` already", key=True, allowed="another name")
        formula = parsed_formula(entry.formula)
        written = reading.document.data["record"]["expressions"][name]
        at: Keys = (*path, "formula") if isinstance(written, dict) else path
        for one in names_in_formula(formula):
            if one.name not in there:
                raise reading.error(
                    at,
                    f"at character {one.position + 1}: unknown name `{one.name}`",
                    allowed=", ".join(there),
                    hint=hint_at_column(one.name, there, others()),
                )
        curves = tuple((one, read_formula_table(reading, one, at)) for one in lookups_in_formula(formula))
        size = 1.0 if entry.unit is None else size_of_unit(entry.unit)
        unit = (entry.unit or "").replace("^2", "²").replace("^3", "³")
        made.append(FormulaColumn(name, formula, unit, size, curves))
        there.append(name)
    return tuple(made)


def read_record_plots(reading: Reading, known: Sequence[str], others: Others) -> tuple[Drawing, ...]:
    """What is drawn: usual plots, and `known` columns against others."""
    made: list[Drawing] = []
    for k, entry in enumerate(reading.file.plots):
        one = Drawing(plot=entry) if isinstance(entry, str) else _drawing(reading, entry, k, known, others)
        if any(one.stem == other.stem and one != other for other in made):
            raise reading.error(
                ("plots", k), f"two plots have the name `{one.stem}`", allowed="a `name` of its own for one of them"
            )
        made.append(one)
    return tuple(made)


def _drawing(reading: Reading, entry: DrawingEntry, place: int, known: Sequence[str], others: Others) -> Drawing:
    """An entry of several keys; its columns are there."""
    there = [TIME, *known]
    for key, columns in (("y", entry.y), ("x", entry.x)):
        for n, name in enumerate(columns):
            if name not in there:
                listed = isinstance(reading.document.data["plots"][place].get(key), list | tuple)
                raise reading.error(
                    ("plots", place, key, n) if listed else ("plots", place, key),
                    f"the run has no column `{name}`",
                    allowed=", ".join(there),
                    hint=hint_at_column(name, there, others()),
                )
    return Drawing(
        plot=entry.plot or "",
        y=tuple(entry.y),
        x=tuple(entry.x),
        name=entry.name or "",
        title=entry.title,
        degrees=entry.degrees,
        equal=entry.equal,
    )
