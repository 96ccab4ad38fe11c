"""Operations on numbers and on whole vectors: what is known now folds, everything else an emitter writes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from . import words
from .emit import Lines
from .values import (
    BIT,
    COMPARISONS,
    EIGHT,
    FIRST,
    FLOAT,
    INTEGER,
    MASK,
    PLACES,
    Operand,
    Output,
    Pending,
    Stack,
    Stored,
    Thing,
    Value,
    Vector,
    kind_of,
)

KNOWN: Mapping[str, Callable[[Thing, Thing], Thing]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "and": operator.and_,
    "or": operator.or_,
    **{name: getattr(operator, name) for name in COMPARISONS},
}
LOGICAL = ("and", "or")


class Operations:
    """Arithmetic and the words of the language on known numbers, values, and vectors."""

    def __init__(self, emit: Lines, unrolled: int):
        self.emit, self._unrolled = emit, unrolled
        self.words: Mapping[Thing, Callable[..., Thing]] = {
            words.where: partial(self._each, self._where),
            words.some: self._some,
            words.no: partial(self._each, self._opposite),
            words.larger: partial(self._each, partial(self._chosen, "gt")),
            words.smaller: partial(self._each, partial(self._chosen, "lt")),
            words.sqrt: partial(self._each, partial(emit.function, "sqrt")),
            abs: partial(self._each, partial(emit.function, "fabs")),
            words.power: partial(emit.function, "pow"),
            words.spacing: self._spacing,
            words.whole: emit.whole,
            words.squares: self._squares,
            words.dot: self._dot,
            words.sums: self._sums,
            words.inner_product: self._inner_product,
            words.taken: self._taken,
            words.weighted: self._weighted,
            words.shares: self._shares,
            words.put: self._put,
            words.shifted: partial(self.arithmetic, "add"),
            words.registers: emit.registers,
        }

    def arithmetic(self, name: str, a: Thing, b: Thing) -> Thing:
        """An operation, on each component where one of the two is a vector."""
        return self._each(partial(self._single, name), a, b)

    def _each(self, operation: Callable[..., Thing], *values: Thing) -> Thing:
        """The operation on numbers, or a recipe with the operation on the components of vectors."""
        vectors = [x for x in values if isinstance(x, Vector | Stored)]
        if not vectors:
            return operation(*values)
        self._check_lengths(vectors)

        def at(i: Operand) -> Thing:
            return operation(*(self.component(x, i) if isinstance(x, Vector | Stored) else x for x in values))

        return Vector(vectors[0].n, at)

    def _check_lengths(self, vectors: Sequence[Vector | Stored]) -> None:
        known = {x.n for x in vectors if not isinstance(x.n, Value)}
        if len(known) > 1:
            raise ValueError(f"vectors have the lengths {', '.join(map(str, sorted(known)))}")

    def component(self, x: Vector | Stored, i: Operand) -> Thing:
        """One component."""
        return x.at(i) if isinstance(x, Vector) else self.emit.component(x, i)

    def _single(self, name: str, a: Operand, b: Operand) -> Operand:
        """The operation on two numbers; sums with 0 and products with 0 and 1 fold, too."""
        if not isinstance(a, Value) and not isinstance(b, Value):
            known: Operand = KNOWN[name](a, b)
            return known
        kinds = {kind_of(a), kind_of(b)}
        if name in LOGICAL:
            return self._logical(name, a, b, MASK if MASK in kinds else BIT)
        whole = kinds <= {INTEGER, FIRST, PLACES} and name != "divide"
        kind = next((one for one in (PLACES, FIRST) if one in kinds), INTEGER) if whole else FLOAT
        if not whole and kinds & {EIGHT, PLACES}:
            kind = EIGHT
        if name in COMPARISONS:
            return self.emit.compare(name, a, b, kind)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Value):
                continue
            if name == "multiply" and one == 0:
                return 0 if whole else 0.0
            if (name, one) in (("add", 0), ("multiply", 1)) and kind_of(other) == kind:
                return other
        return self.emit.operation(name, a, b, kind)

    def _logical(self, name: str, a: Operand, b: Operand, kind: str) -> Operand:
        for one, other in ((a, b), (b, a)):
            if not isinstance(one, Value):
                return other if one == (name == "and") else one
        return self.emit.operation(name, a, b, kind)

    def part(self, x: Vector | Stored, at: slice) -> Vector | Stored:
        """The components from one place up to another one."""
        first, n = 0 if at.start is None else at.start, x.n if at.stop is None else at.stop
        if at.start is not None:
            n = self.arithmetic("subtract", n, first)
        if isinstance(x, Stored):
            return Stored(n, x.base, self.arithmetic("add", x.first, first))
        return Vector(n, partial(self._behind, x, first))

    def _behind(self, x: Vector, first: Operand, i: Operand) -> Operand:
        return x.at(self.arithmetic("add", first, i))

    # ---- vectors in memory

    def stored(self, x: Thing, room: Stored) -> Stored:
        """A vector, or what a function from outside gives, in its place in memory."""
        if isinstance(x, Pending):
            self.emit.call(x.function.name, [*x.arguments, room])
        else:
            self.stored_together([x], [room])
        return room

    def stored_together(self, vectors: Sequence[Vector | Stored], rooms: Sequence[Stored]) -> None:
        """Vectors of one length in their places in memory, by one loop."""
        self._check_lengths([*vectors, *rooms])

        def put(i: Operand) -> None:
            for room, component in zip(rooms, [self.component(x, i) for x in vectors], strict=True):
                self.emit.put_component(room, i, component)

        self._for_each(vectors[0].n, put)

    def _for_each(self, n: Operand, body: Callable[[Thing], None]) -> None:
        if isinstance(n, Value) or n > self._unrolled:
            self.emit.rolled(0, n, body)
        else:
            for i in range(int(n)):
                body(i)

    # ---- words

    def _where(self, test: Operand, a: Operand, b: Operand) -> Operand:
        if not isinstance(test, Value) or (a == b and not isinstance(a, Value)):
            return a if test else b
        kinds = {kind_of(a), kind_of(b)}
        if kinds & {BIT, MASK}:
            return self.emit.select(test, a, b, MASK if MASK in {*kinds, test.kind} else BIT)
        return self.emit.select(test, a, b, EIGHT if EIGHT in kinds or test.kind == MASK else FLOAT)

    def _chosen(self, how: str, a: Operand, b: Operand) -> Operand:
        return self._where(self._single(how, a, b), a, b)

    def _some(self, x: Operand) -> Operand:
        return self.emit.some(x) if kind_of(x) == MASK and isinstance(x, Value) else x

    def _opposite(self, x: Operand) -> Operand:
        return self.emit.opposite(x) if isinstance(x, Value) else not x

    def _spacing(self, x: Operand) -> Operand:
        return self._single("subtract", self.emit.next_up(x), x)

    def _squares(self, x: Vector | Stored) -> Value:
        return self._sums(Vector(x.n, partial(self._square, x)))[0]

    def _square(self, x: Vector | Stored, i: Operand) -> Operand:
        part = self.component(x, i)
        return self._single("multiply", part, part)

    def _dot(self, x: Vector | Stored, y: Vector | Stored) -> Value:
        return self._sums(self.arithmetic("multiply", x, y))[0]

    def _inner_product(self, x: Sequence[Vector | Stored], y: Sequence[Vector | Stored]) -> list[Value]:
        if len(x) == 1:
            return [self._dot(x[0], y[0])]
        products = [[self.arithmetic("multiply", a, b) for b in y] for a in x]
        real = self.arithmetic("subtract", products[0][0], products[1][1])
        return self._sums(real, self.arithmetic("add", products[0][1], products[1][0]))

    def _taken(self, x: Stored, places: Vector | Stored) -> Vector:
        return Vector(places.n, partial(self._taken_component, x, places))

    def _taken_component(self, x: Stored, places: Vector | Stored, i: Operand) -> Value:
        return self.emit.taken(x, self.emit.whole(self.component(places, i)))

    def _sums(self, *vectors: Vector | Stored) -> list[Value]:
        self._check_lengths(vectors)
        totals = [self.emit.variable(EIGHT) for _ in vectors]
        for total in totals:
            self.emit.set(total, 0.0)

        def add(i: Operand) -> None:
            for total, x in zip(totals, vectors):
                self.emit.set(total, self._single("add", self.component(x, i), self.emit.get(total)))

        self._for_each(vectors[0].n, add)
        return [self.emit.get(total) for total in totals]

    def _weighted(self, weights: Sequence[Operand], rows: Stack) -> Vector:
        kept = [(k, w) for k, w in enumerate(weights) if isinstance(w, Value) or w != 0.0]
        used = [(self.row(rows, k), w if isinstance(w, Value) else float(w)) for k, w in kept]

        def at(i: Operand) -> Operand:
            total: Operand = 0.0
            for row, weight in used:
                total = self._single("add", total, self._single("multiply", self.component(row, i), weight))
            return total

        return Vector(rows.n, at)

    def row(self, table: Stack, k: Operand) -> Stored:
        """A vector of a table."""
        return self.emit.row(table, k)

    def _shares(self, P: Sequence[Sequence[float]], x: Value) -> list[Operand]:
        listed = []
        for powers in P:
            total: Operand = 0.0
            for weight in reversed(powers):
                total = self._single("multiply", self._single("add", total, float(weight)), x)
            listed.append(total)
        return listed

    def _put(self, out: Output, row: Operand, here: Value, y: Vector | Stored) -> None:
        self.emit.put_row(out, row, here, y if isinstance(y, Stored) else self.stored(y, self.emit.vector(y.n)))


class Noted:
    """A number of a recorded step, which notes what is done with it."""

    def __init__(self, of: Operations, value: Value):
        self._of, self._value = of, value

    def _two(self, name: str, a: Thing, b: Thing) -> Thing:
        bare = [x._value if isinstance(x, Noted) else x for x in (a, b)]
        found = self._of.arithmetic(name, *bare)
        return Noted(self._of, found) if isinstance(found, Value) else found

    def __add__(self, other: Thing) -> Thing:
        return self._two("add", self, other)

    def __radd__(self, other: Thing) -> Thing:
        return self._two("add", other, self)

    def __sub__(self, other: Thing) -> Thing:
        return self._two("subtract", self, other)

    def __rsub__(self, other: Thing) -> Thing:
        return self._two("subtract", other, self)

    def __mul__(self, other: Thing) -> Thing:
        return self._two("multiply", self, other)

    def __rmul__(self, other: Thing) -> Thing:
        return self._two("multiply", other, self)

    def __truediv__(self, other: Thing) -> Thing:
        return self._two("divide", self, other)

    def __rtruediv__(self, other: Thing) -> Thing:
        return self._two("divide", other, self)

    def __neg__(self) -> Thing:
        return self._two("multiply", -1.0, self)

    def cosine_sine(self) -> tuple[Noted, Noted]:
        c, s = self._of.emit.cosine_sine(self._value)
        return Noted(self._of, c), Noted(self._of, s)

    def sign(self) -> Noted:
        return Noted(self._of, self._of.emit.sign(self._value))

    @staticmethod
    def bare(x: Thing) -> Thing:
        """Lists of noted numbers as lists of values."""
        if isinstance(x, list | tuple):
            return [Noted.bare(one) for one in x]
        return x._value if isinstance(x, Noted) else x
