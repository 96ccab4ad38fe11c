"""The linearised equations of state of any robot; with loops, in its independent coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics import derivatives as tree
from ..dynamics.kinematics import coordinate_rates
from ..dynamics.samples import Samples, computes, vector
from ..dynamics.spatial import dot
from ..dynamics.wrenches import constant_wrenches, on_bodies
from ..errors import InputError
from ..machine.program.dual import Dual, part_of, value_of
from ..machine.program.scalars import Scalar
from ..robot.model import Robot
from .assembly import assemble
from .constraints import closure
from .equations import Equations, Forces
from .mechanism import inverse
from .methods import Parameters, closed
from .partition import partition


def derivatives(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, np.ndarray]:
    """Accelerations qdd and dq, dqd, dtau, nv × nv each (N × nv × nv): rows accelerations, columns directions."""
    if getattr(robot, "tied", False):
        raise InputError(f"{robot.name} has loops; `derivatives` is for open chains", hint="`linearize` takes loops")
    return tree.derivatives(robot, q, qd, tau)


def linearize(robot: Robot, q: Any, qd: Any = None, tau: Any = None) -> dict[str, Any]:
    """A, B of δẋ = A δx + B δu about a state: x = [displacements; speeds], u = forces of the actuated joints.

    `tau` defaults to what holds the state: inverse dynamics with no acceleration.  `equilibrium` tells whether the
    state is one. With loops, x is made of the coordinates in `independent`, places of speeds.
    """
    if not getattr(robot, "tied", False):
        return {**tree.linearize(robot, q, qd, tau), "independent": tuple(range(getattr(robot, "nv", 0)))}
    return _closed(robot, q, qd, tau)


@computes
def _closed(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, Any]:
    s = Samples(robot, q=q, qd=np.zeros(robot.nv) if qd is None else qd).finite()
    if s.count is not None:
        raise InputError("a linearisation is about one state", found=f"{s.count} samples")
    loops, driven = closure(robot), list(robot.driven)
    place = assemble(robot, s.arrays["q"])
    part = partition(loops, place, (), driven)
    independent, speeds = part.independent, s.arrays["qd"]
    turning = [joint.name for joint in robot.moving if joint.type.orientation is not None]
    if speeds.any() and any(k in robot.joint(name).speeds for name in turning for k in independent):
        raise InputError(
            f"the independent coordinates turn `{turning[0]}` freely; such a state can be linearised at rest only",
            allowed="rates of 0",
        )
    K = part.matrix(loops.jacobian(place)[0])
    B = np.linalg.solve(K, np.eye(robot.nv))[:, robot.nv - len(independent) :]
    speeds = B @ speeds[independent]
    _, drift = loops.jacobian(place, speeds)
    still = np.linalg.solve(K, np.concatenate([-drift[list(part.rows)], np.zeros(len(independent))]))
    holding = np.zeros(robot.nv)
    if tau is None:
        holding[driven] = inverse(robot, place, speeds, still)[: len(driven)]
    else:
        holding = vector("tau", tau, robot.nv)
    count = len(independent)

    # displaced along the closed motions; speeds follow from the independent ones in the text itself
    moved: list[Scalar] = []
    rates = [coordinate_rates(robot, place.tolist(), B[:, c].tolist()) for c in range(count)]
    for k, x in enumerate(place.tolist()):
        moved.append(Dual(x, {c: float(rates[c][k]) for c in range(count)}))
    free = [Dual(float(speeds[k]), {count + c: 1.0}) for c, k in enumerate(independent)]
    forces: list[Scalar] = [Dual(float(x), {2 * count + k: 1.0}) for k, x in enumerate(holding)]
    equations = Equations(loops, part, loops.bodies)
    tied = loops.tied(moved)
    A_rows = equations.rows(moved, tied)
    factors = equations.factors(A_rows)
    qd_text = factors.solve([*([0.0] * len(part.rows)), *free])
    on, loads = on_bodies(robot.tree, constant_wrenches(robot))
    gap: list[Scalar] = [0.0] * len(part.rows)
    problem = equations.problem(
        moved, qd_text, A_rows, factors, tied, Forces(forces, on, loads), gap, {}, {}, Parameters()
    )
    found = closed(problem)
    seconds = [dot(list(row), found) for row in part.N]
    A = np.zeros((2 * count, 2 * count))
    A[:count, count:] = np.eye(count)
    C = np.zeros((2 * count, len(driven)))
    for r, x in enumerate(seconds):
        A[count + r] = [float(part_of(x, c)) for c in range(2 * count)]
        C[count + r] = [float(part_of(x, 2 * count + k)) for k in driven]
    qdd = np.array([float(value_of(x)) for x in found])
    return {
        "A": A,
        "B": C,
        "q": place,
        "tau": holding,
        "qdd": qdd,
        "equilibrium": not speeds.any() and float(abs(qdd).max(initial=0.0)) < 1e-9,
        "actuated": tuple(driven),
        "independent": tuple(independent),
    }
