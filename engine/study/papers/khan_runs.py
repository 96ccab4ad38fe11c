"""Runs of Khan's manipulator (2002) under each closure method, and what is drawn and said of them.

The tree is `three-rrr-platform`, on which the thesis' penalty and projection methods stand: three open legs of two
links, the platform free between three cuts, nine coordinates and six constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from ...dataclass import dataclass
from ...machine.jit import choice
from ...parallel.engines import Process
from ...parallel.rates import ByLegs
from ...record.panels import Line, Panel
from ...scenario.run import carry_out_plan
from ..compare import Comparison
from ..compare_settings import ADAPTIVE, FIXED, STAGES, Options, RunSetting
from ..compared import Run
from ..distribution.study import distribution_explained
from ..stiffness import evaluation_time_for_comparison
from .exhibit import Reproduction, Row, Table

MOTION, HUNG = "three-rrr-platform-idyn", "three-rrr-idyn"  # the platform free, and hung on leg 1
BURST = 1e3  # rad: beyond it no curve is drawn
PENALTY, GAUSS, QR, RAW = "penalty", "projection-gauss", "projection-qr", "projection-svd-raw"
DENOC = "denoc-extended"  # as in the thesis: all joint rates are integrated, nothing is stabilised
FEW = 2000  # evaluations of runs that are only begun, a tenth of it for methods that can't be compiled


@cache
def khan_comparison(scenario: str = MOTION, most: int | None = None) -> Comparison:
    """The comparison of one scenario, with a limit of evaluations."""
    return Comparison(scenario, Options() if most is None else Options(max_evaluations=most))


@cache
def khan_run(setting: RunSetting, scenario: str = MOTION, most: int | None = None) -> Run:
    """The run of a setting, made once."""
    run = khan_comparison(scenario, most).run(setting)
    if run.ended == "interrupted":
        raise KeyboardInterrupt
    return run


def khan_penalty_setting(k: float, integrator: str, accuracy: float, feedback: bool = False) -> RunSetting:
    return RunSetting(PENALTY, "k", k, integrator, accuracy, feedback)


def khan_gauss_setting(sigma: float, integrator: str, accuracy: float, feedback: bool = False) -> RunSetting:
    return RunSetting(GAUSS, "sigma", sigma, integrator, accuracy, feedback)


def khan_denoc_setting(integrator: str, accuracy: float, feedback: bool = False) -> RunSetting:
    return RunSetting(DENOC, "", None, integrator, accuracy, feedback)


def khan_raw_projection(integrator: str = ADAPTIVE, accuracy: float = 1e-3) -> RunSetting:
    """The projection of Yun and Sarkar."""
    return RunSetting(RAW, "sigma", 10.0, integrator, accuracy)


@cache
def khan_plain_seconds(setting: RunSetting) -> float:
    """The seconds of one evaluation of the equations of motion that isn't compiled."""
    with choice.using_backend("plain"):
        return evaluation_time_for_comparison(khan_comparison().plan, khan_comparison().runner(setting))


@dataclass(frozen=True)
class Legs:
    """The recursion by legs: its run, and the messages that nodes in different places would exchange."""

    run: Run
    exchanges: int  # in an evaluation


@cache
def khan_run_by_legs(integrator: str, accuracy: float) -> Legs:
    """The motion under DeNOC's own recursion, N_l N_c N_d by legs, in one process and not compiled.

    The legs meet at the platform, so it is hung on leg 1; loops are closed again in each evaluation.
    """
    setting, own = RunSetting("denoc", "", None, integrator, accuracy), khan_comparison(HUNG)
    system = own.runner(setting).system
    equations = ByLegs(system, Process())
    begun = equations.begun(system, own.plan.q0)
    plan = replace(own.plan, system=system, solver=own.solver(setting))
    result = carry_out_plan(plan, start=lambda: equations.begun(system, own.plan.q0))
    if result.ended == "interrupted":
        raise KeyboardInterrupt
    run = Run(setting, result.ended, result.record["reason"], t=result.t, reached=float(result.t[-1]))
    run.evaluations, run.steps = result.audit["evaluations"], result.audit["steps"]
    run.evaluation = evaluation_time_for_comparison(own.plan, begun)
    run.stiffness = khan_run(setting, HUNG).stiffness  # the same equations of state
    own.judge(run, result.table)
    rows = distribution_explained(lambda: replace(plan, task="simulate"))[3]
    return Legs(run, sum(row.way == "to central" for row in rows))


# ---- what is drawn


def khan_panel_name(setting: RunSetting) -> str:
    """The name of a panel: its parameter, or its integration if it has none."""
    return f"{setting.parameter} = {setting.value:g}" if setting.parameter else setting.integration


def khan_values_on_grid(grid: np.ndarray, run: Run, values: np.ndarray) -> np.ndarray:
    """The values at all instants of the grid, NaN where the run has ended or blown up."""
    values_on_grid = np.full(len(grid), np.nan)
    rows = np.searchsorted(run.t, grid - 1e-9)
    known = (rows < len(run.t)) & (abs(run.t[np.minimum(rows, len(run.t) - 1)] - grid) < 1e-9)
    values_on_grid[known] = values[rows[known]]
    return np.where(abs(values_on_grid) < BURST, values_on_grid, np.nan)


def khan_run_in_words(run: Run) -> str:
    """What has come of a run, in words."""
    counts = f"{run.evaluations} evaluations, {run.steps} steps"
    if run.ended == "done":
        return f"{counts}, largest error {run.error_max:.2g} rad"
    return f"broke off at {run.reached:.2f} s, {counts}"


def khan_error_panels(
    settings: Sequence[RunSetting], quoted: Sequence[str], verdict: Callable[[Sequence[Run]], str]
) -> Callable[[], Reproduction]:
    """A panel for each run with the errors of the driven joints; `quoted` is the thesis on each run."""

    def make() -> Reproduction:
        grid = khan_comparison().plan.grid
        table: Table = {"t": grid}
        panels, rows, runs = [], [], [khan_run(setting) for setting in settings]
        for letter, run, words in zip("abcdefgh", runs, quoted):
            name, lines = khan_panel_name(run.setting), []
            for k, (column, values) in enumerate(run.errors.items()):
                table[f"{name}: {column} error"] = khan_values_on_grid(grid, run, values)
                lines.append(Line(f"{name}: {column} error", f"θ{chr(0x2081 + k)}"))
            panels.append(Panel(f"({letter}) {name}", "joint-angle error", "rad", tuple(lines)))
            rows.append((name, words, khan_run_in_words(run)))
        return Reproduction(table, tuple(panels), tuple(rows), ranges=False, verdict=verdict(runs))

    return make


def khan_feedback_panels(setting: RunSetting, quoted: str, verdict: Callable[[Run], str]) -> Callable[[], Reproduction]:
    """Panels with the errors under feedback, and with the corrections of the torques."""

    def make() -> Reproduction:
        run, grid = khan_run(setting), khan_comparison().plan.grid
        table: Table = {"t": grid}
        lines: dict[str, list[Line]] = {"error": [], "correction": []}
        for kind, values in (("error", run.errors), ("correction", run.corrections)):
            for k, (column, x) in enumerate(values.items()):
                table[f"{column} {kind}"] = khan_values_on_grid(grid, run, x)
                lines[kind].append(Line(f"{column} {kind}", f"{'θ' if kind == 'error' else 'τ'}{chr(0x2081 + k)}"))
        panels = (
            Panel("(a) with feedback", "joint-angle error", "rad", tuple(lines["error"])),
            Panel("(b) correction of the torques", "share of the largest", "%", tuple(lines["correction"])),
        )
        rows = (
            ("correction, of the joint's largest torque", quoted, f"up to {run.correction:.2g} %"),
            ("correction, of the torque at that instant", quoted, f"up to {run.correction_now:.2g} %"),
            (str(setting), "", khan_run_in_words(run)),
        )
        return Reproduction(table, panels, rows, verdict=verdict(run))

    return make


def khan_run_given_up() -> Reproduction:
    """The errors of Yun and Sarkar's projection, whose directions change places."""
    run, grid = khan_run(khan_raw_projection()), khan_comparison().plan.grid
    kept = khan_run(khan_gauss_setting(10.0, ADAPTIVE, 1e-6))
    table: Table = {"t": grid}
    lines = []
    for k, (column, values) in enumerate(run.errors.items()):
        table[f"{column} error"] = khan_values_on_grid(grid, run, values)
        lines.append(Line(f"{column} error", f"θ{chr(0x2081 + k)}"))
    whole = khan_run_pace(run)
    rows: tuple[Row, ...] = (
        ("evaluations for 3 s", "166132", f"{run.evaluations} for the first {run.reached:.2f} s, then given up"),
        ("the same, at this pace", "", f"{whole:.0f}"),
        ("with directions that are kept (Gauss)", "", khan_run_in_words(kept)),
    )
    short = "keep the steps short" if whole > 5 * kept.evaluations else "don't keep the steps short"
    verdict = (
        f"Directions that change places {short}: at this pace the 3 s take {whole / kept.evaluations:.0f} times the "
        "evaluations that they take with directions that are kept."
    )
    panels = (Panel("(a) sigma = 10", "joint-angle error", "rad", tuple(lines)),)
    return Reproduction(table, panels, rows, verdict=verdict)


def khan_run_pace(run: Run) -> float:
    """The evaluations for the whole motion at the pace of a run that was given up."""
    return run.evaluations * float(khan_comparison().plan.grid[-1]) / run.reached


def khan_exchanges_a_step(setting: RunSetting) -> int:
    """The exchanges of messages in a step of the classical Runge-Kutta method, with nodes in different places."""
    if setting.method == "denoc":
        return khan_run_by_legs(setting.integrator, setting.accuracy).exchanges * STAGES[FIXED]
    plan = khan_comparison(HUNG).plan
    system = replace(plan.system, closure=setting.method)
    given = replace(plan, system=system, solver=replace(plan.solver, method=FIXED, step=1e-3), task="simulate")
    return sum(row.way == "to central" for row in distribution_explained(lambda: given)[3])
