"""What a study of very many runs costs: measured on this machine, and by simulating the scheduler with what was measured.

`make scale` prints the tables of docs/scale.md.  Nothing here is a test: it measures, and its figures are those of one
machine.
"""

from __future__ import annotations

import heapq
import os
import pickle
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from denoc.study.sweep import (
    Done,
    Engine,
    Processes,
    Runs,
    Task,
    open_study,
    probe_study,
    study_task_carried_out,
    sweep_engine,
)
from denoc.study.sweep.engines import _latest
from denoc.study.sweep.run import BATCH, FIRST, GROWTH, MOST

ROUNDS = 5
WORKERS = (1, 2, 8, 64, 512)
SIZES = (10**6, 10**9)


@dataclass(frozen=True)
class Machine:
    """A fall with another mass in each run, of which a joint's largest speed and last position are kept."""

    scenario: str
    key: str
    bounds: tuple[float, float]
    end: float
    joint: str
    few: int  # runs of two batches, whose times give the costs of a batch and of a run
    many: int

    def study(self, count: int) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "vary": {"mass": {"key": self.key, "random": list(self.bounds)}},
            "samples": count,
            "set": {"time.end": self.end, "time.step": self.end / 10},
            "keep": {
                "fastest": {"column": f"{self.joint}.qd", "take": "largest"},
                "reached": {"column": f"{self.joint}.q", "take": "final"},
            },
        }


MACHINES = {
    "PUMA, 0.5 s": Machine("puma-fall", "robot.links.link2.mass", (14.0, 17.0), 0.5, "joint2", 200, 4000),
    "four-bar, 0.5 s": Machine("four-bar-fall", "robot.links.coupler.mass", (2.5, 3.5), 0.5, "A0", 200, 4000),
    "Gough-Stewart platform, 0.25 s": Machine(
        "gough-stewart-fall", "robot.links.platform.mass", (1.4, 1.6), 0.25, "z", 200, 2000
    ),
}


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes of the parts of a study."""

    run: float  # a run, in the lanes of a worker
    batch: float  # a batch, on its worker, beside its runs
    first: float  # the first batch of a worker, beside that: it reads the files and plans a run
    task: float  # a batch, in the starting process: made, pickled, and its outcomes unpickled
    known: float  # a run, in the starting process: its key, and keeping its outcome
    table: float  # a run, at the end: its row of the table, written
    message: float  # bytes of a run on its way to a worker and back
    row: float  # bytes of the table
    store: float  # bytes of the store
    memory: float  # bytes of the starting process


def measured(machine: Machine, task: float) -> Costs:
    """The costs on one processor; times are CPU times, the least of a few rounds."""
    few, many = machine.few, machine.many
    ready = probe_study(open_study(machine.study(many)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.sqlite"
        least = probe_study(open_study(machine.study(few)))
        begun, _ = seconds(lambda: Runs(least, None))
        keys, runs = seconds(lambda: Runs(ready, None))
        key = (keys - begun) / (many - few)  # what a study costs by itself isn't counted
        study_task_carried_out(runs.task(list(range(min(few, 8)))))  # so that compiling isn't measured
        short, _ = seconds(lambda: study_task_carried_out(runs.task(list(range(few)))))
        anew, _ = seconds(lambda: forgotten(runs.task(list(range(few)))))
        long, done = seconds(lambda: study_task_carried_out(runs.task(list(range(many)))))
        making, sent = seconds(lambda: pickle.dumps(runs.task(list(range(many)))))
        answer = pickle.dumps(done)
        reading, _ = seconds(lambda: pickle.loads(answer))
        tracemalloc.start()
        kept = Runs(ready, file)
        kept._keep(done)
        swept = kept.carried_out(lambda: sweep_engine("threads", 1, None))
        memory = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        keeping, _ = seconds(lambda: kept._keep(done))
        kept.close()
        store = file.stat().st_size
        tabled, _ = seconds(lambda: kept.carried_out(lambda: sweep_engine("threads", 1, None)))
        writing, table = seconds(lambda: swept.table.csv_text())
    run = (long - short) / (many - few)
    return Costs(
        run=run,
        batch=max(short - few * run, 0.0),
        first=max(anew - short, 0.0),
        task=task,
        known=key + (making + reading + keeping) / many,
        table=(writing + tabled) / many,
        message=(len(sent) + len(answer)) / many,
        row=len(table) / many,
        store=store / many,
        memory=memory / many,
    )


def forgotten(task: Task) -> Done:
    """A task as the first one of a worker, whose code is in the cache."""
    _latest.read = None
    return study_task_carried_out(task)


def seconds(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """The least CPU seconds of a few rounds, and the result."""
    least, result = float("inf"), None
    for _ in range(rounds):
        begun = time.process_time()
        result = work()
        least = min(least, time.process_time() - begun)
    return least, result


def handed_over() -> float:
    """Seconds of the starting process for a task that does nothing, on a local Dask cluster."""
    from denoc.parallel import Cluster

    cluster = Cluster(1)
    try:
        cluster.result(cluster.task(abs, -1))
        begun = time.process_time()
        for _ in range(200):
            cluster.result(cluster.task(abs, -1))
        return (time.process_time() - begun) / 200
    finally:
        cluster.close()


@dataclass(frozen=True)
class Forecast:
    """What a simulated study took: seconds, the share in which workers computed, batches, and who was busy."""

    seconds: float
    share: float
    batches: int
    master: float  # share of the time in which the starting process was busy
    spent: tuple[float, float]  # seconds in which workers were busy, and the starting process


def simulated(costs: Costs, count: int, workers: int) -> Forecast:
    """A study as `sweep/run.py` carries it out: batches of about a second, two on their way to each worker."""
    size, left, sent, done = FIRST, count, 0, 0
    free_at = [costs.first] * workers  # when each worker has done what it has
    coming: list[tuple[float, int, int]] = []  # (when it is done, worker, runs)
    clock = master = computing = 0.0

    def submit() -> None:
        nonlocal left, sent, clock, master, computing
        runs = min(size, left)
        left, sent = left - runs, sent + 1
        spent = costs.task
        clock, master = clock + spent, master + spent
        worker = min(range(workers), key=free_at.__getitem__) if workers < 64 else sent % workers
        took = costs.batch + runs * costs.run
        free_at[worker] = max(free_at[worker], clock) + took
        computing += runs * costs.run
        heapq.heappush(coming, (free_at[worker], worker, runs))

    while coming or left:
        while left and len(coming) < 2 * workers:
            submit()
        when, _, runs = heapq.heappop(coming)
        clock = max(clock, when)
        spent = costs.known * runs
        clock, master, done = clock + spent, master + spent, done + runs
        took = costs.batch + runs * costs.run
        share = -(-(count - done) // (2 * workers)) if workers > 1 else MOST
        size = max(1, min(int(BATCH * runs / took), GROWTH * max(size, runs), MOST, max(share, FIRST)))
    end, master = clock + costs.table * count, master + costs.table * count
    return Forecast(
        end,
        computing / (workers * end),
        sent,
        master / end,
        (computing + sent * costs.batch + workers * costs.first, master),
    )


def checked(machine: Machine, costs: Costs) -> list[tuple[int, float, float, float, float]]:
    """For one and two processes, CPU seconds of these and of the starting process, each as measured and as simulated.

    They are what the simulation adds up, and other work on the machine changes them little.
    """
    made, count = [], 4 * machine.many
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            engine = Processes(workers)
            lasting = Lasting(engine)
            Runs(probe_study(open_study(machine.study(16))), None).carried_out(lambda lasting=lasting: lasting)
            each = [psutil.Process(pid) for pid in engine._pool._processes]
            ready = probe_study(open_study(machine.study(count)))
            before, begun = sum(map(spent, each)), time.process_time()
            runs = Runs(ready, Path(folder) / "runs.sqlite")
            runs.carried_out(lambda lasting=lasting: lasting).table.csv_text()
            own, theirs = time.process_time() - begun, sum(map(spent, each)) - before
            made.append((workers, theirs, own, *simulated(costs, count, workers).spent))
            runs.close()
            engine.close()
    return made


def spent(process: psutil.Process) -> float:
    """CPU seconds of a process so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def shared_by_two(count: int = 10_000) -> tuple[float, float]:
    """Seconds of so many runs of some 2 ms on a running Dask cluster of two workers, and those that the runs took there.

    Both are by the clock, so that other work on the machine changes both.
    """
    long = Machine("four-bar-fall", "robot.links.coupler.mass", (2.5, 3.5), 50.0, "A0", 0, 0)
    engine = sweep_engine("dask", 2, None)
    try:
        lasting = Lasting(engine)
        Runs(probe_study(open_study(long.study(16))), None).carried_out(lambda: lasting)
        lasting.computing = 0.0
        with tempfile.TemporaryDirectory() as folder:
            runs = Runs(probe_study(open_study(long.study(count))), Path(folder) / "runs.sqlite")
            begun = time.perf_counter()
            runs.carried_out(lambda: lasting)
            took = time.perf_counter() - begun
            runs.close()
        return took, lasting.computing
    finally:
        engine.close()


class Lasting:
    """An engine that a study doesn't close, so that the next one finds its processes warm; it adds up what they took."""

    def __init__(self, engine: Engine):
        self._engine, self.workers, self.room = engine, engine.workers, engine.room
        self.submit, self.computing = engine.submit, 0.0

    def next(self) -> Done:
        done = self._engine.next()
        self.computing += done.seconds
        return done

    def close(self) -> None:
        """Leaves it as it is."""


def main() -> int:
    os.environ["DENOC_CORES"] = "1"
    task = handed_over()
    costs = {name: measured(machine, task) for name, machine in MACHINES.items()}
    rows = {
        "a run, on a worker": lambda it: f"{1e6 * it.run:.3g} µs",
        "runs a second, on one processor": lambda it: f"{1 / it.run:.3g}",
        "a batch, beside its runs": lambda it: f"{1e3 * it.batch:.3g} ms",
        "the first batch of a worker, beside that": lambda it: f"{1e3 * it.first:.3g} ms",
        "a run, in the starting process": lambda it: f"{1e6 * it.known:.3g} µs",
        "its row of the table": lambda it: f"{1e6 * it.table:.3g} µs",
        "sent for a run, both ways": lambda it: f"{it.message:.3g} B",
        "its row of the table, written": lambda it: f"{it.row:.3g} B",
        "its row of the store": lambda it: f"{it.store:.3g} B",
        "memory for a run in the starting process": lambda it: f"{it.memory:.3g} B",
    }
    print(f"handing a batch over to Dask takes the starting process {1e3 * task:.3g} ms\n")
    print("| | " + " | ".join(costs) + " |")
    for words, cell in rows.items():
        print(f"| {words} | " + " | ".join(cell(it) for it in costs.values()) + " |")
    print("\n| runs of | workers | they compute | simulated | the starting process | simulated |")
    for name, machine in MACHINES.items():
        for workers, *both in checked(machine, costs[name]):
            theirs, own, simulated_theirs, simulated_own = (f"{x:.3g} s" for x in both)
            cells = (f"{4 * machine.many} of {name}", workers, theirs, simulated_theirs, own, simulated_own)
            print("| " + " | ".join(map(str, cells)) + " |")
    took, computing = shared_by_two()
    print(
        f"\n10,000 runs of {1e3 * computing / 10_000:.3g} ms on two workers of a Dask cluster: {took:.3g} s by the clock, ",
        end="",
    )
    print(f"{2 * took / computing:.2f} times half of what the runs took there")
    costs["runs of 2 ms"] = replace(costs["PUMA, 0.5 s"], run=0.002)
    print("\n| runs of | workers | hours | workers compute | starting process is busy | batches |")
    for name, it in costs.items():
        for count in SIZES:
            for workers in WORKERS:
                made = simulated(it, count, workers)
                cells = (f"{count:.0e} of {name}", workers, f"{made.seconds / 3600:.3g}", f"{made.share:.0%}")
                print("| " + " | ".join(map(str, (*cells, f"{made.master:.0%}", made.batches))) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
