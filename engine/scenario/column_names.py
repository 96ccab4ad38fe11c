"""The names of the columns that a run will have, known before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import did_you_mean
from ..simulate.systems import System
from ..text import yaml_flow_text
from . import tabulate
from .rows import Point, Rows
from .schema import RecordEntry


def foreseen_column_names(
    system: System, q0: Sequence[float], record: RecordEntry, points: Sequence[Point]
) -> list[str]:
    """The names of the columns, those of all drives included; an inverse task may find that it needs none of these."""
    robot, loops = system.robot, system.loops
    none = np.zeros((1, robot.nv))
    forces = None
    tied = robot.closed or loops.m > 0
    if tied:
        from ..mechanics.mechanisms import Forces

        given = np.zeros((1, len(robot.driven) + len(robot.actuators)))
        forces = Forces(given, np.zeros((1, loops.m)))
    rows = Rows(
        robot=robot,
        q=np.array([q0], dtype=float),
        qd=none,
        qdd=none,
        tau=none,
        balance=np.zeros(1),
        points=points,
        loops=loops,
        forces=forces,
        cuts={loop.name: np.zeros((1, 6)) for loop in robot.loops if tied},
        loads=lambda: None,
        known={"kinetic": np.zeros(1), "potential": np.zeros(1), "elastic": np.zeros(1)},
    )
    return [column.name for column, _ in tabulate.columns_of_families(rows, record.wants)]


def columns_by_record_keys(system: System, q0: Sequence[float], record: RecordEntry) -> dict[str, dict[str, Any]]:
    """The columns that a run hasn't as it is recorded, and which keys of `record` would make each of them."""
    points: list[Point] = [(link.name, name) for link in system.robot.links for name in link.points]
    off = [name for name, row in tabulate.FAMILIES.items() if row.default is not None and not record.wants(name)]
    made: dict[str, dict[str, Any]] = {}
    for family in ("", *off):
        keys = {family: True} if family else {}
        wider = record.model_copy(update=keys)
        for point in (None, *points):
            more = {"points": [".".join(point)]} if point is not None else {}
            for name in foreseen_column_names(system, q0, wider, [point] if point is not None else []):
                made.setdefault(name, {**keys, **more})
    return {name: keys for name, keys in made.items() if keys}


def hint_at_column(name: str, there: Sequence[str], others: Mapping[str, Mapping[str, Any]]) -> str:
    """What of `record` makes a column that isn't there (`columns_by_record_keys`), or which one is called alike."""
    if keys := others.get(name):
        return f"`record: {yaml_flow_text(keys)}` makes it"
    return did_you_mean(name, [*there, *others])
