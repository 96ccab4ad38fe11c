"""What changes at events only: plain data beside the state, so that a run can be stopped and looked at anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..loops.partition import Partition


@dataclass(frozen=True, eq=False)
class Discrete:
    """Which joints stick or lie at a stop, which way the others slip, and which coordinates are independent.

    `slip[k]` is the direction in which speed k slips against its dry friction.  `held[k]` is the range of the force
    that friction and stop together can add while they hold speed k.  A mechanism has a `partition` of its coordinates;
    its given speeds are those of prescribed motion and as many held ones as are independent of each other.  Two of
    these are the same only if they are one object: rows of a run are gathered by it.
    """

    slip: Mapping[int, float] = field(default_factory=dict)
    held: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    partition: Partition | None = None
    near: float = 0.0  # share of a pivot where the partition is looked at
    passing: bool = False  # a position where constraints lose rank: rank-revealing solves

    @cached_property
    def still(self) -> tuple[int, ...]:
        """The speeds that are held, in order."""
        return tuple(sorted(self.held))

    @cached_property
    def program(self) -> tuple[object, ...]:
        """What tells recorded equations apart."""
        part = self.partition
        return (self.still, replace(part, pivots=()) if part is not None else None)

    def with_contacts(
        self, slip: Mapping[int, float], held: Mapping[int, tuple[float, float]], partition: Partition | None
    ) -> Discrete:
        """The same run with other joints held and slipping."""
        return replace(self, slip=dict(slip), held=dict(held), partition=partition)


def partition_of(discrete: Discrete) -> Partition:
    """The partition of a mechanism's coordinates."""
    assert discrete.partition is not None
    return discrete.partition
