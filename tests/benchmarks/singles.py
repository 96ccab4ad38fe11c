"""One call of inverse dynamics in other ways than with three arrays for an arm, and what each may cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from batches import samples
from measure import Row, checked, quickest
from pace import within

import denoc
from denoc.formats import load
from denoc.machine.backend import using_backend
from denoc.robot import Robot
from denoc.text import yaml_text

CALLS = range(1000)
BY_HANDLE, USUAL = 0.25e-6, 3e-6  # s
PUSH = np.array([0.1, -0.2, 0.3, 4.0, 5.0, -6.0])


def rows() -> list[Row]:
    """By a handle, with lists, on a free base, with wrenches in the call and in the file, and mixed."""
    puma, arm = load("puma"), load("space-arm")
    q, qd, qdd = (x[0] for x in samples(puma, 1))
    base = tuple(x[0] for x in samples(arm, 1))
    lists = q.tolist(), qd.tolist(), qdd.tolist()
    pushed = _pushed(puma)
    half = np.arange(puma.nv) % 2 == 0
    known, forces = np.where(half, qdd, np.nan), np.where(half, np.nan, qdd)
    handle, push = denoc.function(puma, "inverse"), {"link6": PUSH}
    calls: dict[str, tuple[Callable[[], object], float]] = {
        "PUMA, one call of `denoc.function(robot, 'inverse')`": (lambda: handle(q, qd, qdd), BY_HANDLE),
        "PUMA, one inverse call with lists": (lambda: denoc.inverse(puma, *lists), USUAL),
        "space arm, one inverse call": (lambda: denoc.inverse(arm, *base), USUAL),
        "PUMA, one inverse call with a wrench": (lambda: denoc.inverse(puma, q, qd, qdd, push), USUAL),
        "PUMA, one inverse call with a wrench in the file": (lambda: denoc.inverse(pushed, q, qd, qdd), USUAL),
        "PUMA, one call of `hybrid`": (lambda: denoc.hybrid(puma, q, qd, known, forces), USUAL),
    }
    result = []
    for work, (call, most) in calls.items():
        with using_backend("plain"):
            plain = _numbers(call())
        with using_backend("compiled"):
            checked(work, "plain text", _numbers(call()), plain)
        took = quickest({"ours": lambda call=call: [call() for _ in CALLS]}, seconds=1.0)["ours"]
        result.append(within(work, took / len(CALLS), most))
    return result


def _pushed(robot: Robot) -> Robot:
    """The robot with a wrench in its file."""
    assert robot.document is not None
    wrench = {"link": "link6", "moment": PUSH[:3].tolist(), "force": PUSH[3:].tolist(), "axes": "link"}
    return denoc.loads(yaml_text({**robot.document.data, "wrenches": [wrench]}, []))


def _numbers(found: object) -> np.ndarray:
    return np.concatenate(found) if isinstance(found, tuple) else np.asarray(found)
