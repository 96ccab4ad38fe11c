"""Newton's and Euler's equations of a tree, link by link in base axes, straight from the mapping of a robot file.

The check of the engine.  Nothing is shared with it: frames are 4 × 4 matrices multiplied out, every joint is a
sequence of elementary motions carried along in base axes, and forces are summed from the tips to the base.  It is
slow, asks for no cleverness, and knows all joint types and conventions.
"""

from dataclasses import dataclass, replace

import numpy as np

X, Y, Z = np.eye(3)
ZERO = np.zeros(3)

# what a joint does, in its own axes: (motion, axis or None); one coordinate each, but for `orient` (4) and `free` (7)
MOTIONS = {
    "revolute": [("turn", Z)],
    "prismatic": [("slide", Z)],
    "helical": [("screw", Z)],
    "cylindrical": [("turn", Z), ("slide", Z)],
    "universal": [("turn", X), ("turn", Y)],
    "planar": [("slide", X), ("slide", Y), ("turn", Z)],
    "spherical": [("orient", None)],
    "three-revolutes": [("turn", Z), ("turn", Y), ("turn", X)],
    "free": [("free", None)],
    "fixed": [],
}
SIZES = {"orient": (4, 3), "free": (7, 6)}  # coordinates, speeds; else one of each


def kind(joint):
    return joint.get("as", joint["type"])


def sizes(joint):
    """Numbers of coordinates and speeds."""
    parts = [SIZES.get(what, (1, 1)) for what, _ in MOTIONS[kind(joint)]]
    return sum(nq for nq, _ in parts), sum(nv for _, nv in parts)


# ---- rotations and placements


def turned(axis, angle):
    """Rotation by an angle about an axis (Rodrigues)."""
    axis = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def skew(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def cross(a, b):
    return skew(a) @ b


def oriented(e):
    """Rotation of Euler parameters, scalar first."""
    e = np.asarray(e, dtype=float) / np.linalg.norm(e)
    return (2 * e[0] ** 2 - 1) * np.eye(3) + 2 * np.outer(e[1:], e[1:]) + 2 * e[0] * skew(e[1:])


def at(rotation=None, origin=(0.0, 0.0, 0.0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.eye(3) if rotation is None else rotation, origin
    return T


def rpy(xyz, angles):
    return at(turned(Z, angles[2]) @ turned(Y, angles[1]) @ turned(X, angles[0]), xyz)


def about(axis, angle):
    return at(turned(axis, angle))


def along(x, y, z):
    return at(origin=(x, y, z))


def placed(link, convention):
    """(parent's frame → joint before it moves, link frame → end frame), of the convention's constants."""
    joint = link["joint"]
    c = {key: joint.get(key, 0.0) for key in ("a", "b", "alpha", "theta", "gamma", "d", "r")}
    type_ = joint["type"]
    if convention == "dh":  # Rz(theta) Tz(b) Tx(a) Rx(alpha)
        before = about(Z, c["theta"]) if type_ in ("prismatic", "fixed") else np.eye(4)
        end = along(c["a"], 0, 0 if type_ == "prismatic" else c["b"]) @ about(X, c["alpha"])
        return before, end
    if convention == "khalil":  # Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)
        before = about(Z, c["gamma"]) @ along(0, 0, c["b"]) @ about(X, c["alpha"]) @ along(c["d"], 0, 0)
        if type_ in ("prismatic", "fixed"):
            before = before @ about(Z, c["theta"])
        if type_ != "prismatic":
            before = before @ along(0, 0, c["r"])
        return before, np.eye(4)
    return rpy(joint.get("xyz", (0, 0, 0)), joint.get("rpy", (0, 0, 0))), np.eye(4)


@dataclass
class Place:
    """A link's place in the tree: where its joint starts in its parent's link frame, and where its own frame ends."""

    link: dict
    parent: int | None  # place among the links
    start: np.ndarray
    end: np.ndarray


def tree(robot):
    """Places of the file's links, in the file's order, and the numbers of the links with parents first."""
    links = robot["links"]
    number = {link["name"]: k for k, link in enumerate(links)}
    convention = [link.get("convention", robot["convention"]) for link in links]
    places = []
    for k, link in enumerate(links):
        name = link.get("parent", links[k - 1]["name"] if k else "base")
        parent = None if name == "base" else number[name]
        before, end = placed(link, convention[k])
        if convention[k] == "dh" and parent is not None and convention[parent] == "dh":
            before = placed(links[parent], "dh")[1] @ offset(link) @ before
        else:
            before = offset(link) @ before
        places.append(Place(link, parent, before, end))
    order = []
    while len(order) < len(links):
        order += [k for k, place in enumerate(places) if k not in order and place.parent in (None, *order)]
    return places, order


def offset(link):
    given = link.get("offset", {})
    return rpy(given.get("xyz", (0, 0, 0)), given.get("rpy", (0, 0, 0)))


def masses(place):
    """Mass, mass centre and inertia about it, in link axes."""
    link, end = place.link, place.end
    m = link.get("mass", 0.0)
    R = end[:3, :3]
    if "r" in link:  # from the mass centre to the end frame's origin, in its axes
        com = end[:3, 3] - R @ np.array(link["r"])
    elif "first_moments" in link:
        com = np.array(link["first_moments"]) / m
    else:
        com = np.array(link.get("com", (0.0, 0.0, 0.0)), dtype=float)
    i = {key: link.get("inertia", {}).get(key, 0.0) for key in ("xx", "yy", "zz", "xy", "xz", "yz")}
    J = np.array([[i["xx"], i["xy"], i["xz"]], [i["xy"], i["yy"], i["yz"]], [i["xz"], i["yz"], i["zz"]]])
    if link.get("frame", "end" if "r" in link else "link") == "end":
        J = R @ J @ R.T
    if link.get("about", "com") == "origin" and "inertia" in link:
        J = J + m * skew(com) @ skew(com)
    return m, com, J


# ---- motion


@dataclass
class Frame:
    """A frame and its motion, base axes: twist, and acceleration of the origin."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    v: np.ndarray
    wd: np.ndarray
    a: np.ndarray

    def moved(self, r, v, a):
        """The same axes at a point that is at r and moves with v and a against this frame, base axes."""
        w, wd = self.w, self.wd
        return replace(
            self,
            p=self.p + r,
            v=self.v + cross(w, r) + v,
            a=self.a + cross(wd, r) + cross(w, cross(w, r)) + 2 * cross(w, v) + a,
        )

    def turned(self, R, w, wd):
        """Axes turned by R that turn with w, wd against this frame, base axes."""
        return replace(self, R=self.R @ R, w=self.w + w, wd=self.wd + wd + cross(self.w, w))

    def carried(self, T):
        """A frame fixed to this one."""
        return replace(self.moved(self.R @ T[:3, 3], ZERO, ZERO), R=self.R @ T[:3, :3])

    def matrix(self):
        return at(self.R, self.p)


GROUND = Frame(np.eye(3), *np.zeros((5, 3)))


def step(frame, what, axis, pitch, q, qd, qdd):
    """The frame after an elementary motion, and the directions of its speeds: (turn, slide), base axes."""
    if what == "orient":
        R = oriented(q)
        new = frame.R @ R
        return frame.turned(R, new @ qd, new @ qdd), [(new[:, k], np.zeros(3)) for k in range(3)]
    if what == "free":  # speeds: the origin's velocity and the angular velocity, in the axes of the frame that moves
        R = oriented(q[3:])
        new = frame.R @ R
        v, w = qd[:3], qd[3:]
        frame = frame.moved(frame.R @ q[:3], new @ v, new @ (qdd[:3] + cross(w, v)))
        frame = frame.turned(R, new @ w, new @ qdd[3:])
        return frame, [(np.zeros(3), new[:, k]) for k in range(3)] + [(new[:, k], np.zeros(3)) for k in range(3)]
    e = frame.R @ axis
    turn, slide = {"turn": (1.0, 0.0), "slide": (0.0, 1.0), "screw": (1.0, pitch)}[what]
    frame = frame.moved(slide * e * q[0], slide * e * qd[0], slide * e * qdd[0])
    if turn:
        frame = frame.turned(turned(axis, q[0]), e * qd[0], e * qdd[0])
    return frame, [(turn * e, slide * e)]


# ---- the equations


@dataclass
class Motion:
    """What comes out; links and joints by name, arrays in the file's order."""

    frames: dict  # link → Frame
    ends: dict  # link → 4 × 4 of its end frame
    centres: dict  # link → Frame at its mass centre
    rates: dict  # link → (ṗ, L̇ about its mass centre): Newton's and Euler's left sides
    reactions: dict  # joint → [n; f] of the parent on the link at the link's origin, base axes
    children: dict  # link → joints of the links that hang on it
    tau: np.ndarray
    kinetic: float
    potential: float
    elastic: float
    losses: float  # power that friction and damping take
    power: float  # of the external wrenches
    momentum: np.ndarray  # [about the base's origin; linear]


def motion(robot, q, qd, qdd, wrenches=None):
    """Motion and forces of the robot (the mapping of its file) at a state; `wrenches` as in the calls of denoc."""
    q, qd, qdd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    places, order = tree(robot)
    firsts, nq, nv = [], 0, 0
    for place in places:
        firsts.append((nq, nv))
        nq, nv = nq + sizes(place.link["joint"])[0], nv + sizes(place.link["joint"])[1]
    frames, directions = {}, {k: [] for k in range(len(places))}  # (speed, turn, slide, point)
    for k in order:
        place, joint = places[k], places[k].link["joint"]
        here = (GROUND if place.parent is None else frames[place.parent]).carried(place.start)
        i, j = firsts[k]
        for what, axis in MOTIONS[kind(joint)]:
            axis = np.array(joint["axis"]) / np.linalg.norm(joint["axis"]) if "axis" in joint else axis
            n, m = SIZES.get(what, (1, 1))
            moved = slice(j, j + m)
            here, found = step(here, what, axis, joint.get("pitch", 0.0), q[i : i + n], qd[moved], qdd[moved])
            directions[k] += [(j + s, turn, slide, here.p) for s, (turn, slide) in enumerate(found)]
            i, j = i + n, j + m
        frames[k] = here

    g = np.array(robot.get("gravity", [0.0, 0.0, -9.81]), dtype=float)
    external, power = _external(robot, frames, wrenches)
    tau, reactions, centres, rates = np.zeros(nv), {}, {}, {}
    held = {k: np.zeros(6) for k in range(len(places))}  # what its children ask of a link, [n about the origin; f]
    kinetic = potential = 0.0
    momentum = np.zeros(6)
    for k in reversed(order):
        place, here = places[k], frames[k]
        m, com, J = masses(place)
        centre = here.carried(at(origin=com))
        J = here.R @ J @ here.R.T
        L = J @ here.w
        rate_p, rate_L = m * centre.a, J @ here.wd + cross(here.w, L)
        f = rate_p - m * g - external[k][3:] + held[k][3:]
        n = rate_L + cross(centre.p - here.p, rate_p - m * g) - external[k][:3] + held[k][:3]
        if place.parent is not None:
            held[place.parent] += np.concatenate([n + cross(here.p - frames[place.parent].p, f), f])
        for j, turn, slide, point in directions[k]:
            tau[j] = turn @ (n + cross(here.p - point, f)) + slide @ f
        name = place.link["name"]
        centres[name], rates[name] = centre, (rate_p, rate_L)
        reactions[joint_name(robot, k)] = np.concatenate([n, f])
        kinetic += (m * centre.v @ centre.v + here.w @ L) / 2
        potential -= m * g @ centre.p
        momentum += np.concatenate([L + cross(centre.p, m * centre.v), m * centre.v])

    elastic = losses = 0.0
    for place, (i, j) in zip(places, firsts):
        joint = place.link["joint"]
        spring, friction = joint.get("spring", {}), joint.get("friction", {})
        for s in range(sizes(joint)[1]):
            k, stretch = j + s, q[i + s] - spring.get("rest", 0.0)
            viscous = friction.get("viscous", 0.0) + spring.get("damping", 0.0)
            passive = viscous * qd[k] + friction.get("coulomb", 0.0) * np.sign(qd[k])
            tau[k] += joint.get("rotor_inertia", 0.0) * qdd[k] + passive + spring.get("stiffness", 0.0) * stretch
            kinetic += joint.get("rotor_inertia", 0.0) * qd[k] ** 2 / 2
            elastic += spring.get("stiffness", 0.0) * stretch**2 / 2
            losses += passive * qd[k]
    children = {place.link["name"]: [] for place in places}
    for k, place in enumerate(places):
        if place.parent is not None:
            children[places[place.parent].link["name"]].append(joint_name(robot, k))
    names = [place.link["name"] for place in places]
    return Motion(
        frames={name: frames[k] for k, name in enumerate(names)},
        ends={name: frames[k].matrix() @ places[k].end for k, name in enumerate(names)},
        centres=centres,
        rates=rates,
        reactions=reactions,
        children=children,
        tau=tau,
        kinetic=kinetic,
        potential=potential,
        elastic=elastic,
        losses=losses,
        power=power,
        momentum=momentum,
    )


def joint_name(robot, k):
    return robot["links"][k]["joint"].get("name", f"joint{k + 1}")


def external_wrench(robot, name, frame, wrenches=None):
    """[n about the link's origin; f] of all that acts on the link from outside, base axes."""
    n, f = np.zeros(3), np.zeros(3)
    for entry in robot.get("wrenches", []):
        if entry["link"] == name:
            R = frame.R if entry.get("axes", "link") == "link" else np.eye(3)
            force = R @ np.array(entry.get("force", (0.0, 0.0, 0.0)))
            f = f + force
            n = n + R @ np.array(entry.get("moment", (0.0, 0.0, 0.0)))
            n = n + cross(frame.R @ np.array(entry.get("at", (0.0, 0.0, 0.0))), force)
    six = np.asarray((wrenches or {}).get(name, np.zeros(6)), dtype=float)
    return np.concatenate([n + frame.R @ six[:3], f + frame.R @ six[3:]])


def _external(robot, frames, wrenches):
    found, power = {}, 0.0
    for k, link in enumerate(robot["links"]):
        found[k] = external_wrench(robot, link["name"], frames[k], wrenches)
        power += found[k] @ np.concatenate([frames[k].w, frames[k].v])
    return found, power
