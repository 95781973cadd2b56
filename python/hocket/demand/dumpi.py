"""Messages of a DUMPI trace of SST, by its ``.meta`` file and the text that ``dumpi2ascii`` makes of each rank's file.

What each rank sends to each other by sends, ``MPI_Sendrecv``, ``MPI_Alltoall`` and ``MPI_Alltoallv``, all together.
Format: https://github.com/sstsimulator/sst-dumpi, dumpi/bin/dumpi2ascii-{callbacks.c,defs.h}.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hocket.demand.source import MAX_FILE_BYTES, Source
from hocket.demand.traffic import MOST_RANKS, Traffic
from hocket.errors import DemandError
from hocket.system.files import read_limited
from hocket.system.text import shown

_SENDS: Final = frozenset(
    f"MPI_{kind}" for kind in ("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend")
)
_SENDS_BOTH: Final = ("MPI_Sendrecv", "MPI_Sendrecv_replace")
_REFUSED: Final = frozenset(f"MPI_{kind}_init" for kind in ("Send", "Bsend", "Ssend", "Rsend")) | {
    "MPI_Alltoallw"
}
_COUNTED: Final = frozenset(
    [*_SENDS, *_SENDS_BOTH, *_REFUSED, "MPI_Alltoall", "MPI_Alltoallv", "MPI_Comm_dup", "MPI_Type_contiguous"]
)
_BEGIN: Final = re.compile(r"(MPI_\w+) entering at walltime ")
_END: Final = re.compile(r"(MPI_\w+) returning at walltime ")
_VALUE: Final = re.compile(
    r"[A-Za-z0-9_ ]+?\b(\w+)(?:\[\d+\])?=(\[[-\d, ]*\]|-?\d{1,18})(?: \((\S+)\))?$", re.ASCII
)
_COUNT: Final = re.compile(r"[0-9]{1,18}")
_OUTPUT: Final = "is this output of dumpi2ascii?"
_WORLD: Final = "MPI_COMM_WORLD"
_NOBODY: Final = -1  # MPI_PROC_NULL and MPI_ROOT are less than 0
_BYTES: Final = {
    1: "CHAR SIGNED_CHAR UNSIGNED_CHAR BYTE PACKED CHARACTER INT8_T UINT8_T C_BOOL LOGICAL1 INTEGER1",
    2: "SHORT UNSIGNED_SHORT INT16_T UINT16_T INTEGER2 REAL2",
    4: "INT UNSIGNED FLOAT INTEGER REAL LOGICAL WCHAR INT32_T UINT32_T INTEGER4 REAL4 UNSIGNED_INT",
    6: "SHORT_INT",
    8: "LONG UNSIGNED_LONG DOUBLE LONG_LONG LONG_LONG_INT UNSIGNED_LONG_LONG DOUBLE_PRECISION COMPLEX 2INT 2INTEGER "
    "2REAL FLOAT_INT INT64_T UINT64_T INTEGER8 REAL8 COMPLEX8",
    12: "DOUBLE_INT LONG_INT",
    16: "LONG_DOUBLE DOUBLE_COMPLEX 2DOUBLE_PRECISION REAL16 COMPLEX16",
    20: "LONG_DOUBLE_INT",
}  # fmt: skip
SIZES: Final = {f"MPI_{name}": size for size, names in _BYTES.items() for name in names.split()}


def begins(data: bytes) -> bool:
    return data.startswith(b"hostname=") and b"\nfileprefix=" in data


@dataclass(slots=True)
class _Call:
    """A call of one rank; values by name, with what stands in brackets behind them."""

    name: str
    line: int
    values: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Rank:
    """The text of one rank, read call by call."""

    source: Source
    rank: int
    ranks: int
    worlds: set[str] = field(default_factory=set)  # communicators with all ranks in their order
    types: dict[str, int] = field(default_factory=dict)  # bytes
    sizes: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))  # by receiver

    def read(self) -> None:
        call: _Call | None = None
        for line, text in enumerate(self.source.text().split("\n"), 1):
            if found := _BEGIN.match(text):
                call = _Call(found[1], line) if found[1] in _COUNTED else None
            elif call is None:
                continue
            elif _END.match(text):
                self._count(call)
                call = None
            elif value := _VALUE.match(text):
                call.values[value[1]] = (value[2], value[3] or "")
        if call is not None:
            raise self.source.error(f"ends within a call of {call.name}", call.line, "is the file cut off?")

    def _count(self, call: _Call) -> None:
        if call.name in _REFUSED:
            raise self.source.error(
                f"{call.name} is not read", call.line, "record the program with 'hocket record'"
            )
        if call.name == "MPI_Comm_dup":
            if self._is_world(call, "oldcomm"):
                self.worlds.add(self._value(call, "newcomm"))
            return
        if call.name == "MPI_Type_contiguous":
            size = self._size(call, "oldtype") * self._number(call, "count")
            self.types[self._value(call, "newtype")] = size
            return
        if call.name.startswith("MPI_Alltoall"):
            self._check_world(call)
            size = self._size(call, "sendtype")
            counts = (
                [self._number(call, "sendcount")] * self.ranks
                if call.name == "MPI_Alltoall"
                else self._counts(call)
            )
            for receiver, count in enumerate(counts):
                self.sizes[receiver] += count * size
            return
        counted, kind = ("sendcount", "sendtype") if call.name == "MPI_Sendrecv" else ("count", "datatype")
        receiver = self._number(call, "dest", least=-(2**31))
        if receiver > _NOBODY:
            self._check_world(call)
            if receiver >= self.ranks:
                raise self.source.error(f"there is no rank {receiver} of {self.ranks}", call.line)
            self.sizes[receiver] += self._number(call, counted) * self._size(call, kind)

    def _value(self, call: _Call, name: str) -> str:
        if name not in call.values:
            raise self.source.error(f"{call.name} does not say its {name}", call.line, _OUTPUT)
        return call.values[name][0]

    def _number(self, call: _Call, name: str, least: int = 0) -> int:
        text = self._value(call, name)
        if text.startswith("[") or int(text) < least:
            raise self.source.error(f"{call.name}: {name} is {text}", call.line)
        return int(text)

    def _counts(self, call: _Call) -> list[int]:
        text = self._value(call, "sendcounts")
        parts = [part.strip() for part in text.strip("[]").split(",")] if text.startswith("[") else []
        if len(parts) != self.ranks:
            raise self.source.error(f"{call.name}: {len(parts)} sendcounts of {self.ranks} ranks", call.line)
        if (wrong := next((part for part in parts if not _COUNT.fullmatch(part)), None)) is not None:
            raise self.source.error(
                f"{call.name}: {shown(wrong)} is not one of its sendcounts", call.line, _OUTPUT
            )
        return [int(part) for part in parts]

    def _is_world(self, call: _Call, name: str) -> bool:
        handle = self._value(call, name)
        return call.values[name][1] == _WORLD or handle in self.worlds

    def _check_world(self, call: _Call) -> None:
        if not self._is_world(call, "comm"):
            raise self.source.error(
                f"{call.name} on a communicator that is neither {_WORLD} nor a copy of it", call.line,
                "the trace does not say who its ranks are: record the program with 'hocket record'",
            )  # fmt: skip

    def _size(self, call: _Call, name: str) -> int:
        handle = self._value(call, name)
        known = SIZES.get(call.values[name][1], self.types.get(handle))
        if known is None:
            raise self.source.error(
                f"{call.name}: the size of datatype {handle} is not in the trace", call.line,
                "basic and contiguous types are read: record the program with 'hocket record'",
            )  # fmt: skip
        return known


def read(source: Source) -> Traffic:
    """Raises DemandError for a file of a rank that is missing or damaged, and for what the trace does not tell."""
    said = dict(text.split("=", 1) for _, text in source.lines("\0") if "=" in text)
    if not _COUNT.fullmatch(numprocs := said.get("numprocs", "")):
        raise source.error("does not say numprocs")
    ranks, prefix = int(numprocs), said.get("fileprefix", "")
    if not prefix or "/" in prefix or not 1 <= ranks <= MOST_RANKS:
        raise source.error(f"names {ranks} ranks and files called {shown(prefix)}")
    traffic = Traffic(ranks, source)
    for rank in range(ranks):
        path = str(Path(source.name).parent / f"{prefix}-{rank:04d}.txt")
        what = f"the output of 'dumpi2ascii {prefix}-{rank:04d}.bin'"
        text = Source(path, read_limited(path, MAX_FILE_BYTES, what, DemandError))
        found = _Rank(text, rank, ranks)
        found.read()
        for receiver, size in sorted(found.sizes.items()):
            traffic.add(rank, receiver, size)
    return traffic
