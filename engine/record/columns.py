"""What a result's columns are: name, unit, and the family that a plot shows together."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Column:
    """`owner` (a joint, a link's point, the whole robot) is one panel of a plot, `label` one line in it."""

    name: str
    unit: str
    family: str
    owner: str
    label: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


WRENCH = ("nx", "ny", "nz", "fx", "fy", "fz")  # suffixes of a wrench's components
