"""The independent numbers of tests/reference, and the robots that they are about as robot files."""

import json
from functools import cache
from pathlib import Path

import numpy as np

import denoc
import yamls

FOLDER = Path(__file__).resolve().parents[1] / "reference"
TYPES = {"R": "revolute", "P": "prismatic", "F": "fixed", "S": "spherical"}
ENTRIES = ("xx", "xy", "xz", "yy", "yz", "zz")
OPEN = "open-chain-reference/1"


def names(has=()):
    """Open chains of the folder that have these sections, in their file or in their states."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        case = json.loads(path.read_text())
        keys = set(case) | set(case["states"][0]) if case.get("format") == OPEN else set()
        if keys and keys.issuperset(has):
            found.append(path.stem)
    return found


def case(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


@cache
def read(name):
    """A case and its robot."""
    found = case(name)
    return found, denoc.loads(robot_text(found))


def called(call, *arrays, batch):
    """Results of a call on samples, given one by one or as one array."""
    return call(*arrays) if batch else np.array([call(*one) for one in zip(*arrays)])


def robot_text(case, *, drives=True):
    """The case's robot as YAML; without `drives`, rotors and friction are left out."""
    khalil, base = case["convention"] == "khalil", case.get("base")
    links = []
    if base:
        links.append({"name": "link0", "joint": {"type": "free", "name": "floating"}, **_mass(base)})
    for k, link in enumerate(case["links"], 1):
        keys = ("gamma", "b", "alpha", "d", "theta", "r") if khalil else ("a", "b", "alpha", "theta")
        joint = {"type": TYPES[link["type"]], "name": f"joint{k}", **{key: link[key] for key in keys}}
        if drives:
            joint |= _drives(link)
        above = link.get("ant", k - 1)
        links.append(
            {"name": f"link{k}", "parent": f"link{above}" if above or base else "base", "joint": joint, **_mass(link)}
        )
    elastic = case.get("elastic", {"joints": [], "K": [], "q_ref": []})
    for k, stiffness, rest in zip(elastic["joints"], elastic["K"], elastic["q_ref"]):
        links[k - 1]["joint"] |= {"spring": {"stiffness": stiffness, "rest": rest}, "actuated": False}
    name = case["name"].replace("_", "-")
    convention = "khalil" if khalil else "dh"
    return yamls.dump({"name": name, "convention": convention, "gravity": case["gravity"], "links": links})


def _mass(link):
    if "MS" in link:
        inertia = dict(zip(ENTRIES, link["J"]))
        return {"mass": link["M"], "first_moments": link["MS"], "inertia": inertia, "about": "origin"}
    return {"mass": link["m"], "r": link["r"], "inertia": dict(zip(ENTRIES, link["I"]))}


def _drives(link):
    found = {}
    if link.get("Fs") or link.get("Fv"):
        found["friction"] = {"coulomb": link.get("Fs", 0.0), "viscous": link.get("Fv", 0.0)}
    if link.get("Ia"):
        found["rotor_inertia"] = link["Ia"]
    return found


def friction(case, qd):
    """Fs sign(qd) + Fv qd."""
    moving = [link for link in case["links"] if link["type"] != "F"]
    if not any("Fs" in link for link in moving):
        return np.zeros_like(qd)
    coulomb = np.array([link.get("Fs", 0.0) for link in moving])
    viscous = np.array([link.get("Fv", 0.0) for link in moving])
    return coulomb * np.sign(qd) + viscous * np.asarray(qd)


def wrenches(case, state):
    """The state's wrenches as the calls take them: on the link, at its origin, in its axes, [n; f].

    The file gives what the link exerts on its environment, [f; n] in the end frame, which for Denavit-Hartenberg's
    links is Tz(b) Tx(a) Rx(alpha) after the link's own.
    """
    found = {}
    for number, six in state.get("wrench", {}).items():
        f, n = -np.array(six[:3]), -np.array(six[3:])
        if case["convention"] != "khalil":
            link = case["links"][int(number) - 1]
            assert link["type"] == "R"
            c, s = np.cos(link["alpha"]), np.sin(link["alpha"])
            R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
            f, n = R @ f, R @ n
            n = n + np.cross([link["a"], 0.0, link["b"]], f)
        found[f"link{number}"] = np.concatenate([n, f])
    return found


def tolerance(case, kind):
    """The tolerance that the file states for `tau` (and what goes with it) or for `accelerations`."""
    return next(value for key, value in case["tolerance"].items() if key.startswith(kind))


def inertia_matrix(state):
    """M of the state, whole or from its upper half; None where the file leaves it out."""
    if "M_upper_by_rows" in state:
        n = len(state["q"])
        upper = np.zeros((n, n))
        upper[np.triu_indices(n)] = state["M_upper_by_rows"]
        return upper + np.triu(upper, 1).T
    return np.array(state["M"]) if "M" in state else None
