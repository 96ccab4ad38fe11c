"""The words of SDF: which attributes and elements are read, and why others mean nothing for the motion."""

from __future__ import annotations

from .words import CONTACT, LOOKS, STILL, Words, meanings

SIMULATOR = "it belongs to a simulator"
RIGID = "stops are rigid here"

SDF = {
    "sdf": Words(meanings("version"), meanings("model world include", ("light actor", STILL))),
    "world": Words(
        meanings("name"),
        meanings(
            "model gravity physics include joint",
            ("light scene gui audio road state actor spherical_coordinates", STILL),
            ("plugin population magnetic_field frame", SIMULATOR),
            ("wind atmosphere", "no medium resists here"),
        ),
    ),
    "model": Words(
        meanings("name placement_frame", ("canonical_link", "frames are those of links")),
        meanings(
            "link joint pose frame static",
            ("self_collide collision", CONTACT),
            ("plugin gripper enable_wind allow_auto_disable", SIMULATOR),
        ),
    ),
    "pose": Words(meanings("relative_to frame rotation_format degrees")),
    "frame": Words(meanings("name attached_to"), meanings("pose")),
    "link": Words(
        meanings("name"),
        meanings(
            "inertial visual pose gravity velocity_decay kinematic",
            ("collision self_collide contact", CONTACT),
            ("sensor light projector audio_sink audio_source battery particle_emitter", STILL),
            ("enable_wind must_be_base_link plugin", SIMULATOR),
        ),
    ),
    "inertial": Words(
        meanings("auto"),
        meanings(
            "mass pose inertia fluid_added_mass",
            ("density auto_inertia_params", "it is for inertias that are made automatically"),
        ),
    ),
    "inertia": Words({}, meanings("ixx ixy ixz iyy iyz izz")),
    "visual": Words(
        meanings("name"),
        meanings(
            "pose geometry material", ("cast_shadows laser_retro transparency meta visibility_flags plugin", LOOKS)
        ),
    ),
    "geometry": Words({}, meanings("box cylinder capsule sphere mesh", ("plane empty heightmap", LOOKS))),
    "box": Words({}, meanings("size")),
    "cylinder": Words({}, meanings("radius length")),
    "capsule": Words({}, meanings("radius length")),
    "sphere": Words({}, meanings("radius")),
    "mesh": Words({}, meanings("uri scale", ("submesh", LOOKS), ("convex_decomposition", CONTACT))),
    "material": Words(
        {},
        meanings(
            "diffuse",
            ("ambient specular emissive script shader lighting pbr double_sided render_order shininess", LOOKS),
        ),
    ),
    "joint": Words(
        meanings("name type"),
        meanings(
            "parent child pose axis axis2 gearbox_ratio gearbox_reference_body", ("physics sensor plugin", SIMULATOR)
        ),
    ),
    "axis": Words({}, meanings("xyz use_parent_model_frame limit dynamics initial_position mimic")),
    "xyz": Words(meanings("expressed_in")),
    "limit": Words({}, meanings("lower upper effort velocity", ("stiffness dissipation", RIGID))),
    "dynamics": Words({}, meanings("damping friction spring_stiffness spring_reference")),
}
SDF["axis2"] = SDF["axis"]
