"""Functions of machine code on whole numbers and addresses, recorded while a text in Python runs.

All arguments and results are 64-bit words, those of functions of Python's and NumPy's too, of whose smaller results
nothing else is read.  Recorded code wants the passes `instruction_combine` and `sroa`, which put its variables into
registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from itertools import count
from typing import TypeAlias

from .block import Block, hexadecimal_of_double
from .flow import ir_leave, ir_loop, ir_when

WORD, DOUBLE, BIT = "i64", "double", "i1"
DECLARATIONS = "\n".join(
    f"declare i64 @{name}({given})" for name, given in (("malloc", "i64"), ("free", "i64"), ("memcpy", "i64, i64, i64"))
)


class Value:
    """A word, a double or a bit in a register; of an address, items are the words from there on."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, code: Code, kind: str, register: str):
        self.code, self.kind, self.register = code, kind, register

    def _new(self, kind: str, line: str) -> Value:
        return Value(self.code, kind, self.code.block.let(line))

    def _two(self, word: str, floating: str, other: Operand, kind: str = "") -> Value:
        name = floating if self.kind == DOUBLE else word
        return self._new(kind or self.kind, f"{name} {self.kind} {self.register}, {self.code.text(other, self.kind)}")

    __add__ = partialmethod(_two, "add", "fadd")
    __sub__ = partialmethod(_two, "sub", "fsub")
    __mul__ = partialmethod(_two, "mul", "fmul")
    __floordiv__ = partialmethod(_two, "sdiv", "")
    __truediv__ = partialmethod(_two, "", "fdiv")
    __and__ = partialmethod(_two, "and", "")
    __or__ = partialmethod(_two, "or", "")
    __invert__ = partialmethod(_two, "xor", "", 1)
    __eq__ = partialmethod(_two, "icmp eq", "fcmp oeq", kind=BIT)  # type: ignore[assignment]
    __ne__ = partialmethod(_two, "icmp ne", "fcmp une", kind=BIT)  # type: ignore[assignment]
    __lt__ = partialmethod(_two, "icmp slt", "fcmp olt", kind=BIT)
    __le__ = partialmethod(_two, "icmp sle", "fcmp ole", kind=BIT)
    __gt__ = partialmethod(_two, "icmp sgt", "fcmp ogt", kind=BIT)
    __ge__ = partialmethod(_two, "icmp sge", "fcmp oge", kind=BIT)

    # ---- memory

    def _place(self, kind: str, distance: Operand) -> str:
        base = self.code.block.let(f"inttoptr i64 {self.register} to ptr")
        if isinstance(distance, int) and not distance:
            return base
        return self.code.block.let(f"getelementptr {kind}, ptr {base}, i64 {self.code.text(distance)}")

    def __getitem__(self, k: Operand) -> Value:
        return self._new(WORD, f"load i64, ptr {self._place(WORD, k)}, align 8")

    def __setitem__(self, k: Operand, x: Operand) -> None:
        kind = x.kind if isinstance(x, Value) and x.kind == DOUBLE else WORD
        self.code.block.do(f"store {kind} {self.code.text(x)}, ptr {self._place(WORD, k)}, align 8")

    def at(self, distance: Operand) -> Value:
        """The word at this distance in bytes."""
        return self._new(WORD, f"load i64, ptr {self._place('i8', distance)}, align 8")

    def integer(self, distance: int) -> Value:
        """The integer of half a word at this distance in bytes."""
        half = self._new("i32", f"load i32, ptr {self._place('i8', distance)}, align 4")
        return self._new(WORD, f"sext i32 {half.register} to i64")

    def double(self, k: Operand) -> Value:
        """The item as a double."""
        return self._new(DOUBLE, f"load double, ptr {self._place(WORD, k)}, align 8")


Operand: TypeAlias = Value | int | float


class Code:
    """A function under way."""

    def __init__(self) -> None:
        self.block, self._entry, self._labels = Block(1, "x"), list[str](), count()
        self.ended = False  # whether the text says what follows a failure

    def text(self, x: Operand, kind: str = WORD) -> str:
        """An operand of this kind; where bits are given on, they are words."""
        if not isinstance(x, Value):
            return hexadecimal_of_double(x) if isinstance(x, float) else str(x)
        return self.block.let(f"zext i1 {x.register} to i64") if x.kind == BIT != kind else x.register

    # ---- values

    def variable(self, first: Operand = 0) -> Value:
        """The address of a word that may change."""
        name = f"%v{next(self._labels)}"
        self._entry.append(f"  {name}.at = alloca i64\n  {name} = ptrtoint ptr {name}.at to i64")
        made = Value(self, WORD, name)
        made[0] = first
        return made

    def address(self, of: str) -> Value:
        """The address of a function, or of what is in a register of LLVM's own."""
        return Value(self, WORD, self.block.let(f"ptrtoint ptr {of} to i64"))

    def room(self, words: Operand) -> Value:
        """The address of so many words on the stack."""
        return self.address(self.block.let(f"alloca i64, i64 {self.text(words)}"))

    def pick(self, test: Value, a: Operand, b: Operand) -> Value:
        return Value(self, WORD, self.block.let(f"select i1 {test.register}, i64 {self.text(a)}, i64 {self.text(b)}"))

    def function(self, name: str, x: Value) -> Value:
        """A function of LLVM's of a double."""
        return Value(self, DOUBLE, self.block.call(name, x.register))

    def call(self, function: Value | str, *given: Operand, kind: str = WORD) -> Value:
        """What a function of this module or at this address gives."""
        words = ", ".join(f"i64 {self.text(x)}" for x in given)
        where = (
            f"@{function}" if isinstance(function, str) else self.block.let(f"inttoptr i64 {function.register} to ptr")
        )
        return Value(self, kind, self.block.let(f"call {kind} {where}({words})"))

    # ---- flow

    @contextmanager
    def when(self, test: Value) -> Iterator[None]:
        """What is done where this holds."""
        with ir_when(self.block, test.register):
            yield

    @contextmanager
    def loop(self, times: Operand) -> Iterator[Value]:
        """What is done for 0, 1, 2, …, so many times."""
        with ir_loop(self.block, "0", self.text(times)) as now:
            yield Value(self, WORD, now.index)

    def need(self, test: Value) -> None:
        """Go on where this holds; else the function fails."""
        ir_leave(self.block, (~test).register, "failed")

    def answer(self, x: Operand) -> None:
        self.block.do(f"ret i64 {self.text(x)}")
        self.block.lines.append(f"behind{next(self._labels)}:")

    def failed(self) -> None:
        """What follows is done where something needed doesn't hold."""
        self.ended = True
        self.block.lines.append("  unreachable\nfailed:")

    def ir(self, head: str) -> str:
        return "\n".join([f"{head} {{", "entry:", *self._entry, *self.block.lines, "  ret i64 0", "}"])


def ir_of_functions(*texts: Callable[..., None]) -> str:
    """The IR of functions of these texts' names; the last one is seen from outside.

    A text gets the function under way and its arguments, and says what happens where something needed doesn't hold;
    the function gives 0 at its end.
    """
    result = [DECLARATIONS, Block(1).declarations()]
    for text in texts:
        code, own = Code(), text.__code__
        names = own.co_varnames[1 : own.co_argcount]
        text(code, *(Value(code, WORD, f"%{name}") for name in names))
        if not code.ended:
            code.answer(0)
            code.failed()
        seen = "" if text is texts[-1] else "internal "
        result.append(code.ir(f"define {seen}i64 @{text.__name__}({', '.join(f'i64 %{name}' for name in names)})"))
    return "\n".join(result)
