"""The shapes of the documents that `--json` prints, as types from which the JSON Schemas are made.

Each document also has the version of its shape, `format`. Loaded for schemas only: whoever prints a document
imports its type for checks alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from denoc.cli.robot_shapes import Complexity, Conversion, Files, Linearized, Matrices, Robot, about

Numbers = Annotated[dict[str, float | None], about("numbers by name; null for those that aren't known")]

# ---- runs


class Event(TypedDict):
    """An event of a simulation."""

    t: float
    joint: NotRequired[Annotated[str, about("missing where an event belongs to no joint")]]
    event: str
    then: Annotated[str, about("what holds from then on")]


class SingularPosition(TypedDict):
    """The singular position at which a run ended."""

    t: float
    loop: str
    coordinates: Annotated[Sequence[str], about("joints whose coordinates stay usable")]


class Audit(TypedDict):
    """How far the numbers of a run can be trusted, and the statistics of its solver."""

    closure: Annotated[float | None, about("largest gap of any loop, m")]
    closure_angle: Annotated[float | None, about("the same of angles, rad")]
    energy: Annotated[float | None, about("largest residual of the energy balance, J")]
    exchanged: Annotated[float | None, about("the energy that it is compared with, J")]
    energy_share: Annotated[float | None, about("the residual's share of the energy exchanged")]
    quadrature: Annotated[float | None, about("the part of the residual that comes from the rows' spacing, J")]
    steps: int
    rejected: int
    evaluations: int
    singular: SingularPosition | None


class Run(TypedDict):
    """A run of a scenario."""

    scenario: str
    task: Annotated[str, about("inverse or simulate")]
    ended: Annotated[str, about("done, singularity, failed, interrupted")]
    expected: Annotated[str, about("how it should have ended")]
    reason: Annotated[str, about("why it ended otherwise; empty if it didn't")]
    rows: int
    seconds: Annotated[float, about("time of computing, compiling included")]
    audit: Audit
    events: Sequence[Event]
    warnings: Sequence[str]
    robot: str
    files: Files


class Difference(TypedDict):
    """A difference from what was agreed, or stored; numbers are null where the difference isn't one of numbers."""

    what: Annotated[str, about("a column, a plot, a file, …")]
    message: str
    t: float | None
    old: float | None
    new: float | None
    allowed: float | None
    unit: str
    panel: int | None
    times: Annotated[float | None, about("the difference in terms of the allowed one; null if it is infinite")]


class Regressed(TypedDict):
    """The comparison of one scenario."""

    scenario: str
    same: bool
    nearest: Annotated[float | None, about("the largest share of the allowed difference among equal columns")]
    differences: Sequence[Difference]
    notes: Sequence[str]
    plots: Annotated[Sequence[str], about("files of plots that show the differences")]


class Regression(TypedDict):
    """A comparison with a baseline."""

    baseline: str
    same: Annotated[int, about("how many scenarios are the same")]
    different: int
    updated: Annotated[dict[str, str], about("scenario → what `--update` did: added, changed, removed")]
    scenarios: Sequence[Regressed]


class Checked(TypedDict):
    """One check of a result."""

    check: Annotated[str, about("files, columns, motion, closure, energy")]
    by: Annotated[str, about("by what means: SHA-256, the plain text, another engine with its version")]
    ok: bool
    words: Annotated[str, about("what was looked at")]
    worst: Annotated[Difference | None, about("the largest difference relative to the allowed one")]
    differences: Annotated[Sequence[Difference], about("those beyond what is allowed, the worst first")]


class Verified(TypedDict):
    """A result that was computed again."""

    result: str
    folder: str
    verified: bool
    tolerance: Annotated[float, about("the share of a column's largest number that was allowed")]
    checks: Sequence[Checked]
    notes: Annotated[Sequence[str], about("what could not be checked")]


class Message(TypedDict):
    """A line of the message plan of a distributed run."""

    number: str
    way: Annotated[str, about("to nodes or to central")]
    fields: Annotated[dict[str, int], about("numbers per sample, to or from all nodes")]
    messages: int
    bytes: int


class Plan(TypedDict):
    """The messages that a distributed run would send."""

    unit: str
    legs: int
    nodes: int
    messages: Sequence[Message]


class Distributed(TypedDict):
    """A distributed run."""

    name: str
    task: str
    form: str
    legs: int
    nodes: int
    engine: str
    off: Annotated[Numbers, about("differences from the undistributed run, relative to its largest values")]
    undistributed: Annotated[float | None, about("s")]
    seconds: float
    units: int
    messages: int
    bytes: int
    notes: Sequence[str]
    ended: str
    plan: Sequence[Message]
    cost: NotRequired[Annotated[Numbers, about("of exchanges and of the nodes' work, times in s")]]
    files: Files


class Comparison(TypedDict):
    """A comparison of closure methods."""

    scenario: str
    interrupted: bool
    runs: Annotated[Sequence[dict[str, str | float | None]], about("the rows of <scenario>-compare.csv")]
    summary: Annotated[Sequence[dict[str, str | float | None]], about("a row for each method")]
    files: Files


class Sweep(TypedDict):
    """A study that has been carried out."""

    study: str
    runs: int
    computed: Annotated[int, about("runs that weren't kept from an earlier start")]
    failed: Annotated[int, about("runs without sound numbers; their rows have the reasons")]
    missed: Annotated[Sequence[str], about("what the study expects and isn't so")]
    reasons: Annotated[dict[str, int], about("how many runs failed for each reason")]
    inputs: Annotated[Sequence[str], about("the table's columns that vary")]
    outputs: Annotated[Sequence[str], about("the table's columns that are kept")]
    units: Annotated[dict[str, str], about("of the table's columns")]
    files: Files


class Forecast(TypedDict):
    """What a sweep would do."""

    study: str
    runs: int
    kept: Annotated[int, about("runs that an earlier start has kept")]
    seconds: Annotated[float, about("about how long the others take")]
    table: Annotated[int, about("about how many bytes the table has")]
    store: Annotated[int, about("about how many bytes the kept runs have")]
    folder: str


class Optimised(TypedDict):
    """A search that has been carried out."""

    study: str
    minimised: Annotated[str, about("the sum of outputs")]
    value: Annotated[float, about("of that sum at the best point")]
    unit: str
    best: Annotated[dict[str, float], about("the numbers there, in SI units")]
    outputs: Annotated[dict[str, float | None], about("there; null for what has no value")]
    minimum: Annotated[bool, about("whether nothing speaks against a minimum")]
    verdict: str
    gradient: Annotated[dict[str, float] | None, about("of the sum along each number; null without derivatives")]
    projected: Annotated[float | None, about("its largest part that nothing holds, over the range, as a share")]
    held: Annotated[dict[str, str], about("numbers at their bounds, and which: lower or upper")]
    active: Annotated[Sequence[str], about("limits that are reached")]
    nearby: Annotated[float | None, about("the least of the points around the best, less the best, as a share")]
    method: str
    why: Annotated[str, about("this method, where the file doesn't say")]
    runs: int
    spent: Annotated[bool, about("whether the search has had all runs that it may have")]
    missed: Annotated[Sequence[str], about("limits and expectations that aren't kept")]
    files: Files


class SearchPlan(TypedDict):
    """What a search would do."""

    study: str
    minimised: str
    unit: str
    limits: Sequence[str]
    numbers: Annotated[dict[str, Sequence[float]], about("that are sought, with their bounds")]
    start: dict[str, float]
    starts: int
    method: str
    why: str
    runs: Annotated[int, about("at most")]
    seconds: Annotated[float, about("about how long a run takes")]
    derivatives: Annotated[float | None, about("about how long its derivatives take; null if there are none")]
    folder: str


class BaseParameter(TypedDict):
    """A base parameter, identified."""

    name: str
    group: Annotated[str, about("the numbers that it stands for, with their factors")]
    unit: str
    value: float
    error: Annotated[float | None, about("standard error; null where the data tell nothing")]
    file: Annotated[float, about("from the numbers of the robot's file")]
    determined: Annotated[bool, about("whether the data tell it")]


class Identification(TypedDict):
    """The numbers of a robot that fit measured data best."""

    robot: str
    physical: Annotated[bool, about("whether every link's pseudo-inertia is positive definite")]
    parameters: Sequence[BaseParameter]
    silent: Annotated[Sequence[str], about("numbers that no force shows")]
    unknown: Annotated[Sequence[str], about("base parameters that the data don't tell")]
    condition: Annotated[float | None, about("of the weighted columns, scaled to the same length")]
    residuals: Annotated[Numbers, about("standard deviation, by effort")]
    correlated: Annotated[bool, about("whether the standard errors allow for the residuals' autocorrelation")]
    lags: Annotated[int, about("rows over which residuals hang together")]
    numbers: Annotated[Numbers, about("of links and joints, the nearest to the robot's file")]
    train: Annotated[dict[str, Numbers], about("error in % of RMS effort, by file and effort")]
    test: dict[str, Numbers]
    unwritable: Annotated[Sequence[str], about("why no robot's file has these numbers; then none is written")]
    files: Files


class Excited(TypedDict):
    """A motion to identify a robot with."""

    robot: str
    time: Annotated[float, about("its period, s")]
    log_det: Annotated[float, about("of the regressor's normal matrix, with columns in terms of their usual sizes")]
    best_random: Annotated[float, about("the same of the best of 1000 motions at random")]
    condition: Annotated[float, about("of the regressor's base columns, scaled to the same length")]
    files: Files


# ---- papers and the library


class Paper(TypedDict):
    """A table or figure of a paper."""

    id: str
    paper: str
    what: str
    caption: str
    claim: str


class Reproduction(TypedDict):
    """A table or figure that was reproduced."""

    id: str
    title: str
    claim: str
    verdict: Annotated[str, about("what the numbers show; empty where the paper has none to compare with")]
    compared: Annotated[Sequence[dict[str, str]], about("the paper's numbers beside denoc's")]
    columns: Annotated[Sequence[dict[str, str]], about("ranges of the lines")]
    files: Files


class Library(TypedDict):
    """The library's robots, scenarios and studies, each with its description."""

    robots: NotRequired[dict[str, str]]
    scenarios: NotRequired[dict[str, str]]
    studies: NotRequired[dict[str, str]]


class Entry(TypedDict):
    """A file of the library."""

    name: str
    kind: Annotated[str, about("robots, scenarios or studies")]
    file: str


# ---- failures


class Mistake(TypedDict):
    """A mistake; what isn't known is null."""

    kind: Annotated[
        str,
        about(
            "usage, input, model, assembly, numerical, cluster; else memory, system, interrupted, or bug: a mistake in "
            "denoc itself"
        ),
    ]
    message: str
    file: str | None
    line: Annotated[int | None, about("counts from 1, and so does the column")]
    column: int | None
    key: Annotated[str | None, about("the key in the file, or the option")]
    found: str | None
    allowed: str | None
    hint: str | None


class MistakeInFull(Mistake):
    """A mistake, with the other ones in the same file."""

    others: Sequence[Mistake]


class Failure(TypedDict):
    """What is printed in place of any other document where a command fails before it has one."""

    error: MistakeInFull
    exit_code: int


# ---- which command prints what


@dataclass(frozen=True)
class Output:
    """The documents of a command: objects of these shapes, or lists of objects of those."""

    about: str
    one: tuple[type, ...] = ()
    many: tuple[type, ...] = ()


OUTPUTS = {
    "idyn": Output("the run", one=(Run,)),
    "simulate": Output("the run", one=(Run,)),
    "run": Output("the runs, whatever their number", many=(Run,)),
    "inspect": Output("the robot", one=(Robot,)),
    "convert": Output("the converted robot", one=(Conversion,)),
    "matrices": Output("the matrices of one state", one=(Matrices,)),
    "regress": Output("the comparison", one=(Regression,)),
    "verify": Output("the checks of a result", one=(Verified,)),
    "distribute": Output("the run, or with `--explain` its messages", one=(Distributed, Plan)),
    "sweep": Output("the study, or with `--explain` what it would do", one=(Sweep, Forecast)),
    "optimise": Output("the search, or with `--explain` what it would do", one=(Optimised, SearchPlan)),
    "compare": Output("the comparison", one=(Comparison,)),
    "identify": Output("the identified numbers", one=(Identification,)),
    "excite": Output("the motion", one=(Excited,)),
    "complexity": Output("the operation counts", one=(Complexity,)),
    "paper": Output("tables and figures, listed or reproduced", many=(Paper, Reproduction)),
    "linearize": Output("the linearised equations", one=(Linearized,)),
    "list": Output("the library, or with a NAME its files", one=(Library,), many=(Entry,)),
    "error": Output("any command's failure", one=(Failure,)),
}
