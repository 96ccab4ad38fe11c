"""Numbers by least squares: those that data tell, and the nearest ones of links and joints.

Weights by joint follow from the residuals; what comes out has standard errors. Numbers of links and joints that have
these values are those nearest to the robot's file, or the best ones that rigid bodies can have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import numpy as np

from ...errors import InputError, NumericalError
from ...mechanics.numbers import INERTIAL, INERTIAL_NAMES

EXTRA = "identify"  # in pyproject.toml
MARGIN = 1e-6  # least eigenvalue of a scaled pseudo-inertia
PULL = 1e-2  # information of the robot's file: it counts as a measurement with ten times the size as its error
MOST = 1e10  # information of the data, in terms of that, beyond which more makes no difference
LIGHTEST = 1e-3  # share of a link's mass below which it doesn't fall
ROUNDED = 1e-12  # share of its size below which a number is 0
ROOT2 = np.sqrt(2.0)
POSITIVE = ("rotor", "viscous", "coulomb", "stiffness")  # numbers of joints that are never negative
# the entries of [Σ h; hᵀ m] by the ten numbers, Σ = ½ tr(J) 1 − J
ENTRIES: dict[tuple[int, int], dict[str, float]] = {
    (0, 0): {"Ixx": -0.5, "Iyy": 0.5, "Izz": 0.5},
    (0, 1): {"Ixy": -1.0},
    (1, 1): {"Ixx": 0.5, "Iyy": -0.5, "Izz": 0.5},
    (0, 2): {"Ixz": -1.0},
    (1, 2): {"Iyz": -1.0},
    (2, 2): {"Ixx": 0.5, "Iyy": 0.5, "Izz": -0.5},
    (0, 3): {"mx": 1.0},
    (1, 3): {"my": 1.0},
    (2, 3): {"mz": 1.0},
    (3, 3): {"m": 1.0},
}


def least_change_of_identified_numbers(
    grouping: np.ndarray, wanted: np.ndarray, names: tuple[str, ...], numbers: np.ndarray, size: np.ndarray
) -> np.ndarray:
    """The numbers that have these groups and differ least from the given ones, in terms of their sizes.

    Masses stay positive, and numbers of joints that are never negative at least 0, if that is possible.
    """
    U, s, Vt = np.linalg.svd(grouping * size)
    rank = int((s > UNSEEN * s.max(initial=0.0)).sum())
    change = Vt[:rank].T @ ((U[:, :rank].T @ (wanted - grouping @ numbers)) / s[:rank])
    kinds = [name.rsplit(".", 1)[1] for name in names]
    bounded = [k for k, kind in enumerate(kinds) if kind in (*POSITIVE, "m")]
    least = np.array([LIGHTEST * min(numbers[k] / size[k], 1.0) if kinds[k] == "m" else 0.0 for k in bounded])
    free = Vt[rank:].T  # changes that no group shows
    over = least - numbers[bounded] / size[bounded] - change[bounded]
    result: np.ndarray = numbers + size * (change + free @ _least(free[bounded], over))
    return result


def _least(G: np.ndarray, h: np.ndarray) -> np.ndarray:
    """The shortest z with G z ≥ h, or 0 if there is none (Lawson and Hanson 1974, chapter 23)."""
    from scipy.optimize import nnls

    loose = np.linalg.norm(G, axis=1) > UNSEEN  # the data decide on the others
    G, h = G[loose], h[loose]
    if (h <= 0.0).all():
        return np.zeros(G.shape[1])
    E = np.vstack([G.T, h])
    last = np.append(np.zeros(G.shape[1]), 1.0)
    u, distance = nnls(E, last)
    if distance < UNSEEN:  # no z is enough
        return np.zeros(G.shape[1])
    r = E @ u - last
    result: np.ndarray = -r[:-1] / r[-1]
    return result


def physical_identified_numbers(
    X: np.ndarray,
    y: np.ndarray,
    deviations: np.ndarray,
    names: tuple[str, ...],
    numbers: np.ndarray,
    size: np.ndarray,
    length: float,
) -> np.ndarray:
    """The numbers of the best fit whose links all have a positive definite pseudo-inertia.

    Where the data tell little, the values of the robot's file count.
    """
    solver = identification_solver()
    from scipy import sparse

    rows = (X / deviations[:, None] * size).reshape(-1, len(names))
    R = np.asarray(np.linalg.qr(np.column_stack([rows, ((y - X @ numbers) / deviations).reshape(-1)]), mode="r"))
    U, own, Vt = np.linalg.svd(R[:, :-1])
    s, change = np.zeros((2, len(names)))  # there may be fewer rows than columns
    s[: len(own)], change[: len(own)] = own, U.T[: len(own)] @ R[:, -1]
    seen = np.minimum(s, np.sqrt(PULL * MOST))
    change = np.divide(change, s, out=np.zeros_like(s), where=s > UNSEEN * s.max(initial=0.0))
    # in directions of unit information the objective is round, whatever the data tell
    unit = np.sqrt(seen**2 + PULL)
    A, b, cones = _constraints(solver, names, numbers, size, length)
    settings = solver.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    P = sparse.identity(len(names), format="csc")
    made = solver.DefaultSolver(P, -(seen**2) / unit * change, sparse.csc_matrix(A @ Vt.T / unit), b, cones, settings)
    made = made.solve()
    if str(made.status) not in ("Solved", "AlmostSolved"):
        raise NumericalError(f"no physical numbers were reached: the solver ended with {made.status}")
    result: np.ndarray = numbers + size * (Vt.T @ (np.array(made.x) / unit))
    return result


def _constraints(
    solver: ModuleType, names: tuple[str, ...], numbers: np.ndarray, size: np.ndarray, length: float
) -> tuple[np.ndarray, np.ndarray, list[object]]:
    """The matrix A and b of b − A x in these cones, for the changes x in terms of their sizes."""
    place = {name: k for k, name in enumerate(names)}
    lone = [k for k, name in enumerate(names) if name.rsplit(".", 1)[1] in POSITIVE]
    A, b, cones = [np.zeros(len(names)) for _ in lone], list(numbers[lone] / size[lone]), list[object]()
    for row, k in zip(A, lone):
        row[k] = -1.0
    if lone:
        cones.append(solver.NonnegativeConeT(len(lone)))
    links = dict.fromkeys(name.rsplit(".", 1)[0] for name in names if name.rsplit(".", 1)[1] in INERTIAL_NAMES)
    for link in links:
        mass = size[place[f"{link}.m"]]
        for (r, c), parts in ENTRIES.items():  # the upper triangle, column by column
            factor = (ROOT2 if r != c else 1.0) / (mass * length ** (2 - (r == 3) - (c == 3)))
            row = np.zeros(len(names))
            value = -MARGIN if r == c else 0.0
            for name, share in parts.items():
                k = place[f"{link}.{name}"]
                row[k] = -factor * share * size[k]
                value += factor * share * numbers[k]
            A.append(row)
            b.append(value)
        cones.append(solver.PSDTriangleConeT(4))
    return np.reshape(A, (len(b), len(names))), np.array(b), cones  # there may be nothing that is bounded


def identified_numbers_kept(
    names: tuple[str, ...], silent: tuple[str, ...], numbers: np.ndarray, source: np.ndarray
) -> np.ndarray:
    """The numbers with the file's own where no force shows them.

    In links of which forces show something, that is so where it leaves them physical.
    """
    result = numbers.copy()
    links = dict.fromkeys(name.rsplit(".", 1)[0] for name in names if name.rsplit(".", 1)[1] in INERTIAL_NAMES)
    for link in links:
        own = [names.index(f"{link}.{name}") for name in INERTIAL_NAMES]
        given = np.where([names[k] in silent for k in own], source[own], numbers[own])
        lost = all(names[k] in silent for k in own)  # such as what is fixed to the ground
        if lost or np.linalg.eigvalsh(pseudo_inertia_of_identified_link(given))[0] > 0.0:
            result[own] = given
    return result


def pseudo_inertia_of_identified_link(ten: np.ndarray) -> np.ndarray:
    """The matrix [Σ h; hᵀ m] of a link's ten numbers."""
    assert len(ten) == INERTIAL
    values = dict(zip(INERTIAL_NAMES, ten))
    result = np.zeros((4, 4))
    for (r, c), parts in ENTRIES.items():
        result[r, c] = result[c, r] = sum(share * values[name] for name, share in parts.items())
    return result


def identification_solver() -> ModuleType:
    """The solver for physical numbers; an error if it isn't installed."""
    try:
        return import_module("clarabel")
    except ImportError:
        raise InputError(
            "physical numbers need clarabel, which isn't installed", hint=f"pip install '.[{EXTRA}]'"
        ) from None


UNSEEN = 1e-9  # share of the largest singular value below which data tell nothing
INVOLVED = 1e-6  # component of an unseen direction from which a number takes part in it
FLOOR = 1e-10  # least residual that a weight allows for, as a share of the efforts
ITERATIONS = 30
SETTLED = 1e-6  # relative change of the weights with which they are done
FADED = 0.05  # autocorrelation at which residuals count as independent
NOTICED = 4.0  # standard deviations of the autocorrelation of white noise, beyond which it isn't white


@dataclass(frozen=True, eq=False)
class Fit:
    """The estimate of some numbers, and how well they are known."""

    values: np.ndarray
    errors: np.ndarray  # standard errors; not a number where the data tell nothing
    determined: np.ndarray  # whether the data tell the number
    condition: float  # of the weighted columns, scaled to the same length, without unseen directions
    deviations: np.ndarray  # of the residuals, by joint
    correlated: bool  # whether the errors allow for the residuals' autocorrelation
    lags: int  # rows over which residuals hang together


def solve_identification_fit(
    X: np.ndarray, y: np.ndarray, start: np.ndarray, ends: Sequence[int], errors: str = "auto"
) -> Fit:
    """The fit of X @ values to y, (instants, joints, numbers) and (instants, joints).

    Where the data tell nothing, the values are those nearest to `start`; `ends` are the ends of the files' rows.
    """
    instants, joints = y.shape
    sizes = np.sqrt((y**2).mean(axis=0))
    floor = FLOOR * np.maximum(sizes, FLOOR * max(float(sizes.max(initial=0.0)), 1e-300))
    # of each joint's rows, what the sums of squares need: weights change nothing in it
    off = y - X @ start
    small = [np.asarray(np.linalg.qr(np.column_stack([X[:, j], off[:, j]]), mode="r")) for j in range(joints)]
    deviations = np.maximum(sizes, floor)
    for _ in range(ITERATIONS):
        step = _Step(np.concatenate([R / one for R, one in zip(small, deviations)]))
        residuals = off - X @ step.change
        freedom = max(instants - step.rank / joints, 1.0)
        latest = np.maximum(np.sqrt((residuals**2).sum(axis=0) / freedom), floor)
        settled = (abs(latest - deviations) <= SETTLED * deviations).all()
        deviations = latest
        if settled:
            break
    residuals = residuals / deviations
    lags, correlated = 0, errors == "autocorrelated"
    if errors != "white":
        seen, lags = _memory(residuals, ends)
        correlated = correlated or seen
    spread = step.correlated(X / deviations[:, None], residuals, ends, lags) if correlated else step.white()
    own = np.where(step.determined, np.sqrt(np.maximum(spread, 0.0)), np.nan)
    return Fit(
        start + step.change, own, step.determined, step.condition, deviations, correlated, lags if correlated else 0
    )


class _Step:
    """The solution with given weights, by singular values of columns that are scaled to the same length."""

    def __init__(self, rows: np.ndarray):
        count = rows.shape[1] - 1
        length = np.linalg.norm(rows[:, :count], axis=0)
        length[length <= 1e-14 * length.max(initial=0.0)] = np.inf  # rounding
        scale = 1.0 / length
        R = np.asarray(np.linalg.qr(rows * np.append(scale, 1.0), mode="r"))
        U, s, Vt = np.linalg.svd(R[:, :count])  # all of V, for there may be fewer rows than columns
        self.rank = int((s > UNSEEN * s.max(initial=0.0)).sum())
        kept = slice(0, self.rank)
        self.condition = float(s[0] / s[self.rank - 1]) if self.rank else np.inf
        self.determined = (abs(Vt[self.rank :]) < INVOLVED).all(axis=0) & np.isfinite(length)
        self._back = scale[:, None] * Vt[kept].T / s[kept]  # from directions of unit information to numbers
        self.change = self._back @ (U[:, kept].T @ R[:, count])

    def white(self) -> np.ndarray:
        """The variances for residuals that are independent."""
        result: np.ndarray = (self._back**2).sum(axis=1)
        return result

    def correlated(self, X: np.ndarray, residuals: np.ndarray, ends: Sequence[int], lags: int) -> np.ndarray:
        """The variances for residuals that, joint by joint, are a stationary process with a memory of so many rows.

        Their autocorrelation is that of the residuals, tapered as Bartlett does, so that no variance is negative.
        """
        from scipy.signal import fftconvolve

        instants, joints = residuals.shape
        inner = np.zeros((self.rank, self.rank))
        for j in range(joints):
            parts = np.split(residuals[:, j], list(ends)[:-1])
            alike = [sum(float(part[lag:] @ part[: len(part) - lag]) for part in parts) for lag in range(lags + 1)]
            tapered = np.array(alike) / instants * (1.0 - np.arange(lags + 1) / (lags + 1.0))
            kernel = np.concatenate([tapered[:0:-1], tapered])[:, None]
            for own in np.split(X[:, j] @ self._back, list(ends)[:-1]):
                inner += own.T @ fftconvolve(own, kernel, mode="full", axes=0)[lags : lags + len(own)]
        inner *= instants * joints / max(instants * joints - self.rank, 1)
        result: np.ndarray = np.einsum("ij,jk,ik->i", self._back, inner, self._back)
        return result


def _memory(residuals: np.ndarray, ends: Sequence[int]) -> tuple[bool, int]:
    """Whether weighted residuals are more alike than white noise from row to row, and over how many rows they are."""
    parts = np.split(residuals, list(ends)[:-1])
    whole = sum(float((part**2).sum()) for part in parts)
    count = residuals.size
    first, lag = 0.0, 0
    longest = max(1, max(len(part) for part in parts) // 4)
    for lag in range(1, longest + 1):
        alike = sum(float((part[lag:] * part[:-lag]).sum()) for part in parts) / max(whole, 1e-300)
        first = alike if lag == 1 else first
        if alike < FADED:
            break
    return bool(abs(first) > NOTICED / np.sqrt(count)), 2 * lag
