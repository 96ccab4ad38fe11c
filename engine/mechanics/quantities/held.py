"""The mixed dynamics with speeds that scalars hold: one program for all modes of dry friction and stops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...machine.jit import native
from ...machine.program.scalars import Scalar
from ...robot import Robot
from ..tree.numbers import TreeNumbers
from ..tree.sweeps import Pivot, sweep_tree
from .mixed import Mixed, Pattern


class Held(Mixed):
    """What is sought for each speed, then for each the force that holds it; see `sweeps.sweep_tree`.

    The last group of inputs is 1 for speeds that are held, else 0; it counts for those that may be `held`.
    """

    names = ("q", "qd", "x", "hold")
    shareable = False

    def __init__(self, robot: Robot, motion_given: Pattern, held: tuple[int, ...], level: int = native.SOUND):
        super().__init__(robot, motion_given, level=level)
        self.held = held
        self.widths = (self.nq, self.nv, self.nv, self.nv)
        self._offer()

    def results(self) -> int:
        """The number of results of one sample."""
        return 2 * self.nv

    def text(self, *given: Sequence[Scalar], numbers: TreeNumbers | None = None) -> tuple[list[Scalar], list[Scalar]]:
        """The results on any scalars; no pivots are watched."""
        q, qd, x, hold = given
        known, pivots, holds = numbers or self.numbers, dict[int, Pivot](), {k: hold[k] for k in self.held}
        on, loads = self.acting((), known)
        sought, _ = sweep_tree(
            known.bodies, known.gravity, q, qd, x, self.motion_given, on, loads, pivots=pivots, holds=holds
        )
        return [*sought, *(pivots[k].support if k in holds else 0.0 for k in range(self.nv))], []

    def _on_bodies(self, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [*super()._on_bodies(rows), rows[3]]
