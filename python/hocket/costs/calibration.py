"""Measured figures of a network, and the files that they are kept in, one for each wiring."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, Final, Self

from hocket.errors import HocketError
from hocket.system.cache import cache_dir, check_private
from hocket.system.files import as_error, read_file

if TYPE_CHECKING:
    from hocket.network import NetworkDescription


FORMAT: Final = "hocket network calibration"
VERSION: Final = 1
FLOWS: Final = (1, 2, 4, 8)  # that share a wire
MOST_SECONDS: Final = 1000.0  # of anything that was measured
MOST_BYTES: Final = 2**30
MOST_ENTRIES: Final = 1000  # of a list


@dataclass(frozen=True, slots=True)
class Figure:
    """Seconds: the median, and half the distance between the quartiles over it."""

    median: float
    spread: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Median and spread of one or more measured times."""
        middle = median(values)
        low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (middle,) * 3
        return cls(middle, (high - low) / 2 / middle if middle > 0 else 0.0)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A message of so many bytes: seconds from the start of its send to the end of its receive."""

    bytes: int
    seconds: Figure


@dataclass(frozen=True, slots=True)
class Class:
    """Pairs of ranks at one distance. ``links``: on the route between them; None: not known, but on two hosts."""

    links: int | None
    pairs: int  # measured
    send: Figure
    receive: Figure
    latency: float  # of a message of one byte, without what it takes of either processor
    transfers: tuple[Transfer, ...]  # by bytes, the first of one byte

    @property
    def name(self) -> str:
        if self.links is None:
            return "two hosts"
        if self.links == 0:
            return "same host"
        return "same switch" if self.links == 2 else f"{self.links} links"

    @property
    def per_byte(self) -> float:
        """Seconds that each byte of a long message takes."""
        a, b = self.transfers[0], self.transfers[-1]
        return max((b.seconds.median - a.seconds.median) / (b.bytes - a.bytes), 1e-15)

    def seconds(self, bytes: int) -> float:
        """Seconds of a message of any size, by linear interpolation between measured sizes."""
        known = self.transfers
        at = next((i for i in range(1, len(known)) if bytes <= known[i].bytes), len(known) - 1)
        a, b = known[at - 1], known[at]
        part = (bytes - a.bytes) / (b.bytes - a.bytes)
        return max(a.seconds.median + part * (b.seconds.median - a.seconds.median), 0.0)


@dataclass(frozen=True, slots=True)
class Flows:
    """Concurrent messages over one link, and the share of its rate that they carry together."""

    flows: int
    bytes: int
    part: float
    spread: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Measurements of one calibration. Times in seconds, rates in bytes per second."""

    date: str
    mpi: str
    ranks: int
    hosts: int
    cores: int  # of a host, that its ranks may use
    ranks_per_host: int
    host_rate: float | None  # as the network was described; None: there was no network
    wiring: str | None
    classes: tuple[Class, ...]  # nearest first
    eager: int  # bytes: the longest message that was sent before its receiver asked for it
    token: Figure  # from a message's end until its sender knows, nothing else under way
    token_loaded: Figure  # the same while all ranks exchange messages of `token_bytes`
    token_bytes: int
    per_byte_loaded: float  # seconds, while all ranks exchange
    sendrecv: Figure  # MPI_Sendrecv of one byte, by all ranks at once
    host_flows: tuple[Flows, ...]  # into one host
    switch_link_flows: tuple[Flows, ...]  # from one switch to another
    memory: dict[str, float] | None  # MB/s of the basic transfers of `hocket calibrate memory`
    memory_origin: str
    seconds: float  # that measuring took
    left_out: int  # figures that there was no time for

    @property
    def between_hosts(self) -> Class:
        """The nearest class of two hosts; of a single host the only one."""
        return next((c for c in self.classes if c.links != 0), self.classes[0])

    def flows(self, kind: str, bytes: int) -> tuple[float, float, float, float]:
        """The part of a wire's rate that 1, 2, 4, 8 flows of about so many bytes carry together."""
        measured = self.host_flows if kind == "host" else self.switch_link_flows
        sizes = sorted({flow.bytes for flow in measured})
        if not sizes:
            return (1.0, 1.0, 1.0, 1.0)
        near = min(sizes, key=lambda size: abs(math.log(size / max(bytes, 1))))
        parts, last = [], 1.0
        for flows in FLOWS:
            found = [f.part for f in measured if f.flows == flows and f.bytes == near]
            last = found[0] if found else last
            parts.append(last)
        return parts[0], parts[1], parts[2], parts[3]

    def as_json(self) -> dict[str, Any]:
        """Contents of the file: every field, and figures that follow from them for readers."""
        plain = asdict(self)
        for shown, one in zip(plain["classes"], self.classes, strict=True):
            shown["name"] = one.name
            shown["per_byte"] = one.per_byte
        return {"format": FORMAT, "version": VERSION, **plain}


def from_json(found: Any) -> Calibration:
    """The calibration that as_json() has written. Raises ValueError for anything else."""
    whole = _object(found)
    if whole.get("format") != FORMAT:
        raise ValueError("it is not a calibration of a network")
    if whole.get("version") != VERSION:
        raise ValueError("it is of another version")
    classes = tuple(_class(one) for one in _list(whole, "classes"))
    if not classes:
        raise ValueError("no distances")
    memory = whole.get("memory")
    return Calibration(
        date=_text(whole, "date"), mpi=_text(whole, "mpi"),
        ranks=_count(whole, "ranks", 2), hosts=_count(whole, "hosts"), cores=_count(whole, "cores"),
        ranks_per_host=_count(whole, "ranks_per_host"),
        host_rate=None if whole.get("host_rate") is None else _number(whole, "host_rate", 1e-3, 1e18),
        wiring=None if whole.get("wiring") is None else _text(whole, "wiring"),
        classes=classes, eager=_count(whole, "eager", 0),
        token=_figure(whole, "token"), token_loaded=_figure(whole, "token_loaded"),
        token_bytes=_count(whole, "token_bytes", 0),
        per_byte_loaded=_number(whole, "per_byte_loaded", 0, 1.0), sendrecv=_figure(whole, "sendrecv"),
        host_flows=_flows(whole, "host_flows"), switch_link_flows=_flows(whole, "switch_link_flows"),
        memory=None if memory is None else {str(k): _number(memory, k, 0, 1e12) for k in _object(memory)},
        memory_origin=_text(whole, "memory_origin"),
        seconds=_number(whole, "seconds", 0, 1e6), left_out=_count(whole, "left_out", 0),
    )  # fmt: skip


def _class(found: Any) -> Class:
    one = _object(found)
    transfers = tuple(
        Transfer(_count(_object(each), "bytes"), _figure(each, "seconds")) for each in _list(one, "transfers")
    )
    sizes = [transfer.bytes for transfer in transfers]
    if len(sizes) < 2 or sizes != sorted(set(sizes)):
        raise ValueError("transfers are not in the order of their bytes")
    return Class(
        None if one.get("links") is None else _count(one, "links", 0), _count(one, "pairs"),
        _figure(one, "send"), _figure(one, "receive"), _number(one, "latency", 0, MOST_SECONDS), transfers,
    )  # fmt: skip


def _flows(whole: dict[str, Any], name: str) -> tuple[Flows, ...]:
    return tuple(
        Flows(_count(_object(one), "flows"), _count(one, "bytes"), _number(one, "part", 1e-6, 1.0),
              _number(one, "spread", 0, 1e9))
        for one in _list(whole, name)
    )  # fmt: skip


def _figure(found: dict[str, Any], name: str) -> Figure:
    figure = _object(found.get(name), name)
    return Figure(_number(figure, "median", 0, MOST_SECONDS), _number(figure, "spread", 0, 1e9))


def _object(found: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{name or 'something'} is not an object")
    return found


def _list(found: dict[str, Any], name: str) -> list[Any]:
    value = found.get(name)
    if not isinstance(value, list) or len(value) > MOST_ENTRIES:
        raise ValueError(f"{name} is not a list, or too long a one")
    return value


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or len(value) > 1000 or not value.isprintable():
        raise ValueError(f"{name} is not a text")
    return value


def _number(found: dict[str, Any], name: str, least: float, most: float) -> float:
    value = found.get(name)
    if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]
        raise ValueError(f"{name} is not a number from {least:g} to {most:g}")
    return float(value)  # type: ignore[arg-type]


def _count(found: dict[str, Any], name: str, least: int = 1) -> int:
    value = found.get(name)
    if type(value) is not int or not least <= value <= MOST_BYTES:
        raise ValueError(f"{name} is not a whole number from {least} on")
    return value


_MOST_BYTES: Final = 16 * 2**20
_RATES_AGREE: Final = 0.01


def kept_path(description: NetworkDescription | None) -> Path:
    """Path of the calibration kept for this network or, without a network, for this host. Raises HocketError
    if there is no safe cache."""
    from hocket.network.measured import wiring_digest

    name = platform.node() if description is None else wiring_digest(description)
    return cache_dir() / f"calibration-{name}.json"


def read_file_of(path: str | os.PathLike[str]) -> Calibration:
    """The calibration in a file. Raises HocketError for one that cannot be used."""
    again = "measure again: hocket calibrate network"
    with as_error(f"cannot read the calibration {path}", "check its name and permissions"):
        data = read_file(path)
    if len(data) > _MOST_BYTES:
        raise HocketError(f"{path} is larger than {_MOST_BYTES >> 20} MiB", remedy=again)
    try:
        return from_json(json.loads(data.decode()))
    except (ValueError, RecursionError) as problem:
        raise HocketError(f"{path} is not a calibration, or damaged: {problem}", remedy=again) from None


def read_calibration(
    path: str | None, description: NetworkDescription, host_rate: float
) -> tuple[Calibration | None, str]:
    """The calibration in a file, or the one that is kept of this network, or none; and where it comes from, or
    why the kept one was not taken. What the user names must be good: raises HocketError."""
    if path is not None:
        return read_file_of(path), path
    try:
        kept = kept_path(description)
        if not os.path.lexists(kept):
            return None, ""
        check_private(kept)
        found = read_file_of(kept)
    except HocketError as problem:
        return None, str(problem)
    if found.host_rate is None or abs(found.host_rate / host_rate - 1) > _RATES_AGREE:
        return None, f"{kept} was measured with other rates"
    return found, str(kept)
