"""Singular positions of mechanisms: seen before they are hit, named, and passed where constraints lose rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..closure.assemble import moved
from ..closure.closure import Closure
from ..closure.rank import TINY, independent
from ..recursion.dense import inertia_matrix
from ..recursion.sweeps import dynamics
from .events import crossing
from .plant import Evaluation

if TYPE_CHECKING:
    from .closed import ClosedPlant

LOST = 1e-4  # of the largest singular value: a constraint that is about to be lost
DROPPED = 1e-5  # likewise: a combination of rows that is let go (see `evaluated`)
FIRM = 1e-4  # likewise: one on which the loops are closed again after every step
LAST = 1e-6  # share of a pivot: so near that it is told whatever the prediction says


@dataclass(frozen=True)
class Singular:
    """A singular position: when, in which loop, and which joints' coordinates would carry on."""

    t: float
    loop: str
    coordinates: tuple[str, ...]

    def __str__(self) -> str:
        where = f" in the loop `{self.loop}`" if self.loop else ""
        if not self.coordinates:
            return f"singular position{where}: there the loops lose a constraint (`at_singularity: through` passes it)"
        return (
            f"singular position{where}: the motion does not follow from the independent coordinates any more; "
            f"{', '.join(self.coordinates)} would carry on (`closure: {{independent: …}}`, or "
            "`at_singularity: switch`)"
        )


def ahead(plant: ClosedPlant, t: float, y: np.ndarray) -> Singular | None:
    """The singular position that the motion runs into from here, if it does."""
    q = np.array(plant.complete(t, y)[0])
    now = plant.evaluate(t, y)
    qd, qdd = np.array(now.qd, dtype=float), np.array(now.qdd, dtype=float)

    def place(time: float) -> np.ndarray:
        return moved(plant.robot, q, qd * time + qdd * time * time / 2)

    def share(time: float) -> float:
        return plant.share(place(time))

    here = share(0.0)
    speed = max(abs(share(1e-9) - here) / 1e-9, 1e-12)
    tiny = 1e-3 * max(here, 1e-9) / speed
    slope = (share(tiny) - share(-tiny)) / (2 * tiny)
    if slope < 0:
        guess = -here / slope
        for reach in (1.2, 2.0, 4.0):
            beyond = share(reach * guess)
            if beyond <= 0:
                time = crossing(share, 0.0, here, reach * guess, beyond, 1e-12)
                s = np.linalg.svd(_unitless(plant, place(time)), compute_uv=False)
                if s.min() > LOST * max(s.max(), 1.0):
                    return None  # a pivot vanishes, K doesn't: another order will do
                return told(plant, t + time, place(time))
    return told(plant, t, q) if plant.near < LAST else None


def told(plant: ClosedPlant, t: float, q: np.ndarray) -> Singular:
    """What is known of a singular position."""
    part, loops = plant.partition, plant.loops
    J, _ = loops.jacobian(q)
    weakest = np.linalg.svd(_unitless(plant, q))[0][:, -1][: len(part.rows)]
    row = part.rows[int(np.argmax(abs(weakest)))] if part.rows else 0
    names = [one.name for one, place in zip(loops.ties, loops.places) if place.start <= row < place.stop]
    scaled = loops.scaled(J)[list(part.rows)]
    s = np.linalg.svd(scaled, compute_uv=False) if part.rows else np.ones(1)
    if s.min() < LOST * max(s.max(), 1.0):  # all rows may vanish together: of a single one, say
        return Singular(t, names[0] if names else "", ())
    dependent = independent(scaled.T, [range(plant.robot.nv)])
    carry_on = [joint.name for joint in plant.robot.moving if any(k not in dependent for k in joint.speeds)]
    return Singular(t, names[0] if names else "", tuple(carry_on))


def _unitless(plant: ClosedPlant, q: np.ndarray) -> np.ndarray:
    """K without units."""
    part, loops = plant.partition, plant.loops
    K = part.matrix(loops.jacobian(q)[0]) * loops.column_scale
    K[: len(part.rows)] *= loops.row_scale[list(part.rows)][:, None]
    return K


def margin(plant: ClosedPlant, q: np.ndarray) -> float:
    """The smallest singular value of K without units, with the sign of its determinant."""
    K = _unitless(plant, q)
    s = np.linalg.svd(K, compute_uv=False)
    return float(s.min() / max(s.max(), 1.0) * np.linalg.slogdet(K)[0])


def spread(plant: ClosedPlant, t: float, y: np.ndarray) -> float:
    """The smallest singular value of the independent rows, as a share of the largest."""
    J, _ = plant.loops.jacobian(np.array(plant.complete(t, y)[0]))
    s = np.linalg.svd(plant.loops.scaled(J)[list(plant.partition.rows)], compute_uv=False)
    return float(s.min() / max(s.max(), 1.0))


def closed(
    loops: Closure, q: np.ndarray, qd: np.ndarray, rates: np.ndarray, given: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and speeds with the loops closed by the least motion, where their constraints are firm enough."""
    free = [k for k in range(loops.robot.nv) if k not in given]
    scale = loops.column_scale[free]

    def correction(J: np.ndarray, off: np.ndarray) -> np.ndarray:
        U, s, Vt = np.linalg.svd(loops.scaled(J)[:, free], full_matrices=False)
        firm = s > FIRM * max(s.max(), 1.0)
        step = np.zeros(loops.robot.nv)
        step[free] = Vt[firm].T @ (U[:, firm].T @ (off * loops.row_scale) / s[firm]) * scale
        return step

    q = moved(loops.robot, q, -correction(loops.jacobian(q)[0], np.array(loops.gaps(q.tolist()), dtype=float)))
    J, _ = loops.jacobian(q)
    return q, qd - correction(J, J @ qd - rates)


def evaluated(plant: ClosedPlant, signals: list[float], y: np.ndarray) -> Evaluation:
    """The equations of motion where constraints may have lost rank: the least multipliers that still serve.

    Near the position a constraint is a product of two small coordinates, which its rounding error makes a hyperbola:
    who stays on it turns into the other branch. So it is let go for a moment, while its row and its pull are small.
    """
    state = plant.situation(signals, y.tolist())
    q, qd, n = np.array(state.q), np.array(state.qd), plant.robot.nv
    J, drift = plant.loops.jacobian(q, qd)
    M = np.array(inertia_matrix(plant.bodies, state.q, n), dtype=float)
    h, _ = dynamics(
        plant.bodies, plant.robot.gravity, state.q, state.qd, [0.0] * n, [True] * n, state.wrenches, state.loads
    )
    rubbed = plant.rubbed(state.qd)
    force = np.array([x - rubbed.get(k, 0.0) for k, x in enumerate(state.applied)]) - np.array(h)
    for row, x in state.seconds.items():
        drift[row] -= x
    rows, wanted = J * plant.loops.row_scale[:, None], -drift * plant.loops.row_scale
    given = list(plant.partition.given)
    rows = np.concatenate([rows, np.eye(n)[given]])
    wanted = np.concatenate([wanted, [state.accelerations[k] for k in given]])
    U, s, _ = np.linalg.svd(rows * plant.loops.column_scale, full_matrices=False)
    firm = U[:, s > DROPPED * max(s.max(), 1.0)].T  # combinations of rows that still say something
    root = np.linalg.inv(np.linalg.cholesky(M))  # M⁻¹ = rootᵀ root
    free = root.T @ (root @ force)
    qdd = free + root.T @ (np.linalg.pinv(firm @ rows @ root.T, rcond=TINY) @ (firm @ (wanted - rows @ free)))
    tau = np.array(state.applied, dtype=float)
    if given:
        left = M @ qdd - force
        tau[given] += np.linalg.lstsq(rows.T, left, rcond=TINY)[0][-len(given) :]
    return plant.evaluation(state, state.q, state.qd, qdd.tolist(), tau.tolist(), 0.0, None)
