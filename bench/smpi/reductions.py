"""Reductions and broadcasts against SimGrid SMPI: Hocket's schedules, MPI libraries' algorithms, and those of papers.

    python bench/smpi/reductions.py [--network NAME] [--collective NAME] [--resume] [--ours]

Other algorithms run with ranks in the order of the network and placed at random (three seeds), as batch systems do; a
schedule knows where its ranks are. Writes bench/results/smpi-reductions.{csv,md}, anew after every line. Exit code 1
if a figure misses its target, 2 if SimGrid is not installed.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from allgather import companions
from hocket._core import Network
from program import program_text
from referee import SETTINGS, Referee, RefereeError, need_tools, simgrid_version, tell_missed

from hocket.network import read_network
from hocket.planning.plan import plan_collective
from hocket.units import format_bytes

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, cells, pairs, provenance, read

RATE, LATENCY = "1Gbit", "1us"
KIB, MIB = 1024, 1 << 20


@dataclass(frozen=True, slots=True)
class Case:
    network: str
    sizes: tuple[int, ...] = (MIB, 64 * KIB, 4 * MIB)  # of the vector
    collectives: tuple[str, ...] = ("all-reduce", "reduce-scatter", "broadcast")
    sides: tuple[int, ...] = ()  # of a torus
    target: float | None = None  # of the time of reductions of TARGET_SIZE over the bound


TARGET_SIZE = MIB
CASES = {
    "chain of 4 × 8 hosts": Case("chain:8,8,8,8"),
    "unequal tree, 32 hosts": Case("tree:(10,(6,(5,(2)),(3)),(6))"),
    "torus 8×8": Case("torus:8x8", sides=(8, 8), target=1.2),
    "torus 8×4×8×2": Case(
        "torus:8x4x8x2", (MIB,), ("all-reduce", "reduce-scatter"), sides=(8, 4, 8, 2), target=1.2
    ),
    "fat tree, 64 hosts": Case("fat-tree:8x8x4"),
    "dragonfly, 64 hosts": Case("dragonfly:4x4x4"),
}
# Our name, SMPI's option, its algorithms, those of rivals.c.
NATIVES = {
    "all-reduce": ("allreduce", ("rab", "rdb", "mpich", "ompi", "lr"), ("halving", "swing", "ring")),
    "reduce-scatter": (
        "reduce_scatter",
        ("mpich", "ompi_basic_recursivehalving", "ompi_butterfly", "ompi_ring"),
        ("halving", "swing", "ring"),
    ),
    "broadcast": (
        "bcast",
        ("scatter_rdb_allgather", "scatter_LR_allgather", "ompi_pipeline", "ompi_split_bintree", "mpich"),
        ("tree", "halving", "swing"),
    ),
}
SEEDS = (1, 2, 3)  # of placements; the first alone at other sizes than TARGET_SIZE
SLOW_RANKS = 256  # from so many on in order only, and of other algorithms the first two


@dataclass(frozen=True, slots=True)
class Result:
    """Times over the bound; None: no result."""

    network: str
    ranks: int
    collective: str
    size: int
    algorithm: str
    bound_seconds: float
    ours: float | None
    best: str  # of SMPI's algorithms, in order
    best_in_order: float | None
    best_at_random: float | None  # of any of them, the median of the placements
    rivals_in_order: str  # NAME=RATIO;…
    rivals_at_random: str


def ratio(run: Callable[[], float], bound: float) -> float | None:
    try:
        return run() / bound
    except RefereeError as error:
        print(f"  no result: {error}", file=sys.stderr, flush=True)
        return None


def schedule_of(
    network: Network, collective: str, size: int, folder: Path, timeout: float
) -> tuple[str, float, float | None]:
    """Hocket's algorithm, the bound in seconds, and the schedule's time over it."""
    planned = plan_collective(
        collective, network, size // network.ranks if collective == "reduce-scatter" else size, alpha=0.0
    )
    bound = planned.bound_seconds
    # The plan as it runs: its waits, and as many messages under way as its window allows.
    window = planned.waits.window * companions(planned.schedule)
    text = program_text(planned.schedule, planned.waits, window)
    ours = ratio(lambda: Referee(network, folder, timeout=timeout).program(text), bound)
    return planned.algorithm, bound, rounded(ours)


def measure(name: str, case: Case, collective: str, size: int, folder: Path, timeout: float) -> Result:
    network = read_network(f"{case.network}@{RATE},{LATENCY}")
    algorithm, bound, ours = schedule_of(network, collective, size, folder, timeout)
    option, natives, rivals = NATIVES[collective]
    if network.ranks >= SLOW_RANKS:
        natives, rivals = natives[:2], rivals[:2]
    in_order = Referee(network, folder, timeout=timeout)
    first = by_name(natives, lambda algorithm: in_order.native(size, algorithm, option), bound)
    first_rivals = by_name(rivals, lambda algorithm: rival(in_order, case, option, algorithm, size), bound)
    later: dict[str, list[float]] = {}
    for seed in seeds(network.ranks, size):
        referee = Referee(network, folder, shuffled(network, seed), timeout)
        # Whoever had no result in order has none elsewhere.
        placed = by_name(first, lambda algorithm: referee.native(size, algorithm, option), bound)  # noqa: B023
        placed |= by_name(
            first_rivals,
            lambda algorithm: rival(referee, case, option, algorithm, size),  # noqa: B023
            bound,
        )
        for algorithm, found in placed.items():
            later.setdefault(algorithm, []).append(found)
    medians = {algorithm: statistics.median(found) for algorithm, found in later.items()}
    best = min(first, key=first.__getitem__, default="none")
    return Result(
        name, network.ranks, collective, size, algorithm, bound, ours, best,
        rounded(first.get(best)), rounded(min((medians[a] for a in first if a in medians), default=None)),
        listed(first_rivals), listed({a: medians[a] for a in first_rivals if a in medians}),
    )  # fmt: skip


def again(row: Row, folder: Path, timeout: float) -> None:
    """Hocket's part of a result; what others take does not depend on it."""
    network = read_network(f"{CASES[row['network']].network}@{RATE},{LATENCY}")
    found = schedule_of(network, row["collective"], row["size"], folder, timeout)
    row["algorithm"], row["bound_seconds"], row["ours"] = found
    print(f"{row['network']}, {row['collective']}, {format_bytes(row['size'])}: {row['ours']}", flush=True)


def seeds(ranks: int, size: int) -> tuple[int, ...]:
    if ranks >= SLOW_RANKS:
        return ()
    return SEEDS if size == TARGET_SIZE else SEEDS[:1]


def by_name(names, run: Callable[[str], float], bound: float) -> dict[str, float]:  # type: ignore[no-untyped-def]
    found = {name: ratio(lambda name=name: run(name), bound) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def rival(referee: Referee, case: Case, collective: str, algorithm: str, size: int) -> float:
    return referee.rival(collective, algorithm, size, case.sides if algorithm == "swing" else ())


def shuffled(network: Network, seed: int) -> list[int]:
    places = list(range(network.ranks))
    random.Random(seed).shuffle(places)
    return places


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def listed(found: dict[str, float]) -> str:
    return ";".join(f"{name}={value:.3f}" for name, value in found.items())


def missed(results: list[Result]) -> list[str]:
    problems = []
    for result in results:
        target = CASES[result.network].target
        if target is None or result.size != TARGET_SIZE or result.collective == "broadcast":
            continue
        where = f"{result.network}, {result.collective}"
        if result.ours is None or result.ours > target:
            problems.append(f"{where}: {result.ours} × the bound, target {target}")
        elif result.best_in_order is not None and result.ours > result.best_in_order:
            problems.append(
                f"{where}: {result.ours} × the bound, SMPI's {result.best} {result.best_in_order}"
            )
    return problems


NAMES = ("ring", "halving", "swing", "tree")


def summary(heading: Row, rows: list[Row]) -> list[str]:
    names = dict.fromkeys(f"`{name}`" for _, natives, _ in NATIVES.values() for name in natives)
    return [
        "# SimGrid SMPI as referee: reductions and broadcasts",
        "",
        f"{provenance(heading)}, {heading['simgrid']}. Made by `make bench NAME=smpi-reductions`.",
        "",
        f"Simulated time over the bound of the network; links of {RATE}/s and {LATENCY}. Adding takes no time.",
        "*In order / at random*: ranks in the order of the network, and the median of three random placements,",
        f"one for other vectors than {format_bytes(TARGET_SIZE)}, none from {SLOW_RANKS} ranks on (and there of",
        "the algorithms the first two). A schedule knows where its ranks are; a placement changes nothing for it.",
        f"*Best of SMPI*: of {', '.join(names)}",
        "the fastest in order (named), and the fastest at random.",
        "The others are our own programs (`bench/smpi/rivals.c`), which check the result: *halving* is Rabenseifner's;",
        "*swing* Swing (arXiv 2401.09356), on tori in as many parts as a host has",
        "links, elsewhere in one, which is the butterfly of Bine (arXiv 2508.17311); *tree* the Bine tree.",
        "Broadcasts by halving and swing: a scatter, then an all-gather along the same steps. —: no result in time.",
        "",
        *cells(["network", "collective", "vector", "schedule", "best of SMPI", *NAMES], map(_line, rows)),
    ]


def _line(row: Row) -> list[str]:
    in_order, at_random = pairs(row["rivals_in_order"]), pairs(row["rivals_at_random"])
    best = f"{_told(row['best_in_order'])} / {_told(row['best_at_random'])} ({row['best']})"
    others = (f"{in_order[a]} / {at_random.get(a, '—')}" if a in in_order else "" for a in NAMES)
    ours = f"**{_told(row['ours'])}** ({row['algorithm']})"
    return [row["network"], row["collective"], format_bytes(row["size"]), ours, best, *others]


def _told(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", action="append", choices=list(CASES), help="only these")
    parser.add_argument("--collective", action="append", choices=list(NATIVES), help="only these")
    parser.add_argument(
        "--ours", action="store_true", help="of the results that are there, only schedules anew"
    )
    parser.add_argument("--resume", action="store_true", help="keep the results that are there")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one simulation")
    options, kept = begin(parser, "smpi-reductions", summary)
    need_tools()
    if (options.resume or options.ours) and options.output.exists():
        kept.rows = read(options.output)[1]
    kept.heading |= {"simgrid": simgrid_version(), "settings": SETTINGS}
    done = {(row["network"], row["collective"], row["size"]) for row in kept.rows}
    asked_for = options.collective or list(NATIVES)
    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        if options.ours:
            for row in kept.rows:
                if row["network"] in (options.network or CASES) and row["collective"] in asked_for:
                    again(row, Path(scratch), options.timeout)
                    kept.add()
            return tell_missed(missed([Result(**row) for row in kept.rows]))
        for turn in range(3):
            for name in options.network or CASES:
                case = CASES[name]
                size = case.sizes[turn] if turn < len(case.sizes) else None
                for collective in case.collectives if size else ():
                    if collective in asked_for and (name, collective, size) not in done:
                        result = measure(name, case, collective, size, Path(scratch), options.timeout)
                        kept.add(asdict(result))
                        print(f"{name}, {collective}, {format_bytes(size)}: {result.ours}", flush=True)
    return tell_missed(missed([Result(**row) for row in kept.rows]) if not options.network else [])


if __name__ == "__main__":
    sys.exit(main())
