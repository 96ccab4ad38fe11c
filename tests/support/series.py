"""Mechanisms of many loops: four-bars in series or as a tree, and copies of any mechanism that carry each other."""

import copy

import numpy as np

import denoc
from denoc.mechanics.closure import constraint_null_space, loop_closure
from denoc.mechanics.tree import coordinate_rates

FOUR_BAR = """
      - name: crank{k}
        parent: "rocker{up}"
        joint: {name: "A{k}", type: revolute, actuated: true, xyz: [0.25, 0, 0]}
        mass: 1.0
        com: [0.05, 0, 0]
        inertia: {xx: 0, yy: 1/1200, zz: 1/1200}
      - name: coupler{k}
        joint: {name: "C{k}", type: revolute, xyz: [0.1, 0, 0]}
        mass: 3.0
        com: [0.15, 0, 0]
        inertia: {xx: 0, yy: 0.0225, zz: 0.0225}
      - name: rocker{k}
        parent: "rocker{up}"
        joint: {name: "B{k}", type: revolute, xyz: [0.53, 0, 0]}
        mass: 2.5
        com: [0.125, 0, 0]
        inertia: {xx: 0, yy: 2.5*0.25^2/12, zz: 2.5*0.25^2/12}
"""
LOOP = """      - {name: "D{k}", joint: revolute, between: ["coupler{k}", "rocker{k}"],
         first: {at: [0.3, 0, 0]}, second: {at: [0.25, 0, 0]}}
"""
GUESS = '"C{k}": 56 deg, "B{k}": 93 deg'
HEAD = """
name: four-bars
convention: frames
gravity: [0.3, -9.81, 0]
links:
  - {name: rocker0, joint: {type: fixed}, mass: 0, com: [0, 0, 0]}
"""


def in_series(count):
    """The text of four-bars of which each stands on the rocker of the one before, written once."""
    links = FOUR_BAR.replace("{up}", "{k-1}")
    return f"{HEAD}  - repeat: {count}\n    links:{links}    loops:\n{LOOP}    assembly: {{{GUESS}}}\n"


def written_out(ups):
    """The same without `repeat`: four-bar k stands on the rocker of four-bar `ups[k - 1]`, 0 for the ground."""

    def each(text):
        copies = (text.replace("{up}", str(up)).replace("{k}", str(k)) for k, up in enumerate(ups, start=1))
        return [one.replace("\n      ", "\n  ").replace("      -", "  -") for one in copies]

    links, loops, guesses = (each(text) for text in (FOUR_BAR, LOOP, GUESS))
    return f"{HEAD.rstrip()}{''.join(x.rstrip() for x in links)}\nloops:\n{''.join(loops)}assembly: {{{', '.join(guesses)}}}\n"


def states(robot, count, seed=0):
    """Closed positions near the first one with speeds that keep them closed, and forces; as many as samples."""
    rng, loops = np.random.default_rng(seed), loop_closure(robot)
    start, result = denoc.assemble(robot, robot.q0), []

    def motions(q):
        return loops.column_scale[:, None] * constraint_null_space(loops.scaled(loops.jacobian(q)[0]))

    def beside(size):
        N = motions(start)
        along = (size * N @ rng.standard_normal(N.shape[1])).tolist()
        return denoc.assemble(robot, start + np.array(coordinate_rates(robot, start.tolist(), along)))

    for _ in range(count):
        try:
            q = beside(0.03)
        except denoc.AssemblyError:  # near the end of a motion
            q = beside(1e-4)
        N = motions(q)
        result.append((q, N @ rng.standard_normal(N.shape[1]), rng.standard_normal(robot.nv)))
    return tuple(np.array(x) for x in zip(*result))


def copies(file, count, rng):
    """A mechanism of `count` copies of a robot file; each stands on some link of one of those before."""
    whole = {**copy.deepcopy(file), "links": [], "loops": [], "assembly": {}, "actuators": []}
    for key in ("couplings", "wrenches"):
        whole.pop(key, None)
    names = ["base"]
    for k in range(count):
        foot, own = f"foot-{k}", []
        stand = {"name": f"stand-{k}", "type": "fixed", "xyz": [0.1, 0.2, 0.3], "rpy": [0.3, 0.2, 0.1]}
        still = {"name": foot, "parent": str(rng.choice(names)), "convention": "frames", "joint": stand, "mass": 0}
        whole["links"].append({**still, "com": [0, 0, 0]})

        def named(name, k=k, foot=foot):
            return foot if name == "base" else f"{name}-{k}"

        previous = foot
        for link in copy.deepcopy(file["links"]):
            link["parent"] = named(link["parent"]) if "parent" in link else previous
            link["name"] = previous = named(link["name"])
            link["joint"]["name"] = named(link["joint"]["name"])
            whole["links"].append(link)
            own.append(link["name"])
        for loop in copy.deepcopy(file["loops"]):
            whole["loops"].append({**loop, "name": named(loop["name"]), "between": [*map(named, loop["between"])]})
        whole["assembly"] |= {named(joint): guess for joint, guess in file["assembly"].items()}
        names += own
    return whole
