"""`denoc verify`: fresh results pass, and whatever is changed in one of them afterwards is noticed by the right check."""

import hashlib
import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import denoc as package
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.scenario import carry_out_plan, prepare_scenario, stored_scenario_result
from denoc.study.verification import PEERS, Peer, verify_result
from denoc.study.verification import check as checking
from denoc.text import Change

FINGERS = """
name: fingers
convention: frames
gravity: [0, 0, -9.81]
links:
  - {name: a, joint: {name: A, type: prismatic, limits: [-1, 1], friction: {coulomb: 0.5}}, mass: 1, com: [0, 0, 0],
     inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: b, parent: base, joint: {name: B, type: prismatic, limits: [-1, 1], xyz: [1, 0, 0]}, mass: 1, com: [0, 0, 0],
     inertia: {xx: 1, yy: 1, zz: 1}}
"""
HARMONIC = {"law": "harmonic", "offset": 1, "amplitude": 3, "frequency": 2}
PUSHED = {"link": "link6", "force": [1, HARMONIC, 0], "moment": [0.1, 0, 0.2], "at": [0.1, 0.2, 0], "axes": "base"}
RUBBED = {"coulomb": 1.0, "viscous": 0.3}
# name → scenario, and what is changed in it: each has something else that acts on the joints
CASES = {
    "planar3r-idyn": {"time.step": 0.5},
    "rx90-idyn": {"time.step": 0.5},  # dry friction, rotors
    "elastic-arm-idyn": {"time.end": 0.1},  # springs, and accelerations that are sought
    "rx90-fall": {"time.end": 0.5},  # sticking
    "space-arm-drive": {"time.end": 0.3, "time.step": 0.05},  # a free base
    "puma-pd": {
        "time.end": 0.3,
        "time.step": 0.05,
        "wrenches": [PUSHED],
        "robot.wrenches": [{**PUSHED, "force": [0, 5, 0]}],
    },
    "four-bar-idyn": {"time.step": 0.05},
    "four-bar-fall": {"time.end": 0.05, "time.step": 0.005},
    "slider-crank-fall": {"time.end": 0.1, "robot.links.crank.joint.friction": RUBBED},
    "suspension-idyn": {"time.end": 0.1},  # drives, idle spins
    "carpet-scraper-fall": {"time.end": 0.05},  # two loops
    "andrews-drive": {"time.end": 0.002},  # springs between links, massless joints in the tree
}
CHEAP = ("planar3r-idyn", "rx90-fall", "four-bar-fall")


def written(name, folder):
    """The result of a case, in a folder of its own."""
    plan = prepare_scenario(name, changes=[Change(key, value, key, key) for key, value in CASES[name].items()])
    carry_out_plan(plan).write(folder, plot=False)
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Fresh results by name, which are made once; tests change copies of them."""
    home = tmp_path_factory.mktemp("results")
    return {name: written(name, home / name) for name in CHEAP}


@pytest.fixture
def copied(results, tmp_path):
    return lambda name: Path(shutil.copytree(results[name], tmp_path / name))


@pytest.fixture
def denoc(command_line):
    """Runs `denoc verify`: exit code, what it printed, what it complained of."""
    return partial(command_line, "verify")


def changed(folder, column, share, *, row=-2, repaired=True):
    """Changes one number by a share of its column's largest; repairs the table's checksum in the record."""
    (csv,) = folder.glob("*.csv")
    lines = csv.read_text().splitlines()
    table = np.array([line.split(",") for line in lines[1:]], dtype=float)
    k = lines[0].split(",").index(column)
    table[row, k] += share * (abs(table[:, k]).max() or 1.0)
    csv.write_text("\n".join([lines[0], *(",".join(f"{x:.17g}" for x in one) for one in table), ""]))
    if repaired:
        repair(folder)


def repair(folder):
    (file,) = folder.glob("*.json")
    record = json.loads(file.read_text())
    record["checksums"] = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in record["checksums"]
    }
    file.write_text(json.dumps(record))


def wrong(folder, *engines, **options):
    """The names of the checks that fail, with their means."""
    found = verify_result(stored_scenario_result(folder, unchanged=False), engines, **options)
    return [(check.name, check.by.split()[0]) for check in found.checks if not check.ok]


# ---- what is right


@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(6)
def test_fresh_results_pass(name, tmp_path):
    pytest.importorskip("pinocchio")
    found = verify_result(stored_scenario_result(written(name, tmp_path / name)), ["pinocchio"])
    assert [check for check in found.checks if not check.ok] == []
    names = [check.name for check in found.checks]
    loops = ["closure"] if package.load(prepare_scenario(name).robot.name).tied else []
    assert names == ["files", "columns", "motion", "motion", *loops, "energy"]
    for check in found.checks[2:4]:  # what is allowed is far from what is there
        assert check.worst.times < 0.1


def test_joints_that_stick_or_rest_at_a_stop_are_held_by_what_they_can_bear(tmp_path):
    scenario = {"name": "fall", "robot": "fingers", "task": "simulate", "time": {"end": 0.8, "step": 0.05}}
    result = package.run(scenario, package.loads(FINGERS))
    assert result.table["A.q"][-1] == result.table["B.q"][-1] == -1.0
    result.write(tmp_path, plot=False)
    assert wrong(tmp_path) == []
    # a stop can only push, away from itself, and a joint that slips has all of its dry friction
    for column, row, force in (("A.tau", -1, 20.0), ("A.tau", 3, 0.3), ("B.tau", 3, 0.3)):
        folder = Path(shutil.copytree(tmp_path, tmp_path.parent / f"{column}{row}"))
        changed(folder, column, force, row=row)
        assert ("motion", "plain") in wrong(folder)


GEARS = """
name: gears
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: one, parent: base, joint: {type: revolute, name: a}, mass: 1, com: [0.2, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: two, parent: base, joint: {type: revolute, name: b, xyz: [1, 0, 0]}, mass: 2, com: [0.1, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
couplings: [{joint: b, to: a, ratio: -2, offset: 0.3}]
"""
PUSHED_ROD = """
name: rod
convention: frames
gravity: [0, -9.81, 0]
links:
  - {name: rod, joint: {type: revolute, name: hinge, actuated: false}, mass: 2, com: [0.2, 0, 0],
     inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
actuators: [{name: thrust, link: rod, at: [0.5, 0, 0], direction: [0, 1, 0]}]
"""


@pytest.mark.parametrize(
    ("robot", "task", "joint"),
    [
        (GEARS, {"task": "simulate"}, "a"),
        (PUSHED_ROD, {"task": "inverse", "motion": {"hinge": {"law": "cycloid", "to": 1}}}, "hinge"),
    ],
    ids=["couplings", "actuators"],
)
def test_forces_that_are_not_those_of_joints(robot, task, joint, tmp_path):
    """The moment between two gears isn't in the columns, the force of a thruster is."""
    model = package.loads(robot)
    package.run({"name": "run", "robot": model.name, "time": {"end": 0.5, "step": 0.05}, **task}, model).write(
        tmp_path, plot=False
    )
    assert wrong(tmp_path) == []
    changed(tmp_path, f"{joint}.qdd", 1e-6)
    assert ("motion", "plain") in wrong(tmp_path)


def test_the_library_passes_with_every_engine_that_has_a_model_for_it(tmp_path, results):
    pytest.importorskip("mujoco")
    assert wrong(results["planar3r-idyn"], "mujoco") == []
    assert wrong(results["rx90-fall"], "mujoco") == []


def test_a_run_that_was_interrupted_is_as_far_as_it_came(copied):
    folder = copied("four-bar-fall")
    (csv,), (file,) = folder.glob("*.csv"), folder.glob("*.json")
    csv.write_text("".join(csv.read_text().splitlines(keepends=True)[:6]))
    repair(folder)
    assert wrong(folder) == [("columns", "plain")]
    file.write_text(json.dumps({**json.loads(file.read_text()), "ended": "interrupted"}))
    assert wrong(folder) == []


def test_a_sensitive_run_is_allowed_what_half_of_its_tolerances_change(tmp_path, monkeypatch):
    """Passing near a singular position, a run on another backend differs in its ninth digit."""
    changes = [Change("time.end", 1.0, "", ""), Change("time.step", 0.05, "", "")]
    with using_backend("compiled"):
        carry_out_plan(prepare_scenario("slider-crank-singular-fall", changes=changes)).write(tmp_path, plot=False)
    monkeypatch.setattr(checking, "GROWTH", 0.0)
    (columns,) = [check for check in verify_result(stored_scenario_result(tmp_path)).checks if check.name == "columns"]
    assert (columns.ok, columns.words.endswith("are allowed more")) == (True, True)
    changed(tmp_path, "crank.q", 1e-6)
    assert ("columns", "plain") in wrong(tmp_path)
    changed(tmp_path, "crank.q", -1e-6)
    monkeypatch.setattr(checking, "SENSITIVITY", 0.0)
    assert wrong(tmp_path) == [("columns", "plain")]


# ---- what is wrong

# column, the check that notices a change of a millionth of it; the rest of the run hides smaller changes of its numbers
NOTICED = {
    "planar3r-idyn": {"joint2.q": "motion", "joint2.qd": "motion", "joint1.qdd": "motion", "joint3.tau": "motion"},
    "rx90-fall": {"joint2.q": "motion", "joint2.qd": "energy", "joint5.qdd": "motion", "energy.kinetic": "energy"},
    "four-bar-fall": {"A.q": "closure", "B0.qd": "closure", "A0.qdd": "closure", "B.lambda.fx": "motion"},
}


@pytest.mark.parametrize(("name", "column"), [(name, column) for name in NOTICED for column in NOTICED[name]])
@pytest.mark.sampled(6)
def test_one_number_that_is_changed_is_noticed(name, column, copied):
    folder = copied(name)
    changed(folder, column, 1e-6)
    noticed = {check for check, _ in wrong(folder)}
    assert NOTICED[name][column] in noticed
    assert "files" not in noticed


def test_what_is_within_the_tolerance_is_not(copied):
    folder = copied("planar3r-idyn")
    changed(folder, "joint3.tau", 1e-6)
    assert wrong(folder, tolerance=1e-3) == []
    columns, motion = (
        check
        for check in verify_result(stored_scenario_result(folder), tolerance=1e-7).checks
        if check.name in ("columns", "motion")
    )
    assert [one.what for one in columns.differences] == ["joint3.tau"]
    assert "joint3.tau" in [one.what for one in motion.differences]  # and the accelerations that it would cause


def test_the_worst_place_is_shown(copied, denoc):
    folder = copied("planar3r-idyn")
    changed(folder, "joint3.tau", 0.5, row=4)
    code, out, err = denoc(folder)
    assert (code, err) == (1, "")
    assert "planar3r-idyn: NOT VERIFIED" in out
    (line,) = [line for line in out.splitlines() if "joint3.tau at t = 2 s" in line and "N m in the file" in line][:1]
    table = stored_scenario_result(folder).table["joint3.tau"]
    assert f"{table[4]:.9g} N m in the file" in line
    assert denoc(folder, "--quiet") == (1, "", "error: planar3r-idyn: not verified: columns, motion\n")


def test_a_file_that_is_not_the_one_that_was_written(copied, denoc):
    folder = copied("planar3r-idyn")
    robot = folder / "planar3r.robot.yaml"
    robot.write_text(robot.read_text() + "# a remark\n")
    assert wrong(folder) == [("files", "SHA-256")]
    code, out, _ = denoc(folder / "planar3r-idyn.json")
    assert code == 1
    assert "planar3r.robot.yaml: this is not the file that was written" in out
    robot.unlink()
    assert wrong(folder) == [("files", "SHA-256"), ("columns", "plain")]


def test_another_end_or_other_rows(copied):
    folder = copied("four-bar-fall")
    (file,) = folder.glob("*.json")
    record = json.loads(file.read_text())
    for change in (
        {"ended": "singularity"},
        {"events": [{"t": 0.1, "joint": "A", "event": "sticks", "then": "is held"}]},
    ):
        file.write_text(json.dumps(record | change))
        assert wrong(folder) == [("columns", "plain")]


def test_a_broken_balance_is_wrong_unless_it_was_accepted(tmp_path):
    solver = {"method": "rk4", "step": 0.1}
    for energy, found in (("judge", [("energy", "plain")]), ("accept", [])):
        changes = {"solver": {**solver, "energy": energy}, "time": {"end": 0.6, "step": 0.1}}
        plan = prepare_scenario("planar3r-fall", changes=[Change(key, value, "", "") for key, value in changes.items()])
        carry_out_plan(plan).write(tmp_path / energy, plot=False)
        assert wrong(tmp_path / energy) == found
    (note,) = verify_result(stored_scenario_result(tmp_path / "judge")).notes
    assert note.startswith("the run ended as `failed`: energy balance is off by")


# ---- other engines


def test_a_mass_that_was_changed(copied):
    pytest.importorskip("pinocchio")
    folder = copied("four-bar-fall")
    robot = folder / "four-bar.robot.yaml"
    text = robot.read_text()
    assert text.count("mass: ") >= 3
    robot.write_text(text.replace("mass: ", "mass: 1.001*", 1))
    repair(folder)
    noticed = wrong(folder, "pinocchio")
    assert {("columns", "plain"), ("motion", "plain"), ("motion", "Pinocchio")} <= {*noticed}


@pytest.mark.parametrize("name", CHEAP)
@pytest.mark.sampled(2)
def test_an_engine_that_disagrees(name, results, monkeypatch):
    """Another mass in the other engine alone is what only the other engine can notice."""
    pytest.importorskip("pinocchio")
    usual = PEERS["pinocchio"]

    def heavier(robot):
        *others, last = robot.tree.bodies
        return usual.make(
            replace(
                robot,
                tree=replace(
                    robot.tree, bodies=(*others, replace(last, m=1.0001 * last.m, h=tuple(1.0001 * x for x in last.h)))
                ),
                vouched=True,
            )
        )

    monkeypatch.setitem(PEERS, "pinocchio", Peer("Pinocchio", "pin", heavier))
    assert wrong(results[name], "pinocchio") == [("motion", "Pinocchio")]


def test_what_an_engine_cannot_do_is_said_before_anything_is_computed(results, denoc):
    code, out, err = denoc(results["planar3r-idyn"], "--with", "pinochio")
    assert (code, out) == (2, "")
    assert "did you mean `pinocchio`?" in err
    pytest.importorskip("mujoco")
    code, out, err = denoc(results["four-bar-fall"], "--with", "mujoco")
    assert (code, out) == (2, "")
    assert "four-bar: MuJoCo refuses this robot" in err  # its rods have no inertia about their own axes


# ---- what is no result


def test_what_is_no_result(copied, denoc, tmp_path):
    assert denoc(tmp_path)[0] == 2
    assert denoc(tmp_path / "nothing.csv")[0] == 2
    folder = copied("planar3r-idyn")
    record = folder / "planar3r-idyn.json"
    kept = json.loads(record.read_text())
    (folder / "planar3r-idyn.scenario.yaml").unlink()
    record.write_text(json.dumps({**kept, "checksums": {}}))
    code, _, err = denoc(folder)
    assert code == 2
    assert "no scenario of its own" in err
    record.write_text("{}")
    assert denoc(folder)[0] == 2


def test_columns_without_forces(tmp_path):
    scenario = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.1}, "record": {"torques": False}}
    package.run({**scenario, "name": "bare"}).write(tmp_path, plot=False)
    found = verify_result(stored_scenario_result(tmp_path))
    assert found.ok
    assert [check.name for check in found.checks] == ["files", "columns", "energy"]
    assert found.notes == ["the equations of motion were not checked: the result has no column `joint1.tau`"]
    pytest.importorskip("pinocchio")
    with pytest.raises(InputError, match="no column"):
        verify_result(stored_scenario_result(tmp_path), ["pinocchio"])


def test_the_document(copied, denoc):
    code, out, _ = denoc(copied("planar3r-idyn"), "--json")
    document = json.loads(out)
    assert (code, document["verified"], document["tolerance"], document["notes"]) == (0, True, 1e-9, [])
    assert [check["check"] for check in document["checks"]] == ["files", "columns", "motion", "energy"]


# ---- actuators that are no joint's


JET = """\
name: act
convention: frames
gravity: [0, -9.81, 0]
links:
  - name: rod
    joint: {type: revolute, name: hinge, actuated: false}
    mass: 1
    com: [0.5, 0, 0]
    inertia: {xx: 0.0001, yy: 0.0834, zz: 0.0834}
actuators: [{name: jet, link: rod, at: [1, 0, 0], direction: [0, 1, 0], axes: link, effort: {limits: [-6, 6]}}]
"""


def test_an_actuator_under_a_law_acts_once(tmp_path):
    law = {"law": "harmonic", "amplitude": 4, "frequency": 1, "offset": 4}
    scenario = {"robot": "act", "name": "push", "task": "simulate", "time": {"end": 1.5}, "forces": {"jet": law}}
    result = package.run(scenario, package.loads(JET))
    result.write(tmp_path, plot=False)
    assert [event["actuator"] for event in result.record["events"]] == ["jet"] * 4
    assert verify_result(stored_scenario_result(tmp_path)).ok
    for row in ("jet.force", "hinge.qdd"):  # and a wrong number of either is noticed
        table = (tmp_path / "push.csv").read_text().splitlines()
        column = table[0].split(",").index(row)
        cells = table[7].split(",")
        changed = ",".join([*cells[:column], str(float(cells[column]) + 0.01), *cells[column + 1 :]])
        (tmp_path / "push.csv").write_text("\n".join([*table[:7], changed, *table[8:], ""]))
        repair(tmp_path)
        assert not verify_result(stored_scenario_result(tmp_path)).ok, row
        (tmp_path / "push.csv").write_text("\n".join([*table, ""]))
        repair(tmp_path)


# ---- records that somebody has edited


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("audit.energy", "x"),
        ("audit.exchanged", []),
        ("audit.energy", float("nan")),
        ("audit.energy", 10**400),
        ("events", 5),
        ("events", [2.5]),
        ("events", [{"t": "now", "event": "stops"}]),
        ("warnings", {"a": 1}),
        ("undetermined", 1),
        ("files", [1.5, "a"]),
        ("files", "puma"),
        ("checksums", []),
        ("versions", "x"),
        ("input", [1]),
        ("input.record", "x"),
        ("ended", None),
        ("reason", 3),
        ("columns", {"a": 1}),
        ("robot", {"name": "x", "data": 5}),
        ("error", {"columns": 4}),
        ("error", {"columns": {"q": {"end": 1, "largest": 1, "limit": 0, "t": 0, "unit": ""}}, "doubtful": None}),
    ],
)
def test_a_record_of_another_shape_is_refused_where_it_is_read(key, value, copied):
    """Commands read records of others: each of their parts has its type before anything is made of it."""
    folder = copied("rx90-fall")
    (file,) = folder.glob("*.json")
    record = json.loads(file.read_text())
    *homes, last = key.split(".")
    home = record
    for step in homes:
        home = home[step]
    home[last] = value
    file.write_text(json.dumps(record))
    with pytest.raises(InputError, match="not a record of denoc") as told:
        stored_scenario_result(folder)
    assert str(file) in str(told.value)


def test_columns_that_the_record_describes_otherwise_are_named(copied):
    folder = copied("planar3r-idyn")
    (file,) = folder.glob("*.json")
    record = json.loads(file.read_text())
    first, second, third = [column for column in record["columns"] if column["name"].startswith("joint1.")][:3]
    names = {first["name"], second["name"], third["name"]}
    first["name"], second["name"], third["unit"] = "t", "other", "mm"
    file.write_text(json.dumps(record))
    found = verify_result(stored_scenario_result(folder))
    (columns,) = (check for check in found.checks if not check.ok)
    assert columns.name == "columns"
    assert {one.what for one in columns.differences} == names


@pytest.mark.parametrize("column", ["joint1.q", "joint1.qd", "joint2.tau"])
def test_a_column_that_is_gone_is_a_check_that_fails(column, copied, denoc):
    folder = copied("planar3r-idyn")
    (csv,) = folder.glob("*.csv")
    rows = [line.split(",") for line in csv.read_text().splitlines()]
    at = rows[0].index(column)
    csv.write_text("\n".join(",".join(row[:at] + row[at + 1 :]) for row in rows) + "\n")
    code, out, err = denoc(folder)
    assert (code, err) == (1, "")
    assert f"{column}: the column is missing" in out


@pytest.mark.parametrize("column", ["A.qd", "B.lambda.fx", "A0.tau"])
def test_a_number_too_large_to_compute_with_is_a_check_that_fails(column, copied, denoc):
    folder = copied("four-bar-fall")
    (csv,) = folder.glob("*.csv")
    rows = [line.split(",") for line in csv.read_text().splitlines()]
    rows[2][rows[0].index(column)] = "1e300"
    csv.write_text("\n".join(map(",".join, rows)) + "\n")
    code, out, err = denoc(folder)
    assert (code, err) == (1, "")
    assert column in out
