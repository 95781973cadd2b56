"""Suites of MPI libraries with and without Hocket: every program must come to the same verdict.

    python bench/suites/run.py mpich mpi4py --mpi mpich --mpi PATH/mpirun [--rooms coll,comm] [--only PATTERN]

Low limits and `--placement order` make every call that can be scheduled follow a schedule. A program that
comes to another verdict with Hocket than without is run three times more each way: what then differs is
listed, and beside it what does not come to the same verdict every time. Sources are fetched
from Debian and PyPI into the work directory, and nothing of them comes into the project.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import mpi4py_suite
import mpich_suite
from case import Case, Outcome, run_case

from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, mpis
from results_file import Block, Row, begin, cells, pairs, provenance

NETWORK = "star:24@8kbit,1us"  # so slow that planning an exchange pays at once
AGAIN = 3
BAR = " | "
KINDS = ("same", "unsteady", "different")
COLUMNS = ("suite", "MPI", "programs", "pass without", "pass with", "same verdict", *KINDS[1:])
COLUMNS += ("with scheduled calls", "scheduled calls")
LOW = {"HOCKET_MIN_BYTES": "1"}


@dataclass(frozen=True, slots=True)
class Compared:
    """Verdicts in the order in which they came, between bars; more than one where the first ones differed."""

    suite: str
    mpi: str
    case: str
    native: str
    hocket: str
    scheduled: int

    @property
    def room(self) -> str:
        """The directory of the suite."""
        return self.case.partition(" ")[0].rpartition("/")[0]

    @property
    def verdicts(self) -> tuple[list[str], list[str]]:
        """Verdicts without Hocket and with it."""
        return self.native.split(BAR), self.hocket.split(BAR)

    @property
    def kind(self) -> str:
        native, hocket = self.verdicts
        if native[0] == hocket[0]:
            return "same"
        return "unsteady" if set(native) & set(hocket) else "different"


def compare(suite: str, case: Case, mpi: Mpi, variables: Mapping[str, str], out: Path) -> Compared:
    """The case without and with Hocket. Output of what differs is kept in ``out``."""
    native, hocket = [run_case(case, mpi, {})], [run_case(case, mpi, variables)]
    if native[0].verdict != hocket[0].verdict:
        for _ in range(AGAIN):
            native.append(run_case(case, mpi, {}))
            hocket.append(run_case(case, mpi, variables))
    verdicts = (BAR.join(outcome.verdict for outcome in outcomes) for outcomes in (native, hocket))
    row = Compared(suite, mpi.family.value, case.name, *verdicts, hocket[0].scheduled)
    if row.kind != "same":
        _keep(out / f"{mpi.family.value}-{case.name.replace('/', '_').replace(' ', '_')}.txt", native, hocket)
    return row


def _keep(path: Path, native: list[Outcome], hocket: list[Outcome]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [("native", one) for one in native] + [("with Hocket", one) for one in hocket]
    path.write_text("".join(f"==== {who}: {one.verdict}\n{one.output}\n" for who, one in parts))


def count_room(key: tuple[str, str, str], rows: list[Compared]) -> list[object]:
    """A line of the summary."""
    suite, room, mpi = key
    scheduled = [row.scheduled for row in rows if row.scheduled]
    without, within = (sum(row.verdicts[which][0].startswith("pass") for row in rows) for which in (0, 1))
    kinds = Counter(row.kind for row in rows)
    figures = (len(rows), without, within, *(kinds[kind] for kind in KINDS), len(scheduled), sum(scheduled))
    return [f"{suite} {room}".strip(), mpi, *figures]


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Counts per suite and room, and every difference."""
    compared = [Compared(**row) for row in rows]
    rooms: dict[tuple[str, str, str], list[Compared]] = {}
    for one in compared:
        rooms.setdefault((one.suite, one.room, one.mpi), []).append(one)
    blocks: list[Block] = [
        "# Suites of MPI libraries, with and without Hocket",
        f"{provenance(heading)}; {heading['settings']}",
        cells(COLUMNS, (count_room(key, rooms[key]) for key in sorted(rooms))),
    ]
    for kind, title in (("different", "Differences"), ("unsteady", "Unsteady")):
        told = [
            "- {}, {}, {}: without {}, with {}".format(one.suite, one.mpi, one.case, *one.verdicts)
            for one in compared
            if one.kind == kind
        ]
        blocks += [f"## {title}", told or "None."]
    failing = [
        f"- {one.suite}, {one.mpi}, {one.case}: {one.verdicts[0][0]}"
        for one in compared
        if one.kind == "same" and not one.native.startswith("pass")
    ]
    absent = ", ".join(f"{count} with {mpi}" for mpi, count in pairs(heading.get("not_built")).items())
    return [
        *blocks,
        "## Failing without Hocket and, in the same way, with it",
        failing or "None.",
        f"Programs that do not compile, because the MPI lacks what they test: {absent or 'none'}.",
    ]


def cases_of(suite: str, mpi: Mpi, work: Path, rooms: list[str], jobs: int) -> tuple[list[Case], int]:
    """Cases that can be run, and the number of programs that cannot be built."""
    if suite == mpi4py_suite.NAME:
        return mpi4py_suite.cases(mpi4py_suite.fetch(work), mpi), 0
    source = mpich_suite.fetch(work)
    built = mpich_suite.build(work, source, mpi, rooms, jobs)
    cases, absent = mpich_suite.cases(source, built, rooms)
    return cases, len(absent)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="+", choices=[mpich_suite.NAME, mpi4py_suite.NAME])
    add_mpi(parser)
    parser.add_argument("--rooms", default=",".join(mpich_suite.ROOMS), help="directories of MPICH's suite")
    parser.add_argument("--only", default="", help="cases whose names match this pattern")
    parser.add_argument("--work", type=Path, default=Path("build/suites"), help="sources and programs")
    parser.add_argument("--jobs", type=int, default=2, help="compilations at once")
    chosen, results = begin(parser, "suites", summary)
    work = chosen.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    low = ", ".join(f"{name}={value}" for name, value in LOW.items())
    results.heading["settings"] = f"`{NETWORK}`, `--placement order`, {low}"
    missing: dict[str, int] = {}
    network, options = read_network(NETWORK), RuntimeOptions(placement="order", choose="off")
    worst = 0
    for mpi in mpis(chosen):
        variables = scheduled_environment(mpi.mpicc, network, options) | LOW
        for suite in chosen.suites:
            cases, absent = cases_of(suite, mpi, work, chosen.rooms.split(","), chosen.jobs)
            if absent:
                missing[mpi.family.value] = absent
            for case in (case for case in cases if re.search(chosen.only, case.name)):
                row = compare(suite, case, mpi, variables, work / "differences")
                line = f"{row.kind}: {suite} {row.mpi} {row.case}: {row.hocket}, {row.scheduled} scheduled"
                print(line, flush=True)
                results.heading["not_built"] = missing
                results.add(asdict(row))
                worst |= row.kind == "different"
    return worst


if __name__ == "__main__":
    sys.exit(main())
