"""All calls of the interface on all robots of the library: their time beside that of the code that they run.

`python tests/benchmarks/calls.py [robot …]` prints a line for each call, robot and number of samples.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from measure import quickest

import denoc
from denoc.loops.constraints import closure
from denoc.loops.rank import null_space
from denoc.machine.jit.choice import using
from denoc.machine.jit.kernel import Kernel, Single
from denoc.machine.jit.rolled import Rolled
from denoc.robot.model import Robot
from denoc.text.library import names

COUNTS = (None, 8, 10_000)
STATES = 50  # different ones in a batch
MOST_RATIO = 3.0
MOST_EXTRA = 4e-7  # s, of a call for one sample
ENTRY = 2e-7  # s more for each array of a dictionary
ONE_STATE = ("linearize", "matrices", "parallel_matrices")


def motions(robot: Robot) -> tuple[np.ndarray, ...]:
    """Positions, speeds and accelerations with the loops closed, near the first position."""
    rng = np.random.default_rng(1)
    q = np.tile(np.array(robot.q0, dtype=float), (STATES, 1))
    qd, qdd = rng.standard_normal((2, STATES, robot.nv))
    if not robot.tied:
        q += 0.3 * rng.standard_normal(q.shape)
        for joint in robot.moving:
            if joint.type.orientation is not None:
                e = list(joint.coordinates[joint.type.orientation :][:4])
                q[:, e] /= np.linalg.norm(q[:, e], axis=1, keepdims=True)
        return q, qd, qdd
    loops, start = closure(robot), denoc.assemble(robot, robot.q0)
    scale = loops.column_scale
    q, qd, qdd = np.tile(start, (STATES, 1)), 0.0 * qd, 0.0 * qdd
    for n in range(STATES):
        N = scale[:, None] * null_space(loops.scaled(loops.jacobian(start)[0]))
        near = np.array(start)
        if robot.nq == robot.nv:
            near = near + 0.02 * N @ rng.standard_normal(N.shape[1])
        with suppress(denoc.DenocError):
            q[n] = denoc.assemble(robot, near)
        J = loops.jacobian(q[n])[0]
        N = scale[:, None] * null_space(loops.scaled(J))
        qd[n] = N @ rng.standard_normal(N.shape[1])
        drift = loops.jacobian(q[n], qd[n])[1]
        qdd[n] = -np.linalg.lstsq(loops.scaled(J), drift * loops.row_scale, rcond=1e-10)[0] * scale
        qdd[n] += N @ rng.standard_normal(N.shape[1])
    return q, qd, qdd


def pushed(robot: Robot, count: int | None) -> dict[str, np.ndarray]:
    """A wrench on the last link."""
    six = np.random.default_rng(2).standard_normal((count or 1, 6))
    return {robot.links[-1].name: six if count else six[0]}


def half(qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of every other speed, forces of the others."""
    known = np.arange(qdd.shape[-1]) % 2 == 0
    return np.where(known, qdd, np.nan), np.where(known, np.nan, qdd)


Given = tuple[np.ndarray, np.ndarray, np.ndarray]
CALLS: dict[str, Callable[[Robot, Given, int | None], Callable[[], object]]] = {
    "inverse": lambda r, x, n: lambda: denoc.inverse(r, *x),
    "inverse, wrench": lambda r, x, n: (lambda w: lambda: denoc.inverse(r, *x, w))(pushed(r, n)),
    "forward": lambda r, x, n: lambda: denoc.forward(r, *x),
    "forward, wrench": lambda r, x, n: (lambda w: lambda: denoc.forward(r, *x, w))(pushed(r, n)),
    "hybrid": lambda r, x, n: (lambda two: lambda: denoc.hybrid(r, x[0], x[1], *two))(half(x[2])),
    "inertia": lambda r, x, n: lambda: denoc.inertia(r, x[0]),
    "bias": lambda r, x, n: lambda: denoc.bias(r, x[0], x[1]),
    "reduced": lambda r, x, n: lambda: denoc.reduced(r, x[0], x[1]),
    "energy": lambda r, x, n: lambda: denoc.energy(r, x[0], x[1]),
    "frames": lambda r, x, n: lambda: denoc.frames(r, x[0]),
    "jacobian": lambda r, x, n: lambda: denoc.jacobian(r, x[0], r.links[-1].name),
    "reactions": lambda r, x, n: lambda: denoc.reactions(r, *x),
    "reactions, wrench": lambda r, x, n: (lambda w: lambda: denoc.reactions(r, *x, w))(pushed(r, n)),
    "derivatives": lambda r, x, n: lambda: denoc.derivatives(r, *x),
    "linearize": lambda r, x, n: lambda: denoc.linearize(r, x[0], None if n is None else x[1]),
    "matrices": lambda r, x, n: lambda: denoc.matrices(r, x[0], x[1]),
    "parallel_matrices": lambda r, x, n: lambda: denoc.parallel_matrices(r, x[0], x[1]),
}


@contextmanager
def watched() -> Iterator[list[Callable[[], object]]]:
    """Runs of the code that is called within: each of these functions does the same again."""
    runs: list[Callable[[], object]] = []
    before = {kind: kind.__call__ for kind in (Kernel, Rolled, Single)}

    def replaced(kind: type) -> Callable[..., Any]:
        call = before[kind]

        def noted(self: Any, *arrays: Any, **named: Any) -> Any:
            result = call(self, *arrays, **named)
            if kind is Single:
                runs.append(lambda: self._call(*arrays))
            elif len(arrays[0]) >= self.lanes if kind is Kernel else True:
                out = [np.array(x) for x in result[0]]
                runs.append(lambda: call(self, *arrays, out=out))
            else:
                runs.append(lambda: call(self, *arrays))
            return result

        return noted

    for kind in before:
        kind.__call__ = replaced(kind)  # type: ignore[method-assign]
    try:
        yield runs
    finally:
        for kind, call in before.items():
            kind.__call__ = call  # type: ignore[method-assign]


@dataclass(frozen=True)
class Line:
    """A call beside its own code; `code` is 0 where none ran."""

    robot: str
    call: str
    count: int | None
    seconds: float
    code: float
    entries: int
    refused: str = ""

    @property
    def well(self) -> bool:
        if self.refused:
            return True
        if not self.code:
            return False
        if self.count is None:
            return self.seconds - self.code <= MOST_EXTRA + ENTRY * self.entries
        return self.seconds <= MOST_RATIO * self.code

    def __str__(self) -> str:
        if self.refused:
            return f"{self.robot:22s} {self.call:18s} {self.count or 1:6d} refused: {self.refused[:70]}"
        each = 1e6 / (self.count or 1)
        beside = f"{self.code * each:10.3f} {self.seconds / self.code:8.2f}x" if self.code else "     plain          "
        return (
            f"{self.robot:22s} {self.call:18s} {self.count or 1:6d} {self.seconds * each:11.3f} μs {beside}"
            f" {'' if self.well else ' slow'}"
        )


def line(robot: Robot, name: str, what: str, given: Given, count: int | None, seconds: float = 0.05) -> Line:
    """One call, after all code has been built."""
    with using("compiled"):
        robot = denoc.load(name)  # without any direct call, so that the first one goes the general way
        call = CALLS[what](robot, given, count)
        try:
            with watched() as runs:
                result = call()
        except denoc.DenocError as error:
            return Line(name, what, count, 0.0, 0.0, 0, str(error).splitlines()[0])
    entries = len(result) if isinstance(result, dict | tuple) else 0
    with using("auto"):
        call()
    own = list(runs)
    repeats = 200 if count is None else 20 if count < 100 else 1

    def timed() -> None:
        for _ in range(repeats):
            call()

    def code() -> None:
        for _ in range(repeats):
            for run in own:
                run()

    took = quickest({"call": timed, "code": code}, seconds=seconds)
    return Line(name, what, count, took["call"] / repeats, took["code"] / repeats if own else 0.0, entries)


def lines(robots: list[str], calls: list[str]) -> Iterator[Line]:
    """All lines of these robots."""
    for name in robots:
        robot = denoc.load(name)
        motion = motions(robot)
        for what in calls:
            for count in COUNTS:
                if count is not None and what in ONE_STATE:
                    continue
                given = tuple(x[0] if count is None else np.resize(x, (count, x.shape[1])) for x in motion)
                yield line(robot, name, what, given, count)  # type: ignore[arg-type]


def main() -> int:
    given = sys.argv[1:]
    robots = [name for name in given if name in names("robots")] or list(names("robots"))
    calls = [name for name in given if name in CALLS] or list(CALLS)
    for one in lines(robots, calls):
        print(one, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
