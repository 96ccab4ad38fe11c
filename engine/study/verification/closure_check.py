"""The check of a result's loops and couplings: whether they are closed in each row."""

from __future__ import annotations

import numpy as np

from ...loops.constraints import Closure
from ...record.compared import allowed_recorded_difference
from ...robot import Robot
from ...scenario import Plan
from ...simulate.signals import wanted_row_signals
from .check import Check, check_of_differences, worst_row_of_column
from .stored_rows import RowMotion


def check_closure_of_rows(made: Plan, loops: Closure, t: np.ndarray, rows: RowMotion, share: float) -> Check:
    """Whether loops and couplings are closed in each row, and stay so at its speeds and accelerations."""
    J, drift = loops.jacobian(rows.q, rows.qd)
    target = np.array([wanted_row_signals(made.system, float(x)) for x in t]).reshape(len(t), 3, loops.m)
    rates, seconds = (np.einsum("nmk,nk->nm", J, x) for x in (rows.qd, rows.qdd))
    parts = (
        ("position", loops.gap(rows.q) - target[:, 0], np.ones(loops.m)),
        ("rate", rates - target[:, 1], _reach(J, rows.qd)),
        ("acceleration", seconds + drift - target[:, 2], _reach(J, rows.qdd) + abs(drift).max(axis=0, initial=0.0)),
    )
    compared = []
    for word, off, sizes in parts:
        for k, name in enumerate(_owners(made.robot, loops)):
            turning = bool(loops.turning[k])
            length = 1.0 if turning or word != "position" else loops.length
            unit = ("rad" if turning else "m") + {"position": "", "rate": "/s", "acceleration": "/s²"}[word]
            kind = max(x for x, other in zip(sizes, loops.turning) if bool(other) == turning)
            allowed = allowed_recorded_difference(float(sizes[k]) * length, float(kind) * length, share, None, share)
            compared.append(worst_row_of_column(unit, f"{name}, {word}", t, np.zeros(len(t)), off[:, k], allowed))
    if made.system.method.raw:  # which is what the method is there to show
        worst = max(compared, key=lambda one: one.times)
        words = f"`{made.system.closure}` lets loops drift: only reported"
        return Check("closure", "plain text", words, [], worst)
    return check_of_differences("closure", "plain text", f"{loops.m} constraints in {len(t)} rows", compared)


def _reach(J: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The size of each row of J x, whose terms may cancel."""
    sizes: np.ndarray = np.einsum("nmk,nk->nm", abs(J), abs(x)).max(axis=0, initial=0.0)
    return sizes


def _owners(robot: Robot, loops: Closure) -> list[str]:
    """The name of the tie, or of the coupled joint, that each row of the constraints belongs to."""
    names = [one.name for one, place in zip(loops.ties, loops.places) for _ in range(place.start, place.stop)]
    return names + [next(j.name for j in robot.moving if c.coordinate in j.coordinates) for c in loops.couplings]
