"""Agreement with Pinocchio, an independent library, on random trees of the joints that it shares with denoc."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import denoc
import newton
from comparing import off, off_accelerations
from random_robots import drawn

pin = pytest.importorskip("pinocchio")

laws = settings()  # those of the tier
seeds = given(seed=st.integers(0, 2**32 - 1))
EXACT = 1e-11
SHARED = ("revolute", "prismatic", "spherical", "free")


class Peer:
    """The same robot in Pinocchio, and the ways of its coordinates and speeds."""

    def __init__(self, case):
        places, _ = newton.tree(case.file)
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array(case.file["gravity"]), np.zeros(3))
        self.names = [place.link["name"] for place in places]
        self.joint = {}
        children = {k: [c for c, place in enumerate(places) if place.parent == k] for k in (None, *range(len(places)))}
        stack = children[None][::-1]
        while stack:  # depth first: its inertia matrix is wrong in another order
            k = stack.pop()
            stack += children[k][::-1]
            place = places[k]
            above = 0 if place.parent is None else self.joint[self.names[place.parent]]
            one = self.model.addJoint(above, joint_of(place.link), pin.SE3(place.start), self.names[k])
            m, com, J = newton.masses(place)
            self.model.appendBodyToJoint(one, pin.Inertia(m, com, J), pin.SE3.Identity())
            self.joint[self.names[k]] = one
        self.data = self.model.createData()
        self.speeds = np.concatenate([self._speeds(case, name) for name in self.names])  # its own, in denoc's order
        self.q = np.zeros(self.model.nq)
        for name in self.names:
            joint = case.robot.link(name).joint
            x = case.q[list(joint.coordinates)]
            if joint.type.orientation is not None:  # scalar last
                x = np.concatenate([x[:-4], x[-3:], x[-4:-3]])
            at = self.model.joints[self.joint[name]].idx_q
            self.q[at : at + x.size] = x
        self.v, self.a, self.f = (self._reordered(x) for x in (case.qd, case.qdd, case.tau))
        self.wrenches = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for name in self.names:
            frame = case.newton.frames[name]
            n, f = np.split(newton.external_wrench(case.file, name, frame), 2)
            self.wrenches[self.joint[name]] = pin.Force(frame.R.T @ f, frame.R.T @ n)

    def _speeds(self, case, name):
        joint = self.model.joints[self.joint[name]]
        assert joint.nv == len(case.robot.link(name).joint.speeds)
        return np.arange(joint.idx_v, joint.idx_v + joint.nv)

    def _reordered(self, x):
        out = np.zeros(self.model.nv)
        out[self.speeds] = x
        return out


def joint_of(link):
    type_, axis = link["joint"]["type"], np.array(link["joint"].get("axis", newton.Z), dtype=float)
    axis /= np.linalg.norm(axis)
    return {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(axis),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(axis),
        "spherical": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }[type_]()


def both(seed):
    case = drawn(seed, types=SHARED, drives=False, shuffled=bool(seed % 2), links=(2, 9))
    return case, Peer(case)


@laws
@seeds
def test_inverse_agrees_with_rnea(seed):
    case, peer = both(seed)
    tau = pin.rnea(peer.model, peer.data, peer.q, peer.v, peer.a, peer.wrenches)[peer.speeds]
    assert off(denoc.inverse(case.robot, *case.state), tau) <= EXACT


@laws
@seeds
def test_reactions_agree_with_the_forces_of_rnea(seed):
    case, peer = both(seed)
    pin.rnea(peer.model, peer.data, peer.q, peer.v, peer.a, peer.wrenches)
    found = denoc.reactions(case.robot, *case.state)
    right = {}
    for name in peer.names:
        R, force = case.newton.frames[name].R, peer.data.f[peer.joint[name]]
        right[case.robot.link(name).joint.name] = np.concatenate([R @ force.angular, R @ force.linear])
    scale = max(np.abs(wrench).max() for wrench in right.values())
    assert max(off(found[joint], right[joint], scale=scale) for joint in right) <= EXACT


@laws
@seeds
def test_inertia_agrees_with_crba(seed):
    case, peer = both(seed)
    upper = np.triu(pin.crba(peer.model, peer.data, peer.q))
    M = (upper + np.triu(upper, 1).T)[np.ix_(peer.speeds, peer.speeds)]
    assert off(denoc.inertia(case.robot, case.q), M) <= EXACT


@laws
@seeds
def test_forward_agrees_with_aba(seed):
    case, peer = both(seed)
    qdd = pin.aba(peer.model, peer.data, peer.q, peer.v, peer.f, peer.wrenches)[peer.speeds]
    found = denoc.forward(case.robot, case.q, case.qd, case.tau)
    assert off(found, qdd) <= off_accelerations(denoc.inertia(case.robot, case.q))


@laws
@seeds
def test_frames_and_jacobians_agree_with_kinematics(seed):
    case, peer = both(seed)
    pin.computeJointJacobians(peer.model, peer.data, peer.q)
    frames = denoc.frames(case.robot, case.q)
    for name in peer.names:
        assert off(frames[name], peer.data.oMi[peer.joint[name]].homogeneous) <= EXACT
        J = pin.getJointJacobian(peer.model, peer.data, peer.joint[name], pin.LOCAL_WORLD_ALIGNED)[:, peer.speeds]
        assert off(denoc.jacobian(case.robot, case.q, name), np.vstack([J[3:], J[:3]])) <= EXACT


@laws
@seeds
def test_energies_agree(seed):
    case, peer = both(seed)
    energy = denoc.energy(case.robot, case.q, case.qd)
    assert off(energy["kinetic"], pin.computeKineticEnergy(peer.model, peer.data, peer.q, peer.v)) <= EXACT
    lifted = sum(link.mass for link in case.robot.links) * np.linalg.norm(case.robot.gravity)
    potential = pin.computePotentialEnergy(peer.model, peer.data, peer.q)
    assert off(energy["potential"], potential, scale=lifted) <= EXACT
