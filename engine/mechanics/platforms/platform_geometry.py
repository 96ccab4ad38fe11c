"""How the platform of a parallel robot hangs on its legs, at the positions and speeds of a batch.

Twists are the platform's, t = [ω; v] at its origin e, in base-frame axes.  A leg gives it t = P̃ q̇ + (any twist that the
cut allows), so the cut's constraint rows C give C t = C P̃ q̇.  As many of these rows as the leg has joints, J = C P̃,
make the leg's rates a function of the platform's twist, q̇ = X t with X = J⁻¹ C (Khalil 2010, eqs. 63 and 64); the
others are constraints on the platform, whose freedoms are t = T ν.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...robot import Robot
from ..closure.constraints import loop_closure
from ..closure.rank import independent_constraint_rows
from ..tree.samples import Samples
from .hanging import hanging_text
from .parallel_robot import Leg, Parallel

CONSISTENT = 1e-6  # of positions and speeds given, relative
LARGE = 1e4  # factor by which scaled numbers may grow with equations that were chosen at another position


@dataclass(frozen=True)
class LegHold:
    """How the platform hangs on one leg; arrays have samples first."""

    columns: np.ndarray  # P̃, 6 × joints
    rows: np.ndarray  # C; the whole twist where the platform hangs by a joint of the tree
    X: np.ndarray  # joints × 6
    forbids: np.ndarray  # rows whose product with the platform's twist is 0


class PlatformGeometry:
    """The platform's frame, the columns of the legs' joints, and the constraint rows of the cuts."""

    def __init__(self, s: Samples, parts: Parallel):
        self.robot, self.parts, self.s = s.robot, parts, s
        self.count = s.count if s.count is not None else 1
        self.loops = loop_closure(s.robot)
        self.length = self.loops.length
        self.unit = np.array([1.0] * 3 + [self.length] * 3)  # a twist's scale: turns, and slides by this length
        self.R, e, *rest, gaps = hanging_text(self.loops, parts).arrays(s.rows("q"))  # the platform's axes
        self.e, columns, rows = e[:, 0], rest[: len(parts.legs)], iter(rest[len(parts.legs) :])
        self.P = [P.transpose(0, 2, 1) for P in columns]
        self.cuts = [  # gaps and C
            None if leg.loop is None else (gaps[:, 0, self.loops.places[leg.loop]], next(rows)) for leg in parts.legs
        ]

    def holds(self) -> list[LegHold]:
        """How the platform hangs on each leg."""
        self.refuse_open()
        whole = np.broadcast_to(np.eye(6), (self.count, 6, 6)), np.ones(6)
        return [
            self._hold(leg, P, *((cut[1], self._scale(leg)) if cut else whole))
            for leg, P, cut in zip(self.parts.legs, self.P, self.cuts)
        ]

    def refuse_open(self) -> None:
        """Raises an error if the loops aren't closed at these positions and speeds."""
        first, qd = self.parts.legs[0], self.s.rows("qd")
        t = np.einsum("nrk,nk->nr", self.P[0], qd[:, list(first.speeds)])
        fastest = max(1.0, float(abs(qd).max(initial=0.0)))
        for leg, P, cut in zip(self.parts.legs, self.P, self.cuts):
            if cut is None:
                continue
            gap, C = cut
            rate = np.einsum("nrk,nk->nr", C, t - np.einsum("nrk,nk->nr", P, qd[:, list(leg.speeds)])) / fastest
            for what, off in (("gap", gap), ("rate", rate)):
                worst = abs(off * self._scale(leg)).max(initial=0.0)
                if not worst <= CONSISTENT:
                    raise InputError(
                        f"{self.robot.name}: the loop `{leg.hangs}` isn't closed at these `q` and `qd`",
                        found=f"a relative {what} of {worst:.3g}",
                        hint="`denoc.assemble` closes positions; dependent speeds follow from the others",
                    )

    def allowed(self, number: int) -> np.ndarray:
        """Twists at e that the cut of a leg allows the platform, as columns; none where there is no cut."""
        cut = self.cuts[number]
        if cut is None:
            return np.zeros((self.count, 6, 0))
        C = cut[1] * self.unit
        twists: np.ndarray = np.linalg.svd(C)[2][:, C.shape[1] :].transpose(0, 2, 1) * self.unit[:, None]
        return twists

    def _scale(self, leg: Leg) -> np.ndarray:
        """Factors that make the rows of the leg's cut free of units."""
        assert leg.loop is not None
        return self.loops.row_scale[self.loops.places[leg.loop]]

    def _hold(self, leg: Leg, P: np.ndarray, C: np.ndarray, scale: np.ndarray) -> LegHold:
        """How the platform hangs on this leg, with the best rows of its cut for the joints that it has."""
        J = C @ P
        n = len(leg.speeds)
        unit = self.loops.column_scale[list(leg.speeds)]
        rows = leg_rows(J[0] * scale[:, None] * unit)
        if len(rows) != n or C.shape[1] < n:
            raise undecided(self.robot, leg)
        X = np.linalg.solve(J[:, rows], C[:, rows]) if n else np.zeros((self.count, 0, 6))
        self._refuse_large(X * self.unit / unit[:, None])
        others = [r for r in range(C.shape[1]) if r not in rows]
        forbids = (C[:, others] - J[:, others] @ X) * scale[others][:, None] * self.unit
        return LegHold(P, C, X, forbids)

    def freedoms(self, holds: list[LegHold]) -> np.ndarray:
        """Twists T that all legs allow the platform, a column for each freedom."""
        forbids = np.concatenate([hold.forbids for hold in holds], axis=1)
        if not forbids.shape[1]:
            return np.broadcast_to(np.diag(self.unit), (self.count, 6, 6))
        rows = sorted(independent_constraint_rows(forbids[0], [range(forbids.shape[1])]))
        dependent = sorted(independent_constraint_rows(forbids[0][rows].T, [range(6)]))
        free = [k for k in range(6) if k not in dependent]
        T = np.zeros((self.count, 6, len(free)))
        T[:, free, range(len(free))] = 1.0
        T[:, dependent] = -np.linalg.solve(forbids[:, rows][:, :, dependent], forbids[:, rows][:, :, free])
        self._refuse_large(T)
        twists: np.ndarray = T * self.unit[:, None]
        return twists

    def _refuse_large(self, x: np.ndarray) -> None:
        """Raises an error if the equations that were chosen at the first sample are nearly singular at another one."""
        if self.count > 1 and not abs(x).max(initial=0.0) < LARGE:
            raise np.linalg.LinAlgError


def leg_rows(scaled: np.ndarray) -> list[int]:
    """The best rows of a cut for the joints of its leg, from their matrix without units: all if they are as many."""
    rows, n = scaled.shape
    return list(range(n)) if rows == n else sorted(independent_constraint_rows(scaled, [range(rows)]))


def undecided(robot: Robot, leg: Leg) -> InputError:
    """The error for a leg that can move by itself."""
    return InputError(
        f"{robot.name}: the platform doesn't decide how its leg by `{leg.hangs}` moves",
        found=f"joints {', '.join(leg.joints)}",
        allowed="legs whose joints can't move while the platform keeps still",
        hint="`denoc.inverse` takes such legs, and the leg may be in a singular position",
    )


def unlike_actuators(robot: Robot, actuators: int, freedoms: int) -> InputError:
    """The error for a platform with fewer actuators than freedoms."""
    return InputError(
        f"{robot.name}: the platform has {freedoms} freedoms for {actuators} actuators, idle spins among them",
        hint="`denoc.inverse` takes such robots",
    )
