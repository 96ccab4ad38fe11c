"""The forces of a mechanism by dense linear algebra, all at once: independent of the order of its branches."""

import numpy as np

import denoc
from denoc.mechanics.closure import constraint_null_space, independent_speeds, loop_closure
from denoc.mechanics.mechanisms import Forces, effort, loop_actuator_efforts


def whole(balance, tau):
    """What `balance.solve` finds, from S u + Jᵀ λ = τ as one system."""
    loops, rows, tau = balance.loops, balance.rows, np.atleast_2d(tau)
    r, shared = len(rows), not all(step.determinate for step in balance.steps())
    actuated, multipliers = np.empty((len(tau), balance.S.shape[2])), np.zeros((len(tau), loops.m))
    for n, b in enumerate(tau):
        A = np.concatenate([balance.J[n][rows].T, balance.S[n]], axis=1)
        if shared:
            N = loops.column_scale[:, None] * constraint_null_space(loops.scaled(balance.J[n]))
            actuated[n] = effort.least_loop_effort(N.T @ balance.S[n], N.T @ b, loop_actuator_efforts(balance.robot))
            multipliers[n, rows] = np.linalg.lstsq(A[:, :r], b - balance.S[n] @ actuated[n], rcond=None)[0]
        else:
            x = np.linalg.pinv(A, rcond=1e-12) @ b if A.shape[0] > A.shape[1] else np.linalg.solve(A, b)
            actuated[n], multipliers[n, rows] = x[r:], x[:r]
        multipliers[n] = least_norm(loops, balance.J[n], multipliers[n])
    return Forces(actuated, multipliers)


def least_norm(loops, J, multipliers):
    """Without the part that does nothing to the links."""
    Z = np.linalg.qr(loops.row_scale[:, None] * constraint_null_space(loops.scaled(J).T))[0]
    return multipliers - Z @ (Z.T @ multipliers)


def apart(loops, q, left):
    """The multipliers that exert these forces along the speeds, of least norm without units: a row for each sample."""
    J, _ = loops.jacobian(q)
    pushes = np.linalg.pinv((J * loops.row_scale[:, None]).transpose(0, 2, 1), rcond=1e-10)
    return np.einsum("nmk,nk->nm", pushes, left) * loops.row_scale


def exerted(robot, loops, q, forces):
    """What cuts and actuators do to links, and the wrench in each cut in base axes, at one position, by 3 x 3 matrices."""
    placed = {"base": np.eye(4), **denoc.frames(robot, q)}
    on_links, cuts = {name: np.zeros(6) for name in placed}, {}

    def put(link, n, f, at):  # base axes, at a point of the base
        R, origin = placed[link][:3, :3], placed[link][:3, 3]
        on_links[link] += np.concatenate([R.T @ (n + np.cross(at - origin, f)), R.T @ f])

    for loop, rows in zip(robot.loops, loops.places):
        first, second = (placed[link] @ side.matrix() for link, side in zip(loop.between, (loop.first, loop.second)))
        X, at = forces.multipliers[0, rows], second[:3, 3]
        kinds = [*((None, k) for k in loop.type.slides), *loop.type.aligned, *([(1, 0)] * loop.hooke)]
        n, f = np.zeros(3), np.zeros(3)
        for (j, k), x in zip(kinds, X):
            if j is None:
                f += x * first[:3, k]
            else:  # what turns the second's axis j towards the first's axis k
                n += x * np.cross(second[:3, j], first[:3, k])
        put(loop.between[0], -n, -f, at)
        put(loop.between[1], n, f, at)
        cuts[loop.name] = np.concatenate([n, f])
    for actuator, x in zip(robot.actuators, forces.actuated[0, len(robot.driven) :]):
        R, origin = placed[actuator.link][:3, :3], placed[actuator.link][:3, 3]
        push = x * (np.array(actuator.direction) if actuator.axes == "base" else R @ np.array(actuator.direction))
        n, f = (push, np.zeros(3)) if actuator.moment else (np.zeros(3), push)
        put(actuator.link, n, f, origin + R @ np.array(actuator.at))
    on_links.pop("base")
    return on_links, cuts


def accelerations(robot, loops, q, qd, tau, inertia, bias):
    """Forward dynamics of one sample by the null space of the Jacobian."""
    J, drift = loops.jacobian(q, qd)
    N = loops.column_scale[:, None] * constraint_null_space(loops.scaled(J))
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


def closed_states(robot, count=7, seed=0, size=0.05):
    """Random motions of the actuators near the guess: q, qd, qdd with all loops closed."""
    rng, found, loops = np.random.default_rng(seed), [], loop_closure(robot)
    start = denoc.assemble(robot, np.array(robot.q0))
    places = [c for joint in robot.moving if joint.actuated for c in joint.coordinates]
    for _ in range(count):
        q = start.copy()
        q[places] += rng.uniform(-size, size, len(places))
        q = denoc.assemble(robot, q)
        J, _ = loops.jacobian(q)
        own = independent_speeds(loops, J)
        qd = motions(loops, J[None], np.zeros((1, loops.m)), own)[0][0] @ rng.normal(size=len(own))
        J, drift = loops.jacobian(q, qd)
        B, c = motions(loops, J[None], drift[None], own)
        found.append((q, qd, c[0] + B[0] @ rng.normal(size=len(own))))
    return [np.array(x) for x in zip(*found)]
