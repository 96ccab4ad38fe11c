"""The steps of a node for one leg and its part of the platform (Khan 2002, sections 3.1 to 3.3).

A step takes the data of the node (`part`), the results of its earlier steps (`own`) and the message that has come; it
returns the answer.  All arrays have samples first.

Letters are the thesis': t_P the platform's twist [ω; v] at its origin, base-frame axes; p a joint's rate → t_P, without
the directions in which the joint at the platform is free; p̃ is p without the directions of the joints beyond, too;
δ = p̃ᵀ p̃; Φ the projector that removes all these directions from t_P.  v is measured in lengths of the mechanism, so
that products p̃ᵀ p̃ have no unit.  s are the platform's speeds [v; ω] in its own axes, s = V t_P.

Two things are more general than there: any joints of a leg may be kept (the thesis has the actuator in the first), and
the joint at the platform may be any cut.  One is shorter: Φ̇₃ (B_P2 t₂ − t_P) of eq. 3.24 is Φ₃ ṗ̃₃ θ̇₃ by eq. 3.22, so
that all terms with velocities are one vector c, ṫ_P = Σ p θ̈ + c.

`decoupled_text.py` removes directions from a projector in the same way on scalars, in a metric that makes turns and
shifts comparable, because its text is recorded; here messages hold many samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..machine.program import Scalar, as_samples, scalars_into_columns
from ..mechanics.closure import TINY, loop_closure
from ..mechanics.quantities import Samples, inertia
from ..mechanics.quantities import inverse as tree_inverse
from ..mechanics.tree import quaternion_matrix
from .part import LegPart


def leg_projector_left_part(Phi: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(p̃, δ) of a direction p, with p̃ = Φ p the part of it that Φ leaves, and δ = p̃ᵀ p̃."""
    rest = (Phi @ p[..., None])[..., 0]
    return rest, (rest * rest).sum(axis=-1)


def leg_projector_without_direction(Phi: np.ndarray, rest: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """The projector after one more direction is removed: Φ − p̃ p̃ᵀ / δ."""
    smaller: np.ndarray = Phi - rest[..., :, None] * (rest / delta[..., None])[..., None, :]
    return smaller


Message = dict[str, np.ndarray]
Own = dict[str, Any]
UPPER = np.triu_indices(6)
CONSISTENT = 1e-6  # of positions given, relative


def leg_projector(part: LegPart, own: Own, inbox: Message) -> Message:
    """Kinematics (i): p̃, δ and Φ of the leg, joints at the platform first (eqs. 3.4 to 3.9); Φ and Φ Σ p θ̇."""
    _eliminated(part, own, inbox)
    own |= {"rates": inbox["rates"], "accelerations": inbox["accelerations"]}
    pushed = np.einsum("nrk,nk->nr", own["P"][:, :, list(part.kept)], inbox["rates"])
    return {"Phi": _packed(own["Phi"]), "phi": _times(own["Phi"], pushed)}


def leg_projector_columns(part: LegPart, own: Own, inbox: Message) -> Message:
    """Kinematics (i) where the central task needs S = K⁻¹ Φ itself: Φ, and Φ p of each kept joint."""
    _eliminated(part, own, inbox)
    rates = inbox["rates"]
    own |= {"rates": rates, "accelerations": inbox.get("accelerations", np.zeros_like(rates))}
    own |= {"tau": inbox["tau"]} if "tau" in inbox else {}
    columns = own["Phi"] @ own["P"][:, :, list(part.kept)]
    return {"Phi": _packed(own["Phi"]), "columns": columns.reshape(len(columns), -1)}


def leg_rates(part: LegPart, own: Own, inbox: Message) -> Message:
    """Kinematics (iii): θ̇ from t_P (eqs. 3.11 and 3.13), then Φ (Σ p θ̈ + c), the leg's term in ṫ_P (eq. 3.27)."""
    t, V, R = inbox["twist"], own["V"], own["R"]
    own |= {"X": inbox["X"].reshape(len(t), 6, part.independent)} if "X" in inbox else {}
    qd = _times(own["E"], own["rates"]) + _times(own["L"], t)
    s = _times(V, t)
    # C ṫ_P = G θ̈ + g; s are the platform's own components, whose rates lack ω × v
    turning = np.zeros_like(t)
    turning[:, 3:] = np.cross(t[:, :3], t[:, 3:])
    drift = rows_of_scalars(own["tied"].drift(_scalars(np.concatenate([qd, s], axis=1)), own["columns"]), len(t))
    c = _times(own["back"], -drift + _times(own["C"], turning))
    own |= {"qd": qd, "s": s, "c": c, "turning": turning, "R": R}
    pushed = np.einsum("nrk,nk->nr", own["P"][:, :, list(part.kept)], own["accelerations"])
    return {"bias": _times(own["Phi"], pushed + c)}


def leg_accelerations(part: LegPart, own: Own, inbox: Message) -> Message:
    """Kinematics (v): θ̈ from ṫ_P (eqs. 3.17 and 3.24); rates and accelerations of all the leg's joints."""
    _accelerated(own, inbox["twist_rate"])
    return {"qd": own["qd"], "qdd": own["qdd"]}


def leg_forces(part: LegPart, own: Own, inbox: Message) -> Message:
    """Kinematics (v), then inverse (i): τ̃ = N_dᵀ N_lᵀ (M ṫ − w) by the recursion (eq. 3.32), and p̄ (eq. 3.40)."""
    _accelerated(own, inbox["twist_rate"])
    _forced(part, own)
    own["p"] = _times(_transposed(own["L"]), own["tau_leg"])  # p̄ = Σ τ̃ Ψ p̃ / δ over the joints that aren't kept
    return {"p": own["p"] + own["F"]}


def leg_torques(part: LegPart, own: Own, inbox: Message) -> Message:
    """Inverse (iii): τ = τ̃ + pᵀ [Φ K⁻¹ Σ p̄ − p̄] of the kept joints (eq. 3.40)."""
    kept = list(part.kept)
    more = _times(own["Phi"], inbox["sum"]) - own["p"]
    return {"tau": own["tau_leg"][:, kept] + np.einsum("nrk,nr->nk", own["P"][:, :, kept], more)}


def projected_leg_forces(part: LegPart, own: Own, inbox: Message) -> Message:
    """Inverse (i) with more actuators than freedoms: Jᵀ τ̃ (eq. 3.37), and the rows of J of the leg's actuators."""
    _accelerated(own, inbox["twist_rate"])
    _forced(part, own)
    J = _jacobian(part, own)
    f = np.einsum("nkj,nk->nj", J, np.concatenate([own["tau_leg"], own["tau_platform"]], axis=1))
    return {"f": f, "J": J[:, list(part.driven)].reshape(len(f), -1)}


def reduced_leg_equations(part: LegPart, own: Own, inbox: Message) -> Message:
    """Forward (ii) and (iii): the leg's share of B̄ᵀ (Σ Tᵀ I T) B̄ and of τ̄ at θ̈_ac = 0 (eqs. 3.41 to 3.45)."""
    _accelerated(own, inbox["twist_rate"])
    _forced(part, own)
    own["J"] = J = _jacobian(part, own)
    I = np.zeros((len(J), part.nv + 6, part.nv + 6))
    I[:] = inertia(part.robot, _floats_if_single(own["q"]))
    rest = np.concatenate([own["tau"] - own["tau_leg"], -own["tau_platform"]], axis=1)
    shared = np.swapaxes(J, 1, 2) @ I @ J
    upper = np.triu_indices(part.independent)
    return {"I": shared[:, upper[0], upper[1]], "f": np.einsum("nkj,nk->nj", J, rest)}


def all_leg_accelerations(part: LegPart, own: Own, inbox: Message) -> Message:
    """Forward (v): accelerations of all the leg's joints from those of the kept ones, and their rates."""
    qdd = own["qdd"] + _times(own["J"][:, : part.nv], inbox["accelerations"])
    return {"qd": own["qd"], "qdd": qdd}


# ---- pieces of the steps


def _eliminated(part: LegPart, own: Own, inbox: Message) -> None:
    """Φ, p, and the matrices L and E of θ̇ = E θ̇_kept + L t_P."""
    q = inbox["q"]
    robot, loops, N = part.robot, loop_closure(part.robot), len(q)
    (tied,) = loops.ties_at(Samples(robot, q=_floats_if_single(q)).scalars("q"))
    _refuse_open(part, rows_of_scalars(tied.values(), N) * loops.row_scale)
    columns = tied.columns()
    J = np.zeros((N, loops.m, robot.nv))
    for r, row in enumerate(tied.jacobian(columns)):
        for k, x in row.items():
            J[:, r, k] = as_samples(x)
    R = np.empty((N, 3, 3))
    for r, cells in enumerate(quaternion_matrix([q[:, part.nq + k] for k in range(3, 7)])):
        for k, x in enumerate(cells):
            R[:, r, k] = as_samples(x)
    V = np.zeros((N, 6, 6))
    V[:, :3, 3:], V[:, 3:, :3] = part.length * _transposed(R), _transposed(R)
    C, G = J[:, :, part.nv :] @ V, -J[:, :, : part.nv]  # C t_P = G θ̇
    Q, U = np.linalg.qr(_transposed(C))
    back = Q @ np.linalg.inv(_transposed(U))  # C⁺
    P = back @ G
    Phi = Q @ _transposed(Q)  # the cut's own freedoms are eliminated
    free = [k for k in range(part.nv) if k not in part.kept]
    wide: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for k in reversed(free):
        p, delta = leg_projector_left_part(Phi, P[:, :, k])
        if not (delta * loops.column_scale[k] ** 2 > TINY**2).all():
            _refuse(part)
        Phi = leg_projector_without_direction(Phi, p, delta)  # Φ₂ = Φ₃ − p̃ p̃ᵀ / δ (eq. 3.8)
        wide[k] = p, delta
    L = np.zeros((N, part.nv, 6))
    for place, k in enumerate(free):  # θ̇ = p̃ᵀ (t_P − Σ p θ̇ of the joints before) / δ (eqs. 3.4 and 3.7)
        p, delta = wide[k]
        L[:, k] = p
        for j in free[:place]:
            L[:, k] -= (p * P[:, :, j]).sum(axis=1)[:, None] * L[:, j]
        L[:, k] /= delta[:, None]
    E = -L @ P[:, :, list(part.kept)]
    E[:, list(part.kept), range(len(part.kept))] += 1.0
    own.clear()
    own |= {"q": q, "tied": tied, "columns": columns, "R": R, "V": V, "C": C, "back": back, "P": P, "Phi": Phi}
    own |= {
        "L": L,
        "E": E,
        "wrenches": {n[7:]: _floats_if_single(x) for n, x in inbox.items() if n.startswith("wrench:")} or None,
    }


def _accelerated(own: Own, twist_rate: np.ndarray) -> None:
    own["qdd"] = _times(own["E"], own["accelerations"]) + _times(own["L"], twist_rate - own["c"])
    own["sd"] = _times(own["V"], twist_rate - own["turning"])


def _forced(part: LegPart, own: Own) -> None:
    """Forces of the leg's joints and of the platform's part; F is the latter as a wrench on t_P."""
    N, n = len(own["q"]), part.nv
    qd, qdd = np.concatenate([own["qd"], own["s"]], axis=1), np.concatenate([own["qdd"], own["sd"]], axis=1)
    tau = np.empty((N, n + 6))
    tau[:] = tree_inverse(
        part.robot, _floats_if_single(own["q"]), _floats_if_single(qd), _floats_if_single(qdd), own["wrenches"]
    )
    own["tau_leg"], own["tau_platform"] = tau[:, :n], tau[:, n:]
    own["F"] = _times(_transposed(own["V"]), tau[:, n:])


def _jacobian(part: LegPart, own: Own) -> np.ndarray:
    """J: rates of all kept joints → those of the leg's joints and the platform's s (eq. 3.14)."""
    J = np.concatenate([own["L"] @ own["X"], own["V"] @ own["X"]], axis=1)
    J[:, : part.nv, part.first : part.first + len(part.kept)] += own["E"]
    return J


def _refuse(part: LegPart) -> None:
    raise InputError(
        f"{part.robot.name}: the platform doesn't decide how this leg moves",
        allowed="legs whose joints can't move while the platform and the independent joints keep still",
        hint="`denoc run` takes such legs, and the leg may be in a singular position",
    )


def _refuse_open(part: LegPart, gaps: np.ndarray) -> None:
    worst = float(abs(gaps).max(initial=0.0))
    if not worst <= CONSISTENT:
        raise InputError(
            f"{part.robot.name}: the leg and the platform don't meet at these `q`",
            found=f"a relative gap of {worst:.3g}",
            hint="`denoc.assemble` closes positions",
        )


def _packed(Phi: np.ndarray) -> np.ndarray:
    """The 21 independent numbers of a symmetric 6 × 6 matrix."""
    return Phi[:, UPPER[0], UPPER[1]]


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    product: np.ndarray = (A @ x[..., None])[..., 0]
    return product


def _transposed(A: np.ndarray) -> np.ndarray:
    return np.swapaxes(A, 1, 2)


def _floats_if_single(x: np.ndarray) -> np.ndarray:
    """Samples as they are, but a single one without its first axis: the text then runs on floats, which is faster."""
    return x[0] if len(x) == 1 else x


def _scalars(x: np.ndarray) -> list[Any]:
    return x[0].tolist() if len(x) == 1 else [np.ascontiguousarray(x[:, k]) for k in range(x.shape[1])]


def rows_of_scalars(values: Sequence[Scalar], count: int) -> np.ndarray:
    """The array of these scalars, with a row for each sample."""
    rows = np.empty((count, len(values)))
    scalars_into_columns(rows, values)
    return rows
