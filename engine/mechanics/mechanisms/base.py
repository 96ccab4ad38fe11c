"""Base parameters: the combinations of a robot's numbers that its dynamics knows, and numbers that it can't know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError, did_you_mean, given_in_words
from ...machine.program import as_floats
from ...robot import ANGLE, LENGTH, Robot
from ..assembly.assembly import GOOD, assemble, close_loops_by_newton
from ..closure.constraints import Closure, loop_closure, reach_of_mechanism
from ..closure.rank import constraint_null_space
from ..numbers.grouping import inertial_changes_that_spare_numbers, inertial_changes_without_force
from ..numbers.inertial import INERTIAL, INERTIAL_NAMES
from ..numbers.regressor import parameters
from ..quantities import quantities
from ..tree.kinematics import coordinate_rates

SILENT = 1e-9  # share of the largest entry below which a change isn't told
FAINT = 1e-6  # share of the largest singular value above which all are told
DOUBTFUL = 1e-9  # share below which rounding in a regressor shows
VIOLATED = 1e-6  # share of a column above which groups that miss it at further states aren't right
ROUNDING = 1e-12  # share of the largest column's size below which a column is rounding
LOST = 1e-15  # share below which there is nothing but rounding
ROUNDED = 1e-10  # factors of groups below which they are 0
FORCES = 3  # rows of the regressor of a tree for each of its columns
FORCES_IN_LOOPS = 6  # and of a mechanism, whose positions follow each other
FAR = 2.0  # how far joints slide from their first positions, in terms of the robot's size
TRIES = 4  # steps for each position
STEP = 0.6  # from one position of a mechanism to the next, in radians or shares of its size
ASTRAY = 0.5  # share of a step by which closing the loops may change it
WALK = 30  # steps before the next one starts from the first position again
HEADING = 0.3  # of the direction of a step, the part that is new
NARROW = 0.05  # share of the first position's least singular value below which a singular position is near
# of each link what is dropped first where numbers can't be told apart, as in Khalil's tables
DROPPED = ("Iyy", "mz", "m", "Ixx", "Ixy", "Ixz", "Iyz", "mx", "my", "Izz")


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The combinations of a robot's numbers that its dynamics knows: `base = grouping @ numbers`.

    Each group is called as the number whose factor in it is 1 and which is in no other group.  With the columns of the
    regressor in these `columns`, inverse dynamics is `Y[:, columns] @ base`.
    """

    names: tuple[str, ...]  # of the groups
    columns: tuple[int, ...]  # of the regressor, one for each group
    values: np.ndarray  # of the groups, from the robot's numbers
    grouping: np.ndarray  # a row for each group, a column for each of `numbers`
    numbers: tuple[str, ...]  # all that were looked at, in the order of the regressor's columns
    silent: tuple[str, ...]  # numbers that are in no group: no force shows them
    rules: bool  # whether the groups follow from rules, otherwise from the rank of the regressor at random states
    faintest: float  # of the regressor's singular values that count the least, as a share of the largest
    missed: float  # the largest part of any number's forces that the groups miss at further states, likewise

    @property
    def doubtful(self) -> bool:
        """Whether the rank of the regressor can hardly be told, so that groups may be missing, and factors enormous.

        It shows in the rank itself, or in forces at states that the groups weren't made from.
        """
        return not self.rules and (self.faintest < DOUBTFUL or not self.missed < VIOLATED)

    def group(self, name: str) -> dict[str, float]:
        """The numbers in a group, with their factors."""
        row = self.grouping[self.names.index(name)]
        own = {number: float(x) for number, x in zip(self.numbers, row) if x}
        return {name: own.pop(name), **own}

    def words(self, name: str) -> str:
        """A group in words, such as `link2.Ixx - link2.Iyy`."""
        text = ""
        for number, x in self.group(name).items():
            size = "" if abs(x) == 1.0 else f"{abs(x):.6g} "
            text += f" {'-' if x < 0 else '+'} {size}{number}" if text else f"{'-' if x < 0 else ''}{size}{number}"
        return text


def base_parameters(robot: Robot, among: Iterable[str] | None = None) -> BaseParameters:
    """The base parameters of a robot among some of the numbers that `parameters` names.

    By default these are the inertial numbers of all links, and of all joints those that aren't 0.  With loops, forces
    are those along the motions that keep the loops closed.
    """
    values = parameters(robot)
    numbers = _looked_at(values, among)
    places = [k for k, name in enumerate(values) if name in numbers]
    others = [k for k in range(len(values)) if k not in places]
    rng = np.random.default_rng(1)
    Y = _shown(robot, places, rng)
    silent, faintest = _null_columns(Y)
    rules = False
    if not robot.tied:
        known = _independent(inertial_changes_that_spare_numbers(inertial_changes_without_force(robot), others)[places])
        rules = known.shape[1] == silent.shape[1] and not (abs(Y @ known) > SILENT * _size(Y)).any()
        silent = known if rules else silent
    taken = [names for names in values if names in numbers]
    dropped, W = _eliminated(silent, _order(robot, taken))
    kept = [k for k in range(len(taken)) if k not in dropped]
    grouping = np.zeros((len(kept), len(taken)))
    for row, k in enumerate(kept):
        grouping[row, k] = 1.0
        grouping[row, dropped] = -W[k]
    grouping[abs(grouping) <= ROUNDED * abs(grouping).max(initial=1.0)] = 0.0
    missed = 0.0 if rules else _missed(_shown(robot, places, rng, rows=1), Y, kept, grouping)
    own = np.array([values[name] for name in taken])
    shown = (grouping != 0.0).any(axis=0)
    return BaseParameters(
        names=tuple(taken[k] for k in kept),
        columns=tuple(places[k] for k in kept),
        values=grouping @ own,
        grouping=grouping,
        numbers=tuple(taken),
        silent=tuple(name for name, there in zip(taken, shown) if not there),
        rules=rules,
        faintest=faintest,
        missed=missed,
    )


def _looked_at(values: dict[str, float], among: Iterable[str] | None) -> set[str]:
    """The names of the numbers that are looked at."""
    if among is None:
        return {name for name, value in values.items() if value or name.rsplit(".", 1)[1] in INERTIAL_NAMES}
    try:
        wanted = [among] if isinstance(among, str) else list(among)
    except TypeError:
        wanted = [among]  # type: ignore[list-item]
    for name in wanted:
        if not isinstance(name, str) or name not in values:
            hint = did_you_mean(name, values)
            raise InputError("no such number", found=given_in_words(name), allowed="what `parameters` names", hint=hint)
    if not wanted:
        raise InputError("no number is named", key="among", allowed="what `parameters` names")
    return set(wanted)


# ---- what forces show


def _missed(further: np.ndarray, Y: np.ndarray, kept: Sequence[int], grouping: np.ndarray) -> float:
    """The largest part of a column that the groups' columns don't give, in rows that the groups weren't made from."""
    sizes = abs(Y).max(axis=0, initial=0.0)
    sizes[sizes <= ROUNDING * _size(Y)] = np.inf
    off = abs(further - further[:, list(kept)] @ grouping).max(axis=0, initial=0.0)
    return float((off / sizes).max(initial=0.0))


def _shown(robot: Robot, places: Sequence[int], rng: np.random.Generator, rows: int = 0) -> np.ndarray:
    """Rows of these columns of the regressor at random states, along the motions that the loops allow.

    There are some more than `rows` for each column, by default as many as tell which columns are independent.
    """
    wanted = (rows or (FORCES_IN_LOOPS if robot.tied else FORCES)) * len(places) + 8
    if not robot.tied:
        count = -(-wanted // max(robot.nv, 1))
        size = float(reach_of_mechanism(robot.tree.bodies, ())) or 1.0
        scale = np.array([1.0 if turning else size for joint in robot.moving for turning in joint.type.turning])
        q = np.array([_position(robot, size, rng) for _ in range(count)])
        qd, qdd = scale * rng.standard_normal((2, count, robot.nv))
        return quantities.regressor(robot, q, qd, qdd)[..., places].reshape(-1, len(places))
    loops, states, motions = loop_closure(robot), [], []
    for q, N in _closed(robot, wanted, rng):
        qd = N @ rng.standard_normal(N.shape[1])
        J, drift = loops.jacobian(q, qd)
        back = np.linalg.lstsq(loops.scaled(J), drift * loops.row_scale, rcond=SILENT)[0] * loops.column_scale
        states.append((q, qd, N @ rng.standard_normal(N.shape[1]) - back))
        motions.append(N)
    q, qd, qdd = (np.array(rows) for rows in zip(*states))
    Y = quantities.regressor(robot, q, qd, qdd)[..., places]
    return np.concatenate([N.T @ forces for N, forces in zip(motions, Y)])


def _position(robot: Robot, size: float, rng: np.random.Generator) -> np.ndarray:
    """A random position of a tree of this size."""
    q = rng.uniform(-1.0, 1.0, robot.nq)
    for joint in robot.moving:
        for k, kind in zip(joint.coordinates, joint.type.kinds):
            q[k] *= {ANGLE: np.pi, LENGTH: FAR * size}.get(kind, 1.0)
        if joint.type.orientation is not None:
            e = list(joint.coordinates[joint.type.orientation : joint.type.orientation + 4])
            q[e] = (four := rng.standard_normal(4)) / np.linalg.norm(four)
    return q


def _freedom(loops: Closure, q: np.ndarray) -> tuple[np.ndarray, float]:
    """Scaled speeds that keep the loops closed, a column for each freedom, and the least singular value that counts."""
    J = loops.scaled(loops.jacobian(q)[0])
    N = constraint_null_space(J)
    rank = J.shape[1] - N.shape[1]
    return N, float(np.linalg.svd(J, compute_uv=False)[rank - 1]) if rank else 1.0


def _closed(robot: Robot, rows: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions in which the loops close, as many as give so many rows, each with the motions that keep them closed.

    Walks from the first one keep to their direction and keep no coordinate, so that they pass where an actuator can't
    move the loops, and turn back before singular positions, behind which other branches lie.
    """
    loops, first = loop_closure(robot), assemble(robot, np.array(robot.q0))
    slides = [k for one in robot.moving for k, kind in zip(one.coordinates, one.type.kinds) if kind == LENGTH]
    motions, wide = _freedom(loops, first)
    count = -(-rows // max(1, motions.shape[1]))
    result = [(first, loops.column_scale[:, None] * motions)]
    q, N, heading, left = first, motions, np.zeros(robot.nv), WALK
    for _ in range(TRIES * count):
        if len(result) >= count:
            break
        if not left:
            q, N, heading, left = first, motions, np.zeros(robot.nv), WALK
        found = _stepped(loops, q, N, heading, rng)
        if found is None:
            left = 0
            continue
        q, heading = found
        N, narrow = _freedom(loops, q)
        far = abs(q - first)[slides].max(initial=0.0) > FAR * loops.length
        if far or N.shape != motions.shape or narrow < NARROW * wide:
            left = 0
            continue
        result.append((q, loops.column_scale[:, None] * N))
        left -= 1
    return result


def _stepped(
    loops: Closure, q: np.ndarray, N: np.ndarray, heading: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """The next closed position and the direction of the step; None if there is none near where it leads."""
    draw = rng.standard_normal(len(N))
    way = N @ (N.T @ (heading + (HEADING if heading.any() else 1.0) * draw / np.linalg.norm(draw)))
    size = float(np.linalg.norm(way))
    if not size:
        return None
    way = way / size
    there = _moved(loops.robot, q, STEP * way * loops.column_scale)
    found, gap = close_loops_by_newton(loops, there, ())
    if gap > GOOD or np.linalg.norm(found - there) > ASTRAY * np.linalg.norm(there - q):
        return None
    return found, way


def _moved(robot: Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The position after a step along the speeds."""
    moved: np.ndarray = q + np.array(as_floats(coordinate_rates(robot, q.tolist(), step.tolist())))
    for joint in robot.moving:
        if joint.type.orientation is not None:
            e = list(joint.coordinates[joint.type.orientation : joint.type.orientation + 4])
            moved[e] /= np.linalg.norm(moved[e])
    return moved


def _size(Y: np.ndarray) -> float:
    return max(float(abs(Y).max(initial=0.0)), 1e-300)


def _null_columns(Y: np.ndarray) -> tuple[np.ndarray, float]:
    """A basis of the changes of the numbers that no row of Y shows, and the least singular value that shows anything.

    The columns of the basis have like sizes; the singular value is a share of the largest.
    """
    size = np.linalg.norm(Y, axis=0)
    size[size <= ROUNDING * _size(size)] = np.inf
    _, s, Vt = np.linalg.svd(np.linalg.qr(Y / size, mode="r"))
    rank = _told(s)
    size[np.isinf(size)] = 1.0
    basis = Vt[rank:].T / size[:, None]
    result: np.ndarray = basis / np.maximum(abs(basis).max(axis=0, initial=0.0), 1e-300)
    return result, float(s[rank - 1] / s[0]) if rank else 1.0


def _told(s: np.ndarray) -> int:
    """How many singular values stand above rounding: all before the widest gap of those that are small."""
    if not s.size or not s[0]:
        return 0
    shares = np.maximum(s / s[0], LOST)
    first = int((shares > FAINT).sum())
    if first == len(shares):
        return first
    return first + int(np.argmax(shares[first - 1 : -1] / shares[first:]))


# ---- groups


def _independent(changes: np.ndarray) -> np.ndarray:
    """The changes without those that are combinations of others."""
    if not changes.size:
        return changes[:, :0]
    kept, rest = list[int](), changes.copy()
    for c in range(changes.shape[1]):
        column = rest[:, c] - 0.0
        if abs(column).max() > SILENT * max(abs(changes[:, c]).max(), SILENT):
            kept.append(c)
            row = int(np.argmax(abs(column)))
            rest = rest - np.outer(column, rest[row] / column[row])
    return changes[:, kept]


def _order(robot: Robot, numbers: Sequence[str]) -> list[int]:
    """Places of the numbers, the one that is dropped first before all others: joints', then links' from the tips on."""
    depth = {"base": 0}
    waiting = list(robot.links)
    while waiting:
        for link in [one for one in waiting if one.parent in depth]:
            depth[link.name] = depth[link.parent] + 1
            waiting.remove(link)

    places = {link.name: k for k, link in enumerate(robot.links)}

    def rank(name: str) -> tuple[int, ...]:
        owner, _, what = name.rpartition(".")
        if what not in INERTIAL_NAMES:
            return (0, 0 if what == "rotor" else 1)
        return (1, -depth[owner], -places[owner], DROPPED.index(what))

    assert len(DROPPED) == INERTIAL
    return sorted(range(len(numbers)), key=lambda k: rank(numbers[k]))


def _eliminated(silent: np.ndarray, order: Sequence[int]) -> tuple[list[int], np.ndarray]:
    """The dropped numbers, and for each of them the change of all numbers that has a 1 there, as a column."""
    W, dropped = silent.copy(), list[int]()
    left = list(range(W.shape[1]))
    columns: list[int] = []
    for k in order:
        if not left:
            break
        best = max(left, key=lambda c: abs(W[k, c]))
        if abs(W[k, best]) <= 1e-7 * abs(W[:, best]).max():
            continue
        W[:, best] /= W[k, best]
        for c in range(W.shape[1]):
            if c != best:
                W[:, c] -= W[k, c] * W[:, best]
        left.remove(best)
        dropped.append(k)
        columns.append(best)
    return dropped, W[:, columns]
