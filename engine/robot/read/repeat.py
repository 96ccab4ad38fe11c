"""The expansion of `repeat:` in a robot file, an entry of `links` that stands for many, numbered by `{k}`.

The loops and couplings among the copies are repeated with them, and so are guesses of positions in which they close.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...text import Document, Keys, yaml_value_in_words

MOST_LINKS = 5000
LISTS = ("loops", "couplings")  # what may be repeated beside links
GUESSES = "assembly"
_COUNTER = re.compile(r"\{k(?:([+-])(\d{1,4}))?\}")


def expanded_robot_repetitions(document: Document) -> tuple[Any, Callable[[Keys], Keys]]:
    """The document's data with all repetitions expanded, and a function from its paths to the file's."""
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get("links"), list):
        return data, lambda path: path
    copies = _Copies(data)
    for at, entry in enumerate(data["links"]):
        if not (isinstance(entry, dict) and "repeat" in entry):
            copies.add("links", entry, ("links", at))
            continue
        times = _repetitions(document, entry, ("links", at))
        for k in range(1, times + 1):
            copies.add_all(entry, ("links", at), k)
        count = len(copies.lists["links"])
        if count > MOST_LINKS:
            raise document.error(
                ("links", at, "repeat"), f"more than {MOST_LINKS} links", found=str(count), hint="repeat less often"
            )
    return copies.data(data), copies.where


class _Copies:
    """The lists and mappings of a file into which repeated entries go, with the path of each in the file.

    What the file itself lists comes first, and its own guesses for `assembly` count more than repeated ones.
    """

    def __init__(self, data: dict[str, Any]):
        self.lists: dict[str, list[Any]] = {"links": []}
        self._origin: dict[str, list[Keys]] = {"links": []}
        for key in LISTS:
            own = data.get(key, [])
            if isinstance(own, list):  # anything else is refused by the check of the whole
                self.lists[key], self._origin[key] = list(own), [(key, at) for at in range(len(own))]
        own = data.get(GUESSES, {})
        self.guesses: dict[str, Any] | None = dict(own) if isinstance(own, dict) else None
        self._origin_of_guess: dict[str, Keys] = {}

    def add(self, key: str, entry: Any, path: Keys) -> None:
        """Adds one entry to a list."""
        if key in self.lists:
            self.lists[key].append(entry)
            self._origin[key].append(path)

    def add_all(self, entry: dict[str, Any], path: Keys, k: int) -> None:
        """Adds copy k of everything that an entry repeats."""
        for key in ("links", *LISTS):
            for place, one in enumerate(entry.get(key, [])):
                self.add(key, _counted(one, k), (*path, key, place))
        for name, guess in entry.get(GUESSES, {}).items():
            counted = _counted(name, k)
            if self.guesses is not None and counted not in self.guesses:
                self.guesses[counted] = _counted(guess, k)
                self._origin_of_guess[counted] = (*path, GUESSES, name)

    def data(self, data: dict[str, Any]) -> dict[str, Any]:
        """The file's data with the copies."""
        found = {key: entries for key, entries in self.lists.items() if entries or key in data}
        return {**data, **found, **({GUESSES: self.guesses} if self.guesses else {})}

    def where(self, path: Keys) -> Keys:
        """The path in the file of what has this path in the expanded data."""
        if len(path) >= 2 and path[0] in self._origin and isinstance(path[1], int):
            origin = self._origin[path[0]]
            return (*origin[path[1]], *path[2:]) if path[1] < len(origin) else path
        if len(path) >= 2 and path[0] == GUESSES and path[1] in self._origin_of_guess:
            return (*self._origin_of_guess[path[1]], *path[2:])
        return path


def _repetitions(document: Document, entry: dict[str, Any], path: Keys) -> int:
    """The number of copies, of an entry that is well formed."""
    for key in entry:
        if key not in ("repeat", "links", *LISTS, GUESSES):
            allowed = ", ".join(("repeat", "links", *LISTS, GUESSES))
            raise document.error((*path, key), f"unknown key `{key}`", key=True, allowed=allowed)
    times, inner = entry["repeat"], entry.get("links")
    if not isinstance(times, int) or isinstance(times, bool) or not 1 <= times <= MOST_LINKS:
        raise document.error(
            (*path, "repeat"),
            "not a number of repetitions",
            found=yaml_value_in_words(times),
            allowed=f"a whole number from 1 to {MOST_LINKS}",
        )
    if not isinstance(inner, list) or not inner:
        raise document.error(path, "what is repeated is missing", allowed="repeat: 10, links: [ … ]")
    for key, kind, words in (*((key, list, "a list") for key in LISTS), (GUESSES, dict, "a mapping")):
        if not isinstance(entry.get(key, kind()), kind):
            raise document.error((*path, key), f"not {words}", found=yaml_value_in_words(entry[key]), allowed=words)
    return times


def _counted(value: Any, k: int) -> Any:
    """A copy of the value in which `{k}`, `{k-1}` and `{k+1}` are replaced by numbers."""
    if isinstance(value, str):
        return _COUNTER.sub(lambda m: str(k + int((m[1] or "+") + (m[2] or "0"))), value)
    if isinstance(value, list):
        return [_counted(item, k) for item in value]
    if isinstance(value, dict):
        return {_counted(key, k): _counted(item, k) for key, item in value.items()}
    return value
