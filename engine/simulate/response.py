"""The responses of runs to forces and blows, each at one position; runs are the first axis of all arrays."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..mechanics.closure import TINY

SOUND = 1e-6  # least diagonal element of Cholesky's factor, with a diagonal of ones before
MET = 1e-10  # singular values, relative to the largest, that are taken for 0 where constraints are met


class Scaled(NamedTuple):
    """Constraints whose rows and columns are scaled, so that turns and shifts can be compared; trees have no rows."""

    J: np.ndarray
    rates: np.ndarray  # that drives give to the rows


class Response:
    """The responses of runs with these inertia matrices and constraints, with some speeds fixed."""

    def __init__(self, M: np.ndarray, constraints: Scaled, scale: np.ndarray, fixed: list[int]):
        self.M, self.scale, self.fixed, self.rates = M, scale, fixed, constraints.rates
        count, n = self.scale.shape
        units = np.broadcast_to(np.eye(n)[fixed].reshape(-1, n), (count, len(fixed), n))
        self.rows = np.concatenate([constraints.J, units], axis=1)
        if constraints.J.shape[1]:
            size, V = np.linalg.svd(self.rows)[1:]
            least = TINY * size.max(axis=1, keepdims=True, initial=1e-300)
            firm = np.pad(size > least, ((0, 0), (0, n - size.shape[1])))
            self.T = V.transpose(0, 2, 1) * ~firm[:, None]
            self.T[abs(self.T).max(axis=2) < TINY] = 0.0  # rounding errors in speeds that the loops hold still
        else:
            free = np.diag([float(k not in fixed) for k in range(n)])
            self.T = np.broadcast_to(free, (count, n, n))
        self.lever = np.linalg.norm(self.T, axis=2)
        self.T = self.T * self.scale[:, :, None]

    @cached_property
    def P(self) -> np.ndarray:
        """The accelerations of all speeds under unit forces along them."""
        turned = self.T.transpose(0, 2, 1)
        none = ~self.T.any(axis=1)
        inertias = turned @ self.M @ self.T + none[:, None] * np.eye(len(none[0]))
        P = self.T @ _inverses(inertias) @ turned
        return np.asarray((P + P.transpose(0, 2, 1)) / 2)

    @cached_property
    def across(self) -> np.ndarray:
        """The least scaled speeds for unit rates of the scaled rows."""
        return np.linalg.pinv(self.rows, rcond=MET)

    def sizes(self, qdd: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """The sizes of what meets in these accelerations under forces of these sizes.

        Rounding is relative to these, and so to nothing that goes on elsewhere in the system.
        """
        off = self.rows @ (qdd / self.scale)[:, :, None]
        led = self.scale * (self.across @ off)[:, :, 0]
        met = self.scale * (abs(self.across) @ abs(off))[:, :, 0]
        return np.asarray(times(abs(self.P), forces + abs(times(self.M, led))) + met)

    def dragged(self, qd: np.ndarray, now: np.ndarray) -> np.ndarray:
        """All speeds after drives have jumped to their rates, and fixed speeds to those `now`."""
        wanted = np.concatenate([self.rates, (now / self.scale)[:, self.fixed]], axis=1)
        off = wanted - times(self.rows, qd / self.scale)
        led = qd + self.scale * times(self.across, off)
        return np.asarray(led + times(self.P, times(self.M, qd - led)))

    def kinetic(self, qd: np.ndarray) -> np.ndarray:
        """The kinetic energies of these speeds."""
        return np.asarray((qd * times(self.M, qd)).sum(axis=1) / 2)


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The products of matrices and vectors, run by run."""
    return np.asarray((A @ x[:, :, None])[:, :, 0])


def _inverses(A: np.ndarray) -> np.ndarray:
    """The inverses of symmetric matrices without negative eigenvalues, or pseudoinverses of those that have none.

    Most matrices are definite, which Cholesky's factors tell in a small part of the time that eigenvalues take.
    """
    size = np.sqrt(np.maximum(A.diagonal(axis1=1, axis2=2), 0.0))
    scale = size[:, :, None] * size[:, None]
    try:
        whole = bool((size > 0.0).all())
        if whole and (np.linalg.cholesky(A / scale).diagonal(axis1=1, axis2=2) > SOUND).all():
            return np.asarray(np.linalg.inv(A / scale) / scale)
    except np.linalg.LinAlgError:
        pass
    if len(A) == 1:
        return np.linalg.pinv(A, hermitian=True)
    return np.concatenate([_inverses(one[None]) for one in A])
