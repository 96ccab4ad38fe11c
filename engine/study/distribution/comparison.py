"""The columns of a distributed run beside those of the undistributed one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...scenario import Plan, Result

QUANTITIES = {"q": "coordinates", "qd": "speeds", "qdd": "accelerations"}


def columns_of_all_joints(plan: Plan, result: Result, what: str) -> np.ndarray:
    """The columns of all joints from a result's table."""
    kind = QUANTITIES[what]
    names = [f"{joint.name}.{suffix}" for joint in plan.robot.moving for suffix in _suffixes(joint.type, kind)]
    return np.column_stack([result.table[name] for name in names])


def _suffixes(type_: Any, kind: str) -> Sequence[str]:
    return tuple(getattr(type_, kind))


def force_columns_of_actuators(plan: Plan) -> list[str]:
    """The columns of the forces of joints with actuators."""
    moving = [joint for joint in plan.robot.moving if joint.actuated]
    return [f"{joint.name}.{suffix}" for joint in moving for suffix in joint.type.forces]


def relative_difference(x: np.ndarray, reference: np.ndarray) -> float:
    """The largest difference, relative to the largest number."""
    return float(abs(x - reference).max(initial=0.0) / max(abs(reference).max(initial=0.0), 1e-300))


def differences_by_family(result: Result, reference: Result) -> dict[str, float]:
    """The largest difference in common rows by family, relative to the family's largest number."""
    rows = min(len(result.t), len(reference.t))
    by_family: dict[str, tuple[float, float]] = {}
    for column in reference.columns:
        if column.name in result.table and column.family in ("position", "rate", "acceleration", "force"):
            a, b = result.table[column.name][:rows], reference.table[column.name][:rows]
            off, size = by_family.get(column.family, (0.0, 0.0))
            by_family[column.family] = (
                max(off, float(abs(a - b).max(initial=0.0))),
                max(size, float(abs(b).max(initial=0.0))),
            )
    return {family: off / size if size else off for family, (off, size) in by_family.items()}
