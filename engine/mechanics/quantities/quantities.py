"""Calls of the Python interface for what a tree has besides its dynamics, such as its inertia, one sample or many."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...robot import Robot
from .calls import inverse
from .direct import Call, direct_call
from .explicit import propagation_of_parameter_rates
from .offered import direct_name_of_quantity, offered_dynamics_quantity
from .programs import PROGRAMS, ROWS, link_named_in_tree
from .samples import resting_speeds, vector_of_dynamics_samples, wrenches_act_on_links
from .subject import Subject

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
from collections.abc import Sequence


def mass_and_centre(
    robot: Robot, q: Sequence[float] | np.ndarray | None = None
) -> tuple[float, tuple[float, float, float]]:
    """The mass, and the mass centre in the base at `q` or in the initial position."""
    placed = frames(robot, robot.q0 if q is None else q)
    mass = sum(link.mass for link in robot.links)
    moment = sum(
        (link.mass * (placed[link.name] @ np.array([*link.com, 1.0]))[:3] for link in robot.links), np.zeros(3)
    )
    centre = moment / mass if mass else moment
    return mass, (float(centre[0]), float(centre[1]), float(centre[2]))


Wrenches = Mapping[str, "ArrayLike"]
ORIGIN = (0.0, 0.0, 0.0)


def inertia(robot: Robot, q: ArrayLike) -> np.ndarray:
    """The generalized inertia matrix with rotor inertias."""
    result: np.ndarray = (_known(robot, "inertia") or _made(robot, "inertia"))(q)
    return result


def inverse_inertia(robot: Robot, q: ArrayLike) -> np.ndarray:
    """The inverse of the generalized inertia matrix, U⁻ᵀ D⁻¹ U⁻¹."""
    result: np.ndarray = (_known(robot, "inverse-inertia") or _made(robot, "inverse-inertia"))(q)
    return result


def bias(robot: Robot, q: ArrayLike, qd: ArrayLike, wrenches: Wrenches | None = None) -> np.ndarray:
    """The forces h of `tau = I qdd + h`: Coriolis, centrifugal, gravity, friction, springs, wrenches."""
    result: np.ndarray
    if wrenches is None:
        result = (_known(robot, "bias") or _bias(robot, ()))(q, qd)
    else:
        links = tree_links_under_wrenches(wrenches)
        result = (_known(robot, ("bias", *links)) or _bias(robot, links))(q, qd, *wrenches.values())
    return result


def _bias(robot: Robot, links: tuple[str, ...]) -> Callable[..., np.ndarray]:
    """The call for the bias; inverse dynamics has a loop over the bodies, which serves robots with very many."""
    if isinstance(robot, Robot) and len(robot.tree.bodies) > PROGRAMS["bias"].most:
        return lambda q, qd, *sixes: inverse(robot, q, qd, np.zeros(robot.nv), dict(zip(links, sixes)) or None)
    return _made(robot, "bias", links)


def energy(robot: Robot, q: ArrayLike, qd: ArrayLike) -> dict[str, np.ndarray]:
    """Kinetic, potential (datum: the base's origin) and elastic energy."""
    result: dict[str, np.ndarray] = (_known(robot, "energy") or _made(robot, "energy"))(q, qd)
    return result


def frames(robot: Robot, q: ArrayLike, at: str = "link") -> dict[str, np.ndarray]:
    """Frames of all links, name → 4 × 4 in the base; with `at="end"`, the papers' frames i + 1."""
    if not isinstance(at, str) or at not in ("link", "end"):
        found = f"at={at!r}" if isinstance(at, str) else f"at of type {type(at).__name__}"
        raise InputError("unknown frame", found=found, allowed="link, end")
    call = _known(robot, "kinematics" if at == "link" else direct_name_of_quantity("kinematics", at=at))
    result: dict[str, np.ndarray] = (call or _made(robot, "kinematics", at=at))(q)
    return result


def jacobian(robot: Robot, q: ArrayLike, link: str, at: ArrayLike = ORIGIN) -> np.ndarray:
    """The 6 × nv Jacobian: speeds → [ω; v] of the link's point `at` (link axes, or a point's name), base-frame axes."""
    if isinstance(at, str):
        at = _point(robot, link, at)
    try:
        call = robot.derived["jacobian", link, "link"]
    except (AttributeError, KeyError, TypeError):
        call = _made(robot, "jacobian", link=link)
    result: np.ndarray = call(q, at)
    return result


def matrices(robot: Robot, q: ArrayLike, qd: ArrayLike | None = None) -> dict[str, Any]:
    """N_l, N_d, M, I, C, h, U, D, I_inverse, M_tilde, M_hat of one state or many, base axes; `order` names the links.

    Rows and columns have the file's order if parents come first there, otherwise that of `order`.  Rotor inertias are
    in I, U and D. Robots with spherical or free joints also have P, which is N_d for the rates of Euler parameters e.
    """
    call = _known(robot, "matrices") or _made(robot, "matrices")
    result: dict[str, Any] = call(q, resting_speeds(robot) if qd is None else qd)
    if any(joint.type.orientation is not None for joint in robot.moving):
        result["P"] = propagation_of_parameter_rates(robot, np.asarray(q, dtype=float), result["N_d"])
    return result


def reactions(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Wrenches | None = None
) -> dict[str, np.ndarray]:
    """Reactions, joint → wrench [n; f] of the parent on the link at its origin, base-frame axes; fixed joints too."""
    links = () if wrenches is None else tree_links_under_wrenches(wrenches)
    result: dict[str, np.ndarray] = _made(robot, "reactions", links)(q, qd, qdd, *(wrenches or {}).values())
    return result


def inertial_adjoint(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, costate: ArrayLike
) -> dict[str, np.ndarray]:
    """The derivatives of costate · qdd along the ten inertial numbers of each link, by link."""
    call = _known(robot, "inertial-adjoint") or _made(robot, "inertial-adjoint")
    result: dict[str, np.ndarray] = call(q, qd, tau, costate)
    return result


def regressor(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """The matrix Y of the spanning tree's forces τ = Y π, π the numbers of `regressor.parameters`."""
    result: np.ndarray = _made(robot, "regressor")(q, qd, qdd)
    return result


def _known(robot: Robot, name: Hashable) -> Callable[..., Any] | None:
    """The robot's direct call of this name, if it was made before."""
    try:
        call: Callable[..., Any] = robot.derived[name]
    except (AttributeError, KeyError, TypeError):
        return None
    return call


def quantity_call(robot: Robot, what: str, general: Callable[..., Any], links: tuple[str, ...] = ()) -> Call:
    """The robot's direct call of this row of the table of programs, which is made once.

    Where the robot is more than its tree it calls `general` with the robot, the row's inputs and the wrenches.
    """
    row = ROWS[what]
    if not isinstance(robot, Robot) or not row.is_beyond(robot):
        return _made(robot, what, links)
    widths = row.widths(Subject(robot, ())).values()
    named = {"links": links} if links else {}
    return direct_call(robot, what, links, [*widths], partial(general, robot, **named), row.about)


def _made(robot: Robot, what: str, links: tuple[str, ...] = (), link: str = "", at: str = "link") -> Callable[..., Any]:
    """A new direct call of this row of the table of programs."""
    if not isinstance(robot, Robot):
        raise InputError("not a robot", found=type(robot).__name__, allowed="what `denoc.load` gives")
    wrenches_act_on_links(robot, links)
    if "at" in ROWS[what].inputs:
        link = link_named_in_tree(robot, link)
    return offered_dynamics_quantity(robot, what, links, link, at).direct()


def tree_links_under_wrenches(wrenches: Any) -> tuple[str, ...]:
    """The names of the links on which wrenches act."""
    if type(wrenches) is not dict and not isinstance(wrenches, Mapping):
        raise InputError("`wrenches` is not a mapping", found=type(wrenches).__name__, allowed="{link: [n, f]}")
    return tuple(wrenches)


def _point(robot: Robot, link: str, at: str) -> tuple[float, ...]:
    """The place of a named point of a link."""
    points = robot.link(link_named_in_tree(robot, link)).points
    if at not in points:
        raise InputError(f"`{link}` has no such point", found=f"`{at}`", allowed=", ".join(points) or "none is named")
    return tuple(float(x) for x in vector_of_dynamics_samples("at", points[at], 3))
