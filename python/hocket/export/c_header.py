"""The comment at the head of a generated routine: what it is, for which network, and where its schedule comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hocket import _core
from hocket.demand.collectives import ALL_GATHER, ALL_TO_ALL, IRREGULAR, REDUCE_SCATTER
from hocket.errors import UsageError
from hocket.export.c_tables import wrapped
from hocket.units import format_bytes, format_rate, format_time

if TYPE_CHECKING:
    from hocket.planning.plan import PlannedExchange

MOST_RANKS: Final = 512  # 261,632 messages: 15 MB of tables
_KEYWORDS: Final = frozenset(
    [
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum"),
        *("extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return"),
        *("short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void"),
        *("volatile", "while", "main"),
    ]
)
MOST_LINKS: Final = 64  # listed

_PAIR_WISE: Final = [
    "synchronisation is that of A. Faraj and X. Yuan, Message Scheduling for All-to-All Personalized",
    "Communication on Ethernet Switched Clusters, section 5.",
]


@dataclass(frozen=True, slots=True)
class RoutineOptions:
    """Name of the routine, and the flow control of its messages."""

    function: str = "MPI_Alltoall"
    flow: str = "token"

    def check(self) -> None:
        if not re.fullmatch(r"[A-Za-z_]\w{0,62}", self.function, re.ASCII) or self.function in _KEYWORDS:
            raise UsageError(
                f"--function-name {self.function!r} is not a name of a C function",
                remedy="use MPI_Alltoall to replace the library's, or a name such as hocket_alltoall",
            )
        if not re.fullmatch(r"token|barrier|free|window:\d{1,4}", self.flow) or not 1 <= self.window <= 1024:
            raise UsageError(
                f"'{self.flow}' is not a known flow control",
                remedy="known are token, barrier, window:K (K from 1 to 1024) and free",
            )

    @property
    def window(self) -> int:
        return int(self.flow.partition(":")[2]) if self.flow.startswith("window:") else 1

    def check_network(self, network: _core.Network) -> None:
        """Check the network before planning, which may take long. Raises UsageError."""
        if not 2 <= network.ranks <= MOST_RANKS:
            raise UsageError(
                f"the network has {network.ranks} ranks; a routine is written for 2 to {MOST_RANKS}",
                remedy="run larger programs with 'hocket run'" if network.ranks > 2 else "",
            )


@dataclass(frozen=True, slots=True)
class Comment:
    """Parts of the header's comment that differ among collectives."""

    title: str
    collective: str
    replaces: str
    serves: list[str]
    size: str
    source: list[str]


def all_to_all_comment(planned: PlannedExchange, options: RoutineOptions) -> Comment:
    return Comment(
        "all-to-all personalised communication",
        ALL_TO_ALL,
        _replaces(options.function, "MPI_Alltoall"),
        [
            "any datatype and count, and MPI_IN_PLACE; other communicators and messages below",
            "HOCKET_MIN_BYTES bytes go to the MPI library.",
        ],
        f"{format_bytes(planned.demand.bytes)} per message",
        [
            "Source: A. Faraj and X. Yuan, Message Scheduling for All-to-All Personalized Communication",
            "on Ethernet Switched Clusters: section 4 for the phases of trees, section 5 for the pair-wise",
            "synchronisation, in which the receiver of the earlier of two messages that share a link",
            "releases the sender of the later.",
        ],
    )


def all_gather_comment(planned: PlannedExchange, options: RoutineOptions) -> Comment:
    return Comment(
        ALL_GATHER,
        ALL_GATHER,
        _replaces(options.function, "MPI_Allgather", "v"),
        [
            "any datatype and counts, and MPI_IN_PLACE; other communicators and contributions below",
            "HOCKET_MIN_BYTES bytes (their mean) go to the MPI library.",
        ],
        f"{format_bytes(planned.demand.bytes)} per rank",
        [
            f"Source: {_source_of(planned)}. The pair-wise",
            *_PAIR_WISE[:-1],
            f"{_PAIR_WISE[-1]} A rank forwards what has come to it: a",
            "send waits until all that it carries is there.",
        ],
    )


def broadcast_comment(planned: PlannedExchange, options: RoutineOptions, size: int, root: int) -> Comment:
    return Comment(
        "broadcast",
        planned.collective,
        _replaces(options.function, "MPI_Bcast"),
        [
            f"any datatype and count, from rank {root} of the network; other communicators, other roots and",
            "messages below HOCKET_MIN_BYTES bytes go to the MPI library.",
        ],
        f"{format_bytes(size)} from the root",
        [
            f"Source: {_source_of(planned)}. The pair-wise",
            *_PAIR_WISE[:-1],
            f"{_PAIR_WISE[-1]} A rank forwards what has come to it.",
        ],
    )


def root_comment(planned: PlannedExchange, options: RoutineOptions, root: int, replaced: str) -> Comment:
    size = planned.demand.bytes
    return Comment(
        planned.collective,
        planned.collective,
        _replaces(options.function, replaced),
        [
            f"any datatype and count, and MPI_IN_PLACE, with rank {root} of the network as root; other",
            "communicators, other roots and messages below HOCKET_MIN_BYTES bytes go to the MPI library.",
        ],
        f"{format_bytes(size)} per message",
        [
            f"Source: {_source_of(planned, IRREGULAR)}. The pair-wise",
            *_PAIR_WISE,
        ],
    )


def reduction_comment(
    planned: PlannedExchange, options: RoutineOptions, size: int, root: int | None, replaced: str, suffix: str
) -> Comment:
    result = "any operation that commutes, datatype and counts, and MPI_IN_PLACE"
    return Comment(
        planned.collective,
        planned.collective,
        _replaces(options.function, replaced, suffix),
        [
            f"{result}; other communicators",
            "and blocks below HOCKET_MIN_BYTES bytes (their mean) go to the MPI library.",
        ]
        if root is None
        else [
            f"{result}, with rank {root} of the network as root; other",
            "communicators, other roots and vectors below HOCKET_MIN_BYTES bytes go to the MPI library.",
        ],
        f"blocks of {format_bytes(size)}"
        if planned.collective == REDUCE_SCATTER
        else f"a vector of {format_bytes(size)}",
        [
            f"Source: {_source_of(planned)};",
            "of the all-gather that this is, turned round. What comes in is added in the order below, the same in",
            "every run. The pair-wise",
            *_PAIR_WISE,
        ],
    )


def header(
    planned: PlannedExchange, source: str, options: RoutineOptions, waits: _core.Waits, comment: Comment
) -> str:
    from importlib.metadata import version

    network, schedule, bounds = planned.network, planned.schedule, planned.bounds
    names = network.names
    hosts = wrapped([names[host] for host in network.hosts], "  ").split("\n")
    links = [
        f"  {names[a]} - {names[b]}  {format_rate(network.rate(2 * i))}, "
        f"{format_time(network.latency(2 * i))}"
        for i, (a, b) in enumerate(network.links[:MOST_LINKS])
    ]
    left_out = len(network.links) - len(links)
    bottleneck = network.channel_name(bounds.bottleneck) if network.channels else "none"
    by_time = comment.collective != ALL_TO_ALL  # phases differ in length
    contention = (
        "none: no two messages of a phase share a link in one direction, inter-switch links as wide as their rate"
        if planned.certificate.contention_free
        else "messages of a phase share links: this schedule is for comparison"
    )
    return _block([
        f"{options.function}: {comment.title}, scheduled for one network.",
        "",
        f"Written by Hocket {version('hocket')} from the plan {source}:",
        f"  hocket export {source} --to c --flow {options.flow} --function-name {options.function}",
        "",
        comment.replaces,
        f"Compile it with any MPI:  mpicc -O2 -c FILE.c. It serves communicators of {network.ranks} ranks,",
        *comment.serves,
        "",
        f"Algorithm   {planned.algorithm}",
        f"Phases      {schedule.phases}; by these routes no schedule has fewer than {planned.bound_phases}"
        + ("" if by_time else f" (bottleneck {bottleneck})"),
        f"Contention  {contention}",
        f"Messages    {len(schedule)}; {_flow_text(options, waits)}",
        f"Time        {format_time(planned.bound_seconds, 4)} at least for {comment.size}, "
        f"{format_time(planned.predicted_seconds, 4)} predicted under tokens"
        + (f" (bottleneck {bottleneck})" if by_time else ""),
        "",
        *comment.source,
        "",
        f"Ranks are numbered in the order of the {len(network.hosts)} hosts:",
        *hosts,
        "",
        f"Links ({len(network.links)}):",
        *links,
        *([f"  and {left_out} more"] if left_out else []),
    ])  # fmt: skip


def _source_of(planned: PlannedExchange, pattern: str = ALL_GATHER) -> str:
    entries = (s for s in _core.all_algorithms() if s.name == planned.algorithm and s.pattern == pattern)
    return next((s.source for s in entries), planned.algorithm)


def _replaces(function: str, replaced: str, suffix: str = "") -> str:
    ours, theirs = function, replaced
    if suffix:
        ours, theirs = f"{function} and {function}{suffix}", f"{replaced} and {replaced}{suffix}"
    if function == replaced:
        return f"Link it with a program and it takes the place of the library's {theirs}."
    return f"Call {ours} with the arguments of {theirs}."


def _flow_text(options: RoutineOptions, waits: _core.Waits) -> str:
    if options.flow == "barrier":
        return "a barrier between any two phases"
    if options.flow == "free":
        return "nothing holds them back but the order of each sender"
    redundant = waits.derived - len(waits)
    if waits.derived == 0:
        return "what a rank has sent and received before keeps the phases apart, no token is needed"
    return f"{len(waits)} pair-wise waits keep the phases apart, {redundant} redundant ones left out"


def _block(lines: list[str]) -> str:
    """A block comment that no name can end or continue."""
    safe = [
        "".join(c if c.isprintable() else "?" for c in line).replace("*/", "*_/").replace("/*", "/_*")
        for line in lines
    ]
    safe = [line.replace("??/", "?_?/") for line in safe]
    return "/* " + "\n".join([safe[0], *(f" * {line}".rstrip() for line in safe[1:])]) + "\n */"
