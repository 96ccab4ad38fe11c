"""Pinocchio's sample humanoid, 34 freedoms on a free base: one call of inverse and forward dynamics and derivatives."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from compiling import empty_cache
from measure import Row, against, checked, quickest
from pace import within

import denoc
from denoc.machine.backend import native, using_backend
from denoc.robot import Robot

NAME = "humanoid, 34 freedoms"
FIRST = {"derivatives": 2.0}  # seconds of the first call
MOST = {"inverse": 4e-6, "forward": 7e-6, "derivatives": 15e-6}  # of one call
REACH = 1.0  # Pinocchio's time in units of denoc's
CALLS = 200  # that are timed at once


def model() -> Any:
    import pinocchio as pin

    return pin.buildSampleModelHumanoid()


def robot(model: Any) -> Robot:
    """The same robot; its joints are revolute about one of the axes, behind a free joint."""
    axes = {"RX": [1, 0, 0], "RY": [0, 1, 0], "RZ": [0, 0, 1]}
    links, names = [], list(model.names)
    for i in range(1, model.njoints):
        body, placed, kind = model.inertias[i], model.jointPlacements[i], model.joints[i].shortname()
        joint: dict[str, Any] = {"name": f"j{i}", "type": "free"}
        if kind != "JointModelFreeFlyer":
            joint = {
                "name": f"j{i}",
                "type": "revolute",
                "actuated": True,
                "axis": axes[kind.removeprefix("JointModel")],
            }
            joint["xyz"], joint["rpy"] = placed.translation.tolist(), angles(placed.rotation)
        I = body.inertia
        inertia = {"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "xy": I[0, 1], "xz": I[0, 2], "yz": I[1, 2]}
        link = {"name": names[i], "joint": joint, "mass": body.mass, "com": body.lever.tolist()}
        parent = names[model.parents[i]] if model.parents[i] else "base"
        links.append({**link, "parent": parent, "inertia": {key: float(x) for key, x in inertia.items()}})
    gravity = model.gravity.linear.tolist()
    file = {"name": "humanoid", "convention": "frames", "gravity": gravity, "links": links}
    return denoc.loads(json.dumps(file))  # which is YAML


def angles(R: np.ndarray) -> list[float]:
    """Roll, pitch and yaw."""
    import pinocchio as pin

    return [float(x) for x in pin.rpy.matrixToRpy(R)]


def state(count: int, nv: int) -> tuple[np.ndarray, ...]:
    """Positions with the base's quaternion as denoc has it (position first, real part first), speeds, and forces."""
    rng = np.random.default_rng(1)
    q, v, x = rng.standard_normal((count, nv + 1)), *rng.standard_normal((2, count, nv))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, v, x


def rows() -> list[Row]:
    """One call of each, beside Pinocchio's."""
    import pinocchio as pin

    theirs = model()
    ours, data = robot(theirs), theirs.createData()
    given = tuple(x[0] for x in state(1, ours.nv))
    its = (given[0][[0, 1, 2, 4, 5, 6, 3, *range(7, ours.nq)]], *given[1:])

    def derivatives() -> np.ndarray:
        pin.computeABADerivatives(theirs, data, *its)
        return np.concatenate([data.ddq_dq, data.ddq_dv, np.triu(data.Minv)])

    pairs = {
        "inverse": (partial(denoc.inverse, ours, *given), partial(pin.rnea, theirs, data, *its)),
        "forward": (partial(denoc.forward, ours, *given), partial(pin.aba, theirs, data, *its)),
        "derivatives": (
            partial(denoc.derivatives, ours, *given),
            partial(pin.computeABADerivatives, theirs, data, *its),
        ),
    }
    result = []
    for what, (own, other) in pairs.items():
        work = f"{NAME}, one call, {what}"
        result.append(first(work, own, FIRST.get(what)))
        if what == "derivatives":
            checked(work, "Pinocchio", _stacked(own()), derivatives())
        else:
            checked(work, "Pinocchio", own(), np.array(other()))
        run = {"ours": partial(_repeated, own), "theirs": partial(_repeated, other)}
        took = {name: seconds / CALLS for name, seconds in quickest(run).items()}
        result.append(against(work, took["ours"], "Pinocchio", took["theirs"], REACH))
        result.append(within(work, took["ours"], MOST[what]))
    return result


def first(work: str, call: Callable[[], object], most: float | None) -> Row:
    """The CPU time of all threads for a call whose code nobody has compiled before."""
    native.llvmlite_version()
    native.native_processor()  # llvmlite is imported from here on
    with empty_cache(), using_backend("compiled"):
        begun = time.process_time()
        call()
        took = time.process_time() - begun
    work = f"{work}: the first, with compiling, with an empty cache"
    return Row(work, took) if most is None else within(work, took, most)


def _repeated(call: Callable[[], object]) -> None:
    for _ in range(CALLS):
        call()


def _stacked(parts: dict[str, np.ndarray]) -> np.ndarray:
    """The derivatives as Pinocchio has them, whose upper triangle of M⁻¹ alone is set."""
    return np.concatenate([parts["dq"], parts["dqd"], np.triu(parts["dtau"])])
