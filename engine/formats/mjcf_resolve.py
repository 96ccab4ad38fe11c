"""What only MuJoCo's own compiler can say of a model: the inertia of meshes."""

from __future__ import annotations

import numpy as np

from ..robot.read import rotation_of
from .draft import Draft
from .mjcf_geoms import Body
from .xml import Element


def resolved_mjcf_bodies(draft: Draft, at: Element) -> list[Body]:
    """The bodies of the model, the world first, as MuJoCo compiles them; without it the element is refused."""
    try:
        import mujoco
    except ImportError:
        raise draft.error(
            at,
            "the inertia of a mesh is known to its file alone, and the body has none of its own",
            allowed="<inertial> in the body, or MuJoCo beside denoc",
            hint="python -m pip install mujoco",
        ) from None
    try:
        spec = mujoco.MjSpec.from_file(draft.document.name)
        # bodies as they stand in the file, with their own masses: they are changed here, for all of them alike
        compiler = getattr(spec, "compiler", spec)  # which early versions don't have apart
        for key, value in {"fusestatic": False, "alignfree": False, "settotalmass": -1.0}.items():
            if hasattr(compiler, key):
                setattr(compiler, key, value)
        for joint in spec.joints:
            if hasattr(joint, "align"):
                joint.align = 0
        model = spec.compile()
    except ValueError as problem:
        words = " ".join(str(problem).split())
        message = f"MuJoCo, which knows the inertia of meshes, refuses the model: {words}"
        raise draft.error(at, message, allowed="a model that MuJoCo loads, or <inertial> in each body") from None
    bodies = []
    for k in range(model.nbody):
        R = rotation_of(tuple(map(float, model.body_iquat[k])))
        own = R @ np.diag(model.body_inertia[k]) @ R.T
        bodies.append(Body(float(model.body_mass[k]), np.array(model.body_ipos[k]), (own + own.T) / 2))
    return bodies
