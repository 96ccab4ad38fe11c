"""LSODA of scipy, behind the interface of integrators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .stepper import AT_END, CARRIED, LEAST_ATOL, LEAST_RTOL, NOT_FINITE, SHIFTED, TOO_SMALL, Fun, finite


class Lsoda:
    """Scipy's LSODA, whose rejected steps aren't known.

    `evaluations` includes those for finite-difference Jacobians, which scipy's own `nfev` leaves out. After a step that
    failed, `between` is wrong, because scipy has overwritten its history in the attempt.
    """

    def __init__(
        self,
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
        self.fun, self.t_end, self.max_step, self.make = fun, float(t_end), max_step, integrate.LSODA
        self.t = self.t_old = float(t0)
        self.y = np.array(y0, dtype=float)
        n = measured or self.y.size
        self.rtol = max(rtol, LEAST_RTOL)
        self.atol = np.full(self.y.size, max(atol, LEAST_ATOL))
        self.atol[n:] = CARRIED
        self.evaluations = self.accepted = self.rejected = 0
        self.finite = True  # whether all derivatives of the current step are
        self.failure = self.gave_up = ""
        self.state = 0  # LSODA's own, after its last call
        self.solver: Any = None  # None: made at (t, y) by the next step, when `t_end` is final
        self.behind: Any = None  # the solver as it was at the end of the last step
        self.curve: Any = None  # the dense output of `behind`, made at the first request

    def step(self) -> str:
        """Takes a step by scipy's solver; once a step has failed, every further call returns the same reason."""
        if self.failure:
            return self.failure
        if self.t >= self.t_end:
            return AT_END
        self.finite = True
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

    def between(self, t: float) -> np.ndarray:
        return self.y.copy() if self.t == self.t_old else self.course()(t)

    def course(self) -> Callable[[float], np.ndarray]:
        if self.curve is None:
            with np.errstate(all="ignore"):
                self.curve = self.behind.dense_output()
        curve: Callable[[float], np.ndarray] = self.curve
        return curve

    def renew(self) -> None:
        self.solver = None

    def settle(self, y: np.ndarray) -> None:
        """Replaces the state at the last step's end, and keeps the history of multistep methods where that is sound."""
        if y is self.y or np.array_equal(y, self.y):
            return
        y = np.array(y, dtype=float)
        change, self.y = y - self.y, y
        if self.solver is None:
            return
        self.between(self.t)  # makes the curve before its history changes
        # the whole history is shifted by a small change, as in `implicit_steps.py`
        if np.any(np.abs(change) > SHIFTED * (self.atol + self.rtol * np.abs(y))):
            self.solver = None
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
        solver = self.solver
        if solver.t_bound != self.t_end:
            solver.t_bound, solver.status = self.t_end, "running"
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
        )
        self._heed(self.solver._lsoda_solver._integrator)

    @property
    def strides(self) -> bool:
        """Whether `stride` goes on from here."""
        return self.solver is not None and not self.failure

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
