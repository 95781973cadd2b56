"""Bundles of 1,024 ranks under SimGrid SMPI, against the algorithms that SMPI has for them.

    python bench/smpi/bundles.py [--network NAME] [--size BYTES] [--timeout SECONDS]

All-to-alls of few bytes on 64 hosts with 16 ranks each, links of 100 Gbit/s. SMPI's algorithms run all 1,024 ranks.
The messages between hosts of an exchange in two levels run as a program of 64 ranks; to its time is added what the
memory of hosts takes by the built-in memory profile. Keeps the results that are there. Writes
bench/results/smpi-bundles.{csv,md}. Exit code 1 if a figure misses its target, 2 if SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from program import program_text
from referee import SETTINGS, Referee, RefereeError, need_tools, simgrid_version, tell_missed

from hocket import _core, bundling
from hocket.network import read_network
from hocket.units import format_bytes, format_time

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, cells, grouped, provenance, read

NETWORKS = {"one switch": "star:64*16", "8 switches, 2:1": "fat-tree:8x8x1x4*16"}
RATE, LATENCY, WORK = "100Gbit", "0.5us", 0.4e-6  # WORK: seconds of a send and of a receive
LOOPBACK_RATE = 1e10  # bytes/s between two ranks of a host, for SMPI's algorithms
OVERHEADS = (
    f"smpi/os:0:{WORK}:0",
    f"smpi/or:0:{WORK}:0",
    "network/loopback-lat:5e-7",
    f"network/loopback-bw:{LOOPBACK_RATE:g}",
)
SIZES = (8, 64, 256, 1024)
# Those that take up to a few hundred thousand messages; the others send a million.
NATIVES = ("bruck", "mpich", "ompi", "mvapich2", "2dmesh", "3dmesh", "basic_linear", "ring")
WINDOWS = (1, 4)
TARGET = 5.0


def timed(run: Callable[[], float]) -> dict[str, Any]:
    try:
        return {"smpi_seconds": run()}
    except RefereeError as error:
        return {"smpi_seconds": None, "reason": str(error)[:80]}


def ours(name: str, network: _core.Network, size: int, folder: Path, timeout: float) -> list[Row]:
    """Direct bundles and combined ones by several radices."""
    groups, between = _core.groups_of(network), _core.one_rank_a_host(network)
    referee = Referee(between, folder, timeout=timeout, settings=(*SETTINGS, *OVERHEADS))
    demand = _core.Demand(network.ranks, size)
    hosts = _core.demand_between(groups, demand)
    schedules = {"bundle": _core.plan_exchange(between, hosts).schedule}
    for radix in _core.radices(len(network.hosts)):
        schedules[f"bundle:radix-{radix}"] = _core.combined_all_to_all(between, hosts, radix)
    rows = []
    for arm, schedule in schedules.items():
        exchange = _core.bundle(groups, demand, schedule)
        for window in WINDOWS:
            waits = _core.derive_waits(between, schedule, window)
            certificate = bundling.verified(between, exchange, waits, _core.PortModel.one_port, 1 << 40)
            assert certificate.ok, certificate.findings
            memory = bundling.memory_seconds(between, exchange, waits)
            text = program_text(schedule, waits, window)
            rows.append({
                "network": name, "bytes": size, "algorithm": f"{arm}, window {window}", "ours": True,
                "messages": len(schedule), **timed(lambda text=text: referee.program(text)),
                "memory_seconds": memory.put + memory.take,
            })  # fmt: skip
    return rows


def natives(name: str, network: _core.Network, size: int, folder: Path, timeout: float) -> list[Row]:
    referee = Referee(network, folder, timeout=timeout, settings=(*SETTINGS, *OVERHEADS))
    rows = []
    for algorithm in NATIVES:
        found = timed(lambda algorithm=algorithm: referee.native(size, algorithm))
        print(f"{name}, {size} B, {algorithm}: {found}", flush=True)
        rows.append({"network": name, "bytes": size, "algorithm": algorithm, "ours": False, **found})
    return rows


def seconds(row: Row) -> float:
    return float(row["smpi_seconds"] or "inf") + float(row.get("memory_seconds") or 0)


def gains(rows: list[Row]) -> list[tuple[Row, Row, float]]:
    """By network and size: the best of ours, the best of SMPI's, and how many times faster."""
    found = []
    for of in grouped(rows, "network", "bytes").values():
        best = [
            min((row for row in of if row["ours"] is ours), key=seconds, default=None)
            for ours in (True, False)
        ]
        if all(row is not None and seconds(row) < float("inf") for row in best):
            found.append((best[0], best[1], seconds(best[1]) / seconds(best[0])))
    return found


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = [
        [
            a["network"], format_bytes(a["bytes"]), f"{a['algorithm']}: {format_time(seconds(a), 3)}",
            format_time(float(a["memory_seconds"]), 3), f"{b['algorithm']}: {format_time(seconds(b), 3)}",
            format_time(bound(a["network"], a["bytes"]), 3), f"**{gain:.2f} ×**",
        ]
        for a, b, gain in gains(rows)
    ]  # fmt: skip
    lost = sorted({f"- {r['algorithm']}, {r['bytes']} B: {r['reason']}" for r in rows if r.get("reason")})
    return [
        "# SimGrid SMPI as referee: bundles of 1,024 ranks",
        "",
        f"{provenance(heading)}, {heading['simgrid']}.",
        f"Simulated all-to-alls of 64 hosts with 16 ranks each; links of {RATE}/s and {LATENCY}, {WORK * 1e6:.1f} us",
        "for a send and a receive. SMPI's algorithms run 1,024 ranks, in the order of hosts; between two ranks of a",
        "host 10 GB/s and 0.5 us. Bundles: the messages between hosts run as a program of 64 ranks, and what the",
        "memory of hosts takes (*memory*, in the time) is that of the built-in memory profile: rough figures for a",
        "virtual server with two cores, two meetings of 5 us among them. *Bound*: of the wires; nothing can be faster.",
        "",
        *cells(["network", "message", "best bundles", "memory", "best of SMPI", "bound", "faster by"], told),
        "",
        *(["No result:", "", *lost] if lost else []),
    ]


def bound(name: str, size: int) -> float:
    network = read_network(f"{NETWORKS[name]}@{RATE},{LATENCY}")
    return float(_core.lower_bounds(network, _core.Demand(network.ranks, size)).seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", action="append", choices=list(NETWORKS), help="only these")
    parser.add_argument("--size", action="append", type=int, help="only these, bytes a message")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one simulation")
    options, kept = begin(parser, "smpi-bundles", summary)
    need_tools()
    if options.output.exists():
        kept.rows = read(options.output)[1]
    kept.heading |= {"simgrid": simgrid_version(), "settings": SETTINGS + OVERHEADS}
    done = {(row["network"], row["bytes"], row["ours"]) for row in kept.rows}
    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        for size in options.size or SIZES:
            for name in options.network or NETWORKS:
                network = read_network(f"{NETWORKS[name]}@{RATE},{LATENCY}")
                for mine, measure in ((True, ours), (False, natives)):
                    if (name, size, mine) not in done:
                        kept.add(*measure(name, network, size, Path(scratch), options.timeout))
    missed = [
        f"{a['network']}, {a['bytes']} B: {gain:.2f} times the best of SMPI, not {TARGET}"
        for a, _, gain in gains(kept.rows)
        if gain < TARGET
    ]
    return tell_missed(missed)


if __name__ == "__main__":
    sys.exit(main())
