"""Single calls lead straight into compiled code: same numbers as plain, whatever the arguments are, and no detour."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest

import denoc
import yamls
from denoc.functions import FUNCTIONS
from denoc.machine.backend import using_backend
from denoc.machine.jit import interpreter
from denoc.mechanics.quantities import calls
from denoc.study import chain_robot_for_times
from random_robots import drawn

EXACT = 1e-12
TREES = ["puma", "space-arm", "spherical-arm", "tree", "elastic-arm"]
MECHANISMS = ["four-bar", "three-rrr", "gough-stewart", "suspension", "carpet-scraper"]
needs_builtins = pytest.mark.skipif(
    interpreter.interpreter_addresses() is None, reason="this interpreter is called in the general way"
)


def state(robot, seed=0):
    """A state with its loops closed: random for trees, at rest for mechanisms; and numbers for each speed."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, robot.nv)
    if robot.tied:
        return denoc.assemble(robot, robot.q0), np.zeros(robot.nv), x
    return np.array(robot.q0) + rng.uniform(-0.5, 0.5, robot.nq), rng.uniform(-1.0, 1.0, robot.nv), x


def both(call, *given, **named):
    """What the call gives by the plain text; and what it gives once there is code."""
    with using_backend("plain"):
        right = call(*given, **named)
    with using_backend("compiled"):
        call(*given, **named)
    return right, call(*given, **named)


def off(found, right):
    return abs(np.asarray(found) - right).max() / max(abs(np.asarray(right)).max(), 1e-9)


@pytest.fixture
def no_detour(monkeypatch):
    """Fails where a call goes through the checks of Python."""

    def detour(*given, **named):
        pytest.fail("the call has left the direct way")

    def close():
        monkeypatch.setattr(calls, "Samples", detour)
        monkeypatch.setattr("denoc.mechanics.mechanisms.mechanism.Samples", detour)

    return close


@needs_builtins
@pytest.mark.parametrize("name", TREES + MECHANISMS)
@pytest.mark.parametrize("what", ["inverse", "forward"])
@pytest.mark.sampled(2)
def test_a_call_goes_straight_into_compiled_code(name, what, no_detour):
    robot = denoc.load(name)
    given = state(robot)
    if what == "inverse" and robot.tied:
        given = (*given[:2], np.zeros(robot.nv))
    right, found = both(getattr(denoc, what), robot, *given)
    assert off(found, right) <= EXACT
    handle = denoc.function(robot, what)
    no_detour()
    rows = np.stack([np.stack([x, x]) for x in given[1:]])
    for call in (lambda *x: getattr(denoc, what)(robot, *x), handle):
        assert np.array_equal(call(*given), found)
        assert np.array_equal(call(*(x.tolist() for x in given)), found)
        assert np.array_equal(call(given[0], *rows[:, 0]), found)
        assert np.array_equal(call(*(tuple(x) for x in given)), found)  # of numbers as NumPy has them
        assert np.array_equal(call(*(np.asfortranarray(np.stack([x, x]))[0] for x in given)), found)


@needs_builtins
@pytest.mark.parametrize("kind", ["f4", "i8", "i4"])
def test_arrays_of_other_numbers_are_converted(kind, no_detour):
    robot = denoc.load("puma")
    given = [(4 * x).astype(kind) for x in state(robot)]
    right, found = both(denoc.forward, robot, *given)
    assert off(found, right) <= EXACT
    no_detour()
    assert np.array_equal(denoc.forward(robot, *given), found)


@needs_builtins
@pytest.mark.parametrize("name, links", [("puma", ["link6"]), ("tree", None), ("three-rrr", ["platform"])])
@pytest.mark.parametrize("what", ["inverse", "forward"])
@pytest.mark.sampled(2)
def test_wrenches_are_arguments_like_others(name, links, what, no_detour):
    robot = denoc.load(name)
    links = links or [link.name for link in robot.links][-2:]
    rng = np.random.default_rng(4)
    wrenches = {link: rng.uniform(-2, 2, 6) for link in links}
    given = state(robot)
    given = (*given[:2], np.zeros(robot.nv)) if robot.tied else given
    call = getattr(denoc, what)
    right, found = both(call, robot, *given, wrenches)
    without, _ = both(call, robot, *given)
    assert off(found, right) <= EXACT
    assert off(found, without) > 1e-6
    no_detour()
    assert np.array_equal(call(robot, *given, {link: six.tolist() for link, six in wrenches.items()}), found)
    other = call(robot, *given, {link: 2.0 * six for link, six in wrenches.items()})
    assert off(other - found, right - without) <= 1e-9  # they enter linearly


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(4)
def test_wrenches_of_the_file_in_both_axes(seed):
    """Random robots with wrenches in link and base axes: for one sample and many, in a straight line and in a loop."""
    case = drawn(seed)
    many = [np.stack([x] * 9) for x in (case.q, case.qd, case.qdd)]
    for call in (denoc.inverse, denoc.forward):
        right, found = both(call, case.robot, case.q, case.qd, case.qdd)
        bound = (
            1e-13 if call is denoc.inverse else max(1e-13, 1e-15 * np.linalg.cond(denoc.inertia(case.robot, case.q)))
        )
        assert off(found, right) <= 10 * bound
        for form in ("straight", "rolled"):
            with using_backend("compiled", form):
                assert off(call(case.robot, *many), right) <= 10 * bound


def test_wrenches_in_base_axes_beyond_the_straight_line(monkeypatch):
    """Against the same forces in the axes of the links; the plain text isn't asked."""
    robot = chain_robot_for_times(40)
    rng = np.random.default_rng(6)
    q, qd, x = rng.uniform(-1, 1, (3, 12, 40))
    names = [robot.links[k].name for k in (17, 39, 17)]
    forces, points = rng.uniform(-3, 3, (3, 6)), rng.uniform(-1, 1, (3, 3))
    loaded = denoc.loads(with_wrenches(robot, names, forces, points))
    right = denoc.inverse(robot, q, qd, x)
    for n in range(12):
        for name, six, at in zip(names, forces, points):
            J = denoc.jacobian(robot, q[n], name, at=at)
            right[n] -= J.T @ six
    with using_backend("compiled"):
        monkeypatch.setattr(calls, "_plain", lambda *given: pytest.fail("by the plain text"))
        assert off(denoc.inverse(loaded, q, qd, x), right) <= 1e-12


def with_wrenches(robot, names, forces, points):
    file = yamls.load(robot.document.text)
    file["wrenches"] = [
        {"link": name, "moment": six[:3].tolist(), "force": six[3:].tolist(), "at": at.tolist(), "axes": "base"}
        for name, six, at in zip(names, forces, points)
    ]
    return yamls.dump(file)


@needs_builtins
@pytest.mark.parametrize("name", ["puma", "space-arm", "tree"])
def test_hybrid_goes_straight_for_each_pattern(name, no_detour):
    robot = denoc.load(name)
    q, qd, x = state(robot)
    tau = denoc.inverse(robot, q, qd, x)
    patterns = [np.arange(robot.nv) % 2 == 0, np.arange(robot.nv) < 2]
    given = [(np.where(known, x, np.nan), np.where(known, np.nan, tau)) for known in patterns]
    for rates, forces in given:
        both(denoc.hybrid, robot, q, qd, rates, forces)
    no_detour()
    for rates, forces in given:
        for found, right in zip(denoc.hybrid(robot, q, qd, rates, forces), (x, tau)):
            assert off(found, right) <= 1e-9
        found = denoc.hybrid(robot, q.tolist(), qd.tolist(), rates.tolist(), forces.tolist())
        assert off(found[0], x) <= 1e-9


@needs_builtins
@pytest.mark.parametrize("what", ["inverse", "forward", "derivatives"])
@pytest.mark.parametrize("count", [None, 9])
def test_arrays_out_of_a_pickle_are_called_like_others(what, count, no_detour):
    """Their type is another object than NumPy's own; processes that share work send such arrays."""
    robot = denoc.load("puma")
    given = state(robot) if count is None else tuple(np.tile(x, (count, 1)) for x in state(robot))
    call = getattr(denoc, what)
    with using_backend("compiled"):
        call(robot, *given)
    right, sent = call(robot, *given), pickle.loads(pickle.dumps(given))
    assert not any(x.dtype is np.dtype(float) for x in sent)
    no_detour()
    found = call(robot, *sent)
    for x, y in zip(found.values(), right.values()) if what == "derivatives" else [(found, right)]:
        assert np.array_equal(x, y)


@needs_builtins
def test_many_joints_are_called_in_a_straight_line(no_detour):
    robot = chain_robot_for_times(34)
    given = state(robot)
    right, found = both(denoc.inverse, robot, *given)
    assert off(found, right) <= EXACT
    no_detour()
    assert np.array_equal(denoc.inverse(robot, *given), found)


def test_positions_of_another_partition_are_as_good():
    """A direct call leads into the code of one partition; where that doesn't serve, another one does."""
    robot = denoc.load("four-bar")
    rng = np.random.default_rng(2)
    handle = denoc.function(robot, "forward")
    for _ in range(30):
        q = denoc.assemble(robot, np.array(robot.q0) + rng.uniform(-2.0, 2.0, robot.nq))
        tau = rng.uniform(-1, 1, robot.nv)
        with using_backend("plain"):
            right = denoc.forward(robot, q, np.zeros(robot.nv), tau)
        assert off(handle(q, np.zeros(robot.nv), tau), right) <= 1e-9


def test_open_loops_are_refused_by_a_direct_call_too():
    robot = denoc.load("four-bar")
    q, rest, tau = state(robot)
    handle = denoc.function(robot, "forward")
    handle(q, rest, tau)
    with pytest.raises(denoc.InputError, match="aren't closed"):
        handle(q + 0.1, rest, tau)


# ---- the functions of one robot


@pytest.mark.parametrize("what", FUNCTIONS)
@pytest.mark.parametrize("name", ["puma", "four-bar"])
def test_a_function_gives_what_the_call_gives(what, name):
    robot = denoc.load(name)
    q, qd, x = state(robot)
    given = (q, qd, x, x)[: 1 + FUNCTIONS[what].rates]
    if name == "puma" and what == "reduced":
        given = (q, qd)
    right, found = getattr(denoc, what)(robot, *given), denoc.function(robot, what)(*given)
    pairs = [(right, found)]
    if isinstance(right, dict):
        assert list(right) == list(found)
        pairs = [(right[key], found[key]) for key in right]
    elif isinstance(right, tuple):
        pairs = list(zip(right, found))
    for one, other in pairs:
        assert np.allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("what", ["invers", "", None, 3, ["inverse"]])
def test_no_such_function(what):
    with pytest.raises(denoc.InputError, match="no such function"):
        denoc.function(denoc.load("puma"), what)


def test_no_robot():
    for robot in (None, "puma", 3):
        for call, given in ((denoc.function, ["inverse"]), (denoc.inverse, [[0], [0], [0]])):
            with pytest.raises(denoc.InputError, match="not a robot"):
                call(robot, *given)


def test_wrong_arguments_of_a_function_are_named():
    handle = denoc.function(denoc.load("puma"), "inverse")
    zero = np.zeros(6)
    with pytest.raises(denoc.InputError, match="`qd` has the wrong shape"):
        handle(zero, zero[:3], zero)
    with pytest.raises(denoc.InputError, match="not finite"):
        handle(zero, zero * np.nan, zero)
    assert np.array_equal(handle(q=zero, qd=zero, qdd=zero), handle(zero, zero, zero))


def test_a_function_of_the_plain_text():
    robot = denoc.load("puma")
    with using_backend("plain"):
        handle = denoc.function(robot, "inverse")
        assert np.array_equal(handle(*state(robot)), denoc.inverse(robot, *state(robot)))
    assert all(not problem.offer._code for problem in robot.derived.values() if hasattr(problem, "offer"))


def test_a_robot_with_functions_is_copied_without_them():
    robot = denoc.load("puma")
    right = denoc.function(robot, "inverse")(*state(robot))
    other = pickle.loads(pickle.dumps(robot))
    assert not other.derived
    assert off(denoc.inverse(other, *state(robot)), right) <= EXACT


@pytest.mark.parametrize("changes", [{"links": ()}, {"gravity": (0.0, 0.0, 0.0)}, {}])
def test_a_robot_is_not_changed_part_by_part(changes):
    """Its bodies, its cuts and its file go together: with new links alone, old masses would be computed with."""
    robot = denoc.load("planar3r")
    for one in (robot, pickle.loads(pickle.dumps(robot)), copy.copy(robot), copy.deepcopy(robot)):
        with pytest.raises(denoc.InputError, match="can't be replaced"):
            dataclasses.replace(one, **changes)


def test_what_a_robot_was_made_of_stays_as_it_is():
    """Records and derivatives take numbers from its file's data, so these can't become others than those of its bodies."""
    robot = denoc.load("suspension")
    data = robot.document.data
    link = next(link for link in robot.links if link.points)
    entry = data["links"][0]
    for change in (
        lambda: entry.update(mass=100.0),
        lambda: entry.__setitem__("mass", 100.0),
        lambda: data["links"].append(entry),
        lambda: data["links"].sort(),
        lambda: data.pop("gravity"),
        lambda: link.points.clear(),
        lambda: robot.tree.seats.popitem(),
    ):
        with pytest.raises(TypeError, match="can't be changed"):
            change()
    for other in (copy.deepcopy(data), copy.deepcopy(pickle.loads(pickle.dumps(data)))):
        assert other == data
        other["links"][0]["mass"] = 100.0
        other["links"].append({})
    assert len(data["links"]) < len(other["links"])
    assert denoc.loads(json.dumps(data)).q0 == robot.q0


@pytest.mark.parametrize("count", [None, 3])
def test_the_state_of_a_simulator_is_for_reading(count):
    simulator = denoc.simulator(denoc.load("four-bar"), count)
    for state in (simulator.state, simulator.step(0.01, np.zeros((count, 1)) if count else [0.0]), [simulator.q]):
        for array in state:
            with pytest.raises(ValueError, match="read-only"):
                array += 1.0


# ---- results in the caller's array


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("name", ["puma", "chain", "three-rrr"])
@pytest.mark.sampled(2)
def test_results_in_the_callers_array(name, backend):
    robot = chain_robot_for_times(35) if name == "chain" else denoc.load(name)
    q, qd, x = state(robot)
    with using_backend(backend):
        right = denoc.forward(robot, q, qd, x)
        out = np.full(robot.nv, np.nan)
        assert denoc.forward(robot, q, qd, x, out=out) is out
        assert np.array_equal(out, right)
        rows = [np.stack([a] * 21) for a in (q, qd, x)]
        right = denoc.forward(robot, *rows)
        whole = np.full((42, robot.nv), np.nan)
        for out in (whole[:21], whole[::2], np.asfortranarray(whole[:21]), rows[2]):  # the last one is read as well
            found = denoc.forward(robot, rows[0], rows[1], rows[2].copy() if out is not rows[2] else rows[2], out=out)
            assert found is out
            assert np.array_equal(out, right)


@pytest.mark.parametrize("name", ["puma", "three-rrr"])
def test_an_array_that_cannot_take_the_results(name):
    robot = denoc.load(name)
    given = state(robot)
    frozen = np.zeros(robot.nv)
    frozen.flags.writeable = False
    for out in (np.zeros(robot.nv + 1), np.zeros((1, robot.nv)), np.zeros(robot.nv, "f4"), [0.0] * robot.nv, frozen):
        with pytest.raises(denoc.InputError, match="`out` can't take the results"):
            denoc.forward(robot, *given, out=out)


def test_limits_of_shared_work_hold_in_every_call():
    """Six actuators for three freedoms, of which one is at its limit: also where the code is there already."""
    file = yamls.load(denoc.load("three-rrr").document.text)
    for link in file["links"]:
        link["joint"]["actuated"] = link["name"] != "platform"
    robot = denoc.loads(yamls.dump(file))
    q, rest = denoc.assemble(robot, robot.q0), np.zeros(robot.nv)
    free, _ = both(denoc.inverse, robot, q, rest, rest)
    assert len(free) == 6
    worst = int(abs(free).argmax())
    most = 0.9 * float(abs(free[worst]))
    name = next(joint.name for joint in robot.moving if joint.speeds == (robot.driven[worst],))
    for link in file["links"]:
        if link["joint"]["name"] == name:
            link["joint"]["effort"] = {"limits": [-most, most]}
    limited = denoc.loads(yamls.dump(file))
    with using_backend("compiled"):
        first = denoc.inverse(limited, q, rest, rest)
    assert abs(first[worst]) == pytest.approx(most, rel=1e-9)
    handle = denoc.function(limited, "inverse")
    for _ in range(3):
        assert np.allclose(denoc.inverse(limited, q, rest, rest), first, rtol=1e-9)
        assert np.allclose(handle(q, rest, rest), first, rtol=1e-9)
