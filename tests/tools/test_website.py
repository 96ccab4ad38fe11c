"""The site of the documentation: links lead where they led, and whatever asks a network is found."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import browser

SITE = runpy.run_path(str(Path(__file__).with_name("website.py")))
ROOT = Path(__file__).resolve().parents[2]
GOOD = '<html><a id="here"></a><a href="other.html#there">x</a><a href="https://example.org">y</a></html>'


def test_links_of_pages_hold_in_the_site(tmp_path):
    theory = ROOT / "docs" / "theory.md"
    documents = {theory: "theory.md", ROOT / "docs" / "files.md": "files.md"}
    text = SITE["relinked"](theory, documents, tmp_path)
    assert "](../" not in text
    assert "(extra:code/engine/mechanics/tree/sweeps.py.html#L-" in text
    assert 'name="L-1"' in (tmp_path / "code" / "engine" / "mechanics" / "tree" / "sweeps.py.html").read_text(
        encoding="utf-8"
    )
    assert "(orientations)=\n" in SITE["relinked"](ROOT / "docs" / "files.md", documents, tmp_path)


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (GOOD, None),
        ('<script src="https://example.org/a.js"></script>', "fetches https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "fetches //example.org/a.css"),
        ('<p style="background: url(http://example.org/a.png)">', "fetches http://example.org/a.png"),
        ('<img src="gone.png">', "lacks gone.png"),
        ('<a href="gone.html">x</a>', "links to gone.html, which isn't there"),
        ('<a href="other.html#nowhere">x</a>', "has no such place"),
        ('<link rel="stylesheet" href="bad.css">', "fetches https://example.org/letters"),
    ],
)
def test_problems_are_found(page, found, tmp_path):
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    (tmp_path / "other.html").write_text('<h1 id="there">x</h1><img src="data:image/png;base64,">', encoding="utf-8")
    style = "@import 'https://example.org/letters';" if "bad.css" in page else "a { background: url(data:,) }"
    (tmp_path / "bad.css").write_text(style, encoding="utf-8")
    known = list(SITE["problems"](tmp_path))
    assert [found in one for one in known] == [True] if found else known == []


@pytest.mark.full
def test_the_site_with_two_machines(tmp_path):
    """Sphinx has no doubts, every link holds, and a browser asks for nothing but files."""
    pytest.importorskip("sphinx", reason="`make site` brings what makes the site")
    words = [sys.executable, ROOT / "tests" / "tools" / "website.py", "--out", tmp_path / "site", "puma", "four-bar"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all links hold" in done.stdout
    if browser.path() is not None:
        for name in ("index", "gallery", "puma"):
            with browser.Page(tmp_path / "site" / f"{name}.html") as page:
                assert page.failures == []
                assert [one for one in page.requests if not one.startswith(("file:", "data:", "about:", "blob:"))] == []
