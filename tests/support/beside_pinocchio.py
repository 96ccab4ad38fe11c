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

    def ways(self, q, qd):
        """Pinocchio's speeds from denoc's as a matrix, and its rate times these speeds.

        They differ for planar joints, where Pinocchio's are in the moving axes.
        """
        V, rate = np.zeros((self.model.nv, self.robot.nv)), np.zeros(self.model.nv)
        V[self.places, np.arange(self.robot.nv)] = 1.0
        for joint in self.robot.moving:
            if joint.type.name == "planar":
                at, angle, w = list(joint.speeds[:2]), q[joint.coordinates[2]], qd[joint.speeds[2]]
                c, s = np.cos(angle), np.sin(angle)
                own = self.places[at]
                V[np.ix_(own, at)] = [[c, s], [-s, c]]
                rate[own] = w * np.array([[-s, c], [-c, -s]]) @ qd[at]
        return V, rate

    def _at(self, q, qd, qdd):
        robot, theirs = self.robot, self.coordinates(q)
        V, rate = self.ways(q, qd)
        M = pin.crba(self.model, self.data, theirs)
        M = V.T @ (np.triu(M) + np.triu(M, 1).T) @ V
        force = pin.rnea(self.model, self.data, theirs, V @ qd, V @ qdd + rate)
        own, losses = denoc.inertia(robot, q), self._losses(qd)
        tau = V.T @ force
        result = {"inertia": _off(own, M), "tau": _off(own @ qdd + denoc.bias(robot, q, qd) - losses, tau)}
        pin.framesForwardKinematics(self.model, self.data, theirs)
        frames = denoc.frames(robot, q)
        result["frames"] = max(
            abs(frames[frame.name] - self.data.oMf[k].homogeneous).max()
            for k, frame in enumerate(self.model.frames)
            if frame.type == pin.FrameType.BODY and frame.name in frames and frame.name != "base"
        )
        condition = np.linalg.cond(own) if robot.nv else np.inf
        if condition < 1e8 and not (robot.loops or robot.couplings):
            lost = max(1.0, abs(losses).max(initial=0.0) / max(abs(tau).max(initial=0.0), 1e-12))  # digits
            mine = denoc.forward(robot, q, qd, tau + losses)
            aba = pin.aba(self.model, self.data, theirs, V @ qd, force)
            result["qdd"] = _off(mine, np.linalg.lstsq(V, aba - rate, rcond=None)[0]) / max(
                1.0, 1e-4 * condition * lost
            )
        return result

    def _losses(self, qd):
        """The friction of the joints, which Pinocchio's dynamics leave out."""
        losses = np.zeros(len(qd))
        for joint in self.robot.moving:
            for k, drive in zip(joint.speeds, joint.drives):
                losses[k] = drive.viscous * qd[k] + drive.coulomb * np.sign(qd[k])
        return losses


def _off(mine, theirs):
    return float(abs(mine - theirs).max(initial=0.0) / max(abs(theirs).max(initial=0.0), 1e-12))
