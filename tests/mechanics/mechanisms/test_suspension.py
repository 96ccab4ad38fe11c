"""The suspension against its reference file: rack and tyre force, both cuts, all reactions, dependent motion."""

import numpy as np
import pytest

import denoc
import references
from denoc.text import find_library_file, read_yaml_document

CASES = {
    "flat_road": ("suspension-idyn", True),
    "prescribed_bounce": ("suspension-bounce", True),
    "flat_road_no_horizontal_tyre_force": ("suspension-idyn", False),
}
JOINTS = {"arm": "R_arm", "top": "S_top", "strut": "P_strut", "rack": "P_rack", "inner": "S_inner"}
CUTS = {"lower": "S_lower", "outer": "S_outer"}
MOTIONS = {
    "arm.q": "arm_angle",
    "arm.qd": "arm_angle_d",
    "arm.qdd": "arm_angle_dd",
    "strut.q": "strut",
    "strut.qd": "strut_d",
    "strut.qdd": "strut_dd",
}


@pytest.mark.parametrize("name", CASES)
def test_reference(name):
    case = next(one for one in references.case("suspension_steering")["cases"] if one["name"] == name)
    scenario, tyre = CASES[name]
    data = dict(read_yaml_document(find_library_file(scenario, "scenarios")).data)
    data["solver"] = {"rtol": 1e-10}
    if not tyre:
        del data["wrenches"]
    result = denoc.run(data)
    rows = [int(np.argmin(abs(result.t - t))) for t in case["t"]]
    assert result.t[rows] == pytest.approx(np.array(case["t"]), abs=1e-12)

    def meets(columns, expected):
        found = np.column_stack([result.table[column][rows] for column in columns])
        expected = np.array(expected).reshape(found.shape)
        assert found == pytest.approx(expected, abs=1e-9 * abs(expected).max()), columns

    meets(["rack.tau"], case["rack_force"])
    meets(["tyre.force"], case["tyre_force_z"])
    for column, key in MOTIONS.items():
        meets([column], case[key])
    for ours, theirs in (*JOINTS.items(), *CUTS.items()):
        kind = "reaction" if ours in JOINTS else "lambda"
        meets([f"{ours}.{kind}.f{axis}" for axis in "xyz"], case["joint_force"][theirs])
        if theirs in case["joint_moment"]:
            meets([f"{ours}.reaction.n{axis}" for axis in "xyz"], case["joint_moment"][theirs])
    assert result.audit["closure"] < 1e-14


def test_gaps_are_measured_from_where_drives_lead():
    """The road goes up and down by 10 mm, and the tyre's patch with it: the loops are closed all the same."""
    data = dict(read_yaml_document(find_library_file("suspension-idyn", "scenarios")).data)
    road = {**data["drives"][0], "law": "harmonic", "amplitude": 0.01, "frequency": 0.5}
    result = denoc.run({**data, "drives": [road]})
    swing = result.table["knuckle.patch.z"] - 0.01 * np.sin(np.pi * result.t)
    assert np.ptp(swing) < 1e-12
    assert result.audit["closure"] < 1e-12
