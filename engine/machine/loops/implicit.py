"""The loop of implicit methods on whole vectors: Newton's method, errors, and the control of steps.

One text, which runs as it stands on floats and arrays, for one run or with a column for each of many, and is translated
into machine code with runs side by side in lanes (`march.py`). What methods differ in are texts of their own:
`collocation.py` and `backward.py`, which a method names as its `texts`. Decisions are those of scipy's `Radau` and
`BDF`, and so are the steps.

Newton's method is simplified: one matrix of derivatives J serves for many steps (Hairer, Wanner: Solving Ordinary
Differential Equations II, sec. IV.8). Of a state of m components the last ones are quadratures, which nothing depends
on: J has a column for each of the others, and their errors alone are measured. `memory` has the vectors of an attempt,
and what a run keeps from step to step: among its `own` numbers are those with the following places.
"""

from __future__ import annotations

from .dense import INFINITE, event_is_possible, first_event_of_step, put_rows
from .explicit import EVENT, GOING, GUARDED, TOO_SMALL, aim_step, normalise
from .words import Names, Number, Table, Vector, larger, no, rolled, smaller, some, sqrt, where, whole

# the length of the last step, 0 before the first; the lengths that this step and the last one were to have at first,
# the latter 0 where the next one is to be judged by its own error alone; the last one's error; whether an attempt at
# this step had one that was too large
LAST, WANTED, BEFORE, ERROR, REFUSED = range(5)
# whether there are derivatives, whether they are those at the present state, whether there are factors of matrices;
# rounds of Newton's method in the last attempt, and the quotient of its last two corrections; number of evaluations
DERIVED, CURRENT, FACTORED, ROUNDS, PACE, EVALUATED = range(5, 11)
# of a multistep method: the order, the number of steps of one length that its differences have seen, the order of the
# next step, the factor for its length, which is 0 where it stays, and what the matrix was made with
ORDER, EQUAL, NEXT, LONGER, SHIFT = range(11, 16)
OWN = 16
LEAST_TIGHT, TIGHT = 10 * 2.0**-52, 0.03  # the last of Newton's corrections, in units of the tolerance


def advance(
    method: Names,
    system: Names,
    watch: Names,
    memory: Names,
    y: Vector,
    grid: Table,
    out: Table,
    attempts: Number,
    t_end: Number,
    rtol: Number,
    atol: Number,
    max_step: Number,
    t: Number,
    h: Number,
    fresh: Number,
    accepted: Number,
    rejected: Number,
    row: Number,
    status: Number,
    gap: Number,
    stop: Number,
    which: Number,
) -> Names:
    """Attempts at steps until all runs have stopped, or so many; `grid` ends with infinity."""
    going = (t < t_end) & (status == GOING)
    while some(going) and attempts > 0:
        stop = +t_end
        if method.lands:
            stop = smaller(grid[whole(row)], t_end)
        h, t_new, tiny = begin_implicit_step(method, memory, going, fresh, t, h, stop, max_step)
        status = where(going & tiny, TOO_SMALL, status)
        going = going & no(tiny)
        if some(going):
            attempts = attempts - 1
            step = +h
            h, passed, error = attempt_implicit_step(method, system, memory, y, going, t, t_new, step, rtol, atol)
            fresh = where(going, 0.0, fresh)
            rejected = where(going & no(passed), rejected + 1.0, rejected)
            if some(passed):
                finish_implicit_step(method, system, memory, y, passed, t_new, step, rtol, atol, error)
                barred = passed & (system.guard[0] <= 0.0)
                passed = passed & no(barred)
                seen = passed & event_is_possible(method, system, watch, memory.K, y, memory.new, t, t_new, step)
                if watch.finds > 0 and some(seen):
                    t_new, first = first_event_of_step(
                        method, system, watch, memory.K, y, memory.new, t, t_new, step, seen
                    )
                    status, which = where(first >= 0.0, EVENT, status), where(first >= 0.0, first, which)
                seen = seen & no(watch.finds > 0)
                passed = passed & no(seen)
                status = where(barred | seen, GUARDED, status)
                row, gap = put_rows(
                    method, system, memory.K, y, memory.new, memory.trial, grid, out, passed, t, t_new, step, row, gap
                )
                if system.delays > 0:
                    system.keep(where(passed, 1.0, 0.0), t, step, y, memory.K[0])
                fresh = where(passed, 1.0, fresh)
                accepted = where(passed, accepted + 1.0, accepted)
                y[:] = where(passed, memory.new, y)
                t = where(passed, t_new, t)
                h = accept_implicit_step(method, system, memory, y, passed, t, step, h, error)
                if system.units > 0:
                    normalise(system, y, passed)
                    method.texts.settle(method, system, memory, y, passed, t)
        going = (t < t_end) & (status == GOING)
    return attempts, t, h, fresh, accepted, rejected, row, status, gap, stop, which


def begin_implicit_step(
    method: Names,
    memory: Names,
    going: Number,
    fresh: Number,
    t: Number,
    h: Number,
    stop: Number,
    max_step: Number,
) -> Names:
    """The length of an attempt, its end, and whether it is too small; what another length changes."""
    wanted, begins = +h, going & (fresh != 0.0)
    h, _, cut, t_new, tiny = aim_step(method, begins, t, h, h, stop, max_step)
    method.texts.renew(method, memory, begins, wanted, h)
    aimed = going & no(tiny)
    left = t_new - t
    method.texts.shorten(method, memory, aimed & cut, left / h)
    return where(aimed, left, h), t_new, tiny


def attempt_implicit_step(
    method: Names,
    system: Names,
    memory: Names,
    y: Vector,
    going: Number,
    t: Number,
    t_new: Number,
    h: Number,
    rtol: Number,
    atol: Number,
) -> Names:
    """Solves the step's equations: the length of the next attempt, who has passed, and the error.

    That is with new derivatives if it doesn't work with old ones; else the step is halved.
    """
    method.texts.predict(method, memory, y)
    old, solved = going & True, going & False
    for again in rolled(2):
        if some(old):
            derived = old & ((memory.own[DERIVED] == 0.0) | (again > 0))
            if some(derived):
                at = method.texts.place(memory, y, t, t_new, again > 0)
                derive(system, memory, memory.trial, at, derived)
            made = old & (memory.own[FACTORED] == 0.0)
            if some(made):
                method.texts.factors(method, system, memory, h, made)
                memory.own[FACTORED] = where(made, 1.0, memory.own[FACTORED])
            solved = solved | newton(method, system, memory, y, old, t, t_new, h, rtol, atol)
            old = old & no(solved) & (memory.own[CURRENT] == 0.0)
    failed = going & no(solved)
    if some(failed):
        method.texts.resize(method, memory, failed, 0.5)
        memory.own[FACTORED] = where(failed, 0.0, memory.own[FACTORED])
    error, factor = 0.0 * h, 0.5 + 0.0 * h
    if some(solved):
        error = method.texts.error(method, system, memory, y, solved, t, h, rtol, atol)
        refused = solved & no(error <= 1.0)
        solved = solved & no(refused)
        if some(refused):
            factor = where(refused, method.texts.refuse(method, memory, refused, error, h), factor)
    return where(going & no(solved), h * factor, h), solved, error


def derive(system: Names, memory: Names, state: Vector, t: Number, here: Number) -> None:
    """The derivatives at a state, which make the factors of matrices useless."""
    memory.slopes[:] = system.slopes(t, state)
    for i in rolled(system.size):
        memory.J[i] = where(here, memory.rows[i], memory.J[i])
    memory.own[DERIVED] = where(here, 1.0, memory.own[DERIVED])
    memory.own[CURRENT] = where(here, 1.0, memory.own[CURRENT])
    memory.own[FACTORED] = where(here, 0.0, memory.own[FACTORED])


def newton(
    method: Names,
    system: Names,
    memory: Names,
    y: Vector,
    here: Number,
    t: Number,
    t_new: Number,
    h: Number,
    rtol: Number,
    atol: Number,
) -> Number:
    """Solves for what the step's end follows from; says who has come to an end.

    That isn't so where a rate isn't finite, or corrections don't become small enough in the rounds that are left.
    """
    tight = larger(smaller(sqrt(rtol), TIGHT), LEAST_TIGHT / rtol)
    method.texts.guess(method, memory, y, here, h)
    open, solved, pace, before = here & True, here & False, 0.0 * h, 1.0 + 0.0 * h
    for k in rolled(method.rounds):
        if some(open):
            memory.own[ROUNDS] = where(open, k + 1.0, memory.own[ROUNDS])
            method.texts.rates(method, system, memory, y, open, t, t_new, h)
            length = method.texts.corrections(method, system, memory, y, h, rtol, atol)
            pace = where(open & (k > 0), length / before, pace)
            memory.own[PACE] = where(open, pace, memory.own[PACE])
            left = where(pace < 1.0, 1.0 - pace, 1.0)
            far = length / left  # what is left after all rounds
            for _ in rolled(k, method.rounds):
                far = far * pace
            hopeless = (k > 0) & (no(pace < 1.0) | no(far <= tight))
            open = open & (length < INFINITE) & no(hopeless)
            method.texts.correct(method, memory, open)
            done = open & ((length == 0.0) | ((k > 0) & (pace / left * length < tight)))
            solved = solved | done
            open = open & no(done)
            before = where(open, length, 1.0)
    return solved


def finish_implicit_step(
    method: Names,
    system: Names,
    memory: Names,
    y: Vector,
    passed: Number,
    t_new: Number,
    h: Number,
    rtol: Number,
    atol: Number,
    error: Number,
) -> None:
    """What a step that has passed leaves for dense output, and the rate at its end where that is needed."""
    if method.ends_on_rate | (system.guarded > 0):
        memory.after[:] = system.rate(t_new, memory.new)
        count(memory, passed, 1.0)
    method.texts.finish(method, system, memory, y, passed, h, rtol, atol, error)


def accept_implicit_step(
    method: Names,
    system: Names,
    memory: Names,
    y: Vector,
    passed: Number,
    t: Number,
    step: Number,
    h: Number,
    error: Number,
) -> Number:
    """The length of the next step, at whose beginning the state is y."""
    memory.own[CURRENT] = where(passed, 0.0, memory.own[CURRENT])
    return where(passed, method.texts.accept(method, system, memory, y, passed, t, step, error), h)


def cautious(method: Names, memory: Names) -> Number:
    """The safety factor of step control, which is smaller after more of Newton's corrections."""
    most = 2.0 * method.rounds
    return method.safety * (most + 1.0) / (memory.own[ROUNDS] + most)


def count(memory: Names, here: Number, evaluations: Number) -> None:
    """Counts evaluations."""
    memory.own[EVALUATED] = where(here, memory.own[EVALUATED] + evaluations, memory.own[EVALUATED])
