"""Two 3-RRR manipulators in series, beside Newton's and Euler's equations of each of their fourteen links by itself."""

import numpy as np
import pytest

import denoc
from denoc.errors import InputError

G = np.array([0.0, -9.81])
# of a module: lengths and masses of the links, side and mass of the platform; their inertias about the mass centres
LOWER = {"l": (0.4, 0.6), "m": (3.0, 4.0, 8.0), "side": 0.4, "I": (0.04, 0.12, 0.0817)}
UPPER = {
    "l": (0.16, 0.24),
    "m": (0.5, 0.6, 1.0),
    "side": 0.16,
    "I": (0.5 * 0.16**2 / 12, 0.6 * 0.24**2 / 12, 0.16**2 / 12),
}
BASE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def corners(side):
    return side * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


class Point:
    """A point's place, velocity and acceleration."""

    def __init__(self, p, v, a):
        self.p, self.v, self.a = p, v, a

    def beyond(self, r, angle):
        """The point at r, in axes of a link that is turned by this angle with its rate and second rate."""
        phi, w, wd = angle
        c, s = np.cos(phi), np.sin(phi)
        r = np.array([c * r[0] - s * r[1], s * r[0] + c * r[1]])
        across = np.array([-r[1], r[0]])
        return Point(self.p + r, self.v + w * across, self.a + wd * across - w**2 * r)


def module(joints, data, feet, carrier, last, at):
    """Each link's angle, mass centre and joints, and how far the loops are open; `joints` begin the names of joints."""
    links, tips = [], []
    for k, foot in enumerate(feet, start=1):
        first = carrier + at(f"{joints}{k}")
        second = first + at(f"{joints}{k + 3}")
        elbow = foot.beyond((data["l"][0], 0), first)
        tip = elbow.beyond((data["l"][1], 0), second)
        links.append((foot.beyond((data["l"][0] / 2, 0), first), first, data["m"][0], data["I"][0], [foot, elbow]))
        links.append((elbow.beyond((data["l"][1] / 2, 0), second), second, data["m"][1], data["I"][1], [elbow, tip]))
        tips.append(tip)
    angle = links[1][1] + at(f"{last}1")
    pins = [tips[0].beyond(corner, angle) for corner in corners(data["side"])]
    centre = tips[0].beyond(corners(data["side"]).mean(axis=0), angle)
    links.append((centre, angle, data["m"][2], data["I"][2], pins))
    return links, pins, angle, max(abs(tip.p - pin.p).max() for tip, pin in zip(tips, pins))


def torques(at):
    """The six torques, from 42 equations with them and the forces in 18 joints for unknowns."""
    still = np.zeros(3)
    lower, pins, middle, gap = module("J", LOWER, [Point(x, 0 * x, 0 * x) for x in BASE], still, "B", at)
    upper, _, _, other = module("K", UPPER, pins, middle, "C", at)
    assert max(gap, other) < 1e-12
    links = lower + upper
    A, b = np.zeros((42, 42)), np.zeros(42)
    for i, (centre, (_, _, wd), m, inertia, _) in enumerate(links):
        b[3 * i : 3 * i + 2], b[3 * i + 2] = m * (centre.a - G), inertia * wd

    def push(column, i, point, sign):
        """The two components of a joint's force on link i, at this point."""
        x, y = point.p - links[i][0].p
        A[3 * i, column] += sign
        A[3 * i + 1, column + 1] += sign
        A[3 * i + 2, column : column + 2] += sign * np.array([-y, x])

    column = 0
    for first, below in ((0, None), (7, 6)):
        for k in range(3):
            inner, outer = first + 2 * k, first + 2 * k + 1
            ends = [(inner, below, links[inner][4][0]), (outer, inner, links[outer][4][0])]
            for link, carrier, point in [*ends, (first + 6, outer, links[outer][4][1])]:
                push(column, link, point, 1.0)
                if carrier is not None:
                    push(column, carrier, point, -1.0)
                column += 2
            A[3 * inner + 2, 36 + (first > 0) * 3 + k] += 1.0
            if below is not None:
                A[3 * below + 2, 36 + 3 + k] -= 1.0
    return np.linalg.solve(A, b)[36:]


def test_torques_are_those_of_free_bodies():
    table = denoc.run("two-three-rrr-idyn").table
    driven = [f"{module}{k}" for module in "JK" for k in (1, 2, 3)]
    for row in range(0, 151, 10):

        def at(joint, row=row):
            return np.array([table[f"{joint}.{suffix}"][row] for suffix in ("q", "qd", "qdd")])

        right = torques(at)
        found = np.array([table[f"{joint}.tau"][row] for joint in driven])
        assert found == pytest.approx(right, abs=1e-10 * abs(right).max())


def test_they_move_under_their_torques_as_they_were_meant_to():
    robot = denoc.load("two-three-rrr")
    q = denoc.assemble(robot, robot.q0)
    rng = np.random.default_rng(3)
    M, h = denoc.reduced(robot, q, np.zeros(robot.nv))
    assert M.shape == (6, 6)
    driven = [joint.speeds[0] for joint in robot.moving if joint.actuated]
    wanted = rng.normal(size=6)
    tau = np.zeros(robot.nv)
    tau[driven] = M @ wanted + h
    assert denoc.forward(robot, q, np.zeros(robot.nv), tau)[driven] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("name", ["two-three-rrr", "carpet-scraper"])
def test_what_has_no_platform_says_so(name):
    with pytest.raises(InputError) as refused:
        denoc.legs(denoc.load(name))
    words = str(refused.value)
    assert f"{name} has no link that could be the platform of a parallel robot" in words
    assert "legs that hang on the base, and on the platform by one joint each" in words
    assert "take any mechanism" in words
