"""Robots of packages that carry real models, where these are installed: each loads and agrees, or is refused as pinned.

The small packages come with the tools of developers, and `make peers` walks all of their robots; `make models` installs
those of the extra `models` and walks all of these, too.  Nothing of them is kept here but names.
"""

import warnings
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest

import denoc
from denoc.errors import DenocError
from there_and_back import differences, through

EXACT = 1e-10
SMALL = ("gymnasium", "mujoco", "mujoco-core")
LARGE = ("example-robot-data", "pybullet", "rtb-data", "dm-control", "gymnasium-robotics", "robosuite")
# by the end of a file's path, a part of the reason for which it is refused
REFUSED = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "no such joint",
    "ur_description/urdf/ur3.urdf": "there is no link",
    "rtbdata/data/test.urdf": "no robot that denoc reads",
    "bicycle/bike.urdf": "this is no number",
    "biped/biped2d_pybullet.urdf": "not valid XML",
    "differential/diff_ring.urdf": "not valid XML",
    "humanoid/humanoid.urdf": "not valid XML",
    "husky/husky.urdf": "this is no number",
    "quadruped/microtaur/microtaur.urdf": "3 numbers are needed",
    "racecar/racecar_differential.urdf": "3 numbers are needed",
    "pybullet_data/torus_deform.urdf": "there is no link",
    # MuJoCo refuses these three, too
    "pybullet_data/mjcf/hopper.xml": "global coordinates",
    "pybullet_data/mjcf/humanoid_fixed.xml": "unknown type of joint",
    "pybullet_data/mjcf/walker2d.xml": "global coordinates",
}
# of MJCF files, which are often parts of others: reasons that are no mistake of theirs
PARTS = (
    "there is no body",
    "no robot that denoc reads",
    "the inertia of a mesh",
    "MuJoCo, which knows",
    "no such file",
)


def models(packages, suffix):
    """The files of these packages that are here."""
    for package in packages:
        try:
            listed = files(package) or []
        except PackageNotFoundError:
            continue
        for one in listed:
            path = Path(str(one.locate()))
            if path.suffix == suffix and "random_urdfs" not in path.parts:
                yield path


def short(path):
    return "/".join(path.parts[-3:])


def over(packages, suffix):
    """Parametrises a test by files; a test without any is skipped."""
    return pytest.mark.parametrize("path", sorted(models(packages, suffix)), ids=short)


def refused(path):
    """Whether a file is one of those that are refused, for the reason that is pinned."""
    reason = next((words for end, words in REFUSED.items() if str(path).endswith(end)), None)
    if reason is not None:
        with pytest.raises(DenocError) as caught:
            denoc.load(path)
        assert reason in str(caught.value)
    return reason is not None


def check_written(robot):
    """As MJCF it is the same robot, but for inertias that no body can have, and MuJoCo loads it."""
    again, text, lost = through(
        replace(robot, links=tuple(replace(link, shape=()) for link in robot.links), vouched=True)
    )
    assert "inertia changed" in lost or differences(robot, again) < EXACT
    mujoco = pytest.importorskip("mujoco")
    mujoco.MjModel.from_xml_string(text)


def check_urdf(path):
    if refused(path):
        return
    robot = denoc.load(path)
    check_written(robot)
    pytest.importorskip("pinocchio")
    from beside_pinocchio import Pair

    try:
        pair = Pair(path, robot)
    except ValueError:  # a file that Pinocchio refuses, such as one with a ball joint
        return
    worst = pair.differences(np.random.default_rng(1), samples=1)
    assert max(worst.values()) < EXACT, worst


def check_mjcf(path):
    if refused(path):
        return
    robot, why = None, ""
    try:
        robot = denoc.load(path)
    except DenocError as error:
        why = str(error)
    assert robot is not None or any(part in why for part in PARTS), why
    if robot is None:
        return
    check_written(robot)
    mujoco = pytest.importorskip("mujoco")
    from beside_mujoco import Pair

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pair = Pair(path, robot)
    except (ValueError, mujoco.FatalError):  # a file that MuJoCo refuses, such as one that needs another
        return
    worst = pair.differences(np.random.default_rng(1), samples=1, passive=False)
    assert max(worst.values()) < EXACT, worst


@over(SMALL, ".urdf")
def test_urdf_of_small_packages(path):
    check_urdf(path)


@over(SMALL, ".xml")
def test_mjcf_of_small_packages(path):
    check_mjcf(path)


@pytest.mark.sampled(12)
@over(LARGE, ".urdf")
def test_urdf(path):
    check_urdf(path)


@pytest.mark.sampled(12)
@over(LARGE, ".sdf")
def test_sdf(path):
    assert denoc.load(path).links


@pytest.mark.sampled(12)
@over(LARGE, ".xml")
def test_mjcf(path):
    check_mjcf(path)
