"""The wormhole model against SimGrid SMPI on an 8×8 torus, where nothing contends and where much does.

    python papers/stricker-hardwick/against_smpi.py

Writes results/against-smpi.{csv,md}. Exit code 1 if a contention-free schedule is off by more than 3 %, 2 if
SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from t3d import even_ring

from hocket import _core, _papers

sys.path.extend(str(Path(__file__).parents[2] / folder) for folder in ("bench", "bench/smpi"))
from referee import SETTINGS, Referee, need_tools, program_text, simgrid_version, tell_missed

from results_file import Block, Row, begin, provenance, table

SIDE, RATE, LATENCY, SIZE = 8, 125e6, 1e-6, 65536
PAYLOAD = 1024  # bytes per packet; SMPI has no packets and no headers
TARGET = 0.03
ROUTERS = {
    "roomy": {"buffer": 64, "lanes": 4, "arbitration": "oldest-first", "virtual_channels": "balanced"},
    "plain": {"buffer": 4, "lanes": 1, "arbitration": "round-robin", "virtual_channels": "dateline"},
}


@dataclass(frozen=True, slots=True)
class Result:
    schedule: str
    flow: str
    contention_free: bool
    bound_seconds: float
    smpi_seconds: float
    flow_seconds: float  # Hocket's flow model
    roomy_seconds: float  # the wormhole model, by ROUTERS
    plain_seconds: float


def even(network: _core.Network) -> _core.Schedule:
    """A permutation of a ring per side: one message on every channel in every phase."""
    ring = even_ring(SIDE)
    rows = []
    for phase, (a, b) in enumerate(itertools.product(range(SIDE), repeat=2)):
        for x, y in itertools.product(range(SIDE), repeat=2):
            src, dst = x * SIDE + y, ring[a][x] * SIDE + ring[b][y]
            if src != dst:
                rows.append((phase, src, dst, src, dst, 0, SIZE))
    return _core.Schedule.from_rows(network.ranks, SIZE, rows)


def compare(network: _core.Network, referee: Referee, name: str, flow: str, barrier: float) -> Result:
    demand = _core.Demand(network.ranks, SIZE)
    schedule = even(network) if name == "even" else _core.Algorithm.find(name).make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    seconds = referee.program(program_text(schedule, None, 1, barrier=flow == "barrier"))
    costs = _core.ModelParameters(barrier=barrier, latency_weighted=True)
    fluid = _core.simulate(network, schedule, None, flow, costs).seconds
    by_routers = {
        # An MPI_Send of SMPI ends when its message has arrived.
        kind: _papers.simulate_wormhole(
            network, schedule, flow,
            _papers.WormholeParameters(payload=PAYLOAD, barrier=barrier, blocking=True, **parameters),
        ).seconds
        for kind, parameters in ROUTERS.items()
    }  # fmt: skip
    result = Result(
        name, flow, certificate.contention_free, _core.lower_bounds(network, demand).seconds, seconds, fluid,
        by_routers["roomy"], by_routers["plain"],
    )  # fmt: skip
    print(asdict(result), flush=True)
    return result


def told(row: Row) -> str:
    """Seconds over the bound; of the models, beside it the difference from SMPI."""
    bound, smpi = row["bound_seconds"], row["smpi_seconds"]
    free = "yes" if row["contention_free"] and row["flow"] == "barrier" else "no"
    models = (row[f"{model}_seconds"] for model in ("flow", "roomy", "plain"))
    others = (f"{seconds / bound:.3f} ({seconds / smpi - 1:+.1%})" for seconds in models)
    return " | ".join((row["schedule"], row["flow"], free, f"{smpi / bound:.3f}", *others))


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    return [
        "# The wormhole model against SimGrid SMPI",
        f"{provenance(heading)}, {heading['simgrid']}. All-to-all of {SIZE // 1024} KiB "
        f"on an {SIDE}×{SIDE} torus,\n"
        f"{RATE * 8 / 1e9:g} Gbit/s and {LATENCY * 1e6:g} µs a link, time over the bandwidth bound; "
        "in brackets the difference from SMPI.\n"
        "All simulated. SMPI shares channels as flows do: it has no queues.",
        table(
            "schedule | flow | contention-free | SMPI | flow model | wormhole, roomy | wormhole, plain",
            told,
            rows,
        ),
        [
            f"Packets of {PAYLOAD} bytes, no headers, barriers as SMPI takes them; a sender waits for arrival.",
            *(
                f"*{kind}*: {', '.join(f'{k} {v}' for k, v in parameters.items())}."
                for kind, parameters in ROUTERS.items()
            ),
            "*even*: each channel used once a phase; *packing*, *ring*, *pairwise*: `hocket info`.",
            "Where messages contend, the difference is what queues cost: blocked packets in front of others, and",
            "arbitration that favours who enters last.",
        ],
    ]


def main() -> int:
    _, kept = begin(argparse.ArgumentParser(description=__doc__), "against-smpi", summary)
    need_tools()
    network = _core.Network.grid("torus", [SIDE, SIDE], RATE, LATENCY, [], 1, ["++--++--"] * 2)
    results = []
    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        referee = Referee(network, Path(scratch))
        barrier = referee.barrier()
        for flow, names in (
            ("barrier", ("even", "packing", "ring", "pairwise")),
            ("free", ("ring", "pairwise")),
        ):
            results += [compare(network, referee, name, flow, barrier) for name in names]
    problems = [
        f"{r.schedule}: {r.roomy_seconds / r.smpi_seconds - 1:+.1%} from SMPI"
        for r in results
        if r.contention_free
        and r.flow == "barrier"
        and max(abs(s / r.smpi_seconds - 1) for s in (r.roomy_seconds, r.plain_seconds)) > TARGET
    ]
    kept.heading |= {"simgrid": simgrid_version(), "settings": SETTINGS, "payload": PAYLOAD, **ROUTERS}
    kept.heading["barrier_seconds"] = barrier
    kept.add(*map(asdict, results))
    return tell_missed(problems)


if __name__ == "__main__":
    sys.exit(main())
