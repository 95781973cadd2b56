"""The wormhole model against SimGrid SMPI on an 8×8 torus, where nothing contends and where much does.

    python bench/smpi/wormhole.py [--out bench/results]

Writes smpi-wormhole.json and .md. Exit code 1 if a contention-free schedule is off by more than 3 %, 2 if
SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from hocket import _core

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "torus"))
from program import program_text
from referee import SETTINGS, Referee, missing_tools, simgrid_version
from t3d import even_ring

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
    schedule = even(network) if name == "even" else _core.find_scheduler(name).make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    seconds = referee.program(program_text(schedule, None, 1, barrier=flow == "barrier"))
    costs = _core.ModelParameters(barrier=barrier, latency_weighted=True)
    fluid = _core.simulate(network, schedule, None, flow, costs).seconds
    by_routers = {
        # An MPI_Send of SMPI ends when its message has arrived.
        kind: _core.simulate_wormhole(
            network, schedule, flow,
            _core.WormholeParameters(payload=PAYLOAD, barrier=barrier, blocking=True, **parameters),
        ).seconds
        for kind, parameters in ROUTERS.items()
    }  # fmt: skip
    result = Result(
        name, flow, certificate.contention_free, _core.lower_bounds(network, demand).seconds, seconds, fluid,
        by_routers["roomy"], by_routers["plain"],
    )  # fmt: skip
    print(asdict(result), flush=True)
    return result


def markdown(record: dict[str, object], results: list[Result]) -> str:
    lines = [
        "# The wormhole model against SimGrid SMPI",
        "",
        f"`{record['command']}`, {record['date']}, {record['simgrid']}. All-to-all of {SIZE // 1024} KiB "
        f"on an {SIDE}×{SIDE} torus,",
        f"{RATE * 8 / 1e9:g} Gbit/s and {LATENCY * 1e6:g} µs a link, time over the bandwidth bound; "
        "in brackets the difference from SMPI.",
        "All simulated. SMPI shares channels as flows do: it has no queues.",
        "",
        "| schedule | flow | contention-free | SMPI | flow model | wormhole, roomy | wormhole, plain |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        cells = [
            f"{seconds / r.bound_seconds:.3f} ({seconds / r.smpi_seconds - 1:+.1%})"
            for seconds in (r.flow_seconds, r.roomy_seconds, r.plain_seconds)
        ]
        free = "yes" if r.contention_free and r.flow == "barrier" else "no"
        smpi = f"{r.smpi_seconds / r.bound_seconds:.3f}"
        lines.append(f"| {r.schedule} | {r.flow} | {free} | {smpi} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Packets of {PAYLOAD} bytes, no headers, barriers as SMPI takes them; a sender waits for arrival.",
        *(
            f"*{kind}*: {', '.join(f'{k} {v}' for k, v in parameters.items())}."
            for kind, parameters in ROUTERS.items()
        ),
        "*even*: each channel used once a phase; *packing*, *ring*, *pairwise*: `hocket schedulers`.",
        "Where messages contend, the difference is what queues cost: blocked packets in front of others, and",
        "arbitration that favours who enters last.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="folder for smpi-wormhole.*")
    options = parser.parse_args()
    if missing := missing_tools():
        print(f"{' and '.join(missing)} not found: install SimGrid (Debian: libsimgrid-dev)", file=sys.stderr)
        return 2
    network = _core.build_grid("torus", [SIDE, SIDE], RATE, LATENCY, [], 1, ["++--++--"] * 2)
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
    record = {
        "command": "python bench/smpi/wormhole.py",
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "simgrid": simgrid_version(),
        "settings": SETTINGS,
        "routers": ROUTERS,
        "payload": PAYLOAD,
        "barrier_seconds": barrier,
        "missed_targets": problems,
        "results": [asdict(result) for result in results],
    }
    options.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, ensure_ascii=False, indent=1)
    (options.out / "smpi-wormhole.json").write_text(text + "\n", encoding="utf-8")
    (options.out / "smpi-wormhole.md").write_text(markdown(record, results), encoding="utf-8")
    for problem in problems:
        print(f"target missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
