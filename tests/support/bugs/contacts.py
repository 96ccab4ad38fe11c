"""Bugs in dry friction, stops, blows and effort limits."""

from .bug import Bug

STICKING = "engine/simulate/sticking.py"
BLOWS = "engine/simulate/blows.py"
BALANCED = "engine/simulate/complementarity.py"
SHARING = "engine/simulate/sharing.py"
SATURATION = "engine/simulate/saturation.py"
CUT_OFF = ("simulate/test_saturation.py::test_a_harmonic_force_is_cut_off_where_it_passes_its_limits",)
COMPLEMENTARY = (
    "simulate/test_complementarity.py::test_a_joint_moves_only_where_its_force_is_at_a_bound",
    "simulate/test_complementarity.py::test_the_motion_is_that_of_least_constraint",
)

CONTACTS = (
    Bug(
        "friction that is a little weaker holds a joint beyond its own",
        STICKING,
        "if excess[worst] > 2 * SLACK else None",
        "if excess[worst] > 1.0 else None",
        ("simulate/test_friction.py::test_no_joint_is_held_by_more_than_its_friction",),
    ),
    Bug(
        "a blow at a stop brings energy",
        BLOWS,
        "y[-1] += lost",
        "y[-1] -= lost",
        ("simulate/test_friction.py::test_a_falling_joint_lands_on_its_stop",),
    ),
    Bug(
        "lower stops taken for upper ones",
        BLOWS,
        "return q[stop.coordinate] <= stop.low + near, q[stop.coordinate] >= stop.high - near",
        "return q[stop.coordinate] >= stop.high - near, q[stop.coordinate] <= stop.low + near",
        ("simulate/test_friction.py::test_resting_on_a_stop_from_the_start",),
    ),
    Bug(
        "stops push both ways",
        STICKING,
        "return -math.inf if high else -coulomb, math.inf if low else coulomb",
        "return -math.inf, math.inf",
        ("simulate/test_friction.py::test_release_from_a_stop",),
    ),
    Bug(
        "a joint that breaks loose slips backwards",
        STICKING,
        "slip[k] = math.copysign(1.0, x)",
        "slip[k] = -math.copysign(1.0, x)",
        ("simulate/test_friction.py::test_break_away_under_a_growing_force",),
    ),
    Bug(
        "blows of joints that only touch their stops",
        BLOWS,
        "outwards = [k for k in stops if (sides[k][0] and now[k] < 0.0) or (sides[k][1] and now[k] > 0.0)]",
        "outwards = [k for k in stops if (sides[k][0] and now[k] > 0.0) or (sides[k][1] and now[k] < 0.0)]",
        ("simulate/test_friction.py::test_a_falling_joint_lands_on_its_stop",),
    ),
    Bug(
        "blows don't move the other joints",
        BLOWS,
        "after = qd + response.after(stops, impulses)",
        "after = qd.copy()",
        (
            "simulate/test_friction.py::test_a_blow_inside_a_linkage",
            "simulate/test_blows.py::test_a_stop_of_a_dependent_joint_takes_one_of_two_freedoms",
        ),
    ),
    Bug(
        "rates that jump are no blow",
        BLOWS,
        "if not names:",
        "if names is not None:",
        ("simulate/test_blows.py::test_a_ramp_that_ends_gives_a_blow",),
    ),
    Bug(
        "joints at dead centres stick",
        STICKING,
        "if _carried_off(run, trial, now):",
        "if False:",
        ("simulate/test_sticking_mechanisms.py::test_a_joint_that_turns_back_at_a_dead_centre_does_not_stick",),
    ),
    Bug(
        "forces pushed away from their bounds",
        BALANCED,
        "room = np.where(step > 0, high[these] - s[these], low[these] - s[these])",
        "room = np.where(step < 0, high[these] - s[these], low[these] - s[these])",
        COMPLEMENTARY,
    ),
    Bug(
        "forces are never freed where joints move down",
        BALANCED,
        "wrong = np.where(a < 0, s < high, s > low) * abs(a)",
        "wrong = np.where(a < 0, False, s > low) * abs(a)",
        COMPLEMENTARY,
    ),
    Bug(
        "scale of forces not taken out again",
        BALANCED,
        "np.where(s >= high, bounds[1], s * scale)",
        "np.where(s >= high, bounds[1], s)",
        COMPLEMENTARY,
    ),
    Bug(
        "shares of friction whatever the break-away forces",
        SHARING,
        "Effort(low, high, 1.0 / s**2)",
        "Effort(low, high, 1.0)",
        ("simulate/test_sticking_mechanisms.py::test_supports_are_the_least_sum_of_squares_relative_to_break_away",),
    ),
    Bug(
        "margin of supports with the wrong lower bounds",
        SHARING,
        "limits = np.concatenate([high[upper], -low[lower]])",
        "limits = np.concatenate([high[upper], low[lower]])",
        ("simulate/test_sticking_mechanisms.py::test_margin_is_how_far_all_supports_stay_from_their_bounds",),
    ),
    Bug(
        "margin of one freedom counts one side",
        SHARING,
        "float(min(ends[1].sum() - b[0], b[0] - ends[0].sum()) / max(reach, 1e-300))",
        "float((ends[1].sum() - b[0]) / max(reach, 1e-300))",
        ("simulate/test_sticking_mechanisms.py::test_margin_is_how_far_all_supports_stay_from_their_bounds",),
    ),
    Bug(
        "saturated at the other limit",
        SATURATION,
        "saturated[k] = high if force >= high else low",
        "saturated[k] = low if force >= high else high",
        CUT_OFF,
    ),
    Bug(
        "laws never come back from their limits",
        SATURATION,
        "watched.append(_distance(run, k, Rule(-side / size, bound, SLACK), LEAVES, side))",
        "pass",
        CUT_OFF,
    ),
    Bug(
        "lower effort limits aren't watched",
        SATURATION,
        "elif math.isfinite(bound):",
        "elif math.isfinite(bound) and side < 0:",
        CUT_OFF,
    ),
    Bug(
        "feedforward knows no effort limits",
        SATURATION,
        "forces |= {k: wanted[k] for k in planned}",
        "forces |= {}",
        ("simulate/test_saturation.py::test_feedforward_ends_at_the_limits",),
    ),
    Bug(
        "events of effort limits swapped",
        SATURATION,
        '"event": LEAVES, "then"',
        '"event": REACHES, "then"',
        CUT_OFF,
    ),
    Bug(
        "smooth friction slips, where its joint has stops",
        STICKING,
        "for k in system.coulomb if system.switching.get(k) and k not in ranges",
        "for k in system.coulomb if k in system.switching and k not in ranges",
        ("simulate/test_friction.py::test_smooth_friction_of_a_joint_with_stops_has_no_modes",),
    ),
    Bug(
        "what holds a joint is asked at a kink of a law, not behind it",
        "engine/simulate/loop.py",
        "t, y = _kink(run, *sides_of_kink(t, grid), y, trace)",
        "t, y = _kink(run, t, t, y, trace)",
        ("simulate/test_friction.py::test_a_block_on_a_cart_slips_while_the_cart_starts_and_brakes",),
    ),
    Bug(
        "a leg ends with the far side of a kink",
        "engine/simulate/runner.py",
        "return min(t, self.until)",
        "return t",
        ("simulate/test_friction.py::test_a_block_on_a_cart_slips_while_the_cart_starts_and_brakes",),
    ),
    Bug(
        "a row at a blow has the rates behind it",
        "engine/simulate/loop.py",
        "run.shown = run.until if prescribed_rates_jump(run.system, run.until, behind) else math.inf",
        "run.shown = math.inf if prescribed_rates_jump(run.system, run.until, behind) else math.inf",
        ("simulate/test_blows.py::test_a_row_where_a_ramp_starts_is_before_the_blow",),
    ),
    Bug(
        "speeds before a blow are closed with the rates behind it",
        "engine/simulate/runner.py",
        "return coordinates.settled_state(self.system, self.discrete, self.within(t), y)",
        "return coordinates.settled_state(self.system, self.discrete, t, y)",
        ("simulate/test_blows.py::test_a_row_where_a_ramp_starts_is_before_the_blow",),
    ),
    Bug(
        "runs side by side ask what holds a joint at a kink of a law, not behind it",
        "engine/simulate/abreast.py",
        "self.t[self.alive] = stop",
        "self.t[self.alive] = earlier",
        ("study/test_abreast.py::test_what_holds_a_joint_is_asked_behind_a_kink_of_a_law",),
    ),
    Bug(
        "what a commanded joint carries along sticks",
        "engine/simulate/carried.py",
        "return tuple(sorted(found & _led(system, there)[1] if left <= CLOSED else found))",
        "return ()",
        ("simulate/test_sticking_mechanisms.py::test_of_what_a_commanded_joint_carries_along_only_the_rest_sticks",),
    ),
    Bug(
        "what a commanded joint carries along has no friction",
        "engine/simulate/equations.py",
        "forces[k] = coulomb * (0.5 * (sign(qd[k] - slow) + sign(qd[k] + slow)))",
        "forces[k] = coulomb * (0.0 * (sign(qd[k] - slow) + sign(qd[k] + slow)))",
        ("simulate/test_sticking_mechanisms.py::test_what_a_commanded_joint_carries_along_rubs_and_knows_no_stops",),
    ),
    Bug(
        "what a blow at the start takes is missed in all rows",
        "engine/simulate/loop.py",
        "y[-2:] = 0.0",
        "y[-2:] = y[-2:]",
        ("simulate/test_blows.py::test_a_blow_at_the_start_is_no_part_of_the_balance",),
    ),
    Bug(
        "what a blow at the start takes is missed in all rows of runs side by side",
        "engine/simulate/abreast.py",
        "self.y[:, -2:] = 0.0",
        "self.y[:, -2:] = self.y[:, -2:]",
        ("study/test_abreast.py::test_a_blow_at_the_start_is_no_part_of_the_balance_of_runs_side_by_side",),
    ),
    Bug(
        "joints that share a freedom are let go by how fast each of them would be",
        STICKING,
        "(ways / most if most > 0.0 else np.ones(len(G)))",
        "np.ones(len(G))",
        ("simulate/test_sticking_mechanisms.py::test_joints_that_share_a_freedom_are_let_go_together",),
    ),
    Bug(
        "feedforward of a mechanism knows no friction of passive joints",
        "engine/simulate/feedforward.py",
        "        carried=carried,\n        closure",
        "        closure",
        ("simulate/test_sticking_mechanisms.py::test_feedforward_of_a_mechanism_knows_the_friction_of_passive_joints",),
    ),
)
