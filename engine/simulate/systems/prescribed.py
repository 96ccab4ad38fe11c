"""Runs in which all motion is prescribed: the motion at given instants, and the work of its forces."""

from __future__ import annotations

import numpy as np

from ...mechanics.quantities import inverse as tree_inverse
from ...mechanics.quantities import passive_power
from .acting import wrenches_at_instants
from .system import System

# Gauss-Legendre with three points on (0, 1): exact for polynomials of degree 5, as the integrators' quadrature is
NODES = (0.5 - 15**0.5 / 10, 0.5, 0.5 + 15**0.5 / 10)
WEIGHTS = (5 / 18, 8 / 18, 5 / 18)


def prescribed_motion_rows(system: System, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, speeds and accelerations of the prescribed joints, a row for each instant; 0 for the others."""
    q = np.zeros((len(t), system.robot.nq))
    qd, qdd = np.zeros((len(t), system.robot.nv)), np.zeros((len(t), system.robot.nv))
    for one in system.inputs.prescribed:
        places = (one.joint.coordinates, one.joint.speeds, one.joint.speeds)
        for target, source, columns in zip((q, qd, qdd), one.at(t), places):
            for k, values in zip(columns, source):
                target[:, k] = values
    return q, qd, qdd


def quadrature_instants(grid: np.ndarray) -> tuple[np.ndarray, int]:
    """The grid with the quadrature's nodes between its rows, and the number of instants from one row to the next."""
    between = grid[:-1, None] + np.outer(np.diff(grid), (0.0, *NODES))
    return np.append(between.ravel(), grid[-1]), between.shape[1]


def run_work_gathered(rows: np.ndarray, power: np.ndarray) -> np.ndarray:
    """The work since the first row, from the power at the `quadrature_instants` of these rows."""
    each = 1 + len(NODES)
    whole = power[: (len(rows) - 1) * each].reshape(-1, each)
    return np.concatenate([[0.0], np.cumsum(np.diff(rows) * (whole @ (0.0, *WEIGHTS)))])


def work_of_prescribed_motion(system: System, grid: np.ndarray) -> np.ndarray:
    """The work of a tree's actuators and wrenches since the first row, less the losses by friction."""
    steps = np.diff(grid)
    total = np.zeros(len(steps))
    for node, weight in zip(NODES, WEIGHTS):
        t = grid[:-1] + node * steps
        q, qd, qdd = prescribed_motion_rows(system, t)
        wrenches = wrenches_at_instants(system.robot, system.inputs.wrenches, t, q, qd)
        tau = tree_inverse(system.robot, q, qd, qdd, wrenches)
        total += weight * steps * ((tau * qd).sum(axis=1) + passive_power(system.robot, q, qd, wrenches))
    return np.concatenate([[0.0], np.cumsum(total)])
