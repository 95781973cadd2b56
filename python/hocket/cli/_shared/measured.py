"""Networks that the ranks of a job measure, for the commands that can do without a network file."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import click

from hocket.cli._shared.launching import check_ranks_here
from hocket.cli._shared.work import progress_of, with_spinner, write_atomically
from hocket.errors import UsageError

if TYPE_CHECKING:
    from mpi4py import MPI

    from hocket.measure.discovery.found import Found

SECONDS: Final = 60.0
MEASURE: Final = "measure"  # instead of a network file


def measure_network(
    ranks: int | None, mpi_name: str | None, hostfile: str | None, seconds: float, quiet: bool
) -> Found | None:
    """Measure in the job whose rank this process is, with the result on rank 0; else by ranks of its own."""
    from hocket.launch.job import in_a_job, need_mpi4py, run_here

    need_mpi4py()
    if in_a_job():

        def work(comm: MPI.Intracomm) -> Found | None:
            from hocket.measure.discovery.measure import measure

            return measure(comm, seconds, lambda at, of, now: None)

        return run_here(ranks, work)
    if ranks is None:
        raise UsageError(
            "-n is missing",
            remedy="give the number of ranks and --hostfile FILE, or start it as the program of a job",
        )
    check_ranks_here(ranks, hostfile)
    from hocket.launch.mpi import find_mpi
    from hocket.measure.discovery.job import measured_by

    with progress_of(quiet) as say:
        return measured_by(find_mpi(mpi_name), ranks, hostfile, seconds, say)


def answer(found: Found, quiet: bool) -> list[str]:
    """Sentences on what was found and would be gained. Raises NetworkError where the hosts make no tree."""
    from hocket.measure.discovery.worth import worth
    from hocket.network import Defaults
    from hocket.network.known import known_network

    known = known_network(found.described(), Defaults())
    return [*found.sentences(), *with_spinner("predicting", lambda: worth(known), quiet)]


def write_network(found: Found, path: str) -> None:
    """The network file of what was found. Raises NetworkError where there is none."""
    from hocket.network.writer import network_files

    for name, text in network_files(found.described().build(), path, found.comment()).items():
        write_atomically(name, [text])


def kept_or_measured(
    hosts: Collection[str], ranks: int | None, mpi_name: str | None, hostfile: str | None
) -> str:
    """The file of the network that is kept of these hosts; it is measured first where there is none."""
    from hocket.measure.discovery.kept import kept_for, kept_path

    names = set(hosts) or {platform.node()}
    if kept := kept_for(names):
        return str(kept)
    click.echo(f"hocket: measuring the network between the hosts, in about {SECONDS:.0f} s", err=True)
    found = measure_network(ranks, mpi_name, hostfile, SECONDS, quiet=False)
    assert found is not None  # in no job
    path = str(kept_path(found.hosts))
    write_network(found, path)
    click.echo("\n".join([*found.sentences(), f"kept in {path}; remove it to measure again"]), err=True)
    return path


def measured_between(hosts: Sequence[str], mpi_name: str | None = None) -> str:
    """The same where only hosts are known: a rank on each measures."""
    from hocket.launch.job import in_a_job

    if not hosts:
        raise UsageError(
            "--network measure: between which hosts is not said",
            remedy="call it in a Slurm job, or have them measured: hocket network discover --measure -n RANKS "
            "--hostfile FILE -o FILE.toml",
        )
    if in_a_job():
        raise UsageError(
            "--network measure starts ranks of its own", remedy="call it outside of a job's ranks"
        )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "hosts"
        file.write_text("".join(f"{host}{os.linesep}" for host in hosts))
        return kept_or_measured(hosts, len(hosts), mpi_name, str(file))
