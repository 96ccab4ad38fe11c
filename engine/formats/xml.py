"""XML as a tree of elements with their lines; without document types, entities and anything beyond the text itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from xml.parsers import expat  # entities, the one danger of expat, are refused below, with every document type

from ..errors import InputError, Place
from ..text import Document

DEPTH_LIMIT = 200  # elements within each other
ELEMENT_LIMIT = 200_000
_DOCUMENT_TYPE = "a document type or an entity stands here, which is not read"


@dataclass
class Element:
    """An element with its attributes, its children in order, the text right in it, and where it starts."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    document: Document = field(repr=False)  # of the file that it stands in
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def with_attributes(self, attributes: dict[str, str]) -> Element:
        """The same element with other attributes, such as those that defaults give it."""
        return replace(self, attributes=attributes)

    def all(self, *tags: str) -> list[Element]:
        """The children with one of these tags, in order."""
        return [child for child in self.children if child.tag in tags]

    def first(self, tag: str) -> Element | None:
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        """The element and everything in it, in the file's order."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            yield one
            waiting += reversed(one.children)


def parsed_xml(text: str, name: str) -> tuple[Document, Element]:
    """The root of an XML text, and a document that knows the text's lines; `name` stands for the file in messages."""
    document = Document(name, text.removeprefix("\ufeff"))
    builder = _Builder(document)
    builder.read()
    return document, builder.root


def xml_root_tag(text: str) -> str:
    """The tag of the first element of what may be XML; empty if there is none."""
    head = re.sub(r"<!--.*?(-->|\Z)|<\?.*?(\?>|\Z)", "", text[:20_000].lstrip("\ufeff"), flags=re.DOTALL)
    head = re.sub(r"<!DOCTYPE[^\[>]*(\[.*?\]\s*)?>", "", head, flags=re.DOTALL)
    match = re.match(r"\s*<([A-Za-z_][\w.:-]*)", head)
    return match[1] if match else ""


class _Builder:
    """Makes elements of expat's calls."""

    def __init__(self, document: Document):
        self.document = document
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse
        self.open: list[Element] = []
        self.texts: list[list[str]] = []  # of the elements that are open, joined where these end
        self.count = 0
        self.root = Element("", {}, 1, 1, document)

    def read(self) -> None:
        try:
            self.parser.Parse(self.document.text.encode(), True)
        except expat.ExpatError as problem:
            words = expat.ErrorString(problem.code) or "not well-formed"
            place = self.document.spot(problem.lineno, problem.offset + 1)
            hint = f"the element `{self.open[-1].tag}` of line {self.open[-1].line} is open here" if self.open else ""
            raise InputError(f"this is not valid XML: {words}", place=place, hint=hint) from None
        except UnicodeEncodeError:
            raise InputError("the text is not Unicode", place=Place(self.document.name)) from None

    def spot(self) -> tuple[int, int]:
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line, column = self.spot()
        one = Element(tag, attributes, line, column, self.document)
        self.count += 1
        if self.count > ELEMENT_LIMIT:
            raise InputError(f"there are more than {ELEMENT_LIMIT:,} elements", place=self.document.spot(line, column))
        if len(self.open) >= DEPTH_LIMIT:
            message = f"elements are nested deeper than {DEPTH_LIMIT} levels"
            raise InputError(message, place=self.document.spot(line, column))
        if self.open:
            self.open[-1].children.append(one)
        else:
            self.root = one
        self.open.append(one)
        self.texts.append([])

    def end(self, tag: str) -> None:
        self.open.pop().text = "".join(self.texts.pop())

    def characters(self, text: str) -> None:
        if self.texts:
            self.texts[-1].append(text)

    def refuse(self, *_: object) -> None:
        raise InputError(
            _DOCUMENT_TYPE,
            place=self.document.spot(*self.spot()),
            hint="denoc reads plain elements only; a parser that resolves entities can write them out",
        )
