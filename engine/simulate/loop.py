"""The time loop: steps, events and output rows of a run.  It reaches the system through the runner only."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..mechanics.tree import vanishing_inertia_message
from . import coordinates, modes, reasons, saturation
from .impacts import prescribed_rates_jump
from .integrators.events import Watch, Watched, first_event_crossing
from .integrators.implicit_steps import Implicit
from .integrators.integrate import INTEGRATORS, stepper_of_integrator
from .integrators.runge_kutta import RungeKutta
from .integrators.scipy_stepper import Lsoda
from .integrators.stepper import Stepper
from .marching import compiled_loop_for_leg, limit_exceeded, marched_leg, strided_leg, strides_in_leg
from .runner import Runner
from .singular import Singular
from .singular_step import step_across_singular_position
from .systems.discrete import Discrete
from .systems.memory import joined_instants
from .systems.signals import begin_of_run, sides_of_kink
from .trace import Progress, Solver, Trace


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
    with trace.ends_where_interrupted():
        _run(run, run.start(q, qd), grid, solver, kinks, tell, trace)
        tell(math.inf)
    trace.evaluations = run.evaluations
    return trace


def _run(
    run: Runner, y: np.ndarray, grid: np.ndarray, solver: Solver, kinks: Sequence[float], tell: Progress, trace: Trace
) -> None:
    """Takes the run leg by leg from kink to kink, and notes its rows, its events and how it ends."""
    t, end = begin_of_run(grid, kinks), float(grid[-1])
    unsettled, run.end = run.discrete, end
    run.begin(t, y)
    run.sample(t, y)
    y = modes.settle_sticking_modes(run, t, modes.state_after_blows(run, t, y))
    y[-2:] = 0.0  # a blow at the start is over before the first row, of which energies are counted
    trace.events += saturation.saturation_events(run.system, unsettled, run.discrete, t)
    trace.keep(run, float(grid[0]), y, t)
    if idle := run.without_inertia(t, y):
        trace.ended, trace.reason = "failed", f"at t = {t:.9g} s: {vanishing_inertia_message(idle)}"
    ruled = {float(x) for x in kinks if t < x < end}
    while t < end and trace.ended == "done":
        # a new stepper after every event and every kink of a law: the derivative may jump there
        stop = min(x for x in ruled | {end} if x > t)
        run.until = run.shown = math.inf
        if stop in ruled:
            run.until, behind = sides_of_kink(stop, grid)
            run.shown = run.until if prescribed_rates_jump(run.system, run.until, behind) else math.inf
        t, y = _leg(run, t, y, stop, grid, solver, tell, trace)
        if t in ruled and trace.ended == "done":
            t, y = _kink(run, *sides_of_kink(t, grid), y, trace)
        elif t < end:
            ruled |= {*joined_instants((x for x in run.breaks_behind(t) if x < end), [*grid, *ruled])}


def _kink(run: Runner, earlier: float, t: float, y: np.ndarray, trace: Trace) -> tuple[float, np.ndarray]:
    """The instant behind a kink of a law and the state there.

    A rate that jumps is a blow, and a force that jumps may break joints loose.
    """
    before, run.until, run.shown = run.discrete, math.inf, math.inf
    y, names = modes.state_after_rate_jump(run, earlier, t, y)
    trace.events += [{"t": t, "joint": name, "event": "its prescribed rate jumps", "then": "goes on"} for name in names]
    y = modes.settle_sticking_modes(run, t, y)
    trace.events += reasons.describe_kink(run.system, t, before, run.discrete)
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
    watched = modes.watches_of_present_modes(run, t, y)
    guard = run.guard
    events = [w.function for w in watched]

    def bound() -> float:
        return min(end, float(grid[len(trace.t)])) if lands else end

    pressed = modes.breaks_loose_at_once(run, watched, t, y, float(grid[-1] - grid[0]))
    stepper, again = _stepper(run, t, y, end, solver), math.nextafter(t, math.inf) if pressed else t
    while stepper.t < end:
        stepper.t_end = bound()
        if stepper.t >= again and (march := compiled_loop_for_leg(run, stepper, watched, end, solver)) is not None:
            t, y = marched_leg(march, run, stepper, end, grid, solver, tell, trace)
            if t >= end or trace.ended != "done":
                break
            _count(trace, stepper)  # the next step may have an event, which is to be found in the same step
            again, wanted = march.loop.ahead, march.loop.wanted
            stepper = _stepper(run, t, y, end, solver)
            assert isinstance(stepper, RungeKutta | Implicit)
            stepper.h, stepper.t_end = wanted, bound()
            if isinstance(stepper, Implicit):
                stepper.history = march.loop.history
        if strides_in_leg(run, stepper, watched, guard):
            assert isinstance(stepper, Lsoda)
            t, y = strided_leg(run, stepper, end, grid, solver, tell, trace)
            break
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
            return t, _happened(run, watched[event[1]].watch, t, y, float(grid[-1] - grid[0]), trace)
    _count(trace, stepper)
    return end, y


def _stepped(run: Runner, stepper: Stepper, solver: Solver, trace: Trace) -> str:
    """Takes a step; returns the reason if it fails or exceeds a limit of the solver, else an empty string."""
    return stepper.step() or limit_exceeded(run, stepper, solver, trace)


def _keep_rows(run: Runner, stepper: Stepper, grid: np.ndarray, end: float, trace: Trace) -> None:
    """Keeps the output rows within the last step, up to `end`."""
    for at in map(float, grid[len(trace.t) :]):
        if at > end:
            return
        trace.keep(run, at, stepper.y if at == stepper.t else run.settled(at, stepper.between(at)))


def _happened(run: Runner, watch: Watch, t: float, y: np.ndarray, duration: float, trace: Trace) -> np.ndarray:
    """The state after an event, which is noted; the run ends where events follow each other without end."""
    before = run.discrete
    y, off = modes.state_after_event(run, watch, t, y)
    if off:
        trace.events += reasons.describe_kink(run.system, t, before, run.discrete)
    else:
        trace.events += reasons.describe_event(run, watch, t, before, run.discrete)
    trace.decisions.append(t)
    if reasons.events_chatter(trace.decisions, duration):
        silent = {"event": watch.what, "joint": reasons.name_of_joint(run.system, watch.speed)}
        message = reasons.endless_events_message(trace.events[-1] if trace.events else silent)
        trace.ended, trace.reason = "failed", f"at t = {t:.9g} s: {message}"
    return y


def _guarded(
    run: Runner,
    t: float,
    y: np.ndarray,
    end: float,
    watched: list[Watched],
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
        words = coordinates.independent_speeds_in_words(run.system, run.discrete)
        trace.events.append({"t": t, "event": "takes other coordinates", "then": words})
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
    watched: list[Watched],
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
    return stepper_of_integrator(
        solver.method,
        run.derivative,
        t,
        y,
        end,
        rtol=solver.rtol,
        atol=solver.atol,
        max_step=float(solver.longest_steps(np.array(t), end, adaptive=INTEGRATORS[solver.method].adaptive)),
        step=solver.step,
        measured=run.system.measured,
        slopes=run.slopes,
    )


def _count(trace: Trace, stepper: Stepper) -> None:
    trace.steps += stepper.accepted
    trace.rejected += stepper.rejected
