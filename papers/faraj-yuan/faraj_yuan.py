"""Table 4 of the paper as the algorithm `tree` makes it, and its figures 7 and 8 beside what the lab measured.

python papers/faraj-yuan/faraj_yuan.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from hocket import _core
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from results_file import RESULTS, ROOT, cells, grouped, read

BRANCH: Final = (0, 0, 0, 1, 1, 2)  # of n0 … n5
COLUMNS: Final = ("t0 →", "t1 →", "t2 →", "in t0", "in t1", "in t2")
# Milliseconds: MPICH, the generated routine. Topology, bytes.
MEASURED: Final = {
    ("b", 65536): (1374, 1428), ("b", 262144): (5405, 4836),
    ("c", 65536): (2061, 1700), ("c", 262144): (8210, 6396),
}  # fmt: skip
LOAD: Final = {"b": 8 * 24, "c": 16 * 16}  # messages on the busiest link
RATE: Final = 100e6 / 8  # of the paper's Ethernet


def table4() -> list[list[str]]:
    """The schedule for figure 1, laid out as the paper does: a row per phase."""
    network = read_network(str(ROOT / "examples/networks/figure1.toml"))
    schedule = _core.Algorithm.find("tree").make(network, _core.Demand(6, 1))
    rows = [[""] * 6 for _ in range(schedule.phases)]
    for phase, src, dst, *_ in schedule.rows():
        column = BRANCH[src] + (3 if BRANCH[src] == BRANCH[dst] else 0)
        assert rows[phase][column] == "", "two messages in one cell"
        rows[phase][column] = f"{src}-{dst}"
    return rows


def figures() -> Iterator[list[str]]:
    """Completion times: MPICH's over the schedule's, and the schedule's over the bound."""
    _, rows = read(RESULTS / "lab.csv")
    lab = grouped(rows, "topology", "bytes", "mpi", "placement", "candidate")
    for (topology, size), (mpich, ours) in MEASURED.items():
        native, scheduled = (
            median(
                row["seconds"] / row["bound"] for row in lab[topology, size, "mpich", "in order", candidate]
            )
            for candidate in ("native", "scheduled")
        )
        yield [
            topology, f"{size >> 10} KB", f"{mpich / ours:.2f}", f"{native / scheduled:.2f}",
            f"{ours * 1e-3 / (LOAD[topology] * size / RATE):.2f}", f"{scheduled:.2f}",
        ]  # fmt: skip


def main() -> None:
    print("\n".join(cells(["phase", *COLUMNS], ([i, *row] for i, row in enumerate(table4())))))
    head = ["topology", "message", "MPICH / routine", "in the lab", "routine / bound", "in the lab"]
    print("\n" + "\n".join(cells(head, figures())))


if __name__ == "__main__":
    main()
