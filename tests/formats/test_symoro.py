"""SYMORO's files are read as Khalil's parameters, with the frames of cut joints as cuts."""

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import InputError
from denoc.machine.backend import using_backend

FILE = Path(__file__).parent / "files" / "two-loops.par"


@pytest.fixture(scope="module")
def robot():
    return denoc.load(FILE)


def test_the_loop_closes_where_it_should(robot):
    """A four-bar with rods of 0.1, 0.3 and 0.25 m on a ground of 0.3 m, in the plane at right angles to y."""
    assert robot.name == "two_loops"
    q = denoc.assemble(robot, robot.q0)
    frames = denoc.frames(robot, q)
    ends = [frames[link] @ [x, 0, 0, 1] for link, x in (("link2", 0.3), ("link3", 0.25))]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)
    assert abs(ends[0][1]) < 1e-15
    assert np.linalg.norm(frames["link2"][:3, 3]) == pytest.approx(0.1)
    assert [joint.name for joint in robot.moving if joint.actuated] == ["joint1"]


def test_masses_are_about_the_origins(robot):
    link = robot.link("link2")
    assert link.com == (0.15, 0, 0)
    np.testing.assert_allclose(np.diag(link.inertia), [0.0008, 0.0305 - 0.15**2, 0.0305 - 0.15**2])
    ((one,), (two,)) = robot.links[0].joint.drives, robot.links[1].joint.drives
    assert (one.rotor, one.coulomb, two.viscous) == (0.01, 0.1, 0.2)


def test_external_forces_are_those_of_the_link_on_its_surroundings(robot):
    (wrench,) = robot.wrenches
    assert (wrench.link, wrench.wrench) == ("link3", (0, 0, -1.5, -2, 0, 0))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("d2 = 0.1\n", "", "entry 2: `d2` has no number"),
        ("l = 0.25", "l = d2\nd2 = l", "has no number"),
        ("NF = 5", "NF = 4", "these counts don't fit"),
        ("sigma = {0,0,0,0,2}", "sigma = {0,0,3,0,2}", "entry 3 isn't one of its values"),
        ("ant = {0,1,0,2,3}", "ant = {0,1}", "5 entries are needed"),
        ("M = {0.5,1,0.8}", "M = {0.5,1,-0.8}", "at least 0"),
        ("M = {0.5,1,0.8}", "M = {0.5,1,(1}", "entry 3"),
        ("is_mobile = 0", "is_mobile = 1", "a mobile base can't be read"),
    ],
)
def test_mistakes_are_shown_at_their_line(tmp_path, old, new, words):
    text = FILE.read_text()
    assert old in text
    path = tmp_path / "x.par"
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError) as caught:
        denoc.load(path)
    assert words in str(caught.value)


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_a_loop_that_says_nothing_leaves_the_tree_as_it_is(tmp_path, backend):
    """All axes on one line: the cut's rows say what the joints say already, and none of its forces has an effect."""
    text = FILE.read_text()
    for key in ("alpha", "d"):
        text = re.sub(rf"^{key} = .*", f"{key} = {{0,0,0,0,0}}", text, flags=re.M)
    (tmp_path / "x.par").write_text(text)
    robot = denoc.load(tmp_path / "x.par")
    data = copy.deepcopy(robot.document.data)
    del data["loops"]
    tree = denoc.loads(json.dumps(data))
    scenario = {"robot": "x", "task": "simulate", "time": {"end": 0.02, "step": 0.01}, "rates": {"joint2": 2.0}}
    with using_backend(backend):
        closed, open_ = (denoc.run(scenario, one) for one in (robot, tree))
    for k in (1, 2, 3):
        np.testing.assert_allclose(closed.table[f"joint{k}.q"], open_.table[f"joint{k}.q"], atol=1e-9)
    assert not any(np.any(closed.table[f"joint4.lambda.{part}"]) for part in ("nx", "ny", "nz", "fx", "fy", "fz"))
