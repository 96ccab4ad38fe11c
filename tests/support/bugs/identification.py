"""Bugs in what is identified from measured data."""

from .bug import Bug

HOME = "engine/study/identification/"
SQUARES = f"{HOME}least_squares.py"
NEAREST = f"{HOME}nearest.py"
COLUMNS = f"{HOME}columns.py"
FRICTION = f"{HOME}friction.py"
CLOSED = f"{HOME}closed.py"
EXCITE = f"{HOME}excite.py"
DETERMINANT = f"{HOME}determinant.py"
RECORDED = f"{HOME}recorded.py"
TESTS = "study/test_identification.py::"
EXACT = (f"{TESTS}test_exact_data_give_exact_numbers",)
STUDY = (f"{TESTS}test_a_study_says_what_the_columns_are",)

IDENTIFICATION = (
    Bug(
        "joints with much noise count more",
        "solve_identification_fit",
        "[R / one for R, one in zip(small, deviations)]",
        "[R * one for R, one in zip(small, deviations)]",
        (f"{TESTS}test_standard_errors_hold_with_white_noise",),
    ),
    Bug(
        "known forces of a mechanism act on its actuators as on a tree's",
        "known_efforts",
        "Y[..., constant]",
        "Y[..., constant] != 0",
        (f"{TESTS}test_wrenches_and_springs_over_joints_are_known_forces",),
    ),
    Bug(
        "known forces don't go through the filter of the efforts",
        "known_efforts",
        "seen(sum(Y[..., constant] * forces[:, [k]] for k, _, constant in friction_columns(robot)), motion)",
        "seen(sum(Y[..., constant] * forces[:, [k]] for k, _, constant in friction_columns(robot)), whole.cut(motion.kept, None))",
        (f"{TESTS}test_known_forces_go_through_the_filter_of_the_efforts",),
    ),
    Bug(
        "joints without dry friction have paths on which it builds up",
        "estimate:_distances",
        "k in wanted.distances and dry and not abs(dry) <= SHOWN * error",
        "k in wanted.distances and dry",
        (f"{TESTS}test_only_joints_with_dry_friction_have_paths_on_which_it_builds_up",),
    ),
    Bug(
        "standard errors take residuals for white",
        "solve_identification_fit",
        "step.correlated(X / deviations[:, None], residuals, ends, lags) if correlated else step.white()",
        "step.correlated(X / deviations[:, None], residuals, ends, lags) if False else step.white()",
        (f"{TESTS}test_standard_errors_allow_for_autocorrelation",),
    ),
    Bug(
        "directions that the data don't show count as told",
        "_Step.__init__",
        "abs(Vt[self.rank :]) < INVOLVED",
        "abs(Vt[self.rank :]) < 2.0",
        (f"{TESTS}test_numbers_that_the_data_dont_tell_are_named",),
    ),
    Bug(
        "with fewer rows than numbers all count as told",
        "_Step.__init__",
        "np.linalg.svd(R[:, :count])",
        "np.linalg.svd(R[:, :count], full_matrices=False)",
        (f"{TESTS}test_fewer_rows_than_numbers_tell_nothing_of_most",),
    ),
    Bug(
        "a body's pseudo-inertia with a wrong sign",
        "least_squares:ENTRIES",
        '{"Ixz": -1.0}',
        '{"Ixz": 1.0}',
        (f"{TESTS}test_pseudo_inertia_is_that_of_the_points_of_a_body",),
    ),
    Bug(
        "the entries of a pseudo-inertia off the diagonal too small",
        "_constraints",
        "ROOT2 if r != c else 1.0",
        "0.1 if r != c else 1.0",
        (f"{TESTS}test_physical_numbers_are_those_of_rigid_bodies",),
    ),
    Bug(
        "dry friction over the speed without its width",
        "_dry",
        "v / friction.width",
        "v",
        (f"{TESTS}test_smooth_friction_is_the_law_that_is_asked_for",),
    ),
    Bug(
        "friction builds up along twice the path",
        "sliding",
        "-gone / distance",
        "-gone / 2 / distance",
        (f"{TESTS}test_friction_after_a_reversal_is_that_of_its_differential_equation",),
    ),
    Bug(
        "reversals count from the next row on",
        "sliding",
        "np.insert(v, turning, 0.0)",
        "np.insert(v, turning, v[turning])",
        (f"{TESTS}test_friction_after_a_reversal_is_that_of_its_differential_equation",),
    ),
    Bug(
        "the path of friction that explains least",
        "best_distance",
        "np.argmax([explained(x) for x in near])",
        "np.argmin([explained(x) for x in near])",
        (f"{TESTS}test_the_path_on_which_friction_builds_up_is_found",),
    ),
    Bug(
        "the model's efforts go through no filter",
        "seen",
        "motion.filter is not None",
        "False",
        (f"{TESTS}test_the_models_efforts_go_through_the_filter_of_the_measured_ones",),
    ),
    Bug(
        "accelerations of mechanisms without the drift of their speeds",
        "_others",
        "0.0 if drift is None else drift",
        "0.0",
        (f"{TESTS}test_the_columns_of_actuated_joints_suffice_in_loops",),
    ),
    Bug(
        "ranges of rows begin one row late",
        "recorded_measurement",
        "(x[first - 1 : last] for x in (t, q, efforts))",
        "(x[first:last] for x in (t, q, efforts))",
        STUDY,
    ),
    Bug(
        "numbers that no force shows are changed",
        "_identified",
        "np.where(shown, fitted, wanted.values[places])",
        "np.where(shown, fitted, 0.0)",
        (f"{TESTS}test_numbers_that_no_force_shows_keep_the_files_values",),
    ),
    Bug(
        "the least change leaves bounds out",
        "least_change_of_identified_numbers",
        "least - numbers[bounded] / size[bounded]",
        "-least - 9.0 - numbers[bounded] / size[bounded]",
        (f"{TESTS}test_the_change_is_the_least",),
    ),
    Bug(
        "the fit goes half of the way",
        "solve_identification_fit",
        "start + step.change",
        "start + 0.5 * step.change",
        EXACT,
    ),
    Bug(
        "speeds between the instants of a search aren't limited",
        "Search.scaled",
        "abs(wave @ np.swapaxes(x, -1, -2)).max(axis=-2) * beyond",
        "abs(wave @ np.swapaxes(x, -1, -2)).max(axis=-2) * 0.999",
        ("study/test_excite.py::test_a_robot_can_be_identified_from_its_motion",),
    ),
    Bug(
        "a search that makes the determinant small",
        "excite.slope",
        "-value, -along.ravel()",
        "value, along.ravel()",
        ("study/test_excite.py::test_motions_stay_within_limits_and_are_better_than_at_random",),
    ),
    Bug(
        "the gradient of a determinant leaves out that efforts limit the motion",
        "Search._through_efforts",
        "float((along * y).sum())",
        "0.0 * float((along * y).sum())",
        ("study/test_excite.py::test_the_gradient_is_that_of_the_determinant",),
    ),
    Bug(
        "the gradient of a determinant leaves out that positions and speeds limit the motion",
        "Search._through_scale",
        "float(along[k] @ own)",
        "0.0 * float(along[k] @ own)",
        ("study/test_excite.py::test_the_gradient_is_that_of_the_determinant",),
    ),
    Bug(
        "paths of friction in metres for joints that turn",
        "friction_fits_joints",
        'joint_number_fits_unit(friction.distance or 0.0, distance, ("friction", "distance"), complain)',
        "pass",
        ("study/test_identification.py::test_mistakes_are_said",),
        text=True,
    ),
)
