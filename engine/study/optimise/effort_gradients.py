"""Derivatives of efforts along numbers on which a given motion doesn't depend, by the regressor: masses and the like.

Efforts are linear in the regressor's numbers, τ = Y π, and Y stays what it is as long as the motion does. So dτ/dp is
Y dπ/dp, with one run, and π of robots nearby, which aren't even planned.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import DenocError
from ...mechanics.mechanisms import regressor
from ...mechanics.numbers import parameters
from ...robot import Robot
from ...scenario import Plan, columns_of_run, course_of_plan
from ..identification import measured_effort_columns
from ..vary_masses import varied_key_is_of_dynamics

OTHERS = ("energy", "reactions")  # families of columns that are no efforts
SAME = 1e-9  # share of the largest effort to which the regressor gives a run's efforts


@dataclass(frozen=True)
class Beside:
    """Robots along one number, with their weights in a derivative."""

    weights: Sequence[float]
    robots: Sequence[Robot]


def motion_stays_the_same(keys: Collection[str]) -> bool:
    """Whether the values of these keys, of the scenario or after `robot.`, change no motion that is given."""
    return all(varied_key_is_of_dynamics(key) for key in keys)


def study_slopes_of_efforts(
    plan: Plan, along: Sequence[Beside], names: Collection[str]
) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]] | None:
    """The instants of a run whose motion is given, its efforts of these names, and their derivatives.

    None where not all of these are efforts, or where they have parts that the regressor doesn't know.
    """
    robot, own = plan.robot, parameters(plan.robot)
    places = {name: k for k, name in enumerate(measured_effort_columns(robot))}
    if not set(names) <= {"t", *places}:
        return None
    try:
        course = course_of_plan(plan)
        if course.ended != "done":
            return None
        table = columns_of_run(plan, course, lambda family: family not in OTHERS and plan.record.wants(family)).data
        Y = np.asarray(regressor(robot, course.q, course.qd, course.qdd))
        Y = Y if robot.closed else Y[:, list(robot.driven)]
    except DenocError:
        return None
    columns = []
    for one in along:
        each = [parameters(other) for other in one.robots]
        if any(list(other) != list(own) for other in each):
            return None
        columns.append(np.asarray(one.weights) @ np.array([list(other.values()) for other in each]))
    values = {name: table[name] for name in names if name in table}
    fitted = Y @ np.array(list(own.values()))
    for name, x in values.items():
        if name in places and not abs(fitted[:, places[name]] - x).max() <= SAME * abs(x).max(initial=0.0):
            return None
    slopes = {name: Y[:, places[name]] @ np.array(columns).T for name in values if name in places}
    return course.t, values, slopes
