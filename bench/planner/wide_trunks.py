"""All-to-alls by `auto` on trees with wide trunks: phases and predicted time over the closed bound.

Run by `make bench-wide-trunks`; writes bench/results/wide-trunks.csv and wide-trunks.md.
"""

from __future__ import annotations

import csv
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from hocket.planning import plan_all_to_all  # noqa: E402
from strategies import RATE  # noqa: E402
from wide_trees import SHAPES, closed_bound, tapered_tree  # noqa: E402

RESULTS = ROOT / "bench" / "results"
BYTES: Final = 1 << 20
TAPERS: Final = (1, 2, 3, 4)


def measure(hosts: int, levels: str, shape: tuple[int, ...], taper: int) -> dict[str, Any]:
    network, trunks = tapered_tree(shape, taper)
    least = closed_bound(network.ranks, trunks)
    planned = plan_all_to_all(network, BYTES)
    if not planned.certificate.ok:
        sys.exit(f"{shape}, {taper}:1: the verifier refuses the schedule")
    return {
        "hosts": hosts,
        "levels": levels.split()[0],
        "shape": "x".join(map(str, shape)),
        "taper": taper,
        "narrowest": round(min(width for _, width in trunks), 3),
        "scheduler": planned.scheduler,
        "phases": planned.schedule.phases,
        "bound": round(least, 3),
        "predicted_seconds": planned.predicted_seconds,
        "time_over_bound": round(planned.predicted_seconds / (least * BYTES / RATE), 4),
        "plan_seconds": round(planned.plan_seconds, 2),
    }


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# All-to-alls on trees with wide trunks",
        "",
        f"`make bench-wide-trunks`, {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} × {platform.machine()}, "
        "shared with other work.",
        "What `auto` plans for 1 MiB per message. Every schedule passed the verifier. Taper 2:1: each",
        "level of trunks has half the bandwidth of the level below it. Bound: what a host sends, or",
        "what crosses a trunk over its width, as messages one after the other at a host's speed; no",
        "schedule takes less time. Narrowest: trunk, in host speeds. Whole messages cross a trunk",
        "side by side, so a fraction of a host's speed (3:1) is left idle. Phases may be fewer than",
        "the bound where a trunk is slower than a host.",
        "",
        "| hosts | levels | taper | narrowest | scheduler | phases | bound | time / bound | planned in s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['hosts']} | {r['levels']} ({r['shape']}) | {r['taper']}:1 | {r['narrowest']:g} "
        f"| {r['scheduler']} | {r['phases']:,} | {r['bound']:,g} "
        f"| {r['time_over_bound']:.3f} | {r['plan_seconds']:.2f} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    rows = []
    for hosts, by_levels in SHAPES.items():
        for levels, shape in by_levels.items():
            for taper in TAPERS:
                rows.append(measure(hosts, levels, shape, taper))
                print(*rows[-1].values(), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / "wide-trunks.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (RESULTS / "wide-trunks.md").write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
