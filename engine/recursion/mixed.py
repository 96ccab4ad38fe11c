"""The mixed dynamics of one robot for one pattern of what is given: on the plain text, or compiled.

Everything that computes comes through here, so that there is one place where the text is run, recorded and compiled.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..machine.choice import Ledger, give_up
from ..machine.kernel import Kernel, Single, build, build_single
from ..machine.scalars import Scalar
from ..machine.trace import Program, Recording
from ..machine.trigonometry import REACH
from ..robot.model import Body, Robot
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
        self.ledger = Ledger(len(bodies))
        self.widths = (nq, self.nv, self.nv, 6 * (len(wrenched) + len(loaded)))
        self.turning = tuple(
            body.coordinates[k] for body in bodies for what, _, k in body.moves if what in ("turn", "screw")
        )
        self._kernel: Kernel | None = None
        self._single: Single | None = None
        self._looked = self._looked_single = False
        self._lock = threading.Lock()

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

    # ---- many samples

    def batch(self, q: np.ndarray, qd: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        """Compiled, for arrays of one row a sample; None where the plain text is to be used."""
        kernel = self.kernel(len(q))
        if kernel is None:
            return None
        arrays = [array for array, width in zip((q, qd, x, w), self.widths) if width]
        (sought,), finite, largest = kernel(*arrays)
        if largest > REACH:
            arrays[0] = self.reduced(q)
            (sought,), finite, _ = kernel(*arrays)
        return sought if finite else None  # the plain way finds out what is wrong

    def kernel(self, samples: int) -> Kernel | None:
        """The compiled program if it pays."""
        wanted = self.ledger.wants(samples)
        if wanted == "plain" or not self.nv:
            return None
        if self._kernel is None and not (wanted == "cached" and self._looked):
            with self._lock:
                self._kernel = self._kernel or self._made(build, wanted)
        return self._kernel

    def _made(self, build_it: Any, wanted: str) -> Any:
        self._looked = True
        widths = [width for width in self.widths if width]
        try:
            return build_it(self.program, widths, [self.nv], self.identity(), wanted == "cached")
        except (ImportError, RuntimeError, OSError) as error:
            give_up(error)
            return None

    # ---- one sample

    def single(self) -> Single | None:
        """The compiled program for one sample at a time, if it pays."""
        wanted = self.ledger.wants(1)
        if wanted == "plain" or not self.nv:
            return None
        if self._single is None and not (wanted == "cached" and self._looked_single):
            with self._lock:
                self._looked_single = True
                self._single = self._single or self._made(build_single, wanted)
        return self._single

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
    found = robot.derived.get(key)
    if found is None:
        found = Mixed(robot.tree.bodies, robot.gravity, robot.nq, motion_given, wrenched, loaded)
        robot.derived[key] = found
    return found
