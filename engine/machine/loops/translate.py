"""From the syntax tree of a text with loops to the operations of an emitter.

A text consists of

    for i in rolled(first, end):      a loop, of which each pass may read what earlier ones wrote
    for i in across(first, end):      a loop over places that don't touch one another
    for k in range(3):                bounds that are known now: no loop at all
    while test:   if test:            a test that is known now folds, and only such a one may have an `else`
    x = …    a, b = …                 numbers; a name that is assigned again has a place in memory
    tables.S[0:6, i] = …              numbers of one body or, within `across`, of eight bodies side by side
    tables.P[0:6, j, i] = …           within `across` over i, numbers of body j for each of eight places i
    p = registers(6)   p[0:6] = …     numbers that a loop carries on
    call(…)                           another text, which is inlined, or a recorded `@step`
    return …                          at the end

and, where runs are side by side,

    y + step * weighted(A[s], K)      a vector: a recipe for its components, one loop when it is stored or summed
    K[s] = …   y[:] = …   v = …       vectors of a table, in memory, and in memory of its own
    K[0], K[1] = …                    both in one loop
    A[i, k + 1 :]   y[:n]             parts of vectors, which are read and assigned; the two sides may not overlap
    [… for part in A]                 a list, made from another one
    where(c, a, b)   some(c)   no(c)  what differs from run to run
    rate(t, y)                        a function from outside, which fills a vector

`x = K[s]` would be a view in Python and a copy in machine code; it is refused, and `x = +K[s]` is meant.

Values are known numbers, numbers in registers, lists of these, tables and rows of integers. A `@step` isn't
translated: Python runs it, on numbers that note what is done with them, so it may use whatever Python has.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from . import words
from .emit import Lines
from .operations import Noted, Operations
from .values import (
    BIT,
    EIGHT,
    FLOAT,
    MASK,
    Integers,
    LoopTextError,
    Numbers,
    Operand,
    Outside,
    Pending,
    Registers,
    Singles,
    Stack,
    Stored,
    Thing,
    Value,
    Variable,
    Vector,
    kind_of,
)

ARITHMETIC: Mapping[type, str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.BitAnd: "and",
    ast.BitOr: "or",
}
STATEMENTS = "`=`, `for` over rolled, across or range, `while`, `if`, calls, and `return` at the end"
EXPRESSIONS = "numbers, names, + - * / & |, comparisons, `and`, items, attributes, calls without keywords"
UNROLLED = 16
BUILTINS = {"range": range, "len": len, "abs": abs}
COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


@functools.cache
def _text_and_tree(text: Callable[..., Thing]) -> tuple[list[str], ast.FunctionDef, frozenset[str]]:
    """The lines of a text, its syntax tree, and the names that are assigned more than once."""
    source = textwrap.dedent(inspect.getsource(text))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    targets = [one for node in ast.walk(tree) if isinstance(node, ast.Assign) for one in node.targets]
    parts = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = Counter([*(one.id for one in parts if isinstance(one, ast.Name)), *(one.arg for one in tree.args.args)])
    return source.splitlines(), tree, frozenset(name for name, count in names.items() if count > 1)


@dataclass
class Scope:
    """What the names of a text stand for, while it is translated."""

    text: Callable[..., Thing]
    names: dict[str, Thing]
    again: frozenset[str]  # names that are assigned more than once
    own: set[str] = field(default_factory=set)  # names of vectors whose memory belongs to the text


class Translator:
    """Translates a text and the texts that it calls; all of them share one emitter."""

    def __init__(self, emit: Lines, *, runs: bool = False, unrolled: int = UNROLLED):
        """`runs` says that numbers side by side are those of runs: then numbers that change are.

        Loops over the components of vectors up to the length `unrolled` are written out.
        """
        self.emit, self.of, self._runs = emit, Operations(emit, unrolled), runs
        self._scope = Scope(self.text, {}, frozenset())

    def text(self, function: Callable[..., Thing], values: Sequence[Thing]) -> Thing:
        """The operations of a text for these arguments; what it returns."""
        before = self._scope
        _, tree, again = _text_and_tree(function)
        self._scope = Scope(function, {}, again)
        for one, x in zip(tree.args.args, values, strict=True):
            if one.arg in again and isinstance(x, Value | int | float):
                self._number(one, one.arg, x)
            else:
                self._scope.names[one.arg] = x
        *body, last = tree.body
        result = None
        if isinstance(last, ast.Return) and last.value is not None:
            self._run(body)
            result = self._value(last.value)
        else:
            self._run(tree.body)
        self._scope = before
        return result

    # ---- statements

    def _run(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            try:
                self._statement(node)
            except ValueError as error:
                raise self._error(node, str(error)) from None

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()):
                pass  # a docstring
            case ast.Expr(value=call):
                x = self._value(call)
                if isinstance(x, Pending):
                    self.emit.call(x.function.name, x.arguments)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._value(value), value)
            case ast.For(target=ast.Name(id=name), iter=ast.Call() as call, orelse=[]):
                self._loop(name, call, node.body)
            case ast.While(orelse=[]):
                self.emit.loop(functools.partial(self._value, node.test), functools.partial(self._run, node.body))
            case ast.If():
                test = self._value(node.test)
                if not isinstance(test, Value):
                    self._run(node.body if test else node.orelse)
                elif node.orelse:
                    raise self._error(node.test, "`else` is for tests that are known when a text is translated")
                elif test.kind != BIT:
                    raise self._error(node.test, "a test that differs from run to run goes into `some` or `where`")
                else:
                    self.emit.branch(test, functools.partial(self._run, node.body))
            case ast.Return():
                raise self._error(node, "a text returns at its end only")
            case _:
                raise self._error(node, "no such statement may stand in a text with loops", STATEMENTS)

    def _loop(self, name: str, call: ast.Call, body: Sequence[ast.stmt]) -> None:
        kind, bounds = self._value(call.func), [self._value(one) for one in call.args]
        first, end = bounds if len(bounds) == 2 else (0, bounds[0])

        def once(i: Thing) -> None:
            self._scope.names[name] = i
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

    def _assign(self, target: ast.expr, x: Thing, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and all(isinstance(one, Vector) for one in x):
            self.of.stored_together(x, [self._place(one) for one in target.elts])
        elif isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            for one, y, node in zip(target.elts, x, values, strict=True):
                self._assign(one, y, node)
        elif isinstance(target, ast.Name):
            if isinstance(value, ast.Name | ast.Subscript | ast.Attribute) and self._is_view(value):
                raise self._error(value, f"`{target.id}` would be a view in Python; write `+` before its value")
            self._name(target, x)
        elif isinstance(target, ast.Subscript):
            self._put(target, self._value(target.value), self._value(target.slice), x)
        else:
            raise self._error(target, "no such thing can be assigned", "names, and places of tables and vectors")

    def _is_view(self, node: ast.expr) -> bool:
        """Whether a name for this would change with its vector in Python, and not in machine code."""
        x = self._value(node.value if isinstance(node, ast.Subscript) else node)
        return isinstance(x, Stored) or (isinstance(x, Stack) and isinstance(node, ast.Subscript))

    def _place(self, target: ast.expr) -> Stored:
        """A vector in memory, whose components are to change together with those of others."""
        if isinstance(target, ast.Subscript):
            found = self._value(target)
            if isinstance(found, Stored):
                return found
        raise self._error(target, "several vectors at once are assigned to vectors of tables")

    def _put(self, target: ast.Subscript, table: Thing, at: Thing, x: Thing) -> None:
        """Assign numbers or a vector to places of a table or a vector."""
        if isinstance(table, Stack):
            k, *rest = at if isinstance(at, tuple) else (at,)
            table, at = self.of.row(table, k), rest[0] if rest else slice(None)
        if isinstance(table, Stored):
            if not isinstance(at, slice):
                self.emit.put_component(table, at, x)
            elif not isinstance(x, Vector | Stored | Pending):
                raise self._error(target, "a whole vector is assigned to a whole vector, or a number to a component")
            else:
                room = self.of.part(table, at)
                assert isinstance(room, Stored)
                self.of.stored(x, room)
            return
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

    def _name(self, target: ast.Name, x: Thing) -> None:
        """A vector has memory, a number that is assigned again has a place; all else is the name's value."""
        scope, name = self._scope, target.id
        if isinstance(x, Vector | Pending):
            if name not in scope.own:
                scope.names[name] = self.emit.vector(x.n if isinstance(x, Vector) else x.function.n)
                scope.own.add(name)
            self.of.stored(x, scope.names[name])
        elif name in scope.again and isinstance(x, Value | int | float):
            self._number(target, name, x)
        else:
            scope.names[name] = x

    def _number(self, node: ast.AST, name: str, x: Operand) -> None:
        """Assign a number that changes: a variable, which is of one kind."""
        kind, old = kind_of(x), self._scope.names.get(name)
        if self._runs:
            kind = {FLOAT: EIGHT, BIT: MASK}.get(kind, kind)
        if not isinstance(old, Variable):
            old = self._scope.names[name] = self.emit.variable(kind)
        if old.kind != kind:
            raise self._error(node, f"`{name}` was {old.kind}, and is to be {kind}")
        self.emit.set(old, x)

    # ---- expressions

    def _value(self, node: ast.expr) -> Thing:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._known_name(node, name)
            case ast.Tuple(elts=parts):
                return tuple(map(self._value, parts))
            case ast.List(elts=parts):
                return [self._value(one) for one in parts]
            case ast.ListComp(elt=each, generators=[ast.comprehension(target=ast.Name(id=name), iter=items, ifs=[])]):
                return [self._value_at(name, x, each) for x in self._value(items)]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
                return self.of.arithmetic(ARITHMETIC[type(op)], self._value(left), self._value(right))
            case ast.BoolOp(op=ast.And(), values=[left, right]):
                return self.of.arithmetic("and", self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.of.arithmetic("multiply", -1.0, self._value(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                x = self._value(operand)
                return Vector(x.n, functools.partial(self.of.component, x)) if isinstance(x, Stored) else x
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                return self.of.arithmetic(COMPARISONS[type(op)], self._value(left), self._value(right))
            case ast.Slice(lower=lower, upper=upper, step=None):
                return slice(*(None if one is None else self._value(one) for one in (lower, upper)))
            case ast.Attribute(value=value, attr=attribute):
                whole = self._value(value)
                return whole[attribute] if isinstance(whole, dict) else getattr(whole, attribute)
            case ast.Subscript(value=value, slice=at):
                return self._item(node, self._value(value), self._value(at))
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(node, self._value(function), arguments)
        raise self._error(node, "no such expression may stand in a text with loops", EXPRESSIONS)

    def _value_at(self, name: str, x: Thing, node: ast.expr) -> Thing:
        """A value for one of a list."""
        self._scope.names[name] = x
        return self._value(node)

    def _known_name(self, node: ast.expr, name: str) -> Thing:
        if name in self._scope.names:
            x = self._scope.names[name]
            return self.emit.get(x) if isinstance(x, Variable) else x
        outer = self._scope.text.__globals__
        if name in outer:
            return outer[name]
        if name in BUILTINS:
            return BUILTINS[name]
        raise self._error(node, f"no such name: `{name}`")

    def _item(self, node: ast.expr, x: Thing, at: Thing) -> Thing:
        if isinstance(x, Integers):
            return self.emit.integer(x.base, at)
        if isinstance(x, Singles):
            return self.emit.single(x.base, at)
        if isinstance(x, Stack):
            return self.of.row(x, at) if not isinstance(at, tuple) else self._item(node, self.of.row(x, at[0]), at[1])
        if isinstance(x, Stored | Vector):
            return self.of.part(x, at) if isinstance(at, slice) else self.of.component(x, at)
        if isinstance(x, Registers):
            return [self.emit.get(x.variables[k]) for k in self._numbers_of(at)]
        if isinstance(x, Numbers):
            found = [self.emit.number(x, k, at[1]) for k in self._numbers_of(at[0])]
            return found if isinstance(at[0], slice) else found[0]
        if isinstance(x, list | tuple):
            return x[at]
        raise self._error(node, "only tables, vectors and lists have items")

    def _numbers_of(self, at: Thing) -> list[Thing]:
        return [*range(at.start or 0, at.stop)] if isinstance(at, slice) else [at]

    def _call(self, node: ast.Call, function: Thing, arguments: Sequence[ast.expr]) -> Thing:
        values: list[Thing] = []
        for one in arguments:
            values += self._value(one.value) if isinstance(one, ast.Starred) else [self._value(one)]
        if function is words.given:
            return functools.partial(values[0], *values[1:])
        if isinstance(function, functools.partial):
            function, values = function.func, [*function.args, *values]
        if isinstance(function, Outside):
            return Pending(function, tuple(values))
        if getattr(function, words.RECORDED, False):
            return Noted.bare(function(*map(self._noted, values)))
        if function in (len, range):
            return function(*values)
        if function in self.of.words:
            return self.of.words[function](*values)
        if inspect.isfunction(function) and function.__module__ != words.__name__:
            return self.text(function, values)
        raise self._error(node, "only texts, recorded steps and the language's words can be called")

    def _noted(self, x: Thing) -> Thing:
        if isinstance(x, list):
            return [*map(self._noted, x)]
        return Noted(self.of, x) if isinstance(x, Value) else x

    def _error(self, node: ast.AST, message: str, allowed: str = "") -> LoopTextError:
        lines, _, _ = _text_and_tree(self._scope.text)
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        shown = lines[line - 1]
        where = f"    {shown.strip()}\n    {' ' * (column - len(shown) + len(shown.lstrip()))}^"
        more = f"\nallowed: {allowed}" if allowed else ""
        return LoopTextError(f"{self._scope.text.__name__}, line {line}: {message}\n{where}{more}")
