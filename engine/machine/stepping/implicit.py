"""What the compiled loops of all implicit methods share: the lines of their functions, and what a method's step is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from ..jit.flow import ir_loop
from .march_block import ATOL, CURRENT, DERIVED, EVALUATED, FACTORED, ROUNDS, RTOL
from .march_dense import Dense
from .march_lanes import Lane, LaneCode

POINTERS = "ptr %control, ptr %u, ptr %y, ptr %stages, ptr %table, ptr %jacobian"


class ImplicitMethod(Dense, Protocol):
    """What all implicit methods tell the loop, besides what dense output needs."""

    @property
    def rounds(self) -> int:
        """The number of Newton's corrections, at most."""

    @property
    def safety(self) -> float: ...

    def memory_rows(self, m: int) -> list[tuple[str, int]]:
        """The names of the loop's memory, and their rows of m numbers.

        First come the stages for dense output, a `trial` state and a `new` one.
        """


class Code(LaneCode):
    """The lines of one function of the loop, which knows the memory by its names."""

    def __init__(self, method: ImplicitMethod, measured: int):
        super().__init__(1, measured + 2)
        self.method, self.measured = method, measured
        self.line("entry:\n  %clock = alloca double\n  %groups = alloca ptr, i64 2")
        place = 0
        for name, rows in method.memory_rows(self.m):
            self.line(f"  %{name} = getelementptr double, ptr %stages, i64 {place}")
            place += rows * self.m

    def rate(self, state: str, target: str, t: str) -> None:
        super().rate(state, target, t)
        self.add(EVALUATED, 1.0)

    def derive(self, state: str, t: str) -> None:
        """Write the derivatives at a state, which make the factors of matrices useless."""
        self.line(f"  store double {t}, ptr %clock\n  call void @signals(ptr %table, ptr %u, ptr %clock)")
        second = self.let("getelementptr ptr, ptr %groups, i64 1")
        self.line(f"  store ptr %u, ptr %groups\n  store ptr %{state}, ptr {second}")
        self.line("  call void %jacobian(ptr %groups, ptr %J, ptr null)")
        for place, x in ((DERIVED, 1.0), (CURRENT, 1.0), (FACTORED, 0.0)):
            self.put(place, self.number(x))

    def add(self, row: int, x: float) -> None:
        self.put(row, self.operation("fadd", self.row(row), self.number(x)))

    def is_zero(self, row: int) -> str:
        return self.compare("oeq", self.row(row), self.number(0.0))

    def lane(self, row: int) -> Lane:
        return Lane(self, self.row(row))

    def whole(self, row: int) -> str:
        """The number in a row of the control block as an integer."""
        return self.let(f"fptosi double {self.row(row)} to i64")

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

    def cautious(self) -> str:
        """The safety factor of step control, which is smaller after more of Newton's corrections."""
        most = 2.0 * self.method.rounds
        rounds = self.operation("fadd", self.row(ROUNDS), self.number(most))
        return self.operation("fdiv", self.number(self.method.safety * (most + 1)), rounds)

    def function(self, head: str) -> str:
        body = "\n".join(self.block.lines)
        return f"{head} {{\n{body}\n}}\n"


class ImplicitStep(ABC):
    """The lines in which implicit methods differ: what Newton's method solves for, the error, and what comes of it.

    `corrected` are the columns that have Newton's corrections, of which `scaled` is the state that gives their units;
    `guessed` is the state whose derivatives are taken where those of an earlier one have not been good enough.
    """

    parts: Sequence[int] = (1,)  # of the numbers of each system of equations: 1 for real ones, 2 for complex ones
    corrected: Sequence[str] = ("F0",)
    scaled = guessed = "y"

    def functions(self, measured: int) -> str:
        """The IR of functions that only this method has."""
        return ""

    @abstractmethod
    def shifts(self, code: Code) -> list[str]:
        """The registers of the real and imaginary parts of what the diagonals of the systems are larger by than −J."""

    def factored(self, code: Code, shifts: Sequence[str]) -> None:
        """Write what has to be known of the matrices that have just been made with these."""
        return

    # ---- Newton's method

    @abstractmethod
    def guess(self, code: Code) -> None:
        """Write what Newton's method begins with."""

    @abstractmethod
    def rates(self, code: Code) -> None:
        """Write the rates into the columns that are to have the corrections."""

    @abstractmethod
    def corrections(self, code: Code) -> None:
        """Write the corrections in the place of the rates."""

    @abstractmethod
    def correct(self, code: Code, i: str) -> None:
        """Write the corrected component of what is solved for."""

    # ---- an attempt

    def fresh(self, code: Code, h: str, wanted: str) -> None:
        """Write what begins a new step, of length h instead of the one that was wanted."""
        return

    def bound(self, code: Code, end: str) -> str:
        """The register of the instant at which the step ends at the latest."""
        return end

    def resize(self, code: Code, factor: str) -> None:
        """Write what another length of the step changes."""
        return

    def cut(self, code: Code, cut: str, factor: str) -> None:
        """Write what changes where the end cuts the step short."""
        return

    def predict(self, code: Code) -> None:
        """Write what is known of the step's end before Newton's method begins."""
        return

    @abstractmethod
    def error(self, code: Code, t: str, h: str) -> str:
        """The register of the error in units of the tolerance."""

    @abstractmethod
    def refuse(self, code: Code, error: str, h: str) -> None:
        """Write the length of the next attempt, and what else follows from an error that is too large."""

    @abstractmethod
    def finish(self, code: Code, error: str, h: str, *, guarded: bool) -> None:
        """Write the stages for dense output, and the rate at the step's end where that is needed."""

    @abstractmethod
    def accept(self, code: Code, error: str, h: str) -> None:
        """Write the length of the next step, and what it begins with besides the new state, which is in its place."""

    @abstractmethod
    def settle(self, code: Code, units: Sequence[int]) -> None:
        """Write what follows from Euler parameters that have got norm 1, if there are any."""
