"""The lines of `denoc inspect` on loops and mobility."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from denoc.text import count_with_noun

if TYPE_CHECKING:
    from denoc.loops.mobility import Mobility, Standing
    from denoc.robot.model import Robot


def spring_lines_to_print(model: Robot) -> Iterator[str]:
    """The lines on springs over several joints."""
    owners = {k: joint.name for joint in model.moving for k in joint.coordinates}
    for name, cord in model.springs:
        along = " + ".join(f"{one.ratio:g} × {owners[one.coordinate]}" for one in cord.joints)
        slack = f" to {cord.rest + cord.slack:g}" if cord.slack else ""
        sizes = f"stiffness {cord.stiffness:g}, damping {cord.damping:g}, rest {cord.rest:g}{slack}"
        yield f"spring {name}: {sizes}, over {along}"


def mobility_lines_to_print(model: Robot, mobility: Mobility) -> Iterator[str]:
    """The lines on cuts, couplings and actuators, then on freedoms, reactions, actuation and the order of solution."""
    from denoc.loops.mobility import loop_gap_in_words

    gaps = {gap.name: gap for gap in mobility.gaps}
    for loop in model.loops:
        state = "" if mobility.closed else f", open by {loop_gap_in_words(gaps[loop.name])}"
        kind, (first, second), own = loop.type.name, loop.between, ""
        if loop.doubled:
            kind, own = model.joint(loop.name).type.name, f", with a coordinate of its own, that of {first}"
            first = model.link(first).parent
        yield f"loop {loop.name}: a {kind} cut between {first} and {second}{own}{state}"
    owners = {k: joint.name for joint in model.moving for k in joint.coordinates}
    for c in model.couplings:
        offset = f" {'+' if c.offset > 0 else '−'} {abs(c.offset):g}" if c.offset else ""
        led = " + ".join(f"{one.ratio:g} × {owners[one.coordinate]}" for one in c.leaders)
        yield f"coupling: {owners[c.coordinate]} = {led}{offset}"
    for one in model.actuators:
        if not one.on_link:
            pulled = " + ".join(f"{joint.ratio:g} × {owners[joint.coordinate]}" for joint in one.joints)
            yield f"actuator {one.name}: a {'moment' if one.moment else 'force'} along {pulled}"
            continue
        what, direction = "moment about" if one.moment else "force along", ", ".join(f"{x:.4g}" for x in one.direction)
        yield f"actuator {one.name}: a {what} [{direction}] ({one.axes} axes) on {one.link}"
    extent = f"{count_with_noun(len(model.links), 'link')}, {count_with_noun(mobility.loops, 'independent loop')}"
    yield f"{extent}; gravity [{', '.join(f'{g:g}' for g in model.gravity)}] m/s²"
    if mobility.standing is None:
        yield f"mobility by Kutzbach's count 6 (n − 1 − j) + Σ f: {_signed(mobility.kutzbach)}; by rank: not closed"
        return
    yield from _freedoms(model, mobility, mobility.standing)
    yield from _reactions(mobility.standing)
    yield from _actuation(mobility, mobility.standing)
    yield from _order(model, mobility.standing)
    yield from _groups(model, mobility.standing)


def _signed(n: int) -> str:
    return f"−{-n}" if n < 0 else str(n)


def _freedoms(model: Robot, mobility: Mobility, at: Standing) -> Iterator[str]:
    because = (
        f", because {count_with_noun(at.redundant, 'constraint')} {'is' if at.redundant == 1 else 'are'} redundant"
    )
    where = ", where the loops are closed" if model.loops else ""
    yield (
        f"mobility {at.freedoms} (by rank{where}); Kutzbach's count 6 (n − 1 − j) + Σ f: "
        f"{_signed(mobility.kutzbach)}{because if at.redundant else ', no redundant constraints'}"
    )
    if at.position_freedoms > at.freedoms:
        yield (
            f"{at.position_freedoms} positions can be chosen, and {count_with_noun(at.freedoms, 'speed')}: "
            "what rolls or skates restricts speeds only"
        )
    for spin in at.spins:
        whose = f"{' and '.join(spin.links)} about {'its' if len(spin.links) == 1 else 'their'} own axis"
        yield f"idle spin: {whose}, in {' and '.join(spin.joints)}; it is counted in the mobility"


def _reactions(at: Standing) -> Iterator[str]:
    if not at.undetermined:
        return
    alike: dict[str, list[str]] = {}
    for one in at.undetermined:
        alike.setdefault(str(one), []).append(one.loop)
    for what, loops in alike.items():
        yield f"no rigid-body model can determine {what} in {', '.join(loops)} (axes of the cut's first frame)"
    combinations = count_with_noun(at.redundant, "independent combination")
    yield (
        f"  ({combinations} in all), nor what follows from these around the same loops; the values given are those of "
        "minimum norm"
    )


def _actuation(mobility: Mobility, at: Standing) -> Iterator[str]:
    needed = at.freedoms - len(at.spins)
    counts = f"{count_with_noun(mobility.actuators, 'actuator')} for {count_with_noun(needed, 'freedom')}"
    idle = " (idle spins not counted)" if at.spins else ""
    surplus = f", redundant by {at.surplus}: the forces of least norm are given" if at.surplus else ""
    yield counts + idle + surplus


def _order(model: Robot, at: Standing) -> Iterator[str]:
    if not at.subsystems:
        return
    yield f"solved in the order {' → '.join(one.name for one in at.subsystems)}"
    width = max(len(one.name) for one in at.subsystems)
    for one in at.subsystems:
        links = "; ".join(", ".join(branch) for branch in one.branches)
        kind = "determinate" if one.determinate else "least norm"
        yield f"  {one.name:<{width}}  {one.equations} × {one.unknowns}, {kind}: {links}"
    loops = f" (of the {model.ties_in_words} alone {at.loops_distance:.3g})" if at.loops_distance != at.distance else ""
    yield f"distance to the nearest singular position, as smallest scaled singular value: {at.distance:.3g}{loops}"


def _groups(model: Robot, at: Standing) -> Iterator[str]:
    if not at.groups:
        return
    if len(at.groups) == 1 and not at.apart:
        freedoms = count_with_noun(at.groups[0].freedoms, "freedom")
        ties = model.ties_in_words
        yield f"forward dynamics: the {ties} hold all bodies together, so that there is one system, with {freedoms}"
        return
    size, freedoms = (max(getattr(one, key) for one in at.groups) for key in ("speeds", "freedoms"))
    beside = f" and {at.apart} {'body' if at.apart == 1 else 'bodies'} without" if at.apart else ""
    yield (
        f"forward dynamics by {count_with_noun(len(at.groups), 'subsystem')} with {model.ties_in_words}{beside}: "
        f"of at most {count_with_noun(size, 'speed')}, with pivots of at most {freedoms} × {freedoms}"
    )
