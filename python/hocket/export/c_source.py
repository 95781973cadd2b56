"""A scheduled collective as readable C, after the routine generator of Faraj and Yuan (section 5): tables of its
schedule, and an executor that is the same for every collective."""

import re
from importlib import resources
from typing import Final

from hocket import _core
from hocket.demand import collectives
from hocket.errors import UsageError
from hocket.export.c_header import ROUTINES, RoutineOptions, collective_of, header
from hocket.export.c_tables import Receive, Row, Send, carry, sizes, text, whole_blocks
from hocket.planning.plan import certificate_of, check_accepted, flow_of, plan_collective

_WHOLE: Final = (collectives.ALL_TO_ALL, collectives.GATHER, collectives.SCATTER)  # messages are blocks
_REDUCE: Final = (collectives.REDUCE_SCATTER, collectives.ALL_REDUCE, collectives.REDUCE)


def routine_options(plan: _core.Plan, function: str | None, flow: str | None) -> RoutineOptions:
    """Name and flow control of a routine: by default the call that it replaces, and as planned. Raises UsageError."""
    options = RoutineOptions(
        function or ROUTINES[collective_of(plan.demand)].replaced, flow or flow_of(plan.waits)
    )
    options.check()
    return options


def exchange_of(plan: _core.Plan, options: RoutineOptions) -> _core.Plan:
    """The plan under the routine's window, verified. Raises UsageError and PlanError.

    Blocks of an all-reduce differ by a byte where its vector cannot be shared out evenly. A routine cuts every block
    alike, so such a plan is made again for the next larger vector."""
    network, demand = plan.network, plan.demand
    options.check_network(network)
    if (
        demand.pattern == collectives.ALL_REDUCE
        and demand.contributions
        and collective_of(demand) == demand.pattern
    ):
        bytes = -(-sum(demand.contributions) // network.ranks) * network.ranks
        plan = plan_collective(demand.pattern, network, bytes, plan.algorithm, options.window)
    elif options.window != plan.waits.window:
        waits = _core.Waits.derive(network, plan.schedule, options.window)
        plan = _core.Plan(
            network, plan.schedule, waits, demand, plan.algorithm,
            plan.bound_phases, plan.bound_seconds, plan.predicted_seconds,
        )  # fmt: skip
    check_accepted(plan)
    return plan


def routine_source(planned: _core.Plan, source: str, options: RoutineOptions | None = None) -> str:
    """C99 source that needs nothing but MPI. The same input gives the same text.

    ``source``: the plan as the user named it. Raises UsageError for schedules that no routine is written for:
    incomplete ones, of too many ranks or pieces, or of blocks that differ where the collective's do not."""
    collective, network, schedule = collective_of(planned.demand), planned.network, planned.schedule
    routine = ROUTINES[collective]
    options = options or RoutineOptions(routine.replaced)
    options.check()
    options.check_network(network)
    certificate = certificate_of(planned)
    if not certificate.complete:
        raise UsageError(f"the schedule of '{planned.algorithm}' is not complete", remedy="choose another")
    waits = _waits(planned, options)
    programs = schedule.programs(waits)
    rows = [
        Row(
            [Send(phase, to, tokens) for phase, to, tokens in program.sends],
            [Receive(phase, src, releases) for phase, src, releases in program.receives],
        )
        for program in programs
    ]
    if collective in _WHOLE:
        _check_whole(planned, rows, collective)
        pieces = whole_blocks(rows)
        size, root = planned.demand.bytes, -1
        if collective != collectives.ALL_TO_ALL:  # the rank to or from which all messages go
            root = max(
                range(len(rows)), key=lambda rank: max(len(rows[rank].sends), len(rows[rank].receives))
            )
    else:
        root, size = _root_and_size(planned.demand, collective)
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
            "HEADER": header(planned, certificate, source, options, waits, size, root),
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


def _check_whole(planned: _core.Plan, rows: list[Row], collective: str) -> None:
    """Raises UsageError for schedules that cut or pass on messages, or send several at once."""
    if collective == collectives.ALL_TO_ALL and not planned.schedule.direct:
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
    if collective != collectives.ALL_TO_ALL and len(planned.schedule) != planned.network.ranks - 1:
        raise UsageError(
            f"'{planned.algorithm}' cuts messages, and a routine sends them whole",
            remedy="choose an algorithm that does not, for example list",
        )


def _root_and_size(demand: _core.Demand, collective: str) -> tuple[int, int]:
    """Root of a collective (-1 without one), and its --bytes. Raises UsageError for unequal or empty contributions."""
    rooted = collective in (collectives.BROADCAST, collectives.REDUCE)
    if demand.bytes == 0 or (demand.contributions and not rooted):
        raise UsageError(
            "a routine is written from a plan whose contributions are equal and not empty",
            remedy="plan with --bytes",
        )
    root = next(rank for rank, bytes in enumerate(demand.contributions) if bytes) if rooted else -1
    return root, demand.bytes * (demand.ranks if collective == collectives.ALL_REDUCE else 1)


def _template(name: str) -> str:
    return resources.files("hocket.export").joinpath("templates", f"{name}.c.in").read_text(encoding="utf-8")


def _fill(template: str, values: dict[str, str]) -> str:
    """Replaces each @NAME@ once over, so that text from the network is never taken for a name."""
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match[1]], template)


def _waits(planned: _core.Plan, options: RoutineOptions) -> _core.Waits:
    if options.flow in ("barrier", "free"):
        return _core.Waits.from_lists([[] for _ in range(len(planned.schedule))])
    if options.window == planned.waits.window:
        return planned.waits
    return _core.Waits.derive(planned.network, planned.schedule, options.window)


def _c_string(text: str) -> str:
    """A literal that means the same bytes whatever is in the name; octal ends where it must."""
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    ) + '"'  # fmt: skip
