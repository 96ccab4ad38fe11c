"""A family of columns is one row, and one more where it is to be drawn: the mass centre of the whole robot."""

import json

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.record import PLOTS, Column, Plot
from denoc.scenario import FAMILIES, Family, scenario_schema
from denoc.text.fields import json_schema_text


def columns(rows, robot):
    return [Column(f"centre.{axis}", "m", "centre", "centre", axis) for axis in "xyz"]


def places(rows, robot):
    """Σ m (origin + R com) / Σ m."""
    moments = sum(link.mass * (rows.frames[link.name] @ [*link.com, 1.0])[:, :3] for link in robot.links)
    return moments / sum(link.mass for link in robot.links)


CENTRE = Family("the robot's mass centre", lambda rows: [rows.robot], columns, places, default=False)
SCENARIO = {
    "robot": "space-arm",
    "task": "simulate",
    "time": {"end": 0.5, "step": 0.1},
    "initial": {"joint2": 0.3, "joint3": -0.8},
    "rates": {"joint2": 1.0, "joint3": -2.0, "joint5": 3.0},
}


@pytest.fixture(autouse=True)
def _rows(monkeypatch):
    monkeypatch.setitem(FAMILIES, "centre", CENTRE)
    monkeypatch.setitem(PLOTS, "centre", Plot("centre", "Mass centre", {"m": "position"}))


def test_it_is_there_where_it_is_wanted_and_says_what_is_true(tmp_path):
    """Thrown in weightlessness the centre keeps its speed, however the arm swings; the base and the joints don't."""
    wanted = denoc.run({**SCENARIO, "record": {"centre": True}})
    names = ["centre.x", "centre.y", "centre.z"]
    assert list(wanted.table)[-3:] == names
    centre = np.array([wanted.table[name] for name in names])
    even = np.outer(centre[:, 0], 1 - wanted.t / 0.5) + np.outer(centre[:, -1], wanted.t / 0.5)
    np.testing.assert_allclose(centre, even, atol=1e-7)
    assert abs(np.diff(wanted.table["joint3.qd"])).max() > 1e-2

    robot = denoc.load("space-arm")
    q = np.array([[wanted.table[f"{j.name}.{s}"] for j in robot.moving for s in j.type.coordinates]])[0, :, -1]
    frames = denoc.frames(robot, q)
    weights = {link.name: link.mass for link in robot.links}
    mean = sum(m * (frames[name] @ [*robot.link(name).com, 1])[:3] for name, m in weights.items()) / sum(
        weights.values()
    )
    np.testing.assert_allclose(centre[:, -1], mean, atol=1e-12)

    written = wanted.write(tmp_path, plot=False)
    header = next(path for path in written if path.suffix == ".csv").read_text().splitlines()[0]
    assert header.endswith("energy.residual,centre.x,centre.y,centre.z")
    assert json.loads(next(p for p in written if p.suffix == ".json").read_text())["input"]["record"]["centre"] is True

    bare = denoc.run(SCENARIO)
    assert list(bare.table) == list(wanted.table)[:-3]


def test_it_is_drawn():
    figure = denoc.run({**SCENARIO, "name": "throw", "record": {"centre": True}, "plots": ["centre"]}).plot()[
        "throw-centre"
    ]
    assert figure.axes[0].get_ylabel() == "position (m)"
    assert [line.get_label() for line in figure.axes[0].get_lines()] == ["x", "y", "z"]


def test_its_name_is_everywhere_without_a_word_more():
    schema = scenario_schema()
    assert schema["$defs"]["RecordEntry"]["properties"]["centre"]["description"] == "the robot's mass centre"
    assert '"pinned"' in json_schema_text(schema)
    for change, allowed in (
        ({"record": {"center": True}}, "energy, centre"),
        ({"plots": ["center"]}, "energy, centre"),
    ):
        with pytest.raises(InputError, match="did you mean `centre`") as told:
            denoc.run({**SCENARIO, **change})
        assert told.value.allowed.endswith(allowed)
