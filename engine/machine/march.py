"""An adaptive Runge-Kutta loop compiled around a recorded program y' = f(u, y), u constant.

Stages, error, step control and dense output run without a word of Python; the caller hears from it when the end is
reached, a number of attempts is used up, or no step can be taken.  The control is that of `simulate/integrate.py`,
decision for decision (a test compares the two), with its constants handed in.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import cache, native
from .llvm import Block, hexadecimal
from .trace import Program

REACHED, PAUSED, TOO_SMALL = 0, 1, 2
# the doubles of the control block
T, H, T_END, RTOL, ATOL, MAX_STEP, ACCEPTED, REJECTED, ROW, MOST, CONTROL = range(11)


@dataclass(frozen=True)
class Scheme:
    """An embedded pair whose last stage is the next step's first, with dense output, and its step control."""

    A: Sequence[Sequence[float]]
    B: Sequence[float]
    E: Sequence[float]
    P: Sequence[Sequence[float]]
    exponent: float
    safety: float
    least_factor: float
    most_factor: float


def march(program: Program, scheme: Scheme, measured: int, units: Sequence[int], lanes: int) -> str:
    """The march as IR: `i64 @march(ptr control, ptr u, ptr grid, i64 rows, ptr out, ptr y, ptr stages)`.

    `stages` holds K, the trial's intermediate and new state, each padded to whole vectors; `units` are the places of
    Euler parameters in y, made of norm 1 after every step.
    """
    m = len(program.outputs["rate"])
    chunks = -(-m // lanes)
    padded = chunks * lanes
    count = len(scheme.B)
    code = _Loop(lanes, padded, chunks)
    code.line("entry:")
    for name in ("h", "wanted", "most", "t_new", "cut", "tries"):
        code.line(f"  %{name} = alloca double")
    for k, name in enumerate((*(f"K{s}" for s in range(count + 1)), "trial", "new")):
        code.line(f"  %{name} = getelementptr double, ptr %stages, i64 {k * padded}")
    code.store("tries", hexadecimal(0.0))
    code.line("  br label %step")

    # a new step: its length within bounds, as wanted by the last one
    code.line("step:")
    t, end = code.control(T), code.control(T_END)
    code.branch(code.compare("olt", t, end), "begin", "reached")
    code.line("begin:")
    spacing = code.spacing(code.control(T))
    h, longest = code.control(H), code.control(MAX_STEP)
    h = code.select(code.compare("ogt", h, longest), longest, code.select(code.compare("olt", h, spacing), spacing, h))
    code.store("h", h)
    code.store("wanted", h)
    code.store("most", hexadecimal(scheme.most_factor))
    code.line("  br label %attempt")

    # an attempt: stages, the new state, its error
    code.line("attempt:")
    h = code.load("h")
    code.branch(code.compare("oge", h, code.spacing(code.control(T))), "try", "small")
    code.line("try:")
    tries = code.let(f"fadd double {code.load('tries')}, {hexadecimal(1.0)}")
    code.store("tries", tries)
    ahead = code.let(f"fadd double {code.control(T)}, {code.load('h')}")
    over = code.compare("ogt", ahead, code.control(T_END))
    t_new = code.select(over, code.control(T_END), ahead)
    code.store("cut", code.select(over, hexadecimal(1.0), hexadecimal(0.0)))
    code.store("t_new", t_new)
    h = code.let(f"fsub double {t_new}, {code.control(T)}")
    code.store("h", h)
    for s in range(1, count):
        code.combine("trial", "y", [(scheme.A[s][j], f"K{j}") for j in range(s)], h)
        code.line(f"  call void @rate(ptr %u, ptr %trial, ptr %K{s})")
    code.combine("new", "y", [(b, f"K{j}") for j, b in enumerate(scheme.B)], h)
    code.line(f"  call void @rate(ptr %u, ptr %new, ptr %K{count})")
    error = code.error(scheme.E, measured, h)
    code.branch(code.compare("olt", error, hexadecimal(1.0)), "accept", "reject")

    code.line("reject:")
    code.count(REJECTED)
    factor = code.factor(error, scheme)
    least = hexadecimal(scheme.least_factor)
    factor = code.select(code.compare("ogt", factor, least), factor, least)  # NaN: the least
    h = code.let(f"fmul double {code.load('h')}, {factor}")
    for name in ("h", "wanted"):
        code.store(name, h)
    code.store("most", hexadecimal(1.0))
    code.line("  br label %attempt")

    code.line("accept:")
    code.count(ACCEPTED)
    most, factor = code.load("most"), code.factor(error, scheme)
    zero = code.compare("oeq", error, hexadecimal(0.0))
    factor = code.select(zero, hexadecimal(scheme.most_factor), factor)
    factor = code.select(code.compare("olt", most, factor), most, factor)
    h = code.let(f"fmul double {code.load('h')}, {factor}")
    wanted = code.load("wanted")
    kept = code.select(code.compare("ogt", wanted, h), wanted, h)
    was_cut = code.compare("one", code.load("cut"), hexadecimal(0.0))
    code.set_control(H, code.select(was_cut, kept, h))
    code.line("  br label %rows")

    # output rows within the step, by the dense output
    code.line("rows:")
    row = code.let(f"fptosi double {code.control(ROW)} to i64")
    code.branch(code.let(f"icmp slt i64 {row}, %count"), "look", "settle")
    code.line("look:")
    at = code.let(f"load double, ptr {code.let(f'getelementptr double, ptr %grid, i64 {row}')}")
    code.branch(code.compare("ole", at, code.load("t_new")), "write", "settle")
    code.line("write:")
    ahead = code.let(f"fsub double {at}, {code.control(T)}")
    step = code.load("h")
    x = code.let(f"fdiv double {ahead}, {step}")
    skip = code.let(f"mul i64 {row}, {padded}")
    target = code.let(f"getelementptr double, ptr %out, i64 {skip}")
    code.interpolate(target, scheme.P, x, step, count)
    code.count(ROW)
    code.line("  br label %rows")

    # the new state takes the place of the old one
    code.line("settle:")
    code.copy("y", "new")
    code.copy("K0", f"K{count}")
    code.set_control(T, code.load("t_new"))
    for first in units:
        code.normalise(first)
    if units:
        code.line("  call void @rate(ptr %u, ptr %y, ptr %K0)")
    code.branch(code.compare("olt", code.load("tries"), code.control(MOST)), "step", "paused")
    code.line(f"reached:\n  ret i64 {REACHED}\npaused:\n  ret i64 {PAUSED}\nsmall:\n  ret i64 {TOO_SMALL}")
    body = "\n".join(code.block.lines)
    return (
        _rate(program)
        + code.block.declarations().replace(Block(1).declarations(), "")
        + "declare double @llvm.pow.f64(double, double)\n"
        + "define i64 @march(ptr %control, ptr %u, ptr %grid, i64 %count, ptr %out, ptr %y, ptr %stages) {\n"
        + f"{body}\n}}\n"
        + "define void @first(ptr %u, ptr %y, ptr %stages) {\n"
        + "  call void @rate(ptr %u, ptr %y, ptr %stages)\n  ret void\n}\n"
    )


def _rate(program: Program) -> str:
    """The program as a function of pointers, called by every stage rather than copied into it."""
    block = Block(1)
    values: dict[int, str] = {}
    for group, nodes in program.inputs.items():
        values.update(zip((node.id for node in nodes), block.load_columns(f"%{group}", len(nodes))))
    registers = block.run(program.outputs["rate"], lambda node: values[node.id])
    block.store_columns("%dy", registers)
    body = "\n".join(block.lines)
    return (
        block.declarations()
        + "define internal void @rate(ptr noalias %u, ptr noalias %y, ptr noalias %dy) noinline {\n"
        + f"{body}\n  ret void\n}}\n"
    )


class _Loop:
    """Lines of the loop: scalars in memory, vectors in chunks of lanes."""

    def __init__(self, lanes: int, padded: int, chunks: int):
        self.block, self.lanes, self.padded, self.chunks = Block(lanes), lanes, padded, chunks

    def line(self, text: str) -> None:
        self.block.lines.append(text)

    def let(self, text: str) -> str:
        return self.block.let(text)

    def load(self, name: str) -> str:
        return self.let(f"load double, ptr %{name}")

    def store(self, name: str, value: str) -> None:
        self.line(f"  store double {value}, ptr %{name}")

    def control(self, k: int) -> str:
        return self.let(f"load double, ptr {self.let(f'getelementptr double, ptr %control, i64 {k}')}")

    def set_control(self, k: int, value: str) -> None:
        self.line(f"  store double {value}, ptr {self.let(f'getelementptr double, ptr %control, i64 {k}')}")

    def count(self, k: int) -> None:
        self.set_control(k, self.let(f"fadd double {self.control(k)}, {hexadecimal(1.0)}"))

    def compare(self, how: str, a: str, b: str) -> str:
        return self.let(f"fcmp {how} double {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.let(f"select i1 {condition}, double {a}, double {b}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.line(f"  br i1 {condition}, label %{then}, label %{otherwise}")

    def spacing(self, t: str) -> str:
        """Ten times the distance to the next larger double."""
        bits = self.let(f"bitcast double {t} to i64")
        sign = self.let(f"icmp slt i64 {bits}, 0")
        step = self.let(f"select i1 {sign}, i64 -1, i64 1")
        after = self.let(f"bitcast i64 {self.let(f'add i64 {bits}, {step}')} to double")
        gap = self.let(f"fsub double {after}, {t}")
        return self.let(f"fmul double {gap}, {hexadecimal(10.0)}")

    def factor(self, error: str, scheme: Scheme) -> str:
        power = self.let(f"call double @llvm.pow.f64(double {error}, double {hexadecimal(scheme.exponent)})")
        return self.let(f"fmul double {power}, {hexadecimal(scheme.safety)}")

    # ---- vectors

    def chunk(self, name: str, k: int) -> str:
        at = self.block.offset(f"%{name}" if not name.startswith("%") else name, k * self.lanes)
        return self.let(f"load {self.block.double}, ptr {at}, align 8")

    def put(self, name: str, k: int, value: str) -> None:
        at = self.block.offset(f"%{name}" if not name.startswith("%") else name, k * self.lanes)
        self.line(f"  store {self.block.double} {value}, ptr {at}, align 8")

    def splat(self, x: str) -> str:
        if self.lanes == 1:
            return x
        one = self.let(f"insertelement {self.block.double} poison, double {x}, i64 0")
        mask = f"<{self.lanes} x i32>"
        return self.let(f"shufflevector {self.block.double} {one}, {self.block.double} poison, {mask} zeroinitializer")

    def weighted(self, terms: Sequence[tuple[float, str]], k: int) -> str:
        """Σ weight · vector of chunk k."""
        total = ""
        for weight, name in terms:
            if weight == 0.0:
                continue
            x = self.chunk(name, k)
            total = (
                self.block.call("fma", x, self.block.constant(weight), total)
                if total
                else self.block.operation("fmul", x, self.block.constant(weight))
            )
        return total or self.block.constant(0.0)

    def combine(self, target: str, start: str, terms: Sequence[tuple[float, str]], h: str) -> None:
        """Target = start + h Σ weight · vector."""
        step = self.splat(h)
        for k in range(self.chunks):
            total = self.weighted(terms, k)
            self.put(target, k, self.block.call("fma", total, step, self.chunk(start, k)))

    def copy(self, target: str, source: str) -> None:
        for k in range(self.chunks):
            self.put(target, k, self.chunk(source, k))

    def error(self, E: Sequence[float], measured: int, h: str) -> str:
        """Root of the mean square of h E K / (atol + rtol max(|y|, |new|)) over the measured components."""
        block, total = self.block, ""
        step, rtol, atol = self.splat(h), self.splat(self.control(RTOL)), self.splat(self.control(ATOL))
        for k in range(self.chunks):
            if k * self.lanes >= measured:
                continue
            size = block.larger(block.call("fabs", self.chunk("y", k)), block.call("fabs", self.chunk("new", k)))
            scale = block.call("fma", size, rtol, atol)
            x = block.operation("fmul", self.weighted([(e, f"K{j}") for j, e in enumerate(E)], k), step)
            x = block.operation("fdiv", x, scale)
            inside = [k * self.lanes + lane < measured for lane in range(self.lanes)]
            if not all(inside):
                mask = ", ".join(f"i1 {'true' if one else 'false'}" for one in inside)
                x = self.let(f"select {block.bit} <{mask}>, {block.double} {x}, {block.double} {block.constant(0.0)}")
            total = block.call("fma", x, x, total) if total else block.operation("fmul", x, x)
        parts = [self.let(f"extractelement {block.double} {total}, i64 {lane}") for lane in range(self.lanes)]
        while len(parts) > 1:
            parts = [self.let(f"fadd double {a}, {b}") for a, b in zip(parts[::2], parts[1::2])]
        mean = self.let(f"fdiv double {parts[0]}, {hexadecimal(float(measured))}")
        return self.let(f"call double @llvm.sqrt.f64(double {mean})")

    def interpolate(self, target: str, P: Sequence[Sequence[float]], x: str, h: str, count: int) -> None:
        """Target = y + h Σ_p (Σ_j K_j P_jp) x^(p + 1), by Horner."""
        at, step = self.splat(x), self.splat(h)
        degree = len(P[0])
        for k in range(self.chunks):
            total = ""
            for p in reversed(range(degree)):
                term = self.weighted([(P[j][p], f"K{j}") for j in range(count + 1)], k)
                total = self.block.call("fma", total, at, term) if total else term
            total = self.block.operation("fmul", total, at)
            self.put(target, k, self.block.call("fma", total, step, self.chunk("y", k)))

    def normalise(self, first: int) -> None:
        """Four components of y made of norm 1."""
        places = [self.block.offset("%y", first + r) for r in range(4)]
        parts = [self.let(f"load double, ptr {place}") for place in places]
        total = self.let(f"fmul double {parts[0]}, {parts[0]}")
        for part in parts[1:]:
            total = self.let(f"fadd double {total}, {self.let(f'fmul double {part}, {part}')}")
        norm = self.let(f"call double @llvm.sqrt.f64(double {total})")
        for place, part in zip(places, parts):
            self.line(f"  store double {self.let(f'fdiv double {part}, {norm}')}, ptr {place}")


class March:
    """The compiled loop with its memory."""

    def __init__(self, loaded: native.Loaded, m: int, stages: int, lanes: int):
        self._loaded, self.stages = loaded, stages
        self.m, self.padded = m, -(-m // lanes) * lanes
        self.control = np.zeros(CONTROL)
        self.y = np.zeros(self.padded)
        self._stages = np.zeros((stages + 3) * self.padded)
        pointer = ctypes.c_void_p
        kinds = [pointer, pointer, pointer, ctypes.c_long, pointer, pointer, pointer]
        self._march = ctypes.CFUNCTYPE(ctypes.c_long, *kinds)(loaded.address("march"))
        self._first = ctypes.CFUNCTYPE(None, pointer, pointer, pointer)(loaded.address("first"))

    def begin(self, signals: np.ndarray, y: np.ndarray, **control: float) -> None:
        """Sets the state; the first stage is evaluated."""
        self._signals = np.ascontiguousarray(signals, dtype=float) if len(signals) else np.zeros(1)
        self.y[: self.m] = y
        for name, value in control.items():
            self.control[globals()[name]] = value
        self._first(self._signals.ctypes.data, self.y.ctypes.data, self._stages.ctypes.data)

    def finite(self) -> bool:
        """Whether the stages of the last attempt are numbers."""
        return bool(np.isfinite(self._stages).all())

    def rows(self, count: int) -> np.ndarray:
        """Room for output rows."""
        return np.zeros((count, self.padded))

    def go(self, grid: np.ndarray, out: np.ndarray, attempts: int) -> int:
        """Marches on; why it stopped."""
        self.control[MOST] = attempts
        arrays = (self.control, self._signals, grid)
        after = (out, self.y, self._stages)
        pointers = [x.ctypes.data for x in arrays], [x.ctypes.data for x in after]
        return int(self._march(*pointers[0], len(grid), *pointers[1]))


def build(
    program: Callable[[], Program],
    scheme: Scheme,
    m: int,
    measured: int,
    units: Sequence[int],
    identity: Sequence[str],
    cached: bool,
) -> March | None:
    """The compiled loop around a program, from the cache where it is there; with `cached`, only from there."""
    lanes = native.lanes()
    name = cache.key("march", str(lanes), repr((measured, units)), *native.processor(), native.version(), *identity)
    code: Any = cache.load(name)
    if code is None:
        if cached:
            return None
        code = native.compile_ir(march(program(), scheme, measured, units, lanes))
        cache.store(name, code)
    return March(native.Loaded(code), m, len(scheme.B), lanes)
