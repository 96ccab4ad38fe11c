"""Runs side by side are the runs by themselves, whichever number of a robot or a scenario of the library differs."""

import os
import re

import numpy as np
import pytest

import denoc
import yamls
from denoc.machine.jit.choice import using_backend
from denoc.text.library import find_library_file, library_names

END = 0.1  # of a run, in s; that is when lanes part that read another run's numbers
ROWS = 4
SEEDED = 12  # leaves of the whole library, in the usual run of the tests
WITH_A_UNIT = re.compile(r"([-+]?\d+(?:\.\d+)?) ([a-zA-Z][\w/*^ ]*)")
FREE = ("time", "name", "about", "expect", "replay", "plots", "record")  # nothing of these reaches the equations


def leaves(value, path=()):
    """Numbers, and texts that are numbers with units, by their places."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, list):
        for k, one in enumerate(value):
            yield from leaves(one, (*path, one["name"] if isinstance(one, dict) and "name" in one else k))
    elif is_a_number(value):
        yield path, value


def is_a_number(value):
    if isinstance(value, str):
        return WITH_A_UNIT.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def another(key, x):
    """A value near x."""
    if isinstance(x, str):
        number, unit = WITH_A_UNIT.fullmatch(x).groups()
        return f"{float(number) * 1.01 + 1e-3} {unit}"
    return x + 1 if isinstance(x, int) and "solver" in key else x * 1.01 + 1e-3


def every():
    """(scenario, key, its value, another value) of all numeric leaves of the library's scenarios and their robots."""
    found = []
    for name in library_names("scenarios"):
        scenario = yamls.load(find_library_file(name, "scenarios").read_text())
        if scenario["task"] != "simulate":
            continue
        robot = yamls.load(find_library_file(scenario["robot"], "robots").read_text())
        places = [(where, x) for where, x in leaves(scenario) if where[0] not in FREE]
        places += [(("robot", *where), x) for where, x in leaves(robot)]
        for where, x in places:
            key = ".".join(str(step) for step in where)
            found.append((name, key, x, another(key, x)))
    return found


ALL = every()
CHOSEN = range(len(ALL))
if not os.environ.get("DENOC_ALL_LEAVES"):
    CHOSEN = sorted(np.random.default_rng(9).choice(len(ALL), SEEDED, replace=False).tolist())


def outcome(call):
    try:
        return call()
    except denoc.DenocError as error:
        return type(error), str(error).split("variations[")[0]


@pytest.mark.parametrize("k", CHOSEN)
@pytest.mark.sampled(2)
def test_lanes_are_runs_alone(k):
    name, key, own, value = ALL[k]
    short = {"time.end": END, "time.step": END / ROWS}
    variations = [short | {key: own}, short | {key: value}]
    with using_backend("compiled"):
        alone = outcome(lambda: [denoc.ensemble(name, [one])[0] for one in variations])
        lanes = outcome(lambda: denoc.ensemble(name, variations))
    if isinstance(alone, tuple) or isinstance(lanes, tuple):
        assert alone == lanes, key
        return
    for one, other in zip(alone, lanes):
        assert (one.ended, one.record["reason"]) == (other.ended, other.record["reason"]), key
        assert one.record["warnings"] == [
            text.replace("variations[1]", "variations[0]") for text in other.record["warnings"]
        ]
        assert [event["event"] for event in one.record["events"]] == [
            event["event"] for event in other.record["events"]
        ]
        assert list(one.table) == list(other.table)
        loose = set(one.record["undetermined"])
        for column in one.columns:
            if column.name in loose or column.name == "energy.residual":
                continue
            same = [c.name for c in one.columns if (c.family, c.unit) == (column.family, column.unit)]
            size = max(np.nanmax(abs(one.table[c])) for c in same)
            off = abs(one.table[column.name] - other.table[column.name])
            assert np.nanmax(off, initial=0.0) <= 1e-10 * max(size, 1e-3), (key, column.name)
