"""Values put over those of a file, and how mistakes in them are told."""

import pytest

from denoc.errors import InputError
from denoc.text.change import Change, changed_document, parted_changes
from denoc.text.source import parse_yaml_document

pytestmark = pytest.mark.smoke

TEXT = "a: {b: 1, c: [10, 20]}\nlist:\n  - {name: x, m: 1}\n  - {name: y, m: 2}\nnothing:\n"


def put(*pairs):
    return changed_document(
        parse_yaml_document(TEXT, "file.yaml"), [Change(key, value, f"set {key}") for key, value in pairs]
    )


def test_values_at_the_ends_of_keys():
    data = put(
        ("a.b", 5), ("a.c.1", 21), ("list.y.m", 3), ("list.0.m", 4), ("new.key.deep", [1]), ("nothing.z", 0)
    ).data
    assert data["a"] == {"b": 5, "c": [10, 21]}
    assert [one["m"] for one in data["list"]] == [4, 3]
    assert data["new"] == {"key": {"deep": [1]}}
    assert data["nothing"] == {"z": 0}


def test_the_document_stays_as_it_was():
    document = parse_yaml_document(TEXT, "file.yaml")
    value = {"k": [1]}
    made = changed_document(document, [Change("a.b", value, "set")])
    made.data["a"]["b"]["k"].append(2)
    assert document.data == parse_yaml_document(TEXT, "file.yaml").data
    assert value == {"k": [1]}
    assert changed_document(document, []) is document


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("a.b.c", "`c` leads nowhere"),
        ("list.z.m", "x, y, 0 to 1"),
        ("list.2.m", "no entry `2`"),
        ("a..b", "empty"),
        ("", "empty"),
    ],
)
def test_keys_that_lead_nowhere(key, says):
    with pytest.raises(InputError, match=f"set {key}: ") as told:
        put((key, 1))
    assert says in str(told.value)


def test_whose_mistake_it_is():
    document = put(("a.b", {"deep": 1}), ("list.x.m", 2), ("new.key", 3))
    told = {
        ("a", "b"): "set a.b: wrong",
        ("a", "b", "deep"): "set a.b: wrong",
        ("list", 0, "m"): "set list.x.m: wrong",
        ("new",): "set new.key: wrong",
        ("new", "key"): "set new.key: wrong",
        ("a", "c"): "file.yaml:1:14: a.c: wrong",
        ("a",): "file.yaml:1:4: set a.b: wrong",
        ("list", 1): "file.yaml:4:5: list[1]: wrong",
    }
    for path, expected in told.items():
        assert str(document.error(path, "wrong")).splitlines()[0] == expected
    assert "set" not in str(document.error((), "wrong"))


def test_whose_file_a_key_leads_into():
    changes = [Change(key, 1, key) for key in ("time.end", "robot.links.a.mass", "robot")]
    rest, own = parted_changes(changes)
    assert [one.key for one in rest] == ["time.end", "robot"]
    assert [one.key for one in own] == ["links.a.mass"]
