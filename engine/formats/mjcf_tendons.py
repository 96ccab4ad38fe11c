"""The tendons of an MJCF file: over joints they are weighted sums, whose springs and dampers are read."""

from __future__ import annotations

from collections.abc import Collection

from .draft import Draft
from .mjcf_model import Compiler, Model
from .pieces import FileEntry
from .report import DROPPED
from .xml import Element

SIMPLE = ("revolute", "prismatic")  # joints of one coordinate
BY_ITSELF = -1.0  # the length of a spring that MuJoCo is to find, where joints' own springs are relaxed
LOST = {"frictionloss": "dry friction", "armature": "armature", "springyield": "yield of springs"}


def coefficients_of_mjcf_tendon(draft: Draft, one: Element, model: Model) -> dict[str, float]:
    """The coefficients of a fixed tendon's joints; nothing of a tendon over bodies."""
    ratios: dict[str, float] = {}
    for part in one.all("joint") if one.tag == "fixed" else []:
        name = draft.known(part, "joint", model.joints, "joint")
        ratios[name] = ratios.get(name, 0.0) + draft.number(part, "coef", 1.0)
    return ratios


def read_mjcf_tendon(draft: Draft, one: Element, model: Model, named: Collection[str], compiler: Compiler) -> None:
    """Adds what a tendon does by itself, apart from its actuator; actuators keep their names, which are `named`."""
    if one.tag == "spatial":
        draft.note(DROPPED, "tendon spatial", "a way over bodies can't be held", one)
        return
    lost = [words for key, words in LOST.items() if key not in compiler.off and any(draft.numbers(one, key, 0, (0.0,)))]
    if compiler.limit(draft, one, "range"):
        lost.append("limits")
    stiffness, damping = (
        (0.0,) if flag in compiler.off else draft.numbers(one, key, 0, (0.0,))
        for key, flag in (("stiffness", "spring"), ("damping", "damper"))
    )
    if any(damping[1:]) or any(stiffness[1:]):
        lost.append("damping and stiffness that change")
    if stiffness[0] or damping[0]:
        given = one.attributes.get("name", "tendon")
        given += "_spring" * (given in named)
        lost += _spring(draft, one, model, given, (stiffness[0], damping[0]))
    if lost:
        draft.note(DROPPED, "tendon fixed", f"sums of joints have no {' and no '.join(lost)}", one)


def _spring(draft: Draft, one: Element, model: Model, given: str, sizes: tuple[float, float]) -> list[str]:
    """Adds an entry of `springs` with this stiffness and damping, and returns what it can't hold."""
    stiffness, damping = sizes
    ratios = {name: x for name, x in coefficients_of_mjcf_tendon(draft, one, model).items() if x}
    length = draft.numbers(one, "springlength", 0, (BY_ITSELF,)) or (BY_ITSELF,)
    if not ratios or any(model.joints[name]["type"] not in SIMPLE for name in ratios):
        return ["springs on such joints"]
    slack = length[-1] - length[0]
    if stiffness and slack < 0:
        raise draft.error(one, "`springlength`: the shorter length comes first", found=f"{length[0]:g} {length[-1]:g}")
    draft.used(one)
    own = {draft.joints.own[joint]: x for joint, x in ratios.items()}
    entry: FileEntry = {"name": draft.joints.take(given, one.line, made=True), "joints": own}
    if stiffness:  # by default it is relaxed where the joints' own springs are
        relaxed = sum(x * model.relaxed[joint] for joint, x in ratios.items())
        entry |= {"stiffness": stiffness, "rest": relaxed if length[0] == BY_ITSELF and not slack else length[0]}
        entry |= {"slack": slack} if slack else {}
    draft.put("springs", entry | ({"damping": damping} if damping else {}), one)
    return []
