"""``hocket run``: an unmodified MPI program with scheduled collectives."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from hocket.cli._shared.commands import Command
from hocket.cli._shared.launching import (
    abi_option,
    check_places,
    check_program,
    chosen_mpi,
    hostfile_option,
    mpi_option,
    plans_option,
    program_options,
)
from hocket.cli._shared.measured import MEASURE, kept_or_measured
from hocket.cli._shared.options import defaults_options, load_network, network_option, ranks_option, say_rates
from hocket.cli._shared.work import check_writable
from hocket.errors import HocketError, PlanError, UsageError
from hocket.system.signals import as_exceptions

if TYPE_CHECKING:
    from hocket.launch.environment import RuntimeOptions
    from hocket.network import Defaults

_ON_STDERR = Path("-")  # the report as a table only


def _report_file(_context: click.Context, _option: click.Parameter, file: Path | None) -> Path | None:
    if file not in (None, _ON_STDERR) and file.suffix != ".json":
        raise UsageError(
            f"--report={file} is not a JSON file",
            remedy="name it FILE.json; write -- between --report and the program",
        )
    if file not in (None, _ON_STDERR):
        check_writable(str(file))
    return file


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    examples=(
        "hocket run --network cluster.toml -n 32 -- ./program",
        "hocket run --network measure -n 32 --hostfile hosts -- python3 solver.py",
    ),
)
@network_option(name="network")
@ranks_option("that of the batch job")
@mpi_option
@abi_option
@plans_option("Plan file to follow; one for each collective.", envvar="HOCKET_PLAN", show_envvar=True)
@program_options
@hostfile_option
@defaults_options
@click.option(
    "--report",
    metavar="[=FILE.json]",
    type=click.Path(path_type=Path, dir_okay=False),
    is_flag=False,
    flag_value=_ON_STDERR,
    callback=_report_file,
    help="Report at the end what became of the collective calls.",
)
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def run(
    ctx: click.Context,
    /,
    network: str,
    ranks: int | None,
    mpi_name: str | None,
    abi: str,
    plans: tuple[Path, ...],
    hostfile: str | None,
    defaults: Defaults,
    report: Path | None,
    program: tuple[str, ...],
    options: RuntimeOptions,
) -> None:
    """Run an unmodified MPI PROGRAM with scheduled collectives.

    --network measure measures what the hosts share where no measurement of them is kept, in a minute.

    Hocket measures which way of serving a call is the fastest, the MPI library's among them, and keeps that one.
    """
    from hocket.launch import exit_code
    from hocket.launch.environment import scheduled_environment
    from hocket.launch.mpi import TELL_RANKS, MpiFamily, launch_command, ranks_of_job
    from hocket.network.chosen import job_hosts, slurm_lists
    from hocket.system.cache import cache_dir, clear_up, report_folder

    ranks = ranks or ranks_of_job(os.environ)
    if ranks is None:
        raise UsageError(
            "-n is missing",
            remedy=f"give the number of ranks; the default is a batch job's, if {', '.join(TELL_RANKS)} or "
            "PBS_NODEFILE tells it",
        )
    if hostfile is None and (groups := len(slurm_lists(os.environ))) > 1:
        click.echo(
            f"hocket: note: this heterogeneous job has {groups} groups, and mpiexec starts ranks on group 0 alone; "
            f"""on all: eval "$(hocket env --network {network})"; srun --het-group=0-{groups - 1} {program[0]}""",
            err=True,
        )
    mpi = chosen_mpi(mpi_name, abi, program[0])
    check_program(program[0], mpi, elsewhere=hostfile is not None)
    if network == MEASURE:
        network = kept_or_measured(job_hosts(os.environ, hostfile), ranks, mpi_name, hostfile)
    known = load_network(network, defaults, hosts=job_hosts(os.environ, hostfile))
    options = options.completed(os.environ)
    check_places(known.network, network, ranks, options.placement)
    clear_up(cache_dir())
    with as_exceptions(), ExitStack() as stack:
        directory = stack.enter_context(report_folder()) if report else None
        if directory is not None:
            options = replace(options, report=directory)
        try:
            env = scheduled_environment(mpi.mpicc, known, options, plans, ranks)
        except PlanError as problem:
            if ctx.get_parameter_source("plans") is not ParameterSource.ENVIRONMENT:
                raise
            raise PlanError(f"HOCKET_PLAN: {problem.what}", remedy=problem.remedy) from None
        say_rates(known)
        if switch_links := env.get("HOCKET_SWITCH_LINKS"):
            click.echo(
                f"uplinks: the first call that depends on their rates measures them; kept in {switch_links}",
                err=True,
            )
        command = launch_command(mpi, ranks, (), env, program, hostfile=hostfile)
        if directory is None:
            sys.exit(exit_code(command))
        from hocket.report.advice import Launched  # numpy comes with it, and takes long to load
        from hocket.report.summary import tell

        code = exit_code(command)
        slurm = hostfile is None and len(slurm_lists(os.environ)) == 1
        form = "openmpi-hostfile" if mpi.family is MpiFamily.OPENMPI else "mpich-hostfile"
        job = Launched(known.network, network, "slurm" if slurm else form, hostfile, slurm)
        try:
            tell(directory, ranks, code, None if report == _ON_STDERR else report, job)
        except HocketError as error:
            click.echo(f"hocket: {error}", err=True)
            code = code or 2
    sys.exit(code)
