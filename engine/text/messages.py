"""Messages for errors of PyYAML, in words that fit the file."""

from __future__ import annotations

# a part of PyYAML's message, with or without libyaml -> our message, and a hint
_OWN_LINE = "each `- ` stands on a line of its own"
_ONE_COLUMN = "entries of one mapping or list must start in one column, each on its own line"
MESSAGES = {
    "mapping values are not allowed": (
        "a colon stands where none can",
        "text with `: ` in it needs quotes; entries of one mapping start in one column",
    ),
    "did not find expected key": ("this doesn't line up with what stands above it", _ONE_COLUMN),
    "expected <block end>": ("this doesn't line up with what stands above it", _ONE_COLUMN),
    "did not find expected '-' indicator": ("this doesn't line up with what stands above it", _ONE_COLUMN),
    "block sequence entries are not allowed": ("a list entry can't stand here", _OWN_LINE),
    "sequence entries are not allowed": ("a list entry can't stand here", _OWN_LINE),
    "while scanning a quoted scalar": ("a quotation has no end", "a closing quote is missing"),
    "did not find expected ',' or": ("a bracket isn't closed", "a comma or a closing bracket is missing"),
    "expected ',' or": ("a bracket isn't closed", "a comma or a closing bracket is missing"),
    "could not find expected ':'": ("a key has no colon", "a colon with a space after it is missing"),
    "did not find expected node content": ("a value is missing here", "is there a comma or a bracket too many?"),
    "expected the node content": ("a value is missing here", "is there a comma or a bracket too many?"),
    "mapping keys are not allowed": ("a question mark can't stand here", "text that starts with ? needs quotes"),
    "found unexpected ':'": ("a colon stands where none can", "a space must follow it, or the text needs quotes"),
    "while scanning an alias": ("this is no alias", "text that starts with * needs quotes"),
    "while scanning an anchor": ("this is no anchor", "text that starts with & needs quotes"),
    "while scanning a tag": ("this is no tag", "text that starts with ! needs quotes"),
    "while parsing a tag": ("this is no tag", "text that starts with ! needs quotes"),
    "while parsing a node": ("this is no tag", "text that starts with ! needs quotes"),
    "while scanning a directive": ("a line starts with %", "text that starts with % needs quotes"),
    "while scanning a block scalar": ("a text block can't start so", "text that starts with | or > needs quotes"),
    "expected <document start>": ("something stands behind the end", "one file holds one mapping"),
    "expected '<document start>'": ("something stands behind the end", "one file holds one mapping"),
}
