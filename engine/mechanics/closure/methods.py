"""The table of closure methods, by which mechanisms with loops are integrated; all have the same interface.

Every method has all coordinates and speeds of the spanning tree in its state.  With A the independent rows of the
constraints (and of motions that are given) and N fixed rows that complete them, K = [A; N] is square, and

    K q̇ = [rates of the constraints; N q̇],     K q̈ = [their second rates − Ȧ q̇; ż']

so that K⁻¹ holds the orthogonal complement T in its last columns (Khan 2002, eq. A.14; with unit rows for N it is the
partition into independent and dependent coordinates, and T that of the DeNOC with the loops closed).  The methods
differ in the choice of N, in whether they close positions again in every evaluation, and in how accelerations follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...machine.program import Scalar
from ..tree.dense import solve_with_inertia_factors
from ..tree.spatial import add, dot, scale, subtract
from .elimination import Blockwise

Vector = list[Scalar]


@dataclass(frozen=True)
class Parameter:
    """A parameter of closure methods, with its name in a scenario's `closure`; two methods may share one.

    `kind` is a kind of quantity in files. If there is no default, the method works without a value. `compared` are the
    values that `denoc compare` tries; with feedback it tries the first one only, unless the parameter `bends` the
    motion itself and not only its integration.
    """

    name: str
    about: str
    kind: str
    default: float | None
    at_least: float | None = None
    above: float | None = None
    compared: tuple[float, ...] = ()
    bends: bool = False


class MethodParameters(dict[str, float]):
    """The values of a method's parameters, by their names."""


@dataclass
class Problem:
    """The equations of motion at one instant, in the form in which methods take them.

    `A` has the rows of the constraints (the first `closures`), then of the given motions; `gap`, `rate`, `second` are
    their values, their wanted rates, and their wanted second rates less `Ȧ q̇`.
    """

    n: int
    closures: int
    A: list[Vector]
    gap: Vector
    rate: Vector
    second: Vector
    N: list[Vector]
    K: Blockwise
    qd: Vector
    bias: Callable[[Vector], Vector]  # forces of the tree for accelerations, less the applied ones
    momentum: Callable[[Vector], Vector]  # M x
    response: Callable[[Vector], Vector]  # M⁻¹ x, with given motions at rest
    free: Callable[[], Vector]  # accelerations without constraints, with given motions as they are
    # accelerations with these along the rows of A, and 1 over the pivots of the freedoms, by their rows of K
    embedded: Callable[[Vector], tuple[Vector, dict[int, Scalar]]]
    damped: Callable[[], list[Vector]]  # the rows whose rates dampers take in the place of the constraints
    scales: Vector  # scales of the rows, for penalties
    parameters: MethodParameters = field(default_factory=MethodParameters)


def reduced_by_closure_method(p: Problem, drift: Vector) -> tuple[Vector, list[Vector], list[Vector], Vector]:
    """The equations reduced by T: q̈₀ = K⁻¹ [drift; 0], the columns of T, Tᵀ M T, and Tᵀ (M q̈₀ + h − τ)."""
    start = p.K.solve([*drift, *([0.0] * len(p.N))])
    known = p.bias(start)
    T = [p.K.solve([float(r == len(p.A) + c) for r in range(p.n)]) for c in range(len(p.N))]
    MT = [p.momentum(column) for column in T]
    inertia = [[dot(T[max(i, j)], MT[min(i, j)]) for j in range(len(T))] for i in range(len(T))]
    return start, T, inertia, [dot(column, known) for column in T]


def projected_closure_accelerations(p: Problem, drift: Vector) -> Vector:
    """Accelerations with A q̈ = drift, subsystem by subsystem."""
    return p.embedded(drift)[0]


def closed_loop_accelerations(p: Problem) -> Vector:
    """Accelerations at closed positions and speeds, without any correction."""
    return projected_closure_accelerations(p, p.second)


def stabilised_closure_accelerations(p: Problem) -> Vector:
    """Accelerations with A q̈ = −σ ċ − Ȧ q̇ (Khan 2002, eq. 2.21)."""
    off = subtract([dot(row, p.qd) for row in p.A], p.rate)
    return projected_closure_accelerations(p, subtract(p.second, scale(p.parameters["sigma"], off)))


def augmented_closure_accelerations(p: Problem) -> Vector:
    """Accelerations by multipliers, (A M⁻¹ Aᵀ) λ = … − A q̈_free with Baumgarte's correction; M⁻¹ is the recursion's."""
    a, b = p.parameters["alpha"], p.parameters["beta"]
    A = p.A[: p.closures]
    off = subtract([dot(row, p.qd) for row in A], p.rate)
    wanted = subtract(subtract(p.second[: p.closures], scale(2 * a, off)), scale(b * b, p.gap[: p.closures]))
    free = p.free()
    pushed = [p.response(row) for row in A]
    stiffness = [[dot(A[max(i, j)], pushed[min(i, j)]) for j in range(len(A))] for i in range(len(A))]
    qdd = list(free)
    for x, column in zip(
        solve_with_inertia_factors(stiffness, subtract(wanted, [dot(row, free) for row in A])), pushed
    ):
        qdd = add(qdd, scale(x, column))
    return qdd


def penalised_closure_accelerations(p: Problem) -> Vector:
    """Accelerations with springs and dampers in place of the constraints (Khan 2002, eqs. 2.7 and 4.1)."""
    k = p.parameters["k"]
    d = p.parameters.get("d", 2 * k**0.5)
    forces: Vector = [0.0] * p.n
    for row, damped, gap, rate, size in zip(p.A, p.damped(), p.gap, p.rate, p.scales):
        forces = subtract(forces, scale(size * k * gap, row))
        forces = subtract(forces, scale(size * d * (dot(damped, p.qd) - rate), damped))
    return add(p.free(), p.response(forces))


@dataclass(frozen=True)
class Method:
    """A closure method: `basis` chooses N, `speeds` are those taken from the state, `closes` is about positions."""

    about: str
    accelerations: Callable[[Problem], Vector]
    basis: str = "independent"  # independent | strongest | qr | svd
    speeds: str = "all"  # all | independent
    closes: bool = False
    parameters: tuple[Parameter, ...] = ()
    pulls: Parameter | None = None  # σ, where q̇ = T ż − σ K⁻¹ [c; 0]
    switches: bool = False  # takes other coordinates by itself where the present ones become unusable
    scaled: bool = False  # uses the `scales` of the rows, which depend on the mechanism's length
    raw: bool = False  # bends the motion or lets it drift, so that its energy balance is only reported
    recomputes_null_space: bool = False  # N from an SVD at every evaluation, and N q̇ in the state; on numbers only
    divides: bool = False  # by the inertias of the spanning tree, so that none of its joints may have nothing to move
    distributed: bool = False  # nodes with a leg each can take a step of it after a single exchange

    def values(self, given: Mapping[str, float | None]) -> MethodParameters:
        """The values of this method's parameters, given or by default; without either, the parameter is left out."""
        own = {one.name: given.get(one.name, one.default) for one in self.parameters}
        return MethodParameters({name: float(x) for name, x in own.items() if x is not None})

    def pull(self, values: MethodParameters) -> float:
        """The rate in 1/s at which a term in the speeds closes gaps."""
        return values[self.pulls.name] if self.pulls is not None else 0.0


ALPHA = Parameter("alpha", "the correction is -2 alpha c' - beta^2 c, c the gaps", "frequency", 20.0, at_least=0.0)
BETA = Parameter("beta", "the correction is -2 alpha c' - beta^2 c, c the gaps", "frequency", 20.0, at_least=0.0)
SIGMA = Parameter(
    "sigma", "gaps close as exp(-sigma t)", "frequency", 20.0, at_least=0.0, compared=(10.0, 20.0, 30.0, 40.0)
)
STIFFNESS = Parameter(
    "k",
    "of the springs in the constraints' places",
    "stiffness",
    1e5,
    above=0.0,
    compared=(1e3, 1e4, 1e5, 1e6),
    bends=True,
)
DAMPING = Parameter("d", "of the dampers beside them; default: 2 sqrt(k)", "damping", None, at_least=0.0, bends=True)

METHODS = {
    "denoc": Method(
        "independent coordinates, positions and speeds kept closed",
        closed_loop_accelerations,
        speeds="independent",
        closes=True,
    ),
    "multipliers": Method(
        "augmented system, Baumgarte's stabilisation",
        augmented_closure_accelerations,
        parameters=(ALPHA, BETA),
        divides=True,
    ),
    "projection-qr": Method(
        "null space by QR, its directions kept",
        stabilised_closure_accelerations,
        "qr",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        switches=True,
        distributed=True,
    ),
    "projection-svd": Method(
        "null space by SVD, its directions kept",
        stabilised_closure_accelerations,
        "svd",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        switches=True,
        distributed=True,
    ),
    "projection-gauss": Method(
        "Gaussian triangularization with full pivoting",
        stabilised_closure_accelerations,
        "strongest",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        switches=True,
        distributed=True,
    ),
    "projection-svd-raw": Method(
        "null space by SVD at every evaluation, its directions not kept (Yun and Sarkar 1998)",
        stabilised_closure_accelerations,
        "svd",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        raw=True,
        recomputes_null_space=True,
    ),
    "penalty": Method(
        "springs and dampers for constraints",
        penalised_closure_accelerations,
        parameters=(STIFFNESS, DAMPING),
        raw=True,
        scaled=True,
        divides=True,
        distributed=True,
    ),
    "denoc-extended": Method(
        "all joint rates integrated, no stabilisation (Khan 2002)", closed_loop_accelerations, raw=True
    ),
}

NOTHING_TO_CLOSE = Method("of trees, whose positions and speeds are as they are integrated", closed_loop_accelerations)


def parameters_of_closure_methods() -> dict[Parameter, list[str]]:
    """The parameters of all methods in the table, each with the names of the methods that take it."""
    result: dict[Parameter, list[str]] = {}
    for name, method in METHODS.items():
        for one in method.parameters:
            result.setdefault(one, []).append(name)
    names = [one.name for one in result]
    assert len(set(names)) == len(names), "a name stands for one parameter, whatever the method"
    return result


def distributed_closure_methods() -> list[str]:
    """Names of the methods whose steps nodes can take after a single exchange."""
    return [name for name, method in METHODS.items() if method.distributed]
