"""The course of a run: its rows as arrays, integrated or, if all motion is prescribed, computed for each instant."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, NumericalError
from ..machine.jit import ENORMOUS
from ..mechanics.quantities import inverse as tree_inverse
from ..mechanics.quantities import passive_power
from ..mechanics.tree import vanishing_inertia_message
from ..simulate import Progress, Trace
from ..simulate.systems import (
    actuator_forces_at_instants,
    forces_by_laws_at_instants,
    prescribed_motion_rows,
    quadrature_instants,
    run_work_gathered,
    work_of_prescribed_motion,
    wrenches_at_instants,
)
from .plan import Plan

if TYPE_CHECKING:
    from ..mechanics.mechanisms import Forces
    from ..simulate import Runner, Singular
    from ..simulate.systems import Discrete


@dataclass
class Course:
    """The rows of a run as arrays, with the energy that came in from outside since the first row."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    balance: np.ndarray
    turnover: float = 0.0  # the larger of the work done and the energy that friction took
    quadrature: float = 0.0  # error of the balance's quadrature between the rows, where it was looked for
    resistance: np.ndarray | None = None  # of dry friction and stops on the joints, as in the equations of motion
    ended: str = "done"
    reason: str = ""
    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    singular: Singular | None = None
    forces: Forces | None = None  # of actuators and cuts, where there are loops


def scenario_course_by_integration(plan: Plan, run: Runner, report: Progress) -> Course:
    from ..simulate import integrate_run

    return course_of_trace(run, integrate_run(run, plan.q0, plan.qd0, plan.grid, plan.solver, plan.kinks, report))


def course_of_trace(run: Runner, trace: Trace) -> Course:
    """The rows of a trace with everything evaluated."""
    from ..simulate import ROW_FIELDS

    states, signals, nv = np.array(trace.states), np.array(trace.signals), run.robot.nv
    rows: dict[str, Any] = {name: np.empty((len(trace.t), run.robot.nq if name == "q" else nv)) for name in ROW_FIELDS}
    alike: dict[object, tuple[Discrete, list[int]]] = {}
    for one, neighbours in groupby(range(len(trace.t)), key=trace.discrete.__getitem__):
        # in a tree, all that the equations of one program read of modes is among the signals
        alike.setdefault(one.name if one.partition is None else one, (one, []))[1].extend(neighbours)
    for discrete, places in alike.values():
        these = slice(None) if len(alike) == 1 else np.array(places)
        for name, values in run.many(signals[these], states[these], discrete).items():
            rows[name][these] = values
    if trace.ended == "done":
        _trusted(run, trace, rows["qdd"])
    return Course(
        t=np.array(trace.t),
        **rows,
        balance=states[:, -2] - states[:, -1],
        turnover=float(abs(states[:, -2:]).max(initial=0.0)),
        ended=trace.ended,
        reason=trace.reason,
        steps=trace.steps,
        rejected=trace.rejected,
        evaluations=trace.evaluations,
        events=trace.events,
        singular=trace.singular,
    )


def _trusted(run: Runner, trace: Trace, qdd: np.ndarray) -> None:
    """Ends a run as failed where accelerations are enormous because a joint has next to nothing to accelerate."""
    n = int(np.argmax(abs(qdd).max(axis=1, initial=0.0)))
    enormous = float(abs(qdd[n]).max(initial=0.0)) >= ENORMOUS
    if enormous and (idle := run.without_inertia(trace.t[n], trace.states[n], trace.discrete[n])):
        trace.ended, trace.reason = "failed", f"at t = {trace.t[n]:.9g} s: {vanishing_inertia_message(idle)}"


def scenario_course_by_following(plan: Plan, run: Runner, report: Progress) -> Course:
    """The run of a mechanism with all motion prescribed: positions by continuation, then inverse dynamics."""
    from ..mechanics.mechanisms import Forces
    from ..simulate import follow_prescribed_motion

    times, each = quadrature_instants(plan.grid) if plan.record.wants("energy") else (plan.grid, 1)
    path = follow_prescribed_motion(run, np.array(plan.q0), times, report)
    t = times[: len(path.q)]
    wrenches = scenario_wrenches_over_time(plan, t, path.q, path.qd)
    forces, tau, power = _sought(plan, t, path.q, path.qd, path.qdd, wrenches)
    rows = slice(0, len(t), each)
    balance = np.zeros(len(t[rows]))
    if plan.record.wants("energy"):
        power = power + passive_power(plan.robot, path.q, path.qd, wrenches)
        balance = run_work_gathered(t[rows], power)
    result = Course(t[rows], path.q[rows], path.qd[rows], path.qdd[rows], tau[rows], balance, evaluations=len(t))
    result.forces = Forces(forces.actuated[rows], forces.multipliers[rows])
    if path.singular is not None:
        result.ended, result.singular = "singularity", path.singular
        result.reason = f"at t = {path.singular.t:.9g} s: {path.singular.of_given_motion()}"
    return result


def _sought(
    plan: Plan,
    t: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    wrenches: dict[str, np.ndarray] | None,
    resistance: np.ndarray | None = None,
) -> tuple[Forces, np.ndarray, np.ndarray]:
    """The forces that an inverse task seeks, those of all joints, and their power, beside the given force laws."""
    from ..simulate import sought_forces_of_run

    acting = forces_by_laws_at_instants(plan.system, t, q, qd)
    return sought_forces_of_run(plan.system, q, qd, qdd, wrenches, acting, resistance)


def scenario_course_by_algebra(plan: Plan, report: Progress) -> Course:
    """The run of a tree with all motion prescribed: inverse dynamics on the grid."""
    q, qd, qdd = prescribed_motion_rows(plan.system, plan.grid)
    tau, done, reason = _forces_until_failure(plan, q, qd, qdd)
    kept = slice(0, max(done, 1))
    try:
        wanted = plan.record.wants("energy")
        balance = work_of_prescribed_motion(plan.system, plan.grid[kept]) if wanted else np.zeros(max(done, 1))
    except (NumericalError, InputError):
        balance = np.full(max(done, 1), np.nan)
    run = Course(plan.grid[kept], q[kept], qd[kept], qdd[kept], tau[kept], balance, evaluations=max(done, 1))
    if done < len(plan.grid):
        run.ended, run.reason = "failed", f"at t = {plan.grid[done]:.9g} s: {reason}"
    report(float(run.t[-1]))
    return run


def scenario_course_by_equations(plan: Plan, run: Runner, report: Progress) -> Course:
    """The run of a tree with all motion prescribed, on which actuators that are no joint's act: by its equations."""
    times, _ = quadrature_instants(plan.grid)
    y, trace = run.start(plan.q0, plan.qd0), Trace(evaluations=len(times))
    powers = np.array([run.derivative(float(t), y)[-2:] for t in times])
    balance = run_work_gathered(plan.grid, powers[:, 0] - powers[:, 1])
    for t, work in zip(plan.grid.tolist(), balance.tolist()):
        trace.keep(run, t, np.array([work, 0.0]))
    report(trace.t[-1])
    return course_of_trace(run, trace)


def _forces_until_failure(plan: Plan, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, int, str]:
    """The forces of inverse dynamics, the number of rows that have them, and the reason why others haven't."""
    tau = np.full(qd.shape, np.nan)
    finite = np.isfinite(np.hstack([q, qd, qdd])).all(axis=1)
    done = len(finite) if finite.all() else int(np.argmin(finite))
    reason = "the motion is beyond the floating-point numbers"
    try:
        tau[:done] = _forces(plan, q, qd, qdd, done)
    except NumericalError as error:  # bisection finds the first row that fails
        sound, failing, reason = 0, done, str(error)
        while failing - sound > 1:
            middle = (sound + failing) // 2
            try:
                tau[:middle] = _forces(plan, q, qd, qdd, middle)
                sound = middle
            except NumericalError:
                failing = middle
        done = sound
    return tau, done, reason


def _forces(plan: Plan, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, count: int) -> np.ndarray:
    """The forces of inverse dynamics at the first `count` rows."""
    wrenches = scenario_wrenches_over_time(plan, plan.grid[:count], q[:count], qd[:count])
    return tree_inverse(plan.robot, q[:count], qd[:count], qdd[:count], wrenches)


def scenario_wrenches_over_time(
    plan: Plan, t: np.ndarray, q: np.ndarray, qd: np.ndarray
) -> dict[str, np.ndarray] | None:
    """The scenario's wrenches by link, as [n; f] at its origin in its axes."""
    return wrenches_at_instants(plan.robot, plan.system.inputs.wrenches, t, q, qd)


def add_inner_forces_to_scenario_course(plan: Plan, run: Course) -> None:
    """Puts the forces of cuts, and in inverse dynamics those of actuators, into the run."""
    from ..mechanics.mechanisms import Forces
    from ..simulate import cut_forces_of_run

    robot, wrenches = plan.robot, scenario_wrenches_over_time(plan, run.t, run.q, run.qd)
    if plan.task == "inverse":
        run.forces, run.tau, _ = _sought(plan, run.t, run.q, run.qd, run.qdd, wrenches, run.resistance)
        return
    pushes = actuator_forces_at_instants(plan.system, run.t, run.q, run.qd)
    if plan.system.loops.m:
        run.forces = cut_forces_of_run(
            robot, plan.system.loops, run.q, run.qd, run.qdd, run.tau, pushes, run.resistance, wrenches
        )
    elif plan.system.pushing:
        run.forces = Forces(np.hstack([run.tau[:, list(robot.driven)], pushes]), np.zeros((len(run.t), 0)))
