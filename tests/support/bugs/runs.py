"""Bugs in laws, integrators and events."""

from .bug import Bug

TABLE = "engine/laws/table.py"
LAWS = ("laws/test_laws.py::test_rate_and_acceleration_are_the_derivatives",)
ENDS = ("laws/test_laws.py::test_a_spline_goes_through_its_rows_and_holds_its_ends",)
COMPLEMENTARY = (
    "simulate/test_complementarity.py::test_a_joint_moves_only_where_its_force_is_at_a_bound",
    "simulate/test_complementarity.py::test_the_motion_is_that_of_least_constraint",
)
CUT_OFF = ("simulate/test_saturation.py::test_a_harmonic_force_is_cut_off_where_it_passes_its_limits",)
CONTROLLER = ("simulate/test_saturation.py::test_a_controller_at_its_limits_against_another_integrator",)
STEPS = ("simulate/test_integrate.py::test_steps_are_scipys_to_the_last_bit",)

RUNS = (
    Bug(
        "tables end one row early",
        TABLE,
        "self.ends, self._rows = (float(t[0]), float(t[-1])), (t, y)",
        "self.ends, self._rows = (float(t[0]), float(t[-2])), (t, y)",
        ENDS,
    ),
    Bug(
        "the first column of a table is always its time",
        TABLE,
        'time = header.index("t") if "t" in header else 0',
        "time = 0",
        ("laws/test_laws.py::test_time_is_the_column_t_else_the_first",),
    ),
    Bug(
        "tables go on moving behind their ends",
        TABLE,
        "np.where(inside, rate, 0.0)",
        "rate",
        ENDS,
    ),
    Bug(
        "overshoot of splines measured from one side only",
        TABLE,
        "np.maximum(values - high, low - values)",
        "(values - high)",
        ("laws/test_tables.py::test_the_overshoot_of_a_spline_through_a_peak_is_warned_of",),
    ),
    Bug(
        "times of a table that stand still are taken",
        TABLE,
        "if not (steps > 0).all():",
        "if not (steps >= 0).all():",
        ("laws/test_laws.py::test_tables_that_are_none",),
    ),
    Bug(
        "acceleration of a harmonic motion with the wrong sign",
        "engine/laws/motions.py",
        "-amplitude * turn * turn * s",
        "amplitude * turn * turn * s",
        LAWS,
    ),
    Bug(
        "motions without the factor of their duration in the acceleration",
        "engine/laws/motions.py",
        "second / over / over",
        "second / over",
        LAWS,
    ),
    Bug(
        "kinks of motions forget their delay",
        "engine/laws/motions.py",
        "return [t0 + self.delay, t0 + self.delay + over]",
        "return [t0, t0 + over]",
        ("laws/test_laws.py::test_kinks_are_where_the_acceleration_jumps",),
    ),
    Bug(
        "pd laws push where they should brake",
        "engine/laws/forces.py",
        "self.kp * (place - q) + self.kd * (rate - qd)",
        "self.kp * (place - q) - self.kd * (rate - qd)",
        ("laws/test_laws.py::test_spring_and_pd",),
    ),
    Bug(
        "phase of a harmonic force ignored",
        "engine/laws/forces.py",
        "np.sin(turn * t + self.phase)",
        "np.sin(turn * t)",
        ("laws/test_laws.py::test_a_harmonic_force_has_an_amplitude_a_phase_and_an_offset",),
    ),
    Bug(
        "demand of a law without its reference's rate",
        "engine/simulate/inputs.py",
        "float(places[self.place]), float(rates[self.place])",
        "float(places[self.place]), 0.0",
        ("simulate/test_saturation.py::test_a_controller_along_a_motion_ends_at_its_limits",),
    ),
    Bug(
        "a law of time is taken for timeless",
        "engine/simulate/inputs.py",
        "any((one.timed and not one.steady) or one.reference is not None for one in self.driven)",
        "any(one.reference is not None for one in self.driven)",
        ("simulate/test_runs.py::test_forces_and_wrenches_over_time_are_followed",),
    ),
    Bug(
        "wrenches over time are taken for timeless",
        "engine/simulate/inputs.py",
        "or self.feedforward or self.wrenches or self.drives)",
        "or self.feedforward or self.drives)",
        ("simulate/test_runs.py::test_forces_and_wrenches_over_time_are_followed",),
    ),
    Bug(
        "forces by law not cut off in the columns",
        "engine/simulate/acting.py",
        "forces[:, one.speed] += np.clip(along, one.low, one.high)",
        "forces[:, one.speed] += along",
        ("loops/test_passive_forces.py::test_a_law_of_a_loop_ends_at_its_limits_in_inverse_tasks_too",),
    ),
    Bug(
        "an event is put before its instant",
        "engine/simulate/events.py",
        "        reach /= 2\n    return b",
        "        reach /= 2\n    return a",
        ("simulate/test_events.py::test_crossing_brackets_the_change_of_sign",),
    ),
    Bug(
        "the last of several events in a step",
        "engine/simulate/events.py",
        "return min(fired)",
        "return max(fired)",
        ("simulate/test_events.py::test_first_of_several_events_in_a_step",),
    ),
    Bug(
        "dips between samples aren't looked for",
        "engine/simulate/events.py",
        "if not bend > 0:",
        "if bend > 0:",
        ("simulate/test_events.py::test_grazing",),
    ),
    Bug(
        "steps that are rejected don't shrink enough",
        "engine/machine/program/control.py",
        "h * larger(factor, c.least_factor)",
        "h * larger(factor, 0.9)",
        STEPS,
    ),
    Bug(
        "another safety factor of steps",
        "engine/simulate/runge_kutta.py",
        "SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9",
        "SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.95",
        STEPS,
    ),
    Bug(
        "error of steps without the absolute tolerance",
        "engine/simulate/runge_kutta.py",
        "scale = self.atol + np.maximum(np.abs(self.y[:n])",
        "scale = np.maximum(np.abs(self.y[:n])",
        STEPS,
    ),
    Bug(
        "settled states begin with the old derivative",
        "engine/simulate/runge_kutta.py",
        "self.y, self.f = np.array(y, dtype=float), None",
        "self.y = np.array(y, dtype=float)",
        (
            "simulate/test_integrate.py::test_settling_refreshes_the_first_stage",
            "simulate/test_integrate.py::test_settling_refreshes_the_first_stage_of_adaptive_steps",
        ),
    ),
    Bug(
        "the limit of steps is one too low",
        "engine/simulate/loop.py",
        "if not failure and trace.steps + stepper.accepted > solver.max_steps:",
        "if not failure and trace.steps + stepper.accepted >= solver.max_steps:",
        ("simulate/test_runs.py::test_as_many_steps_as_are_allowed",),
    ),
    Bug(
        "compiled runs take any number of steps",
        "engine/simulate/loop.py",
        "if status == PAUSED and before + accepted > solver.max_steps:",
        "if status == PAUSED and accepted < 0:",
        ("simulate/test_runs.py::test_as_many_steps_as_are_allowed",),
    ),
    Bug(
        "a quadrature's weights in another order",
        "engine/simulate/prescribed.py",
        "WEIGHTS = (5 / 18, 8 / 18, 5 / 18)",
        "WEIGHTS = (8 / 18, 5 / 18, 5 / 18)",
        ("scenario/test_audit.py::test_the_quadrature_on_coarse_rows_is_not_the_runs_fault",),
    ),
    Bug(
        "feedforward without the wrenches of the scenario",
        "engine/simulate/feedforward.py",
        "return planned_forces(system, q, qd, qdd, iter(wrenches(system, t)))",
        "return planned_forces(system, q, qd, qdd, iter([0.0] * len(wrenches(system, t))))",
        ("simulate/test_runs.py::test_feedforward_with_friction_rotors_and_wrenches",),
    ),
    Bug(
        "turns about an axis in base axes",
        "engine/simulate/reference.py",
        "a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2",
        "a0 * b1 + a1 * b0 - a2 * b3 + a3 * b2",
        ("simulate/test_runs.py::test_a_turn_from_an_orientation_is_about_the_link_s_own_axis",),
    ),
    Bug(
        "null space with a column that is none",
        "engine/simulate/afresh.py",
        "np.linalg.svd(H)[0][:, :freedoms]",
        "np.linalg.svd(H)[0][:, 1 : freedoms + 1]",
        ("simulate/test_afresh.py::test_the_basis_is_an_orthogonal_complement",),
    ),
    Bug(
        "a singular position is announced for the wrong instant",
        "engine/simulate/singular.py",
        "return described(system, discrete, t + time, place(time))",
        "return described(system, discrete, t, place(time))",
        ("loops/test_reference_motion.py::test_the_singular_position_of_the_five_bar_is_announced",),
    ),
    Bug(
        "cuts and drives: the sought forces do no work",
        "engine/simulate/internal_forces.py",
        'np.einsum("nkc,nc,nk->n", result.S, forces.actuated, qd) + (acting * qd).sum(axis=1)',
        'np.einsum("nkc,nc,nk->n", result.S, forces.actuated, qd)',
        ("loops/test_passive_forces.py::test_their_power_is_in_the_energy_balance",),
    ),
    Bug(
        "closure audited without the drives' motion",
        "engine/simulate/internal_forces.py",
        "values[n] -= wanted(system, float(time))[0]",
        "values[n] -= 0.0",
        ("loops/test_suspension.py::test_gaps_are_measured_from_where_drives_lead",),
    ),
)
