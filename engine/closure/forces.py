"""The forces of actuators and cuts that go with a motion: S u + T a + Jᵀ λ = τ of the spanning tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, NumericalError
from ..recursion.samples import Samples
from ..recursion.wrenches import balancing, on_bodies
from ..robot.model import Effort, Robot
from . import effort
from .closure import Closure, closure
from .rank import TINY, null_space
from .subsystems import Step, branches, order, solved

FAR = 1e10  # condition of J Jᵀ up to which no row of J depends on others


@dataclass(frozen=True)
class Forces:
    """Of many samples: actuated speeds, then actuators; and a multiplier for each row."""

    actuated: np.ndarray
    multipliers: np.ndarray
    steps: tuple[Step, ...]


class Balance:
    """How the unknown forces of one robot enter the equations of its spanning tree, at the positions of a batch."""

    def __init__(self, robot: Robot, q: np.ndarray, loops: Closure | None = None):
        self.robot, self.loops = robot, loops or closure(robot)
        self.q = np.atleast_2d(q)
        self.J, _ = self.loops.jacobian(self.q)
        self.driven = list(robot.driven)
        self.T = actuator_columns(robot, self.q)
        self.efforts = efforts(robot)
        self.rows, _ = self.loops.choice(self.J[0], self.driven)
        self.freedoms = robot.nv - len(self.rows)
        S = np.zeros((len(self.q), robot.nv, len(self.driven)))
        for c, k in enumerate(self.driven):
            S[:, k, c] = 1.0
        self.S = np.concatenate([S, self.T], axis=2)
        self.A = np.concatenate([self.J[:, self.rows].transpose(0, 2, 1), self.S], axis=2)

    @property
    def idle(self) -> int:
        """Freedoms that no actuator moves and that are spins of a rod between two spherical joints."""
        return len(idle_spins(self.loops, self.J[0], self.S[0]).T)

    def unmoved(self) -> int:
        """Freedoms besides idle spins that no actuator moves."""
        moved = np.concatenate([self.loops.scaled(self.J[0]), self.S[0].T])
        return null_space(moved).shape[1] - self.idle

    def steps(self) -> list[Step]:
        """The order in which the branches are solved."""
        scale = np.concatenate([self.loops.row_scale[self.rows], np.ones(self.S.shape[2])])
        A = self.A * scale * self.loops.column_scale[:, None]
        present = (abs(A) > 1e-12 * abs(A).max()).any(axis=0)
        return order(branches(self.robot), A[0], present)

    def solve(self, tau: np.ndarray) -> Forces:
        """Branch by branch; what actuators share among themselves is shared at once, by its own rule."""
        steps, tau = self.steps(), np.atleast_2d(tau)
        x = solved([step for step in steps if step.determinate], self.A, tau, self._small)
        shared = [k for step in steps if not step.determinate for k in step.unknowns]
        if shared:
            x[:, shared] = self._shared(tau)[:, shared]
        return self._forces(x, tuple(steps))

    def whole(self, tau: np.ndarray) -> Forces:
        """All at once: the check of `solve`."""
        sharing = not all(step.determinate for step in self.steps())
        tau = np.atleast_2d(tau)
        return self._forces(self._shared(tau) if sharing else self._small(self.A, tau), ())

    def _small(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A x = b of a determinate system; idle spins leave it more equations than unknowns."""
        if A.shape[1] > A.shape[2]:
            return np.einsum("nue,ne->nu", np.linalg.pinv(A, rcond=1e-12), b)
        try:
            return np.linalg.solve(A, b[..., None])[..., 0]
        except np.linalg.LinAlgError:
            raise NumericalError(singular_words(self.robot)) from None

    def _shared(self, b: np.ndarray) -> np.ndarray:
        """More actuators than freedoms: the least effort, then the multipliers that go with it."""
        found = np.empty((len(b), self.A.shape[2]))
        r = len(self.rows)
        for n, tau in enumerate(b):
            N = null_space(self.loops.scaled(self.J[n]))
            N = self.loops.column_scale[:, None] * N
            found[n, r:] = effort.least(N.T @ self.S[n], N.T @ tau, self.efforts)
            rest = tau - self.S[n] @ found[n, r:]
            found[n, :r] = np.linalg.lstsq(self.A[n][:, :r], rest, rcond=None)[0]
        return found

    def _forces(self, x: np.ndarray, steps: tuple[Step, ...]) -> Forces:
        r = len(self.rows)
        multipliers = np.zeros((len(x), self.loops.m))
        multipliers[:, self.rows] = x[:, :r]
        if r < self.loops.m:  # of all that do the same to the links, those of least norm
            multipliers = _least_norm(self.loops, self.J, multipliers)
        return Forces(x[:, r:], multipliers, steps)


def _least_norm(loops: Closure, J: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Without the part that does nothing to the links, which is where Jᵀ takes the multipliers to nothing."""
    scaled = loops.scaled(J)
    size = abs(scaled).max(axis=(0, 2), initial=0.0)
    there = np.flatnonzero(~(size <= 1e-15 * size.max(initial=0.0)))  # the other rows are 0 at all positions
    found = np.zeros_like(multipliers)
    found[:, there] = multipliers[:, there]
    unlike = _unlike(scaled[:, there])
    if not len(unlike):
        return found
    U, s, _ = np.linalg.svd(scaled[unlike][:, there])
    ranks = (s > TINY * np.maximum(s.max(axis=1, initial=0.0), 1e-300)[:, None]).sum(axis=1)
    for rank in set(ranks.tolist()):
        these = ranks == rank
        Z = np.linalg.qr(loops.row_scale[there, None] * U[these][:, :, rank:])[0]
        row = found[unlike[these]][:, there, None]
        found[np.ix_(unlike[these], there)] = (row - Z @ (Z.transpose(0, 2, 1) @ row))[..., 0]
    return found


def _unlike(scaled: np.ndarray) -> np.ndarray:
    """Positions at which the rows aren't far from dependent."""
    if scaled.shape[1] > scaled.shape[2]:
        return np.arange(len(scaled))
    G = scaled @ scaled.transpose(0, 2, 1)
    try:
        size = np.linalg.norm(G, axis=(1, 2)) * np.linalg.norm(np.linalg.inv(G), axis=(1, 2))
    except np.linalg.LinAlgError:
        return np.arange(len(scaled))
    return np.flatnonzero(~(size < FAR))


def undetermined(loops: Closure, q: np.ndarray) -> np.ndarray:
    """For each row whether no rigid-body model can determine its multiplier."""
    J, _ = loops.jacobian(q)
    Z = null_space(loops.scaled(J).T)
    return np.sqrt((Z**2).sum(axis=1)) > 1e-6


def idle_spins(loops: Closure, J: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Columns: motions that no actuator resists and that only turn a spherical joint about one axis."""
    robot = loops.robot
    N = null_space(np.concatenate([loops.scaled(J), S.T]))
    if not N.shape[1]:
        return N
    spherical = [joint for joint in robot.moving if joint.type.name in ("spherical", "three-revolutes")]
    turning = {k for joint in spherical for k in joint.speeds}
    rest = [k for k in range(robot.nv) if k not in turning]
    N = N @ null_space(N[rest], size=1.0)  # only spherical joints move
    for joint in spherical:
        own = N[list(joint.speeds)]
        if own.size and np.linalg.matrix_rank(own, tol=TINY) > 1:  # it can turn as it likes: no rod
            N = N @ null_space(own, size=1.0)
    return N


def efforts(robot: Robot) -> list[Effort]:
    """Of every actuated speed, then of every actuator."""
    own = [joint.effort for joint in robot.moving if joint.actuated for _ in joint.speeds]
    return own + [one.effort for one in robot.actuators]


def actuator_columns(robot: Robot, q: np.ndarray) -> np.ndarray:
    """The joint forces that a unit of each actuator makes: (N, nv, actuators)."""
    s = Samples(robot, q=q)
    found = np.zeros((len(q), robot.nv, len(robot.actuators)))
    for c, one in enumerate(robot.actuators):
        six = [*one.direction, 0.0, 0.0, 0.0] if one.moment else [0.0, 0.0, 0.0, *one.direction]
        on, loads = on_bodies(robot.tree, [(one.link, six, one.at, one.axes)])
        found[:, :, c] = -s.array(balancing(robot.tree.bodies, s.scalars("q"), robot.nv, on, loads))
    return found


def singular_words(robot: Robot) -> str:
    return (
        f"{robot.name}: the mechanism is in a singular position: these actuators can't hold it there, or its loops "
        "lose a constraint"
    )


def enough(balance: Balance) -> None:
    """Refuses fewer actuators than freedoms."""
    robot, missing = balance.robot, balance.unmoved()
    if missing > 0:
        freedoms = balance.freedoms - balance.idle
        raise InputError(
            f"{robot.name} has {freedoms} freedom{'s' * (freedoms != 1)} (idle spins not counted), of which its "
            f"actuators move {freedoms - missing}",
            found=f"actuated: {', '.join(actuated_names(robot)) or 'nothing'}",
            allowed="as many actuators as freedoms, or more",
            hint="`actuated: true` in a joint, or an entry under `actuators`",
        )
    useless = [actuated_speeds(robot)[k] for k in motionless(balance)]
    if useless:
        raise InputError(
            f"{robot.name}: the actuator of `{useless[0]}` moves nothing: the loops hold it still",
            found=f"actuated: {', '.join(actuated_names(robot))}",
            allowed="actuators that move something",
            hint="`denoc inspect` shows the freedoms; without `actuated: true` in that joint it can be computed",
        )


def motionless(balance: Balance) -> list[int]:
    """The actuators, by their places in `actuated_speeds`, that move nothing in any of a few positions of the batch."""
    found = list(range(balance.S.shape[2]))
    for n in sorted({0, len(balance.q) // 2, len(balance.q) - 1}):
        if found:
            N = balance.loops.column_scale[:, None] * null_space(balance.loops.scaled(balance.J[n]))
            S = balance.S[n][:, found]
            moves = abs(S.T @ N).max(axis=1, initial=0.0) > TINY * np.maximum(abs(S).max(axis=0, initial=0.0), 1e-300)
            found = [k for k, moved in zip(found, moves) if not moved]
    return found


def actuated_speeds(robot: Robot) -> list[str]:
    """A name for each actuated speed and each actuator."""
    own = [
        f"{joint.name}.{suffix}" if joint.type.nv > 1 else joint.name
        for joint in robot.moving
        if joint.actuated
        for suffix in joint.type.forces
    ]
    return own + [one.name for one in robot.actuators]


def actuated_names(robot: Robot) -> Sequence[str]:
    return [joint.name for joint in robot.moving if joint.actuated] + [one.name for one in robot.actuators]
