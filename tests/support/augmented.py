"""Accelerations of mechanisms by the dense augmented system, and states to compare at."""

import numpy as np

import denoc
from denoc.mechanics.closure import best_partition, loop_closure
from denoc.mechanics.quantities import Samples
from denoc.mechanics.quantities import calls as tree


def coordinates(name):
    robot = denoc.loads(name) if "\n" in name else denoc.load(name)
    q = denoc.assemble(robot, robot.q0)
    return robot, q, best_partition(loop_closure(robot), q, (), robot.driven)


def completed(loops, part, q, v):
    """All speeds from the independent ones."""
    return np.linalg.solve(part.matrix(loops.jacobian(q)[0]), np.concatenate([np.zeros(len(part.rows)), v]))


def moving(name, seed):
    """A mechanism of the library, or of this text, in a state on its constraints, under forces."""
    robot, q, part = coordinates(name)
    rng = np.random.default_rng(seed)
    qd = completed(loop_closure(robot), part, q, rng.normal(size=len(part.independent)))
    return robot, part, q, qd, rng.normal(size=robot.nv)


def by_multipliers(robot, part, q, qd, tau):
    """Accelerations by the dense augmented system, for any q and qd, whether or not they keep the loops closed."""
    loops, rows = loop_closure(robot), list(part.rows)
    s = Samples(robot, q=q, qd=qd)
    zero = np.zeros(robot.nv)
    h = tree.inverse(robot, q, qd, zero)
    J, drift = loops.jacobian(s.arrays["q"], qd)
    M, J = denoc.inertia(robot, q), J[rows]
    whole = np.block([[M, J.T], [J, np.zeros((len(rows), len(rows)))]])
    return np.linalg.solve(whole, np.concatenate([tau - h, -drift[rows]]))[: robot.nv]
