"""A million altered files for all readers: what is accepted, what is refused, what is at fault.

    python bench/readers/mutated.py [--inputs 1000000] [--seed 1] [--limit SECONDS] [--resume]

Each slice runs in a process of its own, so that a crash ends one slice and is counted. A reader of small cost gets more
inputs than one of large cost. Writes bench/results/readers.{csv,md} after every slice; exits with 1 after any fault.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from hocket.errors import HocketError
from mutations import altered, complaint, readers
from results_file import Row, begin, cells, grouped, provenance, read

HANG: Final = 20.0  # seconds for one input
SLICE_SECONDS: Final = 4.0  # a slice ends then, or after its inputs
MOST_IN_A_SLICE: Final = 20_000
SHOWN_FAULTS: Final = 3


class Hang(BaseException):
    """An input took longer than HANG."""


def run_slice(number: int, seed: str) -> None:
    """Inputs of one reader, until time is up; prints counts as JSON. Progress goes to standard error for crashes."""

    def stop(*_: object) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, stop)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        reader = readers(Path(place))[number]
        folder = Path(place) / "files"
        folder.mkdir()
        reader.prepare(folder)
        choose = random.Random(seed)
        counts: dict[str, Any] = {
            "inputs": 0,
            "accepted": 0,
            "refused": 0,
            "slowest_seconds": 0.0,
            "faults": [],
        }
        path = folder / reader.file
        began = time.perf_counter()
        while counts["inputs"] < MOST_IN_A_SLICE and time.perf_counter() - began < SLICE_SECONDS:
            data = altered(choose.choice(reader.seeds), choose)
            path.write_bytes(data)
            counts["inputs"] += 1
            before = time.process_time()
            signal.setitimer(signal.ITIMER_REAL, HANG)
            try:
                reader.read(path)
                counts["accepted"] += 1
            except HocketError as problem:
                counts["refused"] += 1
                if wrong := complaint(problem, folder):
                    counts["faults"].append([wrong, repr(data[-300:])])
            except Hang:
                counts["faults"].append([f"takes more than {HANG:.0f} s", repr(data[-300:])])
            except Exception as problem:  # a fault, whatever it is
                counts["faults"].append([f"{type(problem).__name__}: {problem}"[:300], repr(data[-300:])])
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            counts["slowest_seconds"] = max(counts["slowest_seconds"], time.process_time() - before)
    print(json.dumps(counts))


def measured(number: int, name: str, seed: str) -> Row:
    done = subprocess.run(
        [sys.executable, __file__, "--slice", str(number), seed],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )  # fmt: skip
    row: Row = {"reader": name, "slices": 1}
    try:
        counts = json.loads(done.stdout)
    except ValueError:
        counts = {"inputs": 0, "accepted": 0, "refused": 0, "slowest_seconds": 0.0,
                  "faults": [[f"crash, exit code {done.returncode}", done.stderr[-500:]]]}  # fmt: skip
    for what, example in counts["faults"][:SHOWN_FAULTS]:
        print(f"{name}, seed {seed}: {what}\n    {example}", file=sys.stderr)
    return {
        **row,
        **counts,
        "slowest_seconds": round(counts["slowest_seconds"], 3),
        "faults": len(counts["faults"]),
    }


def summary(heading: Row, rows: list[Row]) -> Iterable[str]:
    yield "# Altered files for readers"
    yield ""
    yield provenance(heading)
    yield ""
    yield "Valid files altered by seeded chance: bytes, words and lines replaced, left out or doubled, ends cut off."
    yield "A fault is anything but acceptance or one error in one line with a remedy: a crash, another exception,"
    yield f"more than {HANG:.0f} s for one file. Readers take turns of some seconds, each in its own process."
    yield "Made by `make bench NAME=readers`."
    yield ""
    total = {key: sum(row[key] for row in rows) for key in ("inputs", "accepted", "refused", "faults")}
    head = ["reader", "inputs", "accepted", "refused", "faults", "slowest, s of CPU"]
    body = [
        [
            name,
            *(f"{sum(row[key] for row in own):,}" for key in total),
            max(row["slowest_seconds"] for row in own),
        ]
        for name, own in grouped(rows, "reader").items()
    ]
    yield from cells(head, [*body, ["together", *(f"{count:,}" for count in total.values()), ""]])


def merged(rows: list[Row]) -> list[Row]:
    """One row a reader, to keep the file short; slice K of a reader has the seed `SEED-READER-K`."""
    found = []
    for name, own in grouped(rows, "reader").items():
        sums = {key: sum(row[key] for row in own) for key in ("inputs", "accepted", "refused", "faults")}
        slices = sum(row["slices"] for row in own)
        found.append(
            {
                "reader": name,
                "slices": slices,
                **sums,
                "slowest_seconds": max(r["slowest_seconds"] for r in own),
            }
        )
    return found


def main() -> int:
    if "--slice" in sys.argv:  # a process of measured()
        run_slice(int(sys.argv[2]), sys.argv[3])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds, after which --resume goes on")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier call has ended")
    options, results = begin(parser, "readers", summary)
    if options.resume and options.output.exists():
        results.rows = read(options.output)[1]
    ended = time.monotonic() + options.limit
    with tempfile.TemporaryDirectory() as place:
        names = [reader.name for reader in readers(Path(place))]
    while sum(row["inputs"] for row in results.rows) < options.inputs and time.monotonic() < ended:
        slices = {row["reader"]: row["slices"] for row in results.rows}
        for number, name in sorted(enumerate(names), key=lambda item: slices.get(item[1], 0)):
            done = slices.get(name, 0)
            row = measured(number, name, f"{options.seed}-{name}-{done}")
            results.rows = merged([*results.rows, row])
            results.add()
            if time.monotonic() > ended:
                break
    return int(any(row["faults"] for row in results.rows))


if __name__ == "__main__":
    sys.exit(main())
