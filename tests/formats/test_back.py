"""Robots written to other formats and read again are the same, to rounding; what is lost on the way is named."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.errors import InputError, ModelError
from denoc.formats.table import FORMATS, Source
from denoc.robot.read import build_robot
from denoc.text import document_from_mapping
from random_robots import random_robot

FILES = Path(__file__).parent / "files"
KINDS = ("revolute", "prismatic", "planar", "free", "fixed")  # which keep their coordinates in URDF
USUAL = [0.0, 0.0, -9.81]


def through(robot, name, **options):
    """The robot after a way through a format, and what the format couldn't hold."""
    row = FORMATS[name]
    written = row.write(robot)
    again = build_robot(row.read(Source(f"again{row.suffixes[0]}", written.text, **options)).document)
    return again, [f"{entry.what} {entry.fate}" for entry in written.report.entries.values()]


def differences(one, other, q, qd):
    """The largest relative differences of inertias and forces, and the largest of frames, over links of both."""
    mine, theirs = denoc.frames(one, q), denoc.frames(other, q)
    return max(
        off(denoc.inertia(other, q), denoc.inertia(one, q)),
        off(denoc.bias(other, q, qd), denoc.bias(one, q, qd)),
        max(abs(theirs[name] - T).max() for name, T in mine.items()),
    )


def state(robot, rng):
    q = np.array(robot.q0) + rng.uniform(-1, 1, robot.nq)
    for joint in robot.moving:
        if joint.type.orientation is not None:
            last = list(joint.coordinates)[-4:]
            q[last] /= np.linalg.norm(q[last])
    return q, rng.uniform(-1, 1, robot.nv)


@pytest.mark.parametrize("seed", range(12))
def test_random_robots_survive_urdf(seed):
    """In every convention, with losses; springs and rotors are what URDF has no place for."""
    data = random_robot(seed, types=KINDS, wrenches=False, gravity=USUAL)
    for link in data["links"]:
        link["joint"].pop("spring", None)
        link["joint"].pop("rotor_inertia", None)
        if link["joint"]["type"] == "planar":
            link["joint"].pop("friction", None)
    robot = build_robot(document_from_mapping(data))
    again, lost = through(robot, "urdf")
    assert again.joints == robot.joints
    assert not any("dropped" in words for words in lost if "initial" not in words and "points" not in words), lost
    q, qd = state(robot, np.random.default_rng(seed))
    assert differences(robot, again, q, qd) < 1e-13


@pytest.mark.parametrize("name", ["universal", "cylindrical", "spherical"])
def test_joints_with_several_freedoms_become_chains(name):
    data = random_robot(3, types=("revolute",), wrenches=False, drives=False, gravity=USUAL, links=(3, 3))
    axis = {"axis": [0.3, -0.5, 0.8]} if name == "cylindrical" else {}
    data["links"][1] |= {
        "convention": "frames",
        "joint": {"type": name, "name": "many", "xyz": [0.1, 0.2, 0.3], "rpy": [0.4, 0.5, 0.6], **axis},
    }
    robot = build_robot(document_from_mapping(data))
    again, lost = through(robot, "urdf")
    assert f"{name} joint changed" in lost
    assert again.nv == robot.nv
    q, _ = state(again, np.random.default_rng(5))
    place = again.joints.index("many_1")
    if name == "spherical":  # the orientation that turns about z, y and x make
        own = denoc.frames(again, q)
        parent = own[robot.link(data["links"][1]["name"]).parent] if robot.links[1].parent != "base" else np.eye(4)
        R = (robot.links[1].before.rotation().T @ parent[:3, :3].T) @ own[data["links"][1]["name"]][:3, :3]
        e0 = np.sqrt(1 + np.trace(R)) / 2
        e = [e0, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * e0))]
        q = np.concatenate([q[:place], e, q[place + 3 :]])
        mine, theirs = denoc.frames(robot, q), own
    else:
        mine, theirs = denoc.frames(robot, q), denoc.frames(again, q)
    assert max(abs(theirs[link] - T).max() for link, T in mine.items()) < 1e-13


@pytest.mark.parametrize("name", ["arm", "rover", "four-bar-plus"])
@pytest.mark.parametrize("way", ["urdf", "yaml"])
def test_files_survive(name, way):
    robot = denoc.load(FILES / f"{name}.urdf")
    again, lost = through(robot, way)
    assert again.joints == robot.joints
    q, qd = state(robot, np.random.default_rng(2))
    assert differences(robot, again, q, qd) < (1e-13 if way == "urdf" else 1e-300)
    for mine, theirs in zip(robot.moving, again.moving):
        assert (mine.limits, mine.effort, mine.largest_speed) == (theirs.limits, theirs.effort, theirs.largest_speed)
        assert (mine.actuated, mine.drives) == (theirs.actuated, theirs.drives)
    assert robot.couplings == again.couplings
    assert [loop.type for loop in robot.loops] == [loop.type for loop in again.loops]
    for mine, theirs in zip(robot.links, again.links):
        assert [(s.kind, s.size, s.file, s.colour) for s in mine.shape] == [
            (s.kind, s.size, s.file, s.colour) for s in theirs.shape
        ]
    assert lost == {"yaml": [], "urdf": {"arm": ["initial positions dropped"]}.get(name, lost)}[way]


def test_what_urdf_has_no_place_for_is_named():
    _, lost = through(denoc.load("elastic-arm"), "urdf")
    assert {"spring dropped", "actuators of joints dropped"} <= set(lost)
    assert through(denoc.load("planar3r"), "urdf")[1] == ["gravity dropped"]
    assert "rotor inertia dropped" in through(denoc.load("rx90"), "urdf")[1]
    with pytest.raises(InputError, match="URDF has no helical joint"):
        through(
            denoc.loads(
                "name: x\nconvention: dh\nlinks: [{name: a, joint: {type: helical, pitch: 0.1}, mass: 1, com: [0, 0, 0]}]"
            ),
            "urdf",
        )


BESIDE = "{name: c, joint: {type: revolute}, mass: 1, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}"


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize(
    ("kind", "more", "words"),
    [
        ("spherical", "initial: [0.6, 0, 0.8, 0]", "initial positions"),
        ("free", "initial: [0, 0, 1, 1, 0, 0, 0]", "initial positions"),
        ("free", "initial: [0, 0, 0, 0.6, 0, 0.8, 0]", "initial positions"),
        ("planar", "initial: [0, 0, 1]", "initial positions"),
        ("planar", "spring: {stiffness: 3}", "springs of planar joints"),
        ("planar", "friction: {coulomb: 3}", "friction of planar joints"),
        ("planar", "rotor_inertia: 3", "rotor inertias of planar joints"),
        ("planar", "effort: {limits: [-1, 1]}, actuated: true", "effort limits of planar joints"),
        ("free", "spring: {stiffness: 3}", "springs of free joints"),
        ("free", "friction: {viscous: 3}", "friction of free joints"),
        ("free", "rotor_inertia: 3", "rotor inertias of free joints"),
        ("spherical", "spring: {stiffness: 3}", "spring"),
    ],
)
def test_each_thing_that_urdf_cannot_hold_is_named_by_its_own_name(kind, more, words, beside):
    """Also of a free joint that becomes the root, which isn't written at all."""
    link = f"{{name: a, joint: {{type: {kind}, name: j, {more}}}, mass: 1, com: [0.1, 0, 0], inertia: {{xx: 1, yy: 1, zz: 1}}}}"
    first = f"{BESIDE}, " if beside else ""
    text = f"name: x\nconvention: frames\ngravity: [0, 0, -9.81]\nlinks: [{first}{link}]"
    usual = ("actuators of joints dropped", "free base changed", "spherical joint changed")
    _, lost = through(denoc.loads(text), "urdf")
    assert [one for one in lost if one not in usual] == [f"{words} dropped"]
    _, lost = through(denoc.loads(text.replace(f", {more}", "")), "urdf")
    assert not [one for one in lost if one not in usual]


def test_a_floating_base_survives():
    robot = denoc.load(FILES / "rover.urdf", floating=True)
    again, lost = through(robot, "urdf", floating=True)
    assert lost == ["free base changed"]
    q, qd = state(robot, np.random.default_rng(4))
    assert differences(robot, again, q, qd) < 1e-13


def seen_from(q, robot, again):
    """The coordinates in the robot that came back, whose angles may be counted from other zeros."""
    return q + np.array(again.q0) - np.array(robot.q0)


@pytest.mark.parametrize("name", ["puma", "stanford", "kuka-kr5", "planar3r", "rx90", "chain", "four-bar"])
def test_chains_survive_redysim(name):
    """The frames are others, so what is compared doesn't depend on them."""
    robot = denoc.load(name)
    again, lost = through(robot, "redysim")
    q, qd = state(robot, np.random.default_rng(1))
    there = seen_from(q, robot, again)
    rotors = np.diag([drive.rotor for joint in robot.moving for drive in joint.drives])
    assert off(denoc.inertia(again, there), denoc.inertia(robot, q) - rotors) < 1e-12
    losses = [
        d.viscous * v + d.coulomb * np.sign(v) for j in robot.moving for d, v in zip(j.drives, qd[list(j.speeds)])
    ]
    assert off(denoc.bias(again, there, qd), denoc.bias(robot, q, qd) - losses) < 1e-12
    assert ("loop `B` dropped" in lost) == (name == "four-bar")
    assert ("friction dropped" in lost) == (name == "rx90")


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_survive_redysim(seed):
    """With oblique axes, crossing, parallel and skew ones; fixed links become parts of what carries them."""
    data = random_robot(
        seed, types=("revolute", "prismatic", "fixed"), wrenches=False, drives=False, gravity=[1, -2, 9], links=(2, 6)
    )
    names = [link["name"] for link in data["links"]]
    for above, link in zip(["base", *names], data["links"]):
        link["parent"] = above
    robot = build_robot(document_from_mapping(data))
    again, _ = through(robot, "redysim")
    q, qd = state(robot, np.random.default_rng(seed))
    there = seen_from(q, robot, again)
    assert off(denoc.inertia(again, there), denoc.inertia(robot, q)) < 1e-11
    assert off(denoc.bias(again, there, qd), denoc.bias(robot, q, qd)) < 1e-11


def test_what_redysim_cannot_place_is_refused():
    data = random_robot(1, types=("revolute",), wrenches=False, drives=False, links=(3, 3), conventions=("frames",))
    for link, parent in zip(data["links"], ("base", data["links"][0]["name"], data["links"][0]["name"])):
        link["parent"] = parent
    with pytest.raises(InputError, match="can't place the joint"):
        through(build_robot(document_from_mapping(data)), "redysim")
    with pytest.raises(InputError, match="no spherical joint"):
        through(denoc.load("spherical-arm"), "redysim")


def test_a_robot_in_which_nothing_moves_is_refused_by_redysim():
    text = "name: x\nconvention: frames\nlinks: [{name: a, mass: 1, com: [0, 0, 0], joint: {type: fixed}}]\n"
    with pytest.raises(ModelError, match="nothing moves"):
        FORMATS["redysim"].write(denoc.loads(text))
