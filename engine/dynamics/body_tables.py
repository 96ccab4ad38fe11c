"""A tree's tables for the texts of `body_texts.py`, and these texts as objects of machine code that serve all trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..machine.jit.kernel import Single
from ..machine.loops.compiled import LoopText
from ..machine.loops.translate import Fields, Integers, Rows
from ..robot.model import Body, Robot
from . import body_texts
from .body_texts import PAIRS
from .spatial import to_parent_axes
from .transfer import placement_of_body

PLACES = "places"  # the length of tables over all rows
NUMBERS = {"fixed": 12, "angles": 1, "lengths": 1, "turns": 1, "slides": 1, "body": 10, "rotor": 1}
ROOM = {"X": 2, "L": 12, "R": 12, "S": 6, "I": 10}
INTEGERS = (
    *("parent", "carrier", "runs", "low", "high", "angle_at", "length_at"),
    *("slid_rows", "slid_axes", "slid_at", "ball_rows", "ball_at", "follower_rows", "leaders", "order"),
)
LENGTHS = ("n", "nq", PLACES, "slid", "balls", "followers")

INERTIA = LoopText(
    "inertia",
    body_texts.inertia,
    LENGTHS,
    {"q": "nq"},
    ("M", "n"),
    {
        **{name: Integers() for name in INTEGERS},
        **{name: Fields(count) for name, count in {**NUMBERS, **ROOM}.items()},
        "F": Rows(PLACES, 6),
    },
)


class BodyTables:
    """The rows of a tree: one for each speed, in their order; `numbers` are arrays (count, rows), `integers` rows."""

    def __init__(self, bodies: Sequence[Body], nq: int):
        n = sum(len(body.speeds) for body in bodies)
        self.numbers = {name: np.zeros((count, n + 1)) for name, count in NUMBERS.items()}
        self._lists: dict[str, list[int]] = {name: [] for name in INTEGERS}
        last: list[int] = []  # the last row of each body
        for body in bodies:
            last.append(self._add(body, bodies, last, n))
        self._runs(n)
        lists = self._lists
        self.integers = {name: np.array([*values, 0], dtype=np.int64) for name, values in lists.items()}
        counts = (n, nq, 0, *(len(lists[name]) for name in ("slid_rows", "ball_rows", "follower_rows")))
        self.lengths = dict(zip(LENGTHS, counts))
        ground = np.zeros((ROOM["R"], n + 1))
        ground[:, n] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        self.room = {"R": ground}

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
        self._place(body, None if body.parent is None else bodies[body.parent], row, z)
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

    def _place(self, body: Body, parent: Body | None, row: int, z: int) -> None:
        """The body's place in its parent and its inertia, both in axes of which the third is that of its last row.

        The point that all motions are about is where a tree's root has its origin.
        """
        rotation, origin = placement_of_body(replace(body, moves=()), ())
        columns = np.array([to_parent_axes(rotation, [float(r == k) for r in range(3)]) for k in range(3)], dtype=float)
        own = [(z + 1) % 3, (z + 2) % 3, z]
        above = [0, 1, 2]
        if parent is not None:
            up = parent.directions[-1] % 3
            above = [(up + 1) % 3, (up + 2) % 3, up]
        place = np.zeros(3) if parent is None else np.array(origin, dtype=float)[above]
        self.numbers["fixed"][:, row] = [*columns[own][:, above].ravel(), *place]
        E, h = np.array(body.E)[np.ix_(own, own)], np.array(body.h)[own]
        self.numbers["body"][:, row] = [body.m, *h, *(E[pair] for pair in PAIRS)]

    def _runs(self, n: int) -> None:
        """What lies behind each row, and the row itself, as runs of rows that follow one another."""
        lists = self._lists
        behind: list[list[int]] = [[i] for i in range(n)]
        for i in reversed(range(n)):
            if lists["parent"][i] < n:
                behind[lists["parent"][i]] += behind[i]
        lists["runs"].append(0)
        for rows in behind:
            ordered = sorted(rows)
            ends = [k for k in range(1, len(ordered)) if ordered[k] != ordered[k - 1] + 1]
            lists["low"] += [ordered[k] for k in (0, *ends)]
            lists["high"] += [ordered[k - 1] + 1 for k in (*ends, len(ordered))]
            lists["runs"].append(len(lists["low"]))

    def bound(self, text: LoopText, shape: tuple[int, ...], only: bool) -> Single | None:
        """The object of a text with these tables; with `only`, None if it has to be compiled."""
        places = (self.lengths["n"] // 8 + 2) * 8
        tables = {**self.numbers, **self.integers, **self.room}
        return text.bound({**self.lengths, PLACES: places}, tables, shape, only)


LOOPS = {text.name: text for text in (INERTIA,)}  # by the names of the rows of the table of programs


def tree_tables(robot: Robot) -> BodyTables:
    """The tables of a robot's tree, which are made once."""
    return robot.made_once(BodyTables, lambda: BodyTables(robot.tree.bodies, robot.nq))
