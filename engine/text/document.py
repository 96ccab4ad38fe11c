"""Documents: plain data with the place of every key and value, so that each error can point at its line."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn, Unpack

from ..errors import InputError, Place, Words

Keys = tuple[str | int, ...]  # the path of a node, such as ("links", 0, "joint", "type")
Spot = tuple[int, int]  # line and column, from 1

# what a document may hold at most, so that no file takes all memory or ends in a recursion
DOCUMENT_BYTES = 16_000_000  # of text
DOCUMENT_DEPTH = 64  # lists and mappings within each other
DOCUMENT_NODES = 200_000  # keys and values; an alias counts as many as it stands for
INTEGER_BITS = 14_000  # of an integer: fewer than Python agrees to print

SURROGATE = re.compile("[\ud800-\udfff]")  # no character: half of one
BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # what YAML counts as the end of a line


@dataclass
class Document:
    """Data read from a file, from text or from a mapping, and where each part of it stands."""

    name: str
    text: str = ""
    data: Any = None
    options: dict[Keys, str] = field(default_factory=dict)  # values from the command line, by the option's name
    changed: dict[Keys, str] = field(default_factory=dict)  # keys with a new value (`change.py`), and its source
    keys: dict[Keys, Spot] = field(default_factory=dict)  # where each key of a mapping stands
    values: dict[Keys, Spot | Place] = field(default_factory=dict)  # where each value starts, if need be in other files
    warnings: tuple[str, ...] = ()  # of the reader, where the text is of another format and had to be changed

    @cached_property
    def lines(self) -> list[str]:
        return BREAK.split(self.text)

    def spot(self, line: int, column: int) -> Place:
        """A place given by its line and column, with the text of the line."""
        return Place(self.name, line, column, self.lines[line - 1] if line <= len(self.lines) else "")

    def place(self, path: Keys, key: bool = False) -> Place | None:
        """The place of a value or of its key; for a missing one, the place of its nearest known ancestor."""
        for length in range(len(path), -1, -1):
            known = tuple(path[:length])
            if spot := (self.keys.get(known) if key else None) or self.values.get(known):
                return spot if isinstance(spot, Place) else self.spot(*spot)
        return None

    def error(self, path: Keys, message: str, *, key: bool = False, **words: Unpack[Words]) -> InputError:
        """The error for a value, or for its key, with its place."""
        whole = next((label for at, label in self.changed.items() if path[: len(at)] == at), "")
        if option := whole or self.options.get(path):
            return InputError(message, key=option, **words)
        place = self.place(path, key) or (Place(self.name) if self.name else None)
        parts = [label for at, label in self.changed.items() if path and at[: len(path)] == path]
        # a mapping that a change has replaced only in part still has its place in the file
        known = place if path in self.values or not parts else None
        beside = [label for at, label in self.changed.items() if len(path) > 1 and at[:-1] == path[:-1]]
        if beside and not words.get("hint"):
            words["hint"] = f"beside it stands `{beside[0]}`"
        return InputError(message, place=known, key=", ".join(parts) or dotted_path(path), **words)


def dotted_path(path: Keys) -> str:
    """A path as users write it, such as `links[0].joint.type`, cut short where a key is very long."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step[:100]}" for step in path).removeprefix(".")
    return text if len(text) <= 160 else text[:80] + "…"


def yaml_value_in_words(value: Any) -> str:
    """A value as error messages show it, in a few words."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, dict):
        keys = ", ".join(map(str, list(value)[:6]))[:80]
        return f"a mapping with {keys}" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)} value{'s' * (len(value) > 1)}" if value else "an empty list"
    text = f"`{value}`" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else _digits(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _digits(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a number with thousands of digits"


# ---- data from which something has been made


def _refuse(data: Any, *_: Any, **__: Any) -> NoReturn:
    raise TypeError("what a robot was made of can't be changed; change a `copy.deepcopy` of it, and load that")


class FixedMapping(dict[str, Any]):
    """A mapping that stays as it is; a deep copy is one that can be changed."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return FixedMapping, (dict(self),)

    def __deepcopy__(self, memo: Any) -> dict[str, Any]:
        return {key: deepcopy(value, memo) for key, value in self.items()}


class FixedList(list[Any]):
    """A list that stays as it is; a deep copy is one that can be changed."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = _refuse
    insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return FixedList, ([*self],)

    def __deepcopy__(self, memo: Any) -> list[Any]:
        return [deepcopy(value, memo) for value in self]


def fixed_data(value: Any) -> Any:
    """A copy of plain data that nobody can change."""
    if isinstance(value, dict):
        return FixedMapping({key: fixed_data(one) for key, one in value.items()})
    return FixedList([fixed_data(one) for one in value]) if isinstance(value, list) else value
