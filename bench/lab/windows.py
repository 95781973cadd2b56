"""Compares the number of messages in flight per rank in an all-gather (needs root).

    python bench/lab/windows.py [--mpi mpich --mpi PATH/mpirun] [--windows 2 3 8] [--rounds 2]

Jobs with different windows take turns, ranks at random places on topology (c). Raw numbers and medians go to
bench/results/lab-gather-window.{csv,md}.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from run import PROGRAM, TOPOLOGIES, emulated, environments_of, lab_options, lab_up, settings_of

from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, mpis
from results_file import Row, begin, cells, grouped, spread, values

SIZES = ["1024:9", "4096:7", "16384:5", "65536:3", "262144:1"]


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = []
    for (mpi, size), of in grouped(sorted(rows, key=lambda row: row["mpi"]), "mpi", "bytes").items():
        ratios = [values(row["time_over_bound"]) for row in of]
        told.append([mpi, size, *map(spread, ratios), len(ratios[0])])
    windows = [f"window {window}" for window in grouped(rows, "window")]
    return [
        *emulated("How many messages of a rank may be under way in an all-gather", heading),
        f"32 hosts on topology (c), ranks placed at random (seed {heading['shuffle']}). Jobs with different",
        "windows take turns. Median (minimum–maximum) of time / bound.",
        "",
        *cells(["MPI", "bytes", *windows, "repetitions"], told),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    lab_options(parser, timeout=120)
    parser.add_argument("--windows", type=int, nargs="+", default=[2, 3, 8])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--shuffle", type=int, default=1)
    arguments, results = begin(parser, "lab-gather-window", summary)
    results.heading |= settings_of(arguments) | {"shuffle": arguments.shuffle}
    description = read_network_description(str(TOPOLOGIES["c"]))
    network = description.build()
    for mpi in mpis(arguments):
        ratios: dict[tuple[int, int], list[float]] = {}
        with (
            tempfile.TemporaryDirectory() as work,
            lab_up(description, arguments) as lab,
        ):
            program = compiled(mpi, PROGRAM, Path(work))
            for _ in range(arguments.rounds):
                for window in arguments.windows:
                    env = environments_of(arguments, mpi, network, f"window:{window}")["scheduled"]
                    result = lab.run(
                        [str(program), "allgather", *SIZES],
                        mpi=mpi,
                        env=env,
                        timeout=arguments.timeout,
                        capture=True,
                        shuffle=arguments.shuffle,
                    )
                    for words in map(str.split, result.output.splitlines()):
                        if len(words) == 2 and words[0].isdigit():
                            size = int(words[0])
                            bound = (network.ranks - 1) * size / (arguments.rate * 1e6 / 8)
                            ratios.setdefault((window, size), []).append(round(float(words[1]) / bound, 4))
        results.add(
            *(
                {"mpi": mpi.family.value, "bytes": size, "window": window, "time_over_bound": times}
                for (window, size), times in ratios.items()
            )
        )
    print(results.summarise())


if __name__ == "__main__":
    main()
