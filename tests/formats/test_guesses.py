"""Where readers let the joints of mechanisms start: by guesses, before which the places of actuated joints count."""

import math
from pathlib import Path

import pytest

import denoc

FILES = Path(__file__).parent / "files"
LOW, HIGH = -4.0, -2.5  # of the rocker, whose zero is 1.6 rad from the ground's x
BODY = '<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
MJCF = f"""<mujoco><compiler angle="radian"/><worldbody>
<body name="crank"><joint name="A"/>{BODY}
  <body name="coupler" pos="0.1 0 0" euler="0 0 -0.9"><joint name="B"/>{BODY}<site name="one" pos="0.3 0 0"/></body></body>
<body name="rocker" pos="0.3 0 0" euler="0 0 1.6"><joint name="C" range="{LOW} {HIGH}"/>{BODY}<site name="two" pos="0.25 0 0"/></body>
</worldbody><equality><connect site1="one" site2="two"/></equality><actuator><motor joint="A"/></actuator></mujoco>"""


def _mechanism(kind, folder):
    """A four-bar whose crank is actuated, and whose rocker can't stand at 0."""
    limit, file = f"<lower>{LOW}</lower><upper>{HIGH}</upper>", folder / f"x.{kind}"
    if kind == "urdf":
        text = (FILES / "four-bar-plus.urdf").read_text().replace('"C" type="continuous"', '"C" type="revolute"')
        start, end = text.split('rpy="0 0 1.6"/>')
        file.write_text(f'{start}rpy="0 0 1.6"/><limit lower="{LOW}" upper="{HIGH}"/>{end}')
    elif kind == "sdf":
        start, end = (FILES / "four-bar.sdf").read_text().split('<joint name="C"')
        file.write_text(f'{start}<joint name="C"{end.replace("</axis>", f"<limit>{limit}</limit></axis>")}')
    else:
        file.write_text(MJCF)
    side = folder / "side.yaml"
    side.write_text("name_mot: A\n")
    return denoc.load(file, loops=side)


@pytest.mark.parametrize("kind", ["urdf", "sdf", "mjcf"])
def test_the_middle_of_limits_is_a_guess_in_loops(kind, tmp_path):
    """It says on which branch the rocker is; the crank stays at its own place, 0, as the cosine theorem has the rest."""
    robot = _mechanism(kind, tmp_path)
    assert (robot.joint("C").placed, robot.joint("C").initial) == ("", (0.0,))
    assert robot.document.data["assembly"] == {"C": (LOW + HIGH) / 2}
    assert any("the search for closed loops starts in" in text for text in robot.warnings)
    q = dict(zip(robot.joints, denoc.assemble(robot, robot.q0)))
    # in SDF a joint that closes a loop is where its child is as the model stands, here the rocker at 1.6 rad
    coupler = math.hypot(0.2 + 0.25 * math.cos(1.6), 0.25 * math.sin(1.6)) if kind == "sdf" else 0.3
    x = (coupler**2 - 0.25**2 + 0.2**2) / (2 * 0.2) - 0.2  # of the tip, from the rocker's pivot
    assert q["A"] == 0.0
    assert q["C"] == pytest.approx(-math.acos(x / 0.25) - 1.6, abs=1e-9)
    assert LOW < q["C"] < HIGH


def test_without_loops_it_is_where_the_joint_starts(tmp_path):
    file = tmp_path / "x.xml"
    file.write_text(MJCF.replace('<connect site1="one" site2="two"/>', ""))
    robot = denoc.load(file)
    assert robot.joint("C").initial == ((LOW + HIGH) / 2,)
    assert "assembly" not in robot.document.data
