"""Errors that one rank can see alone, with Hocket and without: every call, form and error, by one rank or all, before
and after calls of the kind.

    python bench/runtime/local_errors.py [--mpi mpich --mpi PATH/mpirun]

Ways: the library alone; Hocket as it comes; every call scheduled; every call aggregated, two ranks a host. Where the
library has an error for each rank's arguments the cell runs twice: other ranks make their call meanwhile, or when the
errors have come back. Cells are
shared out among as many jobs as this machine's cores carry. Writes bench/results/local-errors.{csv,md}.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi, launch_command
from hocket.network import read_network

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from local_error_cells import (
    CALLS,
    FATAL,
    SENSELESS,
    Job,
    Outcome,
    cell_names,
    differences,
    outcomes,
    with_controls,
)
from mpi_jobs import add_mpi, compiled, mpis
from mpi_programs import run_ranks
from results_file import ROOT, Row, begin, cells, grouped, pairs, provenance
from scheduled_calls import EVERYTHING

PROGRAM: Final = ROOT / "tests" / "runtime" / "programs" / "local_errors.c"
RANKS: Final = 4
JOBS: Final = max(1, len(os.sched_getaffinity(0)) // RANKS)
TWO_LEVEL: Final = {**EVERYTHING, "HOCKET_CANDIDATE": "two-level-order"}
#: Name: network, how calls are chosen, more variables.
WAYS: Final[dict[str, tuple[str, str, Mapping[str, str]]]] = {
    "learn": ("chain:2,2", "learn", {}),
    "forced": ("chain:2,2", "off", EVERYTHING),
    "two_level": ("chain:1,1*2", "off", TWO_LEVEL),
}
PARTS: Final = ("call", "form", "error")


def job(mpi: Mpi, program: Path, env: Mapping[str, str]) -> Job:
    def run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return run_ranks(launch_command(mpi, RANKS, [], env, [str(program), *arguments]), None, 3600)

    return run


def of_all(run: Job, names: Sequence[str], work: Path, alone: Container[str] = ()) -> dict[str, Outcome]:
    def part(number: int) -> dict[str, Outcome]:
        folder = work / str(number)
        folder.mkdir(exist_ok=True)
        return outcomes(run, names[number::JOBS], folder, alone)

    with ThreadPoolExecutor(JOBS) as pool:
        parts = list(pool.map(part, range(JOBS)))
    return {name: outcome for found in parts for name, outcome in found.items()}


def is_senseless(mpi: Mpi, cell: str) -> bool:
    call, _, error, _, _ = cell.split("/")
    return (mpi.family.value, call, error) in SENSELESS


def measured(mpi: Mpi, work: Path) -> Iterator[Row]:
    program = compiled(mpi, PROGRAM, work, "-pthread")
    names = with_controls(cell_names(program))
    native = of_all(job(mpi, program, {}), names, work)
    print(f"{mpi.family.value}: {len(names)} cells without Hocket", flush=True)
    live = [name for name in names if not native[name].ended and not is_senseless(mpi, name)]
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for way, (network, choose, more) in WAYS.items():
        chosen = RuntimeOptions(placement="order", choose=choose)
        env = scheduled_environment(mpi.mpicc, read_network(network), chosen) | dict(more)
        refused = {name for name in live if native[name].refused}
        for alone in (set[str](), refused):
            ran = with_controls(alone) if alone else live
            served = of_all(job(mpi, program, env), ran, work, alone)
            wrong = differences(native, served, way != "learn")
            for name in ran:
                if alone and name not in alone:
                    continue
                label = f"{way} alone" if alone else way
                found[name][label] = wrong.get(name, "")
            print(
                f"{mpi.family.value}, {way}{', alone' if alone else ''}: {len(wrong)} of {len(served)} differ",
                *(f"  {name}: {how}" for name, how in wrong.items()),
                sep="\n",
                flush=True,
            )
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(name.rsplit("/", 2)[0], []).append(name)
    for kind, of_kind in kinds.items():
        told = [
            f"{name[len(kind) + 1 :]} {way}: {how}"
            for name in of_kind
            for way, how in found[name].items()
            if how
        ]
        yield {
            "mpi": mpi.family.value,
            **dict(zip(PARTS, kind.split("/"), strict=True)),
            "native": ";".join(f"{name[len(kind) + 1 :]}={native[name].told}" for name in of_kind),
            "ways": sum(len(found[name]) for name in of_kind),
            "otherwise": "; ".join(told),
        }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    lines = [
        "# Errors that one rank can see alone",
        "",
        f"{provenance(heading)}.",
        f"{RANKS} ranks on this machine, messages of {CALLS[2]} ints, {CALLS[0]} calls before those of *after*,",
        f"{CALLS[1]} calls after each error. A cell is a call, its form, what is wrong, who gets it wrong (rank 0;",
        "rank 1, the root; all) and when. Ways: Hocket as it comes, every call scheduled, every call "
        "aggregated; and the",
        "three again, where all errors are found at once, with no other rank making a call before they have come back.",
        "A cell is as native if each rank hears of the same class of error, every element of the right calls that",
        "follow is right, and these calls are scheduled as they are where nothing was wrong.",
        "",
        *cells(
            [
                "MPI",
                "cells",
                "which the ranks do not survive without Hocket",
                "others, in all ways",
                "as native",
            ],
            (
                [
                    mpi,
                    f"{sum(len(pairs(row['native'])) for row in of_mpi):,}",
                    f"{sum(len(fatal(row)) for row in of_mpi):,}",
                    f"{sum(row['ways'] for row in of_mpi):,}",
                    f"{sum(row['ways'] - differing(row) for row in of_mpi):,}",
                ]
                for mpi, of_mpi in grouped(rows, "mpi").items()
            ),
        ),
        "",
        "## Other than native",
        "",
    ]
    others = [row for row in rows if row["otherwise"]]
    lines += [
        f"- {row['mpi']}, {'/'.join(row[part] for part in PARTS)}: {row['otherwise']}" for row in others
    ]
    if not others:
        lines.append("None.")
    lines += [
        "",
        "## Left out",
        "",
        "Some forms of these calls are carried out with what is no count, type or buffer. No schedule can do",
    ]
    lines += ["that, and ranks that find no error wait for the one with it.", ""]
    lines += [f"- {mpi}: {error} of {call}" for mpi, call, error in sorted(SENSELESS)]
    lines += ["", "## What the ranks do not survive without Hocket"]
    for mpi, of_mpi in grouped(rows, "mpi").items():
        lines += ["", f"{mpi}:", ""]
        for error, with_error in grouped([row for row in of_mpi if fatal(row)], "error").items():
            how = sorted({end for row in with_error for end in fatal(row)})
            lines.append(f"- {error}: {', '.join(grouped(with_error, 'call'))} ({', '.join(how)})")
    return lines


def fatal(row: Row) -> list[str]:
    return [told for told in pairs(row["native"]).values() if told in FATAL]


def differing(row: Row) -> int:
    return len(row["otherwise"].split("; ")) if row["otherwise"] else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    options, results = begin(parser, "local-errors", summary)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(options):
            results.add(*measured(mpi, Path(work)))
    print(results.summarise())


if __name__ == "__main__":
    main()
