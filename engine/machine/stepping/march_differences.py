"""The steps of multistep methods by backward differences in the compiled loop, as LLVM IR.

Decisions are those of scipy's `BDF`, and so are the steps.  Rows come from dense output: the polynomial through the
last states, as many as the order of the next step asks for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..jit.flow import ir_loop, ir_when
from ..program.control import larger_in_step_control, smaller_in_step_control
from ..program.differences import rescaled_differences
from .differences import DIFFERENCES, Differences
from .implicit import POINTERS, Code, ImplicitStep
from .march_block import EQUAL, FACTORED, LONGER, NEXT, ORDER, SHIFT, T_NEW, H
from .march_lanes import Lane
from .newton import solve_lines


class DifferencesStep(ImplicitStep):
    """A step of such a method: Newton's method solves for Z0, by which the predicted state has to be corrected."""

    scaled = guessed = "predicted"

    def __init__(self, method: Differences):
        self._method = method
        self._orders = range(1, method.most + 1)

    def functions(self, measured: int) -> str:
        """The IR of `change`, which makes the differences those at steps of another length."""
        code = Code(self._method, measured)
        within = self._within(code, ORDER)
        with ir_loop(code.block, "0", str(code.m)) as each:
            before = [self._get(code, "D", k, each.index) for k in self._orders]
            D = [Lane(code, code.select(some, x, code.number(0.0))) for some, x in zip(within, before)]
            after = rescaled_differences(D, Lane(code, "%factor"))
            for k, some, x, new in zip(self._orders, within, before, after):
                self._set(code, "D", k, each.index, code.select(some, new.register, x))
        code.put(EQUAL, code.number(0.0))
        code.line("  ret void")
        return code.function(f"define internal void @change({POINTERS}, double %factor) noinline")

    def resize(self, code: Code, factor: str) -> None:
        code.line(f"  call void @change({POINTERS}, double {factor})")

    def shifts(self, code: Code) -> list[str]:
        return [code.operation("fdiv", self._of_order(code, self._method.alpha[1:]), code.row(H))]

    def factored(self, code: Code, shifts: Sequence[str]) -> None:
        code.put(SHIFT, shifts[0])

    # ---- Newton's method

    def guess(self, code: Code) -> None:
        """Write W0, which is (Σ γ_j ∇^j)/α and the corrections; there are none yet."""
        within, alpha = self._within(code, ORDER), self._of_order(code, self._method.alpha[1:])
        with code.each(code.m) as i:
            D = [self._masked(code, "D", k, i, within) for k in self._orders]
            known = code.sum([*zip(self._method.gamma[1:], D)])
            code.set("W0", i, code.operation("fdiv", known, alpha))
            code.set("Z0", i, code.number(0.0))

    def rates(self, code: Code) -> None:
        self._add_up(code, "trial")
        code.rate("trial", "F0", code.row(T_NEW))

    def corrections(self, code: Code) -> None:
        """Write the solution of (I − c J) x = (h/α) f − W0; the matrix may be that of an attempt of another length."""
        one, matrix = code.number(1.0), code.row(SHIFT)  # 1/c
        (now,) = self.shifts(code)
        weight = code.operation("fdiv", matrix, now)
        with code.each(code.m) as i:
            known = code.operation("fmul", matrix, code.get("W0", i))
            rate = code.operation("fmul", weight, code.get("F0", i))
            code.set("F0", i, code.operation("fsub", rate, known))
        solve_lines(code, 1, "F0", [code.operation("fdiv", one, matrix)])

    def correct(self, code: Code, i: str) -> None:
        for name in ("Z0", "W0"):
            code.set(name, i, code.operation("fadd", code.get(name, i), code.get("F0", i)))

    def _add_up(self, code: Code, target: str) -> None:
        with code.each(code.m) as i:
            code.set(target, i, code.operation("fadd", code.get("predicted", i), code.get("Z0", i)))

    # ---- an attempt

    def fresh(self, code: Code, h: str, wanted: str) -> None:
        with ir_when(code.block, code.compare("one", h, wanted)):
            self.resize(code, code.operation("fdiv", h, wanted))

    def cut(self, code: Code, cut: str, factor: str) -> None:
        with ir_when(code.block, cut):
            self.resize(code, factor)
            code.put(FACTORED, code.number(0.0))

    def predict(self, code: Code) -> None:
        within = self._within(code, ORDER)
        with code.each(code.m) as i:
            total = code.get("y", i)
            for k in self._orders:
                total = code.operation("fadd", total, self._masked(code, "D", k, i, within))
            code.set("predicted", i, total)

    def error(self, code: Code, t: str, h: str) -> str:
        self._add_up(code, "new")
        return code.operation("fmul", self._of_order(code, self._method.errors[1:]), code.size(["Z0"], "new"))

    def refuse(self, code: Code, error: str, h: str) -> None:
        growth = Lane(code, self._growth(code, error, 1.0)) * Lane(code, code.cautious())
        factor = larger_in_step_control(growth, self._method.least_factor).register
        code.put(H, code.operation("fmul", h, factor))
        self.resize(code, factor)

    def finish(self, code: Code, error: str, h: str, *, guarded: bool) -> None:
        if guarded:
            code.rate("new", "after", code.row(T_NEW))
        order, places = code.row(ORDER), range(1, DIFFERENCES)
        last, beyond = ([code.compare("oeq", order, code.number(float(k - more))) for k in places] for more in (1, 2))
        within = [code.compare("oge", order, code.number(float(k))) for k in places]
        with code.each(code.m) as i:
            D, Z = [code.get("y", i), *(self._get(code, "D", k, i) for k in places)], code.get("Z0", i)
            above = code.number(0.0)
            for k in reversed(places):  # ∇^j at the step's end = ∇^j before + ∇^(j + 1) there
                one = code.select(beyond[k - 1], code.operation("fsub", Z, D[k - 1]), code.number(0.0))
                one = code.select(last[k - 1], Z, one)
                above = code.select(within[k - 1], code.operation("fadd", D[k], above), one)
                self._set(code, "E", k, i, above)
        self._choose(code, error)
        within = self._within(code, NEXT)
        with code.each(code.m) as i:
            for k in self._orders:
                code.set(f"K{k}", i, code.operation("fdiv", self._masked(code, "E", k, i, within), h))

    def _choose(self, code: Code, error: str) -> None:
        """Choose the order of the next step and the factor for its length; 0 where both stay as they are.

        That is so until all differences are those at steps of one length.
        """
        order, errors, endless = code.row(ORDER), self._method.errors, code.number(math.inf)
        code.put(NEXT, order)
        code.put(LONGER, code.number(0.0))
        with ir_when(code.block, code.compare("oge", code.row(EQUAL), order)):
            whole = code.whole(ORDER)
            sizes = []
            for more in (0, 2):
                row = code.let(f"mul i64 {code.let(f'add i64 {whole}, {more}')}, {code.m}")
                code.line(f"  %at{more} = getelementptr double, ptr %E, i64 {row}")
                sizes.append(code.size([f"at{more}"], "new"))
            lower = code.operation("fmul", self._of_order(code, errors[:-1]), sizes[0])
            higher = code.operation("fmul", self._of_order(code, errors[2:]), sizes[1])
            lower = code.select(code.compare("oeq", order, code.number(1.0)), endless, lower)
            highest = code.compare("oeq", order, code.number(float(self._method.most)))
            higher = code.select(highest, endless, higher)
            best, change = self._growth(code, lower, 0.0), code.number(-1.0)
            for by, one in ((0.0, self._growth(code, error, 1.0)), (1.0, self._growth(code, higher, 2.0))):
                better = code.compare("ogt", one, best)
                best, change = code.select(better, one, best), code.select(better, code.number(by), change)
            code.put(NEXT, code.operation("fadd", order, change))
            longer = Lane(code, best) * Lane(code, code.cautious())
            code.put(LONGER, smaller_in_step_control(longer, self._method.most_factor).register)

    def accept(self, code: Code, error: str, h: str) -> None:
        with code.each(code.m) as i:
            for k in range(1, DIFFERENCES):
                self._set(code, "D", k, i, self._get(code, "E", k, i))
        code.put(ORDER, code.row(NEXT))
        code.add(EQUAL, 1.0)
        with ir_when(code.block, code.opposite(code.is_zero(LONGER))):
            code.put(H, code.operation("fmul", h, code.row(LONGER)))
            self.resize(code, code.row(LONGER))
            code.put(FACTORED, code.number(0.0))

    def settle(self, code: Code, units: Sequence[int]) -> None:
        """The differences stay: the whole history moves with the state."""

    # ---- numbers and rows that the order chooses

    def _within(self, code: Code, row: int) -> list[str]:
        """Whether each difference belongs to the order in this row."""
        order = code.row(row)
        return [code.compare("oge", order, code.number(float(k))) for k in self._orders]

    def _of_order(self, code: Code, values: Sequence[float]) -> str:
        """The register of one of the numbers for the orders 1, 2, …, that of the present order."""
        found, order = code.number(values[0]), code.row(ORDER)
        for k, x in enumerate(values[1 : self._method.most], start=2):
            found = code.select(code.compare("oeq", order, code.number(float(k))), code.number(x), found)
        return found

    def _growth(self, code: Code, error: str, more: float) -> str:
        """The factor for the next length that this error allows: its power −1/(k + more), where k is the order."""
        order = code.operation("fadd", code.row(ORDER), code.number(more))
        exponent = code.operation("fdiv", code.number(-1.0), order)
        return code.let(f"call double @llvm.pow.f64(double {error}, double {exponent})")

    def _place(self, code: Code, k: int, i: str) -> str:
        return code.let(f"add i64 {i}, {k * code.m}")

    def _get(self, code: Code, name: str, k: int, i: str) -> str:
        return code.get(name, self._place(code, k, i))

    def _set(self, code: Code, name: str, k: int, i: str, value: str) -> None:
        code.set(name, self._place(code, k, i), value)

    def _masked(self, code: Code, name: str, k: int, i: str, within: Sequence[str]) -> str:
        """A difference of this order, 0 where it is beyond the order of the method."""
        return code.select(within[k - 1], self._get(code, name, k, i), code.number(0.0))
