"""One program serves all robots that differ in numbers only: what compiles, and what it gives."""

import sys
from pathlib import Path

import numpy as np
import pytest

import denoc
from comparing import off
from denoc.machine.backend import choice, native, objects
from denoc.machine.backend.choice import using_backend
from denoc.machine.jit import builtin_code, program_pieces
from denoc.machine.program.nodes import live_nodes
from denoc.mechanics.quantities.offered import offered_dynamics_quantity
from denoc.mechanics.quantities.programs import ROWS
from denoc.robot.read import robot_file_number

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
interface = pytest.importorskip("interface")

OF_TREES = ("hybrid", "inertia", "inverse_inertia", "regressor", "bias", "jacobian")
KEYS = {
    "puma": ("links.link3.mass", "links.link2.joint.a"),
    "elastic-arm": ("links.link2.joint.spring.stiffness",),
    "space-arm": ("links.satellite.mass",),
    "four-bar": ("links.rocker.mass", "links.coupler.joint.xyz.0"),
    "suspension": ("links.3.mass",),
    "three-rrr": ("links.platform.mass",),
}


@pytest.fixture(autouse=True)
def compiled(tmp_path, monkeypatch):
    """The number of programs that were compiled so far, in a folder of the test's own."""
    builtin_code.loaded_builtin_code()  # once for each process, and kept elsewhere
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "objects"))
    objects.forget_machine_code()
    made, before = [], native.compile_ir

    def counted(*given):
        made.append(1)
        return before(*given)

    monkeypatch.setattr(native, "compile_ir", counted)
    return made


def family(name, key, factors=(1.0, 1.1, 1.2, 1.3)):
    number = robot_file_number(denoc.load(name), key)
    return [number.robot(number.value * factor) for factor in factors]


def flat(result):
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, tuple) else [result]
    return np.concatenate([np.ravel(x) for x in parts])


def own(robots):
    """A motion of its own for each of the robots."""
    return [interface.motions(robot) for robot in robots]


def check(what, robots, motions, count, made, bound):
    """What each robot's compiling comes to; results are those of the plain text."""
    news = []
    for robot, motion in zip(robots, motions, strict=True):
        given = tuple(x[0] if count is None else np.resize(x, (count, x.shape[1])) for x in motion)
        call = interface.CALLS[what](robot, given, count)
        before = len(made)
        with using_backend("compiled"):
            found = flat(call())
        news.append(len(made) - before)
        with using_backend("plain"):
            assert off(found, flat(call())) < bound, (what, robot.name)
    return news


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", KEYS)
def test_a_third_robot_compiles_nothing(name, compiled):
    """The first has code of its own; with the second, a program is compiled that serves all others."""
    robots = family(name, KEYS[name][0])
    motions = [interface.motions(robots[0])] * len(robots)  # in other positions, other pivots may be better
    calls = ["inverse", "forward", "reduced", "reactions", "energy", "frames", "adjoint"]
    for what in (*calls, "derivatives") if robots[0].tied else (*calls, *OF_TREES):
        for count in (None, 11):
            first, second, *others = check(what, robots, motions, count, compiled, 1e-11)
            assert others == [0, 0], what
            assert second <= max(first, 1), what


@pytest.mark.parametrize("name", ["puma", "four-bar"])
@pytest.mark.sampled(2)
def test_lengths_are_inputs_too(name, compiled):
    """As long as they don't change the order in which a mechanism's equations are solved."""
    robots = family(name, KEYS[name][1], (1.0, 1.01, 1.02, 1.03))
    for what in ("inverse", "forward"):
        assert check(what, robots, own(robots), 11, compiled, 1e-12)[2:] == [0, 0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_any_number_of_lanes_and_long_programs_in_pieces(lanes, compiled, monkeypatch):
    monkeypatch.setattr(program_pieces, "LONG", 100)
    robots = family("puma", "links.link3.mass")
    given = np.random.default_rng(lanes).normal(size=(3, 21, 6))
    for what in (denoc.forward, denoc.inertia, denoc.derivatives):
        news = []
        for robot in robots:
            before, arguments = len(compiled), given[:1] if what is denoc.inertia else given
            with using_backend("compiled", lanes=lanes):
                found = [flat(what(robot, *arguments)), flat(what(robot, *arguments[:, 3]))]
            news.append(len(compiled) - before)
            with using_backend("plain"):
                assert off(found[0], flat(what(robot, *arguments))) < 1e-12
                assert off(found[1], flat(what(robot, *arguments[:, 3]))) < 1e-12
        assert news[2:] == [0, 0]


def test_each_robot_keeps_its_numbers(compiled):
    """Code in memory belongs to one robot, although all have the same program."""
    robots = family("puma", "links.link3.mass")
    q = np.full(6, 0.3)
    functions = [denoc.function(robot, "inverse") for robot in robots]
    with using_backend("plain"):
        right = [denoc.inverse(robot, q, q, q) for robot in robots]
    for _ in range(2):
        for call, x in zip(functions, right):
            assert off(call(q, q, q), x) < 1e-13
    assert abs(right[1] - right[2]).max() > 0.01


def test_other_processes_go_on(compiled, monkeypatch):
    """Which robots were compiled for is noted beside the code, so that a loop of processes compiles twice, too."""
    made = []
    for robot in family("puma", "links.link3.mass"):
        monkeypatch.setattr(objects, "_first", {})
        objects.forget_machine_code()
        made += check("inverse", [robot], own([robot]), None, compiled, 1e-13)
    assert made == [1, 1, 0, 0]


def test_the_same_robot_again_has_its_own_code(compiled, tmp_path, monkeypatch):
    robot, again = family("puma", "links.link3.mass", (1.0, 1.0))
    assert check("inverse", [robot, again], own([robot, again]), None, compiled, 1e-13) == [1, 0]
    objects.forget_machine_code()
    monkeypatch.setenv("DENOC_CACHE", str(tmp_path / "another"))
    with using_backend("compiled"):
        other = denoc.inverse(denoc.load("puma"), *np.full((3, 6), 0.3))
        assert (other == denoc.inverse(robot, *np.full((3, 6), 0.3))).all()
    assert not any(numbers for _, numbers in objects._loaded)


def test_a_number_that_was_zero_is_another_structure(compiled):
    robots = family("puma", "links.link3.mass")
    number = robot_file_number(denoc.load("puma"), "links.link3.joint.friction.viscous")
    robots.insert(2, number.robot(0.5))
    assert check("inverse", robots, own(robots), None, compiled, 1e-13) == [1, 1, 1, 0, 0]


def test_runs_have_code_of_their_own(compiled):
    """So they can be done again to the last bit, whatever the folder of objects holds."""
    robots = family("puma", "links.link3.mass")
    q = np.full(6, 0.3)
    for robot in robots:
        before = len(compiled)
        with choice.journalled_backend_choices(), using_backend("compiled"):
            denoc.inverse(robot, q, q, q)
        assert len(compiled) == before + 1


@pytest.mark.parametrize("name", ["elastic-arm", "tree"])
@pytest.mark.sampled(2)
def test_every_row_can_be_recorded_for_all_robots(name):
    robot = denoc.load(name)
    for what in ROWS:
        made = offered_dynamics_quantity(robot, what, (), robot.links[-1].name if what == "jacobian" else "").shared()
        program = made.program()
        used = {node.id for node in live_nodes([*program.results(), *program.watched])}
        assert len(program.numbers) == len(made.numbers)
        assert used & {node.id for node in program.numbers}, what
