"""Measures reading of large network files: processor and elapsed seconds of ``hocket network show FILE``.

    python bench/readers/large.py [--hosts 50000] [--repeat 3] [--label after]

Rows of other labels stay, so that two versions stand side by side. Writes bench/results/large-files.{csv,md}.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from results_file import Row, begin, cells, grouped, provenance, read, spread, values

SWITCH = '[[switch]]\nname = "s0"\n'


def files(hosts: int) -> dict[str, str]:
    """Network files of so many hosts, by what they are called."""
    numbers = range(hosts)
    return {
        "list.toml": f'{SWITCH}hosts = "n[0-{hosts - 1}]"\n',
        "tables.toml": SWITCH + "".join(f'[[host]]\nname = "n{n}"\nswitch = "s0"\n' for n in numbers),
        "links.toml": SWITCH
        + "".join(f'[[host]]\nname = "n{n}"\nrate = "10Gbit"\n' for n in numbers)
        + "".join(f'[[link]]\na = "s0"\nb = "n{n}"\nrate = "10Gbit"\n' for n in numbers),
        "unwired.toml": "".join(f'[[host]]\nname = "n{n}"\n' for n in numbers),
        "components.conf": "".join(
            f"SwitchName=s{n} Nodes=n[{2 * n}-{2 * n + 1}]\n" for n in range(hosts // 2)
        ),
    }


def measured(path: Path) -> tuple[float, float, int]:
    """Processor seconds, elapsed seconds and exit code."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "hocket", "network", "show", str(path)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, time.perf_counter() - began, child.returncode


def summary(heading: Row, rows: list[Row]) -> Iterable[str]:
    yield "# Large network files"
    yield ""
    yield provenance(heading)
    yield ""
    yield f"`hocket network show` of files with {heading['hosts']:,} hosts: median (least–most), in s."
    yield '`list.toml` is `hosts = "n[0-…]"`, `tables.toml` one `[[host]]` each, `links.toml` one `[[link]]` each'
    yield "as well; `unwired.toml` has hosts without a switch (refused now), `components.conf` two hosts on each switch"
    yield "and no wire between switches."
    yield ""
    yield from cells(
        ("file", "version", "processor time", "elapsed", "exit code"),
        (
            (name, label, spread(values(row["processor"]), 2), spread(values(row["elapsed"]), 2), row["code"])
            for (name, label), (row,) in grouped(rows, "file", "label").items()
        ),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=50_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--label", default="after", help="what to call the version that is measured")
    options, results = begin(parser, "large-files", summary)
    results.heading["hosts"] = options.hosts
    kept = read(options.output)[1] if options.output.exists() else []
    with tempfile.TemporaryDirectory() as place:
        for name, text in files(options.hosts).items():
            path = Path(place) / name
            path.write_text(text, encoding="utf-8")
            processor, elapsed, codes = zip(*(measured(path) for _ in range(options.repeat)), strict=True)
            kept = [row for row in kept if (row["file"], row["label"]) != (name, options.label)]
            kept.append({"file": name, "label": options.label, "processor": [round(x, 2) for x in processor],
                         "elapsed": [round(x, 2) for x in elapsed], "code": codes[0]})  # fmt: skip
    results.add(*sorted(kept, key=lambda row: (row["file"], row["label"] != "before", row["label"])))


if __name__ == "__main__":
    main()
