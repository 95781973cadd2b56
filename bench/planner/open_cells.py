"""Networks and collectives that were once far from their bound: the bound, ours, and why where it is above 1.1.

Run by `make bench NAME=open-cells`; writes bench/results/open-cells.{csv,md}.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import networkx as nx
from topologies import hyperx_of_switches

from hocket import _core
from hocket.network import read_network

sys.path.append(str(Path(__file__).parents[1]))
from unequal_trees import planned, tree

from results_file import Row, begin, provenance, table

FAR: Final = 1.1
ONE_PORT: Final = "one message at a time: `ports` is 1"
WHOLE: Final = "whole messages of different speeds do not fit together on a slow link (decision 28)"
SLOTS: Final = "the busiest channel takes {busiest:.2f} of the bound; the rest is slots that are not full"
STARTS: Final = "each piece has a latency of 5 us a link, and a per-message cost, on each of many levels"
ROUTES: Final = "within 1.1 on these routes, which load a channel more than others would"
RATE: Final = 125e6  # bytes/s of one unit


@dataclass(frozen=True)
class Cell:
    network: str
    collective: str
    bytes: int
    build: Callable[[], _core.Network]
    reason: str = ""
    alpha: float = 0.0


@dataclass
class Graph:
    """Ranks of each node (0: a switch), and links: ends, and the rate in units."""

    ranks: list[int]
    links: list[tuple[int, int, float]] = field(default_factory=list)

    def node(self, ranks: int = 0) -> int:
        self.ranks.append(ranks)
        return len(self.ranks) - 1


def with_fast_hosts(switches: Any) -> Graph:
    """One host a switch, whose link is as fast as all others of the switch."""
    switches = nx.convert_node_labels_to_integers(switches, ordering="sorted")
    graph = Graph([0] * len(switches), sorted((min(e), max(e), 1.0) for e in switches.edges))
    graph.links += [(switch, graph.node(1), float(degree)) for switch, degree in sorted(switches.degree)]
    return graph


def built(graph: Graph, ports: int = 1) -> _core.Network:
    names = [f"{'n' if ranks else 's'}{at}" for at, ranks in enumerate(graph.ranks)]
    a, b, rates = ([link[part] for link in graph.links] for part in range(3))
    many = [ports if ranks else 1 for ranks in graph.ranks]
    return _core.build_graph(
        names, graph.ranks, a, b, [RATE * rate for rate in rates], [0.0] * len(a), [], many
    )


def four_links(hosts: int) -> Graph:
    """Hosts with a link to each of four switches, which a spine joins."""
    graph = Graph([0] * 5 + [1] * hosts)
    graph.links = [(0, rail, hosts / 4) for rail in range(1, 5)]
    graph.links += [(rail, 5 + host, 1.0) for host in range(hosts) for rail in range(1, 5)]
    return graph


def boxes(count: int, gpus: int, spines: int, inside: float, up: float) -> Graph:
    """Boxes with a switch of their own, which has a link to each spine."""
    graph = Graph([0] * spines)
    for _ in range(count):
        switch = graph.node()
        graph.links += [(spine, switch, up) for spine in range(spines)]
        graph.links += [(switch, graph.node(1), inside) for _ in range(gpus)]
    return graph


def cells() -> Iterator[Cell]:
    mib = 1 << 20
    for name, graph in (
        ("torus 4x4, fast hosts", with_fast_hosts(nx.grid_graph((4, 4), periodic=True))),
        ("torus 5x5, fast hosts", with_fast_hosts(nx.grid_graph((5, 5), periodic=True))),
        ("HyperX 3x3, fast hosts", with_fast_hosts(hyperx_of_switches(3, 3))),
        ("16 hosts with four links", four_links(16)),
    ):
        for ports in (1, 4):
            reason = ONE_PORT if ports == 1 else ""
            yield Cell(
                f"{name}, ports {ports}", "all-to-all", mib, lambda g=graph, p=ports: built(g, p), reason
            )
    yield Cell("dragonfly:7x3x2", "all-to-all", mib, lambda: read_network("dragonfly:7x3x2"))
    for alpha in (0.0, 50e-6):
        yield Cell(
            "dragonfly:13x4x3", "broadcast", 16 * mib, lambda: read_network("dragonfly:13x4x3"), STARTS, alpha
        )
    for collective in ("all-gather", "broadcast", "all-reduce"):
        yield Cell(
            "boxes 16x8, four spines",
            collective,
            16 * mib,
            lambda: built(boxes(16, 8, 4, 12.0, 2.0)),
            SLOTS,
        )
    for seed in range(24):
        yield Cell(f"unequal tree {seed}", "all-to-all", mib, lambda s=seed: tree(s, 6, 40), WHOLE)


def demand_of(cell: Cell, ranks: int) -> _core.Demand:
    if cell.collective != "broadcast":
        return _core.Demand(ranks, cell.bytes, cell.collective)
    return _core.Demand(ranks, cell.bytes, "all-gather", contributions=[cell.bytes, *[0] * (ranks - 1)])


def busiest_seconds(network: _core.Network, schedule: _core.Schedule) -> float:
    """Time of the busiest channel if it is never idle."""
    sent: dict[tuple[int, int], int] = defaultdict(int)
    for _, src, dst, *_, length in schedule.rows():
        sent[src, dst] += length
    load: dict[int, float] = defaultdict(float)
    for (src, dst), bytes in sent.items():
        for channel in network.route(src, dst):
            load[channel] += bytes / network.rate(channel)
    return max(load.values())


def measure(cell: Cell) -> Row:
    network = cell.build()
    demand = demand_of(cell, network.ranks)
    plan, seconds, took = planned(network, demand, cell.alpha)
    ratio, free = seconds / plan.bound_seconds, None
    if cell.collective == "all-to-all" and network.shape != _core.Shape.tree:
        priced = _core.price_channels(network, demand)
        free = None if priced is None else round(seconds / priced.seconds, 3)
    busiest = busiest_seconds(network, plan.schedule) / plan.bound_seconds
    reason = cell.reason.format(busiest=busiest) if ratio > FAR else ""
    if not reason and free is not None and free > FAR:
        reason = ROUTES
    return {
        "network": cell.network,
        "collective": cell.collective,
        "bytes": cell.bytes,
        "alpha_us": round(cell.alpha * 1e6),
        "bound_ms": round(plan.bound_seconds * 1e3, 3),
        "ms": round(seconds * 1e3, 3),
        "ratio": round(ratio, 3),
        "ratio_any_routes": free,
        "algorithm": plan.algorithm.name,
        "plan_cpu_seconds": round(took, 1),
        "reason": reason,
    }


def summary(heading: Row, rows: list[Row]) -> Iterator[str]:
    trees = [row["ratio"] for row in rows if row["network"].startswith("unequal tree")]
    yield "# Networks that were far from their bound"
    yield ""
    yield f"{provenance(heading)}, shared with other work."
    yield "Ours: predicted time of what `auto` plans; every plan passed the verifier, waits included. The bound is that"
    yield "of the routes as they are, of cuts where blocks go to all. The other ratio is to the bound of any routes."
    if trees:
        yield f"Of {len(trees)} trees with links of unequal rates the median is {median(trees):.3f}, the worst"
        yield f"{max(trees):.3f}; those within 1.1 are left out below."
    yield ""
    shown = [row for row in rows if row["reason"] or not row["network"].startswith("unequal tree")]
    yield from table(
        "network | collective | MiB | α µs | bound ms | ours ms | ratio | any routes | algorithm | why above 1.1",
        lambda row: " | ".join(
            str(cell)
            for cell in (
                row["network"], row["collective"], row["bytes"] >> 20, row["alpha_us"], row["bound_ms"], row["ms"],
                f"{row['ratio']:.3f}", "" if row["ratio_any_routes"] is None else f"{row['ratio_any_routes']:.3f}",
                row["algorithm"], row["reason"] or "",
            )
        ),
        shown,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    _, results = begin(parser, "open-cells", summary)
    for cell in cells():
        results.add(measure(cell))
        print(*results.rows[-1].values(), flush=True)


if __name__ == "__main__":
    main()
