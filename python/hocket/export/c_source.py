"""An all-to-all routine as readable C: the paper's routine generator (Faraj and Yuan, section 5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from hocket import _core
from hocket.errors import UsageError
from hocket.export.c_tables import BarrierTables, Receives, Sends, TokenTables, wrapped
from hocket.units import format_bytes, format_rate, format_time

if TYPE_CHECKING:
    from hocket.planning import PlannedExchange

MOST_RANKS: Final = 512  # 261,632 messages: 15 MB of tables
MOST_LINKS: Final = 64  # listed in the comment

_KEYWORDS: Final = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "main",
    ]
)


@dataclass(frozen=True, slots=True)
class RoutineOptions:
    """What the routine is called and what holds its messages back."""

    function: str = "MPI_Alltoall"
    flow: str = "token"

    def check(self) -> None:
        if not re.fullmatch(r"[A-Za-z_]\w{0,62}", self.function, re.ASCII) or self.function in _KEYWORDS:
            raise UsageError(
                f"--function-name {self.function!r} is no name of a C function",
                remedy="use MPI_Alltoall to replace the library's, or a name such as hocket_alltoall",
            )
        if not re.fullmatch(r"token|barrier|free|window:\d{1,4}", self.flow) or not 1 <= self.window <= 1024:
            raise UsageError(
                f"'{self.flow}' is no flow control",
                remedy="known are token, barrier, window:K (K from 1 to 1024) and free",
            )

    @property
    def window(self) -> int:
        return int(self.flow.partition(":")[2]) if self.flow.startswith("window:") else 1

    def check_network(self, network: _core.Network) -> None:
        """Before planning, which may take long."""
        if not 2 <= network.ranks <= MOST_RANKS:
            raise UsageError(
                f"the network has {network.ranks} ranks; a routine is written for 2 to {MOST_RANKS}",
                remedy="run larger programs with 'hocket run'" if network.ranks > 2 else "",
            )


def all_to_all_source(planned: PlannedExchange, source: str, options: RoutineOptions | None = None) -> str:
    """C99 source that needs nothing but MPI. The same input gives the same text."""
    options = options or RoutineOptions()
    options.check()
    options.check_network(planned.network)
    if not planned.certificate.complete:
        raise UsageError(f"the schedule of '{planned.scheduler}' is not complete")
    waits = _waits(planned, options)
    programs = _core.rank_programs(planned.schedule, waits)
    sends: list[Sends] = [program.sends for program in programs]
    receives: list[Receives] = [program.receives for program in programs]
    _check_one_port(planned, sends)
    tables = BarrierTables(sends, receives) if options.flow == "barrier" else TokenTables(sends, receives)
    names, ranks = planned.network.names, planned.network.ranks_per_node
    native = "P" + options.function if options.function == "MPI_Alltoall" else "MPI_Alltoall"
    return _fill(
        _template("alltoall.c.in"),
        {
            "EXCHANGE": _template(tables.template).strip("\n"),
            "HEADER": _header(planned, source, options, waits),
            "RANKS": str(planned.network.ranks),
            "HOSTS": str(len(planned.network.hosts)),
            "SIZES": tables.sizes(options.window, planned.schedule.phases),
            "STRUCTS": tables.structs,
            "TABLES": tables.text(),
            "HOST_NAMES": "\n".join(f"  {_c_string(names[host])}," for host in planned.network.hosts),
            "RANKS_OF_HOST": ", ".join(str(ranks[host]) for host in planned.network.hosts),
            "FUNCTION": options.function,
            "NATIVE": native,
        },
    )


def _template(name: str) -> str:
    return resources.files("hocket.export").joinpath("templates", name).read_text(encoding="utf-8")


def _fill(template: str, values: dict[str, str]) -> str:
    """Replaces each @NAME@ once over, so that text from the network is never taken for a name."""
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match[1]], template)


def _waits(planned: PlannedExchange, options: RoutineOptions) -> _core.Waits:
    if options.flow in ("barrier", "free"):
        return _core.Waits.from_lists([[] for _ in range(len(planned.schedule))])
    if options.window == planned.waits.window:
        return planned.waits
    return _core.derive_waits(planned.network, planned.schedule, options.window)


def _check_one_port(planned: PlannedExchange, sends: list[Sends]) -> None:
    for rank, row in enumerate(sends):
        phases = [phase for phase, _, _ in row]
        if len(set(phases)) != len(phases):
            raise UsageError(
                f"'{planned.scheduler}' lets rank {rank} send several messages in one phase",
                remedy="choose a scheduler that sends one at a time, for example ring",
            )


def _c_string(text: str) -> str:
    """A literal that means the same bytes whatever is in the name; octal ends where it must."""
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    ) + '"'  # fmt: skip


def _comment(lines: list[str]) -> str:
    """A block comment that no name can end or continue."""
    safe = [
        "".join(c if c.isprintable() else "?" for c in line).replace("*/", "*_/").replace("/*", "/_*")
        for line in lines
    ]
    safe = [line.replace("??/", "?_?/") for line in safe]
    return "/* " + "\n".join([safe[0], *(f" * {line}".rstrip() for line in safe[1:])]) + "\n */"


def _header(planned: PlannedExchange, source: str, options: RoutineOptions, waits: _core.Waits) -> str:
    from importlib.metadata import version

    network, schedule, bounds = planned.network, planned.schedule, planned.bounds
    names = network.names
    replaces = (
        "Link it with a program and it takes the place of the library's MPI_Alltoall."
        if options.function == "MPI_Alltoall"
        else f"Call {options.function} with the arguments of MPI_Alltoall."
    )
    hosts = wrapped([names[host] for host in network.hosts], "  ").split("\n")
    links = [
        f"  {names[a]} - {names[b]}  {format_rate(network.rate(2 * i))}, "
        f"{format_time(network.latency(2 * i))}"
        for i, (a, b) in enumerate(network.links[:MOST_LINKS])
    ]
    left_out = len(network.links) - len(links)
    bottleneck = network.channel_name(bounds.bottleneck) if network.channels else "none"
    contention = (
        "none: no two messages of a phase share a link in one direction, trunks as wide as their rate"
        if planned.certificate.contention_free
        else "messages of a phase share links: this schedule is for comparison"
    )
    size = format_bytes(planned.demand.bytes)
    return _comment([
        f"{options.function}: all-to-all personalised communication, scheduled for one network.",
        "",
        f"Written by Hocket {version('hocket')} for the network {source}:",
        f"  hocket generate all-to-all --network {source} --scheduler {planned.scheduler}"
        f" --flow {options.flow} --function-name {options.function}",
        "",
        replaces,
        f"Compile it with any MPI:  mpicc -O2 -c FILE.c. It serves communicators of {network.ranks} ranks,",
        "any datatype and count, and MPI_IN_PLACE; other communicators and messages below",
        "HOCKET_MIN_BYTES bytes go to the MPI library.",
        "",
        f"Scheduler   {planned.scheduler}",
        f"Phases      {schedule.phases}; no schedule has fewer than {bounds.phases} "
        f"(bottleneck {bottleneck})",
        f"Contention  {contention}",
        f"Messages    {len(schedule)}; {_flow_text(options, waits)}",
        f"Time        {format_time(bounds.seconds, 4)} at least for {size} per message, "
        f"{format_time(planned.predicted_seconds, 4)} predicted under tokens",
        "",
        "Source: A. Faraj and X. Yuan, Message Scheduling for All-to-All Personalized Communication",
        "on Ethernet Switched Clusters: section 4 for the phases of trees, section 5 for the pair-wise",
        "synchronisation, in which the receiver of the earlier of two messages that share a link",
        "releases the sender of the later.",
        "",
        f"Ranks are numbered in the order of the {len(network.hosts)} hosts:",
        *hosts,
        "",
        f"Links ({len(network.links)}):",
        *links,
        *([f"  and {left_out} more"] if left_out else []),
    ])  # fmt: skip


def _flow_text(options: RoutineOptions, waits: _core.Waits) -> str:
    if options.flow == "barrier":
        return "a barrier between any two phases"
    if options.flow == "free":
        return "nothing holds them back but the order of each sender"
    redundant = waits.derived - len(waits)
    return f"{len(waits)} pair-wise waits keep the phases apart, {redundant} redundant ones left out"
