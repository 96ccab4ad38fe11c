"""SDF files are read as they mean: poses relative to each other, joints in their child, loops, gearboxes."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.robot import placement_from_rpy

FILES = Path(__file__).parent / "files"
ZERO = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def arm():
    return denoc.load(FILES / "arm.sdf")


def pose(*values):
    return placement_from_rpy(values[:3], values[3:]).matrix()


def test_links_stand_where_the_model_has_them(arm):
    model = pose(0.5, 0, 0.1, 0, 0, 0.3)
    upper = model @ pose(0, 0, 0.2, 0.1, 0.2, 0.3)
    lower = upper @ pose(0.3, 0, 0, 0, 0, -0.5)
    frames = denoc.frames(arm, [0.0] * arm.nq)
    for name, there in (("foot", model), ("upper", upper), ("lower", lower), ("cross", lower @ pose(0.2, 0, 0, *ZERO))):
        np.testing.assert_allclose(frames[name], there, atol=1e-15)


def test_joints_turn_and_slide_about_their_own_axes(arm):
    """The first about a point of its child, the second along an axis of the model, the third about two axes."""
    q = np.zeros(arm.nq)
    still = denoc.frames(arm, q)
    at = {name: arm.joint(name).coordinates[0] for name in arm.joints}
    q[at["shoulder"]] = 0.7
    turned = denoc.frames(arm, q)["upper"]
    joint = still["upper"] @ pose(0.01, 0, -0.02, 0, 0, 0.2)
    same = turned @ pose(0.01, 0, -0.02, 0, 0, 0.2)
    np.testing.assert_allclose(same[:3, 3], joint[:3, 3], atol=1e-15)
    axis = np.array([0, 1, 0.5])
    np.testing.assert_allclose(same[:3, :3] @ axis, joint[:3, :3] @ axis, atol=1e-15)
    assert np.trace(joint[:3, :3].T @ same[:3, :3]) == pytest.approx(1 + 2 * np.cos(0.7))
    q[:] = 0
    q[at["elbow"]] = 0.2
    moved = denoc.frames(arm, q)["lower"][:3, 3] - still["lower"][:3, 3]
    np.testing.assert_allclose(moved, 0.2 * np.array([np.cos(0.3), np.sin(0.3), 0]), atol=1e-15)
    q[:] = 0
    q[at["wrist"]], q[at["wrist_2"]] = 0.3, 0.4
    R = still["lower"][:3, :3].T @ denoc.frames(arm, q)["cross"][:3, :3]
    np.testing.assert_allclose(R, pose(0, 0, 0, 0.3, 0, 0)[:3, :3] @ pose(0, 0, 0, 0, 0, 0.4)[:3, :3], atol=1e-15)


def test_numbers(arm):
    assert arm.gravity == (0, 0, -3.7)
    shoulder = arm.joint("shoulder")
    (drive,) = shoulder.drives
    assert (drive.viscous, drive.coulomb, drive.stiffness, drive.rest) == (0.3, 0.1, 4, 0.2)
    assert (shoulder.limits, shoulder.largest_speed, shoulder.effort.high) == ((-1, 2), 3, 20)
    assert arm.joint("elbow").limits is None
    R = pose(0, 0, 0, 0.4, 0, 0)[:3, :3]
    own = np.array([[0.01, 0.001, 0], [0.001, 0.02, -0.002], [0, -0.002, 0.025]])
    np.testing.assert_allclose(arm.link("upper").inertia, R @ own @ R.T, atol=1e-17)
    (shape,) = arm.link("upper").shape
    assert (shape.kind, shape.size, shape.colour, shape.name) == ("capsule", (0.04, 0.2), (0.2, 0.4, 0.6, 1.0), "skin")


def test_gearboxes_are_couplings(arm):
    (coupling,) = arm.couplings
    names = dict(zip((k for joint in arm.moving for k in joint.coordinates), arm.joints))
    assert (names[coupling.coordinate], [(names[one.coordinate], one.ratio) for one in coupling.leaders]) == (
        "hub",
        [("shoulder", -3)],
    )


def test_what_is_not_fixed_is_said_and_may_float(arm):
    assert any("isn't fixed to the world" in words for words in arm.warnings)
    assert denoc.load(FILES / "arm.sdf", floating=True).joints[0] == "root_joint"


def test_joints_that_close_loops_are_cuts():
    robot = denoc.load(FILES / "four-bar.sdf")
    assert robot.joints == ("A", "B", "C")
    (loop,) = robot.loops
    assert (loop.name, loop.type.name, loop.between) == ("tip", "spherical", ("coupler", "rocker"))
    assert loop.second.origin == pytest.approx((0.25, 0, 0))
    other = denoc.load(FILES / "four-bar.urdf", loops=FILES / "four-bar-loops.yaml")
    q = denoc.assemble(other, other.q0)
    mine = q + np.array([0.0, -1.8, 0.0])  # the same links at other angles from each other
    np.testing.assert_allclose(denoc.inertia(robot, mine), denoc.inertia(other, q), atol=1e-15)
    frames = denoc.frames(robot, [0, 0, 0])  # where the model stands, the ends meet
    ends = [frames[link] @ [*at.origin, 1] for link, at in zip(loop.between, (loop.first, loop.second))]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-15)
    np.testing.assert_allclose(ends[1][:2], [0.3 + 0.25 * np.cos(1.6), 0.25 * np.sin(1.6)], atol=1e-15)


def loaded(inside):
    from denoc.formats.table import Source, robot_format_of_file
    from denoc.robot.read import build_robot

    text = f"<sdf>\n{inside}\n</sdf>"
    return build_robot(robot_format_of_file("m.sdf", text).read(Source("m.sdf", text)).document)


MASSES = """<pose>1 2 3 0.3 0.2 0.1</pose>
  <link name='a'><pose>0.1 0.2 0.3 0.1 0.5 0.2</pose>{0}</link>
  <link name='b'><pose>0.5 -0.1 0.2 -0.3 0.1 0.7</pose>{0}</link>""".format(
    "<inertial><mass>2</mass><pose>0.1 0.2 0 0 0 0</pose></inertial>"
)
GROUND = "<joint name='g' type='{}'><parent>world</parent><child>b</child></joint>"
TIE = """<joint name='t' type='{}'><parent>{}</parent><child>{}</child><pose>0.1 0.05 -0.1 0.2 0.1 0.4</pose>
  <axis><xyz>1 2 0.5</xyz></axis><axis2><xyz>0 1 -1</xyz></axis2></joint>"""


def turned(axis, angle):
    """The matrix of a turn about an axis (Rodrigues)."""
    n = np.array(axis) / np.linalg.norm(axis)
    N = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    result = np.eye(4)
    result[:3, :3] += np.sin(angle) * N + (1 - np.cos(angle)) * N @ N
    return result


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "ball", "fixed"])
@pytest.mark.parametrize("ground", ["fixed", "ball"])
def test_a_model_may_hang_on_any_of_its_links(kind, ground):
    """Its second link is what the world holds: nothing else is fixed, and joints move their child in their parent."""
    robot = loaded(f"<model name='m'>{MASSES}{GROUND.format(ground)}{TIE.format(kind, 'a', 'b')}</model>")
    assert not robot.loops
    assert not [words for words in robot.warnings if "isn't fixed" in words]
    q = np.array(robot.q0)
    names = [robot.joint(name).coordinates for name in ("t", "t_2") if name in robot.joints]
    for k, at in enumerate(names):
        q[at[0]] = (0.6, -0.4)[k] if kind != "ball" else q[at[0]]
    a, b = pose(0.1, 0.2, 0.3, 0.1, 0.5, 0.2), pose(0.5, -0.1, 0.2, -0.3, 0.1, 0.7)
    joint = b @ pose(0.1, 0.05, -0.1, 0.2, 0.1, 0.4)
    motion = np.eye(4)
    if kind in ("revolute", "universal"):
        motion = turned([1, 2, 0.5], 0.6)
    if kind == "universal":
        motion = motion @ turned([0, 1, -1], -0.4)
    if kind == "prismatic":
        motion[:3, 3] = 0.6 * np.array([1, 2, 0.5]) / np.linalg.norm([1, 2, 0.5])
    frames = denoc.frames(robot, q)
    np.testing.assert_allclose(frames["b"], pose(1, 2, 3, 0.3, 0.2, 0.1) @ b, atol=1e-14)
    wanted = np.linalg.inv(a) @ joint @ motion @ np.linalg.inv(joint) @ b
    np.testing.assert_allclose(np.linalg.inv(frames["a"]) @ frames["b"], wanted, atol=1e-14)


def test_joints_between_frames_are_those_of_their_links():
    """Frames may be fixed to links, to other frames, to joints, or to the model."""
    frames = """<frame name='f' attached_to='a'><pose>0.3 0 0 0 0.2 0</pose></frame>
      <frame name='g' attached_to='f'><pose>0 0.1 0 0 0 0</pose></frame><frame name='h'/>"""
    plain = f"{MASSES}<joint name='g0' type='fixed'><parent>world</parent><child>{{}}</child></joint>"
    with_frames = f"<model name='m'>{frames}{plain.format('h')}{TIE.format('revolute', 'g', 'b')}</model>"
    robot = loaded(with_frames)
    other = loaded(f"<model name='m'>{plain.format('a')}{TIE.format('revolute', 'a', 'b')}</model>")
    np.testing.assert_allclose(denoc.frames(robot, [0.7])["b"], denoc.frames(other, [0.7])["b"], atol=1e-15)
    on_frame = TIE.format("revolute", "b", "g").replace("<pose>", "<pose relative_to='g'>")
    child = loaded(f"<model name='m'>{frames}{plain.format('b')}{on_frame}</model>")
    a, b = (denoc.frames(child, [0.7])[name] for name in "ab")
    at = pose(0.1, 0.2, 0.3, 0.1, 0.5, 0.2) @ pose(0.3, 0, 0, 0, 0.2, 0) @ pose(0, 0.1, 0, 0, 0, 0)
    at = at @ pose(0.1, 0.05, -0.1, 0.2, 0.1, 0.4)
    home = [pose(0.1, 0.2, 0.3, 0.1, 0.5, 0.2), pose(0.5, -0.1, 0.2, -0.3, 0.1, 0.7)]
    wanted = np.linalg.inv(home[1]) @ at @ turned([1, 2, 0.5], 0.7) @ np.linalg.inv(at) @ home[0]
    np.testing.assert_allclose(np.linalg.inv(b) @ a, wanted, atol=1e-14)


def test_joints_of_a_world_are_its_models():
    model = f"<model name='m'>{MASSES}{TIE.format('revolute', 'a', 'b')}</model>"
    joint = "<joint name='w' type='prismatic'><parent>world</parent><child>m::b</child><pose relative_to='m'>0.1 0 0 0 0 0</pose><axis><xyz expressed_in='m::a'>1 0 0</xyz></axis></joint>"
    robot = loaded(f"<world name='w'>{model}{joint}</world>")
    inside = loaded(f"<model name='m'>{MASSES}{TIE.format('revolute', 'a', 'b')}{joint.replace('m::', '')}</model>")
    assert set(robot.joints) == {"w", "t"} | {name for name in robot.joints if "_f" in name}
    assert not [words for words in robot.warnings if "isn't fixed" in words or "dropped" in words]
    q = [0.3, -0.5]
    for name in "ab":
        np.testing.assert_allclose(denoc.frames(robot, q)[name], denoc.frames(inside, q)[name], atol=1e-15)
    robot = loaded(f"<world name='w'>{model}{joint.replace('world<', 'other::x<')}</world>")
    assert any("joint dropped: it ties something else" in words for words in robot.warnings)


@pytest.mark.parametrize("word", ["true", "1"])
def test_a_static_model_whose_joints_move_is_named(word):
    still = f"<model name='m'><static>{word}</static>{MASSES}{TIE.format('%s', 'a', 'b')}</model>"
    (warning,) = (words for words in loaded(still % "revolute").warnings if "static" in words)
    assert "its joints move here" in warning
    assert not [
        words
        for words in loaded(
            f"<model name='m'><static>{word}</static>{MASSES}{GROUND.format('revolute')}</model>"
        ).warnings
        if "isn't fixed" in words
    ]


def test_poses_in_other_frames_are_followed():
    turned_box = "<link name='b'><visual name='v'><pose relative_to='a'>0.1 0 0 0 0 0</pose><geometry><box><size>1 1 1</size></box></geometry></visual></link>"
    robot = loaded(
        f"<model name='m'><link name='a'><pose>0 0 1 0 0 0</pose></link>{turned_box}{TIE.format('revolute', 'a', 'b')}</model>"
    )
    (shape,) = robot.link("b").shape
    np.testing.assert_allclose(shape.at.origin, [0.1, 0, 1])
    robot = loaded(f"<model name='m'><pose relative_to='k'>0 0 1 0 0 0</pose>{LINKS}</model>")
    assert any("whatever it is relative to" in words for words in robot.warnings)


LINKS = "<link name='a'/><link name='b'/>"
JOINT = "<joint name='j' type='{}'><parent>a</parent><child>{}</child></joint>"


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("<world/>", "there is no model"),
        ("<model name='m'/>", "there is no link"),
        (f"<model>{LINKS}<include/></model>", "a model within a model"),
        (f"<model>{LINKS}{JOINT.format('screw', 'b')}</model>", "this type of joint can't be read"),
        (f"<model>{LINKS}{JOINT.format('fixed', 'c')}</model>", "no such link"),
        ("<model><link name='a'><pose relative_to='x'>0 0 0 0 0 0</pose></link></model>", "no such frame"),
        ("<model><link name='a'><pose relative_to='a'>0 0 0 0 0 0</pose></link></model>", "in a circle"),
        ("<model><link name='a'><pose>0 0 0</pose></link></model>", "6 numbers are needed"),
    ],
)
def test_what_cannot_be_read_is_refused(inside, words):
    with pytest.raises(InputError) as caught:
        loaded(inside)
    assert words in str(caught.value)
    assert caught.value.place.line == 2 or words == "there is no model"
