"""Calls that ranks are put in order for, as ``--for`` lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hocket import _core
from hocket.demand import read_traffic
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, EQUAL, find
from hocket.errors import UsageError

DEFAULT_CALLS: Final = (ALL_GATHER, ALL_REDUCE, ALL_TO_ALL)
FILES: Final = ("halo", "trace", "matrix")  # FILE behind one of these and a colon
_MOST_PIECES: Final = 64
# Collectives whose algorithms the core knows as steps.
_KNOWN: Final = tuple(
    entry.name for entry in EQUAL if _core.order.native_calls(entry.pattern, 4, 1, 1) and not entry.rooted
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A native algorithm (``name``) of a collective of ``bytes`` each; or the messages of a file of that name, all at
    once, where the demand is irregular."""

    collective: str
    name: str
    call: _core.order.Call
    demand: _core.Demand
    bytes: int


def parse_wanted(text: str, ranks: int, bytes: int) -> list[Wanted]:
    """The calls of ``all-gather,all-reduce:ring,matrix:FILE``, all pieces with the same weight.

    A collective stands for all algorithms that MPI libraries take for so many ranks and bytes, or for the one behind
    its colon; of ``bytes`` a message, contribution or block. Raises :class:`hocket.errors.HocketError`.
    """
    pieces = [piece.strip() for piece in text.split(",")]
    if len(pieces) > _MOST_PIECES:
        raise UsageError(f"--for lists {len(pieces)} calls", remedy=f"give at most {_MOST_PIECES}")
    return [one for piece in pieces for one in _piece(piece, ranks, bytes, 1 / len(pieces))]


def _piece(piece: str, ranks: int, bytes: int, weight: float) -> list[Wanted]:
    kind, _, rest = piece.partition(":")
    if kind in FILES:
        if not rest:
            raise UsageError(
                f"--for {kind}: names no file", remedy=f"write {kind}:FILE (see 'hocket help formats')"
            )
        traffic = read_traffic(rest)
        traffic.check_ranks(ranks, rest)
        demand = traffic.demand()
        return [Wanted(kind, rest, _core.order.demand_call(demand, weight), demand, demand.bytes)]
    if kind not in _KNOWN:
        files = ", ".join(f"{each}:FILE" for each in FILES)
        raise UsageError(
            f"--for {piece!r} is no call whose native algorithms are known",
            remedy=f"give some of {', '.join(_KNOWN)}, {files}",
        )
    demand = find(kind).demand(ranks, bytes, 0)
    found = dict(_core.order.native_calls(demand.pattern, ranks, demand.bytes, weight, every=bool(rest)))
    if rest and rest not in found:
        raise UsageError(
            f"--for {piece}: no such algorithm for {ranks:,} ranks", remedy=f"give one of {', '.join(found)}"
        )
    names = [rest] if rest else list(found)
    calls = dict(_core.order.native_calls(demand.pattern, ranks, demand.bytes, weight / len(names)))
    return [Wanted(kind, name, calls[name], demand, bytes) for name in names]
