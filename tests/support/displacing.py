"""A robot's coordinates displaced along its speeds, and derivatives from differences."""

import math

import numpy as np

from denoc.mechanics.tree import quaternion_matrix
from denoc.simulate.systems.reference import reference_signal_turn_product


def moved(robot, q, k, h):
    """Q after a motion by h along speed k."""
    q = q.copy()
    joint = next(joint for joint in robot.moving if k in joint.speeds)
    place, at = joint.speeds.index(k), joint.type.orientation
    if at is None:
        q[joint.coordinates[place]] += h
        return q
    e = list(joint.coordinates[at:][:4])
    if at and place < 3:
        q[list(joint.coordinates[:3])] += np.array(quaternion_matrix(q[e].tolist()))[:, place] * h
        return q
    turn = [math.cos(h / 2), 0.0, 0.0, 0.0]
    turn[1 + place - (3 if at else 0)] = math.sin(h / 2)
    q[e] = reference_signal_turn_product(q[e].tolist(), turn)
    return q


def state(robot):
    """A state not far from the guess, with Euler parameters of norm 1, and a number for each speed."""
    rng = np.random.default_rng(7)
    q = np.array(robot.q0) + 0.3 * rng.normal(size=robot.nq)
    for joint in robot.moving:
        if joint.type.orientation is not None:
            e = list(joint.coordinates[joint.type.orientation :][:4])
            q[e] /= np.linalg.norm(q[e])
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def eighth_order(f, h=2e-3):
    """f'(0) to the eighth order in h."""
    weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    return sum(w * (f(k * h) - f(-k * h)) for k, w in weights) / h
