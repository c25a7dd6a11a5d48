"""XML changed where it must change and nowhere else: bytes, comments, order, quotes and line ends stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from surefoot.errors import SurefootError

_ATTRIBUTE = re.compile(rb"""\s+([^\s=<>/"']+)\s*=\s*("[^"]*"|'[^']*')""")


@dataclass(eq=False)
class Element:
    """One element and where its tags stand in the file."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None
    start: int  # of "<"
    end: int  # behind ">" of the start tag
    close: int = -1  # of "</" of the end tag; -1: the element has none
    children: list[Element] = field(default_factory=list)
    changes: dict[str, str | None] = field(default_factory=dict)  # attributes to set, None: to remove
    renamed: str = ""
    added: list[str] = field(default_factory=list)  # elements to add as last children

    def get(self, name: str, default: str = "") -> str:
        """An attribute as it will be written."""
        if name in self.changes:
            return self.changes[name] or default
        return self.attributes.get(name, default)

    def set(self, name: str, value: str | None) -> None:
        """Write an attribute; None removes it."""
        self.changes[name] = value

    def child(self, tag: str) -> Element | None:
        """The first child of that tag."""
        return next((c for c in self.children if c.tag == tag), None)

    def within(self, *tags: str) -> bool:
        """Some ancestor has one of these tags."""
        above = self.parent
        while above is not None:
            if above.tag in tags:
                return True
            above = above.parent
        return False


class Document:
    """An XML file as bytes, with the places of its elements."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        self.elements: list[Element] = []
        self._before: list[tuple[int, bytes]] = []
        self.newline = "\r\n" if b"\r\n" in data else "\n"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise SurefootError(f"{name} is UTF-16; save it as UTF-8 first.")
        self._parse()

    @classmethod
    def read(cls, path: Path) -> Document:
        """The document of a file."""
        try:
            return cls(path.read_bytes(), path.name)
        except OSError as error:
            raise SurefootError(f"cannot read {path}: {error.strerror}.") from None

    @property
    def root(self) -> Element:
        """The outermost element."""
        return self.elements[0]

    def _parse(self) -> None:
        parser = expat.ParserCreate()
        stack: list[Element] = []

        def begin(tag: str, attributes: dict[str, str]) -> None:
            start = parser.CurrentByteIndex
            above = stack[-1] if stack else None
            element = Element(tag=tag, attributes=attributes, parent=above, start=start, end=_tag_end(self.data, start))
            if above is not None:
                above.children.append(element)
            self.elements.append(element)
            stack.append(element)

        def finish(_: str) -> None:
            element = stack.pop()
            if self.data[element.end - 2 : element.end] != b"/>":
                element.close = parser.CurrentByteIndex

        parser.StartElementHandler, parser.EndElementHandler = begin, finish
        try:
            parser.Parse(self.data, True)
        except expat.ExpatError as error:
            raise SurefootError(f"{self.name} is not XML: {error}.") from None

    def find(self, *tags: str) -> Iterator[Element]:
        """Elements of these tags, in the order of the file."""
        return (e for e in self.elements if e.tag in tags)

    def indent(self, element: Element) -> str:
        """The white space before an element that begins its line."""
        line = self.data[self.data.rfind(b"\n", 0, element.start) + 1 : element.start]
        return line.decode() if not line.strip() else ""

    def step(self) -> str:
        """What one level of indentation is in this file."""
        for element in self.elements[1:]:
            inner, outer = self.indent(element), self.indent(element.parent) if element.parent else ""
            if element.parent is not None and inner.startswith(outer) and len(inner) > len(outer):
                return inner[len(outer) :]
        return "  "

    def comment(self, lines: list[str], marker: str) -> None:
        """Put a comment before the root element; one that begins with the same marker is replaced."""
        body = self.newline.join(["<!-- " + marker, *("  " + line.replace("--", "- -") for line in lines), "-->"]).encode()
        old = re.search(rb"<!-- " + re.escape(marker.encode()) + rb".*?-->", self.data[: self.root.start], re.DOTALL)
        if old:
            self._before.append((old.start(), body + b"\0" + str(old.end()).encode()))
        else:
            self._before.append((self.root.start, body + self.newline.encode()))

    def render(self) -> bytes:
        """The file with all changes."""
        edits: list[tuple[int, int, bytes]] = []
        for at, text in self._before:
            body, _, end = text.partition(b"\0")
            edits.append((at, int(end) if end else at, body))
        for element in self.elements:
            edits += self._edits(element)
        out, last = [], 0
        for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
            out += [self.data[last:start], text]
            last = end
        return b"".join([*out, self.data[last:]])

    def _edits(self, element: Element) -> list[tuple[int, int, bytes]]:
        edits = []
        tag = self.data[element.start : element.end]
        new = _changed(tag, element)
        if element.added:
            edits += self._addition(element, new)
        elif new != tag:
            edits.append((element.start, element.end, new))
        if element.renamed and element.close >= 0:
            end = _tag_end(self.data, element.close)
            edits.append((element.close, end, b"</" + element.renamed.encode() + b">"))
        return edits

    def _addition(self, element: Element, tag: bytes) -> list[tuple[int, int, bytes]]:
        """New last children, each on lines of its own where the file is written that way."""
        outer = self.indent(element)
        inner = next((self.indent(c) for c in element.children if self.indent(c)), outer + self.step())
        text = "".join(self.newline + inner + line for block in element.added for line in block.split("\n")).encode()
        if element.close < 0:  # <a/> becomes <a> ... </a>
            opened = tag[:-2].rstrip() + b">"
            tail = f"{self.newline}{outer}</{element.renamed or element.tag}>".encode()
            return [(element.start, element.end, opened + text + tail)]
        before = len(self.data[: element.close].rstrip(b" \t\r\n"))
        gap = self.data[before : element.close]
        tail = b"" if b"\n" in gap else (self.newline + outer).encode()
        edits = [(before, before, text + tail)]
        return edits if tag == self.data[element.start : element.end] else [*edits, (element.start, element.end, tag)]


def _tag_end(data: bytes, start: int) -> int:
    """Behind the ">" that closes the tag which begins at `start`."""
    quote, i = 0, start
    while True:
        c = data[i]
        if quote:
            quote = 0 if c == quote else quote
        elif c in b"\"'":
            quote = c
        elif c == ord(">"):
            return i + 1
        i += 1


def _changed(tag: bytes, element: Element) -> bytes:
    """A start tag with its attributes set, added behind the last one, or removed."""
    if not element.changes and not element.renamed:
        return tag
    left = dict(element.changes)

    def swap(match: re.Match[bytes]) -> bytes:
        name = match[1].decode()
        if name not in left:
            return match[0]
        value = left.pop(name)
        if value is None:
            return b""
        return match[0][: match.start(2) - match.start()] + match[2][:1] + escaped(value).encode() + match[2][-1:]

    new = _ATTRIBUTE.sub(swap, tag)
    body = new[: -2 if new.endswith(b"/>") else -1]
    kept = body.rstrip()
    more = "".join(f' {name}="{escaped(value)}"' for name, value in left.items() if value is not None).encode()
    new = kept + more + body[len(kept) :] + new[len(body) :]
    if element.renamed:
        new = b"<" + element.renamed.encode() + new[1 + len(element.tag.encode()) :]
    return new


def escaped(text: str) -> str:
    """Text as it may stand between double quotes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def number(value: float) -> str:
    """A number that reads back as the same double, without a needless exponent or point."""
    value = float(value)
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
