"""The copy-transfer model against measurement, as in the talk's tables: `make bench NAME=memory-model`.

Calibrates, runs every operation on elements, and compares. Writes bench/results/memory-model.{csv,md}.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hocket import _core
from hocket.launch.mpi import find_mpi
from hocket.measure.memory.calibrate import calibrate, processor, usable_memory

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import run_job
from results_file import Row, begin, provenance, table

HERE = Path(__file__).parent
LIMIT = 600  # seconds
WITHIN = 0.25
LEAST_SHARE = 0.02  # of its sort, for a step to count


def predicted(profile: _core.memory.Profile, row: dict[str, Any], ranks: int) -> dict[str, float]:
    """Predicted seconds of each step."""
    if row["what"] == "sort":  # by the sort itself, which knows its digits
        return dict(row["predicted"])
    shape = _core.memory.PermuteShape(row["width"], row["elements"], ranks, ranks)
    if row["what"] == "grouped permute":
        return dict(_core.memory.predict_grouped_permute(profile, shape, row["runs"]))
    predict = {
        "permute": _core.memory.predict_permute,
        "take": _core.memory.predict_take,
        "transpose": _core.memory.predict_transpose,
    }[row["what"]]
    return dict(predict(profile, shape, row["method"]))


def compare(profile: _core.memory.Profile, row: dict[str, Any], ranks: int) -> list[Row]:
    """The whole operation, whose step is None, and its steps."""
    model = predicted(profile, row, ranks)
    seconds = row.get("seconds") or sum(row["steps"].values())
    where = {key: row[key] for key in ("what", "method", "width", "elements")}
    where |= {"key": row.get("key"), "runs": row.get("runs")}
    steps = [
        where | {"step": name, "measured": row.get("steps", {}).get(name), "model": cost}
        for name, cost in model.items()
    ]
    return [where | {"step": None, "measured": seconds, "model": sum(model.values())}, *steps]


def error(row: Row) -> float:
    """0 where they agree; the talk's 7.88 MB/s for 3.99 is -0.49."""
    return float(row["model"] / row["measured"] - 1)


def name(row: Row) -> str:
    grouped = row["what"] == "grouped permute"
    what = f"grouped permute, {row['runs']} runs" if grouped else f"{row['what']} {row['method']}"
    return f"{what}, {row['key']}" if row["key"] else what


def summary(heading: Row, rows: list[Row]) -> list[str]:
    whole: list[Row] = []
    steps: list[Row] = []  # of sorts, with their share of the time
    for row in rows:
        if row["step"] is None:
            whole.append(row)
        elif row["measured"] is not None:
            steps.append(row | {"share": row["measured"] / whole[-1]["measured"]})

    def rates(row: Row) -> str:
        """Model and measurement."""
        megabytes = 1e-6 * row["elements"] * row["width"] / heading["ranks"]
        return f"{megabytes / row['model']:,.0f} | {megabytes / row['measured']:,.0f}"

    def step_line(row: Row) -> str:
        off = f"{error(row):+.0%}" if row in large else f"({error(row):+.0%})"
        milliseconds = f"{1e3 * row['model']:.1f} | {1e3 * row['measured']:.1f}"
        return f"{name(row)} | {row['width']} | {row['step']} | {milliseconds} | {off}"

    large = [row for row in steps if row["share"] >= LEAST_SHARE]
    close, close_steps = (sum(abs(error(row)) <= WITHIN for row in of) for of in (whole, large))
    return [
        "# The copy-transfer model against measurement",
        "",
        f"{provenance(heading)}; {heading['processor']}.",
        f"Profile: {heading['profile']}. {heading['ranks']} ranks of one host, "
        f"{heading['bytes'] >> 20} MiB per rank; medians.",
        "MB/s are bytes of elements per rank over the time of the operation; the error is that of its",
        f"prediction. A step under {100 * LEAST_SHARE:g} % of its sort is in parentheses.",
        "",
        f"Whole operations within {WITHIN:.0%}: {close} of {len(whole)}; "
        f"steps of the sorts: {close_steps} of {len(large)}.",
        "The talk's model said 7.88 MB/s for a sort that was measured at 3.99: -49 % of the time.",
        "",
        *table(
            "operation | bytes per element | model MB/s | measured MB/s | error of the time",
            lambda row: f"{name(row)} | {row['width']} | {rates(row)} | {error(row):+.0%}",
            whole,
        ),
        "",
        *table("sort | bytes per element | step | model ms | measured ms | error", step_line, steps),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--bytes", type=int, default=128 << 20, help="of each rank's part")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", help="a profile measured before, instead of calibrating")
    options, results = begin(parser, "memory-model", summary)
    mpi = find_mpi()
    if options.profile:
        profile = _core.memory.Profile.parse(Path(options.profile).read_text())
    else:
        memory = usable_memory(options.ranks, quick=False)
        profile = calibrate(mpi, options.ranks, memory, False, lambda at, of, what: None)
    results.heading |= {"processor": processor(), "profile": profile.origin}
    results.heading |= {"ranks": options.ranks, "bytes": options.bytes}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(profile.text())
        file.flush()
        command = [
            sys.executable,
            HERE / "operations.py",
            "--bytes",
            options.bytes,
            "--repeats",
            options.repeats,
        ]
        done = run_job(mpi, options.ranks, {"HOCKET_MEMORY": file.name}, command, LIMIT)
    operations = json.loads(done.stdout.splitlines()[-1])
    results.add(*(row for one in operations for row in compare(profile, one, options.ranks)))
    print(results.summarise())


if __name__ == "__main__":
    main()
