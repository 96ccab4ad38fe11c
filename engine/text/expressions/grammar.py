"""The grammar of expressions, formulas and other programs' assignments; whoever reads one says what its parts mean.

    sum      = product (("+" | "-") product)*
    product  = signed (("*" | "/") signed)*
    signed   = ("+" | "-")* measured
    measured = power (unit | "1" "/" unit)*                 a unit belongs to the number right before it
    power    = primary (("^" | "**") ("+" | "-")* power)?
    primary  = NUMBER | unit | "(" sum ")" | what is named

So `10 N m / 2 rad` is (10 N m)/(2 rad), `9.81 m/s^2` is 9.81 (m/(s^2)), and `-2^2` is -4 as in Python.
"""

from __future__ import annotations

import re
from typing import ClassVar, Generic, NamedTuple, TypeVar

DEPTH_LIMIT = 50  # parentheses and exponents within each other
NUMBER = r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"

Value = TypeVar("Value")


class ExpressionError(ValueError):
    """A mistake in an expression; `position` is its place in the text, counted from 0."""

    def __init__(self, message: str, position: int = 0):
        self.position = position
        super().__init__(message)


class Token(NamedTuple):
    kind: str  # the name of the pattern's group that it is of, or `end`
    text: str
    position: int


class Grammar(Generic[Value]):
    """A recursive descent along the tokens of a text, one method for each rule of the grammar above.

    A subclass gives the `pattern` of a token, whose groups are named after the kinds, and the `reasons` why a character
    begins no token. Its `number`, `named`, `operation` and, where there are units, `at_unit` and `in_unit` say what is
    read. In messages the whole is called `noun`, and what may stand at an operator's side `wanted`.
    """

    pattern: ClassVar[re.Pattern[str]]
    reasons: ClassVar[dict[str, str]] = {}
    products: ClassVar[tuple[str, ...]] = ("*", "/")
    powers: ClassVar[tuple[str, ...]] = ("^", "**")
    noun = "expression"
    wanted = "a number"
    most = 200  # characters
    only_numbers_have_units = False

    def __init__(self, text: str):
        if len(text) > self.most:
            raise ExpressionError(f"the {self.noun} has {len(text)} characters; at most {self.most} are read")
        self.tokens = self.split(text)
        self.at = 0
        self.depth = 0

    # ---- what the parts mean

    def number(self, token: Token) -> Value:
        raise NotImplementedError

    def operation(self, name: str, operands: tuple[Value, ...], position: int) -> Value:
        """The value of a sign between its operands, or of `neg`."""
        raise NotImplementedError

    def named(self, token: Token) -> Value:
        """The value of what begins with this token, which has been read and is neither number, unit nor parenthesis."""
        raise ExpressionError(f"{self.wanted} is missing before `{token.text}`", token.position)

    @property
    def at_unit(self) -> bool:
        """Whether a unit stands here."""
        return False

    def in_unit(self, value: Value, over: bool) -> Value:
        """The value times the unit that stands here, which is read, or `over` it."""
        raise NotImplementedError

    # ---- the rules

    def whole(self) -> Value:
        """The value of the whole text."""
        if self.token.kind == "end":
            raise ExpressionError(f"the {self.noun} is empty")
        value = self.sum()
        self.finish()
        return value

    def sum(self) -> Value:
        value = self.product()
        while sign := self.accept("+", "-"):
            value = self.operation(sign.text, (value, self.product()), sign.position)
        return value

    def product(self) -> Value:
        value = self.signed()
        while sign := self.accept(*self.products):
            value = self.operation(sign.text, (value, self.signed()), sign.position)
        return value

    def signed(self) -> Value:
        position = self.token.position
        negative, value = self.negative(), self.measured()
        return self.operation("neg", (value,), position) if negative else value

    def measured(self) -> Value:
        measurable = self.token.kind == "number" or not self.only_numbers_have_units
        value = self.power()
        while measurable and (over := self.one_over()) is not None:
            value = self.in_unit(value, over)
        return value

    def power(self) -> Value:
        base = self.primary()
        sign = self.accept(*self.powers)
        return self.operation("^", (base, self.exponent(sign)), sign.position) if sign else base

    def exponent(self, sign: Token) -> Value:
        """The value behind the sign of a power."""
        self.deeper(sign)
        negative, value = self.negative(), self.power()
        self.depth -= 1
        return self.operation("neg", (value,), sign.position) if negative else value

    def primary(self) -> Value:
        token = self.token
        if self.at_unit:
            return self.in_unit(self.number(Token("number", "1", token.position)), False)
        if token.kind == "end":
            raise ExpressionError(f"the {self.noun} ends too early", token.position)
        self.at += 1
        if token.kind == "number":
            return self.number(token)
        return self.enclosed(token) if (token.kind, token.text) == ("sign", "(") else self.named(token)

    def enclosed(self, opening: Token) -> Value:
        """The value between an opening parenthesis, which has been read, and its closing one."""
        self.deeper(opening)
        value = self.sum()
        self.closed(opening)
        return value

    def arguments(self, opening: Token) -> list[Value]:
        """The values between such parentheses, with commas between."""
        self.deeper(opening)
        values = [self.sum()]
        while self.accept(","):
            values.append(self.sum())
        self.closed(opening)
        return values

    # ---- tokens

    @classmethod
    def split(cls, text: str) -> list[Token]:
        """The tokens of a text, with one at the end that marks it."""
        tokens, at = [], 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            match = cls.pattern.match(text, at)
            if not match:
                raise ExpressionError(cls.reasons.get(text[at], f"`{text[at]}` has no meaning here"), at)
            kind = str(match.lastgroup)
            tokens.append(Token(kind, match[kind], at))
            at = match.end()
        return [*tokens, Token("end", "", len(text))]

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def accept(self, *signs: str) -> Token | None:
        """Consumes and returns the next token if it is one of these signs."""
        token = self.token
        if token.kind != "sign" or token.text not in signs:
            return None
        self.at += 1
        return token

    def one_over(self) -> bool | None:
        """Whether a unit that stands here is one over another, as in `20 1/s`, whose `1/` is read; None without one."""
        first, second = self.token, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        over = (first.kind, first.text, second.text) == ("number", "1", "/")
        self.at += 2 * over
        if self.at_unit:
            return over
        self.at -= 2 * over
        return None

    def negative(self) -> bool:
        """Whether any number of signs makes a number negative; read in a loop so that `-----1` doesn't nest."""
        negative = False
        while sign := self.accept("+", "-"):
            negative ^= sign.text == "-"
        return negative

    def finish(self) -> None:
        """Raises an error unless the text ends here."""
        token = self.token
        if token.kind != "end":
            operator = token.kind == "sign" and token.text != "("
            hint = "" if operator else "; is an operator such as `*` missing before it?"
            raise ExpressionError(f"`{token.text}` can't follow here{hint}", token.position)

    def deeper(self, token: Token) -> None:
        """Counts one more level of nesting; too many are refused."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise ExpressionError(f"nested too deep; at most {DEPTH_LIMIT} levels are read", token.position)

    def closed(self, opening: Token) -> None:
        """Reads the parenthesis that closes this one."""
        self.depth -= 1
        if not self.accept(")"):
            if self.token.kind != "end":
                self.finish()
            raise ExpressionError("a closing parenthesis is missing", opening.position)
