"""The response of a system to forces and blows at one position."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..dynamics.dense import inertia_matrix
from ..loops.rank import TINY, constraint_null_space
from .system import System

SOUND = 1e-6  # least diagonal element of Cholesky's factor, with a diagonal of ones before


def _inverse(M: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric matrix without negative eigenvalues, or its pseudoinverse where it has none.

    Most matrices are definite, which Cholesky's factors tell in a small part of the time that eigenvalues take.
    """
    if len(M) == 1 and M[0, 0] > 0.0:
        return np.asarray(1.0 / M)
    size = np.sqrt(np.maximum(np.diag(M), 0.0))
    if not size.size or not size.all():
        return np.linalg.pinv(M, hermitian=True)
    scale = np.outer(size, size)
    try:
        definite = np.linalg.cholesky(M / scale).diagonal().min() > SOUND
    except np.linalg.LinAlgError:
        definite = False
    if not definite:
        return np.linalg.pinv(M, hermitian=True)
    inverse: np.ndarray = np.linalg.inv(M / scale) / scale
    return inverse


class Response:
    """The response of a system's speeds to forces and jumps at one position, with some speeds fixed."""

    def __init__(self, M: np.ndarray, T: np.ndarray, fixed: list[int], rows: np.ndarray):
        """The response by the inertia matrix M and the motions T that are allowed, whose columns are independent.

        The `rows` are those of constraints and fixed speeds, which speeds keep to.
        """
        self.M, self.T, self.fixed, self.rows = M, T, fixed, rows
        self.inverse = _inverse(T.T @ M @ T)

    @staticmethod
    def of(system: System, q: list[float], fixed: Iterable[int]) -> Response:
        """The response of a system at these coordinates."""
        n, loops, given = system.robot.nv, system.loops, list(fixed)
        M = np.array(inertia_matrix(system.model.bodies, q, n), dtype=float)
        if not loops.m:
            return Response(M, np.eye(n)[:, [k for k in range(n) if k not in given]], given, _units(n, given))
        J = loops.jacobian(np.array(q))[0]
        return Response.in_loops(M, loops.scaled(J), loops.column_scale, given, np.concatenate([J, _units(n, given)]))

    @staticmethod
    def in_loops(M: np.ndarray, J: np.ndarray, scale: np.ndarray, fixed: list[int], rows: np.ndarray) -> Response:
        """The response of a mechanism with this scaled Jacobian and this scale of its speeds."""
        return Response(M, _motions(J, scale, fixed), fixed, rows)

    def compliance(self, speeds: list[int]) -> np.ndarray:
        """The accelerations of these speeds under unit forces along them, as a matrix."""
        G: np.ndarray = self.T[speeds] @ self.inverse @ self.T[speeds].T
        return G

    def sizes(self, qdd: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """The sizes of what meets in these accelerations under forces of these sizes."""
        across = np.linalg.pinv(self.rows, rcond=TINY)
        off = self.rows @ qdd
        ways = abs(self.T @ self.inverse @ self.T.T) @ (forces + abs(self.M @ (across @ off)))
        return np.asarray(ways + abs(across) @ abs(off))

    def after(self, speeds: list[int], impulses: np.ndarray) -> np.ndarray:
        """The jumps of all speeds under impulses along these."""
        jumps: np.ndarray = self.T @ (self.inverse @ (self.T[speeds].T @ impulses))
        return jumps

    def dragged(self, qd: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """All speeds after the rates of constraints and the fixed speeds have jumped to `wanted`."""
        led = qd + np.linalg.pinv(self.rows, rcond=1e-10) @ (wanted - self.rows @ qd)
        after: np.ndarray = led + self.T @ (self.inverse @ (self.T.T @ (self.M @ (qd - led))))
        return after

    def kinetic(self, qd: np.ndarray) -> float:
        """The kinetic energy of these speeds."""
        return float(qd @ self.M @ qd) / 2


def allowed_motions(system: System, q: list[float], fixed: Iterable[int]) -> np.ndarray:
    """The independent motions that the loops of a mechanism allow at these coordinates, with some speeds fixed."""
    loops = system.loops
    return _motions(loops.scaled(loops.jacobian(np.array(q))[0]), loops.column_scale, list(fixed))


def _motions(J: np.ndarray, scale: np.ndarray, fixed: list[int]) -> np.ndarray:
    """The motions that a scaled Jacobian allows."""
    T = constraint_null_space(np.concatenate([J, _units(len(scale), fixed) * scale]))
    T[abs(T).max(axis=1, initial=0.0) < TINY] = 0.0  # rounding errors in speeds that the loops hold still
    return np.asarray(T * scale[:, None])


def _units(n: int, fixed: list[int]) -> np.ndarray:
    """The rows of fixed speeds."""
    return np.eye(n)[fixed].reshape(-1, n)
