"""Steppers, which integrate y' = f(t, y) from t0 towards t_end, one step at a call, forwards in time.

A stepper only takes steps: output rows, events and messages about failures are its caller's job. Explicit Runge-Kutta
methods of our own and scipy's solvers have the same interface, `Stepper`; `INTEGRATORS` lists them all.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..errors import InputError, did_you_mean
from ..machine.jit.march import Scheme
from ..machine.program.control import bounded, lengths
from .tableau import CASH_KARP, DORMAND_PRINCE, RUNGE_KUTTA, Tableau, hermite

Fun = Callable[[float, np.ndarray], np.ndarray]

TOO_SMALL = "the tolerance asks for a step below the spacing of floating-point numbers: the motion may be singular here"
NOT_FINITE = "the derivative or the state is not a finite number (NaN or infinity), however small the step"
AT_END = "the end of the integration has been reached already"

# the constants of scipy's step control, so that all steps are the same as scipy's
SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0
LEAST_RTOL = 100 * float(np.finfo(float).eps)
LEAST_ATOL = 1e-300  # gives a state that stays zero the error 0, not 0/0
SLIVER = 1e-9  # a fixed step that ends this close to t_end, relative to its length, ends on it


class Stepper(Protocol):
    """The interface of integrators; `t_end` may be moved on between steps, to land on given instants."""

    t: float
    y: np.ndarray
    t_old: float  # the start of the last step; t itself before the first
    t_end: float
    evaluations: int  # all calls of the derivative
    accepted: int
    rejected: int

    def step(self) -> str:
        """Take a step; if it fails, leave the state as it was and return the reason as a sentence."""
        ...

    def between(self, t: float) -> np.ndarray:
        """The state at an instant within the last step, as it was computed, not as it was settled."""
        ...

    def settle(self, y: np.ndarray) -> None:
        """Replace the state at the last step's end by another one: a new array, not `y` changed in place."""
        ...


class RungeKutta:
    """An explicit Runge-Kutta method, adaptive or with the fixed step `step`.

    Adaptive steps are exactly those of scipy.integrate.RK45 with the same coefficients (Hairer, Nørsett, Wanner:
    Solving Ordinary Differential Equations I, sec. II.4). Only the errors of the first `measured` components control
    the step (None or 0: all); the others are quadratures, such as work.
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
        self.control = scheme(tableau)
        self.t = self.t_old = float(t0)
        self.y = self.y_old = np.array(y0, dtype=float)
        self.rtol, self.atol, self.max_step = max(rtol, LEAST_RTOL), max(atol, LEAST_ATOL), max_step
        self.measured = measured or self.y.size
        self.evaluations = self.accepted = self.rejected = 0
        self.adaptive = step is None
        self.E = np.zeros(len(tableau.B) + 1) if tableau.E is None else tableau.E
        self.P = hermite(tableau.B) if tableau.P is None else tableau.P
        # the derivative at a step's end is evaluated at once if the error needs it, else when it is first needed
        self.end_first = self.adaptive and tableau.ends_on_a_stage
        self.end_known = False
        self.f: np.ndarray | None = None  # derivative at (t, y), the next step's first stage; None: not evaluated yet
        self.K = np.zeros((len(tableau.B) + 1, self.y.size))  # stages of the last step
        self.trial = np.zeros_like(self.K)  # stages of the step under way: its failure must not spoil `between`
        self.Q: np.ndarray | None = None
        # the wanted length of the next step; 0: chosen at the first step, when `t_end` is final
        self.h = (first_step or 0.0) if step is None else min(step, max_step)

    def step(self) -> str:
        if self.t >= self.t_end:
            return AT_END
        # a trial step may overflow and is then rejected, so numpy need not warn
        with np.errstate(all="ignore"):
            return self._adaptive_step() if self.adaptive else self._fixed_step()

    def wanted(self) -> float:
        """The wanted length of the next step."""
        if self.h == 0:
            with np.errstate(all="ignore"):
                self.h = self._first_step()
        return self.h

    def between(self, t: float) -> np.ndarray:
        h = self.t - self.t_old
        if h == 0:
            return self.y.copy()
        with np.errstate(all="ignore"):
            if self.Q is None:
                if not self.end_known:
                    self.K[-1] = self._slope()
                    self.end_known = True
                self.Q = self.K.T.dot(self.P)
            powers = np.cumprod(np.full(self.P.shape[1], (t - self.t_old) / h))
            state: np.ndarray = h * np.dot(self.Q, powers) + self.y_old
            return state

    def settle(self, y: np.ndarray) -> None:
        if not np.array_equal(y, self.y):
            self.y, self.f = np.array(y, dtype=float), None

    def _derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        return self.fun(t, y)

    def _slope(self) -> np.ndarray:
        """The derivative at (t, y), evaluated at the first call."""
        if self.f is None:
            self.f = np.array(self._derivative(self.t, self.y), dtype=float)  # a copy: `fun` may use its array again
        return self.f

    def _try(self, h: float) -> np.ndarray:
        """The state after a step of length h, whose stages are left in `trial`."""
        A, B, C, K, t, y = self.tableau.A, self.tableau.B, self.tableau.C, self.trial, self.t, self.y
        K[0] = self._slope()
        for s in range(1, len(B)):
            K[s] = self._derivative(t + C[s] * h, y + np.dot(K[:s].T, A[s, :s]) * h)
        y_new: np.ndarray = y + h * np.dot(K[:-1].T, B)
        if self.end_first:
            K[-1] = self._derivative(t + h, y_new)
        return y_new

    def _accept(self, t: float, y: np.ndarray) -> None:
        self.t_old, self.t, self.y_old, self.y = self.t, t, self.y, y
        self.K, self.trial, self.Q = self.trial, self.K, None
        self.f, self.end_known = (self.K[-1], True) if self.end_first else (None, False)
        self.accepted += 1

    def _fixed_step(self) -> str:
        t = self.t_end if self.t + self.h * (1 + SLIVER) >= self.t_end else self.t + self.h
        if t <= self.t:
            return TOO_SMALL
        y = self._try(t - self.t)
        if not np.isfinite(y).all():
            return NOT_FINITE
        self._accept(t, y)
        return ""

    def _adaptive_step(self) -> str:
        self.wanted()
        spacing = 10 * (math.nextafter(self.t, math.inf) - self.t)
        h = bounded(self.h, spacing, self.max_step)
        wanted, most = h, MOST_FACTOR
        while h >= spacing:
            cut = self.t + h > self.t_end
            t = self.t_end if cut else self.t + h
            h = t - self.t
            y = self._try(h)
            error = self._error(h, y)
            longer, shorter = lengths(error, h, wanted, most, cut, self.control)
            if error < 1:
                self.h = longer
                self._accept(t, y)
                return ""
            self.rejected += 1
            if not math.isfinite(error) and not np.isfinite(self.trial[0]).all():
                return NOT_FINITE  # the derivative at the step's start, so no shorter step can help
            h = wanted = shorter
            most = 1.0
        return TOO_SMALL if np.isfinite(self.trial[: len(self.tableau.B)]).all() else NOT_FINITE

    def _error(self, h: float, y_new: np.ndarray) -> float:
        """The estimated error of a trial step, in units of the tolerance; NaN if a quadrature isn't finite."""
        n = self.measured
        if n < y_new.size and not np.isfinite(y_new[n:]).all():
            return math.nan
        scale = self.atol + np.maximum(np.abs(self.y[:n]), np.abs(y_new[:n])) * self.rtol
        return rms(np.dot(self.trial[:, :n].T, self.E) * h / scale)

    def _first_step(self) -> float:
        """A good length for the first step, from the sizes of y, y' and an estimated y'' (Hairer, sec. II.4)."""
        length, n = self.t_end - self.t, self.measured
        f0, y0 = self._slope(), self.y
        if y0.size == 0:
            return math.inf
        scale = self.atol + np.abs(y0[:n]) * self.rtol
        d0, d1 = rms(y0[:n] / scale), rms(f0[:n] / scale)
        if not (math.isfinite(d0) and math.isfinite(d1)):
            return min(length, self.max_step)
        h0 = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, length)
        f1 = self._derivative(self.t + h0, y0 + h0 * f0)
        d2 = rms((f1[:n] - f0[:n]) / scale) / h0
        steepest = max(d1, d2)
        h1 = (0.01 / steepest) ** (1 / (self.tableau.error_order + 1)) if steepest > 1e-15 else max(1e-6, h0 * 1e-3)
        return min(100 * h0, h1, length, self.max_step)


def scheme(tableau: Tableau) -> Scheme:
    """A tableau with the constants of the step control, as data for the compiled loop."""
    return Scheme(
        _rows(tableau.A),
        tuple(tableau.B.tolist()),
        () if tableau.E is None else tuple(tableau.E.tolist()),
        () if tableau.P is None else _rows(tableau.P),
        -1 / (tableau.error_order + 1),
        SAFETY,
        LEAST_FACTOR,
        MOST_FACTOR,
    )


def _rows(table: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def rms(x: np.ndarray) -> float:
    """The root mean square, with scipy's rounding."""
    return math.sqrt(x.dot(x)) / x.size**0.5 if x.size else 0.0


class Scipy:
    """One of scipy's solvers by its class name: RK45, DOP853, Radau, BDF or LSODA.

    `rejected` is known for the explicit solvers only, and 0 for the others. `evaluations` includes those for
    finite-difference Jacobians, which scipy's own `nfev` leaves out. After a step that failed, `between` is wrong,
    because scipy has overwritten its stages in the attempt.
    """

    ONE_STEP = ("RK45", "DOP853", "Radau")  # each step depends on (t, y, f) alone; in the others, on a history
    CARRIED = 1e100  # absolute tolerance of quadratures, so large that their errors never matter

    def __init__(
        self,
        kind: str,
        fun: Fun,
        t0: float,
        y0: np.ndarray,
        t_end: float,
        *,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        max_step: float = math.inf,
        measured: int | None = None,
    ):
        from scipy import integrate

        self.kind, self.fun, self.t_end, self.max_step = kind, fun, float(t_end), max_step
        self.make = getattr(integrate, kind)
        self.t = self.t_old = float(t0)
        self.y = np.array(y0, dtype=float)
        n = measured or self.y.size
        # scipy takes the mean over all components, we over those measured; LSODA takes the largest
        share = 1.0 if kind == "LSODA" else math.sqrt(n / max(self.y.size, 1))
        self.rtol = max(rtol * share, LEAST_RTOL)
        self.atol = np.full(self.y.size, max(atol * share, LEAST_ATOL))
        self.atol[n:] = self.CARRIED
        self.evaluations = self.accepted = self.rejected = 0
        self.finite = True  # whether all derivatives of the current step are
        self.failure = ""
        self.solver: Any = None  # None: made at (t, y) by the next step, when `t_end` is final
        self.behind: Any = None  # the solver as it was at the end of the last step
        self.curve: Any = None  # the dense output of `behind`, made at the first request

    def step(self) -> str:
        if self.failure:
            return self.failure
        if self.t >= self.t_end:
            return AT_END
        self.finite = True
        try:
            with quiet():
                self.failure = self._step()
        except ValueError:
            if self.finite:
                raise
            self.failure = NOT_FINITE  # scipy's linear algebra refuses NaN and infinity by raising
        if self.failure and not self.finite:
            self.failure = NOT_FINITE
        return self.failure

    def between(self, t: float) -> np.ndarray:
        if self.t == self.t_old:
            return self.y.copy()
        if self.curve is None:
            with quiet():
                self.curve = self.behind.dense_output()
        state: np.ndarray = self.curve(t)
        return state

    def settle(self, y: np.ndarray) -> None:
        if np.array_equal(y, self.y):
            return
        y = np.array(y, dtype=float)
        change, self.y = y - self.y, y
        if self.solver is None:
            return
        if self.kind in self.ONE_STEP:
            self.behind = copy.copy(self.solver)  # the last step as it was, for `between`
            self.solver.y, self.solver.f = y, self._derivative(self.t, y)
            return
        self.between(self.t)  # makes the curve before its history changes
        # A multistep method that starts again starts at order 1. A change within the tolerance, such as a renormalised
        # quaternion, doesn't justify that: the whole history is shifted by it, which keeps all differences.
        if np.any(np.abs(change) > self.atol + self.rtol * np.abs(y)):
            self.solver = None
        elif self.kind == "BDF":
            self.solver.y, self.solver.D[0] = y, y
        else:
            self.solver.y = y
            self.solver._lsoda_solver._y = y.copy()
            self.solver._lsoda_solver._integrator.rwork[20 : 20 + y.size] = y  # Nordsieck's array, first column

    def _derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        dy = np.array(self.fun(t, y), dtype=float)  # a copy: `fun` may use its array again
        self.finite = self.finite and bool(np.isfinite(dy).all())
        return dy

    def _step(self) -> str:
        if self.solver is None:
            self._derivative(self.t, self.y)
            # scipy's choice of a first step loops without end at NaN, so it must not be called then
            if not (self.finite and np.isfinite(self.y).all()):
                return NOT_FINITE
            self.solver = self.make(
                self._derivative, self.t, self.y, self.t_end, rtol=self.rtol, atol=self.atol, max_step=self.max_step
            )
        solver, before = self.solver, self.evaluations
        if solver.t_bound != self.t_end:
            solver.t_bound, solver.status = self.t_end, "running"
            if self.kind == "LSODA":
                solver._lsoda_solver._integrator.rwork[0] = self.t_end
        solver.step()
        if solver.status == "failed":
            return self._reason()
        if not np.isfinite(solver.y).all():
            return NOT_FINITE
        if solver.t <= self.t:
            return TOO_SMALL
        self.t_old, self.t, self.y = self.t, float(solver.t), solver.y
        self.behind, self.curve = solver, None
        self.accepted += 1
        attempts = (self.evaluations - before) // getattr(solver, "n_stages", math.inf)
        self.rejected += max(int(attempts) - 1, 0)
        return ""

    def _reason(self) -> str:
        if self.kind != "LSODA":
            return TOO_SMALL
        integrator = self.solver._lsoda_solver._integrator
        reason: str = integrator.messages.get(integrator.istate, f"istate {integrator.istate}")
        return "LSODA gave up: " + reason.rstrip(".")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress scipy's warnings, whose content is in the sentence of a failed step."""
    from scipy.linalg import LinAlgWarning

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", message="lsoda: ")
        warnings.filterwarnings("ignore", category=LinAlgWarning)
        yield


@dataclass(frozen=True)
class Integrator:
    """An integrator of the table; `runge_kutta` makes one from a tableau.

    Where `dense` is False, steps end on the rows of the output. With a `scheme`, the whole time loop can run as
    compiled code.
    """

    about: str
    adaptive: bool  # otherwise it needs a fixed step
    dense: bool  # whether it has dense output of its own at every step, good enough for output rows and events
    make: Callable[..., Stepper]
    scheme: Scheme | None = None


def runge_kutta(about: str, tableau: Tableau) -> Integrator:
    """The row of an explicit Runge-Kutta method, whose abilities follow from its coefficients.

    The method is adaptive if it has an embedded solution. It can run in the compiled loop if it also has dense output,
    and if the derivative at a step's end is both part of the error and the next step's first stage.
    """
    if tableau.E is None:
        return Integrator(about, False, tableau.P is not None, partial(RungeKutta, tableau))
    compiled = tableau.ends_on_a_stage and tableau.P is not None
    return Integrator(
        about, True, tableau.P is not None, partial(_adaptive, tableau), scheme(tableau) if compiled else None
    )


def _adaptive(tableau: Tableau, *args: Any, step: float | None, **options: Any) -> Stepper:
    return RungeKutta(tableau, *args, **options)


def _scipy(kind: str, *args: Any, step: float | None, **options: Any) -> Stepper:
    return Scipy(kind, *args, **options)


INTEGRATORS = {
    "rk45": runge_kutta("Dormand-Prince 5(4), adaptive; the default", DORMAND_PRINCE),
    "rkck": runge_kutta("Cash-Karp 5(4), adaptive, of Numerical Recipes", CASH_KARP),
    "rk4": runge_kutta("classical Runge-Kutta of order 4, fixed step", RUNGE_KUTTA),
    "dop853": Integrator(
        "Dormand-Prince 8(5,3), adaptive, for tight tolerances", True, True, partial(_scipy, "DOP853")
    ),
    "radau": Integrator("implicit Runge-Kutta of order 5, for stiff problems", True, False, partial(_scipy, "Radau")),
    "bdf": Integrator("implicit, of order 1 to 5, for stiff problems", True, False, partial(_scipy, "BDF")),
    "lsoda": Integrator("Adams or BDF, as the problem turns stiff or not", True, False, partial(_scipy, "LSODA")),
}


def start(
    method: str,
    fun: Fun,
    t0: float,
    y0: np.ndarray,
    t_end: float,
    *,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float = math.inf,
    step: float | None = None,
    measured: int | None = None,
) -> Stepper:
    """A stepper of the named method at (t0, y0); `step` is for methods with a fixed step, and ignored by others."""
    if method not in INTEGRATORS:
        raise InputError(
            f"there is no integrator `{method}`",
            key="method",
            found=method,
            allowed=", ".join(INTEGRATORS),
            hint=did_you_mean(method, tuple(INTEGRATORS)),
        )
    return INTEGRATORS[method].make(
        fun, t0, y0, t_end, rtol=rtol, atol=atol, max_step=max_step, step=step, measured=measured
    )
