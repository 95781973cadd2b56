"""Messages mapped onto networks: `hocket order` beside SCOTCH's static mapping.

    python bench/order/mapping.py [--scotch FOLDER]

SCOTCH's gmap (Debian: scotch) is used where it is on PATH or in FOLDER; without it its columns stay empty. Its target
architectures are those that it knows for such networks (tleaf, torus2D, torus3D). Run by
`make bench NAME=order-mapping`; writes bench/results/order-mapping.{csv,md}.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from hocket import _core
from hocket.network import read_network
from results_file import Row, begin, provenance, table

Sizes = dict[tuple[int, int], int]

# Network, SCOTCH's architecture of it.
NETWORKS: Final = {
    "tree:4x8": "tleaf\n2\n4 10\n8 1\n",
    "tree:8x8x8": "tleaf\n3\n8 100\n8 10\n8 1\n",
    "torus:8x8": "torus2D\n8 8\n",
    "torus:6x6x6": "torus3D\n6 6 6\n",
}
KINDS: Final = ("stencil", "random", "clusters")


def numbered(rng: random.Random, ranks: int, pairs: Sizes) -> Sizes:
    number = rng.sample(range(ranks), ranks)
    return {(number[a], number[b]): size for (a, b), size in pairs.items()}


def sides_of(ranks: int) -> tuple[int, ...]:
    return {32: (4, 8), 64: (8, 8), 216: (6, 6, 6), 512: (8, 8, 8)}[ranks]


def stencil(ranks: int) -> Sizes:
    """Neighbours of a periodic grid."""
    sides = sides_of(ranks)
    points = list(itertools.product(*map(range, sides)))
    number = {point: rank for rank, point in enumerate(points)}
    pairs: Sizes = {}
    for point in points:
        for axis, step in itertools.product(range(len(sides)), (1, -1)):
            to = list(point)
            to[axis] = (to[axis] + step) % sides[axis]
            pairs[number[point], number[tuple(to)]] = 1000
    return pairs


def demand_of(kind: str, ranks: int, rng: random.Random) -> Sizes:
    if kind == "stencil":
        pairs = stencil(ranks)
    elif kind == "random":
        pairs = {(a, rng.randrange(ranks)): rng.randint(100, 1000) for a in range(ranks) for _ in range(4)}
    else:  # cliques of eight, and a little between them
        pairs = {(a, b): 1000 for a, b in itertools.permutations(range(ranks), 2) if a // 8 == b // 8}
        pairs |= {(a, (a + 8) % ranks): 200 for a in range(ranks)}
    return numbered(rng, ranks, {(a, b): size for (a, b), size in pairs.items() if a != b})


def scotch(folder: str | None, architecture: str, ranks: int, sizes: Sizes) -> tuple[list[int], float] | None:
    """The place of each rank and seconds; None without SCOTCH."""
    path = os.pathsep.join(filter(None, [folder, os.environ.get("PATH", "")]))
    gmap = shutil.which("scotch_gmap", path=path) or shutil.which("gmap", path=path)
    if gmap is None:
        return None
    both: dict[tuple[int, int], int] = {}
    for (a, b), size in sizes.items():
        both[a, b] = both.get((a, b), 0) + size
        both[b, a] = both.get((b, a), 0) + size
    rows: list[list[str]] = [[] for _ in range(ranks)]
    for (a, b), size in sorted(both.items()):
        rows[a] += [str(size), str(b)]
    with tempfile.TemporaryDirectory() as work:
        graph, target, mapped = (Path(work) / name for name in ("graph.grf", "target.tgt", "out.map"))
        lines = [f"{len(row) // 2} {' '.join(row)}" for row in rows]
        graph.write_text(f"0\n{ranks} {len(both)}\n0 010\n" + "\n".join(lines) + "\n")
        target.write_text(architecture)
        begun = time.perf_counter()
        subprocess.run([gmap, "-b0.0", str(graph), str(target), str(mapped)], check=True, capture_output=True)
        seconds = time.perf_counter() - begun
        found = dict(map(int, line.split()) for line in mapped.read_text().splitlines()[1:])
    place = [found[rank] for rank in range(ranks)]
    return (place, seconds) if len(set(place)) == ranks else None


def figures(network: _core.Network, place: Sequence[int], sizes: Sizes) -> tuple[float, float]:
    """Bytes of the busiest channel, all links being equal, and bytes times channels in all."""
    load = np.zeros(network.channels)
    for (a, b), size in sizes.items():
        for channel in network.route(place[a], place[b]):
            load[channel] += size
    return float(load.max()), float(load.sum())


def measure(name: str, architecture: str, kind: str, seed: int, folder: str | None) -> Row:
    network = read_network(name)
    ranks = network.ranks
    sizes = demand_of(kind, ranks, random.Random(seed))
    src, dst = zip(*sizes, strict=True)
    demand = _core.Demand.irregular(ranks, list(src), list(dst), list(sizes.values()))
    call = _core.order.demand_call(demand, 1.0)
    begun = time.perf_counter()
    place, how = _core.order.order_ranks(network, list(network.hosts), [call], _core.order.Freedom.ranks)
    seconds = time.perf_counter() - begun
    row: Row = {"network": name, "messages": kind, "seed": seed, "how": how}
    for who, order in (("given", range(ranks)), ("hocket", place.tolist())):
        row[f"{who} busiest"], row[f"{who} all"] = figures(network, order, sizes)
    row["hocket seconds"] = round(seconds, 3)
    if found := scotch(folder, architecture, ranks, sizes):
        row["scotch busiest"], row["scotch all"] = figures(network, found[0], sizes)
        row["scotch seconds"] = round(found[1], 3)
    return row


def _ratio(row: Row, who: str, what: str) -> str:
    value = row.get(f"{who} {what}")
    return "" if value is None else f"{float(value) / float(row[f'given {what}']):.3f}"


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = [
        {
            **row,
            **{
                f"{who} {what} told": _ratio(row, who, what)
                for who in ("hocket", "scotch")
                for what in ("busiest", "all")
            },
            "scotch seconds": row.get("scotch seconds") or "",
        }
        for row in rows
    ]
    return [
        "# Messages mapped onto networks",
        "",
        f"{provenance(heading)}; SCOTCH {heading.get('scotch', 'not at hand')}.",
        "",
        *table(
            "network | messages | seed | busiest channel: Hocket | SCOTCH | bytes × channels: Hocket | SCOTCH | "
            "seconds: Hocket | SCOTCH",
            "{network} | {messages} | {seed} | {hocket busiest told} | {scotch busiest told} | {hocket all told} | "
            "{scotch all told} | {hocket seconds} | {scotch seconds}",
            told,
        ),
        "",
        "Over those of ranks at random, the given order. The busiest channel sets the time where all messages go",
        "at once; SCOTCH minimises the bytes times the channels that they pass.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scotch", metavar="FOLDER", help="where scotch_gmap is")
    parser.add_argument("--seeds", type=int, default=2)
    arguments, results = begin(parser, "order-mapping", summary)
    gmap = shutil.which(
        "scotch_gmap", path=os.pathsep.join([arguments.scotch or "", os.environ.get("PATH", "")])
    )
    if gmap is not None:
        version = subprocess.run([gmap, "-V"], capture_output=True, text=True, check=False)
        results.heading["scotch"] = (
            (version.stdout + version.stderr).split(",")[0].replace("gmap, version ", "").strip()
        )
    for (name, architecture), kind in itertools.product(NETWORKS.items(), KINDS):
        for seed in range(arguments.seeds):
            results.add(measure(name, architecture, kind, seed, arguments.scotch))
    print(results.summarise())


if __name__ == "__main__":
    main()
