"""Keys of 32 and 64 bits in C, without a function of the program: dense ones beside random ones, first calls beside
later ones, memory, the model's error, and numpy on one core: `make bench NAME=keys`.

Writes bench/results/sort-keys.{csv,md}. Nothing else should run.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

from hocket.launch.mpi import find_mpi
from hocket.launch.runtime import find_sort

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, run_job
from results_file import Row, begin, provenance, table, values

SOURCE: Final = Path(__file__).with_suffix(".c")
DISTRIBUTIONS: Final = ("uniform", "sorted", "reversed", "strided", "zipf")
NUMPY: Final = """
import json, sys, time, numpy as np
kind, n = sys.argv[1], int(sys.argv[2])
source = np.random.default_rng(1).integers(0, 2 ** int(kind[1:]), n, f"u{int(kind[1:]) // 8}")
taken = []
for _ in range(6):
    keys = source.copy()
    begin = time.perf_counter()
    keys.sort()
    taken.append(time.perf_counter() - begin)
print(json.dumps(taken[1:]))
"""
LIMIT: Final = 200  # seconds, of one job


def rows_of(said: str) -> Iterator[Row]:
    for line in said.splitlines():
        steps = re.findall(r"step:([a-z ]+)=([0-9.]+)/([0-9.]+)", line)
        name, *rest = line.partition(" memory=")[0].split()
        memory, method = re.findall(r"memory=([-0-9.]+) method=(\d)", line)[0]
        yield {"keys": name, "seconds": [float(s) for s in rest], "memory": float(memory),
               "method": {"1": "radix", "2": "sample"}[method],
               "steps": ";".join(f"{step}={took}/{predicted}" for step, took, predicted in steps)}  # fmt: skip


def summary(heading: Row, rows: list[Row]) -> list[str]:
    lines = [
        "# Keys alone, in C",
        "",
        f"{provenance(heading)}, {heading['mpi']}. {heading['elements']:.0f} keys of all ranks; medians of "
        f"{heading['rounds']} rounds after the first call. Memory: beside the input, over its bytes.",
        "",
    ]
    one_core = {
        row["type"]: median(values(row["seconds"])) for row in rows if row["keys"] == "numpy, one core"
    }
    uniform = {
        (row["type"], row["ranks"]): median(values(row["seconds"])[1:])
        for row in rows
        if row["keys"] == "uniform"
    }

    def told(row: Row) -> str:
        first, *later = values(row["seconds"])
        warm = median(later)
        beside = uniform[row["type"], row["ranks"]]
        return " | ".join(
            (row["type"], str(row["ranks"]), row["keys"], row["method"], f"{1e3 * warm:.1f}", f"{warm / beside:.2f}",
             f"{warm / one_core[row['type']]:.2f}", f"{first / warm:.2f}", f"{row['memory']:.2f}")
        )  # fmt: skip

    sorts = [row for row in rows if row["method"] is not None]
    head = "type | ranks | keys | sort | ms | / uniform | / numpy on one core | first call / later | memory"
    lines += table(head, told, sorts)
    lines += [
        "",
        "numpy on one core: " + ", ".join(f"{k} {1e3 * s:.1f} ms" for k, s in one_core.items()) + ".",
    ]
    lines += ["", "## Steps against the model", "", "Those of at least 5 % of their sort.", ""]
    steps: list[dict[str, Any]] = []
    for row in sorts:
        each = [
            (name, *map(float, times.split("/")))
            for name, times in (pair.split("=") for pair in row["steps"].split(";"))
        ]
        all_of_it = sum(took for _, took, _ in each)
        steps += [
            row
            | {"step": name, "took": 1e3 * took, "predicted": 1e3 * predicted, "error": predicted / took - 1}
            for name, took, predicted in each
            if took >= 0.05 * all_of_it
        ]
    lines += table(
        "type | ranks | keys | step | ms | predicted | error",
        "{type} | {ranks} | {keys} | {step} | {took:.2f} | {predicted:.2f} | {error:+.0%}",
        steps,
    )
    within = sum(abs(step["error"]) <= 0.25 for step in steps)
    return [*lines, "", f"Within 25 %: {within} of {len(steps)}."]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--elements", type=float, default=2**24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4])
    options, results = begin(parser, "sort-keys", summary)
    mpi = find_mpi(options.mpi)
    find_sort(mpi.mpicc)
    results.heading |= {"mpi": mpi.family.value, "rounds": options.rounds, "elements": options.elements}
    ask = [sys.executable, "-m", "hocket", "info", "--sort", "--mpi", mpi.mpiexec]
    flags = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split()
    n = int(options.elements)
    with tempfile.TemporaryDirectory() as work:
        program = compiled(mpi, SOURCE, Path(work), *flags)
        for kind in ("u32", "u64"):
            one_core = subprocess.run(
                [sys.executable, "-c", NUMPY, kind, str(n)], capture_output=True, text=True, check=True
            )
            results.add({"type": kind, "ranks": 1, "keys": "numpy, one core", "method": None,
                         "seconds": json.loads(one_core.stdout)})  # fmt: skip
            for ranks in options.ranks:
                done = run_job(mpi, ranks, {}, [program, kind, n, options.rounds + 1, *DISTRIBUTIONS], LIMIT)
                results.add(*({"type": kind, "ranks": ranks} | row for row in rows_of(done.stdout)))
    print(results.summarise())


if __name__ == "__main__":
    main()
