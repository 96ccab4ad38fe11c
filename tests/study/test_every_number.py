"""Studies' runs are the runs by themselves, whichever number of a robot or a scenario of the library differs."""

import os
import re

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.backend import using_backend
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.study.run_blocks import blocks_of_variations
from denoc.text import Change, find_library_file, library_names

END = 0.1  # of a run, in s; that is when lanes part that read another run's numbers
ROWS = 4
SEEDED = 12  # leaves of the whole library, in the usual run of the tests
WITH_A_UNIT = re.compile(r"([-+]?\d+(?:\.\d+)?) ([a-zA-Z][\w/*^ ]*)")
FREE = ("time", "name", "about", "expect", "replay", "plots", "record")  # nothing of these reaches the equations


def leaves(value, path=()):
    """Numbers, and texts that are numbers with units, by their places."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, list):
        for k, one in enumerate(value):
            yield from leaves(one, (*path, one["name"] if isinstance(one, dict) and "name" in one else k))
    elif is_a_number(value):
        yield path, value


def is_a_number(value):
    if isinstance(value, str):
        return WITH_A_UNIT.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def another(key, x):
    """A value near x."""
    if isinstance(x, str):
        number, unit = WITH_A_UNIT.fullmatch(x).groups()
        return f"{float(number) * 1.01 + 1e-3} {unit}"
    return x + 1 if isinstance(x, int) and "solver" in key else x * 1.01 + 1e-3


def every():
    """(scenario, key, its value, another value) of all numeric leaves of the library's scenarios and their robots."""
    found = []
    for name in library_names("scenarios"):
        scenario = yamls.load(find_library_file(name, "scenarios").read_text())
        robot = yamls.load(find_library_file(scenario["robot"], "robots").read_text())
        places = [(where, x) for where, x in leaves(scenario) if where[0] not in FREE]
        places += [(("robot", *where), x) for where, x in leaves(robot)]
        for where, x in places:
            key = ".".join(str(step) for step in where)
            found.append((name, key, x, another(key, x)))
    return found


ALL = every()
CHOSEN = range(len(ALL))
if not os.environ.get("DENOC_ALL_LEAVES"):
    CHOSEN = sorted(np.random.default_rng(9).choice(len(ALL), SEEDED, replace=False).tolist())


def outcome(call):
    try:
        return call()
    except denoc.DenocError as error:
        return type(error), str(error).split("variations[")[0]


@pytest.mark.parametrize("k", CHOSEN)
@pytest.mark.sampled(2)
def test_lanes_are_runs_alone(k):
    name, key, own, value = ALL[k]
    short = {"time.end": END, "time.step": END / ROWS}
    variations = [short | {key: own}, short | {key: value}]
    with using_backend("compiled"):
        alone = outcome(lambda: [denoc.ensemble(name, [one])[0] for one in variations])
        lanes = outcome(lambda: denoc.ensemble(name, variations))
    if isinstance(alone, tuple) or isinstance(lanes, tuple):
        assert alone == lanes, key
        return
    for one, other in zip(alone, lanes):
        assert (one.ended, one.record["reason"]) == (other.ended, other.record["reason"]), key
        assert one.record["warnings"] == [
            text.replace("variations[1]", "variations[0]") for text in other.record["warnings"]
        ]
        assert [event["event"] for event in one.record["events"]] == [
            event["event"] for event in other.record["events"]
        ]
        assert list(one.table) == list(other.table)
        loose = set(one.record["undetermined"])
        for column in one.columns:
            if column.name in loose or column.name == "energy.residual":
                continue
            off = abs(one.table[column.name] - other.table[column.name])
            assert np.nanmax(off, initial=0.0) <= 1e-10 * size(one, column), (key, column.name)


def size(result, column):
    """The largest number in all columns of this kind."""
    same = [c.name for c in result.columns if (c.family, c.unit) == (column.family, column.unit)]
    return max(1e-3, *(np.nanmax(abs(result.table[name])) for name in same))


# ---- a study of one point


# the motions aren't those of the actuated joints, and rods spin idly: what is sought isn't in the equations of the run
IDLE_ROD = {
    "robot": "rssr",
    "task": "inverse",
    "time": {"end": 0.2, "step": 0.05},
    "motion": {"joint4": {"law": "cycloid", "from": "122.09843 deg", "to": "110 deg"}},
}
SOUGHT = {"idle rod": IDLE_ROD, "suspension-bounce": "suspension-bounce", "suspension-idyn": "suspension-idyn"}


def is_its_run(scenario):
    """Compares studies of one point with what `denoc run` computes there, in every column and row."""
    short = {"time.end": 0.2, "time.step": 0.05}
    robot = prepare_scenario(scenario).robot
    entries = [one for one in robot.document.data["links"] if "mass" in one]  # and not those under `repeat`
    key = f"robot.links.{entries[0]['name']}.mass" if entries else "robot.gravity.2"
    own = robot.link(entries[0]["name"]).mass if entries else robot.gravity[2]
    for value in (own, 1.1 * own):
        changes = [Change(k, x, k) for k, x in {**short, key: value}.items()]
        alone = carry_out_plan(prepare_scenario(scenario, None, changes))
        columns = [one for one in alone.columns if one.name not in {*alone.record["undetermined"], "energy.residual"}]
        study = {
            "scenario": scenario,
            "set": short,
            "vary": {"x": {"key": key, "list": [value]}},
            "keep": {"last": {"column": columns[0].name, "take": "final"}},
            "rows": [one.name for one in columns],
        }
        swept = denoc.sweep(study)
        assert list(swept["ended"]) == [alone.ended]
        for column in columns:
            off = abs(np.array(swept.rows[column.name]) - alone.table[column.name])
            assert np.nanmax(off, initial=0.0) <= 1e-8 * size(alone, column), column.name


@pytest.mark.parametrize("name", SOUGHT)
def test_a_study_seeks_the_forces_that_a_run_seeks(name, tmp_path):
    scenario = SOUGHT[name]
    if isinstance(scenario, dict):
        (tmp_path / "own.yaml").write_text(yamls.dump(scenario))
        scenario = str(tmp_path / "own.yaml")
    is_its_run(scenario)


def test_rods_that_spin_idly_start_as_they_do_alone():
    """The tie rod begins without momentum about its axis, so its spin depends on where its mass is."""
    key, short = "robot.links.tie-rod.com.0", {"time.end": END, "time.step": END / ROWS}
    variations = [{**short, key: x} for x in (0.005, 0.006, 0.007)]
    alone = [
        carry_out_plan(prepare_scenario("suspension-bounce", None, [Change(k, x, k) for k, x in one.items()]))
        for one in variations
    ]
    assert len({float(one["inner.wy"][0]) for one in alone}) == 3
    for found, expected in zip(denoc.ensemble("suspension-bounce", variations), alone):
        assert abs(found["inner.wy"] - expected["inner.wy"]).max() < 1e-8
    for block in blocks_of_variations("suspension-bounce", variations):
        for place, values in zip(block.places, block.columns["inner.wy"]):
            assert abs(values - alone[place]["inner.wy"]).max() < 1e-8


@pytest.mark.parametrize("masses", [(0.0, 0.5), (0.5, 0.0)])
def test_a_mass_without_a_centre_is_refused_beside_other_runs_too(masses):
    variations = [{"robot.links.place-y.mass": x, "time.end": END} for x in masses]
    with pytest.raises(denoc.DenocError, match="the mass centre is missing"):
        list(blocks_of_variations("gough-stewart-fall", variations))


@pytest.mark.parametrize("name", library_names("scenarios"))
@pytest.mark.sampled(4)
def test_a_study_of_one_point_is_its_run(name):
    is_its_run(name)
