"""Memory that a chain's dynamics takes beyond its samples: run in a process of its own, prints JSON."""

from __future__ import annotations

import json
import sys

from arms import chain

import denoc
from denoc.machine.choice import using

SAMPLES = 1000


def highest() -> int:
    """Bytes that this process had at most."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def main() -> None:
    arm = chain(int(sys.argv[1]))
    small = chain(40)
    arrays = arm.samples(SAMPLES)
    with using("compiled"):
        for call in (denoc.inverse, denoc.forward):  # with this llvmlite is there
            call(small.robot, *small.samples(SAMPLES))
        before, found = highest(), {}
        for name, call in (("inverse", denoc.inverse), ("forward", denoc.forward)):
            call(arm.robot, *arrays)
            found[name] = highest() - before
    print(json.dumps(found))


if __name__ == "__main__":
    main()
