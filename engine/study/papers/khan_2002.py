"""Khan (2002): the planar 3-RRR manipulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from ...record.panels import Line, Panel
from ...scenario.run import Result
from ..compare import ADAPTIVE, FIXED, Comparison, Options, Run, RunSetting
from .exhibit import Exhibit, Reproduction, Row, Table, at, curves

DRIVEN = ("J1", "J2", "J3")


def _start(result: Result) -> Sequence[Row]:
    def shown(*values: float) -> str:
        return ", ".join(f"{x:.4f}" for x in values)

    angles = [at(result, f"{joint}.q", 0.0) for joint in ("J4", "J5", "J6")]
    centre = [at(result, f"platform.centre.{axis}", 0.0) for axis in "xy"]
    edge = sum(at(result, f"{joint}.q", 0.0) for joint in ("J1", "J4", "B1"))
    return [
        ("θ₄, θ₅, θ₆ at the start, rad", "-0.865, -2.102, -0.976", shown(*angles)),
        ("platform at the start: x₇, y₇ (m), θ₇ (rad)", "0.728, 0.233, 3.916", shown(*centre, edge % (2 * np.pi))),
        ("torques at the start, N m", "no readable numbers", shown(*(at(result, f"{j}.tau", 0.0) for j in DRIVEN))),
    ]


# ---- comparison of closure methods

KS = (1e3, 1e4, 1e5, 1e6)
NO_NUMBERS = ("",) * 4
BURST = 1e3  # rad: beyond it no curve is drawn
SIGMAS = (10.0, 20.0, 30.0, 40.0)
PENALTY, GAUSS, QR, RAW = "penalty", "projection-gauss", "projection-qr", "projection-svd-raw"
DENOC = "denoc-extended"  # as in the thesis: all joint rates are integrated, nothing is stabilised


@cache
def _comparison() -> Comparison:
    return Comparison("three-rrr-idyn", Options())


@cache
def _run(setting: RunSetting) -> Run:
    run = _comparison().run(setting)
    if run.ended == "interrupted":
        raise KeyboardInterrupt
    return run


def penalty(k: float, integrator: str, accuracy: float, feedback: bool = False) -> RunSetting:
    return RunSetting(PENALTY, "k", k, integrator, accuracy, feedback)


def gauss(sigma: float, integrator: str, accuracy: float, feedback: bool = False) -> RunSetting:
    return RunSetting(GAUSS, "sigma", sigma, integrator, accuracy, feedback)


def denoc(integrator: str, accuracy: float, feedback: bool = False) -> RunSetting:
    return RunSetting(DENOC, "", None, integrator, accuracy, feedback)


def _name(setting: RunSetting) -> str:
    """The name of a panel: its parameter, or its integration if it has none."""
    return f"{setting.parameter} = {setting.value:g}" if setting.parameter else setting.integration


def _on(grid: np.ndarray, run: Run, values: np.ndarray) -> np.ndarray:
    """The values at all instants of the grid, NaN where the run has ended or blown up."""
    values_on_grid = np.full(len(grid), np.nan)
    rows = np.searchsorted(run.t, grid - 1e-9)
    known = (rows < len(run.t)) & (abs(run.t[np.minimum(rows, len(run.t) - 1)] - grid) < 1e-9)
    values_on_grid[known] = values[rows[known]]
    return np.where(abs(values_on_grid) < BURST, values_on_grid, np.nan)


def _outcome(run: Run) -> str:
    counts = f"{run.evaluations} evaluations, {run.steps} steps"
    if run.ended == "done":
        return f"{counts}, largest error {run.error_max:.2g} rad"
    return f"broke off at {run.reached:.2f} s, {counts}"


def _errors(
    settings: Sequence[RunSetting], quoted: Sequence[str], name_of: Callable[[RunSetting], str] = _name
) -> Callable[[], Reproduction]:
    """A panel for each run with the errors of the driven joints; `quoted` is the thesis on each run."""

    def make() -> Reproduction:
        grid = _comparison().plan.grid
        table: Table = {"t": grid}
        panels, rows = [], []
        for letter, setting, words in zip("abcdefgh", settings, quoted):
            run, name = _run(setting), name_of(setting)
            lines = []
            for k, (column, values) in enumerate(run.errors.items()):
                table[f"{name}: {column} error"] = _on(grid, run, values)
                lines.append(Line(f"{name}: {column} error", f"θ{chr(0x2081 + k)}"))
            panels.append(Panel(f"({letter}) {name}", "joint-angle error", "rad", tuple(lines)))
            rows.append((name, words, _outcome(run)))
        return Reproduction(table, tuple(panels), tuple(rows), ranges=False)

    return make


def _fed(setting: RunSetting, quoted: str) -> Callable[[], Reproduction]:
    """Panels with the errors under feedback, and with the corrections of the torques."""

    def make() -> Reproduction:
        run, grid = _run(setting), _comparison().plan.grid
        table: Table = {"t": grid}
        lines: dict[str, list[Line]] = {"error": [], "correction": []}
        for kind, values in (("error", run.errors), ("correction", run.corrections)):
            for k, (column, x) in enumerate(values.items()):
                table[f"{column} {kind}"] = _on(grid, run, x)
                lines[kind].append(Line(f"{column} {kind}", f"{'θ' if kind == 'error' else 'τ'}{chr(0x2081 + k)}"))
        panels = (
            Panel("(a) with feedback", "joint-angle error", "rad", tuple(lines["error"])),
            Panel("(b) correction of the torques", "share of the largest", "%", tuple(lines["correction"])),
        )
        rows = (
            ("correction, of the joint's largest torque", "", f"up to {run.correction:.2g} %"),
            ("correction, of the torque at that instant", quoted, f"up to {run.correction_now:.2g} %"),
            (str(setting), "", _outcome(run)),
        )
        return Reproduction(table, panels, rows)

    return make


def _raw() -> Reproduction:
    """The errors of Yun and Sarkar's projection, whose directions change places."""
    setting = RunSetting(RAW, "sigma", 10.0, ADAPTIVE, 1e-3)
    run, grid = _run(setting), _comparison().plan.grid
    table: Table = {"t": grid}
    lines = []
    for k, (column, values) in enumerate(run.errors.items()):
        table[f"{column} error"] = _on(grid, run, values)
        lines.append(Line(f"{column} error", f"θ{chr(0x2081 + k)}"))
    per_second = run.evaluations / run.reached
    rows = (
        ("evaluations for 3 s", "166132", f"{run.evaluations} for the first {run.reached:.2f} s, then given up"),
        ("the same, at this pace", "", f"{3 * per_second:.0f}"),
        ("with directions that are kept (Gauss)", "", _outcome(_run(gauss(10.0, ADAPTIVE, 1e-6)))),
    )
    return Reproduction(table, (Panel("(a) sigma = 10", "joint-angle error", "rad", tuple(lines)),), rows)


# Table 5.1: efficiency, stiffness, cost of an evaluation, accuracy; at rtol 1e-6
RATED = (
    (penalty(1e5, ADAPTIVE, 1e-6), ("low", "high", "low", "medium")),
    (gauss(10.0, ADAPTIVE, 1e-6), ("medium", "low", "medium", "medium")),
    (RunSetting(QR, "sigma", 10.0, ADAPTIVE, 1e-6), ("medium", "low", "medium", "medium")),
    (denoc(ADAPTIVE, 1e-6), ("medium", "low", "high", "high")),
)


def _ratings() -> Reproduction:
    grid = _comparison().plan.grid
    table: Table = {"t": grid}
    rows: list[Row] = []
    lines = []
    for setting, (efficiency, stiffness, cost, accuracy) in RATED:
        run = _run(setting)
        worst = np.maximum(abs(np.array(list(run.errors.values()))).max(axis=0), 1e-16)
        table[f"{setting.model}: error"] = _on(grid, run, worst)
        lines.append(Line(f"{setting.model}: error", setting.model))
        ours = (
            str(run.evaluations),
            f"{run.stiffness:.0f}",
            f"{1e6 * run.evaluation:.0f} μs",
            f"{run.error_max:.1e} rad",
        )
        pairs = zip((efficiency, stiffness, cost, accuracy), ours)
        rows.append((setting.model, *(f"{rated}; {number}" for rated, number in pairs)))
    heads = ("rtol 1e-6", "efficiency; evaluations", "stiffness; |λ| T", "cost of one; time", "accuracy; largest error")
    panel = Panel("", "largest joint-angle error", "rad", tuple(lines), log=True)
    return Reproduction(table, (panel,), tuple(rows), heads, ranges=False)


EXHIBITS = (
    Exhibit(
        "khan-2002",
        "Fig. 4.2",
        "motion of the 3-RRR manipulator and the torques that drive it, 3 s",
        "The printed configuration closes to its three digits with base joints 1 m apart, which the thesis doesn't "
        "say. Whether the example that it repeats had gravity isn't known, and the curves have no numbers.",
        curves(
            "three-rrr-idyn",
            Panel(
                "motion",
                "angle",
                "rad",
                tuple(Line(f"{joint}.q", f"θ{chr(0x2081 + k)}") for k, joint in enumerate(DRIVEN)),
            ),
            Panel(
                "driving torques",
                "torque",
                "N m",
                tuple(Line(f"{joint}.tau", f"τ{chr(0x2081 + k)}") for k, joint in enumerate(DRIVEN)),
            ),
            rows=_start,
        ),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.3",
        "3-RRR manipulator, penalty method at rtol 1e-3: errors for four spring constants",
        "As in the thesis the errors are large whatever the constant, and the evaluations grow with it. Its counts and "
        "curves aren't readable, and its integrator isn't known, so no curve can be claimed.",
        _errors([penalty(k, ADAPTIVE, 1e-3) for k in KS], NO_NUMBERS),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.4",
        "3-RRR manipulator, penalty method at rtol 1e-6: errors for four spring constants",
        "A tighter tolerance costs evaluations and gains nothing here: the error is the springs', on a motion that is "
        "unstable. A run is given up after 20000 evaluations; no curve can be claimed.",
        _errors([penalty(k, ADAPTIVE, 1e-6) for k in KS], NO_NUMBERS),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.5",
        "3-RRR manipulator, penalty method at steps of 0.01 s: errors for four spring constants",
        "Stiff springs break off at this step, as in the thesis, though ours do from 1e5 N/m on and the thesis' from "
        "1e4. Its fixed-step integrator isn't known; ours is the classical one of fourth order.",
        _errors([penalty(k, FIXED, 0.01) for k in KS], ("", "fails", "fails", "fails")),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.6",
        "3-RRR manipulator, penalty method at steps of 0.001 s: errors for four spring constants",
        "The thesis' model fails for 1e6 N/m only, ours for none of them: with fourth order this step is short enough. "
        "The errors stay large either way.",
        _errors([penalty(k, FIXED, 0.001) for k in KS], ("", "", "", "fails")),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.7",
        "3-RRR manipulator, penalty method with feedback, 1e5 N/m at steps of 0.001 s",
        "The correction is within the thesis' 15 percent of the torque at the same instant; of the largest torque it "
        "is 2. The gains of its controller aren't given; ours are chosen by the inertia that a joint feels.",
        _fed(penalty(1e5, FIXED, 0.001, True), "within 15 %"),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.8",
        "3-RRR manipulator, projection of Yun and Sarkar at rtol 1e-3: errors until it is given up",
        "The thesis' finding shows: directions that change places keep the steps short. Its 166132 evaluations can't "
        "be repeated, since they hang on its routine for singular values; ours is given up early.",
        _raw,
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.9",
        "3-RRR manipulator, projection by Gaussian triangularization at rtol 1e-6: errors for four sigma",
        "As in the thesis the model isn't stiff, and the evaluations grow with sigma. Its counts and curves aren't "
        "readable.",
        _errors([gauss(sigma, ADAPTIVE, 1e-6) for sigma in SIGMAS], NO_NUMBERS),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.10",
        "3-RRR manipulator, projection by Gaussian triangularization at steps of 0.01 s: errors for four sigma",
        "The thesis' model breaks off in every case, where its chosen coordinates become singular. Ours doesn't: it "
        "pivots fully and stays near the prescribed motion, which has no such position.",
        _errors([gauss(sigma, FIXED, 0.01) for sigma in SIGMAS], ("fails",) * 4),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.11",
        "3-RRR manipulator, projection by Gaussian triangularization with feedback, steps of 0.001 s",
        "The thesis' correction of up to 15 percent isn't found: ours is below a millionth of a percent, since the "
        "projection makes no error but the integrator's. What caused the thesis' isn't known.",
        _fed(gauss(10.0, FIXED, 0.001, True), "within 15 %"),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.12",
        "3-RRR manipulator, DeNOC at rtol 1e-3 and 1e-6: errors",
        "Few evaluations at either tolerance, as in the thesis; its numbers of steps are near our numbers of "
        "evaluations, not of steps. The curves aren't readable.",
        _errors([denoc(ADAPTIVE, 1e-3), denoc(ADAPTIVE, 1e-6)], ("301 steps", "319 steps")),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.13",
        "3-RRR manipulator, DeNOC at steps of 0.01 and 0.001 s: errors",
        "The errors grow along this unstable motion as the thesis describes, and shrink with the fourth power of the "
        "step. The curves aren't readable.",
        _errors([denoc(FIXED, 0.01), denoc(FIXED, 0.001)], ("", "")),
    ),
    Exhibit(
        "khan-2002",
        "Fig. 4.14",
        "3-RRR manipulator, DeNOC with feedback, steps of 0.001 s",
        "The thesis' extremely small correction is confirmed: ours is below a millionth of a percent. Its gains "
        "aren't given, and the curves aren't readable.",
        _fed(denoc(FIXED, 0.001, True), "extremely small"),
    ),
    Exhibit(
        "khan-2002",
        "Table 5.1",
        "closure methods compared: efficiency, stiffness, cost, accuracy",
        "The thesis rates in words, ours are numbers of one tolerance and one motion: the penalty method is stiff and "
        "the least accurate, as rated. The others differ little here; modularity and distribution aren't measured.",
        _ratings,
    ),
)
