"""Result files of benches: NAME.csv, one row a measurement, and NAME.md, its summary, made from the CSV file.

Lines ``# key: value`` at the top hold what is the same for all rows. An empty cell is None. A cell with
semicolons is a list: raw repetitions of one measurement (``values``), or NAME=VALUE (``pairs``). A summary is blocks,
text or the lines of a table, between which the file has empty lines.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "bench" / "results"

Row = dict[str, Any]
Block = str | Sequence[str]
Summary = Callable[[Row, list[Row]], Iterable[Block]]  # heading, rows: the blocks of the .md file


def write(path: Path, heading: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """The columns are the keys of all rows, in the order of their first appearance."""
    columns = dict.fromkeys(key for row in rows for key in row)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        texts = {key: _cell(value) for key, value in heading.items()}
        file.writelines(f"# {key}: {text}\n" for key, text in texts.items() if text not in (None, ""))
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def read(path: Path) -> tuple[Row, list[Row]]:
    """Heading and rows. A column is of int, float or bool if all its cells are, else of str."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    comments = next((i for i, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    pairs = (line[2:].rstrip("\n").partition(": ") for line in lines[:comments])
    heading = {key: _typed([value])[0] for key, _, value in pairs}
    names, *body = csv.reader(lines[comments:])
    columns = [_typed(column) for column in zip(*body, strict=True)]
    return heading, [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def values(cell: Any) -> list[float]:
    return [] if cell is None else [float(value) for value in str(cell).split(";")]


def pairs(cell: str | None) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in (cell or "").split(";") if pair)


def grouped(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Rows by their values in these columns (by the value, if it is one column), in order of appearance."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(itemgetter(*columns)(row), []).append(row)
    return groups


def table(head: str, line: str | Callable[[Row], str], rows: Iterable[Row]) -> list[str]:
    """Lines of Markdown. ``head``: titles between bars; ``line``: a format of a row's values, or a function."""
    told = (line.format(**row) if isinstance(line, str) else line(row) for row in rows)
    return cells(head.split(" | "), ([text] for text in told))


def cells(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> list[str]:
    """Lines of Markdown, of what is in the cells."""
    head = list(head)
    first, *others = (f"| {' | '.join(map(str, row))} |" for row in (head, *rows))
    return [first, f"|{'---|' * len(head)}", *others]


def provenance(heading: Row) -> str:
    told = [f"`{heading['command']}`", heading["date"], heading.get("machine")]
    told.append(f"Python {heading['python']}" if "python" in heading else None)
    return ", ".join(str(part) for part in told if part)


def spread(numbers: Sequence[float], digits: int = 3) -> str:
    """Median (least–most)."""
    return f"{median(numbers):.{digits}f} ({min(numbers):.{digits}f}–{max(numbers):.{digits}f})"


def quartiles(numbers: Sequence[float], digits: int = 2) -> str:
    """Median (first–third quartile)."""
    if len(numbers) == 1:
        return f"{numbers[0]:.{digits}f}"
    low, middle, high = quantiles(numbers, n=4)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def median_ratio(above: Iterable[float], below: Iterable[float]) -> float:
    """Median ratio of measurements that were taken in pairs."""
    return median(a / b for a, b in zip(above, below, strict=True))


def alternating(candidates: Iterable[Any], turn: int) -> list[Any]:
    """Order of the candidates, reversed in every second turn, so that none always comes first."""
    return list(candidates)[:: -1 if turn % 2 else 1]


@dataclass
class Results:
    """Results of a bench so far; its files are complete after every ``add``."""

    path: Path
    summary: Summary
    heading: Row = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def add(self, *rows: Row) -> None:
        self.rows += rows
        write(self.path, self.heading, self.rows)
        self.summarise()

    def summarise(self) -> str:
        """Writes the summary of the CSV file that is there."""
        heading, rows = read(self.path)
        blocks = [*self.summary(heading, rows)]
        if "note" in heading:  # what somebody wrote into the file after the fact
            blocks.append(textwrap.fill(heading["note"], 120, break_long_words=False, break_on_hyphens=False))
        text = "\n\n".join(block if isinstance(block, str) else "\n".join(block) for block in blocks) + "\n"
        self.path.with_suffix(".md").write_text(text, encoding="utf-8")
        return text


def begin(parser: argparse.ArgumentParser, name: str, summary: Summary) -> tuple[argparse.Namespace, Results]:
    """Adds --output, --append and --summary to the options and parses them; --summary needs no others, and ends
    the program. The files lie in results/ beside the script where that is, else in bench/results."""
    beside = Path(sys.argv[0]).resolve().parent / "results"
    default = (beside if beside.is_dir() else RESULTS) / f"{name}.csv"
    alone = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for one in (alone, parser):
        one.add_argument("--output", type=Path, default=default, help=f"CSV file (default {name}.csv)")
        one.add_argument("--summary", action="store_true", help="only the .md file of the CSV file, anew")
    parser.add_argument("--append", action="store_true", help="keep the other rows that the file has")
    files, _ = alone.parse_known_args()
    results = Results(files.output, summary)
    if files.summary:
        results.summarise()
        sys.exit()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    results.heading = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "command": shlex.join(["python", *sys.argv]).replace(f"{ROOT}/", ""),
        "machine": f"{os.cpu_count()} × {platform.machine()}",
        "python": platform.python_version(),
    }
    arguments = parser.parse_args()
    if arguments.append and results.path.exists():
        before, results.rows = read(results.path)
        results.heading |= {key: before[key] for key in ("note",) if key in before}
        results.heading["command"] = f"{before['command']}; {results.heading['command']}"
    return arguments, results


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ";".join(f"{key}={item}" for key, item in value.items())
    return ";".join(map(str, value)) if isinstance(value, list | tuple) else value


def _typed(cells: Sequence[str]) -> list[Any]:
    for kind in (int, float, {"True": True, "False": False}.__getitem__):
        try:
            return [kind(cell) if cell else None for cell in cells]
        except (ValueError, KeyError):
            continue
    return [cell or None for cell in cells]
