"""All-gather schedules against SimGrid SMPI: their time over the cut bound, and MPI libraries' algorithms.

    python bench/smpi/allgather.py [--quick] [--out bench/results]

The libraries' ranks are placed at random over the hosts (three seeds), as batch systems do; a schedule knows
where its ranks are. Writes smpi-allgather.json and .md. Exit code 1 if a figure misses its target, 2 if
SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from hocket import _core
from hocket.network import read_network
from hocket.units import format_bytes

sys.path.insert(0, str(Path(__file__).parent))
from program import program_text
from referee import SETTINGS, Referee, RefereeError, missing_tools, simgrid_version

RATE, LATENCY = "1Gbit", "1us"
# Network, and the most that the best schedule may take over the bound at TARGET_SIZE.
NETWORKS = {
    "chain (c), 4 × 8 hosts": ("chain:8,8,8,8", None),
    "unequal tree, 36 hosts": ("tree:(10,(8,(5,(2)),(4)),(7))", 1.05),
    "torus 8×8": ("torus:8x8", 1.3),
    "torus 4×4×4": ("torus:4x4x4", None),
    "mesh 8×8": ("mesh:8x8", None),
    "hypercube of 64": ("hypercube:6", None),
}
TARGET_SIZE = 65536
NATIVES = (
    "ring", "NTSLR", "pair", "rdb", "rhv", "bruck", "spreading_simple", "GB", "2dmesh", "mpich", "ompi",
    "mvapich2", "impi",
)  # fmt: skip
SEEDS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Result:
    network: str
    size: int
    algorithm: str  # our scheduler, or an algorithm of SMPI
    ours: bool
    seed: int | None  # of the placement; None: in order
    bound_seconds: float
    smpi_seconds: float | None
    ratio: float | None
    predicted_seconds: float | None = None
    reason: str = ""  # why there is no time


def ours(referee: Referee, network: _core.Network, name: str, size: int) -> list[Result]:
    """Every contention-free scheduler that serves the network, under tokens."""
    demand = _core.Demand(network.ranks, size, "all-gather")
    bound = _core.lower_bounds(network, demand).seconds
    results = []
    for scheduler in _core.schedulers():
        if scheduler.pattern != "all-gather" or scheduler.why_not(network, demand):
            continue
        if not scheduler.contention_free:
            continue
        schedule = scheduler.make(network, demand)
        waits = _core.derive_waits(network, schedule)
        seconds = referee.program(program_text(schedule, waits, companions(schedule)))
        predicted = _core.simulate(
            network, schedule, waits, "token", _core.ModelParameters(latency_weighted=True)
        ).seconds
        results.append(
            Result(name, size, scheduler.name, True, None, bound, seconds, seconds / bound, predicted)
        )
        report(results[-1])
    return results


def companions(schedule: _core.Schedule) -> int:
    """Most messages that one rank sends in one phase: they go together."""
    messages = {(phase, src, dst) for phase, src, dst, *_ in schedule.rows()}
    return max(Counter((phase, src) for phase, src, _ in messages).values(), default=1)


def natives(referee: Referee, network: _core.Network, name: str, size: int, seed: int | None) -> list[Result]:
    bound = _core.lower_bounds(network, _core.Demand(network.ranks, size, "all-gather")).seconds
    results = []
    for algorithm in NATIVES:
        seconds, reason = None, ""
        try:
            seconds = referee.native(size, algorithm, "allgather")
        except RefereeError as error:
            reason = str(error)
        ratio = None if seconds is None else seconds / bound
        results.append(Result(name, size, algorithm, False, seed, bound, seconds, ratio, reason=reason))
        report(results[-1])
    return results


def report(result: Result) -> None:
    ratio = f"{result.ratio:.4f} × bound" if result.ratio else f"no result: {result.reason}"
    placement = "" if result.seed is None else f", placement {result.seed}"
    print(
        f"{result.network}, {format_bytes(result.size)}, {result.algorithm}{placement}: {ratio}", flush=True
    )


def missed(results: list[Result]) -> list[str]:
    problems = []
    for name, (_, target) in NETWORKS.items():
        if target is None:
            continue
        ratios = [r.ratio for r in results if r.ours and r.network == name and r.size == TARGET_SIZE]
        best = min((ratio for ratio in ratios if ratio is not None), default=None)
        if best is None or best > target:
            problems.append(f"{name}: {best} × the bound, target {target}")
    return problems


def markdown(results: list[Result]) -> str:
    text = [
        "# SimGrid SMPI as referee: all-gather",
        "",
        f"Simulated time over the cut bound; links of {RATE}/s and {LATENCY}. Made by `make bench-smpi`.",
        "Libraries' algorithms: ranks in order | median over three random placements. Schedules know where",
        "their ranks are; a placement changes nothing for them.",
        "",
    ]
    ours_names = list(dict.fromkeys(r.algorithm for r in results if r.ours))
    for title, algorithms in (("Schedules", ours_names), ("Algorithms of SMPI", list(NATIVES))):
        text += [f"## {title}", "", f"| network | contribution | {' | '.join(algorithms)} |"]
        text += ["|---" * (2 + len(algorithms)) + "|"]
        for name, size in dict.fromkeys((r.network, r.size) for r in results):
            here = [r for r in results if (r.network, r.size) == (name, size)]
            cells = [_cell([r for r in here if r.algorithm == a]) for a in algorithms]
            text.append(f"| {name} | {format_bytes(size)} | {' | '.join(cells)} |")
        text.append("")
    reasons = sorted({f"- {r.network}, {r.algorithm}: {r.reason}" for r in results if r.reason})
    if reasons:
        text += ["No result (—):", "", *reasons, ""]
    return "\n".join(text)


def _cell(results: list[Result]) -> str:
    in_order = [r.ratio for r in results if r.seed is None and r.ratio is not None]
    shuffled = [r.ratio for r in results if r.seed is not None and r.ratio is not None]
    parts = [f"{in_order[0]:.3f}"] if in_order else []
    parts += [f"{statistics.median(shuffled):.2f}"] if shuffled else []
    return " / ".join(parts) or ("—" if results else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="64 KiB and one placement only")
    parser.add_argument("--network", action="append", choices=list(NETWORKS), help="only these")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="folder for the results")
    options = parser.parse_args()
    if missing := missing_tools():
        print(f"{' and '.join(missing)} not found: install SimGrid (Debian: libsimgrid-dev)", file=sys.stderr)
        return 2
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        for name in options.network or NETWORKS:
            network = read_network(f"{NETWORKS[name][0]}@{RATE},{LATENCY}")
            for size in (TARGET_SIZE,) if options.quick else (TARGET_SIZE, 1024, 1048576):
                in_order = Referee(network, Path(scratch))
                results += ours(in_order, network, name, size)
                results += natives(in_order, network, name, size, None)
                for seed in SEEDS[:1] if options.quick else SEEDS:
                    places = list(range(network.ranks))
                    random.Random(seed).shuffle(places)
                    results += natives(Referee(network, Path(scratch), places), network, name, size, seed)
    problems = missed(results) if not options.network else []
    record = {
        "command": "python bench/smpi/allgather.py" + (" --quick" if options.quick else ""),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "simgrid": simgrid_version(),
        "settings": SETTINGS,
        "missed_targets": problems,
        "results": [asdict(result) for result in results],
    }
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "smpi-allgather"
    target.with_suffix(".json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    target.with_suffix(".md").write_text(markdown(results), "utf-8")
    for problem in problems:
        print(f"target missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
