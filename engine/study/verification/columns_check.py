"""The check of a result's columns: whether the run gives them, and the same end, when it is computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from ...record.compared import Difference, allowed_recorded_difference, recorded_column_size, recorded_difference_excess
from ...scenario import Plan, Result, Stored, carry_out_whole_plan
from ...simulate.integrate import INTEGRATORS
from .check import EXACT, Check, allowed_in_columns, check_of_differences, worst_row_of_column

GROWTH = 1000.0  # times `rtol`: what two runs of one simulation may differ by
SENSITIVITY = 10.0  # times the difference between two runs with other tolerances

Progress = Callable[[str, float | None], None]  # hears what is being done, and its share if that is known


def run_of_result_again(made: Plan, report: Progress) -> Result:
    """The same run on the plain backend."""
    first, last = float(made.grid[0]), float(made.grid[-1])

    def reached(t: float) -> None:
        t = min(t, last)
        report(f"t = {t:.3f} of {last:g} s", (t - first) / (last - first or 1.0))

    report("computing it again", None)
    return carry_out_whole_plan(made, reached)


def allowed_share_of_run(made: Plan, again: Result) -> float:
    """The allowed share of a column's largest number: more where the run was integrated to a tolerance of its own."""
    integrated = again.audit["steps"] and INTEGRATORS[made.solver.method].adaptive
    return max(EXACT, GROWTH * made.solver.rtol) if integrated else EXACT


def check_columns_of_result(
    kept: Stored, made: Plan, again: Result, share: float, *, sensitive: bool, report: Progress
) -> Check:
    """Whether the run gives the same columns and the same end again."""
    frame = list(_frame(kept, again))
    count = min(len(kept.t), len(again.t))
    t, units = kept.t[:count], {column.name: column for column in again.columns}
    common = [name for name in units if name in kept.table]
    old, new = ({name: table[name][:count] for name in common} for table in (kept.table, again.table))
    allowed = allowed_in_columns(again.columns, old, share)
    compared = [worst_row_of_column(units[name].unit, name, t, old[name], new[name], allowed[name]) for name in common]
    words = f"{len(common)} columns at {count} instants"
    adaptive = again.audit["steps"] and INTEGRATORS[made.solver.method].adaptive
    if sensitive and adaptive and any(one.times > 1.0 for one in compared):
        room = _sensitivity(made, again, count, report)
        limits = {name: np.maximum(allowed[name], SENSITIVITY * room[name]) for name in common}
        compared = [
            worst_row_of_column(units[name].unit, name, t, old[name], new[name], limits[name]) for name in common
        ]
        words += ", of which some depend on the last digits and are allowed more"
    return check_of_differences("columns", "plain text", words, compared, frame)


def _frame(kept: Stored, again: Result) -> Iterator[Difference]:
    """The differences in rows, columns and the end of the run."""
    ended = kept.record.get("ended")
    if ended not in (again.ended, "interrupted"):
        yield Difference("ended", f"`{ended}` in the record, `{again.ended}` if it is computed again")
    if (
        len(kept.t) != len(again.t)
        or (
            recorded_difference_excess(
                kept.t, again.t, allowed_recorded_difference(recorded_column_size(kept.t), 0.0, None, None)
            )
            > 1.0
        ).any()
    ):
        yield Difference("rows", f"{len(kept.t)} rows to {kept.t[-1]:g} s, {len(again.t)} to {again.t[-1]:g} s again")
    for name in (name for name in again.table if name not in kept.table):
        yield Difference(name, "the column is missing")
    for name in (name for name in kept.table if name not in again.table):
        yield Difference(name, "no such column comes out again")
    described = {column.name: column.unit for column in kept.columns}
    for column in (column for column in again.columns if column.name in kept.table):
        if described.get(column.name) != column.unit:
            unit = described.get(column.name, "nothing")
            yield Difference(column.name, f"its unit is `{column.unit}`, in the record `{unit}`")
    before, now = ([(one.get("joint"), one.get("event")) for one in events] for events in _events(kept, again))
    if before != now and ended != "interrupted":
        kept_first, now_first = _parting(kept.record.get("events") or [], again.record["events"])
        yield Difference("events", f"the record has {kept_first} where {now_first} comes if it is computed again")


def _parting(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The first events, in words, that two lists of events don't have in common."""

    def words(event: Mapping[str, Any] | None) -> str:
        if event is None:
            return "no further event"
        who = event.get("joint") or event.get("actuator") or ""
        return f"`{who} {event.get('event')}`".replace("` ", "`") + f" at t = {event.get('t'):.6g} s"

    pairs = zip_longest(before, now)
    names = ("joint", "actuator", "event")
    first = next((a, b) for a, b in pairs if not a or not b or any(a.get(name) != b.get(name) for name in names))
    return words(first[0]), words(first[1])


def _events(kept: Stored, again: Result) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    return kept.record.get("events") or [], again.record["events"]


def _sensitivity(made: Plan, again: Result, count: int, report: Progress) -> dict[str, np.ndarray]:
    """What halved tolerances change in each column up to each row: that much depends on the last digits."""
    solver = replace(made.solver, rtol=made.solver.rtol / 2, atol=made.solver.atol / 2)
    other = run_of_result_again(replace(made, solver=solver), report)
    room = {}
    for name, values in again.table.items():
        off = np.full(count, np.inf)
        shared = min(count, len(other.t))
        off[:shared] = abs(values[:shared] - other.table[name][:shared])
        room[name] = np.maximum.accumulate(np.where(np.isnan(off), 0.0, off))
    return room
