"""From the rows of a run to its result: columns, verdict on the energy balance, warnings, and the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from .._version import VERSION
from ..errors import InputError, NumericalError
from ..machine.backend import account_of_backend
from ..record import plain_plot_drawings
from ..robot import Effort
from ..robot.read import folder_of_robot_file, robot_data_with_mesh_places
from ..simulate.systems import work_of_prescribed_motion
from . import tabulate, wrench_columns
from .audit import DOUBTFUL, EnergyBalance, energy_balance
from .course import Course, add_inner_forces_to_scenario_course, scenario_wrenches_over_time
from .plan import Plan
from .replay import Prepared, doubts_about_replay
from .result import Result
from .rows import Rows, scenario_wrench_sums

MOST_NODES = 100_000  # rows that the quadrature of prescribed motion is tried on
SLACK = 1e-9  # relative to the limits


def conclude_result(
    plan: Plan,
    run: Course,
    seconds: float,
    table: tabulate.Table | None = None,
    code: Mapping[str, object] | None = None,
) -> Result:
    """The result of a run that took so long.

    `table` are its columns and `code` the account of how its programs ran, if these are known already.
    """
    robot = plan.robot
    table = table or columns_of_run(plan, run, plan.record.wants)
    energy, doubts_of_energy = _audit(plan, run, table)
    gaps, undetermined = (0.0, 0.0), list[str]()
    if plan.system.loops.m:
        from ..simulate import largest_gaps_of_run

        gaps, undetermined = largest_gaps_of_run(plan.system, run.t, run.q), _undetermined(plan, run, table)
    audit = audit_of_run(run.steps, run.rejected, run.evaluations, energy, gaps)
    place = run.singular
    audit["singular"] = place and {"t": place.t, "loop": place.loop, "coordinates": list(place.coordinates)}
    code, versions = code or account_of_backend(), _versions()
    expected = plan.expect
    if expected == "either":  # of two good ends that which it took
        expected = run.ended if run.ended in ("done", "singularity") else "done"
    warnings = [
        *robot.warnings,
        *plan.warnings,
        *_beyond_limits(plan, run),
        *effort_excess_warnings(plan, run),
        *doubts_of_energy,
        *doubts_about_replay(plan, code, versions),
    ]
    record = {
        "scenario": plan.name,
        "about": plan.about,
        "task": plan.task,
        "ended": run.ended,
        "reason": run.reason or unmet_expectation(plan, run.ended),
        "expected": expected,
        "rows": len(run.t),
        "seconds": round(seconds, 6),
        "audit": audit,
        "error": None,
        "events": run.events,
        "warnings": warnings,
        "undetermined": undetermined,
        "columns": [column.as_dict() for column in table.columns],
        **_origin(plan),
        "versions": versions,
        "code": dict(code),
    }
    return Result(plan.name, run.t, table.data, run.ended, audit, record, table.columns, plan.plots)


def columns_of_run(plan: Plan, run: Course, wanted: Callable[[str], bool]) -> tabulate.Table:
    """The table of a run with the columns of all wanted families."""
    if run.forces is None and (plan.robot.closed or plan.system.loops.m):
        add_inner_forces_to_scenario_course(plan, run)
    table = tabulate.table_of_column_families(_rows(plan, run), wanted)
    tabulate.add_formula_columns(table, run.t, plan.formulas)
    return table


def audit_of_run(
    steps: int, rejected: int, evaluations: int, energy: EnergyBalance | None, gaps: tuple[float, float] = (0.0, 0.0)
) -> dict[str, Any]:
    """The audit of a run that has met no singular position."""
    return {
        "closure": gaps[0],
        "closure_angle": gaps[1],
        "energy": energy and energy.residual,
        "exchanged": energy and energy.exchanged,
        "energy_share": energy and energy.share,
        "quadrature": energy and energy.quadrature,
        "steps": steps,
        "rejected": rejected,
        "evaluations": evaluations,
        "singular": None,
    }


def _origin(plan: Plan) -> dict[str, Any]:
    """The part of a run's record that says what was run."""
    robot, document = plan.robot, plan.robot.document
    # as a copy of the file elsewhere needs them
    data = robot_data_with_mesh_places(document.data, folder_of_robot_file(document)) if document else None
    return {
        "plots": plain_plot_drawings(plan.plots),
        "solver": {key: _plain(value) for key, value in vars(plan.solver).items()} if plan.system.free else None,
        "input": _plain(plan.file.model_dump(by_alias=True, exclude_none=True, exclude={"replay"})),
        "set": list(plan.settings) if isinstance(plan, Prepared) else [],
        "robot": {
            "name": robot.name,
            "about": robot.about,
            "file": document.name if document else "",
            "nq": robot.nq,
            "nv": robot.nv,
            "data": _plain(data),
        },
    }


def _rows(plan: Plan, run: Course) -> Rows:
    """The rows from which the columns are made."""
    on_links: dict[str, np.ndarray] = {}
    cuts: dict[str, np.ndarray] = {}
    if run.forces is not None:
        from ..simulate import cut_wrenches_of_run

        on_links, cuts = cut_wrenches_of_run(plan.system, run.q, run.forces)
    return Rows(
        robot=plan.robot,
        q=run.q,
        qd=run.qd,
        qdd=run.qdd,
        tau=run.tau,
        balance=run.balance,
        points=plan.points,
        loops=plan.system.loops,
        forces=run.forces,
        cuts=cuts,
        loads=lambda: scenario_wrench_sums(scenario_wrenches_over_time(plan, run.t, run.q, run.qd), on_links) or None,
        inner=lambda: _through_ties(plan, run),
        turned=plan.record.axes == "link",
    )


def _through_ties(plan: Plan, run: Course) -> dict[str, np.ndarray]:
    """What cuts and drives do to links, without the actuators, which act from outside."""
    if run.forces is None:
        return {}
    from ..simulate import cut_wrenches_of_run

    idle = replace(run.forces, actuated=np.zeros_like(run.forces.actuated))
    return cut_wrenches_of_run(plan.system, run.q, idle)[0]


def _undetermined(plan: Plan, run: Course, table: tabulate.Table) -> list[str]:
    """The columns of wrenches and of their sizes in which no rigid-body model can know the value."""
    from ..simulate import undetermined_forces_of_run

    wants = plan.record.wants
    reactions = wants("reactions") or wants("resultants")
    turned = plan.record.axes == "link"
    lost = undetermined_forces_of_run(plan.system, run.q, reactions=reactions, turned=turned)
    return [name for name in (*lost, *wrench_columns.resultant_size_columns(lost)) if name in table.data]


def _audit(plan: Plan, run: Course, table: tabulate.Table) -> tuple[EnergyBalance | None, list[str]]:
    """The energy balance and warnings about it; a run whose balance is broken has failed, unless that is accepted."""
    names = ("kinetic", "potential", "elastic", "residual")
    if f"energy.{names[-1]}" not in table.data:
        return None, []
    energies = {name: table.data[f"energy.{name}"] for name in names}
    turnover = max(run.turnover, float(abs(run.balance).max(initial=0.0)))
    integrated = run.steps > 0
    verdict = energy_balance(plan.robot, energies, turnover, run.tau, plan.solver.atol if integrated else 0.0)
    if verdict is None:
        unknown = "the energy balance is unknown: its numbers are too large to compute with"
        return None, [unknown] if run.ended != "failed" else []
    if not verdict.doubtful:
        return verdict, []
    if not integrated:
        verdict = replace(verdict, quadrature=_quadrature(plan, run, verdict))
    if not verdict.doubtful:
        return verdict, [verdict.words()]
    message = verdict.words() + (_step_hint(plan) if integrated else "")
    if plan.file.solver.energy == "accept" or plan.system.method.raw:
        return verdict, [message]
    # what ends unexpectedly at a singular position has its reason already
    as_wanted = run.ended == "done" or (run.ended == "singularity" and plan.expect != "done")
    if verdict.broken and integrated and as_wanted:
        run.ended, run.reason = "failed", f"{message}; `energy: accept` under `solver` lets that pass"
        return verdict, []
    return verdict, [message]


def _quadrature(plan: Plan, run: Course, verdict: EnergyBalance) -> float:
    """The error of the quadrature of a prescribed motion's power, estimated with finer and finer rows."""
    if plan.system.loops.m:
        return verdict.residual  # positions between the rows follow from row to row, too
    grid, last, off = plan.grid[: len(run.t)], run.balance, 0.0
    parts = 2
    while parts * len(grid) <= MOST_NODES:
        steps = np.linspace(0.0, 1.0, parts, endpoint=False)
        finer = np.append((grid[:-1, None] + np.outer(np.diff(grid), steps)).ravel(), grid[-1])
        try:
            work = work_of_prescribed_motion(plan.system, finer)[::parts]
        except (NumericalError, InputError):
            break
        off = float(abs(work - run.balance).max(initial=0.0))
        if float(abs(work - last).max(initial=0.0)) < DOUBTFUL * verdict.exchanged / 10:
            break
        parts, last = 2 * parts, work
    return off


def _step_hint(plan: Plan) -> str:
    """A hint at the step or the tolerances that may have broken the balance."""
    solver = plan.solver
    if solver.step is None:
        return "; look at `rtol` under `solver`, and at the laws"
    own = "" if plan.file.solver.step is not None else " (the output's)"
    return f": `{solver.method}` takes steps of {solver.step:.6g} s{own}; `step` under `solver` makes them shorter"


def unmet_expectation(plan: Plan, ended: str) -> str:
    """The reason why a run that ended normally hasn't ended as expected; empty if it has."""
    if ended != "done" or plan.expect != "singularity":
        return ""
    return f"the run came to its end without the {plan.expect} that was expected"


def _beyond_limits(plan: Plan, run: Course) -> list[str]:
    """Warnings about joints that leave their limits, or move faster than they can."""
    warnings = []
    for joint in plan.robot.moving:
        if joint.limits:
            q = run.q[:, joint.coordinates[0]]
            slack = 1e-9 * (joint.limits[1] - joint.limits[0])
            if q.min() < joint.limits[0] - slack or q.max() > joint.limits[1] + slack:
                warnings.append(
                    f"{joint.name} leaves its limits [{joint.limits[0]:g}, {joint.limits[1]:g}]: "
                    f"{q.min():.6g} to {q.max():.6g}"
                )
        if joint.largest_speed < math.inf:
            fastest = float(abs(run.qd[:, joint.speeds[0]]).max())
            if fastest > joint.largest_speed * (1 + 1e-9):
                unit = "rad/s" if joint.type.turning[0] else "m/s"
                warnings.append(
                    f"{joint.name} leaves its limit of velocity, {joint.largest_speed:g} {unit}: "
                    f"up to {fastest:.6g} {unit}"
                )
    return warnings


_PLAIN = frozenset({bool, int, str, type(None)})


def _plain(value: Any) -> Any:
    """Data that JSON can hold, in which numbers that aren't finite become text."""
    if type(value) in _PLAIN or (type(value) is float and math.isfinite(value)):  # which nearly all are
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(x) for x in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    number = float(value)
    return number if np.isfinite(number) else str(number)


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    import platform

    import pydantic
    import scipy
    import yaml

    versions = {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "pydantic": pydantic.VERSION,
        "PyYAML": yaml.__version__,
    }
    return {"denoc": VERSION, "python": platform.python_version(), **versions, "machine": platform.machine()}


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
