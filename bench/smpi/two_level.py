"""All-to-alls of few bytes on hosts with many ranks, under SimGrid SMPI: aggregates against SMPI's algorithms.

    python bench/smpi/two_level.py [--size 8 --size 64] [--timeout 300]

64 hosts with 16 ranks each, ranks in the order of the network; 100 Gbit/s, 0.5 µs a link, 0.4 µs for a send and for a
receive. Aggregates: by as many leaders a host as there are ranks, by fewer, or by one that calls the library. Writes
bench/results/smpi-two-level.{csv,md}, anew after every size. Exit code 1 if a figure misses its target, 2 if SimGrid is
not installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from referee import SETTINGS, Referee, RefereeError, need_tools, simgrid_version, tell_missed

from hocket.network import read_network
from hocket.units import format_bytes

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import Row, begin, cells, grouped, provenance

NETWORKS: Final = {"one switch": "star:64", "fat tree, 8 spines": "fat-tree:8x8x8"}
RANKS: Final = 16  # of a host
OVERHEAD: Final = 4e-7
# Nothing for messages without bytes: by them the ranks of a host find out that all are there.
TOLD: Final = tuple(f"smpi/{name}:0:0:0;1:{OVERHEAD}:0" for name in ("os", "ois", "or"))
# Within a host MPI's messages cost what a send and a receive cost; memory is no bottleneck.
WITHIN_HOST: Final = ("network/loopback-lat:0", "network/loopback-bw:1e11")
COPY_RATE: Final = 5e9  # assumed, bytes a second of each of 16 ranks
MEET: Final = 1e-6  # assumed, seconds for 16 ranks to find out that all are there
SIZES: Final = (8, 64, 256, 1024, 4096)
NATIVES: Final = ("bruck", "ring", "pair", "mpich", "ompi", "mvapich2")
TWO_LEVEL: Final[dict[str, int | str]] = {
    "16 leaders": 16,
    "4 leaders": 4,
    "1 leader": 1,
    "1 leader, Bruck": "bruck",
    "1 leader, ring": "ring",
}
TARGET: Final = 5.0


def seconds(run: Callable[[], float]) -> tuple[float | None, str | None]:
    try:
        return run(), None
    except RefereeError as error:
        return None, str(error)


def measure(name: str, size: int, folder: Path, timeout: float) -> list[Row]:
    network = read_network(f"{NETWORKS[name]}*{RANKS}@100Gbit,0.5us")
    referee = Referee(network, folder, timeout=timeout, settings=(*SETTINGS, *TOLD, *WITHIN_HOST))
    copy = network.ranks * size / COPY_RATE
    runs: dict[str, Callable[[], float]] = {}
    for native in NATIVES:
        runs[f"SMPI, {native}"] = lambda native=native: referee.native(size, native)  # type: ignore[misc]
    for two_level, leaders in TWO_LEVEL.items():
        runs[two_level] = lambda leaders=leaders: referee.two_level(leaders, size, RANKS, copy, MEET)  # type: ignore[misc]
    sent = RANKS * (network.ranks - RANKS) * size  # by a host
    rows = []
    for candidate, run in runs.items():
        found, reason = seconds(run)
        row = {"network": name, "ranks": network.ranks, "bytes": size, "bound": sent / network.rate(0)}
        rows.append(row | {"candidate": candidate, "seconds": found, "reason": reason})
        print(f"{name}, {format_bytes(size)}, {candidate}: {found or reason}", flush=True)
    return rows


def best(rows: list[Row], ours: bool) -> Row | None:
    found = [row for row in rows if (row["candidate"] in TWO_LEVEL) == ours and row["seconds"] is not None]
    return min(found, key=lambda row: row["seconds"], default=None)


def missed(rows: list[Row]) -> list[str]:
    problems = []
    for (name, size), of in grouped(rows, "network", "bytes").items():
        ours, theirs = best(of, ours=True), best(of, ours=False)
        if ours is None or theirs is None or theirs["seconds"] < TARGET * ours["seconds"]:
            gain = (
                "no result"
                if ours is None or theirs is None
                else f"{theirs['seconds'] / ours['seconds']:.2f}"
            )
            problems.append(f"{name}, {format_bytes(size)}: {gain}, target {TARGET:g}")
    return problems


def summary(heading: Row, rows: list[Row]) -> list[str]:
    told = []
    for (name, size), of in grouped(rows, "network", "bytes").items():
        fastest, theirs = best(of, ours=True), best(of, ours=False)
        if fastest is None or theirs is None:
            continue
        times = {row["candidate"]: _told(row["seconds"]) for row in of}
        gain = theirs["seconds"] / fastest["seconds"]
        most = theirs["seconds"] / of[0]["bound"]
        library = ", ".join(f"{native} {times[f'SMPI, {native}']}" for native in NATIVES)
        ours = (times[key] for key in TWO_LEVEL)
        told.append(
            [name, format_bytes(size), _told(of[0]["bound"]), library, *ours, f"{gain:.2f}", f"{most:.2f}"]
        )
    return [
        "# SimGrid SMPI as referee: many ranks a host",
        "",
        f"{provenance(heading)}, {heading['simgrid']}. Made by `make bench NAME=smpi-two-level`.",
        "",
        f"All-to-all of 64 hosts with {RANKS} ranks each, in order; 100 Gbit/s, 0.5 µs a link, 0.4 µs for a send and a",
        "receive. Microseconds of one call. *Bound*: what a host must send over its link, at its rate. Assumed:",
        f"each rank copies {COPY_RATE / 1e9:g} GB/s, ranks of a host need {1e6 * MEET:g} µs to meet, twice a call.",
        "Leaders send all at once (`two-level-leaders`), or call the library (`two-level-native`). *Gain*: the best of",
        f"SMPI's algorithms over the best of ours, target {TARGET:g}; no order of messages can gain more than the best",
        "algorithm over the bound, which is beside it. —: no result in time. Up to 64 bytes every byte is checked.",
        "",
        *cells(["network", "message", "bound", "SMPI's algorithms", *TWO_LEVEL, "gain", "most"], told),
    ]  # fmt: skip


def _told(found: float | None) -> str:
    return "—" if found is None else f"{1e6 * found:,.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", action="append", choices=list(NETWORKS), help="only these")
    parser.add_argument("--size", action="append", type=int, help="bytes a message, only these")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one simulation")
    options, kept = begin(parser, "smpi-two-level", summary)
    need_tools()
    kept.heading |= {"simgrid": simgrid_version(), "settings": (*SETTINGS, *TOLD, *WITHIN_HOST)}
    with tempfile.TemporaryDirectory(prefix="hocket-smpi-") as scratch:
        for name in options.network or NETWORKS:
            for size in options.size or SIZES:
                kept.add(*measure(name, size, Path(scratch), options.timeout))
    return tell_missed(missed(kept.rows))


if __name__ == "__main__":
    sys.exit(main())
