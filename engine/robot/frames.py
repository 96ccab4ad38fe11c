"""Placements of the frames that a file gives for cuts, and for joints in a list of all joints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..text import Keys
from .model import Three
from .orientation import WAYS, oriented_placement
from .placement import Placement, X, Z, frame_pointing_along_axis
from .schema import CutFrame
from .values import Complain

KHALIL = ("gamma", "b", "alpha", "d", "theta", "r")


def frame_of_cut(frame: CutFrame, at: Three, key: str, complain: Complain) -> Placement:
    """The placement in its link of a frame with the origin `at`."""
    given = [name for name in KHALIL if name in frame.model_fields_set]
    plain = [name for name in ("at", "axis", *WAYS) if name in frame.model_fields_set]
    if given and plain:
        message = f"the frame is given twice: by `{plain[0]}` and by `{given[0]}`"
        raise complain(key, given[0], message, key=True, allowed="one of the two")
    if given:  # Rz(γ) Tz(b) Rx(α) Tx(d) Rz(θ) Tz(r): the cut's frame as Khalil's R_k and R_(k+B)
        placed = Placement().turn(Z, frame.gamma).shift(0, 0, frame.b).turn(X, frame.alpha)
        return placed.shift(frame.d, 0, 0).turn(Z, frame.theta).shift(0, 0, frame.r)
    placed = oriented_placement(at, frame, (key,), complain, "axis")
    return (
        placed
        if frame.axis is None
        else placed.then(frame_pointing_along_axis(unit_direction_of_frame(frame.axis, (key, "axis"), complain)))
    )


def unit_direction_of_frame(direction: Sequence[float], key: Keys, complain: Complain) -> Three:
    """The unit vector in this direction."""
    length = math.hypot(*direction)
    if not 1e-9 < length < math.inf:
        components = str(list(map(float, direction)))
        raise complain(*key, "it has no direction", found=components, allowed="[0, 0, 1], say")
    x, y, z = (float(c) / length for c in direction)
    return (x, y, z)
