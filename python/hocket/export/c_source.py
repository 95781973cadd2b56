"""An all-to-all routine as readable C: the paper's routine generator (Faraj and Yuan, section 5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from hocket import _core
from hocket.collectives import ALL_GATHER, ALL_TO_ALL
from hocket.errors import UsageError
from hocket.export.c_pieces import carry
from hocket.export.c_tables import BarrierTables, Receive, Row, Send, TokenTables, wrapped
from hocket.units import format_bytes, format_rate, format_time

if TYPE_CHECKING:
    from hocket.planning import PlannedExchange

MOST_RANKS: Final = 512  # 261,632 messages: 15 MB of tables
MOST_LINKS: Final = 64  # listed in the comment

_KEYWORDS: Final = frozenset(
    [
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum"),
        *("extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return"),
        *("short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void"),
        *("volatile", "while", "main"),
    ]
)

_ALL_TO_ALL_PROTOTYPE: Final = """int {function}(const void *sendbuf, int sendcount, MPI_Datatype sendtype, \
void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);"""
_ALL_GATHER_PROTOTYPES: Final = (
    _ALL_TO_ALL_PROTOTYPE
    + """
int {function}v(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, \
const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm);"""
)


@dataclass(frozen=True, slots=True)
class RoutineOptions:
    """What the routine is called and what holds its messages back."""

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
        """Before planning, which may take long."""
        if not 2 <= network.ranks <= MOST_RANKS:
            raise UsageError(
                f"the network has {network.ranks} ranks; a routine is written for 2 to {MOST_RANKS}",
                remedy="run larger programs with 'hocket run'" if network.ranks > 2 else "",
            )


def all_to_all_source(planned: PlannedExchange, source: str, options: RoutineOptions | None = None) -> str:
    """C99 source that needs nothing but MPI. The same input gives the same text."""
    options = options or RoutineOptions()
    waits, _, rows = _prepare(planned, options)
    _check_one_port(planned, rows)
    tables = BarrierTables(rows) if options.flow == "barrier" else TokenTables(rows)
    replaced = options.function == "MPI_Alltoall"
    return _source(planned, options, tables, "alltoall.c.in", {
        "HEADER": _header(planned, source, options, waits, _all_to_all_comment(planned, options)),
        "PROTOTYPES": _ALL_TO_ALL_PROTOTYPE.format(function=options.function),
        "NATIVE": "P" + options.function if replaced else "MPI_Alltoall",
        "ALLGATHER": "MPI_Allgather",
    })  # fmt: skip


def all_gather_source(planned: PlannedExchange, source: str, options: RoutineOptions) -> str:
    """The same for an all-gather; the routine has a second entry for contributions of several sizes."""
    waits, programs, rows = _prepare(planned, options)
    if planned.demand.contributions or planned.demand.bytes == 0:
        raise UsageError("a routine is written from a plan whose contributions are equal and not empty")
    pieces = carry(planned.schedule, programs, rows)
    tables = BarrierTables(rows) if options.flow == "barrier" else TokenTables(rows)
    parts = pieces.shares > 1
    native = "PMPI_Allgather" if options.function == "MPI_Allgather" else "MPI_Allgather"
    return _source(planned, options, tables, "allgather.c.in", {
        "HEADER": _header(planned, source, options, waits, _all_gather_comment(planned, options)),
        "PROTOTYPES": _ALL_GATHER_PROTOTYPES.format(function=options.function),
        "NATIVE": native,
        "ALLGATHER": native,
        "PARTS": _template("parts.c.in") if parts else "",
        "RUN": "exchange_parts(twin, &blocks)" if parts else "exchange(twin, &blocks, &blocks)",
        "SHARES": str(pieces.shares),
        "PIECES": str(pieces.most),
        "PIECE_TABLE": pieces.text(),
    })  # fmt: skip


def _prepare(
    planned: PlannedExchange, options: RoutineOptions
) -> tuple[_core.Waits, list[_core.RankProgram], list[Row]]:
    options.check()
    options.check_network(planned.network)
    if not planned.certificate.complete:
        raise UsageError(f"the schedule of '{planned.scheduler}' is not complete")
    waits = _waits(planned, options)
    programs = _core.rank_programs(planned.schedule, waits)
    rows = [
        Row(
            [Send(phase, to, tokens) for phase, to, tokens in program.sends],
            [Receive(phase, src, releases) for phase, src, releases in program.receives],
        )
        for program in programs
    ]
    return waits, programs, rows


def _source(
    planned: PlannedExchange,
    options: RoutineOptions,
    tables: TokenTables | BarrierTables,
    template: str,
    values: dict[str, str],
) -> str:
    names, ranks = planned.network.names, planned.network.ranks_per_node
    sizes, structs, text = (
        tables.sizes(options.window, planned.schedule.phases),
        tables.structs,
        tables.text(),
    )
    if "SHARES" in values:
        sizes += (
            f"\n#define SHARES {values['SHARES']} /* into which a contribution is cut */"
            f"\n#define PIECES {values['PIECES']} /* most that one message carries */"
        )
        structs = (
            "struct piece {\n"
            "  int origin;      /* whose contribution, */\n"
            "  int first, last; /* and which part of it: shares [first, last) */\n"
            f"}};\n{structs}"
        )
        text = f"{values['PIECE_TABLE']}\n\n{text}"
    body = _template(template)
    for name, part in (("FLOW", _template(tables.template)), ("PARTS", values.get("PARTS", ""))):
        body = body.replace(f"@{name}@\n", part.strip("\n") + "\n" if part else "")
    return _fill(
        _template("common.c.in").replace("@EXCHANGE@", body.strip("\n")),
        {
            **values,
            "RANKS": str(planned.network.ranks),
            "HOSTS": str(len(planned.network.hosts)),
            "SIZES": sizes,
            "STRUCTS": structs,
            "TABLES": text,
            "HOST_NAMES": "\n".join(f"  {_c_string(names[host])}," for host in planned.network.hosts),
            "RANKS_OF_HOST": ", ".join(str(ranks[host]) for host in planned.network.hosts),
            "FUNCTION": options.function,
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


def _check_one_port(planned: PlannedExchange, rows: list[Row]) -> None:
    for rank, row in enumerate(rows):
        phases = [send.phase for send in row.sends]
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


@dataclass(frozen=True, slots=True)
class _Comment:
    """What the header says of one pattern and not of another."""

    title: str
    pattern: str
    options: str  # that choose the schedule
    replaces: str
    serves: list[str]
    size: str
    source: list[str]


def _all_to_all_comment(planned: PlannedExchange, options: RoutineOptions) -> _Comment:
    return _Comment(
        "all-to-all personalised communication",
        ALL_TO_ALL,
        "",
        "Link it with a program and it takes the place of the library's MPI_Alltoall."
        if options.function == "MPI_Alltoall"
        else f"Call {options.function} with the arguments of MPI_Alltoall.",
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


def _all_gather_comment(planned: PlannedExchange, options: RoutineOptions) -> _Comment:
    function = options.function
    entries = (s for s in _core.schedulers() if s.pattern == planned.demand.pattern)
    source = next((s.source for s in entries if s.name == planned.scheduler), planned.scheduler)
    return _Comment(
        ALL_GATHER,
        ALL_GATHER,
        f" --bytes {planned.demand.bytes} --startup {planned.startup:g}s",
        "Link it with a program and it takes the place of the library's MPI_Allgather and MPI_Allgatherv."
        if function == "MPI_Allgather"
        else f"Call {function} and {function}v with the arguments of MPI_Allgather and MPI_Allgatherv.",
        [
            "any datatype and counts, and MPI_IN_PLACE; other communicators and contributions below",
            "HOCKET_MIN_BYTES bytes (their mean) go to the MPI library.",
        ],
        f"{format_bytes(planned.demand.bytes)} per rank",
        [
            f"Source: {source}. The pair-wise",
            "synchronisation is that of A. Faraj and X. Yuan, Message Scheduling for All-to-All Personalized",
            "Communication on Ethernet Switched Clusters, section 5. A rank forwards what has come to it: a",
            "send waits until all that it carries is there.",
        ],
    )


def _header(
    planned: PlannedExchange, source: str, options: RoutineOptions, waits: _core.Waits, comment: _Comment
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
    gather = comment.pattern == ALL_GATHER
    contention = (
        "none: no two messages of a phase share a link in one direction, trunks as wide as their rate"
        if planned.certificate.contention_free
        else "messages of a phase share links: this schedule is for comparison"
    )
    return _comment([
        f"{options.function}: {comment.title}, scheduled for one network.",
        "",
        f"Written by Hocket {version('hocket')} for the network {source}:",
        f"  hocket generate {comment.pattern} --network {source}{comment.options}"
        f" --scheduler {planned.scheduler} --flow {options.flow} --function-name {options.function}",
        "",
        comment.replaces,
        f"Compile it with any MPI:  mpicc -O2 -c FILE.c. It serves communicators of {network.ranks} ranks,",
        *comment.serves,
        "",
        f"Scheduler   {planned.scheduler}",
        f"Phases      {schedule.phases}; no schedule has fewer than {planned.bound_phases}"
        + ("" if gather else f" (bottleneck {bottleneck})"),
        f"Contention  {contention}",
        f"Messages    {len(schedule)}; {_flow_text(options, waits)}",
        f"Time        {format_time(planned.bound_seconds, 4)} at least for {comment.size}, "
        f"{format_time(planned.predicted_seconds, 4)} predicted under tokens"
        + (f" (bottleneck {bottleneck})" if gather else ""),
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


def _flow_text(options: RoutineOptions, waits: _core.Waits) -> str:
    if options.flow == "barrier":
        return "a barrier between any two phases"
    if options.flow == "free":
        return "nothing holds them back but the order of each sender"
    redundant = waits.derived - len(waits)
    if waits.derived == 0:
        return "what a rank has sent and received before keeps the phases apart, no token is needed"
    return f"{len(waits)} pair-wise waits keep the phases apart, {redundant} redundant ones left out"
