"""Derivatives of mechanisms are those of Pinocchio's `computeConstraintDynamicsDerivatives`.

Off the closed positions the two have constraints of different scale, so directions are compared in which the loops stay
closed: all forces, and every motion of the independent coordinates and speeds with what follows from it.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import denoc
from augmented import completed, moving
from denoc.mechanics.assembly.assembly import close_loops_by_newton
from denoc.mechanics.closure.constraints import loop_closure
from displacing import eighth_order

pytest.importorskip("pinocchio")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
contestants = pytest.importorskip("loops")


def theirs(robot, q, qd, tau):
    """Pinocchio's derivatives along coordinates, speeds and forces, in denoc's order."""
    order = contestants.speeds(robot)
    peer = contestants.Pinocchio(robot)
    peer.forward(q[None, order], qd[None, order], tau[None, order])
    given = peer.model, peer.data, peer.cuts, peer.cut_data, peer.settings
    back = np.argsort(order)
    return [np.array(x)[np.ix_(back, back)] for x in peer.pin.computeConstraintDynamicsDerivatives(*given)[:3]]


# a chain whose last link turns on the ground: only cuts to the ground have right derivatives along q in Pinocchio 4.1,
# where those of all others differ from the differences of its own accelerations
GROUNDED = """
name: grounded
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: crank, joint: {name: crank, type: revolute, actuated: true}, mass: 1, com: [0.2, 0, 0],
     inertia: {xx: 0, yy: 0.4^2/12, zz: 0.4^2/12}}
  - {name: coupler, joint: {name: coupler, type: revolute, xyz: [0.4, 0, 0]}, mass: 2, com: [0.5, 0, 0],
     inertia: {xx: 0, yy: 2/12, zz: 2/12}}
  - {name: rocker, joint: {name: rocker, type: revolute, xyz: [1, 0, 0]}, mass: 1.5, com: [0.4, 0, 0],
     inertia: {xx: 0, yy: 1.5*0.8^2/12, zz: 1.5*0.8^2/12}}
loops:
  - {name: pin, joint: revolute, between: [base, rocker], first: {at: [0.9, 0, 0]}, second: {at: [0.8, 0, 0]}}
assembly: {coupler: 1, rocker: -2}
"""


@pytest.mark.parametrize("name", ["three-rrr", "five-bar", "four-bar"])
def test_along_closed_speeds_and_forces(name):
    robot, part, q, qd, tau = moving(name, 5)
    own = denoc.derivatives(robot, q, qd, tau)
    _, dqd, dtau = theirs(robot, q, qd, tau)
    assert abs(own["dtau"] - dtau).max() <= 1e-9 * abs(dtau).max()
    free = np.column_stack([completed(loop_closure(robot), part, q, unit) for unit in np.eye(len(part.independent))])
    assert abs((own["dqd"] - dqd) @ free).max() <= 1e-9 * abs(dqd @ free).max()


def test_along_closed_motions():
    robot, part, q, qd, tau = moving(GROUNDED, 5)
    loops, chosen = loop_closure(robot), part.independent
    own = denoc.derivatives(robot, q, qd, tau)
    dq, dqd, _ = theirs(robot, q, qd, tau)

    def state(h):
        at = q.copy()
        at[chosen] += h
        at, _ = close_loops_by_newton(loops, at, chosen)
        return np.concatenate([at, completed(loops, part, at, qd[chosen])])

    along, faster = np.split(eighth_order(state), 2)
    expected = dq @ along + dqd @ faster
    assert abs(own["dq"] @ along + own["dqd"] @ faster - expected).max() <= 1e-9 * abs(expected).max()
