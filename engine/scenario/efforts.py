"""Forces of a run that no actuator with its effort limits can give."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..robot import Effort
from .course import Course
from .plan import Plan

SLACK = 1e-9  # relative to the limits


def effort_excess_warnings(plan: Plan, run: Course) -> list[str]:
    """Warnings about forces beyond their limits, with the first instant and that of the largest excess.

    They are forces that a motion needs: of inverse dynamics, of prescribed motion, of computed torque.  The forces of
    other laws end at the limits.
    """
    warnings = []
    for name, effort, force in _limited(plan, run):
        excess = np.maximum(force - effort.high, effort.low - force)
        size = max(abs(x) for x in (effort.low, effort.high) if np.isfinite(x))
        far = np.flatnonzero(excess > SLACK * size)
        if len(far):
            worst = int(far[np.argmax(excess[far])])
            warnings.append(
                f"{name} is beyond its effort limits [{effort.low:g}, {effort.high:g}] from t = {run.t[far[0]]:.6g} s "
                f"on, most at t = {run.t[worst]:.6g} s: {force[worst]:.6g}"
            )
    return warnings


def _limited(plan: Plan, run: Course) -> Iterator[tuple[str, Effort, np.ndarray]]:
    """The columns of forces that have limits, with these and the values."""
    for joint in plan.robot.moving:
        if joint.actuated and joint.effort.limited:
            for k, suffix in zip(joint.speeds, joint.type.forces):
                yield f"{joint.name}.{suffix}", joint.effort, run.tau[:, k]
    if run.forces is not None:
        for c, one in enumerate(plan.robot.actuators, start=len(plan.robot.driven)):
            if one.effort.limited:
                yield f"{one.name}.force", one.effort, run.forces.actuated[:, c]
