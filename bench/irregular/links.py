"""Irregular exchanges on networks whose links are scarce: schedule time over the bound.

Run by `make bench NAME=irregular-links`; puts every row into bench/results/irregular-links.{csv,md}
as soon as it is measured, in place of the one that is there. `--quick` takes 5 matrices
instead of 50. The airfoil grids of test set 2 need `pip install 'hocket[meshes]'`; without it they are
left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Final

from testsets import DENSITIES, MATRICES, SIZES, Matrix, demand, random_matrix

from hocket import _core

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, grouped, provenance, read, table

RATE: Final = 12.5e6  # bytes/s; ratios do not depend on it
ALGORITHMS: Final = ("critical", "list", "RS_NL", "RS_NLH")
POINTS: Final = (2_800, 9_428, 53_961)
HALO_BYTES: Final = 64  # per vertex: eight values


def tree(parents: list[int], hosts: int) -> _core.Network:
    """Four switches with `hosts` hosts each."""
    names, ranks = ["s0", "s1", "s2", "s3"], [0] * 4
    a, b = list(parents), [1, 2, 3]
    for host in range(4 * hosts):
        a.append(host // hosts)
        b.append(len(names))
        names.append(f"n{host}")
        ranks.append(1)
    return _core.build_network(names, ranks, a, b, [RATE] * len(a), [0.0] * len(a))


NETWORKS: Final[dict[str, Callable[[], _core.Network]]] = {
    "8x8 torus": lambda: _core.build_grid("torus", [8, 8], RATE, 0.0),
    "64-node hypercube": lambda: _core.build_grid("hypercube", [6], RATE, 0.0),
    "tree (b), 32 hosts": lambda: tree([0, 0, 0], 8),
    "tree (c), 32 hosts": lambda: tree([0, 1, 2], 8),
    "tree (b), 64 hosts": lambda: tree([0, 0, 0], 16),
    "tree (c), 64 hosts": lambda: tree([0, 1, 2], 16),
}


def airfoil_halos(points: int, parts: int) -> Matrix | None:
    """Test set 2; None where the mesh library is missing."""
    try:
        from meshes import VALUE_BYTES, airfoil, halo_matrix, partition

        mesh = airfoil(points)
        return halo_matrix(mesh, partition(mesh, parts)) * (HALO_BYTES // VALUE_BYTES)
    except ImportError:
        return None


def measure(network: _core.Network, matrix: Matrix, name: str, seed: int) -> dict[str, float]:
    exchange = demand(matrix)
    algorithm = _core.find_algorithm(name, "irregular")
    began = time.process_time()
    schedule = algorithm.make(network, exchange, seed=seed)
    seconds = time.process_time() - began
    if not _core.verify(network, exchange, schedule).ok:
        raise SystemExit(f"{name}: the verifier rejects a schedule")
    bound = _core.lower_bounds(network, exchange).one_port_seconds
    run = _core.simulate(network, schedule, None, "token", _core.ModelParameters())
    return {
        "phases over the bound": _core.lockstep_seconds(network, schedule) / bound,
        "run over the bound": run.seconds / bound,
        "splits": len(schedule) / exchange.messages - 1,
        "phases": schedule.phases,
        "planning_s": seconds,
    }


def compare(network: _core.Network, matrices: list[Matrix], where: Row) -> list[Row]:
    """A row per algorithm."""
    found = []
    for name in ALGORITHMS:
        runs = [measure(network, matrix, name, seed) for seed, matrix in enumerate(matrices, 1)]
        figures = {
            "phases_ratio": median(run["phases over the bound"] for run in runs),
            "phases_ratio_worst": max(run["phases over the bound"] for run in runs),
            "run_ratio": median(run["run over the bound"] for run in runs),
            "run_ratio_worst": max(run["run over the bound"] for run in runs),
            "splits": fmean(run["splits"] for run in runs),
            "phases": median(run["phases"] for run in runs),
            "planning_s": median(run["planning_s"] for run in runs),
        }
        found.append(where | {"matrices": len(matrices), "algorithm": name} | figures)
    return found


def demands_of(network: _core.Network, matrices: int) -> Iterator[tuple[str, list[Matrix]]]:
    """(what, its matrices) of both test sets."""
    ranks = network.ranks
    for density in (*(d for d in DENSITIES if d < ranks - 1), ranks - 1):
        for sizes in SIZES:
            # One pattern and one size make one matrix only.
            count = 1 if density == ranks - 1 and sizes == "uniform" else matrices
            yield (
                f"d = {density}, {sizes}",
                [random_matrix(ranks, density, sizes, seed) for seed in range(1, count + 1)],
            )
    for points in POINTS:
        halo = airfoil_halos(points, ranks)
        if halo is not None:
            yield f"airfoil, {points:,} points", [halo]


def summary(heading: Row, rows: list[Row]) -> list[str]:
    lines = [
        "# Irregular exchanges on networks with scarce links",
        "",
        f"{provenance(heading)}.",
        "Test set 1: random matrices, d entries per row and column; messages of 64 KB (uniform), 64 to",
        "512 KB in steps of 64 KB (non-uniform) or of any size between, every factor equally likely",
        "(log-uniform).",
        "Test set 2: halo exchange of grids around an airfoil, divided by METIS.",
        "Over the bound: median (worst). Phases: one after the other, as `ratio` has it. Run: with tokens,",
        "by the simulator, where nothing but the wires takes time; it has no receive ports, so that on tori",
        "and hypercubes a run may beat the bound. Splits: additional parts per message, mean. Planning:",
        "median CPU time. Every schedule passed the verifier.",
    ]
    head = "demand | count | algorithm | phases / bound | run / bound | splits | phases | planning ms"
    line = (
        "{demand} | {matrices} | {algorithm} | {phases_ratio:.3f} ({phases_ratio_worst:.3f})"
        " | {run_ratio:.3f} ({run_ratio_worst:.3f}) | {splits:.2f} | {phases:.0f} | {planning_ms:.1f}"
    )
    rows = [row | {"planning_ms": 1e3 * row["planning_s"]} for row in rows]
    for network, of_network in grouped(rows, "network").items():
        lines += ["", f"## {network[0].upper()}{network[1:]}", "", *table(head, line, of_network)]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 matrices per row instead of 50")
    parser.add_argument("--network", choices=NETWORKS, action="append", help="only this one")
    given, results = begin(parser, "irregular-links", summary)
    known = grouped(read(given.output)[1] if given.output.exists() else [], "network", "demand")
    for name in given.network or NETWORKS:
        network = NETWORKS[name]()
        for what, matrices in demands_of(network, 5 if given.quick else MATRICES):
            found = known[name, what] = compare(network, matrices, {"network": name, "demand": what})
            order = [
                row for kind in NETWORKS for key, rows in known.items() if key[0] == kind for row in rows
            ]
            results.rows.clear()
            results.add(*order)
            worst = ", ".join("{algorithm} {run_ratio_worst:.3f}".format(**row) for row in found)
            print(f"{name}, {what}: worst {worst}", flush=True)


if __name__ == "__main__":
    main()
