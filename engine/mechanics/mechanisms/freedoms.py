"""The mobility of a mechanism at its initial position: freedoms, idle spins, redundancy, subsystems of equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import AssemblyError
from ...robot import Robot, X, Y, Z
from ...text import count_with_noun, words_with_and
from ..assembly.assembly import start_with_loops_closed, words_on_moved_initial
from ..closure.blocks import Block
from ..closure.constraints import Closure, Gap, loop_closure
from ..closure.rank import TINY, constraint_null_space
from ..closure.row_kinds import Row
from ..closure.ties import KINDS, Tie
from ..tree.vanishing import tree_joint_of_speed
from .balance import (
    Balance,
    actuated_names,
    actuated_speeds,
    idle_spins,
    motionless_loop_actuators,
    undetermined_multipliers,
)
from .subsystems import branch_links_of_subsystems

NEAR = 1e-3  # smallest scaled singular value below which a warning says that a singular position is near
AXES = {X: "x", Y: "y", Z: "z"}


@dataclass(frozen=True)
class Unknowable:
    """Components of a cut's reaction, in axes of its first frame, that no rigid-body model can determine."""

    loop: str
    forces: tuple[str, ...]
    moments: tuple[str, ...]
    other: bool  # whether forces along other directions than the axes are among them
    others: tuple[str, ...] = ()  # these in words

    def __str__(self) -> str:
        parts = [
            f"the {what}{'s' * (len(axes) > 1)} along {words_with_and(axes)}"
            for what, axes in (("force", self.forces), ("moment", self.moments))
            if axes
        ]
        return " and ".join([*parts, *self.others])


@dataclass(frozen=True)
class Spin:
    """An idle spin: a motion of spherical joints only, a rod about its own axis, that no actuator resists."""

    joints: tuple[str, ...]
    links: tuple[str, ...]


@dataclass(frozen=True)
class SubsystemNames:
    """A small system of equations with its size and its branches, each of which is a tuple of names of links."""

    name: str
    branches: tuple[tuple[str, ...], ...]
    equations: int
    unknowns: int
    determinate: bool


@dataclass(frozen=True)
class GroupNames:
    """A group of bodies that loops hold together, for forward dynamics: its links, loops and couplings, its size."""

    links: tuple[str, ...]
    loops: tuple[str, ...]
    speeds: int
    freedoms: int


@dataclass(frozen=True)
class Standing:
    """The mobility at the assembled position."""

    freedoms: int  # of speeds
    position_freedoms: int  # which are more where something rolls or skates
    redundant: int  # number of redundant constraints
    undetermined: tuple[Unknowable, ...]
    spins: tuple[Spin, ...]
    surplus: int  # number of actuators beyond the freedoms that they move
    unmoved: int  # number of freedoms besides idle spins that no actuator moves
    useless: tuple[str, ...]  # actuators that move nothing
    subsystems: tuple[SubsystemNames, ...]
    groups: tuple[GroupNames, ...]  # those with loops
    apart: int  # number of bodies that no loop passes
    loops_distance: float  # smallest scaled singular value of the constraints
    distance: float  # smallest scaled singular value of constraints and actuators together


@dataclass(frozen=True)
class Mobility:
    """The mobility of a robot at its initial position; `standing` is None where the loops can't be closed."""

    q: tuple[float, ...]
    gaps: tuple[Gap, ...]
    loops: int  # independent ones
    kutzbach: int
    actuators: int
    standing: Standing | None
    warnings: tuple[str, ...]

    @property
    def closed(self) -> bool:
        return self.standing is not None


def mobility(robot: Robot) -> Mobility:
    """The mobility of the robot at its initial position."""
    loops, guess = loop_closure(robot), np.array(robot.q0, dtype=float)
    try:
        q = start_with_loops_closed(loops, guess)
        standing = _standing(robot, loops, q)
    except AssemblyError as error:
        q, standing = error.nearest, None
    gaps = tuple(loops.open(q))
    return Mobility(
        q=tuple(q.tolist()),
        gaps=gaps,
        loops=len(robot.loops),
        kutzbach=kutzbach(loops),
        actuators=len(actuated_speeds(robot)),
        standing=standing,
        warnings=_open(gaps)
        if standing is None
        else (*words_on_moved_initial(loops, q.tolist()), *_doubts(standing, robot)),
    )


def kutzbach(loops: Closure) -> int:
    """Kutzbach's count 6 (n − 1 − j) + Σ f, with the ground among n links, and cuts and couplings among j joints.

    A joint of the tree adds a link and 6 − f constraints, hence f freedoms; a joint that closes a loop adds 6 − f
    constraints only, hence a row for each.
    """
    return loops.robot.nv - loops.m


def _standing(robot: Robot, loops: Closure, q: np.ndarray) -> Standing:
    """The mobility at a closed position q."""
    balance = Balance(robot, q)
    J, S = loops.scaled(balance.J[0]), _scaled_actuators(balance)
    motions = constraint_null_space(J)
    moved = int(np.linalg.matrix_rank(S @ motions, tol=TINY)) if S.size and motions.size else 0
    N = idle_spins(loops, balance.J[0], balance.S[0])
    spins = tuple(_spin(robot, column) for column in N.T)
    rows = J[balance.rows]
    return Standing(
        freedoms=balance.freedoms,
        position_freedoms=constraint_null_space(loops.scaled(loops.holding(balance.J[0]))).shape[1],
        redundant=loops.m - len(balance.rows),
        undetermined=tuple(_unknowable(loops, undetermined_multipliers(loops, q))),
        spins=spins,
        surplus=len(S) - moved,
        unmoved=balance.freedoms - moved - len(spins),
        useless=tuple(actuated_speeds(robot)[k] for k in motionless_loop_actuators(balance)),
        subsystems=tuple(_subsystems(robot, balance)),
        groups=tuple(_group(robot, loops, block, J) for block in loops.blocks if block.tied),
        apart=sum(not block.tied for block in loops.blocks),
        loops_distance=_weakest(rows, len(rows)),
        distance=_weakest(np.concatenate([rows, S]), len(rows) + moved),
    )


def _scaled_actuators(balance: Balance) -> np.ndarray:
    """The forces along the speeds by each actuator, scaled so that they have no units."""
    S = balance.S[0].T * balance.loops.column_scale
    result: np.ndarray = S / np.maximum(abs(S).max(axis=1, initial=0.0), 1e-300)[:, None]
    return result


def _weakest(A: np.ndarray, rank: int) -> float:
    """The smallest of the first `rank` singular values; 1 if there are none."""
    return float(np.linalg.svd(A, compute_uv=False)[rank - 1]) if rank else 1.0


def _unknowable(loops: Closure, lost: np.ndarray) -> list[Unknowable]:
    result = []
    for one, place in zip(loops.ties, loops.places):
        rows = [row for row, gone in zip(one.rows, lost[place]) if gone]
        if rows:
            result.append(_in_words(one, rows))
    return result


def _in_words(one: Tie, rows: Sequence[Row]) -> Unknowable:
    forces = sorted(AXES[row.axes[0]] for row in rows if row.kind == "slide")
    # the second's axis j is square to the first's axis k: the reaction is a moment about the third axis
    moments = sorted(AXES[3 - sum(row.axes)] for row in rows if row.kind == "aligned")
    others = dict.fromkeys(about for row in rows if (about := KINDS[row.kind].about(row)))
    return Unknowable(one.name, tuple(forces), tuple(moments), bool(others), tuple(others))


def _spin(robot: Robot, motion: np.ndarray) -> Spin:
    joints = [joint for joint in robot.moving if (abs(motion[list(joint.speeds)]) > 1e-6).any()]
    return Spin(tuple(joint.name for joint in joints), tuple(joint.link for joint in joints))


def _subsystems(robot: Robot, balance: Balance) -> list[SubsystemNames]:
    """The subsystems of equations by the names of their links, in the order in which they are solved."""
    names = branch_links_of_subsystems(robot)
    return [
        SubsystemNames(
            " + ".join(roman_numeral(b + 1) for b in step.branches),
            tuple(names[b] for b in step.branches),
            len(step.equations),
            len(step.unknowns),
            step.determinate,
        )
        for step in balance.steps()
    ]


def _group(robot: Robot, loops: Closure, block: Block, J: np.ndarray) -> GroupNames:
    """A group of bodies by its names, with its freedoms by rank; J has no units."""
    on = [name for name, (body, _) in robot.tree.seats.items() if body in block.bodies]
    coupled = [tree_joint_of_speed(robot, loops.couplings[place].speed).name for place in block.couplings]
    rows = J[np.ix_(loops.rows_of(block), block.speeds)]
    rank = int(np.linalg.matrix_rank(rows, tol=TINY)) if rows.size else 0
    names = (*(loops.ties[place].name for place in block.ties), *coupled)
    return GroupNames(tuple(on), names, len(block.speeds), len(block.speeds) - rank)


# ---- warnings


def _open(gaps: Sequence[Gap]) -> tuple[str, ...]:
    which = "; ".join(gap.asks or f"`{gap.name}` stays open by {loop_gap_in_words(gap)}" for gap in gaps)
    what = "the couplings can't be kept" if all(gap.asks for gap in gaps) else "the loops can't be closed"
    return (
        f"{what} from the initial position: {which}; look for a length that is wrong, or give a "
        "better guess under `assembly`",
    )


def loop_gap_in_words(gap: Gap) -> str:
    """A gap in words, in mm and degrees."""
    length, angle = (0.0 if abs(x) < 1e-9 else x for x in (gap.length * 1000, float(np.degrees(gap.angle))))
    return f"{length:.4g} mm and {angle:.4g}°"


def _doubts(at: Standing, robot: Robot) -> list[str]:
    """Warnings about actuators, freedoms and singular positions."""
    result, names = [], actuated_names(robot)
    if at.unmoved:
        needed = at.freedoms - len(at.spins)
        result.append(
            f"{count_with_noun(at.unmoved, 'freedom')} of {needed} {'is' if at.unmoved == 1 else 'are'} moved by no "
            f"actuator (actuated: {', '.join(names) or 'nothing'}): it can be simulated, but has no inverse dynamics"
        )
    for name in at.useless:
        result.append(f"the actuator of `{name}` moves nothing: the {robot.ties_in_words} hold it still")
    if at.distance < NEAR:
        whose = f"the {robot.ties_in_words} lose" if at.loops_distance < NEAR else "the actuators lose"
        result.append(
            f"the initial position is near a singular one, in which {whose} hold: smallest scaled singular value "
            f"{at.distance:.2g}"
        )
    return result


def roman_numeral(n: int) -> str:
    """The Roman numeral of a number, as in the papers: I, II, III, …"""
    numeral = ""
    for value, letters in ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV")):
        while n >= value:
            numeral, n = numeral + letters, n - value
    return numeral + "I" * n
