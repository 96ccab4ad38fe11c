"""What `denoc inspect --json` says of a robot; the shapes are in `robot_shapes.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denoc.cli import robot_shapes
    from denoc.mechanics.mechanisms import Mobility
    from denoc.robot import Link, Robot


def facts_of_robot(model: Robot, mobility: Mobility | None, warnings: list[str]) -> robot_shapes.Robot:
    """The data that `--json` prints."""
    from denoc.mechanics.quantities import mass_and_centre

    mass, centre = mass_and_centre(model, mobility.q if mobility else None)
    freedoms = model.nv if mobility is None else mobility.standing.freedoms if mobility.standing else None
    facts: robot_shapes.Robot = {
        "name": model.name,
        "about": model.about,
        "degrees_of_freedom": freedoms,
        "coordinates": model.nq,
        "actuated": [joint.name for joint in model.moving if joint.actuated],
        "elastic": [joint.name for joint in model.moving if joint.elastic],
        "gravity": list(model.gravity),
        "mass": mass,
        "centre": list(centre),
        "links": [_link(link) for link in model.links],
        "notes": list(model.notes),
        "warnings": warnings,
    }
    if mobility:
        _add_closing(facts, model, mobility)
    if model.springs:
        names = _coordinate_owners(model)
        facts["springs"] = [
            {
                "name": name,
                "joints": {names[one.coordinate]: one.ratio for one in cord.joints},
                "stiffness": cord.stiffness,
                "rest": cord.rest,
                "slack": cord.slack,
                "damping": cord.damping,
            }
            for name, cord in model.springs
        ]
    return facts


def _link(link: Link) -> robot_shapes.Link:
    joint, (xyz, rpy) = link.joint, position_and_angles_of_joint(link)
    return {
        "name": link.name,
        "parent": link.parent,
        "joint": joint.name,
        "type": joint.type.name,
        "coordinates": [f"{joint.name}.{suffix}" for suffix in joint.type.coordinates],
        "initial": joint.initial,
        "actuated": joint.actuated,
        "placement": {"xyz": xyz, "rpy": rpy},
        "mass": link.mass,
        "com": link.com,
        "points": dict(link.points),
    }


def _add_closing(facts: robot_shapes.Robot, model: Robot, mobility: Mobility) -> None:
    """Adds the data on loops, couplings and further actuators."""
    from dataclasses import asdict

    gaps: dict[str, robot_shapes.Gap] = {gap.name: {"m": gap.length, "rad": gap.angle} for gap in mobility.gaps}
    names = _coordinate_owners(model)
    facts["loops"] = [
        {"name": loop.name, "type": loop.type.name, "between": loop.between, "gap": gaps[loop.name]}
        for loop in model.loops
    ]
    facts["couplings"] = [
        {
            "joint": names[c.coordinate],
            "to": [names[one.coordinate] for one in c.leaders]
            if len(c.leaders) > 1
            else names[c.leaders[0].coordinate],
            "ratio": [one.ratio for one in c.leaders] if len(c.leaders) > 1 else c.leaders[0].ratio,
            "offset": c.offset,
        }
        for c in model.couplings
    ]
    facts["actuators"] = [
        {"name": one.name, "link": one.link}
        if one.on_link
        else {"name": one.name, "joints": {names[joint.coordinate]: joint.ratio for joint in one.joints}}
        for one in model.actuators
    ]
    document: robot_shapes.Mobility = {
        "closed": mobility.closed,
        "assembled": {j.name: [mobility.q[k] for k in j.coordinates] for j in model.moving},
        "kutzbach": mobility.kutzbach,
        "independent_loops": mobility.loops,
        "actuators": mobility.actuators,
    }
    standing: Any = asdict(mobility.standing) if mobility.standing else {}
    document.update(standing)
    facts["mobility"] = document


def _coordinate_owners(model: Robot) -> dict[int, str]:
    return {k: joint.name for joint in model.moving for k in joint.coordinates}


def base_parameters_of_robot(model: Robot) -> robot_shapes.BaseParameters:
    from denoc.mechanics.mechanisms import base_parameters

    known = base_parameters(model)
    groups: list[robot_shapes.Combination] = [
        {"name": name, "value": float(value), "numbers": known.group(name)}
        for name, value in zip(known.names, known.values)
    ]
    told = {"rules": known.rules, "faintest": known.faintest, "missed": known.missed, "doubtful": known.doubtful}
    return {"groups": groups, "silent": list(known.silent), **told}  # type: ignore[typeddict-item]


def position_and_angles_of_joint(link: Link) -> tuple[list[float], list[float]]:
    """Position and roll, pitch, yaw of a joint's frame in its parent's."""
    from denoc.robot import rpy_of_placement

    return list(link.before.origin), list(rpy_of_placement(link.before))
