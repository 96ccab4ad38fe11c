"""The parts of a robot file beyond its tree: cuts that close loops, couplings, actuators, a guess of the assembly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ...errors import allowed_names, did_you_mean
from ...text import Keys
from ...text.expressions import DIMENSIONS
from ..cuts import CUT_FORMS, CUTS, CutType
from ..model import Actuator, Cord, Coupling, Effort, Joint, Leader, Link, Loop, Three
from ..placement import Placement, placement_number
from .conventions import frame_of_cut, unit_direction_of_frame
from .graph import CAN, OWN, double_of_cut_link
from .joint_schema import EffortEntry
from .schema import ActuatorEntry, CouplingEntry, CutFrame, LoopEntry, RobotFile
from .values import Complain, joint_coordinates, joint_number_fits_unit


class Closing:
    """The parts of a file that tie the links of its tree to each other."""

    def __init__(self, file: RobotFile, links: Sequence[Link], complain: Callable[..., Complain]):
        self._file, self._complain = file, complain
        self._links = {link.name: link for link in links}
        self._joints = {link.joint.name: link.joint for link in links}
        self._taken = dict.fromkeys(self._joints, "a joint")

    def loops(self) -> tuple[Loop, ...]:
        """The cuts that close loops."""
        loops = []
        for k, entry in enumerate(self._file.loops):
            complain = self._complain("loops", k)
            name = entry.name or f"loop{k + 1}"
            doubled = entry.between[0] == double_of_cut_link(entry.between[1], name)
            if not doubled:  # a double's joint has the name of its cut
                self._own(name, "a loop", complain)
            _refuse_own_coordinate(entry, complain)
            for side in (0, 1):
                self._link(entry.between[side], ("between", side), complain, base=True)
            first, second = entry.between
            if first == second:
                raise complain(
                    "between", f"the loop names the link `{first}` twice", allowed="two links, one may be `base`"
                )
            sides = zip(("first", "second"), (entry.first, entry.second), entry.between)
            one, two = (self._frame(frame, link, key, complain) for key, frame, link in sides)
            if entry.spin == "hooke" and entry.joint != "spherical":
                raise complain("spin", "only a spherical cut has an idle spin", found=f"joint: {entry.joint}", key=True)
            type_, radius = _cut_type(entry, complain)
            loops.append(Loop(name, type_, (first, second), one, two, entry.spin == "hooke", radius, doubled))
        return tuple(loops)

    def couplings(self) -> tuple[Coupling, ...]:
        """The couplings between joints; no joint has two of them, or follows itself."""
        couplings: list[Coupling] = []
        follows: dict[int, tuple[int, ...]] = {}
        for k, entry in enumerate(self._file.couplings):
            complain = self._complain("couplings", k)
            joint = self._one_freedom(entry.joint, ("joint",), complain)
            leaders = self._leaders(entry, joint, complain)
            if joint.coordinates[0] in follows:
                raise complain("joint", f"`{joint.name}` follows another joint already", allowed="one coupling a joint")
            follows[joint.coordinates[0]] = tuple(one.coordinate for one in leaders)
            if _in_circle(joint.coordinates[0], follows):
                raise complain("to", "these couplings go round in a circle", allowed="joints that follow others")
            joint_number_fits_unit(entry.offset, joint.type.kinds[0], ("offset",), complain)
            couplings.append(Coupling(joint.coordinates[0], joint.speeds[0], leaders, placement_number(entry.offset)))
        return tuple(couplings)

    def _leaders(self, entry: CouplingEntry, joint: Joint, complain: Complain) -> tuple[Leader, ...]:
        """The joints that a joint follows, each once."""
        if len(entry.ratio) != len(entry.to):
            found = f"{len(entry.ratio)} for {len(entry.to)} joints"
            raise complain(
                "ratio", "each joint that leads needs a ratio", found=found, allowed="a list as long as `to`"
            )
        leaders: list[Leader] = []
        for k, (name, ratio) in enumerate(zip(entry.to, entry.ratio)):
            key: Keys = ("to", k) if len(entry.to) > 1 else ("to",)
            to = self._one_freedom(name, key, complain)
            if to is joint:
                raise complain(*key, f"`{joint.name}` is coupled to itself", allowed="another joint")
            if any(one.coordinate == to.coordinates[0] for one in leaders):
                raise complain(*key, f"`{to.name}` leads twice", allowed="each joint once, with the sum of its ratios")
            leaders.append(Leader(to.coordinates[0], to.speeds[0], placement_number(ratio)))
        return tuple(leaders)

    def actuators(self) -> tuple[Actuator, ...]:
        """The actuators that belong to no joint."""
        actuators = []
        for k, entry in enumerate(self._file.actuators):
            complain = self._complain("actuators", k)
            name = self._own(entry.name, "an actuator", complain)
            actuators.append(self._on_joints(entry, name, complain) or self._on_link(entry, name, complain))
        return tuple(actuators)

    def _on_link(self, entry: ActuatorEntry, name: str, complain: Complain) -> Actuator:
        """An actuator that acts on a link."""
        for key, value in (("link", entry.link), ("direction", entry.direction)):
            if value is None:
                allowed = "`link` and `direction`, or `joints`"
                raise complain(f"`{key}` is missing: an actuator acts on a link or on joints", allowed=allowed)
        if "gear" in entry.model_fields_set:
            raise complain("gear", "a gear multiplies the coefficients of `joints`", key=True, allowed="with `joints`")
        link = self._link(str(entry.link), ("link",), complain)
        assert link is not None
        assert entry.direction is not None
        at = self._point(entry.at, link.name, ("at",), complain)
        direction = unit_direction_of_frame(entry.direction, ("direction",), complain)
        effort = effort_limits_of_actuator(entry.effort, {entry.kind == "moment"}, ("effort",), complain)
        return Actuator(name, link.name, at, direction, entry.axes, entry.kind == "moment", effort)

    def _on_joints(self, entry: ActuatorEntry, name: str, complain: Complain) -> Actuator | None:
        """An actuator that acts on a weighted sum of joints; nothing if the entry names none."""
        if "joints" not in entry.model_fields_set:
            return None
        for key in ("link", "at", "direction", "axes"):
            if key in entry.model_fields_set:
                raise complain(key, "this actuator acts on joints", key=True, allowed="`joints`, or keys of a link")
        ratios = {one: placement_number(entry.gear) * placement_number(ratio) for one, ratio in entry.joints.items()}
        if not any(ratios.values()):
            raise complain("joints", "an actuator moves something", allowed="{joint1: 1, joint2: -0.5}, not only zeros")
        moved = [self._one_freedom(one, ("joints", one), complain, is_key=True) for one in ratios]
        leaders = tuple(
            Leader(joint.coordinates[0], joint.speeds[0], x) for joint, x in zip(moved, ratios.values()) if x != 0.0
        )
        moment = all(joint.type.turning[0] for joint in moved) if entry.kind is None else entry.kind == "moment"
        effort = effort_limits_of_actuator(entry.effort, {moment}, ("effort",), complain)
        return Actuator(name, moment=moment, effort=effort, joints=leaders)

    def springs(self) -> tuple[tuple[str, Cord], ...]:
        """The springs over several joints, by name."""
        springs = []
        for k, entry in enumerate(self._file.springs):
            complain = self._complain("springs", k)
            name = self._own(entry.name, "a spring", complain)
            moved = [self._one_freedom(one, ("joints", one), complain, is_key=True) for one in entry.joints]
            ratios = [placement_number(x) for x in entry.joints.values()]
            if not any(x != 0.0 for x in ratios):
                raise complain("joints", "a spring is stretched by something", allowed="{joint1: 1, joint2: -0.5}")
            turning = {joint.type.turning[0] for joint in moved}
            for turns in turning if len(turning) == 1 else ():
                what = "turn" if turns else "slide"
                joint_number_fits_unit(entry.stiffness, f"{what} stiffness", ("stiffness",), complain)
                joint_number_fits_unit(entry.damping, f"{what} damping", ("damping",), complain)
                for key in ("rest", "slack"):
                    joint_number_fits_unit(getattr(entry, key), "angle" if turns else "length", (key,), complain)
            leaders = tuple(
                Leader(joint.coordinates[0], joint.speeds[0], x) for joint, x in zip(moved, ratios) if x != 0.0
            )
            numbers = map(placement_number, (entry.stiffness, entry.rest, entry.damping, entry.slack))
            springs.append((name, Cord(leaders, *numbers)))
        return tuple(springs)

    def assembly(self, q0: Sequence[float]) -> list[float]:
        """The initial coordinates with the guess laid over them, but for actuated joints that have both."""
        q = list(q0)
        for name, values in self._file.assembly.items():
            complain = self._complain("assembly")
            joint = self._joint(name, (name,), complain, is_key=True)
            guess = joint_coordinates(values, (name,), joint.type, complain)
            for k, x in zip(joint.coordinates, () if joint.placed == "initial" and joint.actuated else guess):
                q[k] = x
        return q

    # ---- names

    def _own(self, name: str, what: str, complain: Complain) -> str:
        """The name itself, which nothing else may have."""
        if name in self._taken or name == "all":
            whose = self._taken.get(name, "a scenario's word for every joint")
            raise complain("name", f"the name `{name}` is taken: it is {whose}", allowed="a name of its own")
        self._taken[name] = what
        return name

    def _link(self, name: str, key: Keys, complain: Complain, *, base: bool = False) -> Link | None:
        """The link of this name, or None for the base where that is allowed."""
        if base and name == "base":
            return None
        if name not in self._links:
            known = [*(["base"] if base else []), *self._links]
            raise complain(*key, "no such link", found=f"`{name}`", **allowed_names(name, known, 40))
        return self._links[name]

    def _joint(self, name: str, key: Keys, complain: Complain, *, is_key: bool = False) -> Joint:
        """The joint of this name, which has to be one that moves."""
        moving = [one for one, joint in self._joints.items() if joint.type.nv]
        if name not in moving:
            own = self._links[name].joint if name in self._links else None
            raise complain(
                *key,
                f"the joint `{name}` is fixed" if name in self._joints else "no such joint",
                key=is_key,
                found=f"`{name}`",
                allowed=", ".join(moving[:40]),
                hint=f"the joint of the link `{name}` is `{own.name}`" if own else self._about_cut(name, moving),
            )
        return self._joints[name]

    def _about_cut(self, name: str, moving: Sequence[str]) -> str:
        """What a cut lacks that is taken for a joint, or which joint was meant."""
        names = (entry.name or f"loop{k + 1}" for k, entry in enumerate(self._file.loops))
        if name not in names:
            return did_you_mean(name, moving)
        return f"`{name}` is a cut; one of {', '.join(OWN)} beside its `joint` gives it a coordinate of its own"

    def _one_freedom(self, name: str, key: Keys, complain: Complain, *, is_key: bool = False) -> Joint:
        """The joint of this name, which has to have one degree of freedom."""
        joint = self._joint(name, key, complain, is_key=is_key)
        if joint.type.nv != 1:
            why = "has more than one coordinate" if is_key else "can't be coupled"
            raise complain(
                *key, f"a {joint.type.name} joint {why}", key=is_key, found=f"`{name}`", allowed="1-DOF joints"
            )
        return joint

    # ---- frames

    def _frame(self, frame: CutFrame, link: str, key: str, complain: Complain) -> Placement:
        """A cut's frame in its link's axes."""
        return frame_of_cut(frame, self._point(frame.at, link, (key, "at"), complain), key, complain)

    def _point(self, at: tuple[float, float, float] | str, link: str, key: Keys, complain: Complain) -> Three:
        """A point of a link from three numbers or from its name."""
        if not isinstance(at, str):
            return (placement_number(at[0]), placement_number(at[1]), placement_number(at[2]))
        points = self._links[link].points if link in self._links else {}
        if at not in points:
            raise complain(
                *key,
                f"`{link}` has no such point",
                found=f"`{at}`",
                allowed=", ".join(points) or "[x, y, z]; the link names no points",
                hint=did_you_mean(at, list(points)),
            )
        return points[at]


def _refuse_own_coordinate(entry: LoopEntry, complain: Complain) -> None:
    """Raises an error if a cut without a coordinate of its own has a key that needs one."""
    for key in OWN:
        if key in entry.model_fields_set and getattr(entry, key) not in (None, False):
            raise complain(
                key,
                f"a {entry.joint} cut has no coordinate of its own",
                key=True,
                allowed=f"on cuts of the types {', '.join(CAN)}",
            )


def _cut_type(entry: LoopEntry, complain: Complain) -> tuple[CutType, float]:
    """The type of a cut, and the radius of what rolls in it, or 0."""
    type_ = CUTS[entry.joint]
    if entry.as_ is not None:
        type_ = CUT_FORMS[entry.as_]
        if type_.form_of != entry.joint:
            raise complain("as", f"only a {type_.form_of} cut has this form", found=f"joint: {entry.joint}", key=True)
    if type_.rolls and entry.radius is None:
        raise complain("`radius` is missing: what rolls has one", allowed=DIMENSIONS["length"][1])
    if entry.radius is not None and not type_.rolls:
        raise complain("radius", f"a {entry.joint} cut has no radius", key=True, allowed="on `joint: rolling`")
    return type_, placement_number(entry.radius or 0.0)


def _in_circle(start: int, follows: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether a coordinate follows itself, through others."""
    waiting, seen = [*follows.get(start, ())], set()
    while waiting:
        place = waiting.pop()
        if place == start:
            return True
        if place not in seen:
            seen.add(place)
            waiting += follows.get(place, ())
    return False


def effort_limits_of_actuator(entry: EffortEntry | None, turning: set[bool], key: Keys, complain: Complain) -> Effort:
    """The limits and weight of an actuator; limits are moments if it turns, and forces if it pushes."""
    if entry is None:
        return Effort()
    if not turning:
        raise complain(*key, "a fixed joint has no actuator", allowed="no `effort`")
    low, high = entry.limits or (-math.inf, math.inf)
    for k, bound in enumerate(entry.limits or ()):
        for turns in turning:
            joint_number_fits_unit(bound, "moment" if turns else "force", (*key, "limits", k), complain)
    if not low < high:
        raise complain(
            *key,
            "limits",
            "the low limit must be below the high one",
            found=f"{low:g}, {high:g}",
            allowed=f"[low, high], {DIMENSIONS['effort'][1]}",
        )
    return Effort(float(low), float(high), float(entry.weight))
