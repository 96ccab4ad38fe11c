"""A robot's file in the making: its data with the places in another format's text that each part came from."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import InputError, did_you_mean
from ..text import Document, Keys
from .pieces import FileEntry
from .report import CHANGED, USED, Report
from .xml import Element

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r"[\s,.\"'`]|[^\x20-\uffff]")
_NOT_IN_FILE_NAMES = re.compile(r"[\s,.\"'`/\\:*?<>|]")
TINY = 1e-300
NO_QUATERNION = "Euler parameters can't all be 0"
ORDER = ("name", "about", "convention", "gravity", "links")  # the first keys of a robot's file


@dataclass
class Names:
    """Names that no two things share: what is taken, and the name that each given one became."""

    what: str
    report: Report
    taken: set[str]
    own: dict[str, str] = field(default_factory=dict)

    def take(self, name: str, line: int, *, made: bool = False) -> str:
        """A name near the given one that is free; `made` names belong to nothing in the file."""
        clean = _without(_NOT_IN_NAMES, name) or self.what
        free, k = clean, 1
        while free in self.taken:
            k += 1
            free = f"{clean}_{k}"
        self.taken.add(free)
        if not made:
            self.own[name] = free
            if free != name:
                why = "is taken" if free != clean else "has characters that names can't have"
                self.report.note(CHANGED, f"{self.what} `{name}`", f"it is `{free}` here, for `{name}` {why}", line)
        return free

    def numbered(self, count: int) -> list[str]:
        """Names of so many things that have none in the file: link1, link2, …"""
        names = [self.take(f"{self.what}{k + 1}", 0, made=True) for k in range(count)]
        self.own |= {name: name for name in names}
        return names


def _without(pattern: re.Pattern[str], name: str) -> str:
    """A name with _ in the places of what the pattern finds, and of what can't be seen."""
    return "".join(x if x.isprintable() else "_" for x in pattern.sub("_", name))


class Draft:
    """The data of a robot's file, filled link by link."""

    def __init__(self, document: Document, report: Report, *, floating: bool = False):
        self.document, self.report, self.floating = document, report, floating
        self.looped = False  # whether loops close, which a reader says before it reads joints
        self.links = Names("link", report, {"base"})
        self.joints = Names("joint", report, {"all"})
        self.data: FileEntry = {"name": "", "about": "", "convention": "frames", "links": []}

    # ---- the data and its places

    def named(self, name: str, about: str = "") -> None:
        """Gives the robot its name, without the characters that a folder's name can't have."""
        names = (_without(_NOT_IN_FILE_NAMES, one).lstrip("-")[:100] for one in (name, Path(self.document.name).stem))
        self.data["name"] = next(filter(None, names), "robot")
        self.data["about"] = about

    def link(self, entry: FileEntry, at: Element, **parts: Element | None) -> None:
        """Adds a link that came from an element; `parts` say where its keys did, with `__` between nested ones."""
        path = self.put("links", entry, at)
        for name, element in parts.items():
            if element is not None:
                self.mark((*path, *name.split("__")), element)

    def put(self, key: str, entry: FileEntry, at: Element) -> Keys:
        """Adds an entry to a list of the file, and returns its path."""
        entries = self.data.setdefault(key, [])
        entries.append(entry)
        path: Keys = (key, len(entries) - 1)
        self.mark(path, at)
        return path

    def mark(self, path: Keys, at: Element) -> None:
        own = at.document is self.document
        self.document.values[path] = (at.line, at.column) if own else at.document.spot(at.line, at.column)

    def start(self, joint: FileEntry, value: float) -> None:
        """Lets a joint start where no file says so.

        With loops that is a guess: as its `initial`, it would count more than the places of actuated joints.
        """
        if self.looped:
            joint.pop("initial", None)
            self.data.setdefault("assembly", {})[joint["name"]] = value
        else:
            joint["initial"] = value

    def started(self, joint: FileEntry) -> float:
        """Where a joint starts, as far as that is known."""
        return float(joint.get("initial", self.data.get("assembly", {}).get(joint["name"], 0.0)))

    def start_within(self, limits: Sequence[float], joint: FileEntry, outside: str, middle: str, at: Element) -> None:
        """Lets a joint start in the middle of its limits, and says why."""
        self.start(joint, (limits[0] + limits[1]) / 2)
        who = "the search for closed loops" if self.looped else "it"
        self.note(CHANGED, "joint", f"{outside}, so {who} starts in {middle}", at)

    def finished(self) -> Document:
        """The document of the robot's file."""
        if not self.data["about"]:
            del self.data["about"]
        self.document.data = {key: self.data[key] for key in (*ORDER, *self.data) if key in self.data}
        self.document.warnings = tuple(self.report.warnings())
        return self.document

    # ---- notes

    def used(self, element: Element, what: str = "") -> None:
        self.note(USED, what or element.tag, "", element)

    def note(self, fate: str, what: str, why: str, at: Element) -> None:
        self.report.note(fate, what, why, at.line if at.document is self.document else 0)

    # ---- attributes

    def error(self, at: Element, message: str, *, found: str = "", allowed: str = "", hint: str = "") -> InputError:
        place = at.document.spot(at.line, at.column)
        return InputError(message, place=place, key=at.tag, found=found, allowed=allowed, hint=hint)

    def text(self, at: Element, name: str) -> str:
        """An attribute that has to be there."""
        value = at.attributes.get(name)
        if value is None or not value.strip():
            raise self.error(at, f"`{name}` is missing", allowed=f'<{at.tag} {name}="…">')
        return value.strip()

    def numbers(
        self, at: Element, name: str, count: int, default: tuple[float, ...] | None = None, *, infinite: bool = False
    ) -> tuple[float, ...]:
        """The numbers of an attribute."""
        if name not in at.attributes and default is not None:
            return default
        return self.parsed(at, name, self.text(at, name), count, infinite=infinite)

    def parsed(self, at: Element, name: str, text: str, count: int, *, infinite: bool = False) -> tuple[float, ...]:
        """The numbers in a text, of which there have to be so many; 0 for any number of them."""
        values = []
        for word in text.split():
            if _NUMBER.fullmatch(word) and math.isfinite(value := float(word)):
                values.append(value)
            elif infinite and (match := _INFINITE.fullmatch(word)):
                values.append(-math.inf if match[1] == "-" else math.inf)
            else:
                raise self.error(at, f"`{name}`: this is no number", found=f"`{word[:60]}`", allowed="such as -1.5e-3")
        if count and len(values) != count:
            needed = f"{count} numbers are" if count > 1 else "one number is"
            raise self.error(at, f"`{name}`: {needed} needed", found=f"`{text[:60]}`")
        return tuple(values)

    def number(self, at: Element, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        fallback = None if default is None else (default,)
        return self.numbers(at, name, 1, fallback, infinite=infinite)[0]

    def unit(
        self, at: Element, vector: Sequence[float] | np.ndarray, message: str = "the axis has no direction"
    ) -> np.ndarray:
        """The vector, which has to have a length, with the length 1."""
        length = float(np.linalg.norm(vector))
        if length < TINY:
            found = " ".join(f"{x:g}" for x in vector)
            raise self.error(at, message, found=found, allowed="numbers that aren't all 0")
        unit: np.ndarray = np.array(vector) / length
        return unit

    def word(self, at: Element, name: str, allowed: tuple[str, ...], default: str) -> str:
        """An attribute that has to be one of these words."""
        value = at.attributes.get(name, default)
        if value not in allowed:
            message = f"`{name}`: there is no such word"
            raise self.error(at, message, found=f"`{value[:60]}`", allowed=", ".join(allowed))
        return value

    def known(self, at: Element, name: str, names: Collection[str], what: str) -> str:
        """A name that has to be among the known ones."""
        value = self.text(at, name)
        if value not in names:
            known = ", ".join(list(names)[:20]) + (", …" if len(names) > 20 else "")
            hint = did_you_mean(value, names)
            raise self.error(at, f"no such {what}", found=f"`{value}`", allowed=known, hint=hint)
        return value
