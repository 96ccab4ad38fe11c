"""What is computed of a robot with loops, couplings or actuators of its own: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import AssemblyError, NumericalError
from ...machine.program import kernel_parts_divided, numbers_of_kernel_parts
from ...robot import Robot
from ..assembly.assembly import assemble
from ..closure.constraints import Closure, loop_closure
from ..closure.partition import independent_speeds
from ..quantities import calls as tree
from ..quantities import quantities
from ..quantities.programs import REDUCED
from ..quantities.samples import Samples
from . import effort
from .accelerations import Forward, mechanism_forward_texts
from .balance import Balance, Forces, actuators_share_loop_work, enough_actuators_for_freedoms
from .branches import Inverse, loop_actuator_efforts, mechanism_inverse_texts
from .families import (
    TextFamily,
    loops_are_consistent,
    quick_mechanism_result,
    reduced_mechanism_texts,
    serve_mechanism_calls,
)
from .reaction_wrenches import Reactions, mechanism_wrench_texts, wrenches_of_multipliers
from .texts import PartitionText, Reduced

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# names of direct calls, and of the coordinates of reduced equations
REACTIONS, COORDINATES = "reactions", "coordinates of reduced equations"


@dataclass(frozen=True)
class MechanismQuantity:
    """A quantity of robots that are more than their trees, for one sample or many; calling it computes it.

    `name` is that of direct calls; `family` gives the texts with callers' wrenches on some links.  Forces of
    actuators that are sought need enough of these (`supported`); `limited` has the results from forces within limits,
    where actuators share their work.
    """

    name: str
    text: type[PartitionText]
    family: Callable[[Closure, tuple[str, ...]], TextFamily]
    supported: bool = False
    limited: Callable[[Samples, dict[str, np.ndarray], Forces], np.ndarray] | None = None

    def __call__(self, robot: Robot, *given: Any, links: tuple[str, ...] = ()) -> Any:
        """The quantity for these inputs of the text, then a wrench for each of the links; all are checked."""
        if not links and (answer := quick_mechanism_result(self.name, self.text, robot, *given)) is not None:
            return answer
        s = Samples(robot, **dict(zip(self.text.inputs, given))).finite()
        wrenched, w = s.acting(dict(zip(links, given[len(self.text.inputs) :])))
        parts = self.text.parts_of(robot)
        if s.count == 0:
            return kernel_parts_divided(np.empty((0, numbers_of_kernel_parts(parts))), parts)
        arrays = {"w": w, **{name: s.rows(name) for name in self.text.inputs}}
        if self.supported:
            mechanism_has_enough_actuators(robot, arrays["q"])
        family = self.family(loop_closure(robot), wrenched)
        rows = family.rows(arrays)
        if self.limited is not None and actuators_share_loop_work(family):
            efforts = loop_actuator_efforts(robot)
            over = effort.loop_efforts_exceed_limits(rows[:, : len(efforts)], efforts)
            if over.any():
                these = {name: x[over] for name, x in arrays.items()}
                sixes = dict(zip(wrenched, these.pop("w").reshape(over.sum(), -1, 6).swapaxes(0, 1)))
                q, qd, qdd = these.values()
                some = Samples(robot, q=q, qd=qd, qdd=qdd)
                forces = forces_behind_spanning_tree(some, tree.inverse(robot, q, qd, qdd, sixes))
                rows[over] = self.limited(some, sixes, forces)
        serve_mechanism_calls(family.known[0], self.name)
        return kernel_parts_divided(rows if s.count is not None else rows[0], parts)


def reduced(robot: Robot, q: ArrayLike, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The inertia matrix and the bias in the actuated coordinates, if these are as many as the freedoms.

    Otherwise the coordinates are those that are independent in the robot's first position, as far as they serve.
    """
    s = Samples(robot, q=q, qd=qd).finite()
    arrays = {name: s.rows(name) for name in ("q", "qd")}
    loops = loop_closure(robot)
    if s.count == 0:
        n = len(Reduced.moved_by(loops, independent_coordinates(loops, assemble(robot, np.array(robot.q0)))))
        return np.empty((0, n, n)), np.empty((0, n))
    coordinates = independent_coordinates(loops, arrays["q"][0])
    try:
        family = reduced_mechanism_texts(loops, coordinates)
        rows = family.rows(arrays)
        if coordinates == robot.derived.get(COORDINATES):
            serve_mechanism_calls(family.known[0], REDUCED)
    except NumericalError:
        family = reduced_mechanism_texts(loops, independent_speeds(loops, loops.jacobian(arrays["q"][0])[0]))
        rows = family.rows(arrays)
    result = kernel_parts_divided(rows if s.count is not None else rows[0], family.known[0].parts())
    assert isinstance(result, tuple)
    return result[0], result[1]


def independent_coordinates(loops: Closure, q: np.ndarray) -> list[int]:
    """The independent speeds for reduced equations and derivatives at q, the same where there are as many freedoms."""
    robot = loops.robot
    known: list[int] | None = robot.derived.get(COORDINATES)
    if known is not None:
        return known
    own = independent_speeds(loops, loops.jacobian(q)[0])
    if own == sorted(robot.driven):
        robot.derived[COORDINATES] = own
        return own
    with suppress(AssemblyError):
        first = independent_speeds(loops, loops.jacobian(assemble(robot, np.array(robot.q0)))[0])
        if len(first) == len(own) and len(own) != len(robot.driven):
            robot.derived[COORDINATES] = first
            return first
    return own


def mechanism_has_enough_actuators(robot: Robot, q: np.ndarray) -> None:
    """Raise an error if there are too few actuators; that there are enough doesn't change."""
    if "supported" not in robot.derived:
        enough_actuators_for_freedoms(Balance(robot, q))
        robot.derived["supported"] = True


def _within_limits(s: Samples, wrenches: dict[str, np.ndarray], forces: Forces) -> np.ndarray:
    """The forces of actuators, and the wrenches in joints and cuts, where limits decide on these forces."""
    robot, (q, qd, qdd) = s.robot, s.arrays.values()
    on_links, cuts = wrenches_of_multipliers(loop_closure(robot), q, forces.actuated, forces.multipliers)
    for link, six in wrenches.items():
        on_links[link] = on_links[link] + six if link in on_links else six
    sixes = quantities.reactions(robot, q, qd, qdd, on_links)
    return np.concatenate([forces.actuated, *sixes.values(), *cuts.values()], axis=1)


def forces_behind_spanning_tree(s: Samples, tau: np.ndarray) -> Forces:
    """The forces behind the spanning tree's, of checked samples."""
    balance = Balance(s.robot, s.rows("q"))
    loops_are_consistent(balance.loops, {"q": balance.q, "qd": s.rows("qd")})
    enough_actuators_for_freedoms(balance)
    return balance.solve(tau)


def _limited_forces(s: Samples, wrenches: dict[str, np.ndarray], forces: Forces) -> np.ndarray:
    """The forces of actuators within their limits."""
    return forces.actuated


inverse = MechanismQuantity("inverse", Inverse, mechanism_inverse_texts, supported=True, limited=_limited_forces)
forward = MechanismQuantity("forward", Forward, mechanism_forward_texts)
reactions = MechanismQuantity(REACTIONS, Reactions, mechanism_wrench_texts, supported=True, limited=_within_limits)
