"""Runs side by side in the lanes are the runs one by one."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.machine.backend import native, using_backend
from denoc.scenario import carry_out as running
from denoc.simulate.many import many_rows
from denoc.study import ensemble_runs
from denoc.study.variations import Variations

FALL = {"robot": "puma", "task": "simulate", "time": {"end": 1, "step": 0.1}}


def varied(count):
    rng = np.random.default_rng(0)
    return [
        {"initial.joint2": float(a), "rates.joint1": float(b), "robot.links.link6.mass": float(m)}
        for a, b, m in zip(rng.normal(size=count), rng.normal(size=count), rng.uniform(0.2, 3, count))
    ]


@cache
def swings(count):
    """The same runs as plain text, one by one."""
    with using_backend("plain"):
        return [denoc.ensemble(FALL, [variation])[0] for variation in varied(count)]


MECHANISM = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.4, "step": 0.1}}


def quicker(k):
    return {"rates.A0": 0.3 * k, "robot.links.coupler.mass": 0.5 + 0.2 * k}


@cache
def four_bar(k):
    """One run of the mechanism as plain text, by itself."""
    with using_backend("plain"):
        return denoc.ensemble(MECHANISM, [quicker(k)])[0]


def same(found, expected, tolerance):
    assert found.ended == expected.ended
    assert list(found.table) == list(expected.table)
    scale = max(abs(values).max() for values in expected.table.values())
    for column, values in expected.table.items():
        assert abs(found.table[column] - values).max() <= tolerance * scale, column


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("count", [2, 9])
@pytest.mark.sampled(2)
def test_states_and_masses_vary(count, lanes, monkeypatch):
    monkeypatch.setattr(native, "native_lanes", lambda: lanes)
    monkeypatch.setattr("denoc.simulate.many.batch_program.native_lanes", lambda: lanes)
    variations = varied(count)
    together = denoc.ensemble(FALL, variations)
    assert len(together) == count
    for found, expected in zip(together, swings(count), strict=True):
        same(found, expected, 1e-7)
        assert found.audit["steps"] == expected.audit["steps"]
    assert len({result.table["joint2.q"][-1] for result in together}) == count


def test_a_robot_may_be_that_of_an_earlier_variation_with_other_keys():
    variations = [{"robot.links.link6.mass": 0.4}]
    variations += [{"robot.links.link6.mass": 0.4 + 0.1 * k, "rates.joint1": 0.5 + k} for k in range(3)]
    for found, variation in zip(denoc.ensemble(FALL, variations), variations, strict=True):
        (alone,) = denoc.ensemble(FALL, [variation])
        same(found, alone, 1e-10)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_mechanisms_in_lanes_of_every_width(left, lanes):
    """The compiled time loop of a robot with a loop beside its plain text, run by run."""
    with using_backend("compiled", lanes=lanes):
        together = denoc.ensemble(MECHANISM, [quicker(k) for k in range(lanes + 1)])
        assert not left[0]  # what goes wrong there is noticed, and carried out again
    for k, found in enumerate(together):
        same(found, four_bar(k), 1e-7)
    assert len({result.table["A0.q"][-1] for result in together}) == lanes + 1


def test_forces_vary():
    scenario = FALL | {"forces": {"joint1": {"law": "constant", "value": 0}}}
    variations = [{"forces.joint1.value": float(x)} for x in range(5)]
    together = denoc.ensemble(scenario, variations)
    for k, found in enumerate(together):
        assert found.table["joint1.tau"] == pytest.approx(float(k))
        same(found, denoc.run(scenario | {"forces": {"joint1": {"law": "constant", "value": k}}}), 1e-7)


def test_quaternions_stay_unit_in_every_lane():
    variations = [{"rates.joint3": [0.1 * k, 1.0, 0.5]} for k in range(3)]
    scenario = {"robot": "spherical-arm", "task": "simulate", "time": {"end": 0.5, "step": 0.1}}
    for found in denoc.ensemble(scenario, variations):
        e = np.array([found.table[f"joint3.e{k}"] for k in range(4)])
        assert abs((e**2).sum(axis=0) - 1).max() < 1e-14
        assert found.audit["energy"] < 1e-5


@pytest.mark.parametrize("key", ["amplitude", "phase"])
def test_laws_of_time_are_each_runs_own(key):
    """One that scales the law is a number of each lane; runs with another course of it aren't alike."""
    scenario = FALL | {"forces": {"joint1": {"law": "harmonic", "amplitude": 1, "frequency": 2, "phase": 1}}}
    variations = [{f"forces.joint1.{key}": float(x)} for x in range(1, 4)]
    with using_backend("compiled"):  # so few runs might go one by one otherwise
        results = denoc.ensemble(scenario, variations)
    for k, found in enumerate(results, start=1):
        scale, phase = (k, 1) if key == "amplitude" else (1, k)
        wanted = scale * np.sin(4 * np.pi * found.t + phase)
        assert found.table["joint1.tau"] == pytest.approx(wanted, abs=1e-12)
        assert found.audit["energy"] < 1e-6 * found.audit["exchanged"]


def test_motions_are_each_runs_own():
    scenario = FALL | {"motion": {"joint1": {"law": "cycloid", "to": 1.0}}}
    variations = [{"motion.joint1.to": float(x)} for x in (0.2, 0.4, 0.6)]
    with using_backend("compiled"):
        results = denoc.ensemble(scenario, variations)
    for one, found in zip(variations, results):
        assert found.table["joint1.q"][-1] == pytest.approx(one["motion.joint1.to"], abs=1e-12)
        assert found.audit["energy"] < 1e-6 * found.audit["exchanged"]


def test_a_run_that_cannot_go_on_ends_as_it_does_alone():
    """Three of four five-bars come to a singular position before the end."""
    scenario = {
        "robot": "five-bar",
        "task": "simulate",
        "time": {"end": 1.4, "step": 0.1},
        "initial": {"J1^1": "80 deg", "J1^2": "70 deg"},
        "solver": {"rtol": 1e-8},
    }
    elsewhere = [70, 90, 92, 75]
    together = denoc.ensemble(scenario, [{"initial.J1^2": f"{angle} deg"} for angle in elsewhere])
    for found, angle in zip(together, elsewhere):
        alone = denoc.run(scenario | {"initial": {"J1^1": "80 deg", "J1^2": f"{angle} deg"}})
        same(found, alone, 1e-7)
    assert {one.ended for one in together} == {"done", "singularity"}
    # as is known of the first of them; see mechanics/mechanisms/test_reference_motion.py
    assert together[0].audit["singular"]["t"] == pytest.approx(1.36672, abs=1e-4)


def test_runs_that_change_their_modes_are_each_their_own():
    scenario = {"robot": "rx90", "task": "simulate", "time": {"end": 0.1, "step": 0.05}}
    variations = [{"initial.joint2": x} for x in (-0.8, 0.3)]
    for found, variation in zip(denoc.ensemble(scenario, variations), variations):
        same(found, denoc.run(scenario | {"initial": {"joint2": variation["initial.joint2"]}}), 1e-12)


def test_an_interrupt_ends_all_runs(monkeypatch):
    """Of runs that go one after the other, the one that is interrupted keeps what it has; the rest aren't begun."""
    begun = []

    def interrupted(plan, *others):
        begun.append(plan)
        result = carry_out(plan, *others)
        result.ended, result.record["reason"] = "interrupted", "interrupted by the user"
        return result

    carry_out = running.carry_out_plan
    monkeypatch.setattr(running, "carry_out_plan", interrupted)
    scenario = {"robot": "rx90", "task": "simulate", "time": {"end": 0.01}}
    with pytest.raises(KeyboardInterrupt), using_backend("plain"):
        denoc.ensemble(scenario, [{"rates.joint1": 0.1 * k} for k in range(3)])
    assert len(begun) == 1


def test_notes_of_a_replay_are_not_those_of_its_variations(tmp_path):
    scenario = {"robot": "planar3r", "name": "kept", "task": "simulate", "time": {"end": 0.05}}
    denoc.run(scenario).write(tmp_path, plot=False)
    (file,) = tmp_path.glob("*.scenario.yaml")
    assert "replay:" in file.read_text()
    assert Variations(str(file), [{"rates.joint1": 0.1}], None).plan(0).file.replay is None


def test_one_run_that_fails_does_not_stop_the_others():
    scenario = FALL | {"solver": {"max_steps": 60}, "time": {"end": 3}}
    calm, wild = denoc.ensemble(scenario, [{"robot.gravity": [0, 0, -9.81]}, {"rates.joint2": 40.0}])
    assert wild.ended == "failed"
    assert "more than 60 steps" in wild.record["reason"]
    assert calm.ended in ("done", "failed")
    assert len(calm.t) > len(wild.t)


@pytest.mark.parametrize(
    ("variation", "told"),
    [
        ({"robot.links.link7.mass": 1.0}, "link6"),
        ({"initial.joint9": 1.0}, "joint6"),
        ({"robot.links.link6.mass": -1.0}, "at least 0"),
        ({"time.end.more": 1.0}, "leads nowhere|nothing to change"),
    ],
)
def test_mistakes_are_told(variation, told):
    with pytest.raises(InputError, match=told):
        denoc.ensemble(FALL, [variation])


def test_rows_of_few_runs_are_compiled_once_there_have_been_many(monkeypatch, tmp_path):
    """As text they cost a hundred times as much, so no number of small ensembles may go on like that."""
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path))
    monkeypatch.setattr(many_rows, "_without", Counter())
    by_text, make = [], ensemble_runs._by_itself
    monkeypatch.setattr(ensemble_runs, "_by_itself", lambda *given: by_text.append(1) or make(*given))
    fall = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.1, "step": 0.1}}
    own = "robot.links.link2.joint.friction.viscous"  # of which no other test has a program beside masses
    changes = [{"robot.links.link3.mass": 0.51 + k / 8, own: 0.1 + k / 9, "rates.joint3": 0.1} for k in range(5)]
    found = [denoc.ensemble(fall, changes)[4].table["joint3.q"][-1] for _ in range(6)]
    assert len(by_text) == 15
    assert found == pytest.approx([found[0]] * 6, rel=1e-12)
