"""Suites of MPI libraries with and without Hocket: every program must come to the same verdict.

    python bench/suites/run.py mpich mpi4py --mpi mpich --mpi PATH/mpirun [--rooms coll,comm] [--only PATTERN]

Low limits and `--placement order` make every call that can be scheduled follow a schedule. A program that
comes to another verdict with Hocket than without is run three times more each way: what then differs is
listed, and beside it what does not come to the same verdict every time. Sources are fetched
from Debian and PyPI into the work directory, and nothing of them comes into the project.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import mpi4py_suite
import mpich_suite
from case import Case, Outcome, run_case

from hocket.mpi import Mpi, find_mpi
from hocket.network import read_network
from hocket.runtime import RuntimeOptions, scheduled_environment

RESULTS = Path(__file__).parents[1] / "results"
NETWORK = "star:24@8kbit,1us"  # so slow that planning an exchange pays at once
AGAIN = 3
LOW = {"HOCKET_MIN_BYTES": "1", "HOCKET_MIN_GATHER_BYTES": "1"}
LOW |= {"HOCKET_MIN_VECTOR_BYTES": "1", "HOCKET_MIN_FLOWS": "1", "HOCKET_MIN_SENDERS": "1"}


@dataclass(frozen=True, slots=True)
class Row:
    """Verdicts in the order in which they came; more than one where the first ones differed."""

    suite: str
    mpi: str
    case: str
    native: list[str]
    hocket: list[str]
    scheduled: int

    @property
    def room(self) -> str:
        """The directory of the suite."""
        return self.case.partition(" ")[0].rpartition("/")[0]

    @property
    def kind(self) -> str:
        if self.native[0] == self.hocket[0]:
            return "same"
        return "unsteady" if set(self.native) & set(self.hocket) else "different"


def compare(suite: str, case: Case, mpi: Mpi, variables: Mapping[str, str], out: Path) -> Row:
    """The case without and with Hocket. Output of what differs is kept in ``out``."""
    native, hocket = [run_case(case, mpi, {})], [run_case(case, mpi, variables)]
    if native[0].verdict != hocket[0].verdict:
        for _ in range(AGAIN):
            native.append(run_case(case, mpi, {}))
            hocket.append(run_case(case, mpi, variables))
    row = Row(
        suite, str(mpi.family.value), case.name, _verdicts(native), _verdicts(hocket), hocket[0].scheduled
    )
    if row.kind != "same":
        _keep(out / f"{mpi.family.value}-{case.name.replace('/', '_').replace(' ', '_')}.txt", native, hocket)
    return row


def _verdicts(outcomes: list[Outcome]) -> list[str]:
    return [outcome.verdict for outcome in outcomes]


def _keep(path: Path, native: list[Outcome], hocket: list[Outcome]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [("native", one) for one in native] + [("with Hocket", one) for one in hocket]
    path.write_text("".join(f"==== {who}: {one.verdict}\n{one.output}\n" for who, one in parts))


def report(rows: list[Row], missing: Mapping[str, int], settings: str) -> str:
    """Counts per suite and room, and every difference."""
    lines = [
        "# Suites of MPI libraries, with and without Hocket",
        "",
        f"{datetime.date.today().isoformat()}, `make bench-suites`; {settings}",
        "",
        "| suite | MPI | programs | pass without | pass with | same verdict | unsteady | different "
        "| with scheduled calls | scheduled calls |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for suite, room, mpi in sorted({(row.suite, row.room, row.mpi) for row in rows}):
        part = [row for row in rows if (row.suite, row.room, row.mpi) == (suite, room, mpi)]
        kinds = Counter(row.kind for row in part)
        without, within = (
            sum(verdicts[0].startswith("pass") for verdicts in column)
            for column in ([row.native for row in part], [row.hocket for row in part])
        )
        scheduled = [row.scheduled for row in part if row.scheduled]
        lines.append(
            f"| {f'{suite} {room}'.strip()} | {mpi} | {len(part)} | {without} | {within} | {kinds['same']} "
            f"| {kinds['unsteady']} | {kinds['different']} | {len(scheduled)} | {sum(scheduled)} |"
        )
    for kind, title in (("different", "Differences"), ("unsteady", "Unsteady")):
        found = [row for row in rows if row.kind == kind]
        lines += ["", f"## {title}", ""]
        lines += [
            f"- {row.suite}, {row.mpi}, {row.case}: without {row.native}, with {row.hocket}" for row in found
        ] or ["None."]
    failing = [row for row in rows if row.kind == "same" and not row.native[0].startswith("pass")]
    lines += ["", "## Failing without Hocket and, in the same way, with it", ""]
    lines += [f"- {row.suite}, {row.mpi}, {row.case}: {row.native[0]}" for row in failing] or ["None."]
    absent = ", ".join(f"{count} with {mpi}" for mpi, count in missing.items())
    lines += ["", f"Programs that do not compile, because the MPI lacks what they test: {absent or 'none'}."]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="+", choices=[mpich_suite.NAME, mpi4py_suite.NAME])
    parser.add_argument(
        "--mpi", action="append", required=True, help="mpich, openmpi or the path of a launcher"
    )
    parser.add_argument("--rooms", default=",".join(mpich_suite.ROOMS), help="directories of MPICH's suite")
    parser.add_argument("--only", default="", help="cases whose names match this pattern")
    parser.add_argument("--work", type=Path, default=Path("build/suites"), help="sources and programs")
    parser.add_argument("--jobs", type=int, default=2, help="compilations at once")
    parser.add_argument("--output", default="suites", help="name of the results")
    return parser.parse_args()


def cases_of(suite: str, mpi: Mpi, work: Path, rooms: list[str], jobs: int) -> tuple[list[Case], int]:
    """What can be run, and how many programs cannot be built."""
    if suite == mpi4py_suite.NAME:
        return mpi4py_suite.cases(mpi4py_suite.fetch(work), mpi), 0
    source = mpich_suite.fetch(work)
    built = mpich_suite.build(work, source, mpi, rooms, jobs)
    cases, absent = mpich_suite.cases(source, built, rooms)
    return cases, len(absent)


def main() -> int:
    chosen = arguments()
    work = chosen.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    settings = f"`{NETWORK}`, `--placement order`, " + ", ".join(
        f"{name}={value}" for name, value in LOW.items()
    )
    rows: list[Row] = []
    missing: dict[str, int] = {}
    for name in chosen.mpi:
        mpi = find_mpi(name)
        variables = (
            scheduled_environment(mpi.mpicc, read_network(NETWORK), RuntimeOptions(placement="order")) | LOW
        )
        for suite in chosen.suites:
            cases, absent = cases_of(suite, mpi, work, chosen.rooms.split(","), chosen.jobs)
            if absent:
                missing[mpi.family.value] = absent
            for case in (case for case in cases if re.search(chosen.only, case.name)):
                row = compare(suite, case, mpi, variables, work / "differences")
                rows.append(row)
                print(
                    f"{row.kind}: {suite} {row.mpi} {row.case}: {row.hocket[0]}, {row.scheduled} scheduled",
                    flush=True,
                )
                (RESULTS / f"{chosen.output}.md").write_text(report(rows, missing, settings))
                data = json.dumps([asdict(row) for row in rows], indent=1)
                (RESULTS / f"{chosen.output}.json").write_text(data + "\n")
    return int(any(row.kind == "different" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
