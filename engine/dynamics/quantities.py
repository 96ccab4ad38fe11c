"""Calls of the Python interface for what a tree has besides its dynamics, such as its inertia, one sample or many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..robot.model import Robot
from .calls import inverse
from .derivatives import named_derivatives
from .offered import offered, quick
from .programs import PROGRAMS, link_named
from .samples import Samples, vector

Wrenches = Mapping[str, Any]
ENERGIES = ("kinetic", "potential", "elastic")
ORIGIN = (0.0, 0.0, 0.0)


def inertia(robot: Robot, q: Any) -> np.ndarray:
    """The generalized inertia matrix with rotor inertias."""
    result = quick(robot, ("inertia", (), "", "link"), q)
    if result is None:
        s = Samples(robot, q=q)
        result = offered(robot, "inertia")(s)
    return result


def bias(robot: Robot, q: Any, qd: Any, wrenches: Wrenches | None = None) -> np.ndarray:
    """The forces h of `tau = I qdd + h`: Coriolis, centrifugal, gravity, friction, springs, wrenches."""
    result = quick(robot, ("bias", (), "", "link"), q, qd) if wrenches is None else None
    if result is None:
        s = Samples(robot, q=q, qd=qd)
        if len(robot.tree.bodies) > PROGRAMS["bias"].most:  # inverse dynamics has a loop over the bodies
            return inverse(robot, q, qd, np.zeros(robot.nv), wrenches)
        wrenched, w = s.acting(wrenches)
        result = offered(robot, "bias", wrenched)(s, w=w)
    return result


def energy(robot: Robot, q: Any, qd: Any) -> dict[str, np.ndarray]:
    """Kinetic, potential (datum: the base's origin) and elastic energy."""
    result = quick(robot, ("energy", (), "", "link"), q, qd)
    if result is None:
        s = Samples(robot, q=q, qd=qd)
        result = offered(robot, "energy")(s)
    return dict(zip(ENERGIES, result.T))


def frames(robot: Robot, q: Any, at: str = "link") -> dict[str, np.ndarray]:
    """Frames of all links, name → 4 × 4 in the base; with `at="end"`, the papers' frames i + 1."""
    if not isinstance(at, str) or at not in ("link", "end"):
        result = f"at={at!r}" if isinstance(at, str) else f"at of type {type(at).__name__}"
        raise InputError("unknown frame", found=result, allowed="link, end")
    rows = quick(robot, ("kinematics", (), "", at), q)
    if rows is None:
        s = Samples(robot, q=q)
        rows = offered(robot, "kinematics", at=at)(s)
    placed = np.zeros((*rows.shape[:-2], 4, 4))
    placed[..., :3, :] = rows
    placed[..., 3, 3] = 1.0
    return dict(zip([link.name for link in robot.links], placed.swapaxes(0, -3)))


def jacobian(robot: Robot, q: Any, link: str, at: Any = ORIGIN) -> np.ndarray:
    """The 6 × nv Jacobian: speeds → [ω; v] of the link's point `at` (link axes, or a point's name), base-frame axes."""
    result = quick(robot, ("jacobian", (), link, "link"), q, _doubles(at))
    if result is not None:
        return result
    s = Samples(robot, q=q)
    name = link_named(robot, link)
    return offered(robot, "jacobian", link=name)(s, at=_point(robot, name, at)[None])


def reactions(robot: Robot, q: Any, qd: Any, qdd: Any, wrenches: Wrenches | None = None) -> dict[str, np.ndarray]:
    """Reactions, joint → wrench [n; f] of the parent on the link at its origin, base-frame axes; fixed joints too."""
    result = quick(robot, ("reactions", (), "", "link"), q, qd, qdd) if wrenches is None else None
    if result is None:
        s = Samples(robot, q=q, qd=qd, qdd=qdd)
        wrenched, w = s.acting(wrenches)
        result = offered(robot, "reactions", wrenched)(s, w=w)
    return dict(zip([link.joint.name for link in robot.links], result.swapaxes(0, -2)))


def derivatives(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, np.ndarray]:
    """Accelerations qdd and their derivatives dq, dqd, dtau, nv × nv or N × nv × nv; columns are directions."""
    rows = quick(robot, ("fdyn-derivatives", (), "", "link"), q, qd, tau)
    if rows is None:
        s = Samples(robot, q=q, qd=qd, tau=tau)
        rows = offered(robot, "fdyn-derivatives")(s)
    return named_derivatives(rows, robot.nv)


def _doubles(at: Any) -> Any:
    """An array for a tuple of three floats; any other argument unchanged, for it has to be checked first."""
    return np.array(at) if type(at) is tuple and [type(x) for x in at] == [float] * 3 else at


def _point(robot: Robot, link: str, at: Any) -> np.ndarray:
    """A point of a link, by its name or as three numbers."""
    if isinstance(at, str):
        points = robot.link(link).points
        if at not in points:
            raise InputError(
                f"`{link}` has no such point", found=f"`{at}`", allowed=", ".join(points) or "none is named"
            )
        at = points[at]
    return vector("at", at, 3)
