"""``hocket info``: what is installed, how it is set, and which algorithms there are."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from typing import Any

import click

from hocket.cli._shared.commands import Command
from hocket.cli._shared.launching import mpi_option
from hocket.cli._shared.options import SITE_NETWORK, json_option
from hocket.cli._shared.work import as_columns
from hocket.cli.info_algorithms import algorithm_names, as_objects, described, entries_of, table
from hocket.cli.info_flags import Flags, flags_options, tell_flags


@click.command(
    cls=Command,
    examples=("hocket info", "mpicc program.c $(hocket info --cflags --libs) -o program"),
)
@click.argument("name", metavar="[ALGORITHM]", required=False, shell_complete=algorithm_names)
@flags_options
@mpi_option
@json_option
def info(name: str | None, flags: Flags, mpi_name: str | None, as_json: bool) -> None:
    """Show versions, MPI libraries, settings and algorithms; of ALGORITHM its source, ports and guarantee.

    With --cflags, --libs, --sort, --pkg-config, --cmake or --cmake-version, print only what a build needs. Programs
    that sort or permute need --sort. The wheel has libraries for MPICH 5, Open MPI 5 and the standard ABI. For another
    MPI they are compiled first and kept in the cache. Link again after an update of Hocket.
    """
    if flags.asked():
        tell_flags(flags, mpi_name)
        return
    entries = entries_of(name)
    if name is not None:
        click.echo(json.dumps({"algorithms": as_objects(entries)}) if as_json else described(entries))
        return
    from hocket import __version__, _core
    from hocket.system.cache import cache_dir

    settings = [_setting(variable, os.environ) for variable in _core.variables()]
    mpis = _mpis(mpi_name)
    cache = str(cache_dir())
    network = os.environ.get("HOCKET_NETWORK") or (str(SITE_NETWORK) if SITE_NETWORK.is_file() else None)
    if as_json:
        click.echo(json.dumps({
            "version": __version__, "python": platform.python_version(), "cache": cache, "network": network,
            "mpis": mpis, "settings": settings, "algorithms": as_objects(entries),
        }))  # fmt: skip
        return
    click.echo(f"hocket    {__version__}, Python {platform.python_version()}")
    click.echo(f"cache     {cache}")
    click.echo(f"network   {network or f'none; HOCKET_NETWORK or {SITE_NETWORK} would name one'}")
    for mpi in mpis:
        click.echo(f"mpi       {mpi['mpiexec']}: {mpi['version']}; runtime {mpi['runtime']}")
    if not mpis:
        click.echo("mpi       none found; --mpi names one")
    rows = [[one["name"], one["value"], one["from"]] for one in settings]
    click.echo(f"\n{as_columns(['setting', 'value', 'from'], rows)}")
    for complaint in _core.wrong_variables([f"{key}={value}" for key, value in os.environ.items()]):
        click.echo(f"hocket: warning: {complaint}", err=True)
    click.echo(f"\n{table(entries)}")


def _setting(variable: Any, environment: Mapping[str, str]) -> dict[str, str]:
    """Value of a variable, and where it comes from: the environment or the default."""
    if value := environment.get(variable.name):
        return {"name": variable.name, "value": value, "from": "environment"}
    usual = {"number": str(variable.fallback), "word": "".join(variable.words[:1]), "text": ""}[variable.kind]
    return {"name": variable.name, "value": usual, "from": "default"}


def _mpis(which: str | None) -> list[dict[str, str]]:
    """Each MPI that is found, or the one asked for: its launcher, its version and its runtime."""
    from hocket.errors import HocketError
    from hocket.launch.mpi import MpiFamily, find_mpi
    from hocket.launch.runtime.build import built_runtime
    from hocket.launch.runtime.ready import ready_runtime
    from hocket.launch.runtime.wrapper import read_wrapper

    found = []
    for family in [which] if which else [each.value for each in MpiFamily]:
        try:
            mpi = find_mpi(family)
        except HocketError:
            if which:
                raise
            continue
        version, ready = mpi.family.value, None
        try:
            if ready := ready_runtime(mpi.mpicc):
                version = ready.mpi_name
            version = read_wrapper(mpi.mpicc).version
            runtime = ready.library if ready else built_runtime(mpi.mpicc)
            said = "not built yet" if runtime is None else f"in {runtime.parent}"
        except HocketError as error:
            said = f"in {ready.library.parent}" if ready else f"cannot be built: {error.what}"
        found.append({"mpiexec": mpi.mpiexec, "version": version, "runtime": said})
    return found
