"""Schedules against SimGrid SMPI: their time over the bound, MPI libraries' algorithms, our prediction.

    python bench/smpi/run.py [--quick]

Writes bench/results/smpi.{csv,md}. Exit code 1 if a figure misses its target, 2 if SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from referee import SETTINGS, Referee, attempt, need_tools, program_text, simgrid_version, tell_missed

from hocket import _core
from hocket.network import read_network
from hocket.units import format_bytes, format_time

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Block, Row, begin, cells, grouped, provenance

# The topologies of Faraj and Yuan, and a tree with unequal branches; 1 Gbit/s everywhere.
NETWORKS = {
    "star (b), 4 × 8 hosts": "tree:(8,(8),(8),(8))",
    "chain (c), 4 × 8 hosts": "chain:8,8,8,8",
    "unequal tree, 36 hosts": "tree:(10,(8,(5,(2)),(4)),(7))",
}
RATE = "1Gbit"
FLOWS = ("token", "window:2", "window:4", "window:8", "barrier", "free")
NATIVES = ("ring", "pair", "basic_linear", "mpich", "ompi", "mvapich2", "impi")
TARGET_RATIO, TARGET_ERROR = 1.01, 0.03
TARGET_SIZE, TARGET_LATENCY = 262144, 1e-6


@dataclass(frozen=True, slots=True)
class Result:
    network: str
    ranks: int
    size: int
    link_latency: float
    algorithm: str  # flow control of the tree schedule, or an algorithm of SMPI
    ours: bool
    bound_seconds: float
    smpi_seconds: float | None
    ratio: float | None
    predicted_seconds: float | None = None
    error: float | None = None  # predicted / SMPI - 1
    reason: str | None = None  # why there is no time


def window_of(flow: str) -> int:
    return int(flow.removeprefix("window:")) if flow.startswith("window:") else 1


def ours(referee: Referee, network: _core.Network, name: str, size: int, latency: float) -> list[Result]:
    """The tree schedule under each flow control: SMPI's time, and our prediction of it."""
    demand = _core.Demand(network.ranks, size)
    schedule = _core.Algorithm.find("tree").make(network, demand)
    bound = _core.lower_bounds(network, demand).seconds
    # SMPI's own costs: no processor time, TCP's round-trip unfairness, barriers as measured there.
    parameters = _core.ModelParameters(barrier=referee.barrier(), latency_weighted=True)
    results = []
    for flow in FLOWS:
        tokens = flow not in ("barrier", "free")
        waits = _core.Waits.derive(network, schedule, window_of(flow)) if tokens else None
        text = program_text(schedule, waits, window_of(flow), barrier=flow == "barrier")
        seconds = referee.program(text)
        predicted = _core.simulate(network, schedule, waits, flow, parameters).seconds
        results.append(
            Result(
                name, network.ranks, size, latency, flow, True, bound, seconds, seconds / bound,
                predicted, predicted / seconds - 1,
            )
        )  # fmt: skip
        report(results[-1])
    return results


def natives(referee: Referee, network: _core.Network, name: str, size: int, latency: float) -> list[Result]:
    bound = _core.lower_bounds(network, _core.Demand(network.ranks, size)).seconds
    results = []
    for algorithm in NATIVES:
        found = attempt(lambda algorithm=algorithm: referee.native(size, algorithm), bound)
        results.append(Result(name, network.ranks, size, latency, algorithm, False, bound, **found))
        report(results[-1])
    return results


def report(result: Result) -> None:
    ratio = f"{result.ratio:.4f} × bound" if result.ratio else f"no result: {result.reason}"
    error = "" if result.error is None else f", predicted {result.error:+.2%}"
    link = format_time(result.link_latency)
    print(
        f"{result.network}, {format_bytes(result.size)}, {link} a link, {result.algorithm}: {ratio}{error}",
        flush=True,
    )


def missed(results: list[Result]) -> list[str]:
    """Targets that are not reached: one flow control within 1 % of the bound, and predicted within 3 %."""
    problems = []
    for network in NETWORKS:
        here = [
            r for r in results
            if r.ours and r.network == network and (r.size, r.link_latency) == (TARGET_SIZE, TARGET_LATENCY)
        ]  # fmt: skip
        best = min(here, key=lambda r: r.ratio or float("inf"), default=None)
        if best is None or best.ratio is None or best.ratio > TARGET_RATIO:
            problems.append(f"{network}: no flow control reaches {TARGET_RATIO} × the bound")
        problems += [
            f"{network}: the prediction for {r.algorithm} is off by {r.error:+.1%}"
            for r in here
            if r.error is None or abs(r.error) > TARGET_ERROR
        ]
    return problems


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Per network and size one row: each algorithm's time over the bound."""
    results = [Result(**row) for row in rows]
    blocks: list[Block] = [
        "# SimGrid SMPI as referee",
        f"{provenance(heading)}, {heading['simgrid']}.\n"
        "Simulated time of an all-to-all over its bandwidth bound (largest load × bytes / rate), links of\n"
        f"{RATE}/s; in brackets how far Hocket's own prediction is from it. Made by `make bench NAME=smpi`.",
        "Simulated, not measured: SMPI's flows have no queues and no drops: posting everything at once\n"
        "(basic_linear, window:K with a large K) is free of cost here, but not on a real Ethernet.\n"
        "Flows share a full link in inverse proportion to the latency of their routes, as under TCP.",
    ]
    for title, algorithms in (("The tree schedule, by flow control", FLOWS), ("Algorithms of SMPI", NATIVES)):
        told = []
        for (name, size, latency), of in grouped(rows, "network", "size", "link_latency").items():
            found = {row["algorithm"]: _cell(Result(**row)) for row in of}
            told.append(
                [name, format_bytes(size), format_time(latency), *(found.get(a, "") for a in algorithms)]
            )
        blocks += [f"## {title}", cells(["network", "message", "link latency", *algorithms], told)]
    reasons = sorted({f"- {r.network}, {r.algorithm}: {r.reason}" for r in results if r.reason})
    return [*blocks, "No result (—):", reasons] if reasons else blocks


def _cell(result: Result) -> str:
    if result.ratio is None:
        return "—"
    return f"{result.ratio:.3f}" + (f" ({result.error:+.2%})" if result.error is not None else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="256 KiB and 1 µs only")
    options, kept = begin(parser, "smpi", summary)
    need_tools()
    sizes = (TARGET_SIZE,) if options.quick else (TARGET_SIZE, 65536)
    latencies = ("1us",) if options.quick else ("1us", "10us")
    results: list[Result] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        for name, form in NETWORKS.items():
            for text in latencies:
                network = read_network(f"{form}@{RATE},{text}")
                latency = network.latency(0)
                referee = Referee(network, Path(scratch))
                for size in sizes:
                    results += ours(referee, network, name, size, latency)
                    results += natives(referee, network, name, size, latency)
    kept.heading |= {"simgrid": simgrid_version(), "settings": SETTINGS, "link_rate": RATE}
    kept.heading["wall_seconds"] = round(time.monotonic() - began, 1)
    kept.add(*map(asdict, results))
    return tell_missed(missed(results))


if __name__ == "__main__":
    sys.exit(main())
