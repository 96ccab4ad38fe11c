"""Mechanisms of any size and mass move alike: no scale is taken for a defect, and none gives other numbers."""

from dataclasses import replace

import numpy as np
import pytest

import denoc
from denoc.text import library_folder

SCALES = [(mass, length) for mass in (1e-6, 1.0, 1e6) for length in (1e-6, 1e-3, 1.0, 1e3, 1e6)]
NAMES = [path.stem for path in sorted(library_folder("robots").glob("*.yaml"))]


def resized(robot, mass, length):
    """The robot with all masses and lengths times these, and without what acts on it but gravity."""

    def larger(place):
        return replace(place, origin=tuple(x * length for x in place.origin))

    def body(one):
        return replace(
            one,
            m=one.m * mass,
            h=tuple(x * mass * length for x in one.h),
            E=tuple(tuple(x * mass * length**2 for x in row) for row in one.E),
            origin=tuple(x * length for x in one.origin),
            pitch=one.pitch * length,
            drives=tuple(
                replace(drive, rotor=drive.rotor * mass * length ** (2 * (d < 3)), viscous=0.0, coulomb=0.0, stiffness=0.0)
                for drive, d in zip(one.drives, one.directions)
            ),
        )  # fmt: skip

    def tree(one):
        seats = {name: (place, larger(seat)) for name, (place, seat) in one.seats.items()}
        return replace(one, bodies=tuple(map(body, one.bodies)), seats=seats)

    kinds = [kind for joint in robot.moving for kind in joint.type.kinds]
    return replace(
        robot,
        tree=tree(robot.tree),
        parts=tree(robot.parts),
        links=tuple(replace(link, before=larger(link.before), end=larger(link.end)) for link in robot.links),
        loops=tuple(
            replace(loop, first=larger(loop.first), second=larger(loop.second), radius=loop.radius * length)
            for loop in robot.loops
        ),
        q0=tuple(x * length if kind == "length" else x for x, kind in zip(robot.q0, kinds)),
        wrenches=(),
        actuators=(),
        vouched=True,
    )


@pytest.mark.sampled(32)
@pytest.mark.parametrize("mass, length", SCALES)
@pytest.mark.parametrize("name", NAMES)
def test_accelerations_scale(name, mass, length):
    """Under gravity that scales with the lengths, turns accelerate alike, and slides as the lengths are."""
    file = denoc.load(name)
    if file.couplings:
        return  # their ratios have units
    rates = np.where([turn for joint in file.moving for turn in joint.type.turning], 1.0, length)
    found = []
    for robot in (
        resized(file, mass, length),
        resized(replace(file, gravity=tuple(g / length for g in file.gravity), vouched=True), 1, 1),
    ):
        q = denoc.assemble(robot, robot.q0)
        found.append(denoc.forward(robot, q, np.zeros(robot.nv), np.zeros(robot.nv)))
    size = abs(found[1]).max()
    np.testing.assert_allclose(found[0] / rates, found[1], atol=1e-6 * size)
