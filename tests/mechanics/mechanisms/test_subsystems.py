"""Forward dynamics subsystem by subsystem: against the whole mechanism in one system, in all ways of running it."""

import numpy as np
import pytest

import denoc
import random_mechanisms
import series
from balanced import accelerations
from comparing import off
from denoc.machine.backend import using_backend
from denoc.machine.program import count_operations
from denoc.mechanics.closure.constraints import loop_closure
from denoc.mechanics.closure.partition import best_partition, partition_portions
from denoc.mechanics.mechanisms.accelerations import Forward, mechanism_forward_texts
from denoc.study import DenseForward, program_for_complexity

TREE = (0, 1, 1, 2, 2, 3, 3)  # a four-bar on the ground, two on its rocker, and so on


def by_matrices(robot, q, qd, tau):
    """The dense oracle, by the null space of the Jacobian."""
    M, h = denoc.inertia(robot, q), denoc.bias(robot, q, qd)
    return accelerations(robot, loop_closure(robot), q, qd, tau, M, h)


def undivided(robot, q, qd, tau):
    """The same text with all bodies in one group."""
    loops = loop_closure(robot)
    text = DenseForward(loops, best_partition(loops, q, (), robot.driven))
    return text.rows({"q": q[None], "qd": qd[None], "tau": tau[None], "w": np.empty((1, 0))})[0][: robot.nv]


def random_case(seed):
    """A random mechanism of several subsystems in random states."""
    rng = np.random.default_rng(seed)
    file, _ = random_mechanisms.closed_robot(seed, loops=(1, 1), links=(3, 5))
    robot = random_mechanisms.loaded(series.copies(file, 3, rng))
    return robot, *series.states(robot, 2, seed)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(3)
def test_random_subsystems_are_the_whole(seed):
    robot, q, qd, tau = random_case(seed)
    assert len(loop_closure(robot).blocks) > 2
    for row in zip(q, qd, tau):
        with using_backend("plain"):
            found = denoc.forward(robot, *row)
            assert off(found, undivided(robot, *row)) < 1e-11
        assert off(found, by_matrices(robot, *row)) < 1e-9


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(16)
def test_loops_over_random_subsystems_are_the_text(seed):
    robot, q, qd, tau = random_case(seed)
    with using_backend("plain"):
        found = denoc.forward(robot, q, qd, tau)
    with using_backend("compiled", "rolled"):
        assert off(denoc.forward(robot, q, qd, tau), found) < 1e-11
        assert mechanism_forward_texts(loop_closure(robot), ()).known[0].rolled(2) is not None


@pytest.mark.parametrize("ups", [tuple(range(6)), TREE, (0, 0, 1, 2, 0, 3)])
@pytest.mark.sampled(2)
def test_four_bars_in_series_and_in_a_tree(ups):
    robot = denoc.loads(series.written_out(ups))
    q, qd, tau = series.states(robot, 9)
    with using_backend("plain"):
        found = denoc.forward(robot, q, qd, tau)
        assert off(found[0], undivided(robot, q[0], qd[0], tau[0])) < 1e-12
    assert off(found[0], by_matrices(robot, q[0], qd[0], tau[0])) < 1e-11
    for form in ("straight", "rolled"):
        with using_backend("compiled", form):
            assert off(denoc.forward(robot, q, qd, tau), found) < 1e-12


def test_the_code_for_many_subsystems_is_that_for_few():
    programs = []
    for n in (6, 12):
        robot = denoc.loads(series.in_series(n))
        q = denoc.assemble(robot, robot.q0)
        text = Forward.at(loop_closure(robot), q, robot.driven)
        programs.append(text.loop()[0])
    assert programs[0].identity == programs[1].identity


def test_operations_grow_with_the_number_of_subsystems():
    counts = []
    for n in (5, 6, 7):  # what groups have in common with their neighbours is the same for all but the outermost
        found = count_operations(program_for_complexity(denoc.loads(series.in_series(n)), "forward").results())
        counts.append(found.multiplications + found.additions)
    assert counts[2] - counts[1] == counts[1] - counts[0]
    dense = count_operations(program_for_complexity(denoc.loads(series.in_series(7)), "forward, dense").results())
    assert dense.multiplications + dense.additions > counts[2]


def test_gaps_and_speeds_that_open_loops_are_seen_in_every_subsystem():
    robot = denoc.loads(series.in_series(6))
    q, qd, tau = series.states(robot, 9)
    with using_backend("compiled"):
        denoc.forward(robot, q, qd, tau)
        for place in (2, 10, 17):
            apart = q.copy()
            apart[4, place] += 1e-3
            with pytest.raises(denoc.InputError, match="closed"):
                denoc.forward(robot, apart, qd, tau)
            opening = qd.copy()
            opening[4, place] += 1e-2
            with pytest.raises(denoc.InputError, match="open the loops"):
                denoc.forward(robot, q, opening, tau)


def test_a_wrench_on_one_of_many_subsystems():
    robot = denoc.loads(series.in_series(6))
    q, qd, tau = series.states(robot, 9)
    push = {"coupler4": np.array([0.1, 0.2, 0.3, 4.0, 5.0, 6.0])}
    with using_backend("plain"):
        found = denoc.forward(robot, q, qd, tau, push)
        assert off(found, denoc.forward(robot, q, qd, tau)) > 1e-3
    with using_backend("compiled"):
        assert off(denoc.forward(robot, q, qd, tau, push), found) < 1e-12


ARM = """
name: arm
convention: frames
links:
  - repeat: 4
    links:
      - name: link{k}
        joint: {name: "j{k}", type: revolute, xyz: [0.3, 0, 0.1], rpy: [0.4, 0.2, 0]}
        mass: 1
        com: [0.1, 0.05, 0]
        inertia: {xx: 0.02, yy: 0.03, zz: 0.04}
couplings: [{joint: j4, to: j2, ratio: -2}]
"""


def test_a_coupling_ties_all_that_is_between():
    """With a belt from the second joint to the fourth, the third one is part of the group, and stays free."""
    robot = denoc.loads(ARM)
    assert [block.bodies for block in loop_closure(robot).blocks] == [(0,), (1, 2, 3)]
    q, qd, tau = series.states(robot, 2)
    for row in zip(q, qd, tau):
        with using_backend("plain"):
            assert off(denoc.forward(robot, *row), by_matrices(robot, *row)) < 1e-11


def test_partitions_that_mix_subsystems_are_solved_in_one():
    """Where a closure method takes combinations of all speeds for independent, there is one group."""
    robot = denoc.loads(series.written_out((0, 1)))
    loops, q = loop_closure(robot), denoc.assemble(robot, robot.q0)
    assert len(partition_portions(loops, best_partition(loops, q, (), robot.driven))) == 2
    assert len(partition_portions(loops, best_partition(loops, q, (), robot.driven, "qr"))) == 1
