"""Many mechanisms of one structure that differ in numbers, at once: closed from a guess, and compared with a partition.

What `assembly.py` and `partition.py` do with one mechanism is done here with all of them, each by itself: a mechanism
that would need more than the straight way is only named, and is left to these.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...machine.backend import QUICK
from ...machine.jit import Offer
from ...machine.program import Program, Recording
from ...robot import Body, Coupling
from ..closure.constraints import Closure, misalignment_angles_of_ties, reach_of_mechanism
from ..closure.partition import Partition, constraint_groups_of_subsystems, partition_search_orders
from ..closure.rank import TINY, independent_constraint_rows_of_many
from ..closure.ties import Tie
from ..numbers.number_symbols import Path, number_leaves_of_bodies, planted_bodies
from .assembly import GOOD, LONGEST, MOST, closing_positions_moved_along_speeds
from .search import CLOSED


@dataclass(frozen=True)
class Measures:
    """The numbers of mechanisms' constraints, with arrays in the places of those that differ."""

    bodies: tuple[Body, ...]
    ties: tuple[Tie, ...]
    couplings: tuple[Coupling, ...]


class Alike:
    """A number of mechanisms, each with numbers of its own, that have the structure of `loops`."""

    def __init__(self, loops: Closure, numbers: Measures, count: int):
        self.loops, self.numbers, self.count = loops, numbers, count
        arrays = {path: x for path, x in number_leaves_of_bodies(numbers) if isinstance(x, np.ndarray)}
        self._symbols: tuple[Path, ...] = tuple(arrays)
        self._columns = np.column_stack([np.zeros((count, 0)), *arrays.values()])
        length = np.asarray(reach_of_mechanism(numbers.bodies, numbers.ties), dtype=float)
        self.length = np.broadcast_to(np.where(length, length, 1.0), count)
        turns = self.loops.turning
        self.row_scale = np.where(turns, 1.0, 1.0 / self.length[:, None])
        turning = [turn for joint in loops.robot.moving for turn in joint.type.turning]
        self.column_scale = np.where(turning, 1.0, self.length[:, None])

    # ---- the constraints of all mechanisms

    def _program(self) -> Program:
        """The gaps of all rows, the Jacobian, and the directions in cuts that align some, of one mechanism."""
        loops, recording = self.loops, Recording("alike")
        p, q = recording.input("p", len(self._symbols)), recording.input("q", loops.robot.nq)
        numbers: Measures = planted_bodies(self.numbers, dict(zip(self._symbols, p)))
        own = loops.with_numbers(numbers.bodies, numbers.ties, numbers.couplings)
        tied = own.ties_at(q)
        rows, _ = own.rates(q, None, tied)
        J = [row.get(k, 0.0) for row in rows for k in range(loops.robot.nv)]
        turned = [x for place in self._aligned for axis in tied[place].place.s for x in axis]
        return recording.program(gaps=own.gaps(q, tied), J=J, turned=turned)

    @cached_property
    def _aligned(self) -> list[int]:
        """The places of the loops that align directions."""
        return [place for place, loop in enumerate(self.loops.robot.loops) if loop.type.aligned]

    @cached_property
    def _code(self) -> Any:
        """The program as compiled code, which gives the same whichever mechanisms are beside each."""
        loops = self.loops
        outputs = [loops.m, loops.m * loops.robot.nv, 9 * len(self._aligned)]
        marked = planted_bodies(self.numbers, dict.fromkeys(self._symbols, "a number"))
        kinds = [joint.type.name for joint in loops.robot.moving], [loop.type for loop in loops.robot.loops]
        key = repr(marked), repr(self._symbols), repr(kinds)
        inputs = len(self._symbols), loops.robot.nq
        return Offer(self._program, inputs, outputs, lambda: key, QUICK).kernel(cached=False)

    def near(self, q: np.ndarray, these: np.ndarray, *, angled: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The scaled gaps and Jacobians of these mechanisms; if `angled`, with angles for rows of directions."""
        (gaps, J, turned), _, _ = self._code(np.ascontiguousarray(self._columns[these]), np.ascontiguousarray(q))
        if angled:
            s = turned.reshape(len(q), -1, 3, 3)
            for n, place in enumerate(self._aligned):
                type_, first = self.loops.robot.loops[place].type, self.loops.places[place].start
                first += len(type_.slides)
                gaps[:, first : first + len(type_.aligned)] = misalignment_angles_of_ties(type_, s[:, n])[0]
        return gaps * self.row_scale[these], self._scaled(J.reshape(len(q), self.loops.m, -1), these)

    def _scaled(self, J: np.ndarray, these: np.ndarray) -> np.ndarray:
        scaled: np.ndarray = J * self.row_scale[these][:, :, None] * self.column_scale[these][:, None]
        return scaled

    # ---- closed loops

    def closed(
        self, q: np.ndarray, kept: Collection[int], these: np.ndarray | None = None, *, angled: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """The positions with all loops closed, by damped Gauss-Newton from q, and which mechanisms really are closed.

        Speeds in `kept` don't move. Near closed positions, rows of directions need no angles.
        """
        free = [k for k in range(self.loops.robot.nv) if k not in set(kept)]
        these = np.arange(self.count) if these is None else these
        q, everyone = q.copy(), np.arange(len(these))
        with np.errstate(all="ignore"):
            gap, J = self.near(q, these, angled=angled)
            size = abs(gap).max(axis=1, initial=0.0)
            going = everyone[~(size < 1e-15)] if free else everyone[:0]
            for _ in range(MOST):
                if not len(going):
                    break
                going = self._stepped(going, these, q, gap, J, size, free, angled)
            return q, (size <= GOOD) & ~self._flipped(q, these)

    def _stepped(
        self,
        going: np.ndarray,
        runs: np.ndarray,
        q: np.ndarray,
        gap: np.ndarray,
        J: np.ndarray,
        size: np.ndarray,
        free: Sequence[int],
        angled: bool,
    ) -> np.ndarray:
        """Take one step of those mechanisms that are going, and return which go on."""
        step = np.zeros((len(going), self.loops.robot.nv))
        step[:, list(free)] = least_squares_of_many_loops(J[going][:, :, list(free)], -gap[going])
        longest = abs(step).max(axis=1)
        sound = np.isfinite(longest)
        going, step, longest = going[sound], step[sound], longest[sound]
        share = np.where(longest > LONGEST, LONGEST / np.maximum(longest, 1e-300), 1.0)
        norm, searching, on = np.linalg.norm(gap[going], axis=1), np.arange(len(going)), np.zeros(len(going), bool)
        while len(searching):
            these = going[searching]
            move = share[searching, None] * step[searching] * self.column_scale[runs[these]]
            trial = closing_positions_moved_along_speeds(self.loops.robot, q[these], move)
            new_gap, new_J = self.near(trial, runs[these], angled=angled)
            better = np.linalg.norm(new_gap, axis=1) < norm[searching]
            taken, new_size = these[better], abs(new_gap[better]).max(axis=1, initial=0.0)
            stalled = (size[taken] < CLOSED) & (new_size > 0.5 * size[taken])
            q[taken], gap[taken], J[taken], size[taken] = trial[better], new_gap[better], new_J[better], new_size
            on[searching[better]] = ~stalled & ~(new_size < 1e-15)
            searching = searching[~better & ~(share[searching] < 1e-3)]
            share[searching] /= 2
        return going[on]

    def _flipped(self, q: np.ndarray, these: np.ndarray) -> np.ndarray:
        """Whether rows are 0 although directions lie the wrong way round."""
        (_, _, turned), _, _ = self._code(np.ascontiguousarray(self._columns[these]), np.ascontiguousarray(q))
        s, flipped = turned.reshape(len(q), -1, 3, 3), np.zeros(len(q), dtype=bool)
        for n, place in enumerate(self._aligned):
            flipped |= misalignment_angles_of_ties(self.loops.robot.loops[place].type, s[:, n])[1] > 1.0
        return flipped

    # ---- the partition

    def suits(self, part: Partition, preferred: Sequence[int], J: np.ndarray) -> np.ndarray:
        """Whether mechanisms with these scaled Jacobians have the rows and independent speeds of this partition."""
        nv, good = self.loops.robot.nv, np.ones(self.count, dtype=bool)
        rows, independent = np.zeros(self.loops.m, dtype=bool), np.zeros(nv, dtype=bool)
        rows[list(part.rows)], independent[part.independent] = True, True
        for own_rows, speeds in constraint_groups_of_subsystems(self.loops):
            if not len(own_rows):
                good &= independent[list(speeds)].all()
                continue
            own = J[:, list(own_rows)][:, :, list(speeds)]
            row_groups, speed_groups = partition_search_orders(self.loops, own_rows, speeds, part.given, preferred)
            few = _marked(independent_constraint_rows_of_many(own, row_groups), len(own_rows))
            wanted = rows[list(own_rows)]
            good &= (few == wanted).all(axis=1)
            dependent = _marked(
                independent_constraint_rows_of_many(own[:, wanted].transpose(0, 2, 1), speed_groups), len(speeds)
            )
            good &= (dependent == ~independent[list(speeds)]).all(axis=1)
        return good

    def pivots(self, part: Partition, J: np.ndarray, these: np.ndarray | None = None) -> np.ndarray:
        """The pivots in the order of this partition at positions with these scaled Jacobians."""
        these = np.arange(self.count) if these is None else these
        plain = J / self.row_scale[these][:, :, None] / self.column_scale[these][:, None]
        K = part.eliminated(plain)
        with np.errstate(all="ignore"):
            for k in range(K.shape[1] - 1):
                factors = K[:, k + 1 :, k] / K[:, k, k, None]
                K[:, k + 1 :, k + 1 :] -= factors[:, :, None] * K[:, k, None, k + 1 :]
        result: np.ndarray = K.diagonal(axis1=1, axis2=2).copy()
        return result


def least_squares_of_many_loops(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x of least norm among those with the least |A x − b|, each by itself; not finite where there is trouble."""
    columns = A.shape[2]
    G, right = A.transpose(0, 2, 1) @ A, (A.transpose(0, 2, 1) @ b[:, :, None])[:, :, 0]
    size = np.sqrt(np.maximum(G.diagonal(axis1=1, axis2=2), 1e-300))
    G, right = G / size[:, :, None] / size[:, None], right / size
    firm = np.ones(len(A), dtype=bool)
    for k in range(columns):
        firm &= G[:, k, k] > TINY
        factors = G[:, k + 1 :, k] / G[:, k, k, None]
        G[:, k + 1 :, k + 1 :] -= factors[:, :, None] * G[:, k, None, k + 1 :]
        right[:, k + 1 :] -= factors * right[:, k, None]
    x: np.ndarray = np.zeros_like(right)
    for k in reversed(range(columns)):
        x[:, k] = (right[:, k] - (G[:, k, k + 1 :] * x[:, k + 1 :]).sum(axis=1)) / G[:, k, k]
    x /= size
    for n in np.flatnonzero(~firm).tolist():
        x[n] = np.linalg.lstsq(A[n], b[n], rcond=1e-10)[0] if np.isfinite(A[n]).all() else np.nan
    return x


def _marked(places: np.ndarray, width: int) -> np.ndarray:
    """Whether each of so many places is in a row's list, which is filled up with −1."""
    marks = np.zeros((len(places), width + 1), dtype=bool)
    marks[np.arange(len(places))[:, None], places] = True
    return marks[:, :width]
