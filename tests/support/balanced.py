"""The forces of a mechanism by dense linear algebra, all at once: independent of the order of its branches."""

import numpy as np

from denoc.loops import effort
from denoc.loops.balance import Forces
from denoc.loops.branches import efforts
from denoc.loops.rank import null_space


def whole(balance, tau):
    """What `balance.solve` finds, from S u + Jᵀ λ = τ as one system."""
    loops, rows, tau = balance.loops, balance.rows, np.atleast_2d(tau)
    r, shared = len(rows), not all(step.determinate for step in balance.steps())
    actuated, multipliers = np.empty((len(tau), balance.S.shape[2])), np.zeros((len(tau), loops.m))
    for n, b in enumerate(tau):
        A = np.concatenate([balance.J[n][rows].T, balance.S[n]], axis=1)
        if shared:
            N = loops.column_scale[:, None] * null_space(loops.scaled(balance.J[n]))
            actuated[n] = effort.least(N.T @ balance.S[n], N.T @ b, efforts(balance.robot))
            multipliers[n, rows] = np.linalg.lstsq(A[:, :r], b - balance.S[n] @ actuated[n], rcond=None)[0]
        else:
            x = np.linalg.pinv(A, rcond=1e-12) @ b if A.shape[0] > A.shape[1] else np.linalg.solve(A, b)
            actuated[n], multipliers[n, rows] = x[r:], x[:r]
        multipliers[n] = least_norm(loops, balance.J[n], multipliers[n])
    return Forces(actuated, multipliers, ())


def least_norm(loops, J, multipliers):
    """Without the part that does nothing to the links."""
    Z = np.linalg.qr(loops.row_scale[:, None] * null_space(loops.scaled(J).T))[0]
    return multipliers - Z @ (Z.T @ multipliers)


def accelerations(robot, loops, q, qd, tau, inertia, bias):
    """Forward dynamics of one sample by the null space of the Jacobian."""
    J, drift = loops.jacobian(q, qd)
    N = loops.column_scale[:, None] * null_space(loops.scaled(J))
    start = -np.linalg.lstsq(J * loops.row_scale[:, None], drift * loops.row_scale, rcond=1e-10)[0]
    return start + N @ np.linalg.solve(N.T @ inertia @ N, N.T @ (tau - bias - inertia @ start))


def motions(loops, J, drift, independent):
    """B, c of q̈ = B q̈_i + c for many samples: a column for each of these independent speeds."""
    nv, rows = loops.robot.nv, loops.choice(J[0], independent)[0]
    dependent = [k for k in range(nv) if k not in independent]
    right = np.concatenate([J[:, rows][:, :, list(independent)], drift[:, rows, None]], axis=2)
    x = -np.linalg.solve(J[:, rows][:, :, dependent], right) if rows else right
    B, c = np.zeros((len(J), nv, len(independent))), np.zeros((len(J), nv))
    for place, k in enumerate(independent):
        B[:, k, place] = 1.0
    B[:, dependent] = x[:, :, :-1]
    c[:, dependent] = x[:, :, -1]
    return B, c
