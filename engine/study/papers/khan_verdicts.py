"""What the runs of Khan's manipulator show, in sentences made of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ...text import words_with_and
from ..comparison import Run
from .khan_runs import khan_panel_name

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
