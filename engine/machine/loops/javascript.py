"""Lines of JavaScript for the operations of a text with loops, and the steps of explicit methods for pages.

A run is alone there: what is side by side in machine code is one number. A vector is a `Float64Array`, a table of
vectors an array of these, and functions from outside are methods of `system`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from . import dense, explicit
from .emit import Lines
from .translate import Translator
from .values import (
    BIT,
    EIGHT,
    FLOAT,
    INTEGER,
    Integers,
    Operand,
    Output,
    Outside,
    Singles,
    Stack,
    Stored,
    Thing,
    Value,
    Variable,
)

SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "and": "&&",
    "or": "||",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "===",
    "ne": "!==",
}
FUNCTIONS = {"sqrt": "Math.sqrt", "fabs": "Math.abs", "pow": "Math.pow"}
NEXT_UP = """const steps = {};
steps.number = new Float64Array(1); steps.bits = new BigInt64Array(steps.number.buffer);
function nextUp(x) { steps.number[0] = x; steps.bits[0] += x < 0 ? -1n : 1n; return steps.number[0]; }
"""
# numbers of a run that `explicit.advance` takes and returns, by their names there
TAKEN = ("t_end", "rtol", "atol", "max_step", "t", "h", "most", "fresh", "status")


class Script(Lines):
    """An emitter of JavaScript; the register of a value is an expression."""

    def __init__(self) -> None:
        super().__init__(lanes=1)

    def function_text(self, name: str, arguments: Sequence[str], results: Sequence[Operand] = ()) -> str:
        """The text of a function with these lines, which returns the results as an array."""
        end = [f"return [{', '.join(map(_word, results))}];"] if results else []
        return (
            f"{name} = function ({', '.join(arguments)}) {{\n" + "\n".join([*self.entry, *self.lines, *end]) + "\n};\n"
        )

    def _named(self, what: str = "x") -> str:
        self._count += 1
        return f"{what}{self._count}"

    def _noted(self, kind: str, text: str) -> Value:
        name = self._named()
        self.lines.append(f"const {name} = {text};")
        return Value(kind, name)

    # ---- numbers

    def operation(self, name: str, a: Operand, b: Operand, kind: str) -> Value:
        return self._noted(kind, f"{_word(a)} {SIGNS[name]} {_word(b)}")

    def compare(self, name: str, a: Operand, b: Operand, kind: str) -> Value:
        return self._noted(BIT, f"{_word(a)} {SIGNS[name]} {_word(b)}")

    def select(self, test: Value, a: Operand, b: Operand, kind: str) -> Value:
        return self._noted(kind, f"{test.register} ? {_word(a)} : {_word(b)}")

    def opposite(self, x: Value) -> Value:
        return self._noted(x.kind, f"!{x.register}")

    def some(self, x: Value) -> Value:
        return Value(BIT, x.register)

    def function(self, name: str, *values: Operand) -> Value:
        return self._noted(EIGHT, f"{FUNCTIONS[name]}({', '.join(map(_word, values))})")

    def next_up(self, x: Operand) -> Value:
        return self._noted(EIGHT, f"nextUp({_word(x)})")

    def whole(self, x: Operand) -> Value:
        return Value(INTEGER, _word(x))

    # ---- memory

    def vector(self, n: Operand) -> Stored:
        name = self._named("vector")
        self.entry.append(f"const {name} = new Float64Array({_word(n)});")
        return Stored(n, name)

    def row(self, table: Stack, k: Operand) -> Stored:
        return Stored(table.n, f"{table.base}[{_word(k)}]")

    def component(self, vector: Stored, i: Operand) -> Value:
        return self._noted(EIGHT, f"{vector.base}[{_word(i)}]")

    def put_component(self, vector: Stored, i: Operand, x: Operand) -> None:
        self.lines.append(f"{vector.base}[{_word(i)}] = {_word(x)};")

    def single(self, base: str, at: Operand) -> Value:
        return self._noted(FLOAT, f"{base}[{_word(at)}]")

    def integer(self, base: str, at: Operand) -> Value:
        return self._noted(INTEGER, f"{base}[{_word(at)}]")

    def put_row(self, out: Output, row: Operand, here: Value, y: Stored) -> None:
        self.lines.append(f"if ({here.register}) {out.base}[{_word(row)}].set({y.base});")

    def call(self, name: str, arguments: Sequence[Thing]) -> None:
        words = [x.base if isinstance(x, Stored) else _word(x) for x in arguments]
        self.lines.append(f"system.{name}({', '.join(words)});")

    def variable(self, kind: str) -> Variable:
        name = self._named("place")
        self.entry.append(f"let {name};")
        return Variable(kind, name)

    def get(self, variable: Variable) -> Value:
        return self._noted(variable.kind, variable.place)

    def set(self, variable: Variable, x: Operand) -> None:
        self.lines.append(f"{variable.place} = {_word(x)};")

    # ---- control

    def branch(self, test: Value, body: Callable[[], None]) -> None:
        self._block(f"if ({test.register})", body)

    def loop(self, test: Callable[[], Value], body: Callable[[], None]) -> None:
        def once() -> None:
            self.lines.append(f"if (!{test().register}) break;")
            body()

        self._block("for (;;)", once)

    def rolled(self, first: Operand, end: Operand, body: Callable[[Value], None]) -> None:
        i = self._named("i")
        head = f"for (let {i} = {_word(first)}; {i} < {_word(end)}; {i}++)"
        self._block(head, lambda: body(Value(INTEGER, i)))

    def _block(self, head: str, body: Callable[[], None]) -> None:
        self.lines.append(f"{head} {{")
        body()
        self.lines.append("}")


def _word(x: Operand) -> str:
    """An operand as JavaScript has it."""
    if isinstance(x, Value):
        return x.register
    if isinstance(x, bool):
        return str(x).lower()
    return repr(x) if math.isfinite(x) else "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"


def explicit_steps_in_javascript(method: Thing, m: int, measured: int, units: Sequence[int]) -> str:
    """The object `steps` of a page: attempts at steps, further stages, and the states within a step.

    The states have m components, of which the `measured` ones count for errors; Euler parameters begin at `units`.
    A method is a scheme (`stepping/march_dense.py`), whose numbers the text has in it.
    """
    rate = {"rate": Outside("rate", m), "guard": Stored(1, "system.guard")}
    system = {**rate, "measured": measured, "units": len(units), "places": Integers("units"), "delays": 0, "closing": 0}
    watch = {"count": 0, "finds": 0, "deep": 0}
    K, y, trial, new = Stack(m, "K"), Stored(m, "y"), Stored(m, "trial"), Stored(m, "next")
    memory = ("system", "K", "y", "trial")
    x, t, step = (Value(EIGHT, name) for name in ("x", "t", "step"))

    script = Script()
    numbers = {name: Value(EIGHT, name) for name in TAKEN}
    grid, out, zero = Singles("grid"), Output(m, 1, "out"), dict.fromkeys(("accepted", "rejected", "row"), 0.0)
    rest = dict.fromkeys(("dense", "gap", "stop", "which"), 0.0)
    given = {**numbers, **zero, **rest}
    order = explicit.advance.__code__.co_varnames[: explicit.advance.__code__.co_argcount]
    attempts = Value(INTEGER, "attempts")
    known = [method, system, watch, K, y, trial, new, grid, out, attempts, *(given[name] for name in order[10:])]
    _, *results = Translator(script, runs=True, unrolled=0).text(explicit.advance, known)
    texts = [script.function_text("steps.advance", [*memory, "next", "grid", "out", "attempts", *TAKEN], results)]

    script = Script()
    Translator(script, runs=True, unrolled=0).text(explicit.take_further_stages, [method, system, K, y, trial, t, step])
    texts.append(script.function_text("steps.further", [*memory, "t", "step"]))

    script = Script()
    translator = Translator(script, runs=True, unrolled=0)
    state = translator.text(dense.between, [method, x, step, y, K])
    translator.of.stored(state, new)
    texts.append(script.function_text("steps.between", ["x", "step", "y", "K", "next"]))
    return f"{NEXT_UP}const units = {list(units)};\n" + "".join(texts)
