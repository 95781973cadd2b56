"""A scheduled collective as readable C, after the routine generator of Faraj and Yuan (section 5): tables of its
schedule, and an executor that is the same for every collective."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import resources
from typing import Final

from hocket import _core
from hocket.demand import collectives
from hocket.errors import UsageError
from hocket.export.c_header import ROUTINES, RoutineOptions, header
from hocket.export.c_tables import Receive, Row, Send, carry, sizes, text, whole_blocks
from hocket.planning.plan import PlannedExchange, flow_of, plan_collective

_WHOLE: Final = (collectives.ALL_TO_ALL, collectives.GATHER, collectives.SCATTER)  # messages are blocks
_REDUCE: Final = (collectives.REDUCE_SCATTER, collectives.ALL_REDUCE, collectives.REDUCE)


def routine_options(plan: _core.Plan, function: str | None, flow: str | None) -> RoutineOptions:
    """Name and flow control of a routine: by default the call that it replaces, and as planned. Raises UsageError."""
    options = RoutineOptions(
        function or ROUTINES[_collective_of(plan.header.demand)].replaced, flow or flow_of(plan.waits)
    )
    options.check()
    return options


def _collective_of(demand: _core.Demand) -> str:
    """The collective that a routine is written of. Raises UsageError for a demand of none."""
    call = collectives.call_of(demand)
    if call is None and demand.pattern == collectives.IRREGULAR:
        raise UsageError(
            "no routine is written of an irregular exchange", remedy=f"export a plan of {', '.join(ROUTINES)}"
        )
    return str(demand.pattern) if call is None else call[0]


def exchange_of(plan: _core.Plan, options: RoutineOptions) -> PlannedExchange:
    """The exchange of a plan under the routine's window, verified. Raises UsageError and PlanError.

    Blocks of an all-reduce differ by a byte where its vector cannot be shared out evenly. A routine cuts every block
    alike, so such a plan is made again for the next larger vector.
    """
    stated = PlannedExchange.of_file(plan)
    options.check_network(stated.network)
    collective = _collective_of(stated.demand)
    if collective == collectives.ALL_REDUCE and stated.demand.contributions:
        ranks = stated.network.ranks
        bytes = -(-sum(stated.demand.contributions) // ranks) * ranks
        planned = plan_collective(collective, stated.network, bytes, stated.algorithm, options.window)
    else:
        if options.window != stated.waits.window:
            waits = _core.derive_waits(stated.network, stated.schedule, options.window)
            stated = replace(stated, waits=waits)
        planned = replace(stated, collective=collective)
    planned.check_accepted()
    return planned


def routine_source(planned: PlannedExchange, source: str, options: RoutineOptions | None = None) -> str:
    """C99 source that needs nothing but MPI. The same input gives the same text.

    ``source``: the plan as the user named it. Raises UsageError for schedules that no routine is written for:
    incomplete ones, of too many ranks or pieces, or of blocks that differ where the collective's do not.
    """
    collective, network, schedule = planned.collective, planned.network, planned.schedule
    routine = ROUTINES[collective]
    options = options or RoutineOptions(routine.replaced)
    options.check()
    options.check_network(network)
    if not planned.certificate.complete:
        raise UsageError(f"the schedule of '{planned.algorithm}' is not complete", remedy="choose another")
    waits = _waits(planned, options)
    programs = _core.rank_programs(schedule, waits)
    rows = [
        Row(
            [Send(phase, to, tokens) for phase, to, tokens in program.sends],
            [Receive(phase, src, releases) for phase, src, releases in program.receives],
        )
        for program in programs
    ]
    if collective in _WHOLE:
        _check_whole(planned, rows)
        pieces = whole_blocks(rows)
        size, root = planned.demand.bytes, -1
        if collective != collectives.ALL_TO_ALL:  # the rank to or from which all messages go
            root = max(
                range(len(rows)), key=lambda rank: max(len(rows[rank].sends), len(rows[rank].receives))
            )
    else:
        root, size = _root_and_size(planned)
        pieces = carry(schedule, programs, rows, collective in _REDUCE)
    phases, adding = schedule.phases, 0
    if collective in _REDUCE:
        adding = phases // 2 if collective == collectives.ALL_REDUCE else phases
    constants = {
        "RANKS": (network.ranks, ""),
        "HOSTS": (len(network.hosts), ""),
        "PHASES": (phases, ""),
        **sizes(rows, pieces, options.window),
        "ROOT": (root, "its rank in the network"),
        "ADDING": (adding, "the first phase, if any, that brings results; 0: nothing is added"),
        "BARRIERS": (int(options.flow == "barrier"), "whether phases are kept apart by barriers"),
        "INTO_ROOT": (
            int(collective == collectives.GATHER),
            "whether blocks go into the root, not out of it",
        ),
    }
    sections = dict(re.findall(r"^== (\w+)\n((?:(?!== ).*\n?)*)", _template("calls"), re.MULTILINE))
    calls = "".join(sections[name] for name in routine.sections)
    names, ranks = network.names, network.ranks_per_node
    gather = ROUTINES[collectives.ALL_GATHER].replaced
    prototypes = re.findall(r"^int (?:.|\n)*?\)(?=\n\{)", calls, re.MULTILINE)
    return _fill(
        _template("routine")
        .replace("@CALL@", calls.strip("\n"))
        .replace("@PROTOTYPES@", ";\n".join(prototypes) + ";"),
        {
            "HEADER": header(planned, source, options, waits, size, root),
            "NATIVE": ("P" if options.function == routine.replaced else "") + routine.replaced,
            "ALLGATHER": "P" + gather if options.function == gather else gather,
            "SIZES": "\n".join(
                f"#define {name} {value}" + (f" /* {meaning} */" if meaning else "")
                for name, (value, meaning) in constants.items()
            ),
            "TABLES": text(rows, pieces),
            "HOST_NAMES": "\n".join(f"  {_c_string(names[host])}," for host in network.hosts),
            "RANKS_OF_HOST": ", ".join(str(ranks[host]) for host in network.hosts),
            "FUNCTION": options.function,
        },
    )


def _check_whole(planned: PlannedExchange, rows: list[Row]) -> None:
    """Raises UsageError for schedules that cut or pass on messages, or send several at once."""
    if planned.collective == collectives.ALL_TO_ALL and not planned.schedule.direct:
        raise UsageError(
            f"'{planned.algorithm}' has ranks pass on parts of messages, for which no routine is written",
            remedy="choose another --algorithm",
        )
    for rank, row in enumerate(rows):
        phases = [send.phase for send in row.sends]
        if len(set(phases)) != len(phases):
            raise UsageError(
                f"'{planned.algorithm}' lets rank {rank} send several messages in one phase",
                remedy="choose an algorithm that sends one at a time, for example ring",
            )
    if planned.collective != collectives.ALL_TO_ALL and len(planned.schedule) != planned.network.ranks - 1:
        raise UsageError(
            f"'{planned.algorithm}' cuts messages, and a routine sends them whole",
            remedy="choose an algorithm that does not, for example list",
        )


def _root_and_size(planned: PlannedExchange) -> tuple[int, int]:
    """Root of a collective (-1 without one), and its --bytes. Raises UsageError for unequal or empty
    contributions."""
    demand, rooted = planned.demand, planned.collective in (collectives.BROADCAST, collectives.REDUCE)
    if demand.bytes == 0 or (demand.contributions and not rooted):
        raise UsageError(
            "a routine is written from a plan whose contributions are equal and not empty",
            remedy="plan with --bytes",
        )
    root = next(rank for rank, bytes in enumerate(demand.contributions) if bytes) if rooted else -1
    return root, demand.bytes * (demand.ranks if planned.collective == collectives.ALL_REDUCE else 1)


def _template(name: str) -> str:
    return resources.files("hocket.export").joinpath("templates", f"{name}.c.in").read_text(encoding="utf-8")


def _fill(template: str, values: dict[str, str]) -> str:
    """Replaces each @NAME@ once over, so that text from the network is never taken for a name."""
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match[1]], template)


def _waits(planned: PlannedExchange, options: RoutineOptions) -> _core.Waits:
    if options.flow in ("barrier", "free"):
        return _core.Waits.from_lists([[] for _ in range(len(planned.schedule))])
    if options.window == planned.waits.window:
        return planned.waits
    return _core.derive_waits(planned.network, planned.schedule, options.window)


def _c_string(text: str) -> str:
    """A literal that means the same bytes whatever is in the name; octal ends where it must."""
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    ) + '"'  # fmt: skip
