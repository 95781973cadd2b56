"""Measured figures of a network, and the files that they are kept in, one for each wiring."""

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated, Any, Final, Self, TypeAlias

from hocket.errors import HocketError
from hocket.network import NetworkDescription
from hocket.network.measured import wiring_digest
from hocket.system.cache import cache_dir, check_private
from hocket.system.files import as_error, read_file
from hocket.system.records import Limits, record

FORMAT: Final = "hocket network calibration"
VERSION: Final = 1
FLOWS: Final = (1, 2, 4, 8)  # that share a wire
MOST_SECONDS: Final = 1000.0  # of anything that was measured
MOST_BYTES: Final = 2**30
MOST_ENTRIES: Final = 1000  # of a list

Seconds: TypeAlias = Annotated[float, Limits(0, MOST_SECONDS)]
Spread: TypeAlias = Annotated[float, Limits(0, 1e9)]
Bytes: TypeAlias = Annotated[int, Limits(0, MOST_BYTES)]
Count: TypeAlias = Annotated[int, Limits(1, MOST_BYTES)]
Word: TypeAlias = Annotated[str, Limits(0, 1000)]


@dataclass(frozen=True, slots=True)
class Figure:
    """Seconds: the median, and half the distance between the quartiles over it."""

    median: Seconds
    spread: Spread = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Median and spread of one or more measured times."""
        middle = median(values)
        low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (middle,) * 3
        return cls(middle, (high - low) / 2 / middle if middle > 0 else 0.0)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A message of so many bytes: seconds from the start of its send to the end of its receive."""

    bytes: Count
    seconds: Figure


@dataclass(frozen=True, slots=True)
class Class:
    """Pairs of ranks at one distance. ``links``: on the route between them; None: not known, but on two hosts."""

    links: Bytes | None
    pairs: Count  # measured
    send: Figure
    receive: Figure
    latency: Seconds  # of a message of one byte, without what it takes of either processor
    transfers: Annotated[tuple[Transfer, ...], Limits(2, MOST_ENTRIES)]  # by bytes, the first of one byte

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

    flows: Count
    bytes: Count
    part: Annotated[float, Limits(1e-6, 1)]
    spread: Spread


@dataclass(frozen=True, slots=True)
class Calibration:
    """Measurements of one calibration. Times in seconds, rates in bytes per second."""

    date: Word
    mpi: Word
    ranks: Annotated[int, Limits(2, MOST_BYTES)]
    hosts: Count
    cores: Count  # of a host, that its ranks may use
    ranks_per_host: Count
    host_rate: Annotated[float, Limits(1e-3, 1e18)] | None  # as described; None: there was no network
    wiring: Word | None
    classes: Annotated[tuple[Class, ...], Limits(1, MOST_ENTRIES)]  # nearest first
    eager: Bytes  # bytes: the longest message that was sent before its receiver asked for it
    token: Figure  # from a message's end until its sender knows, nothing else under way
    token_loaded: Figure  # the same while all ranks exchange messages of `token_bytes`
    token_bytes: Bytes
    per_byte_loaded: Annotated[float, Limits(0, 1)]  # seconds, while all ranks exchange
    sendrecv: Figure  # MPI_Sendrecv of one byte, by all ranks at once
    host_flows: Annotated[tuple[Flows, ...], Limits(0, MOST_ENTRIES)]  # into one host
    switch_link_flows: Annotated[tuple[Flows, ...], Limits(0, MOST_ENTRIES)]  # from one switch to another
    memory: dict[str, Annotated[float, Limits(0, 1e12)]] | None  # MB/s of each basic transfer
    memory_origin: Word
    seconds: Annotated[float, Limits(0, 1e6)]  # that measuring took
    left_out: Bytes  # figures that there was no time for

    @property
    def between_hosts(self) -> Class:
        """The nearest class of two hosts; of a single host the only one."""
        return next((c for c in self.classes if c.links != 0), self.classes[0])

    def flows(self, kind: str, bytes: int) -> tuple[float, float, float, float]:
        """The part of a wire's rate that 1, 2, 4, 8 flows of about so many bytes carry together."""
        measured = self.host_flows if kind == "host" else self.switch_link_flows
        if not (sizes := sorted({flow.bytes for flow in measured})):
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
    whole = found if isinstance(found, dict) else {}
    if whole.get("format") != FORMAT:
        raise ValueError("it is not a calibration of a network")
    if whole.get("version") != VERSION:
        raise ValueError("it is of another version")
    calibration = record(Calibration, whole)
    for one in calibration.classes:
        if (sizes := [transfer.bytes for transfer in one.transfers]) != sorted(set(sizes)):
            raise ValueError("transfers are not in the order of their bytes")
    return calibration


_MOST_BYTES: Final = 16 * 2**20
_RATES_AGREE: Final = 0.01


def kept_path(description: NetworkDescription | None) -> Path:
    """Path of the calibration kept for this network or, without a network, for this host. Raises HocketError
    if there is no safe cache."""
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
