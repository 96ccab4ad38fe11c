"""Runs of robots that differ in numbers only share their code from the third one on, and can be done again."""

from pathlib import Path

import numpy as np
import pytest
import yaml

import denoc
import denoc.robots
from denoc.machine.backend import native, objects, using_backend
from denoc.machine.jit import offer

CASES = {  # robot: the link whose mass differs, and its run
    "planar3r": ("link3", {"task": "simulate", "time": {"end": 0.1, "step": 0.05}}),
    "four-bar": ("coupler", {"task": "simulate", "time": {"end": 0.02, "step": 0.02}, "solver": {"method": "radau"}}),
    "slider-crank": ("rod", {"task": "simulate", "time": {"end": 0.05, "step": 0.05}}),
}


def heavier(name, mass):
    """A robot of the library in which a link has another mass."""
    data = yaml.safe_load((Path(denoc.robots.__file__).parent / f"{name}.yaml").read_text())
    for link in data["links"]:
        if link["name"] == CASES[name][0]:
            link["mass"] = mass
    return denoc.loads(yaml.safe_dump(data))


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """What has been compiled, in a process that has compiled nothing before and always wants to."""
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "cache"))
    objects.forget_machine_code()
    monkeypatch.setattr(offer.Ledger, "wants", lambda *_, **__: "compiled")
    made, compile_ir = [], native.compile_ir
    monkeypatch.setattr(native, "compile_ir", lambda text, *level: made.append(text) or compile_ir(text, *level))
    return made


@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(3)
def test_a_third_mass_compiles_nothing(name, compiled, tmp_path, monkeypatch):
    scenario = {"name": "fall", "robot": name, **CASES[name][1]}
    counts = []
    for mass in (1.1, 1.2, 1.3):
        before = len(compiled)
        found = denoc.run(scenario, heavier(name, mass))
        counts.append(len(compiled) - before)
    first, second, third = counts
    assert (first > 0, second > 0, third) == (True, True, 0)
    assert any("-numbers@" in note for note in found.record["code"]["cached"])
    with using_backend("plain"):
        plain = denoc.run(scenario, heavier(name, 1.3))
    for column, values in plain.table.items():
        if column.endswith((".q", ".qd", ".qdd", ".tau")):
            np.testing.assert_allclose(found.table[column], values, rtol=1e-9, atol=1e-9, err_msg=column)

    found.write(tmp_path / "out")
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "another"))
    objects.forget_machine_code()
    (replay,) = tmp_path.glob("out/**/*.scenario.yaml")
    again = denoc.run(replay)
    assert again.record["code"]["cached"] == found.record["code"]["cached"]
    for column, values in found.table.items():
        np.testing.assert_array_equal(again.table[column], values, err_msg=column)


def test_with_compiled_code_chosen_numbers_do_not_depend_on_what_ran_before(compiled, tmp_path, monkeypatch):
    scenario = {"robot": "planar3r", **CASES["planar3r"][1]}

    def run():
        with using_backend("compiled"):
            return denoc.run(scenario, heavier("planar3r", 1.3)).table

    before = run()
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "another"))
    objects.forget_machine_code()
    for mass in (1.1, 1.2):
        denoc.run(scenario, heavier("planar3r", mass))
    after = run()
    for column, values in before.items():
        np.testing.assert_array_equal(after[column], values, err_msg=column)
