"""Networks that the ranks of a job measure, for the commands that can do without a network file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.cli._shared.commands import Decorator, Number, option
from hocket.cli._shared.launching import check_ranks_here
from hocket.cli._shared.work import progress_of, with_spinner, write_files
from hocket.errors import UsageError

if TYPE_CHECKING:
    from hocket.measure.discovered import Found

SECONDS: Final = 60.0
MOST_OFF: Final = 0.3  # of a bottleneck's rate: other traffic is less


def seconds_option(help: str, least: float, most: float) -> Decorator:
    return option("--seconds", help, type=Number(least, most), default=SECONDS)


def measure_option(help: str) -> Decorator:
    return option("--measure", help)


MEASURE: Final = "measure"  # instead of a network file


def by_ranks(
    work: str, what: dict[str, Any], ranks: int | None, mpi_name: str | None, hostfile: str | None
) -> Any:
    """Result of ranks that do this ``work`` (see :class:`hocket.launch.job.Job`): those of the job of which this
    process is one, with the result on rank 0 and None on others; else ranks that are started."""
    from hocket.launch.job import Job, in_a_job, need_mpi4py, run_here, run_job, work_of

    need_mpi4py()
    if in_a_job():
        found = run_here(ranks, lambda comm: work_of(work)(comm, what, lambda message: None))
        return json.loads(json.dumps(found))  # plain values, as ranks that are started tell them
    check_ranks_given(ranks)
    check_ranks_here(ranks, hostfile)
    from hocket.launch.mpi import find_mpi

    job = Job(work, ranks or 0, what, "all was measured")
    with progress_of() as say:
        outcome = run_job(
            job, find_mpi(mpi_name), {}, lambda now: say(now["at"], now["of"], now["work"]), hostfile=hostfile,
            verbose=None,
        )  # fmt: skip
    return outcome.answer


def check_ranks_given(ranks: int | None) -> None:
    """Raises UsageError."""
    if ranks is None:
        raise UsageError(
            "-n is missing", remedy="give the number of ranks, or start it as the program of a job"
        )


def measure_network(
    ranks: int | None, mpi_name: str | None, hostfile: str | None, seconds: float, known: Found | None = None
) -> Found | None:
    """The bottlenecks between the hosts of ranks, or errors of those that are ``known``; None on other ranks than the
    first of a job."""
    from hocket.launch.job import in_a_job

    if ranks is None and not in_a_job():
        raise UsageError(
            "-n is missing",
            remedy="give the number of ranks and --hostfile FILE, or start it as the program of a job",
        )
    what = {"seconds": seconds} | ({} if known is None else {"known": known.as_json()})
    if (found := by_ranks("hocket.measure.discovery:work", what, ranks, mpi_name, hostfile)) is None:
        return None
    from hocket.measure.discovered import Found

    return Found.from_json(found)


def answer(found: Found) -> list[str]:
    """Sentences on what was found and would be gained. Raises NetworkError where the hosts make no tree."""
    from hocket.measure.discovered import worth
    from hocket.network import Defaults
    from hocket.network.known import known_network

    known = known_network(found.described(), Defaults())
    return [*found.sentences(), *with_spinner("predicting", lambda: worth(known))]


def write_network(found: Found, path: str) -> None:
    """The network file of what was found. Raises NetworkError where there is none."""
    from hocket.network.writer import network_files

    write_files(network_files(found.described().build(), path, found.comment()))


def keep(found: Found) -> Path:
    """Keep the network file in the cache, and beside it all that was found. Raises NetworkError where there is none."""
    from hocket.measure.discovered import kept_path

    path = kept_path(found.hosts)
    write_network(found, str(path))
    write_files({str(path.with_suffix(".json")): json.dumps(found.as_json())})
    return path


def kept_or_measured(
    hosts: Collection[str], ranks: int | None, mpi_name: str | None, hostfile: str | None
) -> str:
    """The file of the network that is kept of these hosts; it is measured first where there is none, or where the hosts
    were rewired since."""
    from hocket.measure.discovered import kept_for

    names = set(hosts) or {platform.node()}
    if kept := kept_for(names):
        path, known = kept
        checked = measure_network(ranks, mpi_name, hostfile, SECONDS, known=known)
        assert checked is not None  # in no job
        if (off := median(checked.errors or [0.0])) <= MOST_OFF and known.has(checked.hosts):
            return str(path)
        click.echo(
            f"hocket: the network is not what was kept on {known.date}: rates are off by {100 * off:.0f} %",
            err=True,
        )
    click.echo(f"hocket: measuring the network between the hosts, in about {SECONDS:.0f} s", err=True)
    found = measure_network(ranks, mpi_name, hostfile, SECONDS)
    assert found is not None  # in no job
    path = keep(found)
    click.echo("\n".join([*found.sentences(), f"kept in {path}; remove it to measure again"]), err=True)
    return str(path)


def measured_between(hosts: Sequence[str], mpi_name: str | None = None) -> str:
    """The file that is kept, unchecked, where only hosts are known; if there is none, a rank on each measures."""
    from hocket.launch.job import in_a_job
    from hocket.measure.discovered import kept_for

    if kept := kept_for(hosts) if hosts else None:
        return str(kept[0])
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
