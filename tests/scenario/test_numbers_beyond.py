"""Numbers that are larger than anything that is built: runs fail or are refused in words, whatever overflows."""

import numpy as np
import pytest

import denoc
from denoc.machine.backend import using_backend

SHORT = {"task": "simulate", "time": {"end": 0.02, "step": 0.01}, "solver": {"max_steps": 100}}


@pytest.mark.parametrize("backend", ["plain", "auto"])
def test_a_force_whose_rate_is_beyond_all_size_begins_with_the_least_step(backend):
    """The estimate of the second derivative is infinite, and the length that follows from it is 0."""
    law = {"joint1": {"law": "expression", "force": "1e300 * t"}}
    with using_backend(backend):
        found = denoc.run({**SHORT, "robot": "planar3r", "forces": law})
    assert found.ended == "failed"
    assert "more than 100 steps" in found.record["reason"]


def test_reactions_of_rows_whose_forces_overflow_are_not_numbers():
    """The row at the start has accelerations, but no multipliers of the cut that are finite."""
    found = denoc.run({**SHORT, "robot": "four-bar", "record": {"reactions": True}}, gravity_of("four-bar", -1e300))
    assert found.ended == "failed"
    reactions = [values for name, values in found.table.items() if name.startswith("A0.reaction")]
    assert reactions
    assert not np.isfinite(reactions).any()


def gravity_of(name, x):
    """A robot of the library under such a gravity along x."""
    text = denoc.load(name).document.text
    return denoc.loads(text.replace("gravity: [0,", f"gravity: [{x},"))


def test_rows_of_a_table_that_are_too_far_apart_are_refused(tmp_path):
    """A slope between them is infinite, though they themselves are numbers."""
    (tmp_path / "far.csv").write_text("t,q\n0,0\n0.1,1e308\n0.2,0.1\n0.3,0.4\n", encoding="utf-8")
    law = {"joint1": {"law": "table", "file": str(tmp_path / "far.csv"), "column": "q", "interpolation": "linear"}}
    with pytest.raises(denoc.InputError, match="their numbers are too far apart"):
        denoc.run({**SHORT, "robot": "planar3r", "forces": law})
