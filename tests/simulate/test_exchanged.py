"""Masses moved across cuts in runs: compiled equations with them are the plain ones without, in all that a run gives."""

import numpy as np
import pytest

import denoc
import series
import yamls
from comparing import off
from denoc.loops.accelerations import Forward
from denoc.loops.constraints import loop_closure
from denoc.loops.exchange import exchanged
from denoc.machine.jit.choice import using_backend
from denoc.scenario.run import prepare_scenario
from denoc.simulate.coordinates import discrete_state_at_start
from denoc.simulate.equations import evaluate_equations
from denoc.simulate.signals import signals_at

LIBRARY = ("four-bar-fall", "carpet-scraper-fall", "n-four-bar-fall", "three-rrr-fall", "rssr-fall")


def other_masses(system):
    """Whether the model for runs has other masses than the one whose reactions are right."""
    return [body.h for body in system.exchanged.bodies] != [body.h for body in system.regrouped.bodies]


def planned(robot, **scenario):
    return prepare_scenario({"task": "simulate", "time": {"end": 0.2, "step": 0.02}, **scenario}, robot).system


@pytest.mark.parametrize("name", LIBRARY)
def test_one_evaluation_is_that_with_the_links_own_masses(name):
    system = prepare_scenario(name).system
    assert other_masses(system)
    robot, rng = system.robot, np.random.default_rng(5)
    q = denoc.assemble(robot, robot.q0)
    discrete = discrete_state_at_start(system, q)
    assert discrete.partition is not None
    assert discrete.partition.sums == ()  # whose pivots would have runs take other coordinates more often
    y = [*q, *rng.standard_normal(robot.nv), 0.0, 0.0]
    signals = signals_at(system, 0.0, discrete, None)
    one, other = (evaluate_equations(system, signals, y, discrete, m) for m in (system.model, system.exchanged))
    for what in ("q", "qd", "qdd", "tau", "resistance"):
        assert off(np.array(getattr(other, what)), np.array(getattr(one, what))) < 1e-11
    for what in ("power", "loss", "guard"):
        assert float(getattr(other, what)) == pytest.approx(float(getattr(one, what)), rel=1e-11, abs=1e-12)


def rough():
    """The four-bar with dry friction, of which the rocker's holds it for a while, an actuator and a stiff crank."""
    document = yamls.load(denoc.load("four-bar").document.text)
    for link in document["links"]:
        link["joint"]["friction"] = {"coulomb": 2.0 if link["name"] == "rocker" else 0.3, "viscous": 0.1}
    return denoc.loads(yamls.dump(document))


LIFT = {"name": "lift", "link": "coupler", "at": [0.1, 0.02, 0], "along": [0, 1, 0], "law": "rate", "rate": 0.4}


@pytest.mark.parametrize(
    "robot, scenario",
    [
        ("four-bar", {"initial": {"A0": "60 deg"}}),
        ("carpet-scraper", {}),
        ("three-rrr", {}),
        ("rough", {"initial": {"A0": "60 deg"}}),  # held, torn loose, and held again
        # of three actuators one has a prescribed motion, whose force is sought
        ("three-rrr", {"motion": {"J1": {"law": "harmonic", "amplitude": 0.1, "frequency": 1, "offset": 1.0472}}}),
        ("four-bar", {"initial": {"A0": "60 deg"}, "closure": {"method": "projection-svd"}}),
    ],
)
@pytest.mark.sampled(3)
def test_runs_give_the_reactions_energies_and_forces_of_the_real_links(robot, scenario):
    made = rough() if robot == "rough" else denoc.load(robot)
    document = {
        "task": "simulate",
        "time": {"end": 0.1, "step": 0.01},
        "solver": {"rtol": 1e-11, "atol": 1e-13},
        "record": {"reactions": True},
        **scenario,
    }
    tables = []
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            result = denoc.run(document, made)
            assert result.ended == "done"
            tables.append(result.table)
    assert set(tables[0]) == set(tables[1])
    assert any("reaction" in name for name in tables[0])
    for name in tables[0]:
        one, other = (np.array(table[name], dtype=float) for table in tables)
        if np.isfinite(one).all():
            assert abs(other - one).max() <= 1e-7 * max(1.0, abs(one).max()), name


def test_where_multipliers_count_masses_stay_where_they_are():
    """Drives are ties whose forces are sought, and other methods don't close their loops in the equations."""
    robot = denoc.load("four-bar")
    assert other_masses(planned(robot))
    for closure in ("penalty", "multipliers"):
        system = planned(robot, closure={"method": closure} | ({"k": 1e6} if closure == "penalty" else {}))
        assert system.exchanged is system.regrouped
    driven = planned(robot, drives=[LIFT])
    assert driven.exchanged is driven.regrouped
    trees = planned(denoc.load("planar3r"))
    assert trees.exchanged is trees.regrouped


def test_a_loop_over_equal_subsystems_has_moved_masses_too():
    """Its numbers are those of the straight text, and the accelerations those of the real links."""
    robot = denoc.loads(series.in_series(6))
    loops, (q, qd, tau) = loop_closure(robot), series.states(robot, 9)
    text = Forward.at(loops, q[0], robot.driven)
    elements, again = text._elements
    assert again
    numbers = [body.h for one in elements for body in one.numbers.bodies]
    assert numbers == [body.h for body in exchanged(loops)]
    with using_backend("compiled"):
        found = denoc.forward(robot, q, qd, tau)
    for k in range(9):
        given = {"q": q[k].tolist(), "qd": qd[k].tolist(), "tau": tau[k].tolist()}
        assert off(found[k], np.array(text.text(given, loops.bodies)[0], dtype=float)) < 1e-10
