"""The steps of multistep methods by backward differences, on whole vectors.

Rows come from dense output: the polynomial through the last states, as many as the order of the next step asks for,
whose differences over the step's length are K. The order may differ from run to run: what is beyond it counts as 0.
Newton's method solves for Z, by which the predicted state has to be corrected.
"""

from __future__ import annotations

from . import implicit
from .elimination import factor, solve
from .implicit import EQUAL, FACTORED, LONGER, NEXT, ORDER, SHIFT
from .words import (
    Names,
    Number,
    Vector,
    dot,
    larger,
    power,
    rolled,
    shares,
    smaller,
    some,
    sqrt,
    squares,
    weighted,
    where,
)

HIGHEST = 5
DIFFERENCES = HIGHEST + 3  # rows for the state and its differences: two more than the highest order has


def renew(method: Names, memory: Names, begins: Number, wanted: Number, h: Number) -> None:
    """What begins a new step, of length h instead of the one that was wanted."""
    resize(method, memory, begins & (h != wanted), h / wanted)


def shorten(method: Names, memory: Names, here: Number, factor: Number) -> None:
    """What changes where the end cuts the step short."""
    resize(method, memory, here, factor)
    memory.own[FACTORED] = where(here, 0.0, memory.own[FACTORED])


def resize(method: Names, memory: Names, here: Number, factor: Number) -> None:
    """The differences become those at steps that are longer by this factor (Shampine and Reichelt 1997, sec. 2.2)."""
    if some(here):
        order, D = +memory.own[ORDER], memory.D
        weights = [within(order, shares(one, factor)) for one in method.rescaled]
        changed = [where(here & (order >= k), weighted(weights[k], D), D[k]) for k in range(HIGHEST + 1)]
        D[1], D[2], D[3], D[4], D[5] = changed[1:]
        memory.own[EQUAL] = where(here, 0.0, memory.own[EQUAL])


def within(order: Number, weights: Names) -> Names:
    """The weights of differences, without those beyond the order."""
    return [where(order >= k, weights[k], 0.0) for k in range(HIGHEST + 1)]


def chosen(order: Number, first: int) -> Names:
    """The weights of a sum of differences from the first one up to that of the order."""
    return [where((order >= k) & (k >= first), 1.0, 0.0) for k in range(HIGHEST + 1)]


def of_order(order: Number, values: Names) -> Number:
    """The number for this order, 0, 1, …"""
    found = +values[1] + 0.0 * order
    for k in range(2, HIGHEST + 1):
        found = where(order == k, values[k], found)
    return found


def predict(method: Names, memory: Names, y: Vector) -> None:
    """The state at the step's end by the differences alone."""
    memory.predicted[:] = y + weighted(chosen(memory.own[ORDER], 1), memory.D)


def place(memory: Names, y: Vector, t: Number, t_new: Number, again: Number) -> Number:
    """The instant at which derivatives are taken, and the state there, in the place for it."""
    memory.trial[:] = where(again, memory.predicted, y)
    return where(again, t_new, t)


def factors(method: Names, system: Names, memory: Names, h: Number, here: Number) -> None:
    """The factors of the matrix α/h − J."""
    n, shift = system.measured, of_order(memory.own[ORDER], method.alpha) / h
    memory.own[SHIFT] = where(here, shift, memory.own[SHIFT])
    for i in rolled(n):
        memory.real[i] = where(here, -1.0 * memory.J[i], memory.real[i])
        memory.real[i, i] = where(here, memory.real[i, i] + shift, memory.real[i, i])
    factor([memory.real], memory.order, n, here)


def guess(method: Names, memory: Names, y: Vector, here: Number, h: Number) -> None:
    """What Newton's method begins with: W, which is (Σ γ_j ∇^j)/α and the corrections, of which there are none yet."""
    order = +memory.own[ORDER]
    share = 1.0 / of_order(order, method.alpha)
    begun = share * weighted(within(order, method.gamma), memory.D)
    memory.W[:], memory.Z[:] = where(here, begun, memory.W), where(here, 0.0, memory.Z)


def rates(
    method: Names, system: Names, memory: Names, y: Vector, here: Number, t: Number, t_new: Number, h: Number
) -> None:
    """The rate at the step's end."""
    memory.trial[:] = memory.predicted + memory.Z
    memory.F[:] = system.rate(t_new, memory.trial)
    implicit.count(memory, here, 1.0)


def corrections(
    method: Names, system: Names, memory: Names, y: Vector, h: Number, rtol: Number, atol: Number
) -> Number:
    """The corrections of Z in the place of the rate; their size, which isn't finite where the rate isn't.

    They are the solution of (I − c J) x = (h/α) f − W; the matrix may be that of an attempt of another length.
    """
    n, shift = system.measured, +memory.own[SHIFT]
    weight = shift * h / of_order(memory.own[ORDER], method.alpha)
    memory.B[:] = weight * memory.F - shift * memory.W
    solve([memory.real], memory.order, [memory.B], [memory.F], n)
    length = size_of(system, memory.F, memory.predicted, rtol, atol)
    for i in rolled(n, system.size):  # quadratures
        memory.F[i] = (memory.B[i] + dot(memory.J[i], memory.F[:n])) / shift
        length = length + (memory.F[i] - memory.F[i])
    return length


def size_of(system: Names, x: Vector, state: Vector, rtol: Number, atol: Number) -> Number:
    """The root mean square of a vector in units of the tolerance at a state."""
    n = system.measured
    return sqrt(squares(x[:n] / (atol + rtol * abs(state[:n]))) / system.size)


def correct(method: Names, memory: Names, here: Number) -> None:
    """The corrected Z and W."""
    memory.Z[:], memory.W[:] = [where(here, x + memory.F, x) for x in [memory.Z, memory.W]]


def error(
    method: Names,
    system: Names,
    memory: Names,
    y: Vector,
    solved: Number,
    t: Number,
    h: Number,
    rtol: Number,
    atol: Number,
) -> Number:
    """The error in units of the tolerance, and the new state."""
    memory.new[:] = memory.predicted + memory.Z
    return of_order(memory.own[ORDER], method.errors) * size_of(system, memory.Z, memory.new, rtol, atol)


def growth(method: Names, memory: Names, error: Number, more: float) -> Number:
    """The factor for the next length that this error allows: its power −1/(k + more), where k is the order."""
    return power(error, -1.0 / (memory.own[ORDER] + more))


def refuse(method: Names, memory: Names, refused: Number, error: Number, h: Number) -> Number:
    """The factor for the length of the next attempt, and what else follows from an error that is too large."""
    factor = larger(growth(method, memory, error, 1.0) * implicit.cautious(method, memory), method.least_factor)
    resize(method, memory, refused, factor)
    return factor


def finish(
    method: Names,
    system: Names,
    memory: Names,
    y: Vector,
    passed: Number,
    h: Number,
    rtol: Number,
    atol: Number,
    error: Number,
) -> None:
    """The differences at the step's end, and those over its length for dense output by the order of the next step."""
    D, E, order = memory.D, memory.E, +memory.own[ORDER]
    # ∇^k at the step's end = ∇^k before + ∇^(k + 1) there
    beyond = [where(order + 2.0 == k, memory.Z - D[k - 1], 0.0) for k in range(1, DIFFERENCES)]
    above = [where(order + 1.0 >= k, memory.Z, beyond[k - 1]) for k in range(1, DIFFERENCES)]
    inside = [weighted(chosen(order, k), D) for k in range(1, HIGHEST + 1)]
    E[1], E[2], E[3], E[4], E[5] = [above[k] + inside[k] for k in range(HIGHEST)]
    E[6], E[7] = above[HIGHEST:]
    choose(method, system, memory, rtol, atol, error)
    K, after = memory.K, +memory.own[NEXT]
    share = 1.0 / h
    K[1], K[2], K[3], K[4], K[5] = [
        where(passed, where(after >= k, share * E[k], 0.0), K[k]) for k in range(1, HIGHEST + 1)
    ]


def choose(method: Names, system: Names, memory: Names, rtol: Number, atol: Number, error: Number) -> None:
    """Chooses the order of the next step and the factor for its length; 0 where both stay as they are.

    That is so until all differences are those at steps of one length.
    """
    order = +memory.own[ORDER]
    due = memory.own[EQUAL] >= order
    memory.own[NEXT], memory.own[LONGER] = order, 0.0 * order
    if some(due):
        same = [where((order == k) & (k > 0), 1.0, 0.0) for k in range(DIFFERENCES - 2)]
        twice = [where((order + 2.0 == k) & (k > 2), 1.0, 0.0) for k in range(DIFFERENCES)]
        low = of_order(order, method.errors_below) * size_of(system, weighted(same, memory.E), memory.new, rtol, atol)
        high = of_order(order, method.errors_above) * size_of(system, weighted(twice, memory.E), memory.new, rtol, atol)
        best, change = where(order == 1.0, 0.0, growth(method, memory, low, 0.0)), -1.0 + 0.0 * order
        same, more = growth(method, memory, error, 1.0), growth(method, memory, high, 2.0)
        change, best = where(same > best, 0.0, change), where(same > best, same, best)
        more = where(order == HIGHEST, 0.0, more)
        change, best = where(more > best, 1.0, change), where(more > best, more, best)
        longer = smaller(best * implicit.cautious(method, memory), method.most_factor)
        memory.own[NEXT] = where(due, order + change, order)
        memory.own[LONGER] = where(due, longer, 0.0)


def accept(
    method: Names, system: Names, memory: Names, y: Vector, passed: Number, t: Number, h: Number, error: Number
) -> Number:
    """The length of the next step, and what it begins with besides the new state y."""
    D, E = memory.D, memory.E
    kept = [where(passed, E[k], D[k]) for k in range(DIFFERENCES)]
    D[1], D[2], D[3], D[4], D[5], D[6], D[7] = kept[1:]
    memory.own[ORDER] = where(passed, memory.own[NEXT], memory.own[ORDER])
    memory.own[EQUAL] = where(passed, memory.own[EQUAL] + 1.0, memory.own[EQUAL])
    longer = +memory.own[LONGER]
    changed = passed & (longer != 0.0)
    resize(method, memory, changed, longer)
    memory.own[FACTORED] = where(changed, 0.0, memory.own[FACTORED])
    return where(longer != 0.0, h * longer, h)


def settle(method: Names, system: Names, memory: Names, y: Vector, passed: Number, t: Number) -> None:
    """What follows from Euler parameters that have got norm 1: nothing, the whole history moves with the state."""
