"""The shapes of the documents that `--json` prints, as types from which the JSON Schemas are made.

Each document also has the version of its shape, `format`. Loaded for schemas only: whoever prints a document
imports its type for checks alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from denoc.cli.robot_shapes import (
    Complexity,
    Conversion,
    Files,
    Linearized,
    Matrices,
    Numbers,
    Robot,
    meaning,
)
from denoc.cli.study_shapes import Excited, Forecast, Identification, Optimised, Regression, SearchPlan, Sweep, Verified

# ---- runs


class Event(TypedDict):
    """An event of a simulation."""

    t: float
    joint: NotRequired[Annotated[str, meaning("missing where an event belongs to no joint")]]
    event: str
    then: Annotated[str, meaning("what holds from then on")]


class SingularPosition(TypedDict):
    """The singular position at which a run ended."""

    t: float
    loop: str
    coordinates: Annotated[Sequence[str], meaning("joints whose coordinates stay usable")]


class Audit(TypedDict):
    """How far the numbers of a run can be trusted, and the statistics of its solver."""

    closure: Annotated[float | None, meaning("largest gap of any loop, m")]
    closure_angle: Annotated[float | None, meaning("the same of angles, rad")]
    energy: Annotated[float | None, meaning("largest residual of the energy balance, J")]
    exchanged: Annotated[float | None, meaning("the energy that it is compared with, J")]
    energy_share: Annotated[float | None, meaning("the residual's share of the energy exchanged")]
    quadrature: Annotated[float | None, meaning("the part of the residual that comes from the rows' spacing, J")]
    steps: int
    rejected: int
    evaluations: int
    singular: SingularPosition | None


class ColumnError(TypedDict):
    """What a column is off by, estimated."""

    end: Annotated[float, meaning("in the last row")]
    largest: Annotated[float, meaning("in any row")]
    t: Annotated[float, meaning("of that row")]
    limit: Annotated[float, meaning("from which on the column is said to be lost")]
    unit: str


class DoubtfulRow(TypedDict):
    """The first row whose numbers can't be trusted."""

    t: float
    column: str
    difference: float


class IntegrationError(TypedDict):
    """The error of the integration, from another run with finer steps."""

    rtol: Annotated[float, meaning("of the other run")]
    atol: float
    step: Annotated[float | None, meaning("of the other run, where the method's step is fixed")]
    rows: Annotated[int, meaning("that both runs have")]
    until: float | None
    doubtful: DoubtfulRow | None
    columns: Annotated[dict[str, ColumnError], meaning("by name")]


class Run(TypedDict):
    """A run of a scenario."""

    scenario: str
    task: Annotated[str, meaning("inverse or simulate")]
    ended: Annotated[str, meaning("done, singularity, failed, interrupted")]
    expected: Annotated[str, meaning("how it should have ended")]
    reason: Annotated[str, meaning("why it ended otherwise; empty if it didn't")]
    rows: int
    seconds: Annotated[float, meaning("time of computing, compiling included")]
    audit: Audit
    error: Annotated[IntegrationError | None, meaning("where it was to be estimated")]
    events: Sequence[Event]
    warnings: Sequence[str]
    robot: str
    files: Files


class Message(TypedDict):
    """A line of the message plan of a distributed run."""

    number: str
    way: Annotated[str, meaning("to nodes or to central")]
    fields: Annotated[dict[str, int], meaning("numbers per sample, to or from all nodes")]
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
    off: Annotated[Numbers, meaning("differences from the undistributed run, relative to its largest values")]
    undistributed: Annotated[float | None, meaning("s")]
    seconds: float
    units: int
    messages: int
    bytes: int
    notes: Sequence[str]
    ended: str
    plan: Sequence[Message]
    cost: NotRequired[Annotated[Numbers, meaning("of exchanges and of the nodes' work, times in s")]]
    files: Files


class Comparison(TypedDict):
    """A comparison of closure methods."""

    scenario: str
    interrupted: bool
    runs: Annotated[Sequence[dict[str, str | float | None]], meaning("the rows of <scenario>-compare.csv")]
    summary: Annotated[Sequence[dict[str, str | float | None]], meaning("a row for each method")]
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
    verdict: Annotated[str, meaning("what the numbers show; empty where the paper has none to compare with")]
    compared: Annotated[Sequence[dict[str, str]], meaning("the paper's numbers beside denoc's")]
    columns: Annotated[Sequence[dict[str, str]], meaning("ranges of the lines")]
    files: Files


class Library(TypedDict):
    """The library's robots, scenarios and studies, each with its description."""

    robots: NotRequired[dict[str, str]]
    scenarios: NotRequired[dict[str, str]]
    studies: NotRequired[dict[str, str]]


class Entry(TypedDict):
    """A file of the library."""

    name: str
    kind: Annotated[str, meaning("robots, scenarios or studies")]
    file: str


# ---- failures


class Mistake(TypedDict):
    """A mistake; what isn't known is null."""

    kind: Annotated[
        str,
        meaning(
            "usage, input, model, assembly, numerical, cluster; else memory, system, interrupted, or bug: a mistake in "
            "denoc itself"
        ),
    ]
    message: str
    file: str | None
    line: Annotated[int | None, meaning("counts from 1, and so does the column")]
    column: int | None
    key: Annotated[str | None, meaning("the key in the file, or the option")]
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
