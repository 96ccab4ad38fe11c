"""Robots written as MJCF and read again are the same to rounding, and MuJoCo loads what was written and agrees."""

from dataclasses import replace

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.formats.table import FORMATS
from denoc.mechanics.closure import loop_closure
from denoc.mechanics.mechanisms import forces_acting_in_loops
from denoc.robot.read import build_robot
from denoc.text import document_from_mapping, library_folder
from random_robots import random_robot
from there_and_back import differences, places, state, through

TYPES = ("revolute", "prismatic", "cylindrical", "universal", "planar", "three-revolutes", "spherical", "fixed")
LIBRARY = sorted(path.stem for path in library_folder("robots").glob("*.yaml"))


def beside_mujoco(text, tmp_path, again):
    """The largest difference between MuJoCo's reading of the text and ours."""
    from beside_mujoco import Pair

    (tmp_path / "m.xml").write_text(text)
    return max(Pair(tmp_path / "m.xml", again).differences(np.random.default_rng(2), samples=2).values())


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_survives_and_mujoco_agrees(name, tmp_path):
    robot = denoc.load(name)
    again, text, lost = through(robot)
    if not [words for words in lost if "cut changed" in words]:  # by which a link's mass is divided
        assert differences(robot, again) < (1e-10 if "link without mass changed" in lost else 1e-12)
    pytest.importorskip("mujoco")
    assert beside_mujoco(text, tmp_path, again) < 1e-12


@pytest.mark.parametrize("seed", range(24))
def test_random_robots_survive_and_mujoco_agrees(seed, tmp_path):
    """All joints that MuJoCo has, in every convention, with losses, springs and rotors, starting anywhere."""
    first = "free" if seed % 4 == 0 else None
    data = random_robot(seed, types=TYPES, wrenches=False, first=first)
    rng = np.random.default_rng(seed)
    for link in data["links"]:
        joint, convention = link["joint"], link.get("convention", data["convention"])
        if joint["type"] in ("revolute", "prismatic", "universal", "planar") and rng.random() < 0.6:
            count = {"universal": 2, "planar": 3}.get(joint["type"], 1)
            start = [float(x) for x in rng.uniform(-1, 1, count)]
            own = {"revolute": "theta", "prismatic": "b" if convention == "dh" else "r"}.get(joint["type"], "")
            joint |= {own: start[0]} if own and convention != "frames" else {"initial": start}
        if joint["type"] == "spherical" and "as" not in joint:
            joint["spring"], joint["friction"] = {"stiffness": 3.0}, {"viscous": 0.7}
        if joint["type"] == "free":
            e = rng.normal(size=4)
            joint["initial"] = [*(float(x) for x in rng.uniform(-1, 1, 3)), *(float(x) for x in e / np.linalg.norm(e))]
    if first:  # whose coordinates are those in the world, in MuJoCo
        own = data["links"][0]
        own.pop("offset", None)
        own["joint"] = {key: x for key, x in own["joint"].items() if key in ("type", "name", "initial")}
        for key in ("r", "first_moments", "frame", "about"):
            own.pop(key, None)
        own |= {"convention": "frames", "com": [0.1, 0.2, 0.3], "inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.5, "xy": 0.1}}
    robot = build_robot(document_from_mapping(data))
    again, text, lost = through(robot)
    assert not [words for words in lost if "dropped" in words], lost
    assert differences(robot, again, seed) < 1e-12
    pytest.importorskip("mujoco")
    assert beside_mujoco(text, tmp_path, again) < 1e-11


def test_what_joints_have_survives():
    robot = denoc.load("rx90")
    again, _, lost = through(robot)
    assert lost == []
    for mine, theirs in zip(robot.moving, again.moving):
        assert (mine.name, mine.type, mine.limits, mine.effort) == (
            theirs.name,
            theirs.type,
            theirs.limits,
            theirs.effort,
        )
        assert (mine.actuated, mine.drives, mine.initial) == (theirs.actuated, theirs.drives, theirs.initial)
    robot = denoc.load("elastic-arm")
    again, _, _ = through(robot)
    assert [joint.actuated for joint in again.moving] == [joint.actuated for joint in robot.moving]
    assert [joint.drives for joint in again.moving] == [joint.drives for joint in robot.moving]


ACTUATED = """
name: arm
convention: frames
links:
  - {name: a, joint: {type: revolute, name: j1, axis: [0, 1, 0], limits: [-1, 2], initial: 0.3}, mass: 1, com: [0.1, 0, 0],
     inertia: {xx: 1, yy: 1, zz: 1}, points: {tip: [0.5, 0, 0]}, shape: [{box: [1, 2, 3], colour: [1, 0, 0, 0.5]},
       {cylinder: {radius: 0.1, length: 0.4}, xyz: [0, 0, 1], rpy: [0.3, 0, 0]}, {sphere: {radius: 0.2}},
       {capsule: {radius: 0.1, length: 0.3}}]}
  - {name: world, joint: {type: prismatic, name: j2, xyz: [0.3, 0, 0], actuated: true, effort: {limits: [-3, 5]}}, mass: 1,
     com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: c, joint: {type: revolute, name: j3, xyz: [0, 0.3, 0], axis: [1, 2, 3], initial: 0.15}, mass: 2, com: [0, 0.2, 0],
     inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}
couplings:
  - {joint: j3, to: COUPLED}
actuators:
  - {name: cord, joints: {j1: 2, j2: -0.5}, gear: -3, effort: {limits: [-1, 1]}}
  - {name: push, link: c, at: [0.1, 0.2, 0.3], direction: [0.6, 0, 0.8]}
  - {name: twist, link: a, direction: [0, 0.6, 0.8], kind: moment}
  - {name: lift, link: c, at: [0.1, 0.2, 0.3], direction: [0.6, 0, 0.8], axes: base, effort: {limits: [0, 9]}}
  - {name: yaw, link: c, direction: [0, 0, 1], axes: base, kind: moment}
springs:
  - {name: soft, joints: {j1: 1, j3: 0.3}, stiffness: 20, rest: -0.2, damping: 0.5}
  - {name: brake, joints: {j2: 2}, damping: 0.5}
  - {name: loose, joints: {j2: 1}, stiffness: 3, rest: -0.5, slack: 0.75}
"""


@pytest.mark.parametrize("coupled", ["j1, ratio: 0.5, offset: 0.2", "[j1, j2], ratio: [0.5, -1.5], offset: 0.2"])
def test_actuators_couplings_and_pictures_survive(coupled):
    robot = denoc.loads(ACTUATED.replace("COUPLED", coupled))
    again, text, lost = through(robot)
    assert lost == ["link `world` changed", "points changed", "coupling changed"]
    assert [joint.actuated for joint in again.moving] == [False, True, False]
    assert (again.joint("j2").effort, again.joint("j1").limits) == (robot.joint("j2").effort, (-1, 2))
    q = np.array([[0.3, -0.2, 0.4]])
    np.testing.assert_allclose(forces_acting_in_loops(again, q), forces_acting_in_loops(robot, q), atol=1e-15)
    assert [(one.name, one.effort, one.moment) for one in again.actuators] == [
        (one.name, one.effort, one.moment) for one in robot.actuators
    ]
    assert again.springs == robot.springs
    (mine,), (theirs,) = robot.couplings, again.couplings
    assert mine.coordinate == theirs.coordinate
    assert theirs.offset == pytest.approx(0.2)
    assert [(x.coordinate, x.ratio) for x in mine.leaders] == [(x.coordinate, x.ratio) for x in theirs.leaders]
    for one, other in zip(robot.links[0].shape, again.links[0].shape):
        assert (one.kind, one.size, one.colour) == (other.kind, other.size, other.colour)
        np.testing.assert_allclose(one.at.matrix(), other.at.matrix(), atol=1e-15)
    assert '<site name="a.tip" pos="0.5 0 0"/>' in text
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = [0.3, -0.2, 0.2 + 0.5 * 0.3 + (1.5 * 0.2 if "[" in coupled else 0)]
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[:1]).max() < 1e-15
    for k, gear in enumerate([1, 1, 1, 1, 1, 1]):
        data.ctrl[:] = 0
        data.ctrl[k] = 0.7
        mujoco.mj_forward(model, data)
        S = forces_acting_in_loops(robot, data.qpos[None])[0]
        np.testing.assert_allclose(data.qfrc_actuator, 0.7 * gear * S[:, k], atol=1e-14)


@pytest.mark.parametrize("name", ["four-bar", "bricard", "gough-stewart", "rssr", "suspension"])
def test_mujoco_finds_loops_closed_where_they_are(name):
    """And not elsewhere; its constraints leave the same motions."""
    mujoco = pytest.importorskip("mujoco")
    robot = denoc.load(name)
    again, text, _ = through(robot)
    assert len(again.loops) == sum(1 + (loop.type.name == "revolute") for loop in robot.loops)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    coordinates, speeds = places(robot, again)
    closed, elsewhere = denoc.assemble(robot, robot.q0), state(robot, 3)[0]
    data.qpos[coordinates] = elsewhere
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[: data.ne]).max() > 1e-3
    data.qpos[coordinates] = closed
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[: data.ne]).max() < 1e-9
    theirs = data.efc_J.reshape(-1, model.nv)[: data.ne][:, speeds]
    mine = loop_closure(robot).jacobian(closed)[0]
    rank = np.linalg.matrix_rank(mine, tol=1e-8)
    assert np.linalg.matrix_rank(theirs, tol=1e-8) == rank
    assert np.linalg.matrix_rank(np.vstack([mine, theirs]), tol=1e-8) == rank


WRITTEN_AS_BODIES = ("prismatic", "cylindrical", "planar", "universal", "point-on-line", "point-on-plane")


@pytest.mark.parametrize("kind", WRITTEN_AS_BODIES)
@pytest.mark.parametrize("seed", range(3))
def test_cuts_without_a_tie_are_bodies_that_move_as_they_do(kind, seed):
    """MuJoCo's masses and ties, solved without its soft constraints, give the accelerations of the closed robot."""
    mujoco = pytest.importorskip("mujoco")
    from random_mechanisms import closed_robot, loaded

    file, q = closed_robot(seed, cuts=(kind,), loops=(1, 2), types=("revolute", "prismatic"), wrenches=False)
    for link in file["links"]:
        for key in ("friction", "spring", "limits"):
            link["joint"].pop(key, None)
    file |= {"springs": [], "couplings": []}
    robot = loaded(file)
    robot = replace(robot, q0=tuple(denoc.assemble(robot, q)), vouched=True)
    written = FORMATS["mjcf"].write(robot)
    fates = [f"{entry.what} {entry.fate}" for entry in written.report.entries.values()]
    assert f"{kind} cut changed" in fates
    assert not [words for words in fates if "loop" in words and "dropped" in words]
    model = mujoco.MjModel.from_xml_string(written.text)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[: data.ne]).max() < 1e-9  # closed where it starts
    M, J = np.zeros((model.nv, model.nv)), data.efc_J.reshape(-1, model.nv)[: data.ne]
    try:
        mujoco.mj_fullM(model, M, data.qM)
    except (TypeError, AttributeError):  # from version 4 on
        mujoco.mj_fullM(model, data, M)
    whole = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    bias = np.concatenate([-data.qfrc_bias, np.zeros(len(J))])
    qdd = np.linalg.lstsq(whole, bias, rcond=1e-12)[0][: model.nv]
    names = [model.joint(k).name for k in range(model.njnt)]
    at = [model.jnt_dofadr[names.index(joint.name)] for joint in robot.moving]
    mine = denoc.forward(robot, np.array(robot.q0), np.zeros(robot.nv), np.zeros(robot.nv))
    np.testing.assert_allclose(qdd[at], mine, atol=1e-7 * (1 + abs(mine).max()))


def test_cuts_that_stand_open_have_their_joints_where_they_will_be():
    """The part hangs by the cut's frames, wherever the robot happens to start."""
    frames = "first: {at: [0.3, 0, 0.1]}, second: {at: [0, 0.2, 0], rpy: [0.1, 0.2, 0.3]}"
    links = [
        "{name: a, joint: {type: revolute}, mass: 1, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}",
        "{name: b, joint: {type: free}, parent: base, mass: 2, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}",
    ]
    for first, second in (("a", "b"), ("base", "b"), ("b", "base")):
        text = "name: x\nconvention: frames\nlinks: [{}]\nloops: [{}]".format(
            ", ".join(links), f"{{name: c, joint: prismatic, between: [{first}, {second}], {frames}}}"
        )
        robot = denoc.loads(text)
        again = through(robot)[0]
        assert again.loops[0].type.name == "fixed"
        placed = denoc.frames(again, again.q0)
        there = np.eye(4) if first == "base" else placed[first]
        one, two = there @ robot.loops[0].first.matrix(), placed["c_part"]
        seen = np.linalg.inv(one) @ two
        np.testing.assert_allclose(seen[:2, 3], 0, atol=1e-14)
        np.testing.assert_allclose(seen[:3, :3], np.eye(3), atol=1e-14)
        assert again.joint("c_part_1").initial == pytest.approx((seen[2, 3],))
        total = sum(link.mass for link in again.links if link.name in ("b", "c_part"))
        assert total == pytest.approx(2 if second == "b" else 3)


def test_mujoco_moves_as_such_a_robot_does():
    """A slider-crank whose rod's end stays on a line, by MuJoCo's own steps and soft ties."""
    mujoco = pytest.importorskip("mujoco")
    robot = denoc.load("slider-crank-singular")
    robot = replace(robot, q0=tuple(denoc.assemble(robot, robot.q0)), vouched=True)
    model = mujoco.MjModel.from_xml_string(FORMATS["mjcf"].write(robot).text)
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    run = denoc.run({"task": "simulate", "time": {"end": 0.1, "step": 0.05}}, robot)
    for joint in robot.moving:
        moved = run.table[f"{joint.name}.q"][-1] - robot.q0[joint.coordinates[0]]
        assert abs(moved) > 0.02
        assert data.joint(joint.name).qpos[0] - robot.q0[joint.coordinates[0]] == pytest.approx(moved, rel=2e-2)


def test_what_mjcf_has_no_place_for_is_named(tmp_path):
    assert "loop `edge` dropped" in through(denoc.load("chaplygin-sleigh"))[2]
    _, text, lost = through(denoc.load("rssr"))
    assert "initial position dropped" in lost
    assert "keyframe" in text
    screw = "name: x\nconvention: dh\nlinks: [{name: a, joint: {type: helical, pitch: 0.1}, mass: 1, com: [0, 0, 0]}]"
    with pytest.raises(InputError, match="MJCF has no helical joint"):
        through(denoc.loads(screw))
    free = "name: x\nconvention: frames\nlinks: [{name: a, joint: {type: revolute}, mass: 1, com: [0, 0, 0]}, {name: b, joint: {type: free}, mass: 1, com: [0, 0, 0]}]"
    with pytest.raises(InputError, match="only bodies of the world are free"):
        through(denoc.loads(free))


def test_meshes_are_found(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c}" for a, b, c in faces]
    (tmp_path / "hull.obj").write_text("\n".join(lines))
    shape = "shape: [{mesh: {file: hull.obj, scale: [1, 2, 3]}}, {mesh: {file: hull.obj}}, {mesh: {file: hull.dae}}]"
    link = f"{{name: a, joint: {{type: revolute}}, mass: 1, com: [1, 0, 0], {shape}}}"
    _, text, lost = through(denoc.loads(f"name: x\nconvention: dh\nlinks: [{link}]"))
    assert lost == ["mesh dropped"]
    (tmp_path / "m.xml").write_text(text)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    assert (model.nmesh, model.ngeom) == (2, 2)


def test_mujoco_takes_all_inertias(tmp_path):
    """Also with negative moments, of rods and plates, and of any size; those of bodies are kept, and others named."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(3)
    tensors, possible = [], []
    for k in range(420):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments = rng.normal(size=3) if k % 3 else abs(rng.normal(size=3))
        a, b = abs(rng.normal(size=2))
        moments = {0: [a, b, a + b], 1: [0, a, a], 2: [a, a, a], 3: [1e-7 * b, a, a * (1 + 1e-14)]}.get(k % 10, moments)
        moments = np.array(moments) * 10.0 ** rng.integers(-9, 6)
        J = Q @ np.diag(moments) @ Q.T if k % 4 else np.diag(moments)
        tensors.append((J + J.T) / 2)
        moments = np.linalg.eigvalsh(tensors[-1])
        possible.append(moments[0] > -1e-12 and moments[0] + moments[1] >= moments[2] * (1 - 1e-12))
    links = [
        {"name": f"l{k}", "parent": "base", "joint": {"type": "revolute"}, "mass": 1, "com": [0, 0, 0]}
        | {
            "inertia": dict(
                zip(("xx", "yy", "zz", "xy", "xz", "yz"), map(float, J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]))
            )
        }
        for k, J in enumerate(tensors)
    ]
    robot = build_robot(document_from_mapping({"name": "drawn", "convention": "frames", "links": links}))
    again, text, _ = through(robot)
    model = mujoco.MjModel.from_xml_string(text)
    assert 100 < sum(possible) < 300
    for one, J, fits in zip(again.links, tensors, possible):
        off = abs(np.array(one.inertia) - J).max()
        assert off <= (1e-9 * abs(J).max() + 5e-15 if fits else np.inf)
        assert fits or off > 0
        most = abs(np.array(one.inertia)).max()
        theirs = model.body_inertia[model.body(one.name).id]
        np.testing.assert_allclose(sorted(theirs), np.linalg.eigvalsh(one.inertia), atol=1e-13 * most)
    (entry,) = [one for one in FORMATS["mjcf"].write(robot).report.entries.values() if one.what == "inertia"]
    assert len(entry.lines) == len(possible) - sum(possible)


def test_long_chains_are_written():
    """A thousand links; MuJoCo's own limit, and that of XML here, are lower."""
    links = [{"name": f"l{k}", "joint": {"type": "revolute"}, "mass": 1, "com": [0.1, 0, 0]} for k in range(1000)]
    robot = build_robot(document_from_mapping({"name": "long", "convention": "frames", "links": links}))
    text = FORMATS["mjcf"].write(robot).text
    assert text.count("<body") == text.count("</body>") == 1000


def test_weights_that_are_borne_survive():
    """A wrench that does nothing but bear a share of a link's weight is MJCF's `gravcomp`; others are dropped."""
    link = "{name: NAME, joint: {type: revolute, axis: [1, 0, 0]}, mass: 2, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 1, zz: 1}}"
    robot = "name: x\nconvention: frames\ngravity: [1, 2, -9]\nlinks: [{}, {}]\nwrenches: [{}]".format(
        link.replace("NAME", "a"), link.replace("NAME", "b"), "{link: a, force: [-1, -2, 9], at: AT, axes: base}"
    )
    light = denoc.loads(robot.replace("AT", "[0.1, 0.2, 0.3]"))
    again, text, lost = through(light)
    assert (text.count('gravcomp="0.5"'), lost) == (1, [])
    assert differences(light, again) < 1e-12
    for other in (robot.replace("AT", "[0.1, 0.2, 0]"), robot.replace("AT", "[0.1, 0.2, 0.3]").replace(", 9]", ", 8]")):
        assert through(denoc.loads(other))[2] == ["wrenches dropped"]
