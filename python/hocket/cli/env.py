"""``hocket env``: the environment settings that enable Hocket, whichever launcher starts the ranks."""

import os
import re
import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from hocket._core import Network
from hocket.cli._shared.commands import command, option
from hocket.cli._shared.launching import abi_option, mpi_named, plans_option, program_options
from hocket.cli._shared.measured import MEASURE, measured_between
from hocket.cli._shared.options import defaults_options, load_network, network_option, say_rates
from hocket.errors import HocketError, NetworkError, UsageError
from hocket.launch.environment import RuntimeOptions, scheduled_variables
from hocket.launch.mpi import Abi, abi_of, compiler_wrapper
from hocket.launch.runtime import build
from hocket.launch.runtime.build import name_of_mpi, prepared_runtime
from hocket.network import Defaults
from hocket.network.chosen import expand, job_hosts, slurm_lists
from hocket.system.cache import cache_dir, choices_dir
from hocket.system.text import and_more, counted, for_programs

_LEAST_RANKS, _LEAST_HOSTS = 3, 2  # with fewer nothing can collide, and the runtime schedules nothing
_OF_OTHERS = ("HOCKET_SEGMENT", "HOCKET_REPORT")  # no option of this command sets them


@command(
    'eval "$(hocket env --network /etc/slurm/topology.conf --placement slurm)"; srun ./program',
    'eval "$(hocket env --unset)"',
)
@network_option(required=False, name="network")
@mpi_named("MPI: mpich, openmpi, or the path of an mpiexec or mpicc.  [default: the first found]")
@abi_option
@option("--program FILE", "Program that will be started, which tells the ABI.")
@plans_option("Plan file to follow; one for each collective.")
@program_options
@defaults_options
@option("--module", "Print a modulefile (Environment Modules, Lmod).")
@option("--unset", "Print the commands that undo these settings.")
def env(
    network: str | None,
    mpi_name: str | None,
    abi: str,
    program: str | None,
    plans: tuple[Path, ...],
    defaults: Defaults,
    module: bool,
    unset: bool,
    options: RuntimeOptions,
) -> None:
    """Print the environment settings that enable Hocket under srun, flux, PALS or any mpiexec.

    The runtime and the plans are made first where they are missing. --unset prints the commands that undo these
    settings. HOCKET_DISABLE=1 passes every call of a job to the MPI library, whatever else is set."""
    if unset:
        if module:
            raise UsageError(
                "--unset and --module exclude each other", remedy="'module unload' undoes a module"
            )
        click.echo(for_programs("\n".join(_taking_back())))
        return
    if network is None:
        raise UsageError(
            "--network NETWORK is missing", remedy="give it or set HOCKET_NETWORK; see 'hocket env --help'"
        )
    from hocket.launch.environment import scheduled_environment

    if program is not None and shutil.which(program) is None:
        raise UsageError(f"--program {program}: no such program", remedy="check its path, or leave it out")
    chosen = Abi(abi) if abi != "auto" else abi_of(program) if program else Abi.NATIVE
    mpicc = compiler_wrapper(mpi_name, chosen)
    if network == MEASURE:
        network = measured_between(sorted(job_hosts(os.environ, None)), mpi_name)
    known = load_network(network, defaults, hosts=job_hosts(os.environ, None))
    variables = scheduled_environment(mpicc, known, options, plans)
    say_rates(known)
    text = _modulefile(variables, network) if module else "\n".join(_exports(variables))
    click.echo(for_programs(text))
    click.echo(f"hocket: {_prepared(variables, known.network, network)}", err=True)
    for warning in _warnings(known.network, network, variables.get("HOCKET_PLACEMENT", "")):
        click.echo(f"hocket: warning: {warning}", err=True)


def _exports(variables: dict[str, str]) -> list[str]:
    """Lines for ``sh``. An earlier call may have named uplinks to measure, of another network."""
    lines = [] if "HOCKET_SWITCH_LINKS" in variables else ["unset HOCKET_SWITCH_LINKS"]
    return lines + [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def _taking_back() -> list[str]:
    rest = build.others()
    restored = f"export {build.PRELOAD}={shlex.quote(':'.join(rest))}" if rest else f"unset {build.PRELOAD}"
    users = {*_OF_OTHERS, *([] if _keeps_choices_in_the_cache() else ["HOCKET_CHOICES"])}
    return [restored, *(f"unset {name}" for name in scheduled_variables() if name not in users)]


def _keeps_choices_in_the_cache() -> bool:
    """Any other folder is one that the user had named before: it was handed on, not set."""
    with suppress(HocketError):
        return os.environ.get("HOCKET_CHOICES") == str(choices_dir())
    return False


# The cache of the user who loads a module, who is mostly not the one who has made it.
_USERS_CACHE: Final = """\
if {[info exists ::env(XDG_CACHE_HOME)] && $::env(XDG_CACHE_HOME) ne ""} {
  set cache $::env(XDG_CACHE_HOME)
} else {
  set cache $::env(HOME)/.cache
}"""
_WRITTEN_BY_RANKS: Final = ("HOCKET_CHOICES", "HOCKET_SWITCH_LINKS")


def _modulefile(variables: dict[str, str], network: str) -> str:
    """Unloading it takes back what loading it has set. Ranks keep what they find out in their user's cache."""
    shim = variables[build.PRELOAD].rpartition(":")[2]
    what = f"Hocket schedules the collectives of MPI programs on {network}"
    return "\n".join(
        [
            "#%Module1.0",
            f"proc ModulesHelp {{ }} {{ puts stderr {_tcl(what)} }}",
            f"module-whatis {_tcl(what)}",
            f"append-path {build.PRELOAD} {_tcl(shim)}",
            _USERS_CACHE,
            *(
                f"setenv {name} {_in_users_cache(value) if name in _WRITTEN_BY_RANKS else _tcl(value)}"
                for name, value in variables.items()
                if name != build.PRELOAD
            ),
        ]
    )


def _in_users_cache(value: str) -> str:
    """One word of Tcl: a path in this cache is the same path in the user's; any other stays."""
    here = cache_dir()
    path = Path(value)
    return f"$cache/hocket/{path.relative_to(here)}" if path.is_relative_to(here) else _tcl(value)


def _tcl(text: str) -> str:
    """Quote a text as one word of Tcl, in which nothing is substituted."""
    return '"' + re.sub(r'([\\"$\[\]{}])', r"\\\1", text).replace("\n", r"\n") + '"'


def _prepared(variables: dict[str, str], network: Network, source: str) -> str:
    plans = len(variables["HOCKET_PLAN"].split(":"))
    hosts = sum(ranks > 0 for ranks in network.ranks_per_node)
    runtime = prepared_runtime(variables)
    assert runtime is not None
    prepared = f"prepared {counted(plans, 'plan')} for {network.ranks} ranks on {hosts} hosts of {source}"
    return f"{prepared}, and the runtime for {name_of_mpi(runtime[0])}"


def _warnings(network: Network, source: str, placement: str) -> list[str]:
    """Reasons why not all calls will be scheduled, as far as they are known before ranks start."""
    hosts = sum(ranks > 0 for ranks in network.ranks_per_node)
    if network.ranks < _LEAST_RANKS or hosts < _LEAST_HOSTS:
        return [
            f"nothing will be scheduled on {source}: it has {network.ranks} ranks on {counted(hosts, 'host')}; "
            f"scheduling needs at least {_LEAST_RANKS} ranks on {_LEAST_HOSTS} hosts"
        ]
    if placement not in ("", "slurm"):
        return []
    missing, all_hosts = _unknown_hosts(network)
    if not missing:
        return []
    what = "nothing" if len(missing) == all_hosts else "no communicator with ranks on them"
    return [
        f"{len(missing)} of the job's {all_hosts} hosts are not in {source}: "
        f"{and_more(missing)}; {what} will be scheduled"
    ]


def _unknown_hosts(network: Network) -> tuple[list[str], int]:
    """Hosts of Slurm's list that the network does not have, and the length of the list."""
    try:
        hosts = [host for source, _ in slurm_lists(os.environ) for host in expand(source.text, source)]
    except NetworkError:
        return [], 0  # not Slurm's, whatever it is
    return [host for host in hosts if not network.match_host([host])], len(hosts)
