"""Mechanisms go side by side, whatever number of their files differs, as each of them does by itself."""

from __future__ import annotations

import numpy as np
import pytest

import denoc
import yamls
from denoc.errors import AssemblyError
from denoc.machine.backend import using_backend
from denoc.mechanics.assembly import Alike, Measures, position_with_loops_closed
from denoc.mechanics.assembly.alike import least_squares_of_many_loops
from denoc.mechanics.closure import best_partition, best_partitions_of_many, loop_closure
from denoc.study import variations as planning
from denoc.study.run_blocks import blocks_of_variations
from denoc.text import find_library_file
from fourbar import angles, inertia_and_weight
from side_by_side import compared

FALL = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.2, "step": 0.05}, "initial": {"A0": 1.0}}
LENGTHS = [
    {"robot.links.coupler.joint.xyz": [0.1 + d, 0, 0], "robot.links.rocker.joint.xyz.0": 0.28 - 2 * d}
    for d in (-0.006, 0.0, 0.007, 0.011)
]
CASES = {
    "masses": (FALL, [{"robot.links.rocker.mass": 2.0 + k / 3, "robot.links.coupler.com.0": 0.1} for k in range(4)]),
    "lengths and masses": (FALL, [{**one, "robot.links.coupler.mass": 3.0 + k} for k, one in enumerate(LENGTHS)]),
    "points": (FALL, [{"robot.links.rocker.points.B": [0.25, d, 0]} for d in (0.0, 0.01, -0.02)]),
    "cuts": (FALL, [{"robot.loops.B.first.at": [0.3 + d, d, 0]} for d in (0.0, 0.01, -0.02)]),
    "where and how fast it starts": (FALL, [{"initial.A0": 0.8 + d, "rates.A0": 5 * d} for d in (0.0, 0.1, 0.4)]),
    "three loops' rows": (
        {"robot": "three-rrr", "task": "simulate", "time": {"end": 0.1, "step": 0.05}},
        [{"robot.links.platform.mass": 8.0 + k, "robot.links.link5.joint.xyz.0": 0.4 + k / 50} for k in range(3)],
    ),
    "multipliers, closed by nothing but them": (
        {**FALL, "closure": {"method": "multipliers"}},
        [{"robot.links.rocker.mass": 2.0 + k / 3, **one} for k, one in enumerate(LENGTHS[:3])],
    ),
    "loops that nothing keeps closed": (
        {**FALL, "closure": {"method": "denoc-extended"}},
        [{"robot.links.rocker.mass": 2.0 + k / 3} for k in range(3)],
    ),
}


RUBS = "robot.links.crank.joint.friction.coulomb"
MASSES = [{"robot.links.coupler.mass": x} for x in (2.8, 3.0, 3.3, 3.9)]
PULL = {"law": "harmonic", "amplitude": 8, "frequency": 3}
LONG = {**FALL, "time": {"end": 1.5, "step": 0.25}}
MODES = {
    "dry friction": (FALL, [{**one, RUBS: 0.3} for one in MASSES], set()),
    "friction that differs": (
        FALL,
        [{RUBS: 0.3 + x, "robot.links.rocker.joint.friction.coulomb": 0.1 + x / 9} for x in (0.0, 0.1, 0.2)],
        set(),
    ),
    "speeds that turn round, alone and with all others": (
        LONG,
        [{**one, RUBS: 0.05, "robot.links.rocker.joint.friction.coulomb": 0.02} for one in MASSES],
        {"stops slipping"},
    ),
    "lengths": (
        LONG,
        [{**one, RUBS: 0.05, "robot.links.rocker.joint.friction.coulomb": 0.02} for one in LENGTHS],
        set(),
    ),
    "starts": (FALL, [{"initial.A0": 0.8 + d, "rates.A0": 5 * d, RUBS: 0.3} for d in (-0.4, 0.0, 0.4)], set()),
    "effort limits": (
        {**FALL, "forces": {"A0": PULL}, "time": {"end": 0.5, "step": 0.05}},
        [{"robot.links.crank.joint.effort.limits": [-5 - x, 5]} for x in (0.0, 0.3, 0.9)],
        {"reaches its effort limit", "leaves its effort limit"},
    ),
    "stops that are far": (FALL, [{**one, "robot.links.crank.joint.limits": [-20.0, 22.0]} for one in MASSES], set()),
    "two loops": (
        {"robot": "three-rrr", "task": "simulate", "time": {"end": 0.1, "step": 0.05}},
        [
            {
                "robot.links.platform.mass": 8.0 + k,
                **{f"robot.links.link{n}.joint.friction.coulomb": 0.3 for n in (1, 5)},
            }
            for k in range(3)
        ],
        set(),
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", MODES)
def test_mechanisms_with_modes_go_side_by_side(left, what):
    scenario, variations, expected = MODES[what]
    together, alone = compared(left, scenario, variations)
    assert not alone
    assert expected <= {event["event"] for run in together for event in run.record["events"]}


PULLED = {**LONG, "forces": {"A0": PULL}}
EVERYWHERE = {RUBS: 0.8, **{f"robot.links.{name}.joint.friction.coulomb": 0.3 for name in ("rocker", "coupler")}}
FIVE = {"robot": "five-bar", "task": "simulate", "time": {"end": 0.8, "step": 0.1}}
HELD = {
    "from the start to the end": (LONG, [{**one, RUBS: 30.0} for one in MASSES], set()),
    "where they come to rest": (LONG, [{**one, RUBS: 0.8} for one in MASSES], {"held"}),
    "and break loose, again and again": (PULLED, [{**one, RUBS: 1.2} for one in MASSES], {"held", "moves up"}),
    "with lengths of their own": (PULLED, [{**one, RUBS: 1.2} for one in LENGTHS], {"held", "moves up"}),
    "at a stop": (LONG, [{**one, "robot.links.crank.joint.limits": [-0.5, 2.0]} for one in MASSES], {"held"}),
    "at a stop of their own": (
        PULLED,
        [{"robot.links.crank.joint.limits": [-0.5 - x, 2.0 + x]} for x in (0.0, 0.1, 0.3)],
        {"held", "free"},
    ),
    "by friction in all joints": (LONG, [{**one, **EVERYWHERE} for one in MASSES], {"held"}),
    "by friction in all joints, of which all let go": (PULLED, [{**one, **EVERYWHERE} for one in MASSES], {"held"}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", HELD)
def test_mechanisms_whose_joints_are_held_stay_in_the_lanes(left, what):
    scenario, variations, expected = HELD[what]
    together, alone = compared(left, scenario, variations)
    assert not alone
    assert expected <= {event["then"] for run in together for event in run.record["events"]}


def test_a_joint_breaks_loose_beside_one_that_moves(left):
    """One of two freedoms is held, until what holds it has grown too large."""
    together, alone = compared(left, FIVE, [{"robot.links.1^1.joint.friction.coulomb": 20.0 + x} for x in range(4)])
    assert not alone
    assert {run.record["events"][0]["event"] for run in together} == {"breaks loose"}


def test_joints_that_friction_and_a_stop_hold_together_leave_the_lanes(left):
    more = {RUBS: 0.4, "robot.links.rocker.joint.limits": [0.5, 2.0]}
    together, alone = compared(left, PULLED, [{**one, **more} for one in MASSES[:2]])
    assert alone == 2
    assert any(each["event"].startswith("reaches") for each in together[0].record["events"])


def test_few_mechanisms_wait_for_no_code_of_what_holds_them(left):
    """Where compiling has to pay, two runs take no further program; they go on by themselves."""
    rare = {**MASSES[0], RUBS: 0.77, "robot.links.rocker.mass": 2.61}
    with using_backend("auto"):
        left[0] = 0
        denoc.ensemble(LONG, [rare, {**rare, "robot.links.rocker.mass": 2.62}])
    assert left[0] == 2


def test_held_mechanisms_in_blocks_are_the_same_to_the_last_bit():
    scenario, variations, _ = HELD["and break loose, again and again"]
    whole = gathered(variations, 4, scenario)
    assert gathered(variations, 1, scenario) == whole


LED = {**FALL, "initial": {}, "motion": {"A0": {"law": "cycloid", "to": 2.0}}, "forces": {"A0": {"law": "feedforward"}}}
PUSH = {"link": "coupler", "force": [{"law": "harmonic", "amplitude": 3, "frequency": 2}, 1, 0], "at": [0.1, 0, 0]}
AHEAD = {joint.name: joint.initial[0] + 0.1 * k for k, joint in enumerate(denoc.load("three-rrr").moving[:3])}
PLANNED = {
    "masses": (LED, MASSES),
    "dampers, off the plan": (
        LED,
        [{"robot.links.crank.joint.friction.viscous": x / 9, **x_mass} for x, x_mass in enumerate(MASSES, 1)],
    ),
    "gravity": (LED, [{"robot.gravity": [0.1 * k, k - 9.81, 0]} for k in range(3)]),
    "smooth friction": (
        {**LED, "solver": {"friction": "smooth"}},
        [{**one, RUBS: 0.3, "robot.links.rocker.joint.friction.coulomb": 0.1} for one in MASSES],
    ),
    "a wrench": ({**LED, "wrenches": [PUSH]}, MASSES),
    "two loops": (
        {
            "robot": "three-rrr",
            "task": "simulate",
            "time": {"end": 0.1, "step": 0.05},
            "motion": {name: {"law": "cycloid", "to": x} for name, x in AHEAD.items()},
            "forces": {name: {"law": "feedforward"} for name in AHEAD},
        },
        [{"robot.links.platform.mass": 8.0 + k} for k in range(3)],
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", PLANNED)
def test_mechanisms_along_a_plan_go_side_by_side_with_forces_of_their_own(left, what):
    scenario, variations = PLANNED[what]
    together, alone = compared(left, scenario, variations)
    assert not alone
    first = denoc.load(scenario["robot"]).moving[0].name
    assert len({run.table[f"{first}.tau"][1] for run in together}) == len(variations)


@pytest.mark.parametrize("key", ["robot.links.coupler.joint.xyz.0", RUBS])
@pytest.mark.sampled(2)
def test_plans_of_other_lengths_and_with_joints_that_may_stick_go_alone(left, key):
    assert compared(left, LED, [{key: 0.1 + x} for x in (0.0, 0.002)])[1] == 2


def test_mechanisms_along_a_plan_in_blocks_are_the_same_to_the_last_bit():
    whole = gathered(MASSES, 4, LED)
    assert gathered(MASSES, 1, LED) == whole


def test_mechanisms_with_modes_in_blocks_are_the_same_to_the_last_bit():
    scenario, variations, _ = MODES["speeds that turn round, alone and with all others"]
    whole = gathered(variations, 4, scenario)
    assert gathered(variations, 1, scenario) == whole


@pytest.fixture
def planned(monkeypatch):
    """The variations that are planned in full, one after the other."""
    done, plan = [], planning.plan_of_scenario

    def counted(*given):
        done.append(given)
        return plan(*given)

    monkeypatch.setattr(planning, "plan_of_scenario", counted)
    return done


@pytest.mark.sampled(8)
@pytest.mark.parametrize("what", CASES)
def test_mechanisms_that_differ_in_numbers_go_side_by_side(left, what):
    scenario, variations = CASES[what]
    together, alone = compared(left, scenario, variations)
    assert not alone
    name = denoc.load(scenario["robot"]).moving[0].name
    assert len({run.table[f"{name}.q"][-1] for run in together}) == len(variations)


def test_each_mechanism_falls_under_its_own_gravity(left):
    """Its energy is that of its own gravity, and stays."""
    sizes = (9.81, 1.62, 0.0, 24.8)
    together, alone = compared(left, FALL, [{"robot.gravity": [0.0, -g, 0.5]} for g in sizes])
    assert not alone
    (height,) = {round(run.table["energy.potential"][0] / g, 12) for g, run in zip(sizes, together) if g}
    assert height > 0.01
    for run in together:
        assert abs(run.table["energy.residual"]).max() < 1e-6 * 9.81
    assert len({run.table["A0.q"][-1] for run in together}) == len(sizes)


def test_mechanisms_are_planned_once(planned):
    with using_backend("compiled"):
        runs = denoc.ensemble(FALL, CASES["lengths and masses"][1])
        assert len(planned) == 2  # the first of them, and the scenario without variations
        assert all(run.audit["closure"] < 1e-14 for run in runs)
    assert len(planned) == 2


def test_the_loops_of_lengths_that_differ_stay_closed():
    """The distance between the coupler's and the rocker's ends of the cut, from the tables alone."""
    pins = (0.3, 0.304, 0.296, 0.302)
    each = [{**one, "robot.loops.B.first.at": [pin, 0, 0]} for one, pin in zip(LENGTHS, pins)]
    for one, pin, run in zip(LENGTHS, pins, denoc.ensemble(FALL, each)):
        crank, base = one["robot.links.coupler.joint.xyz"][0], one["robot.links.rocker.joint.xyz.0"]
        a, b, c = (run.table[f"{name}.q"] for name in ("A0", "A", "B0"))
        ends = crank * np.exp(1j * a) + pin * np.exp(1j * (a + b)) - base - 0.25 * np.exp(1j * c)
        assert abs(ends).max() < 1e-14


def test_each_lane_moves_as_its_own_lengths_say(left):
    """The rocker's angle and the energy by trigonometry; where the second one is after 2 s is known from a run alone."""
    places = (0.1, 0.09)
    with using_backend("compiled"):
        runs = denoc.ensemble("four-bar-fall", [{"robot.links.coupler.joint.xyz": [x, 0, 0]} for x in places])
    assert not left[0]
    for reach, run in zip(places, runs):
        a = run.table["A0.q"]
        M, V, _ = inertia_and_weight(a, reach=reach)
        energy = M * run.table["A0.qd"] ** 2 / 2 + V
        assert energy == pytest.approx(energy[0], abs=1e-6)
        assert np.sin(run.table["B0.q"]) == pytest.approx(np.sin(angles(a, reach)[1]), abs=1e-12)
        assert run.audit["energy"] < 1e-7
    assert runs[1].table["A0.q"][-1] == pytest.approx(-3.3294, abs=5e-5)


def test_lengths_that_close_no_loop_are_refused_as_by_themselves():
    long = {"robot.links.rocker.joint.xyz": [2.0, 0, 0]}
    with pytest.raises(AssemblyError, match="the loops can't be closed"):
        denoc.ensemble(FALL, [{"robot.links.rocker.joint.xyz": [0.28, 0, 0]}, long])


def test_what_comes_to_a_singular_position_leaves_the_lanes(left):
    """Two of the runs come to a dead centre, where their coordinates become unusable; the others go on."""
    masses = [{"time.step": 0.5, "robot.links.1^1.mass": mass} for mass in (0.9, 1.0, 1.1, 1.2)]
    together, alone = compared(left, "five-bar-fall", masses)
    assert [run.ended for run in together] == ["done", "done", "singularity", "singularity"]
    assert alone >= 2


@pytest.mark.parametrize(("way", "ended"), [("stop", "singularity"), ("switch", "done")])
def test_in_lanes_too_a_singular_position_is_stopped_at_or_passed_in_other_coordinates(left, way, ended):
    """Saha's overview has the first of these runs; it is singular "after about 1.4 sec"."""
    scenario = {**yamls.load(find_library_file("five-bar-fall", "scenarios").read_text()), "time": {"end": 1.4}}
    scenario |= {"expect": ended, "solver": {**scenario["solver"], "at_singularity": way}}
    together, _ = compared(left, scenario, [{}, {"rates.J1^1": 0.01}])
    assert [run.ended for run in together] == [ended] * 2
    first, events = together[0], [[event["event"] for event in run.record["events"]] for run in together]
    if way == "stop":
        assert first.audit["singular"]["t"] == pytest.approx(1.36672, abs=1e-5)
    else:
        assert events == [["takes other coordinates"]] * 2
        assert 1.36 < first.record["events"][0]["t"] < 1.36672


def gathered(variations, most, scenario=FALL):
    """The columns of all runs as bytes, by place."""
    made = blocks_of_variations(scenario, variations, most=most)
    return {
        place: [values[row].tobytes() for values in block.columns.values()]
        for block in made
        for row, place in enumerate(block.places)
    }


def test_mechanisms_in_blocks_are_the_same_to_the_last_bit():
    variations = CASES["lengths and masses"][1]
    whole = gathered(variations, 4)
    assert gathered(variations, 1) == whole
    turned = gathered(variations[::-1], 3)
    assert [turned[3 - k] for k in range(4)] == [whole[k] for k in range(4)]


# ---- many mechanisms at once, beside each by itself


def test_many_mechanisms_are_closed_and_divided_as_each_by_itself():
    robot = denoc.load("three-rrr")
    loops, random = loop_closure(robot), np.random.default_rng(3)
    q = np.array(robot.q0) + random.normal(scale=0.05, size=(6, robot.nq))
    alike = Alike(loops, Measures(loops.bodies, loops.ties, loops.couplings), len(q))
    closed, good = alike.closed(q, robot.driven)
    assert good.all()
    expected = np.array([position_with_loops_closed(loops, one, robot.driven) for one in q])
    assert closed == pytest.approx(expected, abs=1e-13)
    _, J = alike.near(closed, np.arange(len(q)))
    part = best_partition(loops, expected[0], (), robot.driven, summed=False)
    own = [best_partition(loops, one, (), robot.driven, summed=False) for one in expected]
    same = [(one.rows, one.N) == (part.rows, part.N) for one in own]
    assert alike.suits(part, robot.driven, J).tolist() == same
    of_others = best_partition(loops, expected[0], (), (3, 4, 5), summed=False)
    assert not alike.suits(of_others, robot.driven, J).any()
    pivots = [part.pivots_at(loops.jacobian(one)[0]) for one in expected]
    assert alike.pivots(part, J) == pytest.approx(np.array(pivots), rel=1e-10)


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "gough-stewart"])
def test_many_positions_are_divided_as_each(name):
    robot = denoc.load(name)
    loops, random = loop_closure(robot), np.random.default_rng(5)
    q = [position_with_loops_closed(loops, np.array(robot.q0), robot.driven)]
    for _ in range(9):
        near = q[0].copy()
        near[list(robot.driven)] += random.normal(scale=0.05, size=len(robot.driven))
        q.append(position_with_loops_closed(loops, near, robot.driven))
    J = np.array([loops.scaled(loops.jacobian(one)[0]) for one in q])
    for given in ((), (robot.driven[0],)):
        found = {}
        for part, these in best_partitions_of_many(loops, J, given, robot.driven):
            found |= dict.fromkeys(these.tolist(), part)
        for k, one in enumerate(q):
            own = best_partition(loops, one, given, robot.driven, summed=False)
            assert (found[k].rows, found[k].given, found[k].N, found[k].order) == (
                own.rows,
                own.given,
                own.N,
                own.order,
            )


def test_least_squares_of_many_are_those_of_each():
    random = np.random.default_rng(4)
    A, b = random.normal(size=(5, 6, 3)), random.normal(size=(5, 6))
    A[3, :, 2] = 2 * A[3, :, 0] - A[3, :, 1]  # where many x do, the shortest is wanted
    expected = [np.linalg.lstsq(one, right, rcond=1e-10)[0] for one, right in zip(A, b)]
    assert least_squares_of_many_loops(A, b) == pytest.approx(np.array(expected), abs=1e-9)
