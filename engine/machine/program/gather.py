"""The same results from fewer operations: what sums and products of a recorded program have in common.

Where no other node needs what is taken apart, the constants of one product are multiplied beforehand, the addends of a
sum are its own and those of the sums in it, equal ones are counted once, products with a common factor are added
before they are multiplied, and two addends that occur together in several sums are added once.  All of this is exact
but for rounding, and what is made depends on the program alone.

This is for programs that are counted and exported: both rows of the carpet scraper (Saha's overview, section 4.4) need
common pairs, and sums in full as well; common factors save operations of 3-RRR and Gough-Stewart platform.  Processors
that multiply and add in one step gain nothing from it: a b + a c is two such steps, a (b + c) is two as well, and what
several sums share has to be kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from .counting import count_operations
from .nodes import ADD, CONSTANT, MULTIPLY, SUBTRACT, Node, live_nodes, node_again

ROUNDS = 4  # of one look at all sums after the other, as long as each saves operations
LONG = 40  # addends from which on a sum isn't searched for common pairs
ADDITIVE = (ADD, SUBTRACT)
Addends = dict[int, float]  # number of a node → how often it is added
Pair = tuple[int, int, float]  # two addends, the first one's number below the other's, and the product of their signs


def gathered_nodes(results: Sequence[Node]) -> list[Node]:
    """The results from fewer operations."""
    results = with_one_constant_per_product(results)
    for _ in range(ROUNDS):
        better = list(results)
        for look in (ProgramSums.with_common_pairs, ProgramSums.with_common_factors):
            other = look(ProgramSums(better))
            if _size(other) < _size(better):
                better = other
        if _size(better) >= _size(results):
            break
        results = better
    return list(results)


def _size(results: Sequence[Node]) -> int:
    count = count_operations(results)
    return count.multiplications + count.additions


def node_uses(results: Sequence[Node], alive: Iterable[Node]) -> Counter[int]:
    """How often each node is a result or an operand, by its number."""
    uses = Counter(node.id for node in results)
    for node in alive:
        uses.update(x.id for x in (node.a, node.b) if x is not None)
    return uses


def _in_full(addends: Addends, whole: Mapping[int, Addends]) -> Addends:
    """The addends with those of all sums among them, or as they are if these are too many."""
    result: Addends = {}
    for x, share in addends.items():
        for y, other in whole.get(x, {x: 1.0}).items():
            result[y] = result.get(y, 0.0) + share * other
    result = {y: share for y, share in result.items() if share}
    return result if len(result) < LONG else addends


# ---- products


def with_one_constant_per_product(results: Sequence[Node]) -> list[Node]:
    """The results with c (x (k y)) as (c k) (x y) where no other node needs k y or x (k y)."""
    made, alive = dict[int, Node](), live_nodes(results)
    uses = node_uses(results, alive)
    for node in alive:
        a, b = (made[x.id] if x is not None else None for x in (node.a, node.b))
        found = _chain(node, uses)
        if found is not None:
            factor, x, y = found
            made[node.id] = node.graph.multiply(node.graph.node(factor), node.graph.multiply(made[x.id], made[y.id]))
        else:
            made[node.id] = node if a is node.a and b is node.b else node_again(node, a, b)
    return [made[node.id] for node in results]


def _chain(node: Node, uses: Mapping[int, int]) -> tuple[float, Node, Node] | None:
    """The factors c k, x and y of a product c (x (k y)) whose inner products nothing else uses."""
    outer, inner = node.a, node.b
    if node.op != MULTIPLY or outer is None or inner is None or outer.op != CONSTANT or inner.op != MULTIPLY:
        return None
    for x, own in ((inner.a, inner.b), (inner.b, inner.a)):
        if x is None or own is None or own.op != MULTIPLY or own.a is None or own.b is None or own.a.op != CONSTANT:
            continue
        if uses[inner.id] == uses[own.id] == 1:
            return outer.value * own.a.value, x, own.b
    return None


# ---- sums


class ProgramSums:
    """All sums of a program, each with its addends; sums that only one other sum needs are part of that one."""

    def __init__(self, results: Sequence[Node]):
        self._results = list(results)
        alive = live_nodes(results)
        self._nodes = {node.id: node for node in alive}
        self._uses = node_uses(results, alive)
        sums = [node for node in alive if node.op in ADDITIVE]
        operands = [x for node in sums for x in (node.a, node.b) if x is not None]
        self._inner = {x.id for x in operands if x.op in ADDITIVE and self._uses[x.id] == 1}
        self._pairs: dict[int, Addends] = {}  # what several sums have in common, by negative numbers
        self._made: dict[int, Node] = {}
        self._sums: dict[int, Addends] = {}
        whole: dict[int, Addends] = {}  # of sums, with those in place of the sums that they contain
        for node in sums:
            if node.id not in self._inner:
                self._sums[node.id] = own = self._addends(node)
                whole[node.id] = in_full = _in_full(own, whole)
                if len(in_full) < len(own):
                    self._sums[node.id] = self._with_one_constant(in_full)

    def _addends(self, node: Node) -> Addends:
        """The addends of a sum."""
        result: Addends = {}
        waiting = [(1.0, node)]
        while waiting:
            sign, x = waiting.pop()
            if x.a is not None and x.b is not None and (x is node or x.id in self._inner):
                waiting += [(sign if x.op == ADD else -sign, x.b), (sign, x.a)]
            else:
                result[x.id] = result.get(x.id, 0.0) + sign
        return self._with_one_constant(result)

    def _with_one_constant(self, addends: Addends) -> Addends:
        """The addends without those of 0, constants as one."""
        nodes = self._nodes
        result = {x: share for x, share in addends.items() if share and nodes[x].op != CONSTANT}
        constant = sum(share * nodes[x].value for x, share in addends.items() if nodes[x].op == CONSTANT)
        if constant:
            made = self._results[0].graph.node(abs(constant))
            nodes[made.id] = self._made[made.id] = made
            result[made.id] = 1.0 if constant > 0 else -1.0
        return result

    # ---- common pairs

    def with_common_pairs(self) -> list[Node]:
        """The results, with two addends added once that several sums have, with the same or with opposite signs."""
        within: dict[Pair, dict[int, None]] = {}  # pair → sums
        sums = self._different()
        for number in sums:
            single = [x for x, share in self._sums[number].items() if abs(share) == 1.0]
            for a, b in combinations(sorted(single), 2) if len(single) < LONG else ():
                within.setdefault((a, b, self._sums[number][a] * self._sums[number][b]), {})[number] = None
        within = {pair: those for pair, those in within.items() if len(those) > 1}
        while within:
            pair = min(within, key=lambda pair: (-len(within[pair]), pair))
            if len(within[pair]) < 2:
                break
            self._take(pair, within)
        return self._remade()

    def _different(self) -> list[int]:
        """The sums, of those that are equal or opposite to each other the first."""
        known: dict[frozenset[tuple[int, float]], int] = {}
        result: list[int] = []
        for number, addends in self._sums.items():
            for sign in (1.0, -1.0):
                first = known.get(frozenset((x, sign * share) for x, share in addends.items()))
                if first is not None:
                    self._sums[number] = {first: sign}
                    break
            else:
                known[frozenset(addends.items())] = number
                result.append(number)
        return result

    def _take(self, pair: Pair, within: dict[Pair, dict[int, None]]) -> None:
        """Makes one addend of a pair in all sums that have it."""
        a, b, sign = pair
        new = -1 - len(self._pairs)
        self._pairs[new] = {a: 1.0, b: sign}
        for number in list(within[pair]):
            addends = self._sums[number]
            first = addends[a]
            for taken in (a, b):
                share = addends.pop(taken)
                for x, other in addends.items():
                    within.get((min(x, taken), max(x, taken), other * share), {}).pop(number, None)
            for x, other in addends.items():
                if abs(other) == 1.0:
                    within.setdefault((min(new, x), max(new, x), first * other), {})[number] = None
            addends[new] = first
        for other_pair in [one for one, those in within.items() if len(those) < 2]:
            del within[other_pair]

    # ---- common factors

    def with_common_factors(self) -> list[Node]:
        """The results with a b + a c as a (b + c) where nothing else needs these products."""
        return self._remade(self._factored)

    def _factored(self, addends: Addends) -> Node:
        left, found = dict(addends), list[tuple[Node, float]]()
        while True:
            having: dict[int, list[int]] = {}
            for x, share in left.items():
                node = self._nodes[x]
                if node.op == MULTIPLY and self._uses[x] == 1 and abs(share) == 1.0:
                    for factor in {y.id for y in (node.a, node.b) if y is not None}:
                        having.setdefault(factor, []).append(x)
            common = min(having, key=lambda y: (-len(having[y]), y), default=None)
            if common is None or len(having[common]) < 2:
                break
            others: list[tuple[Node, float]] = []
            for x in having[common]:
                a, b = self._nodes[x].a, self._nodes[x].b
                other = b if a is not None and a.id == common else a
                assert other is not None
                others.append((self._made[other.id], left.pop(x)))
            found.append((self._made[common] * self._total(others), 1.0))
        return self._total([*((self._made[x], share) for x, share in left.items()), *found])

    # ---- the program anew

    def _remade(self, total: Callable[[Addends], Node] | None = None) -> list[Node]:
        for number in sorted(self._nodes):
            node = self._nodes[number]
            if number in self._sums:
                self._made[number] = (total or self._added)(self._sums[number])
            elif number not in self._inner:
                a, b = (self._made[x.id] if x is not None else None for x in (node.a, node.b))
                self._made[number] = node if a is node.a and b is node.b else node_again(node, a, b)
        return [self._made[node.id] for node in self._results]

    def _added(self, addends: Addends) -> Node:
        """The sum of these addends, pairs among them."""
        for x in addends:
            if x < 0 and x not in self._made:
                self._made[x] = self._added(self._pairs[x])
        return self._total([(self._made[x], share) for x, share in addends.items()])

    def _total(self, addends: Sequence[tuple[Node, float]]) -> Node:
        """A sum that begins with an addend that isn't subtracted, if there is one."""
        graph = self._results[0].graph
        if [share for _, share in addends] == [-1.0]:
            return graph.opposite(addends[0][0])
        result = graph.node(0.0)
        first = next((k for k, (_, share) in enumerate(addends) if share > 0.0), 0)
        for x, share in (*addends[first : first + 1], *addends[:first], *addends[first + 1 :]):
            size = x if abs(share) == 1.0 else x + x if abs(share) == 2.0 else abs(share) * x
            result = result + size if share > 0.0 else result - size
        return result
