"""The XML layer of the SimGrid reader: elements with their lines, and their attributes."""

from __future__ import annotations

import io
import re
import xml.sax
from dataclasses import dataclass, field
from typing import Final

from defusedxml import DefusedXmlException
from defusedxml.expatreader import create_parser

from hocket.errors import NetworkError
from hocket.network.source import Source, shown
from hocket.units import parse_rate, parse_time

_MAX_DEPTH: Final = 64
_MAX_ELEMENTS: Final = 3_000_000
_BARE: Final = re.compile(r"\s*[\d.]+(?:[eE][+-]?\d+)?\s*", re.ASCII)
POLICIES: Final = ("SHARED", "SPLITDUPLEX", "FATPIPE")


@dataclass(slots=True)
class Element:
    """An XML element and the line it begins on."""

    tag: str
    attributes: dict[str, str]
    line: int
    source: Source
    children: list[Element] = field(default_factory=list)

    def error(self, what: str, remedy: str = "") -> NetworkError:
        return self.source.error(what, self.line, remedy)

    def get(self, name: str, default: str | None = None) -> str:
        """An attribute; without ``default`` it must be there."""
        value = self.attributes.get(name, default)
        if value is None or (not value and default is None):
            raise self.error(f"<{self.tag}> has no {name}", f'add {name}="…"')
        return value

    def rate(self, name: str) -> float:
        text = self.get(name)
        # SimGrid takes a number without unit as bytes per second.
        return self.source.parse(parse_rate, text + "Bps" if _BARE.fullmatch(text) else text, self.line)

    def time(self, name: str, default: str | None = None) -> float:
        text = self.get(name, default)
        return self.source.parse(parse_time, text + "s" if _BARE.fullmatch(text) else text, self.line)

    def policy(self, name: str, default: str) -> str:
        text = self.get(name, default).upper()
        text = "SPLITDUPLEX" if text == "FULLDUPLEX" else text
        if text not in POLICIES:
            raise self.error(f"{name} {shown(text)} is not understood", f"known are {', '.join(POLICIES)}")
        return text


class _Builder(xml.sax.ContentHandler):
    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self.path: list[Element] = []
        self.root: Element | None = None
        self.count = 0

    def startElement(self, name: str, attrs: xml.sax.xmlreader.AttributesImpl) -> None:  # noqa: N802
        line = int(self._locator.getLineNumber() or 0)  # type: ignore[attr-defined]
        element = Element(name, dict(attrs.items()), line, self.source)
        if self.path:
            self.path[-1].children.append(element)
        else:
            self.root = element
        self.path.append(element)
        self.count += 1
        if self.count > _MAX_ELEMENTS:
            raise element.error(f"holds more than {_MAX_ELEMENTS:,} elements", "read a part of it")
        if len(self.path) > _MAX_DEPTH:
            raise element.error("is nested too deeply", f"at most {_MAX_DEPTH} levels are read")

    def endElement(self, name: str) -> None:  # noqa: N802
        self.path.pop()


def parse(source: Source) -> Element:
    """The root element. Entities are refused, and the DTD that SimGrid files name is not fetched."""
    builder = _Builder(source)
    # forbid_external would refuse the DOCTYPE of every SimGrid file; expatreader leaves it unread anyway.
    parser = create_parser(forbid_dtd=False, forbid_entities=True, forbid_external=False)
    parser.setFeature(xml.sax.handler.feature_external_ges, False)
    parser.setContentHandler(builder)
    stream = xml.sax.xmlreader.InputSource()
    stream.setCharacterStream(io.StringIO(source.text))
    try:
        parser.parse(stream)
    except xml.sax.SAXParseException as problem:
        raise source.error(
            f"is not XML: {problem.getMessage()}", problem.getLineNumber() or 0, "correct the syntax"
        ) from None
    except DefusedXmlException:
        raise source.error("declares an entity", remedy="write its text out") from None
    except (xml.sax.SAXException, ValueError, LookupError) as problem:
        if isinstance(problem, NetworkError):
            raise
        raise source.error(f"is not XML: {shown(str(problem), 200)[1:-1]}", 0, "correct the syntax") from None
    if builder.root is None:
        raise source.error("holds no XML element", remedy="add a <platform>")
    return builder.root
