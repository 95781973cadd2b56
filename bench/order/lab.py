"""Native calls on the emulated cluster with ranks at random and as `hocket order` puts them (needs root).

    python bench/order/lab.py --mpi mpich --mpi PATH/mpirun [--network chain:8,8,8,8] [--shuffle 1]
        [--calls allgather:262144 allreduce:1048576 halo:262144]

Nothing of Hocket is loaded into the programs. Jobs take turns: given, ordered, ordered, given, … A halo is of a
periodic grid of ranks and is ordered for its own messages; the others for all-gather, all-reduce and all-to-all, as
`hocket order` does by itself. Of a reordered-halo ranks are at random in both; HOCKET_REORDER=1 puts them in order. Raw
numbers and medians go to bench/results/order-lab.{csv,md}.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import tempfile
from pathlib import Path

from hocket import _core
from hocket.launch.mpi import Mpi
from hocket.network import NetworkDescription, read_network_description
from hocket.order import DEFAULT_CALLS, Wanted, order_job, parse_wanted
from hocket.order.job import gain_of, job_of

sys.path.insert(0, str(Path(__file__).parents[1] / "lab"))
sys.path.insert(0, str(Path(__file__).parents[1]))
from run import PROGRAM, emulated, environments_of, lab_options, lab_up, settings_of
from run import job as job_of_lab

from mpi_jobs import compiled, mpis
from results_file import Block, Row, alternating, begin, cells, grouped, spread

Places = dict[str, tuple[list[tuple[str, int]], dict[str, str]]]


def grid_of(ranks: int) -> tuple[int, int]:
    """Rows and columns as equal as can be."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return rows, ranks // rows


def halo(ranks: int, bytes: int) -> Wanted:
    """Messages of the halo of collective_times.c: to each neighbour once."""
    rows, columns = grid_of(ranks)
    sizes: dict[tuple[int, int], int] = {}
    for rank in range(ranks):
        row, column = divmod(rank, columns)
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            to = (row + down) % rows * columns + (column + right) % columns
            if to != rank:
                sizes[rank, to] = bytes
    src, dst = zip(*sizes, strict=True)
    demand = _core.Demand.irregular(ranks, list(src), list(dst), list(sizes.values()))
    return Wanted("halo", f"{rows} x {columns}", _core.order.demand_call(demand, 1.0), demand, bytes)


def measure(
    arguments: argparse.Namespace, description: NetworkDescription, mpi: Mpi, program: Path, shuffle: int
) -> list[Row]:
    """A row per repetition of every call in both orders."""
    rows: list[Row] = []
    network = description.build()
    given = [(node.name, node.ranks) for node in description.nodes if node.is_host]
    random.Random(shuffle).shuffle(given)
    job = job_of(network, given)
    with lab_up(description, arguments) as lab:
        for call in arguments.calls:
            name, _, size = call.partition(":")
            if name.endswith("halo"):
                wanted = [halo(network.ranks, int(size))]
            else:
                wanted = parse_wanted(",".join(DEFAULT_CALLS), network.ranks, int(size))
            found = order_job(job, wanted, whole_hosts=True)
            places: Places = {"given": (given, {}), "ordered": (found.blocks, {})}
            if name == "reordered-halo":
                env = environments_of(arguments, mpi, network)["scheduled"]
                switches = zip(places, "01", strict=True)
                places = {order: (given, env | {"HOCKET_REORDER": switch}) for order, switch in switches}
            rings = (one for one in wanted if one.name == "ring")
            own = next((one for one in rings if one.collective.replace("-", "") == name), wanted[0])
            predicted = gain_of(job.network, found.given, found.place, [own]) ** (1 / own.call.weight)
            command = [program, name.removeprefix("reordered-"), f"{size}:{arguments.repetitions}"]
            for number in range(arguments.jobs):
                for order in alternating(places, number):
                    hosts, env = places[order]
                    for _, seconds in job_of_lab(lab, mpi, command, arguments, hosts=hosts, env=env):
                        row: Row = {"mpi": mpi.family.value, "shuffle": shuffle, "call": name}
                        row |= {"bytes": int(size), "job": number, "order": order, "how": found.how}
                        rows.append(row | {"seconds": seconds, "gain by rates": round(predicted, 3)})
                where = f"{mpi.family.value} {shuffle} {call}"
                print(f"{where}: {number + 1} of {arguments.jobs} pairs", file=sys.stderr)
    return rows


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Medians of both orders."""
    gains = ["times as fast", "of its ring, by rates"]
    reordered = any(row["call"] == "reordered-halo" for row in rows)
    loaded = "HOCKET_REORDER=0 and 1" if reordered else "Nothing of Hocket is loaded"
    told = []
    for key, of in grouped(rows, "mpi", "shuffle", "call", "bytes").items():
        seconds = {name: [row["seconds"] for row in some] for name, some in grouped(of, "order").items()}
        gain = statistics.median(seconds["given"]) / statistics.median(seconds["ordered"])
        shown = [spread([1e3 * s for s in seconds[name]], 0) for name in ("given", "ordered")]
        told.append([*key, *shown, f"{gain:.2f}", f"{of[0]['gain by rates']:.2f}"])
    return [
        *emulated(f"Native calls in both orders, {heading['network']},", heading),
        cells(["MPI", "seed", "call", "bytes", "at random", "ordered", *gains], told),
        f"Milliseconds a call, median (minimum–maximum). {loaded}; every byte is checked.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="chain:8,8,8,8")
    parser.add_argument("--shuffle", type=int, action="append", metavar="SEED", help="of the given order [1]")
    parser.add_argument("--calls", nargs="+", default=["allgather:262144"], metavar="CALL:BYTES")
    parser.add_argument("--jobs", type=int, default=2, help="pairs")
    parser.add_argument("--repetitions", type=int, default=2, help="of a call in a job")
    lab_options(parser, timeout=600)
    arguments, results = begin(parser, "order-lab", summary)
    results.heading |= settings_of(arguments) | {"network": arguments.network}
    description = read_network_description(arguments.network)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(arguments):
            program = compiled(mpi, PROGRAM, Path(work))
            for shuffle in arguments.shuffle or [1]:
                results.add(*measure(arguments, description, mpi, program, shuffle))
    print(results.summarise())


if __name__ == "__main__":
    main()
