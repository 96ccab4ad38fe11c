"""All calls of the interface on all robots of the library: their time beside that of the code that they run.

`python tests/benchmarks/calls.py [robot …] [call …]` prints a line for each call, robot and number of samples; `make
bench` has the slowest of the library for each call.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from interface import CALLS, ONE_STATE, Given, motions
from measure import Row, quickest, shown
from own_code import Again, Noted, watched
from pace import pace

import denoc
from denoc.machine.backend import using_backend
from denoc.robot import Robot
from denoc.text import library_names

COUNTS = (None, 8, 10_000)
MOST_RATIO = 3.0
CLOSER = dict.fromkeys(
    ("inverse", "forward", "reduced", "reactions"), 2.0
)  # the ratios of these, with wrenches or without
SECONDS, LONGER = 0.03, 0.5  # of a measurement, and of one in a process of its own
ALONE, PROCESSES = "--alone", 3
FEW = 100  # samples
MOST_EXTRA = 4e-7  # s, of a call for few samples
ENTRY = 2e-7  # s more for each array of a dictionary


@dataclass(frozen=True)
class Line:
    """A call beside its own code, whose time is 0 where none ran; a result has so many entries."""

    robot: str
    call: str
    count: int | None
    seconds: float = 0.0
    code: float = 0.0
    entries: int = 0
    refused: str = ""
    pace: float = 1.0

    @property
    def well(self) -> bool:
        return bool(self.refused) or self.excess <= 1.0

    @property
    def excess(self) -> float:
        """The time of the call in units of what is allowed."""
        return self.seconds / self.most if self.code else np.inf

    @property
    def most(self) -> float:
        """The seconds that the call may take."""
        many = self.ratio * self.code
        if self.count is None:
            return self.code + self.extra
        return max(many, self.code + self.extra) if self.count < FEW else many

    @property
    def ratio(self) -> float:
        """How much longer than their code calls for many samples may take."""
        return CLOSER.get(self.call.partition(",")[0], MOST_RATIO)

    @property
    def extra(self) -> float:
        """The seconds that a call for a few samples may take beyond its code."""
        return self.pace * (MOST_EXTRA + ENTRY * self.entries)

    def row(self) -> Row:
        """A row of the table of benchmarks."""
        samples = "one call" if self.count is None else f"{self.count:,} samples"
        each = 1.0 / (self.count or 1)
        near, many = f"its code and {shown(self.extra * each, 's')}", f"{self.ratio:g} times its code"
        goal = near if self.count is None else f"{many}, or {near}" if self.count < FEW else many
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


def line(robot: Robot, name: str, what: str, given: Given, count: int | None, seconds: float = SECONDS) -> Line:
    """One call, after all code has been built."""
    with using_backend("compiled"):
        robot = denoc.load(name)  # without any direct call, so that the first one goes the general way
        call = CALLS[what](robot, given, count)
        try:
            with watched() as runs:
                result = call()
        except denoc.DenocError as error:
            return Line(name, what, count, refused=str(error).splitlines()[0])
    parts = [*result.values()] if isinstance(result, dict) else [*result] if isinstance(result, tuple) else []
    entries = len(parts) + ("wrench" in what)
    with using_backend("auto"):
        call()
    own = own_code(robot, runs)
    repeats = 200 if count is None else 20 if count < 100 else 1

    def timed() -> None:
        for _ in range(repeats):
            call()

    def code() -> None:
        for run in own:
            run(repeats)

    took = quickest({"call": timed, "code": code}, seconds=seconds)
    code_took = took["code"] / repeats if own else 0.0
    return Line(name, what, count, took["call"] / repeats, code_took, entries, pace=pace())


def own_code(robot: Robot, runs: Noted) -> list[Again]:
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
                found = line(robot, name, what, given, count)  # type: ignore[arg-type]
                yield found if found.well else typical(name, what, count)


def typical(name: str, what: str, count: int | None) -> Line:
    """The middle one of three lines, each measured for longer in a process of its own.

    Where its code and its memory happen to lie makes a call of a microsecond slower by a tenth or two.
    """
    command = [sys.executable, __file__, ALONE, name, what, str(count or "")]
    found = []
    for _ in range(PROCESSES):
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found.append(Line(**json.loads(said)))
    return sorted(found, key=lambda one: one.excess)[PROCESSES // 2]


def alone(name: str, what: str, count: int | None) -> Line:
    """One line by itself."""
    robot = denoc.load(name)
    motion = motions(robot)
    given = tuple(x[0] if count is None else np.resize(x, (count, x.shape[1])) for x in motion)
    return line(robot, name, what, given, count, LONGER)  # type: ignore[arg-type]


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
    if given[:1] == [ALONE]:
        name, what, count = given[1:]
        print(json.dumps(vars(alone(name, what, int(count) if count else None))))
        return 0
    robots = [name for name in given if name in library_names("robots")] or list(library_names("robots"))
    calls = [name for name in given if name in CALLS] or list(CALLS)
    for one in lines(robots, calls):
        print(one, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
