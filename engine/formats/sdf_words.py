"""The words of SDF: which attributes and elements are read, and why others mean nothing for the motion."""

from __future__ import annotations

from .words import Words, words_with_reasons

SIMULATOR = "it belongs to a simulator"
CONTACT = "contact isn't computed"
STILL = "it moves nothing"
LOOKS = "it is for the eye"
RIGID = "stops are rigid here"

BODIES = ("box", "cylinder", "capsule", "sphere", "mesh")
TABLE = {
    "sdf": Words(
        words_with_reasons("version"),
        {"model": "", "world": "", **dict.fromkeys(("light", "actor"), STILL), "include": ""},
    ),
    "world": Words(
        words_with_reasons("name"),
        {
            **dict.fromkeys(("model", "gravity", "physics", "include", "joint"), ""),
            **dict.fromkeys(
                ("light", "scene", "gui", "audio", "road", "state", "actor", "spherical_coordinates"), STILL
            ),
            **dict.fromkeys(("plugin", "population", "magnetic_field", "frame"), SIMULATOR),
            **dict.fromkeys(("wind", "atmosphere"), "no medium resists here"),
        },
    ),
    "model": Words(
        words_with_reasons("name placement_frame", ("canonical_link", "frames are those of links")),
        {
            **dict.fromkeys(("link", "joint", "pose", "frame", "static"), ""),
            **dict.fromkeys(("self_collide", "collision"), CONTACT),
            **dict.fromkeys(("plugin", "gripper", "enable_wind", "allow_auto_disable"), SIMULATOR),
        },
    ),
    "pose": Words(words_with_reasons("relative_to frame rotation_format degrees")),
    "frame": Words(words_with_reasons("name attached_to"), {"pose": ""}),
    "link": Words(
        words_with_reasons("name"),
        {
            **dict.fromkeys(("inertial", "visual", "pose", "gravity", "velocity_decay", "kinematic"), ""),
            **dict.fromkeys(("collision", "self_collide", "contact"), CONTACT),
            **dict.fromkeys(("sensor", "light", "projector", "audio_sink", "audio_source", "battery"), STILL),
            "particle_emitter": STILL,
            **dict.fromkeys(("enable_wind", "must_be_base_link", "plugin"), SIMULATOR),
        },
    ),
    "inertial": Words(
        words_with_reasons("auto"),
        {
            **dict.fromkeys(("mass", "pose", "inertia", "fluid_added_mass"), ""),
            "density": "it is for inertias that are made automatically",
            "auto_inertia_params": "it is for inertias that are made automatically",
        },
    ),
    "inertia": Words({}, dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "")),
    "visual": Words(
        words_with_reasons("name"),
        {
            **dict.fromkeys(("pose", "geometry", "material"), ""),
            **dict.fromkeys(
                ("cast_shadows", "laser_retro", "transparency", "meta", "visibility_flags", "plugin"), LOOKS
            ),
        },
    ),
    "geometry": Words({}, {**dict.fromkeys(BODIES, ""), **dict.fromkeys(("plane", "empty", "heightmap"), LOOKS)}),
    "box": Words({}, {"size": ""}),
    "cylinder": Words({}, {"radius": "", "length": ""}),
    "capsule": Words({}, {"radius": "", "length": ""}),
    "sphere": Words({}, {"radius": ""}),
    "mesh": Words({}, {"uri": "", "scale": "", "submesh": LOOKS, "convex_decomposition": CONTACT}),
    "material": Words(
        {},
        {
            "diffuse": "",
            **dict.fromkeys(("ambient", "specular", "emissive", "script", "shader", "lighting", "pbr"), LOOKS),
            **dict.fromkeys(("double_sided", "render_order", "shininess"), LOOKS),
        },
    ),
    "joint": Words(
        words_with_reasons("name type"),
        {
            **dict.fromkeys(
                ("parent", "child", "pose", "axis", "axis2", "gearbox_ratio", "gearbox_reference_body"), ""
            ),
            **dict.fromkeys(("physics", "sensor", "plugin"), SIMULATOR),
        },
    ),
    "axis": Words(
        {},
        {
            **dict.fromkeys(("xyz", "use_parent_model_frame", "limit", "dynamics", "initial_position", "mimic"), ""),
        },
    ),
    "xyz": Words(words_with_reasons("expressed_in")),
    "limit": Words(
        {}, {**dict.fromkeys(("lower", "upper", "effort", "velocity"), ""), "stiffness": RIGID, "dissipation": RIGID}
    ),
    "dynamics": Words({}, dict.fromkeys(("damping", "friction", "spring_stiffness", "spring_reference"), "")),
}
TABLE["axis2"] = TABLE["axis"]
