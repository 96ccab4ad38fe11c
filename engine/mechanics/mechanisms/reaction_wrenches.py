"""What cuts and actuators do to the links of a mechanism, and the wrenches in its joints, as text on scalars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import NumericalError
from ...machine.program import Part, Scalar, kernel_parts_in_order, undivided_kernel_results
from ...robot import ZERO, Body, Placement, Robot
from ..closure.constraints import Closure
from ..closure.elimination import Elimination, pivot_size_margin_of_constraints
from ..closure.partition import Partition, best_partition
from ..closure.ties import Tied
from ..quantities.programs import link_reactions
from ..tree.kinematics import link_placements
from ..tree.spatial import Matrix, Vector, add, dot, scale, to_parent_axes, transported_wrench, transpose
from ..tree.sweeps import sweep_tree
from ..tree.wrenches import wrenches_on_bodies
from .branches import Inverse, Split, family_of_branch_texts, loop_actuator_efforts, singular_loop_message
from .families import TextFamily
from .subsystems import least_norm_multipliers
from .texts import CHECKS, NEAR, Arguments, PartitionText

Sixes = dict[str, np.ndarray]  # wrenches [n; f] by names, with a row for each sample

NO_PARTITION = Partition((), (), (), (), ())  # for a text that eliminates nothing


def wrenches_exerted_by_ties(
    loops: Closure, q: Sequence[Scalar], tied: Sequence[Tied], pushes: Sequence[Scalar], multipliers: Sequence[Scalar]
) -> tuple[dict[str, Vector], list[Vector]]:
    """The wrenches [n; f] of ties and actuators on links, and for each tie what its first link exerts on the second.

    Those on links are at the links' origins in their axes, those of ties at the second's point in base axes.
    """
    robot = loops.robot
    turns: dict[str, Matrix] = {link.name: R for link, (R, _) in zip(robot.links, link_placements(robot, q))}
    on_links: dict[str, Vector] = {}
    none: Vector = [0.0] * 3
    across: list[Vector] = []

    def put(link: str, n: Vector, f: Vector, at: Vector) -> None:
        if link != "base":
            six = transported_wrench(n, f, at)
            on_links[link] = add(on_links[link], six) if link in on_links else six

    for one, tie, rows in zip(tied, loops.ties, loops.places):
        push = one.push(multipliers[rows.start : rows.stop])
        (first, second), (one_frame, two_frame) = tie.links, tie.frames
        n, f = (_turned(one_frame, x) for x in push)
        put(first, scale(-1.0, n), scale(-1.0, f), add(list(one_frame.origin), _turned(one_frame, one.place.p)))
        axes = one.axes()
        n2, f2 = (_turned(two_frame, [dot(axis, x) for axis in axes]) for x in push)
        put(second, n2, f2, list(two_frame.origin))
        across.append([*n, *f] if first == "base" else [dot(row, x) for x in (n, f) for row in turns[first]])
    for actuator, size in zip(robot.actuators, pushes):
        if not actuator.on_link:
            continue  # what acts along joints is in their own wrenches
        push_ = scale(size, list(actuator.direction))
        if actuator.axes == "base":
            push_ = [dot(column, push_) for column in transpose(turns[actuator.link])]
        n, f = (push_, none) if actuator.moment else (none, push_)
        put(actuator.link, n, f, list(actuator.at))
    return on_links, across


def _turned(frame: Placement, v: Vector) -> Vector:
    """Components in a frame of a link → in the link's axes."""
    return to_parent_axes(frame.factors(), v)


class Reactions(Inverse):
    """The text of all wrenches of a motion: those of actuators, in the joints, and in the cuts."""

    @classmethod
    def parts_of(cls, robot: Robot) -> Sequence[Part]:
        """The wrenches by the names of joints, then of cuts, behind the forces of actuators."""
        names = [*(link.joint.name for link in robot.links), *(loop.name for loop in robot.loops)]
        return kernel_parts_in_order([(name, (6,)) for name in names], first=len(loop_actuator_efforts(robot)))

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The forces of actuators, the wrench in each link's joint and in each cut, and checks."""
        robot, loops, q, qd, qdd = self.loops.robot, self.loops, given["q"], given["qd"], given["qdd"]
        tied = loops.ties_at(q)
        tau, _ = sweep_tree(bodies, robot.gravity, q, qd, qdd, [True] * robot.nv, *self.acting(given))
        split = Split(loops, self.order, q, loops.rates([], None, tied)[0], tau)
        on_links, across = wrenches_exerted_by_ties(
            loops, q, tied, split.actuated[len(robot.driven) :], split.multipliers()
        )
        inner = [(link, six, ZERO, "link") for link, six in on_links.items()]
        wrenches = link_reactions(robot, q, qd, qdd, *wrenches_on_bodies(robot.parts, [*self.applied(given), *inner]))
        sixes = [*wrenches, *across[: len(robot.loops)]]
        checks = [split.fit(), *self.closing(q, qd, tied)]
        return [*split.actuated, *(x for six in sixes for x in six)], checks


class Exerted(PartitionText):
    """The text of what known forces of actuators and known multipliers do to the links, and of the wrenches in ties."""

    inputs = ("q", "pushes", "multipliers")

    def __init__(self, loops: Closure):
        ends = {link for tie in loops.ties for link in tie.links} | {
            one.link for one in loops.robot.actuators if one.on_link
        }
        self.links = [link.name for link in loops.robot.links if link.name in ends]
        super().__init__(loops, NO_PARTITION)

    def parts(self) -> Sequence[Part]:
        """Six for each link on which something acts, and for each tie."""
        return undivided_kernel_results(6 * (len(self.links) + len(self.loops.ties)))

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The wrenches on links and in ties, and checks that can't fail."""
        q, pushes = given["q"], given.get("pushes", [])
        on_links, across = wrenches_exerted_by_ties(
            self.loops, q, self.loops.ties_at(q), pushes, given.get("multipliers", [])
        )
        sixes = [*(on_links[link] for link in self.links), *across]
        return [x for six in sixes for x in six], [1.0, 1.0, 1.0]

    def wrenches(self, q: np.ndarray, pushes: np.ndarray, multipliers: np.ndarray) -> tuple[Sixes, Sixes]:
        """The wrenches on links and those in ties by their names, with a row for each sample."""
        if not self.results():
            return {}, {}
        result = self.rows({"q": q, "pushes": pushes, "multipliers": multipliers})[:, :-CHECKS]
        sixes = result.reshape(len(q), -1, 6).swapaxes(0, 1)
        ties = [tie.name for tie in self.loops.ties]
        return dict(zip(self.links, sixes)), dict(zip(ties, sixes[len(self.links) :]))


class Multipliers(PartitionText):
    """The text of all rows' multipliers that exert given forces along the speeds.

    Where several sets of multipliers do the same to the links, it is the one of least norm without units.
    """

    inputs = ("q", "tau")

    def parts(self) -> Sequence[Part]:
        """One for each row."""
        return undivided_kernel_results(self.loops.m)

    def text(self, given: Arguments, bodies: tuple[Body, ...]) -> tuple[list[Scalar], list[Scalar]]:
        """The multipliers, and checks, of which only the first can fail."""
        result, pivots = multipliers_of_constraints(self.loops, self.part, given["q"], given["tau"])
        return result, [pivot_size_margin_of_constraints(pivots, [NEAR * x for x in self.part.pivots]), 1.0, 1.0]


def multipliers_of_constraints(
    loops: Closure, part: Partition, q: Sequence[Scalar], tau: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """All rows' multipliers that exert the forces `tau` along the speeds, and the pivots of K.

    Motions that are given may be any, so speeds that a partition has as given count as independent here.
    """
    J, _ = loops.rates(q)
    nv, size = loops.robot.nv, loops.row_sizes

    def row(r: int) -> list[Scalar]:
        return [J[r].get(k, 0.0) for k in range(nv)]

    given: list[list[Scalar]] = [[float(k == g) for k in range(nv)] for g in part.given]
    K = Elimination([*map(row, part.rows), *given, *(list(N) for N in part.N)], part.order, part.sums)
    own = [x * (1.0 / size[r]) for x, r in zip(K.transposed(tau), part.rows)]
    dependent = [r for r in range(loops.m) if r not in part.rows and J[r]]
    C = [[x * (size[d] / size[r]) for x, r in zip(K.transposed(row(d)), part.rows)] for d in dependent]
    least, others = least_norm_multipliers(C, own)
    result: list[Scalar] = [0.0] * loops.m
    for r, x in zip((*part.rows, *dependent), (*least, *others)):
        result[r] = x * size[r]
    return result, K.pivots


def mechanism_wrench_texts(loops: Closure, wrenched: tuple[str, ...]) -> TextFamily:
    """The robot's texts of all wrenches of a motion."""
    key = (Reactions, wrenched) if wrenched else Reactions
    return family_of_branch_texts(loops, key, lambda order: Reactions(loops, order, wrenched))


def mechanism_multiplier_texts(loops: Closure) -> TextFamily:
    """The texts of the multipliers of these constraints."""
    driven, lost = loops.robot.driven, NumericalError(singular_loop_message(loops.robot))
    return TextFamily(loops, lambda q: Multipliers(loops, best_partition(loops, q, (), driven)), lost)


def wrenches_of_multipliers(
    loops: Closure, q: np.ndarray, actuated: np.ndarray, multipliers: np.ndarray
) -> tuple[Sixes, Sixes]:
    """What known forces of actuators and known multipliers do to links, and the wrench in each cut, by their names.

    `actuated` has a column for each actuated speed, then for each actuator.
    """
    text = Exerted(loops)
    on_links, across = text.wrenches(q, actuated[:, len(loops.robot.driven) :], multipliers)
    return on_links, {loop.name: across[loop.name] for loop in loops.robot.loops}
