"""Explicit Runge-Kutta methods, stepped in Python by the text of `machine/loops/explicit.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ...errors import InputError
from ...machine.loops import aim_step, error_of_step, next_step_length, take_further_stages, take_stages
from ...machine.stepping import ExplicitMethod
from .stepper import AT_END, LEAST_ATOL, LEAST_RTOL, NOT_FINITE, TOO_SMALL, Fun
from .tableau import Tableau, hermite_dense_output

# the constants of scipy's step control, so that all steps are the same as scipy's
SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0
UNMOVED = 0.01  # share of the tolerance that a run may move until its end by a rate that is none


@dataclass(frozen=True, eq=False)
class Course:
    """The states within a step: y + h Q (x, x², …), with x from 0 to 1."""

    begin: float
    h: float
    y: np.ndarray
    Q: np.ndarray

    def __call__(self, t: float) -> np.ndarray:
        with np.errstate(all="ignore"):
            powers = np.cumprod(np.full(self.Q.shape[1], (t - self.begin) / self.h))
            state: np.ndarray = self.h * np.dot(self.Q, powers) + self.y
            return state


class RungeKutta:
    """An explicit Runge-Kutta method, adaptive or with the fixed step `step`.

    Adaptive steps are exactly those of scipy.integrate.RK45 or DOP853 with the same coefficients (Hairer, Nørsett,
    Wanner: Solving Ordinary Differential Equations I, sec. II.4 and II.5). Only the errors of the first `measured`
    components control the step (None or 0: all); the others are quadratures, such as work.
    """

    def __init__(
        self,
        tableau: Tableau,
        fun: Fun,
        t0: float,
        y0: np.ndarray,
        t_end: float,
        *,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        max_step: float = math.inf,
        first_step: float | None = None,
        step: float | None = None,
        measured: int | None = None,
    ):
        if tableau.E is None and step is None:
            raise InputError(
                f"{tableau.name} has no estimate of its error, so it needs a step", hint="give it a fixed `step`"
            )
        self.tableau, self.fun, self.t_end = tableau, fun, float(t_end)
        self.method = scheme_on_arrays(tableau, adaptive=step is None)
        self.t = self.t_old = float(t0)
        self.y = self.y_old = np.array(y0, dtype=float)
        self.rtol, self.atol, self.max_step = max(rtol, LEAST_RTOL), max(atol, LEAST_ATOL), max_step
        self.measured = measured or self.y.size
        self.evaluations = self.accepted = self.rejected = 0
        self.adaptive = step is None
        self.P = hermite_dense_output(tableau.B) if tableau.P is None else tableau.P
        # the derivative at a step's end is evaluated at once if the error needs it, else when it is first needed
        self.end_first = self.adaptive and tableau.ends_on_a_stage
        self.end_known = False
        self.f: np.ndarray | None = None  # derivative at (t, y), the next step's first stage; None: not evaluated yet
        self.ends = len(tableau.B) + 1  # number of stages of a step, with the derivative at its end
        # stages of the last step, with those for dense output
        self.K = np.zeros((self.ends + len(tableau.further), self.y.size))
        self.trial = np.zeros_like(self.K)  # stages of the step under way: its failure must not spoil `between`
        self.spare = np.zeros(self.y.size)  # the state of a stage
        self.Q: np.ndarray | None = None
        # the wanted length of the next step; 0: chosen at the first step, when `t_end` is final
        self.h = (first_step or 0.0) if step is None else min(step, max_step)

    def step(self) -> str:
        if self.t >= self.t_end:
            return AT_END
        # a trial step may overflow and is then rejected, so numpy need not warn
        with np.errstate(all="ignore"):
            return self._step()

    def wanted(self) -> float:
        """The wanted length of the next step."""
        if self.h == 0:
            with np.errstate(all="ignore"):
                self.h = self._first_step()
        return self.h

    def between(self, t: float) -> np.ndarray:
        return self.y.copy() if self.t == self.t_old else self.course()(t)

    def course(self) -> Course:
        h = self.t - self.t_old
        with np.errstate(all="ignore"):
            if self.Q is None:
                if not self.end_known:
                    self.K[self.ends - 1] = self._slope()
                    self.end_known = True
                take_further_stages(self.method, self, self.K, self.y_old, self.spare, self.t_old, h)
                self.Q = self.K.T.dot(self.P)
        return Course(self.t_old, h, self.y_old, self.Q)

    def renew(self) -> None:
        self.f = None

    def settle(self, y: np.ndarray) -> None:
        if y is not self.y and not np.array_equal(y, self.y):
            self.y, self.f = np.array(y, dtype=float), None

    def _derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        return self.fun(t, y)

    def _slope(self) -> np.ndarray:
        """The derivative at (t, y), evaluated at the first call."""
        if self.f is None:
            self.f = np.array(self._derivative(self.t, self.y), dtype=float)  # a copy: `fun` may use its array again
        return self.f

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """The derivative, for the text of the steps."""
        return self._derivative(t, y.copy())  # what it keeps of y is to stay as it is

    def _accept(self, t: float, y: np.ndarray) -> None:
        self.t_old, self.t, self.y_old, self.y = self.t, t, self.y, y
        self.K, self.trial, self.Q = self.trial, self.K, None
        self.f, self.end_known = (self.K[self.ends - 1], True) if self.end_first else (None, False)
        self.accepted += 1

    def _step(self) -> str:
        """Tries steps, each shorter than the last, until the error is small enough; returns the reason if none is."""
        method, h, most, fresh = self.method, self.wanted(), 0.0, True
        while True:
            h, most, cut, t, tiny = aim_step(method, fresh, self.t, h, most, self.t_end, self.max_step)
            if tiny:
                finite = method.fixed or np.isfinite(self.trial[: len(method.B)]).all()
                return TOO_SMALL if finite else NOT_FINITE
            step, y, K = t - self.t, np.empty_like(self.y), self.trial
            K[0] = self._slope()
            take_stages(method, self, K, self.y, self.spare, y, self.t, step)
            if self.end_first:
                K[self.ends - 1] = self._derivative(self.t + step, y)
            error = self._error(step, y)
            passed = error < 1.0
            h, most = next_step_length(method, error, step, h, most, cut, passed, not passed)
            if passed:
                self.h = h
                self._accept(t, y)
                return ""
            if method.fixed:
                return NOT_FINITE
            self.rejected += 1
            if not math.isfinite(error) and not np.isfinite(K[0]).all():
                return NOT_FINITE  # the derivative at the step's start, so no shorter step can help
            fresh = False

    def _error(self, step: float, y: np.ndarray) -> float:
        """The estimated error of a trial step, in units of the tolerance; NaN if a quadrature isn't finite."""
        n = self.measured
        if not self.method.fixed and n < y.size and not np.isfinite(y[n:]).all():
            return math.nan
        return float(error_of_step(self.method, max(n, 1), self.trial, self.y, y, step, self.rtol, self.atol))

    def _first_step(self) -> float:
        n, f, length = self.measured, self._slope(), min(self.t_end - self.t, self.max_step)
        if self.y.size == 0:
            return math.inf

        def rate(h: float) -> np.ndarray:
            return self._derivative(self.t + h, self.y + h * f)[:n]

        scale = self.atol + np.abs(self.y[:n]) * self.rtol
        return float(
            first_step_length(rate, self.y[:n], f[:n], scale, self.t_end - self.t, length, self.method.exponent)
        )


def first_step_length(
    rate: Callable[[Any], np.ndarray],
    y: np.ndarray,
    f: np.ndarray,
    scale: np.ndarray,
    rest: float,
    longest: float,
    exponent: float,
) -> np.ndarray:
    """A good length for the first step, from the sizes of y, y' and an estimated y'' (Hairer, sec. II.4).

    `rate(h)` is y' a Euler step of length h later, `scale` the tolerance of each component, `rest` the time that is
    left.  Many runs are served at once if all arrays have a row for each of them.  A rate that moves nothing until the
    end may be rounding: it counts as none, or a run would begin with other steps than the same run beside others.
    """
    d0, d1 = np.asarray(integrator_error_rms(y / scale)), np.asarray(integrator_error_rms(f / scale))
    known = np.isfinite(d0) & np.isfinite(d1)
    if not known.any():
        return np.full(known.shape, longest)
    still = (d1 < 1e-5) | (d1 * rest < UNMOVED)
    h0 = np.fmin(np.where((d0 < 1e-5) | still, 1e-6, 0.01 * d0 / d1), rest)
    d2 = integrator_error_rms((rate(h0) - f) / scale) / h0
    steepest = np.fmax(d1, d2)
    h1 = np.where(steepest > 1e-15, (0.01 / steepest) ** -exponent, np.fmax(1e-6, h0 * 1e-3))
    return np.where(known, np.fmin(np.fmin(100 * h0, h1), longest), longest)


def integrator_scheme(tableau: Tableau) -> ExplicitMethod:
    """A tableau with the constants of the step control, as data for the compiled loop."""
    further = zip(tableau.further.tolist(), tableau.further_at.tolist())
    return ExplicitMethod(
        _rows(tableau.A),
        tuple(tableau.B.tolist()),
        tuple(tableau.C.tolist()),
        () if tableau.E is None else tuple(tableau.E.tolist()),
        _rows(hermite_dense_output(tableau.B) if tableau.P is None else tableau.P),
        -1 / (tableau.error_order + 1),
        SAFETY,
        LEAST_FACTOR,
        MOST_FACTOR,
        () if tableau.E_low is None else tuple(tableau.E_low.tolist()),
        tuple((tuple(a[: len(tableau.B) + 1 + s]), c) for s, (a, c) in enumerate(further)),
        lands=tableau.P is None,
    )


@cache
def scheme_on_arrays(tableau: Tableau, *, adaptive: bool) -> Any:
    """The same with arrays, on which the text of steps runs uncompiled; without estimates of errors for fixed steps."""
    scheme = integrator_scheme(tableau)
    further = tuple((np.array(a), c) for a, c in scheme.further)
    E, E_low = (np.array(x if adaptive else ()) for x in (scheme.E, scheme.E_low))
    arrays: Any = {"A": tableau.A, "B": tableau.B, "E": E, "E_low": E_low, "further": further}
    return replace(scheme, **arrays)


def _rows(table: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def integrator_error_rms(x: np.ndarray) -> Any:
    """The root mean square, with scipy's rounding; for each row, if there are several."""
    if x.ndim > 1:
        return np.sqrt(np.einsum("...k,...k", x, x) / max(x.shape[-1], 1))
    return math.sqrt(x.dot(x)) / x.size**0.5 if x.size else 0.0
