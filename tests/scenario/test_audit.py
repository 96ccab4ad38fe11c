"""The energy balance of a run is judged: it holds, is in doubt, or is broken."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.cli.main import main
from denoc.machine.backend import using_backend
from denoc.scenario.carry_out import carry_out_plan, prepare_scenario
from denoc.simulate.integrators import INTEGRATORS
from denoc.text import Change, find_library_file

PENDULUM = """
name: pendulum
convention: dh
gravity: [0, -9.81, 0]
links:
  - name: rod
    joint: {type: revolute, name: hinge}
    mass: 1
    com: [0.5, 0, 0]
    inertia: {xx: 0.001, yy: 0.0834, zz: 0.0834}
"""


def swing(step, **more):
    """A pendulum's fall from level, by rk4 with steps of this length."""
    solver = {"method": "rk4", "step": step, **more}
    return denoc.run(
        {"task": "simulate", "time": {"end": 5, "step": 0.5}, "solver": solver, "record": {"energy": True}},
        denoc.loads(PENDULUM),
    )


def test_what_is_exchanged_is_the_energy_of_the_fall():
    """Half a swing below level: m g l = 1 kg · 9.81 m/s² · 0.5 m at the bottom."""
    audit = swing(0.01).audit
    assert audit["exchanged"] == pytest.approx(1 * 9.81 * 0.5, rel=0.05)
    assert audit["energy_share"] == pytest.approx(audit["energy"] / audit["exchanged"])
    assert audit["energy_share"] < 1e-5


def test_what_is_exchanged_does_not_depend_on_the_height():
    """The same fall a kilometre above the base's origin, where the potential energy is 10 kJ."""
    scenario = {"task": "simulate", "time": {"end": 1, "step": 0.1}, "solver": {"rtol": 1e-10}}
    up = PENDULUM.replace("convention: dh", "convention: frames").replace(
        "name: hinge", "name: hinge, xyz: [0, 1000, 0]"
    )
    low, high = (denoc.run(scenario, denoc.loads(text)) for text in (PENDULUM, up))
    assert high.table["energy.potential"][0] == pytest.approx(9810.0)
    assert high.audit["exchanged"] == pytest.approx(low.audit["exchanged"], rel=1e-6)


def test_a_doubtful_balance_is_a_warning_and_a_broken_one_fails_the_run():
    """The residual grows by the step's fifth power; its verdict follows from its share alone."""
    verdicts = set()
    for step in (0.01, 0.05, 0.1, 0.125, 0.25, 0.5, 1.0):
        run = swing(step)
        share, off = run.audit["energy_share"], "energy balance is off by"
        told = any(off in warning for warning in run.record["warnings"])
        if share < 1e-3:
            verdicts.add("holds")
            assert (run.ended, told, run.record["reason"]) == ("done", False, "")
        elif share < 0.1:
            verdicts.add("doubtful")
            assert (run.ended, told) == ("done", True)
        else:
            verdicts.add("broken")
            assert run.ended == "failed"
            assert f"`rk4` takes steps of {step:g} s;" in run.record["reason"]
            assert len(run.t) == 11  # the rows stay
            accepted = swing(step, energy="accept")
            assert accepted.ended == "done"
            assert any(off in warning for warning in accepted.record["warnings"])
            np.testing.assert_array_equal(accepted.table["hinge.q"], run.table["hinge.q"])
    assert verdicts == {"holds", "doubtful", "broken"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rtol", [1e-8, 1e-3, 0.02, 0.1, 0.5])
@pytest.mark.parametrize("method", INTEGRATORS)
def test_the_verdict_is_that_of_the_energy_itself(method, rtol):
    """Kinetic and potential energy of the rows, from the pendulum's formulas, whatever tolerance the run was given."""
    row = INTEGRATORS[method]
    solver = {"method": method, "rtol": rtol} if row.adaptive else {"method": method, "step": 2 * rtol}
    scenario = {"task": "simulate", "time": {"end": 5, "step": 0.1}, "solver": solver}
    run = denoc.run(
        scenario if row.adaptive or rtol > 1e-6 else {**scenario, "solver": {"method": method}}, denoc.loads(PENDULUM)
    )
    q, qd = run.table["hinge.q"], run.table["hinge.qd"]
    weight = 9.81 * 0.5 * np.sin(q)
    off = abs((0.0834 + 0.25) / 2 * qd**2 + weight - weight[0]).max()
    exchanged = max(float(((0.0834 + 0.25) / 2 * qd**2).max()), float(np.ptp(weight)))
    assert run.audit["energy"] == pytest.approx(off, rel=1e-3, abs=1e-9)
    share = off / exchanged
    told = any("energy balance is off by" in warning for warning in run.record["warnings"])
    if not 0.9e-3 < share < 1.1e-3:
        assert (told or run.ended == "failed") == (share > 1e-3)
    if not 0.09 < share < 0.11:
        assert (run.ended == "failed") == (share > 0.1)


def test_the_command_says_that_it_is_off(tmp_path, monkeypatch, capsys):
    """The four-bar of the library in steps of 0.05 s loses 3.7 J of the 5.6 J that it exchanges."""
    monkeypatch.chdir(tmp_path)
    words = [
        "simulate",
        "four-bar",
        "--time",
        "10",
        "--step",
        "0.05",
        "--method",
        "rk4",
        "--backend",
        "plain",
        "--no-plot",
    ]

    def command(*more):
        monkeypatch.setattr(sys, "argv", ["denoc", *words, *more])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr().out

    code, out = command()
    assert code == 3
    assert "FAILED" in out
    assert "200 steps of 0.05 s" in out
    assert "is off by 3.7 J, 64 % of the energy exchanged: `rk4` takes steps of 0.05 s (the output's)" in out
    assert "holds to" not in out
    assert Path("outputs/four-bar-fall/four-bar-fall.csv").is_file()
    code, out = command("--accept-energy")
    assert code in (0, None)
    assert "is off by 3.7 J" in out
    assert "holds to" not in out


def test_a_robot_at_rest_exchanges_nothing_and_holds():
    """Hanging still, or held by a controller with rounding for its work."""
    robot = denoc.loads(PENDULUM)
    base = {"task": "simulate", "time": {"end": 2}, "initial": {"hinge": -np.pi / 2}}
    held = {"motion": {"hinge": {"law": "hold"}}, "forces": {"hinge": {"law": "pd", "kp": 1e3, "kd": 10}}}
    for scenario in (base, {**base, **held}, {**base, **held, "solver": {"method": "rk4", "step": 0.01}}):
        run = denoc.run(scenario, robot)
        assert run.ended == "done"
        assert run.audit["energy_share"] < 1e-3


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_mechanism_at_rest_without_gravity_holds(backend):
    """Nothing but rounding moves it, so its energies have no size of their own."""
    rest = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.2}, "closure": {"method": "multipliers"}}
    with using_backend(backend):
        run = denoc.ensemble(rest, [{"robot.gravity": [0, 0, 0]}])[0]
    assert run.ended == "done"
    assert run.audit["energy_share"] < 1e-3


def test_the_quadrature_on_coarse_rows_is_not_the_runs_fault():
    """Ten turns between two rows: Gauss's three nodes can't see them, the forces are right all the same."""
    robot = denoc.loads(PENDULUM)
    motion = {"hinge": {"law": "harmonic", "amplitude": 1, "frequency": 20}}
    run = denoc.run({"task": "inverse", "time": {"end": 4, "step": 0.8}, "motion": motion}, robot)
    assert run.ended == "done"
    told = [warning for warning in run.record["warnings"] if "quadrature" in warning]
    assert len(told) == 1
    assert "a shorter `step` under `time`" in told[0]
    assert run.audit["quadrature"] > 0
    assert run.audit["energy"] > 0.1 * run.audit["exchanged"]
    assert run.audit["energy_share"] < 1e-2
    fine = denoc.run({"task": "inverse", "time": {"end": 4, "step": 0.01}, "motion": motion}, robot)
    assert fine.audit["energy_share"] < 1e-3
    assert not fine.record["warnings"]


def test_no_shorter_step_is_advised_where_it_would_not_help(tmp_path, monkeypatch):
    """A rate of 1 rad/s that ends at once takes its energy along, whatever the rows: half of 0.0834 + 0.5² kg m²."""
    monkeypatch.chdir(tmp_path)
    Path("way.csv").write_text("t,angle\n0,0\n0.5,0.5\n1,1\n")
    robot = denoc.loads(PENDULUM)
    motion = {"hinge": {"law": "table", "file": "way.csv", "column": "angle"}}
    run = denoc.run({"task": "inverse", "time": {"end": 2, "step": 0.01}, "motion": motion}, robot)
    assert [text for text in run.record["warnings"] if "is off by 0.17 J" in text]
    assert not [text for text in run.record["warnings"] if "shorter `step`" in text]


@pytest.mark.parametrize(("to", "told"), [(0.6, False), (1.2, True), (-0.6, False), (-1.2, True)])
def test_leaving_a_limit_on_either_side_is_a_warning(to, told):
    robot = denoc.loads(PENDULUM.replace("name: hinge", "name: hinge, limits: [-1, 1]"))
    motion = {"hinge": {"law": "cycloid", "from": 0, "to": to}}
    run = denoc.run({"task": "inverse", "time": {"end": 1, "step": 0.1}, "motion": motion}, robot)
    low, high = sorted((0.0, to))
    words = f"hinge leaves its limits [-1, 1]: {low:g} to {high:g}"
    assert [one for one in run.record["warnings"] if "limits" in one] == ([words] if told else [])


@pytest.mark.parametrize("method", ["denoc-extended", "projection-svd-raw", "penalty"])
@pytest.mark.sampled(2)
def test_methods_that_are_run_raw_are_only_reported(method):
    """Whatever these methods make of an energy balance is what they are compared for."""
    base = {
        "robot": "four-bar", "task": "simulate", "time": {"end": 4, "step": 0.05}, "closure": {"method": method},
        "initial": {"A0": "60 deg"}, "solver": {"method": "rk4", "step": 0.05}, "record": {"reactions": False},
    }  # fmt: skip
    run = denoc.run(base)
    if run.ended == "done":
        told = any("is off by" in warning for warning in run.record["warnings"])
        assert told == (run.audit["energy_share"] >= 1e-3)
    else:
        assert "energy balance" not in run.record["reason"]


def test_a_singular_position_explains_a_broken_balance():
    """With a coupler of 0.12 m the crank can't turn round: what its forces would have to do there is no mistake."""
    change = Change("robot.loops.B.first.at", [0.12, 0, 0], "test", "")
    result = carry_out_plan(prepare_scenario("four-bar-idyn", changes=[change]))
    assert result.ended == "singularity"
    assert result.record["reason"].endswith(
        "singular position in the loop `B`: the given motion can't go on from there"
    )
    assert result.audit["singular"]["t"] == pytest.approx(result.t[-1], abs=0.01)
    assert any("from the quadrature of the power between the rows" in text for text in result.record["warnings"])


@pytest.mark.parametrize("mass", ["1e19", "1e150", "1e300"])
@pytest.mark.parametrize("task", ["inverse", "simulate"])
def test_a_balance_of_numbers_beyond_those_of_computers_is_unknown(mass, task, tmp_path):
    """Its record holds no numbers that aren't finite, which JSON can't hold."""
    text = find_library_file("planar3r", "robots").read_text().replace("mass: 0.5", f"mass: {mass}")
    motion = (
        {"motion": {f"joint{k}": {"law": "cycloid", "to": "60 deg"} for k in (1, 2, 3)}} if task == "inverse" else {}
    )
    scenario = {"robot": "x", "task": task, "time": {"end": 0.02, "step": 0.01}, **motion}
    result = denoc.run(scenario, denoc.loads(text))
    result.write(tmp_path, plot=False)
    record = json.loads((tmp_path / f"{result.name}.json").read_text())
    unknown = any("energy balance is unknown" in one for one in record["warnings"])
    assert (record["audit"]["energy"] is None) == unknown == (mass == "1e300")
