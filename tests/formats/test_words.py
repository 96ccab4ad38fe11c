"""No word of a file is passed over: what isn't read is named in the report, and what nobody knows is a warning."""

from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.formats.report import CHANGED, DROPPED, IGNORED
from denoc.formats.table import converted_from_any_format

FILES = Path(__file__).parent / "files"

MJCF = """<mujoco model="m"><compiler angle="radian" texturedir="t"/><option timestep="0.1"/>
  <worldbody><body name="b" user="1"><joint name="j" margin="0.1" damping="1"/><geom size="0.1" friction="1"/></body>
  </worldbody><actuator><position joint="j" kp="3"/></actuator></mujoco>"""
URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="2" velocity="3"/><dynamics damping="0.1"/></joint></robot>"""
SDF = """<sdf version="1.6"><model name="m"><static>true</static><link name="a"/>
  <link name="b"><pose>0.1 0 0.2 0 0 0.3</pose><inertial><mass>2</mass><pose>0.1 0.2 0.3 0 0 0</pose></inertial></link>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz><limit><lower>-1</lower>
  <upper>1</upper></limit></axis></joint></model></sdf>"""
KINDS = {"mjcf": (".xml", MJCF), "urdf": (".urdf", URDF), "sdf": (".sdf", SDF)}


def noted(folder, kind, old="", new=""):
    """What the report says of a text, by what it is about."""
    suffix, text = KINDS[kind]
    assert old in text
    path = folder / f"m{suffix}"
    path.write_text(text.replace(old, new, 1))
    report = converted_from_any_format(path).report
    return {(one.what, one.fate): one.why for one in report.entries.values()}


@pytest.mark.parametrize(
    ("kind", "old", "new", "what", "why"),
    [
        ("mjcf", "damping=", "dampng=", "joint dampng", "did you mean `damping`?"),
        ("mjcf", '<option timestep="0.1"/>', '<option gravty="0 0 1"/>', "option gravty", "did you mean `gravity`?"),
        ("mjcf", "<geom size", "<geomm/><geom size", "geomm", "did you mean `geom`?"),
        ("mjcf", "<geom size", "<winch/><geom size", "winch", "means nothing in `body`"),
        ("mjcf", "<position joint", '<position kpp="1" joint', "position kpp", "MJCF has no such attribute"),
        ("mjcf", "<option", '<default><joint dampig="1"/></default><option', "joint dampig", "did you mean `damping`?"),
        ("mjcf", "<option", "<deformable><flex/></deformable><option", "deformable", "bodies are rigid"),
        ("urdf", "velocity=", "velocty=", "limit velocty", "did you mean `velocity`?"),
        ("urdf", "ixx=", "Ixx=", "inertia Ixx", "did you mean `ixx`?"),
        ("urdf", "<axis xyz", "<axs xyz='1 0 0'/><axis xyz", "axs", "did you mean `axis`?"),
        ("urdf", "damping=", "K='3' damping=", "dynamics K", "URDF has no such key"),
        ("urdf", "<dynamics", "<joint_properties damping='2'/><dynamics", "joint_properties", "read from `dynamics`"),
        ("urdf", "<axis xyz", "<axis xyz='1 0 0'/><axis xyz", "axis", "only the first one in `joint` counts"),
        ("urdf", '<mass value="1"/>', '<mass value="1"/><mass value="3"/>', "mass", "only the first one in `inertial`"),
        ("sdf", "<mass>2</mass>", "<mass>2</mass><mass>3</mass>", "mass", "only the first one in `inertial` counts"),
        ("sdf", "<mass>2</mass>", "<mas>2</mas>", "mas", "did you mean `mass`?"),
        ("sdf", "<lower>-1</lower>", "<lowr>-1</lowr>", "lowr", "did you mean `lower`?"),
        ("sdf", "<static>", "<static ist='1'>", None, None),
        ("sdf", '<link name="b">', '<link nam="c" name="b">', "link nam", "did you mean `name`?"),
        (
            "sdf",
            "<pose>0.1 0 0.2",
            "<velocity_decay><linear>0.1</linear></velocity_decay><pose>0.1 0 0.2",
            "velocity_decay",
            "no medium",
        ),
    ],
)
def test_what_nobody_knows_is_a_warning(kind, old, new, what, why, tmp_path):
    before = noted(tmp_path, kind)
    after = noted(tmp_path, kind, old, new)
    if what is not None:
        assert why in after[what, DROPPED]
    assert [key for key in before if key[1] == DROPPED] == []


@pytest.mark.parametrize(
    ("kind", "old", "new", "what"),
    [
        ("mjcf", "", "", "joint margin"),
        ("mjcf", "", "", "geom friction"),
        ("mjcf", "", "", "option timestep"),
        ("mjcf", "", "", "position kp"),
        ("mjcf", "", "", "body user"),
        ("mjcf", "", "", "compiler texturedir"),
        ("urdf", "<axis xyz", "<deadBand/><axis xyz", "deadBand"),
        ("urdf", "effort=", "current='3' effort=", "limit current"),
        ("urdf", "<axis xyz", "<joint_properties damping='0.0'/><axis xyz", "joint_properties"),
        ("sdf", "<lower>-1", "<stiffness>1e8</stiffness><lower>-1", "stiffness"),
        ("sdf", "<static>", "<wind_mode>x</wind_mode><static>", "wind_mode"),
    ],
)
def test_what_moves_nothing_is_in_the_report(kind, old, new, what, tmp_path):
    assert (what, IGNORED) in noted(tmp_path, kind, old, new)


def test_links_of_sdf_without_gravity_bear_none(tmp_path):
    noted(tmp_path, "sdf")
    heavy = denoc.load(tmp_path / "m.sdf")
    said = noted(tmp_path, "sdf", "<pose>0.1", "<gravity>false</gravity><pose>0.1")
    assert ("gravity", CHANGED) in said
    light = denoc.load(tmp_path / "m.sdf")
    q, still = np.array([0.7]), np.zeros(1)
    assert abs(denoc.bias(heavy, q, still)[0]) > 0.5
    assert abs(denoc.bias(light, q, still)[0]) < 1e-14
    assert denoc.bias(light, q, np.ones(1)) == pytest.approx(
        denoc.bias(heavy, q, np.ones(1)) - denoc.bias(heavy, q, still)
    )


def test_joints_of_sdf_follow_others(tmp_path):
    more = """<joint name="k" type="prismatic"><parent>b</parent><child>c</child><axis><xyz>0 1 0</xyz>
      <initial_position>0.2</initial_position>
      <mimic joint="j"><multiplier>-2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic></axis></joint>
      <link name="c"><inertial><mass>1</mass></inertial></link></model>"""
    noted(tmp_path, "sdf", "</model>", more)
    robot = denoc.load(tmp_path / "m.sdf")
    (coupling,) = robot.couplings
    assert (coupling.leaders[0].ratio, coupling.offset) == (-2, pytest.approx(0.3 + 2 * 0.1))
    assert [joint.actuated for joint in robot.moving] == [True, False]
    assert robot.joint("k").initial == (0.2,)
    (warning,) = robot.warnings
    assert "static changed" in warning


def test_worlds_of_sdf_have_the_formats_own_gravity(tmp_path):
    world = SDF.replace("<model", "<world name='w'><model").replace("</model>", "</model></world>")
    for more, gravity in (
        ("", (0, 0, -9.8)),
        ("<gravity>0 0 -1</gravity>", (0, 0, -1)),
        ("<physics><gravity>0 0 -2</gravity></physics>", (0, 0, -2)),
    ):
        (tmp_path / "w.sdf").write_text(world.replace("<model", f"{more}<model"))
        assert denoc.load(tmp_path / "w.sdf").gravity == gravity


def test_inertias_made_of_collisions_are_refused(tmp_path):
    with pytest.raises(denoc.DenocError, match="made of collisions can't be read"):
        noted(tmp_path, "sdf", "<inertial>", '<inertial auto="true">')


def test_links_of_sdf_without_an_inertial_are_named(tmp_path):
    said = noted(tmp_path, "sdf", "<inertial><mass>2</mass><pose>0.1 0.2 0.3 0 0 0</pose></inertial>", "")
    assert "by the format it has 1 kg" in said["link", CHANGED]


@pytest.mark.parametrize(
    ("old", "new", "what", "fate", "why"),
    [
        ("FV = ", "Fv2 = {1}\nFV = ", "Fv2", DROPPED, "did you mean `FV`?"),
        ("FV = ", "colour = 3\nFV = ", "colour", IGNORED, "nothing refers to it"),
        ("FV = {0,0.2,0}", "FV {0,0.2,0}", "`FV {0,0.2,0}`", DROPPED, "it is no assignment"),
        ("FV = {0,0.2,0}", "FV = {0,0.2,0,3}", "FV", DROPPED, "more than 3 entries"),
    ],
)
def test_lines_of_symoro(old, new, what, fate, why, tmp_path):
    text = (FILES / "two-loops.par").read_text()
    (tmp_path / "x.par").write_text(text.replace(old, new))
    report = converted_from_any_format(tmp_path / "x.par").report
    assert why in next(one.why for one in report.entries.values() if (one.what, one.fate) == (what, fate))
    assert not list(converted_from_any_format(FILES / "two-loops.par").report.of(DROPPED))


def test_variables_of_redysim(tmp_path):
    text = (FILES / "arm3" / "inputs.m").read_text()
    (tmp_path / "inputs.m").write_text(text + "\nIcxz=[1;2;3];\nhelper=4;\nother=rand(3);\n")
    report = converted_from_any_format(tmp_path / "inputs.m").report
    fates = {one.what: (one.fate, one.why) for one in report.entries.values()}
    assert fates["Icxz"][0] == DROPPED
    assert "the robot needs it at most through others; did you mean `Icz" in fates["Icxz"][1]
    assert fates["helper"][0] == fates["other"][0] == IGNORED


@pytest.mark.parametrize("letter", ["\x7f", "\x80", "\xad", " ", "\u2028", "\ue000", "\ud7ff", "\U0001f600"])
def test_names_have_letters_that_can_be_seen(letter, tmp_path):
    """Whatever a name in another format's file has: the robot is read, and its names are names here."""
    (tmp_path / "m.urdf").write_text(f'<robot name="a{letter}b"><link name="c{letter}d"/></robot>', encoding="utf-8")
    robot = denoc.load(tmp_path / "m.urdf")
    for name in (robot.name, robot.links[0].name):
        assert name.isprintable()
        assert " " not in name
