"""Pinocchio's sample humanoid, 34 freedoms on a free base: one call of inverse and forward dynamics and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Row, against, checked, quickest

import denoc
from denoc.robot.model import Robot

NAME = "humanoid, 34 freedoms"
REACH = {"inverse": 1.0, "forward": 1.0, "derivatives": 0.75}  # of Pinocchio's time, at least
CALLS = range(200)


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
    return denoc.loads(yaml_of({"name": "humanoid", "convention": "frames", "gravity": gravity, "links": links}))


def yaml_of(file: dict[str, Any]) -> str:
    import json

    return json.dumps(file)  # which is YAML


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
