"""Hocket's plans beside what other compilers of schedules have published for the same graphs.

    python bench/planner/peers.py

Run by `make bench NAME=peers`; writes bench/results/peers.{csv,md}. Times of others are theirs, by their own models:
TACOS: `expected` in its tests (astra-sim/tacos, tests/test_tacos_*.cpp), microseconds, rates in GiB/s. TE-CCL:
`Collective_Finish_Time` of 1 GB in its published outputs (microsoft/TE-CCL, teccl/examples, output_provided). SCCL:
steps on a DGX-1 (Cai et al., PPoPP 2021). ForestColl: the time of its theorem, which its trees reach (Zhao et al.).
Ours are predicted for the same bytes with the latencies of the same links, tokens included.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import networkx as nx
import topologies

import hocket
from hocket import _core
from hocket.demand.collectives import find
from hocket.planning.bounds import free_routes

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Block, Row, begin, table

GIB: Final = 1 << 30
NVLINK: Final = 25e9  # bytes/s
Link = tuple[int, int, float, float]  # nodes, bytes/s, seconds


class Case(NamedTuple):
    """``graph``: of hosts that forward and switches; ``bytes``: of a contribution, or to each rank; ``seconds``:
    published."""

    system: str
    name: str
    collective: str
    graph: Any
    bytes: int
    seconds: float


def graph(links: list[Link], switches: tuple[int, ...] = ()) -> Any:
    """Hosts pass on what is for others, and send and get on all links at once."""
    made = nx.Graph()
    for a, b, rate, latency in links:
        made.add_edge(f"n{a}", f"n{b}", rate=rate, latency=latency)
    for name in made:
        is_switch = int(name[1:]) in switches
        made.nodes[name].update({"ranks": 0} if is_switch else {"ranks": 1, "forward": True})
        if not is_switch:
            made.nodes[name]["ports"] = made.degree(name)
    return made


def grid(*sides: int, wrap: bool, rates: tuple[float, ...], latency: float) -> Any:
    """A torus or a mesh; ``rates`` in GiB/s, by dimension."""
    nodes = {node: i for i, node in enumerate(itertools.product(*map(range, sides)))}
    links = set()
    for node, at in nodes.items():
        for d, side in enumerate(sides):
            if wrap or node[d] + 1 < side:
                to = nodes[(*node[:d], (node[d] + 1) % side, *node[d + 1 :])]
                links.add((min(at, to), max(at, to), rates[d] * GIB, latency))
    return graph(sorted(links))


def tacos() -> list[Case]:
    cases = []
    for name, sides, wrap, rates, us, mib, expected in [
        ("torus 3x3x3", (3, 3, 3), True, (50.0,) * 3, 0.5, 1024, 3706.20),
        ("torus 3x4x5", (3, 4, 5), True, (50.0,) * 3, 0.5, 2048, 6676.67),
        ("torus 4x2x3", (4, 2, 3), True, (50.0,) * 3, 0.5, 3072, 11673.67),
        ("mesh 3x3x3", (3, 3, 3), False, (50.0,) * 3, 0.5, 1024, 6671.17),
        ("mesh 3x4x5", (3, 4, 5), False, (50.0,) * 3, 0.5, 2048, 13353.33),
        ("mesh 4x2x3", (4, 2, 3), False, (50.0,) * 3, 0.5, 3072, 19178.17),
        ("mesh 5x5", (5, 5), False, (50.0,) * 2, 0.5, 1024, 9606.0),
        ("mesh 10x10", (10, 10), False, (100.0,) * 2, 1.0, 1024, 5049.0),
        ("mesh 7x12", (7, 12), False, (100.0,) * 2, 1.0, 4096, 19966.27),
        ("mesh 5x5, two rates", (5, 5), False, (50.0, 75.0), 0.5, 1024, 8005.0),
        ("mesh 8x5, two rates", (8, 5), False, (80.0, 35.0), 1.0, 1024, 8595.43),
        ("mesh 7x10, two rates", (7, 10), False, (16.0, 73.0), 1.5, 4096, 44612.47),
    ]:
        made = grid(*sides, wrap=wrap, rates=rates, latency=us * 1e-6)
        cases.append(Case("TACOS", name, "all-gather", made, (mib << 20) // len(made), expected * 1e-6))
    return cases


# NVLinks of an NDv2, in TE-CCL's numbering of GPUs: pairs with two links, then with one.
NDV2_TWO: Final = [(0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7)]
NDV2_ONE: Final = [(0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6)]


def ndv2(first: int) -> list[Link]:
    pairs = [(pair, 50e9) for pair in NDV2_TWO] + [(pair, 25e9) for pair in NDV2_ONE]
    return [(first + a, first + b, rate, 0.7e-6) for (a, b), rate in pairs]


def te_ccl() -> list[Case]:
    """Cables between chassis go one way in TE-CCL, from one GPU and to another; here they go both ways, one for two."""
    # In the outputs, GPU 0 is a switch.
    two = graph([*ndv2(0), *ndv2(8), (1, 8, 12.5e9, 1.3e-6)], switches=(0,))
    far = [(0, 8 * chassis + 1, 12.5e9, 1.3e-6) for chassis in range(4)]
    four = graph([link for at in range(4) for link in ndv2(8 * at + 1)] + far, switches=(0,))
    inside = [(17 * at, 17 * at + gpu, 125e9, 0.35e-6) for at in range(2) for gpu in range(1, 17)]
    across = [(gpu, 17 + gpu - 1, 12.5e9, 2.6e-6) for gpu in range(2, 17, 2)]
    dgx2 = graph(inside + across, switches=(0, 17))
    published = [
        ("NDv2 x 2", "all-gather", two, 16, 0.04375),
        ("NDv2 x 2", "all-to-all", two, 16, 0.28375),
        ("NDv2 x 4", "all-gather", four, 32, 0.06625),
        ("DGX-2 x 2", "all-gather", dgx2, 32, 0.00775),
        ("DGX-2 x 2", "all-to-all", dgx2, 32, 0.085),
    ]
    return [Case("TE-CCL", n, c, made, 10**9 // parts, t) for n, c, made, parts, t in published]


def sccl() -> list[Case]:
    """Steps: the time of one block on one NVLink."""
    made = graph([(a, b, NVLINK * links, 0.0) for a, b, links in topologies.DGX1])
    step = 24_000_000 / NVLINK
    return [
        Case("SCCL", "DGX-1", "all-gather", made, 24_000_000, 7 / 6 * step),
        Case("SCCL", "DGX-1", "all-to-all", made, 24_000_000, 8 / 3 * step),
    ]


def measure(case: Case) -> Row:
    network = hocket.Network.from_networkx(case.graph)
    demand = find(case.collective).demand(network.ranks, case.bytes, 0)
    began = time.perf_counter()
    plan = hocket.plan(network, case.collective, bytes=case.bytes)
    seconds = time.perf_counter() - began
    certificate = hocket.verify(plan)
    if not certificate.ok:
        sys.exit(f"{case.name}: the verifier refuses the plan: {certificate.findings[0]}")
    bound: float = _core.lower_bounds(network._core, demand).seconds
    if case.collective == "all-to-all":
        free = free_routes(network._core, demand)
        assert free is not None
        bound = free.seconds
    return {
        "system": case.system,
        "network": case.name,
        "collective": case.collective,
        "ranks": network.ranks,
        "bytes": case.bytes,
        "published_seconds": case.seconds,
        "bound_seconds": bound,
        "our_seconds": hocket.simulate(plan).seconds,
        "algorithm": plan.report()["algorithm"],
        "plan_seconds": seconds,
    }


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    over = [row["our_seconds"] / row["published_seconds"] for row in rows]
    return [
        "# Plans beside those of other compilers",
        f"`{heading['command']}`, {heading['date']}. TACOS: times that its tests expect. TE-CCL: finish times of\n"
        "1 GB in its published outputs. SCCL: steps of 24 MB on a DGX-1. Times of others are theirs, by their models;\n"
        "ours are predicted for the same bytes and latencies. ForestColl is compared in\n"
        "[all-gather-bounds](all-gather-bounds.md): its trees reach that bound. Cables between chassis go one way in\n"
        "TE-CCL's graphs and both ways here, one for two.",
        f"Ours over theirs: median {median(over):.3f}, {min(over):.3f} to {max(over):.3f}.",
        table(
            "system | network | ranks | collective | bound ms | theirs / bound | ours / bound | ours / theirs"
            " | algorithm | planning s",
            lambda row: (
                f"{row['system']} | {row['network']} | {row['ranks']} | {row['collective']}"
                f" | {1e3 * row['bound_seconds']:.3f} | {row['published_seconds'] / row['bound_seconds']:.3f}"
                f" | {row['our_seconds'] / row['bound_seconds']:.3f}"
                f" | {row['our_seconds'] / row['published_seconds']:.3f} | {row['algorithm']}"
                f" | {row['plan_seconds']:.1f}"
            ),
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "peers", summary)
    results.add(*map(measure, [*tacos(), *te_ccl(), *sccl()]))
    print(results.summarise())


if __name__ == "__main__":
    main()
