"""The constraints of one robot: the rows of all its ties and couplings, as text on scalars and as numbers."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...machine.program import Scalar, as_floats, as_samples
from ...robot import LOCKED, PARALLEL, Body, Coupling, CutType, Joint, Leader, Loop, Placement, Robot
from ..quantities.samples import Samples
from ..tree.springs import massless_bodies
from .blocks import Block, loop_blocks, sums_of_parallel_turns
from .elimination import Sums
from .gaps import CompiledGaps
from .rank import independent_constraint_rows
from .row_kinds import Row
from .ties import KINDS, Tie, Tied, tie_between_links


@dataclass(frozen=True)
class Gap:
    """The gap of one loop or coupling, as a length and an angle."""

    name: str
    length: float  # m
    angle: float  # rad
    asks: str = ""  # of a coupling, what it asks for where its leaders are

    def __str__(self) -> str:
        return self.asks or f"`{self.name}` {self.length * 1000:.3g} mm {np.degrees(self.angle):.3g}°"


class Closure:
    """All constraints of a robot: the rows of its ties in their order, then one row for each coupling."""

    def __init__(self, robot: Robot, drives: Sequence[Tie] = ()):
        self.robot, self.bodies = robot, robot.tree.bodies
        self.ties = (*ties_of_mechanism(robot), *drives)
        self.drives = len(drives)
        self.divisions: dict[Any, Any] = {}  # of partitions among the groups of bodies
        self.goal: np.ndarray | None = None  # the wanted values of the rows; None: all 0
        self.couplings: tuple[Coupling, ...] = robot.couplings
        self.places: list[slice] = []  # of each tie's rows
        turning: list[bool] = []
        on_speeds: list[bool] = []  # rows without a value, which positions can't fulfil or violate
        for one in self.ties:
            self.places.append(slice(len(turning), len(turning) + len(one.rows)))
            turning += [KINDS[row.kind].turning for row in one.rows]
            on_speeds += [KINDS[row.kind].on_speeds for row in one.rows]
        self.m = len(turning) + len(self.couplings)
        self.length = float(reach_of_mechanism(robot.tree.bodies, self.ties)) or 1.0
        speeds = {k: turn for joint in robot.moving for k, turn in zip(joint.speeds, joint.type.turning)}
        # scales that make turns and shifts, angles and lengths comparable
        self.column_scale = np.array([1.0 if speeds[k] else self.length for k in range(robot.nv)])
        turning += [speeds[one.speed] for one in self.couplings]
        self.turning = np.array(turning, dtype=bool)
        self.on_speeds = np.array(on_speeds + [False] * len(self.couplings), dtype=bool)
        self.row_scale = np.array([1.0 if turn else 1.0 / self.length for turn in turning])
        self.row_sizes: list[Scalar] = self.row_scale.tolist()  # the same, which may be symbols
        identity = (
            massless_bodies(self.bodies),
            [(one.first, one.second, one.rows) for one in self.ties],
            self.couplings,
        )
        self.numbers = CompiledGaps(self._whole, robot.nq, robot.nv, self.m, identity, len(self.bodies))

    def at(self, goal: np.ndarray) -> Closure:
        """The same constraints with other wanted values of the rows."""
        other = copy.copy(self)
        other.goal = goal
        return other

    def with_numbers(self, bodies: tuple[Body, ...], ties: tuple[Tie, ...], couplings: tuple[Coupling, ...]) -> Closure:
        """The same constraints with other numbers of the mechanism, which may be symbols."""
        other = copy.copy(self)
        other.bodies, other.ties, other.couplings = bodies, ties, couplings
        return other

    def driven_rows(self) -> list[int]:
        """Places of the rows of drives, in their order."""
        return [place.start for place in self.places[len(self.ties) - self.drives :]]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The groups of bodies that no loop leaves."""
        return loop_blocks(self.bodies, self.ties, self.couplings)

    @cached_property
    def sums(self) -> Sums:
        """Pairs of speeds of one group that are best taken together."""
        return tuple(pair for block in self.blocks for pair in sums_of_parallel_turns(self.bodies, block))

    def rows_of(self, block: Block) -> list[int]:
        """The places of a group's rows among all."""
        rows = [r for place in block.ties for r in range(self.places[place].start, self.places[place].stop)]
        return rows + [self.m - len(self.couplings) + place for place in block.couplings]

    def speeds_of_rows(self) -> list[tuple[int, ...]]:
        """For each row the speeds that it may take."""
        result: list[tuple[int, ...]] = []
        for one in self.ties:
            speeds = tuple(k for side in (one.first, one.second) for i in side.chain for k in self.bodies[i].speeds)
            result += [speeds] * len(one.rows)
        return result + [one.speeds for one in self.couplings]

    # ---- the text

    def gaps(self, q: Sequence[Scalar], tied: Sequence[Tied] | None = None) -> list[Scalar]:
        """The values of all rows, less the wanted ones; 0 where the loops are closed."""
        values = [x for one in (tied or self.ties_at(q)) for x in one.values()]
        if self.goal is not None:
            values = [x - float(wanted) for x, wanted in zip(values, self.goal)]
        for c in self.couplings:
            led = q[c.coordinate]
            for one in c.leaders:
                led = led - one.ratio * q[one.coordinate]
            values.append(led - c.offset)
        return values

    def ties_at(self, q: Sequence[Scalar]) -> list[Tied]:
        """The ties of the constraints at these coordinates."""
        return [Tied(self.bodies, one, q) for one in self.ties]

    def rates(
        self, q: Sequence[Scalar], qd: Sequence[Scalar] | None = None, tied: Sequence[Tied] | None = None
    ) -> tuple[list[dict[int, Scalar]], list[Scalar]]:
        """The rows of the Jacobian (speed → entry), and `J̇ q̇` if speeds are given."""
        J: list[dict[int, Scalar]] = []
        drift: list[Scalar] = []
        for one in tied or self.ties_at(q):
            columns = one.columns()
            J += one.jacobian(columns)
            if qd is not None:
                drift += one.drift(qd, columns)
        for c in self.couplings:
            J.append({c.speed: 1.0, **{one.speed: -one.ratio for one in c.leaders}})
            drift.append(0.0)
        return J, drift

    def damped(self, tied: Sequence[Tied], J: list[dict[int, Scalar]]) -> list[dict[int, Scalar]]:
        """The rows whose rates dampers in the constraints' places take; of drives, whose goals move, the Jacobian's."""
        rows = list(J)
        for place, one in zip(self.places[: len(tied) - self.drives], tied):
            rows[place] = one.damped(one.columns())
        return rows

    def _whole(
        self, q: Sequence[Scalar], qd: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[dict[int, Scalar]], list[Scalar]]:
        """The values of all rows, the rows of the Jacobian, and `J̇ q̇`."""
        tied = self.ties_at(q)
        return (self.gaps(q, tied), *self.rates(q, qd, tied))

    # ---- numbers

    def near(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gaps and the Jacobian at one position."""
        result = self.numbers(q)
        if result is None:
            return self.numbers.offer.plain(1, self.gap_jacobian, q)
        return result[0] if self.goal is None else result[0] - self.goal, result[1]

    def jacobian(self, q: np.ndarray, qd: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The Jacobian J and `J̇ q̇` of one state, or of many with samples first; without speeds, `J̇ q̇` is 0."""
        if q.ndim == 1 and (result := self.numbers(q, qd)) is not None:
            return result[1], result[2] if qd is not None else np.zeros(self.m)
        if q.ndim == 1:
            return self.numbers.offer.plain(1, self._jacobian, q, qd)
        return self._jacobian(q, qd)

    def _jacobian(self, q: np.ndarray, qd: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        s = Samples(self.robot, q=q) if qd is None else Samples(self.robot, q=q, qd=qd)
        rows, drift = self.rates(s.scalars("q"), s.scalars("qd") if qd is not None else None)
        return self.matrix(rows, s.shape), s.array(drift) if qd is not None else np.zeros((*s.shape, self.m))

    def matrix(self, rows: Sequence[dict[int, Scalar]], shape: tuple[int, ...] = ()) -> np.ndarray:
        """Rows of a Jacobian, speed → entry, as an array, with samples of this shape first."""
        J = np.zeros((*shape, len(rows), self.robot.nv))
        for r, row in enumerate(rows):
            for k, x in row.items():
                J[..., r, k] = as_samples(x)
        return J

    def gap(self, q: np.ndarray) -> np.ndarray:
        s = Samples(self.robot, q=q)
        return s.array(self.gaps(s.scalars("q")))

    def rate_and_size(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rates of all rows at many positions, and the largest share of a speed in each, both without units."""
        s = Samples(self.robot, q=q, qd=qd)
        speeds = [as_samples(x) for x in s.scalars("qd")]
        rates, sizes = np.zeros((*s.shape, self.m)), np.zeros((*s.shape, self.m))
        for r, row in enumerate(self.rates(s.scalars("q"))[0]):
            shares = [as_samples(x) * speeds[k] for k, x in row.items()]
            rates[..., r] = sum(shares)
            for one in shares:
                sizes[..., r] = np.maximum(sizes[..., r], abs(one))
        return abs(rates) * self.row_scale, sizes * self.row_scale + 1e-3

    def gap_jacobian(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gaps and the Jacobians at many positions."""
        s = Samples(self.robot, q=q)
        values = s.scalars("q")
        tied = self.ties_at(values)
        return s.array(self.gaps(values, tied)), self.matrix(self.rates(values, None, tied)[0], s.shape)

    def row_groups(self) -> list[list[int]]:
        """The rows on positions, then those on speeds alone, which count only as far as they say something new."""
        return [np.flatnonzero(~self.on_speeds).tolist(), np.flatnonzero(self.on_speeds).tolist()]

    def holding(self, J: np.ndarray) -> np.ndarray:
        """The Jacobian J with zeros in the rows on speeds alone: what the rows say of positions."""
        result: np.ndarray = np.where(self.on_speeds[:, None], 0.0, J) if self.on_speeds.any() else J
        return result

    def scaled(self, J: np.ndarray) -> np.ndarray:
        """The Jacobian with rows and columns scaled so that its entries have no units."""
        result: np.ndarray = J * self.row_scale[:, None] * self.column_scale
        return result

    def choice(self, J: np.ndarray, kept: Sequence[int]) -> tuple[list[int], list[int]]:
        """Independent rows, and as many dependent speeds, with those in `kept` only where the others don't suffice."""
        J = self.scaled(J)
        rows = sorted(independent_constraint_rows(J, self.row_groups()))
        others = [k for k in range(self.robot.nv) if k not in set(kept)]
        return rows, sorted(independent_constraint_rows(J[rows].T, [others, list(kept)]))

    def upright(self, tied: Sequence[Tied]) -> list[Scalar]:
        """The cosines of the remaining angles of loops whose rows are 0 with directions the wrong way round, too."""
        cosines = [upright_cosine_of_tie(loop.type, one) for loop, one in zip(self.robot.loops, tied)]
        return [x for x in cosines if x is not None]

    def open(self, q: np.ndarray) -> list[Gap]:
        """The gaps of all loops and couplings at one position."""
        values = q.tolist()
        result = []
        for loop, one in zip(self.robot.loops, self.ties_at(values)):
            lengths = [x for row, x in zip(one.rows, one.values()) if not KINDS[row.kind].turning]
            result.append(Gap(loop.name, math.hypot(*as_floats(lengths)), misalignment_of_tie(loop.type, one)[1]))
        for c, x in zip(self.couplings, as_floats(self.gaps(values)[self.m - len(self.couplings) :])):
            joint = next(j for j in self.robot.moving if c.coordinate in j.coordinates)
            turns = joint.type.turning[0]
            asks = coupling_in_words(self.robot, c, values)
            result.append(Gap(joint.name, 0.0 if turns else abs(x), abs(x) if turns else 0.0, asks))
        return result


def coupling_in_words(robot: Robot, c: Coupling, values: Sequence[float], *, speeds: bool = False) -> str:
    """Where a coupling's joints are, or how fast they move if the values are speeds, and what would fit."""

    def value(one: Coupling | Leader) -> float:
        return values[one.speed if speeds else one.coordinate]

    def shown(one: Coupling | Leader) -> tuple[str, str]:
        joint = next(joint for joint in robot.moving if one.speed in joint.speeds)
        unit = ("rad" if joint.type.turning[joint.speeds.index(one.speed)] else "m") + "/s" * speeds
        return f"`{joint.name}` at {value(one):.6g} {unit}", unit

    fitting = sum(one.ratio * value(one) for one in c.leaders) + (0.0 if speeds else c.offset)
    leaders = " and ".join(shown(one)[0] for one in c.leaders)
    follower, unit = shown(c)
    return f"{follower}; coupled to {leaders} it has to be at {fitting:.6g} {unit}"


def loop_closure(robot: Robot) -> Closure:
    """The robot's constraints, which are made once."""
    return robot.made_once("closure", lambda: Closure(robot))


def ties_of_mechanism(robot: Robot) -> tuple[Tie, ...]:
    """The ties of a robot's cuts, then of its Hooke joints."""
    hooked = [joint for joint in robot.moving if joint.hooke]
    return (*(_cut(robot, loop) for loop in robot.loops), *(_hooke(robot, joint) for joint in hooked))


def misalignment_of_tie(type_: CutType, tied: Tied) -> tuple[list[float], float]:
    """The remaining angle of each aligned row, which is right even far from closed, and the whole angle."""
    angle = misalignment_angles_of_ties(type_, np.array([[as_floats(axis) for axis in tied.place.s]]))
    return angle[0][0].tolist(), float(angle[1][0])


def misalignment_angles_of_ties(type_: CutType, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The angles of aligned rows and the whole angle, in many samples.

    The rows of each s are the second frame's axes in the first frame.
    """
    if type_.aligned == PARALLEL:
        axis = s[:, 2]
        across = np.hypot(axis[:, 0], axis[:, 1])
        angle = np.arctan2(across, axis[:, 2])
        return _along(axis[:, :2], across, angle, np.where(axis[:, 2] > 0, 0.0, math.pi)), angle
    if type_.aligned == LOCKED:
        # column j of the rotation is the second's axis j; row (X, Y) measures the turn about z, and so on
        skew = np.stack([s[:, j, k] - s[:, k, j] for j, k in ((0, 1), (1, 2), (2, 0))], axis=1)
        size = np.sqrt((skew * skew).sum(axis=1))
        angle = np.arctan2(size, s[:, 0, 0] + s[:, 1, 1] + s[:, 2, 2] - 1.0)
        return _along(skew, size, angle, np.where(angle < 1.0, 0.0, math.pi)), angle
    values = np.stack([s[:, j, k] for j, k in type_.aligned], axis=1) if type_.aligned else np.zeros((len(s), 0))
    return values, abs(np.arcsin(np.clip(values, -1.0, 1.0))).max(axis=1, initial=0.0)


def _along(direction: np.ndarray, size: np.ndarray, angle: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """The angles along directions of this size; along the first axis where there is no direction."""
    none = np.zeros_like(direction)
    none[:, 0] = otherwise
    some = size >= 1e-12
    turned: np.ndarray = np.where(some[:, None], direction / np.where(some, size, 1.0)[:, None] * angle[:, None], none)
    return turned


def upright_cosine_of_tie(type_: CutType, tied: Tied) -> Scalar | None:
    """The cosine of the remaining angle, where directions can lie the wrong way round although all rows are 0."""
    s = tied.place.s
    if type_.aligned == PARALLEL:
        return s[2][2]
    if type_.aligned == LOCKED:
        return 0.5 * (s[0][0] + s[1][1] + s[2][2] - 1.0)
    return None


def _cut(robot: Robot, loop: Loop) -> Tie:
    rows = [Row("slide", (k,)) for k in loop.type.slides] + [Row("aligned", pair) for pair in loop.type.aligned]
    rows += [Row(kind, axes, loop.radius) for kind, axes in loop.type.contacts]
    rows += [Row("aligned", (1, 0))] * loop.hooke
    return tie_between_links(robot.tree, loop.name, loop.between, (loop.first, loop.second), rows)


def _hooke(robot: Robot, joint: Joint) -> Tie:
    """The tie of a spherical joint whose link's y stays square to its parent's x, as in a universal joint."""
    link = robot.link(joint.link)
    return tie_between_links(
        robot.tree, joint.name, (link.parent, link.name), (link.before, Placement()), [Row("aligned", (1, 0))]
    )


def point_driving_tie(robot: Robot, name: str, links: tuple[str, str], frames: tuple[Placement, Placement]) -> Tie:
    """A tie with one row, the coordinate of the second frame's origin along the first's z."""
    return tie_between_links(robot.tree, name, links, frames, [Row("slide", (2,))])


def distance_driving_tie(robot: Robot, name: str, links: tuple[str, str], frames: tuple[Placement, Placement]) -> Tie:
    """A tie with one row, the distance between two points."""
    return tie_between_links(robot.tree, name, links, frames, [Row("distance")])


def reach_of_mechanism(bodies: Sequence[Body], ties: Sequence[Tie]) -> float | np.ndarray:
    """The mechanism's length: the largest distance of the origin of a body, or of a tie's frame, in its parent.

    The radius of what rolls is such a distance, too. Where numbers are arrays, it is an array.
    """
    places = [*(body.origin for body in bodies), *(side.origin for one in ties for side in (one.first, one.second))]
    length: float | np.ndarray = max((row.radius for one in ties for row in one.rows), default=0.0)
    for x, y, z in places:
        length = np.maximum(length, np.hypot(np.hypot(x, y), z))
    return length
