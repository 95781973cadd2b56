"""Tells whether the links or the machine's processors limit a lab: a collective at several rates (needs
root).

    python bench/lab/rates.py [--collective all-reduce:1048576] [--rates 2 10 50] [--mpi mpich] [--jobs 1] [--native]

All hosts of the lab share the processors. What they do for a call does not depend on the rate of the links: where time
over the bound falls with the rate, the processors were the limit. Beside it, how busy they were in the last two
thirds of the job. Ranks in order on topology (c). Raw numbers and medians go to bench/results/lab-rates.{csv,md}.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
from pathlib import Path

import psutil
from run import PROGRAM, TOPOLOGIES, bound, emulated, environments_of, lab_options, settings_of

from hocket.lab import Lab, LabOptions
from hocket.launch.mpi import Mpi
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, mpis
from results_file import Results, Row, alternating, begin, cells, grouped, spread

SAMPLE = 0.1  # seconds


class Busy:
    """The share of all processors' time that was in use, while the block runs."""

    def __enter__(self) -> Busy:
        self._samples: list[float] = []
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look)
        psutil.cpu_percent()
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watch.join()

    def _look(self) -> None:
        while not self._over.wait(SAMPLE):
            self._samples.append(psutil.cpu_percent() / 100)

    def share(self) -> float:
        """Median share of busy processors in the last two thirds, when all ranks have started."""
        return statistics.median(self._samples[len(self._samples) // 3 :] or [0.0])


def measure(mpi: Mpi, asked: list[str], arguments: argparse.Namespace, work: Path, results: Results) -> None:
    description = read_network_description(str(TOPOLOGIES["c"]))
    network = description.build()
    program = compiled(mpi, PROGRAM, work)
    environments = environments_of(arguments, mpi, network)
    candidates = [name for name in environments if arguments.native or name != "native"]
    for rate in arguments.rates:
        options = LabOptions(rate * 1e6 / 8, arguments.buffer, arguments.cc, 1500)
        with Lab.up(description, options) as lab:
            for number in range(arguments.jobs):
                for what in asked:
                    collective, size = what.split(":")
                    command = [str(program), collective.replace("-", ""), f"{size}:1"]
                    for name in alternating(candidates, number):
                        with Busy() as busy:
                            done = lab.run(
                                command,
                                mpi=mpi,
                                env=environments[name],
                                timeout=arguments.timeout,
                                capture=True,
                            )
                        if done.exit_code not in (0, 124):  # 124: it took too long, and no row
                            sys.exit(f"{what}, {rate} Mbit/s: exit code {done.exit_code}\n{done.output}")
                        for line in map(str.split, done.output.splitlines()):
                            if len(line) == 2 and line[0].isdigit():
                                row = {"mpi": mpi.family.value, "collective": collective, "bytes": int(size)}
                                row |= {"rate": rate, "candidate": name, "seconds": float(line[1])}
                                row |= {"bound": bound(network, collective, int(size), options.rate)}
                                results.add(row | {"busy": round(busy.share(), 2)})
                                print(f"{what}, {rate:g} Mbit/s, {name}: {line[1]} s", file=sys.stderr)


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = []
    for key, of in grouped(rows, "mpi", "collective", "bytes", "rate", "candidate").items():
        ratios, busy = [row["seconds"] / row["bound"] for row in of], [row["busy"] for row in of]
        milliseconds = spread([1e3 * row["seconds"] for row in of], 0)
        told.append([*key, f"{1e3 * of[0]['bound']:.0f}", milliseconds, spread(ratios), spread(busy, 2)])
    columns = [
        "MPI",
        "collective",
        "bytes",
        "Mbit/s",
        "candidate",
        "bound",
        "time",
        "time / bound",
        "processors busy",
    ]
    return [
        *emulated("Wires or processors: several rates", heading),
        "32 hosts on topology (c), ranks in order, one process each, on the machine's cores. Milliseconds; median",
        "(least–most). The bound is without packet headers (5 %).",
        "",
        *cells(columns, told),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    lab_options(parser, timeout=120)
    parser.add_argument(
        "--collective", action="append", metavar="NAME:BYTES", help="default: all-reduce:1048576"
    )
    parser.add_argument("--rates", type=float, nargs="+", default=[2, 10, 50], help="Mbit/s")
    parser.add_argument("--jobs", type=int, default=1, help="of each candidate")
    parser.add_argument("--native", action="store_true", help="the MPI library's own calls, too")
    arguments, results = begin(parser, "lab-rates", summary)
    results.heading |= settings_of(arguments) | {"rate": None}
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(arguments):
            measure(mpi, arguments.collective or ["all-reduce:1048576"], arguments, Path(work), results)
    print(results.summarise())


if __name__ == "__main__":
    main()
