"""MJCF files are read as they mean: several joints a body, defaults, inertia from geoms, ties, motors."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.formats.table import load_shared_robot
from denoc.mechanics.mechanisms import forces_acting_in_loops

FILES = Path(__file__).parent / "files"


@pytest.fixture(scope="module")
def creature():
    return denoc.load(FILES / "creature.xml")


def test_the_tree(creature):
    assert creature.name == "creature"
    assert creature.gravity == (0, 1, -9.5)
    assert creature.joints == ("wag", "root", "hip_x", "hip_y", "hip_slide", "ankle", "shoulder", "wrist", "turn")
    assert [link.name for link in creature.links if link.name.startswith("leg")] == ["leg_hip_x", "leg_hip_y", "leg"]
    assert creature.link("leg").mass > 0
    assert creature.link("leg_hip_x").mass == 0
    assert creature.link("post").joint.type.name == "fixed"


def test_classes_give_what_a_joint_leaves_out(creature):
    (hip_x,), (hip_y,), (wrist,) = (creature.joint(name).drives for name in ("hip_x", "hip_y", "wrist"))
    assert (hip_x.rotor, hip_x.viscous, hip_x.stiffness) == (0.05, 0.4, 0)
    assert (hip_y.rotor, hip_y.viscous, hip_y.stiffness) == (0.05, 0.4, 7)
    assert hip_y.rest == pytest.approx(np.radians(20))
    assert (wrist.rotor, wrist.viscous) == (0, 0.1)


def test_limits_and_references(creature):
    hip = creature.joint("hip_y")
    np.testing.assert_allclose(hip.limits, np.radians([-60, 80]))
    assert hip.initial == (np.radians(10),)
    assert creature.joint("hip_slide").limits == (0.01, 0.2)
    assert creature.joint("hip_slide").initial == (0.03,)
    assert creature.joint("wag").limits is None


def test_inertia_from_geoms():
    """A ball and a rod by the formulas of textbooks, a capsule by cutting it into discs."""
    geoms = (
        '<geom type="sphere" size="0.1" mass="2"/><geom type="capsule" size="0.05 0.2" density="500" pos="0.3 0 0"/>'
    )
    robot = loaded(f"<worldbody><body name='b'><joint/>{geoms}</body></worldbody>")
    z = np.linspace(-0.25, 0.25, 200_001)
    r2 = np.where(abs(z) <= 0.2, 0.05**2, 0.05**2 - np.maximum(abs(z) - 0.2, 0) ** 2)
    discs = 500 * np.pi * r2
    step = z[1] - z[0]
    mass = discs.sum() * step
    link = robot.link("b")
    assert link.mass == pytest.approx(2 + mass, rel=1e-8)
    np.testing.assert_allclose(link.com, [0.3 * mass / link.mass, 0, 0], atol=1e-9)
    xx = 0.4 * 2 * 0.01 + (discs * (r2 / 4 + z**2)).sum() * step
    assert link.inertia[0][0] == pytest.approx(xx, rel=1e-8)
    zz = 0.4 * 2 * 0.01 + (discs * r2 / 2).sum() * step + 2 * mass / link.mass * 0.3**2
    assert link.inertia[2][2] == pytest.approx(zz, rel=1e-8)


def test_ties(creature):
    (loop,) = creature.loops
    assert (loop.name, loop.type.name, loop.between) == ("chain", "spherical", ("hand", "leg"))
    q = np.array(creature.q0)
    q[creature.joint("wrist").coordinates[0]] = np.radians(5)
    frames = denoc.frames(creature, q)
    at = [frames[link] @ [*frame.origin, 1] for link, frame in zip(loop.between, (loop.first, loop.second))]
    np.testing.assert_allclose(at[0], at[1], atol=1e-15)  # they meet where the model stands
    (coupling,) = creature.couplings
    assert coupling.leaders[0].ratio == -1.5
    assert coupling.offset == pytest.approx(np.radians(5) + 0.1)


def test_motors(creature):
    actuated = {joint.name: joint.effort for joint in creature.moving if joint.actuated}
    assert set(actuated) == {"hip_x", "hip_y", "turn"}
    assert (actuated["hip_y"].low, actuated["hip_y"].high) == (-20, 20)
    assert (actuated["hip_x"].low, actuated["hip_x"].high) == (-10, 5)
    assert (actuated["turn"].low, actuated["turn"].high) == (-3, 3)


def test_what_was_dropped_is_said(creature):
    words = "\n".join(creature.warnings)
    for part in ("equality weld dropped: it isn't active", "actuator general changed: an actuator is there"):
        assert part in words


def test_shapes(creature):
    capsule, *_ = creature.link("torso").shape
    assert (capsule.kind, capsule.colour) == ("capsule", (1, 0, 0, 1))
    assert capsule.size == pytest.approx((0.08, np.hypot(0.45, 0.1)))
    np.testing.assert_allclose(capsule.at.matrix()[:3, 2], -np.array([0.45, 0.1, 0]) / np.hypot(0.45, 0.1), atol=1e-15)
    meshes = [shape for shape in creature.link("leg").shape if shape.kind == "mesh"]
    assert [(one.file, one.size) for one in meshes] == [("skin.obj", (2, 2, 2))]


def loaded(inside):
    from denoc.formats.table import Source, robot_format_of_file
    from denoc.robot.read import build_robot

    text = f"<mujoco>\n{inside}\n</mujoco>"
    return build_robot(robot_format_of_file("m.xml", text).read(Source("m.xml", text)).document)


BODY = '<body name="b"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>{}</body>'


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("<worldbody/>", "there is no body"),
        (f"<worldbody>{BODY.format('<joint type=%hook%/>')}</worldbody>", "unknown type of joint"),
        (f"<worldbody>{BODY.format('<joint axis=%0 0 0%/>')}</worldbody>", "the axis has no direction"),
        (f"<worldbody>{BODY.format('<joint class=%no%/>')}</worldbody>", "no such class"),
        ("<worldbody><replicate count='3'/></worldbody>", "`replicate` can't be read"),
        ("<compiler coordinate='global'/>", "global coordinates can't be read"),
        ("<include file='/etc/passwd'/>", "no XML file beside the model"),
        ("<include file='nowhere.xml'/>", "there is no such file"),
        (f"<worldbody>{BODY.format('<joint/>')}</worldbody><equality><connect body1='x'/></equality>", "no such body"),
        (f"<worldbody>{BODY.format('<joint quat=%0 0 0 0%/>').replace('joint', 'body')}</worldbody>", "can't all be 0"),
    ],
)
def test_what_cannot_be_read_is_refused(inside, words):
    with pytest.raises(InputError) as caught:
        loaded(inside.replace("%", '"'))
    assert words in str(caught.value)


def test_a_mesh_without_inertia_needs_mujoco(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(InputError, match="the inertia of a mesh is known to its file alone"):
        loaded("<worldbody><body><joint/><geom type='mesh' mesh='m'/></body></worldbody>")
    loaded("<worldbody><body><joint/><geom type='mesh' mesh='m' mass='0'/></body></worldbody>")


def test_bounds_and_a_total_mass_are_kept():
    bodies = "".join(BODY.format("<joint/>").replace('"b"', f'"b{k}"') for k in range(2))
    robot = loaded(f"<compiler settotalmass='5' boundinertia='2'/><worldbody>{bodies}</worldbody>")
    assert [link.mass for link in robot.links] == [2.5, 2.5]
    assert robot.links[0].inertia[1][1] == 5


def test_the_same_dynamics_as_mujocos(creature):
    pytest.importorskip("mujoco")
    from beside_mujoco import Pair

    worst = Pair(FILES / "creature.xml", creature).differences(np.random.default_rng(3))
    assert max(worst.values()) < 1e-10, worst


def test_a_hinge_turns_about_its_anchor_from_its_reference():
    """A body at p that turns by q - ref about an axis through p + a: its frame is at p + a - R(q - ref) a."""
    joint = '<joint pos="0.3 0.1 0" axis="0 0 1" ref="25"/>'
    robot = loaded(f"<compiler angle='degree'/><worldbody>{BODY.format(joint)}</worldbody>")
    q, anchor = 0.7, np.array([0.3, 0.1, 0.0])
    turn = q - np.radians(25)
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    placed = denoc.frames(robot, [q])["b"]
    np.testing.assert_allclose(placed[:3, :3], R, atol=1e-15)
    np.testing.assert_allclose(placed[:3, 3], anchor - R @ anchor, atol=1e-15)


def test_tendons_that_follow_each_other_are_couplings():
    bodies = "".join(BODY.format(f'<joint name="j{k}" ref="{10 * k}"/>').replace('"b"', f'"b{k}"') for k in range(3))
    fixed = '<fixed name="one"><joint joint="j0" coef="2"/><joint joint="j1" coef="-1"/></fixed>'
    other = '<fixed name="two"><joint joint="j2" coef="3"/></fixed>'
    tie = '<equality><tendon tendon1="one" tendon2="two" polycoef="0.1 0.5 0 0 0"/></equality>'
    robot = loaded(f"<worldbody>{bodies}</worldbody><tendon>{fixed}{other}</tendon>{tie}")
    (coupling,) = robot.couplings
    q = np.random.default_rng(0).uniform(-1, 1, 3)
    q[0] = sum(one.ratio * q[one.coordinate] for one in coupling.leaders) + coupling.offset
    start = np.radians([0, 10, 20])
    first, second = 2 * q[0] - q[1] - (2 * start[0] - start[1]), 3 * (q[2] - start[2])
    assert first == pytest.approx(0.1 + 0.5 * second)  # as MuJoCo's manual has it


PULLED = """<worldbody>
  <body name="a"><joint name="j0"/><geom size="0.1"/>
    <body name="b" pos="0.3 0.1 0"><joint name="j1" axis="0 1 0"/><joint name="j2" type="slide" axis="1 0 0"/>
      <geom size="0.1" pos="0.2 0 0"/><site name="tip" pos="0.3 0.1 -0.2" euler="20 30 10"/></body></body>
</worldbody>
<tendon><fixed name="cord"><joint joint="j0" coef="0.5"/><joint joint="j1" coef="-2"/></fixed></tendon>
<actuator>
  <motor name="m0" joint="j0" gear="3" ctrlrange="-2 1"/>
  <motor name="m1" tendon="cord" gear="-4" ctrlrange="-1 2" forcerange="-9 1.5"/>
  <motor name="push" site="tip" gear="0 3 4 0 0 0" ctrlrange="0 2"/>
  <motor name="twist" site="tip" gear="0 0 0 1 0 -1"/>
  <motor name="m0" tendon="cord" class="main"/>
</actuator>"""


def test_actuators_of_tendons_and_sites():
    """A tendon's moment arms are its coefficients times the gear; a site's are those of the point in its axes."""
    robot = loaded(PULLED)
    assert [one.name for one in robot.actuators] == ["m1", "push", "twist", "m0"]
    cord, push, twist, _ = robot.actuators
    assert [(one.speed, one.ratio) for one in cord.joints] == [(0, -2.0), (1, 8.0)]
    assert (cord.effort.low, cord.effort.high, cord.moment) == (-1, 1.5, True)
    assert (push.effort.low, push.effort.high, push.moment) == (0, 10, False)
    assert twist.moment
    assert [joint.actuated for joint in robot.moving] == [True, False, False]
    assert (robot.joint("j0").effort.low, robot.joint("j0").effort.high) == (-6, 3)
    q = np.array([0.3, -0.4, 0.2])
    S = forces_acting_in_loops(robot, q[None])[0]
    c, s = np.cos(np.radians([20, 30, 10])), np.sin(np.radians([20, 30, 10]))  # x, then y, then z of the turned axes
    X, Y, Z = (
        np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]]),
        np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]]),
        np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]]),
    )
    J = denoc.jacobian(robot, q, "b", at=[0.3, 0.1, -0.2])
    turn = denoc.frames(robot, q)["b"][:3, :3] @ X @ Y @ Z
    np.testing.assert_allclose(S[:, 2] * 5, J[3:].T @ turn @ [0, 3, 4], atol=1e-14)
    np.testing.assert_allclose(S[:, 3] * np.sqrt(2), J[:3].T @ turn @ [1, 0, -1], atol=1e-14)


def test_actuators_act_as_mujocos():
    mujoco = pytest.importorskip("mujoco")
    text = PULLED.replace('<motor name="m0" tendon="cord" class="main"/>', "")
    robot = loaded(text)
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{text}</mujoco>")
    data = mujoco.MjData(model)
    q = np.random.default_rng(4).uniform(-1, 1, 3)
    sizes = [3, 1, 5, np.sqrt(2)]  # of what is unity in denoc
    S = forces_acting_in_loops(robot, q[None])[0]
    for k, size in enumerate(sizes):
        data.qpos[:], data.ctrl[:] = q, 0
        data.ctrl[k] = 0.5
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.qfrc_actuator, 0.5 * size * S[:, k], atol=1e-13)


SPRUNG = """<worldbody><body name="a" pos="0.1 0.2 0.3" euler="10 20 30">
  <joint type="free" name="float" stiffness="40"/><inertial pos="0.1 0 0.05" mass="2" diaginertia="0.03 0.04 0.05"/>
  <body name="b" pos="0.3 0 0" euler="0 40 0"><joint name="ball" type="ball" stiffness="7" damping="0.3" pos="0 0.1 0"/>
    <inertial pos="0.1 0.03 0" mass="1" diaginertia="0.01 0.02 0.015"/></body></body></worldbody>"""


def test_springs_of_balls_are_relaxed_where_the_model_stands():
    robot = loaded(SPRUNG)
    assert not robot.warnings
    still = denoc.bias(robot, np.array(robot.q0), np.zeros(robot.nv))
    heavy = denoc.bias(loaded(SPRUNG.replace("stiffness", "user")), np.array(robot.q0), np.zeros(robot.nv))
    np.testing.assert_allclose(still, heavy, atol=1e-14)


def test_springs_of_balls_are_mujocos(tmp_path):
    """For turns of any size, of both signs of the Euler parameters."""
    pytest.importorskip("mujoco")
    from beside_mujoco import Pair

    (tmp_path / "m.xml").write_text(f"<mujoco>{SPRUNG}</mujoco>")
    pair = Pair(tmp_path / "m.xml", loaded(SPRUNG))
    rng = np.random.default_rng(7)
    for _ in range(5):
        q = rng.normal(size=11)
        for e in (slice(3, 7), slice(7, 11)):
            q[e] /= np.linalg.norm(q[e])
        assert max(pair.at(q, rng.uniform(-1, 1, 9)).values()) < 1e-13


def test_armature_of_free_joints_turns_with_the_link(tmp_path):
    """Beside MuJoCo's, which doesn't: forces differ by armature times ω × v, as a warning says."""
    text = SPRUNG.replace('stiffness="40"', 'armature="0.7"')
    robot = loaded(text)
    assert ["of a free joint" in warning for warning in robot.warnings] == [True]
    pytest.importorskip("mujoco")
    from beside_mujoco import Pair

    (tmp_path / "m.xml").write_text(f"<mujoco>{text}</mujoco>")
    assert max(Pair(tmp_path / "m.xml", robot).differences(np.random.default_rng(3)).values()) < 1e-13


CORDS = """<compiler angle="radian"/><worldbody>
  <body name="a"><joint name="j0" ref="0.2"/><geom size="0.1" pos="0.1 0 0"/>
    <body name="b" pos="0.3 0.1 0"><joint name="j1" axis="0 1 0" springref="0.3" stiffness="2"/>
      <joint name="j2" type="slide" axis="1 0 0" springref="-0.1" ref="0.1"/><geom size="0.1" pos="0.2 0 0"/></body></body>
</worldbody>
<tendon>
  <fixed name="one" stiffness="30" damping="0.4"><joint joint="j0" coef="0.5"/><joint joint="j1" coef="-2"/></fixed>
  <fixed name="two" stiffness="5" springlength="0.7"><joint joint="j1" coef="1.5"/><joint joint="j2" coef="3"/></fixed>
  <fixed name="three" damping="0.8"><joint joint="j2" coef="-1"/></fixed>
  <fixed name="four" stiffness="7" springlength="-0.2"><joint joint="j0" coef="1"/></fixed>
  <fixed name="five" stiffness="20" springlength="-1 0.1"><joint joint="j1" coef="-1"/><joint joint="j0" coef="1"/></fixed>
</tendon>
<actuator><motor name="one" joint="j0"/></actuator>"""


def test_springs_of_tendons_are_mujocos(tmp_path):
    """Their forces and energies; relaxed where joints' springs are, unless they say a length."""
    mujoco = pytest.importorskip("mujoco")
    from beside_mujoco import Pair

    robot = loaded(CORDS)
    assert not robot.warnings
    assert [name for name, _ in robot.springs] == ["one_spring", "two", "three", "four", "five"]
    (tmp_path / "m.xml").write_text(f"<mujoco>{CORDS}</mujoco>")
    pair = Pair(tmp_path / "m.xml", robot)
    pair.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    still = mujoco.MjModel.from_xml_string(f"<mujoco>{CORDS.replace('stiffness=', 'user=')}</mujoco>")
    still.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    rng = np.random.default_rng(6)
    for _ in range(3):
        q, qd = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
        assert max(pair.at(q, qd).values()) < 1e-13
        other = mujoco.MjData(still)
        other.qpos[:], other.qvel[:] = q, qd
        mujoco.mj_forward(still, other)
        elastic = pair.data.energy[0] - other.energy[0]
        assert denoc.energy(robot, q, qd)["elastic"] == pytest.approx(elastic, rel=1e-12)
        passive = denoc.bias(loaded(CORDS.replace("stiffness=", "user=").replace("damping=", "width=")), q, qd)
        own = passive - denoc.bias(robot, q, qd)
        np.testing.assert_allclose(own, pair.data.qfrc_passive, rtol=1e-12, atol=1e-12)


def test_what_a_sum_of_joints_cannot_hold_is_dropped():
    inside = "<joint joint='j0'/><joint joint='j1'/>"
    for attributes, words in (
        ("range='-1 1'", "no limits"),
        ("limited='true' range='-1 1' frictionloss='2'", "no dry friction and no limits"),
        ("limited='false' range='-1 1' stiffness='0'", ""),
        ("springyield='0.1'", "no yield of springs"),
        ("armature='0.1'", "no armature"),
        ("stiffness='3 1'", "no damping and stiffness that change"),
    ):
        tendon = f"<tendon><fixed name='t' {attributes}>{inside}</fixed></tendon>"
        robot = loaded(CORDS.split("<tendon>")[0] + tendon)
        assert [words in warning for warning in robot.warnings] == [True] * bool(words)


def test_a_file_that_is_included_may_change(tmp_path):
    """Runs of one process share a robot; that the model's own file is the same doesn't mean that the robot is."""
    body = '<mujoco><body><joint name="j" axis="0 1 0"/><inertial pos=".1 0 0" mass="{}" diaginertia="1 1 1"/></body></mujoco>'
    (tmp_path / "a.xml").write_text('<mujoco><worldbody><include file="b.xml"/></worldbody></mujoco>')
    run = {"robot": str(tmp_path / "a.xml"), "task": "inverse", "time": {"end": 0.1}, "motion": {"j": {"law": "hold"}}}
    forces, robots = [], []
    for mass in (2, 2, 20, 2):
        (tmp_path / "b.xml").write_text(body.format(mass))
        forces.append(denoc.run(run).table["j.tau"][0])
        robots.append(load_shared_robot(tmp_path / "a.xml"))
    assert np.allclose(forces, [-1.962, -1.962, -19.62, -1.962])
    assert robots[1] is robots[0], "a run of a robot that is the same compiles again"


def test_forms_without_a_size_have_no_mass(tmp_path):
    """Sizes so small that volumes are 0: no division by it."""
    (tmp_path / "m.xml").write_text(
        '<mujoco><worldbody><body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
        '<body><geom type="capsule" size="1e-300 1"/></body></worldbody></mujoco>'
    )
    assert denoc.load(tmp_path / "m.xml").nv == 1


def test_numbers_of_an_included_file_are_refused_at_their_line_there(tmp_path):
    (tmp_path / "a.xml").write_text('<mujoco><worldbody>\n<include file="b.xml"/></worldbody></mujoco>')
    (tmp_path / "b.xml").write_text(
        '<mujoco>\n\n<body><joint name="j"/>\n <inertial mass="-1" pos="0 0 0" diaginertia="1 1 1"/></body></mujoco>'
    )
    with pytest.raises(InputError, match=r"b\.xml:4:2: links\[0\]\.mass: must be at least 0") as told:
        denoc.load(tmp_path / "a.xml")
    assert '<inertial mass="-1"' in str(told.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "body",
    [
        '<joint name="j" pos="0.1 1e300 0"/><geom size="0.1"/>',
        '<joint name="j"/><geom size="1e300"/>',
        '<joint name="j"/><geom type="capsule" size="1e300 1"/>',
        '<joint name="j"/><geom type="capsule" size="1e-200 1e-200" mass="1"/>',
    ],
)
def test_sizes_beyond_the_numbers_of_computers_are_refused_or_read(body, tmp_path):
    (tmp_path / "a.xml").write_text(f"<mujoco><worldbody><body>{body}</body></worldbody></mujoco>")
    if "1e300" not in body:
        assert np.isfinite(denoc.inertia(denoc.load(tmp_path / "a.xml"), [0.0])).all()
        return
    with pytest.raises(InputError, match=r"a\.xml:1:\d+: "):
        denoc.load(tmp_path / "a.xml")
