"""How files are broken at random: bytes, lines, and the values of tables, JSON, XML and databases."""

import csv
import io
import json
import re
import sqlite3
import struct
import tempfile
from pathlib import Path

TIMES = (1, 1, 1, 2, 4)  # how often one file is broken
ESCAPES = ["\x1b]52;c;eA==\x07", "\x1b[2J", "a\rb", "\x00", "\x9b31m", "\u202e", "a\nb"]
NUMBERS = [
    *["nan", "inf", "-inf", "1e400", "1e-400", "1e300", "-1e300", "1e-300", "-1", "0", "2", "1e18", "9" * 400],
    *["-0", "1e9", "2147483648", "18446744073709551616", "0x10", "1_000", "1,5", "٣", "1e", "--1", "+"],
]
BITS = [
    *["nan", ".nan", ".inf", "-.inf", "1e400", "1e-400", "1e300", "-1e300", "1e-300", "-1", "0", "2", "1e18"],
    *["[]", "{}", "[[]]", "{a: 1}", "null", "true", "'", '"', "\t", "&a [*a]", "*a", "- -", ": :", "? x", "| x", "%", "@x"],
    *["!!python/object/apply:os.system ['true']", "!!int x", "!!float 1", "!foo x", "\x00", "\x07", "\u2028", "𝔘"],
    *["9" * 400, "9" * 5000, "__import__('os')", "pi/0", "9^9^9", "sqrt(-1)", "(" * 60, "90 parsec", "2024-01-01"],
    *["90 deg", "1 m", "3 kg", "2 s", "45 rpm", "5 N", "5 N m", "revolute", "spherical", "free", "fixed", "dh", "frames"],
    *["base", "link1", "joint1", "all", "cycloid", "table", "pd", "feedforward", "inverse", "simulate", "puma", "..", "/"],
    *["[1, 2]", "[0, 0, 0]", "[0, 0, 0, 0]", "{axis: [0, 0, 0], angle: 1}", "{law: rate, rate: 1}", "a" * 300, "<<", "---"],
    *['"\\e]52;c;eA==\\a"', '"a\\rb"', '"a\\nb"'],
]  # fmt: skip
WORDS = {  # what stands in place of a word in files of each kind
    ".m": [
        *["ones(30000,1)*ones(1,30000)", "zeros(1e5)", "x=[x;x];", "[]", "a(:)", "1:1e9", "while 1", "for i=1:1e9", "end"],
        *["inputs()", "'", "...", "%", "[", "1e400", "n(2)", "sin", "@f", "eval('1')", "{1}", "a'*a", "pi/0", "function"],
    ],
    ".par": [
        "{",
        "}",
        "{}",
        "(*",
        "*)",
        "2",
        "0",
        "-1",
        "1e400",
        "pi/0",
        "NL",
        "sigma",
        "99",
        "x" * 300,
        "{1,{2}}",
        "=",
    ],
    ".obj": ["999999999", "-1", "0", "1e400", "nan", "1//", "/", "f", "v", "f 1 2 3", "1/1/1", "x"],
    ".stl": ["nan", "1e400", "vertex", "facet", "solid", "endsolid", "1 2", "", "-1e300"],
}  # fmt: skip
XML = [
    *["0 0 0", "1 0 0", "0 0", "nan 0 0", "1e400 0 0", "1e300 1e300 1e300", "base", "world", "link1", "revolute", "fixed"],
    *["floating", "hinge", "ball", "free", "slide", "true", "false", "../../x", "/dev/zero", "a" * 300, "&#27;]52;c;eA==&#7;"],
    *["&#13;x", "&amp;", "package://x/y.stl", "1 2 3 4 5 6 7", "-1 -1 -1", "1e-300", "xyz", "radian", "degree", "${a}"],
]  # fmt: skip
VALUES = [
    *[None, True, False, 0, -1, 2.5, float("nan"), float("inf"), 10**400, 1e300, -1e300, 1e-300, 2**63, "x", "", "90 deg"],
    *[[], {}, [1], [1, 2, 3], {"a": {"b": {}}}, [[1, 2], [3]], "all", "puma", "..", "/etc/passwd", "a" * 5000, "t", "joint1"],
    *["1.0", "nan", "\ud800", *ESCAPES],
]  # fmt: skip


def bytes_broken(content, draw):
    """Bits, bytes and numbers of the file are others, and parts of it lost, doubled or added."""
    made = bytearray(content)
    for _ in range(draw.choice(TIMES)):
        at, how = draw.randrange(len(made) + 1), draw.randrange(9)
        end = min(at + draw.choice((1, 2, 8, 100, 5000)), len(made))
        if how < 2 and at < len(made):
            made[at] ^= 1 << draw.randrange(8)
        elif how < 4:
            made[at : at + 1] = draw.choice((b"\x00", b"\xff", b"\x7f", b"\n", b'"', b"-", b"9", b"\x1b"))
        elif how == 4:
            del made[at:]
        elif how == 5:
            del made[at:end]
        elif how == 6:
            made[at:at] = made[at:end]
        elif how == 7:
            made[at : at + 4] = struct.pack(draw.choice("<>") + "I", draw.choice((0, 1, 2**31 - 1, 2**32 - 1, 10**6)))
        else:
            made[at : at + 8] = struct.pack(draw.choice("<>") + "d", draw.choice((float("nan"), 1e300, -1.0, 1e18)))
    return bytes(made)


def lines_broken(content, draw, bits=BITS):
    """Lines are lost, doubled, cut or exchanged, and words are others."""
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    for _ in range(draw.choice(TIMES)):
        lines = lines or [""]
        k, how = draw.randrange(len(lines)), draw.randrange(9)
        words = list(re.finditer(r"[^\s,:;={}()\[\]]+", lines[k]))
        if how == 0:
            del lines[k]
        elif how == 1:
            lines.insert(k, draw.choice(lines))
        elif how == 2:
            lines[k] = lines[k].split(":")[0] + ": " + draw.choice(bits)
        elif how == 3:
            lines[k] = lines[k][: draw.randrange(len(lines[k]) + 1)]
        elif how == 4:
            lines[k] = " " * draw.randrange(9) + lines[k].strip()
        elif how == 5:
            j = draw.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
        elif words:
            word = draw.choice(words)
            lines[k] = lines[k][: word.start()] + draw.choice(bits) + lines[k][word.end() :]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def cells_broken(content, draw):
    """Cells of a table are other texts, columns and rows are lost or doubled."""
    rows = list(csv.reader(io.StringIO(content.decode())))
    for _ in range(draw.choice(TIMES)):
        rows = [row for row in rows if row] or [[""]]
        k, how = draw.randrange(len(rows)) * draw.randrange(2), draw.randrange(9)
        j = draw.randrange(len(rows[k]))
        if how < 4:
            rows[k][j] = draw.choice((*NUMBERS, *NUMBERS, *ESCAPES, "", "x", "=1+1", "1e308", "q (deg)", "t", '"'))
        elif how == 4:
            del rows[k][j]
        elif how == 5:
            for row in rows:
                del row[j : j + 1]
        elif how == 6:
            rows.insert(k, [*draw.choice(rows)])
        elif how == 7:
            i = draw.randrange(len(rows))
            rows[k], rows[i] = rows[i], rows[k]
        elif k or len(rows) > 1:
            del rows[k]
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue().encode("utf-8", "surrogatepass")


def _places(data):
    """Each place of plain data, as its home and the key there."""
    if isinstance(data, dict | list):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, key
            yield from _places(data[key])


def json_broken(content, draw):
    """Values are others, keys are lost or have other names."""
    data = [json.loads(content)]
    for _ in range(draw.choice(TIMES)):
        home, key = draw.choice([*_places(data)])
        how = draw.randrange(9)
        if how == 0 and home is not data:
            del home[key]
        elif how == 1 and isinstance(home, dict):
            home[draw.choice((*ESCAPES, "x", "", key + "x"))] = home.pop(key)
        elif how == 2 and isinstance(home, list) and home is not data:
            home.insert(key, home[key])
        elif how == 3 and isinstance(home[key], int | float):
            home[key] = home[key] * draw.choice((1e300, -1, 0, 1e-300, 1.5, 10**30)) if abs(home[key]) < 10**9 else 0
        elif how == 4 and isinstance(home[key], str):
            at = draw.randrange(len(home[key]) + 1)
            home[key] = home[key][:at] + draw.choice((*ESCAPES, "x", "")) + home[key][at + draw.randrange(2) :]
        else:
            home[key] = draw.choice(VALUES)
    return json.dumps(data[0], indent=1, default=str).encode()


def attributes_broken(content, draw):
    """Attributes of XML have other values or are lost, elements are lost, doubled, exchanged or have other names."""
    text = content.decode("utf-8", "surrogateescape")
    for _ in range(draw.choice(TIMES)):
        how = draw.randrange(9)
        attributes = list(re.finditer(r'\s([\w:]+)="([^"]*)"', text))
        elements = list(re.finditer(r"<(\w+)\b[^<>]*(/>|>[^<>]*</\1>)", text))
        if how < 6 and attributes:
            one, value = draw.choice(attributes), draw.choice((*XML, *NUMBERS))
            if words := one[2].split():  # one of several numbers
                words[draw.randrange(len(words))] = draw.choice((*NUMBERS, value))
            value = value if how < 3 else " ".join(words)
            text = (
                text[: one.start(2)] + value.replace("<", "") + text[one.end(2) :]
                if how
                else text[: one.start()] + text[one.end() :]
            )
        elif elements:
            one, other = draw.choice(elements), draw.choice(elements)
            if how == 6:
                text = text[: one.start()] + text[one.end() :]
            elif how == 7:
                text = text[: other.start()] + one[0] + text[other.start() :]
            else:
                text = text[: one.start()] + one[0].replace(one[1], other[1]) + text[one.end() :]
    return text.encode("utf-8", "surrogateescape")


CELLS = [None, 5, -1, 1e300, float("inf"), "", "x", "done", *ESCAPES, b"", b"\0", b"\xff" * 8, b"x" * 5000, 2**62]
SENTENCES = [
    "drop table {0}", "create table other (a)", "alter table {0} add column more", "alter table {0} rename to x",
    "delete from {0}", "alter table {0} rename column {1} to x", "pragma user_version = 99", "pragma application_id = 7",
]  # fmt: skip


def rows_broken(content, draw):
    """Cells of a database have other values or types, or its tables are others."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.sqlite")
        path.write_bytes(content)
        base = sqlite3.connect(path)
        for _ in range(draw.choice(TIMES)):
            tables = [row[0] for row in base.execute("select name from sqlite_master where type = 'table'")]
            if not tables:
                break
            table = draw.choice(tables)
            column = draw.choice([row[1] for row in base.execute(f"pragma table_info({table})")])
            try:
                if draw.random() < 0.2:
                    base.execute(draw.choice(SENTENCES).format(table, column))
                else:
                    values = [row[0] for row in base.execute(f"select {column} from {table}")]
                    value = draw.choice(values or [None])
                    new = draw.choice((*CELLS, bytes_broken(value, draw) if isinstance(value, bytes) and value else 7))
                    base.execute(f"update {table} set {column} = ? where {column} is ?", (new, value))
            except sqlite3.Error:  # a key that isn't alone any more
                continue
        base.commit()
        base.close()
        return path.read_bytes()


WAYS = {
    **dict.fromkeys((".urdf", ".sdf", ".xml"), attributes_broken),
    ".json": json_broken, ".csv": cells_broken, ".sqlite": rows_broken, ".yaml": lines_broken,
    **{suffix: lambda content, draw, bits=bits: lines_broken(content, draw, bits) for suffix, bits in WORDS.items()},
}  # fmt: skip


def broken(name, content, draw):
    """The content of a file of this name with something broken in it."""
    way = WAYS.get(Path(name).suffix, bytes_broken)
    try:
        return (way if draw.random() < 0.8 else bytes_broken)(content, draw)
    except UnicodeDecodeError:  # a binary file of a kind that may also be text
        return bytes_broken(content, draw)
