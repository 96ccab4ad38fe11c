"""All numbers of a robot that its accelerations are made of, and how they change with a number of its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...errors import DenocError, InputError
from ...robot import Body, Coupling, Placement, Robot, turn_matrix_of
from ...robot.read import FileNumber, robot_file_number
from ..closure.constraints import Closure, loop_closure
from ..closure.ties import Tie, TieSide
from ..numbers.number_symbols import Path, TreeNumbers, number_leaves_of_bodies, planted_bodies, tree_numbers
from ..numbers.regroup import regrouped_bodies
from ..tree.spatial import Factor

STEP = 0.01  # of differences: what a file's numbers do to a robot's is smooth, and mostly a polynomial
SMOOTH = 1e-8  # by how much derivatives from two steps may differ, relative to the largest of them
ROUNDING = 1e-14  # of a robot's numbers
# multiples of the step, and the weights that values there have in differences of the eighth order
AROUND = {-4: 1 / 280, -3: -4 / 105, -2: 1 / 5, -1: -4 / 5, 1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
ABOVE = dict(enumerate((-761 / 280, 8, -14, 56 / 3, -35 / 2, 56 / 5, -14 / 3, 8 / 7, -1 / 8)))


class Numbers(NamedTuple):
    """The numbers of a robot that its accelerations are made of, in their structure; any of them may be a symbol."""

    tree: TreeNumbers
    ties: tuple[Tie, ...]
    couplings: tuple[Coupling, ...]


def numbers_of_mechanism(robot: Robot) -> Numbers:
    """The numbers of a robot, with regrouped inertias."""
    loops = loop_closure(robot)
    return numbers_of_mechanism_with_bodies(loops, regrouped_bodies(loops.bodies))


def numbers_of_mechanism_with_bodies(loops: Closure, bodies: tuple[Body, ...]) -> Numbers:
    """The numbers of a robot with these bodies."""
    return Numbers(tree_numbers(loops.robot, bodies), loops.ties, loops.couplings)


TREE, TIES = Numbers._fields.index("tree"), Numbers._fields.index("ties")
BODIES = TREE, TreeNumbers._fields.index("bodies")

# ---- along numbers of the file


class Direction(NamedTuple):
    """The numbers of a robot that change with a number of its file: the place, the value and the derivative of each."""

    key: str
    slopes: tuple[tuple[Path, float, float], ...]


def mechanism_numbers_along_key(robot: Robot, key: object) -> Direction:
    """The derivatives of the robot's numbers along the number of its file that the key leads to, made once.

    They are differences of the eighth order between nearby robots' numbers, and about as exact as these are.
    """
    return robot.made_once((Direction, key), lambda: Direction(str(key), _slopes(robot, robot_file_number(robot, key))))


def _slopes(robot: Robot, at: FileNumber) -> tuple[tuple[Path, float, float], ...]:
    base = _with_matrices(numbers_of_mechanism(robot))
    if not np.array_equal(_values(base), _values(_with_matrices(numbers_of_mechanism(at.robot(at.value))))):
        raise InputError("not a number of the file", key=at.key, allowed="a number that the file or a default gives")
    size = STEP * max(1.0, abs(at.value))
    ways = ((AROUND, size), (AROUND, STEP * abs(at.value)), (ABOVE, size), (ABOVE, -size))
    for weights, step in ways:
        try:
            slopes, finer = (_differences(at, weights, h) for h in (step, step / 2)) if step else (None, None)
        except DenocError:
            continue  # a value is out of its bounds
        if slopes is None or finer is None or slopes.shape != finer.shape:
            continue  # the robot has another structure there
        if abs(slopes - finer).max(initial=0.0) <= SMOOTH * abs(slopes).max(initial=0.0):
            along = zip(number_leaves_of_bodies(base), slopes.tolist())
            return tuple((path, value, slope) for (path, value), slope in along if slope)
    raise InputError(
        f"{robot.name} doesn't change smoothly with this number",
        key=at.key,
        found=f"{at.value:g}",
        hint="there is no derivative where a direction is an axis of a frame, or no value beside this one is allowed",
    )


def _differences(at: FileNumber, weights: Mapping[int, float], step: float) -> np.ndarray | None:
    """The derivatives of all numbers, without what may be rounding; None if nearby robots have another structure."""
    rows = [_values(_with_matrices(numbers_of_mechanism(at.robot(at.value + k * step)))) for k in weights]
    if len({len(row) for row in rows}) > 1:
        return None
    values = np.array(rows)
    slopes: np.ndarray = np.array(list(weights.values())) @ values / step
    slopes[abs(slopes) <= ROUNDING * abs(values).max(axis=0) / abs(step)] = 0.0
    return slopes


def _values(numbers: Numbers) -> np.ndarray:
    return np.array([x for _, x in number_leaves_of_bodies(numbers)])


def mechanism_numbers_displaced(robot: Robot, symbols: Mapping[Path, Any]) -> Numbers:
    """The robot's numbers with these scalars in some places; rotations that have none keep their turns."""
    own = numbers_of_mechanism(robot)
    matrices = _with_matrices(own)
    turned = {path[:-3] for path in symbols if "rotation" in path}
    bodies = [
        one if (*BODIES, i, "rotation") in turned else replace(one, rotation=own.tree.bodies[i].rotation)
        for i, one in enumerate(matrices.tree.bodies)
    ]
    ties = []
    for i, (one, lean) in enumerate(zip(matrices.ties, own.ties)):
        for side in ("first", "second"):
            if (TIES, i, side, "rotation") not in turned:
                one = replace(one, **{side: replace(getattr(one, side), rotation=getattr(lean, side).rotation)})
        ties.append(one)
    tree = matrices.tree._replace(bodies=tuple(bodies))
    result: Numbers = planted_bodies(Numbers(tree, tuple(ties), own.couplings), symbols)
    return result


def _with_matrices(numbers: Numbers) -> Numbers:
    """The numbers with a matrix for each rotation, whose turns are other ones nearby."""
    bodies = tuple(replace(one, rotation=_matrix(one.rotation)) for one in numbers.tree.bodies)
    sides = [(_with_matrix(one.first), _with_matrix(one.second)) for one in numbers.ties]
    none = Placement(), Placement()  # the frames have angles, and nothing here reads them
    ties = tuple(
        replace(one, frames=none, first=first, second=second) for one, (first, second) in zip(numbers.ties, sides)
    )
    return Numbers(numbers.tree._replace(bodies=bodies), ties, numbers.couplings)


def _with_matrix(side: TieSide) -> TieSide:
    return replace(side, rotation=_matrix(side.rotation))


def _matrix(rotation: Sequence[Factor]) -> tuple[Any, ...]:
    """A rotation as a single factor, its matrix."""
    R = turn_matrix_of(tuple(rotation))  # type: ignore[arg-type]
    return (tuple(tuple(float(x) for x in row) for row in R),)
