"""What a distributed run is asked for, who hears of it, what its exchanges of messages cost, and what comes out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...parallel import (
    CLUSTER_PATIENCE,
    MOST_SAMPLES_OF_MESSAGE,
    Cluster,
    Exchange,
    NodeEngine,
    ProcessEngine,
    ThreadsEngine,
    echo_message_of_node,
)
from ...scenario import Result
from ...text import count_with_noun

PINGS = 20
LARGE = 500_000  # numbers of the message that measures bytes a second


@dataclass
class Cost:
    """The costs of exchanges and of the nodes' work; times in seconds."""

    latency: float  # of an empty exchange with all nodes
    rate: float  # bytes a second through all nodes
    work: float  # of all nodes' steps, one after the other, for one unit (a batch, an evaluation, a step)
    slowest: float  # of the busiest node
    central: float
    exchanges: int
    bytes: int
    samples: int  # of the unit

    @property
    def alone(self) -> float:
        """The time of the distributed formulation in one process."""
        return self.work + self.central

    @property
    def together(self) -> float:
        """The time with as many processors as nodes."""
        return self.slowest + self.central + self.exchanges * self.latency + self.bytes / self.rate

    @property
    def pays_from(self) -> float:
        """The number of samples in a message from which on distribution pays; infinite if it never does."""
        saved = (self.work - self.slowest - self.bytes / self.rate) / self.samples
        return self.exchanges * self.latency / saved if saved > 0.0 else np.inf


@dataclass(frozen=True)
class Forecast:
    """The exchanges of a simulation: so many in each unit, an evaluation or a step."""

    unit: str
    units: int | None  # None where only the run itself can tell
    exchanges: int  # of a unit
    messages: int
    bytes: int
    latency: float | None  # s, of an empty exchange with all nodes; None if it isn't measured
    rate: float  # bytes a second

    @property
    def seconds(self) -> float | None:
        """What all exchanges take, without the nodes' work."""
        if self.units is None or self.latency is None:
            return None
        return self.units * (self.exchanges * self.latency + self.bytes / self.rate)

    def sentence(self) -> str:
        """The forecast in words."""
        each = f"{self.messages} messages in {count_with_noun(self.exchanges, 'exchange')}"
        price = f" of {1e3 * self.latency:.3g} ms" if self.latency is not None else ""
        if self.units is None:
            return f"each {self.unit} takes {each}{price}; how many {self.unit}s adaptive steps need isn't known before"
        many = f"{count_with_noun(self.units, self.unit)} will take {self.units * self.messages} messages in "
        many += f"{count_with_noun(self.units * self.exchanges, 'exchange')}{price}"
        if (s := self.seconds) is None:
            return many
        return f"{many}, {f'{s / 60:.0f} min' if s >= 120 else f'{s:.2g} s'} in all beside the nodes' work"


def distribution_forecast(
    unit: str, units: int | None, rows: Sequence[Exchange], cost: tuple[float, float] | None
) -> Forecast:
    """The forecast of so many units, from the messages of one of them, and the latency and rate if they are known."""
    latency, rate = cost if cost is not None else (None, math.inf)
    exchanges = sum(row.way == "to central" for row in rows)
    messages, passed = sum(row.messages for row in rows), sum(row.bytes for row in rows)
    return Forecast(unit, units, exchanges, messages, passed, latency, rate)


def distribution_steps_forecast(grid: np.ndarray, step: float, kinks: Sequence[float] = ()) -> int:
    """The number of fixed steps of a run, which end on the instants of the grid and on the kinks of laws."""
    stops = sorted({float(x) for x in kinks if grid[0] < x < grid[-1]} | set(grid.tolist()))
    return sum(math.ceil((b - a) / step * (1 - 1e-9)) for a, b in pairwise(stops))


def ping_distribution_nodes(engine: NodeEngine, nodes: int) -> tuple[float, float]:
    """The seconds of an empty exchange with all nodes, and the bytes per second of a large one."""
    small, large = {"x": np.zeros((1, 1))}, {"x": np.random.default_rng(0).random((1, LARGE))}

    def exchange(message: dict[str, np.ndarray]) -> float:
        engine.restart()
        begun = time.perf_counter()
        engine.step(echo_message_of_node, [[dict(message)] for _ in range(nodes)])
        return time.perf_counter() - begun

    exchange(small)
    shared = not isinstance(engine, Cluster)
    latency = float(np.median([exchange(small) for _ in range(PINGS)]))
    if shared:  # nothing is copied
        return latency, np.inf
    seconds = float(np.median([exchange(large) for _ in range(5)]))
    return latency, 2 * nodes * 8 * LARGE / max(seconds - latency, 1e-9)


@dataclass(frozen=True)
class EngineSetting:
    """The engine of the nodes, their number, and the sizes of their messages."""

    engine: str = "process"
    nodes: int | None = None  # None: one for each leg
    scheduler: str | None = None
    batch: int = MOST_SAMPLES_OF_MESSAGE
    patience: float = CLUSTER_PATIENCE


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


def distribution_engine(setting: EngineSetting, nodes: int) -> NodeEngine:
    """The engine that runs the nodes."""
    if setting.scheduler is not None or setting.engine == "dask":
        return Cluster(nodes, setting.scheduler, setting.patience)
    return ThreadsEngine(nodes) if setting.engine == "threads" else ProcessEngine()


@dataclass(frozen=True)
class Listener:
    """Whoever hears how a run goes on: what its exchanges will take, and which time a simulation has come to.

    Infinity is the time when all rows are there.
    """

    foretold: Callable[[Forecast], None] = lambda it: None
    reached: Callable[[float], None] = lambda t: None
