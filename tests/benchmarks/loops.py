"""Mechanisms with loops: forward dynamics of the 3-RRR, one call for one sample, and the fall of a four-bar linkage.

Both turn about z in one plane, so that every contestant's model follows from the same few numbers.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import Row, against, checked, difference, quickest
from pace import within
from peers import installed

import denoc
from denoc.machine.backend import using_backend
from denoc.mechanics.closure import loop_closure
from denoc.mechanics.mechanisms import Forward
from denoc.mechanics.mechanisms.texts import NEAR
from denoc.robot import Link, Robot
from denoc.scenario import carry_out_plan, prepare_scenario
from denoc.simulate import Solver, integrate_run, runner_with_feedforward

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fourbar import RODS

COUNT = 10_000
FORWARD, INVERSE, ONE = "3-RRR, forward", "3-RRR, inverse", "3-RRR, one forward call"
FALL = "four-bar, fall 5 s, rtol 1e-6"
REACH = 5
STRANGER, ANYWHERE = "3-RRR, forward, one of 10,000 samples far from the others", "3-RRR, forward, 500 states anywhere"
MOST_WITH_STRANGER, MOST_ANYWHERE = 60e-9, 100e-9  # s, each sample
LINEARIZED, MOST_LINEARIZED = ("four-bar", "three-rrr", "gough-stewart"), 0.2e-3  # s, one call
LOOSE = 1e-3  # of the largest acceleration: MuJoCo's constraints are soft


def depth_first(robot: Robot) -> list[Link]:
    """The links, each with all that hangs on it behind it: Pinocchio's factorisations rely on this order."""

    def below(name: str) -> list[Link]:
        own = [link for link in robot.links if (link.parent or "base") == name]
        return [one for link in own for one in (link, *below(link.name))]

    return below("base")


def speeds(robot: Robot) -> list[int]:
    """Where the peers' coordinates are among denoc's."""
    return [link.joint.speeds[0] for link in depth_first(robot)]


class Pinocchio:
    """`constraintDynamics` with a 3D contact at every cut, called from Python sample by sample.

    The rows across the plane are 0, so that mu must not be; with 1e-8 the second iteration is exact to 1e-14, and no
    other setting that agrees to 1e-10 is quicker.  6D contacts would lock the cuts.
    """

    name, package = "Pinocchio", "pin"

    kp = kd = 0.0  # Baumgarte's gains

    def __init__(self, robot: Robot):
        import pinocchio as pin

        self.pin, self.model, joints = pin, pin.Model(), {"base": 0}
        self.model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
        for link in depth_first(robot):
            placed = pin.SE3(np.eye(3), np.array(link.before.origin))
            joint = self.model.addJoint(joints[link.parent or "base"], pin.JointModelRZ(), placed, link.name)
            inertia = pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia))
            self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
            joints[link.name] = joint
        self.data = self.model.createData()
        self.cuts, self.cut_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for loop in robot.loops:
            sides: list[Any] = []
            for name, side in zip(loop.between, (loop.first, loop.second)):
                sides += [joints[name], pin.SE3(np.eye(3), np.array(side.origin))]
            cut = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *sides, pin.ReferenceFrame.LOCAL)
            gains = cut.m_baumgarte_parameters
            gains.Kp, gains.Kd = self.kp, self.kd
            cut.m_baumgarte_parameters = gains
            self.cuts.append(cut)
            self.cut_data.append(cut.createData())
        pin.initConstraintDynamics(self.model, self.data, self.cuts, self.cut_data)
        self.settings = pin.ProximalSettings(1e-14, 1e-8, 2)

    def forward(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> list[np.ndarray]:
        call, rest = self.pin.constraintDynamics, (self.cuts, self.cut_data, self.settings)
        model, data = self.model, self.data
        return [call(model, data, q[k], qd[k], tau[k], *rest) for k in range(len(q))]

    def fall(self, q: np.ndarray, grid: np.ndarray, rtol: float, atol: float) -> np.ndarray:
        """Rows of a fall from rest, by scipy's RK45."""
        from scipy.integrate import solve_ivp

        call, rest, n = self.pin.constraintDynamics, (self.cuts, self.cut_data, self.settings), len(q)
        model, data, still = self.model, self.data, np.zeros(n)

        def rate(t: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[n:], call(model, data, y[:n], y[n:], still, *rest)])

        whole, start = (float(grid[0]), float(grid[-1])), np.concatenate([q, still])
        return solve_ivp(rate, whole, start, method="RK45", rtol=rtol, atol=atol, t_eval=grid).y.T


class Baumgarte(Pinocchio):
    """Stabilised: without that the loop of a simulation opens ever more."""

    kp, kd = 100.0, 20.0


class Mujoco:
    """An `equality/connect` at every cut, Newton's solver with 100 iterations and tolerance 1e-8, as is the default.

    Stiffened: `solref` of twice the time step and an impedance of 0.9999, the largest there is.
    """

    name, package = "MuJoCo", "mujoco"
    STEP, EACH = 1e-3, 10  # s; steps a row

    def __init__(self, robot: Robot, stiff: bool = True):
        import mujoco

        self.mujoco, spec = mujoco, mujoco.MjSpec()
        spec.option.gravity, spec.option.timestep = robot.gravity, self.STEP
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
        bodies = {"base": spec.worldbody}
        for link in depth_first(robot):
            inertia = [link.inertia[2][2]] * 3  # in the plane only that about z matters; it must not have zeros
            at, centre = link.before.origin, link.com
            body = bodies[link.parent or "base"].add_body(
                name=link.name, pos=at, mass=link.mass, ipos=centre, inertia=inertia, explicitinertial=True
            )
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
            bodies[link.name] = body
        for loop in robot.loops:
            names = [f"{loop.name}-{name}" for name in loop.between]
            for name, site, side in zip(loop.between, names, (loop.first, loop.second)):
                bodies[name].add_site(name=site, pos=side.origin)
            cut = spec.add_equality(
                type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=names[0], name2=names[1]
            )
            if stiff:
                cut.solref, cut.solimp = [2 * self.STEP, 1.0], [0.9999, 0.9999, 0.001, 0.5, 2.0]
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def forward(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        call, model, data = self.mujoco.mj_forward, self.model, self.data
        places, rates, seconds, forces = data.qpos, data.qvel, data.qacc, data.qfrc_applied
        out = np.empty_like(tau)
        for k in range(len(q)):
            places[:], rates[:], forces[:] = q[k], qd[k], tau[k]
            call(model, data)
            out[k] = seconds
        return out

    def fall(self, q: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """Rows of a fall from rest, by RK4; Python is called once a row."""
        call, model, data = self.mujoco.mj_step, self.model, self.data
        self.mujoco.mj_resetData(model, data)
        data.qpos[:] = q
        out = np.empty((len(grid), 2 * len(q)))
        out[0] = np.concatenate([data.qpos, data.qvel])
        for k in range(1, len(grid)):
            call(model, data, self.EACH)
            out[k, : len(q)], out[k, len(q) :] = data.qpos, data.qvel
        return out


def samples(robot: Robot) -> list[np.ndarray]:
    """Along the library's motion, over and over: coordinates, speeds, accelerations, torques and something more."""
    found = denoc.run("three-rrr-idyn", robot).table
    motion = [np.column_stack([found[f"{joint}.{x}"] for joint in robot.joints]) for x in ("q", "qd", "qdd")]
    q, qd, qdd = (np.resize(x, (COUNT, robot.nv)) for x in motion)
    tau = np.random.default_rng(1).standard_normal((COUNT, robot.nv))
    tau[:, list(robot.driven)] += denoc.inverse(robot, q, qd, qdd)
    return [q, qd, qdd, tau]


def rows() -> list[Row]:
    return [*forward(), *anywhere(), *linearized(), *fall()]


def forward() -> list[Row]:
    """The 3-RRR, 10,000 samples and one."""
    robot, found = denoc.load("three-rrr"), []
    q, qd, qdd, tau = samples(robot)
    given, order = [q, qd, tau], speeds(robot)
    theirs = [np.ascontiguousarray(x[:, order]) for x in given]
    run = {"denoc": partial(denoc.forward, robot, *given)}
    peers = installed((Pinocchio, Mujoco), robot)
    with using_backend("compiled"):
        expected = run["denoc"]()[:, order]
        for peer in peers:
            call = partial(peer.forward, *theirs)
            if peer.name == Pinocchio.name:
                checked(FORWARD, peer.name, expected, np.array(call()))
            elif (off := difference(expected, np.array(call()))) > LOOSE:
                raise ArithmeticError(f"{FORWARD}: {peer.name} differs by {off:.1e}")
            print(f"{FORWARD}: {peer.name} differs by {difference(expected, np.array(call())):.1e}")
            run[peer.name] = call
        took = {name: seconds / COUNT for name, seconds in quickest(run).items()}
        mine = took.pop("denoc")
        found += [against(FORWARD, mine, name, seconds, REACH) for name, seconds in took.items()]
        motion = q, qd, qdd
        with using_backend("plain"):
            known = denoc.inverse(robot, *motion)
        checked(INVERSE, "plain text", denoc.inverse(robot, *motion), known)
        found.append(Row(INVERSE, quickest({"denoc": partial(denoc.inverse, robot, *motion)})["denoc"] / COUNT))
    # with nothing chosen, or calls would take the general way
    pairs = [(peer, [x[0] for x in given], [x[0] for x in theirs]) for peer in peers if peer.name == Pinocchio.name]
    return [*found, *(_one(robot, *pair) for pair in pairs)]


def anywhere() -> list[Row]:
    """Samples of the 3-RRR that need other independent coordinates than most: one of 10,000, and a few of 500."""
    robot = denoc.load("three-rrr")
    rng, order = np.random.default_rng(0), speeds(robot)
    q, qd, _, tau = samples(robot)
    spread = states_anywhere(robot, q[0], 500)
    q[7], qd[7] = stranger(robot, q[0], spread), 0.0
    still, forces = np.zeros((500, robot.nv)), rng.standard_normal((500, robot.nv))
    cases = {
        STRANGER: ([q, qd, tau], MOST_WITH_STRANGER),
        ANYWHERE: ([spread, still, forces], MOST_ANYWHERE),
    }
    found = []
    for work, (given, most) in cases.items():
        ours, count = partial(denoc.forward, robot, *given), len(given[0])
        for _ in range(400 if count < COUNT else 40):  # until denoc has found out what pays
            result = ours()
        run: dict[str, Any] = {"denoc": ours}
        for peer in installed((Pinocchio,), robot):
            run[peer.name] = partial(peer.forward, *(np.ascontiguousarray(x[:, order]) for x in given))
            checked(work, peer.name, result[:, order], np.array(run[peer.name]()))
        took = {name: seconds / count for name, seconds in quickest(run).items()}
        mine = took.pop("denoc")
        found += [*(against(work, mine, name, seconds) for name, seconds in took.items()), within(work, mine, most)]
    return found


def states_anywhere(robot: Robot, q: np.ndarray, count: int) -> np.ndarray:
    """So many assembled positions, each from a random one around q."""
    rng, found = np.random.default_rng(0), list[np.ndarray]()
    while len(found) < count:
        with suppress(denoc.DenocError):
            found.append(denoc.assemble(robot, q + rng.uniform(-np.pi, np.pi, robot.nq)))
    return np.array(found)


def stranger(robot: Robot, q: np.ndarray, others: np.ndarray) -> np.ndarray:
    """A position near one at which a pivot changes its sign for the coordinates that are best at q."""
    loops = loop_closure(robot)
    part = Forward.at(loops, q, robot.driven).part

    def share(x: np.ndarray) -> float:
        return part.share(loops.jacobian(x)[0])

    for far in others:
        near, found = q, far
        if share(far) >= 0:
            continue
        with suppress(denoc.DenocError):
            for _ in range(40):
                middle = denoc.assemble(robot, 0.5 * (near + found))
                if abs(share(middle)) < NEAR:
                    return middle
                near, found = (middle, found) if share(middle) > 0 else (near, middle)
    raise ArithmeticError(f"{STRANGER}: none found")


def linearized() -> list[Row]:
    """One call of `denoc.linearize`, beside the first of them as plain text."""
    found = []
    for name in LINEARIZED:
        robot, work = denoc.load(name), f"{name}, one call of `linearize`"
        q = denoc.assemble(robot, robot.q0)
        with using_backend("plain"):
            plain = denoc.linearize(robot, q)
        with using_backend("compiled"):
            denoc.linearize(robot, q)
        for part in ("A", "B"):
            checked(work, "plain text", denoc.linearize(robot, q)[part], plain[part])
        call = partial(denoc.linearize, robot, q)
        took = quickest({"ours": lambda call=call: [call() for _ in range(100)]}, seconds=1.0)["ours"] / 100
        found.append(within(work, took, MOST_LINEARIZED))
    return found


def _one(robot: Robot, peer: Pinocchio, ours: list[np.ndarray], theirs: list[np.ndarray]) -> Row:
    """One call for one sample; a thousand calls are timed at once."""
    call, calls = peer.pin.constraintDynamics, range(1000)
    arguments = peer.model, peer.data, *theirs, peer.cuts, peer.cut_data, peer.settings
    checked(ONE, peer.name, denoc.forward(robot, *ours)[speeds(robot)], call(*arguments))
    run = {
        "ours": lambda: [denoc.forward(robot, *ours) for _ in calls],
        "theirs": lambda: [call(*arguments) for _ in calls],
    }
    took = quickest(run, seconds=2.0)
    return against(ONE, took["ours"] / len(calls), peer.name, took["theirs"] / len(calls))


def fall() -> list[Row]:
    """The four-bar linkage, 501 rows: times, and beside them how far the loop opens and the energy wanders.

    The peers are the same beside denoc's finer tolerance.
    """
    robot = denoc.loads(RODS)
    task = {"robot": "rods", "task": "simulate", "time": {"end": 5, "step": 0.01}, "initial": {"crank": 1}}
    plan = prepare_scenario(task | {"solver": {"method": "rk45", "rtol": 1e-6, "atol": 1e-10}}, robot)
    grid, n, q, order = plan.grid, robot.nv, np.array(plan.q0), speeds(robot)
    assert order == list(range(n))

    def loop(how: Solver, grid: np.ndarray = grid) -> np.ndarray:
        trace = integrate_run(
            runner_with_feedforward(plan.system, plan.q0),
            plan.q0,
            plan.qd0,
            grid,
            how,
            list(plan.kinks),
            lambda t: None,
        )
        return np.array(trace.states)[:, : 2 * n]

    finer = replace(plan.solver, rtol=1e-8)
    run: dict[str, Any] = {"denoc": partial(loop, plan.solver), "finer": partial(loop, finer)}
    for peer in installed((Baumgarte, Mujoco), robot):
        if peer.name == Pinocchio.name:
            with using_backend("compiled"):
                tight = loop(replace(plan.solver, rtol=1e-12, atol=1e-14))
            checked(FALL, peer.name, tight, peer.fall(q, grid, 1e-12, 1e-14))
            name = "scipy RK45, 1e-6 + Pinocchio, Baumgarte"
            run[name] = partial(peer.fall, q, grid, plan.solver.rtol, plan.solver.atol)
        else:
            run["MuJoCo RK4, `connect`"] = partial(Mujoco(robot, stiff=False).fall, q, grid)
            run["MuJoCo RK4, stiffened"] = partial(peer.fall, q, grid)
    with using_backend("compiled"):
        wrong = {name: _errors(robot, call()) for name, call in run.items()}
        took = quickest({**run, "whole": partial(carry_out_plan, plan)}, seconds=6.0)
    found, whole = [], took.pop("whole")
    ours = {FALL: "denoc", FALL.replace("1e-6", "1e-8"): "finer"}
    for work, own in ours.items():
        gap, energy = wrong[own]
        for name in (x for x in took if x not in ours.values()):
            closer = gap < wrong[name][0]
            found.append(against(work, took[own], name, took[name], REACH if own == "denoc" else None))
            found.append(Row(f"{work}: closure error", gap, name, wrong[name][0], "smaller", closer, unit="m"))
            found.append(Row(f"{work}: energy error", energy, name, wrong[name][1], unit="J"))
    return [*found, Row("four-bar, fall 5 s, 501 rows of everything", whole)]


def _errors(robot: Robot, states: np.ndarray) -> tuple[float, float]:
    """The largest gap at the pin, and the largest change of the energy."""
    q, qd = np.hsplit(np.ascontiguousarray(states), 2)
    total = sum(denoc.energy(robot, q, qd).values())
    return float(np.linalg.norm(loop_closure(robot).gap(q), axis=1).max()), float(abs(total - total[0]).max())
