"""What elements of formats may say, as tables: what is read, and why other attributes and elements mean nothing here.

All else is named in warnings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import did_you_mean
from .draft import Draft
from .report import DROPPED, IGNORED
from .xml import Element

MANY = ("link", "joint", "loop", "coupling", "material", "visual", "model", "world", "frame", "mimic", "physics")
CLOSE = 0.8  # how near a word is to a known one that was meant
CONTACT = "contact isn't computed"
STILL = "it moves nothing"
LOOKS = "it is for the eye"


@dataclass(frozen=True)
class Words:
    """The attributes and children of an element, by name; the text is why one means nothing, empty if it is read."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, str] = field(default_factory=dict)


def meanings(read: str, *idle: tuple[str, str]) -> dict[str, str]:
    """Names that are read, then others with the reason why they mean nothing."""
    made = dict.fromkeys(read.split(), "")
    for names, why in idle:
        made |= dict.fromkeys(names.split(), why)
    return made


def note_unread_words(draft: Draft, root: Element, table: Mapping[str, Words], title: str, *, strict: bool) -> None:
    """Notes attributes and elements that aren't read; those that the table doesn't have are dropped.

    The table's keys are tags, or `outer>tag` where a tag means something else there.  Elements that it doesn't have are
    dropped if the format is `strict`, that is has no room for words of others; else only if a known one is near.  What
    is there more often than once is dropped, too, except in strict formats, whose elements may be in several parts.
    """
    waiting = [(root, table[root.tag])]
    while waiting:
        element, words = waiting.pop()
        for name in element.attributes:
            if name.startswith("xmlns"):
                continue
            why = words.attributes.get(name)
            if why is None:
                hint = did_you_mean(name, words.attributes, CLOSE)
                why = f"{title} has no such attribute there" + (f"; {hint}" if hint else "")
                draft.note(DROPPED, f"{element.tag} {name}", why, element)
            elif why:
                draft.note(IGNORED, f"{element.tag} {name}", why, element)
        for child in element.children:
            tag = child.tag.split(":")[-1]
            why, once = words.inside.get(tag), not strict
            if why:
                draft.note(IGNORED, child.tag, why, child)
            elif why is None:
                hint = did_you_mean(tag, words.inside, CLOSE) if tag == child.tag else ""
                why = f"it means nothing in `{element.tag}`" + (f"; {hint}" if hint else "")
                draft.note(DROPPED if strict or hint else IGNORED, child.tag, why, child)
            elif once and tag not in MANY and child is not element.first(child.tag):
                draft.note(DROPPED, child.tag, f"only the first one in `{element.tag}` counts", child)
            elif inner := table.get(f"{element.tag}>{tag}") or table.get(tag):
                waiting.append((child, inner))


# ---- URDF and URDF+

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


# ---- SDF

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


# ---- MJCF

NOTES = "it is for the eye, or for the user's own notes"
EXACT = "stops, ties and dry friction are exact here, not stiff"
LAW = "what an actuator does is a scenario's"
RUN = "it is MuJoCo's own way of computing"
TENSILE = "it is about lengths of muscles"
CONTROLLED = (
    *("general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle"),
    *("dcmotor", "plugin"),
)
PLACE = "pos quat euler axisangle xyaxes zaxis"
CONTROLS = (
    "kp kv ki dyntype dynprm gaintype gainprm biastype biasprm actdim actlimited actrange actearly inheritrange "
    "timeconst dampratio delay interp nsample input velrange posrange ffrange slewmax imax area diameter bias force "
    "scale lmin lmax vmax fpmax fvmax tausmooth range lengthrange gain cogging controller inductance lugre motorconst "
    "nominal resistance saturation thermal instance plugin cranklength"
)
ACTUATOR = Words(
    meanings(
        "name class joint jointinparent tendon site refsite body cranksite slidersite gear armature damping "
        "forcerange forcelimited ctrlrange ctrllimited",
        (CONTROLS, LAW),
        ("user group", NOTES),
    ),
    meanings("", ("config", LAW)),
)
TENDON = meanings(
    "name class stiffness damping springlength springyield frictionloss armature range limited "
    "actuatorfrcrange actuatorfrclimited",
    ("group user rgba material width", NOTES),
    ("margin solreflimit solimplimit solreffriction solimpfriction", EXACT),
)
TIE = "name class active"
TIED = ("solref solimp", EXACT)
IN_BODY = meanings("body joint freejoint inertial geom site frame", ("camera light", STILL))
DEFAULTS = ("joint", "geom", "site", "equality", "tendon", "adhesion", *CONTROLLED)
MJCF = {
    "mujoco": Words(
        meanings("model"),
        meanings(
            "compiler default worldbody equality actuator tendon option deformable",
            ("asset visual statistic size sensor custom extension", STILL),
            ("contact", CONTACT),
            ("keyframe", "positions to start from belong into scenarios"),
        ),
    ),
    "compiler": Words(
        meanings(
            "angle coordinate eulerseq autolimits inertiafromgeom inertiagrouprange boundmass boundinertia "
            "balanceinertia settotalmass alignfree meshdir assetdir fusestatic",
            ("texturedir strippath discardvisual", NOTES),
            ("convexhull exactmeshinertia fitaabb", "the inertia of meshes is MuJoCo's own reading"),
            ("usethread conflict passthrough savecanonical savecompiled saveinertial", RUN),
        ),
        meanings("", ("lengthrange", TENSILE)),
    ),
    "option": Words(
        meanings(
            "gravity density viscosity",
            ("wind", "no medium resists here"),
            (
                "timestep integrator solver iterations tolerance ls_iterations ls_tolerance noslip_iterations "
                "noslip_tolerance ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance sdf_iterations "
                "sdf_initpoints sleep_tolerance cone jacobian impratio apirate",
                RUN,
            ),
            ("o_margin o_solref o_solimp o_friction collision", CONTACT),
            ("magnetic", STILL),
            ("actuatorgroupdisable", LAW),
        ),
        meanings("flag"),
    ),
    "flag": Words(
        meanings(
            "gravity spring damper passive frictionloss limit equality constraint clampctrl",
            ("contact filterparent nativeccd multiccd midphase override speculative", CONTACT),
            ("warmstart refsafe eulerdamp autoreset energy fwdinv invdiscrete island sleep diagexact ipc", RUN),
            ("sensor sensornoise", STILL),
            ("actuation", LAW),
        )
    ),
    "default": Words(
        meanings("class"),
        {
            **dict.fromkeys(("default", *DEFAULTS), ""),
            **dict.fromkeys(("mesh", "material", "texture", "camera", "light"), STILL),
            "pair": CONTACT,
        },
    ),
    "worldbody": Words({}, IN_BODY),
    "body": Words(
        meanings(f"name childclass mocap gravcomp fuse {PLACE}", ("user", NOTES), ("simple sleep", RUN)), IN_BODY
    ),
    "frame": Words(meanings(f"name childclass {PLACE}"), IN_BODY),
    "inertial": Words(meanings(f"{PLACE} mass diaginertia fullinertia")),
    "joint": Words(
        meanings(
            "name class type pos axis ref range limited springref stiffness damping frictionloss armature springdamper "
            "springyield actuatorfrcrange actuatorfrclimited actuatorgravcomp",
            ("group user", NOTES),
            ("margin solreflimit solimplimit solreffriction solimpfriction", EXACT),
        )
    ),
    "freejoint": Words(meanings("name align", ("group user", NOTES))),
    "geom": Words(
        meanings(
            f"name class type size {PLACE} fromto mass density shellinertia mesh hfield group contype rgba material",
            ("user castshadow", NOTES),
            ("conaffinity condim friction priority solmix solref solimp margin gap adhesion surfacevel", CONTACT),
            ("fluidshape fluidcoef", "no medium resists here"),
            ("fitscale", "the inertia of meshes is MuJoCo's own reading"),
        ),
        meanings("", ("plugin", CONTACT)),
    ),
    "site": Words(meanings(f"name class {PLACE} fromto", ("type size group rgba material mesh user", NOTES))),
    "equality": Words(meanings("active", TIED), meanings("connect weld joint tendon flex flexstrain distance")),
    "connect": Words(meanings(f"{TIE} body1 body2 anchor site1 site2", TIED)),
    "weld": Words(meanings(f"{TIE} body1 body2 anchor relpose site1 site2 torquescale", TIED)),
    "equality>joint": Words(meanings(f"{TIE} joint1 joint2 polycoef", TIED)),
    "equality>tendon": Words(meanings(f"{TIE} tendon1 tendon2 polycoef", TIED)),
    "tendon": Words({}, meanings("fixed spatial")),
    "default>tendon": Words(TENDON),
    "fixed": Words(TENDON, meanings("joint")),
    "fixed>joint": Words(meanings("joint coef")),
    "actuator": Words({}, dict.fromkeys((*CONTROLLED, "adhesion"), "")),
    **dict.fromkeys((*CONTROLLED, "adhesion"), ACTUATOR),
}
