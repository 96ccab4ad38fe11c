"""The shapes of documents on studies, identified numbers, and comparisons with what was agreed; see `shapes.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from typing_extensions import TypedDict

from denoc.cli.robot_shapes import Files, Numbers, meaning


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


class Sweep(TypedDict):
    """A study that has been carried out."""

    study: str
    runs: int
    computed: Annotated[int, meaning("runs that weren't kept from an earlier start")]
    failed: Annotated[int, meaning("runs that didn't end as expected; their rows have the reasons")]
    missed: Annotated[Sequence[str], meaning("what the study expects and isn't so")]
    reasons: Annotated[dict[str, int], meaning("how many runs didn't end as expected for each reason")]
    inputs: Annotated[Sequence[str], meaning("the table's columns that vary")]
    outputs: Annotated[Sequence[str], meaning("the table's columns that are kept")]
    units: Annotated[dict[str, str], meaning("of the table's columns")]
    files: Files


class Forecast(TypedDict):
    """What a sweep would do."""

    study: str
    runs: int
    kept: Annotated[int, meaning("runs that an earlier start has kept")]
    seconds: Annotated[float, meaning("about how long the others take")]
    table: Annotated[int, meaning("about how many bytes the table has")]
    store: Annotated[int, meaning("about how many bytes the kept runs have")]
    folder: str


class Optimised(TypedDict):
    """A search that has been carried out."""

    study: str
    minimised: Annotated[str, meaning("the sum of outputs")]
    value: Annotated[float, meaning("of that sum at the best point")]
    unit: str
    best: Annotated[dict[str, float], meaning("the numbers there, in SI units")]
    outputs: Annotated[dict[str, float | None], meaning("there; null for what has no value")]
    minimum: Annotated[bool, meaning("whether nothing speaks against a minimum")]
    verdict: str
    gradient: Annotated[dict[str, float] | None, meaning("of the sum along each number; null without derivatives")]
    projected: Annotated[float | None, meaning("its largest part that nothing holds, over the range, as a share")]
    held: Annotated[dict[str, str], meaning("numbers at their bounds, and which: lower or upper")]
    active: Annotated[Sequence[str], meaning("limits that are reached")]
    nearby: Annotated[float | None, meaning("the least of the points around the best, less the best, as a share")]
    method: str
    why: Annotated[str, meaning("this method, where the file doesn't say")]
    runs: int
    spent: Annotated[bool, meaning("whether the search has had all runs that it may have")]
    missed: Annotated[Sequence[str], meaning("limits and expectations that aren't kept")]
    files: Files


class SearchPlan(TypedDict):
    """What a search would do."""

    study: str
    minimised: str
    unit: str
    limits: Sequence[str]
    numbers: Annotated[dict[str, Sequence[float]], meaning("that are sought, with their bounds")]
    start: dict[str, float]
    starts: int
    method: str
    why: str
    runs: Annotated[int, meaning("at most")]
    seconds: Annotated[float, meaning("about how long a run takes")]
    derivatives: Annotated[float | None, meaning("about how long its derivatives take; null if there are none")]
    folder: str


class BaseParameter(TypedDict):
    """A base parameter, identified."""

    name: str
    group: Annotated[str, meaning("the numbers that it stands for, with their factors")]
    unit: str
    value: float
    error: Annotated[float | None, meaning("standard error; null where the data tell nothing")]
    file: Annotated[float, meaning("from the numbers of the robot's file")]
    determined: Annotated[bool, meaning("whether the data tell it")]


class Identification(TypedDict):
    """The numbers of a robot that fit measured data best."""

    robot: str
    physical: Annotated[bool, meaning("whether every link's pseudo-inertia is positive definite")]
    parameters: Sequence[BaseParameter]
    silent: Annotated[Sequence[str], meaning("numbers that no force shows")]
    unknown: Annotated[Sequence[str], meaning("base parameters that the data don't tell")]
    condition: Annotated[float | None, meaning("of the weighted columns, scaled to the same length")]
    residuals: Annotated[Numbers, meaning("standard deviation, by effort")]
    correlated: Annotated[bool, meaning("whether the standard errors allow for the residuals' autocorrelation")]
    lags: Annotated[int, meaning("rows over which residuals hang together")]
    numbers: Annotated[Numbers, meaning("of links and joints, the nearest to the robot's file")]
    distances: Annotated[dict[str, float], meaning("paths on which dry friction builds up, by joint")]
    train: Annotated[dict[str, Numbers], meaning("error in % of RMS effort, by file and effort")]
    test: dict[str, Numbers]
    unwritable: Annotated[Sequence[str], meaning("why no robot's file has these numbers; then none is written")]
    files: Files


class Excited(TypedDict):
    """A motion to identify a robot with."""

    robot: str
    time: Annotated[float, meaning("its period, s")]
    log_det: Annotated[float, meaning("of the regressor's normal matrix, with columns in terms of their usual sizes")]
    best_random: Annotated[float, meaning("the same of the best of 1000 motions at random")]
    condition: Annotated[float, meaning("of the regressor's base columns, scaled to the same length")]
    files: Files
