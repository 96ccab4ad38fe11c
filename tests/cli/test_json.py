"""What `--json` prints: one document, of the shape that its schema says, whether a command succeeds or fails."""

import errno
import json
import signal
import sys
from pathlib import Path

import pytest
import typer
from jsonschema import Draft202012Validator

from denoc.cli import as_json
from denoc.cli.app import typer_application
from denoc.cli.main import main
from denoc.cli.schema import FILES, kinds_with_schema, schema_of_kind
from denoc.cli.shapes import OUTPUTS
from denoc.formats import table
from denoc.robot.read import build
from denoc.simulate import Trace
from denoc.text.fields import json_schema_text

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "schema" / "output"
BRIEF = ("--no-plot", "--out", "results")
SWING = "{name: swing, robot: planar3r, task: simulate, time: {end: 0.2, step: 0.1}}\n"
STUDY = """
scenario: swing.yaml
vary: {load: {key: robot.links.link3.mass, list: [0.5, -1]}}
keep: {last: {column: joint1.q, take: final}}
"""
SEARCH = """
scenario: swing.yaml
vary: {lean: {key: initial.joint1, between: [-1, 1]}}
keep: {last: {column: joint1.q, take: final}}
minimise: last
subject-to: {last: {at_least: -2}}
evaluations: 3
"""
GEARS = """
name: gears
convention: frames
links:
  - {name: one, joint: {type: revolute, name: a}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
  - {name: two, joint: {type: revolute, name: b}, mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
couplings: [{joint: b, to: a, ratio: -2, offset: 0.3}]
"""
TABLE = "t," + ",".join(f"joint{k}.{what}" for k in (1, 2, 3) for what in ("q", "tau")) + "\n"
TABLE += "".join(f"{0.1 * n},{n * n % 7},1,{n * n % 5},2,{n % 3},3\n" for n in range(20))
COMPARED = ("--methods", "denoc", "--rtol", "1e-4", "--steps", "", "--no-feedback", "--set", "time.end=0.2")
ARM = Path(__file__).resolve().parents[1] / "formats" / "files" / "arm.urdf"
# one command for each kind of entry that its documents may have
CASES = [
    "idyn puma",
    "simulate planar3r --time 0.1",
    "simulate rx90 --time 0.3",  # with events
    "run swing.yaml",
    "run swing.yaml puma-idyn",
    "run slider-crank-singular-fall --set solver.at_singularity=stop --set expect=either",
    "inspect puma",
    "inspect gough-stewart",  # idle spins, subsystems
    "inspect carpet-scraper --plot --format svg --out results",
    "inspect gears.yaml",  # couplings
    f"convert {ARM}",
    "convert rx90 --to urdf --out results.urdf",
    "matrices planar3r --only all --point link3",
    "distribute three-rrr-fall --nodes 3 --explain",
    "distribute three-rrr-idyn --set time.end=0.1",
    "sweep study.yaml",  # with a run that makes no sense
    "sweep study.yaml --explain",
    "optimise search.yaml",
    "optimise search.yaml --explain",
    "complexity four-bar --no-measure",
    "paper",
    "paper saha-1999-fig-5 --no-plot --out results",
    "linearize planar3r",
    "linearize four-bar",
    "excite planar3r --harmonics 2 --out results",
    "identify planar3r table.csv --out results",
    "list",
    "list robots",
    "list puma",
]


@pytest.fixture
def denoc(tmp_path, monkeypatch, command_line):
    """Runs a command with `--json`: exit code, document, and what is on standard error."""
    monkeypatch.chdir(tmp_path)
    Path("swing.yaml").write_text(SWING)
    Path("gears.yaml").write_text(GEARS)
    Path("study.yaml").write_text(STUDY)
    Path("search.yaml").write_text(SEARCH)
    Path("table.csv").write_text(TABLE)

    def command(*words):
        code, out, err = command_line(*words, "--json")
        return code, json.loads(out), err

    return command


def strict(schema):
    """The schema without room for keys that it doesn't describe."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return {**{key: strict(value) for key, value in schema.items()}, **closed}


def mistakes(kind, document):
    found = Draft202012Validator(strict(schema_of_kind(kind))).iter_errors(document)
    return [f"{'.'.join(map(str, one.absolute_path))}: {one.message[:300]}" for one in found]


@pytest.mark.smoke
def test_every_command_with_json_has_a_schema():
    commands = typer.main.get_command(typer_application()).commands
    with_json = {name for name, one in commands.items() if any("--json" in option.opts for option in one.params)}
    assert with_json | {"error"} == set(OUTPUTS)


@pytest.mark.smoke
@pytest.mark.parametrize("command", OUTPUTS)
@pytest.mark.sampled(2)
def test_the_schema_is_the_one_in_the_documentation(command):
    Draft202012Validator.check_schema(schema_of_kind(command))
    kept = (DOCUMENTS / f"{command}.json").read_text(encoding="utf-8")
    assert kept == json_schema_text(schema_of_kind(command)), (
        f"{command}.json is out of date: `make pages` renews all such pages"
    )


@pytest.mark.parametrize("words", CASES)
@pytest.mark.sampled(4)
def test_documents_have_the_shape_of_their_schema(words, denoc):
    command, *rest = words.split()
    if command in ("idyn", "simulate", "run", "distribute", "sweep", "optimise") and "--explain" not in rest:
        rest += BRIEF
    code, document, _ = denoc(command, *rest)
    assert code == 0
    assert mistakes(command, document) == []
    versions = {one["format"] for one in (document if isinstance(document, list) else [document])}
    assert versions == {as_json.FORMAT}


def test_so_do_those_of_comparisons(denoc):
    assert mistakes("compare", denoc("compare", "four-bar-idyn", *COMPARED, *BRIEF)[1]) == []
    first = denoc("regress", "swing.yaml", "--baseline", "agreed", "--update", *BRIEF)
    assert (first[0], mistakes("regress", first[1])) == (0, [])
    Path("swing.yaml").write_text(SWING.replace("robot: planar3r", "robot: planar3r, initial: {joint1: 0.1}"))
    code, document, _ = denoc("regress", "--baseline", "agreed", *BRIEF)
    assert (code, document["different"], mistakes("regress", document)) == (1, 1, [])
    assert document["scenarios"][0]["differences"][0]["times"] > 1


def test_so_do_those_of_verifications(denoc):
    denoc("run", "swing.yaml", *BRIEF)
    code, document, _ = denoc("verify", "results/swing")
    assert (code, document["verified"], mistakes("verify", document)) == (0, True, [])
    with Path("results/swing/planar3r.robot.yaml").open("a") as file:
        file.write("# a remark\n")
    code, document, _ = denoc("verify", "results/swing")
    assert (code, document["verified"], mistakes("verify", document)) == (1, False, [])


def test_a_run_is_in_a_list_whatever_the_number_of_runs(denoc):
    (alone,) = denoc("run", "swing.yaml", *BRIEF)[1]
    first, second = denoc("run", "swing.yaml", "puma-idyn", *BRIEF)[1]
    assert alone["scenario"] == first["scenario"] == "swing"
    assert second["scenario"] == "puma-idyn"
    assert denoc("simulate", "planar3r", "--time", "0.1", *BRIEF)[1]["scenario"] == "planar3r-fall"  # always one


def test_a_run_that_fails_says_so_in_its_own_document(denoc):
    code, (run,), err = denoc("run", "swing.yaml", *BRIEF, "--set", "expect=singularity")
    assert (code, err, mistakes("run", [run])) == (3, "", [])
    assert (run["ended"], run["expected"]) == ("done", "singularity")
    assert "without the singularity" in run["reason"]


def test_a_run_that_is_interrupted_has_one_document(denoc, monkeypatch):
    keep = Trace.keep

    def interrupted(trace, *rest):
        keep(trace, *rest)
        if len(trace.t) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Trace, "keep", interrupted)
    code, (run,), err = denoc("run", "four-bar-fall", "--backend", "plain", *BRIEF)
    assert (code, err, run["ended"], run["rows"]) == (130, "", "interrupted", 3)


# ---- failures


def failure(answer):
    code, document, err = answer
    assert mistakes("error", document) == []
    assert (document["exit_code"], err) == (code, "")
    return document["error"], code


def test_a_mistake_in_a_file_has_its_place(denoc):
    Path("arm.yaml").write_text(
        "name: arm\nconvention: dh\nlinks:\n  - {name: a, joint: {type: revolut}, mass: 1 s}\n", encoding="utf-8"
    )
    error, code = failure(denoc("inspect", "arm.yaml"))
    assert (code, error["kind"], error["file"], error["line"], error["column"]) == (2, "input", "arm.yaml", 4, 29)
    assert (error["key"], error["found"]) == ("links[0].joint.type", "`revolut`")
    assert error["allowed"].startswith("revolute, ")
    assert error["hint"] == "did you mean `revolute`?"
    (other,) = error["others"]
    assert (other["key"], other["found"]) == ("links[0].mass", "`1 s`")


def test_other_failures(denoc, monkeypatch):
    assert failure(denoc("run"))[0]["kind"] == "usage"
    error, code = failure(denoc("idyn", "puma", "--colour", "red"))
    assert (error["kind"], code) == ("usage", 2)
    assert "--colour" in error["message"]
    gap = ("robot.links.coupler.joint.xyz=[9, 0, 0]", "time.end=0.1")
    error, code = failure(denoc("run", "four-bar-idyn", *BRIEF, *(word for one in gap for word in ("--set", one))))
    assert (error["kind"], code) == ("assembly", 3)


@pytest.mark.parametrize(("kind", "code"), [("bug", 3), ("interrupted", 130), ("memory", 3), ("system", 2)])
def test_failures_that_no_command_foresees(kind, code, denoc, monkeypatch):
    def fails(*_, **__):
        if kind == "interrupted":
            signal.raise_signal(signal.SIGINT)
        raise {"bug": RuntimeError("no luck"), "memory": MemoryError()}.get(kind, OSError(errno.ENOSPC, "disk full"))

    monkeypatch.setattr(build, "build_robot", fails)
    monkeypatch.setattr(table, "build_robot", fails)
    error, own = failure(denoc("inspect", "puma"))
    assert (error["kind"], own) == (kind, code)


def test_json_is_what_is_asked_for_by_the_option_alone():
    assert as_json.json_is_asked(["run", "x", "--json"])
    assert not as_json.json_is_asked(["run", "--", "--json"])
    assert not as_json.json_is_asked(["run", "--name", "json"])


def test_numbers_that_json_does_not_have_are_null(capsys):
    as_json.print_json_document(
        {"a": [1.0, float("inf")], "b": {"c": float("nan")}, "d": (True, None, "x")}, indent=None
    )
    assert json.loads(capsys.readouterr().out) == {
        "format": 1,
        "a": [1.0, None],
        "b": {"c": None},
        "d": [True, None, "x"],
    }


def test_schemas_are_printed_for_everything_that_has_one(capsys, monkeypatch):
    assert set(kinds_with_schema()) == {*FILES, *OUTPUTS}
    for kind, code in (("run", 0), ("runs", 2)):
        monkeypatch.setattr(sys, "argv", ["denoc", "schema", kind])
        with pytest.raises(SystemExit) as leaving:
            main()
        told = capsys.readouterr()
        assert (leaving.value.code or 0) == code
        assert (told.out == json_schema_text(schema_of_kind("run"))) == (code == 0)
        assert ("did you mean `run`?" in told.err) == (code == 2)
