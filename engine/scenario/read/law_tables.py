"""Checks of the tables that any section names."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import safe_to_print
from . import wrenches
from .reading import Reading
from .solver import Law

SLACK = 1e-9  # of the run


def doubts_about_scenario_tables(reading: Reading, laws: Sequence[Law]) -> list[str]:
    """Warnings about tables that don't cover the run, and about what joins their rows."""
    t0, t1 = reading.span
    warnings = []
    for law, path in _all(reading, laws):
        place = ".".join(map(str, path))
        warnings += [f"{place}: {safe_to_print(doubt)}" for doubt in law.doubts(reading.folder)]
        pace = law.pace(t0, t1, reading.folder) if law.file() is not None else None
        if pace is None:
            continue
        begin, end, _ = pace  # of a table: of its rows
        if begin > t0 + SLACK * (t1 - t0) or end < t1 - SLACK * (t1 - t0):
            warnings.append(
                f"{place}: the table `{safe_to_print(str(law.file()))}` goes from {begin:g} to {end:g} s, the run from "
                f"{t0:g} to {t1:g} s; outside the table its end values hold"
            )
    return list(dict.fromkeys(warnings))


def breaks_of_scenario_tables(reading: Reading, laws: Sequence[Law]) -> tuple[float, ...]:
    """The instants within the run at which derivatives of any law may jump."""
    t0, t1 = reading.span
    return tuple(sorted({x for law, _ in _all(reading, laws) for x in law.breaks(reading.folder) if t0 < x < t1}))


def _all(reading: Reading, laws: Sequence[Law]) -> list[Law]:
    """The laws of joints together with those of wrenches and drives."""
    return [
        *laws,
        *wrenches.read_wrench_laws(reading),
        *((drive.motion, ("drives", drive.name)) for drive in reading.file.drives),
    ]
