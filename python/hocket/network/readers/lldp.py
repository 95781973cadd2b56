"""LLDP: what ``lldpctl -f json`` (or ``json0``) of lldpd prints on each host and switch, one file a node.

``lldpctl`` tells the neighbours of a node and not who it is: that says ``lldpcli -f json show chassis`` in the same
file, else the file's name. Frames: IEEE 802.1AB; speeds: the MAU types of IEEE 802.3 as lldpd spells them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from hocket.errors import Where
from hocket.network.readers.json_files import Lines, documents
from hocket.network.source import Source, shown

ANEW: Final = "record it again: (lldpcli -f json show chassis; lldpctl -f json) > NODE.json"
_SPEED: Final = re.compile(r"(\d{1,5})(?:p(\d))?(G(?:ig)?)?(?:base|T)", re.IGNORECASE)
_FORWARDS: Final = ("Bridge", "Router")


@dataclass(slots=True)
class Chassis:
    """A node as its frames tell it. ``id``: subtype and value; ``name``: empty where none is sent; ``forwards``:
    whether it says that it is a bridge or router at work, ``None`` where nobody has heard it say anything."""

    id: str
    name: str
    forwards: bool | None
    where: Where


@dataclass(slots=True)
class Heard:
    """A neighbour that a node hears on one of its interfaces.

    ``ports``: what the neighbour calls its end. ``rate``: bytes/s, ``None`` where it is not told. ``aggregated``: the
    neighbour says that its port is one of a link aggregation."""

    interface: str
    chassis: Chassis
    ports: frozenset[str]
    rate: float | None
    aggregated: bool
    by_lldp: bool
    where: Where


@dataclass(slots=True)
class Record:
    """A file: who recorded it (``None``: the file does not say, ``stem`` is its name), and what it heard."""

    stem: str
    own: Chassis | None
    heard: list[Heard]
    where: Where


def read_record(source: Source) -> Record:
    """Read one node's file. Raises :class:`hocket.errors.NetworkError`."""
    stem = PurePath(source.name).stem
    record = Record(stem, None, [], source.at())
    lines, told = Lines(source), False
    for document in documents(source, ANEW):
        if not isinstance(document, dict) or not {"lldp", "local-chassis"} & set(document):
            raise source.error("is no output of lldpctl -f json", remedy=ANEW)
        if "local-chassis" in document:
            own = _one(source, document["local-chassis"], "local-chassis")
            record.own = _chassis(source, own, lines)
        if "lldp" in document:
            told = True
            record.heard += _heard(source, document["lldp"], lines)
    if not told:
        raise source.error("tells the chassis and no neighbours: it is cut off", remedy=ANEW)
    return record


def _heard(source: Source, value: Any, lines: Lines) -> Iterator[Heard]:
    for name, entry in _interfaces(source, _one(source, value, "lldp").get("interface", [])):
        line = lines.of(name)
        port = _one(source, entry.get("port", {}), "port")
        ident = _one(source, port.get("id", {}), "port id")
        ends = {_text(ident), _text(port.get("descr"))} - {""}
        speed = _text(_one(source, port.get("auto-negotiation", {}), "auto-negotiation").get("current"))
        aggregated = _text(port.get("aggregation")) not in ("", "0")
        via = _text(entry.get("via"))
        chassis = _chassis(source, entry, lines, line)
        yield Heard(
            name, chassis, frozenset(ends), rate_of(speed), aggregated, via in ("", "LLDP"), source.at(line)
        )


def _interfaces(source: Source, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """``json`` has ``{NAME: {…}}``, or a list of these where there are several; ``json0`` a list with ``name``."""
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            raise source.error("an interface is not an object", remedy=ANEW)
        if isinstance(each.get("name"), str):
            yield each["name"], each
            continue
        for name, entry in each.items():
            yield name, _one(source, entry, f"interface {shown(name)}")


def _chassis(source: Source, entry: dict[str, Any], lines: Lines, line: int = 0) -> Chassis:
    """``json`` has ``{NAME: {"id": …}}``, or the inner object without a name; ``json0`` ``name`` beside ``id``."""
    told = _one(source, entry.get("chassis", {}), "chassis")
    name = _text(told.get("name"))
    if "id" not in told or (not name and _text(told["id"]) == "" and len(told) == 1):
        if len(told) != 1:
            raise source.error("a chassis has no id", line, ANEW)
        name, inner = next(iter(told.items()))
        told = _one(source, inner, "chassis")
    ident = _one(source, told.get("id", {}), "chassis id")
    if not _text(ident):
        raise source.error("a chassis has no id", line or lines.of(name), ANEW)
    found = told.get("capability")
    forwards: bool | None = None
    for each in found if isinstance(found, list) else [found] if found is not None else []:
        able = _one(source, each, "capability")
        forwards = bool(forwards) or (able.get("type") in _FORWARDS and able.get("enabled") is True)
    key = f"{ident.get('type', '')} {_text(ident)}".strip()
    return Chassis(key, name.strip(), forwards, source.at(line or lines.of(name or _text(ident))))


def rate_of(mau: str) -> float | None:
    """Bytes/s of an operational MAU type: ``1000BaseTFD - …``, ``25GbaseCR - …``, ``10GigBaseX``, ``2p5GigT``."""
    if (match := _SPEED.match(mau)) is None:
        return None
    whole, part, giga = match.groups()
    bits = float(f"{whole}.{part or 0}") * (1e9 if giga else 1e6)
    return bits / 8 if bits > 0 else None


def _one(source: Source, value: Any, what: str) -> dict[str, Any]:
    """An object, which ``json0`` wraps in a list."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list) and not value:
        value = {}
    if not isinstance(value, dict):
        raise source.error(f"{what} is not an object", remedy=ANEW)
    return value


def _text(value: Any) -> str:
    """A text that may be wrapped: ``"x"``, ``{"value": "x"}``, ``[{"value": "x"}]``."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("value")
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""
