"""Singular positions of mechanisms: predicted before they are reached, described, and passed where rank is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanics.assembly import closing_position_moved_along_speeds
from ..mechanics.closure import TINY, Closure, Partition, independent_constraint_rows
from ..mechanics.tree import inertia_matrix, sweep_tree
from .equations import Evaluation, Moved, conclude_evaluation, pushed_by_force_laws
from .integrators.events import event_crossing
from .situation import situation_of_state
from .systems.discrete import Discrete, discrete_partition
from .systems.signals import prescribed_motion_at
from .systems.system import System

# shares of the largest singular value
LOST = 1e-4  # below it, a constraint is about to be lost
DROPPED = 1e-5  # below it, a combination of rows is left out (see `evaluate_near_singularity`)
FIRM = 1e-4  # above it, loops are closed on a combination of rows after every step
LAST = 1e-6  # share of a pivot below which a position is singular, even without a prediction


@dataclass(frozen=True)
class Singular:
    """A singular position: its instant, its loop, and the joints whose coordinates stay usable.

    If it is only `turned`, rows on speeds alone ask for other independent speeds, as a vehicle's do when it turns; the
    positions follow from the integrated ones as before.
    """

    t: float
    loop: str
    coordinates: tuple[str, ...]
    turned: bool = False

    def __str__(self) -> str:
        where = f" in the loop `{self.loop}`" if self.loop else ""
        if not self.coordinates:
            return f"singular position{where}: there the loops lose a constraint (`at_singularity: through` passes it)"
        return (
            f"singular position{where}: the motion does not follow from the independent coordinates any more; "
            f"{', '.join(self.coordinates)} would carry on (`closure: {{independent: …}}`, or "
            "`at_singularity: switch`)"
        )

    def of_given_motion(self) -> str:
        """The sentence on this position in a motion that is given, where no other coordinates can be chosen."""
        where = f" in the loop `{self.loop}`" if self.loop else ""
        return f"singular position{where}: the given motion can't go on from there"


def singular_position_ahead(
    system: System, discrete: Discrete, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> Singular | None:
    """The singular position to which the motion leads that has these speeds and accelerations at t, or None."""

    def place(time: float) -> np.ndarray:
        return closing_position_moved_along_speeds(system.robot, q, qd * time + qdd * time * time / 2)

    def left(time: float) -> float:
        return pivot_share_at_state(system, discrete, place(time))

    here = left(0.0)
    speed = max(abs(left(1e-9) - here) / 1e-9, 1e-12)
    tiny = 1e-3 * max(here, 1e-9) / speed
    slope = (left(tiny) - left(-tiny)) / (2 * tiny)
    if slope < 0:
        guess = -here / slope
        for reach in (1.2, 2.0, 4.0):
            beyond = left(reach * guess)
            if beyond <= 0:
                time = event_crossing(left, 0.0, here, reach * guess, beyond, 1e-12)
                s = np.linalg.svd(_unitless(system, discrete, place(time)), compute_uv=False)
                if s.min() > LOST * max(s.max(), 1.0):
                    return None  # a pivot vanishes but K is regular: another order of elimination will do
                return describe_singular_position(system, discrete, t + time, place(time))
    return describe_singular_position(system, discrete, t, q) if discrete.near < LAST else None


def pivot_share_at_state(system: System, discrete: Discrete, q: np.ndarray) -> float:
    """The share of the pivot that has lost most since the coordinates were chosen."""
    return discrete_partition(discrete).share(system.loops.jacobian(q)[0])


def describe_singular_position(system: System, discrete: Discrete, t: float, q: np.ndarray) -> Singular:
    """The description of a singular position: its loop, and the joints whose coordinates stay usable there."""
    part, loops = discrete_partition(discrete), system.loops
    J, _ = loops.jacobian(q)
    weakest = np.linalg.svd(_unitless(system, discrete, q))[0][:, -1][: len(part.rows)]
    row = part.rows[int(np.argmax(abs(weakest)))] if part.rows else 0
    names = [one.name for one, place in zip(loops.ties, loops.places) if place.start <= row < place.stop]
    turned = system.robot.rolls and _turned(loops, part, loops.scaled(J))
    scaled = loops.scaled(J)[list(part.rows)]
    s = np.linalg.svd(scaled, compute_uv=False) if part.rows else np.ones(1)
    if s.min() < LOST * max(s.max(), 1.0) and not turned:  # rows lose rank, so no choice of coordinates helps
        return Singular(t, names[0] if names else "", ())
    dependent = independent_constraint_rows(scaled.T, [range(system.robot.nv)])
    carry_on = [joint.name for joint in system.robot.moving if any(k not in dependent for k in joint.speeds)]
    return Singular(t, names[0] if names else "", tuple(carry_on), turned)


def _turned(loops: Closure, part: Partition, J: np.ndarray) -> bool:
    """Whether other independent speeds will do, while the positions still follow from those that are integrated."""
    rows = [r for r in part.rows if not loops.on_speeds[r]]
    dependent = [k for k in range(loops.robot.nv) if k not in (*part.given, *part.independent)]
    s = np.linalg.svd(J[rows][:, dependent], compute_uv=False) if rows else np.ones(1)
    return len(independent_constraint_rows(J, loops.row_groups())) == len(part.rows) and bool(
        s.min() > LOST * max(s.max(), 1.0)
    )


def speeds_apart_from_contacts(system: System, discrete: Discrete, q: np.ndarray) -> list[int]:
    """The independent speeds that enter no row on speeds alone: a vehicle's turn is no reason to change these."""
    loops = system.loops
    J = loops.jacobian(q)[0][loops.on_speeds]
    return [k for k in discrete_partition(discrete).independent if abs(J[:, k]).max(initial=0.0) < TINY]


def _unitless(system: System, discrete: Discrete, q: np.ndarray) -> np.ndarray:
    """The matrix K at a position, or at many, scaled so that its elements have no units."""
    part, loops = discrete_partition(discrete), system.loops
    K: np.ndarray = part.matrix(loops.jacobian(q)[0]) * loops.column_scale
    K[..., : len(part.rows), :] *= loops.row_scale[list(part.rows)][:, None]
    return K


def singularity_margin(system: System, discrete: Discrete, q: np.ndarray) -> float:
    """The smallest singular value of the scaled K, with the sign of its determinant."""
    K = _unitless(system, discrete, q)
    s = np.linalg.svd(K, compute_uv=False)
    return float(s.min() / max(s.max(), 1.0) * np.linalg.slogdet(K)[0])


def singularity_margins(system: System, discrete: Discrete, q: np.ndarray) -> np.ndarray:
    """The smallest singular values of the scaled K at many positions, with the signs of its determinants."""
    K = _unitless(system, discrete, q)
    s = np.linalg.svd(K, compute_uv=False)
    margins: np.ndarray = s.min(axis=-1) / np.maximum(s.max(axis=-1), 1.0) * np.linalg.slogdet(K)[0]
    return margins


def singularity_rank_margin(system: System, discrete: Discrete, t: float, y: np.ndarray) -> float:
    """The smallest singular value of the independent rows, relative to the largest."""
    loops, q = system.loops, np.array(system.expanded(prescribed_motion_at(system, t), y.tolist())[0])
    s = np.linalg.svd(loops.scaled(loops.jacobian(q)[0])[list(discrete_partition(discrete).rows)], compute_uv=False)
    return float(s.min() / max(s.max(), 1.0))


def state_closed_where_firm(
    loops: Closure, q: np.ndarray, qd: np.ndarray, rates: np.ndarray, given: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and speeds after the smallest motion that closes the loops, in the rows that are firm enough."""
    free = [k for k in range(loops.robot.nv) if k not in given]
    scale = loops.column_scale[free]

    def correction(J: np.ndarray, off: np.ndarray) -> np.ndarray:
        U, s, Vt = np.linalg.svd(loops.scaled(J)[:, free], full_matrices=False)
        firm = s > FIRM * max(s.max(), 1.0)
        step = np.zeros(loops.robot.nv)
        step[free] = Vt[firm].T @ (U[:, firm].T @ (off * loops.row_scale) / s[firm]) * scale
        return step

    gaps = np.array(loops.gaps(q.tolist()), dtype=float)
    q = closing_position_moved_along_speeds(loops.robot, q, -correction(loops.jacobian(q)[0], gaps))
    J, _ = loops.jacobian(q)
    return q, qd - correction(J, J @ qd - rates)


def evaluate_near_singularity(
    system: System, discrete: Discrete, signals: Sequence[float], y: np.ndarray
) -> Evaluation:
    """The equations of motion where constraints may have lost rank, with the multipliers of least norm.

    Near the position a constraint is a product of two small coordinates, which rounding errors make a hyperbola: a
    motion that stays on it turns into the other branch. So the constraint is left out while its row is small.
    """
    now, n, loops = (
        situation_of_state(system, signals, y.tolist(), discrete),
        system.robot.nv,
        system.loops,
    )
    bodies, given = system.model.bodies, list(discrete_partition(discrete).given)
    J, drift = loops.jacobian(np.array(now.q), np.array(now.qd))
    M = np.array(inertia_matrix(bodies, now.q, n), dtype=float)
    h, _ = sweep_tree(bodies, system.robot.gravity, now.q, now.qd, [0.0] * n, [True] * n, now.wrenches, now.loads)
    force = np.array(pushed_by_force_laws(system, now, now.qd, system.model)) - np.array(h)
    for row, x in now.seconds.items():
        drift[row] -= x
    rows, wanted = J * loops.row_scale[:, None], -drift * loops.row_scale
    rows = np.concatenate([rows, np.eye(n)[given]])
    wanted = np.concatenate([wanted, [now.given[k] for k in given]])
    U, s, _ = np.linalg.svd(rows * loops.column_scale, full_matrices=False)
    firm = U[:, s > DROPPED * max(s.max(), 1.0)].T  # combinations of rows that are still constraints
    root = np.linalg.inv(np.linalg.cholesky(M))  # M⁻¹ = rootᵀ root
    free = root.T @ (root @ force)
    qdd = free + root.T @ (np.linalg.pinv(firm @ rows @ root.T, rcond=TINY) @ (firm @ (wanted - rows @ free)))
    passing = Moved(now.q, now.qd, qdd.tolist(), {})
    if given:
        more = np.linalg.lstsq(rows.T, M @ qdd - force, rcond=TINY)[0][-len(given) :]
        passing.more = dict(zip(given, more.tolist()))
    return conclude_evaluation(system, now, passing, discrete, system.model)
