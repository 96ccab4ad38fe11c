"""What the parsers of expressions and formulas share: tokens with their places, and a reader that walks along them."""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

DEPTH_LIMIT = 50  # parentheses and exponents within each other
NUMBER = r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"


class ExpressionError(ValueError):
    """A mistake in an expression; `position` is its place in the text, counted from 0."""

    def __init__(self, message: str, position: int = 0):
        self.position = position
        super().__init__(message)


class Token(NamedTuple):
    kind: str  # the name of the pattern's group that it is of, or `end`
    text: str
    position: int


class Grammar:
    """The tokens of a text, read one after the other, to as many levels of nesting as are allowed.

    A subclass gives the `pattern` of a token, whose groups are named after the kinds, and the `reasons` why a character
    begins no token.
    """

    pattern: ClassVar[re.Pattern[str]]
    reasons: ClassVar[dict[str, str]] = {}

    def __init__(self, text: str):
        self.tokens = self.split(text)
        self.at = 0
        self.depth = 0

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

    @property
    def at_unit(self) -> bool:
        """Whether a unit stands here."""
        raise NotImplementedError

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
