"""All calls of the interface, and states of any robot to call them with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np

import denoc
from denoc.mechanics.closure import constraint_null_space, loop_closure
from denoc.robot import Robot

STATES = 50  # different ones in a batch
ONE_STATE = ("linearize", "matrices", "parallel_matrices")


def motions(robot: Robot) -> tuple[np.ndarray, ...]:
    """Positions, speeds and accelerations with the loops closed, near the first position."""
    rng = np.random.default_rng(1)
    q = np.tile(np.array(robot.q0, dtype=float), (STATES, 1))
    qd, qdd = rng.standard_normal((2, STATES, robot.nv))
    if not robot.tied:
        q += 0.3 * rng.standard_normal(q.shape)
        for joint in robot.moving:
            if joint.type.orientation is not None:
                e = list(joint.coordinates[joint.type.orientation :][:4])
                q[:, e] /= np.linalg.norm(q[:, e], axis=1, keepdims=True)
        return q, qd, qdd
    loops, start = loop_closure(robot), denoc.assemble(robot, robot.q0)
    scale = loops.column_scale
    q, qd, qdd = np.tile(start, (STATES, 1)), 0.0 * qd, 0.0 * qdd
    for n in range(STATES):
        N = scale[:, None] * constraint_null_space(loops.scaled(loops.jacobian(start)[0]))
        near = np.array(start)
        if robot.nq == robot.nv:
            near = near + 0.02 * N @ rng.standard_normal(N.shape[1])
        with suppress(denoc.DenocError):
            q[n] = denoc.assemble(robot, near)
        J = loops.jacobian(q[n])[0]
        N = scale[:, None] * constraint_null_space(loops.scaled(J))
        qd[n] = N @ rng.standard_normal(N.shape[1])
        drift = loops.jacobian(q[n], qd[n])[1]
        qdd[n] = -np.linalg.lstsq(loops.scaled(J), drift * loops.row_scale, rcond=1e-10)[0] * scale
        qdd[n] += N @ rng.standard_normal(N.shape[1])
    return q, qd, qdd


def pushed(robot: Robot, count: int | None) -> dict[str, np.ndarray]:
    """A wrench on the last link."""
    six = np.random.default_rng(2).standard_normal((count or 1, 6))
    return {robot.links[-1].name: six if count else six[0]}


def a_mass(robot: Robot) -> str:
    """The key of the first mass above 0 in the robot's file."""

    def below(part: object, path: tuple[str, ...]) -> str | None:
        if path and path[-1] == "mass" and isinstance(part, int | float) and part > 0:
            return ".".join(path)
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        return next((found for key, one in items if (found := below(one, (*path, str(key))))), None)

    assert robot.document is not None
    return below(robot.document.data, ()) or "gravity.2"


def half(qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of every other speed, forces of the others."""
    known = np.arange(qdd.shape[-1]) % 2 == 0
    return np.where(known, qdd, np.nan), np.where(known, np.nan, qdd)


Given = tuple[np.ndarray, np.ndarray, np.ndarray]
CALLS: dict[str, Callable[[Robot, Given, int | None], Callable[[], object]]] = {
    "inverse": lambda r, x, n: partial(denoc.inverse, r, *x),
    "inverse, wrench": lambda r, x, n: partial(denoc.inverse, r, *x, pushed(r, n)),
    "forward": lambda r, x, n: partial(denoc.forward, r, *x),
    "forward, wrench": lambda r, x, n: partial(denoc.forward, r, *x, pushed(r, n)),
    "hybrid": lambda r, x, n: partial(denoc.hybrid, r, x[0], x[1], *half(x[2])),
    "inertia": lambda r, x, n: partial(denoc.inertia, r, x[0]),
    "inverse_inertia": lambda r, x, n: partial(denoc.inverse_inertia, r, x[0]),
    "regressor": lambda r, x, n: partial(denoc.regressor, r, *x),
    "bias": lambda r, x, n: partial(denoc.bias, r, x[0], x[1]),
    "reduced": lambda r, x, n: partial(denoc.reduced, r, x[0], x[1]),
    "energy": lambda r, x, n: partial(denoc.energy, r, x[0], x[1]),
    "frames": lambda r, x, n: partial(denoc.frames, r, x[0]),
    "jacobian": lambda r, x, n: partial(denoc.jacobian, r, x[0], r.links[-1].name),
    "reactions": lambda r, x, n: partial(denoc.reactions, r, *x),
    "reactions, wrench": lambda r, x, n: partial(denoc.reactions, r, *x, pushed(r, n)),
    "derivatives": lambda r, x, n: partial(denoc.derivatives, r, *x),
    "derivatives, mass": lambda r, x, n: partial(denoc.derivatives, r, *x, with_respect_to=a_mass(r)),
    "adjoint": lambda r, x, n: partial(denoc.adjoint, r, *x, x[2]),
    "linearize": lambda r, x, n: partial(denoc.linearize, r, x[0], None if n is None else x[1]),
    "matrices": lambda r, x, n: partial(denoc.matrices, r, x[0], x[1]),
    "platform_inverse": lambda r, x, n: partial(denoc.platform_inverse, r, *x),
    "platform_inverse, wrench": lambda r, x, n: partial(denoc.platform_inverse, r, *x, pushed(r, n)),
    "parallel_matrices": lambda r, x, n: partial(denoc.parallel_matrices, r, x[0], x[1]),
}
