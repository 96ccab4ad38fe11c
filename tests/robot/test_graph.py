"""Mechanisms as graphs: which joints are cut, and that the mechanism stays the same one."""

import copy

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.backend import using_backend
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.text import Change, find_library_file

ROWS = Change("time.step", "(pi/50) s", "test", "")  # eleven of them in a turn of the crank


def four_bar():
    """The library's four-bar with all joints in one list."""
    data = yamls.load(find_library_file("four-bar", "robots").read_text())
    joints, links = [], []
    parents = {"crank": "base", "coupler": "crank", "rocker": "base"}
    for link in data["links"]:
        joint = link.pop("joint")
        link.pop("parent", None)
        entry = {"name": joint["name"], "joint": "revolute", "between": [parents[link["name"]], link["name"]]}
        entry |= {"first": {"at": joint.get("xyz", [0, 0, 0])}, "actuated": joint.get("actuated", False)}
        joints.append(entry)
        links.append(link)
    loop = data.pop("loops")[0]
    joints.append({key: loop[key] for key in ("name", "joint", "between", "first", "second")})
    return {**data, "links": links, "joints": joints}


def load(data):
    return denoc.loads(yamls.dump(data))


def torque(robot, joint="A0"):
    with using_backend(
        "plain"
    ):  # whether code is compiled depends on what was asked before, and with it the last digits
        return carry_out_plan(prepare_scenario("four-bar-idyn", robot, [ROWS])).table[f"{joint}.tau"]


def test_the_same_mechanism():
    robot = load(four_bar())
    assert [loop.name for loop in robot.loops] == ["B"]
    assert "cut: B (revolute)" in robot.notes[0]
    assert np.array_equal(torque(robot), torque(denoc.load("four-bar")))


def test_of_joints_that_would_both_do_the_one_with_more_freedom_is_cut():
    """A long arm beside a ring sets the largest cumulative freedom, so that any joint of the ring may be cut."""
    body = {"mass": 1, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    names = ["a", "b", *(f"arm{k}" for k in range(6))]
    joints = [
        {"name": "first", "joint": "revolute", "between": ["base", "a"]},
        {"name": "ball", "joint": "spherical", "between": ["a", "b"], "first": {"at": [1, 0, 0]}},
        {"name": "last", "joint": "revolute", "between": ["base", "b"], "first": {"at": [1, 0, 0]}},
        *(
            {"name": f"j{k}", "joint": "revolute", "between": [names[k + 1] if k else "base", names[k + 2]]}
            for k in range(6)
        ),
    ]
    for order in (joints, joints[::-1]):
        robot = load(
            {"name": "x", "convention": "frames", "links": [{"name": name, **body} for name in names], "joints": order}
        )
        assert [loop.name for loop in robot.loops] == ["ball"]


def test_of_equals_the_later_joint_is_cut():
    data = four_bar()
    data["joints"].sort(key=lambda entry: entry["name"] != "B")  # the library's cut comes first
    data["assembly"] = {"B": 0.64, "B0": 1.62}
    robot = load(data)
    assert [loop.name for loop in robot.loops] == ["A"]  # without B0 the rocker would be three joints away
    assert torque(robot) == pytest.approx(torque(denoc.load("four-bar")), abs=1e-9)


def test_the_joint_with_more_freedom_is_cut():
    robot = denoc.load("suspension")
    data = copy.deepcopy(yamls.load(find_library_file("suspension", "robots").read_text()))
    joints, links = [], []
    for loop in data.pop("loops"):
        joints.append(loop)
    for link in data["links"]:
        joint = link.pop("joint")
        entry = {"name": joint["name"], "joint": joint["type"], "between": [link.pop("parent", "base"), link["name"]]}
        entry["first"] = {"at": joint.get("xyz", [0, 0, 0])}
        if "axis" in joint:
            entry["first"]["axis"] = joint["axis"]
            entry["second"] = {"axis": joint["axis"]}
        joints.append(entry | {key: joint[key] for key in ("spring", "actuated") if key in joint})
        links.append(link)
    again = load({**data, "links": links, "joints": joints})
    # Hanzaki, Saha and Rao cut the same two spherical joints, for a largest cumulative freedom of 4
    assert "freedom from the base is 4" in again.notes[0]
    spherical = {loop.name for loop in again.loops}
    assert len(spherical) == 2
    assert all(loop.type.name == "spherical" for loop in again.loops)
    tau = [denoc.run("suspension-idyn", robot=one).table["tyre.force"] for one in (robot, again)]
    assert tau[0] == pytest.approx(tau[1], rel=1e-9)


@pytest.mark.parametrize("name", ["A", "B0"])
@pytest.mark.sampled(2)
def test_a_joint_may_be_listed_from_either_side(name):
    """Second in first is what its coordinate measures, whichever link becomes the parent."""
    data = four_bar()
    entry = next(one for one in data["joints"] if one["name"] == name)
    entry["between"].reverse()
    entry["first"], entry["second"] = entry.get("second", {}), entry["first"]
    data["assembly"][name] = "-56 deg" if name == "A" else "-93 deg"
    robot = load(data)
    straight = denoc.run("four-bar-idyn", robot=load(four_bar()))
    turned = denoc.run("four-bar-idyn", robot=robot)
    assert turned.table["A0.tau"] == pytest.approx(straight.table["A0.tau"], abs=1e-11)
    assert turned.table[f"{name}.q"] == pytest.approx(-straight.table[f"{name}.q"], abs=1e-11)


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("universal", [0.3, -0.4]),
        ("planar", [0.1, -0.2, 0.7]),
        ("cylindrical", [0.5, 0.2]),
        ("spherical", [0.8, 0.36, -0.48, 0.0]),
        ("prismatic", [0.3]),
        ("helical", [0.4]),
    ],
)
def test_motions_turned_round(kind, start):
    """Each kind of joint, listed from the link to the base instead: the link lies where the inverse motion puts it."""
    frames = {"first": {"at": [0.1, 0.2, 0.3], "rpy": [0.2, -0.3, 0.4]}, "second": {"at": [0.3, -0.1, 0.2]}}
    frames["second"]["rpy"] = [-0.5, 0.1, 0.3]
    joint = {"name": "j", "joint": kind, "initial": start, **frames}
    if kind == "helical":
        joint["pitch"] = 0.05
    placed = []
    for between in (["base", "body"], ["body", "base"]):
        robot = load(
            {
                "name": "one",
                "convention": "frames",
                "links": [{"name": "body", "mass": 1, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}],
                "joints": [{**joint, "between": between}],
            }
        )
        placed.append(denoc.frames(robot, robot.q0)["body"])
    assert placed[0] @ placed[1] == pytest.approx(np.eye(4), abs=1e-14)


def test_a_joint_with_an_actuator_is_not_cut():
    data = four_bar()
    data["joints"][0]["actuated"] = False
    data["joints"][3]["actuated"] = True
    assert [loop.name for loop in load(data).loops] == ["A"]
    for entry in data["joints"]:
        entry["actuated"] = entry["name"] != "B0"  # at the base, so that the tree becomes a chain of three
    assert [loop.name for loop in load(data).loops] == ["B0"]
    for entry in data["joints"]:
        entry["actuated"] = True
    robot = load(data)  # unless there is no other; then it is cut beside its coordinate
    (loop,) = robot.loops
    assert loop.doubled
    assert robot.joint(loop.name).actuated
    assert len(robot.driven) == 4
    for entry in data["joints"]:
        entry |= {"joint": "helical", "pitch": 0.1}
    with pytest.raises(denoc.DenocError, match="has to stay in the tree"):
        load(data)


def test_a_cut_by_khalils_parameters():
    """His frames R_k and R_(k+B): here the joint's point along each link, by d, the frames turned about z by gamma."""
    data = yamls.load(find_library_file("four-bar", "robots").read_text())
    plain = load(data)
    data["loops"][0]["first"] = {"gamma": "20 deg", "d": float(0.3 * np.cos(np.pi / 9)), "theta": 0.4}
    along, across = 0.3 * np.cos(np.pi / 9) * np.cos(np.pi / 9), 0.3 * np.cos(np.pi / 9) * np.sin(np.pi / 9)
    data["loops"][0]["second"] = {"d": 0.25, "theta": "-30 deg"}
    assert load(data).loops[0].first.origin == pytest.approx((along, across, 0.0), abs=1e-15)
    data["loops"][0]["first"] = {"d": 0.3, "theta": 0.4}
    khalil = load(data)
    tau = [denoc.run("four-bar-idyn", robot=robot).table["A0.tau"] for robot in (plain, khalil)]
    assert tau[0] == pytest.approx(tau[1], abs=1e-11)


def test_of_links_that_are_equally_far_the_first_is_named():
    """It is the same one in each process, whatever the order of its sets."""
    names = [f"link-{letter}" for letter in "hgfedcba"]
    joints = [{"joint": "revolute", "between": ["base", name]} for name in names]
    loop = {"joint": "spherical", "between": names[:2]}
    links = [{"name": name, "mass": 1, "com": [0, 0, 0]} for name in names]
    robot = load({"name": "x", "convention": "frames", "links": links, "joints": [*joints, loop]})
    assert robot.notes[0].endswith(f"is 1 (at {names[0]}), the least")
