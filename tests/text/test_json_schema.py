"""The JSON Schemas: up to date, true of the library's files, and no friends of mistakes."""

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from denoc.cli.new import TEMPLATES
from denoc.robot.read import robot_schema
from denoc.scenario import scenario_schema
from denoc.study.sweep import study_schema
from denoc.text.fields.schemas import json_schema_text
from denoc.text.library import OF_STUDIES, ONE, library_folder
from denoc.text.source import parse_yaml_document, read_yaml_document

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {"robot": robot_schema(), "scenario": scenario_schema(), "study": study_schema()}
FILES = [
    ("scenario" if path.name.endswith(OF_STUDIES) else ONE[kind], path)
    for kind in ONE
    for path in sorted(library_folder(kind).glob("*.yaml"))
]


def mistakes(kind, data):
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        for error in Draft202012Validator(SCHEMAS[kind]).iter_errors(data)
    ]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_it_is_a_schema_and_the_one_in_the_documentation(kind):
    Draft202012Validator.check_schema(SCHEMAS[kind])
    kept = (ROOT / "docs" / "schema" / f"{kind}.json").read_text(encoding="utf-8")
    assert kept == json_schema_text(SCHEMAS[kind]), f"{kind}.json is out of date: `make pages` renews all such pages"


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda x: x.stem if isinstance(x, Path) else x)
def test_the_library_passes_and_tells_editors(kind, path):
    assert not mistakes(kind, read_yaml_document(path).data)
    start = "# yaml-language-server: $schema="
    (line,) = (one for one in path.read_text(encoding="utf-8").splitlines() if one.startswith(start))
    assert (path.parent / line.removeprefix(start)).resolve() == ROOT / "docs" / "schema" / f"{kind}.json"


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.yaml")), ids=lambda path: path.stem)
def test_templates_pass(path):
    text = path.read_text(encoding="utf-8").replace("MOTION", "  all: {law: cycloid, to: 90 deg}")
    kind = path.stem.partition("-")[0]
    assert not mistakes(kind if kind in SCHEMAS else "robot", parse_yaml_document(text, path.name).data)


def properties(schema, at=""):
    """Every property that a file can have, and where it is."""
    if isinstance(schema, list):
        for k, one in enumerate(schema):
            yield from properties(one, f"{at}/{k}")
    elif isinstance(schema, dict):
        if "type" in schema:  # what only picks a convention has none
            for name, one in schema.get("properties", {}).items():
                yield f"{at}/{name}", one
        for name, one in schema.items():
            yield from properties(one, f"{at}/{name}")


@pytest.mark.parametrize("kind", SCHEMAS)
def test_everything_is_described(kind):
    silent = [at for at, told in properties(SCHEMAS[kind]) if not ("description" in told or "const" in told)]
    assert not silent
    assert "(kind)" not in json.dumps(SCHEMAS[kind])
    assert "(convention)" not in json.dumps(SCHEMAS[kind])


def test_units_and_defaults_are_told():
    definitions = SCHEMAS["robot"]["$defs"]
    mass = definitions["LinkEntry"]["properties"]["mass"]
    assert "kg, g" in mass["description"]
    assert {"number", "string", "null"} == {choice["type"] for choice in mass["anyOf"]}
    assert SCHEMAS["robot"]["properties"]["gravity"]["default"] == [0, 0, -9.81]
    solver = SCHEMAS["scenario"]["$defs"]["SolverEntry"]["properties"]
    assert solver["method"]["default"] == "rk45"
    assert "rad/s" in solver["friction_rate"]["description"]


ROBOT = """
name: arm
convention: dh
links:
  - {name: a, joint: {type: revolute, a: 1, theta: 90 deg}, mass: 1 kg, com: [50 mm, 0, pi/4], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: b, convention: frames, joint: {type: prismatic, xyz: [0, 0, 1], initial: 0.1}, mass: 0}
  - {repeat: 3, links: [{name: "c{k}", joint: {type: revolute, alpha: "{k} deg"}, mass: 1, com: [0, 0, 0]}]}
"""
SCENARIO = """
robot: arm
task: simulate
time: {end: 2 s}
motion: {all: {law: cycloid, to: {axis: [0, 0, 1], angle: 90 deg}}, j: {law: harmonic, amplitude: [1, 2], frequency: 2}}
forces: {k: {law: pd, kp: 3}}
wrenches: [{link: b, force: [0, 1 N, {law: harmonic, amplitude: 3, period: 1}]}]
initial: {j: [1, 2], k: 30 deg}
solver: {max_step: inf}
drives:
  - {name: road, link: b, along: [0, 0, 1], law: harmonic, amplitude: 2 cm, frequency: 1 Hz}
  - {name: rope, distance: [{link: a}, {link: b, at: tip}], motion: {law: cycloid, to: 0.3}}
"""


def changed(text, path, value):
    data = copy.deepcopy(parse_yaml_document(text, "text").data)
    *way, last = path
    place = data
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return data


def test_what_is_allowed():
    assert not mistakes("robot", parse_yaml_document(ROBOT, "robot").data)
    assert not mistakes("scenario", parse_yaml_document(SCENARIO, "scenario").data)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["nam"], "x"),
        (["name"], None),
        (["name"], "a b"),
        (["convention"], "urdf"),
        (["links"], []),
        (["links"], {"a": 1}),
        (["gravity"], [0, 9.81]),
        (["gravity"], 9.81),
        (["links", 0, "massa"], 1),
        (["links", 0, "mass"], "heavy"),
        (["links", 0, "mass"], -1),
        (["links", 0, "mass"], True),
        (["links", 0, "mass"], [1]),
        (["links", 0, "joint"], "revolute"),
        (["links", 0, "joint"], None),
        (["links", 0, "joint", "type"], "screw"),
        (["links", 0, "joint", "type"], None),
        (["links", 0, "joint", "xyz"], [0, 0, 0]),  # the robot's convention has none
        (["links", 0, "joint", "(convention)"], "dh"),
        (["links", 0, "joint", "actuated"], "yes"),
        (["links", 0, "joint", "limits"], [1, 2, 3]),
        (["links", 0, "inertia", "zz"], None),
        (["links", 1, "joint", "theta"], 1),  # nor this link's
        (["links", 2, "repeat"], 0),
        (["links", 2, "links", 0, "joint", "xyz"], [0, 0, 0]),
        (["links", 2, "links", 0, "color"], "red"),
    ],
)
def test_mistakes_in_robots(path, value):
    assert mistakes("robot", changed(ROBOT, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["tsk"], "simulate"),
        (["task"], None),
        (["task"], "fly"),
        (["time"], 2),
        (["time", "end"], None),
        (["time", "step"], 0),
        (["motion", "j"], 3),
        (["motion", "j", "law"], "cyclo"),
        (["motion", "j", "law"], None),
        (["motion", "j", "kp"], 1),
        (["motion", "all", "to", "axis"], [0, 0]),
        (["motion", "all", "to"], None),
        (["forces", "k", "kp"], "strong"),
        (["forces", "k", "law"], "cycloid"),
        (["wrenches", 0, "force"], [0, 1]),
        (["wrenches", 0, "link"], None),
        (["solver", "method"], "euler"),
        (["solver", "max_steps"], 1.5),
        (["drives", 0, "law"], None),
        (["drives", 0, "kp"], 1),
        (["drives", 1, "motion", "law"], "cyclo"),
        (["drives", 1, "law"], "hold"),
        (["plots"], "angles"),
        (["plots"], ["torque"]),
        (["record"], {"torques": 1}),
    ],
)
def test_mistakes_in_scenarios(path, value):
    assert mistakes("scenario", changed(SCENARIO, path, value))


def test_the_command_prints_it_or_writes_it(tmp_path, monkeypatch, capsys):
    import sys

    from denoc.cli.main import main

    monkeypatch.chdir(tmp_path)
    for words, expected in ((["schema", "scenario"], "scenario"), (["schema", "robot", "--out", "r.json"], "robot")):
        monkeypatch.setattr(sys, "argv", ["denoc", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        assert not leaving.value.code
        out = capsys.readouterr().out
        assert json.loads(Path("r.json").read_text() if "--out" in words else out) == SCHEMAS[expected]
    monkeypatch.setattr(sys, "argv", ["denoc", "schema", "robots"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 2
