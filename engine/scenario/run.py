"""Runs of scenarios, from a file or a mapping to a `Result`; nothing is written here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .._version import VERSION
from ..errors import InputError, NumericalError
from ..machine.jit.account import account
from ..record import plots, write
from ..record.columns import Column
from ..robot.build import build
from ..robot.load import load
from ..robot.model import Robot
from ..simulate import internal_forces, prescribed
from ..simulate.feedforward import runner
from ..simulate.loop import Progress, Trace
from ..simulate.runner import Runner
from ..text.change import Change, changed, parted
from ..text.checking import in_words
from ..text.document import Document
from ..text.library import find
from ..text.source import from_mapping, read
from . import efforts, tabulate
from .audit import DOUBTFUL, EnergyBalance, energy_balance
from .course import Course, add_inner_forces, algebraic, course_of, followed, integrated, timed_wrenches
from .plan import Plan, plan
from .replay import Prepared, doubts, files, name_of, prepared, recorded, tables, unchanged

MOST_NODES = 100_000  # rows that the quadrature of prescribed motion is tried on

Scenario = str | Path | Mapping[str, Any]


@dataclass
class Result:
    """The result of a run; `table` maps column names to values over `t`."""

    name: str
    t: np.ndarray
    table: dict[str, np.ndarray]
    ended: str
    audit: dict[str, Any]
    record: dict[str, Any]
    columns: list[Column] = field(repr=False)
    plots: tuple[str, ...] = ()
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)  # the files that the scenario's laws have read

    def to_csv(self, path: str | Path) -> Path:
        """Writes the CSV file, whole or not at all."""
        path = Path(path)
        write.whole(path, lambda draft: draft.write_text(write.csv_text(self.t, self.table), encoding="utf-8"))
        return path

    def plot(self, *which: str, folder: str | Path | None = None, form: str = "png") -> dict[str, Any]:
        """Matplotlib figures by name, by default the scenario's plots; also written to `folder` if it is given."""
        for name in which:
            if name not in plots.PLOTS:
                raise InputError("unknown plot", found=in_words(name), allowed=", ".join(plots.PLOTS))
        if form not in plots.FORMATS:
            raise InputError("unknown format of plots", found=in_words(form), allowed=", ".join(plots.FORMATS))
        robot = str(self.record["robot"]["name"])
        made = plots.figures(self.name, self.t, self.table, self.columns, which or self.plots, robot)
        if folder is not None:
            write.make_folder(Path(folder))
            for stem, figure in made.items():
                write.whole(Path(folder) / f"{stem}.{form}", partial(plots.save, figure))
        return made

    def write(self, folder: str | Path, form: str = "png", *, plot: bool = True) -> list[Path]:
        """Writes CSV, JSON record, plots and replay files to `folder`, all or none, and returns their paths."""
        wanted: Sequence[str] = self.plots if plot else ()
        more = files(self.name, self.record, self.tables)
        return write.write_result(
            Path(folder), self.name, self.t, self.table, self.columns, self.record, wanted, form, more
        )


def run(scenario: Scenario, robot: Robot | str | Path | None = None) -> Result:
    """The result of a scenario (path, library name or mapping); `robot` replaces the file's."""
    return carry_out(prepare(scenario, robot))


def prepare(scenario: Scenario, robot: Robot | str | Path | None = None, changes: Sequence[Change] = ()) -> Plan:
    """The plan of a scenario with `changes` to its files; only bad input raises errors."""
    rest, of_robot = parted(changes)
    document, name, beside = opened(scenario)
    document = changed(document, rest)
    if not isinstance(robot, Robot):
        robot = load(robot) if robot is not None else robot_of(document, beside)
    robot = with_changes(robot, of_robot)
    made = plan(document, robot, name or f"{robot.name}-{_ending(document)}")
    return prepared(made, document, changes)


def opened(scenario: Scenario) -> tuple[Document, str, Path | None]:
    """The document of a scenario, the name that its file gives it, and the file's folder."""
    if isinstance(scenario, Mapping):
        return from_mapping(scenario), "", None
    path = find(scenario, "scenarios")
    unchanged(path)
    return read(path), name_of(path), path.parent


def with_changes(robot: Robot, changes: Sequence[Change]) -> Robot:
    """The robot that its file describes with these changes."""
    if not changes:
        return robot
    if robot.document is None:
        raise changes[0].error("a robot without a file can't be changed")
    return build(changed(robot.document, changes))


def _ending(document: Document) -> str:
    """The ending of the name of a scenario that has none."""
    task = document.data.get("task") if isinstance(document.data, dict) else None
    return {"inverse": "idyn", "simulate": "sim"}.get(task, "run") if isinstance(task, str) else "run"


def robot_of(document: Document, beside: Path | None) -> Robot:
    """The robot that a scenario names."""
    data = document.data
    given = data.get("robot") if isinstance(data, dict) else None
    if isinstance(data, dict) and "links" in data and "task" not in data:
        raise document.error(("links",), "this is a robot, not a scenario", key=True, hint="`denoc idyn` runs it")
    if not isinstance(given, str):
        there = isinstance(data, dict) and "robot" in data
        raise document.error(
            ("robot",) if there else (),
            "not the name of a robot" if there else "`robot` is missing: the scenario names none",
            found=in_words(given) if there else in_words(data) if not isinstance(data, dict) else "",
            allowed="robot: a file beside this one, or a name of the library",
        )
    try:
        path = find(given, "robots", beside)
    except InputError as error:
        message = (f"{error.place}: " if error.place else "") + error.message
        raise document.error(("robot",), message, found=error.found, allowed=error.allowed, hint=error.hint) from None
    return build(read(path))


# ---- carrying out


def carry_out(plan: Plan, report: Progress | None = None, start: Callable[[], Runner] | None = None) -> Result:
    """Carries out a plan; `report(t)` is called with its progress, and `start` replaces the usual runner."""
    begun = time.perf_counter()
    report = report or (lambda t: None)
    contents = tables(plan)
    # a run whose numbers overflow ends as failed
    with recorded(plan), np.errstate(over="ignore", invalid="ignore"):
        under_way = start() if start is not None else runner(plan.system, plan.q0)
        if under_way.unknown:
            run = integrated(plan, under_way, report)
        else:
            run = followed(plan, under_way, report) if plan.system.loops is not None else algebraic(plan, report)
        result = _result(plan, run, time.perf_counter() - begun)
    result.tables = contents
    return result


def result_of(plan: Plan, run: Runner, trace: Trace) -> Result:
    """The result of a run whose trace was integrated elsewhere."""
    return _result(plan, course_of(run, trace), 0.0)


def _result(plan: Plan, run: Course, seconds: float) -> Result:
    robot = plan.robot
    if run.forces is None and (robot.closed or plan.system.loops is not None):
        add_inner_forces(plan, run)
    table = tabulate.table(_rows(plan, run), plan.record.wants)
    gaps = internal_forces.gaps(plan.system, run.t, run.q)
    energy, doubts_of_energy = _audit(plan, run, table)
    audit = {
        "closure": gaps[0],
        "closure_angle": gaps[1],
        "energy": energy and energy.residual,
        "exchanged": energy and energy.exchanged,
        "energy_share": energy and energy.share,
        "quadrature": energy and energy.quadrature,
        "steps": run.steps,
        "rejected": run.rejected,
        "evaluations": run.evaluations,
        "singular": run.singular and {**vars(run.singular), "coordinates": list(run.singular.coordinates)},
    }
    code, versions = account(), _versions()
    warnings = [
        *robot.warnings,
        *plan.warnings,
        *_beyond_limits(plan, run),
        *efforts.excess_warnings(plan, run),
        *doubts_of_energy,
    ]
    warnings += doubts(plan, code, versions)
    record = {
        "scenario": plan.name,
        "about": plan.about,
        "task": plan.task,
        "ended": run.ended,
        "reason": run.reason or _unmet(plan, run),
        "expected": _expected(plan, run),
        "rows": len(run.t),
        "seconds": round(seconds, 6),
        "audit": audit,
        "events": run.events,
        "warnings": warnings,
        "undetermined": internal_forces.undetermined(plan.system, run.q, reactions=plan.record.wants("reactions")),
        "columns": [column.as_dict() for column in table.columns],
        "plots": list(plan.plots),
        "solver": {key: _plain(value) for key, value in vars(plan.solver).items()} if plan.system.free else None,
        "input": _plain(plan.file.model_dump(by_alias=True, exclude_none=True, exclude={"replay"})),
        "set": list(plan.settings) if isinstance(plan, Prepared) else [],
        "robot": {
            "name": robot.name,
            "about": robot.about,
            "file": robot.document.name if robot.document else "",
            "nq": robot.nq,
            "nv": robot.nv,
            "data": _plain(robot.document.data) if robot.document else None,
        },
        "versions": versions,
        "code": code,
    }
    return Result(plan.name, run.t, table.data, run.ended, audit, record, table.columns, plan.plots)


def _rows(plan: Plan, run: Course) -> tabulate.Rows:
    """The rows from which the columns are made."""
    on_links: dict[str, np.ndarray] = {}
    cuts: dict[str, np.ndarray] = {}
    if run.forces is not None:
        on_links, cuts = internal_forces.cut_wrenches(plan.system, run.q, run.forces)
    return tabulate.Rows(
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
        loads=lambda: tabulate.together(timed_wrenches(plan, run.t, run.q), on_links) or None,
    )


def _audit(plan: Plan, run: Course, table: tabulate.Table) -> tuple[EnergyBalance | None, list[str]]:
    """The energy balance and warnings about it; a run whose balance is broken has failed, unless that is accepted."""
    names = ("kinetic", "potential", "elastic", "residual")
    if f"energy.{names[-1]}" not in table.data:
        return None, []
    energies = {name: table.data[f"energy.{name}"] for name in names}
    turnover = max(run.turnover, float(abs(run.balance).max(initial=0.0)))
    verdict = energy_balance(plan.robot, energies, turnover, run.tau, plan.solver.atol if plan.system.free else 0.0)
    if verdict is None or not verdict.doubtful:
        return verdict, []
    if not plan.system.free:
        verdict = replace(verdict, quadrature=_quadrature(plan, run, verdict))
    if not verdict.doubtful:
        return verdict, [verdict.words()]
    message = verdict.words() + _step_hint(plan)
    if plan.file.solver.energy == "accept" or (plan.system.method.raw and plan.system.loops is not None):
        return verdict, [message]
    if verdict.broken and plan.system.free and run.ended in ("done", "singularity"):
        run.ended, run.reason = "failed", f"{message}; `energy: accept` under `solver` lets that pass"
        return verdict, []
    return verdict, [message]


def _quadrature(plan: Plan, run: Course, verdict: EnergyBalance) -> float:
    """The error of the quadrature of a prescribed motion's power, estimated with finer and finer rows."""
    if plan.system.loops is not None:
        return verdict.residual  # positions between the rows follow from row to row, too
    grid, last, off = plan.grid[: len(run.t)], run.balance, 0.0
    parts = 2
    while parts * len(grid) <= MOST_NODES:
        steps = np.linspace(0.0, 1.0, parts, endpoint=False)
        finer = np.append((grid[:-1, None] + np.outer(np.diff(grid), steps)).ravel(), grid[-1])
        try:
            work = prescribed.work(plan.system, finer)[::parts]
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
    if not plan.system.free or solver.step is None:
        return "; look at `rtol` under `solver`, and at the laws" if plan.system.free else ""
    own = "" if plan.file.solver.step is not None else " (the output's)"
    return f": `{solver.method}` takes steps of {solver.step:.6g} s{own}; `step` under `solver` makes them shorter"


def _expected(plan: Plan, run: Course) -> str:
    """How the run should have ended: of two good ends, by the one that it took."""
    if plan.expect != "either":
        return plan.expect
    return run.ended if run.ended in ("done", "singularity") else "done"


def _unmet(plan: Plan, run: Course) -> str:
    """The reason why a run that ended normally hasn't ended as expected; empty if it has."""
    if run.ended != "done" or plan.expect != "singularity":
        return ""
    return f"the run came to its end without the {plan.expect} that was expected"


def _beyond_limits(plan: Plan, run: Course) -> list[str]:
    """Warnings about joints that leave their limits."""
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
    return warnings


def _plain(value: Any) -> Any:
    """Data that JSON can hold, in which numbers that aren't finite become text."""
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
    from importlib.metadata import version

    packages = {name: version(name) for name in ("numpy", "scipy", "pydantic", "PyYAML")}
    return {"denoc": VERSION, "python": platform.python_version(), **packages, "machine": platform.machine()}


__all__ = ["Result", "Scenario", "carry_out", "prepare", "run"]
