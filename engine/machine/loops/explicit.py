"""The loop of explicit Runge-Kutta methods on whole vectors: stages, errors, and the control of steps.

One text, which runs as it stands on floats and arrays, for one run or with a column for each of many, and is translated
into machine code with runs side by side in lanes (`march.py`). The letters are those of `integrators/tableau.py`; the
constants of step control are scipy's, and so are the steps. Numbers of a run are those of its control block.

K are the stages, K[0] the slope at (t, y). A step at whose end the `guard` isn't positive, or within which a watch may
have an event, isn't taken: its run stops before it, or at the event itself where watches are to find it. Runs that have
stopped take steps of length 0.
"""

from __future__ import annotations

from .dense import event_is_possible, first_event_of_step, put_rows
from .words import (
    Names,
    Number,
    Table,
    Vector,
    larger,
    no,
    power,
    rolled,
    smaller,
    some,
    spacing,
    sqrt,
    squares,
    weighted,
    where,
    whole,
)

GOING, TOO_SMALL, GUARDED, EVENT = 0.0, 2.0, 3.0, 4.0  # how it is with one run
SLIVER = 1e-9  # a fixed step that ends this close to its stop, relative to its length, ends on it
LOW_SHARE = 0.01  # of the estimate of lower order, where there are two


def advance(
    method: Names,
    system: Names,
    watch: Names,
    K: Table,
    y: Vector,
    trial: Vector,
    new: Vector,
    grid: Table,
    out: Table,
    attempts: Number,
    t_end: Number,
    rtol: Number,
    atol: Number,
    max_step: Number,
    t: Number,
    h: Number,
    most: Number,
    fresh: Number,
    accepted: Number,
    rejected: Number,
    row: Number,
    status: Number,
    dense: Number,
    gap: Number,
    stop: Number,
    which: Number,
) -> Names:
    """Attempts at steps until all runs have stopped, or so many; `grid` ends with infinity."""
    S = len(method.B)
    going = (t < t_end) & (status == GOING)
    while some(going) and attempts > 0:
        stop = +t_end
        if method.lands:
            stop = smaller(grid[whole(row)], t_end)
        h, most, cut, t_new, tiny = aim_step(method, fresh != 0.0, t, h, most, stop, max_step)
        status = where(going & tiny, TOO_SMALL, status)
        going = going & no(tiny)
        if some(going):
            attempts = attempts - 1
            step = where(going, t_new - t, 0.0)
            take_stages(method, system, K, y, trial, new, t, step)
            K[S] = system.rate(t_new, new)
            error = error_of_step(method, system.measured, K, y, new, step, rtol, atol)
            passed = going & (error < 1.0)
            # what isn't fit for a step, and what may have an event in it, stops before it
            barred = passed & (system.guard[0] <= 0.0)
            passed = passed & no(barred)
            if len(method.further) > 0:
                due = passed & ((grid[whole(row)] < t_new) | (watch.count > 0) | (system.delays > 0))
                dense = where(due, dense + 1.0, dense)
                if some(due):
                    take_further_stages(method, system, K, y, trial, t, step)
            seen = passed & event_is_possible(method, system, watch, K, y, new, t, t_new, step)
            if watch.finds > 0 and some(seen):
                t_new, first = first_event_of_step(method, system, watch, K, y, new, t, t_new, step, seen)
                status, which = where(first >= 0.0, EVENT, status), where(first >= 0.0, first, which)
            seen = seen & no(watch.finds > 0)
            passed = passed & no(seen)
            status = where(barred | seen, GUARDED, status)
            refused = going & no(passed | barred | seen)
            if method.fixed:  # no other length can help
                status = where(refused, TOO_SMALL, status)
            h, most = next_step_length(method, error, step, h, most, cut, passed, refused)
            fresh = where(passed, 1.0, 0.0)
            accepted = where(passed, accepted + 1.0, accepted)
            rejected = where(refused, rejected + 1.0, rejected)
            row, gap = put_rows(method, system, K, y, new, trial, grid, out, passed, t, t_new, step, row, gap)
            if system.delays > 0:
                system.keep(where(passed, 1.0, 0.0), t, step, y, K[0])
            y[:] = where(passed, new, y)
            K[0] = where(passed, K[S], K[0])
            t = where(passed, t_new, t)
            if system.units > 0:
                normalise(system, y, passed)
                K[0] = system.rate(t, y)
        going = (t < t_end) & (status == GOING)
    return attempts, t, h, most, fresh, accepted, rejected, row, status, dense, gap, stop, which


def aim_step(method: Names, fresh: Number, t: Number, h: Number, most: Number, stop: Number, max_step: Number) -> Names:
    """The length of an attempt, the largest factor for the next one, whether the stop cuts it, its end, and whether it
    is too small.

    A length within bounds is chosen for a step that is `fresh`; where they contradict each other, `max_step` holds.
    """
    if method.fixed:
        ahead = t + h
        cut = t + h * (1.0 + SLIVER) >= stop
        tiny = no(ahead > t)
    else:
        least = 10.0 * spacing(t)
        h = where(fresh, smaller(larger(h, least), max_step), h)
        most = where(fresh, method.most_factor, most)
        ahead = t + h
        cut = ahead > stop
        tiny = no(h >= least)
    return h, most, cut, where(cut, stop, ahead), tiny


def take_stages(
    method: Names, system: Names, K: Table, y: Vector, trial: Vector, new: Vector, t: Number, step: Number
) -> None:
    """The stages of a step behind the first, and the state at its end."""
    for s in range(1, len(method.B)):
        trial[:] = y + step * weighted(method.A[s][:s], K)
        K[s] = system.rate(t + method.C[s] * step, trial)
    new[:] = y + step * weighted(method.B, K)


def take_further_stages(
    method: Names, system: Names, K: Table, y: Vector, trial: Vector, t: Number, step: Number
) -> None:
    """The stages that only dense output needs."""
    for s in range(len(method.further)):
        trial[:] = y + step * weighted(method.further[s][0], K)
        K[len(method.B) + 1 + s] = system.rate(t + method.further[s][1] * step, trial)


def next_step_length(
    method: Names,
    error: Number,
    step: Number,
    h: Number,
    most: Number,
    cut: Number,
    passed: Number,
    refused: Number,
) -> Names:
    """The length of the next attempt after one of this error, and the largest factor for the length after that.

    After a step that was `cut`, the next one is at least as long as this one was to be. Where the error isn't a number,
    the step shrinks by the least factor.
    """
    if no(method.fixed):
        factor = method.safety * power(error, method.exponent)
        grown = step * smaller(factor, most)
        grown = where(cut, larger(h, grown), grown)
        h = where(passed, grown, where(refused, step * larger(factor, method.least_factor), h))
        most = where(refused, 1.0, most)
    return h, most


def normalise(system: Names, y: Vector, passed: Number) -> None:
    """Brings Euler parameters, which begin at the system's places, to norm 1."""
    for i in rolled(system.units):
        a = system.places[i]
        norm = sqrt(y[a] * y[a] + y[a + 1] * y[a + 1] + y[a + 2] * y[a + 2] + y[a + 3] * y[a + 3])
        for r in range(4):
            y[a + r] = where(passed, y[a + r] / norm, y[a + r])


def error_of_step(
    method: Names, n: Number, K: Table, y: Vector, new: Vector, step: Number, rtol: Number, atol: Number
) -> Number:
    """The error of a step in units of the tolerance; that of a method without estimates is 0, or not a number."""
    if method.fixed:
        error = squares(new - new)
    else:
        scale = atol + rtol * larger(abs(y[:n]), abs(new[:n]))
        if len(method.E_low) == 0:
            error = sqrt(squares(weighted(method.E, K)[:n] * step / scale)) / sqrt(n)
        else:  # which makes it larger where that of higher order may be small by chance (Hairer, sec. II.5)
            high = squares(weighted(method.E, K)[:n] / scale)
            size = high + LOW_SHARE * squares(weighted(method.E_low, K)[:n] / scale)
            error = step * high / sqrt(where(size == 0.0, 1.0, size) * n)
    return error
