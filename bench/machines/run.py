"""Writes bench/results/public-machines.{csv,md}: every prediction beside its measurement, and Hocket's own schedules.

    python bench/machines/run.py --times FILE.csv --hosts FILE.csv [--output FILE.csv] [--json]

--json prints the errors as one JSON object, and writes nothing. Run by `make bench NAME=public-machines ARGS="--times …
--hosts …"`. Everything is computed, in a minute.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from cells import Cell, Job, read_cells
from described import machine_of
from fit import CELLS
from predict import Prediction, Predictor, best_among_two, predictions, report

import hocket
from hocket.errors import HocketError
from model import Costs, Fabric, Habits, Phase, Program, seconds
from results_file import Block, Row, begin, cells, grouped, provenance

SOURCE: Final = (
    "Times: PICO's results, condensed (HLC-Lab/pico, MIT licence, © 2025 Daniele De Sensi and Saverio Pasqualoni; "
    "arXiv 2508.16809)"
)
LARGE: Final = 1 << 20  # bytes from which schedules of ours are compared
BOUND: Final = 0.35
# Name of the collective in the table: name here, and whether the size that is told is that of a block or of all.
COLLECTIVES: Final = {
    "allgather": ("all-gather", True),
    "alltoall": ("all-to-all", True),
    "reduce_scatter": ("reduce-scatter", True),
    "allreduce": ("all-reduce", False),
    "bcast": ("broadcast", False),
}
MOST_RANKS: Final = 512  # explicit schedules of more take minutes


def cell_row(one: Prediction) -> Row:
    cell = one.cell
    return {
        "system": cell.job.system,
        "job": cell.job.name,
        "nodes": "x".join(map(str, cell.job.shape)) + " nodes",
        "ranks_per_node": cell.job.ranks_per_node,
        "collective": cell.collective,
        "algorithm": cell.algorithm,
        "bytes": cell.bytes,
        "measured_us": round(cell.seconds * 1e6, 1),
        "predicted_us": None if one.seconds is None else round(one.seconds * 1e6, 1),
        "use": "fitted" if one.fitted else "not modelled" if one.seconds is None else "blind",
        "reason": one.reason or None,
    }


def schedule_seconds(
    job: Job, collective: str, bytes: int, fabric: Fabric, costs: Costs, habits: Habits
) -> tuple[str, float] | None:
    """The schedule's algorithm and its seconds; None where Hocket has none for this exchange, or the job is too
    large."""
    if collective not in COLLECTIVES or job.ranks > MOST_RANKS or job.ranks < 2 or job.ranks_per_node > 1:
        return None
    name, by_block = COLLECTIVES[collective]
    size = bytes // job.ranks if by_block else bytes
    network = hocket.Network._of_core(fabric.network, "job")
    try:
        plan = hocket.plan(network, name, bytes=size, alpha=costs.rendezvous)
    except HocketError:
        return None
    return plan.algorithm, seconds(_program(plan, name, bytes, fabric), bytes, fabric, costs, habits)


def _program(plan: hocket.Plan, name: str, bytes: int, fabric: Fabric) -> Program:
    """Phases of the plan, one after the other, each with the token that releases the next. Ranks of the plan are
    hosts of the network in its order."""
    place = np.empty(fabric.ranks, np.int64)
    place[fabric.core_rank] = np.arange(fabric.ranks)
    moved = plan.transfers
    order = np.argsort(moved["phase"], kind="stable")
    moved = moved[order]
    starts = np.flatnonzero(np.r_[True, np.diff(moved["phase"]) > 0])
    half = len(starts) // 2 if name == "all-reduce" else len(starts) if name == "reduce-scatter" else 0
    phases = [Phase(copied=bytes / (1 if half else fabric.ranks))]
    ports = 1
    for at, part in enumerate(np.split(moved, starts[1:])):
        ends = part["src"].astype(np.int64) * fabric.ranks + part["dst"]
        pairs, which = np.unique(ends, return_inverse=True)
        sums = np.bincount(which, part["length"].astype(float))
        src, dst = place[pairs // fabric.ranks], place[pairs % fabric.ranks]
        sent = int(max(np.bincount(src).max(), np.bincount(dst).max()))
        arrived = np.bincount(dst, sums).max() if at < half else 0.0
        phases.append(Phase(src, dst, float(sums.max()), posts=sent, combined=float(arrived)))
        phases.append(Phase(src, dst, 8))
        ports = max(ports, sent)
    return replace(Program(phases), ports=min(ports, fabric.interfaces))


def our_rows(found: Sequence[Prediction], predictor: Predictor) -> Iterator[Row]:
    """Where there is a schedule: its predicted time, beside the best time that was measured there."""
    best: dict[tuple[Job, str, int], Cell] = {}
    for one in found:
        cell = one.cell
        key = cell.job, cell.collective, cell.bytes
        if cell.seconds and cell.bytes >= LARGE and (key not in best or cell.seconds < best[key].seconds):
            best[key] = cell
    for (job, collective, size), cell in best.items():
        machine = machine_of(job.system)
        costs = predictor.costs[job.system][0]
        made = schedule_seconds(job, collective, size, predictor.fabric(machine, job), costs, machine.habits)
        if made is not None:
            row = cell_row(Prediction(cell, made[1]))
            yield row | {"algorithm": f"hocket {made[0]}", "use": "ours", "reason": f"best: {cell.algorithm}"}


def ratios(rows: Sequence[Row]) -> list[float]:
    return [row["measured_us"] / row["predicted_us"] for row in rows]


def figures(rows: Sequence[Row]) -> list[str]:
    found = [abs(row["predicted_us"] - row["measured_us"]) / row["measured_us"] for row in rows]
    within = sum(error <= BOUND for error in found) / len(found)
    return [f"{len(found)}", f"{median(found):.1%}", f"{np.percentile(found, 90):.0%}", f"{within:.1%}"]


def measured_again(rows: Sequence[Row]) -> tuple[int, list[float]]:
    """Number of cells that several runs measured, and how far each run is from each other one, relative to that."""
    same = grouped(rows, "system", "nodes", "ranks_per_node", "collective", "algorithm", "bytes").values()
    times = [[row["measured_us"] for row in cell] for cell in same if len(cell) > 1]
    return len(times), [abs(a - b) / b for cell in times for a, b in permutations(cell, 2)]


def of_row(row: Row) -> Prediction:
    shape = tuple(int(side) for side in row["nodes"].split()[0].split("x"))
    job = Job(row["system"], row["job"], shape, row["ranks_per_node"])
    cell = Cell(job, row["collective"], row["algorithm"], row["bytes"], row["measured_us"] * 1e-6)
    guess = row["predicted_us"]
    return Prediction(cell, None if guess is None else guess * 1e-6, fitted=row["use"] == "fitted")


def right(rows: Sequence[Row]) -> str:
    """In brackets: if equal predictions are not taken together."""
    found = [of_row(row) for row in rows]
    part, alone = best_among_two(found), best_among_two(found, 0)
    return "–" if part is None or alone is None else f"{part:.0%} ({alone:.0%})"


def summary(heading: Row, rows: list[Row]) -> Iterator[Block]:
    head = ["", "cells", "median error", "90th percentile", f"within {BOUND:.0%}"]
    theirs = [row for row in rows if row["use"] != "ours"]
    blind = [row for row in theirs if row["use"] == "blind"]
    yield "# Timings published by others, predicted"
    yield f"{SOURCE}. {provenance(heading)}."
    yield (
        "Error: |predicted − measured| / measured, of medians, of vectors of 32 KiB and more, of cells without\n"
        "those that costs were fitted on. Targets: median ≤ 15 %, 90 % of cells within 35 %, the best measured\n"
        "algorithm among the two best predicted in ≥ 80 % of cells with three algorithms or more, those predicted\n"
        "equal within 1 % taken together (in brackets: not)."
    )
    lines = [["all", *figures(blind), right(theirs)]]
    for system, own in grouped(theirs, "system").items():
        lines.append([system, *figures([row for row in own if row["use"] == "blind"]), right(own)])
    yield cells([*head, "best among two"], lines)
    runs = {system: measured_again(own) for system, own in grouped(theirs, "system").items()}
    again = [
        [system, twice, f"{median(far):.1%}", f"{sum(one <= BOUND for one in far) / len(far):.1%}"]
        for system, (twice, far) in runs.items()
        if twice
    ]
    if again:
        yield "## The same cell, measured again"
        yield "Cells that several runs measured, and how far each run is from each other one."
        yield cells(["", "cells", "median difference", f"within {BOUND:.0%}"], again)
    jobs = grouped(theirs, "system", "nodes", "ranks_per_node", "collective")
    by_job = []
    for (system, nodes, ranks, collective), own in jobs.items():
        each = "" if ranks == 1 else f"{ranks} ranks each, "
        if part := [row for row in own if row["use"] == "blind"]:
            by_job.append([f"{system}, {nodes}, {each}{collective}", *figures(part), right(own)])
    yield "## By job"
    yield cells([*head, "best among two"], by_job)
    yield "## By size"
    sizes = sorted(grouped(blind, "bytes").items())
    yield cells(["bytes", *head[1:]], ([f"{size:,}", *figures(part)] for size, part in sizes))
    yield "## By algorithm"
    yield "Bias: median of measured / predicted; above 1, the model is too fast."
    algorithms = sorted(grouped(blind, "collective", "algorithm").items(), key=lambda item: item[0])
    by_algorithm = (
        [f"{c} {a}", *figures(part), f"{median(ratios(part)):.2f}"] for (c, a), part in algorithms
    )
    yield cells(["algorithm", *head[1:], "bias"], by_algorithm)
    yield "## Not modelled"
    missing = [row for row in theirs if row["use"] == "not modelled"]
    yield f"{len(missing)} of {len(theirs)} cells."
    reasons = grouped(missing, "collective", "algorithm", "reason").items()
    unknown = ([f"{c} {a}", len(own), why] for (c, a, why), own in reasons)
    yield cells(["algorithm", "cells", "reason"], unknown)
    yield "## What Hocket's schedules would take there"
    yield (
        "By the same frozen costs, phase by phase, with the token that releases each; buffers are kept between calls.\n"
        "In brackets: the prediction times the 10th and 90th percentile of measured / predicted among the blind cells\n"
        "of the same machine and collective. It wins or loses where the whole bracket lies on one side of the best\n"
        "time that was measured."
    )
    head = ["job", "bytes", "Hocket's algorithm", "predicted µs", "best measured µs", "by", ""]
    yield cells(head, (_ours(row, blind) for row in sorted(rows, key=_place) if row["use"] == "ours"))


def _place(row: Row) -> tuple[Any, ...]:
    return row["system"], len(row["nodes"]), row["nodes"], row["collective"], row["job"], row["bytes"]


def _ours(row: Row, blind: Sequence[Row]) -> list[Any]:
    like = [one for one in blind if (one["system"], one["collective"]) == (row["system"], row["collective"])]
    low, high = (row["predicted_us"] * float(q) for q in np.percentile(ratios(like), [10, 90]))
    best = row["measured_us"]
    verdict = "wins" if high < best else "loses" if low > best else "open"
    return [
        f"{row['system']}, {row['nodes']}, {row['collective']}",
        f"{row['bytes']:,}",
        row["algorithm"].removeprefix("hocket "),
        f"{row['predicted_us']:,.0f} ({low:,.0f}–{high:,.0f})",
        f"{best:,.0f}",
        row["reason"].removeprefix("best: "),
        verdict,
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=Path, required=True)
    parser.add_argument("--hosts", type=Path, required=True)
    parser.add_argument("--json", action="store_true", help="the errors as one JSON object, nothing written")
    options, results = begin(parser, "public-machines", summary)
    command = f"python bench/machines/run.py --times {options.times.name} --hosts {options.hosts.name}"
    fitted = sum(map(len, CELLS.values()))
    results.heading |= {"command": command, "source": SOURCE, "fitted_cells": fitted}
    try:
        predictor = Predictor()
        table_of_times = read_cells(options.times, options.hosts)
        predictor.learn(table_of_times)
        found = predictions(table_of_times, predictor)
    except HocketError as problem:
        print(problem, file=sys.stderr)
        return 2
    print(*predictor.notes, sep="\n", end="\n" * bool(predictor.notes), file=sys.stderr)
    if options.json:
        print(json.dumps(report(found), indent=2, ensure_ascii=False))
        return 0
    results.add(*map(cell_row, found), *our_rows(found, predictor))
    return 0


if __name__ == "__main__":
    sys.exit(main())
