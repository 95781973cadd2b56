"""The phased all-to-all of tori under SimGrid SMPI: its time over the bound, and MPI libraries' algorithms.

    python bench/smpi/torus.py [--network NAME] [--resume]

Every route is that of the network, so ties (messages half-way round) are split as in the schedule. Writes
bench/results/smpi-torus.{csv,md}, anew after every simulation: the whole takes about an hour, and --resume
goes on where it was cut off. Exit code 1 if a figure misses its target, 2 if SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from program import program_text
from referee import SETTINGS, Referee, attempt, need_tools, simgrid_version, tell_missed

from hocket import _core
from hocket.network import read_network
from hocket.units import format_bytes, parse_time

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, read, table

RATE = "1Gbit"
# Receives that a rank has posted at once. More would take more memory, not less time: ranks are only a few
# phases apart.
AHEAD = 16
TARGET_LATENCY = "1us"


@dataclass(frozen=True, slots=True)
class Case:
    network: str
    size: int  # bytes of a message
    target: float  # what the best flow may take over the bound, with links of TARGET_LATENCY
    # In this order: latency of a link, flow controls of the schedule, algorithms of SMPI.
    runs: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]


FLOWS = ("token", "token early", "window:2", "window:4", "barrier")
NATIVES = (
    "ring", "pair", "basic_linear", "bruck", "2dmesh", "3dmesh", "ring_light_barrier",
    "pair_light_barrier", "mpich", "ompi", "mvapich2", "impi",
)  # fmt: skip
CASES = (
    Case("torus:8x8", 262144, 1.03, (("1us", FLOWS, NATIVES), ("10us", FLOWS, ("ring", "pair")))),
    Case(
        "torus:8x4x8x2", 65536, 1.10,
        (
            ("1us", ("token",), ("ring", "pair", "ring_light_barrier", "pair_light_barrier", "mpich")),
            ("10us", ("token", "token early"), ("ring", "pair")),
            ("1us", ("barrier", "token early", "window:2"), ()),
            ("10us", ("barrier",), ()),
        ),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    network: str
    size: int
    latency: str  # of a link
    algorithm: str  # flow control of the schedule, or an algorithm of SMPI
    ours: bool
    early: int  # bytes still missing when a message's tokens go out
    phases: int | None
    waits_per_message: float | None
    bound_seconds: float
    smpi_seconds: float | None
    ratio: float | None
    wall_seconds: float
    reason: str | None = None  # why there is no time


def early_bytes(network: _core.Network) -> int:
    """Bytes that a link carries while a message's head and then its token travel a route of mean latency."""
    lengths = [
        sum(network.latency(c) for c in network.route(0, dst)) for dst in range(1, network.ranks)
    ]  # a torus looks the same from everywhere
    return round(network.host_rate * 2 * sum(lengths) / len(lengths) / 1024) * 1024


def simulated(
    case: Case, latency: str, referee: Referee, network: _core.Network, schedule: _core.Schedule, flow: str
) -> Result:
    kind, _, count = flow.partition(":")
    window = int(count) if kind == "window" else 1
    early = early_bytes(network) if flow == "token early" else 0
    waits = None if flow == "barrier" else _core.derive_waits(network, schedule, window)
    text = program_text(schedule, waits, window, barrier=flow == "barrier", ahead=AHEAD, early=early)
    per_message = None if waits is None else len(waits) / len(schedule)
    return timed(
        case, latency, network, flow, lambda: referee.program(text), early, schedule.phases, per_message
    )


def timed(case, latency, network, algorithm, run, early=0, phases=None, waits=None) -> Result:  # type: ignore[no-untyped-def]
    bound = _core.lower_bounds(network, _core.Demand(network.ranks, case.size)).seconds
    began = time.monotonic()
    found = attempt(run, bound)
    wall = round(time.monotonic() - began, 1)
    result = Result(
        case.network, case.size, latency, algorithm, phases is not None, early, phases, waits, bound,
        wall_seconds=wall, **found,
    )  # fmt: skip
    said = f"{result.ratio:.4f} × bound" if result.ratio else f"no result: {result.reason}"
    print(f"{case.network}, {latency} a link, {algorithm}: {said} ({wall} s)", flush=True)
    return result


def missed(results: list[Result], networks: list[str]) -> list[str]:
    problems = []
    for case in CASES:
        if case.network not in networks:
            continue
        here = [
            r.ratio for r in results if r.ours and (r.network, r.latency) == (case.network, TARGET_LATENCY)
        ]
        best = min((ratio for ratio in here if ratio is not None), default=None)
        if best is None or best > case.target:
            problems.append(f"{case.network}: {best} × the bound, target {case.target}")
    return problems


def summary(heading: Row, rows: list[Row]) -> list[str]:
    results = [Result(**row) for row in rows]
    lines = [
        "# SimGrid SMPI as referee: all-to-all on tori",
        "",
        f"Simulated time over the bandwidth bound (largest load × bytes / rate); links of {RATE}/s.",
        f"{provenance(heading)}, {heading['simgrid']}.",
        "",
        "The platform has the network's own routes, every one written out: dimension order, ties by parity.",
        "Hocket's schedule is the one `hocket plan all-to-all` makes; every byte is checked on arrival.",
        "*token early*: a message's tokens go out when some bytes of it are still missing, as many as a wire",
        "carries while the head of a message and then its token travel a route of mean latency",
        "(`HOCKET_RELEASE_THRESHOLD`).",
        "",
        "Simulated, not measured: flows have no queues and no drops, and no processor time.",
        "Flows share a full link in inverse proportion to the latency of their routes, as under TCP.",
        "",
        *table(
            "network | message | link latency | algorithm | early | waits per message | time / bound",
            _line,
            sorted(rows, key=_order),
        ),
    ]
    reasons = [f"- {r.network}, {r.latency}, {r.algorithm}: {r.reason}" for r in results if r.reason]
    if reasons:
        lines += ["", "No result (—):", "", *reasons]
    done = {(r.network, r.latency, r.algorithm) for r in results}
    left = [
        f"- {case.network}, {latency}: {name}"
        for case in CASES
        for latency, flows, natives in case.runs
        for name in flows + natives
        if (case.network, latency, name) not in done
    ]
    if left:
        lines += ["", "Not simulated yet (`--resume` goes on):", "", *left]
    return lines


def _line(row: Row) -> str:
    told = [row["network"], format_bytes(row["size"]), row["latency"]]
    told.append(row["algorithm"] if row["ours"] else f"SMPI's {row['algorithm']}")
    told.append(format_bytes(row["early"]) if row["early"] else "")
    told.append("" if row["waits_per_message"] is None else f"{row['waits_per_message']:.2f}")
    return " | ".join([*told, "—" if row["ratio"] is None else f"{row['ratio']:.3f}"])


def _order(row: Row) -> tuple[int, float, bool]:
    case = next(i for i, case in enumerate(CASES) if case.network == row["network"])
    return case, parse_time(row["latency"]), not row["ours"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", action="append", choices=[case.network for case in CASES])
    parser.add_argument("--resume", action="store_true", help="keep the results that are there")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one simulation")
    options, kept = begin(parser, "smpi-torus", summary)
    need_tools()
    networks = options.network or [case.network for case in CASES]
    if options.resume and options.output.exists():
        kept.rows = [row for row in read(options.output)[1] if row["reason"] is None]
    results = [Result(**row) for row in kept.rows]
    kept.heading |= {"simgrid": simgrid_version(), "settings": SETTINGS, "link_rate": RATE}
    kept.heading["receives_posted"] = AHEAD

    def wanted(*key: object) -> bool:
        return all((r.network, r.latency, r.algorithm) != key for r in results)

    def add(result: Result) -> None:
        results.append(result)
        kept.add(asdict(result))

    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        for case in (case for case in CASES if case.network in networks):
            for latency, flows, natives in case.runs:
                network = read_network(f"{case.network}@{RATE},{latency}")
                demand = _core.Demand(network.ranks, case.size)
                schedule = _core.plan_exchange(network, demand).schedule
                referee = Referee(network, Path(scratch), timeout=options.timeout)
                for flow in flows:
                    if wanted(case.network, latency, flow):
                        add(simulated(case, latency, referee, network, schedule, flow))
                for name in natives:
                    if wanted(case.network, latency, name):
                        add(timed(case, latency, network, name, lambda n=name: referee.native(case.size, n)))  # noqa: B023
    return tell_missed(missed(results, networks))


if __name__ == "__main__":
    sys.exit(main())
