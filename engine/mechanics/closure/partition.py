"""Partitions: the independent rows and coordinates around a position, and a measure of how good they still are.

A partition is divided among the subsystems of a mechanism: the rows of K and the pivots of each group of bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...machine.program import as_floats
from .blocks import Block
from .constraints import Closure
from .elimination import Elimination, Pivots, Sums, pivot_orders_of_many_constraints
from .rank import constraint_null_space, independent_constraint_rows_of_many


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


@dataclass(frozen=True)
class Partition:
    """The matrix K = [A; N]: independent rows and given speeds in A, rows N that complete them, an order of pivots.

    What is eliminated has `sums` of speeds for its unknowns.
    """

    rows: tuple[int, ...]
    given: tuple[int, ...]
    N: tuple[tuple[float, ...], ...]
    order: Pivots
    pivots: tuple[float, ...]  # at the position where the order was chosen
    sums: Sums = ()

    @property
    def independent(self) -> list[int]:
        """The independent speeds, as far as N has unit rows."""
        return [row.index(1.0) for row in self.N if row.count(0.0) == len(row) - 1 and 1.0 in row]

    def basis(self, nv: int) -> np.ndarray:
        return np.array(self.N).reshape(-1, nv)

    def matrix(self, J: np.ndarray) -> np.ndarray:
        """The matrix K, from the Jacobian of all rows at one position or at many."""
        nv = J.shape[-1]
        constant = np.concatenate([np.eye(nv)[list(self.given)], self.basis(nv)])
        return np.concatenate([J[..., self.rows, :], np.broadcast_to(constant, (*J.shape[:-2], *constant.shape))], -2)

    def eliminated(self, J: np.ndarray) -> np.ndarray:
        """The matrix K for the sums of speeds, its rows and columns in the order of the pivots."""
        rows, columns = zip(*self.order) if self.order else ((), ())
        return combined_columns(self.matrix(J), self.sums)[..., list(rows), :][..., list(columns)]

    def share(self, J: np.ndarray, *, signed: bool = True) -> float:
        """The share of the pivot that has lost most since the order was chosen; 0 in a singular position.

        If not `signed`, a pivot may have come to the other side of 0.
        """
        return self.share_of(self.pivots_at(J), signed=signed)

    def share_of(self, now: np.ndarray, *, signed: bool = True) -> float:
        """The share of the pivot that has lost most, by those of a position; 0 where elimination comes to nothing."""
        shares = now / np.array(self.pivots)
        if not np.isfinite(shares).all():
            return 0.0
        return float((shares if signed else abs(shares)).min(initial=np.inf)) if len(shares) else 1.0

    def pivots_at(self, J: np.ndarray) -> np.ndarray:
        """The pivots of K in their order, from the Jacobian of all rows; not finite where elimination divides by 0."""
        K = self.eliminated(J) if self.order else np.zeros((0, 0))
        with np.errstate(all="ignore"):
            for k in range(len(K)):
                below = np.flatnonzero(K[k + 1 :, k]) + k + 1
                if len(below):
                    K[below, k + 1 :] -= np.outer(K[below, k] / K[k, k], K[k, k + 1 :])
        return K.diagonal().copy()


def best_partition(
    loops: Closure,
    q: np.ndarray,
    given: Sequence[int],
    preferred: Sequence[int],
    basis: str = "independent",
    *,
    summed: bool = True,
) -> Partition:
    """The partition that is best at this position; preferred speeds are independent before others.

    If not `summed`, all unknowns are single speeds, whose pivots stay fit further away from the position.
    """
    nv = loops.robot.nv
    J, _ = loops.jacobian(q)
    scaled = loops.scaled(J)
    groups = constraint_groups_of_subsystems(loops) if basis == "independent" else [(range(loops.m), range(nv))]
    ((_, rows, chosen),) = _chosen_of_many(loops, scaled[None], groups, given, preferred)
    N = np.eye(nv)[chosen]
    if basis in ("qr", "svd") and chosen:
        A = np.concatenate([scaled[rows], np.eye(nv)[list(given)]])
        whole = np.linalg.qr(A.T, mode="complete")[0][:, len(A) :] if basis == "qr" else constraint_null_space(A)
        N = whole.T / loops.column_scale
    K = np.concatenate([J[rows], np.eye(nv)[list(given)], N])
    sums = loops.sums if summed and basis == "independent" else ()
    size = K * loops.column_scale
    size[: len(rows)] = scaled[rows]
    order = _pivots(_orders_of_many(combined_columns(size, sums)[None], rows, groups)[0])
    values = as_floats(Elimination(K.tolist(), order, sums).pivots) if len(K) == nv else []
    return Partition(tuple(rows), tuple(given), tuple(tuple(row) for row in N.tolist()), order, tuple(values), sums)


def combined_columns(K: np.ndarray, sums: Sums) -> np.ndarray:
    """The matrix, or many, for sums of the unknowns (`elimination.py:combined`)."""
    result = K.copy()
    for k, j, sign in sums:
        result[..., j] -= sign * K[..., k]
    return result


def best_partitions_of_many(
    loops: Closure, J: np.ndarray, given: Sequence[int], preferred: Sequence[int]
) -> list[tuple[Partition, np.ndarray]]:
    """The partitions that are best at positions with these scaled Jacobians, as `best_partition` has each.

    With each of them are the places of the positions for which it is; none has pivots, and those that don't fill the
    matrix K are left out.
    """
    nv, groups, result = loops.robot.nv, constraint_groups_of_subsystems(loops), list[tuple[Partition, np.ndarray]]()
    for these, rows, chosen in _chosen_of_many(loops, J, groups, given, preferred):
        N = np.eye(nv)[chosen]
        if len(rows) + len(given) + len(chosen) != nv:
            continue
        units = np.broadcast_to(np.concatenate([np.eye(nv)[list(given)], N]), (len(these), nv - len(rows), nv))
        orders = _orders_of_many(np.concatenate([J[these][:, rows], units], axis=1), rows, groups)
        each, which = np.unique(orders, axis=0, return_inverse=True)
        for k, order in enumerate(each):
            part = Partition(tuple(rows), tuple(given), tuple(tuple(row) for row in N.tolist()), _pivots(order), ())
            result.append((part, these[which.ravel() == k]))
    return result


def constraint_groups_of_subsystems(loops: Closure) -> list[tuple[Sequence[int], Sequence[int]]]:
    """The rows and the speeds of each subsystem, which have nothing to do with those of others."""
    return [(loops.rows_of(block), block.speeds) for block in loops.blocks]


def _chosen_of_many(
    loops: Closure,
    scaled: np.ndarray,
    groups: Sequence[tuple[Sequence[int], Sequence[int]]],
    given: Sequence[int],
    preferred: Sequence[int],
) -> list[tuple[np.ndarray, list[int], list[int]]]:
    """The independent rows and speeds at many positions, and the places of the positions that have them."""
    found = [(np.arange(len(scaled)), list[int](), list[int]())]
    for rows, speeds in groups:
        found = [
            (these[some], sorted([*before, *few]), sorted([*chosen, *free]))
            for these, before, chosen in found
            for some, few, free in _picked(loops, scaled[these], rows, speeds, given, preferred)
        ]
    return found


def _picked(
    loops: Closure,
    scaled: np.ndarray,
    rows: Sequence[int],
    speeds: Sequence[int],
    given: Sequence[int],
    preferred: Sequence[int],
) -> list[tuple[np.ndarray, list[int], list[int]]]:
    """Independent rows of these and independent speeds of these, with the places of the positions that have them."""
    free = [k for k in speeds if k not in given]
    if not len(rows):
        return [(np.arange(len(scaled)), [], free)]
    own, result = scaled[:, list(rows)][:, :, list(speeds)], []
    row_groups, speed_groups = partition_search_orders(loops, rows, speeds, given, preferred)
    for few, these in _alike(independent_constraint_rows_of_many(own, row_groups)):
        turned = own[these][:, few].transpose(0, 2, 1)
        for dependent, some in _alike(independent_constraint_rows_of_many(turned, speed_groups)):
            bound = {speeds[j] for j in dependent}
            result.append((these[some], [rows[r] for r in few], [k for k in free if k not in bound]))
    return result


def _alike(picks: np.ndarray) -> list[tuple[list[int], np.ndarray]]:
    """The sets that occur among rows of picks, which are filled up with −1, and the rows that have them."""
    each, which = np.unique(np.sort(picks, axis=1), axis=0, return_inverse=True)
    return [([k for k in one if k >= 0], np.flatnonzero(which.ravel() == n)) for n, one in enumerate(each.tolist())]


def partition_search_orders(
    loops: Closure, rows: Sequence[int], speeds: Sequence[int], given: Sequence[int], preferred: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """The groups in which independent rows and dependent speeds are looked for, by places among these."""
    places = {r: place for place, r in enumerate(rows)}
    free = [j for j, k in enumerate(speeds) if k not in given]
    return [[places[r] for r in group if r in places] for group in loops.row_groups()], [
        [j for j in free if speeds[j] not in preferred],
        [j for j in free if speeds[j] in preferred],
        [j for j, k in enumerate(speeds) if k in given],
    ]


def _orders_of_many(
    size: np.ndarray, rows: Sequence[int], groups: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> np.ndarray:
    """Good orders of pivots of scaled matrices K with these rows, subsystem by subsystem: (matrices, pivots, 2)."""
    size = size / np.maximum(abs(size).max(axis=2, initial=0.0), 1e-300)[:, :, None]
    names = [*rows, *([-1] * (size.shape[1] - len(rows)))]
    result = []
    for own_rows, speeds in groups:
        wanted = set(own_rows)
        places = [
            r for r, name in enumerate(names) if (name in wanted if name >= 0 else size[0, r, list(speeds)].any())
        ]
        order = pivot_orders_of_many_constraints(size[:, places][:, :, list(speeds)])
        result.append(np.stack([np.array(places)[order[..., 0]], np.array(speeds)[order[..., 1]]], axis=2))
    return np.concatenate([np.zeros((len(size), 0, 2), dtype=int), *result], axis=1)


def _pivots(order: np.ndarray) -> Pivots:
    return tuple((r, c) for r, c in order.tolist())


def independent_speeds(loops: Closure, J: np.ndarray) -> list[int]:
    """Independent speeds, actuated ones before others; all actuated ones if they are as many as the freedoms."""
    _, dependent = loops.choice(J, loops.robot.driven)
    return [k for k in range(loops.robot.nv) if k not in dependent]
