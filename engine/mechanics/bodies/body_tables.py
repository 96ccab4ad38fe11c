"""A tree's tables for the texts of `body_texts.py`, and these texts as objects of machine code that serve all trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...machine.jit import ENORMOUS, Single
from ...machine.loops import Eights, Fields, Integers, LoopText, Rows, TextTable
from ...robot import Body, Robot
from ..numbers.inertial import INERTIAL
from ..numbers.regressor import names_of_regressor_numbers, regressor_speeds
from ..tree.spatial import to_parent_axes
from ..tree.transfer import placement_of_body
from ..tree.vanishing import least_joint_pivots
from . import body_texts
from .body_steps import PAIRS

PLACES = "places"  # the length of tables over all rows
NEARBY = 8  # bodies that have one point for their articulated inertias; about the root's, a chain of 300 loses 3 digits
LENGTHS = ("n", "nq", PLACES, "slid", "balls", "followers")
NUMBERS = {"fixed": 12, "angles": 1, "lengths": 1, "turns": 1, "slides": 1, "body": 10, "rotor": 1}
INTEGERS = (
    *("parent", "carrier", "runs", "low", "high", "angle_at", "length_at"),
    *("slid_rows", "slid_axes", "slid_at", "ball_rows", "ball_at", "follower_rows", "leaders", "order"),
)
OF_LINKS = ("link_rows", "link_runs", "link_low", "link_high", "drive_columns", "spring_at")
OF_DRIVES = ("before", "first", "last", "top", "meets", "anchor", "spring_at")
DRIVES = {"viscous": 1, "coulomb": 1, "stiffness": 1, "rests": 1, "least": 1}
ROOM = {
    "X": 2,
    "L": 12,
    "R": 12,
    "S": 6,
    "I": 10,
    "m": 6,
    "v": 6,
    "e": 6,
    "a": 6,
    "T": 24,
    "B": 42,
    "up": 12,
    "C": 18,
    "force": 1,
    "o": 3,
    "r": 3,
    "Q": 6,
    "A": 21,
    "f": 6,
    "own": 7,
    "loss": 1,
    "u": 1,
    "x": 6,
    "E": 3,
}
LONG = {"still": 1, "F": 6, "G": 6, "H": 6, "W": 3, "psi": 3, "psi2": 6, "rate": 6}  # loops across begin anywhere


def _tables(room: str, integers: Sequence[str] = (), **more: TextTable) -> dict[str, TextTable]:
    """The tables that all texts have, and those of one of them."""
    made: dict[str, TextTable] = {name: Integers() for name in (*INTEGERS, *integers)}
    made |= {name: Fields(count) for name, count in NUMBERS.items()}
    for name in ("X", "L", "R", "S", *room.split()):
        made[name] = Rows(PLACES, LONG[name]) if name in LONG else Fields(ROOM[name])
    return made | more


_FRICTION: dict[str, TextTable] = {name: Fields(count) for name, count in DRIVES.items()}
INERTIA = LoopText("inertia", body_texts.inertia, LENGTHS, {"q": "nq"}, ("M", "n"), _tables("I F"))
REGRESSOR = LoopText(
    "regressor",
    body_texts.regressor,
    (*LENGTHS, "links", "columns", "width"),
    {"q": "nq", "qd": "n", "qdd": "n"},
    ("Y", "width"),
    _tables("m v e a T B", OF_LINKS, link_frames=Fields(12), Z=Rows("columns", 6)),
)
DERIVATIVES = LoopText(
    "fdyn-derivatives",
    body_texts.derivatives,
    LENGTHS,
    {"q": "nq", "qd": "n", "tau": "n"},
    ("D", "n"),
    _tables(
        "I m v e a still force o r Q A f own loss u x up C F G H W E psi psi2 rate",
        OF_DRIVES,
        P=Eights(36),
        **_FRICTION,
    ),
    watched=("loss", "n"),
)
INVERSE = LoopText(
    "idyn",
    body_texts.inverse,
    LENGTHS,
    {"q": "nq", "qd": "n", "qdd": "n"},
    ("tau", "n"),
    _tables("m v e a still force f", ("spring_at",), **_FRICTION),
)
FORWARD = LoopText(
    "fdyn",
    body_texts.forward,
    LENGTHS,
    {"q": "nq", "qd": "n", "tau": "n"},
    ("qdd", "n"),
    _tables("m v e a still force o r Q A f own loss u x", ("anchor", "spring_at"), **_FRICTION),
    watched=("loss", "n"),
)
LOOPS = {text.name: text for text in (INERTIA, REGRESSOR, DERIVATIVES, INVERSE, FORWARD)}  # as programs


class BodyTables:
    """The rows of a tree: one for each speed, in their order; `numbers` are arrays (count, rows), `integers` rows."""

    def __init__(self, robot: Robot):
        bodies, n = robot.tree.bodies, robot.nv
        self._robot = robot
        self.numbers = {name: np.zeros((count, n + 1)) for name, count in NUMBERS.items()}
        self._lists: dict[str, list[int]] = {name: [] for name in INTEGERS}
        self._last: list[int] = []  # the last row of each body
        for body in bodies:
            self._last.append(self._add(body))
        lists = self._lists
        lists["runs"], lists["low"], lists["high"] = _runs(self._behind)
        counts = (len(lists[name]) for name in ("slid_rows", "ball_rows", "follower_rows"))
        self.lengths = dict(zip(LENGTHS, (n, robot.nq, _room_for(max(n, len(robot.links))), *counts)))
        self.integers = {name: _integers(values) for name, values in lists.items()}
        self.room = {name: np.zeros((ROOM[name], n + 1)) for name in ("R", "a")}
        self.room["R"][:, n] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        self.room["a"][3:, n] = [-float(x) for x in robot.gravity]

    def _add(self, body: Body) -> int:
        """Adds the rows of a body, and returns the last of them."""
        lists, first, root = self._lists, len(self._lists["parent"]), body.parent is None
        n = self._robot.nv
        carrier = n if body.parent is None else self._last[body.parent]
        row = first + len(body.directions) - 1
        z = body.directions[-1] % 3
        lists["parent"] += [carrier, *range(first, row)]
        lists["carrier"] += [*[n] * (row - first), carrier]
        for i, d in enumerate(body.directions, start=first):
            self.numbers["turns"][0, i] = d < 3
            self.numbers["slides"][0, i] = body.pitch if d < 3 else 1.0
            self.numbers["rotor"][0, i] = body.drives[i - first].rotor
            if i < row:
                lists["follower_rows"].append(i)
                lists["leaders"].append(row)
                lists["order"].append((d - z) % 3)
        self._place(body, row)
        at = {"angles": 0, "lengths": 0}
        for what, axis, k in body.moves:
            c = body.coordinates[k]
            if what in ("turn", "screw"):
                at["angles"], self.numbers["angles"][0, row] = c, 1.0
            if what == "screw" or (what == "slide" and axis == z):
                at["lengths"], self.numbers["lengths"][0, row] = c, body.pitch if what == "screw" else 1.0
            elif what == "slide" or (what == "place" and not root):
                for r in range(3) if what == "place" else [axis]:
                    lists["slid_rows"].append(row)
                    lists["slid_axes"].append((r - z - 1) % 3)
                    lists["slid_at"].append(c + r if what == "place" else c)
            elif what == "orient":
                lists["ball_rows"].append(row)
                lists["ball_at"].append(c)
        lists["angle_at"] += [*[0] * (row - first), at["angles"]]
        lists["length_at"] += [*[0] * (row - first), at["lengths"]]
        return row

    def _place(self, body: Body, row: int) -> None:
        """The body's place in its parent and its inertia, both in axes of which the third is that of its last row.

        The point that all motions are about is where a tree's root has its origin.
        """
        parent = None if body.parent is None else self._robot.tree.bodies[body.parent]
        rotation, origin = placement_of_body(replace(body, moves=()), ())
        columns = np.array([to_parent_axes(rotation, [float(r == k) for r in range(3)]) for k in range(3)], dtype=float)
        own, above = _axes_of_row(body), [0, 1, 2] if parent is None else _axes_of_row(parent)
        place = np.zeros(3) if parent is None else np.array(origin, dtype=float)[above]
        self.numbers["fixed"][:, row] = [*columns[own][:, above].ravel(), *place]
        E, h = np.array(body.E)[np.ix_(own, own)], np.array(body.h)[own]
        self.numbers["body"][:, row] = [body.m, *h, *(E[pair] for pair in PAIRS)]

    @cached_property
    def _behind(self) -> list[list[int]]:
        """What lies behind each row, and the row itself."""
        n = self._robot.nv
        behind: list[list[int]] = [[i] for i in range(n)]
        for i in reversed(range(n)):
            if (parent := self._lists["parent"][i]) < n:
                behind[parent] += behind[i]
        return behind

    @cached_property
    def _springs(self) -> np.ndarray:
        """The coordinate that each row's spring measures, or −1."""
        drives = [drive for body in self._robot.tree.bodies for drive in body.drives]
        return _integers([drive.coordinate if drive.stiffness else -1 for drive in drives])

    @cached_property
    def _of_links(self) -> dict[str, np.ndarray]:
        """The links' frames in the axes of their rows, which links lie behind a row, and the drives' columns."""
        robot, n, bodies = self._robot, self._robot.nv, self._robot.tree.bodies
        frames, rows = np.zeros((12, len(robot.links))), list[int]()
        for k, link in enumerate(robot.links):
            i, seat = robot.tree.seats[link.name]
            axes = [0, 1, 2] if i is None else _axes_of_row(bodies[i])
            rows.append(n if i is None else self._last[i])
            frames[:, k] = [*seat.rotation()[axes].T.ravel(), *np.array(seat.origin)[axes]]
        carried = {row: [k for k, one in enumerate(rows) if one == row] for row in {*rows}}
        runs, low, high = _runs([[k for row in behind for k in carried.get(row, ())] for behind in self._behind])
        column, columns = INERTIAL * len(robot.links), [0] * n
        for _, k, drive in regressor_speeds(robot):
            columns[k] = column
            column += len(names_of_regressor_numbers(drive))
        self.lengths |= {"links": len(robot.links), "width": column, "columns": _room_for(INERTIAL * len(robot.links))}
        lists = dict(zip(OF_LINKS, (rows, runs, low, high, columns)))
        return {"link_frames": frames, "spring_at": self._springs, **{key: _integers(x) for key, x in lists.items()}}

    @cached_property
    def _of_drives(self) -> dict[str, np.ndarray]:
        """Friction, dampers and springs of the rows, and what a solution by the articulated bodies goes along."""
        robot, n, parent = self._robot, self._robot.nv, self._lists["parent"]
        lists: dict[str, list[int]] = {name: [] for name in OF_DRIVES if name != "spring_at"}
        depth = list[int]()
        for body, row in zip(robot.tree.bodies, self._last):
            count, carrier = len(body.directions), parent[row - len(body.directions) + 1]
            depth.append(0 if body.parent is None else depth[body.parent] + 1)
            lists["before"] += [carrier] * count
            lists["first"] += [row - count + 1] * count
            lists["last"] += [row + 1] * count
            lists["anchor"] += [int(depth[-1] % NEARBY == 0), *[0] * (count - 1)]
        lists["meets"] = [0] * (n + 1)
        for i in range(n):
            follows = parent[i] == i - 1
            lists["top"].append(lists["top"][i - 1] if follows else i)
            if not follows:
                lists["meets"][parent[i]] = 1
        drives = [drive for body in robot.tree.bodies for drive in body.drives]
        numbers = {
            "viscous": [drive.viscous for drive in drives],
            "coulomb": [drive.coulomb for drive in drives],
            "stiffness": [drive.stiffness for drive in drives],
            "rests": [drive.rest for drive in drives],
            "least": [ENORMOUS * x for x in least_joint_pivots(robot, (False,) * n)],
        }
        made = {name: np.array([[*values, 0.0]]) for name, values in numbers.items()}
        return {**made, "spring_at": self._springs, **{key: _integers(x) for key, x in lists.items()}}

    def bound(self, text: LoopText, shape: tuple[int, ...], only: bool) -> Single | None:
        """The object of a text with these tables; with `only`, None if it has to be compiled."""
        return text.bound(*self.of(text), shape, only)

    def of(self, text: LoopText) -> tuple[dict[str, int], dict[str, np.ndarray]]:
        """The lengths and the tables of a text; what else it has is room."""
        own = self._of_links if text is REGRESSOR else {} if text is INERTIA else self._of_drives
        return self.lengths, {**self.numbers, **self.integers, **self.room, **own}


def _integers(values: Sequence[int]) -> np.ndarray:
    """Integers with one more behind them, where a loop looks that ends there."""
    return np.array([*values, 0], dtype=np.int64)


def _room_for(count: int) -> int:
    """The length of a table of so many, one more for the base, and what loops across touch beyond."""
    return (count // 8 + 2) * 8


def _axes_of_row(body: Body) -> list[int]:
    """Which of a body's axes are the three of its last row, whose third is that row's direction."""
    z = body.directions[-1] % 3
    return [(z + 1) % 3, (z + 2) % 3, z]


def _runs(members: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[int]]:
    """Of each list of numbers the runs of numbers that follow one another: where its runs begin, their ends."""
    begins, low, high = [0], list[int](), list[int]()
    for one in members:
        ordered = sorted(one)
        cuts = [k for k in range(1, len(ordered)) if ordered[k] != ordered[k - 1] + 1]
        low += [ordered[k] for k in (0, *cuts) if ordered]
        high += [ordered[k - 1] + 1 for k in (*cuts, len(ordered)) if ordered]
        begins.append(len(low))
    return begins, low, high


def tree_tables(robot: Robot) -> BodyTables:
    """The tables of a robot's tree, which are made once."""
    return robot.made_once(BodyTables, lambda: BodyTables(robot))
