"""The discrete state of a run, which changes at events only: plain data beside the continuous state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...mechanics.closure import Partition


@dataclass(frozen=True, eq=False)
class Discrete:
    """The joints that stick or lie at a stop, the directions in which others slip, and the independent coordinates.

    Actuators at their effort limits are in `saturated`.

    `slip[k]` is the direction in which speed k slips against its dry friction.  `held[k]` is the range of the support
    that friction and stop together can give while they hold speed k.  Of the held speeds in a mechanism, as many bear
    as are independent of each other; the supports of the others are `kept` as they are.  A mechanism has a `partition`
    of its coordinates; its given speeds are those of prescribed motion and those that bear.  Speeds that are `idle`
    rest at a dead centre, or because the loops lock them: nothing presses on them until they move.  A speed is let go
    where its support is beyond its range by its `slack`.  Discrete states are compared by identity, because the rows of
    a run are grouped by it.
    """

    slip: Mapping[int, float] = field(default_factory=dict)
    held: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    kept: Mapping[int, float] = field(default_factory=dict)
    slack: Mapping[int, float] = field(default_factory=dict)
    idle: tuple[int, ...] = ()
    partition: Partition | None = None
    near: float = 0.0  # share of a pivot at which the guard is zero
    saturated: Mapping[int, float] = field(default_factory=dict)  # speed → the effort limit that its actuator gives
    passing: bool = False  # whether the run is passing a position where constraints lose rank
    # speeds for which a signal says whether they are held, so that all modes have the same equations; trees only
    switched: tuple[int, ...] = ()

    @cached_property
    def still(self) -> tuple[int, ...]:
        """The speeds that are held, in order."""
        return tuple(sorted(self.held))

    @cached_property
    def bearing(self) -> tuple[int, ...]:
        """The held speeds that bear, in order."""
        return tuple(k for k in self.still if k not in self.kept)

    @property
    def pivots(self) -> tuple[float, ...]:
        """The pivots of the partition, of which a tree has none."""
        return self.partition.pivots if self.partition is not None else ()

    @property
    def fixed(self) -> tuple[int, ...]:
        """The held speeds whose accelerations are 0 in the equations, because no signal says so."""
        return () if self.switched else self.bearing

    @property
    def supported(self) -> tuple[int, ...]:
        """The speeds for which the equations have a support."""
        return self.switched or self.bearing

    @cached_property
    def sharing(self) -> bool:
        """Whether joints that only friction holds share what holds the one freedom of their mechanism.

        The equations say how they do.
        """
        part = self.partition
        if part is None or part.N or not len(self.held) > 1 == len(self.bearing):
            return False
        return all(math.isfinite(low) and math.isfinite(high) for low, high in self.held.values())

    @cached_property
    def program(self) -> tuple[object, ...]:
        """The part of the state on which recorded equations depend."""
        part = self.partition
        base: tuple[object, ...] = (self.fixed, replace(part, pivots=()) if part is not None else None)
        if self.sharing:
            return (*base, "sharing", self.still)
        return (*base, self.switched) if self.switched else base

    @cached_property
    def name(self) -> str:
        """What recorded equations depend on, as text, whose hash is computed once."""
        return repr(self.program)


def discrete_partition(discrete: Discrete) -> Partition:
    """The partition of a mechanism's coordinates."""
    assert discrete.partition is not None
    return discrete.partition


def discrete_states_are_alike(one: Discrete, other: Discrete) -> bool:
    """Whether the same holds in two discrete states of a run, but for how far behind its bound a joint is let go."""
    fields = "slip", "held", "kept", "idle", "saturated", "switched"
    return all(getattr(one, name) == getattr(other, name) for name in fields)
