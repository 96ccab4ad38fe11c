"""The mixed dynamics of one robot for one pattern of what is given: on the plain text, or compiled.

Everything that computes comes through here, so that there is one place where the text is run, recorded and compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..machine.jit import choice, native, rolled
from ..machine.jit.kernel import Kernel, Single
from ..machine.jit.offer import LOOP, Offer
from ..machine.jit.rolled import Rolled
from ..machine.jit.trigonometry import REACH
from ..machine.program.scalars import Scalar
from ..machine.program.trace import Program, Recording
from ..robot.model import Body, Robot
from .looped import rolled as as_loop
from .regroup import regrouped
from .sweeps import Load, Wrenches, dynamics

Pattern = tuple[bool, ...]


class Mixed:
    """What is sought for each speed, given the other; see `sweeps.dynamics`."""

    def __init__(
        self,
        bodies: tuple[Body, ...],
        gravity: Sequence[float],
        nq: int,
        motion_given: Pattern,
        wrenched: tuple[int, ...] = (),
        loaded: tuple[tuple[int, tuple[float, ...]], ...] = (),
    ):
        self.bodies, self.gravity, self.nq, self.nv = bodies, tuple(gravity), nq, len(motion_given)
        self.motion_given, self.wrenched, self.loaded = motion_given, wrenched, loaded
        self.widths = (nq, self.nv, self.nv, 6 * (len(wrenched) + len(loaded)))
        self.offer = Offer(self.program, [width for width in self.widths if width], [self.nv], self.identity)
        # angles of which only cosine and sine matter: no spring measures them, no thread turns them into a slide
        measured = {drive.coordinate for body in bodies for drive in body.drives if drive.stiffness}
        self.turning = tuple(
            body.coordinates[k]
            for body in bodies
            for what, _, k in body.moves
            if what == "turn" and body.coordinates[k] not in measured
        )

    # ---- the text

    def text(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], x: Sequence[Scalar], w: Sequence[Scalar], bodies: Any = None
    ) -> list[Scalar]:
        """The recursion on any scalars; `w` holds six for each wrench, then for each load."""
        sixes = [list(w[k : k + 6]) for k in range(0, len(w), 6)]
        on: Wrenches = dict(zip(self.wrenched, sixes))
        loads: list[Load] = [
            (body, six, list(point)) for (body, point), six in zip(self.loaded, sixes[len(self.wrenched) :])
        ]
        sought, _ = dynamics(bodies or self.bodies, self.gravity, q, qd, x, self.motion_given, on, loads)
        return sought

    def program(self) -> Program:
        """The recursion recorded, inertias regrouped."""
        recording = Recording("mixed")
        names = ("q", "qd", "x", "w")
        groups = [recording.input(name, width) for name, width in zip(names, self.widths) if width]
        inputs = dict(zip([name for name, width in zip(names, self.widths) if width], groups))
        q, qd, x, w = (inputs.get(name, []) for name in names)
        sought = self.text(q, qd, x, w, regrouped(self.bodies))
        return recording.program(sought=sought)

    def identity(self) -> tuple[str, ...]:
        """All that the program depends on, for the cache."""
        return (repr(self.bodies), repr(self.gravity), repr((self.motion_given, self.wrenched, self.loaded)))

    # ---- compiled

    def compiled(self, samples: int) -> Kernel | Rolled | None:
        """Code for many samples where it is to be used, with so many of them ahead."""
        if not self.nv:
            return None
        if not choice.rolled(len(self.bodies)):
            return self.offer.lanes(samples)
        if self.loaded:
            return None  # wrenches in base axes need the way to the base, which a loop doesn't have
        return self.offer.form("rolled", self._build_rolled, samples, LOOP)

    def _build_rolled(self, cached: bool) -> Rolled | None:
        loop, elements = as_loop(regrouped(self.bodies), self.gravity, self.motion_given, self.wrenched)
        return rolled.build(loop, elements, [*self.offer.inputs, self.nv], native.lanes(), cached)

    def single(self) -> Single | None:
        """Code for one sample at a time where it is to be used."""
        return self.offer.single() if self.nv and not choice.rolled(len(self.bodies)) else None

    def by(self, code: Kernel | Rolled, rows: Sequence[np.ndarray]) -> np.ndarray | None:
        """What code makes of rows, one a sample; None where it can't, and the plain text says what is wrong."""
        arrays = [array for array, width in zip(rows, self.widths) if width]
        (sought,), finite, largest = code(*arrays)
        if largest > REACH:
            arrays[0] = self.reduced(arrays[0])
            (sought,), finite, largest = code(*arrays)
        return sought if finite and largest <= REACH else None

    def reduced(self, q: np.ndarray) -> np.ndarray:
        """Q with its huge angles taken back to one turn, which the compiled sines need."""
        q = q.copy()
        for k in self.turning:
            q[..., k] = np.arctan2(np.sin(q[..., k]), np.cos(q[..., k]))
        return q


def mixed(robot: Robot, motion_given: Pattern, on: Wrenches, loads: Sequence[Load]) -> Mixed:
    """The robot's problem of this kind; made once for each robot."""
    wrenched, loaded = tuple(on), tuple((body, tuple(point)) for body, _, point in loads)
    key = ("mixed", motion_given, wrenched, loaded)
    found: Mixed | None = robot.derived.get(key)
    if found is None:
        made = Mixed(robot.tree.bodies, robot.gravity, robot.nq, motion_given, wrenched, loaded)
        found = robot.derived.setdefault(key, made)
    return found
