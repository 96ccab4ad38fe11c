"""The check of a result's rows by the equations of motion of any engine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...dynamics.quantities import inertia
from ...errors import NumericalError
from ...peers.peer import PeerModel
from ...record.compared import Difference, allowed_recorded_difference
from ...robot import Robot
from .check import FLOOR, Check, check_of_differences, worst_row_of_column
from .stored_rows import RowMotion, StoredRows


def check_motion_of_rows(
    reading: StoredRows, rows: RowMotion, engine: PeerModel, share: float, notes: list[str]
) -> Check:
    """Whether each row satisfies the equations of motion: its forces fit its motion, and its motion its forces."""
    robot, t = reading.plan.robot, reading.t[reading.sound]
    sizes = rows.sizes(engine)
    compared = list(_along(robot, t, "forces", rows.tau, rows.tau + rows.residual(engine), sizes, share))
    words = f"forces of {len(t)} rows"
    try:
        found = rows.accelerations(engine)
    except NumericalError:
        found = None
    if found is None or not np.isfinite(found).all():
        notes.append(f"accelerations were not checked by {engine.title}: the tree alone has massless joints")
    else:
        sizes = abs(rows.qdd).max(axis=0, initial=0.0)
        share = max(share, _conditioned(robot, rows.q))
        compared += _along(robot, t, "accelerations", rows.qdd, found, sizes, share)
        words = f"forces and accelerations of {len(t)} rows"
    return check_of_differences("motion", engine.title, words, compared)


def _along(
    robot: Robot, t: np.ndarray, what: str, old: np.ndarray, new: np.ndarray, sizes: np.ndarray, share: float
) -> Iterator[Difference]:
    """The worst difference along each speed, whose column is named by `forces` or `accelerations`."""
    turns = [turning for joint in robot.moving for turning in joint.type.turning]
    names = [f"{joint.name}.{suffix}" for joint in robot.moving for suffix in getattr(joint.type, what)]
    units = {"forces": ("N m", "N"), "accelerations": ("rad/s²", "m/s²")}[what]
    for k, (name, turning) in enumerate(zip(names, turns)):
        kind = max(x for x, other in zip(sizes, turns) if other == turning)
        allowed = allowed_recorded_difference(float(sizes[k]), float(kind), share, None, FLOOR * share)
        yield worst_row_of_column(units[0] if turning else units[1], name, t, old[:, k], new[:, k], allowed)


def _conditioned(robot: Robot, q: np.ndarray) -> float:
    """The share to which accelerations can be known, by the condition of the inertia matrix in a few rows."""
    if not len(q) or not robot.nv:
        return 0.0
    return max(1e-14 * float(np.linalg.cond(inertia(robot, q[n]))) for n in {0, len(q) // 2, len(q) - 1})
