"""Columns of wrenches in joints and cuts, of their sizes, and of all that the ground does to a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..mechanics.tree import wrenches_on_link
from ..record import WRENCH, Column
from ..robot import ZERO
from .rows import BASE, Rows

_FORCES_FIRST = (3, 4, 5, 0, 1, 2)  # of [n; f], the order of wrenches in the CSV file
_SIZES = ("f", "n")
CUT, REACTION, RESULTANT = "lambda", "reaction", "resultant"


def cut_column_values(rows: Rows, name: str) -> np.ndarray:
    """The wrench of a cut's first link on the second, force first."""
    second = next(loop.between[1] for loop in rows.robot.loops if loop.name == name)
    return _shown(rows, rows.cuts[name], second)


def joints_with_columns(rows: Rows) -> Iterable[str]:
    """The names of all joints, fixed ones included."""
    return [link.joint.name for link in rows.robot.links]


def reaction_column_values(rows: Rows, name: str) -> np.ndarray:
    """The wrench of a joint's parent on its link, force first."""
    link = next(link.name for link in rows.robot.links if link.joint.name == name)
    return _shown(rows, rows.reactions[name], link)


def owners_of_resultant_columns(rows: Rows) -> list[tuple[str, str]]:
    """What has a resultant: each joint's reaction, each cut, and the ground; with the suffix of its columns."""
    return [
        *((name, REACTION) for name in joints_with_columns(rows)),
        *((name, CUT) for name in rows.cuts),
        (BASE, RESULTANT),
    ]


def resultant_columns(rows: Rows, owner: tuple[str, str]) -> list[Column]:
    """The sizes of force and moment; of the ground all six components."""
    name, suffix = owner
    if name == BASE:
        return columns_of_wrench(suffix, rows, name, RESULTANT)
    units = ("N", "N m")
    return [
        Column(f"{name}.{suffix}.{size}", unit, RESULTANT, name, f"{name} {size}") for size, unit in zip(_SIZES, units)
    ]


def resultant_column_values(rows: Rows, owner: tuple[str, str]) -> np.ndarray:
    """The values of these columns."""
    name, suffix = owner
    if name == BASE:
        return rows.from_ground[:, _FORCES_FIRST]
    six = rows.cuts[name] if suffix == CUT else rows.reactions[name]
    return np.stack([np.linalg.norm(six[:, 3:], axis=1), np.linalg.norm(six[:, :3], axis=1)], axis=1)


def columns_of_wrench(suffix: str, rows: Rows, owner: str, family: str = "reaction") -> list[Column]:
    """The six columns of a wrench in a cut or a joint, force first."""
    components = [WRENCH[k] for k in _FORCES_FIRST]
    units = ["N" if component[0] == "f" else "N m" for component in components]
    return [
        Column(f"{owner}.{suffix}.{component}", unit, family, owner, f"{owner} {component}")
        for component, unit in zip(components, units)
    ]


def _shown(rows: Rows, six: np.ndarray, link: str) -> np.ndarray:
    """A wrench, force first, in base axes or in those of the link on which it acts."""
    if rows.turned and link != BASE:
        six = wrenches_on_link(six, ZERO, rows.frames[link][:, :3, :3])
    shown: np.ndarray = six[:, _FORCES_FIRST]
    return shown


def resultant_size_columns(components: Sequence[str]) -> list[str]:
    """The columns of sizes that depend on these components, such as `A.reaction.f` on `A.reaction.fx`."""
    return list(dict.fromkeys(name[:-1] for name in components))
