"""The shapes of documents on comparisons with what was agreed or stored; see `shapes.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from typing_extensions import TypedDict

from denoc.cli.robot_shapes import meaning


class Difference(TypedDict):
    """A difference from what was agreed, or stored; numbers are null where the difference isn't one of numbers."""

    what: Annotated[str, meaning("a column, a plot, a file, …")]
    message: str
    t: float | None
    old: float | None
    new: float | None
    allowed: float | None
    unit: str
    panel: int | None
    times: Annotated[float | None, meaning("the difference in terms of the allowed one; null if it is infinite")]


class Regressed(TypedDict):
    """The comparison of one scenario."""

    scenario: str
    same: bool
    nearest: Annotated[float | None, meaning("the largest share of the allowed difference among equal columns")]
    differences: Sequence[Difference]
    notes: Sequence[str]
    plots: Annotated[Sequence[str], meaning("files of plots that show the differences")]


class Regression(TypedDict):
    """A comparison with a baseline."""

    baseline: str
    same: Annotated[int, meaning("how many scenarios are the same")]
    different: int
    updated: Annotated[dict[str, str], meaning("scenario → what `--update` did: added, changed, removed")]
    scenarios: Sequence[Regressed]


class Checked(TypedDict):
    """One check of a result."""

    check: Annotated[str, meaning("files, columns, motion, closure, energy")]
    by: Annotated[str, meaning("by what means: SHA-256, the plain text, another engine with its version")]
    ok: bool
    words: Annotated[str, meaning("what was looked at")]
    worst: Annotated[Difference | None, meaning("the largest difference relative to the allowed one")]
    differences: Annotated[Sequence[Difference], meaning("those beyond what is allowed, the worst first")]


class Verified(TypedDict):
    """A result that was computed again."""

    result: str
    folder: str
    verified: bool
    tolerance: Annotated[float, meaning("the share of a column's largest number that was allowed")]
    checks: Sequence[Checked]
    notes: Annotated[Sequence[str], meaning("what could not be checked")]
