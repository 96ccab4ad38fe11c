"""Robots of URDF files beside Pinocchio's reading of the same files: masses, frames, torques, accelerations."""

import numpy as np
import pinocchio as pin

import denoc


class Pair:
    """A robot of denoc and Pinocchio's model of the same file, with the same joints found by their names."""

    def __init__(self, path, robot, floating=False):
        joint = (pin.JointModelFreeFlyer(),) if floating else ()
        self.model = pin.buildModelFromUrdf(str(path), *joint)
        self.model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
        self.data, self.robot = self.model.createData(), robot

    def coordinates(self, q):
        """Pinocchio's coordinates: cosines and sines of joints without limits, scalars of orientations last."""
        own = pin.neutral(self.model)
        for joint in self.robot.moving:
            theirs = self._joint(joint)
            x = np.array([q[k] for k in joint.coordinates])
            if (theirs.nq, theirs.nv) == (2, 1):
                x = np.array([np.cos(x[0]), np.sin(x[0])])
            elif (theirs.nq, theirs.nv) == (4, 3) and joint.type.name == "planar":
                x = np.array([x[0], x[1], np.cos(x[2]), np.sin(x[2])])
            elif joint.type.orientation is not None:
                x = np.concatenate([x[:-4], x[-3:], x[-4:-3]])
            own[theirs.idx_q : theirs.idx_q + theirs.nq] = x
        return own

    def speeds(self, qd):
        own = np.zeros(self.model.nv)
        own[self.places] = qd
        return own

    @property
    def places(self):
        """For each speed of denoc, its place in Pinocchio's."""
        return np.concatenate(
            [np.arange(j.idx_v, j.idx_v + j.nv) for joint in self.robot.moving for j in [self._joint(joint)]]
            or [np.zeros(0, dtype=int)]
        ).astype(int)

    def _joint(self, joint):
        known = [name for name in self.model.names if name.replace(".", "_").replace(" ", "_") == joint.name]
        assert len(known) == 1, joint.name
        return self.model.joints[self.model.getJointId(known[0])]

    def differences(self, rng, samples=3):
        """The largest difference of each quantity, relative to its size, over random states."""
        worst = dict.fromkeys(("inertia", "tau", "frames", "qdd"), 0.0)
        for _ in range(samples):
            q = np.array(self.robot.q0) + rng.uniform(-1, 1, self.robot.nq)
            for joint in self.robot.moving:
                if joint.type.orientation is not None:
                    last = list(joint.coordinates)[-4:]
                    q[last] /= np.linalg.norm(q[last])
            qd, qdd = rng.uniform(-1, 1, (2, self.robot.nv))
            for name, off in self._at(q, qd, qdd).items():
                worst[name] = max(worst[name], off)
        return worst

    def _at(self, q, qd, qdd):
        robot, at = self.robot, self.places
        theirs = self.coordinates(q)
        M = pin.crba(self.model, self.data, theirs)
        M = np.triu(M) + np.triu(M, 1).T
        tau = pin.rnea(self.model, self.data, theirs, self.speeds(qd), self.speeds(qdd))[at]
        bias = denoc.bias(robot, q, qd) - self._losses(qd)
        own = denoc.inertia(robot, q)
        result = {"inertia": _off(own, M[np.ix_(at, at)]), "tau": _off(own @ qdd + bias, tau)}
        pin.framesForwardKinematics(self.model, self.data, theirs)
        frames = denoc.frames(robot, q)
        off = [
            abs(frames[frame.name] - self.data.oMf[k].homogeneous).max()
            for k, frame in enumerate(self.model.frames)
            if frame.type == pin.FrameType.BODY and frame.name in frames and frame.name != "base"
        ]
        assert off or not robot.links
        result["frames"] = max(off, default=0.0)
        condition = np.linalg.cond(own) if robot.nv else 1.0
        if condition < 1e8 and not (robot.loops or robot.couplings):
            a = denoc.forward(robot, q, qd, tau + self._losses(qd))
            b = pin.aba(self.model, self.data, theirs, self.speeds(qd), self.speeds_of(tau))[at]
            result["qdd"] = _off(a, b) / max(1.0, 1e-5 * condition)
        return result

    def speeds_of(self, tau):
        return self.speeds(tau)

    def _losses(self, qd):
        """The friction of the joints, which Pinocchio's dynamics leave out."""
        losses = np.zeros(len(qd))
        for joint in self.robot.moving:
            for k, drive in zip(joint.speeds, joint.drives):
                losses[k] = drive.viscous * qd[k] + drive.coulomb * np.sign(qd[k])
        return losses


def _off(mine, theirs):
    return float(abs(mine - theirs).max(initial=0.0) / max(abs(theirs).max(initial=0.0), 1e-12))
