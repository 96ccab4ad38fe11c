"""A tree's tables for the texts of `body_texts.py`, and these texts as objects of machine code that serve all trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..machine.jit.kernel import Single
from ..machine.loops.compiled import LoopText
from ..machine.loops.translate import Fields, Integers, Rows, Table
from ..robot.model import Body, Robot
from . import body_texts
from .body_texts import PAIRS
from .inertial import INERTIAL
from .regressor import names_of_regressor_numbers, regressor_speeds
from .spatial import to_parent_axes
from .transfer import placement_of_body

PLACES = "places"  # the length of tables over all rows
NUMBERS = {"fixed": 12, "angles": 1, "lengths": 1, "turns": 1, "slides": 1, "body": 10, "rotor": 1}
ROOM = {"X": 2, "L": 12, "R": 12, "S": 6, "I": 10, "m": 6, "v": 6, "e": 6, "a": 6, "T": 24, "B": 42}
INTEGERS = (
    *("parent", "carrier", "runs", "low", "high", "angle_at", "length_at"),
    *("slid_rows", "slid_axes", "slid_at", "ball_rows", "ball_at", "follower_rows", "leaders", "order"),
)
OF_LINKS = ("link_rows", "link_runs", "link_low", "link_high", "drive_columns", "spring_at")
LENGTHS = ("n", "nq", PLACES, "slid", "balls", "followers")


def _tables(fields: Sequence[str], integers: Sequence[str] = (), **more: Fields | Rows) -> dict[str, Table]:
    """Those that all texts have, and what is theirs."""
    own = ("X", "L", "R", "S", *fields)
    numbers: dict[str, Table] = {name: Fields(count) for name, count in NUMBERS.items()}
    kept: dict[str, Table] = {name: Fields(ROOM[name]) for name in own}
    return {**{name: Integers() for name in (*INTEGERS, *integers)}, **numbers, **kept, **more}


INERTIA = LoopText("inertia", body_texts.inertia, LENGTHS, {"q": "nq"}, ("M", "n"), _tables("I", F=Rows(PLACES, 6)))
REGRESSOR = LoopText(
    "regressor",
    body_texts.regressor,
    (*LENGTHS, "links", "columns", "width"),
    {"q": "nq", "qd": "n", "qdd": "n"},
    ("Y", "width"),
    _tables("mveaTB", OF_LINKS, link_frames=Fields(12), Z=Rows("columns", 6)),
)
LOOPS = {text.name: text for text in (INERTIA, REGRESSOR)}  # by the names of the rows of the table of programs


class BodyTables:
    """The rows of a tree: one for each speed, in their order; `numbers` are arrays (count, rows), `integers` rows."""

    def __init__(self, robot: Robot):
        bodies, n = robot.tree.bodies, robot.nv
        self.numbers = {name: np.zeros((count, n + 1)) for name, count in NUMBERS.items()}
        self._lists: dict[str, list[int]] = {name: [] for name in INTEGERS}
        last: list[int] = []  # the last row of each body
        for body in bodies:
            last.append(self._add(body, bodies, last, n))
        lists, behind = self._lists, self._rows_behind(n)
        lists["runs"], lists["low"], lists["high"] = _runs(behind)
        counts = (len(lists[name]) for name in ("slid_rows", "ball_rows", "follower_rows"))
        self.lengths = dict(zip(LENGTHS, (n, robot.nq, _room_for(max(n, len(robot.links))), *counts)))
        self._add_links(robot, last, behind)
        self.integers = {name: np.array([*values, 0], dtype=np.int64) for name, values in lists.items()}
        self.room = {name: np.zeros((ROOM[name], n + 1)) for name in ("R", "a")}
        self.room["R"][:, n] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        self.room["a"][3:, n] = [-float(x) for x in robot.gravity]

    def _add(self, body: Body, bodies: Sequence[Body], last: Sequence[int], n: int) -> int:
        """Adds the rows of a body, and returns the last of them."""
        lists, first, root = self._lists, len(self._lists["parent"]), body.parent is None
        carrier = n if body.parent is None else last[body.parent]
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
        self._place(body, None if body.parent is None else bodies[body.parent], row)
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

    def _place(self, body: Body, parent: Body | None, row: int) -> None:
        """The body's place in its parent and its inertia, both in axes of which the third is that of its last row.

        The point that all motions are about is where a tree's root has its origin.
        """
        rotation, origin = placement_of_body(replace(body, moves=()), ())
        columns = np.array([to_parent_axes(rotation, [float(r == k) for r in range(3)]) for k in range(3)], dtype=float)
        own, above = _axes_of_row(body), [0, 1, 2] if parent is None else _axes_of_row(parent)
        place = np.zeros(3) if parent is None else np.array(origin, dtype=float)[above]
        self.numbers["fixed"][:, row] = [*columns[own][:, above].ravel(), *place]
        E, h = np.array(body.E)[np.ix_(own, own)], np.array(body.h)[own]
        self.numbers["body"][:, row] = [body.m, *h, *(E[pair] for pair in PAIRS)]

    def _add_links(self, robot: Robot, last: Sequence[int], behind: Sequence[Sequence[int]]) -> None:
        """The links' frames in the axes of their rows, which links lie behind a row, and the drives' columns."""
        lists, n, bodies = self._lists, robot.nv, robot.tree.bodies
        frames, on_row = np.zeros((12, len(robot.links))), list[int]()
        for k, link in enumerate(robot.links):
            i, seat = robot.tree.seats[link.name]
            axes = [0, 1, 2] if i is None else _axes_of_row(bodies[i])
            on_row.append(n if i is None else last[i])
            frames[:, k] = [*seat.rotation()[axes].T.ravel(), *np.array(seat.origin)[axes]]
        self.numbers["link_frames"] = frames
        carried = {row: [k for k, one in enumerate(on_row) if one == row] for row in {*on_row}}
        links = [[k for row in rows for k in carried.get(row, ())] for rows in behind]
        lists["link_rows"] = on_row
        lists["link_runs"], lists["link_low"], lists["link_high"] = _runs(links)
        column, columns, springs = INERTIAL * len(robot.links), [0] * n, [-1] * n
        for _, k, drive in regressor_speeds(robot):
            columns[k], springs[k] = column, drive.coordinate if drive.stiffness else -1
            column += len(names_of_regressor_numbers(drive))
        lists["drive_columns"], lists["spring_at"] = columns, springs
        self.lengths |= {"links": len(robot.links), "width": column, "columns": _room_for(INERTIAL * len(robot.links))}

    def _rows_behind(self, n: int) -> list[list[int]]:
        """What lies behind each row, and the row itself."""
        behind: list[list[int]] = [[i] for i in range(n)]
        for i in reversed(range(n)):
            if (parent := self._lists["parent"][i]) < n:
                behind[parent] += behind[i]
        return behind

    def bound(self, text: LoopText, shape: tuple[int, ...], only: bool) -> Single | None:
        """The object of a text with these tables; with `only`, None if it has to be compiled."""
        return text.bound(self.lengths, {**self.numbers, **self.integers, **self.room}, shape, only)


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
