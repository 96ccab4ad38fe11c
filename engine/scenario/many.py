"""The results of runs that went side by side: judged all together; tables and records are made on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from ..machine.backend import account_of_backend
from ..mechanics.mechanisms import Forces
from ..record import Column, Drawing
from ..simulate.many import EvaluatedRows, Numbers, RunTraces
from . import tabulate
from .audit import DOUBTFUL, EnergyBalance, energy_residual_amounts, residual_share_of_energy
from .conclude import audit_of_run, conclude_result
from .course import Course
from .plan import Plan
from .replay import tables_of_scenario
from .result import Result
from .rows import Rows


def equations_give_all_forces(plan: Plan) -> bool:
    """Whether the rows of a run's equations have all forces: none is sought, and none acts between links."""
    system = plan.system
    if not system.loops.m:
        return not (system.pushing or plan.robot.closed)
    return not system.pushing and plan.task != "inverse"


class Many:
    """Runs of one structure that went side by side, of which `plan` is one; `plans(k)` makes the plan of run k."""

    def __init__(
        self, plan: Plan, plans: Callable[[int], Plan], numbers: Numbers, traces: RunTraces, rows: EvaluatedRows
    ):
        self.plan, self.plans, self.code = plan, plans, account_of_backend()
        self.traces, self.rows = traces, rows
        work, loss = (np.ascontiguousarray(traces.states[..., k].T) for k in (-2, -1))
        self.balance = work - loss
        self._turnover = np.maximum(abs(work), abs(loss)).max(axis=0)
        of_all = self._rows()
        self.forces = of_all.forces
        self._judge(numbers, of_all)
        self.columns: list[Column] | None = None
        self.values = np.empty(0)
        if tabulate.column_families_serve_many(of_all, plan.record.wants):
            table = tabulate.table_of_column_families(of_all, plan.record.wants)
            tabulate.add_formula_columns(table, traces.t[:, None], plan.formulas)
            self.columns, self.names = table.columns, list(table.data)
            # (runs, columns, rows), so that the columns of a run lie one behind the other
            self.values = np.ascontiguousarray(np.stack(list(table.data.values())).transpose(2, 0, 1))

    def _rows(self) -> Rows:
        """The rows of all runs; the last axis of all arrays is that of the runs."""
        q, qd, qdd, tau = (np.moveaxis(self.rows.fields[key], 0, -1) for key in ("q", "qd", "qdd", "tau"))
        kinetic, potential, elastic = np.moveaxis(self.rows.energies, (2, 1, 0), (0, 1, 2))
        known = {"kinetic": kinetic, "potential": potential, "elastic": elastic}
        plan, cuts = self.plan, {}
        if self.rows.cuts is not None:
            wrenches = np.moveaxis(self.rows.cuts, (2, 1, 3, 0), (0, 1, 2, 3))
            cuts = {loop.name: six for loop, six in zip(plan.robot.loops, wrenches)}
        return Rows(
            robot=plan.robot,
            q=q,
            qd=qd,
            qdd=qdd,
            tau=tau,
            balance=self.balance,
            points=plan.points,
            loops=plan.system.loops,
            forces=self._forces(tau, self.rows.multipliers),
            cuts=cuts,
            loads=lambda: None,
            turned=plan.record.axes == "link",
            known=known,
        )

    def _forces(self, tau: np.ndarray, multipliers: np.ndarray | None) -> Forces | None:
        """The forces of actuators and ties in all rows of all runs, where there are loops."""
        if multipliers is None:
            return None
        robot = self.plan.robot
        none = np.zeros((len(tau), len(robot.actuators), tau.shape[2]))
        actuated = np.concatenate([tau[:, list(robot.driven)], none], axis=1)
        return Forces(actuated, np.moveaxis(multipliers, 0, -1))

    def gaps(self, k: int) -> tuple[float, float]:
        """The largest gap of any loop in any row of run k: a length and an angle."""
        loops, gaps = self.plan.system.loops, self.rows.gaps
        if gaps is None:
            return 0.0, 0.0
        values = abs(gaps[k])
        return float(values[:, ~loops.turning].max(initial=0.0)), float(values[:, loops.turning].max(initial=0.0))

    def _judge(self, numbers: Numbers, rows: Rows) -> None:
        """Find which runs are in order: they came to their end, with sound numbers and a balance that nobody doubts."""
        self.in_order = self.traces.whole & self.rows.sound
        self.verdicts: tuple[np.ndarray, np.ndarray] | None = None
        if not self.plan.record.wants("energy"):
            return
        turnover = np.maximum(self._turnover, abs(self.balance).max(axis=0))
        bodies, gravity, atol = numbers.bodies, numbers.regrouped.gravity, self.plan.solver.atol
        self.verdicts = energy_residual_amounts(bodies, gravity, rows.energies, turnover, rows.tau, atol)
        self.in_order &= residual_share_of_energy(*self.verdicts) < DOUBTFUL  # which isn't true of NaN

    def verdict(self, k: int) -> EnergyBalance | None:
        """The verdict on the energy balance of run k."""
        if self.verdicts is None:
            return None
        residual, exchanged = (float(np.broadcast_to(x, len(self.in_order))[k]) for x in self.verdicts)
        return EnergyBalance(residual, exchanged) if np.isfinite(residual) else None

    def course(self, k: int) -> Course:
        """The course of run k."""
        traces, forces = self.traces, self.forces
        if forces is not None:
            forces = Forces(forces.actuated[..., k].copy(), forces.multipliers[..., k].copy())
        return Course(
            forces=forces,
            t=traces.t.copy(),
            **{name: values[k].copy() for name, values in self.rows.fields.items()},
            balance=self.balance[:, k].copy(),
            events=traces.events(k),
            turnover=float(self._turnover[k]),
            steps=int(traces.steps[k]),
            rejected=int(traces.rejected[k]),
            evaluations=int(traces.evaluations[k]),
        )

    def result(self, k: int) -> Result:
        """The result of run k, which is in order."""
        result = OneOfMany.__new__(OneOfMany)
        result._many, result._place = self, k
        return result


class OneOfMany(Result):
    """The result of one of many runs: its table, its audit and its record are made when they are asked for."""

    _many: Many
    _place: int
    ended = "done"

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        return self._many.plan.name

    @cached_property
    def plots(self) -> tuple[Drawing, ...]:  # type: ignore[override]
        return self._many.plan.plots

    @cached_property
    def t(self) -> np.ndarray:  # type: ignore[override]
        return self._many.traces.t.copy()

    @cached_property
    def table(self) -> dict[str, np.ndarray]:  # type: ignore[override]
        many = self._many
        if many.columns is None:
            return self._in_full.table
        return dict(zip(many.names, many.values[self._place]))

    @cached_property
    def columns(self) -> list[Column]:  # type: ignore[override]
        return self._in_full.columns if self._many.columns is None else list(self._many.columns)

    @cached_property
    def audit(self) -> dict[str, Any]:  # type: ignore[override]
        traces, k = self._many.traces, self._place
        steps, rejected, evaluations = (int(x[k]) for x in (traces.steps, traces.rejected, traces.evaluations))
        return audit_of_run(steps, rejected, evaluations, self._many.verdict(k), self._many.gaps(k))

    @cached_property
    def record(self) -> dict[str, Any]:  # type: ignore[override]
        return {**self._in_full.record, "audit": self.audit}

    @cached_property
    def tables(self) -> dict[str, bytes]:  # type: ignore[override]
        return tables_of_scenario(self._plan)

    @cached_property
    def _plan(self) -> Plan:
        return self._many.plans(self._place)

    @cached_property
    def _in_full(self) -> Result:
        """What a single run would have as its result."""
        many, table = self._many, None
        if many.columns is not None:
            table = tabulate.Table()
            table.columns, table.data = self.columns, self.table
        with np.errstate(over="ignore", invalid="ignore"):
            return conclude_result(self._plan, many.course(self._place), 0.0, table, many.code)

    def __reduce__(self) -> tuple[type[Result], tuple[Any, ...]]:
        return Result, tuple(getattr(self, field.name) for field in fields(Result))
