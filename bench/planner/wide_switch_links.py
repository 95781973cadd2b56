"""All-to-alls by `auto` on trees with wide inter-switch links: phases and predicted time over the closed bound.

Run by `make bench NAME=wide-switch-links`; writes bench/results/wide-switch-links.{csv,md}.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from hocket.planning.plan import plan_collective

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from results_file import Row, begin, provenance, table
from strategies import RATE
from wide_trees import SHAPES, closed_bound, tapered_tree

BYTES: Final = 1 << 20
TAPERS: Final = (1, 2, 3, 4)


def measure(hosts: int, levels: str, shape: tuple[int, ...], taper: int) -> Row:
    network, switch_links = tapered_tree(shape, taper)
    least = closed_bound(network.ranks, switch_links)
    planned = plan_collective("all-to-all", network, BYTES)
    if not planned.certificate.ok:
        sys.exit(f"{shape}, {taper}:1: the verifier refuses the schedule")
    return {
        "hosts": hosts,
        "levels": levels.split()[0],
        "shape": "x".join(map(str, shape)),
        "taper": taper,
        "narrowest": round(min(width for _, width in switch_links), 3),
        "algorithm": planned.algorithm,
        "phases": planned.schedule.phases,
        "bound": round(least, 3),
        "predicted_seconds": planned.predicted_seconds,
        "time_over_bound": round(planned.predicted_seconds / (least * BYTES / RATE), 4),
        "plan_seconds": round(planned.plan_seconds, 2),
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# All-to-alls on trees with wide inter-switch links",
        "",
        f"{provenance(heading)}, shared with other work.",
        "What `auto` plans for 1 MiB per message. Every schedule passed the verifier. Taper 2:1: each",
        "level of inter-switch links has half the bandwidth of the level below it. Bound: what a host sends, or",
        "what crosses an inter-switch link over its width, as messages one after the other at a host's speed; no",
        "schedule takes less time. Narrowest: inter-switch link, in host speeds. Whole messages cross an "
        "inter-switch link",
        "side by side, so a fraction of a host's speed (3:1) is left idle. Phases may be fewer than",
        "the bound where an inter-switch link is slower than a host.",
        "",
        *table(
            "hosts | levels | taper | narrowest | algorithm | phases | bound | time / bound | planned in s",
            "{hosts} | {levels} ({shape}) | {taper}:1 | {narrowest:g} | {algorithm} | {phases:,} | {bound:,g}"
            " | {time_over_bound:.3f} | {plan_seconds:.2f}",
            rows,
        ),
    ]


def main() -> None:
    _, results = begin(argparse.ArgumentParser(description=__doc__), "wide-switch-links", summary)
    for hosts, by_levels in SHAPES.items():
        for levels, shape in by_levels.items():
            for taper in TAPERS:
                results.add(measure(hosts, levels, shape, taper))
                print(*results.rows[-1].values(), flush=True)


if __name__ == "__main__":
    main()
