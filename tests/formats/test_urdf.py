"""URDF files are read as they mean, with every oddity named; what can't be read is refused at its line."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.formats.table import converted_from_any_format

FILES = Path(__file__).parent / "files"


@pytest.fixture(scope="module")
def arm():
    return denoc.load(FILES / "arm.urdf")


def test_the_tree_keeps_the_files_order_and_names(arm):
    assert arm.name == "odd_arm"
    assert [link.name for link in arm.links][:4] == ["base_2", "shoulder", "upper_arm", "sensor"]
    assert arm.joints == ("turn", "shoulder_lift", "reach", "grip", "follow", "follow_on", "tip")
    assert arm.link("sensor").parent == "upper_arm"
    assert arm.link("base_2").joint.type.name == "fixed"


def test_turned_inertias_are_turned(arm):
    """By an oracle of its own: principal moments stay, and the tensor applied to a vector turns with it."""
    J = np.array(arm.link("shoulder").inertia)
    own = np.array([[0.02, 0.003, -0.002], [0.003, 0.03, 0.001], [-0.002, 0.001, 0.025]])
    roll, pitch, yaw = 0.3, -0.7, 1.1
    x = np.array([[1, 0, 0], [0, np.cos(roll), -np.sin(roll)], [0, np.sin(roll), np.cos(roll)]])
    y = np.array([[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]])
    z = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    v = np.array([0.2, -0.5, 0.9])
    np.testing.assert_allclose(J @ (z @ y @ x @ v), z @ y @ x @ (own @ v), atol=1e-16)


def test_axes_default_to_x_and_needn_t_be_unit_vectors(arm):
    """The slide moves along its parent's x, the oblique axis isn't moved by its own joint."""
    q = np.array(arm.q0)
    still, moved = denoc.frames(arm, q), denoc.frames(arm, q + 0.1 * (np.arange(arm.nq) == arm.joints.index("reach")))
    np.testing.assert_allclose((moved["slide"] - still["slide"])[:3, 3], 0.1 * still["sensor"][:3, 0], atol=1e-15)
    turned = denoc.frames(arm, q + 0.7 * (np.arange(arm.nq) == arm.joints.index("shoulder_lift")))
    axis = np.array([1, 2, -2]) / 3
    np.testing.assert_allclose(turned["upper_arm"][:3, :3] @ axis, still["upper_arm"][:3, :3] @ axis, atol=1e-15)


def test_limits_are_mended_and_said(arm):
    joints = {joint.name: joint for joint in arm.moving}
    assert joints["turn"].limits is None
    assert joints["turn"].largest_speed == 2
    assert (joints["turn"].effort.low, joints["turn"].effort.high) == (-50, 50)
    assert joints["reach"].limits == (-0.1, 0.3)  # the file has them the other way round
    assert not joints["reach"].effort.limited
    assert joints["grip"].limits is None  # lower = upper
    assert joints["shoulder_lift"].limits == (0.5, 1.5)
    assert joints["shoulder_lift"].initial == (1.0,)


def test_joints_that_follow_others_are_couplings(arm):
    """Of the three that say so one is fixed; the last follows a follower, and all start where they have to."""
    place = {name: k for k, name in enumerate(arm.joints)}
    pairs = [(c.coordinate, c.leaders[0].coordinate, c.leaders[0].ratio, c.offset) for c in arm.couplings]
    assert pairs == [
        (place["follow"], place["grip"], -1.5, 0.1),
        (place["follow_on"], place["follow"], 0.5, 0.0),
    ]
    assert arm.q0[place["follow"]] == 0.1
    assert arm.q0[place["follow_on"]] == 0.05
    actuated = {joint.name for joint in arm.moving if joint.actuated}
    assert actuated == set(arm.joints) - {"follow", "follow_on"}


def test_losses(arm):
    (drive,) = arm.joint("turn").drives
    assert (drive.viscous, drive.coulomb) == (0.4, 0.2)


def test_shapes_are_kept(arm):
    box, (mesh, rod, ball) = arm.link("base_2").shape[0], arm.link("shoulder").shape
    assert (box.kind, box.size, box.colour) == ("box", (0.2, 0.2, 0.1), (0.0, 0.0, 1.0, 1.0))
    assert (mesh.file, mesh.size, mesh.name) == ("package://arm/meshes/shoulder.stl", (0.001,) * 3, "skin")
    np.testing.assert_allclose(mesh.at.matrix()[:2, 0], [np.cos(0.5), np.sin(0.5)])
    assert (rod.kind, rod.size, ball.kind, ball.size) == ("cylinder", (0.05, 0.3), "sphere", (0.06,))


def test_the_report_has_every_tag_and_the_warnings_are_the_robots(arm):
    report = converted_from_any_format(FILES / "arm.urdf").report
    fates = {(entry.what, entry.fate): entry.lines for entry in report.entries.values()}
    for what in ("collision", "transmission", "gazebo", "mimic"):
        assert (what, "ignored") in fates
    lines = (FILES / "arm.urdf").read_text().splitlines()
    assert fates["joint", "used"] == [k for k, line in enumerate(lines, 1) if line.startswith("  <joint")]
    words = "\n".join(arm.warnings)
    for part in (
        "arm.urdf:5:1: link `base` changed: it is `base_2` here",
        "`upper_arm`",
        "lower is above upper",
        "lower = upper = 0",
        "0 is outside its limits",
        "limit velocity changed",
    ):
        assert part in words


def test_a_root_may_float():
    robot = denoc.load(FILES / "rover.urdf", floating=True)
    assert robot.joints == ("root_joint", "glide", "fly")
    assert robot.nv == 15
    fixed = denoc.load(FILES / "rover.urdf")
    assert fixed.nv == 9


def test_planar_joints_move_at_right_angles_to_their_axis():
    text = (FILES / "rover.urdf").read_text().replace('<axis xyz="0 0 1"/>', '<axis xyz="0 1 1"/>')
    robot = loaded(text)
    q = np.array(robot.q0)
    q[:3] = 0.3, -0.2, 0.8
    before, after = denoc.frames(robot, robot.q0)["puck"], denoc.frames(robot, q)["puck"]
    axis = before[:3, :3] @ np.array([0, 1, 1]) / np.sqrt(2)
    assert abs(axis @ (after - before)[:3, 3]) < 1e-15
    assert np.linalg.norm((after - before)[:3, 3]) == pytest.approx(np.hypot(0.3, 0.2), abs=1e-15)
    np.testing.assert_allclose(after[:3, :3] @ np.array([0, 1, 1]) / np.sqrt(2), axis, atol=1e-15)


def loaded(text, **options):
    from denoc.formats.table import Source, robot_format_of_file
    from denoc.robot.read import build_robot

    return build_robot(robot_format_of_file("text.urdf", text).read(Source("text.urdf", text, **options)).document)


LINKS = '<link name="a"/><link name="b"/><link name="c"/>'


def joint(name, parent, child, kind="fixed", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def chain(kind, inside, first=""):
    """Three links of which the last hangs on a joint whose own elements begin on line 2."""
    one = joint("j", "a", "b", "revolute" if first else "fixed", first)
    return "<robot>" + LINKS + one + joint("k", "b", "c", kind, "\n" + inside) + "</robot>"


TREE = LINKS + joint("j", "a", "b") + joint("k", "b", "c")
REFUSED = {
    "an open element": ("<robot><link name='a'>", "not valid XML", 1),
    "a document type": ("<!DOCTYPE robot [<!ENTITY x 'y'>]>\n<robot/>", "document type or an entity", 1),
    "another root": ("<world/>", "no robot that denoc reads", 0),
    "no XML at all": ("hello", "no robot that denoc reads", 0),
    "no link": ("<robot name='x'/>", "no link", 1),
    "two roots": (f"<robot>\n{LINKS}{joint('j', 'a', 'b')}</robot>", "2 links have no parent: `a`, `c`", 2),
    "a link without a name": ("<robot>\n<link/></robot>", "`name` is missing", 2),
    "two links of one name": ("<robot>\n<link name='a'/>\n<link name='a'/></robot>", "there already, on line 2", 3),
    "an unknown link": (f"<robot>{TREE}\n{joint('l', 'c', 'd')}</robot>", "no such link", 2),
    "two parents": (f"<robot>{TREE}\n{joint('l', 'a', 'c')}</robot>", "hangs on two joints, `k` and `l`", 2),
    "a circle": (f"<robot>{TREE}\n{joint('l', 'c', 'a')}</robot>", "go round in a circle", 1),
    "a circle beside a tree": (
        f"<robot><link name='r'/>{TREE}{joint('l', 'c', 'a')}</robot>",
        "go round in a circle: a → c → b → a",
        1,
    ),
    "an unknown type": (chain("hinge", ""), "hinge", 1),
    "no number": (chain("fixed", '<origin xyz="0, 0 0"/>'), "this is no number", 2),
    "two numbers": (chain("fixed", '<origin xyz="0 0"/>'), "3 numbers are needed", 2),
    "no axis": (chain("revolute", '<axis xyz="0 0 0"/>'), "the axis has no direction", 2),
    "a quotation of xacro": (f"<robot>\n<material name='${{x}}'/>{LINKS}</robot>", "xacro", 2),
    "two turns": (chain("fixed", '<origin rpy="0 0 1" quat_xyzw="0 0 0 1"/>'), "one way to say how it is turned", 2),
    "a quaternion of zeros": (chain("fixed", '<origin quat_xyzw="0 0 0 0"/>'), "can't all be 0", 2),
    "xacro": ("<robot xmlns:xacro='x'>\n<xacro:include filename='f'/></robot>", "xacro", 2),
    "a leader that isn't there": (chain("revolute", '<mimic joint="x"/>'), "no such joint", 2),
    "couplings in a circle": (
        chain("revolute", '<mimic joint="j"/>', '<mimic joint="k"/>'),
        "these couplings go round in a circle",
        2,
    ),
    "a negative mass": (
        "<robot><link name='a'>\n<inertial>\n<mass value='-1'/></inertial></link></robot>",
        "at least 0",
        3,
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_refused_at_its_line(what):
    text, words, line = REFUSED[what]
    with pytest.raises(InputError) as caught:
        loaded(text)
    assert words in str(caught.value)
    assert caught.value.place.file == "text.urdf"
    assert caught.value.place.line == line


@pytest.mark.parametrize("name", ["arm", "rover", "four-bar", "four-bar-plus"])
def test_turns_may_be_quaternions(name, tmp_path):
    """Of each file, one with the quaternion of each turn, of any size, scalar last, is the same robot."""
    import re

    from scipy.spatial.transform import Rotation

    def quaternion(found):
        x, y, z, w = 0.7 * Rotation.from_euler("xyz", [float(word) for word in found[2].split()]).as_quat()
        return f'{found[1]}quat_xyzw="{x!r} {y!r} {z!r} {w!r}"'.replace("np.float64(", "").replace(")", "")

    text = (FILES / f"{name}.urdf").read_text(encoding="utf-8")
    if name == "four-bar-plus":
        text = text.replace('<origin xyz="0.25 0 0"/>', '<origin xyz="0.25 0 0" rpy="0 0 0.3"/>').replace(
            "0 0 -0.9", "0.2 0 0"
        )
    (tmp_path / "rpy.urdf").write_text(text, encoding="utf-8")
    other, count = re.subn(r'(<origin [^>]*)rpy="([^"]*)"', quaternion, text)
    assert count > 1
    (tmp_path / "quat.urdf").write_text(other, encoding="utf-8")
    one, two = (denoc.load(tmp_path / f"{way}.urdf") for way in ("rpy", "quat"))
    assert one.warnings == tuple(words.replace("quat.urdf", "rpy.urdf") for words in two.warnings)
    q = np.random.default_rng(1).uniform(-1, 1, one.nq)
    for joint in one.moving:
        if joint.type.orientation is not None:
            q[list(joint.coordinates)[-4:]] = 0.5
    for name, frame in denoc.frames(one, q).items():
        np.testing.assert_allclose(denoc.frames(two, q)[name], frame, atol=1e-14)
        for mine, theirs in zip(one.link(name).shape, two.link(name).shape) if name != "base" else ():
            np.testing.assert_allclose(theirs.at.matrix(), mine.at.matrix(), atol=1e-14)
    np.testing.assert_allclose(denoc.inertia(two, q), denoc.inertia(one, q), atol=1e-14)
    for mine, theirs in zip(one.loops, two.loops):
        np.testing.assert_allclose(theirs.second.matrix(), mine.second.matrix(), atol=1e-14)


def test_what_follows_a_fixed_joint_stands_still():
    """At its offset, where a fixed leader's 0 puts it, and so does what follows it."""
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{mass}</link>' for name in "abcde")
    place = '<origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="1 2 2"/>'
    text = "<robot>" + links + joint("f", "a", "b")
    text += joint("r", "b", "c", "continuous", place + '<mimic joint="f" multiplier="3" offset="0.7"/>')
    text += joint(
        "p",
        "c",
        "d",
        "prismatic",
        place + '<mimic joint="r" multiplier="-2" offset="0.5"/><limit lower="-1" upper="1" effort="2" velocity="1"/>',
    )
    robot = loaded(text + joint("free", "d", "e", "continuous", place) + "</robot>")
    moving = loaded(text.replace("<mimic", "<calibration") + joint("free", "d", "e", "continuous", place) + "</robot>")
    assert [one.name for one in robot.moving] == ["free"]
    assert not robot.couplings
    assert [words.split(": ")[-1] for words in robot.warnings] == [
        f"what it follows is fixed, so the joint is fixed, too, at {q:g}" for q in (0.7, -0.9)
    ]
    for name, frame in denoc.frames(robot, [0.4]).items():
        np.testing.assert_allclose(frame, denoc.frames(moving, [0.7, -2 * 0.7 + 0.5, 0.4])[name], atol=1e-15)


def test_xacro_beside_a_robot_is_left_out_and_named():
    stray = (
        '<xacro:macro name="m" params="x"><link name="${x}"/></xacro:macro><xacro:property name="p" value="${1+2}"/>'
    )
    robot = loaded(f"<robot xmlns:xacro='x'>{LINKS}{stray}{joint('j', 'a', 'b')}{joint('k', 'b', 'c')}</robot>")
    assert [link.name for link in robot.links] == ["a", "b", "c"]
    assert [words.split(": ", 1)[1] for words in robot.warnings] == [
        f"xacro:{what} dropped: it is xacro, which isn't expanded here" for what in ("macro", "property")
    ]


def test_limits_that_nothing_keeps_are_named():
    limit = '<limit lower="-1" upper="1" effort="2" velocity="1" acceleration="3" deceleration="inf" jerk="40"/>'
    warnings = "; ".join(loaded(chain("revolute", limit)).warnings)
    assert "limit acceleration dropped: only positions, speeds and efforts have limits here" in warnings
    assert "limit jerk dropped" in warnings
    assert "deceleration" not in warnings


def test_deep_and_endless_files_are_refused():
    with pytest.raises(InputError, match="deeper than 200 levels"):
        loaded("<robot>" + "<a>" * 300 + "</a>" * 300 + "</robot>")
    with pytest.raises(InputError, match="more than 200,000 elements"):
        loaded("<robot>" + "<a/>" * 200_001 + "</robot>")


def test_links_that_cannot_be_accelerated_are_named_without_warnings_of_numpy(command_line):
    code, out, told = command_line("inspect", FILES / "arm.urdf")
    assert (code, "have nothing to accelerate" in out, "divide" in told) == (0, True, False)
