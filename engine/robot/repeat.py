"""The expansion of `repeat:` in a robot file, an entry of `links` that stands for many, numbered by `{k}`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..text.checking import in_words
from ..text.document import Document, Keys

MOST_LINKS = 5000
_COUNTER = re.compile(r"\{k(?:([+-])(\d{1,4}))?\}")


def expanded(document: Document) -> tuple[Any, Callable[[Keys], Keys]]:
    """The document's data with all repetitions expanded, and a function from its paths to the file's."""
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get("links"), list):
        return data, lambda path: path
    links: list[Any] = []
    origin: list[Keys] = []
    for at, entry in enumerate(data["links"]):
        if not (isinstance(entry, dict) and "repeat" in entry):
            links.append(entry)
            origin.append(("links", at))
            continue
        times, inner = _repetition(document, entry, ("links", at))
        for k in range(1, times + 1):
            for place, one in enumerate(inner):
                links.append(_counted(one, k))
                origin.append(("links", at, "links", place))
        if len(links) > MOST_LINKS:
            raise document.error(
                ("links", at, "repeat"),
                f"more than {MOST_LINKS} links",
                found=str(len(links)),
                hint="repeat less often",
            )

    def where(path: Keys) -> Keys:
        if len(path) >= 2 and path[0] == "links" and isinstance(path[1], int) and path[1] < len(origin):
            return (*origin[path[1]], *path[2:])
        return path

    return {**data, "links": links}, where


def _repetition(document: Document, entry: dict[str, Any], path: Keys) -> tuple[int, list[Any]]:
    """The number of copies and the links that are copied."""
    for key in entry:
        if key not in ("repeat", "links"):
            raise document.error((*path, key), f"unknown key `{key}`", key=True, allowed="repeat, links")
    times, inner = entry["repeat"], entry.get("links")
    if not isinstance(times, int) or isinstance(times, bool) or not 1 <= times <= MOST_LINKS:
        raise document.error(
            (*path, "repeat"),
            "not a number of repetitions",
            found=in_words(times),
            allowed=f"a whole number from 1 to {MOST_LINKS}",
        )
    if not isinstance(inner, list) or not inner:
        raise document.error(path, "what is repeated is missing", allowed="repeat: 10, links: [ … ]")
    return times, inner


def _counted(value: Any, k: int) -> Any:
    """A copy of the value in which `{k}`, `{k-1}` and `{k+1}` are replaced by numbers."""
    if isinstance(value, str):
        return _COUNTER.sub(lambda m: str(k + int((m[1] or "+") + (m[2] or "0"))), value)
    if isinstance(value, list):
        return [_counted(item, k) for item in value]
    if isinstance(value, dict):
        return {_counted(key, k): _counted(item, k) for key, item in value.items()}
    return value
