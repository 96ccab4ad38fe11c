"""One call for long trees beside Pinocchio from Python, at sizes around which the form of the code changes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from arms import chain
from measure import Row, against, checked, quickest
from pace import within

import denoc
from denoc.study.verification import Pinocchio

SIZES = 7, 30, 60, 61, 100, 300
CALLS = 20  # that are timed at once
FIRST = 50  # calls of a new process
REACHES = {  # seconds of one call
    "inverse": {60: 2e-6, 61: 2e-6, 100: 2.5e-6, 300: 7e-6},
    "forward": {60: 4e-6, 61: 4e-6, 100: 6e-6, 300: 17e-6},
    "inertia": {30: 1.5e-6, 60: 4e-6, 100: 8e-6},
    "regressor": {30: 5e-6, 60: 17e-6, 100: 55e-6},
    "derivatives": {30: 8e-6, 60: 25e-6, 100: 60e-6},
}
OURS: dict[str, Callable[..., Any]] = {
    "inverse": denoc.inverse,
    "forward": denoc.forward,
    "inertia": lambda robot, q, v, x: denoc.inertia(robot, q),
    "regressor": denoc.regressor,
    "derivatives": denoc.derivatives,
}
NEW = """
import json, sys, time
import numpy as np
import denoc
robot = denoc.load("puma")
given = np.random.default_rng(3).standard_normal((3, robot.nv))
calls = {"inverse": denoc.inverse, "forward": denoc.forward, "inertia": lambda r, q, v, x: denoc.inertia(r, q),
         "regressor": denoc.regressor, "derivatives": denoc.derivatives}
found = {}
for name, call in calls.items():
    begun = time.thread_time()
    for _ in range(int(sys.argv[1])):
        call(robot, *given)
    found[name] = (time.thread_time() - begun) / int(sys.argv[1])
print(json.dumps(found))
"""


def rows() -> list[Row]:
    """All quantities at all sizes, then the first calls of a new process, whose code is on the disk."""
    result: list[Row] = []
    for count in SIZES:
        robot = chain(count).robot
        peer, given = Pinocchio(robot), np.random.default_rng(count).uniform(-1, 1, (3, robot.nv))
        for name, theirs in _theirs(peer).items():
            result += _row(robot, name, partial(theirs, *given), given, count)
    run = [sys.executable, "-c", NEW, str(FIRST)]
    for _ in range(2):  # the first of the two leaves its code on the disk
        done = subprocess.run(run, capture_output=True, text=True, check=True)
    for name, seconds in json.loads(done.stdout).items():
        result.append(Row(f"PUMA, first {FIRST} calls of a process, each, {name}", seconds))
    return result


def _theirs(peer: Pinocchio) -> dict[str, Callable[..., Any]]:
    pin, model, data = peer.pin, peer.model, peer.data
    return {
        "inverse": partial(pin.rnea, model, data),
        "forward": partial(pin.aba, model, data),
        "inertia": lambda q, v, x: pin.crba(model, data, q),
        "regressor": partial(pin.computeJointTorqueRegressor, model, data),
        "derivatives": partial(pin.computeABADerivatives, model, data),
    }


def _row(robot: Any, name: str, theirs: Callable[[], Any], given: np.ndarray, count: int) -> list[Row]:
    work, own = f"chain of {count}, one call, {name}", partial(OURS[name], robot, *given)
    for _ in range(2 * FIRST):  # as users call it, who choose nothing, until there is code
        found = own()
    if name in ("inverse", "forward"):
        checked(work, "Pinocchio", found, np.array(theirs()))
    elif name == "inertia":
        checked(work, "Pinocchio", np.triu(found), np.triu(theirs()))
    took = quickest({"ours": partial(_repeated, own), "theirs": partial(_repeated, theirs)}, seconds=0.5)
    made = [against(work, took["ours"] / CALLS, "Pinocchio", took["theirs"] / CALLS)]
    reach = REACHES[name].get(count)
    return made if reach is None else [*made, within(work, took["ours"] / CALLS, reach)]


def _repeated(call: Callable[[], object]) -> None:
    for _ in range(CALLS):
        call()


if __name__ == "__main__":
    from measure import table

    print(table(rows()))
