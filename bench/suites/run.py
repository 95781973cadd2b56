"""Suites of MPI libraries with and without Hocket: every program must come to the same verdict.

    python bench/suites/run.py mpich mpi4py --mpi mpich --mpi PATH/mpirun [--rooms coll,comm] [--only WORD]

Low limits and `--placement order` make every call that can be scheduled follow a schedule. A program that comes to
another verdict with Hocket than without is run three times more each way: what then differs is listed,
and beside it what does not come to the same verdict every time without Hocket either. Sources are fetched
from Debian and PyPI into the work directory, and nothing of them comes into the project.
"""

from __future__ import annotations

import argparse
import datetime
import json
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
    row = Row(suite, str(mpi.family.value), case.name, _verdicts(native), _verdicts(hocket), hocket[0].scheduled)
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
        "| suite | MPI | programs run | pass without | pass with | same verdict | unsteady | different | with scheduled calls | scheduled calls |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups = sorted({(row.suite, row.case.rpartition("/")[0], row.mpi) for row in rows})
    for suite, room, mpi in groups:
        part = [r for r in rows if (r.suite, r.case.rpartition("/")[0], r.mpi) == (suite, room, mpi)]
        kinds = Counter(row.kind for row in part)
        passed = [sum(v.startswith("pass") for v in column) for column in zip(*((r.native[0], r.hocket[0]) for r in part), strict=True)]
        scheduled = [row.scheduled for row in part if row.scheduled]
        lines.append(
            f"| {f'{suite} {room}'.strip()} | {mpi} | {len(part)} | {passed[0]} | {passed[1]} | {kinds['same']} "
            f"| {kinds['unsteady']} | {kinds['different']} | {len(scheduled)} | {sum(scheduled)} |"
        )
    for kind, title in (("different", "Differences"), ("unsteady", "Unsteady")):
        lines += ["", f"## {title}", ""]
        found = [row for row in rows if row.kind == kind]
        lines += [f"- {r.suite}, {r.mpi}, {r.case}: without {r.native}, with {r.hocket}" for r in found] or ["None."]
    lines += ["", "Not built (extensions that this MPI lacks): " + ", ".join(f"{mpi} {n}" for mpi, n in missing.items()) + "."]
    failing = [row for row in rows if row.kind == "same" and not row.native[0].startswith("pass")]
    lines += ["", "## Failing without Hocket and, in the same way, with it", ""]
    lines += [f"- {r.suite}, {r.mpi}, {r.case}: {r.native[0]}" for r in failing] or ["None."]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+", choices=[mpich_suite.NAME, mpi4py_suite.NAME])
    parser.add_argument("--mpi", action="append", required=True, help="mpich, openmpi or the path of a launcher")
    parser.add_argument("--rooms", default=",".join(mpich_suite.ROOMS), help="directories of MPICH's suite")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--work", type=Path, default=Path("build/suites"), help="sources and programs")
    parser.add_argument("--jobs", type=int, default=2, help="compilations at once")
    parser.add_argument("--output", default="suites", help="name of the results")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    work = chosen.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    rooms = chosen.rooms.split(",")
    network = read_network(NETWORK).build() if hasattr(read_network(NETWORK), "build") else read_network(NETWORK)
    rows: list[Row] = []
    missing: dict[str, int] = {}
    for name in chosen.mpi:
        mpi = find_mpi(name)
        variables = scheduled_environment(mpi.mpicc, network, RuntimeOptions(placement="order")) | LOW
        for suite in chosen.suites:
            if suite == mpich_suite.NAME:
                built = mpich_suite.build(work, mpich_suite.fetch(work), mpi, rooms, chosen.jobs)
                cases, absent = mpich_suite.cases(built, rooms)
                missing[mpi.family.value] = len(absent)
            else:
                cases = mpi4py_suite.cases(mpi4py_suite.fetch(work), mpi)
            for case in (case for case in cases if chosen.only in case.name):
                row = compare(suite, case, mpi, variables, work / "differences")
                rows.append(row)
                mark = "" if row.kind == "same" else f"  {row.native} with Hocket {row.hocket}"
                print(f"{row.kind:9} {suite} {mpi.family.value} {case.name}: {row.hocket[0][:60]}, {row.scheduled} scheduled{mark}", flush=True)
                settings = f"`{NETWORK}`, `--placement order`, " + ", ".join(f"{k}={v}" for k, v in LOW.items())
                text = report(rows, missing, settings)
                (RESULTS / f"{chosen.output}.md").write_text(text)
                (RESULTS / f"{chosen.output}.json").write_text(json.dumps([asdict(r) for r in rows], indent=1) + "\n")
    return int(any(row.kind == "different" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
