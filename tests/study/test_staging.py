"""Machines as scenes: where symbols and solids are, which links are drawn as what, and sketches that can be read."""

import itertools

import numpy as np
import pytest

import denoc
from denoc.record.sketch import drawing, names
from denoc.study.staging import stage_poses, stage_scene
from denoc.text import library_folder

ROBOTS = [path.stem for path in sorted(library_folder("robots").glob("*.yaml"))]
PLANE = {
    "four-bar",
    "five-bar",
    "three-rrr",
    "three-rrr-platform",
    "carpet-scraper",
    "hoeken",
    "jansen",
    "n-four-bar",
    "slider-crank",
}


def assembled(robot):
    return denoc.assemble(robot, robot.q0) if robot.tied else np.array(robot.q0)


def place(scene, at, name, k=0):
    joint = next(joint for joint in scene.joints if joint.name == name)
    return at.seen_from([(joint.carrier, joint.at)], k)[0]


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sampled(2)
def test_symbols_sit_where_links_meet(name):
    """A joint that only turns is at the origin of its link, wherever the machine is, and a cut on both of its links."""
    robot = denoc.load(name)
    random = np.random.default_rng(3)
    rows = np.array([assembled(robot), assembled(robot)])
    turning = [k for joint in robot.moving for k, kind in zip(joint.coordinates, joint.type.kinds) if kind == "angle"]
    rows[1, turning] += random.normal(size=len(turning))
    scene, at = stage_scene(robot, rows)
    for joint, k in itertools.product(scene.joints, (0, 1)):
        here = place(scene, at, joint.name, k)
        if joint.type in ("revolute", "spherical", "universal", "fixed"):
            if not joint.cut:
                origin = at.of(k)[joint.between[1]][:3, 3]
                assert np.allclose(here, origin, atol=1e-12), joint.name
            elif k == 0:
                loop = next(loop for loop in robot.loops if loop.name == joint.name)
                far = (at.of(0)[loop.between[1]] @ loop.second.matrix())[:3, 3]
                assert np.allclose(here, far, atol=1e-9), joint.name


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sampled(8)
def test_a_sketch_can_be_read(name, monkeypatch):
    """No label covers another one, and all of them are within the picture."""
    seen, placed = [], names.sketch_label_places
    monkeypatch.setattr(
        names, "sketch_label_places", lambda *given: seen.append((placed(*given), given[-1])) or seen[-1][0]
    )
    robot = denoc.load(name)
    figure = drawing.sketch_figure(*stage_scene(robot, assembled(robot)))
    assert figure.axes[0].patches
    for made, frame in seen:
        boxes = [label.box for label in made]
        assert all(one.over(other) < 1e-6 for one, other in itertools.combinations(boxes, 2))
        assert all(box.over(frame) == pytest.approx(4 * box.width * box.height) for box in boxes)


def test_plane_machines_are_seen_along_their_normal():
    for name in ROBOTS:
        scene, _ = stage_scene(denoc.load(name), denoc.load(name).q0)
        assert (scene.flat == (0.0, 0.0, 1.0)) == (name in PLANE or scene.flat is not None), name
        if name in PLANE:
            assert scene.flat == (0.0, 0.0, 1.0), name
    assert stage_scene(denoc.load("puma"), denoc.load("puma").q0)[0].flat is None


def test_a_slider_is_drawn_at_its_pin():
    robot = denoc.load("slider-crank")
    rows = np.array([denoc.assemble(robot, np.array([angle, *robot.q0[1:]])) for angle in (0.1, 1.0, 2.5)])
    scene, at = stage_scene(robot, rows)
    slider = next(joint for joint in scene.joints if joint.type == "prismatic")
    rail = next(solid for solid in scene.parts[0].solids if solid.kind == "rail")
    for k in range(3):
        here = place(scene, at, slider.name, k)
        assert np.allclose(here, place(scene, at, next(j.name for j in scene.joints if j.cut), k), atol=1e-9)
        low, high = np.array(rail.points)
        assert 0 < (here - low) @ (high - low) < (high - low) @ (high - low)  # on the rail in every position


def test_a_point_on_a_line_is_drawn_where_it_is():
    robot = denoc.load("slider-crank-singular")
    rows = np.array([denoc.assemble(robot, np.array([angle, *robot.q0[1:]])) for angle in (0.9, 1.2, 0.5)])
    scene, at = stage_scene(robot, rows)
    ground = [solid for solid in scene.parts[0].solids if solid.kind == "ground"]
    assert [solid.points[0] for solid in ground] == [(0.0, 0.0, 0.0)]  # of the crank
    rail = next(solid for solid in scene.parts[0].solids if solid.kind == "rail")
    low, high = np.array(rail.points)
    slider = robot.link("rod").points["slider"]
    for k in range(3):
        here = place(scene, at, "guide", k)
        assert np.allclose(here, at.seen_from([("rod", slider)], k)[0], atol=1e-9)
        assert 0 < (here - low) @ (high - low) < (high - low) @ (high - low)


def test_what_moves_freely_in_a_plane_stands_on_no_pivot():
    for name, joint in (("diff-drive", "body"), ("steered-car", "chassis")):
        robot = denoc.load(name)
        scene, at = stage_scene(robot, robot.q0)
        assert not [solid for solid in scene.parts[0].solids if solid.kind == "ground"]
        owner = next(link.name for link in robot.links if link.joint.name == joint)
        assert np.allclose(place(scene, at, joint), at.of(0)[owner][:3, 3])


def test_legs_are_telescopes_and_a_platform_is_a_plate():
    robot = denoc.load("gough-stewart")
    scene, at = stage_scene(robot, assembled(robot))
    kinds = {part.name: [solid.kind for solid in part.solids] for part in scene.parts}
    assert kinds["cylinder1"] == ["tube"]
    assert kinds["piston1"] == ["rod"]
    assert "plate" in kinds["platform"]
    plate = next(solid for solid in scene.parts[6].solids if solid.kind == "plate")
    points = robot.link("platform").points
    assert {tuple(corner) for corner in plate.points} == {points[name] for name in points}
    assert [part.name for part in scene.parts if part.ghost] == ["place-x", "place-y", "place-z", "turn-z", "turn-y"]
    assert [joint.name for joint in scene.joints if joint.ghost] == ["x", "y", "z", "yaw", "pitch", "roll"]
    frames = at.of(0)
    tube, rod = scene.parts[7].solids[0], scene.parts[8].solids[0]
    mouth = (frames["cylinder1"] @ [*tube.points[1], 1.0])[:3]
    inner = (frames["piston1"] @ [*rod.points[1], 1.0])[:3]
    foot = frames["cylinder1"][:3, 3]
    assert 0 < np.linalg.norm(inner - foot) < np.linalg.norm(mouth - foot)  # the rod reaches into the tube


def test_the_ground_is_at_each_pivot():
    scene, _ = stage_scene(denoc.load("three-rrr"), denoc.load("three-rrr").q0)
    ground = [solid.points for solid in scene.parts[0].solids if solid.kind == "ground"]
    assert np.allclose([at for at, _ in ground], [[0, 0, 0], [1, 0, 0], [0.5, np.sqrt(3) / 2, 0]])
    assert all(down == (0.0, -1.0, 0.0) for _, down in ground)
    floating, _ = stage_scene(denoc.load("space-arm"), denoc.load("space-arm").q0)
    assert not floating.parts[0].solids


def test_mass_centres_hang_on_their_links():
    for name in ROBOTS:
        scene, _ = stage_scene(denoc.load(name), denoc.load(name).q0)
        for part in scene.parts:
            if part.centre is not None and not part.ghost:
                assert part.solids, (name, part.name)


def test_poses_are_the_frames():
    robot = denoc.load("stanford")
    rows = np.random.default_rng(1).normal(size=(5, robot.nq))
    made = stage_poses(robot, rows)
    assert made.names[0] == "base"
    assert (made.frames[:, 0] == np.eye(4)).all()
    for k, name in enumerate(made.names[1:], start=1):
        assert (made.frames[:, k] == denoc.frames(robot, rows)[name]).all()


def kinds(scene, link):
    return [solid.kind for solid in next(part for part in scene.parts if part.name == link).solids]


def test_joints_and_a_point_of_a_link_are_a_plate():
    """The foot of Jansen's leg is a point: its triangle is a plate as the one with three joints is."""
    scene, _ = stage_scene(*place_of("jansen"))
    assert [kinds(scene, link) for link in ("upper", "lower", "f")] == [["plate"], ["plate"], ["rod"]]


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sampled(8)
def test_rods_to_mass_centres_are_only_where_nothing_else_says_where_a_link_is(name):
    scene, _ = stage_scene(*place_of(name))
    for part in scene.parts:
        found = [solid.kind for solid in part.solids]
        assert "thin" not in found or not {*found} - {"thin", "ball"}


def place_of(name):
    robot = denoc.load(name)
    return robot, assembled(robot)


CUT = """
name: pump
convention: frames
links:
  - {name: arm, joint: {name: pivot, type: revolute}, mass: 1, com: [0.2, 0, 0], inertia: {xx: 0, yy: 0.1, zz: 0.1}}
  - {name: tube, parent: base, joint: {name: foot, type: revolute, xyz: [0.4, 0, 0]}, mass: 1, com: [0, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: a-link-with-a-name-of-more-than-eleven-letters, parent: arm, mass: 1, com: [0, 0, 0],
     joint: {name: a-joint-with-a-name-of-more-than-eleven-letters, type: revolute, xyz: [0.4, 0, 0]},
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
loops:
  - {name: sleeve, joint: prismatic, between: [tube, a-link-with-a-name-of-more-than-eleven-letters],
     first: {axis: [1, 0, 0]}, second: {axis: [1, 0, 0]}}
actuators:
  - {name: push, link: arm, at: [0.4, 0, 0], direction: [0, 1, 0]}
  - {name: belt, joints: {pivot: 1, foot: -1}}
"""


def test_guides_of_cuts_and_actuators_are_drawn():
    robot = denoc.loads(CUT)
    scene, poses = stage_scene(robot, robot.q0)
    rail = next(solid for part in scene.parts if part.name == "tube" for solid in part.solids if solid.kind == "rail")
    low, high = np.array(rail.points)
    assert np.cross(high - low, [1, 0, 0]) == pytest.approx([0, 0, 0], abs=1e-12)
    assert np.linalg.norm(high - low) == pytest.approx(0.4 * scene.size)
    assert [(one.name, one.link, one.at) for one in scene.actuators] == [("push", "arm", (0.4, 0, 0))]
    assert {joint.name for joint in scene.joints if joint.actuated} == {"pivot", "foot"}
    figure = drawing.sketch_figure(scene, poses)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"guide of a slider", "force of an actuator"} <= {*words}


def test_names_in_a_legend_are_whole(monkeypatch):
    monkeypatch.setattr(names, "MOST_WORDS", 2)
    robot = denoc.loads(CUT)
    figure = drawing.sketch_figure(*stage_scene(robot, robot.q0))
    figure.draw_without_rendering()
    told = next(text for text in figure.texts if "1  pivot" in text.get_text())
    assert "a-joint-with-a-name-of-more-than-eleven-letters" in told.get_text()
    box = told.get_window_extent()
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.legends[0].get_window_extent().y0
