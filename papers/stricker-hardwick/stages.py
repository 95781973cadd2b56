"""The registry's algorithms on both readings of the Cray T3D's 8x4x8x2, with the parameters of t3d.py.

    python papers/stricker-hardwick/stages.py

Flat: a torus of four sides, every processor with links of 75 MB/s and a port of its own. Switches: 8 × 4 × 8
of them with two processors each, links of 150 MB/s and a port for both, as in table.py. Writes
results/t3d-stages.{csv,md}. A few minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from t3d import LIMIT, Machine

from hocket import _core, _papers

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from results_file import Block, Row, begin, grouped, provenance, table

SIDES = [8, 4, 8, 2]


@dataclass(frozen=True, slots=True)
class Case:
    algorithm: str
    flow: str
    ties: str
    flat: bool
    port: float | None = None  # bytes/s; None: the machine's

    def network(self, machine: Machine) -> _core.Network:
        sides = SIDES if self.flat else SIDES[:3]
        rate, ranks = (LIMIT, 1) if self.flat else (machine.link_rate, 2)
        ties = _core.Network.ties_by_rule(self.ties, sides)
        return _core.Network.grid("torus", sides, rate, machine.link_latency, [], ranks, ties)


ROWS = (
    ("ring", "free", "up"),
    ("shift", "barrier", "up"),
    ("paired-shift", "barrier", "up"),
    ("product", "barrier", "up"),
    ("product", "barrier", "parity"),
    ("product", "free", "parity"),
)
CASES = (
    *(Case(*row, flat=True) for row in ROWS),
    Case("product", "barrier", "parity", True, 65e6),
    *(Case(*row, flat=False) for row in ROWS),
)


def run_case(case: Case, machine: Machine) -> Row:
    began = time.monotonic()
    network = case.network(machine)
    schedule = _core.Algorithm.find(case.algorithm).make(network, _core.Demand(network.ranks, machine.block))
    parameters = machine.parameters()
    if case.port is not None:
        parameters.injection_rate = parameters.ejection_rate = case.port
    result = _papers.simulate_wormhole(network, schedule, case.flow, parameters)
    rate = (network.ranks - 1) * machine.block / float(result.seconds)
    worst = schedule.channel_use(network).max(axis=1)
    row = {
        "torus": "flat" if case.flat else "switches",
        "algorithm": case.algorithm,
        "flow": case.flow,
        "ties": case.ties,
        "port_bytes_per_second": case.port or machine.injection_rate,
        "phases": schedule.phases,
        "worst": int(worst.max()),
        "sum": int(worst.sum()),
        "bytes_per_second_per_node": rate,
        "percent": 100 * rate / LIMIT,
        "wall_seconds": round(time.monotonic() - began, 1),
    }
    print(row, flush=True)
    return row


TEXT = """# The registry's algorithms on both readings of 8x4x8x2

{provenance}. Simulated by the wormhole model, not measured. Packets, buffers, per-message cost, barrier
and block are those of [t3d-table.md](t3d-table.md); 100 % are 75 MB/s per processor. *Worst*: messages on
the busiest channel of a phase, the most over all phases; *sum*: over the phases. Every schedule is made for
the ties of its row.

## A torus of four sides

512 processors, each with links of 75 MB/s in every direction and a port of its own.

{flat}

Headers leave 68.6 of 75 MB/s (91 %) to a link that never rests; with ties up four fifths of that (73 %).
A port of 65 MB/s is what one of two processors has of the port below.

## 8 × 4 × 8 switches with two processors each

Links of 150 MB/s, a port of 130 MB/s for both processors. Two messages on a channel take as long as one
above. `product` lets one processor of a switch send in a phase, so that it has twice the phases.

{switches}

## How this differs from t3d-table.md

- There both processors of a switch send in every phase, where the pattern allows over different links.
- There every processor of the first row has a random order of its own; with `ring` all send to their
  number plus 1, plus 2, …: a phased exchange without barriers.
- There *phased* is x and c − x changing places; `shift` moves all by the same vector.
- The wormhole model has no tokens. `free` holds a message back by nothing but its sender's order."""


HEAD = "algorithm | flow | ties | port | phases | worst | sum | MB/s per processor | percent"


def told(row: Row) -> str:
    port, rate = row["port_bytes_per_second"] / 1e6, row["bytes_per_second_per_node"] / 1e6
    counts = f"{port:g} MB/s | {row['phases']} | {row['worst']} | {row['sum']}"
    return (
        f"{row['algorithm']} | {row['flow']} | {row['ties']} | {counts} | {rate:.1f} | {row['percent']:.1f}"
    )


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    of = grouped(rows, "torus")
    tables = {name: "\n".join(table(HEAD, told, of.get(name, []))) for name in ("flat", "switches")}
    return [TEXT.format(provenance=provenance(heading), **tables)]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "t3d-stages", summary)
    results.heading |= dataclasses.asdict(Machine())
    for case in CASES:
        results.add(run_case(case, Machine()))


if __name__ == "__main__":
    main()
