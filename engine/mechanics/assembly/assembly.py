"""Assembly: positions in which all loops are closed, from a guess.

A cut joint that has coordinates of its own has a double, and the double's coordinates follow from where the cut's two
links are.  A guess that leaves them out would otherwise begin with a gap as large as the joint's motion.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AssemblyError
from ...machine.program import as_floats
from ...robot import Joint, Robot
from ...text import words_with_and
from ..closure.constraints import Closure, Gap, loop_closure, misalignment_of_tie
from ..quantities.samples import Samples
from .search import (
    CLOSED,
    ENOUGH,
    ClosureSearch,
    closing_position_moved_along_speeds,
    closing_positions_moved_along_speeds,
    nearest_closed_position,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
from collections.abc import Callable

from ..closure.ties import Tied


def coordinates_with_cut_joints_placed(loops: Closure, q: np.ndarray, kept: Collection[int]) -> np.ndarray:
    """The coordinates q with those of cut joints where the cuts' links are, unless their speeds are kept.

    A joint that turns keeps its count of turns as far as a guess can tell it.
    """
    robot = loops.robot
    for loop, tie in zip(robot.loops, loops.ties):
        if not loop.doubled:
            continue
        joint = robot.joint(loop.name)
        if set(joint.speeds) & set(kept):
            continue
        before, q = q, q.copy()
        q[list(joint.coordinates)] = joint.type.start
        tied = Tied(loops.bodies, tie, q.tolist())
        R = np.array([as_floats(axis) for axis in tied.axes()]).T  # of the second link in the cut's first frame
        q[list(joint.coordinates)] = _coordinates(joint, np.array(as_floats(tied.place.p)), R, before)
    return q


def _coordinates(joint: Joint, p: np.ndarray, R: np.ndarray, before: np.ndarray) -> Sequence[float]:
    values = OF_TYPE[joint.type.form_of or joint.type.name](p, R)
    if joint.type.orientation is not None:
        return values
    near = before[list(joint.coordinates)]
    turns = [round((x - y) / math.tau) if kind == "angle" else 0 for x, y, kind in zip(near, values, joint.type.kinds)]
    return [y + n * math.tau for y, n in zip(values, turns)]


def _about_z(R: np.ndarray) -> float:
    return math.atan2(R[1, 0], R[0, 0])


def _parameters(R: np.ndarray) -> list[float]:
    """The Euler parameters of a rotation matrix, from the largest of the four."""
    trace = float(np.trace(R))
    squares = [1.0 + trace, *(1.0 + 2.0 * float(R[k, k]) - trace for k in range(3))]
    k = int(np.argmax(squares))
    e = [0.0] * 4
    e[k] = math.sqrt(squares[k]) / 2
    if k == 0:
        e[1:] = [(R[2, 1] - R[1, 2]) / (4 * e[0]), (R[0, 2] - R[2, 0]) / (4 * e[0]), (R[1, 0] - R[0, 1]) / (4 * e[0])]
        return e
    i, j, m = k - 1, k % 3, (k + 1) % 3
    e[0] = (R[m, j] - R[j, m]) / (4 * e[k])
    e[1 + j], e[1 + m] = (R[j, i] + R[i, j]) / (4 * e[k]), (R[m, i] + R[i, m]) / (4 * e[k])
    return e


# the coordinates of a joint from the second frame's origin and axes in the first's
OF_TYPE: dict[str, Callable[[np.ndarray, np.ndarray], list[float]]] = {
    "revolute": lambda p, R: [_about_z(R)],
    "prismatic": lambda p, R: [float(p[2])],
    "spherical": lambda p, R: _parameters(R),
    "universal": lambda p, R: [math.atan2(R[2, 1], R[1, 1]), math.atan2(R[0, 2], R[0, 0])],
    "cylindrical": lambda p, R: [_about_z(R), float(p[2])],
    "planar": lambda p, R: [float(p[0]), float(p[1]), _about_z(R)],
}


GOOD = 1e-9  # gap that is accepted where rounding errors allow no smaller one
MOST = 200  # iterations
LONGEST = 0.4  # step, in radians and in lengths of the mechanism
NEARLY = 1e-3  # gap below which values of rows are as good as angles, and Newton's steps need no damping
FEW = 6  # iterations from such a gap


def assemble(robot: Robot, q: ArrayLike) -> np.ndarray:
    """The coordinates of the spanning tree with all loops closed, from the guess q; actuated ones are kept.

    From the robot's own `q0`, joints with an `initial` in its file come before others, as where a run starts.
    """
    s = Samples(robot, q=q).finite()
    kept = list(robot.driven)
    if s.count is None and (s.arrays["q"] == robot.q0).all():
        return start_with_loops_closed(loop_closure(robot), s.arrays["q"])
    if s.count is None:
        return position_with_loops_closed(loop_closure(robot), s.arrays["q"], kept)
    closed = [position_with_loops_closed(loop_closure(robot), row, kept) for row in s.rows("q")]
    return np.array(closed).reshape(s.count, robot.nq)


def position_with_loops_closed(loops: Closure, q: np.ndarray, kept: Collection[int]) -> np.ndarray:
    """The position with all loops closed near q; the speeds in `kept` don't move, unless they exceed the freedoms."""
    if not loops.m:
        return q
    q = coordinates_with_cut_joints_placed(loops, q, kept)
    result, left = close_loops_by_newton(loops, q, kept)
    if left > GOOD and kept:
        # too much is kept: from closed positions, the independent ones return to their wanted places
        loose, left = close_loops_by_newton(loops, q, ())
        if left <= GOOD:
            result, left = _returned(loops, loose, q, list(kept))
    if left <= GOOD and not _flipped(loops, result):
        return result
    return _searched(loops, q, kept)


def start_with_loops_closed(loops: Closure, q: np.ndarray, named: Sequence[int] = ()) -> np.ndarray:
    """The position with all loops closed from the robot's own guess q, but for the places of `named` speeds.

    These keep their places; then joints with an `initial` in the robot's file, as many as there are freedoms, actuated
    ones first; then other actuated ones, unless speeds are named.
    """
    robot, taken = loops.robot, {*named}
    placed = sorted((j for j in _placed(robot) if not taken & {*j.speeds}), key=lambda j: not j.actuated)
    closed = position_with_loops_closed(loops, q, list(named) or list(robot.driven))
    if not any(joint_distance(loops, joint, closed, dict(_own(joint))) > GOOD for joint in placed):
        return closed
    freedoms = robot.nv - len(loops.choice(loops.holding(loops.jacobian(closed)[0]), list(named))[1])
    others = [] if named else [joint for joint in robot.moving if joint.actuated and joint not in placed]
    kept = list(named)
    for joint in [*placed, *others]:
        if len(kept) + len(joint.speeds) > freedoms:
            continue
        guess, more = q.copy(), [*kept, *joint.speeds]
        if joint in placed and all(q[k] == robot.q0[k] for k in joint.coordinates):
            guess[list(joint.coordinates)] = joint.initial
        ones = [one for one in robot.moving if {*one.speeds} & {*more}]
        for close in (position_with_loops_closed, _searched):  # where Newton's method ends at a dead centre, from afar
            with contextlib.suppress(AssemblyError):
                trial = close(loops, guess, more)
                if all(joint_distance(loops, one, trial, guess) <= GOOD for one in ones):
                    q, kept, closed = guess, more, trial
                    break
    return closed


def words_on_moved_initial(loops: Closure, q: Sequence[float], but: Collection[str] = ()) -> list[str]:
    """A sentence on the joints, but for some, that aren't where the file has their `initial`, if there are any."""
    robot = loops.robot
    placed = [joint for joint in _placed(robot) if joint.name not in but]
    moved = [joint for joint in placed if joint_distance(loops, joint, q, dict(_own(joint))) > GOOD]
    if not moved:
        return []
    places = [f"`{one.name}` at {_numbers(q, one)}, not at {_numbers(dict(_own(one)), one)}" for one in moved]
    return [
        f"not where `initial` in the robot's file has them: {words_with_and(places)}; beyond the freedoms it is a "
        f"guess, and the {robot.ties_in_words} decide"
    ]


def _numbers(q: Sequence[float] | Mapping[int, float], joint: Joint) -> str:
    texts = [f"{float(q[k]):.6g}" for k in joint.coordinates]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _placed(robot: Robot) -> list[Joint]:
    """The joints whose places the file gives; a variable in a table is less than a guess of `assembly`."""
    return [
        j for j in robot.moving if j.placed == "initial" or (j.placed and all(robot.q0[k] == x for k, x in _own(j)))
    ]


def _own(joint: Joint) -> list[tuple[int, float]]:
    """The coordinates of a joint with their values under `initial`."""
    return [*zip(joint.coordinates, joint.initial)]


def joint_distance(
    loops: Closure,
    joint: Joint,
    q: Sequence[float] | np.ndarray,
    asked: Sequence[float] | Mapping[int, float] | np.ndarray,
) -> float:
    """The distance of a joint from its given position, as an angle or relative to the mechanism's length."""
    first = joint.type.orientation
    plain = joint.coordinates if first is None else joint.coordinates[:first]
    sizes = [loops.length if kind == "length" else 1.0 for kind in joint.type.kinds]
    farthest = max((abs(q[k] - asked[k]) / size for k, size in zip(plain, sizes)), default=0.0)
    if first is not None:
        pairs = [(q[k], asked[k]) for k in joint.coordinates[first:]]
        half = min(math.hypot(*(a - b for a, b in pairs)), math.hypot(*(a + b for a, b in pairs))) / 2
        farthest = max(farthest, 4 * math.asin(min(half, 1.0)))
    return float(farthest)


def _flipped(loops: Closure, q: np.ndarray) -> bool:
    """Whether rows are 0 although directions lie the wrong way round."""
    return any(gap.angle > 1.0 for gap in loops.open(q))


def _searched(loops: Closure, q: np.ndarray, kept: Collection[int]) -> np.ndarray:
    """The position that many starts lead to, polished; with what exceeds the freedoms let go, if it has to be."""
    search = nearest_closed_position(loops, q, kept)
    result, left = close_loops_by_newton(loops, search.q, kept)
    if left > GOOD and kept:
        result, left = close_loops_by_newton(loops, nearest_closed_position(loops, q, ()).q, ())
        if left <= GOOD:
            result, left = _returned(loops, result, q, list(kept))
    if left <= GOOD and not _flipped(loops, result):
        return result
    raise AssemblyError(f"{loops.robot.name}: {loops_cant_close_message(loops.open(search.q), search)}", search.q)


def loops_cant_close_message(gaps: Sequence[Gap], search: ClosureSearch) -> str:
    """A message with the loops that stay open and their gaps: no position closes them, or none was found."""
    worst = sorted((gap for gap in gaps if gap.length > 1e-9 or gap.angle > 1e-9), key=lambda gap: -gap.length)
    widest = "; ".join(
        gap.asks or f"`{gap.name}` by {gap.length * 1000:.4g} mm and {math.degrees(gap.angle):.4g}°"
        for gap in worst[:6]
    )
    what, wrong = "the loops can't be closed", "a length"
    if worst and all(gap.asks for gap in worst):
        what, wrong = "the couplings can't be kept", "a ratio, an offset or a given position"
    if search.agreeing >= ENOUGH:
        return (
            f"{what}: {search.agreeing} of {search.starts} starts end with the same gaps, the least that were found: "
            f"{widest}; look for {wrong} that is wrong"
        )
    return (
        f"no position was found in which the loops close, from {search.starts} starts that ended differently; the "
        f"least gaps were: {widest or 'none'}; give a better guess under `assembly`, or look for {wrong} that is wrong"
    )


def _scaled_gaps(loops: Closure, q: np.ndarray, near: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The scaled gaps of all rows, with angles for rows of directions, and the scaled Jacobian.

    Near a closed position, the values of the rows are as good as angles and are taken instead, and corrections respect
    the rows on speeds alone; from afar these are no hindrance.
    """
    if near:
        values, J = loops.near(q)
        return values * loops.row_scale, loops.scaled(J)
    here = q.tolist()
    tied = loops.ties_at(here)
    gaps = as_floats(loops.gaps(here, tied))
    for loop, one, place in zip(loops.robot.loops, tied, loops.places):
        if loop.type.aligned:
            first = place.start + len(loop.type.slides)
            gaps[first : first + len(loop.type.aligned)] = misalignment_of_tie(loop.type, one)[0]
    J = loops.matrix(loops.rates(here, None, tied)[0])
    return np.array(gaps) * loops.row_scale, loops.scaled(loops.holding(J))


def close_loops_by_newton(
    loops: Closure, q: np.ndarray, kept: Collection[int], *, near: bool = False
) -> tuple[np.ndarray, float]:
    """The position by damped Gauss-Newton on the speeds that aren't kept, and the gap that is left."""
    free = [k for k in range(loops.robot.nv) if k not in set(kept)]
    gap, J = _scaled_gaps(loops, q, near)
    size = float(abs(gap).max(initial=0.0))
    for _ in range(MOST):
        if size < 1e-15 or not free:
            break
        step = np.zeros(loops.robot.nv)
        step[free] = np.linalg.lstsq(J[:, free], -gap, rcond=1e-10)[0]
        longest = float(abs(step).max())
        if not math.isfinite(longest):
            break
        share = min(1.0, LONGEST / longest) if longest else 1.0
        while True:
            trial = closing_position_moved_along_speeds(loops.robot, q, share * step * loops.column_scale)
            new_gap, new_J = _scaled_gaps(loops, trial, near)
            better = float(np.linalg.norm(new_gap)) < float(np.linalg.norm(gap))
            if better or share < 1e-3:
                break
            share /= 2
        if not better:
            break
        stalled = size < CLOSED and abs(new_gap).max() > 0.5 * size
        q, gap, J, size = trial, new_gap, new_J, float(abs(new_gap).max())
        if stalled:
            break
    return q, size


def close_many_positions_by_newton(
    loops: Closure, q: np.ndarray, rows: Sequence[int], free: Sequence[int], wanted: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Many positions after Newton's method from nearly closed ones, by these independent rows and as many free speeds.

    `wanted` are values of all rows at each position. The gaps that are left are returned as well; a position whose gap
    isn't small needs `close_loops_by_newton`.
    """
    rows, free = list(rows), list(free)
    q = q.copy()
    gap, J = loops.gap_jacobian(q)
    wanted = np.broadcast_to(wanted, gap.shape)
    gap = (gap - wanted) * loops.row_scale
    back = -np.linalg.inv(loops.scaled(J)[:, rows][:, :, free])  # this near, one Jacobian is enough for all iterations
    size = abs(gap).max(axis=1, initial=0.0)
    going = np.flatnonzero((size >= 1e-15) & (size < NEARLY))
    for _ in range(FEW):
        if not len(going) or not free:
            break
        step = np.zeros((len(going), loops.robot.nv))
        step[:, free] = (back[going] @ gap[going][:, rows, None])[..., 0]
        trial = closing_positions_moved_along_speeds(loops.robot, q[going], step * loops.column_scale)
        new_gap = (loops.gap(trial) - wanted[going]) * loops.row_scale
        better = np.linalg.norm(new_gap, axis=1) < np.linalg.norm(gap[going], axis=1)
        going, trial, new_gap = going[better], trial[better], new_gap[better]
        before, after = size[going], abs(new_gap).max(axis=1, initial=0.0)
        q[going], gap[going], size[going] = trial, new_gap, after
        going = going[(after >= 1e-15) & ~((before < CLOSED) & (after > 0.5 * before))]
    return q, size


def _returned(loops: Closure, q: np.ndarray, wanted: np.ndarray, kept: list[int]) -> tuple[np.ndarray, float]:
    """Closed positions with the independent ones of `kept` in their wanted places, by short steps from closed ones."""
    J, _ = loops.jacobian(q)
    dependent = loops.choice(loops.holding(J), kept)[1]
    firm = [k for k in kept if k not in dependent]
    places = [c for joint in loops.robot.moving if {*joint.speeds} <= {*firm} for c in joint.coordinates]
    start, left = q, 0.0
    for share in np.linspace(0.0, 1.0, 11)[1:]:
        q = q.copy()
        q[places] = start[places] + share * (wanted[places] - start[places])
        q, left = close_loops_by_newton(loops, q, firm)
    return q, left
