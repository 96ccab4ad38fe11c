"""Closure methods: how a mechanism with loops is integrated.  Rows of one table, all on one interface.

Every method has all coordinates and speeds of the spanning tree in its state.  With A the independent rows of the
constraints (and of motions that are given) and N fixed rows that complete them, K = [A; N] is square, and

    K q̇ = [rates of the constraints; N q̇],     K q̈ = [their second rates − Ȧ q̇; ż']

so that K⁻¹ holds the orthogonal complement T in its last columns (Khan 2002, eq. A.14; with unit rows for N it is the
partition into independent and dependent coordinates, and T that of the DeNOC with the loops closed).  The methods
differ in what N is, in whether positions are closed again and again, and in how accelerations are found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..dynamics.dense import solve
from ..dynamics.spatial import add, dot, scale, subtract
from ..machine.program.scalars import Scalar
from .elimination import Elimination

Vector = list[Scalar]


@dataclass(frozen=True)
class Parameter:
    """A number that a method can be given, under its name in a scenario's `closure`; two methods may share one.

    `kind` is a kind of quantity of files. Without a default the method knows what to do without it. `compared` are the
    values that `denoc compare` tries, of which with feedback the first is enough, unless the parameter `bends` the
    motion itself and not only the way in which it is integrated.
    """

    name: str
    about: str
    kind: str
    default: float | None
    at_least: float | None = None
    above: float | None = None
    compared: tuple[float, ...] = ()
    bends: bool = False


class Parameters(dict[str, float]):
    """Values of a method's parameters by their names."""


@dataclass
class Problem:
    """The equations of motion at one instant, as the methods need them.

    `A` holds the rows of the constraints (the first `closures`), then of the given motions; `gap`, `rate`, `second`
    are their values, the rates that are wanted of them, and the second rates less `Ȧ q̇`.
    """

    n: int
    closures: int
    A: list[Vector]
    gap: Vector
    rate: Vector
    second: Vector
    N: list[Vector]
    K: Elimination
    qd: Vector
    bias: Callable[[Vector], Vector]  # forces of the tree that go with accelerations, less those applied
    momentum: Callable[[Vector], Vector]  # M x
    response: Callable[[Vector], Vector]  # M⁻¹ x, where given motions keep still
    free: Callable[[], Vector]  # accelerations without constraints, given motions as they are given
    scales: Vector  # of the rows, for penalties
    parameters: Parameters = field(default_factory=Parameters)


def reduced(p: Problem, drift: Vector) -> tuple[Vector, list[Vector], list[Vector], Vector]:
    """Q̈₀ = K⁻¹ [drift; 0], the columns of T, Tᵀ M T, and Tᵀ (M q̈₀ + h − τ)."""
    start = p.K.solve([*drift, *([0.0] * len(p.N))])
    known = p.bias(start)
    T = [p.K.solve([float(r == len(p.A) + c) for r in range(p.n)]) for c in range(len(p.N))]
    MT = [p.momentum(column) for column in T]
    inertia = [[dot(T[max(i, j)], MT[min(i, j)]) for j in range(len(T))] for i in range(len(T))]
    return start, T, inertia, [dot(column, known) for column in T]


def projected(p: Problem, drift: Vector) -> Vector:
    """Q̈ = T z̈ + K⁻¹ [drift; 0], with (Tᵀ M T) z̈ = −Tᵀ (M q̈₀ + h − τ)."""
    qdd, T, inertia, force = reduced(p, drift)
    for column, z in zip(T, solve(inertia, scale(-1.0, force))):
        qdd = add(qdd, scale(z, column))
    return qdd


def closed(p: Problem) -> Vector:
    """On closed positions and speeds nothing has to be corrected."""
    return projected(p, p.second)


def stabilised(p: Problem) -> Vector:
    """A q̈ = −σ ċ − Ȧ q̇ (Khan 2002, eq. 2.21)."""
    off = subtract([dot(row, p.qd) for row in p.A], p.rate)
    return projected(p, subtract(p.second, scale(p.parameters["sigma"], off)))


def augmented(p: Problem) -> Vector:
    """(A M⁻¹ Aᵀ) λ = … − A q̈_free, through the recursion's own factors, with Baumgarte's correction."""
    a, b = p.parameters["alpha"], p.parameters["beta"]
    A = p.A[: p.closures]
    off = subtract([dot(row, p.qd) for row in A], p.rate)
    wanted = subtract(subtract(p.second[: p.closures], scale(2 * a, off)), scale(b * b, p.gap[: p.closures]))
    free = p.free()
    pushed = [p.response(row) for row in A]
    stiffness = [[dot(A[max(i, j)], pushed[min(i, j)]) for j in range(len(A))] for i in range(len(A))]
    qdd = list(free)
    for x, column in zip(solve(stiffness, subtract(wanted, [dot(row, free) for row in A])), pushed):
        qdd = add(qdd, scale(x, column))
    return qdd


def penalised(p: Problem) -> Vector:
    """Springs and dampers where the constraints are."""
    k = p.parameters["k"]
    d = p.parameters.get("d", 2 * k**0.5)
    A = p.A[: p.closures]
    off = subtract([dot(row, p.qd) for row in A], p.rate)
    forces: Vector = [0.0] * p.n
    for row, gap, rate, size in zip(A, p.gap, off, p.scales):
        forces = subtract(forces, scale(size * (k * gap + d * rate), row))
    return add(p.free(), p.response(forces))


@dataclass(frozen=True)
class Method:
    """A row of the table; `basis` says what N is, `speeds` whether N's alone are believed, `closes` the positions."""

    about: str
    accelerations: Callable[[Problem], Vector]
    basis: str = "independent"  # independent | strongest | qr | svd
    speeds: str = "all"  # all | independent
    closes: bool = False
    parameters: tuple[Parameter, ...] = ()
    pulls: Parameter | None = None  # σ, where q̇ = T ż − σ K⁻¹ [c; 0]
    switches: bool = False  # takes other coordinates by itself where they come to the end of their use
    scaled: bool = False  # takes the `scales` of the rows, which are by the mechanism's length
    afresh: bool = False  # N from an SVD at every evaluation, and N q̇ in the state; on numbers only
    distributed: bool = False  # nodes that have a leg each can go a step with it after one exchange

    def values(self, given: Mapping[str, float | None]) -> Parameters:
        """The values of this method's parameters: those given, else the defaults; none where there is neither."""
        own = {one.name: given.get(one.name, one.default) for one in self.parameters}
        return Parameters({name: float(x) for name, x in own.items() if x is not None})

    def pull(self, values: Parameters) -> float:
        """The rate at which the speeds pull gaps shut, in 1/s."""
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
        "independent coordinates, positions and speeds kept closed", closed, speeds="independent", closes=True
    ),
    "multipliers": Method("augmented system, Baumgarte's stabilisation", augmented, parameters=(ALPHA, BETA)),
    "projection-qr": Method(
        "null space by QR, its directions kept",
        stabilised,
        "qr",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        switches=True,
        distributed=True,
    ),
    "projection-svd": Method(
        "null space by SVD, its directions kept",
        stabilised,
        "svd",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        switches=True,
        distributed=True,
    ),
    "projection-gauss": Method(
        "Gaussian triangularization with full pivoting",
        stabilised,
        "strongest",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        switches=True,
        distributed=True,
    ),
    "projection-svd-raw": Method(
        "null space by SVD at every evaluation, its directions not kept (Yun and Sarkar 1998)",
        stabilised,
        "svd",
        "independent",
        parameters=(SIGMA,),
        pulls=SIGMA,
        afresh=True,
    ),
    "penalty": Method(
        "springs and dampers for constraints",
        penalised,
        parameters=(STIFFNESS, DAMPING),
        scaled=True,
        distributed=True,
    ),
    "denoc-extended": Method("all joint rates integrated, no stabilisation (Khan 2002)", closed),
}


def parameters() -> dict[Parameter, list[str]]:
    """The parameters of all methods as the table is now, each with the methods that take it."""
    found: dict[Parameter, list[str]] = {}
    for name, method in METHODS.items():
        for one in method.parameters:
            found.setdefault(one, []).append(name)
    names = [one.name for one in found]
    assert len(set(names)) == len(names), "a name stands for one parameter, whatever the method"
    return found


def distributed() -> list[str]:
    """The methods whose steps nodes can go with one exchange."""
    return [name for name, method in METHODS.items() if method.distributed]
