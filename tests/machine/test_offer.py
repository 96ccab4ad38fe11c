"""A program is compiled once its plain runs have cost as much, by the clock; a replay does what was done then."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import denoc
from denoc.machine.backend import choice, objects
from denoc.machine.backend.choice import using_backend
from denoc.machine.backend.ledger import LOOK, RUNS, Ledger
from denoc.machine.jit import offer
from denoc.machine.jit.offer import Offer, Shared, plain_or_compiled_in_blocks
from denoc.machine.program.recording import Recording
from denoc.mechanics.quantities.mixed import mixed_dynamics
from denoc.scenario import prepare_scenario
from denoc.study import chain_robot_for_times


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Nothing is in the cache or in memory, and no ledger has an entry."""
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "objects"))
    offer.compile_ledger.cache_clear()
    offer._KNOWN.clear()
    objects.forget_machine_code()


class Clock:
    """Every look at it takes so many seconds."""

    def __init__(self, monkeypatch, seconds):
        self.seconds, self.now = seconds, 0.0
        monkeypatch.setattr(offer, "thread_time", self)

    def __call__(self):
        self.now += self.seconds
        return self.now


def square(name="square"):
    def program():
        recording = Recording("square")
        (x,) = recording.input("x", 1)
        return recording.program(y=[x * x])

    return Offer(program, [1], [1], lambda: (name,))


def runs(one, count, journal=None):
    """How many of so many calls were compiled, each of which runs the plain text where it is not."""
    compiled = []
    for _ in range(count):
        code = one.single()
        compiled.append(code is not None)
        y = code([3.0])[0] if code is not None else one.plain(1, lambda x: x * x, 3.0)
        assert y == 9.0
    return compiled


def test_plain_runs_are_rented_until_they_have_cost_as_much_as_compiling(monkeypatch):
    Clock(monkeypatch, 0.01)
    compiled = runs(square(), 3 * RUNS)
    first = compiled.index(True)
    assert all(compiled[first:])
    assert RUNS < first < RUNS + 5  # each plain run is as dear as the others, so that their number decides


def test_what_costs_nothing_is_never_compiled(monkeypatch):
    Clock(monkeypatch, LOOK / 1000)
    assert not any(runs(square(), 500))


def test_a_program_that_is_made_anew_goes_on_where_the_last_one_was(monkeypatch):
    Clock(monkeypatch, 0.01)
    assert not any(runs(square(), RUNS // 2))
    assert any(runs(square(), RUNS // 2 + 10))
    assert not any(runs(square("another"), RUNS // 2))


def test_a_large_batch_is_not_finished_plainly(monkeypatch):
    """What is ahead counts, once it is known what a sample costs."""
    own = Ledger()
    own.charge(0.5, 1000)
    assert own.wants(0, None) == "cached"
    assert own.wants(1_000_000, None) == "compiled"
    Clock(monkeypatch, 0.05)
    robot = denoc.load("planar3r")
    q = np.random.default_rng(1).standard_normal((30_000, 3))
    found = denoc.inverse(robot, q, q, q)
    assert [key[0] for key in mixed_dynamics(robot, (True,) * 3).offer._code] == ["lanes"]
    with using_backend("plain"):
        assert abs(denoc.inverse(robot, q, q, q) - found).max() < 1e-12 * abs(found).max()


def test_a_run_whose_steps_are_foreseen_is_compiled_at_once():
    own = Ledger()
    assert own.wants(0, None, ahead=1e9) == "plain"  # nothing is known of its cost
    own.charge(0.001, 1)
    assert own.wants(0, None) == "plain"
    assert own.wants(0, None, ahead=10.0) == "cached"
    assert own.wants(0, None, ahead=2.0 * RUNS) == "compiled"


def test_what_the_user_says_is_done_at_once(monkeypatch):
    Clock(monkeypatch, 1.0)
    with using_backend("compiled"):
        assert all(runs(square(), 3))
    with using_backend("plain"):
        assert not any(runs(square(), 3 * RUNS))
    assert offer.compile_ledger(square().name).spent == 0.0  # nobody has left it to the ledger


# ---- runs


def test_a_replay_changes_over_at_the_same_call(monkeypatch):
    clock = Clock(monkeypatch, 0.01)
    with choice.journalled_backend_choices() as notes:
        first = runs(square(), 3 * RUNS)
    assert 0 < first.index(True) < len(first)
    assert notes.notes() == [f"{square().name}-single@{first.index(True)}"]
    clock.seconds = 0.0
    offer.compile_ledger.cache_clear()
    with choice.journalled_backend_choices("auto", cached=notes.notes()) as again:
        assert runs(square(), 3 * RUNS) == first
    assert again.notes() == notes.notes()
    clock.seconds = 1.0
    with choice.journalled_backend_choices("auto", cached=()):  # what wasn't compiled then isn't now
        assert not any(runs(square(), 3 * RUNS))


def test_a_run_notes_what_earlier_runs_have_left(monkeypatch):
    Clock(monkeypatch, 0.01)
    one = square()
    with using_backend("compiled"):
        runs(one, 1)
    with choice.journalled_backend_choices() as notes:
        assert all(runs(one, 3))
    assert notes.notes() == [f"{one.name}-single@0"]


def test_what_the_caller_says_is_stronger_than_notes():
    with using_backend("compiled"), choice.journalled_backend_choices("plain", cached=()):
        assert choice.chosen_backend() == "compiled"


def test_equal_programs_change_over_at_the_same_count_whoever_is_first(monkeypatch):
    """The legs of a mechanism, on threads that no replay can put into the same order."""
    Clock(monkeypatch, 0.01)
    with choice.journalled_backend_choices() as notes:
        slow, quick = square(), square()
        ahead = runs(quick, RUNS - 5)  # not yet
        behind = runs(slow, 20)  # would be, but for what the other one has done plainly
        assert not any(ahead + behind)
        ahead += runs(quick, 20)
        behind += runs(slow, 2 * RUNS)
    since = int(notes.notes()[0].rpartition("@")[2])
    assert ahead == [call >= since for call in range(len(ahead))]
    assert behind == [call >= since for call in range(len(behind))]


@pytest.mark.parametrize("name", ["four-bar-fall", "cart-pole-balance", "rx90-fall", "tree-idyn"])
def test_whatever_the_clock_says_a_run_can_be_done_again_to_the_last_bit(name, tmp_path, monkeypatch):
    clock = Clock(monkeypatch, 5e-4)
    first = denoc.run(name)
    notes = first.record["code"]["cached"]  # a run with effort limits can't foresee its steps
    changes = any(not note.endswith("@0") for note in notes)
    assert {"cart-pole-balance": changes, "tree-idyn": True}.get(name, bool(notes))
    first.write(tmp_path / "first", plot=False)
    clock.seconds = 0.0
    offer.compile_ledger.cache_clear()
    again = denoc.run(tmp_path / "first" / f"{name}.scenario.yaml")
    assert again.record["code"]["cached"] == first.record["code"]["cached"]
    for column, values in first.table.items():
        assert np.array_equal(values, again.table[column], equal_nan=True), column


def test_repeated_runs_of_a_mechanism_come_to_compiled_code(monkeypatch):
    """The plant is made anew for each run, its ledger is not."""
    Clock(monkeypatch, 1e-3)
    short = {"robot": "four-bar", "task": "simulate", "time": {"end": 0.001, "step": 0.001}}
    monkeypatch.setattr(offer, "RUNS", 20)
    runs = [denoc.run(short) for _ in range(20)]
    marching = [any("-march@" in note for note in run.record["code"]["cached"]) for run in runs]
    assert not marching[0]
    assert marching[-1]
    assert marching == sorted(marching)


# ---- threads


def test_what_a_program_shares_is_found_out_once_for_all_that_offer_it(monkeypatch):
    asked = []

    def sharing(name, number):
        def record(recording, x):
            (y,) = recording.input("x", 1)
            return recording.program(y=[x * y])

        def program():
            recording = Recording("scaled")
            return record(recording, recording.numbers(1)[0])

        def shared():
            asked.append(name)
            return Shared(program, ("scaled",), (number,))

        own = lambda: record(Recording("own"), number)  # noqa: E731
        return Offer(own, [1], [1], lambda: (name,), shared=shared)

    monkeypatch.setattr(offer, "MOST_KNOWN", 2)
    with using_backend("compiled"):
        for number in (2.0, 3.0, 4.0):
            for _ in range(3):
                one = sharing(f"times {number}", number)
                assert one.single()([5.0])[0] == 5.0 * number
        assert asked == ["times 2.0", "times 3.0", "times 4.0"]
        assert sharing("times 2.0", 2.0).single()([5.0])[0] == 10.0
    assert len(offer._KNOWN) <= 2


def on_threads(call, arguments, count=8):
    """What the calls give, made by so many threads that all begin together."""
    gate = threading.Barrier(count)

    def share(k):
        gate.wait()
        return [(n, call(*arguments[n])) for n in range(k, len(arguments), count)]

    with ThreadPoolExecutor(count) as pool:
        found = dict(pair for pairs in pool.map(share, range(count)) for pair in pairs)
    return [found[n] for n in range(len(arguments))]


def in_threads_that_use(backend, call):
    def chosen(*arguments):
        with using_backend(backend):
            return call(*arguments)

    return chosen


@pytest.mark.parametrize("backend", ["auto", "compiled"])
@pytest.mark.sampled(2)
def test_one_sample_at_a_time_from_several_threads(backend):
    """They share one block of numbers."""
    robot = denoc.load("puma")
    states = np.random.default_rng(2).uniform(-1, 1, (2000, 3, 6))
    with using_backend("plain"):
        expected = denoc.forward(robot, *states.transpose(1, 0, 2))
    found = on_threads(in_threads_that_use(backend, lambda *x: denoc.forward(robot, *x)), list(states))
    assert abs(np.array(found) - expected).max() < 1e-10 * abs(expected).max()


@pytest.mark.parametrize("name", ["puma", "chain", "four-bar"])
@pytest.mark.sampled(3)
def test_batches_from_several_threads(name):
    """A loop over the bodies needs a workspace for each thread."""
    robot = chain_robot_for_times(40) if name == "chain" else denoc.load(name)
    rng = np.random.default_rng(3)
    if robot.tied:
        q = np.array([denoc.assemble(robot, robot.q0)] * 64)
        rates = np.zeros((64, robot.nv))
    else:
        q, rates = rng.uniform(-1, 1, (2, 64, robot.nv))
    batches = [(q, rates, rng.uniform(-1, 1, (64, robot.nv))) for _ in range(64)]
    with using_backend("plain"):
        expected = [denoc.forward(robot, *batch) for batch in batches]
    found = on_threads(in_threads_that_use("compiled", lambda *x: denoc.forward(robot, *x)), batches)
    assert max(abs(one - other).max() / abs(other).max() for one, other in zip(found, expected)) < 1e-9


def test_code_that_cannot_do_a_batch_is_asked_once():
    """What it leaves to the plain text is done by that to its end, without further tries."""
    asked, tried = [], []

    def by(code, first):
        tried.append(first)

    def ask(samples):
        asked.append(samples)
        return "code" if samples <= 8 else None

    found = plain_or_compiled_in_blocks(
        np.zeros((10, 1)), 2, ask, by, lambda these: np.arange(these.start, these.stop)[:, None]
    )
    assert found[:, 0].tolist() == list(range(10))
    assert (asked, tried) == ([10, 8], [2])


@pytest.mark.parametrize("name", ["suspension-bounce", "gough-stewart-fall"])
def test_plans_are_the_same_whatever_is_compiled(monkeypatch, name):
    """A replay reads its notes together with the plan, so these can't say how the plan's own programs ran."""
    with using_backend("plain"):
        expected = prepare_scenario(name)
    monkeypatch.setenv("DENOC_BACKEND", "compiled")
    found = prepare_scenario(name)
    assert (found.q0, found.qd0) == (expected.q0, expected.qd0)


@pytest.mark.parametrize(
    ("around", "inside"),
    [
        (choice.steadily_compiled(), "plain"),  # what pays depends on what has run before
        (choice.using_backend("compiled"), "auto"),
        (choice.using_backend("plain"), "plain"),
        (choice.using_backend("auto"), "auto"),
    ],
)
def test_what_is_compiled_only_where_it_pays(around, inside):
    with around, choice.compiled_only_where_it_pays():
        assert choice.chosen_backend() == inside


@pytest.mark.parametrize("backend", ["plain", "compiled", "auto"])
@pytest.mark.parametrize("method", ["rk45", "radau"])
def test_equations_that_divide_by_zero_have_no_code(backend, method):
    """A link of the squeezing mechanism has no inertia of its own, for which Lagrange multipliers would divide."""
    drive = {"beta": {"law": "constant", "value": 0.033}}
    scenario = {"robot": "andrews", "task": "simulate", "time": {"end": 1e-3, "step": 5e-4}, "forces": drive}
    with using_backend(backend):
        found = denoc.run({**scenario, "closure": {"method": "multipliers"}, "solver": {"method": method}})
    assert found.ended == "failed"
    assert "not a finite number" in found.record["reason"]
