"""Calls with wrong arguments: each raises a DenocError, whatever it is that came."""

import contextlib
import math
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend
from denoc.mechanics.quantities.offered import tree_angles_within_a_turn

pytestmark = pytest.mark.smoke

PUMA, BALL = denoc.load("puma"), denoc.load("spherical-arm")
RRR = denoc.load("three-rrr")
CALLS = {  # name → how many arguments beside the coordinates, all with one number a speed
    "inverse": 2,
    "forward": 2,
    "hybrid": 3,
    "inertia": 0,
    "bias": 1,
    "reactions": 2,
    "energy": 1,
    "frames": 0,
    "matrices": 1,
    "derivatives": 2,
    "linearize": 2,
}
WRONG = {
    "nothing": None,
    "text": "puma",
    "texts": ["1"] * 6,
    "text array": np.array(["1"] * 6),
    "a number": 3.0,
    "short": np.zeros(5),
    "long": np.zeros(7),
    "deep": np.zeros((2, 2, 6)),
    "ragged": [[1, 2], [3]],
    "NaN": np.full(6, np.nan),
    "infinity": [0, 0, 0, 0, 0, math.inf],
    "complex": np.zeros(6) + 1j,
    "dates": np.zeros(6, "datetime64[s]"),
    "nothings": [None] * 6,
    "mapping": {"joint1": 0},
    "set": {1, 2},
    "object": object(),
    "bytes": b"123456",
    "overflowing": [10**400] * 6,
    "digits": 10**5000,
    "text objects": np.array(["1"] * 6, dtype=object),
    "masked": np.ma.array(np.zeros(6), mask=[0, 0, 0, 0, 0, 1]),
    "an error of its own": type("Own", (), {"__array__": lambda self, *_, **__: {}["own"]})(),
    "beyond doubles": np.full(6, np.finfo(np.longdouble).max),
}


def kind(value):
    """Of a parameter, for its test's name: not all of these can be printed."""
    return type(value).__name__


def arguments(call, **changed):
    """Good arguments, some of them replaced by their place."""
    good = [np.zeros(6), *[np.zeros(6) for _ in range(CALLS[call])]]
    if call == "hybrid":
        good[3] = np.full(6, np.nan)
    for place, value in changed.items():
        good[int(place[1:])] = value
    return good


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("call", CALLS)
def test_wrong_arrays(call, what):
    for place in range(CALLS[call] + 1):
        if what == "nothing" and (call, place) in {("matrices", 1), ("linearize", 1), ("linearize", 2)}:
            continue  # left out
        if what in ("NaN", "nothings") and call == "hybrid" and place == 3:
            continue  # sought
        with pytest.raises(denoc.DenocError) as caught:
            getattr(denoc, call)(PUMA, *arguments(call, **{f"_{place}": WRONG[what]}))
        assert len(str(caught.value)) < 500


def test_what_is_wrong_leaves_the_callers_array_as_it_was():
    """Before there is code and after."""
    robot = denoc.load("planar3r")
    for count in (1, 9):
        for call in (denoc.inverse, denoc.forward):
            good = np.zeros((3, count, 3))
            for place in (None, 0, 1, 2):
                given, out = good.copy(), np.full((count, 3), 7.0)
                if place is None:
                    with using_backend("compiled"):
                        call(robot, *given)
                    continue
                given[place, -1, -1] = np.nan
                for backend in ("auto", "compiled"):
                    with using_backend(backend), pytest.raises(denoc.InputError, match="not finite"):
                        call(robot, *given, out=out)
                    assert (out == 7.0).all()


def test_infinite_angles_of_many_samples_are_an_error_without_a_warning():
    far = np.array([[np.inf, 1e300, -np.inf, 0.0, 0.0, 0.0]])
    q = tree_angles_within_a_turn(far, (0, 1, 2))
    assert np.isnan(q[0, [0, 2]]).all()
    assert abs(q[0, 1]) < 4.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: denoc.adjoint(PUMA, *np.zeros((5, 6))), "inertial: no choice"),
        (lambda: denoc.adjoint("puma", *np.zeros((4, 6)), inertial=True), "not a robot"),
        (lambda: denoc.inverse(PUMA, *np.zeros((3, 6)), sharing=np.zeros(2)), "unknown sharing"),
        (lambda: denoc.inverse(PUMA, *np.zeros((3, 6)), sharing=10**5000), "unknown sharing"),
        (lambda: denoc.inverse(PUMA, *np.zeros((3, 6)), {10**5000: np.zeros(6)}), "a link that isn't there"),
        (lambda: denoc.derivatives(PUMA, *np.zeros((3, 6)), 5), "with_respect_to: what derivatives are taken by"),
        (lambda: denoc.derivatives(PUMA, *np.zeros((3, 6)), [["state"]]), "with_respect_to: what derivatives"),
        (lambda: denoc.derivatives(PUMA, *np.zeros((3, 6)), "links.\udc80"), "a key has to be text"),
        (lambda: denoc.platform_inverse(RRR, *np.zeros((3, 7)), platform=["link1"]), "no such link"),
        (lambda: denoc.parallel_matrices(RRR, np.zeros(7), platform={}), "no such link"),
        (lambda: denoc.legs(RRR, 10**5000), "no such link"),
        (lambda: denoc.legs(PUMA, "link1"), "no parallel robot"),
        (lambda: denoc.base_parameters(PUMA, 5), "no such number"),
        (lambda: denoc.base_parameters(PUMA, [["link1.m"]]), "no such number"),
        (lambda: denoc.base_parameters(PUMA, []), "no number is named"),
    ],
)
def test_wrong_words(call, words):
    with pytest.raises(denoc.InputError, match=words):
        call()


def test_wrong_names_are_not_remembered():
    before = len(PUMA.derived)
    for k in range(3):
        for call in (denoc.inverse, denoc.bias):
            with pytest.raises(denoc.InputError, match="isn't there"):
                call(PUMA, *np.zeros((3 - (call is denoc.bias), 6)), wrenches={f"nothere{k}": np.zeros(6)})
    assert len(PUMA.derived) <= before + 1


@pytest.mark.parametrize("call", CALLS)
def test_wrong_robots(call):
    for robot in (None, "puma", 5, {}, denoc.load):
        with pytest.raises(denoc.DenocError, match="not a robot"):
            getattr(denoc, call)(robot, *arguments(call))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("size", [1e155, 1e300])
def test_numbers_too_large(call, size):
    """Finite numbers come out, or an error says why none do."""
    with contextlib.suppress(denoc.NumericalError):
        found = getattr(denoc, call)(PUMA, *[x + size for x in arguments(call)])
        values = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else [found]
        assert all(np.isfinite(x).all() for x in values if isinstance(x, np.ndarray))


@pytest.mark.parametrize("counts", [(2, 3), (0, 2), (3, 0)])
def test_batches_of_different_sizes(counts):
    q, qd = (np.zeros((n, 6)) for n in counts)
    with pytest.raises(denoc.DenocError, match="different numbers of samples"):
        denoc.inverse(PUMA, q, qd, np.zeros(6))


def test_batches_of_none():
    none, mechanism = np.zeros((0, 6)), denoc.load("four-bar")
    assert [x.shape for x in denoc.hybrid(PUMA, none, none, none, none)] == [(0, 6), (0, 6)]
    assert denoc.assemble(mechanism, np.zeros((0, 3))).shape == (0, 3)
    for sharing in ("even", "least"):
        assert denoc.inverse(mechanism, *np.zeros((3, 0, 3)), sharing=sharing).shape == (0, 1)


def test_one_position_with_many_speeds():
    q, qd = np.full((1, 6), 0.3), np.ones((4, 6))
    for one in (q, q[0]):
        M, h = denoc.reduced(PUMA, one, qd)
        assert M.shape == (4, 6, 6)
        assert h.shape == (4, 6)
        assert M.flags.writeable
        assert np.allclose(M[3], denoc.inertia(PUMA, q[0]), rtol=1e-13, atol=1e-14)  # whichever code ran


def test_batches_of_none_and_one():
    none, one = np.zeros((0, 6)), np.zeros((1, 6))
    assert denoc.inverse(PUMA, none, one, np.zeros(6)).shape == (0, 6)
    assert denoc.forward(PUMA, one, none, np.zeros(6)).shape == (0, 6)
    assert denoc.inverse(PUMA, one, np.zeros(6), one).shape == (1, 6)


@pytest.mark.parametrize("e", [0.0, 1e300, np.nan, np.inf])
def test_euler_parameters(e):
    q = np.array(BALL.q0)
    q[2:6] = e
    for call in ("inertia", "frames"):
        with pytest.raises(denoc.DenocError):
            getattr(denoc, call)(BALL, q)


@pytest.mark.parametrize("wrenches", [[1], "link1", {"nothere": np.zeros(6)}, {5: np.zeros(6)}, {"link1": [1, 2]}, 3])
def test_wrenches(wrenches):
    with pytest.raises(denoc.DenocError):
        denoc.inverse(PUMA, np.zeros(6), np.zeros(6), np.zeros(6), wrenches)


@pytest.mark.parametrize("count", [None, 1, 2, 4])
@pytest.mark.parametrize("name", ["inverse", "forward", "reactions"])
def test_numbers_of_wrenches_samples(name, count):
    """As many as there are, or one for all of them."""
    state = np.zeros((3, 3, 6)) if count else np.zeros((3, 6))
    wrench = {"link3": np.zeros((count or 3, 6))}
    with pytest.raises(denoc.DenocError, match="wrong number of samples"):
        getattr(denoc, name)(PUMA, *state, wrenches=wrench)


@pytest.mark.parametrize("link", [None, 5, "", "nothere", np.zeros(2), 10**5000, ["link1"]], ids=kind)
def test_links_of_jacobians(link):
    with pytest.raises(denoc.DenocError, match="no such link"):
        denoc.jacobian(PUMA, np.zeros(6), link)


@pytest.mark.parametrize(
    "at", ["nothere", [1, 2], None, np.full(3, np.nan), np.zeros((2, 3)), ["1", "2", "3"]], ids=kind
)
def test_points_of_jacobians(at):
    with pytest.raises(denoc.DenocError):
        denoc.jacobian(PUMA, np.zeros(6), "link1", at)


@pytest.mark.parametrize("at", ["origin", None, 10**5000, np.zeros(2)], ids=kind)
def test_frames_at(at):
    with pytest.raises(denoc.DenocError, match="unknown frame"):
        denoc.frames(PUMA, np.zeros(6), at=at)


@pytest.mark.parametrize(
    "wrong", [None, 5, 10**5000, b"x", [], {1, 2}, object(), "", "\x00", "a" * 5000, Path("nothere")], ids=kind
)
def test_what_is_read(wrong):
    for call in (denoc.load, denoc.loads, denoc.run):
        with pytest.raises(denoc.DenocError):
            call(wrong)


def test_robots_that_cannot_move():
    """Nothing beyond the joint to accelerate: forces of a motion exist, accelerations don't."""
    robot = denoc.loads("name: x\nconvention: dh\nlinks: [{name: a, joint: {type: revolute}, mass: 0}]")
    zero = np.zeros(1)
    assert denoc.inverse(robot, zero, zero, zero) == 0.0
    for call, given in (("forward", 3), ("derivatives", 3), ("linearize", 1)):
        with pytest.raises(denoc.NumericalError, match="nothing to accelerate"):
            getattr(denoc, call)(robot, *[zero] * given)


def test_results_are_written_whole_or_not_at_all(tmp_path):
    result = denoc.run("puma-idyn")
    for path in (tmp_path, tmp_path / "nothere" / "x.csv", "", tmp_path / ("a" * 300)):
        with pytest.raises(denoc.DenocError, match="can't write"):
            result.to_csv(path)
    for wrong in ({"form": "gif"}, {"folder": tmp_path / "x.csv" / "below"}):
        (tmp_path / "x.csv").touch()
        with pytest.raises(denoc.DenocError):
            result.plot("torques", **wrong)
    with pytest.raises(denoc.DenocError, match="unknown plot"):
        result.plot("torqe")
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.parametrize(
    "variations",
    [
        *[None, 5, "initial", {"initial.joint1": 1}, [5], [None], [{5: 1}], [{"initial.joint1": object()}]],
        *[
            [{"initial.joint9": 1}],
            [{"initial.joint1": "x"}],
            [{"initial.joint1": math.nan}],
            [{"": 1}],
            [{"robot.": 1}],
        ],
        *[[{"robot.links.nothere.mass": 1}], [{"robot.links.99.mass": 1}], [{"robot.links.²": 1}]],
        *[[{"robot.links.link1.mass": -1}], [{"time": 5}], [{"time.end.more": 1}]],
    ],
    ids=kind,
)
def test_variations_of_ensembles(variations):
    with pytest.raises(denoc.DenocError):
        denoc.ensemble("planar3r-fall", variations)


def test_numpy_s_masked_arrays_may_be_on_their_way(monkeypatch):
    """While another thread imports them first, there is their module, and not yet what stands in it."""
    monkeypatch.setitem(sys.modules, "numpy.ma", types.ModuleType("numpy.ma"))
    robot = denoc.load("planar3r")
    q = np.zeros((2, 3))
    assert np.isfinite(denoc.inverse(robot, q, q, q)).all()
