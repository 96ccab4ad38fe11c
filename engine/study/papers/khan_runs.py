"""Runs of Khan's manipulator (2002) under each closure method, and what is drawn and said of them.

The tree is `three-rrr-platform`, on which the thesis' penalty and projection methods stand: three open legs of two
links, the platform free between three cuts, nine coordinates and six constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...machine.backend import using_backend
from ...parallel import ProcessEngine, RatesByLegs
from ...record import Line, Panel
from ...scenario import carry_out_whole_plan
from ..comparison import ADAPTIVE, FIXED, STAGES, Comparison, Options, Run, RunSetting, evaluation_time_for_comparison
from ..distribution import distribution_explained
from .reproduction import Reproduction, Row, Table

MOTION, HUNG = "three-rrr-platform-idyn", "three-rrr-idyn"  # the platform free, and hung on leg 1
BURST = 1e3  # rad: beyond it no curve is drawn
PENALTY, GAUSS, QR, RAW = "penalty", "projection-gauss", "projection-qr", "projection-svd-raw"
DENOC = "denoc-extended"  # as in the thesis: all joint rates are integrated, nothing is stabilised
EARLY = 0.5  # s: up to there the motion is insensitive, and runs are compared row by row


@cache
def khan_comparison(scenario: str = MOTION) -> Comparison:
    """The comparison of one scenario."""
    return Comparison(scenario, Options())


@cache
def khan_run(setting: RunSetting, scenario: str = MOTION) -> Run:
    """The run of a setting, made once."""
    run = khan_comparison(scenario).run(setting)
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
    with using_backend("plain"):
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
    equations = RatesByLegs(system, ProcessEngine())
    begun = equations.begun(system, own.plan.q0)
    plan = replace(own.plan, system=system, solver=own.solver(setting))
    result = carry_out_whole_plan(plan, start=lambda: equations.begun(system, own.plan.q0))
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
    settings: Sequence[RunSetting],
    quoted: Sequence[str],
    verdict: Callable[[Sequence[Run]], str],
    more: Callable[[Sequence[Run]], Sequence[Row]] = lambda runs: (),
    counted: bool = False,
) -> Callable[[], Reproduction]:
    """A panel for each run with the errors of the driven joints; `quoted` is the thesis on each run.

    If `counted`, the last panel has the numbers of evaluations, over the power of ten of the method's parameter.
    """

    def make() -> Reproduction:
        grid = khan_comparison().plan.grid
        table: Table = {"t": grid}
        panels, rows, runs = [], list[Row](), [khan_run(setting) for setting in settings]
        for letter, run, words in zip("abcdefgh", runs, quoted):
            name = khan_panel_name(run.setting)
            drawn = khan_columns(table, f"{name}: ", run, "error", run.errors)
            panels.append(Panel(f"({letter}) {name}", "joint-angle error", "rad", drawn))
            rows.append((name, words, khan_run_in_words(run)))
        if counted:
            done = [run for run in runs if run.ended == "done"]
            values = np.array([run.setting.value or np.nan for run in done])
            wide = values.max() > 20 * values.min()
            over = f"power of ten of {settings[0].parameter}" if wide else settings[0].parameter
            for column, x in (
                (over, np.log10(values) if wide else values),
                ("evaluations", [run.evaluations for run in done]),
            ):
                table[column] = np.concatenate([x, np.full(len(grid) - len(done), np.nan)])
            line = Line("evaluations", "of runs that end", mark="o")
            panels.append(Panel("(e) evaluations", "evaluations", "", (line,), low=0.0, over=over, across=over))
        return Reproduction(table, tuple(panels), (*rows, *more(runs)), ranges=False, verdict=verdict(runs))

    return make


def khan_columns(table: Table, name: str, run: Run, kind: str, values: dict[str, np.ndarray]) -> tuple[Line, ...]:
    """Puts the columns of a run's driven joints into the table, and returns their lines."""
    lines, letter = [], "τ" if kind == "correction" else "θ"
    for k, (column, x) in enumerate(values.items()):
        table[f"{name}{column} {kind}"] = khan_values_on_grid(khan_comparison().plan.grid, run, x)
        lines.append(Line(f"{name}{column} {kind}", f"{letter}{chr(0x2081 + k)}"))
    return tuple(lines)


def khan_spring_rows(runs: Sequence[Run]) -> list[Row]:
    """What the springs are, the tolerances, and how far, how fast and how hard they are pulled in the first 0.5 s."""
    own = khan_comparison()
    solver = own.solver(runs[0].setting)
    tolerances = f"rtol {solver.rtol:g}, atol {solver.atol:g}, steps of at most {solver.max_step:g} s"
    given, steps = f"rtol {solver.rtol:g}", f"{solver.method}, steps of {solver.step:g} s" if solver.step else ""
    rows: list[Row] = [
        ("gap, rate, force", "c, A q̇, Aᵀ (k c + d A q̇)", "the same, c in axes of the base, d = 2 √k"),
        ("tolerances", "" if steps else given, steps or f"{solver.method}, {tolerances}"),
    ]
    robot, loops = own.system.robot, own.system.loops
    for run in runs:
        early = run.t <= EARLY + 1e-9
        if run.reached < EARLY:
            continue
        both = (robot.columns("coordinates"), robot.columns("speeds"))
        q, qd = (np.column_stack([run.table[name][early] for name in names]) for names in both)
        gap, pull, speed = loops.gap(q), [], []
        for place, speeds, c in zip(q.tolist(), qd, gap):
            tied = loops.ties_at(place)
            rows_of_dampers = loops.damped(tied, loops.rates(place, None, tied)[0])
            rate = np.array([sum(x * speeds[k] for k, x in row.items()) for row in rows_of_dampers])
            k = run.setting.value or 0.0
            speed.append(rate)
            pull.append(k * c + 2 * k**0.5 * rate)
        sizes = (
            np.linalg.norm(np.reshape(x, (len(q), len(own.system.robot.loops), -1)), axis=2).max()
            for x in (gap, speed, pull)
        )
        most, fast, hard = sizes
        error = max(abs(x[early]).max() for x in run.errors.values())
        rows.append(
            (
                f"{khan_panel_name(run.setting)}, up to {EARLY:g} s",
                "",
                f"gap {most:.2g} m, rate {fast:.2g} m/s, force {hard:.3g} N, largest error {error:.3g} rad",
            )
        )
    return rows


def khan_feedback_panels(setting: RunSetting, quoted: str, verdict: Callable[[Run], str]) -> Callable[[], Reproduction]:
    """Panels with the errors under feedback, and with the corrections of the torques."""

    def make() -> Reproduction:
        run = khan_run(setting)
        table: Table = {"t": khan_comparison().plan.grid}
        errors = khan_columns(table, "", run, "error", run.errors)
        corrections = khan_columns(table, "", run, "correction", run.corrections)
        panels = (
            Panel("(a) with feedback", "joint-angle error", "rad", errors),
            Panel("(b) correction of the torques", "share of the largest", "%", corrections),
        )
        rows = (
            ("correction, of the joint's largest torque", quoted, f"up to {run.correction:.2g} %"),
            ("correction, of the torque at that instant", quoted, f"up to {run.correction_now:.2g} %"),
            (str(setting), "", khan_run_in_words(run)),
        )
        return Reproduction(table, panels, rows, verdict=verdict(run))

    return make


def khan_run_given_up() -> Reproduction:
    """The errors and joint rates of Yun and Sarkar's projection, whose directions change places."""
    run, kept = khan_run(khan_raw_projection()), khan_run(khan_gauss_setting(10.0, ADAPTIVE, 1e-6))
    table: Table = {"t": khan_comparison().plan.grid}
    errors = khan_columns(table, "", run, "error", run.errors)
    rates = khan_columns(table, "", run, "rate", {one: run.table[f"{one}d"] for one in run.errors})
    whole = khan_run_pace(run)
    rows: tuple[Row, ...] = (
        ("evaluations for 3 s", "166132", f"{run.evaluations} for the first {run.reached:.2f} s, then given up"),
        ("the same, at this pace", "", f"{whole:.0f}"),
        ("with directions that are kept (Gauss)", "", khan_run_in_words(kept)),
    )
    turns = [khan_turns_of_rates(one, run.reached) for one in (run, kept)]
    smooth = (
        "aren't smooth, as in the thesis" if turns[0] > 5 * max(turns[1], 1) else "are smooth, other than in the thesis"
    )
    short = "keep the steps short" if whole > 5 * kept.evaluations else "don't keep the steps short"
    verdict = (
        f"Directions that change places {short}: at this pace the 3 s take {whole / kept.evaluations:.0f} times the "
        "evaluations that they take with directions that are kept. "
        f"The joint rates {smooth}: in the rows of that time they turn back {turns[0]} times, with directions that are "
        f"kept {turns[1]} times."
    )
    panels = (
        Panel("(a) sigma = 10", "joint-angle error", "rad", errors),
        Panel("(b) sigma = 10", "joint rate", "rad/s", rates),
    )
    return Reproduction(table, panels, rows, verdict=verdict)


def khan_turns_of_rates(run: Run, end: float) -> int:
    """How often the rates of the driven joints turn back from row to row up to this time."""
    rates = np.array([run.table[f"{one}d"][run.t <= end + 1e-9] for one in run.errors])
    return int((np.diff(np.sign(np.diff(rates, axis=1)), axis=1) != 0).sum())


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
