"""Doors of rooms: the names that a room hands on to the others, each imported where it is first asked for.

A room is a folder, and its door is its `__init__`: a docstring that is a map of the room, and the names once, as
imports that readers and type checkers follow:

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from .model import Link, Robot
    else:
        __getattr__ = door(__name__)

Modules of other rooms import from the door alone, those of the same room from each other.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as `typing` has it, whose import takes longer than all else here
if TYPE_CHECKING:
    from collections.abc import Callable

HANDED_ON = r"(?m)^    from (\.\S+) import (?:\(([^)]+)\)|(.+))$"


def names_of_door(room: str) -> dict[str, str]:
    """The names that a room hands on, each with the module that has it (`.model`), as the door's source lists them."""
    import re

    loader = sys.modules[room].__spec__.loader  # type: ignore[union-attr]
    source: str = loader.get_source(room)  # type: ignore[union-attr]
    found = re.findall(HANDED_ON, source.partition("\nif TYPE_CHECKING:\n")[2])
    return {name.strip(): home for home, many, one in found for name in (many or one).split(",") if name.strip()}


def door(room: str) -> Callable[[str], object]:
    """The `__getattr__` of a room: it finds a name's home and imports it."""
    homes: dict[str, str] = {}

    def handed_on(name: str) -> object:
        if not homes:
            homes.update(names_of_door(room))
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(homes[name], room), name)

    return handed_on
