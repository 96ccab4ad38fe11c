"""The decoupled natural orthogonal complement of parallel robots: t = N_l N_c N_d θ̇ (Saha's overview, section 3).

In a leg the rates of the joints that aren't kept are eliminated one after the other, from the platform inwards.  With
p̃ the platform's twist t_e for a unit of such a rate, without the directions of the joints beyond,

    θ̇ = p̃ᵀ (t_e − …) / δ,   δ = p̃ᵀ p̃,   Φ ← Φ − p̃ p̃ᵀ / δ                              (eqs. 25 to 27)

The rest, Φ t_e = Φ Σ p θ̇ over the kept joints, is summed over the legs and solved for t_e (eqs. 28 and 29).  Twists
are [ω; v], v at the mass centres, in base-frame axes; e is the platform's mass centre.  In products p̃ᵀ p̃ slides are
measured in lengths of the mechanism, so that no unit matters.  The paper has the actuator in each leg's first joint;
here it may be any, so the contribution of kept joints beyond a joint is subtracted as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, NumericalError
from ...machine.program import kernel_parts_divided
from ...robot import Robot
from ..closure.constraints import Closure, loop_closure
from ..closure.partition import independent_speeds
from ..mechanisms.families import TextFamily, serve_mechanism_calls
from ..mechanisms.mechanism import COORDINATES, independent_coordinates
from ..quantities.direct import direct_call
from ..quantities.samples import Samples, dynamics_call_with_checked_results
from .decoupled_text import Decoupled
from .parallel_robot import Parallel, legs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

AT_REST, IN_MOTION = "decoupled matrices at rest", "decoupled matrices"  # names of direct calls


def parallel_matrices(
    robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, platform: str | None = None
) -> dict[str, Any]:
    """N_l, N_c, N_d with t = N_l N_c N_d θ̇_a, M, I = Nᵀ M N, J, J_e and K of one state, base-frame axes.

    θ̇_a are the actuated speeds (with more actuators than freedoms, independent ones), named by `independent`; J gives
    all speeds of the spanning tree from them, J_e the platform's twist, K is the sum of the legs' projections.  Twists
    are in `order`, leg by leg, the platform last; rotor inertias are in I.  With `qd`, t is there too.
    """
    name = AT_REST if qd is None else IN_MOTION
    try:
        call = robot.derived[name, platform]
    except (AttributeError, KeyError, TypeError):
        call = _call(robot, name, platform)
    result: dict[str, Any] = call(q) if qd is None else call(q, qd)
    return result


def _call(robot: Robot, name: str, platform: str | None) -> Callable[..., Any]:
    """The robot's direct call of this name for this platform."""
    parts = legs(robot, platform)
    widths = (robot.nq,) if name == AT_REST else (robot.nq, robot.nv)
    general = partial(_generally, robot, name, parts, platform)
    return direct_call(robot, (name, platform), (), widths, general, parallel_matrices.__doc__ or "")


@dynamics_call_with_checked_results
def _generally(
    robot: Robot, name: str, parts: Parallel, platform: str | None, q: ArrayLike, qd: ArrayLike | None = None
) -> dict[str, Any]:
    """The matrices for arguments of any kind, which are checked."""
    s = Samples(robot, q=q, qd=np.zeros(robot.nv) if qd is None else qd).finite()
    if s.count is not None:
        raise InputError("the matrices are made for one state at a time", found=f"{s.count} samples")
    loops, arrays = loop_closure(robot), {"q": s.rows("q"), "qd": s.rows("qd")}
    kept = independent_coordinates(loops, arrays["q"][0])
    try:
        family = _family(loops, parts, kept, name)
        rows = family.rows(arrays)
        if kept == robot.derived.get(COORDINATES):
            serve_mechanism_calls(family.known[0], (name, platform))
    except NumericalError:
        own = independent_speeds(loops, loops.jacobian(arrays["q"][0])[0])
        if own == kept:
            raise
        family = _family(loops, parts, own, name)
        rows = family.rows(arrays)
    result = kernel_parts_divided(rows[0], family.known[0].parts())
    assert isinstance(result, dict)
    return result


def _family(loops: Closure, parts: Parallel, kept: Sequence[int], name: str) -> TextFamily:
    """The family of the robot's texts with these kept speeds."""
    text = partial(Decoupled.at_position, loops, parts, kept, name == IN_MOTION)
    return loops.robot.made_once((Decoupled, parts.platform, tuple(kept), name), lambda: TextFamily(loops, text))
