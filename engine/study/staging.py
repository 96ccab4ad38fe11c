"""A robot as a scene: which solids its links are drawn as, and where they are at given positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..mechanics.quantities import frames
from ..mechanics.tree import body_frames
from ..record.sketch import BASE, Poses, Scene, SceneActuator, SceneJoint, ScenePart, ScenePoint, Solid
from ..robot import Link, Loop, Robot, turn_matrix_of
from .shapes import (
    NEAR,
    ROD,
    animated_solids_between_joints,
    corners_of_animated_solid,
    distance_from_animated_solid,
    distinct_animated_places,
    inverse_of_animated_frame,
    place_in_animated_frame,
    scene_axes,
    scene_point,
    shapes_for_animation,
)

THIN, TUBE = 0.004, 0.017  # half the thickness of solids, as a share of the machine's size
APART = 0.04  # mass centres this far (of the size) from their link's solids get a rod of their own
OVERHANG, ALONE = 0.06, 0.2  # of the size, by which a rail is longer than the way of its slider, or than one place
REACHES = 0.55  # of its longest way: the tube of a telescope
INSIDE = 0.1  # of its way, which the rod of a telescope keeps within the tube
POINTS = ("point-on-line", "point-on-plane")  # cuts whose second stays on a line or in a plane of the first
FREELY = ("free", "planar")  # joints to the base that hold a link nowhere
SLIDING = ("prismatic", "cylindrical")


def stage_scene(robot: Robot, q: Sequence[float] | np.ndarray, size: float | None = None) -> tuple[Scene, Poses]:
    """The scene of a robot and its poses at one position, or at many, for which rails are long enough.

    What is thick or thin is so by the machine's size, or by the given one.
    """
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    return _Stage(robot, rows, size).scene(), stage_poses(robot, rows)


def stage_poses(robot: Robot, rows: np.ndarray) -> Poses:
    """The places of all links at each row of coordinates; the base comes first and stays."""
    placed = frames(robot, rows)
    names = (BASE, *(link.name for link in robot.links))
    made = np.empty((len(rows), len(names), 4, 4))
    made[:, 0] = np.eye(4)
    for k, name in enumerate(names[1:], start=1):
        made[:, k] = placed[name]
    return Poses(made, names)


@dataclass
class _Mounts:
    """The places of a link where others are joined to it, in its axes, and other places that it has names for."""

    joined: list[np.ndarray] = field(default_factory=list)
    others: list[np.ndarray] = field(default_factory=list)
    guides: list[tuple[np.ndarray, np.ndarray, float, float]] = field(default_factory=list)  # at, axis, from, to
    room: list[np.ndarray] = field(default_factory=list)  # places as far as which something of it reaches


class _Stage:
    """A scene in the making: the seats of all joints and the mounts of all links, in the links' axes."""

    def __init__(self, robot: Robot, rows: np.ndarray, size: float | None):
        self.robot, self.rows = robot, rows
        first = rows[0]
        self.placed = {BASE: np.eye(4), **frames(robot, first)}
        bodies = body_frames(robot.tree.bodies, first)
        self.seats = {link.name: self._seat(link, bodies) for link in robot.links}  # of joints, in the parents' axes
        self.ghosts = _ghosts(robot)
        self.shapes = shapes_for_animation(robot)
        self.mounts = self._mounts()
        self.size = self._size() if size is None else size

    def scene(self) -> Scene:
        """The finished scene."""
        robot = self.robot
        parts = [ScenePart(BASE, tuple(self._ground()))]
        for link in robot.links:
            ghost = link.name in self.ghosts
            solids = () if ghost else tuple(self._solids(link))
            parts.append(ScenePart(link.name, solids, link.mass, link.com if link.mass else None, ghost))
        gravity = np.array(robot.gravity)
        flat = self._flat()
        if gravity.any():
            up = -gravity / np.linalg.norm(gravity)
        else:
            up = np.array([0.0, 1.0, 0.0]) if flat is not None and abs(flat[2]) > 0.5 else np.array([0.0, 0.0, 1.0])
        actuators = [
            SceneActuator(one.name, one.link, one.at, one.direction, one.axes == "base", one.moment)
            for one in robot.actuators
            if one.on_link
        ]
        points = [
            ScenePoint(f"{link.name}.{name}", link.name, at) for link in robot.links for name, at in link.points.items()
        ]
        return Scene(
            name=robot.name,
            parts=tuple(parts),
            joints=tuple(self._joints()),
            points=tuple(points),
            actuators=tuple(actuators),
            size=self.size,
            up=scene_point(up),
            gravity=robot.gravity,
            flat=None if flat is None else scene_point(flat),
            about=robot.about,
            meshes=tuple(self.shapes.meshes.values()),
            warnings=self.shapes.warnings,
        )

    # ---- where things are

    def _seat(self, link: Link, bodies: list[np.ndarray]) -> np.ndarray:
        """The frame of a link's joint before it moves, in the parent link's axes; it slides along and turns about z."""
        above = self.placed[link.parent]
        if not link.joint.type.nv:
            still: np.ndarray = inverse_of_animated_frame(above) @ self.placed[link.name]
            return still
        body = next(body for body in self.robot.tree.bodies if link.joint.speeds[0] in body.speeds)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = turn_matrix_of(body.rotation), body.origin
        if body.parent is not None:
            T = bodies[body.parent] @ T
        seat: np.ndarray = inverse_of_animated_frame(above) @ T
        return seat

    def _mounts(self) -> dict[str, _Mounts]:
        robot, mounts = self.robot, {name: _Mounts() for name in self.placed}
        ends = frames(robot, self.rows[0], at="end")
        for link in robot.links:
            own, seat = mounts[link.name], self.seats[link.name]
            if link.name not in self.ghosts and link.parent not in self.ghosts:
                own.joined.append(np.zeros(3))
                way = self._way(link)
                if way is None and (link.parent != BASE or link.joint.type.name not in FREELY):
                    mounts[link.parent].joined.append(seat[:3, 3])
                if way is not None:
                    mounts[link.parent].guides.append((seat[:3, 3], seat[:3, 2], *way))
                    if link.parent != BASE:
                        near = 0.0 if _telescopic(*way) else min(way, key=abs)
                        mounts[link.parent].joined.append(seat[:3, 3] + near * seat[:3, 2])
            own.others += [np.array(at) for at in link.points.values()]
            if link.end.origin != (0.0, 0.0, 0.0):
                own.others.append((inverse_of_animated_frame(self.placed[link.name]) @ ends[link.name])[:3, 3])
        for loop in robot.loops:
            if loop.radius or loop.type.name == "skate":  # what rolls or glides has no place on its plane
                at, axes = np.array(loop.second.origin), loop.second.rotation()
                mounts[loop.between[1]].joined.append(at)
                mounts[loop.between[1]].room += [
                    at + r * axes[:, k] for k in (0, 1) for r in (-loop.radius, loop.radius)
                ]
                continue
            if loop.type.name in (*POINTS, *SLIDING):
                self._add_guided(mounts, loop)
                continue
            for name, side in zip(loop.between, (loop.first, loop.second)):
                mounts[name].joined.append(np.array(side.origin))
        for name, solids in self.shapes.solids.items():
            mounts[name].room += [at for solid in solids for at in corners_of_animated_solid(solid)]
        return mounts

    def _add_guided(self, mounts: dict[str, _Mounts], loop: Loop) -> None:
        """Adds the mount of what slides along a line or in a plane, and the line's guide."""
        first, second = loop.between
        at, axis = np.array(loop.first.origin), loop.first.rotation()[:, 2]
        mounts[second].joined.append(np.array(loop.second.origin))
        if loop.type.name != "point-on-plane":
            placed = stage_poses(self.robot, self.rows)
            lines = placed.frames[:, placed.names.index(first)] @ loop.first.matrix()
            points = placed.frames[:, placed.names.index(second)] @ loop.second.matrix()
            way = np.einsum("ki,ki->k", points[:, :3, 3] - lines[:, :3, 3], lines[:, :3, 2])
            mounts[first].guides.append((at, axis, float(way.min()), float(way.max())))
        elif first != BASE:
            mounts[first].joined.append(at)

    def _way(self, link: Link) -> tuple[float, float] | None:
        """The least and the largest displacement of a sliding joint over all positions."""
        joint = link.joint
        if joint.type.name not in SLIDING:
            return None
        moved = self.rows[:, joint.coordinates[joint.type.kinds.index("length")]]
        return float(moved.min()), float(moved.max())

    def _size(self) -> float:
        """The largest extent of all mounts and mass centres in the first position."""
        places: list[np.ndarray] = []
        for link in self.robot.links:
            if link.name in self.ghosts:
                continue
            mounts = self.mounts[link.name]
            centre = [np.array(link.com)] if link.mass else []
            places += [
                place_in_animated_frame(self.placed[link.name], at)
                for at in (*mounts.joined, *mounts.others, *mounts.room, *centre)
            ]
        places += self.mounts[BASE].joined
        extent = np.ptp(np.array(places or [np.zeros(3)]), axis=0).max()
        return float(extent) or 1.0

    def _flat(self) -> np.ndarray | None:
        """The normal of the plane in which everything moves, if all axes are parallel and all mounts in one plane."""
        turning = [
            link for link in self.robot.links if link.joint.type.name == "revolute" and link.name not in self.ghosts
        ]
        if not turning:
            return None
        normal: np.ndarray = (self.placed[turning[0].parent] @ self.seats[turning[0].name])[:3, 2]
        for link in self.robot.links:
            axis = (self.placed[link.parent] @ self.seats[link.name])[:3, 2]
            kind = link.joint.type.name
            along = abs(float(axis @ normal))
            across = {
                "revolute": along < 1 - NEAR,
                "planar": along < 1 - NEAR,
                "prismatic": along > NEAR,
                "fixed": False,
            }
            if across.get(kind, True):
                return None
        heights = [
            float(normal @ place_in_animated_frame(self.placed[name], at))
            for name, mounts in self.mounts.items()
            for at in mounts.joined
        ]
        if np.ptp(heights) > 1e-6 * self.size:
            return None
        upright: np.ndarray = normal * np.sign(normal[int(abs(normal).argmax())])
        return upright

    # ---- solids

    def _solids(self, link: Link) -> list[Solid]:
        """The solids of a link: the bodies of the robot's file, or what follows from where its joints are."""
        if link.name in self.shapes.solids:
            return self.shapes.solids[link.name]
        mounts, size = self.mounts[link.name], self.size
        joined, every = (
            distinct_animated_places(mounts.joined),
            distinct_animated_places([*mounts.joined, *mounts.others]),
        )
        made = animated_solids_between_joints(joined, every, size)
        made += [self._guide(at, axis, low, high, ground=False) for at, axis, low, high in mounts.guides]
        made += self._piston(link)
        if not made and len(every) == 1:
            made.append(Solid("ball", (scene_point(every[0]),), ROD * size))
        centre = np.array(link.com)
        bare = all(solid.kind == "ball" for solid in made)  # nothing else says where the link is
        if link.mass and bare and distance_from_animated_solid(centre, made) > APART * size:
            near = min(every, key=lambda at: float(np.linalg.norm(at - centre)))
            made.append(Solid("thin", (scene_point(near), scene_point(centre)), THIN * size))
        return made

    def _guide(self, at: np.ndarray, axis: np.ndarray, low: float, high: float, *, ground: bool) -> Solid:
        """What a joint slides in or along: a tube that reaches half of the way, or a rail if the way begins at 0."""
        if not ground and _telescopic(low, high):
            way = max(low, high, key=abs)
            return Solid("tube", (scene_point(at), scene_point(at + REACHES * way * axis)), TUBE * self.size)
        over = (OVERHANG if high > low else ALONE) * self.size
        return Solid(
            "rail", (scene_point(at + (low - over) * axis), scene_point(at + (high + over) * axis)), THIN * self.size
        )

    def _piston(self, link: Link) -> list[Solid]:
        """The rod by which a telescopic link reaches back into its tube."""
        way = self._way(link)
        if way is None or link.parent == BASE or not _telescopic(*way):
            return []
        seat = inverse_of_animated_frame(self.placed[link.name]) @ self.placed[link.parent] @ self.seats[link.name]
        longest = max(way, key=abs)
        back = scene_point(-(1.0 - REACHES + INSIDE) * longest * seat[:3, 2])
        return [Solid("rod", ((0.0, 0.0, 0.0), back), ROD * self.size)]

    def _ground(self) -> Iterable[Solid]:
        """The ground: a symbol at each pivot, and the rails that are fixed to it."""
        down = np.array(self.robot.gravity)
        flat = self._flat()
        if not down.any():
            down = np.array([0.0, -1.0, 0.0]) if flat is not None and abs(flat[2]) > 0.5 else np.array([0.0, 0.0, -1.0])
        down = down / np.linalg.norm(down)
        for at in distinct_animated_places(self.mounts[BASE].joined):
            yield Solid("ground", (scene_point(at), scene_point(down)), 3 * ROD * self.size)
        for at, axis, low, high in self.mounts[BASE].guides:
            yield self._guide(at, axis, low, high, ground=True)

    # ---- joints

    def _joints(self) -> Iterable[SceneJoint]:
        pulled = {joint.speed for one in self.robot.actuators for joint in one.joints}
        for link in self.robot.links:
            joint, seat = link.joint, self.seats[link.name]
            carrier, at, axes = link.parent, seat[:3, 3], seat[:3, :3]
            way = self._way(link)
            if way is not None and link.parent != BASE and _telescopic(*way):  # at the tube's mouth
                at = at + REACHES * max(way, key=abs) * axes[:, 2]
            elif way is not None or joint.type.name == "planar":  # where the slider is
                here = inverse_of_animated_frame(self.placed[link.name]) @ self.placed[link.parent] @ seat
                carrier, at, axes = link.name, np.zeros(3), here[:3, :3]
            yield SceneJoint(
                joint.name,
                joint.type.name,
                carrier,
                scene_point(at),
                scene_axes(axes),
                (link.parent, link.name),
                joint.actuated or bool(pulled & {*joint.speeds}),
                ghost=bool({link.name, link.parent} & self.ghosts),
            )
        for loop in self.robot.loops:
            if loop.doubled:
                continue  # it has the symbol of its joint
            moves = loop.radius or loop.type.name in (*POINTS, "skate")  # the symbol is where the second is
            carrier, side = (loop.between[1], loop.second) if moves else (loop.between[0], loop.first)
            T = side.matrix()
            yield SceneJoint(
                loop.name,
                loop.type.name,
                carrier,
                scene_point(T[:3, 3]),
                scene_axes(T[:3, :3]),
                loop.between,
                cut=True,
                radius=loop.radius,
            )


def _ghosts(robot: Robot) -> set[str]:
    """Massless links that only measure a place: chains of two or more from the base, with a slide among them.

    The link with mass at their end hangs on the last of their joints, whose symbol is as faint as theirs.
    """
    children: dict[str, list[Link]] = {}
    for link in robot.links:
        children.setdefault(link.parent, []).append(link)
    cut = {name for loop in robot.loops for name in loop.between}
    found: set[str] = set()
    for link in children.get(BASE, []):
        chain = [link]
        while not chain[-1].mass and chain[-1].name not in cut and len(children.get(chain[-1].name, [])) == 1:
            chain.append(children[chain[-1].name][0])
        massless = [one for one in chain if not one.mass and not one.shape]
        if len(massless) > 1 and any(one.joint.type.name == "prismatic" for one in massless):
            found |= {one.name for one in massless}
    return found


def _telescopic(low: float, high: float) -> bool:
    """Whether a slide never comes near its zero position, so that a tube from there can hold its rod."""
    return low * high > 0 and min(abs(low), abs(high)) > 0.5 * max(abs(low), abs(high))
