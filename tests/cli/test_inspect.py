"""`denoc inspect` of robots with loops, and its sketches."""

import json
from pathlib import Path

import pytest

import series

FOUR_BAR = """\
name: bars
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: crank, parent: base, joint: {name: A0, type: revolute, actuated: true}, mass: 1, com: [0.05, 0, 0],
     inertia: {xx: 0, yy: 0, zz: 0}}
  - {name: coupler, parent: crank, joint: {name: A, type: revolute, xyz: [0.1, 0, 0]}, mass: 3, com: [0.15, 0, 0],
     inertia: {xx: 0, yy: 0, zz: 0}}
  - {name: rocker, parent: base, joint: {name: B0, type: revolute, xyz: [0.28, 0, 0]}, mass: 2, com: [0.12, 0, 0],
     inertia: {xx: 0, yy: 0, zz: 0}}
loops:
  - {name: B, joint: revolute, between: [coupler, rocker], first: {at: [0.3, 0, 0]}, second: {at: [0.25, 0, 0]}}
assembly: {A: 56 deg, B0: 93 deg}
"""
STUB = "  - {name: stub, parent: base, joint: {name: C0, type: prismatic, actuated: true}, mass: 1, com: [0, 0, 0]}\n"
BLOCK = "  - {name: C, joint: fixed, between: [base, stub]}\n"
SCENARIO = "robot: bars\ntask: simulate\ntime: {end: 0.1, step: 0.05}\n"


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs the command: exit code, what it printed, what it complained of; lines aren't broken."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("DENOC_DEBUG", "1")

    def command(*words, robot=FOUR_BAR):
        Path("bars.yaml").write_text(robot)
        return command_line(*words)

    return command


def facts(denoc, robot=FOUR_BAR, name="bars"):
    code, out, _ = denoc("inspect", name, "--json", robot=robot)
    assert code == 0
    return json.loads(out)


def test_a_loop_is_shown_where_it_closes(denoc):
    code, out, err = denoc("inspect", "bars", "--strict")
    assert (code, err) == (0, "")
    for text in (
        "B (revolute, cut) ╌╌ rocker",
        "loop B: a revolute cut between coupler and rocker",
        "0.98288",  # of A, assembled
        "3 links, 1 independent loop;",
        "mobility 1 (by rank, where the loops are closed); Kutzbach's count 6 (n − 1 − j) + Σ f: −2, because 3 "
        "constraints are redundant",
        "no rigid-body model can determine the force along z and the moments along x and y in B",
        "minimum norm",
        "1 actuator for 1 freedom",
        "solved in the order I + II",
        "3 × 3, determinate: crank, coupler; rocker",
        "smallest scaled singular value: 0.34",
        "no warnings",
    ):
        assert text in out
    told = facts(denoc)
    assert told["degrees_of_freedom"] == 1
    assert told["loops"][0]["between"] == ["coupler", "rocker"]
    assert told["loops"][0]["gap"]["m"] < 1e-12
    found = told["mobility"]
    assert (found["freedoms"], found["kutzbach"], found["redundant"], found["surplus"]) == (1, -2, 3, 0)
    assert found["undetermined"] == [
        {"loop": "B", "forces": ["z"], "moments": ["x", "y"], "other": False, "others": []}
    ]


def test_the_papers_order_of_subsystems(denoc):
    out = denoc("inspect", "carpet-scraper")[1]
    assert "solved in the order III → I → II" in out
    found = facts(denoc, name="carpet-scraper")["mobility"]["subsystems"]
    assert [(one["equations"], one["unknowns"], one["determinate"]) for one in found] == [
        (4, 4, True),
        (2, 2, True),
        (1, 1, True),
    ]


def test_groups_for_forward_dynamics_are_named(denoc):
    assert (
        "forward dynamics: the loops hold all bodies together, so that there is one system, with 1 freedom"
        in denoc("inspect", "carpet-scraper")[1]
    )
    text = series.in_series(4)
    out = denoc("inspect", "bars", robot=text.replace("name: four-bars", "name: bars"))[1]
    assert "forward dynamics by 4 subsystems with loops: of at most 3 speeds, with pivots of at most 1 × 1" in out


def test_idle_spin_of_a_rod(denoc):
    out = denoc("inspect", "rssr")[1]
    assert "mobility 2 " in out
    assert "idle spin: link2 about its own axis, in joint2" in out
    assert "1 actuator for 1 freedom (idle spins not counted)" in out


def test_a_loop_that_cannot_close_is_a_warning_here_and_an_error_of_runs(denoc):
    robot = FOUR_BAR.replace("xyz: [0.28, 0, 0]", "xyz: [2.28, 0, 0]")
    code, out, _ = denoc("inspect", "bars", robot=robot)
    assert code == 0
    assert "warning: the loops can't be closed from the initial position: `B` stays open by 1630 mm and 0°" in out
    assert "by rank: not closed" in out
    assert denoc("inspect", "bars", "--strict", robot=robot)[0] == 1
    told = facts(denoc, robot)
    assert told["degrees_of_freedom"] is None
    assert told["loops"][0]["gap"]["m"] == pytest.approx(1.63)
    Path("fall.yaml").write_text(SCENARIO)
    for words in (["run", "fall"], ["idyn", "bars"]):
        code, _, err = denoc(*words, robot=robot)
        assert code == 3
        assert "`B` by 1630 mm" in err
    assert not Path("outputs").exists()


def test_fewer_actuators_than_freedoms(denoc):
    robot = FOUR_BAR.replace(", actuated: true", "")
    code, out, _ = denoc("inspect", "bars", robot=robot)
    assert code == 0
    assert "warning: 1 freedom of 1 is moved by no actuator (actuated: nothing)" in out
    code, _, err = denoc("idyn", "bars", robot=robot)
    assert code == 2
    assert "bars has 1 freedom (idle spins not counted), of which its actuators move 0" in err
    Path("fall.yaml").write_text(SCENARIO)
    assert denoc("run", "fall", "--no-plot", robot=robot)[0] == 0


def test_more_actuators_than_freedoms_are_no_warning(denoc):
    robot = FOUR_BAR.replace("name: B0, type: revolute", "name: B0, type: revolute, actuated: true")
    code, out, _ = denoc("inspect", "bars", "--strict", robot=robot)
    assert code == 0
    assert "2 actuators for 1 freedom, redundant by 1" in out
    assert denoc("idyn", "bars", "--no-plot", robot=robot)[0] == 0


def test_an_actuator_that_moves_nothing(denoc):
    robot = FOUR_BAR.replace("loops:\n", STUB + "loops:\n" + BLOCK)
    code, out, _ = denoc("inspect", "bars", robot=robot)
    assert code == 0
    assert "warning: the actuator of `C0` moves nothing" in out
    code, _, err = denoc("idyn", "bars", robot=robot)
    assert code == 2
    assert "the actuator of `C0` moves nothing" in err


def test_near_a_singular_position(denoc):
    robot = FOUR_BAR.replace("name: A0, type: revolute, actuated: true", "name: A0, type: revolute").replace(
        "name: B0, type: revolute", "name: B0, type: revolute, actuated: true"
    )
    # crank and coupler in line: the rocker can't move the crank
    robot = robot.replace("assembly: {A: 56 deg, B0: 93 deg}", "assembly: {A0: 38.0475 deg, A: 0, B0: 99.6 deg}")
    assert "warning" in denoc("inspect", "bars", robot=robot)[1]


def test_couplings_and_actuators_are_told(denoc):
    robot = FOUR_BAR.split("loops:")[0] + "couplings:\n  - {joint: B0, to: A0, ratio: -2, offset: 90 deg}\n"
    robot += "actuators:\n  - {name: push, link: coupler, direction: [0, 2, 0], axes: base}\n"
    out = denoc("inspect", "bars", robot=robot)[1]
    assert "coupling: B0 = -2 × A0 + 1.5708" in out
    assert "actuator push: a force along [0, 1, 0] (base axes) on coupler" in out
    assert "mobility 2 " in out
    robot += "springs: [{name: cord, joints: {A0: 2, A: -1}, stiffness: 5, rest: 20 deg}]\n"
    words = "spring cord: stiffness 5, damping 0, rest 0.349066, over 2 × A0 + -1 × A"
    assert words in denoc("inspect", "bars", robot=robot)[1]
    found = facts(denoc, robot)
    assert found["springs"][0] | {"rest": 0} == {
        "name": "cord", "joints": {"A0": 2.0, "A": -1.0}, "stiffness": 5.0, "rest": 0, "slack": 0.0, "damping": 0.0
    }  # fmt: skip
    assert found["couplings"] == [{"joint": "B0", "to": "A0", "ratio": -2.0, "offset": pytest.approx(1.5708, abs=1e-4)}]
    assert found["mobility"]["kutzbach"] == 2


@pytest.mark.parametrize("name", ["puma", "stanford", "bars", "space-arm", "spherical-arm", "gough-stewart", "tree"])
@pytest.mark.sampled(4)
def test_sketch(denoc, name):
    code, out, _ = denoc("inspect", name, "--plot")
    assert code == 0
    file = Path("outputs") / name / f"{name}-sketch.png"
    assert str(file) in out
    assert file.stat().st_size > 20_000
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_sketch_elsewhere(denoc):
    code, out, _ = denoc("inspect", "bars", "--plot", "--format", "svg", "--out", "there", "--json")
    assert code == 0
    assert json.loads(out)["files"] == [str(Path("there/bars/bars-sketch.svg"))]
    assert Path("there/bars/bars-sketch.svg").read_text().startswith("<?xml")
    Path("file").write_text("")
    assert denoc("inspect", "bars", "--plot", "--out", "file")[0] == 2


def test_massless_joints_are_warned_of_by_name(denoc):
    """A massless leaf link on a moving joint: forces of a motion exist, accelerations don't."""
    text = "name: leaf\nconvention: dh\nlinks:\n" + "".join(
        f"  - {{name: {name}, joint: {{name: {name}, type: revolute, a: 1}}, mass: {mass}, com: [0.5, 0, 0]}}\n"
        for name, mass in (("arm", 1), ("finger", 0))
    )
    Path("leaf.yaml").write_text(text)
    code, out, _ = denoc("inspect", "leaf.yaml", "--strict")
    assert code == 1
    assert "`finger` has nothing to accelerate" in " ".join(out.split())
    assert "no warnings" not in out


def test_placements_and_all_digits_whatever_the_width(denoc, monkeypatch):
    """The coupler's joint is at the crank's end; a narrow terminal takes no digit away."""
    wide = denoc("inspect", "bars")[1]
    monkeypatch.setenv("COLUMNS", "20")
    assert denoc("inspect", "bars")[1] == wide
    assert "in the frame of" in wide
    assert "…" not in wide
    turned = FOUR_BAR.replace("xyz: [0.28, 0, 0]", "xyz: [0.28, 0, 0], rpy: [0, 0, 90 deg]")
    placement = {link["joint"]: link["placement"] for link in facts(denoc, turned)["links"]}
    assert placement["B0"]["xyz"] == [0.28, 0, 0]
    assert placement["B0"]["rpy"] == pytest.approx([0, 0, 1.5707963267948966])
