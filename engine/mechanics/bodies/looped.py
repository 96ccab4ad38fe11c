"""The mixed dynamics as a loop over bodies: which kinds of bodies there are, and what the loop runs over."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...machine.backend import MOST_STRAIGHT, code_runs_rolled
from ...machine.jit import Elements, Sweep, SweepProgram
from ...robot import Body
from ..tree import sweeps
from ..tree.spatial import Vector
from ..tree.springs import cords_of_bodies
from .body_kinds import (
    BodyKind,
    BodyTraits,
    body_structure,
    first_step_of_body_kind,
    second_step_of_body_kind,
    third_step_of_body_kind,
)


def runs_as_loop_over_bodies(bodies: Sequence[Body], most: int = MOST_STRAIGHT) -> bool:
    """Whether compiled code loops over these bodies, if they are more than `most`: no spring reaches across them."""
    return code_runs_rolled(len(bodies), most=most) and not any(cords_of_bodies(bodies))


def _way_to(bodies: Sequence[Body], ends: Collection[int]) -> list[bool]:
    """Whether each body is one of these or carries one of them."""
    result = [i in ends for i in range(len(bodies))]
    for i, body in reversed(list(enumerate(bodies))):
        if result[i] and body.parent is not None:
            result[body.parent] = True
    return result


def looped_tree_sweep_program(
    bodies: Sequence[Body],
    gravity: Sequence[float],
    motion_given: Sequence[bool],
    wrenched: Sequence[int] = (),
    loaded: Sequence[tuple[int, Sequence[float]]] = (),
    least: Sequence[float] = (),
    held: Collection[int] = (),
) -> tuple[SweepProgram, Elements]:
    """The loop of `sweeps.sweep_tree` over bodies, and the elements that it runs over.

    The inputs `w` and `b` hold six numbers for each of the bodies `wrenched`, in its axes, and for each load on a body
    and point in `loaded`, ordered by bodies, in base axes.  `least` has for each speed the pivot below which
    the results are given up, or 0.  For the speeds that may be `held` the input `hold` is 1 where they are, else 0; the
    force that holds each then stands behind all that is sought.
    """
    bounds = least or [0.0] * len(motion_given)
    loose = sweeps.bodies_under_unknown_accelerations(bodies, motion_given)
    flags = _flags(bodies, motion_given, loose, wrenched, [body for body, _ in loaded], bounds, held)
    names = list(dict.fromkeys(flags))
    kinds = [
        BodyKind([body for body, flag in zip(bodies, flags) if flag == name], BodyTraits(*name[1:])) for name in names
    ]
    inputs = ("q", "qd", "x", *["w"] * bool(wrenched), *["b"] * bool(loaded), *["hold"] * bool(held))
    outputs = ("sought", *["support"] * bool(held))
    g: Vector = list(gravity)
    all_sweeps = [
        Sweep(False, [first_step_of_body_kind(kind, g) for kind in kinds]),
        Sweep(True, [second_step_of_body_kind(kind, "sought") for kind in kinds]),
    ]
    if any(loose):
        all_sweeps.append(Sweep(False, [third_step_of_body_kind(kind, "sought") for kind in kinds]))
    loop = SweepProgram(all_sweeps, inputs, outputs, (repr([kind.identity() for kind in kinds]), repr(inputs)))
    elements = Elements(
        kinds=[names.index(flag) for flag in flags],
        parents=[0 if body.parent is None else body.parent + 1 for body in bodies],
        columns=_columns(bodies, len(motion_given), wrenched, [body for body, _ in loaded]),
        numbers=[
            [
                *kinds[names.index(flag)].numbers(body),
                *(x for other, point in loaded if other == i for x in point),
                *(bounds[k] for k in body.speeds),
            ]
            for i, (body, flag) in enumerate(zip(bodies, flags))
        ],
        ground={("a", r): -gravity[r] for r in range(3)} | ({("R", r, r): 1.0 for r in range(3)} if loaded else {}),
    )
    return loop, elements


def _flags(
    bodies: Sequence[Body],
    motion_given: Sequence[bool],
    loose: Sequence[bool],
    wrenched: Sequence[int],
    loaded: Sequence[int],
    bounds: Sequence[float],
    held: Collection[int],
) -> list[tuple[Any, ...]]:
    """What decides on the kind of each body: its structure, then its `BodyTraits`."""
    turned, flags = _way_to(bodies, loaded), []
    for i, body in enumerate(bodies):
        given = tuple(motion_given[k] for k in body.speeds)
        above = body.parent is not None and loose[body.parent]
        watched = tuple(bool(bounds[k]) for k in body.speeds)
        holds = tuple(k in held for k in body.speeds)
        loads = sum(other == i for other in loaded)
        flags.append((body_structure(body), given, loose[i], above, i in wrenched, turned[i], loads, watched, holds))
    return flags


def _columns(
    bodies: Sequence[Body], nv: int, wrenched: Sequence[int], loaded: Sequence[int]
) -> dict[str, Sequence[int]]:
    """For each input and output, the column at which the numbers of each body begin."""
    first_speed = [body.speeds[0] if body.speeds else 0 for body in bodies]
    places = {i: 6 * k for k, i in enumerate(wrenched)}
    firsts = {body: 6 * k for k, body in reversed(list(enumerate(loaded)))}
    return {
        "q": [body.coordinates[0] if body.coordinates else 0 for body in bodies],
        **dict.fromkeys(("qd", "x", "sought", "hold"), first_speed),
        "support": [nv + k for k in first_speed],
        "w": [places.get(i, 0) for i in range(len(bodies))],
        "b": [firsts.get(i, 0) for i in range(len(bodies))],
    }
