"""YAML text: data against PyYAML's own loader, the place of every node, and every way to be wrong."""

import math
from collections import UserDict
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from denoc.errors import InputError, Place
from denoc.text import builder, source
from denoc.text.document import BREAK, Document, dotted_path
from denoc.text.source import document_from_mapping, parse_yaml_document, read_shared_yaml_document, read_yaml_document
from denoc.text.writing import resolve_yaml_scalar
from limits import cpu_time

steady = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])

LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if hasattr(yaml, "CSafeLoader") else [])]


@pytest.fixture(params=LOADERS, ids=lambda loader: loader.__name__, autouse=True)
def loader(request, monkeypatch):
    """Everything holds with and without libyaml."""
    monkeypatch.setattr(source, "LOADER", request.param)


def fault(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_yaml_document(text, "robot.yaml")
    return caught.value


def where(error: InputError) -> tuple[int, int]:
    assert error.place is not None
    return error.place.line, error.place.column


ROBOT = """\
# a comment
name: two links
links:
  - name: link1
    joint: {type: revolute, a: 0.5,
            alpha: -pi/2}
  - name: "link2"
    joint:
      type: prismatic
    r: [0, 1e-3,   2]
  - &third
    name: link3
copy: *third
"""


def test_data_and_places():
    document = parse_yaml_document(ROBOT, "robot.yaml")
    assert document.data == {
        "name": "two links",
        "links": [
            {"name": "link1", "joint": {"type": "revolute", "a": 0.5, "alpha": "-pi/2"}},
            {"name": "link2", "joint": {"type": "prismatic"}, "r": [0, 1e-3, 2]},
            {"name": "link3"},
        ],
        "copy": {"name": "link3"},
    }
    assert document.keys == {
        ("name",): (2, 1),
        ("links",): (3, 1),
        ("links", 0, "name"): (4, 5),
        ("links", 0, "joint"): (5, 5),
        ("links", 0, "joint", "type"): (5, 13),
        ("links", 0, "joint", "a"): (5, 29),
        ("links", 0, "joint", "alpha"): (6, 13),
        ("links", 1, "name"): (7, 5),
        ("links", 1, "joint"): (8, 5),
        ("links", 1, "joint", "type"): (9, 7),
        ("links", 1, "r"): (10, 5),
        ("links", 2, "name"): (12, 5),
        ("copy",): (13, 1),
        ("copy", "name"): (12, 5),
    }
    assert document.values[()] == (2, 1)
    assert document.values[("links", 0, "joint")] == (5, 12)
    assert document.values[("links", 0, "joint", "alpha")] == (6, 20)
    assert document.values[("links", 1, "r", 2)] == (10, 20)
    assert document.values[("links", 2)] == (11, 5)
    assert document.values[("copy",)] == (13, 7)
    assert document.values[("copy", "name")] == (12, 11)


def test_place_is_that_of_the_nearest_known_ancestor():
    document = parse_yaml_document(ROBOT, "robot.yaml")
    line = "    joint: {type: revolute, a: 0.5,"
    assert document.place(("links", 0, "joint", "type")) == Place("robot.yaml", 5, 19, line)
    assert document.place(("links", 0, "joint", "type"), key=True) == Place("robot.yaml", 5, 13, line)
    assert document.place(("links", 0, "joint", "theta", 3)) == Place("robot.yaml", 5, 12, line)
    assert document.place(("links", 0, "joint", "theta"), key=True) == Place("robot.yaml", 5, 5, line)
    assert document.place(("links", 1), key=True) == Place("robot.yaml", 7, 5, '  - name: "link2"')
    assert document.place(("nothing",)) == Place("robot.yaml", 2, 1, "name: two links")


def test_errors_show_the_key_and_the_line():
    error = parse_yaml_document(ROBOT, "robot.yaml").error(
        ("links", 0, "joint", "type"), "this joint type is unknown", found="revolute", allowed="x", hint="h"
    )
    assert error.key == "links[0].joint.type"
    assert str(error) == (
        "robot.yaml:5:19: links[0].joint.type: this joint type is unknown\n"
        "        joint: {type: revolute, a: 0.5,\n"
        "                      ^\n"
        "  found: revolute\n"
        "  allowed: x\n"
        "  hint: h"
    )


def test_dotted():
    assert dotted_path(()) == ""
    assert dotted_path((2,)) == "[2]"
    assert dotted_path(("links", 0, "joint", "type")) == "links[0].joint.type"
    assert dotted_path(("a", 1, 2, "b")) == "a[1][2].b"


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    # PyYAML knows YAML 1.1 and so leaves out the quotes around text such as 1e3, which is a number since 1.2
    | st.text(max_size=20).filter(lambda text: isinstance(resolve_yaml_scalar(text), str)),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5),
    max_leaves=25,
)


@steady
@given(plain.filter(lambda data: data is not None), st.sampled_from([None, True, False]), st.booleans())
def test_data_is_what_pyyaml_reads(data, flow, wide):
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=wide)
    assume(yaml.safe_load(text) == data)  # PyYAML loses "\x85" in its own round trip
    document = parse_yaml_document(text, "random")
    assert document.data == data
    assert repr(document.data) == repr(yaml.safe_load(text))  # types too: 1 and 1.0 and True are equal in Python
    check_places(document, document.data, ())


def check_places(document: Document, data, path):
    """Every node has a place within the text, and every plain key stands where it is said to."""
    line, column = document.values[path]
    assert 1 <= line <= len(document.lines)
    assert 1 <= column <= len(document.lines[line - 1]) + 1
    if isinstance(data, dict):
        for key, value in data.items():
            line, column = document.keys[(*path, key)]
            shown = document.lines[line - 1][column - 1 :]
            assert shown.startswith(key) or shown[0] in "\"'?|"
            check_places(document, value, (*path, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            check_places(document, value, (*path, number))


@steady
@given(st.dictionaries(st.text("abcdefgh", min_size=2), st.integers(0, 10**6), min_size=1), st.data())
def test_columns_count_characters(entries, data):
    lines, expected = ["é: µ\u4e2d\U0001f916"], {}
    for key, number in entries.items():
        before = data.draw(st.sampled_from(["'é\u4e2d': 1", "'\U0001f916': 2", "'x': 3"]))
        lines.append(f"{key}: {{{before}, n: {number}}}")
        expected[(key, "n")] = (len(lines), len(f"{key}: {{{before}, n: ") + 1)
    document = parse_yaml_document(data.draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines), "random")
    assert {path: document.values[path] for path in expected} == expected
    assert document.place(("é",)).source == lines[0]


# fmt: off
pieces = [
    "a: ", "b: ", "- ", "? ", ": ", "&x ", "*x", "!!int ", "!!str ", "!y ", "[", "]", "{", "}", ",", "\n", "\n  ",
    "\n    ", "1", "'", '"', "|\n", "---\n", "...\n", "<<: ", "%YAML 1.2\n", "\\", "\\ud800", "\\U00110000", "\t", "#",
]
# fmt: on


@settings(steady, max_examples=8 * settings().max_examples)
@given(
    st.text(st.characters(), max_size=80)
    | st.text("ab:-?[]{},&*!|>'\"%@`#~<=.0123456789eExX+ \n\t\\u\ufeff\x85", max_size=120)
    | st.lists(
        st.sampled_from(pieces),
        max_size=25,
    ).map("".join)
)
def test_any_text_gives_data_or_an_input_error(text):
    try:
        document = parse_yaml_document(text, "any")
    except InputError as error:
        message = str(error)
    else:
        message = "any: "
        check_types(document.data)
    assert message.startswith("any:")


def check_types(data):
    assert type(data) in (dict, list, str, int, float, bool, type(None))
    if isinstance(data, dict):
        assert all(type(key) is str for key in data)
    for part in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        check_types(part)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("", None),
        ("nUll", "nUll"),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("tRue", "tRue"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x1F", "-0x1F"),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("1e-3", 1e-3),
        ("1E5", 1e5),
        ("+1.5e+3", 1500.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1.e2", 100.0),
        (".", "."),
        ("e3", "e3"),
        (".e3", ".e3"),
        ("1e", "1e"),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("+.INF", math.inf),
        ("inf", "inf"),
        ("nan", "nan"),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("9" * 400, 10**400 - 1),
        ("9" * 5000, "9" * 5000),
        ("-" + "9" * 5000, "-" + "9" * 5000),
        ("0x" + "f" * 5000, "0x" + "f" * 5000),
        ("0x" + "f" * 4200, "0x" + "f" * 4200),
        ("2001-12-14", "2001-12-14"),
        ("90 deg", "90 deg"),
        ("-2*pi/3", "-2*pi/3"),
        ("=", "="),
        ("\u0661", "\u0661"),
    ],
)
def test_plain_scalars_follow_the_core_schema(text, value):
    result = parse_yaml_document(f"a: {text}", "f").data["a"]
    assert type(result) is type(value)
    assert result == value
    if text:
        for quoted in (f"a: '{text}'", f'a: "{text}"', f"a: |-\n  {text}", f"a: >-\n  {text}", f"a: !!str {text}"):
            assert parse_yaml_document(quoted, "f").data == {"a": text}


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_nan(text):
    assert math.isnan(parse_yaml_document(f"[{text}]", "f").data[0])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!int 5", 5),
        ('!!int "5"', 5),
        ("!!float 5", 5.0),
        ("!!float 1e400", math.inf),
        ("!!float " + "9" * 400, math.inf),
        ("!!float -" + "9" * 400, -math.inf),
        ("!!bool true", True),
        ("!!null", None),
        ("!!null ''", None),
        ("!!str", ""),
        ("!!seq [1]", [1]),
        ("!!map {b: 1}", {"b": 1}),
        ("!<tag:yaml.org,2002:str> 5", "5"),
    ],
)
def test_core_tags(text, value):
    result = parse_yaml_document(f"a: {text}", "f").data["a"]
    assert (type(result), result) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: !!python/object:os.system x", (1, 4), "tag is not supported"),
        ("a:\n  - !foo 1", (2, 5), "tag is not supported"),
        ("a: ! 1", (1, 4), "tag is not supported"),
        ("a: !!binary aGk=", (1, 4), "tag is not supported"),
        ("a: !!timestamp 2001-12-14", (1, 4), "tag is not supported"),
        ("!!omap [a: 1]", (1, 1), "tag is not supported"),
        ("!!set {a, b}", (1, 1), "tag is not supported"),
        ("!foo a: 1", (1, 1), "tag is not supported"),
        ("a: !!seq {b: 1}", (1, 4), "doesn't fit a mapping"),
        ("a: !!map [1]", (1, 4), "doesn't fit a list"),
        ("a: !!str [1]", (1, 4), "doesn't fit a list"),
        ("a: !!seq 1", (1, 4), "doesn't fit its tag !!seq"),
        ("a: !!int 1.5", (1, 4), "doesn't fit its tag !!int"),
        ("a: !!float x", (1, 4), "doesn't fit its tag !!float"),
        ("a: !!bool 1", (1, 4), "doesn't fit its tag !!bool"),
        ("a: !!null 1", (1, 4), "doesn't fit its tag !!null"),
        ("a: 1\nb:\n  c: 1\n<<: {d: 1}", (4, 1), "merge keys"),
        ("a: &a {b: 1}\nc:\n  <<: *a", (3, 3), "merge keys"),
        ("? [a, b]\n: 1", (1, 3), "a key must be plain text, not a list"),
        ("{{a: 1}: 2}", (1, 2), "a key must be plain text, not a list or mapping"),
        ("a: &a x\n*a : 1", (2, 1), "a key must be plain text, not an alias"),
        ("a: *b", (1, 4), "no anchor `&b`"),
        ("a: &a [1, *a]", (1, 11), "`*a` refers to itself"),
        ("a: &a {b: [{c: *a}]}", (1, 16), "`*a` refers to itself"),
        ("&a a: *b\nb: &b 1", (1, 7), "no anchor `&b`"),
        ("a: &a 1\nb: &a [*a]", (2, 8), "`*a` refers to itself"),
        ("a: 1\n---\nb: 1", (2, 1), "second document"),
        ("---\n---\n", (2, 1), "second document"),
        ("a: 1\n...\n---\nb: 1", (3, 1), "second document"),
        ("a: [1, 2\nb: 3", (1, 4), "a closing bracket is missing"),
        ("a: [1, 2 {}]", (1, 10), "a comma or a closing bracket is missing"),
        ("a: [1, 2\n", (1, 4), "not valid YAML"),
        ("b: 1\na: 'x\nc: 1\n", (2, 4), "not valid YAML"),
        ("a: b: c", (1, 5), "text with `: ` in it needs quotes"),
        ("a: 1\n b: 2", (2, 3), "start in one column"),
        ("a: 1\n- 2", (2, 1), "start in one column"),
        ("a:\n\t- 1", (2, 1), "spaces, not tabs"),
        ("a: @x", (1, 4), "text that starts with @ needs quotes"),
        ("- 1\n-2\n", (2, 1), "colon"),
        ("é: [}]", (1, 5), "not valid YAML"),
        ("a: é\x07", (1, 5), "U+0007"),
        ("a: 1\r\nb: \x00", (2, 4), "U+0000"),
        ("a: \ud800", (1, 4), "U+D800"),
        ("a: \ufeff", (1, 4), "U+FEFF"),
        ("%YAML 2.0\n---\na: 1", (1, 1), "incompatible"),
    ],
)
def test_mistakes_say_what_and_where(text, place, words):
    error = fault(text)
    assert words in str(error)
    assert where(error) == place
    assert error.place.source == BREAK.split(text)[place[0] - 1]
    assert str(error).startswith("robot.yaml:")


@pytest.mark.parametrize("escape", ["\\ud800", "\\U00110000", "\\UFFFFFFFF"])
def test_escapes_of_no_character(escape):
    assert "escape" in str(fault(f'a: "{escape}"'))


def test_duplicate_keys_name_both_lines():
    error = fault("a: 1\nb:\n  c: 1\n  d: 2\n  'c': 3\n")
    assert "on line 3 and on line 5" in str(error)
    assert error.key == "b.c"
    assert where(error) == (5, 3)
    assert "on line 1 and on line 1" in str(fault("{a: 1, a: 2}"))
    assert "on line 1 and on line 2" in str(fault("1: 1\n'1': 2"))


@pytest.mark.parametrize("text", ["?\n: 1", "{? : 1}", "&a : 1"])
def test_missing_keys(text):
    assert "a key is missing before `:`" in str(fault(text))


def test_keys_become_strings():
    document = parse_yaml_document("1: a\ntrue: b\n~: c\n1e3: d\n'': e\n'<<': f\non: g\n? long\n: h\n&k key: *k\n", "f")
    assert document.data == {
        "1": "a", "true": "b", "~": "c", "1e3": "d", "": "e", "<<": "f", "on": "g", "long": "h", "key": "key"
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", " \n", "# nothing\n", "---\n", "---\n...\n", "\ufeff", "&a", "%YAML 1.2\n---\n"])
def test_empty_documents(text):
    assert "is empty" in str(fault(text))


def test_roots_of_any_kind():
    assert parse_yaml_document("5", "f").data == 5
    assert parse_yaml_document("''", "f").data == ""
    assert parse_yaml_document("null", "f").data is None
    assert parse_yaml_document("- 1", "f").data == [1]
    assert parse_yaml_document("\ufeffa: 1", "f").values == {(): (1, 1), ("a",): (1, 4)}
    assert parse_yaml_document("--- {a: 1}\n...\n", "f").data == {"a": 1}


def test_aliases_are_copies():
    document = parse_yaml_document("a: &a {b: [1, {c: 2}]}\nd: *a\ne: [*a, *a]\nf: &a 5\ng: *a", "f")
    assert document.data["d"] == document.data["a"] == document.data["e"][1] == {"b": [1, {"c": 2}]}
    assert document.data["g"] == 5
    document.data["d"]["b"][1]["c"] = 3
    assert document.data["a"]["b"][1]["c"] == 2
    assert document.values[("d",)] == (2, 4)
    assert document.values[("e", 1)] == (3, 9)
    assert document.values[("e", 1, "b", 1, "c")] == document.values[("a", "b", 1, "c")] == (1, 19)
    assert document.keys[("e", 1, "b", 1, "c")] == (1, 16)


def test_depth_is_limited():
    assert parse_yaml_document("[" * 64 + "]" * 64, "f").data
    error = fault("a:\n" + " [" * 64 + "]" * 64)
    assert "deeper than 64" in str(error)
    assert where(error) == (2, 128)
    assert "deeper than 64" in str(fault("- " * 65 + "1"))
    assert "deeper than 64" in str(fault("[" * 1_000_000))
    deep = "[" * 60 + "1" + "]" * 60
    assert parse_yaml_document(f"a: &a {deep}\nb: [[[*a]]]", "f").data["b"]
    error = fault(f"a: &a {deep}\nb: [[[[*a]]]]")
    assert "deeper than 64" in str(error)
    assert where(error) == (2, 8)
    chain = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 100))
    assert "deeper than 64" in str(fault(chain))


def test_a_billion_laughs_are_counted_not_expanded():
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 40))
    with cpu_time(10):
        error = fault(text)
    assert "more than 200,000" in str(error)
    assert where(error)[0] == 6


def test_the_number_of_nodes_is_limited(monkeypatch):
    assert builder.DOCUMENT_NODES == 200_000
    monkeypatch.setattr(builder, "DOCUMENT_NODES", 2000)
    assert len(parse_yaml_document("[" + "1," * 1999 + "]", "f").data) == 1999
    error = fault("[" + "1," * 2000 + "]")
    assert "more than 2,000" in str(error)
    assert where(error) == (1, 4000)
    assert len(parse_yaml_document("a: &a [1, 2]\nb: [" + "*a," * 664 + "]", "f").data["b"]) == 664
    assert "more than 2,000" in str(fault("a: &a [1, 2]\nb: [" + "*a," * 665 + "]"))


def test_size_is_limited(tmp_path):
    assert "larger than 16 MB" in str(fault("#" * 16_000_001))
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * 16_000_001)
    with pytest.raises(InputError, match="larger than 16 MB"):
        read_yaml_document(large)


@pytest.mark.sampled(2)
def test_messages_stay_short_for_monstrous_text():
    for text in (
        "? " + "x" * 10**6 + "\n: !foo",
        "a: !" + "x" * 10**6,
        "a: *" + "x" * 10**6,
        "a: [" + "x" * 10**6,
        "a: " + "b: " * 10**6,
    ):
        assert len(str(fault(text))) < 1000


def test_read(tmp_path):
    path = tmp_path / "röbot.yaml"
    path.write_bytes("\ufeffname: é\r\nmass: 1e-3\r\n".encode())
    document = read_yaml_document(path)
    assert document.name == str(path)
    assert document.data == {"name": "é", "mass": 1e-3}
    assert document.place(("mass",)) == Place(str(path), 2, 7, "mass: 1e-3")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file") as caught:
        read_yaml_document(tmp_path / "missing.yaml")
    assert caught.value.place == Place(str(tmp_path / "missing.yaml"))
    with pytest.raises(InputError, match="directory"):
        read_yaml_document(tmp_path)
    with pytest.raises(InputError, match="can't be read"):
        read_yaml_document(tmp_path / ("x" * 5000))
    with pytest.raises(InputError, match="can't be read"):
        read_yaml_document(Path("a\0b"))
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("a: 1\nname: é\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8") as caught:
        read_yaml_document(latin)
    assert caught.value.found == "byte 0xe9 on line 2"
    wide = tmp_path / "wide.yaml"
    wide.write_bytes("a: 1".encode("utf-16"))
    with pytest.raises(InputError, match="UTF-8"):
        read_yaml_document(wide)


@steady
@given(st.binary(max_size=50))
def test_any_bytes_give_data_or_an_input_error(tmp_path, content):
    path = tmp_path / "any.yaml"
    path.write_bytes(content)
    with suppress(InputError):
        check_types(read_yaml_document(path).data)


def test_mappings_from_python():
    data = {
        "a": (1, 2.5, "x", None, True),
        "b": UserDict({"c": np.array([[1.0, 2.0]]), "n": np.int64(3), "x": np.float32(0.5), "s": np.str_("t")}),
        "p": Path("robots/puma.yaml"),
    }
    document = document_from_mapping(data, "given")
    assert document.data == {
        "a": [1, 2.5, "x", None, True],
        "b": {"c": [[1.0, 2.0]], "n": 3, "x": 0.5, "s": "t"},
        "p": str(Path("robots/puma.yaml")),
    }
    check_types(document.data)
    assert document.place(("a", 0)) is None
    error = document.error(("b", "c", 0), "is wrong")
    assert str(error) == "given: b.c[0]: is wrong"
    assert str(document_from_mapping({}).error(("b", 0), "is wrong")) == "b[0]: is wrong"


@steady
@given(plain)
def test_plain_mappings_stay_as_they_are(data):
    copied = document_from_mapping(data).data
    assert repr(copied) == repr(data)
    assert copied is not data or not isinstance(data, list | dict)


def test_mappings_that_cannot_be_data():
    for bad, words in (
        ({1: 2}, "a key must be text"),
        ({"a": {None: 2}}, "a: a key must be text"),
        ({"a": [object()]}, r"a\[0\]: a value of this type"),
        ({"a": b"x"}, "a: a value of this type"),
        ({"a": 1j}, "a: a value of this type"),
        ({"a": {1, 2}}, "a: a value of this type"),
        ({"a": [0] * 200_001}, "more than 200,000"),
    ):
        with pytest.raises(InputError, match=words):
            document_from_mapping(bad)
    endless: dict = {}
    endless["a"] = endless
    with pytest.raises(InputError, match="deeper than 64"):
        document_from_mapping(endless)


def test_a_shared_document_is_read_anew_when_its_text_changes(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("x: 1\n")
    first = read_shared_yaml_document(file)
    assert read_shared_yaml_document(file) is first
    file.write_text("x: 2\n")
    assert read_shared_yaml_document(file).data == {"x": 2}
