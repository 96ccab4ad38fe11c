"""A partition divided among the subsystems of a mechanism: the rows of K and the pivots of each group of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .blocks import Block
from .constraints import Closure
from .elimination import Pivots, Sums
from .partition import Partition


@dataclass(frozen=True)
class Portion:
    """What a partition says of one block: the places of its rows among those of K, and an order of pivots.

    `rows` are places in K; `known` of them, the first ones, are rows of constraints and given motions, the others pick
    the independent speeds.  `order` has places among these rows and among the block's speeds, `pivots` are their places
    in the partition's order; `sums` has places among the block's speeds.
    """

    block: Block
    rows: tuple[int, ...]
    known: int
    order: Pivots
    pivots: tuple[int, ...]
    sums: Sums = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """The places of the block's speeds among all."""
        return self.block.speeds

    @property
    def freedoms(self) -> int:
        """The number of the block's independent speeds."""
        return len(self.rows) - self.known


def partition_portions(loops: Closure, part: Partition) -> tuple[Portion, ...]:
    """The portion of each group, or one portion of all bodies where the partition can't be divided."""
    known: tuple[Portion, ...] | None = loops.divisions.get(part)
    if known is None:
        result = portions_of_divided_partition(loops.blocks, part, loops.speeds_of_rows())
        known = loops.divisions[part] = tuple(result or [portion_of_undivided_partition(loops, part)])
    return known


def portions_of_divided_partition(
    blocks: Sequence[Block], part: Partition, speeds_of: Sequence[Sequence[int]]
) -> list[Portion] | None:
    """The portion of each block; None where a row of K takes speeds of several blocks, or K isn't square."""
    nv = sum(len(block.speeds) for block in blocks)
    rows = [*(speeds_of[r] for r in part.rows), *((k,) for k in part.given)]
    rows += [tuple(k for k, x in enumerate(row) if x) for row in part.N]
    if len(rows) != nv or len(part.order) != nv:
        return None
    owner = {k: b for b, block in enumerate(blocks) for k in block.speeds}
    of: list[list[int]] = [[] for _ in blocks]
    for r, speeds in enumerate(rows):
        owners = {owner[k] for k in speeds}
        if len(owners) != 1:
            return None
        of[owners.pop()].append(r)
    order: list[list[tuple[int, int, int]]] = [[] for _ in blocks]
    for place, (r, k) in enumerate(part.order):
        order[owner[k]].append((place, r, k))
    known = nv - len(part.N)
    result = []
    for block, own, pivots in zip(blocks, of, order):
        if len(own) != len(block.speeds) or {r for _, r, _ in pivots} != set(own):
            return None
        pairs = tuple((own.index(r), block.speeds.index(k)) for _, r, k in pivots)
        first = sum(r < known for r in own)
        places = {k: j for j, k in enumerate(block.speeds)}
        sums = tuple((places[k], places[j], sign) for k, j, sign in part.sums if k in places)
        result.append(Portion(block, tuple(own), first, pairs, tuple(place for place, _, _ in pivots), sums))
    return result


def portion_of_undivided_partition(loops: Closure, part: Partition) -> Portion:
    """The portion of a single block that has all bodies."""
    blocks = loops.blocks
    speeds = tuple(sorted(k for block in blocks for k in block.speeds))
    bodies = tuple(sorted(i for block in blocks for i in block.bodies))
    ties, couplings = (tuple(x for block in blocks for x in getattr(block, name)) for name in ("ties", "couplings"))
    count = len(part.rows) + len(part.given) + len(part.N)
    block = Block(bodies, None, speeds, ties, couplings)
    places = tuple(range(len(part.order)))
    return Portion(block, tuple(range(count)), count - len(part.N), part.order, places, part.sums)
