"""The words of URDF and URDF+: which attributes and elements are read, and why others mean nothing for the motion."""

from __future__ import annotations

from .words import CONTACT, LOOKS, Words, meanings

CONTROL = "it belongs to a controller or a simulator"

URDF_ORIGIN = Words(meanings("xyz rpy quat_xyzw"))
URDF_END = Words(meanings("link"), meanings("origin"))
URDF = {
    "robot": Words(
        meanings("name", ("version", "all versions are read alike")),
        meanings("link joint material loop coupling", ("transmission gazebo ros2_control sensor", CONTROL)),
    ),
    "link": Words(
        meanings("name", ("type", "it is a note"), ("concave", CONTACT)),
        meanings(
            "inertial visual",
            ("collision contact self_collision_checking collision_checking", CONTACT),
            ("gazebo sensor", CONTROL),
        ),
    ),
    "inertial": Words({}, meanings("origin mass inertia")),
    "origin": URDF_ORIGIN,
    "mass": Words(meanings("value")),
    "inertia": Words(meanings("ixx ixy ixz iyy iyz izz")),
    "visual": Words(meanings("name"), meanings("origin geometry material")),
    "geometry": Words(meanings("", ("name", LOOKS)), meanings("box cylinder sphere capsule mesh", ("material", LOOKS))),
    "box": Words(meanings("size")),
    "cylinder": Words(meanings("radius length")),
    "capsule": Words(meanings("radius length")),
    "sphere": Words(meanings("radius")),
    "mesh": Words(meanings("filename scale")),
    "material": Words(meanings("name"), meanings("color texture", ("specular", LOOKS))),
    "texture": Words(meanings("", ("filename", LOOKS))),
    "color": Words(meanings("rgba")),
    "joint": Words(
        meanings("name type independent", ("dont_collapse", CONTROL)),
        meanings(
            "origin parent child axis limit dynamics mimic joint_properties",
            (
                "calibration safety_controller transmission gazebo hardwareInterface mechanicalReduction role",
                CONTROL,
            ),
        ),
    ),
    "parent": Words(meanings("link")),
    "child": Words(meanings("link")),
    "axis": Words(meanings("xyz", ("rpy", "an axis has only a direction"))),
    "limit": Words(
        meanings(
            "lower upper velocity effort acceleration deceleration jerk",
            ("command_effort current gear_velocity", CONTROL),
        )
    ),
    # further attributes are noted where these are read
    "mimic": Words(meanings("joint multiplier offset")),
    "loop": Words(meanings("name type"), meanings("predecessor successor axis")),
    "coupling": Words(meanings("name"), meanings("predecessor successor ratio")),
    "predecessor": URDF_END,
    "successor": URDF_END,
    "ratio": Words(meanings("value")),
}
