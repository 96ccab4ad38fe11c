"""What is known of a mechanism at its assembled position: freedoms, redundancy, spins, singular positions."""

import numpy as np
import pytest

import denoc
import series
from denoc.mechanics.mechanisms.balance import Balance
from denoc.mechanics.mechanisms.freedoms import mobility
from random_mechanisms import mechanism, ring

pytestmark = pytest.mark.smoke

LIBRARY = {  # freedoms, Kutzbach's count, redundant constraints, idle spins, order of solution
    "four-bar": (1, -2, 3, 0, "I + II"),
    "five-bar": (2, -1, 3, 0, "I + II"),
    "three-rrr": (3, -3, 6, 0, "I + II + III"),
    "carpet-scraper": (1, -8, 9, 0, "III → I → II"),
    "gough-stewart": (6, 6, 0, 0, None),
    "rssr": (2, 2, 0, 1, "II → I"),
    "suspension": (3, 3, 0, 1, "I + II + III"),
}


def test_groups_of_bodies_that_loops_hold_together():
    found = mobility(denoc.loads(series.written_out((0, 1, 1)))).standing
    assert [one.links for one in found.groups] == [(f"crank{k}", f"coupler{k}", f"rocker{k}") for k in (1, 2, 3)]
    assert [(one.loops, one.speeds, one.freedoms) for one in found.groups] == [((f"D{k}",), 3, 1) for k in (1, 2, 3)]
    assert found.apart == 0
    carried = mobility(denoc.loads(WHEEL)).standing
    assert [(one.links, one.loops, one.speeds, one.freedoms) for one in carried.groups] == [
        (("drum", "arm"), ("winding",), 2, 1)
    ]
    assert carried.apart == 2


WHEEL = """\
name: wheel
convention: frames
links:
  - {name: cart, joint: {type: prismatic, name: road}, mass: 1, com: [0, 0, 0]}
  - {name: drum, joint: {type: revolute, name: axle}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: arm, joint: {type: revolute, name: winding, xyz: [1, 0, 0]}, mass: 1, com: [1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: hand, joint: {type: prismatic, name: grip, xyz: [2, 0, 0]}, mass: 1, com: [0, 0, 0]}
couplings: [{joint: winding, to: axle, ratio: -2}]
"""
PENDULUMS = """\
name: pendulums
convention: frames
links:
  - {name: one, parent: base, joint: {name: j1, type: revolute, axis: [0, 1, 0]%s}, mass: 1, com: [0.1, 0, 0]}
  - {name: two, parent: base, joint: {name: j2, type: revolute, axis: [0, 1, 0], xyz: [0, 1, 0]}, mass: 1, com: [0.1, 0, 0]}
couplings:
  - {joint: j2, to: j1, ratio: 2}
"""


@pytest.mark.parametrize("name", LIBRARY)
def test_robots_of_the_library(name):
    found = mobility(denoc.load(name))
    at = found.standing
    order = " → ".join(one.name for one in at.subsystems)
    known = LIBRARY[name]
    assert (at.freedoms, found.kutzbach, at.redundant, len(at.spins)) == known[:4]
    assert known[4] in (None, order)
    assert found.warnings == ()
    assert at.surplus == at.unmoved == 0
    assert max(gap.length for gap in found.gaps) < 1e-12


@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_what_a_plane_leaves_unknown(name):
    """The force along the hinge's axis, and the moments about the two others."""
    (lost,) = mobility(denoc.load(name)).standing.undetermined
    assert (lost.forces, lost.moments, lost.other) == (("z",), ("x", "y"), False)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.sampled(2)
def test_random_mechanisms_have_as_many_freedoms_as_kutzbach_counts(seed):
    case = mechanism(seed)
    found = mobility(case.robot)
    assert found.standing.freedoms == found.kutzbach == case.robot.nv - case.loops.m
    assert not found.standing.redundant
    assert not found.standing.undetermined
    assert found.standing.surplus == found.standing.unmoved == 0
    assert 0.01 < found.standing.distance <= found.standing.loops_distance * (1 + 1e-9)


def test_steps_are_those_of_the_forces():
    robot = denoc.load("carpet-scraper")
    found = mobility(robot)
    steps = Balance(robot, np.array(found.q)).steps()
    sizes = [(len(step.equations), len(step.unknowns)) for step in steps]
    assert sizes == [(one.equations, one.unknowns) for one in found.standing.subsystems]


def test_where_a_ring_is_cut_changes_nothing():
    whole = ring(0)
    told = {
        (found.kutzbach, found.loops, found.standing.freedoms, found.standing.surplus)
        for found in (mobility(whole.cut_at(cut)) for cut in range(whole.actuated, len(whole.types)))
    }
    assert told == {(whole.actuated, 1, whole.actuated, 0)}


def test_a_gear_takes_one_freedom_and_drives_what_it_turns():
    found = mobility(denoc.loads(PENDULUMS % ", actuated: true"))
    assert (found.kutzbach, found.standing.freedoms, found.loops) == (1, 1, 0)
    assert found.standing.unmoved == 0
    assert mobility(denoc.loads(PENDULUMS % ", actuated: false")).standing.unmoved == 1


def test_a_joint_called_as_its_link_stays_actuated_beside_couplings():
    robot = denoc.loads(PENDULUMS.replace("name: j1", "name: one").replace("to: j1", "to: one") % "")
    assert [joint.name for joint in robot.moving if joint.actuated] == ["one"]


def test_near_a_singular_position_it_warns():
    """A parallelogram all in line, in which it may also fold another way."""
    text = """\
name: parallelogram
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: one, parent: base, joint: {name: a, type: revolute, actuated: true, initial: %s}, mass: 1, com: [0.1, 0, 0]}
  - {name: two, parent: one, joint: {name: b, type: revolute, xyz: [0.2, 0, 0], initial: -%s}, mass: 1, com: [0.1, 0, 0]}
  - {name: three, parent: base, joint: {name: c, type: revolute, xyz: [0.5, 0, 0], initial: %s}, mass: 1, com: [0.1, 0, 0]}
loops:
  - {name: d, joint: revolute, between: [two, three], first: {at: [0.5, 0, 0]}, second: {at: [0.2, 0, 0]}}
"""
    distances = [mobility(denoc.loads(text % (x, x, x))).standing.distance for x in (1.0, 0.1, 0.01)]
    assert distances[0] > distances[1] > distances[2]
    near = mobility(denoc.loads(text % ((1e-4,) * 3)))
    assert len(near.warnings) == 1
    assert "near a singular one" in near.warnings[0]


def test_the_record_marks_what_can_not_be_known():
    """In a plane mechanism: the force across it and the moments in it, of the cut and around the loop."""
    marked = denoc.run("four-bar-idyn").record["undetermined"]
    assert {"B.lambda.fz", "B.lambda.nx", "B.lambda.ny"} <= set(marked)
    assert not any(name.endswith((".fx", ".fy", ".nz")) for name in marked)
    assert denoc.run("suspension-bounce").record["undetermined"] == []
