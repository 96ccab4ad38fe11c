"""Long programs are compiled in pieces, and give what short ones give."""

import ctypes

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.machine.backend import objects
from denoc.machine.backend.choice import using_backend
from denoc.machine.jit import kernel, program_pieces
from denoc.machine.program.nodes import live_nodes, nodes_result_by_result
from denoc.machine.program.recording import Recording
from denoc.machine.program.scalars import cosine_sine, sign, square_root
from denoc.mechanics.quantities import programs, subject
from denoc.mechanics.quantities.offered import offered_dynamics_quantity
from denoc.robot.read import robot_file_number
from denoc.study import chain_robot_for_times

pytestmark = pytest.mark.sound


def program():
    """Results of all kinds: computed ones, an input, a constant, and one twice; a second group has a single column."""
    recording = Recording("toy")
    a, b = recording.input("a", 5), recording.input("b", 2)
    c, s = cosine_sine(a[0])
    x = [c * b[0], s + a[1] / (2.0 + b[1] * b[1]), -(a[2] - c), sign(a[3]) * a[4], square_root(a[4] * a[4] + 1.0)]
    for _ in range(40):
        x.append(0.5 * x[-1] * c + 0.4 * x[-3] * s - 0.3 * x[-4] * b[0])
    return recording.program(found=[*x, a[1], 3.25, x[0], *x[::-1]], last=[x[7] * s])


INPUTS, OUTPUTS = [5, 2], [93, 1]
ROWS = np.random.default_rng(4).uniform(-1.0, 1.0, (21, 7))


@pytest.fixture(params=[1, 7, 1000])
def in_pieces(request, monkeypatch):
    monkeypatch.setattr(program_pieces, "LONG", 0)
    monkeypatch.setattr(program_pieces, "PIECE", request.param)
    monkeypatch.setattr(program_pieces, "STORED", 11)
    return f"toy in pieces of {request.param}"


def codes(name, lanes=0):
    with using_backend("auto", lanes=lanes):
        many = kernel.build_kernel(program, INPUTS, OUTPUTS, [name, str(lanes)], False)
    return many, kernel.build_single_kernel(program, INPUTS, OUTPUTS, [name], False)


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.sampled(12)
def test_pieces_give_what_a_straight_line_gives(lanes, monkeypatch, in_pieces):
    a, b = np.ascontiguousarray(ROWS[:, :5]), np.ascontiguousarray(ROWS[:, 5:])
    many, one = codes(in_pieces, lanes)
    monkeypatch.setattr(program_pieces, "LONG", 10**9)
    whole, alone = codes("toy in one piece", lanes)
    right, finite, largest = whole(a, b)
    found, is_finite, reach = many(a, b)
    assert finite
    assert is_finite
    assert largest == reach
    for x, y in zip(found, right):  # sums are fused within a piece only
        assert off(x, y) < 1e-14
    for n in range(3):
        for x, y, z in zip(one.groups(a[n], b[n]), alone.groups(a[n], b[n]), right):
            assert off(x, y) < 1e-14
            assert off(x, z[n]) < 1e-14


def sparse():
    """Few numbers among many zeros, one of them at the end; a second group has none."""
    recording = Recording("sparse")
    a = recording.input("a", 3)
    found = [0.0] * 150
    found[3], found[77], found[78], found[-1] = a[0] * a[1], 1.0, a[2], a[0] + a[2]
    return recording.program(found=found, last=[a[1] - a[2]])


@pytest.mark.parametrize("cut", [0, 10**9])
def test_zeros_are_there_where_nothing_is_stored(cut, monkeypatch):
    monkeypatch.setattr(program_pieces, "LONG", cut)
    monkeypatch.setattr(program_pieces, "MANY", cut)
    given = np.ascontiguousarray(ROWS[:, :3])
    right = np.zeros((len(given), 150))
    right[:, 3], right[:, 77], right[:, 78] = given[:, 0] * given[:, 1], 1.0, given[:, 2]
    right[:, -1] = given[:, 0] + given[:, 2]
    many = kernel.build_kernel(sparse, [3], [150, 1], ["sparse", str(cut)], False)
    one = kernel.build_single_kernel(sparse, [3], [150, 1], ["sparse", str(cut)], False)
    out = [np.full((len(given), 150), np.nan), np.full((len(given), 1), np.nan)]
    _, finite, _ = many(given, out=out)
    assert finite
    assert (out[0] == right).all()
    assert (out[1][:, 0] == given[:, 1] - given[:, 2]).all()
    whole = np.array([np.concatenate(one.groups(row)) for row in given])
    assert (whole == np.concatenate(out, axis=1)).all()


def test_what_one_result_needs_comes_before_what_others_need():
    results = program().results()
    ordered, places = nodes_result_by_result(results), dict[int, int]()
    for place, node in enumerate(ordered):
        assert all(x.id in places for x in (node.a, node.b) if x is not None)
        assert places.setdefault(node.id, place) == place
    assert places.keys() == {node.id for node in live_nodes(results)}
    for k in range(len(results)):
        needed = live_nodes(results[: k + 1])
        assert {places[node.id] for node in needed} == set(range(len(needed)))


@pytest.mark.parametrize("count", [program_pieces.MANY - 1, program_pieces.MANY])
def test_many_results_of_one_sample_are_stored_at_once(count):
    """Of many samples they are stored column by column either way."""
    recording = Recording("many")
    a = recording.input("a", 3)
    many = recording.program(found=[a[k % 3] * float(k + 2) for k in range(count)])
    assert (program_pieces.cut_long_program(many, 1) is not None) == (count >= program_pieces.MANY)
    assert program_pieces.cut_long_program(many, 8) is None


@pytest.mark.parametrize("count", [1, 3, 7, 8, 9])
def test_what_lies_around_results_is_not_watched(count, monkeypatch):
    """Few results are fewer than those that the watch looks at together."""
    monkeypatch.setattr(program_pieces, "LONG", 0)
    recording = Recording("few")
    a = recording.input("a", 3)
    few = recording.program(found=[a[k % 3] * float(k + 2) for k in range(count)])
    one = kernel.build_single_kernel(lambda: few, [3], [count], ["few results", str(count)], False)
    given, room = np.array([0.5, -1.0, 2.0]), np.full(count + 34, np.nan)
    groups = np.array([given.ctypes.data], dtype=np.uintp)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(one.address)
    run(groups.ctypes.data, room.ctypes.data + 8 * 16, None)
    assert room[16 : 16 + count].tolist() == [given[k % 3] * (k + 2.0) for k in range(count)]
    assert room[16 + count] == 0.0  # all results are finite
    assert np.isnan(room[:16]).all()
    assert np.isnan(room[18 + count :]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
@pytest.mark.sampled(2)
def test_numbers_that_are_not_finite_are_seen(bad, in_pieces):
    many, one = codes(in_pieces)
    for k in (2, 4) if np.isfinite(bad) else (2, 4, 6):  # a huge divisor does no harm
        row = ROWS.copy()
        row[5, k] = bad
        assert not many(np.ascontiguousarray(row[:, :5]), np.ascontiguousarray(row[:, 5:]))[1]
        assert one(row[5, :5].copy(), row[5, 5:].copy()) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["puma", "space-arm", "tree"])
def test_derivatives_in_pieces(name, monkeypatch, tmp_path):
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path))
    monkeypatch.setattr(program_pieces, "LONG", 100)
    robot, rng = denoc.load(name), np.random.default_rng(2)
    q, (qd, tau) = np.array(robot.q0) + 0.3 * rng.random((9, robot.nq)), rng.random((2, 9, robot.nv))
    with using_backend("plain"):
        right = denoc.derivatives(robot, q, qd, tau)
    with using_backend("compiled"):
        found, alone = denoc.derivatives(robot, q, qd, tau), denoc.derivatives(robot, q[4], qd[4], tau[4])
    for key, x in right.items():
        assert off(found[key], x) < 1e-11
        assert off(alone[key], x[4]) < 1e-11


def test_long_robots_are_cut():
    made = offered_dynamics_quantity(chain_robot_for_times(16), "fdyn-derivatives").program()
    assert program_pieces.cut_long_program(made, 1) is not None
    assert (
        program_pieces.cut_long_program(offered_dynamics_quantity(denoc.load("puma"), "fdyn-derivatives").program(), 1)
        is None
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("name", ["puma", "space-arm", "tree", "spherical-arm"])
def test_columns_are_solved_for_in_a_loop(name, lanes, monkeypatch, tmp_path):
    # the last block of a matrix overlaps the one before wherever the lanes don't divide its size
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path))
    monkeypatch.setattr(subject, "MANY", 2)
    objects.forget_machine_code()
    robot, rng = denoc.load(name), np.random.default_rng(3)
    q, (qd, tau) = np.array(robot.q0) + 0.3 * rng.random((9, robot.nq)), rng.random((2, 9, robot.nv))
    with using_backend("plain"):
        right = denoc.derivatives(robot, q, qd, tau)
    with using_backend("compiled", lanes=lanes):
        found, alone = denoc.derivatives(robot, q, qd, tau), denoc.derivatives(robot, q[4], qd[4], tau[4])
        linear = denoc.linearize(robot, q[4], qd[4], tau[4])
    for key, x in right.items():
        assert off(found[key], x) < 1e-11
        assert off(alone[key], x[4]) < 1e-11
    n, actuated = robot.nv, list(linear["actuated"])
    assert off(linear["A"][n:], np.hstack([right["dq"][4], right["dqd"][4]])) < 1e-11
    assert off(linear["B"][n:], right["dtau"][4][:, actuated]) < 1e-11


def test_columns_of_robots_that_share_their_code(monkeypatch, tmp_path):
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path))
    monkeypatch.setattr(subject, "MANY", 2)
    objects.forget_machine_code()
    rng = np.random.default_rng(5)
    q, qd, tau = rng.random((3, 6))
    number = robot_file_number(denoc.load("puma"), "links.link6.mass")
    for mass in (1.0, 2.0, 3.0):
        robot = number.robot(mass)
        with using_backend("plain"):
            right = denoc.derivatives(robot, q, qd, tau)
        with using_backend("compiled"):
            found = denoc.derivatives(robot, q, qd, tau)
        for key, x in right.items():
            assert off(found[key], x) < 1e-11


def test_what_is_exported_and_counted_leaves_no_columns(monkeypatch):
    monkeypatch.setattr(subject, "MANY", 6)
    robot = denoc.load("puma")
    short, whole = (
        offered_dynamics_quantity(robot, "fdyn-derivatives").program(),
        programs.program_of_tree_quantity(robot, "fdyn-derivatives"),
    )
    assert short.columns is not None
    assert whole.columns is None
    assert len(live_nodes(short.results())) < len(live_nodes(whole.results()))
