"""Pinocchio reads the same URDF files: masses, frames, torques, accelerations, and closed loops on its Jacobians."""

from pathlib import Path

import numpy as np
import pytest

import denoc

pin = pytest.importorskip("pinocchio")

from beside_pinocchio import Pair  # noqa: E402

FILES = Path(__file__).parent / "files"
EXACT = 1e-10


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["arm", "rover", "four-bar"])
def test_the_same_dynamics(name, floating):
    path = FILES / f"{name}.urdf"
    robot = denoc.load(path, floating=floating)
    assert robot.nv == pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floating else [])).nv
    worst = Pair(path, robot, floating).differences(np.random.default_rng(1))
    assert max(worst.values()) < EXACT, worst


def test_a_loop_closes_as_on_pinocchios_jacobians():
    """A null-space solve: accelerations that keep two points together, with no force along the ways they allow."""
    robot = denoc.load(FILES / "four-bar.urdf", loops=FILES / "four-bar-loops.yaml")
    model = pin.buildModelFromUrdf(str(FILES / "four-bar.urdf"))
    data, pair = model.createData(), Pair(FILES / "four-bar.urdf", robot)
    frames = [model.getFrameId(name) for name in ("coupler_end", "rocker_end")]
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    q = denoc.assemble(robot, robot.q0)
    theirs, at = pair.coordinates(q), pair.places
    pin.computeJointJacobians(model, data, theirs)
    pin.updateFramePlacements(model, data)
    one, other = (pin.getFrameJacobian(model, data, k, world)[:3, at] for k in frames)
    J = one - other
    *_, ways = np.linalg.svd(J)
    free = ways[2:].T  # two of the three rows are independent
    qd = 1.7 * free[:, 0]
    pin.forwardKinematics(model, data, theirs, pair.speeds(qd), np.zeros(model.nv))
    one, other = (pin.getFrameClassicalAcceleration(model, data, k, world).linear for k in frames)
    start = np.linalg.lstsq(J, other - one, rcond=None)[0]
    M = pin.crba(model, data, theirs)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(at, at)]
    h = pin.rnea(model, data, theirs, pair.speeds(qd), np.zeros(model.nv))[at]
    tau = np.array([0.8, 0.0, 0.0])
    way = np.linalg.solve(free.T @ M @ free, free.T @ (tau - h - M @ start))
    np.testing.assert_allclose(denoc.forward(robot, q, qd, tau), start + free @ way, rtol=1e-8)
