"""Implicit Runge-Kutta methods with three stages as data for the compiled loop, and the lines of its functions.

With stages Z = y(t + c h) − y, of which the last is at the step's end, and rates F there, Z = h A F.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dataclass import dataclass
from .flow import ir_loop
from .march_block import ATOL, CURRENT, DERIVED, EVALUATED, FACTORED, IMPLICIT_ROWS, RTOL
from .march_lanes import Lane, LaneCode

STAGES = 3
POINTERS = "ptr %control, ptr %u, ptr %y, ptr %stages, ptr %table, ptr %jacobian"


@dataclass(frozen=True)
class Collocation:
    """An implicit method whose last stage is the step's end, and constants of its step control.

    T has the eigenvectors of A⁻¹, of which the first is real and the others are real and imaginary part; `real` and
    `pair` are the eigenvalues, that of the pair with the sign that W₂ + i W₃ have.  E are the weights of the stages in
    the error; P those of the stages Z in dense output.
    """

    C: Sequence[float]
    T: Sequence[Sequence[float]]
    inverse: Sequence[Sequence[float]]  # of T
    real: float
    pair: complex
    E: Sequence[float]
    weights: Sequence[Sequence[float]]
    exponent: float
    safety: float
    least_factor: float
    most_factor: float
    rounds: int  # of Newton's method, at most
    slow: float  # quotient of corrections from which on derivatives are renewed
    worth: float  # factor of a step's length from which on new factors of the matrices pay

    @property
    def stages(self) -> int:
        """The number of rows behind dense output: the rate at the step's start, which has no share, and Z/h."""
        return 1 + STAGES

    @property
    def P(self) -> tuple[Sequence[float], ...]:
        """Dense output as `march_dense.Scheme` has it."""
        return ((0.0,) * len(self.weights[0]), *self.weights)

    @property
    def lands(self) -> bool:
        """Whether steps end on the output rows."""
        return False

    @property
    def evaluations(self) -> int:
        """Evaluations of a step, about."""
        return 2 * STAGES + 1

    def memory(self, m: int) -> int:
        """The number of rows of m numbers that the loop needs."""
        return sum(rows for _, rows in compiled_loop_memory_rows(m))

    def examined(self, m: int) -> int:
        """The number of rows in front that say whether an attempt met numbers that aren't finite."""
        return 2 * STAGES + 6 + m

    @property
    def block(self) -> int:
        """The number of rows of the control block."""
        return IMPLICIT_ROWS

    def evaluated(self, control: np.ndarray) -> np.ndarray:
        """The number of evaluations, from the control block."""
        return np.asarray(control[EVALUATED], dtype=int)


def compiled_loop_memory_rows(m: int) -> list[tuple[str, int]]:
    """The names of the loop's memory, and their rows of m numbers."""
    vectors = ["K0", "K1", "K2", "K3", "trial", "new", "Z0", "Z1", "Z2", "F0", "F1", "F2"]
    tables = [("J", m), ("W0", 1), ("W1", 1), ("W2", 1), ("after", 1), ("pairs", 2), ("real", m), ("complex", 2 * m)]
    return [*((name, 1) for name in vectors), *tables, ("pivots1", 1), ("pivots2", 1)]


class Code(LaneCode):
    """The lines of one function of the loop, which knows the memory by its names."""

    def __init__(self, method: Collocation, measured: int):
        super().__init__(1, measured + 2)
        self.method, self.measured = method, measured
        self.line("entry:\n  %clock = alloca double\n  %groups = alloca ptr, i64 2")
        place = 0
        for name, rows in compiled_loop_memory_rows(self.m):
            self.line(f"  %{name} = getelementptr double, ptr %stages, i64 {place}")
            place += rows * self.m

    def rate(self, state: str, target: str, t: str) -> None:
        super().rate(state, target, t)
        self.put(EVALUATED, self.operation("fadd", self.row(EVALUATED), self.number(1.0)))

    def derive(self, state: str, t: str) -> None:
        """Write the derivatives at a state, which make the factors of matrices useless."""
        self.line(f"  store double {t}, ptr %clock\n  call void @signals(ptr %table, ptr %u, ptr %clock)")
        second = self.let("getelementptr ptr, ptr %groups, i64 1")
        self.line(f"  store ptr %u, ptr %groups\n  store ptr %{state}, ptr {second}")
        self.line("  call void %jacobian(ptr %groups, ptr %J, ptr null)")
        for place, x in ((DERIVED, 1.0), (CURRENT, 1.0), (FACTORED, 0.0)):
            self.put(place, self.number(x))

    def is_zero(self, row: int) -> str:
        return self.compare("oeq", self.row(row), self.number(0.0))

    def lane(self, row: int) -> Lane:
        return Lane(self, self.row(row))

    def sum(self, terms: Sequence[tuple[float, str]]) -> str:
        """Σ weight · register."""
        total = ""
        for weight, x in terms:
            if weight:
                number = self.number(weight)
                total = self.block.call("fma", x, number, total) if total else self.operation("fmul", x, number)
        return total or self.number(0.0)

    def size(self, names: Sequence[str], *states: str) -> str:
        """The root mean square of these columns in units of the tolerance at the larger of the states."""
        rtol, atol, zero = self.row(RTOL), self.row(ATOL), self.number(0.0)
        with ir_loop(self.block, "0", str(self.measured), [("double", zero)]) as each:
            largest = zero
            for state in states:
                largest = self.block.larger(self.block.call("fabs", self.get(state, each.index)), largest)
            scale, total = self.block.call("fma", largest, rtol, atol), each.values[0]
            for name in names:
                x = self.operation("fdiv", self.get(name, each.index), scale)
                total = self.block.call("fma", x, x, total)
            each.following.append(total)
        mean = self.operation("fdiv", each.values[0], self.number(float(len(names) * self.m)))
        return self.block.call("sqrt", mean)

    def function(self, head: str) -> str:
        body = "\n".join(self.block.lines)
        return f"{head} {{\n{body}\n}}\n"
