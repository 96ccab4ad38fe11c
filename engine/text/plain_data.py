"""Plain data of documents: made of a user's Python data, and kept from being changed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, NoReturn

from . import bounds
from .document import Document, Keys


def plain_yaml_data(document: Document, value: Any) -> Any:
    """A copy of a user's Python data as dicts, lists and scalars; tuples, NumPy arrays and paths are converted."""
    return _plain(document, value, (), [0])


def _text(document: Document, text: str, path: Keys) -> str:
    if not text.isascii() and (bad := bounds.SURROGATE.search(text)):
        raise document.error(path, "there is a character that no text has", found=f"U+{ord(bad[0]):04X}")
    return text


def _plain(document: Document, value: Any, path: Keys, count: list[int]) -> Any:
    """The copy of the part at `path`; `count` is the number of values so far."""
    count[0] += 1
    if count[0] > bounds.NODES:
        raise document.error(path, f"there are more than {bounds.NODES:,} values")
    if len(path) > bounds.DEPTH:
        raise document.error((), f"lists and mappings are nested deeper than {bounds.DEPTH} levels")
    if type(value) is float:  # what large data consist of, before all that is slower to tell
        return value
    if type(value) is list:
        return _list(document, value, path, count)
    if type(value) is dict:
        return _mapping(document, value, path, count)
    if hasattr(value, "tolist"):  # NumPy
        size = getattr(value, "size", 0)
        if isinstance(size, int) and count[0] + size > bounds.NODES:
            raise document.error(path, f"there are more than {bounds.NODES:,} values")
        value = value.tolist()
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return _text(document, str(value), path)
    if isinstance(value, Integral):
        if int(value).bit_length() > bounds.BITS:
            raise document.error(path, "the number is too large", found=f"{int(value).bit_length()} bits")
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return _mapping(document, value, path, count)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return _list(document, value, path, count)
    raise document.error(
        path,
        "a value of this type means nothing here",
        found=type(value).__name__,
        allowed="mappings, lists, text, numbers, true, false and None",
    )


def _mapping(document: Document, value: Mapping[Any, Any], path: Keys, count: list[int]) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise document.error(path, "a key must be text", found=f"a key of type {type(key).__name__}")
    texts = {key: _text(document, str(key), path) for key in value}
    return {text: _plain(document, value[key], (*path, text), count) for key, text in texts.items()}


def _list(document: Document, value: Sequence[Any], path: Keys, count: list[int]) -> list[Any]:
    if count[0] + len(value) > bounds.NODES:
        raise document.error(path, f"there are more than {bounds.NODES:,} values")
    if {*map(type, value)} == {float}:
        count[0] += len(value)
        return [*value]
    return [_plain(document, part, (*path, number), count) for number, part in enumerate(value)]


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
