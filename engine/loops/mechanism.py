"""What is computed of a robot with loops, couplings or actuators of its own: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics import calls as tree
from ..dynamics import quantities
from ..dynamics.programs import REDUCED
from ..dynamics.samples import Samples
from ..errors import AssemblyError, NumericalError
from ..machine.jit.result_parts import kernel_parts_divided
from ..robot import Robot
from . import accelerations, branches, effort
from .assembly import assemble
from .balance import Balance, Forces, actuators_share_loop_work, enough_actuators_for_freedoms
from .branches import Inverse, loop_actuator_efforts
from .constraints import Closure, loop_closure
from .families import loops_are_consistent, quick_mechanism_result, reduced_mechanism_texts, serve_mechanism_calls
from .partition import independent_speeds
from .reactions import Reactions, wrenches_of_multipliers
from .reactions import mechanism_wrench_texts as texts_of_reactions
from .texts import Reduced

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# names of direct calls, and of the coordinates of reduced equations
REACTIONS, COORDINATES = "reactions", "coordinates of reduced equations"

Wrenches = Mapping[str, "ArrayLike"]


def inverse(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Wrenches | None = None) -> np.ndarray:
    """The forces of the actuated joints and of `actuators` for this motion, of least weighted norm where they share."""
    result: np.ndarray
    if wrenches is None and (answer := quick_mechanism_result("inverse", Inverse, robot, q, qd, qdd)) is not None:
        result = answer
        return result
    s = Samples(robot, q=q, qd=qd, qdd=qdd).finite()
    wrenched, w = s.acting(wrenches)
    loops, arrays = loop_closure(robot), {"w": w, **{name: s.rows(name) for name in ("q", "qd", "qdd")}}
    if s.count == 0:
        return np.empty((0, len(loop_actuator_efforts(robot))))
    mechanism_has_enough_actuators(robot, arrays["q"])
    family = branches.mechanism_inverse_texts(loops, wrenched)
    result = family.rows(arrays)
    if (
        actuators_share_loop_work(family)
        and effort.loop_efforts_exceed_limits(result, loop_actuator_efforts(robot)).any()
    ):
        result = forces_behind_spanning_tree(s, tree.inverse(robot, q, qd, qdd, wrenches)).actuated
    else:
        serve_mechanism_calls(family.known[0], "inverse")
    return result if s.count is not None else result[0]


def forward(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None) -> np.ndarray:
    """The accelerations of all tree joints under these forces."""
    result: np.ndarray
    if (
        wrenches is None
        and (answer := quick_mechanism_result("forward", accelerations.Forward, robot, q, qd, tau)) is not None
    ):
        result = answer
        return result
    s = Samples(robot, q=q, qd=qd, tau=tau).finite()
    wrenched, w = s.acting(wrenches)
    if s.count == 0:
        return np.empty((0, robot.nv))
    arrays = {"w": w, **{name: s.rows(name) for name in ("q", "qd", "tau")}}
    family = accelerations.mechanism_forward_texts(loop_closure(robot), wrenched)
    qdd = family.rows(arrays)
    serve_mechanism_calls(family.known[0], "forward")
    return qdd if s.count is not None else qdd[0]


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


def reactions(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Wrenches | None = None
) -> dict[str, np.ndarray]:
    """The wrench at every joint, and of each cut what its first link exerts on the second, base-frame axes."""
    if wrenches is None and (answer := quick_mechanism_result(REACTIONS, Reactions, robot, q, qd, qdd)) is not None:
        at_once: dict[str, np.ndarray] = answer
        return at_once
    s = Samples(robot, q=q, qd=qd, qdd=qdd).finite()
    wrenched, w = s.acting(wrenches)
    loops, arrays = loop_closure(robot), {"w": w, **{name: s.rows(name) for name in ("q", "qd", "qdd")}}
    if s.count == 0:
        return _named(robot, np.empty((0, len(robot.links) + len(robot.loops), 6)))
    mechanism_has_enough_actuators(robot, arrays["q"])
    family = texts_of_reactions(loops, wrenched)
    rows = family.rows(arrays)
    count = len(loop_actuator_efforts(robot))
    sixes = rows[:, count:].reshape(len(rows), -1, 6)
    if (
        actuators_share_loop_work(family)
        and (over := effort.loop_efforts_exceed_limits(rows[:, :count], loop_actuator_efforts(robot))).any()
    ):
        given = dict(zip(wrenched, w[over].reshape(over.sum(), -1, 6).swapaxes(0, 1)))
        motion = {name: arrays[name][over] for name in ("q", "qd", "qdd")}
        sixes[over] = _within_limits(Samples(robot, **motion), given)
    serve_mechanism_calls(family.known[0], REACTIONS)
    return _named(robot, sixes if s.count is not None else sixes[0])


def mechanism_has_enough_actuators(robot: Robot, q: np.ndarray) -> None:
    """Raise an error if there are too few actuators; that there are enough doesn't change."""
    if "supported" not in robot.derived:
        enough_actuators_for_freedoms(Balance(robot, q))
        robot.derived["supported"] = True


def _named(robot: Robot, sixes: np.ndarray) -> dict[str, np.ndarray]:
    """Wrenches by the names of joints, then of cuts."""
    names = [*(link.joint.name for link in robot.links), *(loop.name for loop in robot.loops)]
    return dict(zip(names, sixes.swapaxes(0, -2)))


def _within_limits(s: Samples, wrenches: dict[str, np.ndarray]) -> np.ndarray:
    """The wrenches in joints and cuts where limits of actuators decide how they share their work."""
    robot, (q, qd, qdd) = s.robot, s.arrays.values()
    forces = forces_behind_spanning_tree(s, tree.inverse(robot, q, qd, qdd, wrenches))
    on_links, cuts = wrenches_of_multipliers(loop_closure(robot), q, forces.actuated, forces.multipliers)
    for link, six in wrenches.items():
        on_links[link] = on_links[link] + six if link in on_links else six
    return np.stack([*quantities.reactions(robot, q, qd, qdd, on_links).values(), *cuts.values()], axis=1)


def forces_behind_spanning_tree(s: Samples, tau: np.ndarray) -> Forces:
    """The forces behind the spanning tree's, of checked samples."""
    balance = Balance(s.robot, s.rows("q"))
    loops_are_consistent(balance.loops, {"q": balance.q, "qd": s.rows("qd")})
    enough_actuators_for_freedoms(balance)
    return balance.solve(tau)
