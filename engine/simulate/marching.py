"""The part of a leg that compiled code takes, from where a stepper is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

import numpy as np

from ..machine.jit import SignalPieces
from ..machine.stepping import LOOP_PAUSED, LOOP_REACHED, Lane, LaneStatus, March
from . import reasons
from .integrators.events import Watched
from .integrators.implicit_steps import Implicit
from .integrators.integrate import INTEGRATORS
from .integrators.runge_kutta import RungeKutta
from .integrators.scipy_stepper import Lsoda
from .integrators.stepper import NOT_FINITE, Stepper
from .integrators.stepper import TOO_SMALL as STEP_TOO_SMALL
from .runner import Runner
from .trace import Progress, Solver, Trace

ATTEMPTS = 20_000  # steps of compiled code between two checks of the limits and of Ctrl-C
ROWS_CLOSED = 1e-14  # gap of rows, relative to the mechanism's length, that nothing can make smaller
COSTLIEST = 3  # times the evaluations of a usual step: none takes more
FIRST_GROWTH, GROWTH = 30, 3  # of the steps to come beyond the first and beyond later ones, as far as can be foreseen
TOO_MANY = "more than {} steps (`max_steps` of the solver)"
TOO_OFTEN = "more than {:g} evaluations of the equations of motion"


@dataclass(frozen=True)
class ReadyLoop:
    """The compiled loop for the rest of a leg, with the signals that vary in time and the rules of the watches."""

    loop: March
    pieces: SignalPieces
    rules: list[tuple[float, ...]]


def compiled_loop_for_leg(
    run: Runner, stepper: Stepper, watched: Sequence[Watched], end: float, solver: Solver
) -> ReadyLoop | None:
    """The compiled loop from where the stepper is; None where steps are to be taken in Python."""
    method = INTEGRATORS[solver.method]
    scheme = method.loop
    rules = run.rules(watched) if scheme is not None and run.marches else None
    run.alone = rules is None
    if scheme is None or rules is None:
        return None
    assert isinstance(stepper, RungeKutta | Implicit)
    # a leg that no event cuts short takes at least so many steps, and so do all legs that share one program
    growth = GROWTH if stepper.accepted else FIRST_GROWTH
    loop = run.march(scheme, stepper.t, 0.0)  # where it pays already, its code finds the first step's length, too
    if loop is None and (not watched or run.discrete.switched):
        steps = (end - stepper.t) / (growth * stepper.wanted() or math.ulp(0.0))  # 0 where rates are beyond all size
        loop = run.march(scheme, stepper.t, steps * scheme.evaluations)
    pieces = run.pieces(stepper.t, end, stepper.max_step) if loop is not None else None
    run.alone = loop is not None and pieces is None
    return ReadyLoop(loop, pieces, rules) if loop is not None and pieces is not None else None


def strides_in_leg(run: Runner, stepper: Stepper, watched: Sequence[Watched], guard: Any) -> bool:
    """Whether the rest of a leg can go on without a look at every step."""
    return isinstance(stepper, Lsoda) and stepper.strides and not watched and guard is None and run.unattended


def strided_leg(
    run: Runner, stepper: Lsoda, end: float, grid: np.ndarray, solver: Solver, tell: Progress, trace: Trace
) -> tuple[float, np.ndarray]:
    """Integrate the rest of a leg from row to row, without a look at every step; the last instant and state."""
    ahead = grid[len(trace.t) :]
    stepper.t_end = end
    for at in (*ahead[ahead < end].tolist(), end):
        while stepper.t < at and trace.ended == "done":
            counted = run.evaluations - stepper.evaluations
            failure = stepper.stride(at, run.quick_derivative)
            run.evaluations = counted + stepper.evaluations
            if failure := failure or limit_exceeded(run, stepper, solver, trace):
                why = reasons.reason_why_integration_failed(run, stepper.t, stepper.y, failure)
                trace.ended, trace.reason = "failed", f"at t = {stepper.t:.9g} s: {why}"
            tell(stepper.t)
        if trace.ended == "done" and at in ahead:
            trace.keep(run, at, stepper.y)
    return stepper.t, stepper.y


def limit_exceeded(run: Runner, stepper: Stepper, solver: Solver, trace: Trace) -> str:
    """The limit of the solver that the run has exceeded, or nothing."""
    if trace.steps + stepper.accepted > solver.max_steps:
        return TOO_MANY.format(solver.max_steps)
    if run.evaluations > solver.max_evaluations:
        return TOO_OFTEN.format(solver.max_evaluations)
    return ""


def marched_leg(
    ready: ReadyLoop,
    run: Runner,
    stepper: Any,
    end: float,
    grid: np.ndarray,
    solver: Solver,
    tell: Progress,
    trace: Trace,
) -> tuple[float, np.ndarray]:
    """Integrate the rest of a leg by compiled code, from where the stepper is; return the last instant and state."""
    march, first = ready.loop, len(trace.t)
    ahead = np.ascontiguousarray(grid[first:][grid[first:] <= end])
    out = march.room(len(ahead))
    wanted, slope, loop = stepper.wanted(), stepper.f, INTEGRATORS[solver.method].loop
    assert loop is not None
    history = stepper.history if isinstance(stepper, Implicit) else None
    past = run.past(loop, stepper.t)
    march.begin(
        np.array(run.signals(stepper.t, recalls=False)),
        stepper.y,
        ready.pieces,
        ready.rules,
        run.quantities,
        slope,
        past,
        history,
        T=stepper.t,
        H=wanted,
        T_END=end,
        RTOL=stepper.rtol,
        ATOL=stepper.atol,
        MAX_STEP=stepper.max_step,
    )
    before, written, begun = trace.steps + stepper.accepted, 0, thread_time()
    while True:
        left = solver.max_steps + 1 - trace.steps - stepper.accepted - int(march.control[Lane.ACCEPTED, 0])
        more = (solver.max_evaluations - run.evaluations - march.evaluations) / (COSTLIEST * loop.evaluations)
        status = march.go(ahead, out, max(1, int(min(ATTEMPTS, left, more))))
        if past is not None:
            run.recall(past)
        accepted, rejected, rows = (int(march.control[k, 0]) for k in (Lane.ACCEPTED, Lane.REJECTED, Lane.ROW))
        closed = march.closes and float(march.control[Lane.OPEN, 0]) <= ROWS_CLOSED * ROWS_CLOSED
        trace.keep_rows(run, ahead[written:rows], out[0, written:rows], closed=closed)
        written = rows
        if status == LOOP_PAUSED and before + accepted > solver.max_steps:
            trace.ended, trace.reason = (
                "failed",
                f"at t = {march.control[Lane.T, 0]:.9g} s: {TOO_MANY.format(solver.max_steps)}",
            )
        elif status == LOOP_PAUSED and march.evaluations > solver.max_evaluations - run.evaluations:
            trace.ended, trace.reason = (
                "failed",
                f"at t = {march.control[Lane.T, 0]:.9g} s: {TOO_OFTEN.format(solver.max_evaluations)}",
            )
        elif march.control[Lane.STATUS, 0] == LaneStatus.TOO_SMALL:
            why = reasons.reason_why_integration_failed(
                run, float(march.control[Lane.T, 0]), march.y[0], STEP_TOO_SMALL if march.finite() else NOT_FINITE
            )
            trace.ended, trace.reason = "failed", f"at t = {march.control[Lane.T, 0]:.9g} s: {why}"
        tell(float(march.control[Lane.T, 0]))
        if status == LOOP_REACHED or trace.ended != "done":
            break
    run.marched(thread_time() - begun)
    trace.steps += accepted
    trace.rejected += rejected
    run.evaluations += march.evaluations + (slope is None and history is None)
    return float(march.control[Lane.T, 0]), march.y[0].copy()
