"""The columns of a result, with their units and the families that plots show together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of a result; its `owner` (a joint, point, or the robot) is a panel of a plot, `label` a line in it."""

    name: str
    unit: str
    family: str
    owner: str
    label: str

    @property
    def kind(self) -> tuple[str, str]:
        """The key of columns with a common scale; reactions share one, since their moments may be mere rounding."""
        return self.unit if self.family != "reaction" else "", self.family

    def as_dict(self) -> dict[str, str]:
        return dict(vars(self))


WRENCH = ("nx", "ny", "nz", "fx", "fy", "fz")  # suffixes of a wrench's components
