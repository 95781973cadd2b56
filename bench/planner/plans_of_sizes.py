"""Broadcasts and reduces of all sizes by a plan for 1 MiB and by the plan that runs follow.

Run by `make bench NAME=plans-of-sizes`; writes bench/results/plans-of-sizes.{csv,md}.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.network import read_network
from hocket.planning.plan import PlannedExchange, plan_collective

sys.path.append(str(Path(__file__).parents[1]))
from results_file import Row, begin, provenance, table

NETWORKS: Final = (
    "star:8@8Kbit",
    "star:8@1Mbit",
    "star:8@10Mbit",
    "star:8@100Mbit",
    "star:8",
    "star:8@25Gbit",
    "chain:4,4,4",
    "star:16*4",
    "torus:4x4",
    "chain:2,1*2",
)
COLLECTIVES: Final = ("broadcast", "reduce")
SIZES: Final = (4, 256, 1024, 2048, 8192, 32768, 65532, 1 << 20)
LIMITS: Final = {2048: 1024, 65536: 16384}  # as the runtime does: what is shorter is planned as so many bytes
ALPHA: Final = 5e-5  # seconds a message, MPI over TCP


def seconds(network: _core.Network, planned: PlannedExchange, bytes: int) -> float:
    """Phase after phase, pieces of whole bytes as in a run: those without any cost their per-message cost, too."""
    alphas = _core.lockstep_seconds(network, planned.schedule, ALPHA)
    alphas -= _core.lockstep_seconds(network, planned.schedule, 0.0)
    rows = []
    for phase, src, dst, origin, target, offset, length in planned.schedule.rows():
        begin, end = (at * bytes // planned.demand.bytes for at in (offset, offset + length))
        if end > begin:
            rows.append((phase, src, dst, origin, target, begin, end - begin))
    scaled = _core.Schedule.from_rows(network.ranks, bytes, rows)
    return float(alphas + _core.lockstep_seconds(network, scaled, 0.0))


def measure(name: str, network: str, bytes: int) -> Row:
    built = read_network(network)
    planned = next((size for limit, size in LIMITS.items() if bytes < limit), _core.REFERENCE_BYTES)
    large, own = (plan_collective(name, built, size) for size in (_core.REFERENCE_BYTES, planned))
    return {
        "network": network,
        "collective": name,
        "bytes": bytes,
        "planned_bytes": planned,
        "phases_of_1MiB": large.schedule.phases,
        "phases": own.schedule.phases,
        "ms_of_1MiB": round(1e3 * seconds(built, large, bytes), 4),
        "ms": round(1e3 * seconds(built, own, bytes), 4),
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# Plans for messages of several sizes",
        "",
        f"{provenance(heading)}.",
        "By the schedule that is planned for 1 MiB, cut as its pieces are, which all sizes followed before, and by the",
        "one that a run follows: for 1 KiB below 2 KiB, for 16 KiB below 64 KiB. Milliseconds: **predicted**, phase",
        f"after phase, {ALPHA * 1e6:.0f} µs a message and no headers. Up to 1 Mbit/s the plan for 16 KiB takes up to",
        "17 % longer from 8 KiB on, and that for 1 KiB up to four times as long as pieces of 4 to 32 bytes would if",
        "they had no headers.",
        "",
        *table(
            "network | collective | bytes | phases, 1 MiB | phases, as run | ms, 1 MiB | ms, as run",
            "{network} | {collective} | {bytes:,} | {phases_of_1MiB} | {phases} | {ms_of_1MiB:.4g} | {ms:.4g}",
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "plans-of-sizes", summary)
    for network in NETWORKS:
        for collective in COLLECTIVES:
            for bytes in SIZES:
                results.add(measure(collective, network, bytes))
                print(*results.rows[-1].values(), flush=True)


if __name__ == "__main__":
    main()
