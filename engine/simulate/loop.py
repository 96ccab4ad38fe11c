"""The time loop: steps, events and output rows of a run.  It reaches the system through the runner only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

import numpy as np

from ..dynamics.vanishing import vanishing_inertia_message
from ..machine.jit.curves import SignalPieces
from ..machine.jit.march import ACCEPTED, OPEN, PAUSED, REACHED, REJECTED, ROW, STATUS, TOO_SMALL, March, T
from . import coordinates, modes, reasons, saturation
from .blows import state_after_blows, state_after_rate_jump
from .discrete import Discrete
from .events import Watch, first_event_crossing
from .integrate import INTEGRATORS, stepper_of_integrator
from .passage import step_across_singular_position
from .runge_kutta import RungeKutta
from .runner import Runner
from .scipy_stepper import Scipy
from .singular import Singular
from .stepper import NOT_FINITE, Stepper
from .stepper import TOO_SMALL as STEP_TOO_SMALL
from .sticking import settle_sticking_modes

Progress = Callable[[float], None]

ATTEMPTS = 20_000  # steps of compiled code between two checks of the limits and of Ctrl-C
ROWS_CLOSED = 1e-14  # gap of rows, relative to the mechanism's length, that nothing can make smaller
FIRST_GROWTH, GROWTH = 30, 3  # of the steps to come beyond the first and beyond later ones, as far as can be foreseen
TOO_MANY = "more than {} steps (`max_steps` of the solver)"
TOO_OFTEN = "more than {:g} evaluations of the equations of motion"


@dataclass
class Solver:
    """The integrator and its limits; the defaults are those of scenarios."""

    method: str = "rk45"
    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float = math.inf
    step: float | None = None
    max_steps: int = 1_000_000
    max_evaluations: float = math.inf
    at_singularity: str = "stop"
    paces: tuple[tuple[float, float, float], ...] = ()  # (from, to, longest step in between), for adaptive methods


@dataclass
class Trace:
    """The rows of a run, one for each instant, with its events and how it ended."""

    t: list[float] = field(default_factory=list)
    states: list[np.ndarray] = field(default_factory=list)
    signals: list[list[float]] = field(default_factory=list)
    discrete: list[Discrete] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    ended: str = "done"
    reason: str = ""
    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    singular: Any = None  # the first singular position that the run met

    def keep(self, run: Runner, t: float, y: np.ndarray) -> None:
        """Keeps a row, which is evaluated together with all others at the end."""
        signals = run.signals(t)  # first, so that an interrupt here leaves all lists of one length
        self.t.append(t)
        self.states.append(y)
        self.signals.append(signals)
        self.discrete.append(run.discrete)

    def keep_rows(self, run: Runner, times: np.ndarray, states: np.ndarray, *, closed: bool = False) -> None:
        """Keep many rows that compiled code has left, whose loops it may have closed already."""
        settled = run.held_still(states) if closed else run.settled_rows(times, states)
        signals = run.signal_rows(times).tolist()
        self.t += times.tolist()
        self.states += list(settled)
        self.signals += signals
        self.discrete += [run.discrete] * len(times)


def integrate_run(
    run: Runner,
    q: Sequence[float],
    qd: Sequence[float],
    grid: np.ndarray,
    solver: Solver,
    kinks: Sequence[float],
    tell: Progress,
) -> Trace:
    """The run over the grid; it ends early, with the rows so far, when a step fails or the user interrupts."""
    trace = Trace()
    try:
        _run(run, run.start(q, qd), grid, solver, kinks, tell, trace)
    except KeyboardInterrupt as interrupt:
        if not trace.discrete:
            raise
        whole = len(trace.discrete)  # the number of complete rows, as this list is appended last
        del trace.t[whole:], trace.states[whole:], trace.signals[whole:]
        trace.ended, trace.reason = "interrupted", str(interrupt) or "interrupted by the user"
    trace.evaluations = run.evaluations
    return trace


def _run(
    run: Runner, y: np.ndarray, grid: np.ndarray, solver: Solver, kinks: Sequence[float], tell: Progress, trace: Trace
) -> None:
    """Takes the run leg by leg from kink to kink, and notes its rows, its events and how it ends."""
    t, end = float(grid[0]), float(grid[-1])
    unsettled = run.discrete
    run.begin(t, y)
    run.sample(t, y)
    y = settle_sticking_modes(run, t, state_after_blows(run, t, y))
    trace.events += saturation.saturation_events(run.system, unsettled, run.discrete, t)
    trace.keep(run, t, y)
    if idle := run.without_inertia(t, y):
        trace.ended, trace.reason = "failed", f"at t = {t:.9g} s: {vanishing_inertia_message(idle)}"
    ruled = {float(x) for x in kinks if grid[0] < x < end}
    while t < end and trace.ended == "done":
        # a new stepper after every event and every kink of a law: the derivative may jump there
        t, y = _leg(run, t, y, min(x for x in ruled | {end} if x > t), grid, solver, tell, trace)
        if t in ruled and trace.ended == "done":
            t, y = _kink(run, t, y, trace)
        elif t < end:
            ruled |= {x for x in run.breaks_behind(t) if x < end}


def _kink(run: Runner, t: float, y: np.ndarray, trace: Trace) -> tuple[float, np.ndarray]:
    """The state behind a kink of a law: a rate that jumps is a blow, a force that jumps may break joints loose."""
    before = run.discrete
    t, y, names = state_after_rate_jump(run, t, y)
    trace.events += [{"t": t, "joint": name, "event": "its prescribed rate jumps", "then": "goes on"} for name in names]
    y = settle_sticking_modes(run, t, y)
    trace.events += saturation.saturation_events(run.system, before, run.discrete, t)
    return t, y


def _leg(
    run: Runner,
    t: float,
    y: np.ndarray,
    end: float,
    grid: np.ndarray,
    solver: Solver,
    tell: Progress,
    trace: Trace,
) -> tuple[float, np.ndarray]:
    """Integrates up to `end` or to the next event, whichever comes first; returns the instant and the state there."""
    lands = not INTEGRATORS[solver.method].dense  # without good dense output, steps end on the rows
    watched = [*modes.watches_of_present_modes(run, t, y), *saturation.saturation_watches(run)]
    guard = run.guard
    events = [w.function for w in watched]

    def bound() -> float:
        return min(end, float(grid[len(trace.t)])) if lands else end

    stepper, again = _stepper(run, t, y, end, solver), t
    while stepper.t < end:
        stepper.t_end = bound()
        if stepper.t >= again and (march := _loop_for(run, stepper, watched, end, solver)) is not None:
            t, y = _march(march, run, stepper, end, grid, solver, tell, trace)
            if t >= end or trace.ended != "done":
                break
            _count(trace, stepper)  # the next step may have an event, which is to be found in the same step
            again, wanted = march.loop.ahead, march.loop.wanted
            stepper = _stepper(run, t, y, end, solver)
            assert isinstance(stepper, RungeKutta | Scipy)
            stepper.h, stepper.t_end = wanted, bound()
        if run.system.inputs.sampled:
            run.sample(stepper.t, stepper.y)
            stepper.renew()
        failure = _stepped(run, stepper, solver, trace)
        if failure:
            why = reasons.reason_why_integration_failed(run, stepper.t, stepper.y, failure)
            trace.ended, trace.reason = "failed", f"at t = {stepper.t:.9g} s: {why}"
            break
        stepper.settle(run.settled(stepper.t, stepper.y))
        run.remember(stepper)
        event = first_event_crossing(events, stepper)
        if guard is not None and (passed := first_event_crossing([guard], stepper, samples=1)) is not None:
            # as in the compiled loop, what counts is the step's end
            event = min((passed[0], len(watched)), event or (math.inf, 0))
        t = event[0] if event is not None else stepper.t
        _keep_rows(run, stepper, grid, t, trace)
        y = stepper.y if t == stepper.t else run.settled(t, stepper.between(t))
        tell(t)
        if event is not None:
            _count(trace, stepper)
            if event[1] == len(watched):
                return _guarded(run, t, y, end, watched, grid, solver, trace)
            return t, _happened(run, watched[event[1]], t, y, float(grid[-1] - grid[0]), trace)
    _count(trace, stepper)
    return end, y


@dataclass(frozen=True)
class _Ready:
    """The compiled loop for the rest of a leg, with the signals that vary in time and the rules of the watches."""

    loop: March
    pieces: SignalPieces
    rules: list[tuple[float, ...]]


def _loop_for(run: Runner, stepper: Stepper, watched: Sequence[Watch], end: float, solver: Solver) -> _Ready | None:
    """The compiled loop from where the stepper is; None where steps are to be taken in Python."""
    scheme = INTEGRATORS[solver.method].loop
    rules = run.rules(watched) if scheme is not None and run.marches else None
    run.alone = rules is None
    if scheme is None or rules is None:
        return None
    assert isinstance(stepper, RungeKutta | Scipy)
    # a leg that no event cuts short takes at least so many steps
    growth = GROWTH if stepper.accepted else FIRST_GROWTH
    steps = (end - stepper.t) / (growth * stepper.wanted()) if not watched else 0.0
    loop = run.march(scheme, stepper.t, steps * scheme.evaluations)
    pieces = run.pieces(stepper.t, end, stepper.max_step) if loop is not None else None
    run.alone = loop is not None and pieces is None
    return _Ready(loop, pieces, rules) if loop is not None and pieces is not None else None


def _stepped(run: Runner, stepper: Stepper, solver: Solver, trace: Trace) -> str:
    """Takes a step; returns the reason if it fails or exceeds a limit of the solver, else an empty string."""
    failure = stepper.step()
    if not failure and trace.steps + stepper.accepted > solver.max_steps:
        failure = TOO_MANY.format(solver.max_steps)
    if not failure and run.evaluations > solver.max_evaluations:
        failure = TOO_OFTEN.format(solver.max_evaluations)
    return failure


def _keep_rows(run: Runner, stepper: Stepper, grid: np.ndarray, end: float, trace: Trace) -> None:
    """Keeps the output rows within the last step, up to `end`."""
    for at in map(float, grid[len(trace.t) :]):
        if at > end:
            return
        trace.keep(run, at, stepper.y if at == stepper.t else run.settled(at, stepper.between(at)))


def _happened(run: Runner, watch: Watch, t: float, y: np.ndarray, duration: float, trace: Trace) -> np.ndarray:
    """The state after an event, which is noted; the run ends where events follow each other without end."""
    before = run.discrete
    y = modes.state_after_event(run, watch, t, y)
    trace.events += reasons.describe_event(run, watch, t, before, run.discrete)
    if reasons.events_chatter(trace.events, duration):
        trace.ended, trace.reason = "failed", f"at t = {t:.9g} s: {reasons.endless_events_message(trace.events[-1])}"
    return y


def _march(
    ready: _Ready,
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
    within = stepper.t + (end - stepper.t) / 2  # where a law has a kink, a signal may jump that is constant in the leg
    wanted, slope = stepper.wanted(), stepper.f
    march.begin(
        np.array(run.signals(within)),
        stepper.y,
        ready.pieces,
        ready.rules,
        run.quantities,
        slope,
        T=stepper.t,
        H=wanted,
        T_END=end,
        RTOL=stepper.rtol,
        ATOL=float(np.min(stepper.atol)),
        MAX_STEP=stepper.max_step,
    )
    before, written, begun = trace.steps + stepper.accepted, 0, thread_time()
    while True:
        left = solver.max_steps + 1 - trace.steps - stepper.accepted - int(march.control[ACCEPTED, 0])
        status = march.go(ahead, out, max(1, min(ATTEMPTS, left)))
        accepted, rejected, rows = (int(march.control[k, 0]) for k in (ACCEPTED, REJECTED, ROW))
        closed = march.closes and float(march.control[OPEN, 0]) <= ROWS_CLOSED * ROWS_CLOSED
        trace.keep_rows(run, ahead[written:rows], out[0, written:rows], closed=closed)
        written = rows
        if status == PAUSED and before + accepted > solver.max_steps:
            trace.ended, trace.reason = (
                "failed",
                f"at t = {march.control[T, 0]:.9g} s: {TOO_MANY.format(solver.max_steps)}",
            )
        elif status == PAUSED and march.evaluations > solver.max_evaluations - run.evaluations:
            trace.ended, trace.reason = (
                "failed",
                f"at t = {march.control[T, 0]:.9g} s: {TOO_OFTEN.format(solver.max_evaluations)}",
            )
        elif march.control[STATUS, 0] == TOO_SMALL:
            why = reasons.reason_why_integration_failed(
                run, float(march.control[T, 0]), march.y[0], STEP_TOO_SMALL if march.finite() else NOT_FINITE
            )
            trace.ended, trace.reason = "failed", f"at t = {march.control[T, 0]:.9g} s: {why}"
        tell(float(march.control[T, 0]))
        if status == REACHED or trace.ended != "done":
            break
    run.marched(thread_time() - begun)
    trace.steps += accepted
    trace.rejected += rejected
    run.evaluations += march.evaluations + (slope is None)
    return float(march.control[T, 0]), march.y[0].copy()


def _guarded(
    run: Runner,
    t: float,
    y: np.ndarray,
    end: float,
    watched: list[Watch],
    grid: np.ndarray,
    solver: Solver,
    trace: Trace,
) -> tuple[float, np.ndarray]:
    """Instant and state to go on with where coordinates become unusable.

    The run stops there, takes other coordinates, or goes through, if it can in a step from the modes `before`.
    """
    before = run.discrete
    y, singular, done = run.guarded(t, y, solver.at_singularity)
    if singular is not None:
        trace.singular = trace.singular or singular
    if done == "stop" and singular is not None:
        trace.ended, trace.reason = "singularity", f"at t = {singular.t:.9g} s: {singular}"
    elif done == "switch":
        names = ", ".join(coordinates.independent_joints_of_run(run.system, run.discrete))
        trace.events.append({"t": t, "event": "takes other coordinates", "then": names})
    elif done == "into":
        trace.events.append({"t": t, "event": "the loops lose a constraint", "then": "goes through"})
        return _through(run, before, t, y, singular, end, watched, grid, solver, trace)
    return t, y


def _through(
    run: Runner,
    before: Discrete,
    t: float,
    y: np.ndarray,
    singular: Singular | None,
    end: float,
    watched: list[Watch],
    grid: np.ndarray,
    solver: Solver,
    trace: Trace,
) -> tuple[float, np.ndarray]:
    """Instant and state behind a singular position that a step crosses; else those before it, to pass it slowly."""
    passing, run.discrete = run.discrete, before
    tolerances = {"rtol": solver.rtol, "atol": solver.atol}
    step = (
        step_across_singular_position(run, y, singular, t, end, watched, **tolerances) if singular is not None else None
    )
    run.discrete = passing
    if step is None:
        return t, y
    run.remember(step.stepper)
    _keep_rows(run, step.stepper, grid, step.stepper.t, trace)
    _count(trace, step.stepper)
    run.discrete = step.discrete
    return step.stepper.t, step.y


def _stepper(run: Runner, t: float, y: np.ndarray, end: float, solver: Solver) -> Stepper:
    """A stepper of the solver's method from (t, y) towards `end`."""
    paces = solver.paces if INTEGRATORS[solver.method].adaptive else ()
    longest = min([solver.max_step, *(step for begin, over, step in paces if begin < end and over > t)])
    return stepper_of_integrator(
        solver.method,
        run.derivative,
        t,
        y,
        end,
        rtol=solver.rtol,
        atol=solver.atol,
        max_step=longest,
        step=solver.step,
        measured=run.system.measured,
        slopes=run.slopes,
    )


def _count(trace: Trace, stepper: Stepper) -> None:
    trace.steps += stepper.accepted
    trace.rejected += stepper.rejected
