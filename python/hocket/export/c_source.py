"""A scheduled collective as readable C, after the routine generator of Faraj and Yuan (section 5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from hocket import _core
from hocket.demand.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    GATHER,
    REDUCE,
    REDUCE_SCATTER,
    SCATTER,
)
from hocket.errors import UsageError
from hocket.export.c_header import (
    Comment,
    RoutineOptions,
    all_gather_comment,
    all_to_all_comment,
    broadcast_comment,
    header,
    reduction_comment,
    root_comment,
)
from hocket.export.c_pieces import carry
from hocket.export.c_tables import BarrierTables, Receive, Row, Send, TokenTables

if TYPE_CHECKING:
    from hocket.planning.plan import PlannedExchange


@dataclass(frozen=True, slots=True)
class Routine:
    """Call that a collective's routine replaces, and the templates that it is written with."""

    replaced: str  # the call of the MPI library
    template: str
    prototypes: tuple[str, ...]
    suffix: str = ""  # of the second entry's name


_EQUAL_BLOCKS: Final = (
    "int {function}(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,\n"
    "    MPI_Datatype recvtype, MPI_Comm comm);"
)
_BLOCKS_OF_A_ROOT: Final = _EQUAL_BLOCKS.replace("MPI_Comm comm", "int root, MPI_Comm comm")
ROUTINES: Final = {
    ALL_TO_ALL: Routine("MPI_Alltoall", "alltoall.c.in", (_EQUAL_BLOCKS,)),
    ALL_GATHER: Routine(
        "MPI_Allgather", "allgather.c.in",
        (
            _EQUAL_BLOCKS,
            "int {function}v(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, "
            "const int recvcounts[],\n    const int displs[], MPI_Datatype recvtype, MPI_Comm comm);",
        ),
        "v",
    ),
    BROADCAST: Routine(
        "MPI_Bcast", "broadcast.c.in",
        ("int {function}(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);",),
    ),
    REDUCE_SCATTER: Routine(
        "MPI_Reduce_scatter", "reducescatter.c.in",
        (
            "int {function}(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, "
            "MPI_Op op,\n    MPI_Comm comm);",
            "int {function}_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op,\n"
            "    MPI_Comm comm);",
        ),
        "_block",
    ),
    ALL_REDUCE: Routine(
        "MPI_Allreduce", "allreduce.c.in",
        (
            "int {function}(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, "
            "MPI_Comm comm);",
        ),
    ),
    REDUCE: Routine(
        "MPI_Reduce", "reduce.c.in",
        (
            "int {function}(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,\n"
            "    MPI_Comm comm);",
        ),
    ),
    GATHER: Routine("MPI_Gather", "gather.c.in", (_BLOCKS_OF_A_ROOT,)),
    SCATTER: Routine("MPI_Scatter", "scatter.c.in", (_BLOCKS_OF_A_ROOT,)),
}  # fmt: skip


def routine_source(planned: PlannedExchange, source: str, options: RoutineOptions | None = None) -> str:
    """C99 source that needs nothing but MPI. The same input gives the same text.

    ``source``: the plan as the user named it. Raises UsageError for schedules that no routine is written for:
    incomplete ones, of too many ranks or pieces, or of blocks that differ where the collective's do not.
    """
    collective = planned.collective
    options = options or RoutineOptions(ROUTINES[collective].replaced)
    waits, programs, rows = _prepare(planned, options)
    values: dict[str, str] = {}
    inserted: dict[str, str] = {}
    root: int | None = None
    if collective in (ALL_TO_ALL, GATHER, SCATTER):
        if collective == ALL_TO_ALL and not planned.schedule.direct:
            raise UsageError(
                f"'{planned.algorithm}' has ranks pass on parts of messages, for which no routine is written",
                remedy="choose another --algorithm",
            )
        _check_one_port(planned, rows)
        inserted["WHOLE_BLOCKS"] = _template("whole_blocks.c.in")
        if collective == ALL_TO_ALL:
            comment = all_to_all_comment(planned, options)
        else:
            _check_whole(planned)
            root = _root_of_blocks(rows)
            comment = root_comment(planned, options, root, ROUTINES[collective].replaced)
    else:
        root, size = _root_and_size(planned)
        values, inserted = _blocks(planned, programs, rows, options)
        if collective == ALL_GATHER:
            comment = all_gather_comment(planned, options)
        elif collective == BROADCAST:
            comment = broadcast_comment(planned, options, size, root or 0)
        else:
            routine = ROUTINES[collective]
            comment = reduction_comment(planned, options, size, root, routine.replaced, routine.suffix)
    if root is not None:
        values["ROOT"] = str(root)
    return _source(planned, source, options, waits, rows, comment, values, inserted)


def _root_of_blocks(rows: list[Row]) -> int:
    """Root of a gather or scatter: the rank to or from which all messages go."""
    return max(range(len(rows)), key=lambda rank: max(len(rows[rank].sends), len(rows[rank].receives)))


def _check_whole(planned: PlannedExchange) -> None:
    if len(planned.schedule) != planned.network.ranks - 1:
        raise UsageError(
            f"'{planned.algorithm}' cuts messages, and a routine sends them whole",
            remedy="choose an algorithm that does not, for example list",
        )


def _root_and_size(planned: PlannedExchange) -> tuple[int | None, int]:
    """Root of a collective (None without one), and its --bytes. Raises UsageError for unequal or empty
    contributions."""
    demand, rooted = planned.demand, planned.collective in (BROADCAST, REDUCE)
    if demand.bytes == 0 or (demand.contributions and not rooted):
        raise UsageError(
            "a routine is written from a plan whose contributions are equal and not empty",
            remedy="plan with --bytes",
        )
    root = next(rank for rank, bytes in enumerate(demand.contributions) if bytes) if rooted else None
    return root, demand.bytes * (demand.ranks if planned.collective == ALL_REDUCE else 1)


def _blocks(
    planned: PlannedExchange,
    programs: list[_core.RankProgram],
    rows: list[Row],
    options: RoutineOptions,
) -> tuple[dict[str, str], dict[str, str]]:
    """Additional values and template parts of routines that carry pieces of blocks."""
    reduces = planned.collective in (REDUCE_SCATTER, ALL_REDUCE, REDUCE)
    pieces = carry(planned.schedule, programs, rows, reduces)
    values = {
        "SHARES": str(pieces.shares),
        "PIECES": str(pieces.most),
        "PIECE_TABLE": pieces.text(),
    }
    if not reduces:
        parts = pieces.shares > 1
        values["RUN"] = "exchange_parts(twin, &blocks)" if parts else "exchange(twin, &blocks, &blocks)"
        return values, {
            "PIECES_OF_BLOCKS": _template("pieces.c.in"),
            "RECEIVE": _template("receive.c.in"),
            "PARTS": _template("parts.c.in") if parts else "",
            "BLOCKS": _HELD_BLOCKS,
        }
    phases = planned.schedule.phases
    values["ADDING"] = str(phases // 2 if planned.collective == ALL_REDUCE else phases)
    inserted = {
        "CALL": _template(ROUTINES[planned.collective].template),
        "PIECES_OF_BLOCKS": _template("pieces.c.in"),
        "BLOCKS": _SUMMED_BLOCKS,
        "STATE": "  struct sums *sums;",
    }
    if options.flow == "barrier":
        values["STAGES"] = "IN_PHASE"
        inserted["ADD"] = _ADD_OF_PHASE
    else:
        values["STAGES"] = "RECEIVES"
        values["MAY_RECEIVE"] = " && may_receive(twin, in, posted)"
        inserted["IN_ORDER"] = _template("in_order.c.in")
        inserted["SENT"] = "        in->sums->partial -= phase_of[slot - FIRST_SEND] < ADDING;"
        inserted["TAKE"] = "        CHECK(take(twin, in, held[slot], own));"
    return values, inserted


def _prepare(
    planned: PlannedExchange, options: RoutineOptions
) -> tuple[_core.Waits, list[_core.RankProgram], list[Row]]:
    options.check()
    options.check_network(planned.network)
    if not planned.certificate.complete:
        raise UsageError(f"the schedule of '{planned.algorithm}' is not complete", remedy="choose another")
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
    source: str,
    options: RoutineOptions,
    waits: _core.Waits,
    rows: list[Row],
    comment: Comment,
    values: dict[str, str],
    inserted: dict[str, str],
) -> str:
    tables = BarrierTables(rows) if options.flow == "barrier" else TokenTables(rows)
    routine = ROUTINES[planned.collective]
    names, ranks = planned.network.names, planned.network.ranks_per_node
    sizes, structs, text = (
        tables.sizes(options.window, planned.schedule.phases),
        tables.structs,
        tables.text(),
    )
    for name, meaning in _MORE_SIZES.items():
        sizes += f"\n#define {name} {values[name]} /* {meaning} */" if name in values else ""
    if "PIECE_TABLE" in values:
        structs = (
            "struct piece {\n"
            "  int origin;      /* whose block, */\n"
            "  int first, last; /* and which part of it: shares [first, last) */\n"
            f"}};\n{structs}"
        )
        text = f"{values['PIECE_TABLE']}\n\n{text}"
    body = _template("sums.c.in" if "CALL" in inserted else routine.template)
    parts = {**_NO_PARTS, "FLOW": _template(tables.template), **inserted}
    for name in _PARTS_IN_ORDER:
        part = parts[name]
        body = body.replace(f"@{name}@\n", part.strip("\n") + "\n" if part else "")
    replaced = options.function == routine.replaced
    gather = ROUTINES[ALL_GATHER].replaced
    return _fill(
        _template("common.c.in").replace("@EXCHANGE@", body.strip("\n")),
        {
            "MAY_RECEIVE": "",
            **values,
            "HEADER": header(planned, source, options, waits, comment),
            "PROTOTYPES": "\n".join(routine.prototypes).format(function=options.function),
            "NATIVE": ("P" if replaced else "") + routine.replaced,
            "ALLGATHER": "P" + gather if options.function == gather else gather,
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


# Lines of the templates that are other text, outermost first, and what stands there unless it is said.
_PARTS_IN_ORDER: Final = (
    *("WHOLE_BLOCKS", "PIECES_OF_BLOCKS", "RECEIVE", "FLOW", "CALL", "PARTS", "BLOCKS", "STATE"),
    *("IN_ORDER", "SENT", "TAKE", "ADD"),
)
_NO_PARTS: Final = {
    **dict.fromkeys(_PARTS_IN_ORDER, ""),
    "TAKE": "        note(over, twin->rank, own);",
}
_MORE_SIZES: Final = {
    "SHARES": "into which a block is cut",
    "PIECES": "most that one message carries",
    "ROOT": "its rank in the network",
    "ADDING": "the first phase, if any, that brings results",
    "STAGES": "for messages that are not added yet",
}
_HELD_BLOCKS: Final = """\
/* What every rank has and gets: the contribution of rank i of the network begins at base + at[i] and has
 * count[i] elements. Each is forwarded from where it arrives. */
"""
_SUMMED_BLOCKS: Final = """\
struct sums;

/* What every rank adds up: the block for the result of rank i of the network begins at base + at[i] and has
 * count[i] elements. What has come in is added there, and sent on from there. */
"""
_ADD_OF_PHASE: Final = """\
    for (; error == MPI_SUCCESS && in->sums->added < received; in->sums->added++)
      error = add(twin, in, &receive[in->sums->added]);
"""


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
                f"'{planned.algorithm}' lets rank {rank} send several messages in one phase",
                remedy="choose an algorithm that sends one at a time, for example ring",
            )


def _c_string(text: str) -> str:
    """A literal that means the same bytes whatever is in the name; octal ends where it must."""
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    ) + '"'  # fmt: skip
