"""Random mechanisms with closed loops: random trees whose links are tied by cuts of any type, closed where drawn.

The cut's frames are placed so that they fit each other in a random position of the tree, with a random motion of the
cut joint between them; that position is the file's `assembly`.
"""

import copy
import functools
from dataclasses import dataclass

import numpy as np

import denoc
import newton
import yamls
from denoc.mechanics.closure import loop_closure
from denoc.mechanics.mechanisms import Balance
from denoc.robot import CUTS
from random_robots import ONE, Drawn, random_coordinates, random_robot

ALIGNED_BY_AXIS = ("revolute", "spherical", "cylindrical", "planar", "point-on-line", "point-on-plane")
TYPES = (*ONE, "cylindrical", "universal", "planar", "spherical", "revolute")
OUT_OF_PLANE = {"revolute": 3, "cylindrical": 2, "spherical": 1}  # constraints that mean nothing in a plane
HOLONOMIC = tuple(name for name, row in CUTS.items() if not row.contacts)
RADIUS = 0.3  # of what rolls
GOOD = 0.03  # least scaled singular value: what is worse conditioned proves nothing


def closed_robot(seed, *, cuts=HOLONOMIC, loops=(1, 2), **how):
    """(Mapping of a robot file, q in which its loops are closed); as many actuators as freedoms."""
    how = {"types": TYPES, "links": (4, 8), **how}
    planar = how.pop("planar", False)
    for attempt in range(1000):
        rng = np.random.default_rng([seed, attempt])
        file = _planar(rng) if planar else random_robot(int(rng.integers(2**31)), **how)
        q = random_coordinates(file, rng)
        found = _closed(file, q, cuts, int(rng.integers(loops[0], loops[1] + 1)), rng, planar)
        if found is not None and (found := _actuated(found, q, rng)) is not None:
            return found, q
    raise AssertionError(f"no mechanism for seed {seed}")


def loaded(file):

    return denoc.loads(yamls.dump(file))


def _planar(rng):
    """A tree whose links move in the xy-plane, on turns about z and slides along it: its loops are redundant."""
    links = []
    for k in range(int(rng.integers(4, 8))):
        joint = {"name": f"j{k + 1}", "type": "revolute", "xyz": [*map(float, rng.uniform(-0.4, 0.4, 2)), 0.0]}
        if rng.random() < 0.25:
            joint |= {"type": "prismatic", "axis": [float(np.cos(k)), float(np.sin(k)), 0.0]}
        com = [float(x) for x in rng.uniform(-0.2, 0.2, 3)]  # out of the plane, too
        parent = "base" if k == 0 or rng.random() < 0.3 else f"link{rng.integers(1, k + 1)}"
        links.append({"name": f"link{k + 1}", "parent": parent, "joint": joint, "mass": 1.0 + k, "com": com,
                      "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04, "xz": 0.01}})  # fmt: skip
    return {"name": "planar", "convention": "frames", "gravity": [1.0, -9.0, 0.0], "links": links}


def _closed(file, q, cuts, count, rng, planar=False):
    """The file with cuts between links that can move against each other; None where there is no room for them."""
    file = copy.deepcopy(file)
    placed = {"base": np.eye(4), **denoc.frames(loaded(file), q)}
    names = list(placed)
    file["loops"], file["assembly"] = [], {}
    for k in range(count):
        first, second = (str(name) for name in rng.choice(names, 2, replace=False))
        type_ = str(rng.choice(cuts))
        one = newton.rpy(rng.uniform(-0.3, 0.3, 3), rng.uniform(-np.pi, np.pi, 3))
        if planar:
            here = placed[first]
            one = np.linalg.inv(here) @ newton.at(origin=[*(here @ one)[:2, 3], 0.0])
        two = np.linalg.inv(placed[second]) @ placed[first] @ one @ _motion(type_, rng)
        by_axis = type_ in ALIGNED_BY_AXIS and rng.random() < 0.5
        sides = {"first": _frame(one, by_axis), "second": _frame(two, by_axis)}
        own = {"radius": RADIUS} if CUTS[type_].rolls else {}
        file["loops"].append({"name": f"cut{k + 1}", "joint": type_, "between": [first, second], **sides, **own})
    at = 0
    for link in file["links"]:
        nq, _ = newton.sizes(link["joint"])
        if nq:
            file["assembly"][link["joint"]["name"]] = [float(x) for x in q[at : at + nq]]
        at += nq
    robot = loaded(file)
    constraints = loop_closure(robot)
    if constraints.m >= robot.nv:
        return None
    J, _ = constraints.jacobian(q)
    s = np.linalg.svd(constraints.scaled(J), compute_uv=False)
    redundant = sum(OUT_OF_PLANE[loop["joint"]] for loop in file["loops"]) if planar else 0
    good = s > GOOD
    return file if good.sum() == constraints.m - redundant and (good | (s < 1e-12)).all() else None


def _motion(type_, rng):
    """What the cut joint allows between its frames."""
    x, y, z = rng.uniform(-0.3, 0.3, 3)
    a, b, c = rng.uniform(-np.pi, np.pi, 3)
    turn, any_turn = newton.about(newton.Z, c), newton.rpy((0, 0, 0), (a, b, c))
    return {
        "revolute": turn,
        "prismatic": newton.along(0, 0, z),
        "spherical": any_turn,
        "universal": newton.about(newton.X, a) @ newton.about(newton.Y, b),
        "cylindrical": newton.along(0, 0, z) @ turn,
        "planar": newton.along(x, y, 0) @ turn,
        "fixed": np.eye(4),
        "point-on-line": newton.along(0, 0, z) @ any_turn,
        "point-on-plane": newton.along(x, y, 0) @ any_turn,
        "rolling": newton.along(x, y, RADIUS * np.cos(z))
        @ newton.about(newton.Z, a)
        @ newton.about(newton.X, np.pi / 2 + z)
        @ newton.about(newton.Z, b),
        "skate": newton.along(x, y, 0)
        @ newton.about(newton.Z, a)
        @ newton.about(newton.Y, z)
        @ newton.about(newton.X, b),
    }[type_]


def _frame(T, by_axis):
    R = T[:3, :3]
    frame = {"at": [float(x) for x in T[:3, 3]]}
    if by_axis:
        return frame | {"axis": [float(x) for x in 1.7 * R[:, 2]]}
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return frame | {"rpy": [float(np.arctan2(R[2, 1], R[2, 2])), float(pitch), float(np.arctan2(R[1, 0], R[0, 0]))]}


def _actuated(file, q, rng):
    """With actuators in the joints that move it best, and forces on links for what joints can't; None if they don't."""
    robot = loaded(file)
    constraints = loop_closure(robot)
    J, _ = constraints.jacobian(q)
    N = _motions(constraints.scaled(J))
    chosen = []
    for joint in rng.permutation(list(robot.joints)):
        speeds = [k for one in chosen for k in robot.joint(one).speeds] + list(robot.joint(joint).speeds)
        if len(speeds) <= N.shape[1] and np.linalg.svd(N[speeds], compute_uv=False).min() > 3 * GOOD:
            chosen.append(str(joint))
    missing = N.shape[1] - sum(len(robot.joint(one).speeds) for one in chosen)
    if missing > 2:
        return None
    for link in file["links"]:
        if link["joint"]["type"] != "fixed":
            link["joint"]["actuated"] = link["joint"]["name"] in chosen
    file["actuators"] = [
        {
            "name": f"act{k + 1}",
            "link": f"link{rng.integers(1, len(file['links']) + 1)}",
            "at": [float(x) for x in rng.uniform(-0.3, 0.3, 3)],
            "direction": [float(x) for x in rng.normal(size=3)],
            "axes": str(rng.choice(["link", "base"])),
            "kind": str(rng.choice(["force", "moment"])),
        }
        for k in range(missing)
    ]
    balance = Balance(loaded(file), q)
    system = np.concatenate([constraints.scaled(J), balance.S[0].T * constraints.column_scale])
    return file if np.linalg.svd(system, compute_uv=False)[robot.nv - 1] > GOOD else None


def _motions(J):
    """Columns that keep the loops closed."""
    _, s, V = np.linalg.svd(J)
    return V[(s > 1e-9).sum() :].T


class Mechanism(Drawn):
    """A random mechanism in a random state that keeps its loops closed."""

    def __init__(self, file, q, rng):
        self.file, self.q = file, q
        loops = loop_closure(self.robot)
        J, _ = loops.jacobian(q)
        self.N = _motions(J)
        self.qd = self.N @ rng.uniform(-2.0, 2.0, self.N.shape[1])
        _, drift = loops.jacobian(q, self.qd)
        self.qdd = self.N @ rng.uniform(-5.0, 5.0, self.N.shape[1]) - np.linalg.pinv(J, rcond=1e-9) @ drift
        self.rng = rng

    @property
    def loops(self):
        return loop_closure(self.robot)

    def pushes(self, actuated):
        """What these forces of joints and actuators are to `forward`: tau, and wrenches on links."""
        robot = self.robot
        tau, wrenches = np.zeros(robot.nv), {}
        tau[list(robot.driven)] = actuated[: len(robot.driven)]
        frames = denoc.frames(robot, self.q)
        for one, u in zip(robot.actuators, actuated[len(robot.driven) :]):
            R = frames[one.link][:3, :3]
            push = u * (R.T @ np.array(one.direction) if one.axes == "base" else np.array(one.direction))
            n, f = (push, np.zeros(3)) if one.moment else (np.cross(one.at, push), push)
            wrenches[one.link] = wrenches.get(one.link, 0.0) + np.concatenate([n, f])
        return tau, wrenches


@functools.cache
def _kept(seed, how):
    return closed_robot(seed, **dict(how))


def mechanism(seed, **how):
    file, q = _kept(seed, tuple(sorted(how.items())))
    return Mechanism(file, q, np.random.default_rng([seed, 2**20]))


# ---- one loop that can be cut anywhere


REVERSED = {"universal": newton.about(newton.Z, np.pi / 2)}  # its turns change their order; the others stay as they are


@dataclass
class Ring:
    """Bodies in a ring from the base to the base, and the joints between them.

    Body k (the base is the first and the last) carries joint k at `after[k]` and joint k - 1 at `before[k]`; `q[k]`
    are joint k's coordinates from the one to the next. Up to the cut bodies hang on the one before, then on the next.
    """

    types: list
    after: list
    before: list
    masses: list
    q: list
    actuated: int
    rates: np.ndarray

    def cut_at(self, cut):
        links, assembly = [], {}
        count = len(self.types) - 1  # of moving bodies
        for k in range(1, cut + 1):
            parent, place = (
                ("base", self.after[0])
                if k == 1
                else (f"b{k - 1}", self._inner(k - 1, self.before, k - 2) @ self.after[k - 1])
            )
            links.append(self._link(k, k - 1, parent, place, self.before[k], False))
        for k in range(count, cut, -1):
            turn = REVERSED.get(self.types[k], np.eye(4))
            parent, place = (
                ("base", self.before[k + 1])
                if k == count
                else (f"b{k + 1}", self._inner(k + 1, self.after, k + 1) @ self.before[k + 1])
            )
            links.append(self._link(k, k, parent, place @ turn, self.after[k] @ turn, True))
        for link in links:
            k = int(link["joint"]["name"][1:])
            assembly[link["joint"]["name"]] = [float(x) for x in self._turned(k, k > cut)]
        first = self._inner(cut, self.before, cut - 1) @ self.after[cut]
        second = self._inner(cut + 1, self.after, cut + 1) @ self.before[cut + 1]
        loop = {
            "name": f"j{cut}",
            "joint": self.types[cut],
            "between": [f"b{cut}", f"b{cut + 1}" if cut < count else "base"],
            "first": _frame(first, False),
            "second": _frame(second, False),
        }
        file = {
            "name": "ring",
            "convention": "frames",
            "gravity": [1.0, -2.0, -9.0],
            "links": links,
            "loops": [loop],
            "assembly": assembly,
        }
        return loaded(file)

    def _inner(self, k, side, joint):
        """Body k's own axes in its link's: the link's frame is that of the joint that it hangs on."""
        count = len(self.types) - 1
        if k > count:
            return np.eye(4)
        turn = REVERSED.get(self.types[joint], np.eye(4)) if side is self.after else np.eye(4)
        return np.linalg.inv(side[k] @ turn)

    def _link(self, k, joint, parent, place, own, backwards):
        m, com, J = self.masses[k]
        R = own[:3, :3]
        there = np.linalg.inv(own) @ np.array([*com, 1.0])
        J = R.T @ J @ R
        frame = _frame(place, False)
        entry = {"name": f"j{joint}", "type": self.types[joint], "xyz": frame["at"], "rpy": frame["rpy"]}
        if joint < self.actuated:
            entry["actuated"] = True
        return {
            "name": f"b{k}",
            "parent": parent,
            "joint": entry,
            "mass": m,
            "com": [float(x) for x in there[:3]],
            "inertia": {"xyz"[i] + "xyz"[j]: float(J[i, j] + J[j, i]) / 2 for i in range(3) for j in range(i, 3)},
        }

    def _turned(self, k, backwards):
        """Joint k's coordinates, seen from its other side if need be."""
        q = np.array(self.q[k])
        if not backwards:
            return q
        if self.types[k] == "spherical":
            return q * [1, -1, -1, -1]
        return np.array([-q[1], q[0]]) if self.types[k] == "universal" else -q

    def state(self, robot, cut):
        """Coordinates, speeds and accelerations: those of the actuated joints are the same wherever it is cut."""
        q = np.array(robot.q0)
        loops, driven = loop_closure(robot), list(robot.driven)
        rest = [k for k in range(robot.nv) if k not in driven]
        qd, qdd = np.zeros((2, robot.nv))
        size = len(driven)
        qd[driven], qdd[driven] = self.rates[:size], self.rates[4 : 4 + size]
        J, _ = loops.jacobian(q)
        qd[rest] = np.linalg.solve(J[:, rest], -J[:, driven] @ qd[driven])
        _, drift = loops.jacobian(q, qd)
        qdd[rest] = np.linalg.solve(J[:, rest], -J[:, driven] @ qdd[driven] - drift)
        return q, qd, qdd

    def at_second(self, k, wrench, backwards):
        """[n; f] at joint k's second origin, from where the engine says it: backwards, at the first's."""
        if not backwards:
            return wrench
        T = self.placed()
        reach = (T[k] @ self.after[k])[:3, 3] - (T[k + 1] @ self.before[k + 1])[:3, 3]
        return np.concatenate([wrench[:3] + np.cross(reach, wrench[3:]), wrench[3:]])

    def placed(self):
        """4 × 4 of every body's own axes in the base."""
        T = [np.eye(4)]
        for k, type_ in enumerate(self.types):
            T.append(T[k] @ self.after[k] @ _moved(type_, self.q[k]) @ np.linalg.inv(self.before[k + 1]))
        return T


def _moved(type_, q):
    return {
        "revolute": lambda: newton.about(newton.Z, q[0]),
        "prismatic": lambda: newton.along(0, 0, q[0]),
        "cylindrical": lambda: newton.about(newton.Z, q[0]) @ newton.along(0, 0, q[1]),
        "universal": lambda: newton.about(newton.X, q[0]) @ newton.about(newton.Y, q[1]),
        "spherical": lambda: newton.at(newton.oriented(q)),
    }[type_]()


FREEDOMS = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "spherical": 3}


@functools.cache
def ring(seed):
    """A ring with one or two freedoms, its first joints actuated, well conditioned wherever it is cut."""
    for attempt in range(1000):
        rng = np.random.default_rng([seed, attempt, 7])
        actuated = int(rng.integers(1, 3))
        types = [str(x) for x in rng.choice(["revolute", "prismatic"], actuated)]
        while sum(FREEDOMS[type_] for type_ in types) < 6 + actuated:
            types.append(str(rng.choice(list(FREEDOMS))))
        if sum(FREEDOMS[type_] for type_ in types) != 6 + actuated or types.count("spherical") > 1 or len(types) < 4:
            continue  # two spherical joints would leave a spin
        found = _ring(types, actuated, rng)
        if all(_good(found.cut_at(cut)) for cut in range(actuated, len(types))):
            return found
    raise AssertionError(f"no ring for seed {seed}")


def _ring(types, actuated, rng):
    def place():
        return newton.rpy(rng.uniform(-0.4, 0.4, 3), rng.uniform(-np.pi, np.pi, 3))

    q = []
    for type_ in types:
        x = rng.normal(size=4)
        q.append(x / np.linalg.norm(x) if type_ == "spherical" else rng.uniform(-1, 1, FREEDOMS[type_]))
    n = len(types)
    found = Ring(
        types,
        [place() for _ in range(n)],
        [np.eye(4), *(place() for _ in range(n))],
        [None] * n,
        q,
        actuated,
        rng.uniform(-2, 2, 8),
    )
    found.before[n] = found.placed()[n] @ found.before[n]  # where the last joint meets the base
    for k in range(1, n):
        points, weights = rng.normal(size=(6, 3)) * 0.2, rng.uniform(0.1, 1.0, 6)
        com = weights @ points / weights.sum()
        J = sum(w * ((p - com) @ (p - com) * np.eye(3) - np.outer(p - com, p - com)) for w, p in zip(weights, points))
        found.masses[k] = (float(weights.sum()), com, J)
    return found


def _good(robot):
    loops = loop_closure(robot)
    J = loops.scaled(loops.jacobian(np.array(robot.q0))[0])
    rest = [k for k in range(robot.nv) if k not in robot.driven]
    return len(rest) == loops.m and np.linalg.svd(J[:, rest], compute_uv=False).min() > GOOD
