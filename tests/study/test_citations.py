"""Each equation that is cited stands in docs/citations.md, under its paper, with what it says and where it is cited."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "citations.md"
ITSELF = {"citations.md", "papers.md", "CHANGELOG.md", "test_citations.py", "test_misprints.py"}  # lists of equations

NUMBER = r"(?:A\.)?\d+(?:\.\d+)?[a-e]?"
CITATION = re.compile(
    r"(?:(?P<paper>Saha|overview|Khalil|Khan|Hanzaki)(?:'s)?(?: \(?\d{4}\)?)?,? (?:paper, )?)?"
    rf"\b(?:[Ee]qs?\.?|[Ee]quations?)\s*\(?(?P<numbers>{NUMBER}\b(?:(?:,| and| to)\s+{NUMBER}\b)*)"
)
PART = r"(?:\d[\d.]*\d|\d)"
PLACE = re.compile(
    rf"\b(sections?|chapters?|tables?|figs?\.?|appendix)\s+((?:[AB]|{PART})\b(?:(?:,| and| to)\s+{PART}\b)*)",
    re.IGNORECASE,
)


def files():
    """The files in which papers are cited."""
    found = [ROOT / "README.md"]
    for folder, kind in (("engine", "py"), ("cli", "py"), ("tests", "py"), ("robots", "yaml"), ("scenarios", "yaml")):
        found += (ROOT / folder).rglob(f"*.{kind}")
    found += (ROOT / "docs").glob("*.md")
    return [path for path in found if path.name not in ITSELF]


def text_of(path):
    """The text of a file, comments without the marks at the beginnings of their lines."""
    return re.sub(r"(?m)^[ \t]*# ?", "", path.read_text(encoding="utf-8"))


def expanded(numbers):
    """The numbers of a list such as "3.4 to 3.9, 3.11 and A.14"."""
    found = []
    for before, number in re.findall(rf"(,|and|to)?\s*({NUMBER})", numbers):
        if before == "to":
            head, last = re.fullmatch(r"(.*?)(\d+)[a-e]?", number).groups()
            first = int(re.fullmatch(r".*?(\d+)[a-e]?", found[-1])[1])
            found += [f"{head}{k}" for k in range(first + 1, int(last))]
        found.append(number)
    return found


def cited():
    """(paper or None, number, file) of each citation."""
    return {
        (match["paper"], number, path.relative_to(ROOT).as_posix())
        for path in files()
        for match in CITATION.finditer(text_of(path))
        for number in expanded(match["numbers"])
    }


def listed():
    """(paper, number, file) of each row of the page; the paper is the word in its heading that citations have."""
    rows, paper = set(), None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = "overview" if "overview" in line else line.split()[1]
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if re.fullmatch(NUMBER, cells[0]):
            assert len(cells) == 4, line
            assert cells[1], line
            rows |= {(paper, cells[0], file) for file in re.findall(r"`([^`]+)`", cells[2])}
    return rows


def same(one, other):
    """Whether two numbers mean the same equation; 27 is 27a and 27b."""
    short, long = sorted((one, other), key=len)
    return short == long or (short == long[:-1] and long[-1].isalpha())


def places(text):
    """("table", "4.1") and the like: tables, figures, sections, chapters and appendices that a text points at."""
    for kind, numbers in PLACE.findall(text):
        for number in expanded(numbers) if numbers[0].isdigit() else [numbers]:
            yield kind.lower().rstrip(".s"), number


def test_every_cited_equation_is_on_the_page():
    rows = listed()
    missing = [
        (paper, number, file)
        for paper, number, file in sorted(cited(), key=str)
        if not any(file == there and same(number, one) and paper in (None, of) for of, one, there in rows)
    ]
    assert not missing, "docs/citations.md lacks these"


def test_every_row_of_the_page_is_cited_where_it_says():
    there = cited()
    stale = [
        row for row in sorted(listed()) if not any(row[2] == file and same(row[1], number) for _, number, file in there)
    ]
    assert not stale, "nobody cites these in these files"


def test_a_new_citation_would_be_missed():
    """The check can fail: a number that isn't there, and a right number under another paper's name."""
    rows = listed()
    assert ("Khan", "3.40", "engine/parallel/node.py") in rows
    assert not any(number == "3.29" for _, number, _ in rows)
    match = CITATION.search("as in Khan 2002, eqs. 3.4 to 3.7 and A.14")
    assert (match["paper"], expanded(match["numbers"])) == ("Khan", ["3.4", "3.5", "3.6", "3.7", "A.14"])
    assert CITATION.search("(Saha's overview, eq. 27a)")["paper"] == "overview"
    assert CITATION.search("see Equation (16)")["numbers"] == "16"
    assert same("27", "27a")
    assert not same("27a", "27b")
    assert not same("3.4", "3.41")


@pytest.mark.parametrize("folder", ["engine", "robots", "scenarios"])
def test_every_cited_table_figure_and_section_is_on_the_page(folder):
    known = set(places(PAGE.read_text(encoding="utf-8").split("## Tables, figures and sections")[1]))
    missing = {
        (path.name, *place)
        for path in files()
        if path.relative_to(ROOT).parts[0] == folder and "machine" not in path.parts
        for place in places(text_of(path))
        if place not in known
    }
    assert not missing, "docs/citations.md lacks these"
