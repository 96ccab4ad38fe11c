"""Runs side by side compared with each of them by itself."""

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend


def happenings(result):
    return [(one.get("joint"), one["event"], one["then"]) for one in result.record["events"]]


def compared(left, scenario, variations, robot=None):
    """The runs side by side, after a comparison with each by itself; the number of those that were left alone."""
    with using_backend("compiled"):
        left[0] = 0
        together = denoc.ensemble(scenario, variations, robot)
        alone = left[0]
        for found, variation in zip(together, variations):
            same_run(found, denoc.ensemble(scenario, [variation], robot)[0])
    return together, alone


def same_run(found, expected):
    """Whether two results have the same course, but for rounding and for what no rigid-body model determines."""
    assert (found.ended, found.record["reason"]) == (expected.ended, expected.record["reason"])
    assert happenings(found) == happenings(expected)
    for one, other in zip(found.record["events"], expected.record["events"]):
        assert one["t"] == pytest.approx(other["t"], abs=1e-10)
    assert found.record["undetermined"] == expected.record["undetermined"]
    assert list(found.table) == list(expected.table)
    units = {column.name: (column.family, column.unit) for column in expected.columns}
    for column, values in expected.table.items():
        if column != "energy.residual" and column not in expected.record["undetermined"]:
            size = max(np.nanmax(abs(expected.table[one])) for one in units if units[one] == units[column])
            assert np.nanmax(abs(found.table[column] - values)) <= 1e-10 * max(size, 1e-3), column
    for key in ("closure", "closure_angle", "energy"):
        assert found.audit[key] == pytest.approx(expected.audit[key], rel=1e-5, abs=1e-9), key
    assert found.audit["steps"] == expected.audit["steps"]
