"""One program of a test suite, started with an MPI, and what came of it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from hocket.launch import TimedOutError, captured
from hocket.launch.mpi import Mpi, launch_command

# Ranks outnumber cores: MPICH's give theirs up at once.
_PATIENT = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}


# Summary lines of Python's unittest, which every rank prints.
_SUMMARY = re.compile(r"^((?:FAIL|ERROR): .*|Ran \d+ tests?|OK(?: \(.*\))?|FAILED \(.*\))", re.MULTILINE)


class Passes(Enum):
    """Criterion of a suite for a program that has passed."""

    SAYS_NO_ERRORS = "prints No Errors and nothing else, and exits with 0"
    STATUS = "exits with 0"
    FAILS = "exits with another code than 0"


@dataclass(frozen=True, slots=True)
class Case:
    """``name`` is unique within its suite."""

    name: str
    directory: Path
    argv: tuple[str, ...]
    ranks: int
    passes: Passes
    seconds: int
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """``verdict``: pass, or how it failed, and what it says of its parts. ``scheduled``: calls that were."""

    verdict: str
    scheduled: int
    output: str


def run_case(case: Case, mpi: Mpi, variables: Mapping[str, str]) -> Outcome:
    """Runs it; what it has not finished after its time is ended. ``variables`` switch Hocket on."""
    with tempfile.TemporaryDirectory(prefix="suite-") as work:
        env = {**variables, **({"HOCKET_TRACE": f"{work}/trace"} if variables else {})}
        command = ["env", "-C", str(case.directory), *launch_command(mpi, case.ranks, (), env, case.argv)]
        code, output = _run(command, {**os.environ, **_PATIENT, **case.env}, case.seconds)
        scheduled = sum(_calls(trace) for trace in Path(work).glob("trace.*"))
    verdict = "; ".join([_verdict(case.passes, code, output), *sorted(set(_SUMMARY.findall(output)))])
    return Outcome(verdict, scheduled, output[-8000:])


def _run(command: list[str], env: Mapping[str, str], seconds: int) -> tuple[int | None, str]:
    """Exit code (None: time was up) and all output. The launcher and what it started end together."""
    try:
        done = captured(command, env, seconds, together=True)
    except TimedOutError as late:
        return None, late.output
    return done.returncode, done.stdout


def _calls(trace: Path) -> int:
    """Calls that the trace's rank began as the first of their communicator: each is counted once."""
    text = trace.read_text(errors="replace")
    return len(re.findall(r"^(?:all-to-all|all-gather|irregular) \d+ 0$", text, re.MULTILINE))


def _verdict(passes: Passes, code: int | None, output: str) -> str:
    if code is None:
        return "timeout"
    if passes is Passes.FAILS:
        return "pass" if code != 0 else "exit 0"
    if code != 0:
        return f"exit {code}"
    if passes is Passes.STATUS:
        return "pass"
    lines = [line.strip() for line in output.splitlines()]
    if not any(re.fullmatch(r"No [Ee]rrors", line) for line in lines):
        return "no verdict"
    unexpected = [line for line in lines if not re.fullmatch(r"No [Ee]rrors|Test Passed|", line)]
    return "output" if unexpected else "pass"
