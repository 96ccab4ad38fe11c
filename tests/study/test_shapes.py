"""Bodies from robot files: where they are in sketches, animations and pages, and what becomes of missing ones."""

from pathlib import Path

import numpy as np
import pytest
from tests.study.test_animate import data_of, made, needs_browser
from tests.support import browser

import denoc
import yamls
from denoc.cli.main import main
from denoc.formats import read_mesh, write_urdf
from denoc.record.sketch import drawing
from denoc.scenario import prepare_scenario
from denoc.study import page as pages
from denoc.study.shapes import MOST_FACES, shapes_for_animation
from denoc.study.sliders import page_slider_ranges
from denoc.study.staging import stage_scene

FILES = Path(__file__).parent / "files"
ROBOT = FILES / "bodies.yaml"
FALL = {"robot": str(ROBOT), "task": "simulate", "time": {"end": 0.2, "step": 0.1}, "name": "fall"}
TURN = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # by 90 degrees about y


def hand():
    """The corners of the hand's two meshes in its axes, from the files and the numbers of the robot's file."""
    wedge, pyramid = read_mesh(FILES / "wedge.stl").points, read_mesh(FILES / "pyramid.obj").points
    return np.concatenate([wedge * [0.2, 0.1, 0.1], [0.2, 0, 0] + (pyramid * [0.1, 0.1, 0.15]) @ TURN.T])


def boxes(robot, q):
    """The box in base axes around each link's bodies, from the numbers of the robot's file."""
    turn = np.array([-1.0, 1.0])
    grid = np.array(np.meshgrid(turn, turn, turn)).reshape(3, -1).T
    placed = denoc.frames(robot, q)
    clouds = {
        "stand": np.concatenate([[0, 0, 0.03] + grid * [0.25, 0.2, 0.03], [0, 0, 0.21] + grid * [0.06, 0.06, 0.15]]),
        "hand": hand(),
    }
    clouds = {name: at @ placed[name][:3, :3].T + placed[name][:3, 3] for name, at in clouds.items()}
    made = {name: (at.min(axis=0), at.max(axis=0)) for name, at in clouds.items()}
    middle = placed["turret"][:3, 3]
    made["turret"] = (middle - 0.1, middle + 0.1)
    ends = np.array([[0, 0, 0], [0.5, 0, 0]]) @ placed["arm"][:3, :3].T + placed["arm"][:3, 3]
    made["arm"] = (ends.min(axis=0) - 0.05, ends.max(axis=0) + 0.05)
    return made


def test_bodies_in_a_scene():
    robot = denoc.load(ROBOT)
    scene, _ = stage_scene(robot, robot.q0)
    kinds = {part.name: [solid.kind for solid in part.solids] for part in scene.parts}
    assert kinds == {
        "base": ["ground"],
        "stand": ["box", "cylinder"],
        "turret": ["sphere"],
        "arm": ["capsule"],
        "hand": ["mesh", "mesh"],
    }
    assert not scene.warnings
    known = {mesh.name: mesh.unpacked() for mesh in scene.meshes}
    places = []
    for solid in next(part for part in scene.parts if part.name == "hand").solids:
        corners = np.array(solid.points)
        inside, _ = known[solid.mesh]
        places.append(corners.mean(axis=0) + inside @ (0.5 * (corners[[1, 2, 4]] - corners[0])))
    assert np.allclose(np.concatenate(places), hand(), rtol=0, atol=1e-5)


def test_bodies_in_a_sketch():
    """All faces are in the picture, and the highest and lowest of them are where the bodies end."""
    robot = denoc.load(ROBOT)
    figure = drawing.sketch_figure(*stage_scene(robot, robot.q0))
    rims = np.concatenate([path.vertices for one in figure.axes[0].collections for path in one.get_paths()])
    low, high = np.array(figure.axes[0].get_xlim()), np.array(figure.axes[0].get_ylim())
    assert ((rims >= [low[0], high[0]]) & (rims <= [low[1], high[1]])).all()
    view = drawing.Viewpoint.of(stage_scene(robot, robot.q0)[0])
    turn = np.array([-1.0, 1.0])
    grid = np.array(np.meshgrid(turn, turn, turn)).reshape(3, -1).T
    foot = view.flat([0, 0, 0.03] + grid * [0.25, 0.2, 0.03])
    assert rims[:, 1].min() == pytest.approx(foot[:, 1].min(), abs=1e-9)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "body of a link" in labels
    assert "link" not in labels


@pytest.mark.parametrize("shape", ["{box: [1e300, 1, 1]}", "{cylinder: {radius: 1e200, length: 1}}"])
def test_bodies_beyond_all_sizes_are_drawn_without_words_of_numpy(shape, command_line, tmp_path):
    (tmp_path / "huge.yaml").write_text(
        "{name: huge, convention: frames, links: [{name: a, mass: 1, com: [0.1, 0, 0], joint: {type: revolute}, "
        f"inertia: {{xx: 1, yy: 1, zz: 1}}, shape: [{shape}]}}]}}",
        encoding="utf-8",
    )
    code, out, errors = command_line("inspect", str(tmp_path / "huge.yaml"), "--plot", "--out", str(tmp_path))
    assert code == 0
    assert "more than there is in anything that is built" in out + errors
    assert "encountered" not in out + errors


def test_a_mesh_beyond_all_sizes_is_not_drawn(tmp_path):
    """Nothing else would say so: its numbers aren't in the robot's file."""
    (tmp_path / "far.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 -1e300 0\nf 1 2 3\n", encoding="utf-8")
    with pytest.raises(denoc.InputError, match=r"the coordinate 1e\+300, and 1e\+50 is the largest one"):
        read_mesh(tmp_path / "far.obj")


def test_missing_meshes_leave_the_link_as_it_was(tmp_path, monkeypatch, capsys):
    text = ROBOT.read_text(encoding="utf-8").replace("package://files/pyramid.obj", "gone.obj")
    (tmp_path / "bodies.yaml").write_text(text.replace("wedge.stl", "broken.stl"), encoding="utf-8")
    (tmp_path / "broken.stl").write_bytes(b"solid")
    monkeypatch.setattr(
        "sys.argv", ["denoc", "inspect", str(tmp_path / "bodies.yaml"), "--plot", "--out", str(tmp_path)]
    )
    with pytest.raises(SystemExit) as leaving:
        main()
    assert not leaving.value.code
    said = capsys.readouterr().out
    assert "warning: 1 mesh file can't be drawn, not there: gone.obj" in said
    assert "warning: 1 mesh file can't be drawn, without faces, or with points that are nowhere: broken.stl" in said
    robot = denoc.load(tmp_path / "bodies.yaml")
    plain = denoc.loads(text[: text.index("    shape:\n      - {mesh:")])
    hands = [stage_scene(one, one.q0)[0].parts[-1].solids for one in (robot, plain)]
    assert [solid.kind for solid in hands[0]] == [solid.kind for solid in hands[1]] == ["ball", "thin"]


SEEN = {
    "urdf": """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
        <visual><geometry><mesh filename="skin.stl"/></geometry></visual>
        <visual><geometry><sphere radius="0.3"/></geometry></visual>
        <collision><geometry><cylinder radius="a" length="1"/></geometry></collision>
        <collision><origin xyz="0.1 0 0"/><geometry><mesh filename="hull.stl" scale="2 2 2"/></geometry></collision>
        <collision name="far"><geometry><box size="0.1 0.2 0.4"/></geometry></collision></link>
        <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
        </robot>""",
    "sdf": """<sdf version="1.9"><model name="r"><link name="base"/><link name="arm"><inertial><mass>1</mass></inertial>
        <visual name="a"><geometry><mesh><uri>skin.stl</uri></mesh></geometry></visual>
        <visual name="b"><geometry><sphere><radius>0.3</radius></sphere></geometry></visual>
        <collision name="c"><geometry><cylinder><radius>a</radius></cylinder></geometry></collision>
        <collision name="d"><pose>0.1 0 0 0 0 0</pose>
        <geometry><mesh><uri>hull.stl</uri><scale>2 2 2</scale></mesh></geometry></collision>
        <collision name="far"><geometry><box><size>0.1 0.2 0.4</size></box></geometry></collision></link>
        <joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
        <joint name="turn" type="revolute"><parent>base</parent><child>arm</child><axis><xyz>0 0 1</xyz></axis></joint>
        </model></sdf>""",
    "xml": """<mujoco model="r"><asset><mesh name="skin" file="skin.stl"/><mesh name="hull" file="hull.stl" scale="2 2 2"/>
        </asset><worldbody><body name="arm"><joint name="turn"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <geom type="mesh" mesh="skin" contype="0" conaffinity="0"/>
        <geom type="sphere" size="0.3" contype="0" conaffinity="0"/>
        <geom type="mesh" mesh="hull" pos="0.1 0 0"/><geom name="far" type="box" size="0.05 0.1 0.2"/>
        </body></worldbody></mujoco>""",
}


@pytest.mark.parametrize("form", SEEN)
def test_bodies_for_contact_stand_in_for_meshes_that_cannot_be_drawn(tmp_path, form):
    file, mesh = tmp_path / f"r.{form}", (FILES / "wedge.stl").read_bytes()
    file.write_text(SEEN[form], encoding="utf-8")
    (tmp_path / "skin.stl").write_bytes(mesh)

    def drawn(robot):
        scene, _ = stage_scene(robot, robot.q0)
        return next(part.solids for part in scene.parts if part.name == "arm"), scene

    read = denoc.load(file)
    copies = [read]
    if form == "urdf":  # and what is written is what was read
        (tmp_path / "again.urdf").write_text(write_urdf(read)[0], encoding="utf-8")
        copies.append(denoc.load(tmp_path / "again.urdf"))
    for robot in copies:
        (tmp_path / "skin.stl").write_bytes(mesh)
        solids, scene = drawn(robot)
        assert [(solid.kind, solid.mesh) for solid in solids] == [("mesh", "skin.stl"), ("sphere", "")]
        assert not scene.warnings
        (tmp_path / "skin.stl").write_bytes(b"solid")
        solids, scene = drawn(robot)  # as RViz would: the hull isn't there either
        assert [solid.kind for solid in solids] == ["box"]
        assert np.ptp(solids[0].points, axis=0) == pytest.approx([0.1, 0.2, 0.4])
        assert len(scene.warnings) == 2
        (tmp_path / "hull.stl").write_bytes(mesh)
        solids, scene = drawn(robot)
        assert [(solid.kind, solid.mesh) for solid in solids] == [("mesh", "hull.stl"), ("box", "")]
        points = read_mesh(FILES / "wedge.stl").points
        assert np.min(solids[0].points, axis=0) == pytest.approx([0.1, 0, 0] + 2 * points.min(axis=0))
        assert scene.warnings == (
            "1 mesh file can't be drawn, without faces, or with points that are nowhere: skin.stl",
        )
        (tmp_path / "hull.stl").unlink()
        (tmp_path / "skin.stl").unlink()


def test_spare_meshes_do_not_make_a_scene_larger(tmp_path):
    """However many of them stand in for one: 24,000 faces are the most of all meshes together."""
    turn = np.linspace(0, 2 * np.pi, 101)
    grid = np.stack(np.meshgrid(turn, np.linspace(0, np.pi, 101)), axis=-1)
    ball = np.stack(
        [
            np.cos(grid[..., 0]) * np.sin(grid[..., 1]),
            np.sin(grid[..., 0]) * np.sin(grid[..., 1]),
            np.cos(grid[..., 1]),
        ],
        axis=-1,
    )
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in ball.reshape(-1, 3)]
    lines += [
        f"f {101 * i + j + 1} {101 * i + j + 2} {101 * i + j + 103} {101 * i + j + 102}"
        for i in range(100)
        for j in range(100)
    ]
    for k in range(4):
        (tmp_path / f"ball{k}.obj").write_text("\n".join(lines))
    spare = [{"mesh": {"file": f"ball{k}.obj"}, "spare": True} for k in range(4)]
    link = {
        "name": "arm",
        "mass": 1,
        "com": [0, 0, 0],
        "joint": {"type": "revolute"},
        "shape": [{"mesh": {"file": "gone.stl"}}, *spare],
    }
    (tmp_path / "r.yaml").write_text(yamls.dump({"name": "r", "convention": "frames", "links": [link]}))
    robot = denoc.load(tmp_path / "r.yaml")
    made = shapes_for_animation(robot)
    assert len(made.solids["arm"]) == len(made.meshes) == 4
    assert sum(len(mesh.unpacked()[1]) for mesh in made.meshes.values()) <= MOST_FACES


def test_a_result_elsewhere_keeps_its_meshes(tmp_path):
    _, file = made(FALL, tmp_path)
    data = data_of(file.read_text(encoding="utf-8"))
    assert len(data["scene"]["meshes"]) == 2
    assert data["scene"]["warnings"] == []


@needs_browser
def test_bodies_in_a_browser(tmp_path):
    """The bodies reach as far as the numbers of the file say, in an animation and in a page that computes."""
    result, file = made(FALL, tmp_path)
    robot = denoc.load(ROBOT)
    q = np.stack([result[f"{joint}.q"] for joint in robot.joints], axis=1)
    computes = tmp_path / "page.html"
    computes.write_text(
        pages.page_of_plan(prepare_scenario(FALL), page_slider_ranges(["robot.links.hand.joint.xyz.0=0.4..0.6"])),
        encoding="utf-8",
    )
    for path, ask in (
        (file, "(denoc.seek(2), denoc.draw(), denoc.state().bodies)"),
        (computes, "denoc.state().bodies"),
    ):
        wanted = boxes(robot, q[2 if path is file else 0])
        with browser.Page(path) as page:
            found = page.evaluate(ask)
            assert set(found) == set(wanted)
            for name, (low, high) in wanted.items():
                off = 3e-3 if name in ("turret", "arm") else 1e-5  # of round bodies from flat faces
                assert np.allclose(found[name], [low, high], rtol=0, atol=off), name
            page.evaluate("document.getElementById('show-through').click()")
            if path is computes:
                page.evaluate("denoc.set('robot.links.hand.joint.xyz.0', 0.6)")
                moved = page.evaluate("denoc.state().bodies")["hand"]
                assert np.linalg.norm(np.mean(moved, axis=0) - np.mean(found["hand"], axis=0)) == pytest.approx(0.1)
            assert page.messages == []
            assert page.failures == []
