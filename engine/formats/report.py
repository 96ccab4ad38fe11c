"""What became of the parts of a file in another format: used, changed, or ignored, with the lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..errors import Place

USED, CHANGED, IGNORED, DROPPED = "used", "changed", "ignored", "dropped"


@dataclass
class Entry:
    """All parts of one kind, such as all elements with one tag, with which the same happened for the same reason."""

    what: str
    fate: str
    why: str
    lines: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        where = ", ".join(map(str, self.lines[:5])) + ", …" * (len(self.lines) > 5)
        lines = f" (line{'s' * (len(self.lines) > 1)} {where})" if any(self.lines) else ""
        times = f" {len(self.lines)} times" if len(self.lines) > 1 else ""
        return f"{self.what}: {self.fate}{times}" + (f", {self.why}" if self.why else "") + lines


@dataclass
class Report:
    """What became of each part of a file.

    Of the fates, `ignored` parts mean nothing for the motion, such as a controller's settings; `dropped` ones do mean
    something that the target can't hold, and `changed` ones were read otherwise than they stand: both are warnings.
    """

    name: str = ""
    entries: dict[tuple[str, str, str], Entry] = field(default_factory=dict)

    def note(self, fate: str, what: str, why: str = "", line: int = 0) -> None:
        entry = self.entries.setdefault((what, fate, why), Entry(what, fate, why))
        entry.lines.append(line)

    def drop_all(self, lost: Mapping[str, Iterable[object]], why: str) -> None:
        """Notes everything that is lost, by what it is called."""
        for what, there in lost.items():
            for _ in there:
                self.note(DROPPED, what, why)

    def of(self, *fates: str) -> Iterator[Entry]:
        return (entry for entry in self.entries.values() if entry.fate in fates)

    def warnings(self) -> list[str]:
        """One sentence for each kind of part that was changed or dropped, at its first place."""
        result = []
        for entry in self.of(CHANGED, DROPPED):
            line = entry.lines[0] if entry.lines else 0
            place = f"{Place(self.name, line, 1)}: " if self.name and line else f"{self.name}: " if self.name else ""
            more = f" ({len(entry.lines)} times)" if len(entry.lines) > 1 else ""
            result.append(f"{place}{entry.what} {entry.fate}: {entry.why}{more}")
        return result
