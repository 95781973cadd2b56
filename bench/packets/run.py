"""All-to-alls of dozens to hundreds of hosts packet by packet, in csg-htsim: Hocket's plans beside native orders.

    python bench/packets/run.py FOLDER [--leaves 8] [--hosts 8] [--cables 2] [--bytes 65536] [--only WORD] [--append]

FOLDER: sim/datacenter of csg-htsim (https://github.com/Broadcom/csg-htsim) with htsim_ndp built. Leaf switches of so
many hosts have as many spines as cables; packets take them in turn, so that they are one link. Switches trim packets
where queues are full, receivers ask for the rest (NDP: Handley et al., SIGCOMM 2017). Tokens are packets, too, and a
wait ends when the sender has the acknowledgement. Raw numbers go to bench/results/packets.{csv,md}.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Block, Row, begin, cells, provenance

GBIT, MTU = 10, 4096  # of a host's link; bytes of a packet
THROTTLE = 32  # sends of MPICH's scattered all-to-all before it waits for them
Rounds = Callable[[int, int], list[list[int]]]  # whom a rank sends to, step by step, of so many ranks

# Each rank receives in a step from those who send to it in that step.
NATIVE: dict[str, Rounds] = {
    "pairs (MPICH above 32 KiB)": lambda rank, ranks: [[rank ^ step] for step in range(1, ranks)],
    "32 sends at a time (MPICH up to 32 KiB)": lambda rank, ranks: [
        [(rank + i) % ranks for i in range(step, min(step + THROTTLE, ranks))] for step in range(1, ranks, THROTTLE)
    ],
}  # fmt: skip


def matrix(rounds: Rounds, ranks: int, size: int, node: list[int]) -> Iterator[str]:
    """A connection matrix of htsim, whose senders alone tell that a flow has ended: a rank's next step begins when its
    sends have, and in steps of one pair when both ranks' sends have. Trigger 1 + steps × rank + s begins step s + 1."""
    to = [rounds(rank, ranks) for rank in range(ranks)]
    steps = len(to[0]) - 1
    pairs = all(len(peers) == 1 for peers in to[0])
    number = 0

    def ends(rank: int, step: int) -> int:
        """The trigger of a rank's step, which the two ranks of a pair share."""
        return steps * (min(rank, to[rank][step][0]) if pairs else rank) + step + 1

    lines, fired = [], dict[int, int]()
    for step in range(steps + 1):
        for rank in range(ranks):
            begins = f"trigger {ends(rank, step - 1)}" if step else "start 0"
            for peer in to[rank][step]:
                number += 1
                line = f"{node[rank]}->{node[peer]} id {number} {begins} size {size}"
                if step < steps:
                    end = ends(rank, step)
                    fired[end] = fired.get(end, 0) + 1
                    line += f" send_done_trigger {end}"
                lines.append(line + "\n")
    yield f"Nodes {ranks}\nConnections {number}\nTriggers {len(fired)}\n"
    yield from lines
    for end, count in fired.items():
        yield f"trigger id {end} barrier count {count}\n"


def topology(leaves: int, hosts: int, cables: int) -> str:
    common = "Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\n"
    return (
        f"Nodes {leaves * hosts}\nTiers 2\nPodsize {leaves * hosts}\n"
        f"Tier 0\nDownlink_speed_Gbps {GBIT}\nRadix_Down {hosts}\nRadix_Up {cables}\n"
        f"Oversubscribed {hosts // cables}\n{common}"
        f"Tier 1\nDownlink_speed_Gbps {GBIT}\nRadix_Down {leaves}\n{common}"
    )


def planned(network: str, size: int, window: int, output: Path) -> Row:
    """The plan of Hocket in ``output``; what it says about itself."""
    hocket, plan = [sys.executable, "-m", "hocket"], output.with_suffix(".hkt")
    words = f"plan all-to-all --network {network} --bytes {size} --window {window} -o {plan} --json".split()
    said = subprocess.run([*hocket, *words], check=True, capture_output=True, text=True).stdout
    subprocess.run([*hocket, "export", plan, "--to", "htsim", "-o", output], check=True, capture_output=True)
    return json.loads(said)


def simulated(program: Path, flows: Path, network: Path, ranks: int, most: float) -> Row:
    """Seconds until the last flow has ended, and packets by htsim's own count."""
    words = [program, "-nodes", ranks, "-tm", flows, "-topo", network, "-strat", "perm", "-paths", 64,
             "-linkspeed", GBIT * 1000, "-mtu", MTU, "-end", int(most * 1e6), "-o", "log"]  # fmt: skip
    last, ended = 0.0, 0
    packets: dict[str, str] = {}
    with subprocess.Popen(
        [str(word) for word in words], cwd=flows.parent, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout
        for line in run.stdout:
            if found := re.search(r" finished at ([\d.e+]+)", line):
                last, ended = max(last, float(found[1]) / 1e6), ended + 1
            elif line.startswith("New: "):
                packets = dict(re.findall(r"(\w+): (\d+)", line))
    with flows.open(encoding="utf-8") as lines:
        asked = sum("->" in line for line in lines)
    if run.returncode or ended != asked:
        sys.exit(f"{program.name}: exit code {run.returncode}, {ended} of {asked} flows ended")
    return {"flows": ended, "seconds": last, "packets": packets["New"], "sent_again": packets["Rtx"]}


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    names = ["network", "bytes", "ranks", "what", "flows", "packets", "sent_again"]
    told = [[*(row[name] for name in names), f"{1e3 * row['seconds']:.2f}", f"{row['seconds'] / row['bound']:.2f}",
             f"{row['predicted'] / row['bound']:.2f}" if row["predicted"] else ""] for row in rows]  # fmt: skip
    return [
        "# All-to-alls packet by packet",
        f"{provenance(heading)}, csg-htsim (NDP).\n"
        f"Links of hosts {GBIT} Gbit/s, 1 µs a link, packets of {MTU} bytes. The bound is that of the busiest channel.",
        cells([*names, "ms", "over the bound", "predicted over the bound"], told),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for option, default in (("leaves", 8), ("hosts", 8), ("cables", 2), ("bytes", 65536)):
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--only", default="", help="what has this word in its name")
    options, results = begin(parser, "packets", summary)
    ranks = options.leaves * options.hosts
    short = f"fat-tree:{options.leaves}x{options.hosts}x1x{options.cables}"
    with tempfile.TemporaryDirectory() as work:
        network = Path(work) / "network.topo"
        network.write_text(topology(options.leaves, options.hosts, options.cables), encoding="utf-8")

        def run(what: str, order: str, flows: Path, said: Row) -> None:
            row = {"network": short, "bytes": options.bytes, "ranks": order, "what": what}
            row |= simulated(options.folder / "htsim_ndp", flows, network, ranks, 20 * bound)
            results.add(row | {"bound": bound, "predicted": said.get("predicted_seconds")})
            print(results.rows[-1], file=sys.stderr, flush=True)

        for window in (1, 4, 16):
            flows = Path(work) / f"hocket-{window}.cm"
            said = planned(f"{short}@{GBIT}Gbit,1us", options.bytes, window, flows)
            bound = said["bound_seconds"]
            if options.only in f"Hocket, window {window}":
                run(f"Hocket, window {window}", "any", flows, said)
        for name, rounds in NATIVE.items():
            for order in ("in order", "at random"):
                node = list(range(ranks))
                if order == "at random":
                    Random(1).shuffle(node)
                flows = Path(work) / "native.cm"
                flows.write_text("".join(matrix(rounds, ranks, options.bytes, node)), encoding="utf-8")
                if options.only in f"{name} {order}":
                    run(name, order, flows, {})


if __name__ == "__main__":
    main()
