"""The mixed dynamics of one robot for one pattern of what is given: on the plain text, or compiled.

Everything that computes comes through here, so that there is one place where the text is run, recorded and compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...machine.backend import LOOP, SOUND
from ...machine.jit import REACH, Kernel, Rolled, Single, build_rolled_kernel
from ...machine.program import Node, Program, Recording, Scalar, as_floats
from ...robot import ZERO, Robot
from ..bodies.looped import looped_tree_sweep_program, runs_as_loop_over_bodies
from ..numbers.number_symbols import ProgramOfNumbers, TreeNumbers, tree_numbers
from ..numbers.regroup import regrouped_bodies
from ..tree.springs import tree_coordinates_that_only_turn
from ..tree.sweeps import Load, Pivot, Wrenches, sweep_tree
from ..tree.vanishing import joint_pivot_losses, least_joint_pivots
from ..tree.wrenches import wrenches_on_bodies
from .samples import tree_angles_within_a_turn

Pattern = tuple[bool, ...]


class Mixed(ProgramOfNumbers[TreeNumbers]):
    """What is sought for each speed, given the other, with a caller's wrenches on links; see `sweeps.sweep_tree`."""

    title = "mixed"

    def __init__(self, robot: Robot, motion_given: Pattern, links: tuple[str, ...] = (), level: int = SOUND):
        """`level` is that of the code generator."""
        self.robot, self.motion_given, self.links = robot, motion_given, links
        self.bodies, self.nq, self.nv = robot.tree.bodies, robot.nq, robot.nv
        self.widths: tuple[int, ...] = (self.nq, self.nv, self.nv, 6 * len(links))
        self.level = level
        self._offer()
        self.turning = tree_coordinates_that_only_turn(self.bodies)

    def _offer(self) -> None:
        self.offer = self.offered([width for width in self.widths if width], [self.results()], self.level)

    def results(self) -> int:
        """The number of results of one sample."""
        return self.nv

    # ---- the text

    def text(self, *given: Sequence[Scalar], numbers: TreeNumbers | None = None) -> tuple[list[Scalar], list[Scalar]]:
        """The results on any scalars, and numbers that are enormous where pivots are next to nothing.

        The last group has six numbers for each link, at its origin and in its axes.
        """
        q, qd, x, w = given
        return self.sought(q, qd, x, w, numbers or self.numbers)

    def sought(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], x: Sequence[Scalar], w: Sequence[Scalar], numbers: TreeNumbers
    ) -> tuple[list[Scalar], list[Scalar]]:
        """What the recursion finds for each speed where x is given, and the same numbers."""
        pivots = dict[int, Pivot]()
        on, loads = self.acting(w, numbers)
        sought, _ = sweep_tree(numbers.bodies, numbers.gravity, q, qd, x, self.motion_given, on, loads, pivots)
        return sought, joint_pivot_losses(numbers.least, pivots)

    @cached_property
    def numbers(self) -> TreeNumbers:
        """The numbers of the tree."""
        return tree_numbers(self.robot, self.bodies, self.least)

    @cached_property
    def least(self) -> tuple[float, ...]:
        """For each speed the pivot below which the position has to be looked at closely; 0 where none is needed."""
        return least_joint_pivots(self.robot, self.motion_given)

    def acting(self, w: Sequence[Scalar], numbers: TreeNumbers) -> tuple[Wrenches, list[Load]]:
        """The wrenches of the robot's file and those of the caller, on bodies."""
        own = [(link, list(w[6 * k : 6 * k + 6]), ZERO, "link") for k, link in enumerate(self.links)]
        return numbers.acting(*wrenches_on_bodies(self.robot.tree, own))

    names: tuple[str, ...] = ("q", "qd", "x", "w")
    held: tuple[int, ...] = ()  # speeds that an input may hold, in `held.py`

    def read(self) -> TreeNumbers:
        """The numbers of the tree; those of its pivots follow."""
        return tree_numbers(self.robot, self.bodies)

    def leaves(self) -> TreeNumbers:
        """The numbers of the tree, inertias regrouped."""
        return self.numbers._replace(bodies=regrouped_bodies(self.bodies))

    def structure(self) -> tuple[object, ...]:
        """The pattern, and the links on which wrenches act."""
        seats = [self.robot.tree.seats[link] for link in self.links]
        return type(self).__name__, self.motion_given, seats, self.widths, self.held

    def record(self, recording: Recording, numbers: TreeNumbers) -> Program:
        """The recursion recorded."""
        inputs = {name: recording.input(name, width) for name, width in zip(self.names, self.widths) if width}
        groups = [inputs.get(name, []) for name in self.names]
        self.prepare(recording, groups)
        sought, watched = self.text(*groups, numbers=numbers)
        return recording.program(watched, sought=sought)

    def prepare(self, recording: Recording, groups: Sequence[Sequence[Node]]) -> None:
        """Says what else has to hold for the inputs."""

    # ---- compiled

    def compiled(self, samples: int) -> Kernel | Rolled | None:
        """Compiled code for many samples, or None where the plain text is to run on this number of them."""
        if not self.nv:
            return None
        return self.looping(samples) if runs_as_loop_over_bodies(self.bodies) else self.offer.lanes(samples)

    def looping(self, samples: int) -> Rolled | None:
        """Code that loops over the bodies, or None where the plain text is to run on this number of samples."""
        return self.offer.form("rolled", self._build_rolled, samples, LOOP)

    def _build_rolled(self, cached: bool) -> Rolled | None:
        on, loads = self._in_order([0.0] * self.widths[3])
        points = [(body, tuple(as_floats(point))) for body, _, point in loads]
        bodies = regrouped_bodies(self.bodies)
        loop, elements = looped_tree_sweep_program(
            bodies, self.robot.gravity, self.motion_given, tuple(on), points, self.least, self.held
        )
        held = self.nv if self.held else 0
        groups = *self.widths[:3], 6 * len(on), 6 * len(loads), held, self.results()
        widths = [width for width in groups if width]
        return build_rolled_kernel(loop, elements, widths, cached, self.offer.level)

    def single(self) -> Single | None:
        """Compiled code for one sample at a time, or None where the plain text is to run."""
        return self.offer.single() if self.nv and not runs_as_loop_over_bodies(self.bodies) else None

    def by(self, code: Kernel | Rolled, rows: Sequence[np.ndarray], result: np.ndarray) -> np.ndarray | None:
        """`result`, filled row by row by compiled code; None where the plain text has to find what is wrong."""
        arrays = self._on_bodies(rows) if isinstance(code, Rolled) else list(rows)
        arrays = [array for array in arrays if array.shape[1]]
        _, finite, largest = code(*arrays, out=[result])
        if largest > REACH:
            arrays[0] = tree_angles_within_a_turn(arrays[0], self.turning)
            _, finite, largest = code(*arrays, out=[result])
        return result if finite and largest <= REACH else None

    def _on_bodies(self, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The rows with wrenches on bodies, in their axes and in those of the base, instead of those on links."""
        on, loads = self._in_order([np.ascontiguousarray(column) for column in rows[3].T])
        result = list(rows[:3])
        for sixes in (list(on.values()), [six for _, six, _ in loads]):
            result.append(np.empty((len(rows[0]), 6 * len(sixes))))
            for k, x in enumerate(x for six in sixes for x in six):
                result[-1][:, k] = x
        return result

    def _in_order(self, w: Sequence[Scalar]) -> tuple[Wrenches, list[Load]]:
        on, loads = self.acting(w, self.numbers)
        return on, sorted(loads, key=lambda load: load[0])


class Hybrid(Mixed):
    """Accelerations and forces, complete, from both with NaN for each that is sought; in straight code only."""

    names = ("q", "qd", "qdd", "tau", "w")

    def __init__(self, robot: Robot, motion_given: Pattern, links: tuple[str, ...] = ()):
        super().__init__(robot, motion_given, links)
        self.widths = (self.nq, self.nv, self.nv, self.nv, 6 * len(links))
        self._offer()

    def results(self) -> int:
        """The number of accelerations and forces."""
        return 2 * self.nv

    def text(self, *given: Sequence[Scalar], numbers: TreeNumbers | None = None) -> tuple[list[Scalar], list[Scalar]]:
        """The accelerations, then the forces, each either given or found by the recursion."""
        q, qd, qdd, tau, w = given
        x = [a if motion else f for motion, a, f in zip(self.motion_given, qdd, tau)]
        sought, watched = self.sought(q, qd, x, w, numbers or self.numbers)
        both = list(zip(self.motion_given, x, sought))
        qdd = [known if motion else other for motion, known, other in both]
        return [*qdd, *(other if motion else known for motion, known, other in both)], watched

    def prepare(self, recording: Recording, groups: Sequence[Sequence[Node]]) -> None:
        """What is sought has to be NaN."""
        _, _, qdd, tau, _ = groups
        recording.leave_blank(f if motion else a for motion, a, f in zip(self.motion_given, qdd, tau))

    def compiled(self, samples: int) -> Kernel | Rolled | None:
        """Code for many samples where it is to be used, with so many of them ahead."""
        return self.offer.lanes(samples) if self.nv else None


def hybrid_tree_problem(robot: Robot, motion_given: Pattern, links: tuple[str, ...] = ()) -> Hybrid:
    """The robot's problem of this kind with complete results; made once for each robot."""
    return robot.made_once(("hybrid", motion_given, links), lambda: Hybrid(robot, motion_given, links))


def mixed_dynamics(robot: Robot, motion_given: Pattern, links: tuple[str, ...] = ()) -> Mixed:
    """The mixed dynamics of a robot for this pattern and for wrenches on these links, made once for each robot."""
    return robot.made_once(("mixed", motion_given, links), lambda: Mixed(robot, motion_given, links))


class Held(Mixed):
    """What is sought for each speed, then for each the force that holds it; see `sweeps.sweep_tree`.

    The last group of inputs is 1 for speeds that are held, else 0; it counts for those that may be `held`.
    """

    names = ("q", "qd", "x", "hold")
    shareable = False

    def __init__(self, robot: Robot, motion_given: Pattern, held: tuple[int, ...], level: int = SOUND):
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
