"""Many runs whose numbers alone differ: planned once, each checked, judged and recorded as it is by itself."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.machine.backend import native, using_backend
from denoc.study import variations as planning

FALL = {"robot": "puma", "task": "simulate", "time": {"end": 0.2, "step": 0.05}}
SPRUNG = """
name: sprung
convention: frames
gravity: [0, 2, -9.81]
links:
- name: upper
  joint: {type: revolute, axis: [0, 1, 0], friction: {viscous: 0.2}, spring: {stiffness: 3.0, rest: 0.1, damping: 0.1}}
  mass: 2.0
  first_moments: [0.2, 0.0, 0.4]
  inertia: {xx: 0.3, yy: 0.3, zz: 0.2}
  about: origin
- name: slider
  joint: {type: prismatic, axis: [1, 0, 0], xyz: [0.5, 0, 0], rotor_inertia: 0.3}
  mass: 1.0
  com: [0.1, 0.0, 0.2]
  inertia: {xx: 0.01, yy: 0.01, zz: 0.01}
- name: tool
  joint: {type: fixed, xyz: [0, 0, 0.3]}
  mass: 0.5
  com: [0.0, 0.1, 0.0]
  inertia: {xx: 0.001, yy: 0.001, zz: 0.001}
"""


def alone(scenario, variation, robot=None):
    return denoc.ensemble(scenario, [variation], robot)[0]


def searches(result):
    """Whether joints of a result's robot may stick."""
    return any("friction" in link.get("joint", {}) for link in result.record["robot"]["data"]["links"])


def same(found, expected):
    """Whether two results agree in everything that a user sees."""
    assert (found.name, found.ended, found.plots) == (expected.name, expected.ended, expected.plots)
    assert list(found.table) == list(expected.table)
    assert found.columns == expected.columns
    assert (found.t == expected.t).all()
    units = {column.name: (column.family, column.unit) for column in expected.columns}
    for column, values in expected.table.items():
        if column == "energy.residual":  # which is rounding here
            continue
        size = max(abs(expected.table[one]).max() for one in units if units[one] == units[column])
        assert abs(found.table[column] - values).max() <= 1e-10 * max(size, 1e-3), column
    for key, value in expected.audit.items():
        if key == "evaluations" and searches(expected):
            continue  # the modes at a start or behind an event are found with other evaluations
        assert found.audit[key] == (value if value is None else pytest.approx(value, rel=1e-6, abs=1e-9)), key
    drop = ("audit", "code", "seconds", "set", "events")
    assert [event | {"t": pytest.approx(event["t"], abs=1e-12)} for event in expected.record["events"]] == found.record[
        "events"
    ]
    assert set(found.record) == set(expected.record)
    assert {k: v for k, v in found.record.items() if k not in drop} == {
        k: v for k, v in expected.record.items() if k not in drop
    }
    assert found.record["audit"] == found.audit


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("robot.links.upper.mass", (2.0, 2.5, 3.0)),
        ("robot.links.upper.first_moments.2", (0.4, 0.5, -0.3)),
        ("robot.links.upper.inertia.yy", (0.3, 0.35, 0.4)),
        ("robot.links.slider.com.0", (0.1, 0.3, -0.2)),
        ("robot.links.tool.mass", (0.5, 0.7, 0.9)),
        ("robot.links.tool.com.1", (0.1, 0.2, 0.3)),
        ("robot.links.upper.joint.friction.viscous", (0.2, 0.4, 5.0)),
        ("robot.links.upper.joint.spring.damping", (0.1, 0.4, 5.0)),
        ("robot.links.upper.joint.spring.stiffness", (3.0, 0.4, 50.0)),
        ("robot.links.upper.joint.spring.rest", (0.1, 0.4, -0.7)),
        ("robot.links.slider.joint.rotor_inertia", (0.3, 0.4, 5.0)),
        ("robot.links.slider.joint.xyz.0", (0.5, 0.4, 0.7)),
        ("robot.links.slider.joint.xyz", ([0.5, 0, 0], [0.4, 0.1, 0], [0.7, 0, -0.1])),
        ("robot.links.tool.joint.rpy", ([0, 0.2, 0], [0.1, 0.4, 0], [0, -1.1, 0.3])),
        ("initial.joint1", (0.0, 0.4, -2.0)),
        ("rates.joint2", (0.3, 0.4, -2.0)),
        ("forces.joint2.value", (0.0, 0.4, -2.0)),
    ],
)
@pytest.mark.sampled(8)
def test_every_kind_of_number_gives_the_run_by_itself(key, values, monkeypatch):
    robot = denoc.loads(SPRUNG)
    scenario = {
        "task": "simulate",
        "time": {"end": 0.3, "step": 0.05},
        "initial": {"joint1": 0.2},
        "rates": {"joint2": 1},
        "forces": {"joint1": {"law": "constant", "value": 1}, "joint2": {"law": "constant", "value": 1}},
    }
    variations = [{key: x} for x in values]
    with using_backend("compiled"):
        planned = count_plans(monkeypatch)
        together = denoc.ensemble(scenario, variations, robot)
        assert len(planned) == 1
        for found, variation in zip(together, variations):
            same(found, alone(scenario, variation, robot))
    assert len({(*result.table["joint1.q"], *result.table["energy.total"]) for result in together}) == (
        1 if key == "robot.links.upper.mass" else len(values)  # first moments and inertia about the joint are given
    )


def count_plans(monkeypatch):
    """A list that gets an entry for each variation that is planned in full."""
    planned, plan = [], planning.plan_of_scenario
    monkeypatch.setattr(planning, "plan_of_scenario", lambda *given: planned.append(1) or plan(*given))
    return planned


def test_one_run_of_a_structure_is_planned(monkeypatch):
    planned = count_plans(monkeypatch)
    variations = [{"robot.links.link2.mass": 15 + 0.1 * k, "rates.joint1": 0.1 * k} for k in range(20)]
    results = denoc.ensemble(FALL, variations)
    assert len({result.table["joint2.q"][-1] for result in results}) == len(results)
    assert all(result.audit["energy"] < 1e-6 for result in results)
    assert len(planned) == 1
    assert results[7].record["robot"]["data"]["links"][1]["mass"] == variations[7]["robot.links.link2.mass"]
    assert len(planned) == 2


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), True, None, "3 m", [1.0]])
def test_each_value_is_checked_at_its_place(value):
    variations = [{"robot.links.link2.mass": 15.0 + k} for k in range(4)]
    variations[2] = {"robot.links.link2.mass": value}
    with pytest.raises(InputError, match=r"variations\[2\]: robot\.links\.link2\.mass") as together:
        denoc.ensemble(FALL, variations)
    with pytest.raises(InputError) as by_itself:
        denoc.ensemble(FALL, [variations[2]])
    assert str(together.value) == str(by_itself.value).replace("variations[0]", "variations[2]")


def test_a_zero_is_looked_at_by_itself():
    scenario = {"task": "simulate", "time": {"end": 0.1, "step": 0.05}}
    with pytest.raises(InputError, match="a link without mass has no first moments"):
        denoc.ensemble(scenario, [{"robot.links.upper.mass": x} for x in (2.0, 0.0, 3.0)], denoc.loads(SPRUNG))


@pytest.mark.parametrize(
    ("scenario", "key"),
    [
        (FALL, "robot.links.link2.mass"),
        ({**FALL, "robot": "rx90"}, "robot.links.link3.inertia.yy"),  # with dry friction, so that runs go alone
        ({**FALL, "robot": "four-bar"}, "robot.links.coupler.mass"),
    ],
)
@pytest.mark.sampled(3)
def test_other_numbers_compile_nothing(scenario, key, monkeypatch, tmp_path):
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path))
    compiled, compile_ir = [], native.compile_ir
    monkeypatch.setattr(native, "compile_ir", lambda *given: compiled.append(1) or compile_ir(*given))
    with using_backend("compiled"):
        denoc.ensemble(scenario, [{key: 15.3}, {key: 15.4}, {key: 15.5}])
        compiled.clear()
        results = denoc.ensemble(scenario, [{key: 15.6}, {key: 15.7}, {key: 15.8}])
        assert not compiled
        same(results[0], alone(scenario, {key: 15.6}))


def test_the_first_mistake_is_reported():
    variations = [{"initial.joint1": 0.1}, {"rates.joint1": "x"}, {"initial.joint1": 0.2}, {"initial.joint1": "y"}]
    with pytest.raises(InputError, match=r"variations\[1\]"):
        denoc.ensemble(FALL, variations)


def test_values_of_another_kind_are_planned_by_themselves():
    variations = [{"robot.links.link2.mass": x} for x in (15.0, 16, "17 kg", "18000 g", 0.0, np.float64(19))]
    with using_backend("compiled"):
        results = denoc.ensemble(FALL, variations)
        for found, variation in zip(results, variations):
            expected = alone(FALL, variation)
            number = f"variations[{variations.index(variation)}]"
            for warnings in (found.record["warnings"], expected.record["warnings"]):
                warnings[:] = [text.replace(number, "variations[0]") for text in warnings]
            same(found, expected)


def test_each_run_has_its_own_warnings():
    variations = [{"robot.links.link2.inertia.xx": x} for x in (0.48, 0.49, 5000.0)]
    calm, _, odd = denoc.ensemble(FALL, variations)
    assert not any("variations" in text for text in calm.record["warnings"])
    assert any("variations[2]" in text and "5e+03" in text for text in odd.record["warnings"]), odd.record["warnings"]


def test_a_broken_balance_fails_its_run_alone():
    scenario = FALL | {"solver": {"rtol": 0.5, "atol": 1.0}, "time": {"end": 1, "step": 0.1}}
    variations = [{"rates.joint2": x} for x in (0.0, 0.1, 10.0)]
    with using_backend("compiled"):
        results = denoc.ensemble(scenario, variations)
        for found, variation in zip(results, variations):
            expected = alone(scenario, variation)
            assert (found.ended, found.record["reason"]) == (expected.ended, expected.record["reason"])
            assert found.record["warnings"] == expected.record["warnings"]
    assert (results[0].ended, results[-1].ended) == ("done", "failed")
    assert "energy balance is off" in results[-1].record["reason"]


def test_columns_beyond_the_usual_ones():
    scenario = FALL | {"record": {"reactions": True, "energy": False}}
    variations = [{"robot.links.link2.mass": 15.0 + k} for k in range(3)]
    with using_backend("compiled"):
        for found, variation in zip(denoc.ensemble(scenario, variations), variations):
            same(found, alone(scenario, variation))


def test_a_result_of_many_is_as_good_as_any(tmp_path):
    variations = [{"robot.links.link2.mass": 15.0 + k} for k in range(3)]
    result = denoc.ensemble(FALL, variations)[1]
    variations[1]["robot.links.link2.mass"] = 99.0  # which comes too late
    assert isinstance(result, denoc.Result)
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), dataclasses.replace(result, name="x")):
        assert (other.table["joint2.q"] == result.table["joint2.q"]).all()
    assert f"{len(result.table)} columns" in repr(result)
    assert result.to_csv(tmp_path / "one.csv").read_text().count("\n") == 1 + len(result.t)
    result.write(tmp_path / "all", plot=False)
    record = json.loads((tmp_path / "all" / f"{result.name}.json").read_text())
    assert record["robot"]["data"]["links"][1]["mass"] == 16.0
    assert record["set"] == ["robot.links.link2.mass=16.0"]


def test_threads_change_no_bit(monkeypatch):
    variations = [{"robot.links.link2.mass": 15 + 0.1 * k, "rates.joint1": 0.1 * k} for k in range(50)]
    tables = []
    for count in ("1", "3"):
        monkeypatch.setenv("DENOC_CORES", count)
        with using_backend("compiled", lanes=2):
            tables.append([result.table for result in denoc.ensemble(FALL, variations)])
    assert all((one[name] == other[name]).all() for one, other in zip(*tables) for name in one)


def test_results_do_not_share_what_a_user_may_change():
    one, other = denoc.ensemble(FALL, [{"rates.joint1": 0.1}, {"rates.joint1": 0.1}])
    one.t += 1.0
    one.table["joint1.q"] += 1.0
    one.columns.clear()
    assert other.t[0] == 0.0
    assert other.table["joint1.q"][0] == 0.0
    assert other.columns


@pytest.mark.parametrize(("key", "values"), [("solver.rtol", (1e-8, 1e-9)), ("regress.until", (0.1, 0.2))])
def test_numbers_of_sections_that_name_no_joints(key, values):
    base = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.1, "step": 0.05}, "solver": {}, "regress": {}}
    changes = [{key: value} for value in values]
    for one, change in zip(denoc.ensemble(base, changes), changes):
        section, name = key.split(".")
        alone = denoc.run(base | {section: {name: change[key]}})
        assert one.table["joint1.q"] == pytest.approx(alone.table["joint1.q"], rel=1e-9, abs=1e-12)
