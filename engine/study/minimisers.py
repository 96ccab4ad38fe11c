"""Methods of searching for a minimum, as rows of a table; all of them are scipy's.

A search sees a `Landscape` over the unit cube: all numbers have the same range, and what is minimised is about 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

OUTSIDE, FAILED = 1e15, 1e30  # larger than any value: of points outside of a limit, and of runs that failed
SIZE = 0.1  # of the first simplex, as a share of the range
FINEST = 1e-7  # of the last one
AGAIN = 4  # times that the simplex begins anew where it has ended
MEMBERS = 12  # of a population, for each number
ENOUGH = 100_000  # iterations, which the number of evaluations ends long before


class Landscape(Protocol):
    """What a search may ask; points are in the unit cube."""

    width: int
    seed: int
    limited: bool

    def value(self, u: np.ndarray) -> float:
        """What is minimised."""
        ...

    def slope(self, u: np.ndarray) -> np.ndarray:
        """Its derivatives."""
        ...

    def rooms(self, u: np.ndarray) -> np.ndarray:
        """How far the point is inside of each limit."""
        ...

    def room_slopes(self, u: np.ndarray) -> np.ndarray:
        """Their derivatives, (limits, numbers)."""
        ...

    def ranks(self, points: np.ndarray) -> np.ndarray:
        """For each of many points a number by which they are compared: limits first, then what is minimised."""
        ...


Search = Callable[[Landscape, np.ndarray, float], None]


@dataclass(frozen=True)
class Method:
    """A method; `search(landscape, start, tolerance)` evaluates points until it ends or is interrupted."""

    about: str
    search: Search
    derivatives: bool
    limits: bool = True
    local: bool = True  # whether it goes down from a start


def _bounds(land: Landscape) -> list[tuple[float, float]]:
    return [(0.0, 1.0)] * land.width


def _minimized(land: Landscape, start: np.ndarray, tolerance: float, **how: Any) -> None:
    """The method begins anew where it has ended, without what it has learnt, as long as that makes things better."""
    from scipy.optimize import minimize

    u, before = start, np.inf
    for _ in range(AGAIN):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what the methods doubt is what the verdict at the end is about
            u = np.clip(minimize(land.value, u, jac=land.slope, bounds=_bounds(land), **how).x, 0.0, 1.0)
        rank = float(land.ranks(u[None])[0])
        if before - rank <= 10 * tolerance:
            return
        before = rank


def _l_bfgs_b(land: Landscape, start: np.ndarray, tolerance: float) -> None:
    options = {"ftol": tolerance, "gtol": tolerance, "maxiter": ENOUGH}
    _minimized(land, start, tolerance, method="L-BFGS-B", options=options)


def _slsqp(land: Landscape, start: np.ndarray, tolerance: float) -> None:
    limits = [{"type": "ineq", "fun": land.rooms, "jac": land.room_slopes}] if land.limited else []
    options = {"ftol": tolerance, "maxiter": ENOUGH}
    _minimized(land, start, tolerance, method="SLSQP", constraints=limits, options=options)


def _trust_constr(land: Landscape, start: np.ndarray, tolerance: float) -> None:
    from scipy.optimize import Bounds, NonlinearConstraint, minimize

    limits = [NonlinearConstraint(land.rooms, 0.0, np.inf, jac=land.room_slopes)] if land.limited else []
    cube = Bounds(np.zeros(land.width), np.ones(land.width), keep_feasible=True)
    inside = np.clip(start, 1e-6, 1 - 1e-6)  # where its barrier is finite
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        minimize(
            land.value,
            inside,
            jac=land.slope,
            method="trust-constr",
            bounds=cube,
            constraints=limits,
            # its measure of the gradient leaves out whether limits are reached, so the size of steps has to decide
            options={"gtol": 0.0, "xtol": tolerance, "barrier_tol": tolerance, "maxiter": ENOUGH},
        )


def _nelder_mead(land: Landscape, start: np.ndarray, tolerance: float) -> None:
    """The simplex begins anew where it has ended, as long as that makes things better."""
    from scipy.optimize import minimize

    def rank(u: np.ndarray) -> float:
        return float(land.ranks(u[None])[0])

    u, before, size = np.array(start, dtype=float), np.inf, SIZE
    for _ in range(AGAIN):
        simplex = np.tile(u, (land.width + 1, 1))
        for k in range(land.width):  # towards the middle of the cube
            simplex[k + 1, k] += size if u[k] < 0.5 else -size
        options = {
            "fatol": tolerance,
            "xatol": FINEST,
            "initial_simplex": simplex,
            "adaptive": land.width > 5,
            "maxiter": ENOUGH,
            "maxfev": ENOUGH,
        }
        land.ranks(simplex)  # all at once
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            ended = minimize(rank, u, method="Nelder-Mead", bounds=_bounds(land), options=options)
        u = np.clip(ended.x, 0.0, 1.0)
        if before - ended.fun <= 10 * tolerance:
            return
        before, size = float(ended.fun), size / 3


def _differential_evolution(land: Landscape, start: np.ndarray, tolerance: float) -> None:
    """A population until it has come together, then a simplex from its best member."""
    from scipy.optimize import differential_evolution

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        ended = differential_evolution(
            lambda points: land.ranks(np.ascontiguousarray(np.atleast_2d(points.T))),
            _bounds(land),
            x0=start,
            init="sobol",
            popsize=MEMBERS,
            seed=land.seed,
            vectorized=True,
            updating="deferred",
            polish=False,
            tol=max(tolerance, 1e-4),
            maxiter=ENOUGH,
        )
    _nelder_mead(land, np.clip(ended.x, 0.0, 1.0), tolerance)


METHODS = {
    "l-bfgs-b": Method("quasi-Newton between bounds", _l_bfgs_b, derivatives=True, limits=False),
    "slsqp": Method("quadratic programs, one after the other", _slsqp, derivatives=True),
    "trust-constr": Method("interior points in a trust region", _trust_constr, derivatives=True),
    "nelder-mead": Method("a simplex, from start to start", _nelder_mead, derivatives=False),
    "differential-evolution": Method(
        "a population everywhere between the bounds", _differential_evolution, derivatives=False, local=False
    ),
}
