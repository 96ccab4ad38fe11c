"""What is to be drawn of a result: one of the usual plots, or columns against others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

TIME = "t"


@dataclass(frozen=True)
class Drawing:
    """A plot by its name, or columns `y`, each over the one of `x`, or over its own one."""

    plot: str = ""
    y: tuple[str, ...] = ()
    x: tuple[str, ...] = (TIME,)
    name: str = ""
    title: str = ""
    degrees: bool = False
    equal: bool | None = None

    @property
    def stem(self) -> str:
        """The ending of its file's name."""
        words = self.name or self.plot or f"{self.y[0]}-over-{self.x[0]}"
        return re.sub(r"[^\w.^@+-]+", "_", words)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The columns across and up of each line."""
        return [(self.x[min(k, len(self.x) - 1)], y) for k, y in enumerate(self.y)]

    def plain(self) -> str | dict[str, Any]:
        """The entry under `plots` that it came from: a name where that says all."""
        if self == Drawing(plot=self.plot):
            return self.plot
        entry = {key: list(x) if isinstance(x, tuple) else x for key, x in asdict(self).items()}
        if not self.y:
            del entry["x"]
        return {key: x for key, x in entry.items() if x not in ("", [], None, False) or (key, x) == ("equal", False)}


def plot_drawing(entry: object) -> Drawing:
    """What an entry under `plots` of a record or a file asks for; entries that ask for nothing raise a `TypeError`."""
    if isinstance(entry, Drawing):
        return entry
    if isinstance(entry, str):
        return Drawing(plot=entry)
    if not isinstance(entry, Mapping) or not {*entry} <= {field.name for field in fields(Drawing)}:
        raise TypeError
    made = Drawing(
        plot=_text(entry.get("plot")),
        y=_texts(entry.get("y", [])),
        x=_texts(entry.get("x", [TIME])),
        name=_text(entry.get("name")),
        title=_text(entry.get("title")),
        degrees=entry.get("degrees") is True,
        equal=None if entry.get("equal") is None else entry["equal"] is True,
    )
    if bool(made.plot) == bool(made.y):
        raise TypeError
    return made


def plain_plot_drawings(wanted: Sequence[Drawing]) -> list[str | dict[str, Any]]:
    """The entries of a record for what is drawn."""
    return [one.plain() for one in wanted]


def _text(value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError
    return value or ""


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError
    return tuple(_text(one) for one in value)
