"""Rules for what the dynamics of a tree can't tell apart, in closed form from its geometry.

Each rule gives changes of the robot's numbers that change no joint force in any motion.  They are those of Gautier and
Khalil (IEEE Trans. Robotics and Automation 6 (1990) 368-373), stated for any joint of the table: what a joint doesn't
move may as well sit on the parent; links that turn about one fixed direction show only the moment of inertia about it;
a rotor that turns as its link does is a part of that link's inertia.  How a body can move at all, about one fixed
direction or freely, on which fixed line or point, is its `Reach`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...robot import Body, Robot, turn_matrix_of
from .inertial import INERTIAL, INERTIAL_NAMES
from .regressor import parameters, regressor_speeds
from .regroup import CENTRE, inertia_entries_that_move

TINY = 1e-9  # below which lengths and sines count as 0
AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class Reach:
    """The motions that a body has, in its axes and about its origin; its joint and those before it stand at zero.

    `axis` is the only direction about which it turns, if there is one.  All points of `centre` + s `axis` move along
    the axis at most; of a body that turns freely, `centre` alone is at rest.  Along the axis a body moves by `advance`
    for each radian that it turns, as a screw does, or by itself if there is no such number.
    """

    turns: int = 0  # 0: not at all, 1: about `axis`, 3: about several directions
    axis: np.ndarray | None = None
    centre: np.ndarray | None = None
    slides: tuple[np.ndarray, ...] = ()  # directions in which a body that doesn't turn slides
    advance: float | None = 0.0
    up: np.ndarray = field(default_factory=lambda: AXES)  # rotation of the body in the base

    def along(self, direction: np.ndarray) -> bool:
        """Whether the body turns about nothing but this direction, if at all."""
        return self.turns == 0 or (self.axis is not None and tree_directions_parallel(self.axis, direction))


def tree_moment_arms(bodies: Sequence[Body]) -> list[tuple[Reach, Reach]]:
    """For each body the reach of its parent, in the body's axes and about its origin, and its own."""
    result: list[tuple[Reach, Reach]] = []
    for body in bodies:
        above = result[body.parent][1] if body.parent is not None else Reach()
        above = _at(above, turn_matrix_of(body.rotation), np.array(body.origin))
        result.append((above, _own(body, above)))
    return result


def directions_of_body_motion(body: Body) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The directions in which a body turns, and those in which it slides."""
    turns = [AXES[d] for d in body.directions if d < 3]
    slides = [AXES[d - 3] for d in body.directions if d >= 3] + (turns if body.pitch else [])
    return turns, slides


def tree_directions_parallel(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two directions are parallel."""
    return bool(np.linalg.norm(np.cross(a, b)) <= TINY * np.linalg.norm(a) * np.linalg.norm(b))


def _at(reach: Reach, R: np.ndarray, origin: np.ndarray) -> Reach:
    """The reach of the same body, with other axes and another origin."""
    return replace(
        reach,
        axis=None if reach.axis is None else R.T @ reach.axis,
        centre=None if reach.centre is None else R.T @ (reach.centre - origin),
        slides=tuple(R.T @ a for a in reach.slides),
        up=reach.up @ R,
    )


def _own(body: Body, above: Reach) -> Reach:
    """The reach of a body on a joint, from that of its parent."""
    turns, slides = directions_of_body_motion(body)
    if not turns:
        return _slid(above, slides)
    if len(turns) == 1 and above.along(turns[0]):
        return _about_one(above, turns[0], None if slides and not body.pitch else body.pitch)
    return replace(above, turns=3, axis=None, centre=_point(above, turns, slides), slides=(), advance=0.0)


def _slid(above: Reach, slides: Sequence[np.ndarray]) -> Reach:
    if above.turns == 0:
        return replace(above, slides=(*above.slides, *slides))
    aside = [a for a in slides if above.axis is None or not tree_directions_parallel(above.axis, a)]
    along = above.axis is not None and not _square(above.axis, slides)
    return replace(above, centre=None if aside else above.centre, advance=None if along else above.advance)


def _square(axis: np.ndarray, slides: Sequence[np.ndarray]) -> bool:
    """Whether all slides are square to the axis."""
    return all(abs(axis @ a) <= TINY for a in slides)


def _about_one(above: Reach, axis: np.ndarray, pitch: float | None) -> Reach:
    """The reach where all turns are about one direction; its line is at rest if the lines before it are the same."""
    advance = pitch
    if above.turns == 0:
        kept = all(tree_directions_parallel(a, axis) for a in above.slides)
        advance = pitch if _square(axis, above.slides) else None
    else:
        kept = above.centre is not None and tree_direction_parallel_or_zero(above.centre, axis)
        alike = above.advance is not None and pitch is not None and abs(above.advance - pitch) <= TINY
        advance = pitch if alike else None
    return replace(above, turns=1, axis=axis, centre=np.zeros(3) if kept else None, slides=(), advance=advance)


def _point(above: Reach, turns: Sequence[np.ndarray], slides: Sequence[np.ndarray]) -> np.ndarray | None:
    """The point at rest of a body that turns freely, if there is one: on its own axis, and on what rests before it."""
    if slides or above.advance != 0.0 or above.slides:
        return None
    if above.turns == 0:
        return np.zeros(3)
    if above.centre is None:
        return None
    own = turns[0] if len(turns) == 1 else np.zeros(3)
    ways = np.column_stack([own, -above.axis if above.axis is not None else np.zeros(3)])
    s = np.linalg.lstsq(ways, above.centre, rcond=None)[0]
    met = bool(np.linalg.norm(ways @ s - above.centre) <= TINY * max(1.0, float(np.linalg.norm(above.centre))))
    return own * s[0] if met else None


def tree_direction_parallel_or_zero(v: np.ndarray, axis: np.ndarray) -> bool:
    """Whether a vector has no part beside the axis."""
    return bool(np.linalg.norm(v - axis * (axis @ v)) <= TINY * max(1.0, float(np.linalg.norm(v))))


Change = list[tuple[int, np.ndarray]]  # changes of pseudo-inertias, by body
_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def inertial_changes_without_force(robot: Robot) -> np.ndarray:
    """Changes of all numbers that no force shows, a column for each, in the order of `parameters`."""
    names = list(parameters(robot))
    bodies = robot.parts.bodies
    links = {robot.parts.seats[link.name][0]: k for k, link in enumerate(robot.links)}
    places = {k: names.index(f"{prefix}.rotor") for prefix, k, _ in regressor_speeds(robot)}
    between = {i: len(names) + INERTIAL * k for k, i in enumerate(i for i in range(len(bodies)) if i not in links)}
    height = len(names) + INERTIAL * len(between)
    columns = []
    for inertias, drives in _changes(bodies, np.array(robot.gravity)):
        column = np.zeros(height)
        for i, G in inertias:
            first = INERTIAL * links[i] if i in links else between[i]
            R = robot.parts.seats[robot.links[links[i]].name][1].rotation() if i in links else AXES
            column[first : first + INERTIAL] += _numbers(G, R)
        for k, (rotor, offset) in drives.items():
            column[places[k]] += rotor
            column[places[k] + 3] += offset  # behind viscous and dry friction
        columns.append(column)
    whole = np.array(columns).reshape(-1, height).T
    return inertial_changes_that_spare_numbers(whole, range(len(names), height))[
        : len(names)
    ]  # the parts of joints have no numbers of their own


def inertial_changes_that_spare_numbers(changes: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """Combinations of the changes that leave the numbers in these places alone."""
    outside = changes[list(places)]
    if not outside.size:
        return changes
    _, s, Vt = np.linalg.svd(outside)
    rank = int((s > TINY * max(s.max(initial=0.0), 1.0)).sum())
    result: np.ndarray = changes @ Vt[rank:].T
    return result


def _numbers(G: np.ndarray, R: np.ndarray) -> np.ndarray:
    """A link's ten numbers from a pseudo-inertia in axes that R leads to."""
    E, h = R.T @ G[:3, :3] @ R, R.T @ G[:3, 3]
    J = np.trace(E) * np.eye(3) - E
    result = np.array([G[3, 3], *h, *(J[place] for place in _PLACES)])
    assert len(result) == len(INERTIAL_NAMES)
    return result


# ---- the rules

Drives = dict[int, tuple[float, float]]  # changes of rotor and offset, by speed


def _changes(bodies: Sequence[Body], gravity: np.ndarray) -> Iterator[tuple[Change, Drives]]:
    """All changes that the rules know; some may be combinations of others."""
    for i, (body, (above, own)) in enumerate(zip(bodies, tree_moment_arms(bodies))):
        for G, turned in [*_unmoved(body), *_carried(body, above)]:
            yield [(i, G), *_on_parent(body, -G, turned)], {}
        for G in _unseen(own, gravity):
            yield [(i, G)], {}
        yield from _rotors(i, body, above, gravity)


def _on_parent(body: Body, G: np.ndarray, turned: bool) -> Change:
    """A pseudo-inertia of a body on its parent, if that isn't the base; with `turned`, at the parent's origin."""
    if body.parent is None:
        return []
    T = np.eye(4)
    T[:3, :3] = turn_matrix_of(body.rotation)
    if not turned:
        T[:3, 3] = body.origin
    return [(body.parent, T @ G @ T.T)]


def _entry(r: int, c: int) -> np.ndarray:
    G = np.zeros((4, 4))
    G[r, c] = G[c, r] = 1.0
    return G


def _unmoved(body: Body) -> list[tuple[np.ndarray, bool]]:
    """What the joint doesn't move, and whether it moves to the parent by rotation only."""
    mask, turned = (np.ones((4, 4), dtype=bool), False) if not body.directions else inertia_entries_that_move(body)
    return [(_entry(r, c), turned) for r in range(4) for c in range(r, 4) if mask[r, c]]


def _first_moment(u: np.ndarray) -> np.ndarray:
    G = np.zeros((4, 4))
    G[:3, CENTRE] = G[CENTRE, :3] = u
    return G


def _carried(body: Body, above: Reach) -> list[tuple[np.ndarray, bool]]:
    """First moments of a link that slides along the only axis about which it turns; its parent could have them."""
    turns, slides = directions_of_body_motion(body)
    if turns or not slides or above.axis is None or not all(tree_directions_parallel(above.axis, a) for a in slides):
        return []
    return [(_first_moment(u), False) for u in _beside(above.axis)]


def _beside(axis: np.ndarray) -> list[np.ndarray]:
    """Two directions square to the axis and to each other."""
    first = np.cross(axis, AXES[int(np.argmin(abs(axis)))])
    first /= np.linalg.norm(first)
    return [first, np.cross(axis, first)]


def _unseen(own: Reach, gravity: np.ndarray) -> list[np.ndarray]:
    """Changes of a body's pseudo-inertia that none of its motions show."""
    second = [_entry(r, c) for r in range(3) for c in range(r, 3)]
    if own.turns == 0:
        return second + [_first_moment(u) for u in AXES]
    weight = own.up.T @ gravity
    if own.axis is not None:
        e = own.axis
        shown = np.array([np.trace(G) - e @ G[:3, :3] @ e for G in second])  # of each, the moment about the axis
        still = np.linalg.svd(shown[None])[2][1:]
        result = [sum(x * G for x, G in zip(row, second)) for row in still] + [_first_moment(e)]
        level = tree_weight_is_parallel_to(weight, e)
        return result + (_about(own, [_first_moment(u) for u in _beside(e)]) if level else [])
    return [] if weight.any() else _about(own, [_first_moment(u) for u in AXES])


def tree_weight_is_parallel_to(weight: np.ndarray, axis: np.ndarray) -> bool:
    """Whether weight has no part beside the axis."""
    return bool(np.linalg.norm(np.cross(axis, weight)) <= TINY * max(float(np.linalg.norm(weight)), TINY))


def _about(own: Reach, changes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The changes, which are meant about the body's centre; none if that isn't at rest."""
    if own.centre is None:
        return []
    T = np.eye(4)
    T[:3, 3] = own.centre
    return [T @ G @ T.T for G in changes]


def _rotors(i: int, body: Body, above: Reach, gravity: np.ndarray) -> Iterator[tuple[Change, Drives]]:
    """Rotors that are a part of their link's inertia or mass."""
    speed = dict(zip(body.directions, body.speeds))
    turns = [d for d in body.directions if d < 3]
    square = len(turns) == 1 and above.axis is not None and abs(above.axis @ AXES[turns[0]]) <= TINY
    if turns and (above.turns == 0 or square):  # ω along the directions is made of the joint's own speeds
        moments = sum((_moment(d) for d in turns), np.zeros((4, 4)))
        yield [(i, -moments)], {speed[d]: (1.0, 0.0) for d in turns}
    slides = {d: (1.0, AXES[d - 3]) for d in body.directions if d >= 3}
    if body.pitch and turns:
        slides[turns[0]] = (body.pitch, AXES[turns[0]])
    if len(turns) < 3 and slides and all(_alone(above, a) for _, a in slides.values()):
        mass, weight = _entry(CENTRE, CENTRE), above.up.T @ gravity
        drives = {speed[d]: (x * x, -x * float(a @ weight)) for d, (x, a) in slides.items()}
        yield [(i, -mass), *_on_parent(body, mass, False)], drives
    if body.pitch and turns and above.advance and _along(above, AXES[turns[0]]):
        yield _screwed(i, body, above.advance, above.up.T @ gravity)


def _screwed(i: int, body: Body, advance: float, weight: np.ndarray) -> tuple[Change, Drives]:
    """The mass of a screw on a screw about the same direction.

    On the parent, it would lack p θ̇ (p θ̇ + 2 k ω) of the energy, with the joint's pitch p, the parent's turning ω and
    its advance k: p (p - k) θ̇² of the rotor, and p k (ω + θ̇)² - p k ω² of the moments of inertia of link and parent.
    """
    (d,) = (d for d in body.directions if d < 3)
    mass, moment, p = _entry(CENTRE, CENTRE), _moment(d), body.pitch
    own = [(i, p * advance * moment - mass), *_on_parent(body, mass, False)]
    drives = {body.speeds[0]: (p * (p - advance), -p * float(weight[d]))}
    return own + _on_parent(body, -p * advance * moment, True), drives


def _moment(d: int) -> np.ndarray:
    """The pseudo-inertia that is a moment of inertia about one axis."""
    G: np.ndarray = 0.5 * np.diag([1.0, 1.0, 1.0, 0.0]) - _entry(d, d)
    return G


def _along(above: Reach, a: np.ndarray) -> bool:
    """Whether the body above turns about this direction only."""
    return above.axis is not None and tree_directions_parallel(above.axis, a)


def _alone(above: Reach, a: np.ndarray) -> bool:
    """Whether the body below is the only one to move in this direction."""
    if above.turns == 0:
        return all(abs(a @ other) <= TINY for other in above.slides)
    return _along(above, a) and above.advance == 0.0
