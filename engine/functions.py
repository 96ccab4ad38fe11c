"""Calls of the Python interface for one robot, made ready once and called many times."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from . import api
from .errors import DenocError, InputError, allowed_names, given_in_words
from .machine.backend import chosen_backend, using_backend
from .mechanics.assembly import assemble
from .mechanics.mechanisms import adjoint, derivatives, regressor
from .mechanics.quantities import bias, energy, frames, inertia, inverse_inertia
from .robot import Robot

Call = Callable[..., Any]


@dataclass(frozen=True)
class Function:
    """One call of the interface: how it is tied to a robot, and how many arguments follow the coordinates."""

    of: Callable[[Robot], Call]
    rates: int


def _tied(call: Call, rates: int) -> Function:
    return Function(lambda robot: partial(call, robot), rates)


FUNCTIONS = {
    "inverse": Function(lambda robot: api.straight(robot, "inverse"), 2),
    "forward": Function(lambda robot: api.straight(robot, "forward"), 2),
    "bias": _tied(bias, 1),
    "adjoint": _tied(adjoint, 3),
    "derivatives": _tied(derivatives, 2),
    "energy": _tied(energy, 1),
    "frames": _tied(frames, 0),
    "inertia": _tied(inertia, 0),
    "inverse_inertia": _tied(inverse_inertia, 0),
    "reactions": _tied(api.reactions, 2),
    "reduced": _tied(api.reduced, 1),
    "regressor": _tied(regressor, 2),
}


def function(robot: Robot, what: str) -> Call:
    """One of the calls for this robot alone, compiled here and now: `function(robot, "inverse")(q, qd, qdd)`.

    It takes what the call takes after the robot, and gives the same numbers.
    """
    if not isinstance(robot, Robot):
        raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
    row = FUNCTIONS.get(what) if isinstance(what, str) else None
    if row is None:
        raise InputError("no such function", found=given_in_words(what), **allowed_names(what, FUNCTIONS))
    call = row.of(robot)
    if chosen_backend() != "plain":
        with (
            contextlib.suppress(DenocError),
            using_backend("compiled"),
        ):  # at a singular start: when it is called
            call(_start(robot), *(np.zeros(robot.nv) for _ in range(row.rates)))
            call = row.of(robot)  # which is the code itself now
    return call


def _start(robot: Robot) -> np.ndarray:
    """The robot's first position, with its loops closed."""
    return assemble(robot, np.array(robot.q0))
