"""Scenarios carried out by legs, beside the undistributed run; what passed, how long it took, when it would pay."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..api import inverse
from ..errors import InputError
from ..loops.methods import distributed
from ..parallel.cluster import PATIENCE, Cluster
from ..parallel.conduct import BATCH, Distributed
from ..parallel.engines import Counting, Engine, Process, Threads, TimedProcess, echo
from ..parallel.full import Full
from ..parallel.legs import legs
from ..parallel.rates import ByLegs, refuse
from ..parallel.steps import Exchange, plan
from ..scenario.plan import Plan
from ..scenario.run import Result, carry_out, result_of, timed_wrenches
from ..simulate.coordinates import beginning
from ..simulate.discrete import partition_of

ENGINES = ("process", "threads", "dask")
PINGS = 20
LARGE = 500_000  # numbers of the message that measures bytes a second
QUANTITIES = {"q": "coordinates", "qd": "speeds", "qdd": "accelerations"}


@dataclass(frozen=True)
class Setting:
    """Where the nodes run."""

    engine: str = "process"
    nodes: int | None = None  # None: one for each leg
    scheduler: str | None = None
    batch: int = BATCH
    patience: float = PATIENCE


@dataclass
class Cost:
    """What an exchange costs, and what it would save; times in seconds."""

    latency: float  # of an exchange with all nodes, nothing in it
    rate: float  # bytes a second through all nodes
    work: float  # of all nodes' steps, one after the other, for one unit (a batch, an evaluation, a step)
    slowest: float  # of the node that has most of it
    central: float
    exchanges: int
    bytes: int
    samples: int  # of the unit

    @property
    def alone(self) -> float:
        """The distributed formulation in one process."""
        return self.work + self.central

    @property
    def together(self) -> float:
        """As many processors as nodes."""
        return self.slowest + self.central + self.exchanges * self.latency + self.bytes / self.rate

    @property
    def pays_from(self) -> float:
        """Samples in one message from which that is quicker than alone; infinite where bytes take what it saves."""
        saved = (self.work - self.slowest - self.bytes / self.rate) / self.samples
        return self.exchanges * self.latency / saved if saved > 0.0 else np.inf


@dataclass
class Outcome:
    """Of one scenario."""

    name: str
    task: str
    form: str  # by legs or fully distributed
    legs: int
    nodes: int
    engine: str
    result: Result
    off: dict[str, float]  # what differs from the undistributed run, relative to its largest
    undistributed: float  # s
    seconds: float
    rows: list[Exchange]  # the plan of one unit
    units: int
    messages: int
    bytes: int
    cost: Cost | None
    notes: list[str]


def engine_of(setting: Setting, nodes: int) -> Engine:
    if setting.scheduler is not None or setting.engine == "dask":
        return Cluster(nodes, setting.scheduler, setting.patience)
    return Threads(nodes) if setting.engine == "threads" else Process()


def study(
    make: Callable[[], Plan], setting: Setting = Setting(), *, measured: bool = True, check: bool = True
) -> Outcome:
    """The plan distributed; `make` gives a new one at each call, since nodes keep what they make of theirs."""
    found = make()
    count = _refused(found, make)
    nodes = min(setting.nodes or count, count)
    notes = []
    if setting.nodes is not None and setting.nodes > count:
        notes.append(f"{setting.nodes} nodes for {count} legs: {count} are used")
    engine = Counting(engine_of(setting, nodes))
    workers = getattr(engine.engine, "workers", None)
    if workers is not None and len(workers) < nodes:
        notes.append(f"{nodes} nodes on {len(workers)} worker{'s' * (len(workers) > 1)}")
    try:
        outcome = _carried_out(make, found, engine, setting, nodes, count, check)
        if measured:
            outcome.cost = _cost(make, engine, setting, nodes, outcome)
    finally:
        engine.close()
    outcome.notes = notes + outcome.notes
    return outcome


def explained(make: Callable[[], Plan], setting: Setting = Setting()) -> tuple[str, int, int, list[Exchange]]:
    """What a unit is, how many legs and nodes there are, and the message plan of a unit; nothing is computed."""
    found = make()
    count = _refused(found, make)
    nodes = min(setting.nodes or count, count)
    if found.task != "inverse":
        if _full(found):
            full = Full(lambda: make().system, found.solver, Process(), nodes)
            return "a step", count, nodes, list(full.plan())
        conductor = Distributed(found.robot, Process(), nodes)
        conductor.begin(_independent(found))
        links = [one.link for one in found.system.inputs.wrenches]
        return "an evaluation", count, nodes, list(plan("forward", conductor.groups, 1, links))
    conductor = Distributed(found.robot, Process(), nodes, batch=setting.batch)
    task = conductor.task("inverse", np.array(found.q0))
    samples = min(len(found.grid), setting.batch)
    links = list(dict.fromkeys(one.link for one in found.system.inputs.wrenches))
    unit = f"a batch of {samples} samples"
    return unit, count, nodes, list(plan(task, conductor.groups, samples, links))


def _refused(found: Plan, make: Callable[[], Plan]) -> int:
    """The number of legs; refuses what can't be distributed before anything is computed."""
    count = len(legs(found.robot).legs)
    if found.task == "inverse":
        if found.system.inputs.driven:
            speed = found.system.inputs.driven[0].speed
            raise InputError(
                f"{found.robot.name}: distributed inverse dynamics knows no forces of passive joints",
                key="forces",
                found=f"a law for `{next(j.name for j in found.robot.moving if speed in j.speeds)}`",
                allowed="wrenches on links",
            )
        return count
    if _full(found):
        Full(lambda: make().system, found.solver, Process(), 1)
    elif found.system.closure != "denoc":
        raise InputError(
            "this closure method has no distributed form",
            key="closure.method",
            found=found.system.closure,
            allowed=", ".join(("denoc", *distributed())),
        )
    else:
        refuse(found.system)
    return count


def _full(found: Plan) -> bool:
    return found.system.loops is not None and found.system.method.distributed


def _independent(found: Plan) -> list[int]:
    """The speeds that a run of the plan takes for independent at its start."""
    return partition_of(beginning(found.system, np.array(found.q0))).independent


def _carried_out(
    make: Callable[[], Plan],
    found: Plan,
    engine: Counting,
    setting: Setting,
    nodes: int,
    count: int,
    check: bool,
) -> Outcome:
    simulated = found.task != "inverse"
    full = simulated and _full(found)
    reference, before = None, 0.0
    if check or not simulated:
        begun = time.perf_counter()
        reference = carry_out(make())
        before = time.perf_counter() - begun
    if not simulated:
        assert reference is not None
        return _inverse(found, reference, engine, setting, nodes, count)
    begun = time.perf_counter()
    if full:
        run = Full(lambda: make().system, found.solver, engine, nodes)
        trace = run.carried_out(found.q0, found.qd0, found.grid, found.kinks)
        seconds = time.perf_counter() - begun
        result, rows, units = result_of(found, run.run, trace), list(run.plan()), trace.steps
        form = "fully distributed"
    else:
        by_legs = ByLegs(found.system, engine, nodes)
        result = carry_out(found, start=lambda: by_legs.begun(found.system, found.q0))
        seconds = time.perf_counter() - begun
        groups = by_legs.conductor.groups
        rows = list(plan("forward", groups, 1, [one.link for one in found.system.inputs.wrenches]))
        units, form = result.audit["evaluations"], "by legs"
    off = _differences(result, reference) if reference is not None else {}
    return _outcome(found, form, engine, nodes, count, result, off, before, seconds, rows, units)


def _inverse(found: Plan, reference: Result, engine: Counting, setting: Setting, nodes: int, count: int) -> Outcome:
    """Inverse dynamics of the rows; their positions, the displacement analysis, are the undistributed run's."""
    robot = found.robot
    q, qd, qdd = (_columns(found, reference, what) for what in QUANTITIES)
    wrenches = timed_wrenches(found, reference.t, q)
    begun = time.perf_counter()
    inverse(robot, q, qd, qdd, wrenches)
    before = time.perf_counter() - begun
    conductor = Distributed(robot, engine, nodes, batch=setting.batch)
    begun = time.perf_counter()
    tau = conductor.inverse(q, qd, qdd, wrenches)
    seconds = time.perf_counter() - begun
    samples = min(len(q), setting.batch)
    rows = list(plan(conductor.task("inverse", q[0]), conductor.groups, samples, list(wrenches or {})))
    table, names = dict(reference.table), _forces(found)
    off = {"force": _off(tau, np.column_stack([reference.table[name] for name in names]))}
    for name, column in zip(names, tau.T):
        table[name] = column.copy()
    units = -(-len(q) // setting.batch)
    return _outcome(
        found,
        "by legs",
        engine,
        nodes,
        count,
        replace(reference, table=table),
        off,
        before,
        seconds,
        rows,
        units,
    )


def _outcome(
    found: Plan,
    form: str,
    engine: Counting,
    nodes: int,
    count: int,
    result: Result,
    off: dict[str, float],
    before: float,
    seconds: float,
    rows: list[Exchange],
    units: int,
) -> Outcome:
    sent = [one for _, one in engine.sent]
    messages, passed = sum(one.messages for one in sent), sum(one.bytes for one in sent)
    return Outcome(
        found.name, found.task, form, count, nodes, engine.name, result, off, before, seconds, rows, units, messages,
        passed, None, [],
    )  # fmt: skip


def _columns(found: Plan, result: Result, what: str) -> np.ndarray:
    """Of all joints, from a result's table."""
    kind = QUANTITIES[what]
    names = [f"{joint.name}.{suffix}" for joint in found.robot.moving for suffix in _suffixes(joint.type, kind)]
    return np.column_stack([result.table[name] for name in names])


def _suffixes(type_: Any, kind: str) -> Sequence[str]:
    return tuple(getattr(type_, kind))


def _forces(found: Plan) -> list[str]:
    moving = [joint for joint in found.robot.moving if joint.actuated]
    return [f"{joint.name}.{suffix}" for joint in moving for suffix in joint.type.forces]


def _off(x: np.ndarray, reference: np.ndarray) -> float:
    return float(abs(x - reference).max(initial=0.0) / max(abs(reference).max(initial=0.0), 1e-300))


def _differences(result: Result, reference: Result) -> dict[str, float]:
    """By family: the largest difference in rows that both have, relative to the family's largest number."""
    rows = min(len(result.t), len(reference.t))
    found: dict[str, tuple[float, float]] = {}
    for column in reference.columns:
        if column.name in result.table and column.family in ("position", "rate", "acceleration", "force"):
            a, b = result.table[column.name][:rows], reference.table[column.name][:rows]
            off, size = found.get(column.family, (0.0, 0.0))
            found[column.family] = (
                max(off, float(abs(a - b).max(initial=0.0))),
                max(size, float(abs(b).max(initial=0.0))),
            )
    return {family: off / size if size else off for family, (off, size) in found.items()}


# ---- the cost model


def _cost(make: Callable[[], Plan], engine: Counting, setting: Setting, nodes: int, outcome: Outcome) -> Cost:
    """Processor time of nodes and of central in a run here, latency and rate from messages that come back."""
    latency, rate = _pinged(engine.engine, nodes)
    timing, found = TimedProcess(), make()
    if outcome.form != "by legs":
        full = Full(lambda: make().system, found.solver, timing, nodes)
        few = found.grid[: min(len(found.grid), 3)]
        begun = time.thread_time()
        units = full.carried_out(found.q0, found.qd0, few, found.kinks).steps
        whole, samples = time.thread_time() - begun, 1
        # undistributed, one node does what all of them repeat
        spent = np.array(timing.spent) / max(units, 1)
        return Cost(
            latency, rate, float(spent.max()), float(spent.max()), max(whole / max(units, 1) - float(spent.sum()), 0.0),
            1, sum(row.bytes for row in outcome.rows), samples,
        )  # fmt: skip
    q, qd, qdd = (_columns(found, outcome.result, what) for what in QUANTITIES)
    conductor = Distributed(found.robot, timing, nodes, batch=setting.batch)
    if outcome.task == "inverse":
        samples = min(len(q), setting.batch)
        wrenches = timed_wrenches(found, outcome.result.t[:samples], q[:samples])

        def once() -> None:
            conductor.inverse(q[:samples], qd[:samples], qdd[:samples], wrenches)
    else:
        samples, tau = 1, np.zeros(found.robot.nv)
        independent = _independent(found)

        def once() -> None:
            conductor.moved(q[0], qd[0], tau, None, independent)

    once()  # what is made at the first call isn't counted
    best = []
    for _ in range(3):
        timing.spent = [0.0] * nodes
        begun = time.thread_time()
        once()
        best.append((time.thread_time() - begun, timing.spent))
    whole, each = min(best, key=lambda one: one[0])
    spent = np.array(each)
    exchanges = sum(row.way == "to central" for row in outcome.rows)
    return Cost(
        latency,
        rate,
        float(spent.sum()),
        float(spent.max()),
        whole - float(spent.sum()),
        exchanges,
        sum(row.bytes for row in outcome.rows),
        samples,
    )


def _pinged(engine: Engine, nodes: int) -> tuple[float, float]:
    """Seconds of an empty exchange with all nodes, and bytes a second of a large one."""
    small, large = {"x": np.zeros((1, 1))}, {"x": np.random.default_rng(0).random((1, LARGE))}

    def exchange(message: dict[str, np.ndarray]) -> float:
        engine.restart()
        begun = time.perf_counter()
        engine.step(echo, [[dict(message)] for _ in range(nodes)])
        return time.perf_counter() - begun

    exchange(small)
    shared = not isinstance(engine, Cluster)
    latency = float(np.median([exchange(small) for _ in range(PINGS)]))
    if shared:  # nothing is copied
        return latency, np.inf
    seconds = float(np.median([exchange(large) for _ in range(5)]))
    return latency, 2 * nodes * 8 * LARGE / max(seconds - latency, 1e-9)
