"""Measures MPICH's collectives with more ranks than cores, within a host, as `mpiexec` and as `hocket run`
start them.

Run by `make bench NAME=crowded`; writes bench/results/crowded.{csv,md}.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from hocket.launch.mpi import GIVE_WAY, Mpi, find_mpi
from hocket.launch.runtime.wrapper import read_wrapper
from hocket.measure.memory.calibrate import cores

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, run_job
from results_file import Row, begin, provenance, table, values

RANKS: Final = (4, 8)
DOUBLES: Final = (1, 1000)
ROUNDS: Final = 20
REPEATS: Final = 3
AS_THE_LIBRARY: Final = dict.fromkeys(GIVE_WAY, "auto")


def seconds_of(mpi: Mpi, program: Path, ranks: int, doubles: int, env: dict[str, str]) -> dict[str, float]:
    """Seconds of one run, by call."""
    lines = run_job(mpi, ranks, env, [program, doubles, ROUNDS], timeout=300).stdout.splitlines()
    return {name: float(seconds) for name, seconds in map(str.split, lines)}


def summary(heading: Row, rows: list[Row]) -> list[str]:
    for row in rows:
        bare, ours = values(row["library"]), values(row["gives_way"])
        row["ratio"] = median(a / b for a, b in zip(bare, ours, strict=True))
        row["library_us"], row["gives_way_us"] = 1e6 * median(bare), 1e6 * median(ours)
    return [
        "# More ranks than cores",
        "",
        f"{provenance(heading)}. {heading['mpi']}, {heading['cores']} cores, ranks of one host, nothing scheduled.",
        "Without Hocket's settings ranks that wait in a barrier, broadcast, reduce or all-reduce keep their core until",
        "the system takes it. Microseconds a call, medians; ratio: median of the ratios of runs in turn. All-to-alls",
        "are not meant by the settings.",
        "",
        *table(
            "call | ranks | doubles | library | as hocket run starts it | ratio",
            "{call} | {ranks} | {doubles:,} | {library_us:,.0f} | {gives_way_us:,.0f} | {ratio:.1f}",
            rows,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    options, results = begin(parser, "crowded", summary)
    del options
    mpi = find_mpi("mpich")
    results.heading |= {"mpi": read_wrapper(mpi.mpicc).version, "cores": cores(), "rounds": ROUNDS}
    with tempfile.TemporaryDirectory() as work:
        program = compiled(mpi, Path(__file__).with_suffix(".c"), Path(work))
        for ranks in RANKS:
            for doubles in DOUBLES:
                runs: list[tuple[dict[str, float], dict[str, float]]] = [
                    (
                        seconds_of(mpi, program, ranks, doubles, AS_THE_LIBRARY),
                        seconds_of(mpi, program, ranks, doubles, {}),
                    )
                    for _ in range(REPEATS)
                ]
                for call in runs[0][0]:
                    bare, ours = ([run[side][call] for run in runs] for side in (0, 1))
                    results.add(
                        {"call": call, "ranks": ranks, "doubles": doubles, "library": bare, "gives_way": ours}
                    )


if __name__ == "__main__":
    main()
