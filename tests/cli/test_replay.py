"""Every run leaves its scenario and its robot in full, and running them gives the same numbers to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import denoc
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.record.files import write
from denoc.scenario import files_of_replay
from denoc.text import parse_yaml_document, read_yaml_document

SWING = {"name": "swing", "robot": "puma", "task": "simulate", "time": {"end": 0.3, "step": 0.1}}


def command(folder, *words, cache=None):
    """`denoc run` in a process of its own, which knows nothing of earlier runs."""
    call = [sys.executable, "-c", "from denoc.cli.main import main; main()", "run", *map(str, words), "--no-plot", "-q"]
    kept = {"DENOC_CACHE": str(folder / "cache" if cache is None else cache)}
    subprocess.run(call, cwd=folder, env={**os.environ, **kept}, check=True)


def same(one, other, name):
    """Both folders have the same table, scenario and robot."""
    for path in [one / f"{name}.csv", *one.glob("*.yaml")]:
        assert path.read_bytes() == (other / path.name).read_bytes(), path.name


# inverse dynamics, a compiled time loop, events, an integration in inverse dynamics, a reference, loops
NAMES = ["tree-idyn", "puma-fall", "rx90-fall", "elastic-arm-idyn", "puma-computed-torque", "four-bar-fall"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(6)
def test_to_the_last_bit_whatever_is_in_the_cache(name, tmp_path):
    first, again, warm, cold = (tmp_path / x for x in ("first", "again", "warm", "cold"))
    replayed = f"{name}/{name}.scenario.yaml"
    command(tmp_path, name, "--set", "time.end=0.7", "--out", first)  # with an empty cache, which it fills
    command(tmp_path, first / replayed, "--out", again)
    same(first / name, again / name, name)
    command(tmp_path, name, "--set", "time.end=0.7", "--out", warm)
    command(tmp_path, warm / replayed, "--out", cold, cache=tmp_path / "empty")
    same(warm / name, cold / name, name)


def test_the_backend_is_the_one_of_the_run(tmp_path, command_line, monkeypatch):
    def command(*words):
        assert command_line("run", *words, "--no-plot", "-q")[0] == 0

    monkeypatch.chdir(tmp_path)
    command("puma-pd", "--backend", "compiled", "--set", "time.end=0.2")
    folder = tmp_path / "outputs" / "puma-pd"
    notes = read_yaml_document(folder / "puma-pd.scenario.yaml").data["replay"]
    code = json.loads((folder / "puma-pd.json").read_text())["code"]
    assert code["backend"] == notes["backend"] == "compiled"
    assert code["lanes"] == notes["lanes"]
    assert code["cpu"] == notes["cpu"]
    assert code["features"]
    command(folder / "puma-pd.scenario.yaml", "--out", "again")
    same(folder, tmp_path / "again" / "puma-pd", "puma-pd")
    command(folder / "puma-pd.scenario.yaml", "--backend", "plain", "--out", "plain")  # the user's word
    assert json.loads((tmp_path / "plain/puma-pd/puma-pd.json").read_text())["code"]["backend"] == "plain"


def test_lanes_and_form_are_those_of_the_run(tmp_path):
    with using_backend("compiled", "rolled", 2):
        first = denoc.run({**SWING, "robot": "chain"})
    assert first.record["code"]["lanes"] == 2
    first.write(tmp_path / "first", plot=False)
    again = denoc.run(tmp_path / "first" / "swing.scenario.yaml")
    assert {key: again.record["code"][key] for key in ("backend", "form", "lanes")} == {
        "backend": "compiled",
        "form": "rolled",
        "lanes": 2,
    }
    for name, values in first.table.items():
        assert (values == again.table[name]).all(), name


def test_what_is_left_is_the_run_in_full(tmp_path):
    result = denoc.run({**SWING, "initial": {"joint2": "30 deg"}})
    files = result.write(tmp_path / "swing", plot=False)
    assert [file.name for file in files] == ["puma.robot.yaml", "swing.csv", "swing.json", "swing.scenario.yaml"]
    assert json.loads((tmp_path / "swing/swing.json").read_text())["files"] == [file.name for file in files]
    data = read_yaml_document(tmp_path / "swing/swing.scenario.yaml").data
    assert data["robot"] == "puma.robot.yaml"
    assert data["initial"] == {"joint2": result.table["joint2.q"][0]}
    assert data["solver"]["rtol"] == 1e-8  # defaults are there, too
    assert set(data["replay"]) >= {"backend", "form", "cached", "versions"}
    library = denoc.load("puma").document.data
    assert read_yaml_document(tmp_path / "swing/puma.robot.yaml").data == library


def test_a_scenario_without_a_name_keeps_that_of_its_file(tmp_path):
    path = tmp_path / "my first.yaml"  # no name that a file could say
    path.write_text("robot: puma\ntask: inverse\ntime: {end: 1, step: 0.5}\n")
    result = denoc.run(path)
    result.write(tmp_path / "out", plot=False)
    again = denoc.run(tmp_path / "out" / "my first.scenario.yaml")
    assert again.name == result.name == "my first"


def test_tables_go_with_it(tmp_path):
    (tmp_path / "data").mkdir()
    for n, place in enumerate(("data/way.csv", "way.csv", "run.csv")):
        rows = "t,a,b\n" + "".join(f"{k / 10},{k * k / 50},{-k / (30 + n)}\n" for k in range(11))
        (tmp_path / place).write_text(rows)
    (tmp_path / "run.yaml").write_text(
        "robot: puma\ntask: simulate\ntime: {end: 1, step: 0.5}\n"
        "motion: {joint1: {law: table, file: data/way.csv, column: a}}\n"
        "forces: {joint2: {law: table, file: way.csv, column: b}}\n"
        "wrenches: [{link: link6, force: [0, 0, {law: table, file: run.csv, column: b}]}]\n"
    )
    result = denoc.run(tmp_path / "run.yaml")
    result.write(tmp_path / "out", plot=False)
    for name in ("data/way.csv", "way.csv", "run.csv"):
        (tmp_path / name).unlink()
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert made == {
        *("run.csv", "run.json", "run.scenario.yaml", "puma.robot.yaml"),
        *("run.way.csv", "run.2.way.csv", "run.2.csv"),
    }
    again = denoc.run(tmp_path / "out" / "run.scenario.yaml")
    for name, values in result.table.items():
        assert (values == again.table[name]).all(), name
    again.write(tmp_path / "out", plot=False)  # over itself
    assert {path.name for path in (tmp_path / "out").iterdir()} == made  # names don't grow


def test_another_machine_or_version_is_a_warning(tmp_path):
    denoc.run(SWING).write(tmp_path, plot=False)
    path = tmp_path / "swing.scenario.yaml"
    text = path.read_text()
    path.write_text(text.replace("numpy: ", "numpy: 1."))
    (tmp_path / "swing.json").unlink()  # whose checksum is that of the other text
    told = [warning for warning in denoc.run(path).record["warnings"] if "last digits" in warning]
    assert len(told) == 1
    assert "numpy (1." in told[0]
    assert not [warning for warning in denoc.run(SWING).record["warnings"] if "last digits" in warning]


def test_all_files_or_none(tmp_path, monkeypatch):
    result = denoc.run(SWING)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        result.write(tmp_path / "out", plot=False)
    assert not list(tmp_path.iterdir())


def test_a_robot_without_a_file_is_named_only(tmp_path):
    from dataclasses import replace

    result = denoc.run(SWING, robot=replace(denoc.load("puma"), document=None, vouched=True))
    result.write(tmp_path / "out", plot=False)
    assert not (tmp_path / "out" / "puma.robot.yaml").exists()
    assert read_yaml_document(tmp_path / "out" / "swing.scenario.yaml").data["robot"] == "puma"


def test_runs_side_by_side_leave_their_files_without_notes(tmp_path):
    """Their numbers come from lanes that they share, which no run alone has."""
    variations = [{"robot.links.link6.mass": mass, "initial.joint2": 0.1} for mass in (1.0, 2.0)]
    result = denoc.ensemble(SWING, variations)[1]
    assert result.record["set"] == ["robot.links.link6.mass=2.0", "initial.joint2=0.1"]
    result.write(tmp_path / "out", plot=False)
    assert read_yaml_document(tmp_path / "out" / "puma.robot.yaml").data["links"][5]["mass"] == 2.0
    data = read_yaml_document(tmp_path / "out" / "swing.scenario.yaml").data
    assert data["initial"] == {"joint2": 0.1}
    assert "replay" not in data


def test_every_scenario_of_the_library_can_be_read_back():
    from denoc.scenario import prepare_scenario
    from denoc.text import library_names

    for name in library_names("scenarios"):
        plan = prepare_scenario(name)
        data = json.loads(json.dumps(plan.file.model_dump(by_alias=True, exclude_none=True)))
        record = {
            "input": data,
            "robot": {"name": plan.robot.name, "data": plan.robot.document.data},
            "code": {"cached": [], "backend": "auto"},
            "versions": {"denoc": "0"},
        }
        made = files_of_replay(name, record, {})
        assert (
            parse_yaml_document(made[f"{plan.robot.name}.robot.yaml"].decode(), "robot").data
            == plan.robot.document.data
        )
        again = parse_yaml_document(made[f"{name}.scenario.yaml"].decode(), "scenario").data
        assert {key: again[key] for key in data if key != "robot"} == {k: v for k, v in data.items() if k != "robot"}


def test_results_are_still_drawn_from_their_folder(tmp_path):
    denoc.run(SWING).write(tmp_path / "swing", plot=False)
    from denoc.scenario import stored_scenario_result

    assert stored_scenario_result(tmp_path / "swing").name == "swing"
    assert write.check_output_writable(tmp_path / "swing") is None
