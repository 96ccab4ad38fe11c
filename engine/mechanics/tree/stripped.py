"""Bodies without passive forces, or without mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ...robot import ZERO, Body, Drive


@lru_cache(maxsize=64)
def bodies_without_passive_forces(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies without friction, damping and springs, but with their rotors."""
    return varied_bodies_without_passive_forces(bodies)


def varied_bodies_without_passive_forces(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """Bodies, whose numbers may be arrays, without friction, damping and springs, but with their rotors."""
    return tuple(replace(body, drives=tuple(Drive(rotor=drive.rotor) for drive in body.drives)) for body in bodies)


@lru_cache(maxsize=64)
def massless_bodies(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies without mass and drives, whose dynamics consists of external wrenches only."""
    none = (ZERO, ZERO, ZERO)
    return tuple(replace(b, E=none, h=ZERO, m=0.0, drives=(Drive(),) * len(b.drives)) for b in bodies)
