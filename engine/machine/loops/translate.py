"""From the syntax tree of a text with loops to the operations of an emitter.

A text consists of

    for i in rolled(first, end):      a loop, of which each pass may read what earlier ones wrote
    for i in across(first, end):      a loop over places that don't touch one another
    for k in range(3):                bounds that are known now: no loop at all
    while test:   if test:            without `else`; a test that is known now folds
    x = …    a, b = …                 numbers; a name that is assigned again has a place in memory
    tables.S[0:6, i] = …              numbers of one body or, within `across`, of eight bodies side by side
    tables.P[0:6, j, i] = …           within `across` over i, numbers of body j for each of eight places i
    p = registers(6)   p[0:6] = …     numbers that a loop carries on
    call(…)                           another text, which is inlined, or a recorded `@step`

Values are known numbers, numbers in registers, lists of these, tables and rows of integers. A `@step` isn't
translated: Python runs it, on numbers that note what is done with them, so it may use whatever Python has.
"""

from __future__ import annotations

import ast
import functools
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from . import words
from .values import (
    EIGHT,
    FIRST,
    FLOAT,
    INTEGER,
    Integers,
    LoopTextError,
    Numbers,
    Operand,
    Registers,
    Value,
    Variable,
    kind_of,
)

ARITHMETIC = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
KNOWN: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    **{name: getattr(operator, name) for name in COMPARISONS.values()},
}


class Emitter(Protocol):
    """What a translator asks for; operands are values or known numbers."""

    def operation(self, name: str, a: Operand, b: Operand, kind: str) -> Value: ...
    def compare(self, name: str, a: Operand, b: Operand, kind: str) -> Value: ...
    def cosine_sine(self, x: Value) -> tuple[Value, Value]: ...
    def sign(self, x: Value) -> Value: ...
    def variable(self, kind: str) -> Variable: ...
    def get(self, variable: Variable) -> Value: ...
    def set(self, variable: Variable, x: Operand) -> None: ...
    def integer(self, base: str, at: Operand) -> Value: ...
    def registers(self, count: int) -> Registers: ...
    def number(self, table: Numbers, k: Operand, at: Operand) -> Value: ...
    def put(self, table: Numbers, k: Operand, at: Operand, x: Operand) -> None: ...
    def branch(self, test: Value, body: Callable[[], None]) -> None: ...
    def loop(self, test: Callable[[], Value], body: Callable[[], None]) -> None: ...
    def rolled(self, first: Operand, end: Operand, body: Callable[[Value], None]) -> None: ...
    def across(self, first: Operand, end: Operand, body: Callable[[Value], None]) -> None: ...


class Noted:
    """A number of a recorded step, which notes what is done with it."""

    def __init__(self, translator: Translator, value: Value):
        self._translator, self._value = translator, value

    def _two(self, name: str, a: Any, b: Any) -> Any:
        bare = [x._value if isinstance(x, Noted) else x for x in (a, b)]
        found = self._translator.arithmetic(name, *bare)
        return Noted(self._translator, found) if isinstance(found, Value) else found

    def __add__(self, other: Any) -> Any:
        return self._two("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._two("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._two("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._two("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._two("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._two("multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._two("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._two("divide", other, self)

    def __neg__(self) -> Any:
        return self._two("multiply", -1.0, self)

    def cosine_sine(self) -> tuple[Noted, Noted]:
        c, s = self._translator.emit.cosine_sine(self._value)
        return Noted(self._translator, c), Noted(self._translator, s)

    def sign(self) -> Noted:
        return Noted(self._translator, self._translator.emit.sign(self._value))

    @staticmethod
    def bare(x: Any) -> Any:
        """Lists of noted numbers as lists of values."""
        if isinstance(x, list | tuple):
            return [Noted.bare(one) for one in x]
        return x._value if isinstance(x, Noted) else x


@functools.cache
def _tree_of_text(text: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(text))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


class Translator:
    """Translates a text and the texts that it calls; all of them share one emitter."""

    def __init__(self, emit: Emitter):
        self.emit = emit
        self._names: dict[str, Any] = {}
        self._globals: dict[str, Any] = {}
        self._text = ""

    def text(self, function: Callable[..., Any], values: Sequence[Any]) -> None:
        """The operations of a text for these arguments."""
        before = self._names, self._globals, self._text
        tree = _tree_of_text(function)
        self._names = dict(zip((one.arg for one in tree.args.args), values, strict=True))
        self._globals, self._text = function.__globals__, function.__name__
        self._run(tree.body)
        self._names, self._globals, self._text = before

    def arithmetic(self, name: str, a: Operand, b: Operand) -> Operand:
        """An operation on two numbers; what is known folds, and so do sums with 0 and products with 0 and 1."""
        if not isinstance(a, Value) and not isinstance(b, Value):
            known: Operand = KNOWN[name](a, b)
            return known
        kinds = {kind_of(a), kind_of(b)}
        whole = kinds <= {INTEGER, FIRST}
        kind = FIRST if whole and FIRST in kinds else INTEGER if whole else EIGHT if EIGHT in kinds else FLOAT
        if name in COMPARISONS.values():
            return self.emit.compare(name, a, b, kind)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Value):
                continue
            if name == "multiply" and one == 0:
                return 0 if whole else 0.0
            if (name, one) in (("add", 0), ("multiply", 1)) and kind_of(other) == kind:
                return other
        return self.emit.operation(name, a, b, kind)

    # ---- statements

    def _run(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            match node:
                case ast.Expr(value=ast.Constant()):
                    pass  # a docstring
                case ast.Expr(value=call):
                    self._value(call)
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, self._value(value))
                case ast.For(target=ast.Name(id=name), iter=ast.Call() as call, orelse=[]):
                    self._loop(name, call, node.body)
                case ast.While(orelse=[]):
                    self.emit.loop(functools.partial(self._value, node.test), functools.partial(self._run, node.body))
                case ast.If(orelse=[]):
                    test = self._value(node.test)
                    if isinstance(test, Value):
                        self.emit.branch(test, functools.partial(self._run, node.body))
                    elif test:
                        self._run(node.body)
                case _:
                    raise self._error(node, "no such statement may stand in a text with loops")

    def _loop(self, name: str, call: ast.Call, body: Sequence[ast.stmt]) -> None:
        kind, bounds = self._value(call.func), [self._value(one) for one in call.args]
        first, end = bounds if len(bounds) == 2 else (0, bounds[0])

        def once(i: Any) -> None:
            self._names[name] = i
            self._run(body)

        if kind is words.across:
            self.emit.across(first, end, once)
        elif isinstance(call.func, ast.Name) and call.func.id == "range":
            if isinstance(first, Value) or isinstance(end, Value):
                raise self._error(call, "the bounds of `range` must be known; `rolled` takes others")
            for i in range(first, end):
                once(i)
        elif kind is words.rolled:
            self.emit.rolled(first, end, once)
        else:
            raise self._error(call, "a loop is over `rolled`, `across` or `range`")

    def _assign(self, target: ast.expr, x: Any) -> None:
        if isinstance(target, ast.Tuple):
            for one, y in zip(target.elts, x, strict=True):
                self._assign(one, y)
        elif isinstance(target, ast.Name):
            self._name(target, x)
        elif isinstance(target, ast.Subscript):
            table, at = self._value(target.value), self._value(target.slice)
            if not isinstance(table, Numbers | Registers):
                raise self._error(target, "only numbers of tables are assigned")
            ks = self._numbers_of(at[0] if isinstance(table, Numbers) else at)
            numbers = x if isinstance(x, list) else [x]
            if len(ks) != len(numbers):
                raise self._error(target, f"{len(numbers)} numbers for {len(ks)} places")
            for k, y in zip(ks, numbers):
                if isinstance(table, Registers):
                    self.emit.set(table.variables[k], y)
                else:
                    self.emit.put(table, k, at[1], y)
        else:
            raise self._error(target, "no such thing can be assigned")

    def _name(self, target: ast.Name, x: Any) -> None:
        """A list and a first number are the name's value; a number that is assigned again has a place in memory."""
        old = self._names.get(target.id)
        if isinstance(x, list | Registers) or (old is None and not self._is_assigned_again(target)):
            self._names[target.id] = x
            return
        if not isinstance(old, Variable):
            old = self._names[target.id] = self.emit.variable(kind_of(x))
        if old.kind != kind_of(x):
            raise self._error(target, f"`{target.id}` was {old.kind}, and is to be {kind_of(x)}")
        self.emit.set(old, x)

    def _is_assigned_again(self, target: ast.Name) -> bool:
        """Whether a `while` changes what it looks at; all other names stand for their last value in the text."""
        return target.id in self._changed_in_loops()

    def _changed_in_loops(self) -> set[str]:
        tree = _tree_of_text(self._globals[self._text])
        loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
        inner = [one for loop in loops for one in ast.walk(loop) if isinstance(one, ast.Name)]
        stored = {one.id for one in inner if isinstance(one.ctx, ast.Store)}
        tests = {one.id for loop in loops for one in ast.walk(loop.test) if isinstance(one, ast.Name)}
        return stored & tests

    # ---- expressions

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._known_name(node, name)
            case ast.Tuple(elts=parts):
                return tuple(map(self._value, parts))
            case ast.List(elts=parts):
                return [self._value(one) for one in parts]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
                return self.arithmetic(ARITHMETIC[type(op)], self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.arithmetic("multiply", -1.0, self._value(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._value(operand)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                return self.arithmetic(COMPARISONS[type(op)], self._value(left), self._value(right))
            case ast.Slice(lower=lower, upper=upper, step=None):
                return slice(*(None if one is None else self._value(one) for one in (lower, upper)))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if isinstance(self._names.get(name), dict):
                return self._names[name][attribute]
            case ast.Subscript(value=value, slice=at):
                return self._item(node, self._value(value), self._value(at))
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(node, self._value(function), arguments)
        raise self._error(node, "no such expression may stand in a text with loops")

    def _known_name(self, node: ast.expr, name: str) -> Any:
        if name in self._names:
            x = self._names[name]
            return self.emit.get(x) if isinstance(x, Variable) else x
        if name in self._globals:
            return self._globals[name]
        if name == "range":
            return range
        raise self._error(node, f"no such name: `{name}`")

    def _item(self, node: ast.expr, x: Any, at: Any) -> Any:
        if isinstance(x, Integers):
            return self.emit.integer(x.base, at)
        if isinstance(x, Registers):
            return [self.emit.get(x.variables[k]) for k in self._numbers_of(at)]
        if isinstance(x, Numbers):
            found = [self.emit.number(x, k, at[1]) for k in self._numbers_of(at[0])]
            return found if isinstance(at[0], slice) else found[0]
        if isinstance(x, list):
            return x[at]
        raise self._error(node, "only tables and lists have items")

    def _numbers_of(self, at: Any) -> list[Any]:
        return [*range(at.start or 0, at.stop)] if isinstance(at, slice) else [at]

    def _call(self, node: ast.Call, function: Any, arguments: Sequence[ast.expr]) -> Any:
        values: list[Any] = []
        for one in arguments:
            values += self._value(one.value) if isinstance(one, ast.Starred) else [self._value(one)]
        if getattr(function, words.RECORDED, False):
            return Noted.bare(function(*map(self._noted, values)))
        if function is words.shifted:
            return self.arithmetic("add", *values)
        if function is words.registers:
            return self.emit.registers(*values)
        if inspect.isfunction(function) and function.__module__ != words.__name__:
            return self.text(function, values)
        raise self._error(node, "only texts, recorded steps and the language's words can be called")

    def _noted(self, x: Any) -> Any:
        if isinstance(x, list):
            return [*map(self._noted, x)]
        return Noted(self, x) if isinstance(x, Value) else x

    def _error(self, node: ast.AST, message: str) -> LoopTextError:
        line = getattr(node, "lineno", 0)
        return LoopTextError(f"{self._text}, line {line}: {message}: `{ast.unparse(node)}`")
