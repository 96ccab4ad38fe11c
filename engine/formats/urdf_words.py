"""The words of URDF and URDF+: which attributes and elements are read, and why others mean nothing for the motion."""

from __future__ import annotations

from .words import Words, words_with_reasons

CONTROL = "it belongs to a controller or a simulator"
CONTACT = "contact isn't computed"
LOOKS = "it is for the eye"

ORIGIN = Words(words_with_reasons("xyz rpy quat_xyzw"))
END = Words(words_with_reasons("link"), {"origin": ""})
TABLE = {
    "robot": Words(
        words_with_reasons("name", ("version", "all versions are read alike")),
        {
            **dict.fromkeys(("link", "joint", "material", "loop", "coupling"), ""),
            **dict.fromkeys(("transmission", "gazebo", "ros2_control", "sensor"), CONTROL),
        },
    ),
    "link": Words(
        words_with_reasons("name", ("type", "it is a note"), ("concave", CONTACT)),
        {
            **dict.fromkeys(("inertial", "visual"), ""),
            **dict.fromkeys(("collision", "contact", "self_collision_checking", "collision_checking"), CONTACT),
            **dict.fromkeys(("gazebo", "sensor"), CONTROL),
        },
    ),
    "inertial": Words({}, {"origin": "", "mass": "", "inertia": ""}),
    "origin": ORIGIN,
    "mass": Words(words_with_reasons("value")),
    "inertia": Words(words_with_reasons("ixx ixy ixz iyy iyz izz")),
    "visual": Words(words_with_reasons("name"), {"origin": "", "geometry": "", "material": ""}),
    "geometry": Words(
        words_with_reasons("", ("name", LOOKS)),
        {**dict.fromkeys(("box", "cylinder", "sphere", "capsule", "mesh"), ""), "material": LOOKS},
    ),
    "box": Words(words_with_reasons("size")),
    "cylinder": Words(words_with_reasons("radius length")),
    "capsule": Words(words_with_reasons("radius length")),
    "sphere": Words(words_with_reasons("radius")),
    "mesh": Words(words_with_reasons("filename scale")),
    "material": Words(words_with_reasons("name"), {"color": "", "texture": "", "specular": LOOKS}),
    "texture": Words(words_with_reasons("", ("filename", LOOKS))),
    "color": Words(words_with_reasons("rgba")),
    "joint": Words(
        words_with_reasons("name type independent", ("dont_collapse", CONTROL)),
        {
            **dict.fromkeys(
                ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "joint_properties"), ""
            ),
            **dict.fromkeys(("calibration", "safety_controller", "transmission", "gazebo"), CONTROL),
            **dict.fromkeys(("hardwareInterface", "mechanicalReduction", "role"), CONTROL),
        },
    ),
    "parent": Words(words_with_reasons("link")),
    "child": Words(words_with_reasons("link")),
    "axis": Words(words_with_reasons("xyz", ("rpy", "an axis has only a direction"))),
    "limit": Words(
        words_with_reasons(
            "lower upper velocity effort acceleration deceleration jerk",
            ("command_effort current gear_velocity", CONTROL),
        )
    ),
    # further attributes are noted where these are read
    "mimic": Words(words_with_reasons("joint multiplier offset")),
    "loop": Words(words_with_reasons("name type"), {"predecessor": "", "successor": "", "axis": ""}),
    "coupling": Words(words_with_reasons("name"), {"predecessor": "", "successor": "", "ratio": ""}),
    "predecessor": END,
    "successor": END,
    "ratio": Words(words_with_reasons("value")),
}
