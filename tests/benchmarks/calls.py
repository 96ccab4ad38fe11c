"""All calls of the interface on all robots of the library: their time beside that of the code that they run.

`python tests/benchmarks/calls.py [robot …] [call …]` prints a line for each call, robot and number of samples; `make
bench` has the slowest of the library for each call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from interface import CALLS, ONE_STATE, Given, motions
from measure import Row, quickest
from pace import pace

import denoc
from denoc.machine.jit.choice import using_backend
from denoc.machine.jit.kernel import Kernel, Single
from denoc.machine.jit.rolled import Rolled
from denoc.robot.model import Robot
from denoc.text.library import library_names

COUNTS = (None, 8, 10_000)
MOST_RATIO = 3.0
MOST_EXTRA = 4e-7  # s, of a call for one sample
ENTRY = 2e-7  # s more for each array of a dictionary


@contextmanager
def watched() -> Iterator[list[tuple[Any, Callable[[], object]]]]:
    """The code that is called within, each with a function that does the same again."""
    runs: list[tuple[Any, Callable[[], object]]] = []
    before = {kind: kind.__call__ for kind in (Kernel, Rolled, Single)}

    def replaced(kind: type) -> Callable[..., Any]:
        call = before[kind]

        def noted(self: Any, *arrays: Any, **named: Any) -> Any:
            result = call(self, *arrays, **named)
            if kind is Single:
                runs.append((self, lambda: self._call(*arrays)))
            elif len(arrays[0]) >= self.lanes if kind is Kernel else True:
                out = [np.array(x) for x in result[0]]
                runs.append((self, lambda: call(self, *arrays, out=out)))
            else:
                runs.append((self, lambda: call(self, *arrays)))
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
    pace: float = 1.0

    @property
    def well(self) -> bool:
        if self.refused:
            return True
        if not self.code:
            return False
        return self.excess <= 1.0

    @property
    def excess(self) -> float:
        """The time of the call in units of what is allowed."""
        if self.count is None:
            return (self.seconds - self.code) / self.extra
        return self.seconds / (MOST_RATIO * self.code) if self.code else np.inf

    @property
    def extra(self) -> float:
        """The seconds that a call for one sample may take beyond its code."""
        return self.pace * (MOST_EXTRA + ENTRY * self.entries)

    def row(self) -> Row:
        """A row of the table of benchmarks."""
        samples = "one call" if self.count is None else f"{self.count:,} samples"
        goal = f"its code and {self.extra * 1e6:.2f} μs" if self.count is None else f"{MOST_RATIO:g} times its code"
        each = 1.0 / (self.count or 1)
        work = f"{self.call}, {samples}, slowest of the library ({self.robot})"
        return Row(work, self.seconds * each, "its own code", self.code * each, f"at most {goal}", self.well)

    def __str__(self) -> str:
        if self.refused:
            return f"{self.robot:22s} {self.call:18s} {self.count or 1:6d} refused: {self.refused[:70]}"
        each = 1e6 / (self.count or 1)
        beside = f"{self.code * each:10.3f} {self.seconds / self.code:8.2f}x" if self.code else "     plain          "
        return (
            f"{self.robot:22s} {self.call:18s} {self.count or 1:6d} {self.seconds * each:11.3f} μs {beside}"
            f" {'' if self.well else ' slow'}"
        )


def line(robot: Robot, name: str, what: str, given: Given, count: int | None, seconds: float = 0.03) -> Line:
    """One call, after all code has been built."""
    with using_backend("compiled"):
        robot = denoc.load(name)  # without any direct call, so that the first one goes the general way
        call = CALLS[what](robot, given, count)
        try:
            with watched() as runs:
                result = call()
        except denoc.DenocError as error:
            return Line(name, what, count, 0.0, 0.0, 0, str(error).splitlines()[0])
    entries = (len(result) if isinstance(result, dict | tuple) else 0) + ("wrench" in what)
    with using_backend("auto"):
        call()
    own = own_code(robot, runs)
    repeats = 200 if count is None else 20 if count < 100 else 1

    def timed() -> None:
        for _ in range(repeats):
            call()

    def code() -> None:
        for _ in range(repeats):
            for run in own:
                run()

    took = quickest({"call": timed, "code": code}, seconds=seconds)
    code_took = took["code"] / repeats if own else 0.0
    return Line(name, what, count, took["call"] / repeats, code_took, entries, pace=pace())


def own_code(robot: Robot, runs: list[tuple[Any, Callable[[], object]]]) -> list[Callable[[], object]]:
    """Those runs whose code direct calls now go straight into; all of them where none does."""
    builtins = [one for key, one in robot.derived.items() if isinstance(key, tuple) and key[0] == "builtin"]
    aimed = {one.aimed for one in builtins} | {one.aimed_rows for one in builtins}
    direct = [run for code, run in runs if getattr(code, "address", None) in aimed]
    return direct or [run for _, run in runs]


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


def rows() -> list[Row]:
    """For each call, for one sample and for many, that of the robot that it is slowest for."""
    worst: dict[tuple[str, int | None], Line] = {}
    for one in lines(list(library_names("robots")), list(CALLS)):
        key = one.call, one.count
        if not one.refused and (key not in worst or one.excess > worst[key].excess):
            worst[key] = one
    return [worst[key].row() for key in sorted(worst, key=lambda key: (list(CALLS).index(key[0]), key[1] or 0))]


def main() -> int:
    given = sys.argv[1:]
    robots = [name for name in given if name in library_names("robots")] or list(library_names("robots"))
    calls = [name for name in given if name in CALLS] or list(CALLS)
    for one in lines(robots, calls):
        print(one, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
