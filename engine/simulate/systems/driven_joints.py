"""Joints that prescribed motions carry along: what moves them is given, as if it were their own motion.

They neither stick nor have stops, whatever their friction, for no force in them changes how they move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...machine.program import as_floats
from ...mechanics.assembly import CLOSED, close_loops_by_newton, closing_position_moved_along_speeds
from ...mechanics.closure import TINY, constraint_null_space
from .system import System

AWAY = 0.01  # radians, or lengths of the mechanism: how far another position is that is looked at


def carried_speeds(system: System, q: Sequence[float]) -> tuple[int, ...]:
    """The speeds that follow from prescribed motions, commands and drives, but not from the loops alone.

    At a dead centre that would be so of others, too, so that a position nearby has to say the same as q does.
    """
    loops = system.loops
    if not loops.m or not (system.ruled or system.inputs.drives):
        return ()
    here = np.array(q, dtype=float)
    free, found = _led(system, here)
    if not found or not free.shape[1]:
        return tuple(sorted(found))
    step = AWAY * free @ np.ones(free.shape[1])
    kept = [*system.ruled, int(np.argmax(abs(step)))]
    there = closing_position_moved_along_speeds(loops.robot, here, step * loops.column_scale)
    there, left = close_loops_by_newton(loops.at(np.array(as_floats(loops.gaps(here.tolist())))), there, kept)
    return tuple(sorted(found & _led(system, there)[1] if left <= CLOSED else found))


def _led(system: System, q: np.ndarray) -> tuple[np.ndarray, set[int]]:
    """The motions along which the mechanism is free at q, and the speeds without any that the given ones lead."""
    loops = system.loops
    J = loops.scaled(loops.jacobian(q)[0])
    driven = set(loops.driven_rows())
    own = constraint_null_space(J[[r for r in range(len(J)) if r not in driven]])
    free = constraint_null_space(np.concatenate([J, np.eye(J.shape[1])[list(system.ruled)]]))
    still = abs(free).max(axis=1, initial=0.0) < TINY
    moves = abs(own).max(axis=1, initial=0.0) >= TINY
    return free, {*np.flatnonzero(still & moves).tolist()} - {*system.ruled}
