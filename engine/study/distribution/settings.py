"""What a distributed run is asked for, who hears of it, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...parallel.cluster import PATIENCE, Cluster
from ...parallel.conduct import BATCH
from ...parallel.engines import Engine, Process, Threads
from ...parallel.steps import Exchange
from ...scenario import Result
from .forecast import Cost, Forecast


@dataclass(frozen=True)
class EngineSetting:
    """The engine of the nodes, their number, and the sizes of their messages."""

    engine: str = "process"
    nodes: int | None = None  # None: one for each leg
    scheduler: str | None = None
    batch: int = BATCH
    patience: float = PATIENCE


@dataclass
class Outcome:
    """The outcome of a distributed run of one scenario."""

    name: str
    task: str
    form: str  # by legs or fully distributed
    legs: int  # or other parts
    part: str
    nodes: int
    engine: str
    result: Result
    off: dict[str, float]  # differences from the undistributed run, relative to its largest values
    undistributed: float  # s
    seconds: float
    rows: list[Exchange]  # the plan of one unit
    units: int
    messages: int
    bytes: int
    cost: Cost | None
    notes: list[str]


def distribution_engine(setting: EngineSetting, nodes: int) -> Engine:
    """The engine that runs the nodes."""
    if setting.scheduler is not None or setting.engine == "dask":
        return Cluster(nodes, setting.scheduler, setting.patience)
    return Threads(nodes) if setting.engine == "threads" else Process()


@dataclass(frozen=True)
class Listener:
    """Whoever hears how a run goes on: what its exchanges will take, and which time a simulation has come to.

    Infinity is the time when all rows are there.
    """

    foretold: Callable[[Forecast], None] = lambda it: None
    reached: Callable[[float], None] = lambda t: None
