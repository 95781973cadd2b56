"""Measures whole jobs with every algorithm that the MPI library has, beside its default and Hocket's.

    python bench/best_native.py --mpi mpich [--place shared] [--place NETWORK/OPTION=VALUE/…]
        [--cell alltoall:32768] [--calls 24] [--jobs 1] [--order]

Places and cells are those of bench/choose/overhead.py. The library itself lists its algorithms: MPICH by ``mpivars``,
Open MPI by ``ompi_info``; each is forced by the library's variable, Open MPI's trees and chains also with segments.
Nothing is known from before to Hocket, and it learns within the job. An algorithm that takes more than twice the
default's time is stopped. --order: also the default and the best algorithm with ranks as ``hocket order`` puts them.
Labs need root.
Raw totals go to bench/results/best-native.{csv,md}, or another --output; --append keeps the other cells of the file.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent / "choose"))
from jobs import CELL, Job, JobError, add_cells, measure_cells

from hocket.launch.mpi import Mpi, MpiFamily
from results_file import Block, Row, alternating, begin, cells, grouped, provenance

CALLS = {  # as the libraries name the call of a cell
    "changing": "alltoall",
    **dict.fromkeys(("equal", "dense", "fresh", "skewed", "sparse"), "alltoallv"),
    "reduce_scatter": "reduce_scatter_block",
}
# They choose again, or serve other communicators.
NO_ALGORITHMS = {"auto", "ignore", "nb", "smp", "ccl", "two_proc"}
SEGMENTS = (0, 32768, 131072)  # bytes; 0: none
SEGMENTED = {"chain", "pipeline", "binary_tree", "split_binary_tree", "binomial", "knomial", "segmented_ring"}
Environment = dict[str, str]


def algorithms(mpi: Mpi, collective: str) -> dict[str, Environment]:
    """Variables that force each algorithm of the library."""
    call = CALLS.get(collective, collective)
    folder = Path(mpi.mpiexec).parent
    if mpi.family is MpiFamily.MPICH:
        variable = f"MPIR_CVAR_{call.upper()}_INTRA_ALGORITHM"
        said = subprocess.run([folder / "mpivars"], capture_output=True, text=True, check=True).stdout
        lines = re.search(rf"^\t{variable} *=.*\n((?:(?!\t).*\n)*)", said, re.MULTILINE)
        names = re.findall(r"^(\w+) +- ", lines[1], re.MULTILINE) if lines else []
        forced = {name: {variable: name, "MPIR_CVAR_DEVICE_COLLECTIVES": "none"} for name in names}
    else:
        command = [folder / "ompi_info", "--param", "coll", "tuned", "-l", "9", "--parsable"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        prefix = f"OMPI_MCA_coll_tuned_{call}_algorithm"
        forced = {}
        for name in re.findall(rf":coll_tuned_{call}_algorithm:enumerator:value:\d+:(\w+)", said):
            for segment in SEGMENTS if name in SEGMENTED else (0,):
                forced[f"{name}/{segment}" if segment else name] = {
                    "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
                    prefix: name,
                    **({f"{prefix}_segmentsize": str(segment)} if segment else {}),
                }
    return {name: env for name, env in forced.items() if name.partition("/")[0] not in NO_ALGORITHMS}


def measure(job: Job, cell: Row, options: argparse.Namespace) -> Iterator[Row]:
    """Rows of a cell, each as soon as it is there: seconds of the default, of Hocket and of each algorithm, in turn."""
    candidates: dict[str, Environment] = {"default": {}, "hocket": {}, **algorithms(job.mpi, job.what[0])}
    took: dict[str, list[float]] = {}

    def run(job: Job, name: str, environment: Environment, limit: float) -> Row:
        with tempfile.TemporaryDirectory(prefix="hocket-bench-") as kept:
            own = {"HOCKET_CHOICES": kept} if name == "hocket" else environment
            total = None  # the algorithm does not serve the case, or takes too long
            with contextlib.suppress(JobError, subprocess.TimeoutExpired):
                total = job.run(name == "hocket", options.calls, own, limit).total
        took.setdefault(name, []).extend([] if total is None else [total])
        print(f"  {name}: {total}", file=sys.stderr, flush=True)
        return cell | {"calls": options.calls, "algorithm": name, "seconds": total}

    for turn in range(options.jobs):
        for name in ["default", *alternating(list(candidates)[1:], turn)]:
            if turn == 0 or took[name]:
                limit = 2 * median(took["default"]) + 10 if took.get("default") else options.timeout
                yield run(job, name, candidates[name], min(limit, options.timeout))
    native = {name: median(of) for name, of in took.items() if of and name != "hocket"}
    if options.order and job.place.options and native:
        best = min(native, key=native.__getitem__)
        ordered = replace(job, place=replace(job.place, options=(*job.place.options, "order")))
        for name in dict.fromkeys(("default", best)):
            yield run(ordered, f"{name}, ordered", candidates[name], options.timeout)


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    told, every = [], []
    for key, of in grouped(sorted(rows, key=itemgetter(*CELL)), *CELL, "calls").items():
        jobs = grouped([row for row in of if row["seconds"] is not None], "algorithm")
        took = {name: median(row["seconds"] for row in rows) for name, rows in jobs.items()}
        if not {"default", "hocket"} <= set(took):
            continue  # the cell is under way
        ordered = {name: one for name, one in took.items() if name.endswith(", ordered")}
        native = {name: one for name, one in took.items() if name != "hocket" and name not in ordered}
        best = min(native, key=native.__getitem__)
        ours, default = took["hocket"], native["default"]
        line = [*key, f"{default:.3g}", f"{best}, {native[best]:.3g}"]
        line.append(f"{min(ordered, key=ordered.__getitem__)} {min(ordered.values()):.3g}" if ordered else "")
        told.append([*line, f"{ours:.3g}", f"{ours / default:.2f}", f"{ours / native[best]:.2f}"])
        texts = [f"{name} {one:.3g}" for name, one in sorted(took.items(), key=itemgetter(1))]
        stopped = [row["algorithm"] for row in of if row["seconds"] is None]
        every.append([*key, ", ".join(texts), ", ".join(stopped)])
    head = ["place", "MPI", "collective", "bytes", "calls"]
    return [
        "# Beside the best algorithm that the library has",
        f"{provenance(heading)}.",
        cells(
            [*head, "default, s", "best native, s", "ranks by `hocket order`, s", "Hocket, s", "over default",
             "over the best"],
            told,
        ),
        "Seconds of all calls of a job, the median of its jobs. Hocket: default settings, nothing known from before.\n"
        "The best native is the fastest of all below, so that chance is on its side.",
        "## All algorithms",
        cells([*head, "seconds", "stopped after twice the default's time, or failed"], every),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_cells(parser)
    parser.add_argument("--calls", type=int, default=24, help="in a job")
    parser.add_argument("--jobs", type=int, default=1, help="of each candidate")
    parser.add_argument(
        "--order", action="store_true", help="also the best algorithm, ranks in another order"
    )
    options, results = begin(parser, "best-native", summary)
    measure_cells(options, results, lambda job, cell: measure(job, cell, options))


if __name__ == "__main__":
    main()
