"""Cells of the test program local_errors, and what becomes of them."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket.launch.mpi import Mpi

#: Right calls before a cell's error, in cells of "after", and after it; ints of a message. Calls that are timed are
#: timed at the 2nd and the 16th of a kind, and the ranks agree on their times at the 4th and the 18th.
CALLS = (14, 6, 6000)

#: Family, call and error that the library takes in some forms, carries out with what is no count, type or buffer, and
#: refuses, waits for or crashes at in others. No schedule can do the like, so ranks without an error wait for the one
#: that has it.
SENSELESS = {
    ("openmpi", "allgatherv", "negative_receive_count"),
    ("openmpi", "scatter", "null_send_type"),
    ("mpich", "gather", "in_place_send"),
    ("mpich", "gatherv", "in_place_send"),
    ("mpich", "scatter", "in_place_receive"),
    ("mpich", "scatterv", "in_place_receive"),
}
#: Of cells that the ranks do not survive.
FATAL = ("stuck", "crashed", "ended")
RESULTS = Path(__file__).parents[1] / "bench" / "results" / "local-errors.csv"

Job = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Outcome:
    """``ended``: "stuck", "crashed" or "ended" where the ranks did not survive it. Else of each rank the class of the
    error ("-": it made none) and how many of the right calls were scheduled, and how many elements were wrong."""

    ended: str = ""
    classes: tuple[str, ...] = ()
    wrong: int = 0
    scheduled: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Behaviour of the library, which must not depend on Hocket, as text."""
        return self.ended or " ".join(self.classes) + (f" {self.wrong} wrong" if self.wrong else "")

    @property
    def refused(self) -> bool:
        return not self.ended and "0" not in self.classes


def cell_names(program: Path) -> list[str]:
    """All cells of the MPI that the program was compiled with."""
    done = subprocess.run([str(program), "--list"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.split()


def control(cell: str) -> str:
    """Cell of the same calls without an error."""
    call, form, _, _, when = cell.split("/")
    return f"{call}/{form}/none/all/{when}"


def outcomes(job: Job, cells: Sequence[str], work: Path, alone: Container[str] = ()) -> dict[str, Outcome]:
    """``job`` starts the program with these arguments. A cell that ends the ranks is named, and others begin anew.
    ``alone``: cells in which other ranks make no call before the errors have come back."""
    file = work / "cells"
    file.write_text("".join(f"{cell} alone\n" if cell in alone else f"{cell}\n" for cell in cells))
    found: dict[str, Outcome] = {}
    while len(found) < len(cells):
        done = job([str(file), str(len(found)), *map(str, CALLS)])
        how = "ended"
        for line in done.stdout.splitlines():
            words = line.split()
            if words[:1] == ["cell"]:
                _, cell, classes, wrong, scheduled = words
                found[cell] = Outcome("", _of_ranks(classes), int(wrong), _of_ranks(scheduled))
            elif words[:1] in (["stuck"], ["crashed"]) and how == "ended":
                how = words[0]
        if done.returncode == 0 and "end" in done.stdout.splitlines():
            break
        if len(found) < len(cells):
            found[cells[len(found)]] = Outcome(how)
    return found


def _of_ranks(text: str) -> tuple[str, ...]:
    return tuple(text.rstrip(",").split(","))


def survived(cells: Iterable[str], mpi: Mpi) -> list[str]:
    """Cells that make sense and did not end the ranks without Hocket in the bench's latest run."""
    lines = (line for line in RESULTS.read_text().splitlines() if not line.startswith("#"))
    lived = set()
    for row in csv.DictReader(lines):
        if row["mpi"] != mpi.family.value or (row["mpi"], row["call"], row["error"]) in SENSELESS:
            continue
        of_kind = (told.split("=") for told in row["native"].split(";"))
        lived |= {
            f"{row['call']}/{row['form']}/{row['error']}/{cell}"
            for cell, told in of_kind
            if told not in FATAL
        }
    return [cell for cell in cells if cell in lived]


def differences(
    native: Mapping[str, Outcome], served: Mapping[str, Outcome], forced: bool = True
) -> dict[str, str]:
    """Differences by cell: outcomes that are not as without Hocket, or more or fewer scheduled calls
    afterwards than without the error. Cells that end the ranks without Hocket are left out. ``forced``: no
    time decides what is scheduled."""
    found = {}
    for cell, outcome in served.items():
        if native[cell].ended:
            continue
        as_usual = served[control(cell)]
        if outcome.told != native[cell].told:
            found[cell] = f"{native[cell].told} -> {outcome.told}"
        elif forced and outcome.refused and outcome.scheduled != as_usual.scheduled:
            found[cell] = f"scheduled {as_usual.scheduled} -> {outcome.scheduled}"
    return found


def with_controls(cells: Iterable[str]) -> list[str]:
    """In a settled order."""
    chosen = set(cells)
    return sorted(chosen | {control(cell) for cell in chosen})
