"""Starting ranks of the probe for a limited time."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from hocket.doctor.case import Case, Rank
from hocket.errors import HocketError
from hocket.launch import TimedOutError, captured
from hocket.launch.mpi import launch_command, mpi4py_environment
from hocket.launch.runtime.build import digest_of
from hocket.launch.runtime.compiling import compile_native
from hocket.launch.runtime.preload import VARIABLE as PRELOAD
from hocket.launch.runtime.preload import others
from hocket.launch.runtime.wrapper import Wrapper
from hocket.system.cache import build_once

FEW_RANKS = 16  # unless the user says how many
_NAME = "hocket-probe"
_SOURCE = Path(__file__).with_name("probe.c")


def probe_of(case: Case) -> list[str] | None:
    """The command of the probe: probe.c, or probe.py where there is no compiler; None where mpi4py lacks, too."""
    assert case.mpi is not None
    if case.wrapper is not None:
        return [str(_build_probe(case.wrapper))]
    if find_spec("mpi4py") is None:
        return None
    library = [f"{name}={value}" for name, value in mpi4py_environment(case.mpi).items()]
    return ["env", *library, sys.executable, str(_SOURCE.with_suffix(".py"))]


def _build_probe(wrapper: Wrapper) -> Path:
    """The MPI program of probe.c, where all hosts see it."""

    def build(folder: Path, work: Path) -> None:
        command = [wrapper.path, "-x", "c", "-O1", str(_SOURCE), "-o", str(folder / _NAME)]
        compile_native(command, wrapper.environment, work)

    return build_once(f"probe-{digest_of([wrapper.identity], [_SOURCE])}", [_NAME], build) / _NAME


def rank_count(case: Case) -> int:
    if case.ranks is not None:
        return case.ranks
    return min(case.network.ranks, FEW_RANKS) if case.network else 4


@dataclass(frozen=True, slots=True)
class Said:
    """Output that the ranks have printed."""

    stdout: str
    stderr: str


def start(case: Case, variables: Mapping[str, str], argv: Sequence[str]) -> Said:
    """Runs ``argv`` in every rank, with ``variables`` and without what ``hocket env`` has preloaded. Raises HocketError
    if the launcher fails or is not done in time."""
    assert case.mpi is not None
    count = rank_count(case)
    command = launch_command(case.mpi, count, (), variables, argv, hostfile=case.hostfile)
    try:
        done = captured(command, {**case.environment, PRELOAD: ":".join(others())}, case.seconds)
    except TimedOutError:
        raise HocketError(
            f"{count} ranks of {Path(argv[0]).name} were not done in {case.seconds:g} s",
            remedy="check that the hosts can be reached without a password and that their names resolve; "
            f"try by hand: {command[0]} -n {count} {argv[0]}; or give more time: --seconds",
        ) from None
    if done.returncode != 0:
        last = [
            line for line in (done.stderr.strip() or done.stdout.strip()).splitlines() if line.strip(" -=")
        ]
        raise HocketError(
            f"{Path(command[0]).name} failed with code {done.returncode}: {' '.join(last[:3])[:300]}",
            remedy=f"make this work first: {command[0]} -n {count} {argv[0]}",
        )
    return Said(done.stdout, done.stderr)


def ranks_in(output: str) -> list[Rank]:
    """The probe's lines, in the order of the ranks; what else the launcher prints does not count."""
    found = []
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and fields[0] == _NAME and fields[1].isdecimal():
            found.append(Rank(int(fields[1]), fields[2] == "right", fields[3], fields[4]))
    return sorted(found, key=lambda rank: rank.rank)
