"""Memory that a chain's dynamics takes beyond robot, samples and compiler, from the first call on.

Run in a process of its own, prints bytes as JSON; DENOC_BACKEND and DENOC_CACHE are the caller's.
"""

from __future__ import annotations

import json
import sys

from arms import chain, puma

import denoc
from denoc.machine.jit.choice import using

SAMPLES = 1000


def highest() -> int:
    """Bytes that this process had at most."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def main() -> None:
    arm, small = chain(int(sys.argv[1])), puma()
    samples, found = arm.samples(SAMPLES), {}
    with using("compiled"):
        denoc.forward(small.robot, *small.samples(SAMPLES))
    before = highest()
    for what, call in (("inverse", denoc.inverse), ("forward", denoc.forward)):
        call(arm.robot, *samples)
        found[what] = highest() - before
    print(json.dumps(found))


if __name__ == "__main__":
    main()
