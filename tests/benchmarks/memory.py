"""Memory that a chain's dynamics takes beyond robot, samples and compiler, from the first call on.

With `--many`, that of very many samples of the PUMA.  Run in a process of its own, prints bytes as JSON; DENOC_BACKEND and DENOC_CACHE are the caller's.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from arms import chain, puma

import denoc
from denoc.machine.backend import using_backend

SAMPLES = 1000


def highest() -> int:
    """Bytes that this process had at most."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def many(count: int) -> dict[str, int]:
    """Bytes beside inputs and outputs, all of which are there before, for so many samples of the PUMA."""
    robot, found = puma().robot, {}
    given = [np.full((count, robot.nv), 0.1 * k) for k in range(3)]
    out = np.ones((count, robot.nv))
    with using_backend("compiled"):
        for call in (denoc.inverse, denoc.forward):
            call(robot, *(x[:SAMPLES] for x in given))
    before = highest()
    for what, call in (("inverse", denoc.inverse), ("forward", denoc.forward)):
        call(robot, *given, out=out)
        found[what] = highest() - before
    return found


def main() -> None:
    if sys.argv[1] == "--many":
        print(json.dumps(many(int(sys.argv[2]))))
        return
    arm, small = chain(int(sys.argv[1])), puma()
    samples, found = arm.samples(SAMPLES), {}
    with using_backend("compiled"):
        denoc.forward(small.robot, *small.samples(SAMPLES))
    before = highest()
    for what, call in (("inverse", denoc.inverse), ("forward", denoc.forward)):
        call(arm.robot, *samples)
        found[what] = highest() - before
    print(json.dumps(found))


if __name__ == "__main__":
    main()
