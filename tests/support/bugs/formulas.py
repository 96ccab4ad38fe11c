"""Bugs in formulas, tables over any quantity, and forces that know the state."""

from .bug import Bug

SAME = ("text/test_formula.py::test_a_formula_means_the_same_as_in_python_on_all_scalars",)
CURVES = ("laws/test_lookup.py::test_a_table_is_scipy_s_curve",)
ALIKE = ("simulate/test_state_forces.py::test_a_formula_is_as_good_as_the_law_of_its_own",)
REGULATOR = (
    "simulate/test_state_forces.py::test_the_gains_in_the_library_are_those_of_the_riccati_equation",
    "simulate/test_state_forces.py::test_state_feedback_is_a_sum_over_all_joints",
)
POINTS = ("simulate/test_point_forces.py::test_points_are_where_frames_say_and_their_rates_are_their_slopes",)
LATE = ("simulate/test_dead_time.py::test_a_block_moves_by_the_polynomials_of_the_method_of_steps",)
TENDONS = ("loops/test_tendons.py::test_a_tendon_pulls_each_joint_by_its_coefficient",)
VALUES = "engine/machine/program/formulas.py"

FORMULAS = (
    Bug(
        "signs don't count in pairs",
        "engine/text/tokens.py",
        'negative ^= sign.text == "-"',
        'negative |= sign.text == "-"',
        SAME,
    ),
    Bug("the larger of two numbers is the smaller", VALUES, "return -smaller(-a, -b)", "return smaller(a, b)", SAME),
    Bug(
        "the sign of what is no number is 0 in compiled code",
        "engine/machine/jit/block.py",
        "self.select(down, self.constant(-1.0), x))",
        "self.select(down, self.constant(-1.0), zero))",
        ("text/test_formula.py::test_what_is_no_number_stays_none",),
    ),
    Bug(
        "division by a zero among a formula's numbers is an exception",
        VALUES,
        "if isinstance(b, float | int) and b == 0:",
        "if False:",
        ("text/test_formula.py::test_what_is_no_number_stays_none",),
    ),
    Bug(
        "a law that gives no number isn't named",
        "engine/simulate/saturation.py",
        "if not math.isfinite(x) for name in",
        "if x == math.inf for name in",
        ("simulate/test_state_forces.py::test_a_run_that_fails_says_whose_law_gives_no_number",),
    ),
    Bug("a smooth step is a line", VALUES, "s * s * (3.0 - 2.0 * s)", "s * (1.0 + 0.0 * s)", SAME),
    Bug(
        "odd halves of exponents are lost",
        VALUES,
        "if abs(exponent) % 1:",
        "if exponent < 0 and abs(exponent) % 1:",
        SAME,
    ),
    Bug(
        "tables repeat half a period late",
        VALUES,
        "floor((x - first) * (1.0 / period))",
        "floor(0.5 + (x - first) * (1.0 / period))",
        CURVES,
    ),
    Bug(
        "periodic splines have a corner at their seam",
        "engine/laws/lookup.py",
        '"periodic" if periodic and degree > 1 else None',
        "None",
        CURVES,
    ),
    Bug(
        "formulas see the start's time forever",
        "engine/simulate/signals.py",
        "numbers += [t] * driven.whole.timed",
        "numbers += [0.0 * t] * driven.whole.timed",
        ALIKE,
    ),
    Bug(
        "compiled floors are rounded to the nearest",
        "engine/machine/jit/block.py",
        "self.select(above, self.constant(1.0), self.constant(0.0))",
        "self.select(above, self.constant(0.0), self.constant(0.0))",
        ("simulate/test_state_forces.py::test_an_engine_swings_as_its_own_equation_says",),
    ),
    Bug(
        "wrenches see the time in the place of the state",
        "engine/simulate/inputs.py",
        "made[place] = force(made[place], q, qd)",
        "made[place] = made[place]",
        ("simulate/test_state_forces.py::test_a_wrench_may_know_the_state",),
    ),
    Bug(
        "a step weighs its stages alike",
        "engine/simulate/one_step.py",
        "a + 2.0 * b + 2.0 * c + d",
        "1.5 * (a + b + c + d)",
        ("simulate/test_simulator.py::test_steps_are_those_of_a_run",),
    ),
    Bug(
        "actuators take each other's forces in steps",
        "engine/simulate/one_step.py",
        "others = [(robot.nv + k, 0) for k in range(len(robot.actuators))]",
        "others = [(robot.nv + k, 0) for k in reversed(range(len(robot.actuators)))]",
        ("simulate/test_simulator.py::test_tendons_and_pushes_are_those_of_a_run",),
    ),
    Bug(
        "steps end where loops have come open",
        "engine/simulate/one_step.py",
        "*(now.q[k] for k in system.state_coordinates), *(now.qd[k] for k in system.state_speeds), now.guard",
        "*made, now.guard",
        ("simulate/test_simulator.py::test_loops_are_closed_at_every_step_and_coordinates_change_on_the_way",),
    ),
    Bug(
        "forces are found once a run instead of once a step",
        "engine/simulate/loop.py",
        "            run.sample(stepper.t, stepper.y)\n",
        "",
        ("simulate/test_called_forces.py::test_once_a_step_a_force_is_held",),
    ),
    Bug(
        "state feedback pushes away from its reference",
        "engine/laws/forces.py",
        'Operation("-", (Number(float(self.reference.get(name, 0.0))), Named(name)))',
        'Operation("-", (Named(name), Number(float(self.reference.get(name, 0.0)))))',
        REGULATOR[1:],
    ),
    Bug(
        "dead time is forgotten",
        "engine/simulate/signals.py",
        "_before(system, t - driven.dead_time, recalls)",
        "_before(system, t, recalls)",
        LATE,
    ),
    Bug(
        "what laws still see is forgotten too soon",
        "engine/simulate/memory.py",
        "begin - max(self.dead_times)",
        "begin - 0.5 * max(self.dead_times)",
        LATE,
    ),
    Bug(
        "laws with dead time take their steps in Python",
        "engine/simulate/inputs.py",
        "        return bool(self.sampled)\n",
        "        return bool(self.sampled) or self.memory is not None\n",
        ("simulate/test_laws_compiled.py::test_a_law_is_in_the_loop",),
    ),
    Bug(
        "legs as short as dead times have no size but their own",
        "engine/simulate/runner.py",
        "sizes = self._sizes(t, ahead)",
        "sizes = None",
        ("simulate/test_dead_time.py::test_along_a_motion_that_begins_smoothly_no_step_is_python_s",),
    ),
    Bug(
        "compiled loops look back on the step before",
        "engine/machine/jit/march_past.py",
        'value = block.call("fma", value, x, of.get(base, str(p)))',
        'value = of.get(base, "0")',
        LATE,
    ),
    Bug(
        "a full memory of a compiled loop forgets what laws still see",
        "engine/machine/jit/march_past.py",
        "whole.behind(self._begins[end - 1] - self._dead_times[-1])",
        "whole.behind(self._begins[end - 1])",
        ("simulate/test_dead_time.py::test_the_compiled_loop_looks_back_as_plain_steps_do",),
    ),
    Bug(
        "instants that differ by rounding are two",
        "engine/simulate/memory.py",
        "ROUNDING * np.spacing(abs(x))",
        "0.0 * np.spacing(abs(x))",
        ("simulate/test_dead_time.py::test_nearly_equal_instants_are_one",),
    ),
    Bug(
        "points of formulas sit on their body's origin",
        "engine/simulate/state_force.py",
        "tree_body_point_of_link(seat, at))",
        "tree_body_point_of_link(seat, ZERO))",
        POINTS,
    ),
    Bug(
        "points of formulas turn, but don't slide",
        "engine/dynamics/kinematics.py",
        "velocity = add(velocity, scale(qd[k], twist[3:]))",
        "velocity = add(velocity, scale(qd[k] if any(twist[:3]) else 0.0, twist[3:]))",
        POINTS,
    ),
    Bug(
        "tendons pull all joints alike",
        "engine/simulate/situation.py",
        "forces.get(one.speed, 0.0) + one.ratio * force",
        "forces.get(one.speed, 0.0) + force",
        TENDONS,
    ),
    Bug("tendons do no work", "engine/simulate/equations.py", "power = power + force * qd[k]", "pass", TENDONS),
    Bug(
        "a tendon's coordinate is its first joint's",
        "engine/text/formula_tree.py",
        'result = Operation("+", (result, Operation("*", (Number(factor), Named(name)))))',
        'result = result if result != Number(0.0) else Operation("*", (Number(factor), Named(name)))',
        TENDONS,
    ),
    Bug(
        "cuts bear what a tendon does",
        "engine/simulate/internal_forces.py",
        "left -= np.einsum(",
        "left += 0.0 * np.einsum(",
        TENDONS,
    ),
    Bug(
        "what is planned ignores tendons",
        "engine/simulate/situation.py",
        "forces[k] = forces[k] - force",
        "forces[k] = forces[k] + 0.0 * force",
        ("loops/test_tendons.py::test_feedforward_knows_what_tendons_do",),
    ),
    Bug(
        "moment arms of tendons without their gear",
        "engine/formats/mjcf_motors.py",
        '({"gear": gear} if gear != 1.0 else {})',
        "{}",
        ("formats/test_mjcf.py::test_actuators_of_tendons_and_sites",),
    ),
    Bug(
        "a regulator of the wrong weights",
        "engine/study/regulator.py",
        "np.linalg.solve(R, B.T @ P)",
        "B.T @ P",
        REGULATOR[:1],
    ),
    Bug(
        "a root that is no number passes where it is multiplied by 0",
        "engine/simulate/recorded.py",
        '"rate": with_doubts(state_rates(system, now))',
        '"rate": state_rates(system, now)',
        (
            "simulate/test_state_forces.py::test_what_is_no_number_ends_the_run_even_where_nothing_needs_it",
            "simulate/test_state_forces.py::test_a_wrench_that_is_no_number_ends_the_run_though_it_moves_nothing",
        ),
    ),
)
