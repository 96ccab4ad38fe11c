"""The solvers of scipy, behind the interface of integrators."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..machine.stepping.differences import History
from .ndf import FIRST_ORDER
from .radau import ERROR_ORDER
from .runge_kutta import first_step_length
from .stepper import AT_END, LEAST_ATOL, LEAST_RTOL, NOT_FINITE, TOO_SMALL, Fun


class Scipy:
    """One of scipy's solvers by its class name: RK45, DOP853, Radau, BDF or LSODA.

    `rejected` is known for the explicit solvers only, and 0 for the others. `evaluations` includes those for
    finite-difference Jacobians, which scipy's own `nfev` leaves out. After a step that failed, `between` is wrong,
    because scipy has overwritten its stages in the attempt.
    """

    ONE_STEP = ("RK45", "DOP853", "Radau")  # each step depends on (t, y, f) alone; in the others, on a history
    IMPLICIT = ("Radau", "BDF")  # which solve linear equations
    SHIFTED = 1000.0  # tolerances by which a state may be changed without losing its history
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
        slopes: Fun | None = None,
    ):
        from scipy import integrate

        # with derivatives of `fun`, scipy takes no differences: where a component doesn't matter, it would try larger
        # and larger ones, beyond all reason
        self.slopes = slopes
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
        self.failure = self.gave_up = ""
        self.state = 0  # LSODA's own, after its last call
        self.h = 0.0  # the wanted length of the first step; 0: chosen when `t_end` is final
        self.f: np.ndarray | None = None  # the derivative at the start, where it is known
        self._history: History | None = None  # that of `BDF`, before there is a solver
        self.solver: Any = None  # None: made at (t, y) by the next step, when `t_end` is final
        self.behind: Any = None  # the solver as it was at the end of the last step
        self.curve: Any = None  # the dense output of `behind`, made at the first request

    def step(self) -> str:
        """Takes a step by scipy's solver; once a step has failed, every further call returns the same reason."""
        if self.failure:
            return self.failure
        if self.t >= self.t_end:
            return AT_END
        self.finite, self.f = True, None
        try:
            with np.errstate(all="ignore"):
                self.failure = self._step()
        except ValueError:
            if self.finite:
                raise
            self.failure = NOT_FINITE  # scipy's linear algebra refuses NaN and infinity by raising
        if self.failure and not self.finite:
            self.failure = NOT_FINITE
        return self.failure

    def wanted(self) -> float:
        """The wanted length of the next step, of `Radau` and `BDF` only; the first one is scipy's choice."""
        if self.solver is not None:
            return float(self.solver.h_abs)
        if self.h == 0.0:
            with np.errstate(all="ignore"):
                self.h = self._first_step()
        return self.h

    @property
    def history(self) -> History | None:
        """What `BDF` goes on with, if it has a history; with that of another stepper, it goes on like this one."""
        solver = self.solver
        if solver is None or self.kind != "BDF":
            return self._history
        return History(solver.D.copy(), int(solver.order), int(solver.n_equal_steps), solver.J)

    @history.setter
    def history(self, history: History | None) -> None:
        self._history = history

    def _first_step(self) -> float:
        rest, f = self.t_end - self.t, self._derivative(self.t, self.y)
        self.f = f

        def rate(h: float) -> np.ndarray:
            return self._derivative(self.t + h, self.y + h * f)

        order = FIRST_ORDER if self.kind == "BDF" else ERROR_ORDER
        scale, exponent = self.atol + np.abs(self.y) * self.rtol, -1 / (order + 1)
        return float(first_step_length(rate, self.y, f, scale, rest, min(rest, self.max_step), exponent))

    def between(self, t: float) -> np.ndarray:
        return self.y.copy() if self.t == self.t_old else self.course()(t)

    def course(self) -> Callable[[float], np.ndarray]:
        if self.curve is None:
            with np.errstate(all="ignore"):
                self.curve = self.behind.dense_output()
        curve: Callable[[float], np.ndarray] = self.curve
        return curve

    def renew(self) -> None:
        self.solver = self.f = self._history = None
        self.h = 0.0

    def settle(self, y: np.ndarray) -> None:
        """Replaces the state at the last step's end, and keeps the history of multistep methods where that is sound."""
        if y is self.y or np.array_equal(y, self.y):
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
        # A multistep method that starts again starts at order 1. A change such as a renormalised quaternion, or loops
        # that are closed, doesn't justify that: the whole history is shifted by it, which keeps all differences. Near
        # singular positions, loops move what depends by many tolerances of what they follow from.
        if np.any(np.abs(change) > self.SHIFTED * (self.atol + self.rtol * np.abs(y))):
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
        self.finite = self.finite and finite(dy)
        return dy

    def _jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        assert self.slopes is not None
        J = self.slopes(t, y)
        self.finite = self.finite and bool(np.isfinite(J).all())
        return J

    def _step(self) -> str:
        """Lets scipy's solver take a step, and returns the reason if it can't."""
        if self.solver is None:
            self._derivative(self.t, self.y)
            # scipy's choice of a first step loops without end at NaN, so it must not be called then
            if not (self.finite and np.isfinite(self.y).all()):
                return NOT_FINITE
            self._begin()
        solver, before = self.solver, self.evaluations
        if solver.t_bound != self.t_end:
            solver.t_bound, solver.status = self.t_end, "running"
            if self.kind == "LSODA":
                solver._lsoda_solver._integrator.rwork[0] = self.t_end
        solver.step()
        if self.gave_up:
            return "LSODA gave up: " + self.gave_up.rstrip(".")
        if solver.status == "failed":
            return TOO_SMALL
        if not finite(solver.y):
            return NOT_FINITE
        if solver.t <= self.t:
            return TOO_SMALL
        self.t_old, self.t, self.y = self.t, float(solver.t), solver.y
        self.behind, self.curve = solver, None
        self.accepted += 1
        attempts = (self.evaluations - before) // getattr(solver, "n_stages", math.inf)
        self.rejected += max(int(attempts) - 1, 0)
        return ""

    def _begin(self) -> None:
        """Makes scipy's solver at the present state."""
        self.solver = self.make(
            self._derivative,
            self.t,
            self.y,
            self.t_end,
            rtol=self.rtol,
            atol=self.atol,
            max_step=self.max_step,
            **({} if self.slopes is None else {"jac": self._jacobian}),
            **({"first_step": min(self.h, self.t_end - self.t)} if self.h else {}),
        )
        if self.kind in self.IMPLICIT:
            use_lapack(self.solver)
        if (past := self._history) is not None:
            J = np.zeros((self.y.size, self.y.size))
            J[:, : past.J.shape[1]] = past.J
            self.solver.D[:], self.solver.J, self._history = past.D, J, None
            self.solver.D[0] = self.y
            self.solver.order, self.solver.n_equal_steps, self.solver.h_abs = past.order, past.equal, self.h
        if self.kind == "LSODA":
            self._heed(self.solver._lsoda_solver._integrator)

    @property
    def strides(self) -> bool:
        """Whether `stride` goes on from here."""
        return self.kind == "LSODA" and self.solver is not None and not self.failure

    def stride(self, t: float, quick: Callable[[Fun], Fun]) -> str:
        """Goes on to an instant before `t_end`, or by some hundred steps if that is less; the reason if it fails.

        LSODA takes them without returning; they are those that it takes one by one.  The state at t comes from dense
        output, and no step is left to look into.  `quick` makes a quicker function of the derivative.
        """
        solver, rate = self.solver._lsoda_solver, quick(self._derivative)
        integrator, counted = solver._integrator, self.evaluations
        steps, evaluations = (int(integrator.iwork[k]) for k in (STEPS, EVALUATIONS))
        integrator.rwork[0], integrator.call_args[2] = self.t_end, UP_TO
        self.finite = True
        with np.errstate(all="ignore"):
            y, at = integrator.run(rate, solver.jac or (lambda: None), solver._y, solver.t, t, (), ())
        solver._y, solver.t = y, at
        self.accepted += int(integrator.iwork[STEPS]) - steps
        self.evaluations = counted + int(integrator.iwork[EVALUATIONS]) - evaluations
        if self.state == PAUSED:
            self.gave_up = ""
        if self.gave_up:
            self.failure = "LSODA gave up: " + self.gave_up.rstrip(".")
        if not (self.finite and finite(y)):
            self.failure = NOT_FINITE
        if not self.failure:
            self.t_old, self.t, self.y = self.t, float(at), y.copy()
        return self.failure

    def _heed(self, integrator: Any) -> None:
        """Keeps the reason for which LSODA gives up, of which scipy would only warn."""
        run = integrator.runner

        def runner(*arguments: Any) -> tuple[Any, float, int]:
            y, t, state = run(*arguments)
            self.state = state
            if state < 0:
                self.gave_up = integrator.messages.get(state, f"istate {state}")
            return y, t, abs(state)

        integrator.runner = runner


# LSODA's words: a task, a state, and places of its counts
UP_TO = 4  # up to an instant, not beyond `t_end`
PAUSED = -1  # after a number of steps
STEPS, EVALUATIONS = 10, 11


def finite(x: np.ndarray) -> bool:
    """Whether all numbers are finite; a sum of squares is quicker to look at, but overflows sooner."""
    return math.isfinite(x.dot(x)) or bool(np.isfinite(x).all())


def use_lapack(solver: Any) -> None:
    """Lets an implicit solver of scipy call LAPACK, which takes a tenth of the time of the functions around it.

    The numbers are the same.  Matrices that aren't finite are refused as there; singular ones have no warning.
    """
    from scipy.linalg import lapack

    def factors(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        solver.nlu += 1
        if not np.isfinite(A).all():
            raise ValueError("the matrix isn't finite")
        LU, pivots, _ = (lapack.zgetrf if np.iscomplexobj(A) else lapack.dgetrf)(A, overwrite_a=True)
        return LU, pivots

    def solution(of: tuple[np.ndarray, np.ndarray], b: np.ndarray) -> np.ndarray:
        x: np.ndarray = (lapack.zgetrs if np.iscomplexobj(of[0]) else lapack.dgetrs)(*of, b, overwrite_b=True)[0]
        return x

    solver.lu, solver.solve_lu = factors, solution
