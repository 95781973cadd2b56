"""Advice about calls that the MPI library served."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from hocket.report.run.merge import Account, Line
from hocket.units import format_bytes

_NOTEWORTHY: Final = 0.05  # of the time in all calls
_LEAST_WORTH_TRYING: Final = 1024  # bytes; the time of smaller messages is that of their way, not their bytes

# Values of `why` in a report, as the column of the table shows them.
REASONS: Final = {
    "small": "small",
    "few_ranks": "few ranks or one host",
    "intercommunicator": "intercommunicator",
    "erroneous": "arguments",
    "no_place": "no place in the network",
    "no_plan": "no plan",
    "new_sizes": "sizes seen first",
    "not_asked": "has not gained",
    "sizes_unknown": "sizes unknown",
    "not_ready": "not planned yet",
    "forwards": "single-threaded MPI",
    "topology": "topology",
    "left_alone": "left alone",
    "operation": "the operation",
    "two_level": "aggregated if blocking",
    "faster": "the library's is faster",
    "untold": "unknown",
}

_REMEDIES: Final = {
    "no_place": "a rank has no place in the network; see --placement and 'hocket doctor'",
    "no_plan": "Hocket has no plan for them; 'hocket plan' shows why",
    "new_sizes": "their sizes changed from call to call, and schedules are made for sizes that repeat",
    "not_asked": "earlier exchanges did not gain, so these calls are checked with exponential back-off",
    "sizes_unknown": "a call that need not wait for other ranks cannot learn their sizes; make blocking ones of the "
    "kind before it, or persistent ones (MPI_…_init) if it has a root",
    "not_ready": "a nonblocking call is scheduled once its communicator has a plan; make a blocking "
    "all-to-all, all-gather or barrier on it first",
    "two_level": "blocking calls of this kind are aggregated by host; nonblocking calls cannot be",
    "forwards": "ranks would have to forward messages while the program computes; initialise MPI with "
    "MPI_THREAD_MULTIPLE",
}


def _group(line: Line) -> tuple[str, str]:
    """The reason, and what is to be said of it."""
    return line.why, "--min-bytes" if line.why == "small" else line.detail


def advice(account: Account) -> list[str]:
    """A sentence for each reason that much of the time went to and that a user can remedy, the most first."""
    total = sum(line.mean for line in account.lines)
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    largest: defaultdict[tuple[str, str], int] = defaultdict(int)
    for line in account.lines:
        if line.scheduled:
            continue
        seconds[_group(line)] += line.mean
        largest[_group(line)] = max(largest[_group(line)], line.most)
    told = []
    for group, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        why, more = group
        helps = largest[group] >= _LEAST_WORTH_TRYING if why == "small" else why in _REMEDIES
        if spent < _NOTEWORTHY * total or not helps:
            continue
        remedy = _REMEDIES.get(why) or (
            f"their messages, of up to {format_bytes(largest[group])}, are below the limit: "
            f"try a smaller {more}"
        )
        if why != "small" and more:
            remedy = f"{more} ({remedy})"
        told.append(f"{spent / total:.0%} of the time went to calls that the MPI library served: {remedy}")
    return told
