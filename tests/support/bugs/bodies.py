"""Bugs in loops over bodies, and in what translates them."""

from .bug import Bug

LOOPS_ALIKE = ("machine/test_loops.py::test_machine_code_gives_what_python_gives",)
INERTIA = ("mechanics/trees/test_body_texts.py::test_inertia_of_random_trees",)
REGRESSOR = ("mechanics/trees/test_body_texts.py::test_regressors_of_random_trees",)
DYNAMICS = ("mechanics/trees/test_body_texts.py::test_dynamics_of_random_trees",)
DERIVATIVES = ("mechanics/trees/test_body_texts.py::test_derivatives_of_random_trees",)
LONG = ("mechanics/trees/test_body_texts.py::test_derivatives_of_long_trees",)

BODIES = (
    Bug(
        "loops: a product with 1 is 0",
        "Operations._single",
        "one == 0",
        "one == 1",
        LOOPS_ALIKE,
    ),
    Bug(
        "loops: integers of a loop across are taken for single places",
        "Operations._single",
        "(PLACES, FIRST)",
        "(PLACES, EIGHT)",
        LOOPS_ALIKE,
    ),
    Bug(
        "loops: what is past the end of a column is written where it is",
        "Lines._put_column",
        "reversed(range(A))",
        "range(A)",
        LOOPS_ALIKE,
    ),
    Bug(
        "loops: results that are enormous aren't looked at",
        "LoopText._entries",
        "i64 %{RESULTS}, double {_ENORMOUS}",
        "i64 %{RESULTS}, double {_ONE}",
        ("mechanics/trees/test_body_texts.py::test_enormous_results_are_left_to_the_plain_text",),
        text=True,
    ),
    Bug("rows of a joint have their axes in the other order", "BodyTables._add", "(d - z) % 3", "(z - d) % 3", INERTIA),
    Bug("slides go along the next axis", "BodyTables._add", "(r - z - 1) % 3", "(r - z) % 3", INERTIA),
    Bug(
        "a tree's root is as far from the point of all motions as from the base",
        "BodyTables._place",
        "np.zeros(3) if parent is None else np.array(origin, dtype=float)[above]",
        "np.array(origin, dtype=float)[above]",
        ("mechanics/trees/test_body_texts.py::test_a_tree_with_its_root_far_away_loses_no_digits",),
    ),
    Bug(
        "rows of a joint move by what comes before them alone",
        "motions",
        "+tree.v[0:6, tree.leaders[k]]",
        "+tree.v[0:6, tree.follower_rows[k]]",
        REGRESSOR,
    ),
    Bug(
        "products of inertia in regressors have the wrong sign",
        "unit_wrenches",
        "ay - wx * wz",
        "ay + wx * wz",
        REGRESSOR,
    ),
    Bug(
        "loops over bodies forget rotors in pivots",
        "hinged",
        "dot(S[:3], U[:3]) + dot(S[3:], U[3:]) + rotor",
        "dot(S[:3], U[:3]) + dot(S[3:], U[3:])",
        DYNAMICS,
    ),
    Bug(
        "articulated inertias are moved the wrong way",
        "inertia_before",
        "J[a][b] + left[b][a] - right[a][b]",
        "J[a][b] + left[b][a] + right[a][b]",
        ("mechanics/trees/test_body_texts.py::test_dynamics_of_long_trees_are_loops",),
    ),
    Bug(
        "rates of directions by the carrier's motion alone",
        "differentiate",
        "sum_of(psi, swirled(tree.v[0:6, i], s))",
        "sum_of(psi, psi)",
        DERIVATIVES,
    ),
    Bug(
        "rows of one joint have an order in derivatives",
        "differentiate",
        "tree.last[j] - tree.first[j] > 1",
        "tree.last[j] - tree.first[j] > 100",
        DERIVATIVES,
    ),
    Bug(
        "what meets in a body stays for the next columns",
        "body_texts:solve",
        "scaled(0.0, tree.P[0:18, i, c])",
        "scaled(1.0, tree.P[0:18, i, c])",
        LONG,
    ),
    Bug(
        "dampers have no derivatives",
        "body_texts:derivatives",
        "tree.viscous[0, i]",
        "0.0 * tree.viscous[0, i]",
        DERIVATIVES,
    ),
)
