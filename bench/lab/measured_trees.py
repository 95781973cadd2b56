"""Scores measured networks on random trees in the lab (needs root): which hosts share a bottleneck, and its rate.

    python bench/lab/measured_trees.py [--trees 12] [--first 0] [--mpi mpich] [--rate 20] [--append] [--simulated]
        [--ranks 4] [--slow] [--jobs]

Chains, stars and trees of 2-6 switches and 8-32 hosts, links between switches 1:1 to 16:1 of the hosts behind them,
ranks on hosts in random order. A bottleneck is to be found where all other links would let at least 1.25 times as much
through, and not to be where they let no more than it. Raw numbers go to bench/results/measured-trees.{csv,md}.

--ranks: so many a host. --slow: host n0 has a tenth of the rate, and is to be told as slow. --jobs: also jobs of four
all-to-alls of 64 KiB, natively and by what is predicted to be best from the measured file and from the true one.

--simulated needs no root: max-min fair rates, with noise, with others' streams, and on fat trees of 512 and 4,096 hosts
of which a part is the job's.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from hocket import _core
from hocket.launch.mpi import Mpi
from hocket.measure.discovered import Found

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "choose"))
from jobs import HOCKET, PROGRAM, scheduling_variables, told_by

from mpi_jobs import add_mpi, compiled, mpis
from results_file import Block, Row, begin, cells, grouped, provenance

RATIOS = (1, 1, 2, 3, 4, 8, 16)
PORTS = 32
REFUSED: Row = {"hosts": [], "bottlenecks": [], "errors": [], "rounds": 0, "seconds": 0, "bytes": 0}
CLEAR, NONE, NEAR = 0.8, 0.97, 0.1  # of what other links let through; of a rate


@dataclass
class Tree:
    """Switches by number with the one above and the rate of that link; hosts by the number of their switch."""

    kind: str
    above: list[int]
    at: list[int]
    rates: list[float] = field(default_factory=list)
    slow: bool = False  # host 0

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

    @staticmethod
    def fat(rng: Random, hosts: int, ratio: float, part: float, rate: float) -> Tree:
        """Leaves of 32 ports, of which the job has so large a part."""
        leaves = math.ceil(hosts / part / PORTS)
        places = [leaf for leaf in range(1, leaves + 1) for _ in range(PORTS)]
        rng.shuffle(places)
        return Tree(
            f"fat {ratio:g}:1", [-1] + [0] * leaves, places[:hosts], [rate * PORTS / ratio] * (leaves + 1)
        )

    def behind(self, switch: int) -> frozenset[int]:
        below = (self.behind(child) for child, above in enumerate(self.above) if above == switch)
        return frozenset(host for host, at in enumerate(self.at) if at == switch).union(*below)

    def toml(self, rate: float, ranks: int = 1) -> str:
        text = f'shape = "tree"\n[defaults]\nrate = "{rate}B/s"\n'
        text += "".join(f'[[switch]]\nname = "s{switch}"\n' for switch in range(len(self.above)))
        text += "".join(f'[[host]]\nname = "n{host}"\nranks = {ranks}\n' for host in range(len(self.at)))
        for host, at in enumerate(self.at):
            own = f'rate = "{rate / 10}B/s"\n' if self.slow and host == 0 else ""
            text += f'[[link]]\na = "s{at}"\nb = "n{host}"\n{own}'
        for switch, above in list(enumerate(self.above))[1:]:
            text += f'[[link]]\na = "s{above}"\nb = "s{switch}"\nrate = "{self.rates[switch]}B/s"\n'
        return text

    def through(self, switch: int, came: int, host_rate: float) -> float:
        """Rate that hosts on this side of a link can send over it at most, the link apart."""
        total = host_rate * (self.at.count(switch) - 0.9 * (self.slow and self.at[0] == switch))
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


class Simulated:
    """Max-min fair rates of streams, a tenth of noise, and streams of others between random hosts."""

    def __init__(self, tree: Tree, rate: float, noise: float, traffic: float, seed: int) -> None:
        self.noise, self.traffic, self.random = noise, traffic, np.random.default_rng(seed)
        self.hosts, switches = len(tree.at), len(tree.above)
        self.free = np.array([rate] * 2 * self.hosts + [own for own in tree.rates for _ in "ud"] + [math.inf])
        ways: list[list[int]] = []  # switches above, the root's apart
        for switch in range(switches):
            ways.append([switch] if tree.above[switch] >= 0 else [])
            while ways[-1] and tree.above[tree.above[ways[-1][-1]]] >= 0:
                ways[-1].append(tree.above[ways[-1][-1]])
        deepest = max(map(len, ways))
        self.above = np.array([way + [-1] * (deepest - len(way)) for way in ways])[np.array(tree.at)]

    def rates(self, streams: list[tuple[int, int]]) -> list[float]:
        others = self.random.integers(self.hosts, size=(int(self.traffic * self.hosts), 2))
        a, b = np.concatenate([np.array(streams), others[others[:, 0] != others[:, 1]]]).T
        none = len(self.free) - 1
        links = [2 * a, 2 * b + 1]
        for here, there, way in ((self.above[a], self.above[b], 0), (self.above[b], self.above[a], 1)):
            for level in range(here.shape[1]):
                shared = (here[:, level, None] == there).any(axis=1) | (here[:, level] < 0)
                links.append(np.where(shared, none, 2 * self.hosts + 2 * here[:, level] + way))
        table = np.array(links)
        free, rate = self.free.copy(), np.full(len(a), -1.0)
        while (open_ := rate < 0).any():
            on = np.bincount(table[:, open_].ravel(), minlength=len(free))
            on[none] = 0
            levels = np.where(on > 0, free / np.maximum(on, 1), math.inf)
            full = levels <= levels.min() * (1 + 1e-9)
            done = open_ & full[table].any(axis=0)
            rate[done] = levels.min()
            free[:none] -= np.bincount(table[:, done].ravel(), minlength=len(free))[:none] * levels.min()
            free = np.maximum(free, 0)
        own = rate[: len(streams)]
        return (own * (1 + self.noise * self.random.uniform(-1, 1, len(own)))).tolist()


def simulated(tree: Tree, rate: float, seed: int, noise: float, traffic: float) -> Row:
    many = len(tree.at) > 64
    most = 2000 if many else 150
    network, probe = Simulated(tree, rate, noise, traffic, seed), _core.TreeProbe(len(tree.at), seed, most)
    seconds = 0.0
    while streams := probe.next():
        rates = network.rates(streams)
        began = time.monotonic()
        probe.add(rates)
        seconds += time.monotonic() - began
    told = {
        "hosts": [f"n{host}" for host in range(len(tree.at))],
        "bottlenecks": [{"hosts": b.hosts, "out": b.out, "into": b.into} for b in probe.bottlenecks],
        "errors": probe.errors, "rounds": probe.rounds, "seconds": seconds, "bytes": 0,
    }  # fmt: skip
    mpi = f"simulated, noise {100 * noise:.0f} %" + (f", traffic {100 * traffic:.0f} %" if traffic else "")
    row = {"mpi": mpi + (f", {len(tree.at)} hosts" if many else ""), "seed": seed, "kind": tree.kind}
    return row | {"hosts": len(tree.at), "switches": len(tree.above)} | scored(tree, told, rate)


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


def jobs(mpi: Mpi, work: Path, lab: list[str], true: Path, measured: Path) -> Row:
    """Seconds of a job natively and by each file's plans, and what was predicted from the measured one of the first."""
    plan = f"plan all-to-all --network {measured} --bytes 65536 --json"
    said = subprocess.run([*HOCKET, *plan.split()], capture_output=True, text=True, check=True).stdout
    (ours, best), (native, _) = (
        min((each["seconds"], each["name"]) for each in json.loads(said)["forecast"][kind] if each["seconds"])
        for kind in ("candidates", "library")
    )
    row: Row = {"predicted": round(ours / native, 3)}
    program = [str(compiled(mpi, PROGRAM, work)), "alltoall", "65536", "4"]
    for name, file in (("native", None), ("measured", measured), ("true", true)):
        settings = scheduling_variables(str(file), mpi.mpiexec, "names") if file else {}
        settings |= {"HOCKET_CHOICES": "", "HOCKET_CHOOSE": best}
        words = [*lab, "env", *(f"{key}={value}" for key, value in settings.items()), *program]
        row[f"{name}_job"] = told_by(words, {}, 300).total
    return row


def summary(heading: Row, rows: list[Row]) -> list[Block]:
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
    if "predicted" in names:
        names += ["measured_over_native", "measured_over_true"]
        for row in rows:
            row |= {
                f"measured_over_{of}": f"{row['measured_job'] / row[f'{of}_job']:.3f}"
                for of in ("native", "true")
            }
    return [
        "# Networks measured without a file: random trees",
        f"{provenance(heading)}.",
        cells(head, told),
        cells(names, [[math.nan if row[name] is None else row[name] for name in names] for row in rows]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--trees", type=int, default=12)
    parser.add_argument("--first", type=int, default=0, help="seed of the first tree")
    parser.add_argument("--rate", type=float, default=20, help="Mbit/s of hosts")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--ranks", type=int, default=1, help="of a host")
    parser.add_argument("--slow", action="store_true", help="host n0 at a tenth of the rate")
    parser.add_argument("--jobs", action="store_true", help="by the measured file and by the true one")
    parser.add_argument("--simulated", action="store_true")
    arguments, results = begin(parser, "measured-trees", summary)
    rate = arguments.rate * 1e6 / 8
    if arguments.simulated:
        for noise, traffic in ((0.0, 0.0), (0.1, 0.0), (0.05, 0.2)):
            for seed in range(arguments.trees):
                results.add(simulated(Tree.random(Random(seed), rate), rate, seed, noise, traffic))
        for hosts, ratio, part in itertools.product((512, 4096), (2, 4, 8), (0.8,)):
            tree = Tree.fat(Random(hosts), hosts, ratio, part, rate)
            results.add(simulated(tree, rate, 1, 0.1, 0.0))
            print(results.rows[-1], file=sys.stderr, flush=True)
        print(results.summarise())
        return
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(arguments):
            for seed in range(arguments.first, arguments.first + arguments.trees):
                network, output = (Path(work) / f"{name}-{seed}.toml" for name in ("true", "measured"))
                tree = Tree.random(Random(seed), rate)
                tree.slow = arguments.slow
                network.write_text(tree.toml(rate, arguments.ranks))
                lab = f"lab run --network {network} --native --shuffle {seed} --mpi {mpi.mpiexec} --"
                command = f"network discover --measure --seconds {arguments.seconds} -o {output} --json"
                words = [*HOCKET, *lab.split(), *HOCKET, *command.split()]
                done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
                row: Row = {"mpi": mpi.family.value, "seed": seed, "kind": tree.kind, "hosts": len(tree.at)}
                told: Row = REFUSED if done.returncode else json.loads(done.stdout.splitlines()[-1])
                row |= {"switches": len(tree.above)} | scored(tree, told, rate)
                if done.returncode:
                    print(done.stderr, file=sys.stderr)
                    row["found"] = -1  # refused
                if arguments.slow:
                    fields = {key: told[key] for key in Found.__dataclass_fields__ if key in told}
                    row["slow_named"] = not done.returncode and list(Found.from_json(fields).slow) == ["n0"]
                if arguments.jobs and not done.returncode:
                    row |= jobs(mpi, Path(work), words[: words.index("--") + 1], network, output)
                results.add(row)
                print(results.rows[-1], file=sys.stderr, flush=True)
    print(results.summarise())


if __name__ == "__main__":
    main()
