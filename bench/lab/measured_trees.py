"""Scores measured networks on random trees in the lab (needs root): which hosts share a bottleneck, and its rate.

    python bench/lab/measured_trees.py [--trees 12] [--first 0] [--mpi mpich] [--rate 20] [--append]

Chains, stars and trees of 2-6 switches and 8-32 hosts, links between switches 1:1 to 16:1 of the hosts behind them,
ranks on hosts in random order. A bottleneck is to be found where all other links would let at least 1.25 times as much
through, and not to be where they let no more than it. Raw numbers go to bench/results/measured-trees.{csv,md}.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from run import emulated

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, mpis
from results_file import Row, begin, cells, grouped, read

HOCKET = [sys.executable, "-m", "hocket"]
RATIOS = (1, 1, 2, 3, 4, 8, 16)
CLEAR, NONE, NEAR = 0.8, 0.97, 0.1  # of what other links let through; of a rate


@dataclass
class Tree:
    """Switches by number with the one above and the rate of that link; hosts by the number of their switch."""

    kind: str
    above: list[int]
    at: list[int]
    rates: list[float] = field(default_factory=list)

    @staticmethod
    def random(rng: Random, rate: float) -> Tree:
        hosts, kind = rng.randint(8, 32), rng.choice(["chain", "star", "tree"])
        above = [-1]
        for switch in range(1, rng.randint(2, min(6, hosts // 3))):
            above.append({"chain": switch - 1, "star": 0}.get(kind, rng.randrange(switch)))
        at = [switch for switch in range(len(above)) for _ in range(2)]
        tree = Tree(kind, above, at + [rng.randrange(len(above)) for _ in range(hosts - len(at))])
        rng.shuffle(tree.at)
        for switch in range(len(above)):
            behind = len(tree.behind(switch))
            tree.rates.append(rate * min(behind, hosts - behind) / rng.choice(RATIOS))
        return tree

    def behind(self, switch: int) -> frozenset[int]:
        below = (self.behind(child) for child, above in enumerate(self.above) if above == switch)
        return frozenset(host for host, at in enumerate(self.at) if at == switch).union(*below)

    def toml(self, rate: float) -> str:
        text = f'shape = "tree"\n[defaults]\nrate = "{rate}B/s"\n'
        text += "".join(f'[[switch]]\nname = "s{switch}"\n' for switch in range(len(self.above)))
        text += "".join(f'[[host]]\nname = "n{host}"\n' for host in range(len(self.at)))
        text += "".join(f'[[link]]\na = "s{at}"\nb = "n{host}"\n' for host, at in enumerate(self.at))
        for switch, above in list(enumerate(self.above))[1:]:
            text += f'[[link]]\na = "s{above}"\nb = "s{switch}"\nrate = "{self.rates[switch]}B/s"\n'
        return text

    def through(self, switch: int, came: int, host_rate: float) -> float:
        """Rate that hosts on this side of a link can send over it at most, the link apart."""
        total = host_rate * self.at.count(switch)
        for other in range(len(self.above)):
            link = other if self.above[other] == switch else switch if self.above[switch] == other else None
            if link is not None and other != came:
                total += min(self.rates[link], self.through(other, switch, host_rate))
        return total

    def splits(self, host_rate: float) -> Iterator[tuple[frozenset[int], float, float]]:
        """Hosts on the smaller side of each link, its rate, and what all else lets through."""
        everyone = frozenset(range(len(self.at)))
        for switch, above in list(enumerate(self.above))[1:]:
            side = self.behind(switch)
            ends = (self.through(switch, above, host_rate), self.through(above, switch, host_rate))
            yield min(side, everyone - side, key=lambda s: (len(s), 0 in s)), self.rates[switch], min(ends)


def scored(tree: Tree, told: Row, rate: float) -> Row:
    numbers = [int(name.removeprefix("n")) for name in told["hosts"]]
    everyone = frozenset(numbers)
    found = {}
    for each in told["bottlenecks"]:
        side = frozenset(numbers[host] for host in each["hosts"])
        found[min(side, everyone - side, key=lambda s: (len(s), 0 in s))] = min(each["out"], each["into"])
    splits = {side: (own, others) for side, own, others in tree.splits(rate)}
    clear = {side for side, (own, others) in splits.items() if own < CLEAR * others}
    allowed = {side for side, (own, others) in splits.items() if own <= NONE * others}
    off = [abs(found[side] / splits[side][0] - 1) for side in found if side in splits]
    return {
        "bottlenecks": len(clear), "found": len(clear & set(found)), "invented": len(set(found) - allowed),
        "rate_off": round(max(off, default=0.0), 3), "check_off": round(max(told["errors"], default=0.0), 3),
        "rounds": told["rounds"], "seconds": round(told["seconds"], 1), "mbytes": round(told["bytes"] / 1e6),
    }  # fmt: skip


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = []
    for mpi, of in grouped(rows, "mpi").items():
        right = [row for row in of if row["found"] == row["bottlenecks"] and not row["invented"]]
        near = [row for row in right if row["rate_off"] <= NEAR]
        told.append([
            mpi, len(of), len(right), len(near), sum(row["invented"] for row in of),
            f"{max(row['seconds'] for row in of):.0f}", max(row["mbytes"] for row in of),
        ])  # fmt: skip
    head = ["MPI", "trees", "sets right", "rates within 10 %, too", "invented", "most seconds", "most MB"]
    names = list(rows[0])
    return [
        *emulated("Networks measured without a file: random trees", heading),
        *cells(head, told),
        "",
        *cells(names, [[math.nan if row[name] is None else row[name] for name in names] for row in rows]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--trees", type=int, default=12)
    parser.add_argument("--first", type=int, default=0, help="seed of the first tree")
    parser.add_argument("--rate", type=float, default=20, help="Mbit/s of hosts")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--append", action="store_true", help="keep the rows that the file has")
    arguments, results = begin(parser, "measured-trees", summary)
    if arguments.append and results.path.exists():
        before, results.rows = read(results.path)
        results.heading["command"] = f"{before['command']}; {results.heading['command']}"
    rate = arguments.rate * 1e6 / 8
    with tempfile.TemporaryDirectory() as work:
        network, output = Path(work) / "true.toml", Path(work) / "measured.toml"
        for mpi in mpis(arguments):
            for seed in range(arguments.first, arguments.first + arguments.trees):
                tree = Tree.random(Random(seed), rate)
                network.write_text(tree.toml(rate))
                lab = [
                    *HOCKET,
                    "lab",
                    "run",
                    "--network",
                    network,
                    "--native",
                    "--shuffle",
                    seed,
                    "--mpi",
                    mpi.mpiexec,
                ]
                command = [
                    "network",
                    "discover",
                    "--measure",
                    "--seconds",
                    arguments.seconds,
                    "-o",
                    output,
                    "--json",
                ]
                words = [str(word) for word in [*lab, "--", *HOCKET, *command]]
                done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
                if done.returncode:
                    sys.exit(f"{seed}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
                row = {"mpi": mpi.family.value, "seed": seed, "kind": tree.kind, "hosts": len(tree.at)}
                told = json.loads(done.stdout.splitlines()[-1])
                results.add(row | {"switches": len(tree.above)} | scored(tree, told, rate))
                print(results.rows[-1], file=sys.stderr, flush=True)
    print(results.summarise())


if __name__ == "__main__":
    main()
