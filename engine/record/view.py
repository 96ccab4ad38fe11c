"""A result as it is to be drawn: its columns, their numbers in the units that are shown, and a style."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InputError, allowed_names
from ..text import yaml_value_in_words
from .columns import Column
from .scales import unit_of_plotted_numbers
from .styles import SCREEN, STYLES, Style

MARK = "*"  # behind what mechanics doesn't determine
UNDETERMINED = f"{MARK} mechanics doesn't determine it; of least norm"


class Look(NamedTuple):
    """How plots are asked for: their style, and whether angles are in degrees."""

    style: Style = SCREEN
    degrees: bool = False


def plot_look(style: str, *, degrees: bool) -> Look:
    """How plots are drawn in the style of this name."""
    if style not in STYLES:
        names = allowed_names(style, STYLES)
        raise InputError("unknown style of plots", found=yaml_value_in_words(style), **names)
    return Look(STYLES[style], degrees)


@dataclass(frozen=True)
class View:
    """A result, and how it is shown."""

    name: str
    robot: str
    t: np.ndarray
    table: Mapping[str, np.ndarray]
    columns: Sequence[Column]
    undetermined: Collection[str]
    style: Style
    degrees: bool

    def titled(self, beginning: str) -> str:
        """The title of a figure."""
        return f"{beginning}: {self.robot}" + (f" ({self.name})" if self.name != self.robot else "")

    def unit(self, unit: str) -> str:
        """The unit in which numbers of this unit are shown."""
        return unit_of_plotted_numbers(unit, degrees=self.degrees)[0]

    def values(self, column: Column) -> np.ndarray:
        """The numbers of a column in the unit in which they are shown."""
        values: np.ndarray = self.table[column.name]
        factor = unit_of_plotted_numbers(column.unit, degrees=self.degrees)[1]
        return values if factor == 1.0 else values * factor

    def label(self, column: Column, *, short: bool = False) -> str:
        """The label of a line, without its owner where that is the title of its panel."""
        label = column.label
        if short:
            label = label.removeprefix(column.owner).lstrip(" .") or label
        return label + self.mark([column])

    def mark(self, columns: Sequence[Column]) -> str:
        """The mark of columns in which something isn't determined."""
        return MARK if any(column.name in self.undetermined for column in columns) else ""
