"""Time to put a hundred thousand hosts in order, the network read and built before; and of the whole command.

    python bench/order/scale.py

Run by `make bench NAME=order-scale`; writes bench/results/order-scale.{csv,md}.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))
from hocket.network import read_network
from hocket.order import DEFAULT_CALLS, order_job, parse_wanted
from hocket.order.hosts import listed_job
from hocket.order.job import gain_of, ring_over_bound
from results_file import Row, begin, provenance, table

NETWORKS: Final = (
    *("tree:100x10x100", "tree:50x50x40", "fat-tree:k=74", "fat-tree:3121x32x16", "dragonfly:339x26x13"),
    *("torus:50x50x40", "torus:64x64x32"),
)
LIMIT: Final = 2.0  # seconds


def children() -> float:
    """Processor seconds of programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(source: str) -> Row:
    network = read_network(source)
    called = network.names
    names = [called[node] for node in network.hosts]
    random.Random(1).shuffle(names)
    job = listed_job(network, ",".join(names), None)
    wanted = parse_wanted(",".join(DEFAULT_CALLS), job.network.ranks, 1 << 20)
    begun = time.process_time()
    found = order_job(job, wanted)
    seconds = time.process_time() - begun
    with tempfile.TemporaryDirectory() as folder:
        hosts = Path(folder) / "hosts"
        hosts.write_text("\n".join(names) + "\n")
        words = ["-m", "hocket", "order", "--network", source, "--hosts", f"@{hosts}", "--format", "slurm"]
        begun = children()
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
        whole = children() - begun
    assert done.stdout.splitlines() == found.hosts
    over = [ring_over_bound(job.network, place) for place in (found.given, found.place)]
    return {
        "network": source, "hosts": len(names), "how": found.how, "seconds": round(seconds, 3),
        "command": round(whole, 3), "gain": round(gain_of(job.network, found.given, found.place, wanted), 2),
        "ring before": round(over[0] or 0, 2), "ring after": round(over[1] or 0, 3),
    }  # fmt: skip


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# A hundred thousand hosts in order",
        "",
        f"{provenance(heading)}.",
        "",
        *table(
            f"network | hosts | order | processor seconds (limit {LIMIT:g}) | the whole command | gain | "
            "ring over bound: at random | after",
            "{network} | {hosts} | {how} | {seconds:.2f} | {command:.2f} | {gain:.2f} | {ring before:.1f} | "
            "{ring after:.3f}",
            rows,
        ),
        "",
        "Hosts at random, for all-gather, all-reduce and all-to-all. Gain: geometric mean of all native algorithms,",
        "by link rates. The command also reads the list of hosts, builds the network and prints the order.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    _, results = begin(parser, "order-scale", summary)
    for source in NETWORKS:
        results.add(measure(source))
        print(results.rows[-1], flush=True)


if __name__ == "__main__":
    main()
