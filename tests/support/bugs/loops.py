"""Bugs in what closes loops and finds the forces in them."""

from .bug import Bug

EFFORT = "engine/loops/effort.py"
SEARCH = "engine/loops/search.py"
REACTIONS = "engine/loops/reactions.py"
CONSTRAINTS = "engine/loops/constraints.py"
METHODS = "engine/loops/methods.py"
RATES = ("loops/test_random.py::test_jacobian_and_drift_are_the_rates_of_the_gap",)
NO_WORK = ("loops/test_random.py::test_cuts_do_no_work_on_motions_that_keep_loops_closed",)
ALL_AT_ONCE = ("loops/test_random.py::test_branch_by_branch_is_all_at_once",)
IDENTITY = ("loops/test_random.py::test_forward_of_inverse_is_the_identity",)
LEAST = ("loops/test_effort.py::test_the_smallest_effort_between_the_limits_is_found",)
DENSE = ("loops/test_reactions.py::test_reactions_by_dense_linear_algebra",)
EACH_METHOD = ("loops/test_random.py::test_every_closure_method_has_the_accelerations_of_forward",)

LOOPS = (
    Bug(
        "effort's weights ignored",
        EFFORT,
        "weight = np.array([one.weight for one in efforts])",
        "weight = np.array([1.0 for one in efforts])",
        ("loops/test_effort.py::test_without_limits_it_is_the_weighted_least_norm",),
    ),
    Bug(
        "effort's upper limits taken for lower ones",
        EFFORT,
        "G = np.concatenate([-Z[tops], Z[bottoms]])",
        "G = np.concatenate([Z[tops], Z[bottoms]])",
        LEAST,
    ),
    Bug("forces at their limits are left where they were", EFFORT, "if push > 0.0}", "if push > 1e300}", LEAST),
    Bug(
        "effort with a centre: the centre counted once too often",
        EFFORT,
        "wanted = b - A @ np.broadcast_to(near, weight.shape)",
        "wanted = b",
        ("loops/test_effort.py::test_near_moves_the_centre",),
    ),
    Bug(
        "forces beyond their lower limits are not seen in batches",
        EFFORT,
        "(np.maximum(u - high, low - u) > slack[:, None])",
        "(u - high > slack[:, None])",
        ("loops/test_effort.py::test_forces_beyond_either_limit_are_seen",),
    ),
    Bug(
        "wrench in a cut the wrong way round",
        REACTIONS,
        "across.append([*n, *f] if first",
        "across.append([*scale(-1.0, n), *scale(-1.0, f)] if first",
        DENSE,
    ),
    Bug(
        "wrench of a cut on its first link the wrong way round",
        REACTIONS,
        "put(first, scale(-1.0, n), scale(-1.0, f), add(",
        "put(first, n, f, add(",
        DENSE,
    ),
    Bug(
        "wrench of a cut on its second link acts at the link's origin",
        REACTIONS,
        "put(second, n2, f2, list(two_frame.origin))",
        "put(second, n2, f2, none)",
        DENSE,
    ),
    Bug(
        "ratio of a coupling the wrong way round",
        CONSTRAINTS,
        "J.append({c.speed: 1.0, c.to_speed: -c.ratio})",
        "J.append({c.speed: 1.0, c.to_speed: c.ratio})",
        ("loops/test_couplings.py::test_calls", "loops/test_couplings.py::test_simulation"),
    ),
    Bug(
        "offset of a coupling ignored",
        CONSTRAINTS,
        "q[c.coordinate] - c.ratio * q[c.to] - c.offset for c",
        "q[c.coordinate] - c.ratio * q[c.to] for c",
        ("loops/test_couplings.py::test_calls", "loops/test_couplings.py::test_simulation"),
    ),
    Bug(
        "lengths not made comparable with angles",
        CONSTRAINTS,
        "np.array([1.0 if speeds[k] else self.length for",
        "np.array([1.0 if speeds[k] else 1.0 for",
        ("loops/test_assembly.py::test_scaled_rows_are_those_of_the_mechanism_in_any_unit",),
    ),
    Bug(
        "an open loop is good enough",
        "engine/loops/assembly.py",
        "GOOD = 1e-9",
        "GOOD = 1e-3",
        ("loops/test_assembly.py::test_a_triangle_closes_if_its_sides_suffice",),
    ),
    Bug(
        "what one start can't close can't be closed",
        SEARCH,
        "ENOUGH = 3",
        "ENOUGH = 1",
        ("loops/test_assembly.py::test_what_was_not_found_says_so",),
    ),
    Bug(
        "search moves joints that are to be kept",
        SEARCH,
        "free = np.array([k not in set(kept) for k in range(loops.robot.nv)])",
        "free = np.array([True for k in range(loops.robot.nv)])",
        ("loops/test_assembly.py::test_starts_end_in_the_least_gap_they_can_reach",),
    ),
    Bug(
        "search goes up where it should go down",
        SEARCH,
        "np.concatenate([-gap, np.zeros(len(free))])",
        "np.concatenate([gap, np.zeros(len(free))])",
        ("loops/test_assembly.py::test_a_real_leg_closes_from_noise",),
    ),
    Bug(
        "whole directions compared without one of their axes",
        SEARCH,
        "axes = (2,) if loop.type.aligned == PARALLEL else (0, 1, 2)",
        "axes = (2,)",
        ("loops/test_assembly.py::test_a_real_leg_closes_from_noise",),
    ),
    Bug(
        "preferred speeds are the dependent ones",
        "engine/loops/partition.py",
        "groups = [[k for k in free if k not in preferred], [k for k in free if k in preferred], list(given)]",
        "groups = [[k for k in free if k in preferred], [k for k in free if k not in preferred], list(given)]",
        ("loops/test_one_text.py::test_reduced_equations_are_those_of_inverse_dynamics",),
    ),
    Bug(
        "pivots that have changed sides aren't noticed",
        "engine/loops/partition.py",
        "return min(shares if signed else map(abs, shares), default=1.0)",
        "return min(map(abs, shares), default=1.0)",
        ("loops/test_reference_motion.py::test_the_singular_position_of_the_five_bar_is_announced",),
    ),
    Bug(
        "open loops are taken by the text of many samples",
        "engine/loops/texts.py",
        "return [slack - open_by, slack / len(qd) * speed - opening]",
        "return [1.0 + slack - open_by, slack / len(qd) * speed - opening]",
        ("loops/test_many.py::test_compiled_code_leaves_open_loops_to_the_plain_text",),
    ),
    Bug(
        "speeds that open the loops are taken",
        "engine/loops/texts.py",
        "return [slack - open_by, slack / len(qd) * speed - opening]",
        "return [slack - open_by, 1.0 + opening]",
        ("loops/test_many.py::test_compiled_code_leaves_open_loops_to_the_plain_text",),
    ),
    Bug(
        "dependent rows' multipliers of any norm",
        "engine/loops/subsystems.py",
        "result = [x - entry * share for x, entry in zip(result, row)]",
        "result = [x + entry * share for x, entry in zip(result, row)]",
        ("loops/test_many.py::test_multipliers_of_dependent_rows_have_the_least_norm",),
    ),
    Bug(
        "branches know nothing of forces that are solved already",
        "engine/loops/subsystems.py",
        "rest = rest - A[k][c] * known",
        "rest = rest",
        ALL_AT_ONCE,
    ),
    Bug(
        "idle spins aren't taken out",
        "engine/loops/subsystems.py",
        "right[s] = right[s] + share * m[s]",
        "right[s] = right[s]",
        ("loops/test_methods.py::test_what_would_spin_rods_is_left_out",),
    ),
    Bug(
        "missing actuator overlooked",
        "engine/loops/balance.py",
        "if missing > 0:",
        "if missing > 1:",
        ("cli/test_inspect.py::test_fewer_actuators_than_freedoms",),
    ),
    Bug(
        "actuators that move nothing overlooked",
        "engine/loops/balance.py",
        "if useless:",
        "if len(useless) > 9:",
        ("cli/test_inspect.py::test_an_actuator_that_moves_nothing",),
    ),
    Bug(
        "elimination of Kᵀ forgets the factors",
        "engine/loops/elimination.py",
        "y[r] = y[r] - factor * y[s]",
        "y[r] = y[r]",
        ("loops/test_methods.py::test_elimination_solves_both_ways",),
    ),
    Bug(
        "velocity terms left out of the projected equations",
        METHODS,
        "start = p.K.solve([*drift, *([0.0] * len(p.N))])",
        "start = p.K.solve([*([0.0] * len(drift)), *([0.0] * len(p.N))])",
        IDENTITY,
    ),
    Bug(
        "stabilisation drives the loops open",
        METHODS,
        'subtract(p.second, scale(p.parameters["sigma"], off))',
        'subtract(p.second, scale(-p.parameters["sigma"], off))',
        ("loops/test_methods.py::test_corrections_close_what_is_open",),
    ),
    Bug(
        "Baumgarte's correction without its second term",
        METHODS,
        "scale(b * b, p.gap[: p.closures])",
        "scale(0.0, p.gap[: p.closures])",
        ("loops/test_methods.py::test_corrections_close_what_is_open",),
    ),
    Bug(
        "dampers of penalties not critical",
        METHODS,
        'd = p.parameters.get("d", 2 * k**0.5)',
        'd = p.parameters.get("d", 0.0)',
        ("loops/test_methods.py::test_penalties_are_springs_with_dampers_of_critical_size",),
    ),
    Bug(
        "redundant rows counted as freedoms",
        "engine/loops/mobility.py",
        "redundant=loops.m - len(balance.rows),",
        "redundant=loops.m - loops.robot.nv,",
        ("loops/test_mobility.py::test_robots_of_the_library",),
    ),
    Bug(
        "moments that can't be known named by the wrong axis",
        "engine/loops/mobility.py",
        "AXES[3 - sum(row.axes)]",
        "AXES[row.axes[0]]",
        ("loops/test_mobility.py::test_what_a_plane_leaves_unknown",),
    ),
    Bug(
        "freedoms without inertia pass in loops",
        "engine/loops/vanishing.py",
        "pivots[j] = I[j, j]",
        "pivots[j] = M[j, j]",
        ("loops/test_vanishing.py::test_a_rod_that_spins_without_inertia_is_refused_by_name",),
    ),
    Bug(
        "compiled constraints without their velocity terms",
        "engine/loops/gaps.py",
        "return result[: self._m], J, result[len(result) - self._m :]",
        "return result[: self._m], J, 0.0 * result[len(result) - self._m :]",
        (
            "loops/test_one_text.py::test_all_ways_follow_one_text",
            "loops/test_many.py::test_compiled_constraints_are_the_plain_ones",
        ),
    ),
    Bug(
        "rotors of parallel robots left out",
        "engine/parallel/decoupled.py",
        '"I": N.T @ M @ N + (J.T * _rotors(robot)) @ J,',
        '"I": N.T @ M @ N,',
        ("loops/test_parallel.py::test_rotors_are_in_the_reduced_inertia",),
    ),
    Bug(
        "legs know nothing of their own kept joints",
        "engine/parallel/decoupled.py",
        "beyond = other is leg and leg.chain.index(k) >= depth",
        "beyond = False",
        ("loops/test_parallel.py::test_twists_are_the_rates_of_the_frames",),
    ),
    Bug(
        "directions taken out of the projector in a metric of units",
        "engine/parallel/projector.py",
        "dual = rest if metric is None else rest @ metric",
        "dual = rest",
        ("dynamics/test_wrenches.py::test_projectors_forget_directions_one_by_one",),
    ),
    Bug(
        "linearised mechanisms: derivatives transposed",
        "engine/loops/linear.py",
        "*(column[r] for r in range(len(z)) for column in columns)]",
        "*(column[r] for column in columns for r in range(len(z)))]",
        ("loops/test_linear.py::test_against_differences",),
    ),
    Bug(
        "linearised mechanisms: forces of all joints in the place of the actuated",
        "engine/loops/linear.py",
        "columns += [factors.solve([column[k] for column in T]) for k in robot.driven]",
        "columns += [factors.solve([column[k] for column in T]) for k in range(len(robot.driven))]",
        ("loops/test_linear.py::test_against_differences",),
    ),
    Bug(
        "linearised mechanisms: the loops' own accelerations ignored",
        "engine/loops/slopes.py",
        "qdd = K.solve([*(-drift[r] for r in part.rows), *z])",
        "qdd = K.solve([*(0.0 * drift[r] for r in part.rows), *z])",
        (
            "loops/test_linear.py::test_against_differences",
            "loops/test_linear.py::test_derivatives_are_differences_of_the_augmented_system",
        ),
    ),
    Bug(
        "derivatives along numbers: the loops open",
        "engine/loops/sensitivity.py",
        "speeds = K.solve([*scale(-1.0, opening),",
        "speeds = K.solve([*scale(1.0, opening),",
        ("loops/test_sensitivity.py::test_of_mechanisms",),
    ),
    Bug(
        "derivatives along numbers: rotations keep still",
        "engine/loops/numbers.py",
        "bodies = tuple(replace(one, rotation=_matrix(one.rotation)) for one in numbers.bodies)",
        "bodies = numbers.bodies",
        ("loops/test_sensitivity.py::test_of_trees",),
    ),
)
