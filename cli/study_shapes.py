"""The shapes of documents on studies and on numbers from measured data; see `shapes.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from typing_extensions import TypedDict

from denoc.cli.robot_shapes import Files, Numbers, field_of_command_output


class Sweep(TypedDict):
    """A study that has been carried out."""

    study: str
    runs: int
    computed: Annotated[int, field_of_command_output("runs that weren't kept from an earlier start")]
    failed: Annotated[int, field_of_command_output("runs that didn't end as expected; their rows have the reasons")]
    missed: Annotated[Sequence[str], field_of_command_output("what the study expects and isn't so")]
    reasons: Annotated[dict[str, int], field_of_command_output("how many runs didn't end as expected for each reason")]
    inputs: Annotated[Sequence[str], field_of_command_output("the table's columns that vary")]
    outputs: Annotated[Sequence[str], field_of_command_output("the table's columns that are kept")]
    units: Annotated[dict[str, str], field_of_command_output("of the table's columns")]
    files: Files


class Forecast(TypedDict):
    """What a sweep would do."""

    study: str
    runs: int
    kept: Annotated[int, field_of_command_output("runs that an earlier start has kept")]
    seconds: Annotated[float, field_of_command_output("about how long the others take")]
    table: Annotated[int, field_of_command_output("about how many bytes the table has")]
    store: Annotated[int, field_of_command_output("about how many bytes the kept runs have")]
    folder: str


class Optimised(TypedDict):
    """A search that has been carried out."""

    study: str
    minimised: Annotated[str, field_of_command_output("the sum of outputs")]
    value: Annotated[float, field_of_command_output("of that sum at the best point")]
    unit: str
    best: Annotated[dict[str, float], field_of_command_output("the numbers there, in SI units")]
    outputs: Annotated[dict[str, float | None], field_of_command_output("there; null for what has no value")]
    minimum: Annotated[bool, field_of_command_output("whether nothing speaks against a minimum")]
    verdict: str
    gradient: Annotated[
        dict[str, float] | None, field_of_command_output("of the sum along each number; null without derivatives")
    ]
    projected: Annotated[
        float | None, field_of_command_output("its largest part that nothing holds, over the range, as a share")
    ]
    held: Annotated[dict[str, str], field_of_command_output("numbers at their bounds, and which: lower or upper")]
    active: Annotated[Sequence[str], field_of_command_output("limits that are reached")]
    nearby: Annotated[
        float | None, field_of_command_output("the least of the points around the best, less the best, as a share")
    ]
    method: str
    why: Annotated[str, field_of_command_output("this method, where the file doesn't say")]
    runs: int
    spent: Annotated[bool, field_of_command_output("whether the search has had all runs that it may have")]
    missed: Annotated[Sequence[str], field_of_command_output("limits and expectations that aren't kept")]
    files: Files


class SearchPlan(TypedDict):
    """What a search would do."""

    study: str
    minimised: str
    unit: str
    limits: Sequence[str]
    numbers: Annotated[dict[str, Sequence[float]], field_of_command_output("that are sought, with their bounds")]
    start: dict[str, float]
    starts: int
    method: str
    why: str
    runs: Annotated[int, field_of_command_output("at most")]
    seconds: Annotated[float, field_of_command_output("about how long a run takes")]
    derivatives: Annotated[
        float | None, field_of_command_output("about how long its derivatives take; null if there are none")
    ]
    folder: str


class BaseParameter(TypedDict):
    """A base parameter, identified."""

    name: str
    group: Annotated[str, field_of_command_output("the numbers that it stands for, with their factors")]
    unit: str
    value: float
    error: Annotated[float | None, field_of_command_output("standard error; null where the data tell nothing")]
    file: Annotated[float, field_of_command_output("from the numbers of the robot's file")]
    determined: Annotated[bool, field_of_command_output("whether the data tell it")]


class Identification(TypedDict):
    """The numbers of a robot that fit measured data best."""

    robot: str
    physical: Annotated[bool, field_of_command_output("whether every link's pseudo-inertia is positive definite")]
    parameters: Sequence[BaseParameter]
    silent: Annotated[Sequence[str], field_of_command_output("numbers that no force shows")]
    unknown: Annotated[Sequence[str], field_of_command_output("base parameters that the data don't tell")]
    condition: Annotated[float | None, field_of_command_output("of the weighted columns, scaled to the same length")]
    residuals: Annotated[Numbers, field_of_command_output("standard deviation, by effort")]
    correlated: Annotated[
        bool, field_of_command_output("whether the standard errors allow for the residuals' autocorrelation")
    ]
    lags: Annotated[int, field_of_command_output("rows over which residuals hang together")]
    numbers: Annotated[Numbers, field_of_command_output("of links and joints, the nearest to the robot's file")]
    distances: Annotated[dict[str, float], field_of_command_output("paths on which dry friction builds up, by joint")]
    train: Annotated[dict[str, Numbers], field_of_command_output("error in % of RMS effort, by file and effort")]
    test: dict[str, Numbers]
    unwritable: Annotated[
        Sequence[str], field_of_command_output("why no robot's file has these numbers; then none is written")
    ]
    files: Files


class Excited(TypedDict):
    """A motion to identify a robot with."""

    robot: str
    time: Annotated[float, field_of_command_output("its period, s")]
    log_det: Annotated[
        float, field_of_command_output("of the regressor's normal matrix, with columns in terms of their usual sizes")
    ]
    best_random: Annotated[float, field_of_command_output("the same of the best of 1000 motions at random")]
    condition: Annotated[float, field_of_command_output("of the regressor's base columns, scaled to the same length")]
    files: Files
