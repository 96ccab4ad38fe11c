"""When distribution pays, measured: inverse dynamics of a batch, undivided (compiled code and plain text) and by legs.

`python tests/benchmarks/distribute.py` prints the table of docs/distributed.md.  A mechanism of `legged` is named by
its legs and by the slides in each.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import denoc
import legged
from denoc.machine.backend import using_backend
from denoc.parallel import (
    Cluster,
    DistributedFormulation,
    ProcessEngine,
    ThreadsEngine,
    TimedProcessEngine,
    message_plan,
)
from denoc.study.distribution import Cost, ping_distribution_nodes

NODES = 2
CASES = [
    ("three-rrr", 1000),
    ("three-rrr", 20000),
    ("6 x 1", 1000),
    ("6 x 8", 1000),
    ("12 x 4", 1000),
    ("12 x 4", 5000),
]


def best(call, times=8, clock=time.thread_time):
    """Seconds: the processor's where one thread does it all, else those on the wall."""
    found = []
    for _ in range(times):
        begun = clock()
        call()
        found.append(clock() - begun)
    return min(found)


def cost(robot, state, ping):
    timing, count = TimedProcessEngine(), len(state[0])
    by_legs = DistributedFormulation(robot, timing, NODES, batch=count)
    by_legs.inverse(*state)
    found = []
    for _ in range(3):
        timing.spent = [0.0] * NODES
        begun = time.thread_time()
        by_legs.inverse(*state)
        found.append((time.thread_time() - begun, list(timing.spent)))
    whole, spent = min(found)
    rows = list(message_plan("inverse", by_legs.groups, count))
    exchanges = sum(row.way == "to central" for row in rows)
    size = sum(row.bytes for row in rows)
    return Cost(*ping, sum(spent), max(spent), whole - sum(spent), exchanges, size, count)


def main():
    dask = Cluster(NODES)
    warm = DistributedFormulation(denoc.load("three-rrr"), dask, NODES)
    warm.inverse(*legged.states(warm.robot, 2))
    ping = ping_distribution_nodes(dask, NODES)
    print(f"an exchange with {NODES} workers {1e3 * ping[0]:.1f} ms, {ping[1] / 1e6:.0f} MB/s")
    heads = (
        "mechanism",
        "samples",
        "bytes",
        "compiled",
        "plain",
        "one process",
        "2 threads",
        "2 workers",
        "model",
        "pays from",
    )
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for name, count in CASES:
        robot = legged.robot(*map(int, name.split(" x "))) if " x " in name else denoc.load(name)
        state = [np.tile(x, (count // 4, 1)) for x in legged.states(robot, 4, size=0.01)]
        told, off = [], 0.0
        with using_backend("compiled"):
            right = denoc.inverse(robot, *state)
            told.append(best(lambda robot=robot, state=state: denoc.inverse(robot, *state)))
            with using_backend("plain"):
                told.append(best(lambda robot=robot, state=state: denoc.inverse(robot, *state), 2))
            for engine in (ProcessEngine(), ThreadsEngine(NODES), dask):
                by_legs = DistributedFormulation(robot, engine, NODES, batch=count)
                off = max(off, abs(by_legs.inverse(*state) - right).max() / abs(right).max())
                clock = time.thread_time if engine.name == "process" else time.perf_counter
                told.append(best(lambda by_legs=by_legs, state=state: by_legs.inverse(*state), clock=clock))
            found = cost(robot, state, ping)
        told.append(found.together)
        at = f"{found.pays_from:.0f}" if np.isfinite(found.pays_from) else "never"
        cells = [name, str(count), f"{found.bytes / 1e6:.2f} MB", *(f"{1e3 * x:.3g} ms" for x in told), at]
        print("| " + " | ".join(cells) + " |", f"off {off:.1e}", flush=True)
    dask.close()


if __name__ == "__main__":
    main()
