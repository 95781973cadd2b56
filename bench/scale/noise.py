"""What delays of ranks cost an all-to-all that runs by tokens: single delays, and Poisson noise.

Run by `make bench-noise`; writes bench/results/noise.{csv,md} and docs/pictures/noise.png. Everything is computed, the
same on every machine.

One switch: in phase p rank u sends to u + 1 + p, and times follow from those of the phases before, for all ranks at
once.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import ROOT, Row, begin, grouped, provenance, table

WINDOWS: Final = (1, 2, 4, 8)
DELAYS: Final = (0.25, 1.0, 4.0, 16.0)  # of one rank, in message times
LATENCY: Final = 0.1  # message times, before a message flows
TOKEN: Final = 0.1  # message times, from a receiver to the next sender
RANKS: Final = 1_000
MOST_PHASES: Final = 1_000  # of an exchange: its first ones
NOISE: Final = ((0.5, 0.01), (4.0, 0.01), (4.0, 0.1))  # delay, part of the time that ranks are away
NOISY_RANKS: Final = (100, 1_000)
SLOTS: Final = 400  # at most: a rank is away at most once in each
PICTURE: Final = ROOT / "docs" / "pictures" / "noise.png"
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Away:
    """When ranks do nothing: at most once in every ``width`` message times, for ``delay``."""

    begin: Array  # (ranks, slots); infinite where the rank is not away
    width: float
    delay: float

    @classmethod
    def once(cls, ranks: int, rank: int, begin: float, delay: float) -> Away:
        begins = np.full((ranks, 1), math.inf)
        begins[rank] = begin
        return cls(begins, math.inf, delay)

    @classmethod
    def noise(cls, ranks: int, seconds: float, delay: float, part: float, seed: int) -> Away:
        """A Poisson process, but that two delays of a rank do not overlap."""
        slots = max(1, min(SLOTS, int(seconds * max(part / delay * 4, 1e-9)) + 1))
        width = seconds / slots
        rng = np.random.default_rng(seed)
        # Of more than one in a slot only the first counts; that is made up for.
        hit = rng.random((ranks, slots)) < min(part * width / delay, 1)
        at = np.arange(slots) * width + rng.random((ranks, slots)) * max(width - delay, 0)
        return cls(np.where(hit, at, math.inf), width, delay)

    def after(self, ranks: NDArray[np.intp], times: Array) -> Array:
        """When these ranks act that would at these times."""
        slot = np.minimum(times / self.width, self.begin.shape[1] - 1).astype(np.intp)
        begin = self.begin[ranks, slot]
        return np.where((times >= begin) & (times < begin + self.delay), begin + self.delay, times)

    def mean(self, seconds: float) -> float:
        """Message times that a rank is away, of the first ``seconds``."""
        return float(np.clip(seconds - self.begin, 0, self.delay).sum(axis=1).mean())


def one_switch(ranks: int, window: int, away: Away | None = None, ends: list[Array] | None = None) -> float:
    """Message times of an all-to-all in which ports serve messages in the order of phases.

    ``ends`` gets the end of every message, an array per phase.
    """
    rank = np.arange(ranks)
    act = away.after if away is not None else lambda _, times: times
    last: list[Array] = []  # ends of the last ``window`` phases
    posted = np.zeros(ranks)
    for phase in range(min(ranks - 1, MOST_PHASES)):
        ready = posted
        if phase >= window:
            before = last[0]
            told = act((rank + 1 + phase) % ranks, np.roll(before, -window)) + TOKEN
            ready = np.maximum(np.maximum(ready, before), told)
        posted = act(rank, ready)
        begin = posted + LATENCY
        if phase > 0:
            begin = np.maximum(begin, np.maximum(last[-1], np.roll(last[-1], -1)))
        last.append(begin + 1)
        if ends is not None:
            ends.append(last[-1])
        if len(last) > window:
            del last[0]
    return float(max(end.max() for end in last))


@dataclass
class Wave:
    """How far behind messages are after rank 0 was away for a while."""

    behind: list[float] = field(default_factory=list)  # per phase: the message that is most
    late: list[int] = field(default_factory=list)  # per phase: messages that are, by a tenth of the delay


def wave(quiet: list[Array], ends: list[Array], delay: float) -> Wave:
    found = Wave()
    for calm, end in zip(quiet, ends, strict=True):
        behind = end - calm
        found.behind.append(float(behind.max()))
        found.late.append(int((behind > delay / 10).sum()))
    return found


def delayed_once(ranks: int) -> Iterator[Row]:
    for window in WINDOWS:
        whole = one_switch(ranks, window)
        for delay in DELAYS:
            longer = one_switch(ranks, window, Away.once(ranks, 0, whole / 4, delay)) - whole
            yield {
                "kind": "single",
                "ranks": ranks,
                "window": window,
                "delay": delay,
                "factor": _told(longer / delay),
            }


def travelled(ranks: int, delay: float) -> Iterator[Row]:
    """Speed and decay of the wave that one delay makes."""
    for window in WINDOWS:
        quiet: list[Array] = []
        ends: list[Array] = []
        whole = one_switch(ranks, window, None, quiet)
        one_switch(ranks, window, Away.once(ranks, 0, whole / 4, delay), ends)
        found = wave(quiet, ends, delay)
        reached = np.zeros(ranks, dtype=bool)
        first = next((p for p, late in enumerate(found.late) if late), None)
        row: Row = {"kind": "wave", "ranks": ranks, "window": window, "delay": delay}
        if first is not None:
            far = first + len(ends) // 4
            for phase in range(first, far + 1):
                reached |= ends[phase] - quiet[phase] > delay / 10
            row["speed"] = _told((int(reached.sum()) - found.late[first]) / (far - first))
            row["peak"] = _told(max(found.behind) / delay)
            row["peak_later"] = _told(found.behind[far] / delay)
            row["late_at_once"] = max(found.late)
        yield row


def noisy(ranks: int) -> Iterator[Row]:
    for window in WINDOWS:
        whole = one_switch(ranks, window)
        for delay, part in NOISE:
            away = Away.noise(ranks, 1.5 * whole, delay, part, seed=1)
            longer = one_switch(ranks, window, away) - whole
            yield {
                "kind": "noise", "ranks": ranks, "window": window, "delay": delay, "part": part,
                "slower": _told(longer / whole), "factor": _told(longer / away.mean(whole + longer)),
            }  # fmt: skip


def _told(value: float) -> float:
    return round(max(value, 0.0) if abs(value) < 5e-5 else value, 4)


def _by_window(rows: list[Row], column: str, digits: int = 2) -> Row:
    """Cells w1, w2, …"""
    cells = {f"w{row['window']}": "–" if row[column] is None else f"{row[column]:.{digits}f}" for row in rows}
    return rows[0] | cells


WINDOW_CELLS: Final = " | ".join(f"{{w{window}}}" for window in WINDOWS)
WINDOW_HEADS: Final = " | ".join(f"window {window}" for window in WINDOWS)


def summary(heading: Row, rows: list[Row]) -> list[str]:
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
        "All-to-alls by tokens. Times are in message times: what one message takes at full host speed. Latency of a",
        f"message {LATENCY}, of a token {TOKEN}. One switch, the first {MOST_PHASES:,} phases; ports serve messages in",
        "the order of phases.",
        "",
        "## 1. One rank is away once: by how much the whole takes longer, over the delay",
        "",
        *lines("single", "ranks | delay", "{ranks:,} | {delay}", "factor", "ranks", "delay"),
        "",
        "## 2. The wave that a delay makes",
        "",
        "Speed: ranks that are reached with each phase. Left: by how much the latest message is behind a quarter of",
        "the exchange later, over the delay. Late: messages of one phase that are behind by a tenth of the delay, at",
        "most.",
        "",
        *table(
            "ranks | delay | window | speed | left | late",
            lambda row: (
                f"{row['ranks']:,} | {row['delay']} | {row['window']} | "
                + ("no wave | – | 0" if row["speed"] is None else
                   f"{row['speed']:.2f} | {row['peak_later']:.2f} | {row['late_at_once']}")
            ),
            kinds.get("wave", []),
        ),
        "",
        "## 3. Poisson noise on all ranks: by how much the whole takes longer, over the time that a rank is away",
        "",
        *lines(
            "noise", "ranks | delay | away", "{ranks:,} | {delay} | {part:.0%}", "factor", "ranks", "delay", "part"
        ),
        "",
        "The same over the time without noise:",
        "",
        *lines(
            "noise", "ranks | delay | away", "{ranks:,} | {delay} | {part:.0%}", "slower", "ranks", "delay", "part"
        ),
    ]  # fmt: skip


def picture(path: Path, ranks: int = 160, delay: float = 16.0) -> None:
    """Who is behind, by how much, after one rank was away."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(WINDOWS), figsize=(12, 3.6), sharey=True, layout="constrained")
    for window, axis in zip(WINDOWS, axes, strict=True):
        quiet: list[Array] = []
        ends: list[Array] = []
        whole = one_switch(ranks, window, None, quiet)
        one_switch(ranks, window, Away.once(ranks, ranks // 2, whole / 4, delay), ends)
        behind = np.array(ends) - np.array(quiet)
        image = axis.imshow(behind.T, origin="lower", aspect="auto", cmap="magma_r", vmin=0, vmax=delay)
        axis.set(title=f"window {window}", xlabel="phase")
    axes[0].set_ylabel("sender")
    figure.colorbar(image, ax=axes, label="message times behind")
    figure.suptitle(f"One rank of {ranks} is away for {delay:.0f} message times")
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=RANKS, help="of the largest exchange")
    arguments, results = begin(parser, "noise", summary)
    results.add(*delayed_once(arguments.ranks))
    for delay in (4.0, 16.0):
        results.add(*travelled(min(1_000, arguments.ranks), delay))
    for ranks in NOISY_RANKS:
        if ranks <= arguments.ranks:
            results.add(*noisy(ranks))
    if arguments.output == parser.get_default("output"):
        picture(PICTURE)


if __name__ == "__main__":
    main()
