"""``hocket doctor``: does it work here, and what to do if not."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hocket.cli._shared.commands import command, option
from hocket.cli._shared.launching import (
    check_ranks_here,
    hostfile_option,
    library_abi_option,
    mpi_option,
    plans_option,
)
from hocket.cli._shared.measured import answer, measure_network, measure_option, seconds_option
from hocket.cli._shared.options import defaults_options, network_option, ranks_option
from hocket.cli._shared.work import json_option, tell, wants_json
from hocket.launch.mpi import Abi

if TYPE_CHECKING:
    from hocket.doctor import Finding

_COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}


@command(
    "hocket doctor --measure -n 32 --hostfile hosts",
    "hocket doctor --network cluster.toml -n 8 --hostfile hosts",
)
@network_option(required=False, name="network", about="Network that programs will run on")
@ranks_option("a few")
@mpi_option
@library_abi_option
@option("--placement HOW", "How ranks find their hosts, as in 'hocket run'.", default="names")
@plans_option("Plan file to check; may be given several times.")
@hostfile_option
@defaults_options
@seconds_option("Time limit for each start of ranks; with --measure about how long that takes.", 1, 600)
@measure_option("Only measure the network between the ranks' hosts, and say whether scheduling would help.")
@json_option
def doctor(
    network: str | None,
    ranks: int | None,
    mpi_name: str | None,
    abi: str,
    hostfile: str | None,
    seconds: float,
    measure: bool,
    **asked: Any,
) -> None:
    """Check this installation, and say how to fix each problem.

    Checks the package, the compiler, the cache, the MPI and the environment, and the network, plans and placement if
    given. Builds the runtime. Starts a few ranks with and without Hocket and checks every byte of their all-to-all. The
    exit code is 1 if there are problems."""
    if measure:
        if (found := measure_network(ranks, mpi_name, hostfile, seconds)) is not None:
            told = answer(found)
            tell({"told": told, **found.as_json()}, lambda: told)
        return
    from hocket.doctor import Case, Level, examine

    check_ranks_here(ranks, hostfile)
    case = Case(
        os.environ, network, mpi_name, Abi(abi), ranks=ranks, hostfile=hostfile, seconds=seconds, **asked
    )
    findings: list[Finding] = []
    for finding in examine(case):
        findings.append(finding)
        if not wants_json():
            _show(finding)
    problems = sum(finding.level is Level.PROBLEM for finding in findings)
    document = {"problems": problems, "findings": [asdict(finding) for finding in findings]}
    tell(document, lambda: [f"{problems or 'no'} problem{'' if problems == 1 else 's'}"], indent=2)
    sys.exit(1 if problems else 0)


def _show(finding: Finding) -> None:
    """Print a finding on one line, and its remedy below."""
    level = click.style(f"{finding.level:8}", fg=_COLOURS[finding.level])
    click.echo(f"{level}{finding.topic:12}{' '.join(finding.text.split())}")
    if finding.remedy:
        click.echo(f"{'':20}→ {' '.join(finding.remedy.split())}")
