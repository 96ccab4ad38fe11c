"""Data as YAML text is read back as the very same data."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoc.text.library import library_folder
from denoc.text.source import parse_yaml_document, read_yaml_document
from denoc.text.writing import yaml_text

pytestmark = pytest.mark.smoke

WORDS = [
    "",
    " ",
    "yes",
    "null",
    "~",
    "true",
    "1",
    "1e3",
    "1e-3",
    "0x1F",
    "0o7",
    ".5",
    "-",
    "- a",
    "--- a",
    "...",
    ".inf",
]
WORDS += ["a: b", "a #b", "#a", "a:", "'a'", '"', "\\", "{k}", "[1]", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a`"]
WORDS += ["90 deg", "-2*pi/3", "(3 + 4/2) kg", "9.81 m/s^2", "a\nb", "\t", "\x7f", "é", "°", "\u2028", "\ufeff", "😀"]
texts = st.sampled_from(WORDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = texts | st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False)
data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts.filter(bool), inner, max_size=4)
)


def same(one, other):
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    sign = not isinstance(one, float) or math.copysign(1, one) == math.copysign(1, other)
    return type(one) is type(other) and one == other and sign


@pytest.mark.parametrize("word", WORDS)
def test_words(word):
    for value in ({"key": word}, {"list": [word, [word]]}, {word or "x": 1}, {"wide": [word, "x" * 200]}):
        assert same(value, parse_yaml_document(yaml_text(value, ["head"]), "text").data), yaml_text(value)


@settings(deadline=None, derandomize=True, max_examples=8 * settings().max_examples)
@given(st.dictionaries(texts.filter(bool), data, min_size=1, max_size=5))
def test_any_data(value):
    assert same(value, parse_yaml_document(yaml_text(value), "text").data), yaml_text(value)


@pytest.mark.parametrize(
    "path", sorted([*library_folder("robots").glob("*.yaml"), *library_folder("scenarios").glob("*.yaml")]), ids=str
)
def test_the_library(path):
    value = read_yaml_document(path).data
    text = yaml_text(value)
    assert same(value, parse_yaml_document(text, "text").data)
    assert max(map(len, text.splitlines())) <= 120
