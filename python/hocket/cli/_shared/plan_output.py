"""Output of ``hocket plan``: plan file, schedule as CSV, report, one rank's program, algorithms side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from hocket._core import Plan, Schedule
from hocket.cli._shared.options import component_line, loud
from hocket.cli._shared.request import Request, size_text, time_in_turn
from hocket.cli._shared.work import as_columns, check_writable, tell, with_spinner, write_atomically
from hocket.demand.collectives import ALL_TO_ALL, IRREGULAR
from hocket.errors import UsageError
from hocket.planning.plan import (
    AUTO,
    able_algorithms,
    check_accepted,
    report_of,
    whole_phases,
)
from hocket.units import format_time

if TYPE_CHECKING:
    from hocket.network import KnownNetwork

PREDICTED = {
    "simulated": "predicted",
    "by phases": "estimated from the phases",
    "by load": "estimated from the loads",
}
HEADER = b"phase,src,dst,origin,target,offset,length\n"
PHASES_AT_ONCE = 4096
ROW_PHASES_AT_ONCE = 64
MOST_ROWS = 20


def check_options(request: Request) -> None:
    """Raises HocketError for outputs that cannot be written and for options that exclude each other."""
    output, rank = request.output, request.rank
    check_writable(output)
    check_writable(request.dump)
    if rank is not None and output is not None:
        raise UsageError(
            "a plan file holds the programs of all ranks, and --rank asks for one",
            remedy="use --dump with --rank, or leave out --rank",
        )
    if rank is not None and request.two_level:
        raise UsageError("--rank shows what one rank sends, and leaders carry aggregates for others",
                         remedy="leave --rank or --two-level")  # fmt: skip
    of_one = {
        "--output": output,
        "--dump": request.dump,
        "--rank": rank,
        "--two-level": request.two_level or None,
    }
    asked = [name for name, value in of_one.items() if value is not None]
    asked += ["--algorithm"] if request.algorithm != AUTO else []
    if request.compare and asked:
        raise UsageError(
            f"--compare plans by every algorithm, and {' and '.join(asked)} asks for one schedule",
            remedy=f"leave out --compare, or {' and '.join(asked)}",
        )


def deliver(
    request: Request, report: dict[str, Any], lines: Callable[[], Iterable[str]], ok: bool, plan: Plan, rows: Schedule
) -> None:  # fmt: skip
    """Writes the files that were asked for, the CSV of ``rows``, and says what was planned.

    No plan file is written of a schedule that the verifier refuses: exit code 1."""
    output, dump = request.output, request.dump
    if output is not None and ok:
        write_atomically(output, [with_spinner("encoding the plan", plan.encode)])
    if dump is not None:
        with_spinner(f"writing {dump}", lambda: write_atomically(dump, dump_lines(rows)))
    written = [f"wrote {path}" for path in (output if ok else None, dump) if path is not None]
    tell(report, lambda: [*lines(), *written])
    if not ok:
        if output is not None:
            click.echo(f"hocket: {output} is not written: the verifier refuses the schedule", err=True)
        click.get_current_context().exit(1)


def finish(request: Request, known: KnownNetwork) -> None:
    """Plans, writes what was asked for and says what was planned."""
    from hocket.planning.candidates import costs_of, forecast, most_compared

    more: dict[str, Any] = {"bounds": True}
    if request.collective != IRREGULAR:
        costs = costs_of(known.network, request.calibration, known.description)
        more |= {"costs": costs.of_runs(known.network), "most_compared": most_compared(request.calibration)}
    planned = request.plan(known.network, **more)
    report = _report(planned, known)
    predicted: list[str] = []
    if planned.forecast is not None:
        found = with_spinner("predicting", lambda: forecast(planned, costs))
        if found.candidates:
            report["forecast"], predicted = found.as_json(), found.lines()
        elif found.library:
            report["library"] = [one._asdict() for one in found.library]
            predicted = [f"library     {_library(report['library'], planned.bound_seconds)}"]

    def lines() -> Iterator[str]:
        yield describe(planned, request, known, report)
        yield from predicted

    deliver(request, report, lines, planned.certificate.ok, planned, planned.schedule)


def _library(calls: list[dict[str, Any]], bound: float) -> str:
    """The orders of libraries, the fastest first."""
    told = [
        f"{one['name']} {format_time(one['seconds'], 4)}"
        + (f" ({one['seconds'] / bound:.2f} x the bound)" if bound > 0 else "")
        for one in sorted(calls, key=lambda one: float(one["seconds"]))
    ]
    return f"{', '.join(told)}; in steps, without latencies"


def tell_components(components: Sequence[KnownNetwork], request: Request) -> None:
    """Plan each component on its own, and print the results. Exit code 1 if the verifier refuses one."""
    reports, texts, refused = [], [], False
    for number, known in enumerate(components):
        planned = request.plan(known.network, bounds=True)
        report = _report(planned, known)
        refused = refused or not planned.certificate.ok
        names = [known.network.name_of(host) for host in known.network.hosts]
        reports.append({"host_names": names, **report})
        text = describe(planned, request, known, report)
        texts += [*([""] if number else []), component_line(components, number), text]
    tell({"components": reports}, lambda: texts)
    if refused:
        click.get_current_context().exit(1)


def tell_compared(request: Request, known: KnownNetwork) -> None:
    """Print what each algorithm reaches, the fastest first."""
    network = known.network
    chosen = request.plan(network)
    others = [name for name in able_algorithms(network, chosen.demand) if name != chosen.algorithm]
    reports = [report_of(chosen), *(report_of(request.plan(network, name)) for name in others)]
    reports.sort(key=lambda one: one["predicted_seconds"])

    def lines() -> Iterator[str]:
        yield f"{headline(chosen, request)}; bound {format_time(chosen.bound_seconds, 4)}"
        yield from loud(known)
        rows = [
            [
                one["algorithm"], one["phases"], format_time(one["predicted_seconds"], 4),
                f"{one['time_ratio']:.3f}", "yes" if one["contention_free"] else "no",
            ]
            for one in reports
        ]  # fmt: skip
        yield as_columns(("algorithm", "phases", "time", "/ bound", "contention-free"), rows)
        yield f"auto takes '{chosen.algorithm}'"

    tell({"chosen": chosen.algorithm, "algorithms": reports, **known.rates_as_json()}, lines)


def _report(planned: Plan, known: KnownNetwork) -> dict[str, Any]:
    from hocket.planning.bounds import true_bounds

    network, demand, direct, known_bounds = (
        planned.network,
        planned.demand,
        planned.schedule.direct,
        planned.bounds,
    )
    bounds = with_spinner(
        "bounding", lambda: true_bounds(network, demand, direct, whole_phases(planned), known_bounds)
    )
    told = {} if bounds is None else {"bounds": bounds}
    return {**report_of(planned), **told, **known.rates_as_json()}


def dump_lines(schedule: Schedule) -> Iterator[bytes]:
    yield HEADER
    for first in range(0, schedule.phases, PHASES_AT_ONCE):
        yield schedule.csv(first, first + PHASES_AT_ONCE)


def row_lines(schedule: Schedule, rank: int) -> Iterator[bytes]:
    """The lines that rank sends or receives."""
    me = str(rank).encode()
    yield HEADER
    for first in range(0, schedule.phases, ROW_PHASES_AT_ONCE):
        lines = schedule.csv(first, first + ROW_PHASES_AT_ONCE).splitlines(keepends=True)
        yield b"".join(line for line in lines if me in line.split(b",", 3)[1:3])


def describe(planned: Plan, request: Request, known: KnownNetwork, report: dict[str, Any]) -> str:
    """The report for people."""
    from hocket.planning.bounds import bounds_line

    certificate, waits, bounds = planned.certificate, planned.waits, report.get("bounds")
    verdict = "verified" if certificate.ok else "REFUSED by the verifier"
    assumed = " of assumed capacities" if known.assumed else ""
    share = f", ratio {report['ratio']:.3f}{assumed}"
    by_phases = planned.demand.pattern == ALL_TO_ALL and planned.schedule.direct
    lines = [
        headline(planned, request),
        f"phases      {report['phases']}, bound {report['bound_phases']}{share if by_phases else ''}",
        *([] if bounds is None else [f"bounds      {bounds_line(bounds)}"]),
    ]
    if in_turn := time_in_turn(report):
        lines += [
            f"in turn     {in_turn}{assumed}",
            f"with tokens {format_time(report['token_seconds'], 4)}",
            f"splits      {report['splits']}, {report['transfers']} transfers",
        ]
    lines += [
        f"time        {format_time(report['predicted_seconds'], 4)} {PREDICTED[planned.prediction]}, "
        f"bound {format_time(report['bound_seconds'], 4)}, ratio {report['time_ratio']:.3f}{assumed}",
        *loud(known),
        f"waits       {len(waits)} of {waits.derived} left after reduction, window {waits.window}"
        + (f", {len(waits) / report['transfers']:.2f} per message" if report["transfers"] else ""),
        f"schedule    {verdict}: {'' if certificate.contention_free else 'NOT '}contention-free, "
        f"{'complete' if certificate.complete else 'NOT complete'}",
        f"took        {planned.plan_seconds:.3f} s to plan, {planned.verify_seconds:.3f} s to verify",
    ]
    lines += [f"            {text} (phase {phase})" for _, phase, text in certificate.findings[:3]]
    return "\n".join(lines)


def headline(planned: Plan, request: Request) -> str:
    """Line on what was planned, and by which algorithm."""
    demand, by = planned.demand, f"by '{planned.algorithm}'"
    name = "irregular exchange" if request.collective == IRREGULAR else request.collective
    of = f"{name} of {planned.network.ranks} ranks"
    if demand.pattern == IRREGULAR:
        return f"{of}, {demand.messages} messages of {size_text(demand)}, {by}, seed {planned.seed}"
    if not demand.by_blocks:
        return f"{of}, {demand.messages} messages of {size_text(demand)}, {by}"
    return f"{of}, {size_text(demand)}, {len(planned.schedule)} messages, {by}"


def show_rank(planned: Plan, request: Request, known: KnownNetwork, rank: int) -> None:
    """Print one rank's program of a whole schedule, which the verifier must accept."""
    check_accepted(planned)
    text = b"".join(row_lines(planned.schedule, rank)).removeprefix(HEADER)
    if request.dump is not None:
        write_atomically(request.dump, [HEADER, text])
    hops = planned.schedule.hops()
    sends = sum(1 for src, _ in hops if src == rank)
    receives = sum(1 for _, dst in hops if dst == rank)

    def lines() -> Iterator[str]:
        yield from loud(known)
        yield (
            f"rank {rank} of {planned.network.ranks}: {sends} sends and {receives} receives in "
            f"{planned.schedule.phases} phases (bound {planned.bound_phases}), by '{planned.algorithm}'"
        )
        yield from row_texts(text, request.dump)

    row = {"rank": rank, "transfers_of_rank": sends + receives}
    tell({**report_of(planned), **known.rates_as_json(), **row}, lines)


def row_texts(text: bytes, dump: str | None) -> Iterator[str]:
    """Beginning of a rank's program, or where the whole is."""
    if dump is not None:
        yield f"wrote {dump}"
        return
    rows = text.decode().split("\n", MOST_ROWS)
    yield HEADER.decode() + "\n".join(rows[:MOST_ROWS]).rstrip()
    if len(rows) > MOST_ROWS and rows[-1]:
        yield "… (--dump writes all)"
