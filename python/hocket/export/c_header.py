"""The comment at the head of a generated routine: what it is, for which network, and where its schedule comes from."""

import re
from dataclasses import dataclass
from textwrap import wrap
from typing import Final

from hocket import _core
from hocket.demand import collectives
from hocket.errors import UsageError
from hocket.export.c_tables import WIDTH, wrapped
from hocket.units import format_bytes, format_rate, format_time

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

_PAPER: Final = (
    "A. Faraj and X. Yuan, Message Scheduling for All-to-All Personalized Communication on Ethernet Switched "
    "Clusters"
)


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
class Routine:
    """Call that a collective's routine replaces, the sections of templates/calls.c.in that it is written with, and
    words of its comment: the arguments that it serves, what of them must be large, and what the size is of."""

    replaced: str  # the call of the MPI library
    sections: tuple[str, ...]
    arguments: str
    large: str
    size: str
    suffix: str = ""  # of the second entry's name
    title: str = ""  # of the comment, if it is not the collective's name


_ANY: Final = "any datatype and count, and MPI_IN_PLACE"
_REDUCES: Final = "any operation that commutes, datatype and counts, and MPI_IN_PLACE"
ROUTINES: Final = {
    collectives.ALL_TO_ALL: Routine(
        "MPI_Alltoall", ("copy", "alltoall"), _ANY, "messages", "{} per message",
        title="all-to-all personalised communication",
    ),
    collectives.ALL_GATHER: Routine(
        "MPI_Allgather", ("copy", "parts", "allgather"), "any datatype and counts, and MPI_IN_PLACE", "contributions",
        "{} per rank", "v",
    ),
    collectives.BROADCAST: Routine(
        "MPI_Bcast", ("parts", "broadcast"), "any datatype and count", "messages", "{} from the root"
    ),
    collectives.REDUCE_SCATTER: Routine(
        "MPI_Reduce_scatter", ("copy", "sums", "reducescatter"), _REDUCES, "blocks", "blocks of {}", "_block"
    ),
    collectives.ALL_REDUCE: Routine(
        "MPI_Allreduce", ("copy", "sums", "allreduce"), _REDUCES, "blocks", "a vector of {}"
    ),
    collectives.REDUCE: Routine("MPI_Reduce", ("copy", "sums", "reduce"), _REDUCES, "vectors", "a vector of {}"),
    collectives.GATHER: Routine("MPI_Gather", ("copy", "rooted"), _ANY, "messages", "{} per message"),
    collectives.SCATTER: Routine("MPI_Scatter", ("copy", "rooted"), _ANY, "messages", "{} per message"),
}  # fmt: skip


def collective_of(demand: _core.Demand) -> str:
    """The collective that a routine is written of. Raises UsageError for a demand of none."""
    if (call := collectives.call_of(demand)) is None and demand.pattern == collectives.IRREGULAR:
        raise UsageError(
            "no routine is written of an irregular exchange", remedy=f"export a plan of {', '.join(ROUTINES)}"
        )
    return str(demand.pattern) if call is None else call[0]


def header(
    planned: _core.Plan, certificate: _core.Certificate, source: str, options: RoutineOptions, waits: _core.Waits,
    size: int, root: int,
) -> str:  # fmt: skip
    """``size``: bytes that the schedule was planned for; ``root``: its rank in the network, -1 without one."""
    from importlib.metadata import version

    collective, network, schedule = collective_of(planned.demand), planned.network, planned.schedule
    bounds = _core.lower_bounds(network, planned.demand)
    routine = ROUTINES[collective]
    at_root = f", with rank {root} of the network as root" if root >= 0 else ""
    mean = " (their mean)" if routine.large in ("contributions", "blocks") else ""
    serves = (
        f"It serves communicators of {network.ranks} ranks, {routine.arguments}{at_root}; other communicators"
        f"{', other roots' if at_root else ''} and {routine.large} below HOCKET_MIN_BYTES bytes{mean} go to the MPI "
        "library."
    )
    names = network.names
    hosts = wrapped([names[host] for host in network.hosts], "  ").split("\n")
    links = [
        f"  {names[a]} - {names[b]}  {format_rate(network.rate(2 * i))}, "
        f"{format_time(network.latency(2 * i))}"
        for i, (a, b) in enumerate(network.links[:MOST_LINKS])
    ]
    left_out = len(network.links) - len(links)
    bottleneck = f" (bottleneck {network.channel_name(bounds.bottleneck) if network.channels else 'none'})"
    by_time = collective != collectives.ALL_TO_ALL  # phases differ in length
    contention = (
        "none: no two messages of a phase share a link in one direction, inter-switch links as wide as their rate"
        if certificate.contention_free
        else "messages of a phase share links: this schedule is for comparison"
    )
    return _block([
        f"{options.function}: {routine.title or collective}, scheduled for one network.",
        "",
        f"Written by Hocket {version('hocket')} from the plan {source}:",
        f"  hocket export {source} --to c --flow {options.flow} --function-name {options.function}",
        "",
        _replaces(options.function, routine),
        "Compile it with any MPI:  mpicc -O2 -c FILE.c.",
        *wrap(serves, WIDTH),
        "",
        f"Algorithm   {planned.algorithm}",
        f"Phases      {schedule.phases}; by these routes no schedule has fewer than {planned.bound_phases}"
        + ("" if by_time else bottleneck),
        f"Contention  {contention}",
        f"Messages    {len(schedule)}; {_flow_text(options, waits)}",
        f"Time        {format_time(planned.bound_seconds, 4)} at least for "
        f"{routine.size.format(format_bytes(size))}, "
        f"{format_time(planned.predicted_seconds, 4)} predicted under tokens" + (bottleneck if by_time else ""),
        "",
        *wrap(f"Source: {_source_of(collective, planned.algorithm)}", WIDTH),
        "",
        f"Ranks are numbered in the order of the {len(network.hosts)} hosts:",
        *hosts,
        "",
        f"Links ({len(network.links)}):",
        *links,
        *([f"  and {left_out} more"] if left_out else []),
    ])  # fmt: skip


def _source_of(collective: str, algorithm: str) -> str:
    """Where the schedule and its synchronisation come from."""
    if collective == collectives.ALL_TO_ALL:
        return (
            f"{_PAPER}, section 4 for the phases of trees. The pair-wise synchronisation is that of section 5: of two "
            "messages that share a link, the receiver of the earlier releases the sender of the later."
        )
    pattern = (
        collectives.IRREGULAR
        if collective in (collectives.GATHER, collectives.SCATTER)
        else collectives.ALL_GATHER
    )
    entries = (s for s in _core.Algorithm.all() if s.name == algorithm and s.pattern == pattern)
    source = next((s.source for s in entries), algorithm)
    by_pairs = f"The pair-wise synchronisation is that of {_PAPER}, section 5."
    if collective in (collectives.ALL_GATHER, collectives.BROADCAST):
        forwards = "A rank forwards what has come to it: a send waits until all that it carries is there."
        return f"{source}. {by_pairs} {forwards}"
    if pattern == collectives.IRREGULAR:
        return f"{source}. {by_pairs}"
    return (
        f"{source}; of the all-gather that this is, turned round. What comes in is added in the order below, the same "
        f"in every run. {by_pairs}"
    )


def _replaces(function: str, routine: Routine) -> str:
    ours, theirs, suffix = function, routine.replaced, routine.suffix
    if suffix:
        ours, theirs = f"{ours} and {ours}{suffix}", f"{theirs} and {theirs}{suffix}"
    if function == routine.replaced:
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
