"""What a document may hold at most, so that no file takes all memory or ends in a recursion."""

from __future__ import annotations

import re

SIZE = 16_000_000  # bytes of text
DEPTH = 64  # lists and mappings within each other
NODES = 200_000  # keys and values; an alias counts as many as it stands for
BITS = 14_000  # of an integer: fewer than Python agrees to print

SURROGATE = re.compile("[\ud800-\udfff]")  # no character: half of one
