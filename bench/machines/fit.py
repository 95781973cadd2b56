"""Fits a machine's costs on a few cells, and freezes them.

    python bench/machines/fit.py --times FILE.csv --hosts FILE.csv

Writes bench/machines/costs.toml for the machines that are described. Each cost is sought in the vicinity of a guess:
the logarithms of its ratios to the guess count a little, those of predicted over measured times much.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

import named
import numpy as np
from cells import Cell, Job, read_cells
from described import DESCRIBED, FROZEN, Machine

from hocket.errors import HocketError, UsageError
from model import Costs, Fabric, seconds

MOST_CELLS: Final = 6
GUESSES: Final = 0.02  # weight of a guess beside a cell
GUESSES_BLIND: Final = 0.1  # the same, where cells are chosen by rule: none may decide some cost
ROUNDS: Final = 40
Fabrics = Callable[[Machine, Job], Fabric]
Start = tuple[str, str, str, int]  # nodes, collective, algorithm, bytes

# Chosen so that each cost is what mainly decides some cell: rings and linear exchanges; doubling, because most else is
# made of it; one reduction; one call that maps memory; one that writes directly through six interfaces.
CELLS: Final[dict[str, tuple[Start, ...]]] = {
    "fugaku": (
        ("2x2x2", "allgather", "default-ring", 1 << 20),
        ("2x2x2", "allgather", "default-ring", 8 << 20),
        ("2x2x2", "alltoall", "default-linear", 128 << 10),
        ("2x2x2", "reduce_scatter", "default-recursive-halving", 8 << 20),
        ("2x2x2", "allreduce", "default-recursive_doubling", 512 << 20),
        ("2x2x2", "allgather", "BINE-VEC_DOUBLING_CONT_PERMUTE-UTOFU-0-6", 128 << 10),
    ),
    "leonardo": (
        ("32", "allgather", "ring_over", 64 << 10),
        ("32", "allgather", "ring_over", 256 << 20),
        ("32", "allgather", "recursive_doubling_over", 4 << 20),
        ("32", "allgather", "recursive_doubling_over", 256 << 20),
        ("128", "allreduce", "ring_ompi", 256 << 20),
        ("64", "reduce_scatter", "recursive_halving_ompi", 64 << 20),
    ),
}


def fitted(machine: Machine, cells: Sequence[Cell], fabric_of: Fabrics, guesses: float = GUESSES) -> Costs:
    """Costs that predict these cells best, by damped Gauss–Newton steps on logarithms. No more than six cells."""
    if len(cells) > MOST_CELLS:
        raise UsageError(f"{len(cells)} cells to fit on", remedy=f"give {MOST_CELLS} at most")
    # Programs of all: other cells are not given.
    programs = [program for cell in cells if (program := named.program_of(cell))]
    guess = np.log([getattr(machine.guess, name) for name in machine.fitted])
    measured = np.log([cell.seconds for cell in cells])

    def costs_at(x: np.ndarray) -> Costs:
        values = {name: float(math.exp(value)) for name, value in zip(machine.fitted, x, strict=True)}
        return replace(machine.guess, **values)

    def residuals(x: np.ndarray) -> np.ndarray:
        costs = costs_at(x)
        told = [
            seconds(program, cell.bytes, fabric_of(machine, cell.job), costs, machine.habits)
            for program, cell in zip(programs, cells, strict=True)
        ]
        return np.concatenate([np.log(told) - measured, guesses * (x - guess)])

    limits = {"rate": machine.interface, "streamed": 1.0}
    most = np.log([limits.get(name, math.inf) for name in machine.fitted])
    x, damping = guess.copy(), 1e-3
    now = residuals(x)
    for _ in range(ROUNDS):
        slopes = np.array([(residuals(x + step) - now) / 1e-4 for step in 1e-4 * np.eye(len(x))]).T
        normal = slopes.T @ slopes
        move = np.linalg.solve(normal + damping * np.eye(len(x)), -slopes.T @ now)
        there = np.minimum(np.clip(x + np.clip(move, -1, 1), guess - 3, guess + 3), most)
        then = residuals(there)
        if then @ then < now @ now:
            x, now, damping = there, then, damping / 3
        else:
            damping *= 4
    return costs_at(x)


def named_cells(cells: Sequence[Cell], wanted: Sequence[Start], system: str) -> list[Cell]:
    """Cells of these names. Raises :class:`hocket.UsageError` where the table lacks one."""
    first = {
        ("x".join(map(str, cell.job.shape)), cell.collective, cell.algorithm, cell.bytes): cell
        for cell in reversed(cells)
        if cell.job.system == system and cell.job.ranks_per_node == 1
    }
    for start in wanted:
        if start not in first:
            nodes, collective, algorithm, size = start
            raise UsageError(
                f"no cell {collective} {algorithm} of {size} bytes on {nodes} nodes of {system}",
                remedy="give the table that the costs were fitted on",
            )
    return [first[start] for start in wanted]


# What cells tell of a machine of which nothing is known: collectives and algorithms in the order of preference, and
# which of the sizes, 0 for the smallest, 1 for the largest.
ROLES: Final = (
    (("allgather", "alltoall", "bcast", "allreduce"), ("ring", "linear", "pairwise", "binomial"), (0.0, 1.0)),
    (
        ("allgather", "alltoall", "bcast"),
        ("recursive_doubling", "brucks", "bruck", "scatter_allgather"),
        (0.5,),
    ),
    (
        ("reduce_scatter", "allreduce", "reduce"),
        ("recursive_halving", "rabenseifner", "ring", "binomial"),
        (0.5, 1.0),
    ),
    (("bcast", "scatter", "gather", "allreduce"), ("binomial", "recursive_doubling", "linear"), (0.5,)),
)
USUAL_NODES: Final = 64  # larger jobs tell no more of costs


def few_cells(cells: Sequence[Cell]) -> list[Cell]:
    """At most six cells of a machine of which nothing is known, by a rule that looks at no times."""
    usable = [cell for cell in cells if cell.seconds > 0 and named.program_of(cell)]
    chosen: list[Cell] = []
    for collectives, kinds, places in ROLES:
        series = _series(usable, collectives, kinds)
        chosen += [series[round(place * (len(series) - 1))] for place in places if series]
    return list(dict.fromkeys(chosen))[:MOST_CELLS] or usable[:MOST_CELLS]


def _series(cells: Sequence[Cell], collectives: Sequence[str], kinds: Sequence[str]) -> list[Cell]:
    """Cells of the first algorithm that is there, by size: of a job with one rank a node, if there is one, and of the
    largest up to a usual size."""
    for collective in collectives:
        for kind in kinds:
            found: dict[tuple[Job, str], list[Cell]] = {}
            for cell in cells:
                if cell.collective == collective and named.plain(cell.algorithm)[1] == kind:
                    found.setdefault((cell.job, cell.algorithm), []).append(cell)
            if found:
                _, series = max(found.items(), key=_usefulness)
                return sorted(series, key=lambda cell: cell.bytes)
    return []


def _usefulness(item: tuple[tuple[Job, str], list[Cell]]) -> tuple[bool, int, int, str]:
    (job, algorithm), series = item
    return job.ranks_per_node == 1, min(job.nodes, USUAL_NODES), len(series), algorithm


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=Path, required=True)
    parser.add_argument("--hosts", type=Path, required=True)
    options = parser.parse_args()
    try:
        cells = read_cells(options.times, options.hosts)
        lines = [
            "# Costs of machines, fitted by bench/machines/fit.py on the cells that are named, then frozen.",
            "",
        ]
        for name, machine in DESCRIBED.items():
            few = named_cells(cells, CELLS[name], name)
            costs = fitted(machine, few, lambda one, job: one.fabric(job))
            lines += [f"[{name}]", *(f"{one.name} = {getattr(costs, one.name):.4g}" for one in fields(Costs))]
            lines += ["cells = [", *(f'  "{cell.key}",' for cell in few), "]", ""]
    except HocketError as problem:
        print(problem, file=sys.stderr)
        return 2
    FROZEN.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
