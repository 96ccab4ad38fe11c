"""Forward dynamics of mechanisms as a loop over subsystems: one step for each kind of subsystem and sweep.

Subsystems whose steps differ in numbers only are of one kind.  Numbers that differ among them are inputs of the step.
The text of a step is that of `embedding.py`; which sweep does what of it, and what has to be kept from one sweep to the
next, is found by `machine/jit/phases.py`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...machine.jit import Elements, PhasedStep, Sweep, SweepProgram, settled_kernel_elements
from ...machine.program import Scalar
from ...robot import Body, Coupling, Placement
from ..closure.blocks import Block
from ..closure.constrained import Openness, closing_margins_of_loops
from ..closure.constraints import Closure
from ..closure.elimination import Elimination, pivot_margin_of_constraints
from ..closure.embedding import (
    Group,
    State,
    embed_loop_group,
    embed_loops_first_sweep,
    embed_loops_second_sweep,
    embed_loops_third_sweep,
    freedom_pivots_of_loop_group,
)
from ..closure.partition import Partition, Portion, partition_portions
from ..closure.ties import Tie, TieSide
from ..numbers.number_symbols import number_leaves_of_bodies, planted_bodies, shape_of_bodies
from ..tree.one_body import Motion, rate_tensor
from ..tree.spatial import add
from ..tree.vanishing import joint_pivot_loss

SIX = range(6)
UPPER = [(r, s) for r in SIX for s in range(r, 6)]
OUT, IN, AGAIN = range(3)
FREE = ("", "")
ALONG = ("least", "slack")  # numbers that depend on the whole mechanism: always inputs
MASSES = ("E", "h", "m")  # those of bodies that carry others depend on these, too
FEW = 5  # subsystems with loops from which on a loop over them is compiled


@dataclass(frozen=True)
class Numbers:
    """All of a subsystem in which equal ones may differ: its bodies, ties and couplings, and limits of pivots."""

    bodies: tuple[Body, ...]
    ties: tuple[Tie, ...]
    couplings: tuple[Coupling, ...]
    limits: tuple[float, ...]
    least: tuple[float, ...]
    slack: tuple[float, float]  # the largest sums of squares of gaps, and of their rates for speeds of 1


@dataclass(frozen=True)
class Form:
    """All else that the step of a subsystem depends on; bodies, speeds and coordinates are counted within it."""

    shape: Any
    portion: Portion
    bearing: tuple[int, ...]  # the bodies on which other groups hang
    N: tuple[tuple[float, ...], ...]
    known: tuple[int, ...]  # places of the known rows among the subsystem's own
    coordinates: tuple[int, ...]  # from the first one on
    speeds: tuple[int, ...]
    row_scale: tuple[float, ...]
    column_scale: tuple[float, ...]
    carrier: int | None  # the body of the group before that carries this one, within that group
    begins: bool  # whether it is the first one to hand anything on to that body
    begins_group: bool  # and to that group
    watched: tuple[bool, ...]


@dataclass(frozen=True)
class Element:
    """One subsystem as an element of the loop."""

    form: Form
    numbers: Numbers
    parent: int | None
    first_coordinate: int
    first_speed: int


class Kind:
    """Subsystems of one form, and the places of those of their numbers in which they differ."""

    def __init__(self, loops: Closure, elements: Sequence[Element]):
        self.form, self.model, self._loops = elements[0].form, elements[0].numbers, loops
        values = [dict(number_leaves_of_bodies(one.numbers)) for one in elements]
        always = [path for path, x in values[0].items() if path[0] in ALONG or (x and self._carries(path))]
        self.paths = [path for path in values[0] if path in always or len({one[path] for one in values}) > 1]
        self.constants = [(path, x) for path, x in values[0].items() if path not in self.paths]

    def _carries(self, path: tuple[Any, ...]) -> bool:
        """Whether a number is an inertia of a body that other groups hang on, whose masses may have moved there."""
        return path[0] == "bodies" and path[1] in self.form.bearing and path[2] in MASSES

    def numbers(self, element: Element) -> list[float]:
        """The element's numbers in which its kind differs."""
        values = dict(number_leaves_of_bodies(element.numbers))
        return [values[path] for path in self.paths]

    def identity(self) -> tuple[Any, ...]:
        """All that the kind's steps depend on."""
        return self.form, self.paths, self.constants

    def record(self, filled: Container[Any], gravity: Sequence[float]) -> PhasedStep:
        """The text of one subsystem of this kind."""
        form, step = self.form, PhasedStep(3, filled)
        own: Numbers = planted_bodies(
            self.model, {path: step.take(OUT, "number", k) for k, path in enumerate(self.paths)}
        )
        q = [step.take(OUT, "q", k) for k in form.coordinates]
        qd = [step.take(OUT, "qd", k) for k in form.speeds]
        tau = [step.take(IN, "tau", k) for k in form.speeds]
        group = Group(form.portion)
        state = State(q, qd, tau, [False] * len(qd), list(gravity))
        embed_loops_first_sweep(
            group, own.bodies, state, None if form.carrier is None else _carrying(step, form.carrier)
        )
        openness = self._closed(group, own, q, qd)
        for i in form.bearing:
            for name in ("w", "wd", "a"):
                for r in range(3):
                    step.put(OUT, "own", (name, i, r), getattr(group.motions[i], name)[r])
        self._eliminate(step, group, own, state)
        self._check(step, openness, own.slack)
        self._accelerate(step, group, own, state)
        return step

    def _closed(self, group: Group, own: Numbers, q: list[Scalar], qd: list[Scalar]) -> Openness:
        """Closes the group's loops in its accelerations; what comes out is how well they are closed at q and qd."""
        form = self.form
        if not form.portion.block.tied:
            return closing_margins_of_loops(1.0, [], [], qd, form.row_scale, form.column_scale)
        loops = self._loops.with_numbers(own.bodies, own.ties, own.couplings)
        tied = loops.ties_at(q)
        J, drift = loops.rates(q, qd, tied)
        A = [[J[r].get(k, 0.0) for k in range(len(qd))] for r in form.known]
        K = Elimination([*A, *(list(row) for row in form.N)], form.portion.order, form.portion.sums)
        embed_loop_group(group, K, [-drift[r] for r in form.known])
        margin = pivot_margin_of_constraints([pivot * pivot for pivot in K.pivots], own.limits)
        return closing_margins_of_loops(margin, loops.gaps(q, tied), J, qd, form.row_scale, form.column_scale)

    def _eliminate(self, step: PhasedStep, group: Group, own: Numbers, state: State) -> None:
        form = self.form
        for i in form.bearing:
            upper = {(r, s): step.take(IN, "own", ("A", i, r, s)) for r, s in UPPER}
            group.A[i] = [[upper[min(r, s), max(r, s)] for s in SIX] for r in SIX]
            group.W[i] = add(group.W[i], [step.take(IN, "own", ("W", i, r)) for r in SIX])
        handed_on = embed_loops_second_sweep(group, own.bodies, state, form.carrier is not None)
        if handed_on is not None:
            A, W = handed_on
            rows = {("A", form.carrier, r, s): A[r][s] for r, s in UPPER}
            for row, x in (rows | {("W", form.carrier, r): W[r] for r in SIX}).items():
                step.put(IN, "up", row, x if form.begins else step.take(IN, "up", row) + x)
        for bound, one_over, watched in zip(
            own.least, freedom_pivots_of_loop_group(group, own.bodies, state), form.watched
        ):
            if watched:
                step.watch(IN, joint_pivot_loss(bound, one_over))

    def _check(self, step: PhasedStep, openness: Openness, slack: Sequence[Scalar]) -> None:
        """Hands on the checks of the group and of all that hang on it, or leaves them among the results."""
        form = self.form
        total = openness
        if form.bearing:
            others = Openness(*(step.take(IN, "own", ("check", k)) for k in range(4)))
            total = total.with_other(others)
        if form.carrier is None:
            for k, x in enumerate(total.checks(*slack)):
                step.put(IN, "checks", k, x)
            return
        if not form.begins_group:
            total = Openness(*(step.take(IN, "up", ("check", k)) for k in range(4))).with_other(total)
        for k, x in enumerate(total):
            step.put(IN, "up", ("check", k), x)

    def _accelerate(self, step: PhasedStep, group: Group, own: Numbers, state: State) -> None:
        form = self.form
        sought: list[Scalar] = [0.0] * len(form.speeds)
        up = None
        if form.carrier is not None:
            up = [step.take(AGAIN, "up", ("extra", form.carrier, r)) for r in SIX]
        moved = embed_loops_third_sweep(group, own.bodies, state, up, sought)
        for k, x in zip(form.speeds, sought):
            step.put(AGAIN, "sought", k, x)
        for i in form.bearing:
            for r in SIX:
                step.put(AGAIN, "own", ("extra", i, r), moved[i][r])


def _carrying(step: PhasedStep, carrier: int) -> Motion:
    """The motion of the body that carries the group."""
    here = Motion()
    here.w, here.wd, here.a = (
        [step.take(OUT, "up", (name, carrier, r)) for r in range(3)] for name in ("w", "wd", "a")
    )
    here.U = rate_tensor(here.w, here.wd)
    return here


# ---- a mechanism's subsystems as elements


@dataclass(frozen=True)
class Bounds:
    """How small pivots may become, and how large gaps.

    `near` is the share of a pivot below which other coordinates are taken, `least` has the least pivot of each freedom,
    `slack` the largest sums of squares of gaps, and of their rates for speeds of 1.
    """

    near: float
    least: Sequence[float]
    slack: tuple[float, float]


@dataclass(frozen=True)
class Hanging:
    """How a subsystem hangs on the one before, `parent`; bodies are counted within their subsystems."""

    parent: int | None
    carrier: int | None
    begins: bool
    begins_group: bool


def looped_subsystem_elements(loops: Closure, part: Partition, bounds: Bounds) -> list[Element] | None:
    """The subsystems as elements of a loop, those that others hang on first; None where these are one."""
    divided = partition_portions(loops, part)
    if len(divided) != len(loops.blocks):
        return None
    group_of = {i: g for g, portion in enumerate(divided) for i in portion.block.bodies}
    hung_on = {portion.block.parent for portion in divided}
    handed, handed_group = set[int | None](), set[int | None]()
    result: list[Element] = []
    for portion in reversed(divided):  # in the order of the second sweep
        parent, bodies = portion.block.parent, portion.block.bodies
        above = group_of[parent] if parent is not None else None
        carrier = divided[above].block.bodies.index(parent) if above is not None and parent is not None else None
        hanging = Hanging(above, carrier, parent not in handed, above not in handed_group)
        handed.add(parent)
        handed_group.add(above)
        bearing = tuple(place for place, i in enumerate(bodies) if i in hung_on)
        result.append(_element(loops, part, portion, bearing, hanging, bounds))
    return result[::-1]


def _element(
    loops: Closure, part: Partition, portion: Portion, bearing: tuple[int, ...], hanging: Hanging, bounds: Bounds
) -> Element:
    block, at = portion.block, {i: place for place, i in enumerate(portion.block.bodies)}
    coordinates = sorted(c for i in block.bodies for c in loops.bodies[i].coordinates)
    speeds, rows = list(block.speeds), loops.rows_of(block)
    freedoms = [r - (loops.robot.nv - len(part.N)) for r in portion.rows[portion.known :]]
    least = tuple(float(bounds.least[c]) for c in freedoms) if bounds.least else (0.0,) * len(freedoms)
    limits = (1.0 / (bounds.near * part.pivots[place]) ** 2 for place in portion.pivots)
    numbers = Numbers(
        bodies=tuple(_body(loops.bodies[i], at, coordinates, speeds) for i in block.bodies),
        ties=tuple(_tie(loops.ties[place], at) for place in block.ties),
        couplings=tuple(_coupling(loops.couplings[place], coordinates, speeds) for place in block.couplings),
        limits=tuple(limits) if block.tied else (),
        least=least,
        slack=bounds.slack,
    )
    local = Block(
        bodies=tuple(range(len(block.bodies))),
        parent=None,
        speeds=tuple(range(len(speeds))),
        ties=tuple(range(len(block.ties))),
        couplings=tuple(range(len(block.couplings))),
        carriers=tuple(at[i] for i in block.carriers),
    )
    form = Form(
        shape=shape_of_bodies(numbers),
        portion=replace(portion, block=local, rows=tuple(range(len(portion.rows))), pivots=()),
        bearing=bearing,
        N=tuple(tuple(part.N[c][k] for k in speeds) for c in freedoms),
        known=tuple(rows.index(part.rows[r]) for r in portion.rows[: portion.known]),
        coordinates=tuple(c - coordinates[0] for c in coordinates),
        speeds=tuple(k - speeds[0] for k in speeds),
        row_scale=tuple(float(loops.row_scale[r]) for r in rows),
        column_scale=tuple(float(loops.column_scale[k]) for k in speeds),
        carrier=hanging.carrier,
        begins=hanging.begins,
        begins_group=hanging.begins_group,
        watched=tuple(x > 0.0 for x in least),
    )
    return Element(form, numbers, hanging.parent, coordinates[0] if coordinates else 0, speeds[0] if speeds else 0)


def _body(body: Body, at: dict[int, int], coordinates: list[int], speeds: list[int]) -> Body:
    return replace(
        body,
        parent=at.get(body.parent) if body.parent is not None else None,
        coordinates=tuple(coordinates.index(c) for c in body.coordinates),
        speeds=tuple(speeds.index(k) for k in body.speeds),
        drives=tuple(drive.moved(coordinates.index) for drive in body.drives),
    )


def _tie(tie: Tie, at: dict[int, int]) -> Tie:
    first, second = (
        TieSide(tuple(at[i] for i in side.chain), side.rotation, side.origin) for side in (tie.first, tie.second)
    )
    return Tie("", FREE, (Placement(), Placement()), first, second, tie.rows)


def _coupling(one: Coupling, coordinates: list[int], speeds: list[int]) -> Coupling:
    return replace(
        one,
        coordinate=coordinates.index(one.coordinate),
        speed=speeds.index(one.speed),
        leaders=tuple(
            replace(leader, coordinate=coordinates.index(leader.coordinate), speed=speeds.index(leader.speed))
            for leader in one.leaders
        ),
    )


def subsystems_are_repeated(found: Sequence[Element]) -> bool:
    """Whether subsystems with loops are many and of few kinds."""
    tied = [one.form for one in found if one.form.portion.block.tied]
    return len(tied) >= max(FEW, len(set(tied)) + 2)


def looped_subsystem_sweep_program(loops: Closure, found: Sequence[Element]) -> tuple[SweepProgram, Elements]:
    """The loop over these subsystems; each one that hangs on the base has checks behind the accelerations."""
    forms = list(dict.fromkeys(one.form for one in found))
    kinds = [Kind(loops, [one for one in found if one.form == form]) for form in forms]
    gravity = list(loops.robot.gravity)
    texts, wanted = settled_kernel_elements(lambda filled: [kind.record(filled, gravity) for kind in kinds])
    steps = [text.steps(wanted) for text in texts]
    sweeps = [Sweep(phase == IN, [own[phase] for own in steps]) for phase in (OUT, IN, AGAIN)]
    identity = (repr([kind.identity() for kind in kinds]), repr(gravity))
    loop = SweepProgram(sweeps, ("q", "qd", "tau"), ("sought", "checks"), identity)
    roots = [g for g, one in enumerate(found) if one.parent is None]
    speeds = [one.first_speed for one in found]
    places = {g: loops.robot.nv + 3 * place for place, g in enumerate(roots)}
    columns: dict[str, Sequence[int]] = {
        "q": [one.first_coordinate for one in found],
        "qd": speeds,
        "tau": speeds,
        "sought": speeds,
        "checks": [places.get(g, 0) for g in range(len(found))],
    }
    table = Elements(
        kinds=[forms.index(one.form) for one in found],
        parents=[0 if one.parent is None else one.parent + 1 for one in found],
        columns=columns,
        numbers=[kinds[forms.index(one.form)].numbers(one) for one in found],
        ground={},
    )
    return loop, table


__all__ = [
    "Bounds",
    "Element",
    "looped_subsystem_elements",
    "looped_subsystem_sweep_program",
    "subsystems_are_repeated",
]
