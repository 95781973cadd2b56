"""Options of commands that start the ranks of an MPI program, with schedules or without."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hocket import _core
from hocket._core import Network
from hocket.cli._shared.commands import Choice, Decorator, gathered, named, option, options
from hocket.errors import UsageError
from hocket.system.files import as_error, open_file
from hocket.units import parse_bytes

if TYPE_CHECKING:
    from hocket.launch.environment import RuntimeOptions
    from hocket.launch.mpi import Mpi

# Ranks that one machine starts: enough for any check of it, few enough that they end.
RANKS_PER_CORE: Final = 16
LEAST_LIMIT: Final = 256


def mpi_named(help: str) -> Decorator:
    return option("--mpi MPI", help, "mpi_name")


mpi_option = mpi_named("MPI: mpich, openmpi or the path of an mpiexec.  [default: the first found]")
library_abi_option = option("--abi", "ABI of the MPI library. standard is for programs compiled with mpicc_abi.",
                            type=Choice(["native", "standard"]), default="native")  # fmt: skip


def job_network_option(help: str) -> Decorator:
    """Option for the network of ranks that need none."""
    return option("--network NETWORK", help, "source")


def plans_option(help: str, **more: Any) -> Decorator:
    return option("--plan", help, "plans", type=click.Path(path_type=Path), multiple=True, **more)


abi_option = option(
    "--abi", "ABI of the program: the MPI library's own, or the standard one of MPI 5 (libmpi_abi). auto looks at what "
    "the program is linked with. Give it for scripts.", type=Choice(["auto", "native", "standard"]), default="auto",
)  # fmt: skip


def chosen_mpi(name: str | None, abi: str, program: str) -> Mpi:
    """The MPI that --mpi and --abi mean for this program."""
    from hocket.launch.mpi import Abi, abi_of, find_mpi

    return replace(find_mpi(name), abi=abi_of(program) if abi == "auto" else Abi(abi))


class _OfVariable(click.Option):
    """Option for a variable of the runtime. The help shows the variable's meaning and its default."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from hocket.launch.environment import variable_of

        (variable,) = (each for each in _core.Variable.all() if each.name == variable_of(str(self.name)))
        default = f", then {variable.fallback}" if variable.kind == "number" and variable.fallback else ""
        if variable.kind == "word":
            default = f", then {variable.words[0]}"
        self.help = (
            f"{variable.meaning[0].upper()}{variable.meaning[1:]}.  [default: {variable.name}{default}]"
        )
        return super().get_help_record(ctx)


def _bytes(_context: click.Context, option: click.Parameter, size: str | None) -> int | None:
    return named(option.opts[0], parse_bytes, size) if size else None


def _runtime_options(*, verbose: int, **said: Any) -> RuntimeOptions:
    from hocket.launch.environment import RuntimeOptions

    return RuntimeOptions(log=min(verbose, 2), **said)


# Options for how exchanges follow the network.
_scheduling_options = options(
    option("--placement HOW", "How ranks find their hosts: names (processor names), slurm (Slurm's node names), order "
           "(rank i on place i), or a file of names or coordinates.  [default: HOCKET_PLACEMENT, then names]"),
    option("--flow FLOW", "Flow control: token, window:K, barrier or free.  [default: HOCKET_FLOW_CONTROL, then token]",
           "flow_control"),
    option("--algorithm NAME", cls=_OfVariable),
)  # fmt: skip


def need_network(source: str | None, options: RuntimeOptions) -> None:
    """Raises UsageError for an option of scheduling where no network is named."""
    said = {"placement": options.placement, "flow": options.flow_control, "algorithm": options.algorithm}
    for name, value in said.items():
        if value is not None and source is None:
            raise UsageError(f"--{name} needs a network to schedule on", remedy="add --network")


choose_option = option("--choose HOW", cls=_OfVariable)


# Options for how exchanges follow the network, and for what ranks print, as one argument ``options``.
rank_options = gathered(
    "options", _runtime_options, _scheduling_options, option("-v, --verbose", "Show the output of the ranks.")
)
# The same, with options for which calls of a program are scheduled.
program_options = gathered(
    "options",
    _runtime_options,
    _scheduling_options,
    choose_option,
    option("--min-bytes SIZE", callback=_bytes, cls=_OfVariable),
    option("-v, --verbose", "Log what each communicator does. -vv: also log each call site.", count=True),
)


def _readable_hostfile(_context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    if path is not None:
        remedy = "name a file that lists hosts, one on each line"
        with as_error(f"--hostfile {path}", remedy, UsageError), open_file(path, again=True):
            pass
    return path


hostfile_option = option("--hostfile FILE", "File of hosts to start on, passed to mpiexec.", type=click.Path(),
                         callback=_readable_hostfile)  # fmt: skip


def check_program(program: str, mpi: Mpi, elsewhere: bool = False) -> None:
    """Raises UsageError where the launcher would find nothing to start under this name.

    A name without a slash is looked up on PATH; Open MPI's launcher looks in the working directory, too. With
    ``elsewhere`` the ranks may run on other hosts, which may have what is missing here: a note, no error."""
    from hocket.launch.mpi import MpiFamily

    path = Path(program)
    if not program.strip():
        raise UsageError("the name of the program is empty", remedy="give its path")
    if os.sep not in program:
        if shutil.which(program) is not None or (mpi.family is MpiFamily.OPENMPI and _executable(path)):
            return
        here = f"; did you mean ./{program}?" if path.is_file() else ""
        problem, remedy = f"{program}: no such program on PATH", "give its path" + here
    elif not path.exists():
        problem, remedy = f"{program}: no such program", "check its path, or build it first"
    elif path.is_dir():
        problem, remedy = f"{program} is a directory", "name the program in it"
    elif not _executable(path):
        problem, remedy = (
            f"{program} is not executable",
            f"chmod +x {program}, or start it by its interpreter",
        )
    else:
        return
    if not elsewhere:
        raise UsageError(problem, remedy=remedy)
    click.echo(f"hocket: note: {problem} on this host", err=True)


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def check_ranks_here(
    ranks: int | None, hostfile: str | None, instead: str = ", or --hostfile FILE with more hosts"
) -> None:
    """Raises UsageError for more ranks than this machine can start, if they would all be on it."""
    from hocket.launch.mpi import JOB_VARIABLES
    from hocket.measure.memory import cores

    most = max(LEAST_LIMIT, RANKS_PER_CORE * cores())
    within_job = any(name in os.environ for name in JOB_VARIABLES)
    if ranks is not None and ranks > most and hostfile is None and not within_job:
        raise UsageError(
            f"-n {ranks}: more than the {most} ranks that this machine can start",
            remedy=f"give at most {most}{instead}",
        )


def check_places(network: Network, source: str, ranks: int, placement: str | None) -> None:
    """Raises UsageError where rank i should go to a place i that the network does not have."""
    if placement == "order" and ranks > network.ranks:
        raise UsageError(
            f"{ranks} ranks do not fit on the {network.ranks} places of {source}",
            remedy="start fewer, or give hosts more ranks in the network file",
        )
