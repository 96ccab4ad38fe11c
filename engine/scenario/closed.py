"""What a plan and its rows need besides where the robot has loops: closed starts, independent motions, cut forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..closure.assemble import assembled
from ..closure.calls import applied
from ..closure.closure import Closure
from ..closure.forces import Balance, Forces, enough
from ..closure.rank import independent
from ..recursion import calls as tree
from ..recursion.samples import Samples
from ..robot.model import Joint, Robot

if TYPE_CHECKING:
    from .plan import Plan


def start(loops: Closure, q0: Sequence[float], named: Sequence[int]) -> list[float]:
    """The initial coordinates with all loops closed; what the scenario names is kept, else the actuated ones."""
    kept = list(named) or list(loops.robot.driven)
    return [float(x) for x in assembled(loops, np.array(q0, dtype=float), kept)]


def followed(loops: Closure, q0: Sequence[float], groups: Sequence[Sequence[Joint]]) -> list[Joint]:
    """Of joints whose motion is given, those that can be; of more than the freedoms the later groups give way."""
    J, _ = loops.jacobian(np.array(q0))
    scaled = loops.scaled(J)
    rows = independent(scaled, [range(loops.m)])
    speeds = [[k for joint in group for k in joint.speeds] for group in groups]
    others = [k for k in range(loops.robot.nv) if not any(k in group for group in speeds)]
    dependent = independent(scaled[rows].T, [others, *reversed(speeds)])
    return [joint for group in groups for joint in group if not set(joint.speeds) & set(dependent)]


def speeds(loops: Closure, q0: Sequence[float], qd0: Sequence[float], named: Sequence[int]) -> list[float]:
    """Speeds that keep the loops closed: the named ones as they are given, the others 0 where they can be."""
    J, _ = loops.jacobian(np.array(q0))
    rows, dependent = loops.choice(J, [*loops.robot.driven])
    if named:
        scaled = loops.scaled(J)
        rest = [k for k in range(loops.robot.nv) if k not in named]
        dependent = sorted(independent(scaled[rows].T, [rest, list(named)]))
    qd = np.array(qd0, dtype=float)
    qd[dependent] = 0.0
    if dependent:
        qd[dependent] = np.linalg.solve(J[np.ix_(rows, dependent)], -J[rows] @ qd)
    return [float(x) for x in qd]


def sought(
    plan: Plan, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: Mapping[str, np.ndarray] | None
) -> Forces:
    """The actuators' forces and the cuts' of an inverse task."""
    balance = Balance(plan.robot, q)
    enough(balance)
    return balance.solve(tree.inverse(plan.robot, q, qd, qdd, wrenches))


def transmitted(
    robot: Robot,
    loops: Closure,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    tau: np.ndarray,
    wrenches: Mapping[str, np.ndarray] | None,
) -> Forces:
    """The cuts' forces of a simulation, whose actuators' are known."""
    J, _ = loops.jacobian(q)
    left = tree.inverse(robot, q, qd, qdd, wrenches) - tau
    pushes = np.linalg.pinv((J * loops.row_scale[:, None]).transpose(0, 2, 1), rcond=1e-10)
    multipliers = np.einsum("nmk,nk->nm", pushes, left) * loops.row_scale
    driven = [k for joint in robot.moving if joint.actuated for k in joint.speeds]
    forces = np.concatenate([tau[:, driven], np.zeros((len(q), len(robot.actuators)))], axis=1)
    return Forces(forces, multipliers, ())


def cut_wrenches(robot: Robot, q: np.ndarray, forces: Forces) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What cuts and actuators do to the links, and each cut's wrench in base axes."""
    return applied(robot, Samples(robot, q=q), forces)
