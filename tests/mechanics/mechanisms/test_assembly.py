"""Loops are closed from far off, as often as scipy closes them; what can't be closed is told from what wasn't found."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares

import denoc
from denoc.mechanics.assembly import assembly, search
from denoc.mechanics.closure.constraints import loop_closure
from denoc.text import library_folder
from random_mechanisms import closed_robot, loaded

LEG = Path(__file__).parents[2] / "reference" / "closed_leg.yaml"  # 19 joints, two loops that fix two frames each


def mechanisms():
    found = [denoc.load(path) for path in sorted(library_folder("robots").glob("*.yaml"))]
    return [robot for robot in found if robot.tied]


@pytest.mark.parametrize("robot", mechanisms(), ids=lambda robot: robot.name)
def test_newton_closes_the_library_and_keeps_its_branches(robot):
    """The position is the one next to the file's `assembly`, by Newton's method alone."""
    loops, q = loop_closure(robot), np.array(robot.q0, dtype=float)
    found = assembly.position_with_loops_closed(loops, q, list(robot.driven))
    newton, left = assembly.close_loops_by_newton(loops, q, list(robot.driven))
    if left > assembly.GOOD:  # more is kept than can be
        newton, left = assembly.close_loops_by_newton(loops, q, ())
    assert left < assembly.GOOD
    np.testing.assert_allclose(found, newton, atol=1e-6)


def test_the_derivative_of_the_distances_is_exact():
    for seed in range(4):
        file, q = closed_robot(seed)
        loops = loop_closure(loaded(file))
        every = np.arange(loops.robot.nv)
        q = search.closing_position_moved_along_speeds(
            loops.robot, q, np.random.default_rng(seed).uniform(-1, 1, loops.robot.nv)
        )
        _, J = search._distance(loops, q, every)
        for k in every:
            step = np.zeros(loops.robot.nv)
            step[k] = 1e-6 * loops.column_scale[k]
            ahead, behind = (
                search._distance(loops, search.closing_position_moved_along_speeds(loops.robot, q, s * step), every)[0]
                for s in (1, -1)
            )
            np.testing.assert_allclose((ahead - behind) / 2e-6, J[:, k], atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
def test_a_real_leg_closes_from_noise(seed):
    robot = denoc.load(LEG)
    noise = np.random.default_rng(seed).uniform(-0.8, 0.8, robot.nq) if seed else 0.0
    found = denoc.assemble(robot, np.array(robot.q0) + noise)
    gaps = loop_closure(robot).open(found)
    assert max(max(gap.length, gap.angle) for gap in gaps) < 1e-9


@pytest.mark.sampled(24)
@pytest.mark.parametrize("seed", range(24))
def test_as_many_close_as_scipy_closes(seed):
    """Random mechanisms, from noise of ±0.8 rad; scipy's trust region from the same starts, its derivatives its own."""
    file, q = closed_robot(seed)
    robot = loaded(file)
    loops, random = loop_closure(robot), np.random.default_rng(seed)
    every = np.arange(robot.nv)
    for _ in range(2):
        start = search.closing_position_moved_along_speeds(
            robot, q, random.uniform(-0.8, 0.8, robot.nv) * loops.column_scale
        )

        def gaps(x):
            moved = search.closing_position_moved_along_speeds(robot, start, x * loops.column_scale)  # noqa: B023
            return search._distance(loops, moved, every)[0]

        closed = least_squares(gaps, np.zeros(robot.nv), xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=100).cost < 1e-20
        try:
            found = assembly.position_with_loops_closed(loops, start, ())
        except denoc.AssemblyError:
            assert not closed
        else:
            assert abs(loops.gap(found)).max() < 1e-9


def bars(ground):
    """A four-bar of 0.1 m, 0.5 m and 0.4 m on a base of this length."""
    return denoc.loads(f"""
name: bars
convention: frames
links:
  - {{name: crank, joint: {{name: A0, type: revolute}}, mass: 1, com: [0.05, 0, 0]}}
  - {{name: coupler, parent: crank, joint: {{name: A, type: revolute, xyz: [0.1, 0, 0]}}, mass: 1, com: [0.25, 0, 0]}}
  - {{name: rocker, parent: base, joint: {{name: B0, type: revolute, xyz: [{ground}, 0, 0]}}, mass: 1, com: [0.2, 0, 0]}}
loops:
  - {{name: B, joint: revolute, between: [coupler, rocker], first: {{at: [0.5, 0, 0]}}, second: {{at: [0.4, 0, 0]}}}}
""")


def test_what_cannot_close_is_told_with_its_least_gap():
    """Stretched out, the bars reach 1 m of the 2.5 m: 1500 mm are missing wherever they start."""
    with pytest.raises(denoc.AssemblyError, match=r"can't be closed: 3 of \d+ starts .* `B` by 1500 mm") as told:
        denoc.assemble(bars(2.5), [0.3, 0.2, 0.1])
    assert "assembly" not in str(told.value)  # no guess would help
    assert denoc.assemble(bars(0.6), [0.3, 0.2, 0.1]).shape == (3,)


def test_a_length_in_a_wrong_unit_is_among_what_cannot_close():
    """The way down to the least gap is flat where a base of 250 m stands beside bars of half a metre."""
    with pytest.raises(denoc.AssemblyError, match=r"can't be closed: .* `B` by 2\.49e\+05 mm"):
        denoc.assemble(bars(250), [0.3, 0.2, 0.1])


def test_what_was_not_found_says_so():
    """Where starts end differently, nobody can say that the loops don't close."""
    loops, q = loop_closure(bars(2.5)), np.array([0.3, 0.2, 0.1])
    for agreeing, words in (
        (1, "no position was found in which the loops close, from 24 starts"),
        (3, "can't be closed"),
    ):
        told = assembly.loops_cant_close_message(loops.open(q), search.ClosureSearch(q, 1.0, 24, agreeing))
        assert words in told
        assert ("a better guess under `assembly`" in told) == (agreeing == 1)


@pytest.mark.parametrize("seed", range(3))
def test_starts_side_by_side_end_where_each_ends_alone(seed):
    """Up to the first that closes; those behind it needn't go on."""
    file, q = closed_robot(seed)
    loops, random = loop_closure(loaded(file)), np.random.default_rng(seed)
    every = np.arange(loops.robot.nv)
    noise = random.uniform(-1.6, 1.6, (6, loops.robot.nv)) * loops.column_scale
    starts = search.closing_positions_moved_along_speeds(loops.robot, np.tile(q, (6, 1)), noise)
    alone = [search._descended(loops, start[None].copy(), every)[0] for start in starts]
    together = search._descended(loops, starts.copy(), every)
    closed = next((k for k, (gap, _) in enumerate(alone) if gap < search.CLOSED), len(alone))
    for (gap, end), (own, right) in zip(together[: closed + 1], alone):
        assert gap == pytest.approx(own, rel=1e-3, abs=search.CLOSED)
        if own < search.CLOSED:
            np.testing.assert_allclose(end, right, atol=1e-6)


def test_what_cannot_close_takes_few_evaluations(monkeypatch):
    """Ten windows whose rods are too long: 24 starts go down side by side, from all freedoms and beside the kept one."""
    text = (library_folder("robots") / "n-four-bar.yaml").read_text(encoding="utf-8")
    robot = denoc.loads(
        text.replace("repeat: 2", "repeat: 10").replace("points: {B: [1, 0, 0]}", "points: {B: [3.5, 0, 0]}")
    )
    calls, before = [], search._distance
    monkeypatch.setattr(search, "_distance", lambda *given: calls.append(len(given[1])) or before(*given))
    with pytest.raises(denoc.AssemblyError, match="from 24 starts that ended differently"):
        denoc.assemble(robot, robot.q0)
    assert len(calls) <= 2 * (search.MOST + 1)
    assert max(calls) == search.STARTS


def test_starts_end_in_the_least_gap_they_can_reach():
    """Three of the ends agree, so no further starts are made; what is kept doesn't move."""
    loops, q = loop_closure(bars(2.5)), np.array([0.3, 0.2, 0.1])
    free = search.nearest_closed_position(loops, q, ())
    held = search.nearest_closed_position(loops, q, [0])
    assert free.agreeing == held.agreeing == search.ENOUGH
    assert held.q[0] == 0.3
    reach = np.hypot(2.5 - 0.1 * np.cos(0.3), 0.1 * np.sin(0.3)) - 0.9  # from the crank's end
    assert free.gap * loops.length == pytest.approx(1.5, abs=1e-6)
    assert held.gap * loops.length == pytest.approx(reach, abs=1e-6)


FLIPPED = """
name: flipped
convention: frames
links:
  - {name: arm, joint: {type: spherical, name: ball}, mass: 1, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}
loops:
  - {name: hinge, joint: revolute, between: [base, arm]}
"""


def test_axes_that_point_opposite_ways_are_no_closed_loop():
    """Upside down, all rows of the hinge are 0: its z is square to x and y of the base."""
    robot = denoc.loads(FLIPPED)
    loops, upside_down = loop_closure(robot), np.array([0.0, 1.0, 0.0, 0.0])
    assert abs(loops.gap(upside_down)).max() < 1e-15
    q = denoc.assemble(robot, upside_down)
    assert denoc.frames(robot, q)["arm"][:3, 2] == pytest.approx([0, 0, 1], abs=1e-9)


@pytest.mark.parametrize(("base", "closes"), [(1.9999, True), (2.0001, False), (2.000001, False)])
def test_a_triangle_closes_if_its_sides_suffice(base, closes):
    robot = denoc.loads(f"""
name: triangle
convention: frames
links:
  - {{name: one, joint: {{type: revolute, name: a}}, mass: 1, com: [0.5, 0, 0], inertia: {{xx: 0, yy: 1, zz: 1}}}}
  - {{name: two, joint: {{type: revolute, name: b, xyz: [1, 0, 0]}}, mass: 1, com: [0.5, 0, 0], inertia: {{xx: 0, yy: 1, zz: 1}}}}
loops:
  - {{name: c, joint: revolute, between: [base, two], first: {{at: [{base}, 0, 0]}}, second: {{at: [1, 0, 0]}}}}
""")
    if closes:
        q = denoc.assemble(robot, [0.1, -0.2])
        tip = [np.cos(q[0]) + np.cos(q[0] + q[1]), np.sin(q[0]) + np.sin(q[0] + q[1])]
        assert tip == pytest.approx([base, 0], abs=1e-9)
        return
    with pytest.raises(denoc.DenocError, match="`c` by"):
        denoc.assemble(robot, [0.1, -0.2])


def test_scaled_rows_are_those_of_the_mechanism_in_any_unit():
    """A slider-crank of a micrometre and one of a kilometre have the same Jacobian without units."""

    def scaled(size):
        robot = denoc.loads(f"""
name: slider-crank
convention: frames
links:
  - {{name: crank, joint: {{type: revolute, name: a}}, mass: 1, com: [0, 0, 0], inertia: {{xx: 1, yy: 1, zz: 1}}}}
  - {{name: rod, joint: {{type: revolute, name: b, xyz: [{size}, 0, 0]}}, mass: 1, com: [0, 0, 0], inertia: {{xx: 1, yy: 1, zz: 1}}}}
  - {{name: piston, parent: base, joint: {{type: prismatic, name: x, axis: [1, 0, 0]}}, mass: 1, com: [0, 0, 0]}}
loops:
  - {{name: pin, joint: revolute, between: [rod, piston], first: {{at: [{3 * size}, 0, 0]}}}}
""")
        loops = loop_closure(robot)
        return loops.scaled(loops.jacobian(np.array([0.3, -0.4, 2.0 * size]))[0])

    one = scaled(1.0)
    for size in (1e-6, 1e3):
        np.testing.assert_allclose(scaled(size), one, rtol=0, atol=1e-12)
