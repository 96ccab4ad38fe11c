"""The documentation as a site that opens from disk, offline: pages, gallery, and the code that the pages link to.

    python tests/tools/website.py [--out FOLDER] [ROBOT …]

Sphinx makes it of the Markdown as it stands, and any doubt about a link is an error. Afterwards every link in the
site is followed, and nothing in it may ask a network for anything. Robots limit the gallery, for a quick look.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "outputs" / "site"
FIRST = ("tutorial", "files", "formats", "commands", "results", "conventions", "studies", "identification")
LINK = re.compile(r"(!?)\[((?:`[^`]*`|\[[^\]]*\]|[^\]`])*)\]\(([^()\s]+)\)")
ANCHOR = re.compile(r'^<a id="(\w+)"></a>', re.MULTILINE)  # at the beginning of a paragraph
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
ASKING = {"src", "srcset", "poster", "data", "background"}  # attributes whose address a browser fetches by itself
IN_STYLES = re.compile(r"""(?:@import\s+["']|url\(\s*["']?)([^)'"]+)""")


# ---- the sources


def staged(home: Path, robots: list[str]) -> None:
    """Puts the Markdown of the site, its configuration and its files into an empty folder."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import gallery

    documents = {path: f"{path.stem}.md" for path in sorted((ROOT / "docs").glob("*.md"))}
    documents |= {ROOT / "README.md": "about.md", ROOT / "CONTRIBUTING.md": "contributing.md"}
    extra = home / "extra"
    for path, name in documents.items():
        (home / name).write_text(relinked(path, documents, extra), encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "images", home / "images")
    shutil.copy(ROOT / "docs" / "site" / "conf.py", home / "conf.py")
    machines = gallery.write(home, extra / "gallery", robots)
    shutil.rmtree(extra / "gallery" / "results", ignore_errors=True)
    (home / "index.md").write_text(index(documents, machines), encoding="utf-8")


def index(documents: dict[Path, str], machines: list[str]) -> str:
    """The first page, which lists all others."""
    names = [name.removesuffix(".md") for name in documents.values()]
    rest = [name for name in sorted(names, key=str.lower) if name not in (*FIRST, "about", "contributing", "CHANGELOG")]
    listed = ["about", *FIRST, "gallery", *rest, "contributing", "CHANGELOG"]
    trees = [("2", "", listed), ("1", ":hidden:\n", machines)]
    text = "\n\n".join(
        "```{toctree}\n:maxdepth: " + depth + "\n" + hidden + "\n" + "\n".join(names) + "\n```"
        for depth, hidden, names in trees
    )
    return f"# denoc\n\nDynamics of robots and mechanisms from YAML files.\n\n{text}\n"


def relinked(path: Path, documents: dict[Path, str], extra: Path) -> str:
    """The Markdown of a page with links that hold in the site; code blocks stay as they are."""
    text, made, at = ANCHOR.sub(r"(\1)=\n", path.read_text(encoding="utf-8")), [], 0
    for block in [*FENCED.finditer(text), None]:
        end = block.start() if block else len(text)
        made.append(LINK.sub(lambda m: _link(m, path, documents, extra), text[at:end]))
        made.append(block[0] if block else "")
        at = block.end() if block else end
    return "".join(made)


def _link(match: re.Match[str], page: Path, documents: dict[Path, str], extra: Path) -> str:
    picture, words, address = match.groups()
    if urlsplit(address).scheme or address.startswith("#"):
        return match[0]
    file, _, fragment = address.partition("#")
    target = (page.parent / file).resolve()
    place = target.relative_to(ROOT)
    if target in documents:
        return f"[{words}]({documents[target]}{'#' * bool(fragment)}{fragment})"
    if picture:
        return f"![{words}]({place.relative_to('docs')})"
    if target.is_dir():
        return f"[{words}](extra:code/{place}/index.html)" if _listed(target, extra) else words
    _coloured(target, extra / "code" / f"{place}.html")
    line = fragment.removeprefix("L")
    return f"[{words}](extra:code/{place}.html{f'#L-{line}' if line else ''})"


def _coloured(file: Path, out: Path) -> None:
    """Writes a file as a page with numbered lines, which links can lead to."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    if out.exists():
        return
    try:
        lexer = get_lexer_for_filename(file.name)
    except ClassNotFound:
        lexer = TextLexer()
    form = HtmlFormatter(full=True, title=str(file.relative_to(ROOT)), linenos="inline", lineanchors="L")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(highlight(file.read_text(encoding="utf-8"), lexer, form), encoding="utf-8")


def _listed(folder: Path, extra: Path) -> bool:
    """Writes a page that lists a folder's files."""
    place = folder.relative_to(ROOT)
    out = extra / "code" / place / "index.html"
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for file in sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith(("_", "."))):
        _coloured(file, extra / "code" / f"{file.relative_to(ROOT)}.html")
        rows.append(f'<li><a href="{file.name}.html">{file.name}</a></li>')
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{place}</title><h1>{place}</h1>'
    out.write_text(f"{head}<ul>{''.join(rows)}</ul></html>", encoding="utf-8")
    return bool(rows)


# ---- the checks


class Found(HTMLParser):
    """What a page links to, what it fetches, and the places in it that links can lead to."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attributes}
        self.places |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "href" in given and given.get("rel") not in ("canonical", "next", "prev", "search"):
            self.fetched.append(given["href"])
        elif tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.links.append(given.get("content", "").partition("url=")[2])
        self.fetched += [value for key, value in given.items() if key in ASKING]
        if "style" in given:
            self.fetched += styled(given["style"])


def styled(text: str) -> list[str]:
    """The addresses that a style sheet fetches."""
    return IN_STYLES.findall(text)


def problems(site: Path) -> Iterator[str]:
    """Links of a site that lead nowhere, and what in it asks a network."""
    pages = {path: Found(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(site)
        for address in page.fetched:
            if urlsplit(address).scheme not in ("", "data") or address.startswith("//"):
                yield f"{where} fetches {address[:80]}"
            elif not urlsplit(address).scheme and not _target(path, address).is_file():
                yield f"{where} lacks {address}"
        for address in page.links:
            parts = urlsplit(unescape(address))
            if parts.scheme or address.startswith("//"):
                continue
            target = _target(path, address)
            if not target.is_file():
                yield f"{where} links to {address}, which isn't there"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{where} links to {address}, which has no such place"
    for path in sorted(site.rglob("*.css")):
        for address in styled(path.read_text(encoding="utf-8")):
            if urlsplit(address).scheme not in ("", "data") or address.startswith("//"):
                yield f"{path.relative_to(site)} fetches {address[:80]}"


def _target(page: Path, address: str) -> Path:
    path = unquote(urlsplit(unescape(address)).path)
    return (page.parent / path).resolve() if path else page


def main() -> None:
    """Builds the site and says where it is; any problem ends with exit code 1."""
    parser = argparse.ArgumentParser()
    parser.add_argument("robots", nargs="*")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    source, site = given.out.with_name(f"{given.out.name}-source"), given.out
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    staged(source, given.robots)
    words = ["-W", "--keep-going", "-q", "-b", "html", str(source), str(site), "-d", str(source / "doctrees")]
    subprocess.run([sys.executable, "-m", "sphinx", *words], check=True)
    found = list(problems(site.resolve()))
    print("\n".join(found) or f"{site / 'index.html'}: all links hold, and nothing asks a network")
    shutil.rmtree(source)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
