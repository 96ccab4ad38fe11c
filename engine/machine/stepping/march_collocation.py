"""The steps of implicit Runge-Kutta methods with three stages in the compiled loop, as LLVM IR.

Decisions are those of scipy's `Radau`, and so are the steps.  They end on output rows, for dense output is of a low
order.  Newton's method goes on in coordinates W in which a real and a complex system of the state's size stand apart
(Hairer, Wanner: Solving Ordinary Differential Equations II, sec. IV.8).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..jit.block import Block
from ..jit.flow import ir_when
from ..program.control import foreseen_step_factor, larger_in_step_control, smaller_in_step_control
from .collocation import STAGES, Collocation
from .implicit import Code, ImplicitStep
from .march_block import (
    BEFORE,
    ERROR,
    FACTORED,
    LAST,
    PACE,
    REFUSED,
    ROUNDS,
    ROW,
    STEP,
    T_END,
    T_NEW,
    WANTED,
    H,
    T,
)
from .march_dense import Dense
from .march_lanes import Lane
from .newton import solve_lines


class CollocationStep(ImplicitStep):
    """A step of such a method: Newton's method solves for the stages Z."""

    parts, corrected = (1, 2), [f"F{k}" for k in range(STAGES)]

    def __init__(self, method: Collocation):
        self._method = method

    def shifts(self, code: Code) -> list[str]:
        method, h = self._method, code.row(H)
        return [code.operation("fdiv", code.number(x), h) for x in (method.real, method.pair.real, method.pair.imag)]

    # ---- Newton's method

    def guess(self, code: Code) -> None:
        """Write the first stages: the last step's polynomial goes on, if there is one."""
        method, h, last = self._method, code.row(H), code.row(LAST)
        with code.each(code.m) as i:
            for k in range(STAGES):
                code.set(f"Z{k}", i, code.number(0.0))
        with ir_when(code.block, code.compare("one", last, code.number(0.0))):
            ratio = code.operation("fdiv", h, last)
            places = [code.block.call("fma", code.number(c), ratio, code.number(1.0)) for c in method.C]
            with code.each(code.m) as i:
                K = [code.get(f"K{k}", i) for k in range(method.stages)]
                for k, x in enumerate(places):
                    ahead = code.operation("fsub", dense_output_ir(code.block, method, K, x), K[-1])
                    code.set(f"Z{k}", i, code.operation("fmul", last, ahead))
        with code.each(code.m) as i:
            Z = [code.get(f"Z{k}", i) for k in range(STAGES)]
            for k in range(STAGES):
                code.set(f"W{k}", i, code.sum([*zip(method.inverse[k], Z)]))

    def rates(self, code: Code) -> None:
        h, t = code.row(H), code.row(T)
        for k, c in enumerate(self._method.C):
            with code.each(code.m) as i:
                code.set("trial", i, code.operation("fadd", code.get("y", i), code.get(f"Z{k}", i)))
            code.rate("trial", f"F{k}", code.block.call("fma", h, code.number(c), t))

    def corrections(self, code: Code) -> None:
        """Write the corrections of W into F: the solutions of the real and of the complex system."""
        method, h = self._method, code.row(H)
        real, a, b = self.shifts(code)
        with code.each(code.m) as i:
            F, W = ([code.get(f"{name}{k}", i) for k in range(STAGES)] for name in "FW")
            mixed = [code.sum([*zip(method.inverse[k], F)]) for k in range(STAGES)]
            code.set("F0", i, code.operation("fsub", mixed[0], code.operation("fmul", real, W[0])))
            upper = code.operation("fsub", code.operation("fmul", a, W[1]), code.operation("fmul", b, W[2]))
            lower = code.operation("fadd", code.operation("fmul", a, W[2]), code.operation("fmul", b, W[1]))
            twice = code.let(f"mul i64 {i}, 2")
            code.set("pairs", twice, code.operation("fsub", mixed[1], upper))
            code.set("pairs", code.let(f"add i64 {twice}, 1"), code.operation("fsub", mixed[2], lower))
        for name, parts, number in (("F0", 1, complex(method.real)), ("pairs", 2, method.pair)):
            inverse = [code.operation("fmul", h, code.number(x)) for x in ((1 / number).real, (1 / number).imag)]
            solve_lines(code, parts, name, inverse)
        with code.each(code.m) as i:
            twice = code.let(f"mul i64 {i}, 2")
            code.set("F1", i, code.get("pairs", twice))
            code.set("F2", i, code.get("pairs", code.let(f"add i64 {twice}, 1")))

    def correct(self, code: Code, i: str) -> None:
        W = [code.operation("fadd", code.get(f"W{j}", i), code.get(f"F{j}", i)) for j in range(STAGES)]
        for j in range(STAGES):
            code.set(f"W{j}", i, W[j])
            code.set(f"Z{j}", i, code.sum([*zip(self._method.T[j], W)]))

    # ---- an attempt

    def fresh(self, code: Code, h: str, wanted: str) -> None:
        before = code.select(code.compare("oeq", h, wanted), code.row(BEFORE), code.number(0.0))
        code.put(WANTED, wanted)
        code.put(BEFORE, before)
        code.put(REFUSED, code.number(0.0))

    def bound(self, code: Code, end: str) -> str:
        row = code.whole(ROW)
        some = code.let(f"icmp slt i64 {row}, %count")
        at = code.let(f"getelementptr double, ptr %grid, i64 {row}")
        at = code.let(f"select i1 {some}, ptr {at}, ptr {code.block.offset('%control', T_END)}")
        bound = smaller_in_step_control(Lane(code, code.let(f"load double, ptr {at}")), Lane(code, end))
        register: str = bound.register
        return register

    def error(self, code: Code, t: str, h: str) -> str:
        method, last = self._method, f"Z{STAGES - 1}"
        with code.each(code.m) as i:
            code.set("new", i, code.operation("fadd", code.get("y", i), code.get(last, i)))
            Z = [code.get(f"Z{k}", i) for k in range(STAGES)]
            share = code.operation("fdiv", code.sum([*zip(method.E, Z)]), h)
            code.set("W0", i, share)
            code.set("W1", i, code.operation("fadd", code.get("K0", i), share))
            code.set("W2", i, code.number(0.0))
        code.line("  call void @solve.1(ptr %real, ptr %pivots1, ptr %W1)")
        code.put(STEP, code.size(["W1"], "y", "new"))
        large = code.compare("ogt", code.row(STEP), code.number(1.0))
        with ir_when(code.block, code.both(large, code.opposite(code.is_zero(REFUSED)))):
            with code.each(code.measured) as i:
                code.set("W2", i, code.get("W1", i))
            with code.each(code.m) as i:
                code.set("trial", i, code.operation("fadd", code.get("y", i), code.get("W2", i)))
            code.rate("trial", "after", t)
            with code.each(code.m) as i:
                code.set("W1", i, code.operation("fadd", code.get("after", i), code.get("W0", i)))
            code.line("  call void @solve.1(ptr %real, ptr %pivots1, ptr %W1)")
            code.put(STEP, code.size(["W1"], "y", "new"))
        return code.row(STEP)

    def _factor(self, code: Code, error: str, h: str) -> Lane:
        """The factor for the next length."""
        before, exponent = code.lane(BEFORE), self._method.exponent
        foreseen = foreseen_step_factor(Lane(code, error), code.lane(ERROR), Lane(code, h), before, exponent)
        factor: Lane = foreseen * Lane(code, code.cautious())
        return factor

    def refuse(self, code: Code, error: str, h: str) -> None:
        factor = larger_in_step_control(self._factor(code, error, h), self._method.least_factor)
        code.put(H, (Lane(code, h) * factor).register)
        code.put(REFUSED, code.number(1.0))
        code.put(FACTORED, code.number(0.0))

    def finish(self, code: Code, error: str, h: str, *, guarded: bool) -> None:
        code.rate("new", "after", code.row(T_NEW))
        for k in range(STAGES):
            with code.each(code.m) as i:
                code.set(f"K{k + 1}", i, code.operation("fdiv", code.get(f"Z{k}", i), h))

    def accept(self, code: Code, error: str, h: str) -> None:
        method, number = self._method, code.number
        many = code.compare("ogt", code.row(ROUNDS), number(2.0))
        renew = code.both(many, code.compare("ogt", code.row(PACE), number(method.slow)))
        grown = smaller_in_step_control(self._factor(code, error, h), method.most_factor).register
        keep = code.both(code.opposite(renew), code.compare("olt", grown, number(method.worth)))
        code.put(FACTORED, code.select(keep, number(1.0), number(0.0)))
        code.put(BEFORE, code.row(WANTED))
        code.put(ERROR, error)
        code.put(LAST, h)
        code.put(H, code.operation("fmul", h, code.select(keep, number(1.0), grown)))
        with code.each(code.m) as i:
            code.set("K0", i, code.get("after", i))
        with ir_when(code.block, renew):
            code.derive("y", code.row(T))

    def settle(self, code: Code, units: Sequence[int]) -> None:
        if units:
            code.rate("y", "K0", code.row(T))


def dense_output_ir(block: Block, scheme: Dense, stages: Sequence[str], x: str) -> str:
    """The register of Σ_p (Σ_j K_j P_jp) x^(p + 1), by Horner's rule: dense output is y + h times that."""
    total, number = "", block.constant
    for p in reversed(range(len(scheme.P[0]))):
        term = ""
        for j, K in enumerate(stages):
            weight = number(scheme.P[j][p])
            if scheme.P[j][p]:
                term = block.call("fma", K, weight, term) if term else block.operation("fmul", K, weight)
        term = term or number(0.0)
        total = block.call("fma", total, x, term) if total else term
    return block.operation("fmul", total, x)
