"""An adaptive Runge-Kutta loop compiled around a recorded program y' = f(u, y) with constant u.

Stages, error, step control and dense output run without Python; the loop returns to its caller when the end is reached,
a number of attempts is used up, or no step can be taken.  The method is a tableau, the step control is the text of
`control.py`: `simulate/integrate.py` has both as well, and a test compares the steps.

W runs go side by side in the lanes, each with its own time, step and output rows; a single run has W = 1.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..program.control import bounded, lengths
from ..program.trace import Program
from . import cache, native
from .llvm import Block, hexadecimal

REACHED, PAUSED = 0, 1
GOING, TOO_SMALL, GUARDED = 0.0, 2.0, 3.0  # the states of one lane, in row STATUS
# the rows of the control block, with a number for each lane
(
    T,
    H,
    T_END,
    RTOL,
    ATOL,
    MAX_STEP,
    WANTED,
    MOST,
    FRESH,
    ACCEPTED,
    REJECTED,
    ROW,
    STATUS,
    STEP,
    T_NEW,
    TAKEN,
    GUARD,
    ROWS,
) = range(18)


@dataclass(frozen=True)
class Scheme:
    """An embedded pair with dense output whose last stage is the next step's first, and constants of step control."""

    A: Sequence[Sequence[float]]
    B: Sequence[float]
    E: Sequence[float]
    P: Sequence[Sequence[float]]
    exponent: float
    safety: float
    least_factor: float
    most_factor: float


def march(program: Program, scheme: Scheme, measured: int, units: Sequence[int], lanes: int) -> str:
    """The IR of the loop and of its right-hand side.

    The loop takes the control block, u, y and the stages (rows of lanes), the grid of output instants and an array for
    rows, and the number of attempts; `units` are the places of Euler parameters in y, which get norm 1 after every
    step. A step at whose end the `guard` isn't positive is not taken: its lane stops before it.
    """
    m, count = len(program.outputs["rate"]), len(scheme.B)
    code = _Loop(lanes, m)
    names = [*(f"K{s}" for s in range(count + 1)), "trial", "new"]
    code.line("entry:")
    code.line(f"  %total = alloca {code.vector}")
    for k, name in enumerate(names):
        code.line(f"  %{name} = getelementptr double, ptr %stages, i64 {k * m * lanes}")
    code.line("  br label %attempt\nattempt:\n  %tries = phi i64 [0, %entry], [%more, %next]")
    attempt = _begin_attempt(code, scheme)
    verdict = _try(code, scheme, attempt, measured, "guard" in program.outputs)
    taken = _choose_lengths(code, scheme, attempt, verdict)
    _put_rows(code, attempt, taken)
    _advance(code, attempt, verdict, count, units)
    code.line("  br label %next\nnext:\n  %more = add i64 %tries, 1")
    code.line("  %again = icmp slt i64 %more, %attempts\n  br i1 %again, label %attempt, label %paused")
    code.line(f"reached:\n  ret i64 {REACHED}\npaused:\n  ret i64 {PAUSED}")
    body = "\n".join(code.block.lines)
    declared = "\n".join(dict.fromkeys((code.block.declarations() + Block(1).declarations()).splitlines()))
    return (
        f"{declared}\n{code.power_declaration()}\n{_rate_function(program, lanes)}{_rows_function(scheme, m, lanes)}"
        "define i64 @march(ptr %control, ptr %u, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out, "
        "i64 %attempts) {\n"
        f"{body}\n}}\n"
        "define void @first(ptr %control, ptr %u, ptr %y, ptr %stages) {\n"
        "  call void @rate(ptr %control, ptr %u, ptr %y, ptr %stages)\n  ret void\n}\n"
    )


class Attempt(NamedTuple):
    """The registers of one attempt at a step, each with a number for every lane."""

    t: str
    t_new: str
    h: str
    wanted: str  # the length that this step was to have, before its end cut it short
    most: str  # the largest factor for the next length
    cut: str  # whether the end cuts the step short
    going: str  # whether the lane takes part


class Verdict(NamedTuple):
    """The registers of what came of an attempt."""

    error: str
    accept: str
    reject: str


def _begin_attempt(code: _Loop, scheme: Scheme) -> Attempt:
    """Choose the attempt's length: the wanted one within bounds for a new step, else that of the last attempt."""
    t, end, h = code.row(T), code.row(T_END), code.row(H)
    fresh = code.compare("one", code.row(FRESH), code.number(0.0))
    spacing = code.spacing(t)
    h = code.select(fresh, bounded(Lane(code, h), spacing, code.row(MAX_STEP)).register, h)
    wanted = code.select(fresh, h, code.row(WANTED))
    most = code.select(fresh, code.number(scheme.most_factor), code.row(MOST))
    going = code.both(code.compare("olt", t, end), code.compare("oeq", code.row(STATUS), code.number(GOING)))
    small = code.both(going, code.compare("ult", h, spacing))
    code.put(STATUS, code.select(small, code.number(TOO_SMALL), code.row(STATUS)))
    going = code.both(going, code.opposite(small))
    code.line(f"  br i1 {code.any(going)}, label %try, label %reached\ntry:")
    ahead = code.operation("fadd", t, h)
    cut = code.compare("ogt", ahead, end)
    t_new = code.select(cut, end, ahead)
    h = code.select(going, code.operation("fsub", t_new, t), code.number(0.0))
    return Attempt(t, t_new, h, wanted, most, cut, going)


def _try(code: _Loop, scheme: Scheme, attempt: Attempt, measured: int, guarded: bool) -> Verdict:
    """Evaluate the stages, the new state and its error; a lane whose guard isn't positive there stops."""
    count, h, going = len(scheme.B), attempt.h, attempt.going
    for s in range(1, count):
        code.combine("trial", "y", [(scheme.A[s][j], f"K{j}") for j in range(s)], h)
        code.rate("trial", f"K{s}")
    code.combine("new", "y", [(b, f"K{j}") for j, b in enumerate(scheme.B)], h)
    code.rate("new", f"K{count}")
    error = code.error([(e, f"K{j}") for j, e in enumerate(scheme.E)], measured, h)
    passed = code.compare("olt", error, code.number(1.0))
    if guarded:
        barred = code.both(code.both(going, passed), code.compare("ole", code.row(GUARD), code.number(0.0)))
        code.put(STATUS, code.select(barred, code.number(GUARDED), code.row(STATUS)))
        going = code.both(going, code.opposite(barred))
    return Verdict(error, code.both(going, passed), code.both(going, code.opposite(passed)))


def _choose_lengths(code: _Loop, scheme: Scheme, attempt: Attempt, verdict: Verdict) -> str:
    """Choose the next length and count the attempt; return the register that is 1 where the step was accepted."""
    error, h, wanted, most = (Lane(code, x) for x in (verdict.error, attempt.h, attempt.wanted, attempt.most))
    longer, shorter = (lane.register for lane in lengths(error, h, wanted, most, attempt.cut, scheme))
    accept, reject = verdict.accept, verdict.reject
    code.put(H, code.select(accept, longer, code.select(reject, shorter, code.row(H))))
    code.put(WANTED, code.select(reject, shorter, attempt.wanted))
    code.put(MOST, code.select(reject, code.number(1.0), attempt.most))
    code.put(FRESH, code.select(accept, code.number(1.0), code.number(0.0)))
    taken = code.select(accept, code.number(1.0), code.number(0.0))
    for place, add in ((ACCEPTED, taken), (REJECTED, code.select(reject, code.number(1.0), code.number(0.0)))):
        code.put(place, code.operation("fadd", code.row(place), add))
    return taken


def _put_rows(code: _Loop, attempt: Attempt, taken: str) -> None:
    """Write the output rows of each lane within its step, by dense output."""
    code.put(STEP, attempt.h)
    code.put(T_NEW, attempt.t_new)
    code.put(TAKEN, taken)
    code.line("  call void @rows(ptr %control, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out)")


def _advance(code: _Loop, attempt: Attempt, verdict: Verdict, count: int, units: Sequence[int]) -> None:
    """Put the new state in the place of the old one, with Euler parameters of norm 1."""
    accept = verdict.accept
    with code.each(code.m) as i:
        code.set("y", i, code.select(accept, code.get("new", i), code.get("y", i)))
        code.set("K0", i, code.select(accept, code.get(f"K{count}", i), code.get("K0", i)))
    code.put(T, code.select(accept, attempt.t_new, attempt.t))
    for first in units:
        code.normalise(first, accept)
    if units:
        code.rate("y", "K0")


def _rate_function(program: Program, lanes: int) -> str:
    """The program as a function of pointers, which every stage calls so that its code is there once."""
    block = Block(lanes)
    values = {}
    for group, nodes in program.inputs.items():
        for k, node in enumerate(nodes):
            values[node.id] = block.let(f"load {block.double}, ptr {block.offset(f'%{group}', k * lanes)}, align 8")
    guard = program.outputs.get("guard", [])
    registers = block.run([*program.outputs["rate"], *guard], lambda node: values[node.id])
    places = [block.offset("%dy", k * lanes) for k in range(len(registers) - len(guard))]
    places += [block.offset("%control", GUARD * lanes) for _ in guard]
    for register, place in zip(registers, places):
        block.do(f"store {block.double} {register}, ptr {place}, align 8")
    body = "\n".join(block.lines)
    head = "define internal void @rate(ptr noalias %control, ptr noalias %u, ptr noalias %y, ptr noalias %dy) noinline"
    return f"{head} {{\n{body}\n  ret void\n}}\n"


def _rows_function(scheme: Scheme, m: int, lanes: int) -> str:
    """Output rows of lanes that have taken a step, one by one: y + h Σ_p (Σ_j K_j P_jp) x^(p + 1), by Horner's rule."""
    block = Block(1)
    let, count = block.let, len(scheme.B)

    def control(k: int) -> str:
        at = let(f"add i64 %lane, {k * lanes}")
        return let(f"getelementptr double, ptr %control, i64 {at}")

    def load(pointer: str) -> str:
        return let(f"load double, ptr {pointer}, align 8")

    block.lines.append("entry:\n  br label %lanes\nlanes:\n  %lane = phi i64 [0, %entry], [%lane1, %done]")
    taken = let(f"fcmp one double {load(control(TAKEN))}, {hexadecimal(0.0)}")
    block.lines.append(f"  br i1 {taken}, label %look, label %done\nlook:")
    row = let(f"fptosi double {load(control(ROW))} to i64")
    block.lines.append(f"  br i1 {let(f'icmp slt i64 {row}, %count')}, label %compare, label %done\ncompare:")
    at = load(let(f"getelementptr double, ptr %grid, i64 {row}"))
    due = let(f"fcmp ole double {at}, {load(control(T_NEW))}")
    block.lines.append(f"  br i1 {due}, label %write, label %done\nwrite:")
    h = load(control(STEP))
    x = let(f"fdiv double {let(f'fsub double {at}, {load(control(T))}')}, {h}")
    skip = let(f"add i64 {let('mul i64 %lane, %count')}, {row}")
    target = let(f"getelementptr double, ptr %out, i64 {let(f'mul i64 {skip}, {m}')}")
    block.lines.append("  br label %component\ncomponent:\n  %i = phi i64 [0, %write], [%i1, %component]")
    place = let(f"add i64 {let(f'mul i64 %i, {lanes}')}, %lane")
    stages = [
        load(let(f"getelementptr double, ptr %stages, i64 {let(f'add i64 {place}, {j * m * lanes}')}"))
        for j in range(count + 1)
    ]
    total = ""
    for p in reversed(range(len(scheme.P[0]))):
        term = ""
        for j, K in enumerate(stages):
            weight = scheme.P[j][p]
            if weight:
                term = (
                    block.call("fma", K, hexadecimal(weight), term)
                    if term
                    else block.operation("fmul", K, hexadecimal(weight))
                )
        term = term or hexadecimal(0.0)
        total = block.call("fma", total, x, term) if total else term
    total = block.operation("fmul", total, x)
    y = load(let(f"getelementptr double, ptr %y, i64 {place}"))
    block.do(f"store double {block.call('fma', total, h, y)}, ptr {let(f'getelementptr double, ptr {target}, i64 %i')}")
    block.lines.append(f"  %i1 = add i64 %i, 1\n  %rest = icmp slt i64 %i1, {m}")
    block.lines.append("  br i1 %rest, label %component, label %written\nwritten:")
    pointer = control(ROW)
    block.do(f"store double {let(f'fadd double {load(pointer)}, {hexadecimal(1.0)}')}, ptr {pointer}")
    block.lines.append(f"  br label %look\ndone:\n  %lane1 = add i64 %lane, 1\n  %on = icmp slt i64 %lane1, {lanes}")
    block.lines.append("  br i1 %on, label %lanes, label %out_of_lanes\nout_of_lanes:\n  ret void")
    body = "\n".join(block.lines)
    head = "define internal void @rows(ptr %control, ptr %y, ptr %stages, ptr %grid, i64 %count, ptr %out) noinline"
    return f"{head} {{\n{body}\n}}\n"


class Lane:
    """A register with the operations that scalars of `control.py` have."""

    def __init__(self, code: _Loop, register: str):
        self._code, self.register = code, register

    def _of(self, x: Any) -> str:
        return x.register if isinstance(x, Lane) else x if isinstance(x, str) else self._code.number(x)

    def _made(self, register: str) -> Lane:
        return Lane(self._code, register)

    def __mul__(self, other: Any) -> Lane:
        return self._made(self._code.operation("fmul", self.register, self._of(other)))

    __rmul__ = __mul__

    def power(self, exponent: float) -> Lane:
        return self._made(self._code.power(self.register, exponent))

    def _select(self, condition: str, a: Any, b: Any) -> Lane:
        return self._made(self._code.select(condition, self._of(a), self._of(b)))

    def larger(self, other: Any) -> Lane:
        return self._select(self._code.compare("ogt", self.register, self._of(other)), self, other)

    def smaller(self, other: Any) -> Lane:
        return self._select(self._code.compare("olt", self.register, self._of(other)), self, other)

    def where(self, condition: str, other: Any) -> Lane:
        return self._select(condition, self, other)

    def where_zero(self, x: Lane, other: Any) -> Lane:
        return self._select(self._code.compare("oeq", x.register, self._code.number(0.0)), other, self)


class _Loop:
    """The lines of the loop, on vectors of lanes."""

    def __init__(self, lanes: int, m: int):
        self.block, self.lanes, self.m, self._loops = Block(lanes), lanes, m, 0
        self.vector = self.block.double

    def line(self, text: str) -> None:
        self.block.lines.append(text)

    def let(self, text: str) -> str:
        return self.block.let(text)

    def number(self, x: float) -> str:
        return self.block.constant(x)

    def operation(self, name: str, a: str, b: str) -> str:
        return self.let(f"{name} {self.vector} {a}, {b}")

    def compare(self, how: str, a: str, b: str) -> str:
        return self.let(f"fcmp {how} {self.vector} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.block.select(condition, a, b)

    def both(self, a: str, b: str) -> str:
        return self.let(f"and {self.block.bit} {a}, {b}")

    def opposite(self, a: str) -> str:
        true = "splat (i1 true)" if self.lanes > 1 else "true"
        return self.let(f"xor {self.block.bit} {a}, {true}")

    def any(self, a: str) -> str:
        if self.lanes == 1:
            return a
        bits = self.let(f"bitcast {self.block.bit} {a} to i{self.lanes}")
        return self.let(f"icmp ne i{self.lanes} {bits}, 0")

    def power(self, x: str, exponent: float) -> str:
        kind = f"v{self.lanes}f64" if self.lanes > 1 else "f64"
        arguments = f"{self.vector} {x}, {self.vector} {self.number(exponent)}"
        return self.let(f"call {self.vector} @llvm.pow.{kind}({arguments})")

    def power_declaration(self) -> str:
        kind = f"v{self.lanes}f64" if self.lanes > 1 else "f64"
        return f"declare {self.vector} @llvm.pow.{kind}({self.vector}, {self.vector})"

    def spacing(self, t: str) -> str:
        """Ten times the distance from t to the next larger double."""
        whole, kind = self.block.whole, self.block.integer
        bits = self.let(f"bitcast {self.vector} {t} to {kind}")
        negative = self.let(f"icmp slt {kind} {bits}, {whole(0)}")
        step = self.let(f"select {self.block.bit} {negative}, {kind} {whole(-1)}, {kind} {whole(1)}")
        after = self.let(f"bitcast {kind} {self.let(f'add {kind} {bits}, {step}')} to {self.vector}")
        return self.operation("fmul", self.operation("fsub", after, t), self.number(10.0))

    # ---- rows of the control block

    def row(self, k: int) -> str:
        return self.let(f"load {self.vector}, ptr {self.block.offset('%control', k * self.lanes)}, align 8")

    def put(self, k: int, value: str) -> None:
        self.line(f"  store {self.vector} {value}, ptr {self.block.offset('%control', k * self.lanes)}, align 8")

    # ---- states: loops over components

    @contextmanager
    def each(self, count: int) -> Iterator[str]:
        """A context whose lines are the body of a loop over components, with the register of a component's offset."""
        self._loops += 1
        n = self._loops
        self.line(f"  br label %before{n}\nbefore{n}:\n  br label %each{n}\neach{n}:")
        self.line(f"  %i{n} = phi i64 [0, %before{n}], [%next{n}, %each{n}]")
        yield self.let(f"mul i64 %i{n}, {self.lanes}")
        self.line(f"  %next{n} = add i64 %i{n}, 1\n  %rest{n} = icmp slt i64 %next{n}, {count}")
        self.line(f"  br i1 %rest{n}, label %each{n}, label %after{n}\nafter{n}:")

    def _at(self, name: str, i: str) -> str:
        return self.let(f"getelementptr double, ptr %{name}, i64 {i}")

    def get(self, name: str, i: str) -> str:
        return self.let(f"load {self.vector}, ptr {self._at(name, i)}, align 8")

    def set(self, name: str, i: str, value: str) -> None:
        self.line(f"  store {self.vector} {value}, ptr {self._at(name, i)}, align 8")

    def weighted(self, terms: Sequence[tuple[float, str]], i: str) -> str:
        """The sum Σ weight · stage of one component."""
        total = ""
        for weight, name in terms:
            if weight:
                x = self.get(name, i)
                number = self.number(weight)
                total = self.block.call("fma", x, number, total) if total else self.operation("fmul", x, number)
        return total or self.number(0.0)

    def combine(self, target: str, start: str, terms: Sequence[tuple[float, str]], h: str) -> None:
        """Write the loop that sets target = start + h Σ weight · stage."""
        with self.each(self.m) as i:
            self.set(target, i, self.block.call("fma", self.weighted(terms, i), h, self.get(start, i)))

    def rate(self, state: str, target: str) -> None:
        self.line(f"  call void @rate(ptr %control, ptr %u, ptr %{state}, ptr %{target})")

    def error(self, terms: Sequence[tuple[float, str]], measured: int, h: str) -> str:
        """The root mean square of h E K / (atol + rtol max(|y|, |new|)) over the measured components."""
        block = self.block
        rtol, atol = self.row(RTOL), self.row(ATOL)
        self.line(f"  store {self.vector} {self.number(0.0)}, ptr %total")
        with self.each(measured) as i:
            size = block.larger(block.call("fabs", self.get("y", i)), block.call("fabs", self.get("new", i)))
            x = self.operation("fmul", self.weighted(terms, i), h)
            x = self.operation("fdiv", x, block.call("fma", size, rtol, atol))
            total = self.let(f"load {self.vector}, ptr %total")
            self.line(f"  store {self.vector} {block.call('fma', x, x, total)}, ptr %total")
        total = self.let(f"load {self.vector}, ptr %total")
        return block.call("sqrt", self.operation("fdiv", total, self.number(float(measured))))

    def normalise(self, first: int, where: str) -> None:
        """Write the division of four components of y by their norm, in the lanes `where`."""
        places = [str((first + r) * self.lanes) for r in range(4)]
        parts = [self.get("y", place) for place in places]
        total = self.operation("fmul", parts[0], parts[0])
        for part in parts[1:]:
            total = self.operation("fadd", total, self.operation("fmul", part, part))
        norm = self.block.call("sqrt", total)
        for place, part in zip(places, parts):
            self.set("y", place, self.select(where, self.operation("fdiv", part, norm), part))


class March:
    """The compiled loop with its memory; `control` has a row of lanes for each quantity."""

    def __init__(self, loaded: native.Loaded, m: int, stages: int, lanes: int):
        self._loaded, self.stages = loaded, stages
        self.m, self.lanes = m, lanes
        self.control = np.zeros((ROWS, lanes))
        self._y = np.zeros((m, lanes))
        self._stages = np.zeros((stages + 3, m, lanes))
        pointer = ctypes.c_void_p
        kinds = [pointer] * 5 + [ctypes.c_long, pointer, ctypes.c_long]
        self._march = ctypes.CFUNCTYPE(ctypes.c_long, *kinds)(loaded.address("march"))
        self._first = ctypes.CFUNCTYPE(None, *[pointer] * 4)(loaded.address("first"))

    @property
    def y(self) -> np.ndarray:
        """The states, with a row for each lane."""
        return self._y.T

    def begin(self, signals: np.ndarray, y: np.ndarray, **control: float | np.ndarray) -> None:
        """Set signals and states, with a row for each lane, and the control block; evaluate the first stage."""
        rows = np.atleast_2d(signals)
        self._signals = np.ascontiguousarray(rows.T, dtype=float) if rows.size else np.zeros((1, self.lanes))
        self._y[:] = np.atleast_2d(y).T
        self.control[:] = 0.0
        self.control[FRESH] = 1.0
        for name, value in control.items():
            self.control[globals()[name]] = value
        self._first(*(x.ctypes.data for x in (self.control, self._signals, self._y, self._stages)))

    def finite(self) -> bool:
        """Whether all stages of the last attempt are finite numbers."""
        return bool(np.isfinite(self._stages).all())

    def room(self, rows: int) -> np.ndarray:
        """An array for this number of output rows in every lane."""
        return np.zeros((self.lanes, rows, self.m))

    def go(self, grid: np.ndarray, out: np.ndarray, attempts: int) -> int:
        """Run the loop for at most so many attempts, and return why it stopped: REACHED or PAUSED."""
        before = [x.ctypes.data for x in (self.control, self._signals, self._y, self._stages, grid)]
        return int(self._march(*before, len(grid), out.ctypes.data, attempts))


def build(
    program: Callable[[], Program],
    scheme: Scheme,
    m: int,
    measured: int,
    units: Sequence[int],
    lanes: int,
    identity: Sequence[str],
    cached: bool,
) -> March | None:
    """The compiled loop around a program, from the cache if it is there; with `cached`, None if it isn't."""
    kind = repr((scheme, measured, list(units)))
    name = cache.key(f"march {lanes}", kind, *native.processor(), native.version(), *identity)
    code = cache.kept(name, lambda: native.compile_ir(march(program(), scheme, measured, units, lanes)), cached)
    return March(native.Loaded(code), m, len(scheme.B), lanes) if code is not None else None
