"""The tendons and actuators of an MJCF file.

Tendons over joints are weighted sums, whose springs and dampers are read. Motors are efforts of joints, other
actuators act on sums of joints or on links.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from .draft import Draft
from .mjcf_model import MAIN, Compiler, Defaults, Model
from .pieces import FileEntry
from .report import CHANGED, DROPPED
from .words import CONTROLLED
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


ACTS_ON = ("body", "site", "cranksite", "tendon", "jointinparent", "joint")  # of several the first one counts

Limits = tuple[float, float] | None


def read_mjcf_actuators(
    draft: Draft, root: Element, model: Model, defaults: Defaults, tendons: dict[str, Element], compiler: Compiler
) -> None:
    """Adds the actuators to the draft; a joint that none of them moves by itself has no actuator of its own."""
    motors = Motors(draft, model, compiler, tendons)
    for section in root.all("actuator"):
        for one in section.children:
            motors.read(defaults.apply(one, MAIN, draft))
    motors.limit()


class Motors:
    """Turns actuators into efforts of joints and into entries of `actuators`."""

    def __init__(self, draft: Draft, model: Model, compiler: Compiler, tendons: dict[str, Element]):
        self.draft, self.model, self.compiler, self.tendons = draft, model, compiler, tendons
        self.driven = False  # whether there are any
        self.limits: dict[str, list[Limits]] = {}  # of the motors of each joint

    def read(self, one: Element) -> None:
        """Adds one actuator; what a controller computes from positions is left out."""
        draft, model = self.draft, self.model
        self.driven = True
        if one.tag not in CONTROLLED:
            draft.note(DROPPED, f"actuator {one.tag}", "there is no such actuator here", one)
            return
        key = next((key for key in ACTS_ON if key in one.attributes), "")
        gear = draft.numbers(one, "gear", 0, (1.0,)) or (1.0,)
        if key in ("", "body", "cranksite"):
            draft.note(DROPPED, f"actuator {one.tag}", "it acts on no joint, no tendon and no site", one)
            return
        if key == "site":
            self._on_site(one, np.array((*gear, *[0.0] * 6)[:6]))
            return
        ratios = {draft.known(one, key, model.joints, "joint"): 1.0} if key != "tendon" else {}
        if key == "tendon":
            tendon = self.tendons[draft.known(one, "tendon", self.tendons, "tendon")]
            ratios = coefficients_of_mjcf_tendon(draft, tendon, model)
        if len(ratios) != 1:
            self._on_joints(one, ratios, gear[0])
            return
        ((name, ratio),) = ratios.items()
        if not ratio * (gear[0] if model.joints[name]["type"] in SIMPLE else any(gear)):
            draft.note(DROPPED, f"actuator {one.tag}", "its gear is 0", one)
            return
        _used(draft, one)
        entry = model.joints[name]
        entry["actuated"] = True
        simple = entry["type"] in SIMPLE
        self._own(one, entry, ratio * gear[0] if simple else math.nan)
        if not simple:
            why = "all freedoms of its joint have an actuator, without limits"
            draft.note(CHANGED, f"actuator {one.tag}", why, one)
        else:
            self.limits.setdefault(name, []).append(self._limits(one, ratio * gear[0]))

    def _own(self, one: Element, entry: FileEntry, gear: float) -> None:
        """Adds the rotor and the damper behind a motor's gear to those of its joint."""
        draft = self.draft
        armature, damping = (draft.numbers(one, key, 0, (0.0,)) for key in ("armature", "damping"))
        if any(damping[1:]):
            draft.note(DROPPED, f"actuator {one.tag}", "of a damping that changes only the first number is used", one)
        damping = damping if "damper" not in self.compiler.off else (0.0,)
        if math.isnan(gear):
            if armature[0] or damping[0]:
                draft.note(DROPPED, f"actuator {one.tag}", "its armature and damping fit no joint of one freedom", one)
            return
        if armature[0]:
            entry["rotor_inertia"] = entry.get("rotor_inertia", 0.0) + armature[0] * gear * gear
        if damping[0]:
            losses = entry.setdefault("friction", {})
            losses["viscous"] = losses.get("viscous", 0.0) + damping[0] * gear * gear

    def limit(self) -> None:
        """Puts the limits of all motors of a joint together; one that is moved by none has no actuator."""
        if not self.driven:
            return
        for entry in self.model.entries:
            entry.setdefault("actuated", False)
        for name, entry in self.model.joints.items():
            between = [-math.inf, math.inf]
            given = self.limits.get(name, [])
            if given and None not in given:  # several motors add up
                between = [sum(one[side] for one in given if one is not None) for side in (0, 1)]
            if name in self.model.efforts and entry["actuated"]:
                low, high = self.model.efforts[name]
                between = [max(low, between[0]), min(high, between[1])]
            if math.isfinite(between[0]) and math.isfinite(between[1]) and between[0] < between[1]:
                entry["effort"] = {"limits": between}

    def _on_joints(self, one: Element, ratios: dict[str, float], gear: float) -> None:
        """An actuator on the sum of a tendon's joints."""
        draft, model = self.draft, self.model
        able = all(model.joints[name]["type"] in SIMPLE for name in ratios)
        if not gear or not any(ratios.values()) or not able:
            draft.note(DROPPED, f"actuator {one.tag}", "it pulls no sum of joints", one)
            return
        _used(draft, one)
        names = draft.joints.own
        entry: FileEntry = {"joints": {names[name]: x for name, x in ratios.items()}}
        limits = _both(self._limits(one, 1.0), self._of_tendon(one, gear))
        _put(draft, one, entry | ({"gear": gear} if gear != 1.0 else {}), limits)
        armature, damping = (draft.numbers(one, key, 0, (0.0,)) for key in ("armature", "damping"))
        if armature[0]:
            draft.note(DROPPED, f"actuator {one.tag}", "sums of joints have no armature", one)
        if damping[0] and "damper" not in self.compiler.off:
            own = {names[name]: gear * x for name, x in ratios.items() if x}
            given = one.attributes.get("name", one.tag)
            damper = {"name": draft.joints.take(f"{given}_damper", one.line, made=True), "joints": own}
            draft.put("springs", damper | {"damping": damping[0]}, one)

    def _of_tendon(self, one: Element, gear: float) -> Limits:
        """The limits that a tendon sets to the force of its actuators, before this one's gear."""
        tendon = self.tendons[one.attributes["tendon"]]
        if not self.compiler.limit(self.draft, tendon, "actuatorfrcrange"):
            return None
        low, high = sorted(x / gear for x in self.draft.numbers(tendon, "actuatorfrcrange", 2))
        return low, high

    def _on_site(self, one: Element, gear: np.ndarray) -> None:
        """A force or a moment in the axes of a site, or of another one that is at rest, as an actuator on a link."""
        draft, model = self.draft, self.model
        force, moment = gear[:3], gear[3:]
        site = model.sites[draft.known(one, "site", model.sites, "site")]
        axes, why = site, ""
        if site.link == "base":
            why = "it acts on the ground"
        elif force.any() == moment.any():
            why = "it isn't either a force or a moment"
        elif "refsite" in one.attributes:
            axes = model.sites[draft.known(one, "refsite", model.sites, "site")]
            if axes.link not in model.resting:
                why = f"its `refsite` moves, and so feels the force, too (`{one.attributes['refsite']}`)"
            axes = model.world(axes)
        if why:
            draft.note(DROPPED, f"actuator {one.tag}", why, one)
            return
        _used(draft, one)
        along = axes.R @ (force if force.any() else moment)
        size = float(np.linalg.norm(along))
        entry = {"link": site.link, "at": [float(x) for x in site.at], "direction": [float(x / size) for x in along]}
        if axes is not site:
            entry["axes"] = "base"
        if moment.any():
            entry["kind"] = "moment"
        _put(draft, one, entry, self._limits(one, size))

    def _limits(self, one: Element, gear: float) -> Limits:
        """The limits of a motor behind its gear, if it has both."""
        low, high = -math.inf, math.inf
        keys = ["forcerange"]
        if one.tag == "motor" and "clampctrl" not in self.compiler.off:
            keys.append("ctrlrange")  # of a motor, whose control is its force
        for key in keys:
            if self.compiler.limit(self.draft, one, key):
                a, b = sorted(gear * x for x in self.draft.numbers(one, key, 2))
                low, high = max(low, a), min(high, b)
        return (low, high) if math.isfinite(low) and math.isfinite(high) and low < high else None


def _both(one: Limits, other: Limits) -> Limits:
    """The limits that both set."""
    if one is None or other is None:
        return one or other
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low < high else None


def _put(draft: Draft, one: Element, entry: FileEntry, limits: tuple[float, float] | None) -> None:
    """Adds an entry of `actuators` under a name of its own."""
    given = one.attributes.get("name") or one.attributes.get("tendon") or one.attributes.get("site") or one.tag
    effort = {"effort": {"limits": list(limits)}} if limits is not None else {}
    draft.put("actuators", {"name": draft.joints.take(given, one.line), **entry, **effort}, one)


def _used(draft: Draft, one: Element) -> None:
    draft.used(one)
    if one.tag != "motor":
        draft.note(CHANGED, f"actuator {one.tag}", "an actuator is there; its law is a scenario's", one)
