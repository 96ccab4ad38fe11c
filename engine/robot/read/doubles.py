"""Cuts with a coordinate of their own: with an actuator, friction, a spring, limits, or an initial value.

Such a joint stays in the tree.  It moves a double of the cut's second link, without mass and with that link's frame,
and what is cut is that the double and the link are one: a fixed cut between them, at the place of the joint.  So the
joint's motion and forces are those of any other joint, and the wrench in the cut is that in the joint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...text import Keys
from ..cuts import CUTS
from ..joints import TYPES
from .joint_schema import MARK
from .schema import GRAPH, OwnCoordinate

Where = Callable[[Keys], Keys]
OWN = tuple(OwnCoordinate.keys())
CAN = tuple(name for name in CUTS if name in TYPES and TYPES[name].nv)  # types whose cuts can have a coordinate


def double_of_cut_link(link: str, cut: str) -> str:
    """The name of a link's double at a cut."""
    return f"{link}@{cut}"


def robot_data_with_doubles(
    data: Any, where: Where, placed: Callable[[str, dict[str, Any], Keys], dict[str, Any]]
) -> tuple[Any, Where]:
    """The data with doubles among its links, and a function from its paths to the file's.

    `placed` gives a frame on a link coordinates in the place of a point's name.  What isn't as it should be is left for
    the checks of the file.
    """
    links, loops = (data.get(key) if isinstance(data, dict) else None for key in ("links", "loops"))
    if not (isinstance(links, list) and isinstance(loops, list)):
        return data, where
    links, loops = list(links), list(loops)
    own: dict[int, int] = {}
    for k, entry in enumerate(loops):
        if not cut_entry_is_doubled(entry):
            continue
        name = entry.get("name") or f"loop{k + 1}"
        first, second = entry["between"]
        sides = {
            key: placed(link, entry[key], ("loops", k, key)) if isinstance(entry.get(key), dict) else entry.get(key, {})
            for key, link in (("first", first), ("second", second))
        }
        moved = {key: entry[key] for key in (*OWN, "spin") if key in entry}
        joint = {**moved, "name": name, "type": entry["joint"], **sides, MARK: GRAPH}
        double = double_of_cut_link(second, name)
        own[len(links)] = k
        empty = {"mass": 0, "com": [0, 0, 0]}
        links.append({"name": double, "parent": first, "convention": "frames", "joint": joint, **empty})
        rest = {key: value for key, value in entry.items() if key not in (*joint, "joint", "between")}
        tie = {"name": name, "joint": "fixed", "between": [double, second], "first": sides["second"]}
        loops[k] = {**rest, **tie, "second": sides["second"]}

    def to_file(path: Keys) -> Keys:
        if len(path) > 1 and path[0] == "links" and path[1] in own:
            loop, inner = own[int(path[1])], path[2:]
            return where(("loops", loop, *(inner[1:] if inner[:1] == ("joint",) else ())))
        return where(path)

    return ({**data, "links": links, "loops": loops}, to_file) if own else (data, where)


def cut_entry_is_doubled(entry: Any) -> bool:
    """Whether an entry of `loops` is a cut with a coordinate of its own, as far as can be said before it is checked."""
    if not isinstance(entry, dict) or entry.get("joint") not in CAN:
        return False
    between = entry.get("between")
    if not (isinstance(between, list) and len(between) == 2 and all(isinstance(name, str) for name in between)):
        return False
    said = [entry[key] for key in OWN if key in entry]  # so that the joint needs its coordinate
    return between[0] != between[1] and any(value is not None and value is not False for value in said)
