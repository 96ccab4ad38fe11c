"""Bugs in the recursion and in everything that holds for a tree."""

from .bug import Bug

SWEEPS = "engine/dynamics/sweeps.py"
SPATIAL = "engine/dynamics/spatial.py"
ENERGY = "engine/dynamics/energy.py"
WRENCHES = "engine/dynamics/wrenches.py"
KINEMATICS = "engine/dynamics/kinematics.py"
NEWTON = ("dynamics/test_theorems.py::test_a_joint_of_each_type_obeys_newton_and_euler",)
TREE = ("dynamics/test_theorems.py::test_a_tree_in_each_convention_obeys_newton_and_euler",)
THERE_AND_BACK = ("dynamics/test_theorems.py::test_forward_undoes_inverse",)
REACTIONS = ("dynamics/test_theorems.py::test_reactions_keep_every_link_in_equilibrium",)
MATRICES = ("dynamics/test_theorems.py::test_recursion_gives_the_matrices",)
BALANCE = ("dynamics/test_theorems.py::test_energy_grows_by_what_is_put_in_less_what_is_lost",)
DRIVES = ("robot/test_build.py::test_rotor_friction_and_spring_add_to_the_force_of_a_joint",)
VANISHING = ("dynamics/test_vanishing.py::test_a_pivot_of_rounding_is_refused_by_name",)

DYNAMICS = (
    Bug(
        "Coriolis acceleration of sliding joints halved",
        SWEEPS,
        "cross(add(scale(2.0, w), spin), slide)",
        "cross(add(scale(1.0, w), spin), slide)",
        NEWTON,
    ),
    Bug(
        "dry friction pushes",
        SWEEPS,
        "force = force + drive.coulomb * sign(speed)",
        "force = force - drive.coulomb * sign(speed)",
        DRIVES,
    ),
    Bug(
        "rotor inertia left out of inverse dynamics",
        SWEEPS,
        "W[d] + passive + drive.rotor * given[k]",
        "W[d] + passive",
        DRIVES,
    ),
    Bug(
        "rotor inertia left out of forward dynamics",
        SWEEPS,
        "size = A[d][d] + drive.rotor",
        "size = A[d][d]",
        THERE_AND_BACK,
    ),
    Bug(
        "rotor felt by the parent",
        SWEEPS,
        "if r != d else 1.0 - drive.rotor * one_over for r in range(6)]",
        "if r != d else 1.0 for r in range(6)]",
        THERE_AND_BACK,
    ),
    Bug("gravity the wrong way round", SWEEPS, "a = scale(-1.0, gravity)", "a = scale(1.0, gravity)", NEWTON),
    Bug(
        "rest of a spring ignored",
        SWEEPS,
        "drive.stiffness * (q[drive.coordinate] - drive.rest)",
        "drive.stiffness * q[drive.coordinate]",
        DRIVES,
    ),
    Bug(
        "screws climb backwards",
        SWEEPS,
        "six[d + 3] = body.pitch * x[k]",
        "six[d + 3] = -body.pitch * x[k]",
        NEWTON,
    ),
    Bug(
        "caller's wrenches the wrong way round",
        SWEEPS,
        "wrench = subtract(wrench, wrenches[i])",
        "wrench = add(wrench, wrenches[i])",
        ("dynamics/test_theorems.py::test_a_wrench_takes_off_its_jacobian_transposed",),
    ),
    Bug(
        "loads in base axes act at the body's origin",
        SWEEPS,
        "add(n, cross(point, f)) + f)",
        "n + f)",
        ("robot/test_build.py::test_wrenches_in_base_axes_keep_their_direction",),
    ),
    Bug(
        "moments of inertia about x and y swapped",
        SWEEPS,
        "J[0][0], J[1][1], J[2][2] = E[1][1] + E[2][2], E[0][0] + E[2][2], E[0][0] + E[1][1]",
        "J[1][1], J[0][0], J[2][2] = E[1][1] + E[2][2], E[0][0] + E[2][2], E[0][0] + E[1][1]",
        THERE_AND_BACK,
    ),
    Bug(
        "product of inertia with the wrong sign in the moment",
        SWEEPS,
        "+ E[0][2] * (xx - zz)",
        "- E[0][2] * (xx - zz)",
        NEWTON,
    ),
    Bug(
        "articulated inertia doesn't reach the parent",
        SWEEPS,
        "A[body.parent] = add_matrices(above, inertia_at_parent(motions[i], A_up))",
        "A[body.parent] = above",
        THERE_AND_BACK,
    ),
    Bug(
        "third sweep adds the parent's share",
        SWEEPS,
        "sought[k] = pivot.x - share",
        "sought[k] = pivot.x + share",
        THERE_AND_BACK,
    ),
    Bug(
        "Euler parameters' rate with x and y swapped",
        SPATIAL,
        "0.5 * (e0 * w[1] + z * w[0] - x * w[2])",
        "0.5 * (e0 * w[1] - z * w[0] + x * w[2])",
        ("dynamics/test_theorems.py::test_speeds_of_euler_parameters_are_the_angular_velocity",),
    ),
    Bug("sign in the matrix of Euler parameters", SPATIAL, "2.0 * (xy - wz)", "2.0 * (xy + wz)", NEWTON),
    Bug(
        "sign in a turned inertia",
        SPATIAL,
        "t[i][j], t[j][i] = c * u - m[j][i], c * u - m[i][j]",
        "t[i][j], t[j][i] = c * u + m[j][i], c * u + m[i][j]",
        THERE_AND_BACK,
    ),
    Bug(
        "turned matrices that aren't symmetric transposed in the turn's plane",
        SPATIAL,
        "t[i][j], t[j][i] = c * u - m[j][i], c * u - m[i][j]",
        "t[i][j], t[j][i] = c * u - m[i][j], c * u - m[j][i]",
        THERE_AND_BACK,
    ),
    Bug(
        "index in a moved inertia",
        SWEEPS,
        "(0, 1): z * (K[0][0] - H[1][1])",
        "(0, 1): z * (K[0][0] - H[0][0])",
        THERE_AND_BACK,
    ),
    Bug(
        "transported wrench with its arm turned round",
        SPATIAL,
        "add(n, cross(reach, f)) + f",
        "add(n, cross(f, reach)) + f",
        TREE,
    ),
    Bug(
        "energy balance without dampers",
        ENERGY,
        "brought - damping_power(bodies, speeds) - friction_power(bodies, speeds)",
        "brought - friction_power(bodies, speeds)",
        ("dynamics/test_wrenches.py::test_power_and_losses_are_newtons",),
    ),
    Bug(
        "power of wrenches with the wrong sign",
        ENERGY,
        "power = power - force * speed",
        "power = power + force * speed",
        ("dynamics/test_wrenches.py::test_power_and_losses_are_newtons",),
    ),
    Bug("elastic energy doubled", ENERGY, "elastic + 0.5 * drive.stiffness", "elastic + drive.stiffness", BALANCE),
    Bug(
        "potential energy of links on the ground with the wrong sign",
        ENERGY,
        "potential = potential - link.mass",
        "potential = potential + link.mass",
        ("dynamics/test_wrenches.py::test_links_on_the_ground_have_potential_energy",),
    ),
    Bug(
        "wrench in base axes: the moment not turned",
        WRENCHES,
        'n, f = (np.einsum("...ji,...j->...i", turn, x) for x in (n, f))',
        'f = np.einsum("...ji,...j->...i", turn, f)',
        ("dynamics/test_wrenches.py::test_a_wrench_at_a_point_is_newtons_at_the_origin",),
    ),
    Bug(
        "wrench on a link that is fixed to another: the seat's place ignored",
        WRENCHES,
        "R @ np.array(at) + np.array(seat.origin))",
        "R @ np.array(at))",
        ("dynamics/test_theorems.py::test_a_tree_in_each_convention_obeys_newton_and_euler",),
    ),
    Bug(
        "wrench on a link that is fixed to another: turned backwards",
        WRENCHES,
        "sum(float(R[r, k]) * v[k] for k in range(3))",
        "sum(float(R[k, r]) * v[k] for k in range(3))",
        TREE,
    ),
    Bug(
        "Jacobian's slide with the wrong sign",
        KINEMATICS,
        "cross(e, subtract(point, p))",
        "cross(subtract(point, p), e)",
        ("dynamics/test_theorems.py::test_jacobian_gives_the_twist_of_a_point",),
    ),
    Bug(
        "free joints' velocity not turned into base axes",
        KINEMATICS,
        "for k, rate in enumerate(_turned(e, speeds[:3])):",
        "for k, rate in enumerate(speeds[:3]):",
        ("dynamics/test_theorems.py::test_speeds_of_euler_parameters_are_the_angular_velocity",),
    ),
    Bug(
        "derivatives of the accelerations transposed",
        "engine/dynamics/derivatives.py",
        "[part[k][r] for part in parts for r in range(n) for k in range(n)]",
        "[part[r][k] for part in parts for r in range(n) for k in range(n)]",
        ("dynamics/test_derivatives.py::test_differences_of_forward_dynamics",),
    ),
    Bug(
        "derivatives of the accelerations with the wrong sign",
        "engine/dynamics/derivatives.py",
        "factors.solve([-part_of(x, k) for x in forces])",
        "factors.solve([part_of(x, k) for x in forces])",
        ("dynamics/test_derivatives.py::test_small_swings_of_a_pendulum",),
    ),
    Bug(
        "composite mass centre without the parent's arm",
        "engine/dynamics/dense.py",
        "up.h, up.m = add(up.h, moved), up.m + body.m",
        "up.h, up.m = add(up.h, h), up.m + body.m",
        MATRICES,
    ),
    Bug(
        "regrouped inertia of screws as of hinges",
        "engine/dynamics/regroup.py",
        "+ (turns if body.pitch else [])",
        "",
        ("dynamics/test_theorems.py::test_regrouped_inertias_change_no_force_and_no_acceleration",),
    ),
    Bug(
        "mass of a link counts for no centre",
        "engine/dynamics/masses.py",
        "(link.mass * (placed[link.name]",
        "(1.0 * (placed[link.name]",
        ("dynamics/test_wrenches.py::test_the_mass_centre_of_all_links",),
    ),
    Bug(
        "pivots of rounding pass",
        "engine/dynamics/vanishing.py",
        "LITTLE = 1e-10",
        "LITTLE = 1e-17",
        ("dynamics/test_vanishing.py::test_what_is_left_of_a_pivot_decides",),
    ),
    Bug(
        "tiny pivots that are exact are refused",
        "engine/dynamics/vanishing.py",
        "SOUND = 1e-6",
        "SOUND = -1.0",
        ("dynamics/test_vanishing.py::test_a_tiny_pivot_that_is_exact_is_none_of_these",),
    ),
    Bug(
        "long chains are refused",
        "engine/dynamics/vanishing.py",
        "min(1.0, (LONG / max(bodies, 1)) ** 3)",
        "1.0",
        ("dynamics/test_vanishing.py::test_the_longer_the_chain_the_smaller_the_pivots",),
    ),
    Bug(
        "numbers of samples that differ are taken",
        "engine/dynamics/samples.py",
        "if len(counts - {1}) > 1:",
        "if len(counts - {1}) > 2:",
        ("dynamics/test_wrong_arguments.py::test_batches_of_different_sizes",),
    ),
    Bug(
        "lengths of wrenches' arrays not looked at",
        "engine/dynamics/samples.py",
        "if x.ndim == 2 and x.shape[0] != count:",
        "if x.ndim == 2 and count is None:",
        ("dynamics/test_wrong_arguments.py::test_numbers_of_wrenches_samples",),
    ),
    Bug(
        "explicit matrices: the rates of the twists without the motion of the mass centres",
        "engine/dynamics/explicit.py",
        "shift_rate = add(add(shift_rate, cross(c, turn_rate)), cross(rate, turn))",
        "shift_rate = add(shift_rate, cross(c, turn_rate))",
        ("dynamics/test_theorems.py::test_recursion_gives_the_matrices",),
    ),
    Bug(
        "explicit matrices: entries in columns for rows",
        "engine/dynamics/explicit.py",
        "first[name] + row * width[name] + column for name, row, column in places",
        "first[name] + column * width[name] + row for name, row, column in places",
        ("dynamics/test_theorems.py::test_twists_at_the_mass_centres_are_n_l_n_d_qd",),
    ),
    Bug(
        "the rest of springs left out of the numbers that forces are linear in",
        "engine/dynamics/regressor.py",
        "-drive.stiffness * drive.rest, drive.stiffness)",
        "0.0, drive.stiffness)",
        (
            "dynamics/test_regressor.py::test_of_random_trees",
            "dynamics/test_regressor.py::test_what_the_columns_are",
        ),
    ),
    Bug(
        "products of inertia with the wrong sign",
        "engine/dynamics/inertial.py",
        "(half if place[0] == place[1] else 0.0) - x",
        "(half - x) if place[0] == place[1] else x",
        ("dynamics/test_regressor.py::test_of_random_trees",),
    ),
    Bug(
        "the inverse of U without its columns' other terms",
        "engine/dynamics/explicit.py",
        "column[r] = column.get(r, 0.0) - x * found.U[j, k]",
        "column[r] = -found.U[r, k]",
        ("dynamics/test_theorems.py::test_the_inverse_of_the_inertia_is_u_t_d_u_inverted",),
    ),
)
