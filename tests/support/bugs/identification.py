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
        SQUARES,
        "np.concatenate([R / one for",
        "np.concatenate([R * one for",
        (f"{TESTS}test_standard_errors_hold_with_white_noise",),
    ),
    Bug(
        "known forces of a mechanism act on its actuators as on a tree's",
        COLUMNS,
        "Y[..., constant] * forces[:, [k]]",
        "(Y[..., constant] != 0) * forces[:, [k]]",
        (f"{TESTS}test_wrenches_and_springs_over_joints_are_known_forces",),
    ),
    Bug(
        "known forces don't go through the filter of the efforts",
        COLUMNS,
        "friction_columns(robot)), motion)",
        "friction_columns(robot)), whole.cut(motion.kept, None))",
        (f"{TESTS}test_known_forces_go_through_the_filter_of_the_efforts",),
    ),
    Bug(
        "joints without dry friction have paths on which it builds up",
        f"{HOME}identify.py",
        "and not abs(dry) <= SHOWN * error",
        "",
        (f"{TESTS}test_only_joints_with_dry_friction_have_paths_on_which_it_builds_up",),
    ),
    Bug(
        "standard errors take residuals for white",
        SQUARES,
        "if correlated else step.white()",
        "if False else step.white()",
        (f"{TESTS}test_standard_errors_allow_for_autocorrelation",),
    ),
    Bug(
        "directions that the data don't show count as told",
        SQUARES,
        "(abs(Vt[self.rank :]) < INVOLVED)",
        "(abs(Vt[self.rank :]) < 2.0)",
        (f"{TESTS}test_numbers_that_the_data_dont_tell_are_named",),
    ),
    Bug(
        "with fewer rows than numbers all count as told",
        SQUARES,
        "np.linalg.svd(R[:, :count])",
        "np.linalg.svd(R[:, :count], full_matrices=False)",
        (f"{TESTS}test_fewer_rows_than_numbers_tell_nothing_of_most",),
    ),
    Bug(
        "a body's pseudo-inertia with a wrong sign",
        NEAREST,
        '(0, 2): {"Ixz": -1.0}',
        '(0, 2): {"Ixz": 1.0}',
        (f"{TESTS}test_pseudo_inertia_is_that_of_the_points_of_a_body",),
    ),
    Bug(
        "the entries of a pseudo-inertia off the diagonal too small",
        NEAREST,
        "(ROOT2 if r != c else 1.0)",
        "(0.1 if r != c else 1.0)",
        (f"{TESTS}test_physical_numbers_are_those_of_rigid_bodies",),
    ),
    Bug(
        "dry friction over the speed without its width",
        COLUMNS,
        "np.tanh(v / friction.width)",
        "np.tanh(v)",
        (f"{TESTS}test_smooth_friction_is_the_law_that_is_asked_for",),
    ),
    Bug(
        "friction builds up along twice the path",
        FRICTION,
        "np.exp(-gone / distance)",
        "np.exp(-gone / 2 / distance)",
        (f"{TESTS}test_friction_after_a_reversal_is_that_of_its_differential_equation",),
    ),
    Bug(
        "reversals count from the next row on",
        FRICTION,
        "v = np.insert(v, turning, 0.0)",
        "v = np.insert(v, turning, v[turning])",
        (f"{TESTS}test_friction_after_a_reversal_is_that_of_its_differential_equation",),
    ),
    Bug(
        "the path of friction that explains least",
        FRICTION,
        "near[np.argmax([",
        "near[np.argmin([",
        (f"{TESTS}test_the_path_on_which_friction_builds_up_is_found",),
    ),
    Bug(
        "the model's efforts go through no filter",
        COLUMNS,
        "if motion.filter is not None:",
        "if False:",
        (f"{TESTS}test_the_models_efforts_go_through_the_filter_of_the_measured_ones",),
    ),
    Bug(
        "accelerations of mechanisms without the drift of their speeds",
        CLOSED,
        "(0.0 if drift is None else drift)",
        "0.0",
        (f"{TESTS}test_the_columns_of_actuated_joints_suffice_in_loops",),
    ),
    Bug(
        "ranges of rows begin one row late",
        RECORDED,
        "x[first - 1 : last] for x in (t, q, efforts)",
        "x[first:last] for x in (t, q, efforts)",
        STUDY,
    ),
    Bug(
        "numbers that no force shows are changed",
        f"{HOME}identify.py",
        "np.where(shown, fitted, wanted.values[places])",
        "np.where(shown, fitted, 0.0)",
        (f"{TESTS}test_numbers_that_no_force_shows_keep_the_files_values",),
    ),
    Bug(
        "the least change leaves bounds out",
        NEAREST,
        "over = least - numbers",
        "over = -least - 9.0 - numbers",
        (f"{TESTS}test_the_change_is_the_least",),
    ),
    Bug(
        "the fit goes half of the way",
        SQUARES,
        "start + step.change, own",
        "start + 0.5 * step.change, own",
        EXACT,
    ),
    Bug(
        "speeds between the instants of a search aren't limited",
        DETERMINANT,
        "max(axis=-2) * beyond for",
        "max(axis=-2) * 0.999 for",
        ("study/test_excite.py::test_a_robot_can_be_identified_from_its_motion",),
    ),
    Bug(
        "a search that makes the determinant small",
        EXCITE,
        "return -value, -along.ravel()",
        "return value, along.ravel()",
        ("study/test_excite.py::test_motions_stay_within_limits_and_are_better_than_at_random",),
    ),
    Bug(
        "the gradient of a determinant leaves out that efforts limit the motion",
        DETERMINANT,
        "- float((along * y).sum()) /",
        "- 0.0 * float((along * y).sum()) /",
        ("study/test_excite.py::test_the_gradient_is_that_of_the_determinant",),
    ),
    Bug(
        "the gradient of a determinant leaves out that positions and speeds limit the motion",
        DETERMINANT,
        "- float(along[k] @ own) /",
        "- 0.0 * float(along[k] @ own) /",
        ("study/test_excite.py::test_the_gradient_is_that_of_the_determinant",),
    ),
    Bug(
        "paths of friction in metres for joints that turn",
        "engine/study/identification/settings.py",
        'joint_number_fits_unit(friction.distance or 0.0, distance, ("friction", "distance"), complain)',
        "pass",
        ("study/test_identification.py::test_mistakes_are_said",),
    ),
)
