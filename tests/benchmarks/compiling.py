"""How long it takes until compiled code for the PUMA is there: made anew, and from the folder of objects."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from arms import Arm
from measure import Row
from pace import within

from denoc.machine.backend import cache, native, objects, using_backend
from denoc.mechanics.numbers import regrouped_bodies
from denoc.mechanics.quantities import Mixed

COLD, WARM, RUNS = 0.1, 0.0018, 40


def rows(arm: Arm) -> list[Row]:
    native.llvmlite_version()
    native.native_processor()  # llvmlite is imported from here on
    found = []
    for name, motion in (("inverse", True), ("forward", False)):
        cold = warm = float("inf")
        for _ in range(RUNS):
            with empty_cache():
                cold = min(cold, _made(arm, motion))
                warm = min(warm, _made(arm, motion))
        found += [within(f"compile PUMA {name}, cold", cold, COLD), within(f"compile PUMA {name}, cached", warm, WARM)]
    return found


@contextmanager
def empty_cache() -> Iterator[None]:
    """A new folder of objects; what the process has of its own is forgotten."""
    before = os.environ.get("DENOC_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DENOC_CACHE"] = folder
        _forget()
        try:
            yield
        finally:
            if before is None:
                del os.environ["DENOC_CACHE"]
            else:
                os.environ["DENOC_CACHE"] = before


def _forget() -> None:
    """All that a process does once is to be done again."""
    cache.hash_of_package_sources.cache_clear()
    regrouped_bodies.cache_clear()
    objects.forget_machine_code()


def _made(arm: Arm, motion: bool) -> float:
    _forget()
    robot = arm.robot
    begun = time.thread_time()
    problem = Mixed(robot, (motion,) * robot.nv)
    with using_backend("compiled"):
        assert problem.compiled(10_000) is not None
    return time.thread_time() - begun
