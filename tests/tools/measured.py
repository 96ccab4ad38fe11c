"""The tables of README.md and docs/benchmarks.md, made of what `make bench` has measured (docs/benchmarks.json)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from measure import Row, read, shown

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "docs" / "benchmarks.json"
BEGIN, END = "<!-- measured: {}; `make pages` makes it of docs/benchmarks.json -->", "<!-- until here -->"
BATCH, PYTHON, NATIVE = "{}, 10,000 samples, {}", "Pinocchio in Python", "Pinocchio in C++"
BATCHES = {  # what README says: how rows begin
    "PUMA, each of 10,000 samples: inverse, forward": "PUMA",
    "six revolute joints without any zeros": "6R without zeros",
    "quadruped, 18 freedoms": "quadruped (solo12), 18 freedoms",
    "humanoid, 34 freedoms": "humanoid, 34 freedoms",
}
KEPT = "PUMA, 10,000 samples, {}, each, results kept"
BOTH = "inverse", "forward"
HEAD = ("work", "denoc", NATIVE, f"{PYTHON}, with scipy's RK45 for falls")
SCIPY = "scipy RK45 + Pinocchio"
ALONE = {  # what README says: the rows' work, and their peer
    "PUMA, one call": (("PUMA, one inverse call", "PUMA, one forward call"), "Pinocchio"),
    "humanoid, one call": (
        ("humanoid, 34 freedoms, one call, inverse", "humanoid, 34 freedoms, one call, forward"),
        "Pinocchio",
    ),
    "3-RRR robot (two loops), forward: each of 10,000, one call": (
        ("3-RRR, forward", "3-RRR, one forward call"),
        "Pinocchio",
    ),
    "fall of the PUMA, 10 s": (("free fall 10 s, loop",), SCIPY),
    "2,000 falls of 0.5 s with other masses, each": (("ensemble: fall 0.5 s with another mass, a run",), SCIPY),
    "four-bar linkage, fall of 5 s": (("four-bar, fall 5 s, rtol 1e-6",), "scipy RK45, 1e-6 + Pinocchio, Baumgarte"),
}


def readme(text: str) -> str:
    """README with its tables as they were measured."""
    rows, _ = read(MEASURED)
    return _replaced(text, "these rows", _table(HEAD, [*_batches(rows), *_alone(rows)]))


def benchmarks(text: str) -> str:
    """The page on benchmarks with all rows as they were measured."""
    rows, about = read(MEASURED)
    judged = [row for row in rows if row.reached is not None]
    missed = [f"{row.work} {shown(row.denoc, row.unit)} ({row.goal})" for row in judged if not row.reached]
    said = f"{len(judged) - len(missed)} of {len(judged)} goals were reached in this run"
    said += f"; not: {'; '.join(missed)}." if missed else "."
    head = ["work", "denoc", "peer", "peer's", "ratio", "goal", "reached"]
    lines = [f"{about['versions']}. Goals in units of time are stretched by {about['pace']:.2f}.", "", said, ""]
    return _replaced(text, "all rows", [*lines, *_table(head, (row.cells() for row in rows))])


def _replaced(text: str, name: str, lines: Sequence[str]) -> str:
    """The text with these lines between the marks of this name."""
    begin = BEGIN.format(name)
    between = re.compile(f"(?<={re.escape(begin)}\n).*?(?={re.escape(END)})", re.DOTALL)
    return between.sub(lambda _: "\n".join([*lines, "", ""]), text)


def _batches(rows: Sequence[Row]) -> Iterable[Sequence[str]]:
    """Batches of trees, inverse and forward dynamics, beside Pinocchio in both languages."""
    found = {(row.work, row.peer): row for row in rows}
    for name, begin in BATCHES.items():
        works = [BATCH.format(begin, what) for what in BOTH]
        peers = [[found.get((work, peer)) for work in works] for peer in (NATIVE, PYTHON)]
        yield name, _times([row.denoc for row in peers[1] if row is not None]), *map(_beside, peers)
        if begin == "PUMA":
            fresh = [found[KEPT.format(what), ""].denoc for what in BOTH]
            yield "the same, all results kept in new arrays", _times(fresh), "", ""


def _alone(rows: Sequence[Row]) -> Iterable[Sequence[str]]:
    """Single calls and runs, each beside one peer."""
    found = {(row.work, row.peer): row for row in rows}
    for name, (works, peer) in ALONE.items():
        these = [found[work, peer] for work in works]
        yield name, _times([row.denoc for row in these]), "", _beside(these)


def _beside(rows: Sequence[Row | None]) -> str:
    """A peer's times, and how many times denoc's they are."""
    there = [row for row in rows if row is not None and row.theirs is not None]
    return f"{_times([row.theirs for row in there])} ({_ratios(there)})" if there else "not measured"  # type: ignore[misc]


def _ratios(rows: Iterable[Row]) -> str:
    return ", ".join(row.cells()[4] for row in rows)


def _times(seconds: Sequence[float]) -> str:
    """Times, whose unit stands once if it is the same."""
    parts = [shown(one, "s").split() for one in seconds]
    if len({unit for _, unit in parts}) == 1:
        return f"{', '.join(number for number, _ in parts)} {parts[0][1]}"
    return ", ".join(" ".join(part) for part in parts)


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    rows = [head, ["---"] * len(head), *lines]
    return ["| " + " | ".join(row) + " |" for row in rows]
