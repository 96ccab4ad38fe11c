"""Keys of other formats and toolboxes, with what they are called here."""

OF_JOINTS = {
    "armature": "`rotor_inertia`",
    "Jm": "`rotor_inertia`, on the joint's side: the motor's own times the gear ratio squared",
    "range": "`limits`",
    "limit": "`limits`",
    "stop": "`limits`",
    "stops": "`limits`",
    "lower": "`limits: [low, high]`",
    "upper": "`limits: [low, high]`",
    "qlim": "`limits: [low, high]`",
    "damping": "`friction: {viscous: …}`",
    "B": "`friction: {viscous: …}`",
    "frictionloss": "`friction: {coulomb: …}`",
    "Tc": "`friction: {coulomb: …}`",
    "stiffness": "`spring: {stiffness: …}`",
    "mimic": "an entry under `couplings`",
    "origin": "`xyz` and `rpy`, with `convention: frames`",
    "pos": "`xyz`, with `convention: frames`",
}
OF_LINKS = {
    "m": "`mass`",
    "cog": "`com`",
    "I": "`inertia`",
    "inertial": "`mass`, `com` and `inertia`",
    "origin": "`offset: {xyz: …, rpy: …}`",
    "type": "a key of `joint`",
}
