"""What the runs of Khan's manipulator show, in sentences made of their numbers, and ratings as in his Table 5.1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...record import Line, Panel
from ...text import words_with_and
from ..comparison import ADAPTIVE, Run, RunSetting
from .khan_runs import (
    QR,
    RAW,
    khan_comparison,
    khan_denoc_setting,
    khan_exchanges_a_step,
    khan_gauss_setting,
    khan_panel_name,
    khan_penalty_setting,
    khan_plain_seconds,
    khan_raw_projection,
    khan_run,
    khan_run_by_legs,
    khan_run_pace,
    khan_values_on_grid,
)
from .reproduction import Reproduction, Row, Table

TOLERANCE = 1e-6
ROLLING = ("diff-drive-idyn", "two-carriers-carry")
HEADS = (
    f"rtol {TOLERANCE:g}",
    "efficiency; evaluations",
    "stiffness; |λ| T",
    "cost of an evaluation, plain",
    "accuracy; largest error",
    "distribution; exchanges a step of rk4",
    "modularity",
    "preparation",
)


@dataclass(frozen=True)
class Rated:
    """A row of the table: a method's name, its ratings in the order of the columns, and its numbers."""

    name: str
    ratings: tuple[str, ...]
    run: Run
    cost: float  # s, of an evaluation that isn't compiled
    exchanges: int | None  # a step; None where there is no distributed form

    @property
    def evaluations(self) -> float:
        """For the whole motion; at the pace of what there is, if the run was given up."""
        return float(self.run.evaluations) if self.run.ended == "done" else khan_run_pace(self.run)

    def row(self) -> Row:
        """The ratings, each with its number."""
        run = self.run
        done = run.ended == "done"
        count = f"{run.evaluations}" if done else f"{self.evaluations:.0f} at the pace of the first {run.reached:.2f} s"
        numbers = (
            count,
            f"{run.stiffness:.0f}" if np.isfinite(run.stiffness) else "no derivative",
            f"{1e3 * self.cost:.2g} ms",
            f"{run.error_max:.1e} rad" if done else "not to the end",
            "no such form here" if self.exchanges is None else str(self.exchanges),
        )
        words = (f"{rating}; {number}" for rating, number in zip(self.ratings, numbers))
        return (self.name, *words, *self.ratings[len(numbers) :])


def _rated(setting: RunSetting, ratings: tuple[str, ...]) -> Rated:
    return Rated(setting.model, ratings, khan_run(setting), khan_plain_seconds(setting), khan_exchanges_a_step(setting))


def _methods() -> list[Rated]:
    springs = ("low", "high", "low", "medium", "high", "high", "low")
    numerical = ("medium", "low", "medium", "medium", "high", "high", "medium")
    recursive = ("medium", "low", "high", "high", "medium", "medium", "high")
    legs = khan_run_by_legs(ADAPTIVE, TOLERANCE)
    return [
        _rated(khan_penalty_setting(1e5, ADAPTIVE, TOLERANCE), springs),
        Rated(
            f"{RAW} sigma = 10, rtol 0.001",
            numerical,
            khan_run(khan_raw_projection()),
            khan_plain_seconds(khan_raw_projection()),
            None,
        ),
        _rated(khan_gauss_setting(10.0, ADAPTIVE, TOLERANCE), numerical),
        _rated(RunSetting(QR, "sigma", 10.0, ADAPTIVE, TOLERANCE), numerical),
        Rated("denoc by legs", recursive, legs.run, legs.run.evaluation, khan_exchanges_a_step(legs.run.setting)),
    ]


def khan_ratings_verdict(methods: list[Rated]) -> str:
    """Where the numbers order the methods as the words do, and where they don't; the rest isn't measured."""
    *others, legs = methods
    springs, kept = others[0], [one for one in others if one.run.ended == "done"]
    judged = {
        "efficiency": springs.evaluations > 5 * max(one.evaluations for one in (*kept[1:], legs)),
        "stiffness": springs.run.stiffness > 5 * max(one.run.stiffness for one in (*kept[1:], legs)),
        "cost": legs.cost > 1.1 * max(one.cost for one in others),
        "accuracy": all(legs.run.error_max < 0.5 * one.run.error_max for one in kept),
        "distribution": all(one.exchanges is not None and one.exchanges < (legs.exchanges or 0) for one in kept),
    }
    agrees = ", ".join(name for name, is_so in judged.items() if is_so) or "none"
    differs = ", ".join(name for name, is_so in judged.items() if not is_so) or "none"
    most = max(one.run.error_max for one in (*kept[1:], legs)) / min(one.run.error_max for one in (*kept[1:], legs))
    dearest = sorted((legs, *others), key=lambda one: -one.cost)
    costs = ", ".join(f"{one.name.split(' k =')[0].split(' sigma')[0]} {1e3 * one.cost:.2g} ms" for one in dearest)
    return (
        f"Confirmed by the numbers: {agrees}; not confirmed: {differs}. The errors of the projections and of DeNOC are "
        f"within a factor of {most:.1f}. Evaluations in plain text, the dearest first: {costs}."
    )


def khan_ratings() -> Reproduction:
    """The table; modularity and preparation rate the work of people, of which there is no number."""
    grid, methods = khan_comparison().plan.grid, _methods()
    table: Table = {"t": grid}
    lines = []
    for one in methods:
        worst = np.maximum(abs(np.array(list(one.run.errors.values()))).max(axis=0), 1e-16)
        table[f"{one.name}: error"] = khan_values_on_grid(grid, one.run, worst)
        lines.append(Line(f"{one.name}: error", one.name))
    panel = Panel("", "largest joint-angle error", "rad", tuple(lines), log=True)
    rows = tuple(one.row() for one in methods)
    return Reproduction(table, (panel,), rows, HEADS, ranges=False, verdict=khan_ratings_verdict(methods))


# ---- what the thesis leaves to future work: systems that roll


def khan_nonholonomic() -> Reproduction:
    """Each method on a wheeled robot and on two with one payload, whose wheels roll without sliding."""
    table: Table = {}
    panels, rows, found = [], list[Row](), dict[str, list[Run]]()
    for scenario in ROLLING:
        own = khan_comparison(scenario)
        grid = own.plan.grid
        over = "t" if not table else f"{scenario}: t"
        table[over] = np.array(grid)
        settings = [
            khan_denoc_setting(ADAPTIVE, TOLERANCE),
            khan_gauss_setting(10.0, ADAPTIVE, TOLERANCE),
            khan_penalty_setting(1e4, ADAPTIVE, 1e-3),
        ]
        lines = []
        for setting in settings:
            run = khan_run(setting, scenario)
            found.setdefault(scenario, []).append(run)
            ended = f"{run.evaluations} evaluations"
            if run.ended != "done":
                ended = f"{ended} for {run.reached:.2f} of {grid[-1]:g} s, then given up"
            error = f"largest error {run.error_max:.1e} {run.unit}"
            rows.append((f"{scenario}: {setting}", "not done", f"{ended}, {error}, energy to {run.energy:.1e} J"))
            worst = np.maximum(abs(np.array(list(run.errors.values()))).max(axis=0), 1e-16)
            table[f"{scenario}: {setting}"] = khan_values_on_grid(grid, run, worst)
            lines.append(Line(f"{scenario}: {setting}", f"{setting}"))
        panels.append(Panel(scenario, "largest error", "rad", tuple(lines), log=True, over=over))
    longest = max(map(len, table.values()))
    table = {name: np.concatenate([x, np.full(longest - len(x), np.nan)]) for name, x in table.items()}
    return Reproduction(table, tuple(panels), tuple(rows), ranges=False, verdict=khan_nonholonomic_verdict(found))


def khan_nonholonomic_verdict(found: dict[str, list[Run]]) -> str:
    """What rolling changes of the methods' order."""
    words, ordered = [], True
    for scenario, (denoc, gauss, springs) in found.items():
        most = max(denoc.error_max, gauss.error_max)
        whole = springs.evaluations * float(khan_comparison(scenario).plan.grid[-1]) / springs.reached
        ordered &= denoc.evaluations <= gauss.evaluations < whole and most < 1e-3 * springs.error_max
        words.append(
            f"On {scenario} DeNOC takes {denoc.evaluations} evaluations and the projection {gauss.evaluations}, with "
            f"errors of at most {most:.0e} rad; springs of 1e4 N/m take {whole / denoc.evaluations:.0f} times as many "
            "at a looser tolerance"
        )
    order = "the order that they have where nothing rolls" if ordered else "another order than where nothing rolls"
    return f"{'. '.join(words)}. The methods stand in {order}."


Verdict = Callable[[Sequence[Run]], str]
DONE = "done"


def khan_evaluations_verdict(runs: Sequence[Run], parameter: str) -> str:
    """Whether the evaluations grow from one run to the next, and how many they are; more where a run was given up."""
    counts = [run.evaluations for run in runs]
    grow = "grow" if all(a < b for a, b in pairwise(counts)) else "don't always grow"
    words = [str(run.evaluations) if run.ended == DONE else f"more than {run.evaluations}" for run in runs]
    return f"the evaluations {grow} with {parameter}: {words_with_and(words)}"


def khan_springs_verdict(runs: Sequence[Run]) -> str:
    """Of springs: whether the errors are large whatever their constant, and what they cost."""
    found = [run.error_max for run in runs if run.ended == DONE]
    large = "large whatever the constant" if min(found) > 0.1 else "not large for every constant"
    return (
        f"The errors are {large}, {min(found):.2g} to {max(found):.2g} rad, and {khan_evaluations_verdict(runs, 'it')}."
    )


def khan_broken_runs_verdict(thesis: Sequence[str]) -> Verdict:
    """Which runs break off, beside those of which the thesis says so."""

    def verdict(runs: Sequence[Run]) -> str:
        ours = [khan_panel_name(run.setting) for run in runs if run.ended != DONE]
        theirs = [khan_panel_name(run.setting) for run, words in zip(runs, thesis) if words]
        if ours == theirs:
            return f"Broken off: {words_with_and(ours) or 'none'}, exactly as in the thesis."
        thesis_says = f"in the thesis: {words_with_and(theirs) or 'none'}, so that isn't confirmed."
        return f"Broken off: {words_with_and(ours) or 'none'}; {thesis_says}"

    return verdict


def khan_correction_verdict(share: float) -> Callable[[Run], str]:
    """A correction beside the thesis' share of the torque, in percent."""

    def verdict(run: Run) -> str:
        largest, now = run.correction, run.correction_now
        sizes = f"{largest:.2g} % of the joint's largest torque and {now:.2g} % of the torque at the same instant"
        if max(largest, now) < share / 1000:
            return f"No correction of the thesis' size is found: ours is at most {sizes}."
        if (largest <= share) == (now <= share):
            both = "both within" if largest <= share else "neither within"
            return f"The correction is at most {sizes}, {both} the thesis' {share:g} %."
        one = "the largest torque" if largest <= share else "the torque at that instant"
        return f"The correction is at most {sizes}: the thesis' {share:g} % holds if it means {one}, not otherwise."

    return verdict


def khan_tiny_correction_verdict(run: Run) -> str:
    """A correction of which the thesis says that it is extremely small."""
    small = "extremely small, as in the thesis" if run.correction_now < 1e-3 else "not extremely small"
    sizes = f"{run.correction:.2g} % of the joint's largest torque, and {run.correction_now:.2g} % of the torque"
    return (
        f"The correction is {small}: at most {sizes} at the same instant. Errors stay within {run.error_max:.2g} rad."
    )


def khan_projection_verdict(springs: float) -> Verdict:
    """Of projections: whether they are stiff, beside the |λ| T of springs, and what sigma costs."""

    def verdict(runs: Sequence[Run]) -> str:
        largest = max(run.stiffness for run in runs)
        stiff = "isn't stiff" if largest < springs / 10 else "is stiff"
        beside = f"largest |λ| T {largest:.0f}, with springs of 1e5 N/m {springs:.0f}"
        return f"The model {stiff} ({beside}), and {khan_evaluations_verdict(runs, 'sigma')}."

    return verdict


def khan_evaluations_beside_steps(thesis: Sequence[int]) -> Verdict:
    """The numbers of evaluations beside the thesis' numbers of steps."""

    def verdict(runs: Sequence[Run]) -> str:
        off = max(abs(run.evaluations / n - 1) for run, n in zip(runs, thesis))
        counts = words_with_and([str(run.evaluations) for run in runs])
        near = f"{'near' if off < 0.1 else 'not near'} our numbers of evaluations, {counts}"
        more = 100 * (runs[-1].evaluations / runs[0].evaluations - 1)
        steps = words_with_and([str(run.steps) for run in runs])
        return (
            f"The thesis' numbers of steps are {near} (at most {100 * off:.0f} % off); our steps are {steps}. "
            f"The tighter tolerance takes {more:.0f} % more evaluations."
        )

    return verdict


def khan_errors_against_steps(runs: Sequence[Run]) -> str:
    """The errors over the motion and over the step."""
    a, b = runs
    power = np.log(a.error_max / b.error_max) / np.log(a.setting.accuracy / b.setting.accuracy)
    courses = [abs(np.array(list(run.errors.values()))).max(axis=0) for run in runs]
    late = all(x[len(x) // 2 :].max() > 10 * x[: len(x) // 2].max() for x in courses)
    grow = "grow along the motion, as the thesis describes," if late else "don't grow along the motion,"
    most = words_with_and([f"{run.error_max:.2g}" for run in runs])
    return f"The errors {grow} and shrink with the power {power:.2f} of the step: up to {most} rad."


def khan_choices_verdict(begin: int, errors: Sequence[float]) -> str:
    """What becomes of projections that keep coordinates which become singular on the way."""
    rest = [x for x in errors if np.isfinite(x)]
    lost = len(errors) - len(rest)
    wrong = f"{min(rest):.1g} to {max(rest):.1g} rad off" if rest else "none"
    explains = "may be" if lost else "isn't"
    return (
        f"Of {begin} choices of three independent coordinates that can begin, {len(errors)} become singular along the "
        f"prescribed motion. Kept at these steps {lost} of them are lost, and the others step over the place, {wrong}: "
        f"that {explains} what happened to the thesis' model."
    )
