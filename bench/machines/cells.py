"""Tables of published timings and of the hosts of jobs, read and checked.

The form is that of PICO's results, condensed (HLC-Lab/pico, MIT licence, © 2025 Daniele De Sensi and Saverio
Pasqualoni; arXiv 2508.16809): a row is the median over the iterations of one file, each iteration as long as its
slowest rank.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from hocket.errors import UsageError, Where
from hocket.system.files import decode, opened_to_read

HOSTS: Final = ["system", "job", "hosts"]
TIMES: Final = [*HOSTS[:2], "nodes", "ranks_per_node", "collective", "algorithm", "buffer_bytes", "median_us"]
MOST_RANKS: Final = 1 << 17
MOST_BYTES: Final = 1 << 40
MOST_FIELD: Final = 1 << 24  # characters of one cell: the hosts of the largest job
csv.field_size_limit(MOST_FIELD)


@dataclass(frozen=True)
class Job:
    """Processes that ran together. ``shape``: nodes, or the sides of a grid of nodes; ``hosts``: names of the nodes in
    the order of their ranks, empty where the tables do not say."""

    system: str
    name: str
    shape: tuple[int, ...]
    ranks_per_node: int
    hosts: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        return math.prod(self.shape)

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node


class Cell(NamedTuple):
    """One timing. ``bytes``: the vector of a rank, of all blocks where there are blocks; ``seconds``: median."""

    job: Job
    collective: str
    algorithm: str
    bytes: int
    seconds: float

    @property
    def key(self) -> str:
        job, shape = self.job, "x".join(map(str, self.job.shape))
        where = (job.system, job.name, shape, job.ranks_per_node)
        return "/".join(map(str, (*where, self.collective, self.algorithm, self.bytes)))


def read_cells(times: Path, hosts: Path) -> list[Cell]:
    """All rows of the table of times, in order. Raises :class:`hocket.UsageError` with file and line."""
    named = _hosts(hosts)
    jobs: dict[tuple[str, str, str, str], Job] = {}
    cells = []
    rows = list(_rows(times, TIMES))
    numbers: dict[tuple[str, str], set[str]] = {}
    for _, row in rows:
        numbers.setdefault((row["system"], row["job"]), set()).add(row["ranks_per_node"])
    for where, row in rows:
        system = row["system"]
        key = (system, row["job"], row["nodes"], row["ranks_per_node"])
        if key not in jobs:
            shape = tuple(_whole(side, "nodes", where, MOST_RANKS) for side in row["nodes"].split("x"))
            ranks = _whole(row["ranks_per_node"], "ranks_per_node", where, MOST_RANKS)
            if ranks == 1 and len(numbers[system, row["job"]]) == 1:
                ranks = _ranks_of(named.get((system, row["job"]), []), math.prod(shape))
            if math.prod(shape) * ranks > MOST_RANKS:
                raise UsageError(f"more than {MOST_RANKS:,} ranks", where=where, remedy="correct the nodes")
            job = Job(system, row["job"], shape, ranks)
            jobs[key] = replace(job, hosts=_hosts_of(job, named))
        size, seconds = _whole(row["buffer_bytes"], "buffer_bytes", where, MOST_BYTES), _seconds(row, where)
        cells.append(Cell(jobs[key], row["collective"], row["algorithm"], size, seconds))
    return cells


def _hosts(path: Path) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for where, row in _rows(path, HOSTS):
        key = row["system"], row["job"]
        if key in found:
            what = f"job {key[1]} of {key[0]} stands here twice"
            raise UsageError(what, where=where, remedy="keep one line")
        found[key] = row["hosts"].split()
    return found


def _ranks_of(hosts: list[str], nodes: int) -> int:
    """Ranks that a job had on each node, if its line names each node as many times. The job ran with them where the
    table has no row of the job with more than one."""
    times = Counter(hosts).values()
    return min(times) if len(times) == nodes and min(times) == max(times) else 1


def _hosts_of(job: Job, named: dict[tuple[str, str], list[str]]) -> tuple[str, ...]:
    """Hosts of the job's nodes: of the line of its allocation, else of the job; none where the number does not fit. A
    line names the host of each rank, of as many ranks as the job has or of the most that it had."""
    for name in (f"{job.name}:alloc_{job.ranks}.csv", job.name):
        hosts = tuple(dict.fromkeys(named.get((job.system, name), ())))
        if len(hosts) == job.nodes:
            return hosts
    return ()


def _rows(path: Path, columns: list[str]) -> Iterator[tuple[Where, dict[str, str]]]:
    with opened_to_read(str(path), "a CSV file", UsageError) as file:
        lines = csv.reader(decode(file.read(), Where(str(path)), UsageError).splitlines())
    try:
        header = next(lines, [])
        if missing := [name for name in columns if name not in header]:
            remedy = f"its columns are {', '.join(columns)}"
            raise UsageError(f"no column {', '.join(missing)}", where=Where(str(path), 1), remedy=remedy)
        if len(set(header)) < len(header):
            raise UsageError("two columns have one name", where=Where(str(path), 1), remedy="rename one")
        for row in lines:
            where = Where(str(path), lines.line_num)
            if len(row) != len(header):
                what = f"{len(row)} cells in {len(header)} columns"
                raise UsageError(what, where=where, remedy="complete the line")
            yield where, dict(zip(header, row, strict=True))
    except csv.Error as problem:
        where = Where(str(path), lines.line_num)
        raise UsageError(f"no CSV: {problem}", where=where, remedy="write it anew") from None


def _whole(text: str, what: str, where: Where, most: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0
    if not 1 <= number <= most:
        remedy = f"write a whole number from 1 to {most}"
        raise UsageError(f"{what} is {text[:40]!r}", where=where, remedy=remedy)
    return number


def _seconds(row: dict[str, str], where: Where) -> float:
    text = row["median_us"]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e12:
        raise UsageError(f"median_us is {text[:40]!r}", where=where, remedy="write microseconds, 0 or more")
    return value * 1e-6
