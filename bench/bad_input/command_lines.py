"""Twenty thousand spoilt command lines: what is done, what is refused, what is at fault.

    python bench/bad_input/command_lines.py [--cases 20000] [--seed 1]

Every command is tried in turn, in this process (tests/bad_input.py). Nothing is started: launchers and compilers are
scripts that end at once, labs are refused. Writes bench/results/bad-input.{csv,md}; exits with 1 after any fault.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from bad_input import HANG, Outcome, harmless, outcomes
from results_file import Row, begin, cells, grouped, provenance

SLICE: Final = 1000  # cases
_COUNTS: Final = ("cases", "done", "a check said no", "refused", "faults")


def summary(heading: Row, rows: list[Row]) -> Iterable[str]:
    yield "# Spoilt command lines"
    yield ""
    yield provenance(heading)
    yield ""
    yield "Valid command lines of every command, spoilt by seeded chance: values, options and files replaced by odd"
    yield "ones, altered (plans also with right checksums), left out, doubled. A fault is anything but an answer, or a"
    yield "refusal in one line with a remedy, exit code 2, no file changed and nothing left: a traceback, another code,"
    yield f"control characters in what is printed, more than {HANG} s. Made by `make bench NAME=bad-input`."
    yield ""
    body = [
        [
            name,
            *(f"{sum(row[key] for row in own):,}" for key in _COUNTS),
            max(row["slowest_seconds"] for row in own),
        ]
        for name, own in grouped(rows, "command").items()
    ]
    total = [f"{sum(row[key] for row in rows):,}" for key in _COUNTS]
    yield from cells(["command", *_COUNTS, "slowest, s"], [*body, ["together", *total, ""]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", default="1")
    options, results = begin(parser, "bad-input", summary)
    by_command: dict[str, Row] = {}
    last = time.perf_counter()

    def count(one: Outcome) -> None:
        nonlocal last
        now = time.perf_counter()
        row = by_command.setdefault(
            one.case.command,
            {"command": one.case.command, **dict.fromkeys(_COUNTS, 0), "slowest_seconds": 0.0},
        )
        row["cases"] += 1
        row["faults" if one.wrong else {0: "done", 2: "refused"}.get(one.code, "a check said no")] += 1
        row["slowest_seconds"] = round(max(row["slowest_seconds"], now - last), 3)
        last = now
        if one.wrong:
            print(f"{one.wrong}: {one.case}\n    {one.message}", file=sys.stderr)

    for begun in range(0, options.cases, SLICE):
        with tempfile.TemporaryDirectory() as place, harmless(Path(place)):
            last = time.perf_counter()
            outcomes(Path(place), f"{options.seed}-{begun}", min(SLICE, options.cases - begun), count)
        results.rows = [by_command[name] for name in sorted(by_command)]
        results.add()
    return int(any(row["faults"] for row in results.rows))


if __name__ == "__main__":
    sys.exit(main())
