"""Measures how long pages of `hocket report` take to be made, and to show their first figure in headless
Chromium.

    python bench/report/open.py [--runs 5]

Writes bench/results/report.{csv,md}; exits with 1 if a median is above the target, with 2 if there is no Chromium.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Final

from hocket.cli import main as hocket
from hocket.network import read_network
from hocket.planning.plan import plan_collective

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from report_pages import CHROMIUM, Browser
from results_file import Row, begin, cells, grouped, provenance, spread

TARGET_SECONDS: Final = 2.0
# Content of each page: a collective that is planned first, or nothing: the network alone.
PAGES: Final = (
    ("tree:8x8", "all-to-all"),
    ("torus:4x4x4", "all-to-all"),
    ("tree:4x16x16", ""),
    ("torus:32x32", ""),
    ("tree:4x16x16", "all-gather"),
    ("tree:4x16x16", "all-to-all"),
)


def measure(browser: Browser, network: str, collective: str, folder: Path, runs: int) -> list[Row]:
    source = network
    if collective:
        source = str(folder / "plan.hkt")
        planned = plan_collective(collective, read_network(network), 65536)
        Path(source).write_bytes(planned.file().encode())
    page = folder / "page.html"
    started = time.perf_counter()
    if hocket(["report", source, "-o", str(page)]) != 0:
        sys.exit(2)
    made = time.perf_counter() - started
    what = {"network": network, "plan": collective or None, "hosts": len(read_network(network).hosts)}
    rows = []
    found = browser.open(page)
    if found.errors or found.requests:
        sys.exit(f"{network} {collective}: {found.errors} {found.requests}")
    for run in range(runs):
        seconds = round(browser.seconds_to_open(page), 2)
        rows.append(
            {**what, "run": run, "made_seconds": round(made, 2), "megabytes": round(page.stat().st_size / 1e6, 1),
             "figures": found.drawn, "opened_seconds": seconds}
        )  # fmt: skip
    return rows


def summary(heading: Row, rows: list[Row]) -> Iterable[str]:
    yield from ("# Pages of hocket report", "", f"{provenance(heading)}.", "")
    yield "Seconds until the first figure is there, in a new tab of headless Chromium without a GPU: median"
    yield f"(least–most) of repeated openings; target: less than {TARGET_SECONDS:.0f} s. Text and tables are there"
    yield "before."
    yield "Made by `make bench NAME=report`."
    yield ""
    told = []
    for (network, plan, hosts), of in grouped(rows, "network", "plan", "hosts").items():
        one = of[0]
        opened = spread([row["opened_seconds"] for row in of], 2)
        told.append(
            [f"{hosts:,}", network, plan or "the network alone", f"{one['megabytes']:.1f}", one["figures"],
             f"{one['made_seconds']:.1f}", opened]
        )  # fmt: skip
    yield from cells(["hosts", "network", "plan", "MB", "figures", "made in s", "opened in s"], told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5, help="openings of each page (default 5)")
    options, results = begin(parser, "report", summary)
    if CHROMIUM is None:
        print("no chromium (Debian: chromium)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="hocket-") as name:
        folder = Path(name)
        browser = Browser(folder)
        try:
            for network, collective in PAGES:
                results.add(*measure(browser, network, collective, folder, options.runs))
        finally:
            browser.close()
    slow = [
        key
        for key, of in grouped(results.rows, "network", "plan").items()
        if median(row["opened_seconds"] for row in of) > TARGET_SECONDS
    ]
    for network, plan in slow:
        print(f"target missed: {network} {plan or ''}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
