"""Robots of MJCF files beside MuJoCo's reading of the same files: masses, forces, frames, without its constraints."""

import mujoco
import numpy as np

import denoc
from comparing import off
from denoc.mechanics.tree import cord_tension, stretch_of_joint_spring

FREE, BALL = 0, 1


class Pair:
    """A robot of denoc and MuJoCo's model of the same file, with the same joints in the same order."""

    def __init__(self, path, robot):
        self.model, self.robot = mujoco.MjModel.from_xml_path(str(path)), robot
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.model)
        assert len(robot.moving) == self.model.njnt

    def ways(self, q, qd):
        """MuJoCo's coordinates; its speeds from denoc's as a matrix, and that matrix' rate times these speeds.

        They differ for free joints, where MuJoCo's velocity is in the axes of the world; and so its armature, which adds
        the last forces along denoc's speeds.
        """
        own = np.array(self.model.qpos0)
        V, rate, armature = np.zeros((self.model.nv, self.robot.nv)), np.zeros(self.model.nv), np.zeros(self.robot.nv)
        for k, joint in enumerate(self.robot.moving):
            at, to = self.model.jnt_qposadr[k], self.model.jnt_dofadr[k]
            coordinates, speeds = list(joint.coordinates), list(joint.speeds)
            own[at : at + len(coordinates)] = q[coordinates]
            V[to : to + len(speeds), speeds] = np.eye(len(speeds))
            if self.model.jnt_type[k] == FREE:
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, q[coordinates[3:]])
                R = R.reshape(3, 3)
                V[to : to + 3, speeds[:3]] = R
                # by its rotors, which turn with the link's axes here, nothing is felt of the turning of these axes
                own_axes = np.cross(qd[speeds[3:]], qd[speeds[:3]])
                rate[to : to + 3] = R @ own_axes
                armature[speeds[:3]] = self.model.dof_armature[to] * own_axes
        return own, V, rate, armature

    def differences(self, rng, samples=3, *, passive=True):
        """The largest difference of each quantity, relative to its size, over random states.

        Without `passive`, springs and dampers are left out of both, and what MJCF has of these that denoc hasn't.
        """
        worst = dict.fromkeys(("inertia", "bias", "frames"), 0.0)
        for _ in range(samples):
            q = np.array(self.robot.q0) + rng.uniform(-0.5, 0.5, self.robot.nq)
            for joint in self.robot.moving:
                if joint.type.orientation is not None:
                    last = list(joint.coordinates)[-4:]
                    q[last] /= np.linalg.norm(q[last])
            for name, one in self.at(q, rng.uniform(-1, 1, self.robot.nv), passive).items():
                worst[name] = max(worst[name], one)
        return worst

    def at(self, q, qd, passive=True):
        """The difference of each quantity, relative to its size, in one state."""
        model, data, robot = self.model, self.data, self.robot
        own, V, rate, armature = self.ways(q, qd)
        data.qpos[:], data.qvel[:] = own, V @ qd
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        try:
            mujoco.mj_fullM(model, M, data.qM)
        except (TypeError, AttributeError):  # from version 4 on
            mujoco.mj_fullM(model, data, M)
        acting = data.qfrc_passive if passive else data.qfrc_gravcomp
        bias = V.T @ (data.qfrc_bias - acting + M @ rate) - armature
        left_out = np.zeros(robot.nv)  # dry friction is one of MuJoCo's constraints
        for joint in robot.moving:
            for k, drive in zip(joint.speeds, joint.drives):
                left_out[k] = drive.coulomb * np.sign(qd[k])
                if not passive:
                    spring = drive.stiffness * stretch_of_joint_spring(drive, list(q)) if drive.stiffness else 0.0
                    left_out[k] += drive.viscous * qd[k] + spring
                    left_out[k] += sum(pull.ratio * cord_tension(pull.cord, list(q), list(qd)) for pull in drive.pulls)
        lost = max(1.0, abs(left_out).max(initial=0.0) / max(abs(bias).max(initial=0.0), 1e-9))  # digits by subtraction
        frames = denoc.frames(robot, q)
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, k) for k in range(model.nbody)]
        far = [
            max(abs(frames[name][:3, 3] - data.xpos[k]).max(), abs(frames[name][:3, :3].ravel() - data.xmat[k]).max())
            for k, name in enumerate(names)
            if name in frames
        ]
        return {
            "inertia": off(denoc.inertia(robot, q), V.T @ M @ V),
            "bias": off(denoc.bias(robot, q, qd) - left_out, bias, max(abs(bias).max(initial=0.0), 1e-9)) / lost,
            "frames": max(far, default=0.0),
        }
