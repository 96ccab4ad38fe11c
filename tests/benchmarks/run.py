"""denoc beside its peers: every contestant's results are compared first, then they take turns in one process.

`make bench` runs it; the table goes to outputs/bench.json too.  Times are CPU times of one thread, the least of many.
Kept as docs/benchmarks.json, it is what `make pages` makes the tables of README and docs/benchmarks.md of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import batches
import calls
import compiling
import drawing
import fall
import humanoid
import loops
import many
import methods
import numpy as np
import process
import quantities
import singles
import trees
from arms import Arm, chain, puma
from measure import Row, against, bytes_within, checked, quickest, table, write
from pace import SET_BY, pace, within
from peers import Mujoco, Pinocchio, Toolbox, installed, versions

import denoc
from denoc.machine.backend import using_backend

OURS = {"inverse": denoc.inverse, "forward": denoc.forward}
OUT = Path("outputs") / "bench.json"
MOST_MEMORY, MOST_ONE_CALL = 64 * 2**20, 0.4e-6  # bytes; s


def batch(arm: Arm, peers: list, count: int, reach: dict[str, float]) -> list[Row]:
    """Inverse and forward dynamics of many samples; the goal is a multiple of Pinocchio's time."""
    samples, found = arm.samples(count), []
    for what, ours in OURS.items():
        work = f"{arm.name}, {what}"
        run = {"denoc": partial(ours, arm.robot, *samples)}
        with using_backend("compiled"):
            expected = run["denoc"]()
        for peer in peers:
            call = partial(getattr(peer, what), *samples)
            try:
                checked(work, peer.name, expected, np.array(call()))
            except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
                if peer.name == Pinocchio.name:
                    raise
                print(f"left out: {peer.name} ({type(error).__name__}: {error})")
                continue
            run[peer.name] = call
        took = {name: seconds / count for name, seconds in quickest(run).items()}  # as users call it
        mine = took.pop("denoc")
        goals = {Pinocchio.name: reach[what]}
        found += [against(work, mine, name, theirs, goals.get(name)) for name, theirs in took.items()]
    return found


def long_chain(n: int, count: int) -> list[Row]:
    """So many bodies that Pinocchio's data don't fit in the memory."""
    arm = chain(n)
    samples = arm.samples(count)
    for what, ours in OURS.items():  # two samples by the plain text: there is no peer
        few = [x[:2] for x in samples]
        with using_backend("plain"):
            expected = ours(arm.robot, *few)
        with using_backend("compiled"):
            checked(f"{arm.name}, {what}", "plain text", ours(arm.robot, *few), expected)
    took = quickest({what: partial(ours, arm.robot, *samples) for what, ours in OURS.items()})
    found = [Row(f"{arm.name}, {what}", seconds / count, goal="runs", reached=True) for what, seconds in took.items()]
    for backend, work in (("compiled", "memory, DENOC_BACKEND=compiled"), ("auto", "memory")):
        found.append(bytes_within(f"{arm.name}, {work}", memory(n, backend), MOST_MEMORY))
    return found


def memory(n: int, backend: str) -> int:
    """Bytes for inverse and forward dynamics beyond robot, samples and compiler; nothing is in the cache."""
    command = [sys.executable, str(Path(__file__).with_name("memory.py")), str(n)]
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "DENOC_BACKEND": backend, "DENOC_CACHE": folder}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env)
    return max(json.loads(done.stdout).values())


def one_sample(arm: Arm, peer: Pinocchio) -> list[Row]:
    """One call for one sample; a thousand calls are timed at once."""
    q, qd, x = (a[0] for a in arm.samples(1))
    rnea, aba, model, data = peer.pin.rnea, peer.pin.aba, peer.model, peer.data
    robot, calls, found = arm.robot, range(1000), []
    for what, ours, theirs in (("inverse", denoc.inverse, rnea), ("forward", denoc.forward, aba)):
        work = f"{arm.name}, one {what} call"
        for _ in range(2000):  # until denoc has found that compiling pays
            ours(robot, q, qd, x)
        checked(work, peer.name, ours(robot, q, qd, x), theirs(model, data, q, qd, x))
        run = {
            "ours": lambda ours=ours: [ours(robot, q, qd, x) for _ in calls],
            "theirs": lambda theirs=theirs: [theirs(model, data, q, qd, x) for _ in calls],
        }
        took = quickest(run, seconds=2.0)
        found.append(against(work, took["ours"] / len(calls), peer.name, took["theirs"] / len(calls), 0.5))
        found.append(within(work, took["ours"] / len(calls), MOST_ONE_CALL))
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:  # a cache that isn't the user's, nor full of other programs
        os.environ["DENOC_CACHE"] = folder
        return measured()


def measured() -> int:
    """Measures all, writes it, and prints the table."""
    arm, long = puma(), chain(100)
    young = compiling.rows(
        arm
    )  # code comes from the cache when a process is young: with much in memory it takes longer
    peer = Pinocchio(arm)
    rows = batch(arm, [peer, *installed((Mujoco, Toolbox), arm)], 10_000, {"inverse": 40, "forward": 50})
    rows += batch(long, [Pinocchio(long)], 1000, {"inverse": 15, "forward": 15})
    rows += long_chain(1000, 1000)
    rows += [*fall.rows(arm, peer), *fall.again(peer)]
    rows += methods.rows(peer)
    rows += many.rows(arm)
    rows += loops.rows()
    rows += young
    rows += [*process.rows(), *drawing.rows()]
    rows += [*one_sample(arm, peer), *singles.rows(), *quantities.rows(), *trees.rows()]
    rows += humanoid.rows()
    rows += batches.rows(arm)
    rows += calls.rows()
    write(rows, OUT, versions=versions(), pace=round(pace(), 3))
    print(table(rows))
    print(versions())
    inverse, forward = (f"{seconds * 1e6:g}" for seconds in SET_BY.values())
    print(
        f"goals in units of time: where Pinocchio's calls take {inverse} and {forward} μs; now {pace():.2f} times that"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
