"""The mixed dynamics of one robot for one pattern of what is given: on the plain text, or compiled.

Everything that computes comes through here, so that there is one place where the text is run, recorded and compiled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..machine import choice, kernel, native, rolled
from ..machine.choice import Ledger
from ..machine.kernel import Kernel, Single
from ..machine.rolled import Rolled
from ..machine.scalars import Scalar
from ..machine.trace import Program, Recording
from ..machine.trigonometry import REACH
from ..robot.model import Body, Robot
from .regroup import regrouped
from .rolled import rolled as as_loop
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
        # angles of which only cosine and sine matter: no spring measures them, no thread turns them into a slide
        measured = {drive.coordinate for body in bodies for drive in body.drives if drive.stiffness}
        self.turning = tuple(
            body.coordinates[k]
            for body in bodies
            for what, _, k in body.moves
            if what == "turn" and body.coordinates[k] not in measured
        )
        self._kernels: dict[bool, Kernel | Rolled] = {}  # straight and rolled
        self._single: Single | None = None
        self._looked: set[Any] = set()  # what was looked for in the cache
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
        compiled = self.compiled(len(q))
        if compiled is None:
            return None
        arrays = [array for array, width in zip((q, qd, x, w), self.widths) if width]
        (sought,), finite, largest = compiled(*arrays)
        if largest > REACH:
            arrays[0] = self.reduced(q)
            (sought,), finite, largest = compiled(*arrays)
        return sought if finite and largest <= REACH else None  # the plain way finds out what is wrong

    def compiled(self, samples: int) -> Kernel | Rolled | None:
        """The compiled program if it pays."""
        wanted = self.ledger.wants(samples)
        if wanted == "plain" or not self.nv:
            return None
        form = choice.rolled(len(self.bodies))
        if form and self.loaded:
            return None  # wrenches in base axes need the way to the base, which a loop doesn't have
        if form not in self._kernels and not (wanted == "cached" and form in self._looked):
            with self._lock:
                if form not in self._kernels:
                    self._looked.add(form)
                    made = self._made(self._build_rolled if form else self._build_straight, wanted == "cached")
                    if made is not None:
                        self._kernels[form] = made
        return self._kernels.get(form)

    def _made(self, build: Callable[[bool], Any], cached: bool) -> Any:
        try:
            return build(cached)
        except (ImportError, RuntimeError, OSError) as error:
            choice.give_up(error)
            return None

    def _build_straight(self, cached: bool) -> Kernel | None:
        widths = [width for width in self.widths if width]
        return kernel.build(self.program, widths, [self.nv], self.identity(), cached)

    def _build_single(self, cached: bool) -> Single | None:
        widths = [width for width in self.widths if width]
        return kernel.build_single(self.program, widths, [self.nv], self.identity(), cached)

    def _build_rolled(self, cached: bool) -> Rolled | None:
        widths = [width for width in self.widths if width]
        loop, elements = as_loop(regrouped(self.bodies), self.gravity, self.motion_given, self.wrenched)
        return rolled.build(loop, elements, [*widths, self.nv], native.lanes(), cached)

    # ---- one sample

    def single(self) -> Single | None:
        """The compiled program for one sample at a time, if it pays."""
        wanted = self.ledger.wants(1)
        if wanted == "plain" or not self.nv or choice.rolled(len(self.bodies)):
            return None
        if self._single is None and not (wanted == "cached" and "single" in self._looked):
            with self._lock:
                self._looked.add("single")
                self._single = self._single or self._made(self._build_single, wanted == "cached")
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
