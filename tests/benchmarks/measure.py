"""Time, and the table of what was measured."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

AGREE = 1e-10  # largest difference between contestants, in units of the largest result
FEWEST, MOST = 5, 60  # rounds
REPEATS = 20  # of a quick contestant within a round


def quickest(contestants: Mapping[str, Callable[[], object]], seconds: float = 4.0) -> dict[str, float]:
    """CPU seconds of this thread that each takes: the least of many rounds in which they take turns."""
    least = {name: _timed(run) for name, run in contestants.items()}
    slowest = max(least.values())
    repeats = {name: int(min(max(slowest / took, 1), REPEATS)) for name, took in least.items()}
    begun = time.perf_counter()
    for k in range(MOST):
        if k >= FEWEST and time.perf_counter() - begun > seconds:
            break
        for name, run in contestants.items():
            least[name] = min(least[name], *(_timed(run) for _ in range(repeats[name] + 1)))
    return least


def _timed(run: Callable[[], object]) -> float:
    begun = time.thread_time()
    run()
    return time.thread_time() - begun


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference in units of the largest result."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def checked(work: str, peer: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Raises if the two didn't compute the same: then their times can't be compared."""
    off = difference(ours, theirs)
    if not off < AGREE:
        raise ArithmeticError(f"{work}: {peer} differs by {off:.1e}")


@dataclass(frozen=True)
class Row:
    """A line of the table; `denoc` and `theirs` are seconds unless `unit` says otherwise."""

    work: str
    denoc: float
    peer: str = ""
    theirs: float | None = None
    goal: str = ""
    reached: bool | None = None
    unit: str = "s"

    @property
    def ratio(self) -> float | None:
        return self.theirs / self.denoc if self.theirs is not None else None

    def cells(self) -> list[str]:
        """As the table shows them."""
        verdict = {True: "yes", False: "no", None: ""}[self.reached]
        ratio = self.ratio
        factor = "" if ratio is None else f"{ratio:.{0 if ratio >= 10 else 2}f}x" if ratio < 1e5 else f"{ratio:.0e}x"
        return [
            self.work,
            shown(self.denoc, self.unit),
            self.peer,
            shown(self.theirs, self.unit),
            factor,
            self.goal,
            verdict,
        ]


def against(work: str, ours: float, peer: str, theirs: float, reach: float | None = None) -> Row:
    """Beside a peer that should take `reach` times as long."""
    if reach is None:
        return Row(work, ours, peer, theirs)
    return Row(work, ours, peer, theirs, f"at least {reach:g}x", theirs / ours >= reach)


def bytes_within(work: str, ours: float, most: float) -> Row:
    """Memory that is not to be more than `most`."""
    return Row(work, ours, goal=f"at most {shown(most, 'B')}", reached=ours <= most, unit="B")


def shown(value: float | None, unit: str) -> str:
    """A number with a unit that suits its size."""
    if value is None:
        return ""
    if unit == "B":
        return f"{value / 2**20:.3g} MB"
    if unit != "s":
        return f"{value:.2g} {unit}"
    for name, size in (("s", 1.0), ("ms", 1e-3), ("μs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


HEADINGS = ["work", "denoc", "peer", "peer's", "ratio", "goal", "reached"]


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADINGS))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |" for line in lines)


def write(rows: list[Row], path: Path, **about: object) -> None:
    """The rows with all digits that count, and what else is said of this run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({name: _rounded(x) for name, x in vars(row).items()}, ensure_ascii=False) for row in rows]
    head = json.dumps(about, ensure_ascii=False)[:-1]
    path.write_text(f'{head}, "rows": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def read(path: Path) -> tuple[list[Row], dict[str, object]]:
    """The rows that `write` has written, and what else it has."""
    about = json.loads(path.read_text(encoding="utf-8"))
    return [Row(**row) for row in about.pop("rows")], about


def _rounded(x: object) -> object:
    return float(f"{x:.6g}") if isinstance(x, float) else x
