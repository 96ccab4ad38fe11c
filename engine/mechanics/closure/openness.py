"""How well loops are closed at a position, and whether speeds keep them closed, as numbers that can be added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...machine.program.scalars import Scalar, smaller


class Openness(NamedTuple):
    """The least margin of a pivot, and sums of squares without units: of gaps, of their rates, and of speeds."""

    margin: Scalar
    gaps: Scalar
    rates: Scalar
    speeds: Scalar

    def with_other(self, other: Openness) -> Openness:
        """The openness of two groups of bodies together."""
        return Openness(smaller(self.margin, other.margin), *(x + y for x, y in zip(self[1:], other[1:])))

    def checks(self, gap: Scalar, rate: Scalar) -> list[Scalar]:
        """Three numbers that aren't negative where pivots are fit, the loops are closed, and where they stay closed.

        `gap` is the largest sum of squares of gaps, `rate` that of rates for speeds with a sum of 1.
        """
        return [self.margin, gap - self.gaps, rate * self.speeds - self.rates]


def closing_margins_of_loops(
    margin: Scalar,
    gaps: Sequence[Scalar],
    J: Sequence[Mapping[int, Scalar]],
    qd: Sequence[Scalar],
    row_scale: Sequence[float],
    column_scale: Sequence[float],
) -> Openness:
    """The openness from the gaps and the Jacobian's rows, with this margin of pivots."""
    rates = [sum((x * qd[k] for k, x in row.items()), 0.0) for row in J]
    open_by, opening = (sum(((x * s) * (x * s) for x, s in zip(a, row_scale)), 0.0) for a in (gaps, rates))
    return Openness(margin, open_by, opening, sum(((x / s) * (x / s) for x, s in zip(qd, column_scale)), 0.0))
