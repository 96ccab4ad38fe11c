"""Implicit methods, stepped in Python by the text of `machine/loops/implicit.py`."""

from __future__ import annotations

import math
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...machine.loops import accept_implicit_step, attempt_implicit_step, begin_implicit_step, finish_implicit_step
from ...machine.stepping import BackwardDifferences, ImplicitMethod, StepHistory
from .runge_kutta import Course, first_step_length
from .stepper import AT_END, CARRIED, LEAST_ATOL, LEAST_RTOL, NOT_FINITE, SHIFTED, TOO_SMALL, Fun, finite

TABLES = ("C", "T", "inverse", "E", "P", "rescaled", "gamma")
SPACING = float(np.sqrt(np.finfo(float).eps))  # of differences in the place of derivatives, relative to the component


@cache
def implicit_method_on_arrays(method: ImplicitMethod) -> Any:
    """The method with arrays, on which the text of steps runs uncompiled."""
    names = [name for name in dir(method) if not name.startswith("_")]
    found = {name: getattr(method, name) for name in names}
    return SimpleNamespace(**{name: np.array(x) if name in TABLES else x for name, x in found.items()})


class Implicit:
    """An implicit method from (t, y), with the steps of scipy.integrate.Radau or BDF.

    Only the errors of the first `measured` components control the step; the others are quadratures, on which nothing
    depends. Without `slopes`, the derivatives of `fun`, there are differences in their place.
    """

    def __init__(
        self,
        method: ImplicitMethod,
        error_order: int,
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
        self.method, self._exponent, self._fun, self._slopes = method, -1 / (error_order + 1), fun, slopes
        self._on_arrays = implicit_method_on_arrays(method)
        self.t_end, self.max_step = float(t_end), max_step
        self.t = self.t_old = float(t0)
        self.y = self.y_old = np.array(y0, dtype=float)
        self.size = self.y.size
        self.measured = measured or self.size
        # scipy takes the mean over all components, we over those measured
        share = math.sqrt(self.measured / max(self.size, 1))
        self.rtol, self.atol = max(rtol * share, LEAST_RTOL), max(atol * share, LEAST_ATOL)
        self.guarded = self.evaluations = self.accepted = self.rejected = 0
        self.finite = True  # whether all derivatives of the current step are
        self.failure = ""
        self.h = 0.0  # the wanted length of the next step; 0: chosen when `t_end` is final
        self.f: np.ndarray | None = None  # the derivative at (t, y), where it is known
        self._history: StepHistory | None = None  # what a multistep method is to go on with
        self._memory, self._anew = (
            self.method.arrays(self.size, self.measured),
            True,
        )  # whether the next step begins anew

    def step(self) -> str:
        """Takes a step; once one has failed, every further call returns the same reason."""
        if self.failure:
            return self.failure
        if self.t >= self.t_end:
            return AT_END
        self.finite = True
        with np.errstate(all="ignore"):
            self.failure = self._step()
        if self.failure and not self.finite:
            self.failure = NOT_FINITE
        return self.failure

    def wanted(self) -> float:
        """The wanted length of the next step."""
        if self.h == 0.0:
            with np.errstate(all="ignore"):
                self.h = self._first_step()
        return self.h

    @property
    def history(self) -> StepHistory | None:
        """What a multistep method goes on with, if it has a history; with another one's, it goes on like that one."""
        if self._anew or not isinstance(self.method, BackwardDifferences):
            return self._history
        return self.method.history(self._memory.D, self._memory.J, self._memory.own)

    @history.setter
    def history(self, history: StepHistory | None) -> None:
        self._history = history

    def between(self, t: float) -> np.ndarray:
        return self.y.copy() if self.t == self.t_old else self.course()(t)

    def course(self) -> Course:
        Q = self._memory.K.T.dot(self._on_arrays.P)
        return Course(self.t_old, self.t - self.t_old, self.y_old, Q)

    def renew(self) -> None:
        self.f = self._history = None
        self.h, self._anew = 0.0, True

    def settle(self, y: np.ndarray) -> None:
        """Replaces the state at the last step's end, and keeps the history of multistep methods where that is sound."""
        if y is self.y or np.array_equal(y, self.y):
            return
        change, self.y, self.f = y - self.y, np.array(y, dtype=float), None
        # A multistep method that starts again starts at order 1. A change such as a renormalised quaternion, or loops
        # that are closed, doesn't justify that: the whole history is shifted by it, which keeps all differences. Near
        # singular positions, loops move what depends by many tolerances of what they follow from.
        far = np.abs(change) > SHIFTED * self._scale()
        if far.any() and isinstance(self.method, BackwardDifferences):
            self.renew()

    # ---- the system, for the text

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """The derivative, for the text of the steps."""
        self.evaluations += 1
        dy = np.array(self._fun(t, y.copy()), dtype=float)  # copies: what either side keeps is to stay as it is
        self.finite = self.finite and finite(dy)
        return dy

    def slopes(self, t: float, y: np.ndarray) -> np.ndarray:
        """The derivatives of the rate along the measured components, row by row."""
        if self._slopes is not None:
            J = self._slopes(t, y)[:, : self.measured]
        else:
            moves = [SPACING * max(abs(x), 1.0) for x in y[: self.measured].tolist()]
            rates, f = (self.rate(t, y + h * one) for h, one in zip(moves, np.eye(self.size))), self.rate(t, y)
            J = np.stack([(rate - f) / h for rate, h in zip(rates, moves)], axis=1)
        self.finite = self.finite and bool(np.isfinite(J).all())
        return J.ravel()

    # ---- steps

    def _scale(self) -> np.ndarray:
        """The tolerances of the components."""
        atol = np.full(self.size, self.atol)
        atol[self.measured :] = CARRIED
        scale: np.ndarray = atol + np.abs(self.y) * self.rtol
        return scale

    def _slope(self) -> np.ndarray:
        """The derivative at (t, y), evaluated at the first call."""
        if self.f is None:
            self.f = self.rate(self.t, self.y)
        return self.f

    def _first_step(self) -> float:
        rest, f = self.t_end - self.t, self._slope()

        def rate(h: float) -> np.ndarray:
            return self.rate(self.t + h, self.y + h * f)

        longest = min(rest, self.max_step)
        return float(first_step_length(rate, self.y, f, self._scale(), rest, longest, self._exponent))

    def _begun(self) -> SimpleNamespace:
        """The memory of the steps, of which this one is the first."""
        memory = self.method.arrays(self.size, self.measured)
        memory.K[:] = self._memory.K
        if isinstance(self.method, BackwardDifferences):
            self.method.begin(memory.D, memory.J, memory.own, self._slope() * self.h, self._history)
        self._memory, self._anew, self._history = memory, False, None
        return memory

    def _step(self) -> str:
        """Tries steps until one passes; returns the reason if none does."""
        h, method = self.wanted(), self._on_arrays
        begins_with_rate = self._anew or method.ends_on_rate
        # a step that begins with what isn't finite would never come to an end
        if begins_with_rate and not (finite(self._slope()) and finite(self.y)):
            return NOT_FINITE
        if self.size == 0:
            self.t_old, self.t, self.accepted = self.t, self.t_end, self.accepted + 1
            return ""
        memory, fresh, passed = self._begun() if self._anew else self._memory, 1.0, False
        if method.ends_on_rate:
            memory.K[0] = self._slope()
        tolerances = self.rtol, self.atol
        while not passed:
            step, t, tiny = begin_implicit_step(method, memory, True, fresh, self.t, h, self.t_end, self.max_step)
            if tiny:
                return TOO_SMALL
            h, passed, error = attempt_implicit_step(method, self, memory, self.y, True, self.t, t, step, *tolerances)
            fresh, self.rejected = 0.0, self.rejected + (not passed)
            if not self.finite and not passed and not np.isfinite(memory.J).all():
                return NOT_FINITE  # no shorter step can help
        finish_implicit_step(method, self, memory, self.y, True, t, step, *tolerances, error)
        y = memory.new.copy()
        if not finite(y):
            return NOT_FINITE
        self.t_old, self.t, self.y_old, self.y = self.t, t, self.y, y
        self.h = float(accept_implicit_step(method, self, memory, y, True, t, step, h, error))
        self.f = memory.K[0].copy() if method.ends_on_rate else None
        self.accepted += 1
        return ""
