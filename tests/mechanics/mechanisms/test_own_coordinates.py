"""Cut joints with actuators, friction, springs: which joint of a loop is cut changes nothing but the way of computing.

The four-bar has an actuator in A0, dry friction in A, a spring and a damper in B, viscous friction in B0, and is cut at
each of these. A joint that is seen from its other side has the opposite angle.
"""

import numpy as np
import pytest
import yaml

import denoc
from comparing import off
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.mechanics.mechanisms.freedoms import mobility

JOINTS = ("A0", "A", "B", "B0")
OWN = {
    "A0": {"actuated": True},
    "A": {"friction": {"viscous": 0.02, "coulomb": 0.4}},
    "B": {"spring": {"stiffness": 3.0, "rest": 1.0, "damping": 0.01}},
    "B0": {"friction": {"viscous": 0.03}},
}
RODS = {"crank": (1.0, 0.1), "coupler": (3.0, 0.3), "rocker": (2.5, 0.25)}  # mass, length
AT = {"A0": [0, 0, 0], "B0": [0.28, 0, 0]}
# cut → for each link: its parent, the joint, its place there, and whether it is seen from its far end
TREES = {
    "B": {"crank": ("base", "A0", 0.0, 0), "coupler": ("crank", "A", 0.1, 0), "rocker": ("base", "B0", 0.28, 0)},
    "B0": {"crank": ("base", "A0", 0.0, 0), "coupler": ("crank", "A", 0.1, 0), "rocker": ("coupler", "B", 0.3, 1)},
    "A": {"crank": ("base", "A0", 0.0, 0), "rocker": ("base", "B0", 0.28, 0), "coupler": ("rocker", "B", 0.25, 1)},
    "A0": {"rocker": ("base", "B0", 0.28, 0), "coupler": ("rocker", "B", 0.25, 1), "crank": ("coupler", "A", -0.3, 1)},
}
CUTS = {
    "B": ("coupler", 0.3, "rocker", 0.25),
    "B0": ("base", 0.28, "rocker", -0.25),
    "A": ("crank", 0.1, "coupler", -0.3),
    "A0": ("base", 0.0, "crank", -0.1),
}
SIGNS = {"B": {}, "B0": {}, "A": {"B": -1}, "A0": {"A": -1, "B": -1}}


def robot(cut, own=OWN, start=(0.0, 0.98287853, 0.64238917, 1.6252677)):
    """The four-bar, cut at this joint; `start` are guesses of the joints' angles."""
    signs, links = SIGNS[cut], []
    for name, (parent, joint, x, far) in TREES[cut].items():
        m, length = RODS[name]
        entry = {"name": joint, "type": "revolute", "xyz": [x, 0, 0], **_signed(own[joint], signs.get(joint, 1))}
        J = m * length**2 / 12
        com = [length / 2 - far * length, 0, 0]
        links.append({"name": name, "parent": parent, "joint": entry, "mass": m, "com": com,
                      "inertia": {"xx": 0, "yy": J, "zz": J}})  # fmt: skip
    first, x, second, y = CUTS[cut]
    loop = {"name": cut, "joint": "revolute", "between": [first, second], "first": {"at": [x, 0, 0]},
            "second": {"at": [y, 0, 0]}, **_signed(own[cut], 1)}  # fmt: skip
    guess = {joint: float(signs.get(joint, 1) * q) for joint, q in zip(JOINTS, start) if joint != cut}
    file = {"name": "four-bar", "convention": "frames", "gravity": [0, -9.81, 0], "links": links, "loops": [loop]}
    return denoc.loads(yaml.safe_dump(file | {"assembly": guess}))


def _signed(keys, sign):
    if "spring" not in keys:
        return keys
    return keys | {"spring": keys["spring"] | {"rest": sign * keys["spring"]["rest"]}}


def column(result, cut, joint, key):
    return SIGNS[cut].get(joint, 1) * result.table[f"{joint}.{key}"]


FALL = {
    "robot": "four-bar",
    "task": "simulate",
    "time": {"end": 0.5, "step": 0.02},
    "forces": {"A0": {"law": "constant", "value": "0.8 N m"}},
    "solver": {"rtol": 1e-11, "atol": 1e-13},
    "record": {"reactions": True},
}


def test_it_moves_alike_wherever_it_is_cut():
    """Motion, energies, forces in the joints, and the instants at which dry friction holds and lets go."""
    results = {cut: denoc.run(FALL, robot=robot(cut)) for cut in TREES}
    right = results["B"]
    assert [event["event"] for event in right.record["events"]][:1] == ["stops slipping"]
    for cut, result in results.items():
        assert result.ended == "done"
        assert result.audit["energy"] < 1e-8
        for joint in JOINTS:
            for key in ("q", "qd", "qdd"):
                assert off(column(result, cut, joint, key), right.table[f"{joint}.{key}"]) < 1e-6, (cut, joint, key)
        for name in ("kinetic", "potential", "elastic"):
            assert off(result.table[f"energy.{name}"], right.table[f"energy.{name}"]) < 1e-7
        assert len(result.record["events"]) == len(right.record["events"])
        for one, other in zip(result.record["events"], right.record["events"]):
            assert (one["joint"], one["event"]) == (other["joint"], other["event"])
            assert one["t"] == pytest.approx(other["t"], abs=1e-8)
        for joint in JOINTS:
            found = {name: result.table.get(f"{joint}.{name}.fx") for name in ("reaction", "lambda")}
            wanted = right.table[f"{joint}.reaction.fx"]
            assert off(abs(found["reaction"]), abs(wanted)) < 1e-6, (cut, joint)
            assert (found["lambda"] is not None) == (joint == cut)
        assert off(result.table[f"{cut}.lambda.fx"], result.table[f"{cut}.reaction.fx"]) < 1e-9


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_an_actuator_in_a_cut_needs_what_it_needs_elsewhere(backend):
    """Inverse dynamics of a motion of B, which has the actuator; A0 is passive."""
    own = {**OWN, "A0": {}, "B": OWN["B"] | {"actuated": True}, "A": {"friction": {"viscous": 0.02, "coulomb": 0.1}}}
    torques, motions = {}, {}
    q = denoc.assemble(robot("B"), [1.0, 0.9, 1.6, 0.6])  # A0 stays
    q, start = q[[0, 1, 3, 2]], q[3]
    for cut in ("B", "B0", "A0"):
        sign = SIGNS[cut].get("B", 1)
        scenario = {
            "robot": "four-bar",
            "task": "inverse",
            "time": {"end": 0.4, "step": 0.02},
            "motion": {"B": {"law": "cycloid", "from": sign * start, "to": sign * (start + 0.05)}},
        }
        with using_backend(backend):
            result = denoc.run(scenario, robot=robot(cut, own, q))
        assert result.ended == "done"
        assert result.audit["energy"] < 1e-9
        torques[cut], motions[cut] = column(result, cut, "B", "tau"), column(result, cut, "A", "q")
    assert np.ptp(torques["B"]) > 0.1
    for cut in ("B0", "A0"):
        assert off(motions[cut], motions["B"]) < 1e-9
        assert off(torques[cut], torques["B"]) < 1e-9


def test_calls_take_it():
    """Forward and inverse dynamics at one state, whatever is cut."""
    own = {**OWN, "A": {"friction": {"viscous": 0.02}}}
    found = {}
    for cut in TREES:
        made = robot(cut, own)
        q = denoc.assemble(made, made.q0)
        assert mobility(made).standing.freedoms == 1
        where = {name: made.joint(name).speeds[0] for name in JOINTS}
        tau = np.zeros(4)
        tau[where["A0"]] = 0.7
        qdd = denoc.forward(made, q, np.zeros(4), tau)
        assert denoc.inverse(made, q, np.zeros(4), qdd) == pytest.approx([0.7], abs=1e-11)
        found[cut] = [SIGNS[cut].get(name, 1) * qdd[where[name]] for name in JOINTS]
        assert off(found[cut], found["B"]) < 1e-9


def test_a_guess_without_the_cut_joint_is_enough_and_turns_are_kept():
    made = robot("B")
    assert made.q0[3] == 0.0
    q = denoc.assemble(made, made.q0)
    assert q[3] == pytest.approx(0.64238917, abs=1e-7)
    far = np.array(made.q0)
    far[3] = 7.0
    assert denoc.assemble(made, far)[3] == pytest.approx(0.64238917 + 2 * np.pi, abs=1e-7)


@pytest.mark.parametrize("cut", ["prismatic", "cylindrical", "universal", "planar", "spherical"])
def test_doubles_of_every_type_are_placed(cut):
    """A link that hangs on a free joint somewhere, tied to the base by a cut with an initial value."""
    start = {"prismatic": [0.2], "cylindrical": [0.9, 0.1], "universal": [0.4, -0.7], "planar": [0.1, -0.2, 2.0]}
    turned = np.array([0.1, -0.9, 0.3, 0.3])
    start["spherical"] = (turned / np.linalg.norm(turned)).tolist()
    text = {
        "name": "one", "convention": "frames",
        "links": [{"name": "body", "joint": {"type": cut, "initial": start[cut]}, "mass": 1, "com": [0, 0, 0],
                   "inertia": {"xx": 1, "yy": 1, "zz": 1}}],
    }  # fmt: skip
    placed = denoc.frames(denoc.loads(yaml.safe_dump(text)), start[cut])["body"]
    from denoc.mechanics.assembly.assembly import coordinates_with_cut_joints_placed
    from denoc.mechanics.closure.constraints import loop_closure

    zero = [0.0] * len(start[cut]) if cut != "spherical" else [1.0, 0.0, 0.0, 0.0]
    text["links"][0]["joint"] = {"name": "free", "type": "free"}
    text["loops"] = [{"name": "cut", "joint": cut, "between": ["base", "body"], "initial": zero}]
    made = denoc.loads(yaml.safe_dump(text))
    q = np.array([*placed[:3, 3], *_parameters(placed[:3, :3]), *zero])
    found = coordinates_with_cut_joints_placed(loop_closure(made), q, ())[7:]
    sign = np.sign(found @ start[cut]) if cut == "spherical" else 1.0
    assert sign * found == pytest.approx(start[cut], abs=1e-12)


def _parameters(R):
    """Euler parameters as an eigenvector (Bar-Itzhack)."""
    K = np.zeros((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    return np.linalg.eigh(K)[1][:, -1]


def test_in_a_list_of_all_joints_one_with_its_own_coordinate_may_be_cut():
    """If every joint of the loop has one; the choice is said as ever, and the motion is the same."""
    joints = [{"name": "A0", "joint": "revolute", "between": ["base", "crank"], **OWN["A0"]},
              {"name": "A", "joint": "revolute", "between": ["crank", "coupler"], "first": {"at": [0.1, 0, 0]}, **OWN["A"]},
              {"name": "B", "joint": "revolute", "between": ["coupler", "rocker"], "first": {"at": [0.3, 0, 0]},
               "second": {"at": [0.25, 0, 0]}, **OWN["B"]},
              {"name": "B0", "joint": "revolute", "between": ["base", "rocker"], "first": {"at": [0.28, 0, 0]},
               **OWN["B0"]}]  # fmt: skip
    links = [{"name": name, "mass": m, "com": [length / 2, 0, 0],
              "inertia": {"xx": 0, "yy": m * length**2 / 12, "zz": m * length**2 / 12}}
             for name, (m, length) in RODS.items()]  # fmt: skip
    file = {"name": "four-bar", "convention": "frames", "gravity": [0, -9.81, 0], "links": links, "joints": joints,
            "assembly": {"A": 0.98, "B0": 1.62}}  # fmt: skip
    made = denoc.loads(yaml.safe_dump(file))
    (loop,) = made.loops
    assert loop.doubled
    assert made.notes[0].startswith(f"cut: {loop.name} (revolute)")
    right = denoc.run(FALL | {"time": {"end": 0.1}}, robot=robot("B"))
    result = denoc.run(FALL | {"time": {"end": 0.1}}, robot=made)
    for joint in JOINTS:
        assert off(result.table[f"{joint}.q"], right.table[f"{joint}.q"]) < 1e-8


def test_what_cannot_be_served_is_refused():
    with pytest.raises(InputError, match="divides by the inertia") as caught:
        denoc.run(FALL | {"closure": {"method": "multipliers"}}, robot=robot("B"))
    assert "projection-qr" in caught.value.allowed
    own = {**OWN, "B": OWN["B"] | {"rotor_inertia": 1e-3}}
    assert denoc.run(FALL | {"closure": {"method": "multipliers"}, "time": {"end": 0.02}}, robot=robot("B", own)).ended
    text = """
name: line
convention: frames
links:
  - name: body
    joint: {type: free}
    mass: 1
    com: [0, 0, 0]
    inertia: {xx: 1, yy: 1, zz: 1}
loops:
  - {joint: point-on-line, between: [base, body], friction: {viscous: 1}}
"""
    with pytest.raises(InputError, match="a point-on-line cut has no coordinate of its own") as caught:
        denoc.loads(text)
    assert "cylindrical" in caught.value.allowed
    with pytest.raises(InputError, match="first"):
        denoc.loads(text.replace("point-on-line", "revolute, first: 5"))
    with pytest.raises(InputError, match="unknown key `frction`"):
        denoc.loads(text.replace("point-on-line", "revolute, frction: {viscous: 1}"))
    with pytest.raises(InputError, match="the name `body@grip` is taken"):
        denoc.loads(text.replace("point-on-line", "revolute, name: grip").replace("name: body", "name: body@grip"))
    wrong = text.replace("joint: point-on-line", "name: grip, joint: revolute").replace(
        "{viscous: 1}", "{viscous: 1 kg}"
    )
    with pytest.raises(InputError) as caught:
        denoc.loads(wrong)
    assert "loops[0].friction.viscous" in str(caught.value)
