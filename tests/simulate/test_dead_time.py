"""Laws with dead time see the state of some time ago: delay differential equations, beside the method of steps."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp

import denoc
from denoc.errors import InputError
from denoc.machine.backend import using_backend
from denoc.machine.stepping import PastSteps
from denoc.simulate import runner
from denoc.simulate.systems.memory import Memory, joined_instants
from denoc.simulate.systems.signals import signal_rows

BLOCK = """
{name: block, convention: frames, links: [{name: b, joint: {type: prismatic, name: s, axis: [1, 0, 0] MORE}, mass: 1,
 com: [0, 0, 0]}], actuators: [{name: pull, link: b, direction: [1, 0, 0], axes: base}]}
"""
LATE = {"law": "expression", "force": "-4*s.q - 0.5*s.qd", "dead_time": "0.3 s"}


def block(joint="s", law=LATE, more="", **solver):
    scenario = {"task": "simulate", "time": {"end": 2, "step": 0.05}, "initial": {"s": 1.0}, "rates": {"s": 0.2}}
    return denoc.run({**scenario, "forces": {joint: law}, "solver": solver}, denoc.loads(BLOCK.replace("MORE", more)))


def by_steps(t, delay=0.3):
    """The exact motion of the block: from one multiple of the delay to the next a polynomial."""
    x, v, past, pieces = 1.0, 0.2, (Polynomial([1.0]), Polynomial([0.2])), []
    for _ in range(int(t[-1] / delay) + 1):
        speed = (-4 * past[0] - 0.5 * past[1]).integ() + v
        past = speed.integ() + x, speed
        pieces.append(past)
        x, v = past[0](delay), past[1](delay)
    places = np.minimum((t / delay + 1e-9).astype(int), len(pieces) - 1)
    return np.array([[part(at - k * delay) for part in pieces[k]] for at, k in zip(t, places)]).T


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("joint", ["s", "pull"])
def test_a_block_moves_by_the_polynomials_of_the_method_of_steps(joint, backend):
    """Under its joint's actuator, and under one on its link."""
    with using_backend(backend):
        run = block(joint, rtol=1e-11)
    q, qd = by_steps(run.t)
    np.testing.assert_allclose(run.table["s.q"], q, atol=3e-10)
    np.testing.assert_allclose(run.table["s.qd"], qd, atol=3e-10)
    force = run.table["s.tau" if joint == "s" else "pull.force"]
    late = np.where(run.t < 0.3 - 1e-9, -4 * 1.0 - 0.5 * 0.2, np.roll(-4 * q - 0.5 * qd, 6))
    np.testing.assert_allclose(force, late, atol=1e-8)
    assert run.audit["energy_share"] < 1e-4


@pytest.mark.parametrize(
    "solver, off",
    [
        ({"method": "dop853", "rtol": 1e-11}, 1e-9),
        ({"method": "rk56", "rtol": 1e-9}, 1e-5),  # whose steps are joined by cubics
        ({"method": "radau", "rtol": 1e-9}, 1e-6),
        ({"method": "bdf", "rtol": 1e-10}, 1e-6),
        ({"method": "rk4", "step": 0.0125}, 1e-6),
    ],
)
def test_with_every_kind_of_integrator(solver, off):
    run = block(**solver)
    np.testing.assert_allclose(run.table["s.q"], by_steps(run.t)[0], atol=off)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.sampled(2)
def test_a_pendulum_held_late_is_that_of_another_integration(backend):
    """Along a reference at its present place, by scipy's DOP853 from one multiple of the delay to the next."""
    text = "{name: p, convention: frames, links: [{name: p, joint: {type: revolute, name: j, axis: [0, 1, 0]}, mass: 2, com: [0, 0, -0.5], inertia: {xx: 0, yy: 0.1, zz: 0}}]}"
    law = {"law": "pd", "kp": 12, "kd": 2, "dead_time": "0.15 s"}
    motion = {"law": "harmonic", "amplitude": 0.4, "frequency": 0.7}
    scenario = {"task": "simulate", "time": {"end": 1.5, "step": 0.05}, "solver": {"rtol": 1e-11}, "rates": {"j": 1.0}}
    with using_backend(backend):
        run = denoc.run({**scenario, "motion": {"j": motion}, "forces": {"j": law}}, denoc.loads(text))
    place, w, parts = 0.4, 2 * np.pi * 0.7, []

    def slope(t, y):
        before = t - 0.15
        q, qd = (
            ([0.0, 1.0], [0.0, 1.0])[0]
            if before <= 0
            else parts[min(int(before / 0.15 + 1e-9), len(parts) - 1)](before)
        )
        force = 12 * (place * np.sin(w * t) - q) + 2 * (place * w * np.cos(w * t) - qd)
        return [y[1], (force - 2 * 9.81 * 0.5 * np.sin(y[0])) / (0.1 + 2 * 0.25)]

    y = [0.0, 1.0]
    for k in range(10):
        done = solve_ivp(slope, (k * 0.15, (k + 1) * 0.15), y, "DOP853", rtol=1e-12, atol=1e-13, dense_output=True)
        parts.append(done.sol)
        y = done.y[:, -1]
    wanted = [parts[min(int(t / 0.15 + 1e-9), 9)](t)[0] for t in run.t]
    np.testing.assert_allclose(run.table["j.q"], wanted, atol=1e-8)


def test_in_a_mechanism_forces_are_those_of_rows_before():
    scenario = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.2, "step": 0.01}, "solver": {"rtol": 1e-10}}
    law = {"law": "expression", "force": "2*rocker.B.y - 0.3*qd", "dead_time": 0.04}
    runs = []
    for backend in ("plain", "compiled"):
        with using_backend(backend):
            runs.append(denoc.run({**scenario, "forces": {"A0": law}, "record": {"points": ["rocker.B"]}}))
    for column in ("A0.q", "B0.qd", "A0.tau"):
        np.testing.assert_allclose(runs[0].table[column], runs[1].table[column], rtol=0, atol=1e-9)
    now = 2 * runs[0].table["rocker.B.y"] - 0.3 * runs[0].table["A0.qd"]
    np.testing.assert_allclose(runs[0].table["A0.tau"], [*[now[0]] * 4, *now[:-4]], atol=1e-7)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_late_forces_end_at_limits(backend):
    limited = ", actuated: true, effort: {limits: [-2, 2]}"
    with using_backend(backend):
        run = block(more=limited, rtol=1e-10)
        clipped = block(law={**LATE, "force": "clip(-4*s.q - 0.5*s.qd, -2, 2)"}, more=", actuated: true", rtol=1e-10)
    np.testing.assert_allclose(run.table["s.q"], clipped.table["s.q"], atol=1e-7)
    events = [event["event"] for event in run.record["events"]]
    assert events[:3] == ["reaches its effort limit", "leaves its effort limit", "reaches its effort limit"]


def test_a_blow_is_felt_a_dead_time_later():
    """A block falls on a stop; its damper sees the speed before the blow until the dead time is over."""
    law = {"law": "expression", "force": "-5 - qd", "dead_time": 0.25}
    run = block(law=law, more=", limits: [0, 9], actuated: true", rtol=1e-10)
    assert run.record["events"][0]["event"] == "reaches its lower limit"
    blow = run.record["events"][0]["t"]
    felt = (run.t > blow + 0.25 + 1e-9) & (run.t < blow + 0.6)
    before = (run.t > blow + 1e-9) & (run.t < blow + 0.25 - 1e-9)
    np.testing.assert_allclose(run.table["s.tau"][felt], -5, atol=1e-7)
    assert (run.table["s.tau"][before] > -4).all()


def test_runs_begin_anew():
    """The same plan carried out twice, and an ensemble, have what a run alone has."""
    from denoc.scenario import carry_out_plan, prepare_scenario

    scenario = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.2, "step": 0.1}}
    scenario["forces"] = {"joint1": {"law": "pd", "kp": 10, "kd": 1, "to": 0.3, "dead_time": 0.02}}
    alone = denoc.run(scenario)
    plan = prepare_scenario(scenario)
    again = [carry_out_plan(plan) for _ in range(2)]
    runs = denoc.ensemble(scenario, [{"initial.joint2": x} for x in (0.0, 0.1)])
    for one in (*again, runs[0]):
        np.testing.assert_allclose(one.table["joint1.q"], alone.table["joint1.q"], rtol=0, atol=1e-12)
    other = denoc.run({**scenario, "initial": {"joint2": 0.1}})
    np.testing.assert_allclose(runs[1].table["joint1.q"], other.table["joint1.q"], rtol=0, atol=1e-12)


WRENCH = {"link": "link3", "force": [{"law": "expression", "force": "1", "dead_time": 0.1}, 0, 0]}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"solver": {"method": "rk4", "step": 0.03}}, "the steps of `rk4` are longer"),
        ({"wrenches": [WRENCH]}, "a wrench has no dead time"),
        ({"forces": {"joint1": {"law": "pd", "kp": 1, "to": 0, "dead_time": "-1 s"}}}, "dead_time"),
        ({"forces": {"joint1": {"law": "pd", "kp": 1, "to": 0, "dead_time": 1e-9}}}, "more than 1000000 steps"),
    ],
)
def test_mistakes_stand_at_their_places(changes, message):
    law = {"law": "pd", "kp": 1, "to": 0, "dead_time": 0.02}
    scenario = {"robot": "planar3r", "task": "simulate", "time": {"end": 0.2, "step": 0.1}, "forces": {"joint1": law}}
    with pytest.raises(InputError) as error:
        denoc.run({**scenario, **changes})
    assert message in str(error.value)


def test_a_dead_time_as_long_as_the_run_is_doubted():
    """The force is the one at the start all the time."""
    run = block(law={**LATE, "dead_time": 2}, rtol=1e-9)
    assert "the law sees the first state all the time" in run.record["warnings"][0]
    np.testing.assert_allclose(run.table["s.q"], 1 + 0.2 * run.t - 0.5 * 4.1 * run.t**2, atol=1e-9)
    assert not block().record["warnings"]


def test_what_has_no_past_is_refused():
    law = {"law": "expression", "force": "-qd", "dead_time": 0.02}
    inverse = {"task": "inverse", "time": {"end": 1, "step": 0.1}, "motion": {"A0": {"law": "rate", "rate": 2}}}
    with pytest.raises(InputError, match="only in a simulation"):
        denoc.run({"robot": "four-bar", **inverse, "forces": {"B0": law}})
    free = {"task": "simulate", "time": {"end": 0.1}, "closure": {"method": "projection-svd-raw"}}
    with pytest.raises(InputError, match="no joint speeds"):
        denoc.run({"robot": "four-bar", **free, "forces": {"A0": law}})


# ---- the compiled loop looks back by itself

EFFORT = ", actuated: true, effort: {limits: [-2, 2]}"
SWING = {"law": "expression", "force": "2*rocker.B.y - 0.3*qd + 5*sin(2*t)", "dead_time": 0.04}
OF_BLOCK = {"time": {"end": 2, "step": 0.05}, "initial": {"s": 1.0}, "rates": {"s": 0.2}, "forces": {"s": LATE}}
BALL = """
{name: ball, convention: frames, links: [{name: b, joint: {type: spherical, name: j}, mass: 1, com: [0, 0, -0.5],
 inertia: {xx: 0.1, yy: 0.1, zz: 0.02}, points: {tip: [0, 0.1, -1]}}]}
"""
OF_BALL = ["-3*j.wx", "-b.tip.vx - 3*j.wy + 2*j.e1", "-0.1*j.wz"]
AHEAD = {"law": "expression", "force": "-60*q - 10*qd + 5*joint1.qd + 2*joint1.q + sin(t)", "dead_time": 0.03}
HELD = {"law": "pd", "kp": 60, "kd": 10, "to": 0.3}


def carried(scenario, robot=None):
    """The run by plain text and by compiled code, and how many steps the latter took in Python and in the loop."""
    steps, add = {True: 0, False: 0}, Memory.add

    def counted(memory, begin, course):
        compiled = isinstance(course, PastSteps)
        steps[compiled] += len(course.begins) if compiled else 1
        add(memory, begin, course)

    runs = []
    for backend in ("plain", "compiled"):
        steps.update({True: 0, False: 0})
        with using_backend(backend), pytest.MonkeyPatch.context() as patch:
            patch.setattr(Memory, "add", counted)
            scenario = {"task": "simulate", "solver": {"rtol": 1e-10}, **scenario}
            runs.append(denoc.run(scenario) if robot is None else denoc.run(scenario, denoc.loads(robot)))
    return *runs, steps[False], steps[True]


CASES = {
    "sticks": ({**OF_BLOCK}, BLOCK.replace("MORE", ", friction: {coulomb: 0.5, viscous: 0.1}")),
    "stops and effort": (OF_BLOCK, BLOCK.replace("MORE", EFFORT + ", friction: {coulomb: 0.5}, limits: [-0.1, 3]")),
    "at a link": ({**OF_BLOCK, "forces": {"pull": LATE}}, BLOCK.replace("MORE", "")),
    "dop853": ({**OF_BLOCK, "solver": {"method": "dop853", "rtol": 1e-10}}, BLOCK.replace("MORE", "")),
    "radau": ({**OF_BLOCK, "solver": {"method": "radau", "rtol": 1e-9}}, BLOCK.replace("MORE", "")),
    "bdf": (
        {**OF_BLOCK, "solver": {"method": "bdf", "rtol": 1e-9}},
        BLOCK.replace("MORE", ", friction: {coulomb: 0.5, viscous: 0.1}"),
    ),
    "more steps than there is room for": (
        {**OF_BLOCK, "forces": {"s": {**LATE, "dead_time": 0.8}}, "solver": {"rtol": 1e-9, "max_step": 1e-3}},
        BLOCK.replace("MORE", ""),
    ),
    "Euler parameters and points": (
        {"time": {"end": 0.5, "step": 0.05}, "rates": {"j": [0.3, 1.1, 2.2]}}
        | {"forces": {"j": {"law": "expression", "force": OF_BALL, "dead_time": 0.05}}},
        BALL,
    ),
    "two dead times": (
        {"robot": "puma", "time": {"end": 0.4, "step": 0.02}}
        | {"forces": {"joint1": {**HELD, "dead_time": 0.02}, "joint2": {**HELD, "dead_time": 0.033}}},
        None,
    ),
    "prescribed joints": (
        {"robot": "puma", "time": {"end": 0.6, "step": 0.02}}
        | {"motion": {"joint1": {"law": "cycloid", "to": 1.0}}, "forces": {"joint2": AHEAD}},
        None,
    ),
    "a mechanism": (
        {"robot": "four-bar", "time": {"end": 0.8, "step": 0.05}, "forces": {"A0": SWING}}
        | {"solver": {"rtol": 1e-10, "at_singularity": "switch"}},
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_compiled_loop_looks_back_as_plain_steps_do(case):
    plain, compiled, alone, marched = carried(*CASES[case])
    assert marched > 4 * alone
    assert [e["event"] for e in plain.record["events"]] == [e["event"] for e in compiled.record["events"]]
    for column in plain.table:
        size = max(1.0, abs(plain.table[column]).max())
        np.testing.assert_allclose(compiled.table[column], plain.table[column], rtol=0, atol=1e-9 * size)
    assert compiled.audit["energy_share"] == pytest.approx(plain.audit["energy_share"], rel=1e-2, abs=1e-9)


def test_along_a_motion_that_begins_smoothly_no_step_is_python_s(monkeypatch):
    """In a leg as short as a dead time, a cycloid is a millionth of its way and no smoother than its rounding errors.

    Each of the hundred legs has one piece, of sixteen instants; thousands of pieces had been tried in the first ones.
    """
    instants = []

    def counted(system, times, *modes, **more):
        instants.extend(times)
        return signal_rows(system, times, *modes, **more)

    monkeypatch.setattr(runner, "signal_rows", counted)
    law = {"law": "pd", "kp": 60, "kd": 10, "dead_time": 0.02}
    scenario = {"time": {"end": 2, "step": 0.5}, "forces": {"s": law}}
    scenario["motion"] = {"s": {"law": "cycloid", "to": 1.0}}
    plain, compiled, alone, marched = carried(scenario, BLOCK.replace("MORE", ""))
    assert (alone, marched) == (0, compiled.audit["steps"])
    assert len(instants) < 100 * 16 * 2
    np.testing.assert_allclose(compiled.table["s.q"], plain.table["s.q"], rtol=0, atol=1e-13)


def test_nearly_equal_instants_are_one():
    """Three times 0.3 s isn't the row at 0.9 s to the last bit; LSODA can't take a step between them."""
    assert joined_instants([3 * 0.3, 0.1 * 3, 0.3, 1.7], [0.9, 0.0]) == [0.3, 0.9, 1.7]
    run = block(method="lsoda", rtol=1e-9)
    assert run.ended == "done"
    np.testing.assert_allclose(run.table["s.q"], by_steps(run.t)[0], atol=1e-6)
