"""Derivatives of forward dynamics of a tree on any scalars, its gradients, and the linearised equations of state.

There is one direction for each speed.  For Euler parameters, the directions are small turns about the link's axes; for
a free joint's position, they are small shifts along these axes.  A gradient is what one weighted sum of the
accelerations owes to each number that it was made of: one way back through the recursion gives Σ λ ∂q̈ along all
coordinates, speeds and forces, and along the inertial numbers of all links, for the cost of a few evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...machine.program import (
    Dual,
    Part,
    Scalar,
    Taped,
    dual_depends,
    dual_derivative,
    dual_without,
    kernel_parts_in_order,
    numbers_of_kernel_parts,
    recorded_gradient,
    sign,
)
from ...robot import Body, Drive, Robot
from ..numbers.inertial import tree_bodies_with_inertial_numbers
from ..tree.dense import Factors, inertia_matrix, inertia_vanishes_in_all_states
from ..tree.kinematics import coordinate_rates
from ..tree.spatial import dot
from ..tree.sweeps import Load, Wrenches, sweep_outward, sweep_tree
from .entries import Entries

AT_REST = 1e-9  # largest acceleration in an equilibrium


def state_space_parts(
    robot: Robot, independent: Sequence[int], actuated: Sequence[int], *, closed: bool = False
) -> tuple[Part, ...]:
    """A and B, forces and accelerations of all speeds, whether the state is an equilibrium, and which speeds are meant.

    If loops are `closed`, there is the position, too.
    """
    n = len(independent)
    shapes: list[tuple[str, tuple[int, ...]]] = [("A", (2 * n, 2 * n)), ("B", (2 * n, len(actuated)))]
    shapes += [("q", (robot.nq,))] * closed + [("tau", (robot.nv,)), ("qdd", (robot.nv,))]
    arrays = kernel_parts_in_order(shapes)
    verdict = Part("equilibrium", numbers_of_kernel_parts(arrays), verdict=True)
    things = Part("actuated", 0, thing=tuple(actuated)), Part("independent", 0, thing=tuple(independent))
    return *arrays, verdict, *things


def put_state(found: Entries, qd: Sequence[Scalar], tau: Sequence[Scalar], qdd: Sequence[Scalar]) -> None:
    """Puts forces, accelerations, and a number that isn't negative if the state is an equilibrium."""
    for name, numbers in (("tau", tau), ("qdd", qdd)):
        for k, x in enumerate(numbers):
            found.put(name, 0, k, x)
    moving: Scalar = 0.0
    for x in qdd:
        moving = moving + (1.0 - sign(AT_REST - x * sign(x)))
    for x in qd:
        moving = moving + x * sign(x)
    found.put("equilibrium", 0, 0, -moving)


def tree_state_space(robot: Robot, qd: Sequence[Scalar], tau: Sequence[Scalar], of: Slopes) -> Unsolved:
    """All numbers of the parts, with the derivatives of the accelerations yet to be solved for."""
    n, actuated, found = robot.nv, robot.driven, Entries()
    parts = state_space_parts(robot, range(n), actuated)
    for k in range(n):
        found.put("A", k, n + k, 1.0)
    for joint in robot.moving:
        if joint.type.orientation is not None:  # directions that turn with the link
            turn, shift = joint.speeds[-3:], joint.speeds[:-3]
            for own in (turn, shift) if shift else (turn,):
                _put_cross(found, own, own, [qd[k] for k in turn])
            if shift:
                _put_cross(found, shift, turn, [qd[k] for k in shift])
    put_state(found, qd, tau, of.qdd)
    A, B = (next(part.first for part in parts if part.name == name) for name in ("A", "B"))
    places = [(A + 2 * n * n + k, 2 * n) for k in range(2 * n)]
    places += [(B + n * len(actuated) + c, len(actuated)) for c in range(len(actuated))]
    return of.among(found.numbers(parts), places, actuated)


def _put_cross(found: Entries, rows: Sequence[int], columns: Sequence[int], v: Sequence[Scalar]) -> None:
    """Puts −v ×."""
    for r, c, x in ((0, 1, v[2]), (0, 2, -v[1]), (1, 0, -v[2]), (1, 2, v[0]), (2, 0, v[1]), (2, 1, -v[0])):
        found.put("A", rows[r], columns[c], x)


STATE = ("q", "qd", "tau")


def inputs_with_taped_state(given: Mapping[str, list[Scalar]]) -> dict[str, list[Scalar]]:
    """The inputs of forward dynamics, of which the state and the forces note what is computed of them."""
    return {name: list[Scalar](map(Taped, group)) if name in STATE else group for name, group in given.items()}


def acceleration_gradient_along_state(
    robot: Robot, given: Mapping[str, list[Scalar]], taped: Mapping[str, list[Scalar]], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """The gradient of costate · q̈ along the directions of the coordinates, the speeds and the forces.

    The accelerations are those by any text from inputs with a taped state.
    """
    q = given["q"]
    slopes = recorded_gradient(qdd, given["costate"], [x for name in STATE for x in taped[name]])
    moves = [coordinate_rates(robot, list(q), [float(k == j) for j in range(robot.nv)]) for k in range(robot.nv)]
    return [*(dot(slopes[: robot.nq], rates) for rates in moves), *slopes[robot.nq :]]


def acceleration_gradient_along_inertias(
    robot: Robot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    costate: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> list[Scalar]:
    """The gradient of costate · q̈ along the ten inertial numbers of each link; wrenches act on `parts`."""
    bodies, numbers = tree_bodies_with_inertial_numbers(robot, Taped)
    qdd, _ = sweep_tree(bodies, robot.gravity, q, qd, tau, (False,) * robot.nv, wrenches, loads)
    return recorded_gradient(qdd, costate, numbers)


SLOPES = ("dq", "dqd", "dtau")  # the names of the derivatives along coordinates, speeds and forces


class Unsolved(NamedTuple):
    """Numbers of which those in some columns have yet to be solved for, M x = b.

    `columns` are these b; then come `units`, the columns of M⁻¹ with these numbers.  `places` are the number of the
    first entry of each, and the distance from one to the next.
    """

    numbers: list[Scalar]
    columns: list[list[Scalar]]
    units: Sequence[int]
    places: Sequence[tuple[int, int]]
    factors: Factors

    def yet_to_be_solved(self) -> list[Scalar]:
        """All numbers, with each b in the place of x."""
        n = len(self.factors.one_over)
        return self.filled([*self.columns, *([float(r == k) for r in range(n)] for k in self.units)])

    def filled(self, columns: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """All numbers, with these in the columns."""
        numbers = list(self.numbers)
        for (first, pitch), column in zip(self.places, columns, strict=True):
            for r, x in enumerate(column):
                numbers[first + r * pitch] = x
        return numbers


def numbers_with_solved_columns(of: Unsolved) -> list[Scalar]:
    """All numbers, with the x of each b."""
    inverse = of.factors.inverse() if of.units else []
    return of.filled([*map(of.factors.solve, of.columns), *(inverse[k] for k in of.units)])


class Slopes(NamedTuple):
    """Accelerations q̈, and what their derivatives along directions of q and then of q̇ are made of.

    `columns` are those of −∂τ/∂q and −∂τ/∂q̇, which are divided by M, whose factors these are.  Along directions that
    are in `known`, the derivatives themselves are.
    """

    qdd: list[Scalar]
    columns: dict[int, list[Scalar]]
    known: dict[int, list[Scalar]]
    factors: Factors

    def among(self, numbers: Sequence[Scalar], places: Sequence[tuple[int, int]], units: Sequence[int]) -> Unsolved:
        """These numbers with the derivatives in their places, which are followed by those of M⁻¹ that are wanted."""
        numbers = list(numbers)
        for k, column in self.known.items():
            first, pitch = places[k]
            for r, x in enumerate(column):
                numbers[first + r * pitch] = x
        left = [place for k, place in enumerate(places) if k not in self.known]
        return Unsolved(numbers, [*self.columns.values()], units, left, self.factors)


def acceleration_slopes(
    robot: Robot,
    bodies: tuple[Body, ...],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches,
    loads: Sequence[Load],
) -> Slopes:
    """The accelerations and what their derivatives are made of.

    Inverse dynamics τ(q, q̇, q̈) of the accelerations by forward dynamics returns the given forces in every state.
    Hence ∂q̈ = −M⁻¹ ∂τ along each direction of q and q̇, and M⁻¹ along that of a force.
    """
    n = robot.nv
    qdd, _ = sweep_tree(bodies, robot.gravity, q, qd, tau, (False,) * n, wrenches, loads)
    moved = coordinates_along_speeds(robot, q)
    speeds: list[Scalar] = [Dual(x, {n + k: 1.0}) for k, x in enumerate(qd)]
    # loads keep their axes where the robot turns
    known = {} if loads else slopes_of_free_bases(bodies, robot.gravity, moved, speeds, qdd)
    moved, speeds = ([dual_without(x, known) for x in state] for state in (moved, speeds))
    forces, _ = sweep_tree(bodies, robot.gravity, moved, speeds, qdd, (True,) * n, wrenches, loads)
    columns = {k: [-dual_derivative(x, k) for x in forces] for k in range(2 * n) if k not in known}
    return Slopes(qdd, columns, known, Factors(inertia_matrix(bodies, q, n)))


def slopes_of_free_bases(
    bodies: Sequence[Body], gravity: Sequence[float], q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> dict[int, list[Scalar]]:
    """The derivatives of the accelerations along those directions of duals q and q̇ where they can be seen at once.

    What hangs on a base notices a direction of the base's joint by nothing but the base's own ω, ω̇ and a.  If ω stays
    as it is, and the joint can move freely in the way in which ω̇ and a change, its accelerations make up for that, and
    no others change: a robot that floats doesn't notice in which direction it falls, or how fast.
    """
    known: dict[int, list[Scalar]] = {}
    for body in bodies:
        if body.parent is not None or body.pitch or not all(map(_is_free, body.drives)):
            continue
        own, speed_of = set(body.coordinates), dict(zip(body.directions, body.speeds))
        here = sweep_outward(body, None, q, qd, qdd, list(gravity))
        for k in (part * len(qd) + k for part in range(2) for k in body.speeds):
            if any(dual_depends(x, k) for c, x in enumerate(q) if c not in own) or any(
                dual_depends(x, k) for x in here.w
            ):
                continue
            change = {d: dual_derivative(x, k) for d, x in enumerate([*here.wd, *here.a]) if dual_depends(x, k)}
            if change.keys() <= speed_of.keys():
                known[k] = [0.0] * len(qd)
                for d, x in change.items():
                    known[k][speed_of[d]] = -x
    return known


def _is_free(drive: Drive) -> bool:
    """Whether a joint moves along a speed without any force besides the actuator's."""
    numbers = drive.rotor, drive.viscous, drive.coulomb, drive.stiffness
    return all(map(inertia_vanishes_in_all_states, numbers)) and not drive.pulls


def derivatives_one_behind_the_other(of: Slopes) -> Unsolved:
    """The accelerations, then dq, dqd and dtau row by row."""
    n = len(of.qdd)
    places = [(n + part * n * n + k, n) for part in range(3) for k in range(n)]
    return of.among([*of.qdd, *([0.0] * (3 * n * n))], places, range(n))


def derivative_matrices_by_rows(columns: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """All entries of the matrices dq, dqd and dtau in one list, row by row, from the columns of all three."""
    n = len(columns) // 3
    parts = [columns[first : first + n] for first in (0, n, 2 * n)]
    return [part[k][r] for part in parts for r in range(n) for k in range(n)]


def coordinates_along_speeds(robot: Robot, q: Sequence[Scalar]) -> list[Scalar]:
    """The coordinates q with their derivatives along the speeds; in direction k, speed k is 1."""
    moved: list[Scalar] = list(q)
    rates = [coordinate_rates(robot, list(q), [float(j == k) for j in range(robot.nv)]) for k in range(robot.nv)]
    for c, x in enumerate(q):
        parts = {k: rate[c] for k, rate in enumerate(rates) if not (isinstance(rate[c], float) and rate[c] == 0.0)}
        moved[c] = Dual(x, parts)
    return moved
