"""Derivatives of forward dynamics of any robot, along its state, its forces, and numbers of its file."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError, NumericalError
from ...machine.program import Dual, Part, Scalar, dual_derivative, kernel_parts_divided, kernel_parts_in_order
from ...robot import Body, Robot
from ..closure.constrained import ConstrainedEquations
from ..closure.constraints import Closure, loop_closure
from ..closure.partition import Partition, independent_speeds
from ..numbers.number_symbols import Path
from ..quantities import quantities
from ..quantities.direct import direct_call
from ..quantities.samples import Samples
from ..tree.kinematics import coordinate_rates
from ..tree.spatial import add, scale
from .families import TextFamily, serve_mechanism_calls
from .mechanism import COORDINATES, MechanismQuantity, independent_coordinates
from .numbers import Direction, Numbers, mechanism_numbers_along_key, mechanism_numbers_displaced
from .slopes import Displaced, Slopes, mechanism_slope_texts
from .texts import Arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class AlongNumbers(Displaced):
    """The text of accelerations and their derivatives along numbers of the file, under the same forces.

    The independent coordinates and speeds stay as they are; the others follow, so that the loops stay closed.
    """

    chosen = ("least", "directions")
    shareable = False  # the derivatives of a robot's numbers along those of its file are constants of its program

    def __init__(
        self,
        loops: Closure,
        part: Partition,
        wrenched: tuple[str, ...] = (),
        least: Sequence[float] = (),
        directions: Sequence[Direction] = (),
    ):
        self.directions = tuple(directions)
        super().__init__(loops, part, wrenched, least)

    def parts(self) -> tuple[Part, ...]:
        """The accelerations, then their derivatives by the keys of the file's numbers."""
        return _in_order(self.loops.robot, self.directions)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations, derivatives, and checks."""
        part, q = self.part, given["q"]
        T, factors, z, qdd, checks = self.balanced(given, bodies)
        now = mechanism_numbers_displaced(self.loops.robot, self._symbols())
        moved = self._following(q, bodies, now)
        independent = [*([0.0] * len(part.rows)), *(given["qd"][k] for k in part.independent)]
        off, held = self.unbalanced(given, now, moved, lambda K: K.solve(independent), z)
        result = list(qdd)
        for k in range(len(self.directions)):
            column = [dual_derivative(x, k) for x in held]
            for basis, x in zip(T, factors.solve([-dual_derivative(x, k) for x in off])):
                column = add(column, scale(x, basis))
            result += column
        return result, checks

    def _following(self, q: list[Scalar], bodies: tuple[Body, ...], now: Numbers) -> list[Scalar]:
        """The coordinates, with derivatives for those that have to follow the numbers."""
        part, robot, own = self.part, self.loops.robot, ConstrainedEquations(self.loops, self.part, bodies)
        gaps = self.loops.with_numbers(now.tree.bodies, now.ties, now.couplings).gaps(q)
        K, moved = own.factors(own.rows(q, self.loops.ties_at(q))), list[Dual](Dual(x, {}) for x in q)
        for k in range(len(self.directions)):
            opening = [dual_derivative(gaps[r], k) for r in part.rows]
            if all(isinstance(x, float) and x == 0.0 for x in opening):
                continue  # the number doesn't open the loops
            speeds = K.solve([*scale(-1.0, opening), *([0.0] * len(part.N))])
            for one, rate in zip(moved, coordinate_rates(robot, q, speeds)):
                one.parts[k] = rate
        return [one if one.parts else x for one, x in zip(moved, q)]

    def _symbols(self) -> dict[Path, Dual]:
        """The robot's numbers that change in any of the directions, with their derivatives."""
        result: dict[Path, Dual] = {}
        for k, one in enumerate(self.directions):
            for path, value, slope in one.slopes:
                result.setdefault(path, Dual(value, {})).parts[k] = slope
        return result


def mechanism_accelerations_along_numbers(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, keys: Sequence[str]
) -> dict[str, np.ndarray]:
    """The accelerations `qdd`, and their derivatives along the numbers of the file that these keys lead to, by key."""
    what = (AlongNumbers, *keys)  # the name of the direct call
    call = getattr(robot, "derived", {}).get(what)
    if call is None:
        if not isinstance(robot, Robot):
            raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
        directions = [mechanism_numbers_along_key(robot, key) for key in keys]
        widths = robot.nq, robot.nv, robot.nv
        call = direct_call(
            robot,
            what,
            (),
            widths,
            partial(_generally, robot, what, directions),
            mechanism_accelerations_along_numbers.__doc__ or "",
        )
    result: dict[str, np.ndarray] = call(q, qd, tau)
    return result


def _generally(
    robot: Robot, what: Hashable, directions: Sequence[Direction], q: ArrayLike, qd: ArrayLike, tau: ArrayLike
) -> dict[str, np.ndarray]:
    s = Samples(robot, q=q, qd=qd, tau=tau).finite()
    loops, arrays = loop_closure(robot), {name: s.rows(name) for name in AlongNumbers.inputs}
    rows = np.empty((0, robot.nv * (1 + len(directions))))
    if s.count != 0:
        independent = independent_coordinates(loops, arrays["q"][0])
        try:
            family = _family(loops, what, directions, independent)
            rows = family.rows(arrays)
            if independent == robot.derived.get(COORDINATES):
                serve_mechanism_calls(family.known[0], what)
        except NumericalError:
            own = independent_speeds(loops, loops.jacobian(arrays["q"][0])[0])
            if own == independent:
                raise
            rows = _family(loops, what, directions, own).rows(arrays)
    by_name = kernel_parts_divided(rows if s.count is not None else rows[0], _in_order(robot, directions))
    assert isinstance(by_name, dict)
    return by_name


def _in_order(robot: Robot, directions: Sequence[Direction]) -> tuple[Part, ...]:
    return kernel_parts_in_order([(name, (robot.nv,)) for name in ("qdd", *(one.key for one in directions))])


def _family(loops: Closure, what: Hashable, directions: Sequence[Direction], independent: Sequence[int]) -> TextFamily:
    """The family of the robot's texts in these directions and coordinates."""
    text = lambda q: AlongNumbers.at(loops, q, independent, (), directions)  # noqa: E731
    key = "texts", what, tuple(independent)
    return loops.robot.made_once(key, lambda: TextFamily(loops, text, coordinates=independent))


DERIVATIVES = "fdyn-derivatives"  # the name of the direct call
_ALONG_JOINTS = MechanismQuantity(DERIVATIVES, Slopes, mechanism_slope_texts)
OF_STATE = {"state": ("dq", "dqd"), "force": ("dtau",)}  # all other names are keys of the file


def derivatives(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, with_respect_to: str | Sequence[str] | None = None
) -> dict[str, np.ndarray]:
    """Accelerations qdd and their derivatives dq, dqd, dtau, nv × nv or N × nv × nv; columns are directions.

    With loops, each direction moves a single joint of the spanning tree, even if that opens the loops; the
    constraints hold in the accelerations, J q̈ + J̇ q̇ = 0.

    `with_respect_to` says which derivatives are wanted: `state` (dq and dqd), `force` (dtau), and keys of the robot's
    file such as `links.link3.mass`, for a derivative (nv,) or (N, nv) by the key, along the number in SI units.  With
    loops, the independent coordinates and speeds then stay, and the others follow, so that the loops stay closed.
    """
    if with_respect_to is not None:
        names = (with_respect_to,) if isinstance(with_respect_to, str) else _names(with_respect_to)
        try:
            along = robot.derived[AlongNumbers, *names]
        except (AttributeError, KeyError, TypeError):
            return _chosen(robot, q, qd, tau, names)
        chosen: dict[str, np.ndarray] = along(q, qd, tau)
        return chosen
    try:
        call = robot.derived[DERIVATIVES]
    except (AttributeError, KeyError):
        call = quantities.quantity_call(robot, DERIVATIVES, _ALONG_JOINTS)
    result: dict[str, np.ndarray] = call(q, qd, tau)
    return result


def _names(wanted: Iterable[str]) -> tuple[str, ...]:
    """The names of derivatives as a tuple, or an error."""
    try:
        names = tuple(wanted)
    except TypeError:
        names = (wanted,)  # type: ignore[assignment]
    for one in names:
        if not isinstance(one, str):
            raise InputError(
                "what derivatives are taken by has to be text",
                key="with_respect_to",
                found=type(one).__name__,
                allowed="state, force, keys of the robot's file such as `links.link1.mass`",
            )
    return names


def _chosen(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """The accelerations, and those derivatives that are wanted, in this order."""
    names = [*dict.fromkeys(wanted)]
    keys = [name for name in names if name not in OF_STATE]
    along = mechanism_accelerations_along_numbers(robot, q, qd, tau, keys) if keys or not names else {}
    whole = derivatives(robot, q, qd, tau) if len(keys) < len(names) else {}
    result = {"qdd": (along or whole)["qdd"]}
    for name in names:
        result |= {part: whole[part] for part in OF_STATE[name]} if name in OF_STATE else {name: along[name]}
    return result
