"""All-to-alls over the bound that holds whatever the routes: graphs of the literature, routes as Hocket chooses them.

Run by `make bench NAME=true-bounds`; writes bench/results/true-bounds.{csv,md}. Units are phases: messages
at a host's full speed, one after the other. B: maximum concurrent flow; P: one port a host; A: the busiest
channel of the routes; S: phases of the plan. Before: the same by shortest paths.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import networkx as nx
import topologies

import hocket
from hocket import _core
from hocket.planning.bounds import free_routes
from hocket.planning.plan import whole_phases

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Block, Row, begin, grouped, provenance, table

MOST_SECONDS: Final = 5.0
MOST_RATIO: Final = 1.05
MOST_HOSTS_TWICE: Final = 600  # planned by shortest paths, too

Make = Callable[[], Any]  # a graph, a short form, or a network


def all_ports(kind: str, *sides: int) -> _core.Network:
    """A grid whose hosts send and get on all their links at once."""
    ports = sides[0] if kind == "hypercube" else 2 * len(sides)
    return _core.Network.grid(kind, list(sides), 125e6, 5e-6, ports=ports)


def short_forms(*names: str) -> dict[str, Make]:
    return {name: lambda name=name: name for name in names}


def regular_of_hosts(hosts: int, degree: int) -> Any:
    edges = nx.random_regular_graph(degree, hosts, seed=1).edges
    return topologies.that_forward([(a, b, 1) for a, b in edges], degree)


CASES: Final[dict[str, dict[str, Make]]] = {
    "grids": short_forms("torus:8x4", "torus:8x8", "mesh:6x6", "torus:4x4x4", "hypercube:6"),
    "all ports": {
        "torus 4×4×4": lambda: all_ports("torus", 4, 4, 4),
        "torus 8×8": lambda: all_ports("torus", 8, 8),
        "torus 3×3×3": lambda: all_ports("torus", 3, 3, 3),
        **{f"hypercube {d}": lambda d=d: all_ports("hypercube", d) for d in (4, 5, 6)},
        "HyperX 4×4, hosts that forward": lambda: topologies.hyperx_of_hosts(4, 4),
        "HyperX 3×5, hosts that forward": lambda: topologies.hyperx_of_hosts(3, 5),
        "HyperX 4×4×4, hosts that forward": lambda: topologies.hyperx_of_hosts(4, 4, 4),
    },
    "fat trees": short_forms(
        "fat-tree:k=4", "fat-tree:k=8", "fat-tree:8x8x4", "fat-tree:4x8x3", "fat-tree:24x40x20"
    ),
    "dragonflies": short_forms(
        "dragonfly:5x4x2x2", "dragonfly:9x4x2", "dragonfly+:4x3x3x3x2", "dragonfly:33x8x4"
    ),
    "random regular, one host a switch": {
        f"64 switches of degree 4, seed {seed}": lambda seed=seed: topologies.jellyfish(64, 4, 1, seed)
        for seed in (1, 2, 3)
    },
    "Jellyfish": {
        f"{switches} switches of degree {degree}, {hosts} hosts each, seed {seed}": partial(
            topologies.jellyfish, switches, degree, hosts, seed
        )
        for switches, degree, hosts in ((16, 4, 2), (32, 5, 3), (40, 8, 8), (64, 8, 8))
        for seed in (1, 2)
    },
    "hosts that forward": {
        "ring of 8": lambda: topologies.that_forward([(i, (i + 1) % 8, 1) for i in range(8)], 2),
        "DGX-1": lambda: topologies.that_forward(topologies.DGX1, 4),
        "MI250, 16 GPUs": lambda: topologies.that_forward(topologies.MI250, 4),
        "16 hosts of degree 4": lambda: regular_of_hosts(16, 4),
        "32 hosts of degree 3": lambda: regular_of_hosts(32, 3),
    },
    "Kautz": {"K(4,3), 4 hosts a switch": lambda: topologies.kautz(4, 3, 4)},
    "HyperX": {
        "4×4, 4 hosts a switch": lambda: topologies.hyperx(4, 4, hosts=4),
        "4×4×4, 4 hosts a switch": lambda: topologies.hyperx(4, 4, 4, hosts=4),
        "8×8, 8 hosts a switch": lambda: topologies.hyperx(8, 8, hosts=8),
    },
    "Slim Fly": {"q = 5, 4 hosts a switch": lambda: topologies.slim_fly(5, 4)},
    "PolarFly": {
        "q = 5, 3 hosts a switch": lambda: topologies.polarfly(5, 3),
        "q = 7, 4 hosts a switch": lambda: topologies.polarfly(7, 4),
    },
    "Xpander": {
        "degree 4, lift 8, 2 hosts a switch": lambda: topologies.xpander(4, 8, 2, 1),
        "degree 7, lift 8, 4 hosts a switch": lambda: topologies.xpander(7, 8, 4, 1),
    },
}


def measure(family: str, name: str) -> Row:
    """One network, in this process."""
    made = CASES[family][name]()
    began = time.perf_counter()
    if isinstance(made, _core.Network):
        network = hocket.Network._of_core(made, name)
    else:
        network = hocket.Network(made) if isinstance(made, str) else hocket.Network.from_networkx(made)
    build_seconds = time.perf_counter() - began
    began = time.perf_counter()
    plan = hocket.plan(network, "all-to-all", bytes="64KiB")
    plan_seconds = time.perf_counter() - began
    core, demand = network._core, _core.Demand(network.ranks, 65536)
    certificate = hocket.verify(plan)
    if not certificate.ok:
        sys.exit(f"{name}: the verifier refuses the plan: {certificate.findings[:2]}")
    ports = min(core.ports or [1])
    bounds = _core.lower_bounds(core, demand)
    busiest: float = max(-(-load // core.capacity(c)) for c, load in enumerate(bounds.load))
    if core.forwards:  # links differ, and messages may be cut
        busiest = round(bounds.seconds / 65536 * network.host_rate, 3)
    row: Row = {
        "hosts": len(network.hosts),
        "P": -(-(network.ranks - 1) // ports),
        "A": busiest,
        "S": round(whole_phases(plan._plan), 3),
        "algorithm": plan.report()["algorithm"],
        "routes_seconds": round(build_seconds, 3),
        "plan_seconds": round(plan_seconds, 3),
    }
    began = time.perf_counter()
    free = free_routes(core, demand)
    assert free is not None
    row |= {
        "B": round(free.seconds / 65536 * network.host_rate, 3),
        "B_by": free.by,
        "B_exact": free.exact,
        "bound_seconds": round(time.perf_counter() - began, 3),
    }
    limit = max(row["B"], row["P"])
    row["ratio"] = round(row["S"] / limit, 4)
    if core.shape == _core.Shape.graph and not core.forwards:
        old = by_shortest_paths(core)
        row["A_before"] = _core.lower_bounds(old, demand).phases
        few = row["hosts"] <= MOST_HOSTS_TWICE
        row["S_before"] = _core.plan_exchange(old, demand).schedule.phases if few else None
    return row


def by_shortest_paths(network: _core.Network) -> _core.Network:
    """The network with tables of shortest paths, on the channels that carry least so far (Hoefler, Schneider and
    Lumsdaine, 2009)."""
    ranks, ends = network.ranks_per_node, [e for a, b in network.links for e in ((a, b), (b, a))]
    leaving: list[list[int]] = [[] for _ in ranks]
    for channel, (tail, _) in enumerate(ends):
        leaving[tail].append(channel)
    load, hops = [0] * len(ends), []
    for i, dst in enumerate(network.hosts):
        far, order = {dst: 0}, [dst]
        for node in order:
            for channel in leaving[node] if node == dst or not ranks[node] else ():
                if (to := ends[channel][1]) not in far:
                    far[to] = far[node] + 1
                    order.append(to)
        passing = list(ranks)
        for node in reversed(order[1:]):
            nearer = (c for c in leaving[node] if far[ends[c][1]] < far[node])
            best = [c for c in nearer if ends[c][1] == dst or not ranks[ends[c][1]]]
            chosen = min(best[i % len(best) :] + best[: i % len(best)], key=load.__getitem__)
            load[chosen] += passing[node]
            passing[ends[chosen][1]] += passing[node]
            if len(leaving[node]) > 1:
                hops.append((node, dst, chosen))
    a, b = [a for a, _ in network.links], [b for _, b in network.links]
    rates, latencies = ([of(2 * i) for i in range(len(a))] for of in (network.rate, network.latency))
    return _core.Network.graph(network.names, ranks, a, b, rates, latencies, hops)


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    far = [row for row in rows if row["ratio"] > MOST_RATIO]
    slow = [row for row in rows if row["hosts"] <= 512 and row["plan_seconds"] > MOST_SECONDS]
    blocks: list[Block] = [
        "# All-to-alls over the bound of any routes",
        f"{provenance(heading)}, shared with other work.\n"
        "In phases: B, maximum concurrent flow, whatever the routes, messages divided among ways; P, the hosts' "
        "ports;\nA, the busiest channel of the routes; S, the plan, which the verifier accepts. Before: graphs by "
        "shortest\npaths, on the channels that carry least so far. Seconds: to build the network, with its routes; to "
        "plan.\nWhere hosts forward, ranks may pass on parts of messages: S is the predicted time in such phases.",
        [
            f"{len(rows) - len(far)} of {len(rows)} networks are within {MOST_RATIO} of max(B, P); "
            f"{len(slow)} of at most 512 hosts take more than {MOST_SECONDS:.0f} s.",
            *(f"Missed: {row['family']}, {row['network']}: {row['ratio']:.3f}." for row in far),
            *(f"Slow: {row['family']}, {row['network']}: {row['plan_seconds']:.1f} s." for row in slow),
        ],
    ]
    head = "network | hosts | B | by | P | A | S | S / max(B, P) | before: A | S | ratio | routes | plan"

    def line(row: Row) -> str:
        limit = max(row["B"], row["P"])
        before = f"{row['S_before'] / limit:.3f}" if row.get("S_before") else "-"
        more = "" if row["B_exact"] else "+"
        return (
            f"{row['network']} | {row['hosts']} | {row['B']:.1f}{more} | {row['B_by']} | {row['P']} | {row['A']} | "
            f"{row['S']} | {row['ratio']:.3f} | {row.get('A_before') or '-'} | {row.get('S_before') or '-'} | "
            f"{before} | {row['routes_seconds']:.2f} | {row['plan_seconds']:.2f}"
        )

    for family, of in grouped(rows, "family").items():
        blocks += [f"## {family[0].upper()}{family[1:]}", table(head, line, of)]
    return [*blocks, "A + behind B: no prices were proven best; B may be larger."]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=2, metavar=("FAMILY", "NETWORK"), help="measure one here, print JSON")
    options, results = begin(parser, "true-bounds", summary)
    if options.case:
        print(json.dumps(measure(*options.case)))
        return
    for family, cases in CASES.items():
        for name in cases:
            # A process of its own: memory and caches are those of one case.
            command = [sys.executable, __file__, "--case", family, name]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
            row = {"family": family, "network": name} | json.loads(done.stdout)
            results.add(row)
            print(*(f"{key} {value}" for key, value in row.items()), sep=", ", flush=True)


if __name__ == "__main__":
    main()
