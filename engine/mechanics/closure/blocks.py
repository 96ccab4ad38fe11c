"""Subsystems of a mechanism: the smallest groups of bodies that no loop leaves.

A tie is decided by the joints on the way from one of its frames to the other, a coupling by those between its two.
Bodies whose joints decide a tie together are one group; groups that share a body are one.  Each group hangs on one body
of another group or on the base, so the groups are a tree, and a body that no loop passes is a group of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...robot import Body, Coupling, turn_matrix_of, way_from_base
from .ties import Tie

PARALLEL = 1e-12  # below which 1 less the cosine of an angle is 0


@dataclass(frozen=True)
class Block:
    """A group of bodies, parents first, with all rows of the constraints that their joints decide.

    `parent` is the body on which the group hangs, None for the base; `carriers` are bodies of the group on which, or
    beyond which, other groups hang.
    """

    bodies: tuple[int, ...]
    parent: int | None
    speeds: tuple[int, ...]
    ties: tuple[int, ...] = ()
    couplings: tuple[int, ...] = ()
    carriers: tuple[int, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether the group is more than a single body that moves freely."""
        return bool(self.ties or self.couplings) or len(self.bodies) > 1


def loop_blocks(bodies: Sequence[Body], ties: Sequence[Tie], couplings: Sequence[Coupling]) -> tuple[Block, ...]:
    """The groups, those on which others hang before these."""
    owner = {k: i for i, body in enumerate(bodies) for k in body.speeds}
    ways = [(*one.first.chain, *one.second.chain) for one in ties]
    between = [_between(bodies, [owner[k] for k in one.speeds]) for one in couplings]
    first = _joined(len(bodies), [*ways, *between])
    members: dict[int, list[int]] = {}
    for i in range(len(bodies)):
        members.setdefault(first[i], []).append(i)  # the first body of a group comes after its parent
    hung_on = _carriers(bodies, first)
    tied, coupled = ([first[group[0]] if group else None for group in groups] for groups in (ways, between))
    return tuple(
        Block(
            bodies=tuple(group),
            parent=bodies[group[0]].parent,
            speeds=tuple(k for i in group for k in bodies[i].speeds),
            ties=tuple(place for place, root in enumerate(tied) if root == group[0]),
            couplings=tuple(place for place, root in enumerate(coupled) if root == group[0]),
            carriers=tuple(i for i in group if i in hung_on),
        )
        for group in members.values()
    )


def _between(bodies: Sequence[Body], ends: Sequence[int]) -> tuple[int, ...]:
    """The bodies whose joints lie between those of several bodies, with these."""
    ways = [way_from_base(bodies, i) for i in ends]
    shared = 0
    while shared < min(map(len, ways)) - 1 and len({one[shared] for one in ways}) == 1:
        shared += 1
    return tuple(i for one in ways for i in one[shared:])


def _joined(count: int, groups: Sequence[Sequence[int]]) -> list[int]:
    """For each of `count` bodies the first one of its group, where groups that share a body are one."""
    root = list(range(count))

    def first(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for group in groups:
        for i in group[1:]:
            a, b = sorted((first(group[0]), first(i)))
            root[b] = a
    return [first(i) for i in range(count)]


def _carriers(bodies: Sequence[Body], first: Sequence[int]) -> set[int]:
    """Bodies on which another group hangs, or a body of their own group that carries one."""
    result: set[int] = set()
    for i in reversed(range(len(bodies))):
        above = bodies[i].parent
        if above is not None and (first[above] != first[i] or i in result):
            result.add(above)
    return result


def sums_of_parallel_turns(bodies: Sequence[Body], block: Block) -> list[tuple[int, int, int]]:
    """Pairs of speeds of a group (the outer, the inner, the sign) that add up to one turn about parallel axes.

    A turn of the inner joint moves everything beyond the outer one as the outer's own does, but for where the axes are:
    their columns of the Jacobian differ by the way from one axis to the other alone, and in what the sum of both speeds
    multiplies there is nothing of the links inwards.
    """
    result: list[tuple[int, int, int]] = []
    for i in block.bodies:
        outer, parent = bodies[i], bodies[i].parent
        inner = bodies[parent] if parent in block.bodies and parent is not None else None
        if inner is None or not (_only_turns(outer) and _only_turns(inner)):
            continue
        axis = turn_matrix_of(outer.rotation)[:, outer.directions[0]]
        along = float(axis[inner.directions[0]])
        if abs(along) > 1.0 - PARALLEL:
            result.append((outer.speeds[0], inner.speeds[0], 1 if along > 0 else -1))
    return result


def _only_turns(body: Body) -> bool:
    """Whether the body has one speed, which turns it."""
    return len(body.directions) == 1 and body.directions[0] < 3 and not body.pitch
