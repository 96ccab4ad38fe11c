"""Loops and branches in LLVM IR that may hold each other, for code that decides as it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from .block import Block

_NUMBERS = count()  # of labels, which are different in all functions


@dataclass
class Loop:
    """A loop under way: the register of its index, those of the values that it carries on, and their next values."""

    index: str
    values: list[str]
    following: list[str] = field(default_factory=list)


@contextmanager
def ir_loop(block: Block, first: str, end: str, start: Sequence[tuple[str, str]] = ()) -> Iterator[Loop]:
    """The body of a loop over i64 from `first` up to before `end`, perhaps not even once.

    It carries values on, given by their types and their first registers: the body puts the next ones into `following`,
    and behind the loop `values` are the last ones.
    """
    name, line = f"l{next(_NUMBERS)}", block.lines.append
    now = Loop(f"%{name}.i", [f"%{name}.v{k}" for k in range(len(start))])
    line(f"  br label %{name}.before\n{name}.before:\n  br label %{name}.head\n{name}.head:")
    line(f"  {now.index} = phi i64 [{first}, %{name}.before], [%{name}.next, %{name}.latch]")
    place = len(block.lines)
    line(f"  %{name}.on = icmp slt i64 {now.index}, {end}\n  br i1 %{name}.on, label %{name}.body, label %{name}.after")
    line(f"{name}.body:")
    yield now
    line(f"  br label %{name}.latch\n{name}.latch:\n  %{name}.next = add i64 {now.index}, 1\n  br label %{name}.head")
    line(f"{name}.after:")
    for (kind, begun), value, then in zip(start, now.values, now.following, strict=True):
        block.lines.insert(place, f"  {value} = phi {kind} [{begun}, %{name}.before], [{then}, %{name}.latch]")


@contextmanager
def ir_when(block: Block, condition: str) -> Iterator[None]:
    """Lines that run where the condition holds."""
    name, line = f"w{next(_NUMBERS)}", block.lines.append
    line(f"  br i1 {condition}, label %{name}.then, label %{name}.after\n{name}.then:")
    yield
    line(f"  br label %{name}.after\n{name}.after:")


def ir_leave(block: Block, condition: str, label: str) -> None:
    """Go to the label where the condition holds."""
    name = f"w{next(_NUMBERS)}"
    block.lines.append(f"  br i1 {condition}, label %{label}, label %{name}.stay\n{name}.stay:")
