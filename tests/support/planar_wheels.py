"""Vehicles in a plane in maximal coordinates: three of every link and the spin of every wheel, tied by rows.

It reads a robot's file itself, with links on planar joints, on vertical axes and on axles along y, and knows nothing of the
recursion.  M v' = f + A^T m and A v' = -A' v are solved as one dense system.
"""

import copy
import functools

import numpy as np
import yaml

from denoc.text import library_folder


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


@functools.cache
def read(name):
    return yaml.safe_load((library_folder("robots") / f"{name}.yaml").read_text())


class Vehicle:
    """The links of a library robot, in the state of one row of a result."""

    def __init__(self, name, row):
        file = copy.deepcopy(read(name))
        self.links, self.row = {link["name"]: link for link in file["links"]}, row
        self.loops = file["loops"]
        self.places, before = {}, None
        self.wheels = [n for n, link in self.links.items() if link["joint"].get("axis") == [0, 1, 0]]
        for name_, link in self.links.items():
            link.setdefault("parent", before)
            self.places[name_], before = self._place(link), name_

    def _place(self, link):
        """Origin, angle, their rates."""
        joint, row = link["joint"], self.row
        if joint["type"] == "planar":
            q, v = ([row[f"{joint['name']}.{key}{k}"] for k in (1, 2, 3)] for key in ("q", "qd"))
            return np.array(q[:2]), q[2], np.array(v[:2]), v[2]
        at, angle, speed, rate = self.places[link["parent"]]
        arm = turned(angle) @ joint.get("xyz", [0, 0, 0])[:2]
        at, speed = at + arm, speed + rate * np.array([-arm[1], arm[0]])
        if joint["type"] == "revolute" and link["name"] not in self.wheels:
            angle, rate = angle + row[f"{joint['name']}.q"], rate + row[f"{joint['name']}.qd"]
        return at, angle, speed, rate

    def column(self, name):
        """The first of a link's three columns; spins come last."""
        return 3 * list(self.links).index(name)

    def spin(self, wheel):
        return 3 * len(self.links) + self.wheels.index(wheel)

    @property
    def width(self):
        return 3 * len(self.links) + len(self.wheels)

    def point(self, name, at):
        """The rows of a point's acceleration: coefficients (2 x width), the rest, and its velocity; columns are at com."""
        _, angle, speed, rate = self.places[name]
        com = turned(angle) @ self.links[name]["com"][:2]
        arm = turned(angle) @ np.array(at[:2], dtype=float) - com
        A, k = np.zeros((2, self.width)), self.column(name)
        A[:, k : k + 2], A[:, k + 2] = np.eye(2), [-arm[1], arm[0]]
        whole = arm + com
        return A, -(rate**2) * arm, speed + rate * np.array([-whole[1], whole[0]])

    def rows(self):
        """A and -A' v."""
        A, b = [], []

        def tie(one, there, other, here, weld):
            (R, rest, _), (S, rest2, _) = self.point(one, there), self.point(other, here)
            A.extend(R - S)
            b.extend(rest2 - rest)
            if weld:
                A.append(np.zeros(self.width))
                A[-1][[self.column(one) + 2, self.column(other) + 2]] = 1, -1
                b.append(0.0)

        for name, link in self.links.items():
            joint = link["joint"]
            if joint["type"] != "planar":
                weld = joint["type"] == "fixed" or name in self.wheels
                tie(name, [0, 0], link["parent"], joint.get("xyz", [0, 0, 0]), weld)
        for loop in self.loops:
            if loop["joint"] == "fixed":
                (one, other), (at, here) = loop["between"], (loop[side]["at"] for side in ("first", "second"))
                tie(one, at, other, here, True)
            else:
                wheel = loop["between"][1]
                R, rest, v = self.point(wheel, [0, 0])
                _, angle, _, rate = self.places[wheel]
                ahead, across = turned(angle).T
                A.extend([ahead @ R, across @ R])
                A[-2][self.spin(wheel)] = -loop["radius"]
                b.extend([-(ahead @ rest) - rate * (v @ across), -(across @ rest) + rate * (v @ ahead)])
        return np.array(A), np.array(b)

    def slip(self):
        """The largest speed of a point that touches the floor."""
        result = 0.0
        for loop in self.loops:
            if loop["joint"] == "rolling":
                wheel = loop["between"][1]
                _, angle, v, _ = self.places[wheel]
                rolled = loop["radius"] * self.row[f"{self.links[wheel]['joint']['name']}.qd"]
                result = max(result, *abs(turned(angle).T @ v - [rolled, 0.0]))
        return result

    def accelerations(self):
        """The second rates of all joints, by the names of their columns."""
        M, f = np.zeros(self.width), np.zeros(self.width)
        for name, link in self.links.items():
            k, joint = self.column(name), link["joint"]
            M[k : k + 3] = link["mass"], link["mass"], link["inertia"]["zz"]
            torque = self.row.get(f"{joint['name']}.tau", 0.0)
            if name in self.wheels:
                M[self.spin(name)], f[self.spin(name)] = link["inertia"]["yy"], torque
            elif joint["type"] == "revolute":
                f[k + 2] += torque
                f[self.column(link["parent"]) + 2] -= torque
        A, b = self.rows()
        whole = np.block([[np.diag(M), A.T], [A, np.zeros((len(A), len(A)))]])
        found = np.linalg.lstsq(whole, np.concatenate([f, b]), rcond=1e-12)[0]
        result = {}
        for name, link in self.links.items():
            joint, k = link["joint"], self.column(name)
            if joint["type"] == "planar":
                R, rest, _ = self.point(name, [0, 0])
                for key, x in zip("123", (*(R @ found[: self.width] + rest), found[k + 2])):
                    result[f"{joint['name']}.qdd{key}"] = x
            elif name in self.wheels:
                result[f"{joint['name']}.qdd"] = found[self.spin(name)]
            elif joint["type"] == "revolute":
                result[f"{joint['name']}.qdd"] = found[k + 2] - found[self.column(link["parent"]) + 2]
        return result
