"""The table of integrators: Runge-Kutta methods and backward differences of our own, and scipy's LSODA."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError, allowed_names
from ...machine.stepping import ExplicitMethod, ImplicitMethod
from .dormand_prince_8 import DORMAND_PRINCE_8
from .implicit_steps import Implicit
from .ndf import FIRST_ORDER, NDF
from .radau import ERROR_ORDER, RADAU
from .runge_kutta import RungeKutta, integrator_scheme
from .scipy_stepper import Lsoda
from .stepper import Fun, Stepper
from .tableau import CASH_KARP, DORMAND_PRINCE, RUNGE_KUTTA, VERNER, Tableau


@dataclass(frozen=True)
class Integrator:
    """An integrator of the table; `runge_kutta_integrator` makes one from a tableau.

    Where `dense` is False, steps end on the rows of the output. With a `scheme`, the whole time loop can run as
    compiled code; those of implicit methods are for single runs only.
    """

    about: str
    adaptive: bool  # otherwise it needs a fixed step
    dense: bool  # whether it has dense output of its own at every step, good enough for output rows and events
    make: Callable[..., Stepper]
    scheme: ExplicitMethod | None = None
    implicit: bool = False  # whether it takes derivatives of the equations
    steps: ImplicitMethod | None = None  # of an implicit method
    fixed: ExplicitMethod | None = None
    tableau: Tableau | None = None  # of an explicit method

    @property
    def abreast(self) -> ExplicitMethod | None:
        """What the compiled loop of many runs is made from, side by side."""
        return self.scheme or self.fixed

    @property
    def loop(self) -> ExplicitMethod | ImplicitMethod | None:
        """What the compiled loop of a single run is made from."""
        return self.abreast or self.steps


def runge_kutta_integrator(about: str, tableau: Tableau) -> Integrator:
    """The row of an explicit Runge-Kutta method, whose abilities follow from its coefficients.

    The method is adaptive if it has an embedded solution. Then it can run in the compiled loop if the derivative at a
    step's end is both part of the error and the next step's first stage, or if it has no dense output of its own.
    """
    if tableau.E is None:
        make, fixed = partial(RungeKutta, tableau), integrator_scheme(tableau)
        return Integrator(about, False, tableau.P is not None, make, fixed=fixed, tableau=tableau)
    compiled = tableau.ends_on_a_stage or tableau.P is None
    return Integrator(
        about,
        True,
        tableau.P is not None,
        partial(_adaptive, tableau),
        integrator_scheme(tableau) if compiled else None,
        tableau=tableau,
    )


def _adaptive(tableau: Tableau, *args: Any, step: float | None, **options: Any) -> Stepper:
    return RungeKutta(tableau, *args, **options)


def implicit_integrator(about: str, steps: ImplicitMethod, error_order: int, *, dense: bool = True) -> Integrator:
    """The row of an implicit method, which chooses its first step by the order of its error."""
    return Integrator(about, True, dense, partial(_implicit, steps, error_order), implicit=True, steps=steps)


def _implicit(method: ImplicitMethod, error_order: int, *args: Any, step: float | None, **options: Any) -> Stepper:
    return Implicit(method, error_order, *args, **options)


def _lsoda(*args: Any, step: float | None, **options: Any) -> Stepper:
    return Lsoda(*args, **options)


INTEGRATORS = {
    "rk45": runge_kutta_integrator("Dormand-Prince 5(4), adaptive; the default", DORMAND_PRINCE),
    "rkck": runge_kutta_integrator("Cash-Karp 5(4), adaptive, of Numerical Recipes", CASH_KARP),
    "rk56": runge_kutta_integrator("Verner 6(5), adaptive, of DVERK", VERNER),
    "rk4": runge_kutta_integrator("classical Runge-Kutta of order 4, fixed step", RUNGE_KUTTA),
    "dop853": runge_kutta_integrator("Dormand-Prince 8(5,3), adaptive, for tight tolerances", DORMAND_PRINCE_8),
    "radau": implicit_integrator(
        "implicit Runge-Kutta of order 5, for stiff problems", RADAU, ERROR_ORDER, dense=False
    ),
    "bdf": implicit_integrator("implicit, of order 1 to 5, for stiff problems", NDF, FIRST_ORDER),
    "lsoda": Integrator("Adams or BDF, as the problem turns stiff or not", True, True, _lsoda, implicit=True),
}


def stepper_of_integrator(
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
    slopes: Fun | None = None,
) -> Stepper:
    """A stepper of the named method at (t0, y0).

    `step` is for methods with a fixed step, `slopes` (the derivatives of `fun` along y) for implicit ones; others
    ignore them.
    """
    if method not in INTEGRATORS:
        names = allowed_names(method, INTEGRATORS)
        raise InputError(f"there is no integrator `{method}`", key="method", found=method, **names)
    row = INTEGRATORS[method]
    more = {"slopes": slopes} if row.implicit else {}
    return row.make(fun, t0, y0, t_end, rtol=rtol, atol=atol, max_step=max_step, step=step, measured=measured, **more)
