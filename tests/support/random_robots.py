"""Random trees of every joint type in every convention, as mappings of robot files, and random states of them.

All is drawn from a seed: the same seed gives the same robot.  Bodies are physically possible: their inertias are
those of clouds of points.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import denoc
import newton
import yamls

PI = np.pi
ONE = ("revolute", "prismatic", "helical")
CHAINS = ("cylindrical", "universal", "planar", "three-revolutes")
FREE = ("spherical", "free")
MOVING = (*ONE, *CHAINS, *FREE)
ALL = (*MOVING, "fixed")
WITH_AXIS = ("revolute", "prismatic", "helical", "cylindrical")
CONVENTIONS = ("dh", "khalil", "frames")
UNITS = {"turn": (-PI, PI), "slide": (-0.5, 0.5), "screw": (-PI, PI)}


def random_robot(
    seed,
    *,
    types=ALL,
    conventions=CONVENTIONS,
    links=(1, 7),
    drives=True,
    wrenches=True,
    offsets=True,
    shuffled=False,
    first=None,
    gravity=None,
):
    """Mapping of a robot file.

    `links` is the least and the largest number of links, `first` the type of the first joint (the only one on the
    base then), `shuffled` puts children before their parents.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(links[0], links[1] + 1))
    found = []
    for k in range(count):
        type_ = first if first and k == 0 else str(rng.choice(types))
        if type_ == "fixed" and k == count - 1 and all(link["joint"]["type"] == "fixed" for link in found):
            type_ = "revolute"  # something has to move
        convention = str(rng.choice(conventions))
        on_base = not k or (not first and rng.random() < 0.12)
        parent = "base" if on_base else f"link{k if rng.random() < 0.65 else rng.integers(1, k + 1)}"
        joint = {"type": type_, "name": f"j{k + 1}", **_placing(rng, type_, convention)}
        if type_ == "three-revolutes":
            joint |= {"type": "spherical", "as": "three-revolutes"}
        if type_ == "helical":
            joint["pitch"] = float(rng.choice([-1, 1]) * rng.uniform(0.05, 0.3))
        if drives and type_ not in (*FREE, "fixed"):
            joint |= _drives(rng)
        link = {"name": f"link{k + 1}", "parent": parent, "convention": convention, "joint": joint}
        if offsets and rng.random() < 0.25:
            link["offset"] = {"xyz": _numbers(rng, 3, 0.3), "rpy": _numbers(rng, 3, PI)}
        found.append(link | _mass(rng, link, convention))
    robot = {
        "name": f"random-{seed}",
        "convention": str(rng.choice(conventions)),
        "gravity": _numbers(rng, 3, 8.0) if gravity is None else list(gravity),
        "links": [found[k] for k in rng.permutation(count)] if shuffled else found,
    }
    for link in robot["links"]:
        if link["convention"] == robot["convention"]:
            del link["convention"]
    if wrenches:
        robot["wrenches"] = [_wrench(rng, count) for _ in range(rng.integers(0, 4))]
    return robot


def _numbers(rng, count, size):
    return [float(x) for x in rng.uniform(-size, size, count)]


def _angle(rng):
    """Any, or one of the angles that robots are made of."""
    special = rng.random() < 0.4
    return float(rng.choice([0.0, PI / 2, -PI / 2, PI]) if special else rng.uniform(-PI, PI))


def _length(rng):
    return 0.0 if rng.random() < 0.25 else float(rng.uniform(-0.4, 0.4))


def _placing(rng, type_, convention):
    if convention == "frames":
        joint = {"xyz": [_length(rng) for _ in range(3)], "rpy": [_angle(rng) for _ in range(3)]}
        if type_ in WITH_AXIS and rng.random() < 0.7:
            plain = rng.random() < 0.5
            axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]) if plain else rng.normal(size=3)
            joint["axis"] = [float(x) for x in axis]
        return joint
    keys = {"dh": ("a", "b", "alpha", "theta"), "khalil": ("gamma", "b", "alpha", "d", "theta", "r")}[convention]
    joint = {key: _angle(rng) if key in ("alpha", "theta", "gamma") else _length(rng) for key in keys}
    if type_ not in (*ONE, "fixed"):  # the motion stands where Rz(theta) stands
        joint = {key: value for key, value in joint.items() if key not in ("theta", "r")}
    return joint


def _drives(rng):
    found = {}
    if rng.random() < 0.5:
        found["rotor_inertia"] = float(rng.uniform(0.01, 0.5))
    if rng.random() < 0.5:
        found["friction"] = {"coulomb": float(rng.uniform(0, 2)), "viscous": float(rng.uniform(0, 2))}
    if rng.random() < 0.4:
        spring = {"stiffness": float(rng.uniform(1, 50)), "rest": float(rng.uniform(-0.5, 0.5))}
        found["spring"] = spring | ({"damping": float(rng.uniform(0, 1))} if rng.random() < 0.5 else {})
    return found


def _mass(rng, link, convention):
    """Mass, mass centre and inertia of a cloud of points, in one of the ways that a file may say it."""
    points = rng.uniform(-0.3, 0.3, 3) + rng.normal(size=(6, 3)) * rng.uniform(0.05, 0.2)
    weights = rng.uniform(0.1, 1.0, 6)
    m = float(weights.sum())
    com = weights @ points / m
    where, about, frame = com, "com", str(rng.choice(["link", "end"])) if convention == "dh" else "link"
    end = newton.placed(link, convention)[1]
    R = end[:3, :3]
    how = str(rng.choice(["com", "first_moments", "r"] if convention == "dh" else ["com", "first_moments"]))
    if rng.random() < 0.4:
        where, about = np.zeros(3), "origin"
    J = sum(
        w * ((p - where) @ (p - where) * np.eye(3) - np.outer(p - where, p - where)) for w, p in zip(weights, points)
    )
    if frame == "end":
        J = R.T @ J @ R
    value = {"com": com, "first_moments": m * com, "r": R.T @ (end[:3, 3] - com)}[how]
    found = {
        "mass": m,
        how: [float(x) for x in value],
        "inertia": {"xyz"[i] + "xyz"[j]: float(J[i, j] + J[j, i]) / 2 for i in range(3) for j in range(i, 3)},
        "about": about,
    }
    if frame != ("end" if how == "r" else "link"):  # else it is the default
        found["frame"] = frame
    return found


def _wrench(rng, count):
    entry = {"link": f"link{rng.integers(1, count + 1)}", "axes": str(rng.choice(["link", "base"]))}
    for key, size in (("force", 10.0), ("moment", 5.0), ("at", 0.3)):
        if rng.random() < 0.8:
            entry[key] = _numbers(rng, 3, size)
    return entry


# ---- states


def moves(robot):
    """(motion, places of its coordinates, places of its speeds) of each elementary motion, in the file's order."""
    found, nq, nv = [], 0, 0
    for link in robot["links"]:
        for what, _ in newton.MOTIONS[newton.kind(link["joint"])]:
            n, m = newton.SIZES.get(what, (1, 1))
            found.append((what, slice(nq, nq + n), slice(nv, nv + m)))
            nq, nv = nq + n, nv + m
    return found


def random_coordinates(robot, rng):
    q = []
    for what, _, _ in moves(robot):
        if what in UNITS:
            q.append(rng.uniform(*UNITS[what]))
        else:
            e = rng.normal(size=4)
            q += [*(rng.uniform(-0.5, 0.5, 3) if what == "free" else ()), *(e / np.linalg.norm(e))]
    return np.array(q)


def coordinate_rates(robot, q, qd):
    """q̇: the speeds, but for free joints' positions and for Euler parameters, ė = ½ e ∘ (0, ω)."""
    rates = []
    for what, at, moved in moves(robot):
        if what in UNITS:
            rates += [*qd[moved]]
            continue
        e, w = q[at][-4:], qd[moved][-3:]
        if what == "free":
            rates += [*(newton.oriented(e) @ qd[moved][:3])]
        rates += [-e[1:] @ w / 2, *((e[0] * w + np.cross(e[1:], w)) / 2)]
    return np.array(rates)


@dataclass
class Drawn:
    """A random robot in a random state."""

    file: dict
    rng: np.random.Generator

    def __post_init__(self):
        self.q = random_coordinates(self.file, self.rng)
        self.qd, self.qdd, self.tau = self.speeds(2.0), self.speeds(5.0), self.speeds(10.0)
        self.qd[self.rng.random(self.qd.size) < 0.1] = 0.0  # some joints stand still

    def speeds(self, size):
        return self.rng.uniform(-size, size, sum(newton.sizes(link["joint"])[1] for link in self.file["links"]))

    @cached_property
    def robot(self):
        return denoc.loads(yamls.dump(self.file))

    @cached_property
    def state(self):
        return self.q, self.qd, self.qdd

    @cached_property
    def newton(self):
        """The right answer."""
        return newton.motion(self.file, self.q, self.qd, self.qdd)

    def bends(self):
        """About as many radians a second as anything in this motion changes by; instants apart 1/50 of that are near."""
        return 1.0 + float(np.abs(self.qd).sum())

    def later(self, t):
        """The coordinates and speeds at instants t, in a motion that passes through this state."""
        rates = coordinate_rates(self.file, self.q, self.qd)
        return self.q + np.multiply.outer(t, rates), self.qd + np.multiply.outer(t, self.qdd)


def drawn(seed, **how):
    return Drawn(random_robot(seed, **how), np.random.default_rng([seed, 1]))
