"""Numbers that hardly anybody means are warned of at their place; what is meant, and rounding, is not."""

import pytest

import denoc
from denoc.text import library_folder

ARM = """
name: arm
convention: dh
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: shoulder, a: 0.5, alpha: 0}
    mass: 6
    com: [-0.25, 0, 0]
    inertia: {xx: 0.01, yy: 0.13, zz: 0.13}
  - name: lower
    joint: {type: prismatic, name: slide, a: 0.1, b: 0.2}
    mass: 1
    com: [0, 0, 0]
    inertia: {xx: 0.01, yy: 0.01, zz: 0.01}
"""
BASE = {"task": "inverse", "time": {"end": 1, "step": 0.01}}
MISTAKES = {  # what is written → its replacement, what the warning says, and the line it names
    "alpha in degrees": ("alpha: 0", "alpha: 90", "joint.alpha: 90 without a unit is in radians, which are 14.3 turns", 7),
    "theta in degrees": ("alpha: 0", "theta: -45", "joint.theta: -45 without a unit", 7),
    "no inertia": ("    inertia: {xx: 0.01, yy: 0.13, zz: 0.13}\n", "", "a link of 6 kg without `inertia` is a point mass", 6),
    "inertia in kg mm2": ("yy: 0.13, zz: 0.13", "yy: 1.3e5, zz: 1.3e5", "a moment of inertia is 8.7e+04 times mass", 10),
    "com in mm": ("com: [-0.25, 0, 0]", "com: [-250, 0, 0]", "the mass centre is 250 m from the link's origin", 9),
    "gravity upwards": ("[0, -9.81, 0]", "[0, 0, 9.81]", "gravity points upwards: 9.81 m/s²", 4),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_each_is_warned_of_at_its_place(what):
    old, new, says, line = MISTAKES[what]
    assert not denoc.loads(ARM).warnings
    (warning,) = denoc.loads(ARM.replace(old, new)).warnings
    assert says in warning
    assert warning.startswith(f"<text>:{line}:")


@pytest.mark.parametrize("meant", ["720 deg", "4*pi", "6.28", "-2*pi"])
def test_what_is_meant_is_no_warning(meant):
    assert not denoc.loads(ARM.replace("alpha: 0", f"alpha: {meant}")).warnings


def test_a_mass_centre_beyond_the_end_is_doubted_where_the_sign_of_r_is_another_books():
    """A link of 0.5 m along x whose mass centre is 0.25 m before its end; other books call that (−0.25, 0, 0)."""
    papers, others = (denoc.loads(ARM.replace("com: [-0.25, 0, 0]", f"r: [{x}, 0, 0]")) for x in (0.25, -0.25))
    assert not papers.warnings
    assert "the mass centre lies beyond the link's end" in others.warnings[0]
    assert others.warnings[0].startswith("<text>:9:")
    theirs = denoc.loads(ARM.replace("com: [-0.25, 0, 0]", "com: [-0.25, 0, 0]\n    com_from: end"))
    assert not theirs.warnings
    assert theirs.link("upper").com == pytest.approx(papers.link("upper").com, abs=1e-15) == (0.25, 0.0, 0.0)


def test_the_end_frame_is_that_of_the_convention_dh():
    for old, new in (("com: [-0.25, 0, 0]", "com_from: end"), ("dh", "khalil")):
        text = ARM.replace("com: [-0.25, 0, 0]", "com: [-0.25, 0, 0]\n    com_from: end").replace("a: 0.5", "d: 0.5")
        with pytest.raises(denoc.DenocError):
            denoc.loads(text.replace("d: 0.5", "a: 0.5").replace(old, new))


def test_zeros_say_that_a_mass_is_a_point():
    assert not denoc.loads(ARM.replace("{xx: 0.01, yy: 0.13, zz: 0.13}", "{xx: 0, yy: 0, zz: 0}")).warnings


@pytest.mark.parametrize(
    "noise", ["{xx: 2.71051e-20, yy: 4.9e-21, zz: 3.5e-20}", "{xx: -5.42101e-20, yy: 0, zz: 0}"], ids=["sum", "sign"]
)
def test_rounding_is_no_warning(noise):
    assert not denoc.loads(ARM.replace("{xx: 0.01, yy: 0.01, zz: 0.01}", noise)).warnings
    real = noise.replace("e-20", "e-3").replace("e-21", "e-4")
    assert "no body can have" in denoc.loads(ARM.replace("{xx: 0.01, yy: 0.01, zz: 0.01}", real)).warnings[0]


@pytest.mark.parametrize("path", sorted(library_folder("robots").glob("*.yaml")), ids=lambda path: path.stem)
def test_no_robot_of_the_library_is_doubted(path):
    assert not denoc.load(path).warnings


def test_what_cannot_turn_needs_no_inertia():
    """A carriage that slides; what turns on it does need one."""
    carriage = """
name: gantry
convention: frames
links:
  - {name: carriage, joint: {type: prismatic, name: x, axis: [1, 0, 0], xyz: [1, 0, 0]}, mass: 6, com: [0, 0, 0]}
"""
    arm = "  - {name: arm, joint: {type: revolute, name: turn}, mass: 2, com: [0.1, 0, 0]}\n"
    assert not denoc.loads(carriage).warnings
    (warning,) = denoc.loads(carriage + arm).warnings
    assert "a link of 2 kg without `inertia`" in warning


def test_initial_angles_and_orientations_in_degrees_are_warned_of():
    text = (
        ARM.replace("dh", "frames").replace("a: 0.5, alpha: 0", "initial: 30, rpy: [0, 90, 0]").replace(", b: 0.2", "")
    )
    text = text.replace("a: 0.1", "xyz: [0.5, 0, 0]")
    told = [warning.split("\n")[0] for warning in denoc.loads(text).warnings]
    assert ["joint.rpy[1]: 90 " in told[0], "joint.initial: 30 " in told[1], len(told)] == [True, True, 2]


def test_goals_in_degrees_are_warned_of():
    robot = denoc.loads(ARM)
    goals = {"shoulder": {"law": "cycloid", "to": 60}, "slide": {"law": "cycloid", "to": 60}}
    (warning,) = denoc.run({**BASE, "motion": goals}, robot).record["warnings"]
    assert warning.startswith("motion.shoulder.to: 60 without a unit")
    goals["shoulder"]["to"] = "60 deg"
    assert not denoc.run({**BASE, "motion": goals}, robot).record["warnings"]
    found = denoc.run({**BASE, "motion": goals, "initial": {"shoulder": 10}}, robot).record["warnings"]
    assert any(text.startswith("initial.shoulder: 10 without a unit") for text in found)


def test_what_other_books_and_formats_say_is_answered():
    hints = {
        ("a: 0.5, alpha: 0", "a: 0.5, d: 0.1"): "the offset along the joint's z is `b` here; most books call it `d`",
        ("a: 0.5, alpha: 0", "limits: [1, -1]"): "write [-1, 1]",
        ("a: 0.5, alpha: 0", "limits: [1, 1]"): "a joint that keeps still is `type: fixed`",
        ("name: upper", "name: base"): "its children have `parent: base`",
        ("a: 0.5, alpha: 0", "armature: 0.1"): "that is `rotor_inertia` here",
        ("a: 0.5, alpha: 0", "lower: -1"): "that is `limits: [low, high]` here",
        ("mass: 6", "m: 6"): "that is `mass` here",
        ("xx: 0.01, yy: 0.13", "ixx: 0.01, yy: 0.13"): "that is `xx` here",
        ("convention: dh", "convention: khalil"): "the distance along x is `d` here",
    }
    for (old, new), hint in hints.items():
        with pytest.raises(denoc.DenocError) as refused:
            denoc.loads(ARM.replace(old, new))
        assert hint in str(refused.value)


@pytest.mark.parametrize("x", ["-1e300", "1e-300"])
def test_lengths_whose_squares_are_no_numbers(x):
    """Of a point that nobody uses: the robot is read all the same."""
    text = library_folder("robots").joinpath("three-rrr.yaml").read_text(encoding="utf-8")
    assert "B2: [0.4, 0, 0]" in text
    assert denoc.loads(text.replace("B2: [0.4, 0, 0]", f"B2: [{x}, 0, 0]")).nv == 7
