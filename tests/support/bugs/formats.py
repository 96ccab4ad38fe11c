"""Bugs in how robots of other formats are read and written."""

from .bug import Bug

URDF, MJCF, SDF = (f"engine/formats/{name}.py" for name in ("urdf", "mjcf", "sdf"))
BACK = "formats/test_back.py"

FORMATS = (
    Bug(
        "springs of MJCF's tendons are relaxed where joints are 0",
        "engine/formats/mjcf_tendons.py",
        "x * model.relaxed[joint] for",
        "0.0 * x for",
        ("formats/test_mjcf.py::test_springs_of_tendons_are_mujocos",),
    ),
    Bug(
        "axes of joints in MJCF don't know of the joints behind them",
        "engine/formats/mjcf_write.py",
        "            rest = _moved(what, axis, start).then(rest)\n",
        "",
        ("formats/test_back_mjcf.py::test_random_robots_survive_and_mujoco_agrees",),
    ),
    Bug(
        "couplings in MJCF forget where their joints start",
        "engine/formats/mjcf_write_ties.py",
        "+ one.offset - q0[one.coordinate]",
        "+ one.offset",
        ("formats/test_back_mjcf.py::test_actuators_couplings_and_pictures_survive",),
    ),
    Bug(
        "axes of revolute cuts in MJCF are points",
        "engine/formats/mjcf_write_ties.py",
        "frame.shift(0.0, 0.0, ARM)",
        "frame.shift(0.0, 0.0, 0.0)",
        ("formats/test_back_mjcf.py::test_mujoco_finds_loops_closed_where_they_are",),
    ),
    Bug(
        "meshes are named as they were from the folder that a robot came from",
        "engine/robot/mesh_files.py",
        "os.path.relpath(path, new)",
        "os.path.relpath(path, folder)",
        ("cli/test_convert.py::test_paths_to_meshes_lead_there_from_the_new_file",),
    ),
    Bug(
        "quaternions with the wrong sense",
        "engine/robot/orientation.py",
        "np.outer(e, e) + 2 * e0 * cross",
        "np.outer(e, e) - 2 * e0 * cross",
        ("robot/test_orientation.py::test_three_ways_say_the_same",),
    ),
    Bug(
        "roll and pitch that don't match a yaw of rounding",
        "engine/robot/placement.py",
        "return math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1]), pitch, yaw",
        "return math.atan2(R[2, 1], R[2, 2]), pitch, yaw",
        ("robot/test_rpy.py::test_there_and_back",),
    ),
    Bug(
        "inertias turned backwards",
        "engine/formats/pieces.py",
        "J = R @ converted_inertia_tensor(entries) @ R.T",
        "J = R.T @ converted_inertia_tensor(entries) @ R",
        ("formats/test_urdf.py::test_turned_inertias_are_turned",),
    ),
    Bug(
        "axes of URDF default to z",
        URDF,
        'axis = draft.numbers(one.first("axis") or one, "xyz", 3, (1.0, 0.0, 0.0))\n            entry',
        'axis = draft.numbers(one.first("axis") or one, "xyz", 3, (0.0, 0.0, 1.0))\n            entry',
        ("formats/test_urdf.py::test_axes_default_to_x_and_needn_t_be_unit_vectors",),
    ),
    Bug(
        "followers start at their leader's value",
        URDF,
        'return leader * self.draft.number(mimic, "multiplier", 1.0) + self.draft.number(mimic, "offset", 0.0)',
        "return leader",
        ("formats/test_urdf.py::test_joints_that_follow_others_are_couplings",),
    ),
    Bug(
        "joints of URDF written without their axis' turn",
        "engine/formats/urdf_write.py",
        "axes, before, parent = seat.inverse().rotation(), link.before.then(seat), link.parent",
        "axes, before, parent = seat.inverse().rotation(), link.before, link.parent",
        (f"{BACK}::test_random_robots_survive_urdf",),
    ),
    Bug(
        "anchors of MJCF joints are forgotten",
        MJCF,
        "parent, at, R = link, -anchor, np.eye(3)",
        "parent, at, R = link, 0 * anchor, np.eye(3)",
        ("formats/test_mjcf.py::test_a_hinge_turns_about_its_anchor_from_its_reference",),
    ),
    Bug(
        "references of hinges turn the other way",
        MJCF,
        "turn = R @ rotation_about_mjcf_axis(unit_axis, -reference)",
        "turn = R @ rotation_about_mjcf_axis(unit_axis, reference)",
        ("formats/test_mjcf.py::test_a_hinge_turns_about_its_anchor_from_its_reference",),
    ),
    Bug(
        "capsules without the shift of their ends",
        "engine/formats/mjcf_geoms.py",
        "0.4 * r * r + length * length / 4 + 0.375 * length * r",
        "0.4 * r * r + length * length / 4",
        ("formats/test_mjcf.py::test_inertia_from_geoms",),
    ),
    Bug(
        "couplings of MJCF from other zeros",
        "engine/formats/mjcf_ties.py",
        "if offset := r1 + a[0] - a[1] * r2:",
        "if offset := a[0]:",
        ("formats/test_mjcf.py::test_ties",),
    ),
    Bug(
        "gearboxes of SDF turn the same way",
        SDF,
        'ratio = -sdf_numbers_of_child(draft, joint, "gearbox_ratio"',
        'ratio = +sdf_numbers_of_child(draft, joint, "gearbox_ratio"',
        ("formats/test_sdf.py::test_gearboxes_are_couplings",),
    ),
    Bug(
        "common normals that end on the wrong axis",
        "engine/formats/redysim_write.py",
        "foot = p - along * z",
        "foot = p + along * z",
        (f"{BACK}::test_random_chains_survive_redysim",),
    ),
    Bug(
        "blanks before signs don't part numbers",
        "engine/formats/assignments.py",
        're.compile(r"\\s+[+-]\\S")',
        're.compile(r"\\s+[+-]\\s")',
        ("formats/test_redysim.py::test_assignments",),
    ),
    Bug(
        "external forces of SYMORO with their own sign",
        "engine/formats/symoro.py",
        '[0.0 - loads[key][k] for key in ("FX", "FY", "FZ")]',
        '[loads[key][k] for key in ("FX", "FY", "FZ")]',
        ("formats/test_symoro.py::test_external_forces_are_those_of_the_link_on_its_surroundings",),
    ),
    Bug(
        "rows are never too fast",
        "engine/scenario/conclude.py",
        "if fastest > joint.largest_speed * (1 + 1e-9):",
        "if fastest > joint.largest_speed * 1e9:",
        ("robot/test_limits_and_shapes.py::test_a_joint_that_is_too_fast_is_said",),
    ),
)
