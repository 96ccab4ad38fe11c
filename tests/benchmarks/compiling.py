"""How long it takes until compiled code for the PUMA is there: made anew, and from the folder of objects."""

from __future__ import annotations

import os
import tempfile
import time

from arms import Arm
from measure import Row
from pace import within

from denoc.dynamics.mixed import Mixed
from denoc.dynamics.regroup import regrouped_bodies
from denoc.machine.jit import cache, native, objects
from denoc.machine.jit.choice import using_backend

COLD, WARM, RUNS = 0.1, 0.0018, 40


def rows(arm: Arm) -> list[Row]:
    native.llvmlite_version()
    native.native_processor()  # llvmlite is imported from here on
    before = os.environ.get("DENOC_CACHE")
    found = []
    for name, motion in (("inverse", True), ("forward", False)):
        cold = warm = float("inf")
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                os.environ["DENOC_CACHE"] = folder
                cold = min(cold, _made(arm, motion))
                warm = min(warm, _made(arm, motion))
        found += [within(f"compile PUMA {name}, cold", cold, COLD), within(f"compile PUMA {name}, cached", warm, WARM)]
    if before is None:
        del os.environ["DENOC_CACHE"]
    else:
        os.environ["DENOC_CACHE"] = before
    return found


def _made(arm: Arm, motion: bool) -> float:
    cache.hash_of_package_sources.cache_clear()  # all that a process does once
    regrouped_bodies.cache_clear()
    objects.forget_machine_code()
    robot = arm.robot
    begun = time.thread_time()
    problem = Mixed(robot, (motion,) * robot.nv)
    with using_backend("compiled"):
        assert problem.compiled(10_000) is not None
    return time.thread_time() - begun
