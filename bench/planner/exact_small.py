"""The fewest phases of all-to-alls on small graphs, by integer programming, beside those of `packing`.

Run by `make bench NAME=exact-small`; writes bench/results/exact-small.{csv,md}. A message goes into one phase; a
phase has one message per send port, receive port and channel (as many as it is wide). HiGHS, through scipy, finds a
schedule of one phase less or proves that there is none.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from hocket import _core

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from results_file import Row, begin, grouped, provenance, table
from strategies import RATE, random_graph
from wired_switches import random_regular

MOST_SECONDS: Final = 30.0  # of one question
SEEDS: Final = range(24)


def ring(switches: int, hosts: int) -> _core.Network:
    """Switches on a ring, with so many hosts each, all links alike."""
    ranks = [0] * switches + [1] * (switches * hosts)
    a = [*range(switches), *(host % switches for host in range(switches * hosts))]
    b = [*((s + 1) % switches for s in range(switches)), *range(switches, len(ranks))]
    names = [f"n{i}" for i in range(len(ranks))]
    return _core.build_graph(names, ranks, a, b, [RATE] * len(a), [0.0] * len(a))


FAMILIES: Final[dict[str, Callable[[int], _core.Network]]] = {
    "trees with more links": lambda seed: random_graph(Random(seed), 4 + seed % 5).build("graph"),
    "a host a switch of degree 3": lambda seed: random_regular(4 + 2 * (seed % 3), 3, 1, seed).build("graph"),
    "a host a switch on a ring": lambda seed: ring(4 + seed % 5, 1),
    "two hosts a switch on a ring": lambda seed: ring(3 + seed % 2, 2),
    "two hosts a switch of degree 3": lambda seed: random_regular(4, 3, 2, seed).build("graph"),
}


def fits(network: _core.Network, phases: int, limit: float = MOST_SECONDS) -> bool | None:
    """True if the messages fit into so many phases, False if they do not; None if that is not known in time.

    Messages of the busiest resource have a phase each, which phases are alike takes away.
    """
    n = network.ranks
    messages = list(itertools.permutations(range(n), 2))
    users: dict[tuple[str, int], list[int]] = {}
    for m, (src, dst) in enumerate(messages):
        for resource in (("out", src), ("in", dst), *(("channel", c) for c in network.route(src, dst))):
            users.setdefault(resource, []).append(m)
    width = {key: network.capacity(key[1]) if key[0] == "channel" else 1 for key in users}
    rows, columns, least, most = list[int](), list[int](), list[int](), list[int]()
    for m in range(len(messages)):
        rows += [len(least)] * phases
        columns += range(m * phases, (m + 1) * phases)
        least.append(1)
        most.append(1)
    for key, using in users.items():
        if len(using) <= width[key]:
            continue
        for phase in range(phases):
            rows += [len(least)] * len(using)
            columns += [m * phases + phase for m in using]
            least.append(0)
            most.append(width[key])
    lower, upper = np.zeros(len(messages) * phases), np.ones(len(messages) * phases)
    busiest = max((key for key in users if width[key] == 1), key=lambda key: len(users[key]))
    if len(users[busiest]) > phases:
        return False
    for phase, m in enumerate(users[busiest]):
        lower[m * phases + phase] = 1
    matrix = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(least), len(lower))).tocsr()
    found = milp(
        np.zeros(len(lower)), integrality=np.ones(len(lower)), bounds=Bounds(lower, upper),
        constraints=LinearConstraint(matrix, least, most), options={"time_limit": limit},
    )  # fmt: skip
    return {0: True, 2: False}.get(found.status)


def least_phases(network: _core.Network, bound: int, known: int) -> tuple[int, bool]:
    """The fewest phases from ``bound`` on, ``known`` being enough; and whether they are proven the fewest."""
    for phases in range(bound, known):
        answer = fits(network, phases)
        if answer is not False:
            return (phases, True) if answer else (known, False)
    return known, True


def measure(family: str, seed: int) -> Row:
    network = FAMILIES[family](seed)
    demand = _core.Demand(network.ranks, 1)
    bound = _core.lower_bounds(network, demand).phases
    packed = _core.plan_exchange(network, demand, None, "packing").schedule.phases
    least, proven = least_phases(network, bound, packed)
    return {
        "family": family,
        "seed": seed,
        "hosts": network.ranks,
        "bound": bound,
        "least": least,
        "proven": proven,
        "packing": packed,
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    missed = [row for row in rows if row["packing"] > row["least"]]
    return [
        "# The fewest phases of small all-to-alls",
        "",
        f"{provenance(heading)}.",
        "Random graphs with 4 to 8 hosts of one rank, routes as Hocket chooses them. Least: by integer programs",
        f"of HiGHS, {MOST_SECONDS:.0f} s each; where one was not solved in time, the phases of packing, not proven.",
        "Bound: the busiest port or channel. Packing finds the least in "
        f"{len(rows) - len(missed)} of {len(rows)}; proven: {sum(row['proven'] for row in rows)}.",
        *(
            f"Missed: {row['family']}, seed {row['seed']}, {row['hosts']} hosts: "
            f"{row['packing']} phases, least {row['least']}."
            for row in missed
        ),
        "",
        *table(
            "family | hosts | graphs | least = bound | packing = least | most over the least | proven",
            lambda row: "{family} | {hosts} | {graphs} | {tight} | {met} | {over} | {proven}".format(**row),
            [
                {
                    "family": family,
                    "hosts": hosts,
                    "graphs": len(of),
                    "tight": sum(row["least"] == row["bound"] for row in of),
                    "met": sum(row["packing"] == row["least"] for row in of),
                    "over": max(row["packing"] - row["least"] for row in of),
                    "proven": sum(row["proven"] for row in of),
                }
                for family, alike in grouped(rows, "family").items()
                for hosts, of in sorted(grouped(alike, "hosts").items())
            ],
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "exact-small", summary)
    for family, seed in itertools.product(FAMILIES, SEEDS):
        if "ring" in family and seed >= (5 if family.startswith("a ") else 2):  # there are no more
            continue
        row = measure(family, seed)
        results.add(row)
        print(*(f"{key} {value}" for key, value in row.items()), sep=", ", flush=True)


if __name__ == "__main__":
    main()
