"""Collectives that can be planned: the core's descriptors by name, and the patterns of their demands.

A collective is a row of the core's table (``core/demand/demand.cpp``); commands and choices follow from it."""

import re
from typing import Final

from hocket import _core
from hocket.errors import UsageError

# Patterns of demands; a collective of the same name exists for each.
ALL_TO_ALL: Final = "all-to-all"
ALL_GATHER: Final = "all-gather"
IRREGULAR: Final = "irregular"
REDUCE_SCATTER: Final = "reduce-scatter"
ALL_REDUCE: Final = "all-reduce"
# Collectives with a root.
BROADCAST: Final = "broadcast"
REDUCE: Final = "reduce"
GATHER: Final = "gather"
SCATTER: Final = "scatter"

COLLECTIVES: Final[dict[str, _core.Collective]] = {entry.name: entry for entry in _core.Collective.all()}
# Collectives that a name and a size describe completely.
EQUAL: Final = tuple(entry for entry in COLLECTIVES.values() if not entry.by_matrix)
# Plan files that a launcher makes; other collectives are planned by the ranks when they are first called.
PLANNED_FOR_JOBS: Final = (ALL_TO_ALL, ALL_GATHER)


def _letters(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower()).removeprefix("mpi")


# The one spelling of each name, by its letters: Hocket's own, and MPI's with all their forms (MPI_Ialltoall_c).
_SPELLINGS: Final = {
    f"{begin}{_letters(name)}{end}": entry.name
    for entry in COLLECTIVES.values()
    for name in (entry.name, *entry.mpi_calls.split(", "))
    for begin in ("", "i")
    for end in ("", "init", "c", "initc")
}


def spelled(name: str) -> str:
    """The collective that a name means (``MPI_Alltoall``, ``alltoall``, ``all-to-all``), in its one spelling; the name
    itself if it is none of a collective."""
    return str(_SPELLINGS.get(_letters(name), name))


def find(name: str) -> _core.Collective:
    """The descriptor of a collective that a name and a size say everything of; raises UsageError."""
    if (entry := COLLECTIVES.get(spelled(name))) is None or entry.by_matrix:
        known = ", ".join(f"'{equal.name}'" for equal in EQUAL)
        raise UsageError(f"there is no collective '{name}'", remedy=f"give {known} or a matrix of bytes")
    return entry


def usual_alpha(demand: _core.Demand) -> float:
    """Seconds that a message is taken to cost its sender unless the user says otherwise: of a plan, what its ranks
    assume when they run it."""
    call = call_of(demand)
    return float(COLLECTIVES[demand.pattern if call is None else call[0]].usual_alpha)


def call_of(demand: _core.Demand) -> tuple[str, int] | None:
    """The collective with a root that a demand is of, and the root; None: of none."""
    for entry in EQUAL:
        if not entry.rooted or entry.pattern != demand.pattern:
            continue
        for root in _possible_roots(demand):
            if entry.can_follow(demand, root):
                return entry.name, root
    return None


def some_call_follows(demand: _core.Demand) -> bool:
    """Return true if any calls can follow a plan of this demand, whatever their size."""
    return call_of(demand) is not None or any(entry.can_follow(demand) for entry in EQUAL if not entry.rooted)


def _possible_roots(demand: _core.Demand) -> list[int]:
    """Ranks that can be the root: it has a part in every message; of all blocks only its own is not empty."""
    if demand.pattern != IRREGULAR:
        return [rank for rank, size in enumerate(demand.contributions) if size > 0][:1]
    messages = demand.list()
    return [int(rank) for rank in set(messages[0][:2]) & set(messages[-1][:2])] if messages else []


def takes_contributions(entry: _core.Collective) -> bool:
    """Return true if every rank's block may have a size of its own."""
    return bool(entry.forwards and entry.name == entry.pattern) and entry.name != ALL_REDUCE


def scheduled_as(entry: _core.Collective) -> str:
    """The pattern whose algorithms serve it: reductions are all-gathers turned round."""
    return ALL_GATHER if entry.forwards else str(entry.pattern)
