"""Explicit Runge-Kutta methods as tables of numbers; the stepping is in `runge_kutta.py`.

In Hairer's letters, with s stages and step h:

    k_i   = f(t + c_i h, y + h Σ_j a_ij k_j)        i = 1 … s
    y_new = y + h Σ_i b_i k_i
    k_s+1 = f(t + h, y_new)                         the first stage of the next step
    error = h Σ_i e_i k_i                           i = 1 … s+1, the embedded solution minus y_new
    y(t + θh) = y + h Σ_i k_i Σ_j p_ij θ^j          i = 1 … s+1, dense output

Dense output may need further stages k_s+2 …, each from all before it; they are evaluated only where it is asked for.
With a second embedded solution of lower order, whose errors are e' in place of e, the error's norm is
|e|² / √(|e|² + 0.01 |e'|²), as Hairer takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Tableau:
    """The coefficients of one method; `E` is None without an embedded solution, `P` is None without dense output."""

    name: str
    order: int  # of the solution that is carried on
    error_order: int  # of the embedded solution, from which the step control takes the error; 0 without one
    A: np.ndarray  # (s, s), strictly lower triangular
    B: np.ndarray  # (s,)
    C: np.ndarray  # (s,)
    E: np.ndarray | None  # (s + 1,)
    P: np.ndarray | None  # (s + 1 + number of further stages, degree)
    about: str
    E_low: np.ndarray | None = None  # (s + 1,), of the second embedded solution
    further: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # rows of A for the further stages
    further_at: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def ends_on_a_stage(self) -> bool:
        """Whether the derivative at a step's end, the next step's first stage, belongs to the step itself (FSAL).

        The error needs it, or further stages do.
        """
        return self.E is not None and (bool(self.E[-1] != 0) or len(self.further) > 0)

    def __post_init__(self) -> None:
        for table in (self.A, self.B, self.C, self.E, self.P, self.E_low, self.further, self.further_at):
            if table is not None:
                table.setflags(write=False)


def hermite_dense_output(B: np.ndarray) -> np.ndarray:
    """Dense output for any method: `P` of the cubic polynomial with the values and derivatives at both ends of a step.

    With Δ = Σ b_i k_i it is  y + h (θ k_1 + θ² (3Δ − 2 k_1 − k_s+1) + θ³ (k_1 + k_s+1 − 2Δ)); its order is 3.
    """
    delta = np.append(B, 0.0)
    first, last = np.eye(len(delta))[[0, -1]]
    return np.column_stack([first, 3 * delta - 2 * first - last, first + last - 2 * delta])


def interpolated_dense_output(B: np.ndarray, places: Sequence[float], further: int) -> np.ndarray:
    """`P` of the polynomial with values and derivatives at both ends of a step, and derivatives at these places inside.

    The latter are the last stages, in the order of the places, after `further` others that aren't used.
    """
    stages, degree = len(B) + 1 + further + len(places), 3 + len(places)
    slopes = np.eye(stages)
    given = [np.append(B, np.zeros(stages - len(B))), slopes[0], slopes[len(B)], *slopes[stages - len(places) :]]
    powers = np.arange(1, degree + 1)
    conditions = [np.ones(degree), *(powers * theta ** (powers - 1.0) for theta in (0.0, 1.0, *places))]
    return np.linalg.solve(np.array(conditions), np.array(given)).T


def bootstrapped_dense_output(B: np.ndarray, first: float, last: tuple[float, float]) -> dict[str, np.ndarray]:
    """Dense output of order 5 for a method of order 5 or more, by three further stages.

    W. H. Enright, K. R. Jackson, S. P. Nørsett, P. G. Thomsen: Interpolants for Runge-Kutta formulas. ACM Trans. Math.
    Software 12 (1986) 193-218.  The cubic polynomial gives a state at `first`, with errors like h⁴, whose derivative
    makes one of degree 4; this gives the states at `last`, with errors like h⁵, whose derivatives make one of degree 5.
    """
    rows = np.zeros((3, len(B) + 4))
    cubic, quartic = interpolated_dense_output(B, (), 0), interpolated_dense_output(B, (first,), 0)
    rows[0, : len(cubic)] = cubic @ first ** np.arange(1.0, 4.0)
    for row, theta in zip(rows[1:], last):
        row[: len(quartic)] = quartic @ theta ** np.arange(1.0, 5.0)
    return {"further": rows, "further_at": np.array([first, *last]), "P": interpolated_dense_output(B, last, 1)}


DORMAND_PRINCE = Tableau(
    name="Dormand-Prince 5(4)",
    order=5,
    error_order=4,
    # J. R. Dormand, P. J. Prince: A family of embedded Runge-Kutta formulae. J. Comp. Appl. Math. 6 (1980) 19-26.
    C=np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1]),
    A=np.array(
        [
            [0, 0, 0, 0, 0, 0],
            [1 / 5, 0, 0, 0, 0, 0],
            [3 / 40, 9 / 40, 0, 0, 0, 0],
            [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        ]
    ),
    B=np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
    E=np.array([-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40]),
    # L. F. Shampine: Some practical Runge-Kutta formulas. Math. Comp. 46 (1986) 135-150, with his best c_6; order 4.
    P=np.array(
        [
            [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
            [0, 0, 0, 0],
            [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
            [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
            [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
            [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
            [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
        ]
    ),
    about="Dormand and Prince 1980; its last stage is the next step's first",
)

CASH_KARP = Tableau(
    name="Cash-Karp 5(4)",
    order=5,
    error_order=4,
    # J. R. Cash, A. H. Karp: A variable order Runge-Kutta method for initial value problems with rapidly varying
    # right-hand sides. ACM Trans. Math. Software 16 (1990) 201-222.
    C=np.array([0, 1 / 5, 3 / 10, 3 / 5, 1, 7 / 8]),
    A=np.array(
        [
            [0, 0, 0, 0, 0, 0],
            [1 / 5, 0, 0, 0, 0, 0],
            [3 / 40, 9 / 40, 0, 0, 0, 0],
            [3 / 10, -9 / 10, 6 / 5, 0, 0, 0],
            [-11 / 54, 5 / 2, -70 / 27, 35 / 27, 0, 0],
            [1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096, 0],
        ]
    ),
    B=np.array([37 / 378, 0, 250 / 621, 125 / 594, 0, 512 / 1771]),
    E=np.array(
        [
            2825 / 27648 - 37 / 378,
            0,
            18575 / 48384 - 250 / 621,
            13525 / 55296 - 125 / 594,
            277 / 14336,
            1 / 4 - 512 / 1771,
            0,
        ]
    ),
    P=None,
    about="Cash and Karp 1990; the adaptive routine of Numerical Recipes",
)

_VERNER_B = np.array([3 / 40, 0, 875 / 2244, 23 / 72, 264 / 1955, 0, 125 / 11592, 43 / 616])
VERNER = Tableau(
    name="Verner 6(5)",
    order=6,
    error_order=5,
    # J. H. Verner: Explicit Runge-Kutta methods with estimates of the local truncation error. SIAM J. Numer. Anal. 15
    # (1978) 772-790; the pair of the program DVERK by T. E. Hull, W. H. Enright and K. R. Jackson.
    C=np.array([0, 1 / 6, 4 / 15, 2 / 3, 5 / 6, 1, 1 / 15, 1]),
    A=np.array(
        [
            [0, 0, 0, 0, 0, 0, 0, 0],
            [1 / 6, 0, 0, 0, 0, 0, 0, 0],
            [4 / 75, 16 / 75, 0, 0, 0, 0, 0, 0],
            [5 / 6, -8 / 3, 5 / 2, 0, 0, 0, 0, 0],
            [-165 / 64, 55 / 6, -425 / 64, 85 / 96, 0, 0, 0, 0],
            [12 / 5, -8, 4015 / 612, -11 / 36, 88 / 255, 0, 0, 0],
            [-8263 / 15000, 124 / 75, -643 / 680, -81 / 250, 2484 / 10625, 0, 0, 0],
            [3501 / 1720, -300 / 43, 297275 / 52632, -319 / 2322, 24068 / 84065, 0, 3850 / 26703, 0],
        ]
    ),
    B=_VERNER_B,
    E=np.array(
        [
            13 / 160 - 3 / 40,
            0,
            2375 / 5984 - 875 / 2244,
            5 / 16 - 23 / 72,
            12 / 85 - 264 / 1955,
            3 / 44,
            -125 / 11592,
            -43 / 616,
            0,
        ]
    ),
    **bootstrapped_dense_output(_VERNER_B, 1 / 5, (1 / 5, 4 / 5)),
    about="Verner 1978; the pair of DVERK, with an interpolant of order 5",
)

RUNGE_KUTTA = Tableau(
    name="Runge-Kutta 4",
    order=4,
    error_order=0,
    # W. Kutta: Beitrag zur näherungsweisen Integration totaler Differentialgleichungen. Zeitschrift für Mathematik und
    # Physik 46 (1901) 435-453.
    C=np.array([0, 1 / 2, 1 / 2, 1]),
    A=np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]]),
    B=np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    E=None,
    P=None,
    about="Kutta 1901; the classical method, without an estimate of its error",
)
