"""The steps of implicit Runge-Kutta methods with three stages, on whole vectors.

They end on output rows, for dense output is of a low order. Newton's method solves for the stages Z, and goes on in
coordinates W in which a real and a complex system of the state's size stand apart (Hairer, Wanner: Solving Ordinary
Differential Equations II, sec. IV.8). K are the rate at the step's beginning and the last
step's stages over its length.
"""

from __future__ import annotations

from . import implicit
from .elimination import factor, solve
from .implicit import BEFORE, ERROR, FACTORED, LAST, PACE, REFUSED, ROUNDS, WANTED
from .words import (
    Names,
    Number,
    Vector,
    dot,
    larger,
    no,
    power,
    rolled,
    shares,
    smaller,
    some,
    sqrt,
    squares,
    sums,
    weighted,
    where,
)


def renew(method: Names, memory: Names, begins: Number, wanted: Number, h: Number) -> None:
    """What begins a new step, of length h instead of the one that was wanted."""
    memory.own[WANTED] = where(begins, wanted, memory.own[WANTED])
    memory.own[BEFORE] = where(begins & (h != wanted), 0.0, memory.own[BEFORE])
    memory.own[REFUSED] = where(begins, 0.0, memory.own[REFUSED])


def shorten(method: Names, memory: Names, here: Number, factor: Number) -> None:
    """What changes where the end cuts the step short: nothing."""


def resize(method: Names, memory: Names, here: Number, factor: Number) -> None:
    """What another length of the step changes: nothing."""


def predict(method: Names, memory: Names, y: Vector) -> None:
    """What is known of the step's end before Newton's method begins: nothing."""


def place(memory: Names, y: Vector, t: Number, t_new: Number, again: bool) -> Number:
    """The instant at which derivatives are taken, and the state there, in the place for it."""
    memory.trial[:] = +y
    return t


def factors(method: Names, system: Names, memory: Names, h: Number, here: Number) -> None:
    """The factors of the matrices s/h − J, for the real eigenvalue s of A⁻¹ and one of the complex ones."""
    n = system.measured
    for i in rolled(n):
        memory.real[i] = where(here, -1.0 * memory.J[i], memory.real[i])
        memory.pair_real[i] = where(here, -1.0 * memory.J[i], memory.pair_real[i])
        memory.pair_imaginary[i] = where(here, 0.0 * memory.J[i], memory.pair_imaginary[i])
        memory.real[i, i] = where(here, memory.real[i, i] + method.real / h, memory.real[i, i])
        memory.pair_real[i, i] = where(here, memory.pair_real[i, i] + method.pair.real / h, memory.pair_real[i, i])
        memory.pair_imaginary[i, i] = where(here, method.pair.imag / h, memory.pair_imaginary[i, i])
    factor([memory.real], memory.order, n, here)
    factor([memory.pair_real, memory.pair_imaginary], memory.pair_order, n, here)


def guess(method: Names, memory: Names, y: Vector, here: Number, h: Number) -> None:
    """What Newton's method begins with: the last step's polynomial goes on, if there is one."""
    last = +memory.own[LAST]
    ratio = h / where(last > 0.0, last, 1.0)
    known, K, W, Z = here & (last > 0.0), memory.K, memory.W, memory.Z
    weights = [shares(method.P, 1.0 + c * ratio) for c in method.C]
    ahead = [where(known, last * (weighted(each, K) - K[3]), 0.0) for each in weights]
    Z[0], Z[1], Z[2] = [where(here, ahead[k], Z[k]) for k in range(3)]
    W[0], W[1], W[2] = [where(here, weighted(method.inverse[k], Z), W[k]) for k in range(3)]


def rates(
    method: Names, system: Names, memory: Names, y: Vector, here: Number, t: Number, t_new: Number, h: Number
) -> None:
    """The rates at the stages."""
    for k in range(3):
        memory.trial[:] = y + memory.Z[k]
        memory.F[k] = system.rate(t + method.C[k] * h, memory.trial)
    implicit.count(memory, here, 3.0)


def corrections(
    method: Names, system: Names, memory: Names, y: Vector, h: Number, rtol: Number, atol: Number
) -> Number:
    """The corrections of W in the place of the rates: solutions of the real and of the complex system; their size.

    That isn't finite where a rate isn't.
    """
    n, F, W, B = system.measured, memory.F, memory.W, memory.B
    s, a, b = method.real / h, method.pair.real / h, method.pair.imag / h
    mixed = [weighted(weights, F) for weights in method.inverse]
    shifted = [s * W[0], a * W[1] - b * W[2], a * W[2] + b * W[1]]
    B[0], B[1], B[2] = [mixed[k] - shifted[k] for k in range(3)]
    solve([memory.real], memory.order, [B[0]], [F[0]], n)
    pair = [memory.pair_real, memory.pair_imaginary]
    solve(pair, memory.pair_order, [B[1], B[2]], [F[1], F[2]], n)
    scale = atol + rtol * abs(y[:n])
    x = [F[k][:n] / scale for k in range(3)]
    length = sqrt(sums(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])[0] / (3.0 * system.size))
    square = a * a + b * b
    for i in rolled(n, system.size):  # quadratures
        F[0, i] = (B[0, i] + dot(memory.J[i], F[0][:n])) / s
        real, imaginary = B[1, i] + dot(memory.J[i], F[1][:n]), B[2, i] + dot(memory.J[i], F[2][:n])
        F[1, i] = (a * real + b * imaginary) / square
        F[2, i] = (a * imaginary - b * real) / square
        length = length + (F[0, i] - F[0, i]) + (F[1, i] - F[1, i]) + (F[2, i] - F[2, i])
    return length


def correct(method: Names, memory: Names, here: Number) -> None:
    """The corrected W, and the stages that follow from it."""
    W, Z, F = memory.W, memory.Z, memory.F
    W[0], W[1], W[2] = [where(here, W[k] + F[k], W[k]) for k in range(3)]
    Z[0], Z[1], Z[2] = [where(here, weighted(method.T[k], W), Z[k]) for k in range(3)]


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
    """The error in units of the tolerance, and the new state.

    It is estimated once more, from a rate near the beginning, where an attempt at this step has been refused before.
    """
    n, B, F = system.measured, memory.B, memory.F
    memory.new[:] = y + memory.Z[2]
    scale = atol + rtol * larger(abs(y[:n]), abs(memory.new[:n]))
    change = weighted(method.E, memory.Z) / h
    B[0] = memory.K[0] + change
    solve([memory.real], memory.order, [B[0]], [F[0]], n)
    found = sqrt(squares(F[0][:n] / scale) / system.size)
    again = solved & (memory.own[REFUSED] != 0.0) & (found > 1.0)
    if some(again):
        memory.trial[:] = +y
        memory.trial[:n] = y[:n] + F[0][:n]
        memory.after[:] = system.rate(t, memory.trial)
        implicit.count(memory, again, 1.0)
        B[0] = memory.after + change
        solve([memory.real], memory.order, [B[0]], [F[0]], n)
        found = where(again, sqrt(squares(F[0][:n] / scale) / system.size), found)
    return found


def growth(method: Names, memory: Names, error: Number, h: Number) -> Number:
    """The factor for the next length, from the errors of this step and of the one before (sec. IV.8)."""
    before = +memory.own[BEFORE]
    trend = h / where(before == 0.0, 1.0, before)
    trend = trend * power(memory.own[ERROR] / where(error == 0.0, 1.0, error), -1.0 * method.exponent)
    trend = where((before == 0.0) | (error == 0.0), 1.0, trend)
    return smaller(trend, 1.0) * power(error, method.exponent) * implicit.cautious(method, memory)


def refuse(method: Names, memory: Names, refused: Number, error: Number, h: Number) -> Number:
    """The factor for the length of the next attempt, and what else follows from an error that is too large."""
    memory.own[REFUSED] = where(refused, 1.0, memory.own[REFUSED])
    memory.own[FACTORED] = where(refused, 0.0, memory.own[FACTORED])
    return larger(growth(method, memory, error, h), method.least_factor)


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
    """The stages for dense output."""
    K, Z, share = memory.K, memory.Z, 1.0 / h
    K[1], K[2], K[3] = [where(passed, share * Z[k], K[k + 1]) for k in range(3)]


def accept(
    method: Names, system: Names, memory: Names, y: Vector, passed: Number, t: Number, h: Number, error: Number
) -> Number:
    """The length of the next step, and what it begins with besides the new state y."""
    slow = (memory.own[ROUNDS] > 2.0) & (memory.own[PACE] > method.slow)
    factor = smaller(growth(method, memory, error, h), method.most_factor)
    keep = no(slow) & (factor < method.worth)
    memory.own[FACTORED] = where(passed & no(keep), 0.0, memory.own[FACTORED])
    memory.own[BEFORE] = where(passed, memory.own[WANTED], memory.own[BEFORE])
    memory.own[ERROR] = where(passed, error, memory.own[ERROR])
    memory.own[LAST] = where(passed, h, memory.own[LAST])
    memory.K[0] = where(passed, memory.after, memory.K[0])
    if some(passed & slow):
        implicit.derive(system, memory, y, t, passed & slow)
    return where(keep, h, h * factor)


def settle(method: Names, system: Names, memory: Names, y: Vector, passed: Number, t: Number) -> None:
    """What follows from Euler parameters that have got norm 1: another rate."""
    memory.after[:] = system.rate(t, y)
    memory.K[0] = where(passed, memory.after, memory.K[0])
    implicit.count(memory, passed, 1.0)
