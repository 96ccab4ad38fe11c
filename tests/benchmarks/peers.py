"""Other programs for the same dynamics, each built from the same numbers; one that isn't installed is left out."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from arms import Arm

Samples = tuple[np.ndarray, np.ndarray, np.ndarray]


class Pinocchio:
    """Recursive Newton-Euler and articulated bodies, called from Python sample by sample."""

    name, package = "Pinocchio", "pin"

    def __init__(self, arm: Arm):
        import pinocchio as pin

        self.pin, self.model = pin, pin.Model()
        self.model.gravity = pin.Motion(np.array(arm.gravity), np.zeros(3))
        joint, R, p = 0, np.eye(3), np.zeros(3)
        for k, link in enumerate(arm.links):
            joint = self.model.addJoint(joint, pin.JointModelRZ(), pin.SE3(R, p), f"joint{k}")
            self.model.appendBodyToJoint(joint, pin.Inertia(*link.masses()), pin.SE3.Identity())
            R, p = link.far()
        self.data = self.model.createData()

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[np.ndarray]:
        rnea, model, data = self.pin.rnea, self.model, self.data
        return [rnea(model, data, q[k], qd[k], qdd[k]) for k in range(len(q))]

    def forward(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> list[np.ndarray]:
        aba, model, data = self.pin.aba, self.model, self.data
        return [aba(model, data, q[k], qd[k], tau[k]) for k in range(len(q))]


class Mujoco:
    """Its `mj_inverse` and `mj_forward`, contacts and constraints switched off, called sample by sample."""

    name, package = "MuJoCo", "mujoco"

    def __init__(self, arm: Arm):
        import mujoco

        self.mujoco, spec = mujoco, mujoco.MjSpec()
        spec.option.gravity = arm.gravity
        spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        body, R, p = spec.worldbody, np.eye(3), np.zeros(3)
        for link in arm.links:
            m, centre, I = link.masses()
            turn = np.empty(4)
            mujoco.mju_mat2Quat(turn, R.ravel())
            six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
            body = body.add_body(pos=p, quat=turn, mass=m, ipos=centre, fullinertia=six, explicitinertial=True)
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
            R, p = link.far()
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        call, model, data = self.mujoco.mj_inverse, self.model, self.data
        places, rates, seconds, forces = data.qpos, data.qvel, data.qacc, data.qfrc_inverse
        out = np.empty_like(qdd)
        for k in range(len(q)):
            places[:], rates[:], seconds[:] = q[k], qd[k], qdd[k]
            call(model, data)
            out[k] = forces
        return out

    def forward(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        call, model, data = self.mujoco.mj_forward, self.model, self.data
        places, rates, seconds, forces = data.qpos, data.qvel, data.qacc, data.qfrc_applied
        out = np.empty_like(tau)
        for k in range(len(q)):
            places[:], rates[:], forces[:] = q[k], qd[k], tau[k]
            call(model, data)
            out[k] = seconds
        return out


class Toolbox:
    """Corke's toolbox: `rne`, whose loop over the samples is in C, and `accel`."""

    name, package = "Robotics Toolbox", "roboticstoolbox-python"

    def __init__(self, arm: Arm):
        import roboticstoolbox

        links = [
            roboticstoolbox.RevoluteDH(d=x.b, a=x.a, alpha=x.alpha, m=x.m, r=-x.r, I=x.I, Jm=0.0, B=0.0, G=1.0)
            for x in arm.links
        ]
        self.robot = roboticstoolbox.DHRobot(links, gravity=np.array(arm.gravity))

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        return self.robot.rne(q, qd, qdd)

    def forward(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return self.robot.accel(q, qd, tau)


class Exudyn:
    """Its kinematic tree and its own Dormand-Prince 5(4), all in C++."""

    name, package = "Exudyn DOPRI5", "exudyn"

    def __init__(self, arm: Arm):
        import exudyn
        from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree

        self.exudyn, n = exudyn, len(arm.links)
        still = [0.0] * n
        self.system = exudyn.SystemContainer()
        self.mbs = self.system.AddSystem()
        node = self.mbs.AddNode(
            NodeGenericODE2(
                referenceCoordinates=still,
                initialCoordinates=still,
                initialCoordinates_t=still,
                numberOfODE2Coordinates=n,
            )
        )
        turns, places = exudyn.Matrix3DList(), exudyn.Vector3DList()
        inertias, centres = exudyn.Matrix3DList(), exudyn.Vector3DList()
        R, p = np.eye(3), np.zeros(3)
        for link in arm.links:
            _, centre, inertia = link.masses()
            for target, value in ((turns, R), (places, p), (inertias, inertia), (centres, centre)):
                target.Append(value)
            R, p = link.far()
        self.mbs.AddObject(
            ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=[exudyn.JointType.RevoluteZ] * n,
                linkParents=list(range(-1, n - 1)),
                jointTransformations=turns,
                jointOffsets=places,
                linkInertiasCOM=inertias,
                linkCOMs=centres,
                linkMasses=[link.m for link in arm.links],
                baseOffset=[0.0, 0.0, 0.0],
                gravity=list(arm.gravity),
            )
        )
        self.mbs.Assemble()

    def fall(self, seconds: float, rtol: float, atol: float) -> np.ndarray:
        """Coordinates after a free fall from rest at 0."""
        settings = self.exudyn.SimulationSettings()
        time = settings.timeIntegration
        time.endTime, time.numberOfSteps, time.verboseMode = seconds, 100, 0  # steps: at least
        time.automaticStepSize, time.initialStepSize, time.minimumStepSize = True, 1e-4, 1e-12
        time.relativeTolerance, time.absoluteTolerance = rtol, atol
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = seconds
        self.mbs.SolveDynamic(settings, solverType=self.exudyn.DynamicSolverType.DOPRI5)
        return np.array(self.mbs.systemData.GetODE2Coordinates())


def installed(kinds: tuple[Callable, ...], arm: Arm) -> list:
    """Those of the peers that can be built; says why one is left out."""
    found = []
    for kind in kinds:
        try:
            found.append(kind(arm))
        except (ImportError, AttributeError, TypeError, ValueError, RuntimeError) as error:
            print(f"left out: {kind.name} ({type(error).__name__}: {str(error).splitlines()[0]})")
    return found


ALL = (Pinocchio, Mujoco, Toolbox, Exudyn)


def versions() -> str:
    """Of denoc and of the peers that are there."""
    found = []
    for package in ("denoc", "numpy", "scipy", "llvmlite", *(kind.package for kind in ALL)):
        try:
            found.append(f"{package} {version(package)}")
        except ModuleNotFoundError:
            continue
    return ", ".join(found)
