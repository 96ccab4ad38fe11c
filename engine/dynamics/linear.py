"""The linearised equations of state of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..robot.model import Robot
from .quantities import bias, derivatives
from .samples import Samples, dynamics_call_with_checked_results, vector_of_dynamics_samples

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dynamics_call_with_checked_results
def linearize_tree(
    robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None
) -> dict[str, Any]:
    """Matrices A, B of δẋ = A δx + B δu about a state: x = [displacements; speeds], u = forces of actuated joints.

    `tau` defaults to the forces that hold the state, by inverse dynamics without acceleration.  `equilibrium` says
    whether the state is an equilibrium.
    """
    qd = np.zeros(robot.nv) if qd is None else Samples(robot, qd=qd).arrays["qd"]
    n, given = robot.nv, tau
    holding = bias(robot, q, qd)  # what inverse dynamics gives without acceleration
    if np.ndim(holding) != 1:
        raise InputError("a linearisation is about one state", found=f"{len(holding)} samples")
    actuated = [k for joint in robot.moving if joint.actuated for k in joint.speeds]
    tau = np.zeros(n) if tau is None else vector_of_dynamics_samples("tau", tau, n)
    if given is None:
        tau[actuated] = holding[actuated]
    result = derivatives(robot, q, qd, tau)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    for joint in robot.moving:
        if joint.type.orientation is not None:  # directions that turn with the link
            turn, shift = joint.speeds[-3:], joint.speeds[:-3]
            W = _cross(qd[list(turn)])
            A[np.ix_(turn, turn)] = -W
            if shift:
                A[np.ix_(shift, shift)] = -W
                A[np.ix_(shift, turn)] = -_cross(qd[list(shift)])
    A[n:, :n], A[n:, n:] = result["dq"], result["dqd"]
    B = np.zeros((2 * n, len(actuated)))
    B[n:] = result["dtau"][:, actuated]
    at_rest = not qd.any() and float(abs(result["qdd"]).max(initial=0.0)) < 1e-9
    return {"A": A, "B": B, "tau": tau, "qdd": result["qdd"], "equilibrium": at_rest, "actuated": tuple(actuated)}


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
