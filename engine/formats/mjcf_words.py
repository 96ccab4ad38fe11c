"""The words of MJCF: which attributes and elements are read, and why others mean nothing for the motion."""

from __future__ import annotations

from .words import CONTACT, STILL, Words, meanings

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
