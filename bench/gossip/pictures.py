"""Gossip by its formulas: time per byte on a ring of 64 and on 8x8, and who wins where.

Writes them as SVG, and their data as gossip.csv, into a folder (default: bench/results/gossip).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hocket.plots.gossip import draw_regions, draw_time_per_byte, regions, time_per_byte

sys.path.insert(0, str(Path(__file__).parents[1]))
from results_file import RESULTS, Row, write

LENGTHS = [1 << i for i in range(3, 18)]
# What the paper measured on its Paragon: 150 µs per startup, 87 MB/s one way.
STARTUP, PER_BYTE = 150e-6, 11.5e-9
RATIOS = [2 ** (i / 2) for i in range(-4, 24)]
RINGS = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048]
TORI = [4, 6, 8, 9, 12, 16, 18, 20, 24, 25, 27, 32, 36, 48, 60, 64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS / "gossip")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for sides, name in (([64], "ring"), ([8, 8], "torus")):
        for half_duplex in (False, True):
            curves = time_per_byte(
                sides, LENGTHS, STARTUP, PER_BYTE, shared=not half_duplex, half_duplex=half_duplex
            )
            key = f"time-{name}-{'one-port' if half_duplex else 'all-port'}"
            rows += [
                {"picture": key, "algorithm": name, "bytes": length, "ns_per_byte": time}
                for name, times in curves.curves.items()
                for length, time in zip(curves.lengths, times, strict=True)
            ]
            draw_time_per_byte(curves, out / f"{key}.svg")
    for dimensions, sides, name in ((1, RINGS, "rings"), (2, TORI, "tori")):
        for shared in (False, True):
            winners = regions(sides, RATIOS, dimensions=dimensions, shared=shared)
            key = f"regions-{name}-{'shared' if shared else 'strict'}"
            rows += [
                {"picture": key, "algorithm": winner, "side": side, "ratio": ratio}
                for ratio, by_side in zip(winners.ratios, winners.winners, strict=True)
                for side, winner in zip(winners.sides, by_side, strict=True)
            ]
            draw_regions(winners, out / f"{key}.svg")
    write(out / "gossip.csv", {"startup": STARTUP, "seconds_per_byte": PER_BYTE}, rows)


if __name__ == "__main__":
    main()
