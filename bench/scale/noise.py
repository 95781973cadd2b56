"""Computes the effect of delayed ranks on an all-to-all that runs by tokens: single delays, and Poisson
noise.

Run by `make bench NAME=noise`; writes bench/results/noise.{csv,md} and docs/pictures/noise.png. Everything is computed,
the same on every machine.

Times are those of _core.FormSimulation, in message times: all messages of the schedule that is planned for the network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from hocket import _core
from hocket.network import read_network
from results_file import ROOT, Row, begin, grouped, provenance, table

WINDOWS: Final = (1, 2, 4, 8)
DELAYS: Final = (0.25, 1.0, 4.0, 16.0)  # of one rank, in message times
WAVES: Final = (4.0, 16.0)  # delays that are followed from rank to rank
LATENCY: Final = 0.1  # message times, of any route: before a message flows, and of a token
NOISE: Final = ((0.5, 0.01), (4.0, 0.01), (4.0, 0.1))  # delay, part of the time that ranks are away
NETWORKS: Final = {  # by their short forms
    "star:100": "one switch",
    "star:1000": "one switch",
    "star:10000": "one switch",
    "tree:100x100": "100 switches with 100 hosts each",
    "fat-tree:k=34": "full fat tree, 3 levels",
}
LOOKS: Final = 4_000  # at all ranks, while a wave runs
NOISE_SAMPLE: Final = 100  # ranks of which it is counted how long noise keeps them away
SEED: Final = 1
KINDS: Final = ("single", "wave", "noise")
PICTURE: Final = ROOT / "docs" / "pictures" / "noise.png"
Array = NDArray[np.float64]


class Exchange:
    """An all-to-all of a network, one rank a host, with messages that take one second at full host speed."""

    def __init__(self, source: str) -> None:
        self.source = source
        network = read_network(source)
        self.ranks = network.ranks
        self.bytes = network.host_rate
        self.form = _core.ClosedForm(network, _core.Demand(network.ranks, 1))

    def runs(self, window: int, *runs: _core.Away) -> _core.FormSimulation:
        return _core.FormSimulation(self.form, self.bytes, window, latency=LATENCY, runs=list(runs))

    def times(self, window: int, ways: Sequence[_core.Away]) -> list[float]:
        """Time of the whole exchange: without a delay, then with each of these delays."""
        runs = self.runs(window, self.never(), *ways)
        runs.advance()
        return [runs.seconds(run) for run in range(1 + len(ways))]

    def next_post(self, window: int, rank: int) -> float:
        """Time when the rank posts its next message after a quarter of all phases."""
        quiet = self.runs(window)
        quiet.advance(self.form.phases // 4)
        before = quiet.posted(rank)
        while quiet.posted(rank) == before and quiet.phases < self.form.phases:
            quiet.advance(1)
        return quiet.posted(rank)

    def never(self) -> _core.Away:
        return _core.Away(self.ranks)

    def away_once(self, rank: int, begin: float, delay: float) -> _core.Away:
        return _core.Away(self.ranks, [(rank, begin, delay)])

    def noise(self, delay: float, part: float) -> _core.Away:
        return _core.Away(self.ranks, delay=delay, part=part, seed=SEED)

    def noise_seconds(self, away: _core.Away, until: float) -> float:
        """Mean seconds of delay of a rank."""
        sample = min(self.ranks, NOISE_SAMPLE)
        return sum(away.noise_seconds(rank, until) for rank in range(sample)) / sample


@dataclass
class Wave:
    """Lateness of ranks' last messages, after one of the ranks was delayed for a while."""

    delay: float
    reached: NDArray[np.bool_]  # ever late, by a tenth of the delay
    phases: list[int] = field(default_factory=list)  # at which it was looked
    behind: list[float] = field(default_factory=list)  # the rank that is most
    late: list[int] = field(default_factory=list)  # ranks that are
    ranks: list[int] = field(default_factory=list)  # reached so far

    def look(self, phase: int, behind: Array) -> None:
        late = behind > self.delay / 10
        self.reached |= late
        self.phases.append(phase)
        self.behind.append(float(behind.max()))
        self.late.append(int(late.sum()))
        self.ranks.append(int(self.reached.sum()))

    def figures(self, all_phases: int) -> Row:
        """Speed until half of all ranks are reached or a quarter of the exchange is over; what is left then."""
        first = next((at for at, late in enumerate(self.late) if late), None)
        if first is None:
            return {"speed": None, "peak_later": None, "late_at_once": 0}
        end = self.phases[first] + all_phases // 4
        far = next((at for at, phase in enumerate(self.phases) if phase >= end), len(self.phases) - 1)
        half = next((at for at, ranks in enumerate(self.ranks) if ranks >= len(self.reached) / 2), far)
        last = max(min(half, far), first + 1)
        return {
            "speed": _told((self.ranks[last] - self.ranks[first]) / (self.phases[last] - self.phases[first])),
            "peak_later": _told(self.behind[far] / self.delay),
            "late_at_once": max(self.late),
        }


def study(exchange: Exchange, window: int, noise_only: bool = False) -> Iterator[Row]:
    """All rows of a network and window: runs without delays, with single ones, and with noise, at once."""
    delays = () if noise_only else DELAYS
    leaves = 0.0 if noise_only else exchange.next_post(window, 0)
    noises = [exchange.noise(delay, part) for delay, part in NOISE]
    singles = [exchange.away_once(0, leaves, delay) for delay in delays]
    runs = exchange.runs(window, exchange.never(), *singles, *noises)
    phases = exchange.form.phases
    waves = {delay: Wave(delay, np.zeros(exchange.ranks, dtype=bool)) for delay in delays if delay in WAVES}
    while runs.phases < phases:
        runs.advance(max(1, phases // LOOKS))
        if waves:
            quiet = runs.ends()
            for delay, wave in waves.items():
                wave.look(runs.phases, runs.ends(1 + delays.index(delay)) - quiet)
    whole = runs.seconds()
    row: Row = {"network": exchange.source, "ranks": exchange.ranks, "window": window}
    for run, delay in enumerate(delays, 1):
        yield {"kind": "single", **row, "delay": delay, "factor": _told((runs.seconds(run) - whole) / delay)}
    for delay, wave in waves.items():
        yield {"kind": "wave", **row, "delay": delay, **wave.figures(phases)}
    for run, ((delay, part), away) in enumerate(zip(NOISE, noises, strict=True), 1 + len(delays)):
        seconds = runs.seconds(run)
        gone = exchange.noise_seconds(away, seconds)
        yield {
            "kind": "noise", **row, "delay": delay, "part": part,
            "slower": _told((seconds - whole) / whole), "factor": _told((seconds - whole) / gone),
        }  # fmt: skip


def _told(value: float) -> float:
    return round(max(value, 0.0) if abs(value) < 5e-5 else value, 4)


def _by_window(rows: list[Row], column: str, digits: int = 2) -> Row:
    """Cells w1, w2, …"""
    cells = {f"w{row['window']}": "–" if row[column] is None else f"{row[column]:.{digits}f}" for row in rows}
    return rows[0] | cells


WINDOW_CELLS: Final = " | ".join(f"{{w{window}}}" for window in WINDOWS)
WINDOW_HEADS: Final = " | ".join(f"window {window}" for window in WINDOWS)


def _named(row: Row) -> str:
    return f"{row['ranks']:,}, {NETWORKS[row['network']]}"


def summary(heading: Row, rows: list[Row]) -> list[str]:
    rows = [{**row, "name": _named(row)} for row in rows]
    kinds = grouped(rows, "kind")

    def lines(kind: str, head: str, cells: str, column: str, *by: str) -> list[str]:
        groups = grouped(kinds.get(kind, []), *by).values()
        return table(
            f"{head} | {WINDOW_HEADS}", f"{cells} | {WINDOW_CELLS}", [_by_window(g, column) for g in groups]
        )

    return [
        "# Delays and noise along chains of waits",
        "",
        f"{provenance(heading)}.",
        "All-to-alls by tokens, all messages of the schedules that are planned for these networks. Times are in",
        f"message times: what one message takes at full host speed. Latency of messages and tokens: {LATENCY}.",
        "Channels serve messages in the order of phases.",
        _forms(rows),
        "",
        "## 1. Rank 0 is away once: by how much the whole takes longer, over the delay",
        "",
        "It goes when it would post its first message after a quarter of all phases.",
        "",
        *lines("single", "ranks | delay", "{name} | {delay}", "factor", "network", "delay"),
        "",
        "## 2. The wave that a delay makes",
        "",
        "Speed: ranks that are reached with each phase, until half of all are or a quarter of the exchange is over.",
        "Left: by how much the latest rank is behind a quarter of the exchange later, over the delay. Late: ranks that",
        "are behind with their last message by a tenth of the delay, at most.",
        "",
        *table(
            "ranks | delay | window | speed | left | late",
            lambda row: (
                f"{row['name']} | {row['delay']} | {row['window']} | "
                + ("no wave | – | 0" if row["speed"] is None else
                   f"{row['speed']:.3g} | {row['peak_later']:.2f} | {row['late_at_once']:,}")
            ),
            kinds.get("wave", []),
        ),
        "",
        "## 3. Poisson noise on all ranks: by how much the whole takes longer, over the time that a rank is away",
        "",
        f"Of at most {NOISE_SAMPLE} ranks it is counted how long they are away.",
        "",
        *lines(
            "noise", "ranks | delay | away", "{name} | {delay} | {part:.0%}", "factor", "network", "delay", "part"
        ),
        "",
        "The same over the time without noise:",
        "",
        *lines(
            "noise", "ranks | delay | away", "{name} | {delay} | {part:.0%}", "slower", "network", "delay", "part"
        ),
    ]  # fmt: skip


def _forms(rows: Sequence[Row]) -> str:
    return (
        "Networks: "
        + ", ".join(f"`{source}`" for source in dict.fromkeys(row["network"] for row in rows))
        + "."
    )


def picture(path: Path, ranks: int = 160, delay: float = 16.0) -> None:
    """Draw which ranks are late, and by how much, after one rank was delayed."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    exchange = Exchange(f"star:{ranks}")
    figure, axes = plt.subplots(1, len(WINDOWS), figsize=(12, 3.6), sharey=True, layout="constrained")
    for window, axis in zip(WINDOWS, axes, strict=True):
        leaves = exchange.next_post(window, ranks // 2)
        runs = exchange.runs(window, exchange.never(), exchange.away_once(ranks // 2, leaves, delay))
        behind = []
        for _ in range(exchange.form.phases):
            runs.advance(1)
            behind.append(runs.ends(1) - runs.ends())
        image = axis.imshow(
            np.array(behind).T, origin="lower", aspect="auto", cmap="magma_r", vmin=0, vmax=delay
        )
        axis.set(title=f"window {window}", xlabel="phase")
    axes[0].set_ylabel("sender")
    figure.colorbar(image, ax=axes, label="message times behind")
    figure.suptitle(f"One rank of {ranks} is away for {delay:.0f} message times")
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=10_000, help="of the largest exchange")
    arguments, results = begin(parser, "noise", summary)
    for source in NETWORKS:
        exchange = Exchange(source)
        if exchange.ranks > arguments.ranks:
            continue
        rows = [
            row for window in WINDOWS for row in study(exchange, window, noise_only=exchange.ranks == 100)
        ]
        results.add(
            *sorted(rows, key=lambda row: (KINDS.index(row["kind"]), row["delay"], row.get("part", 0)))
        )
    if arguments.output == parser.get_default("output"):
        picture(PICTURE)


if __name__ == "__main__":
    main()
