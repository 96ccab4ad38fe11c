"""What `denoc inspect` prints of a robot: its tree, tables of its joints, its masses and base parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from denoc.cli.robot_facts import position_and_angles_of_joint
from denoc.cli.said import print_lines, safe_lines
from denoc.errors import safe_to_print
from denoc.text import count_with_noun

if TYPE_CHECKING:
    from rich.console import Console

    from denoc.mechanics.mechanisms import Mobility, Standing
    from denoc.robot import Link, Robot


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
    from denoc.mechanics.mechanisms import loop_gap_in_words

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
    yield _extent(model, count_with_noun(mobility.loops, "independent loop"))
    if mobility.standing is None:
        yield f"mobility by Kutzbach's count 6 (n − 1 − j) + Σ f: {_signed(mobility.kutzbach)}; by rank: not closed"
        return
    yield from _freedoms(model, mobility, mobility.standing)
    yield from _reactions(mobility.standing)
    at = mobility.standing
    needed = count_with_noun(at.freedoms - len(at.spins), "freedom")
    counts = f"{count_with_noun(mobility.actuators, 'actuator')} for {needed}"
    idle = " (idle spins not counted)" if at.spins else ""
    yield counts + idle + (f", redundant by {at.surplus}: the forces of least norm are given" if at.surplus else "")
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


LONGEST = 10_000  # characters of a line


def print_robot(model: Robot, mobility: Mobility | None, warnings: list[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    from denoc.mechanics.quantities import mass_and_centre

    # lines as long as they are: a terminal breaks them, and no digit is left out where it is narrow or there is none
    console = Console(highlight=False, width=LONGEST)
    console.print(Text.assemble((model.name, "bold"), f"  {safe_to_print(model.about.strip())}" if model.about else ""))
    _draw_tree(console, model)
    _draw_joints(console, model, mobility)
    _draw_placements(console, model)
    if mobility:
        for line in mobility_lines_to_print(model, mobility):
            print_lines(line)
    else:
        actuated = sum(joint.type.nv for joint in model.moving if joint.actuated)
        freedoms = f"{count_with_noun(model.nv, 'degree')} of freedom, {actuated} actuated; "
        print_lines(freedoms + _extent(model, "no loops"))
    for line in spring_lines_to_print(model):
        print_lines(line)
    mass, centre = mass_and_centre(model, mobility.q if mobility else None)
    at = ", ".join(f"{x:.5g}" for x in centre)
    where = "the assembled position" if mobility and mobility.closed else "the initial position"
    print_lines(f"mass {mass:.6g} kg, centre at [{at}] m in {where}", *model.notes)
    for warning in warnings:
        console.print(Text(safe_lines(f"warning: {warning}"), style="yellow"))
    if not warnings:
        print_lines("no warnings")


def _extent(model: Robot, loops: str) -> str:
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    return f"{count_with_noun(len(model.links), 'link')}, {loops}; gravity [{gravity}] m/s²"


def _draw_tree(console: Console, model: Robot) -> None:
    """The spanning tree; a cut hangs on its first link and names its second."""
    from rich.text import Text
    from rich.tree import Tree

    root = Tree("base")
    nodes = {"base": root}
    waiting = list(model.links)
    while waiting:  # parents may come after their children in the file
        for link in [one for one in waiting if one.parent in nodes]:
            joint = f"{link.joint.name} ({link.joint.type.name}) ── "
            nodes[link.name] = nodes[link.parent].add(Text.assemble(joint, (link.name, "bold")))
            waiting.remove(link)
    for loop in model.loops:
        first, second = loop.between
        nodes[first].add(Text.assemble((f"{loop.name} ({loop.type.name}, cut) ╌╌ ", "cyan"), (second, "cyan")))
    console.print(root)


def _draw_joints(console: Console, model: Robot, mobility: Mobility | None) -> None:
    closed = mobility is not None and mobility.closed
    titles = ["joint", "type", "link", "coordinates", "initial", *(["assembled"] if closed else []), "driven by"]
    rows = []
    for link in model.links:
        joint = link.joint
        initial = _numbers([model.q0[k] for k in joint.coordinates])
        assembled = [_numbers([mobility.q[k] for k in joint.coordinates])] if closed and mobility else []
        names = ", ".join(joint.type.coordinates)
        rows.append(
            [joint.name, joint.type.name, link.name, names, initial, *assembled, _driver(link), f"{link.mass:.5g}"]
        )
    _draw_table(console, [*titles, "mass (kg)"], rows)


def _draw_placements(console: Console, model: Robot) -> None:
    """Where each joint is in its parent's frame, in its zero position."""
    rows = []
    for link in model.links:
        at, turned = position_and_angles_of_joint(link)
        rows.append([link.joint.name, link.parent, _numbers(at), _numbers(list(map(math.degrees, turned)))])
    _draw_table(console, ["joint", "in the frame of", "at x, y, z (m)", "roll, pitch, yaw (deg)"], rows)


def _draw_table(console: Console, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in which masses alone are numbers that stand at the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, justify="right" if "kg" in title else "left")
    for row in rows:
        table.add_row(*map(Text, row))  # not as markup: a name may have brackets in it
    console.print(table)


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{0.0 if abs(x) < 1e-12 else x:.5g}" for x in values)


def _driver(link: Link) -> str:
    joint = link.joint
    extras = [
        name
        for name, there in (
            ("spring", any(drive.stiffness for drive in joint.drives)),
            ("friction", any(drive.coulomb or drive.viscous for drive in joint.drives)),
            ("rotor", any(drive.rotor for drive in joint.drives)),
            ("limits", joint.limits is not None),
        )
        if there
    ]
    main = "actuator" if joint.actuated else "nothing" if joint.type.nv else "–"
    return ", ".join([main, *extras] if main != "nothing" or not extras else extras)


def print_base_parameters(model: Robot) -> None:
    """Prints the groups of numbers that the dynamics knows, with their values."""
    from denoc.mechanics.mechanisms import base_parameters

    known = base_parameters(model)
    source = "by rules" if known.rules else "by the rank of the regressor"
    if known.doubtful:
        source += (
            f", which is in doubt: the faintest of its singular values that count is {known.faintest:.0e}, "
            f"and forces at further states are off by up to {known.missed:.0e}"
        )
    print_lines(
        f"{model.name}: {count_with_noun(len(known.names), 'base parameter')} of {len(known.numbers)} numbers, {source}"
    )
    for name, value in zip(known.names, known.values):
        print_lines(f"  {value:12.6g}  {known.words(name)}")
    if known.silent:
        print_lines(f"without effect on any force: {', '.join(known.silent)}")
