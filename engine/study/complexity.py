"""Operation counts: the papers' tables, and the operations of our own recursion."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..machine.program import Count, Program, Recording, count_operations
from ..mechanics.assembly import assemble
from ..mechanics.mechanisms import (
    TEXTS,
    Forward,
    mechanism_text_around_position,
    mechanism_text_with_balance_order,
    program_of_mechanism_quantity,
)
from ..mechanics.mechanisms import recorded_mechanism_program as recorded_text
from ..mechanics.numbers import regrouped_bodies
from ..mechanics.quantities import PROGRAMS
from ..mechanics.tree import Vector, inertia_matrix, solve_with_inertia_factors, sweep_tree
from ..robot import TURN_PLANES, Body, Drive, Robot, X

Polynomial = tuple[Fraction | int, ...]  # coefficients of 1, n, n², n³


@dataclass(frozen=True)
class Published:
    """A row of a paper's table: multiplications (with divisions) and additions as polynomials in n."""

    algorithm: str
    multiplications: Polynomial
    additions: Polynomial

    def at(self, n: int) -> tuple[int, int]:
        return _value(self.multiplications, n), _value(self.additions, n)

    def formulas(self) -> tuple[str, str]:
        return _formula(self.multiplications), _formula(self.additions)


# Saha's overview, Table 1 (the same rows as Saha 1999, Table 1)
INVERSE = (
    Published("Hollerbach (1980)", (-277, 412), (-201, 320)),
    Published("Luh et al. (1980)", (-48, 150), (48, 131)),
    Published("Walker and Orin (1982)", (-22, 137), (-11, 101)),
    Published("RIDIM (Saha, 1999)", (-44, 120), (-55, 97)),
    Published("Khalil et al. (1986)", (-92, 105), (-86, 94)),
    Published("Angeles et al. (1989)", (-109, 105), (-105, 90)),
    Published("Balafoutis et al. (1988)", (-69, 93), (-65, 81)),
)
# Saha's overview, Table 2, and the row of Saha (1999), Table 2, that the overview leaves out
FORWARD = (
    Published("Mohan and Saha (2007)", (-128, 173), (-133, 150)),
    Published("Saha (2003)", (-284, 191), (-325, 187)),
    Published("Saha (1999), proposed", (-335, 201), (-361, 193)),
    Published("Featherstone (1983)", (-198, 199), (-173, 174)),
    Published("Valasek", (-343, 226), (-345, 206)),
    Published("Brandle et al.", (-222, 250), (-198, 220)),
    Published(
        "Walker and Orin (as implemented by Featherstone)",
        (-47, Fraction(115, 3), Fraction(23, 2), Fraction(1, 6)),
        (-46, Fraction(233, 6), 7, Fraction(1, 6)),
    ),
)


def _value(polynomial: Polynomial, n: int) -> int:
    value: int = round(sum(c * n**k for k, c in enumerate(polynomial)))
    return value


def _formula(polynomial: Polynomial) -> str:
    powers = ("", "n", "n^2", "n^3")
    terms = [(c, powers[k]) for k, c in reversed(list(enumerate(polynomial))) if c]
    text = "".join(f" {'-' if c < 0 else '+'} {abs(c) if c not in (1, -1) or not p else ''}{p}" for c, p in terms)
    return text.strip().removeprefix("+ ")


# ---- our own recursion


def general_chain(recording: Recording, n: int, *, regroup: bool, frames: str) -> tuple[Body, ...]:
    """A chain of n revolute joints whose DH constants and inertias are symbols.

    With `saha` frames a link's origin is the foot of the common normal with the axis before it; with `khalil` ones,
    that with the axis beyond it, on the joint's own axis.
    """
    bodies = []
    for i in range(n):
        # symbols in the places of a body's numbers
        dh: list[Any] = list(recording.input(f"dh{i}_", 5))
        inertias: list[Any] = list(recording.input(f"e{i}_", 10))
        ca, sa, tangent, a, b = dh
        exx, eyy, ezz, exy, exz, eyz, hx, hy, hz, m = inertias
        turned: Any = ((*TURN_PLANES[X], ca, sa, tangent),) if i else ()
        if regroup:  # these parts have been moved to the parent
            ezz, hz, m = 0.0, 0.0, 0.0
        bodies.append(
            Body(
                parent=i - 1 if i else None,
                rotation=turned,
                origin=(0.0, 0.0, 0.0) if i == 0 else (a, 0.0, b) if frames == "saha" else (a, 0.0, 0.0),
                beyond=b if i and frames == "khalil" else 0.0,
                moves=(("turn", 2, 0),),
                directions=(2,),
                coordinates=(i,),
                speeds=(i,),
                drives=(Drive(),),
                E=((exx, exy, exz), (exy, eyy, eyz), (exz, eyz, ezz)),
                h=(hx, hy, hz),
                m=m,
            )
        )
    return tuple(bodies)


def _inverse(bodies: tuple[Body, ...], gravity: Any, q: Vector, qd: Vector, x: Vector) -> Vector:
    """The forces for the accelerations x."""
    return sweep_tree(bodies, gravity, q, qd, x, (True,) * len(x))[0]


def _forward(bodies: tuple[Body, ...], gravity: Any, q: Vector, qd: Vector, x: Vector) -> Vector:
    """The accelerations under the forces x, by the recursion."""
    return sweep_tree(bodies, gravity, q, qd, x, (False,) * len(x))[0]


def _dense(bodies: tuple[Body, ...], gravity: Any, q: Vector, qd: Vector, x: Vector) -> Vector:
    """The accelerations by the full inertia matrix: bias, composite bodies, U D Uᵀ."""
    bias = _bias(bodies, gravity, q, qd, x)
    return solve_with_inertia_factors(inertia_matrix(bodies, q, len(x)), [force - h for force, h in zip(x, bias)])


def _bias(bodies: tuple[Body, ...], gravity: Any, q: Vector, qd: Vector, x: Vector) -> Vector:
    """The forces that hold the joints' speeds."""
    return _inverse(bodies, gravity, q, qd, [0.0] * len(x))


ALGORITHMS: dict[str, Callable[..., Vector]] = {
    "inverse": _inverse,
    "forward": _forward,
    "forward, dense": _dense,
}
PARTS = {"bias": _bias}  # of the dense way
FRAMES = {"forward": "khalil"}  # where an articulated inertia is moved along the axis on which it has zeros


@cache  # several tables ask for the same counts
def complexity_of_chain(what: str, n: int, *, regroup: bool = True) -> Count:
    """The operations for a general chain of n revolute joints, with gravity along the first axis.

    What follows from the robot's numbers alone is computed once for all instants and isn't counted.
    """
    recording = Recording(what)
    bodies = general_chain(recording, n, regroup=regroup, frames=FRAMES.get(what, "saha"))
    numbers = [node for group in recording.inputs.values() for node in group]
    q, qd, x = (recording.input(name, n) for name in ("q", "qd", "x"))
    g = recording.graph.input("g")
    out = (ALGORITHMS | PARTS)[what](bodies, [0.0, 0.0, g], q, qd, x)
    return count_operations(recording.program(out=out).results(), [*numbers, g])


class DenseForward(Forward):
    """Accelerations of a mechanism with all its subsystems in one system of equations."""

    divided = False


NAMES = {"inverse": "idyn", "forward": "fdyn"}  # in the table of programs
UNDIVIDED = "inverse, dense"  # of mechanisms: all branches in one system of equations
# what is counted of a robot
OF_ROBOTS = ("inverse", UNDIVIDED, "forward", "forward, dense", *(x for x in PROGRAMS if x not in NAMES.values()))
OF_TREES = tuple(what for what in OF_ROBOTS if what in PROGRAMS and what not in TEXTS)  # whether there are loops or not


def complexity_of_robot(robot: Robot) -> tuple[str, ...]:
    """What is counted of this robot."""
    return tuple(what for what in OF_ROBOTS if what != UNDIVIDED or robot.tied)


def program_for_complexity(robot: Robot, what: str, *, regroup: bool = True) -> Program:
    """The recorded program for a robot, into which its numbers are folded."""
    if NAMES.get(what, what) in PROGRAMS:
        return program_of_mechanism_quantity(robot, NAMES.get(what, what), regroup=regroup)
    if what == UNDIVIDED:
        return recorded_text(
            mechanism_text_with_balance_order(robot, assemble(robot, robot.q0), divided=False), "idyn", regroup=regroup
        )
    if robot.tied:
        return recorded_text(
            mechanism_text_around_position(robot, assemble(robot, robot.q0), DenseForward), "fdyn", regroup=regroup
        )
    recording = Recording(what)
    q: Vector = list(recording.input("q", robot.nq))
    qd: Vector = list(recording.input("qd", robot.nv))
    x: Vector = list(recording.input("x", robot.nv))
    bodies = regrouped_bodies(robot.tree.bodies) if regroup else robot.tree.bodies
    return recording.program(out=_dense(bodies, robot.gravity, q, qd, x))


def complexity_crossover(counts: dict[int, tuple[Count, Count]]) -> dict[str, int | None]:
    """The least n from which on the O(n) recursion is cheaper by multiplications, and by all operations."""

    def first(cost: Callable[[Count], int]) -> int | None:
        cheaper = [n for n, (recursive, dense) in counts.items() if cost(recursive) < cost(dense)]
        dearer = [n for n in counts if n not in cheaper]
        return min((n for n in cheaper if n > max(dearer, default=0)), default=None)

    return {
        "multiplications": first(lambda c: c.multiplications),
        "operations": first(lambda c: c.multiplications + c.additions),
    }


def measured_complexity_times(
    robots: dict[int, Robot], samples: int = 1024, rounds: int = 30
) -> dict[int, tuple[float, float]]:
    """The seconds per sample of compiled O(n) and dense forward dynamics, for each chain."""
    from ..machine.jit import build_kernel

    seconds = {}
    rng = np.random.default_rng(1)
    for n, robot in robots.items():
        times = []
        arrays = [rng.standard_normal((samples, n)) for _ in range(3)]
        for what in ("forward", "forward, dense"):
            made = program_for_complexity(robot, what)
            identity = (what, repr(robot.tree.bodies), repr(robot.gravity))
            kernel = build_kernel(lambda made=made: made, [n, n, n], [n], identity, False)  # type: ignore[misc]
            assert kernel is not None
            best = np.inf
            for _ in range(rounds):
                begun = time.thread_time()
                kernel(*arrays)
                best = min(best, time.thread_time() - begun)
            times.append(best / samples)
        seconds[n] = (times[0], times[1])
    return seconds


def chain_robot_for_times(n: int) -> Robot:
    """A chain of n links without zeros among its numbers, which would save operations."""
    from ..formats import loads

    text = f"""
name: chain{n}
convention: dh
links:
  - repeat: {n}
    links:
      - name: link{{k}}
        joint: {{type: revolute, a: 0.11, b: 0.03, alpha: 0.7, theta: 0}}
        mass: 0.12
        r: [0.05, 0.01, -0.02]
        inertia: {{xx: 6.0e-5, yy: 1.03e-4, zz: 1.1e-4, xy: 1e-5, xz: -2e-6, yz: 4e-6}}
"""
    return loads(text)
