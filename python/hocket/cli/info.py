"""``hocket info``: what is installed, how it is set, which algorithms there are; flags for compilers."""

import os
import platform
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import click

from hocket import _core
from hocket._core import Algorithm
from hocket.cli._shared.commands import command, gathered, option
from hocket.cli._shared.launching import library_abi_option, mpi_option
from hocket.cli._shared.options import SITE_NETWORK
from hocket.cli._shared.work import as_columns, json_option, tell, wants_json
from hocket.errors import HocketError, UsageError
from hocket.export.packages import cmake_file, cmake_version_file, compile_flags, link_flags, pkg_config_file
from hocket.launch.mpi import Abi, MpiFamily, find_mpi
from hocket.launch.runtime.build import include_dir, runtime_library, sort_include_dir
from hocket.launch.runtime.compiling import read_wrapper
from hocket.launch.runtime.ready import find_runtime, find_sort, ready_runtime
from hocket.network.description import suggestion
from hocket.system.cache import cache_dir
from hocket.system.text import for_programs

WIDTH: Final = 110  # of the table where no terminal says how wide it is


def algorithm_names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The algorithms whose names begin so."""
    return sorted({s.name for s in _core.Algorithm.all() if s.name.startswith(incomplete)})


def entries_of(name: str | None) -> list[Algorithm]:
    """All algorithms, from the most special to the most general, or those of a name. Raises UsageError."""
    if not (entries := [s for s in _core.Algorithm.all() if name in (None, s.name)]):
        near = suggestion(name or "", [s.name for s in _core.Algorithm.all()])
        raise UsageError(f"no algorithm is called '{name}'", remedy=near or "'hocket info' lists them all")
    return entries


def as_objects(entries: list[Algorithm]) -> list[dict[str, Any]]:
    """Entries as objects for JSON."""
    return [
        {"pattern": s.pattern, "name": s.name, "summary": s.summary, "source": s.source,
         "contention_free": s.contention_free, "ports": s.ports.name.replace("_", "-"),
         "guarantee": s.guarantee}
        for s in entries
    ]  # fmt: skip


def described(entries: list[Algorithm]) -> str:
    """All that is known of each entry."""
    return "\n\n".join(map(_whole, entries))


def _whole(entry: Algorithm) -> str:
    lines = [
        f"{entry.name}, for {entry.pattern} exchanges: {entry.summary}",
        f"contention-free  {'yes' if entry.contention_free else 'no'}",
        f"ports            {entry.ports.name.replace('_', '-')}",
        f"source           {entry.source}",
    ]
    return "\n".join([*lines, f"guarantee        {entry.guarantee}"] if entry.guarantee else lines)


def table(entries: list[Algorithm]) -> str:
    """Table as wide as the terminal; longer texts are continued below."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("pattern", "algorithm", "contention-free"):
        shown.add_column(title, no_wrap=True)
    shown.add_column("what it does")
    for entry in entries:
        free = "yes" if entry.contention_free else "no"
        shown.add_row(entry.pattern, entry.name, free, entry.summary)
    console = Console(width=max(60, shutil.get_terminal_size((WIDTH, 24)).columns), color_system=None)
    with console.capture() as capture:
        console.print(shown)
    lines = "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))
    return f"{lines}\n'hocket info ALGORITHM' tells the source, ports and guarantee of one"


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags and files that are asked for."""

    cflags: bool
    libs: bool
    sort: bool
    pkg_config: bool
    cmake: bool
    cmake_version: bool
    abi: str

    def asked(self) -> bool:
        """Return true if anything is asked for."""
        return self.cflags or self.libs or self.sort or self.pkg_config or self.cmake or self.cmake_version


# Options for flags and files, as one argument ``flags``.
flags_options = gathered(
    "flags",
    Flags,
    option("--cflags", "Print compiler flags: where hocket.h is."),
    option("--libs", "Print linker flags: where the library is, also at run time."),
    option("--sort", "Add the flags of hocket_sort.h and hocket_elements.h."),
    option("--pkg-config", "Print a file for pkg-config: hocket.pc."),
    option("--cmake", "Print a file for CMake's find_package: HocketConfig.cmake."),
    option("--cmake-version", "Print HocketConfigVersion.cmake, for find_package with a version."),
    library_abi_option,
)


def tell_flags(flags: Flags, mpi_name: str | None) -> None:
    """Print what is asked for; compile the library first if this MPI has none yet. Raises UsageError."""
    from hocket import __version__

    if (flags.cflags or flags.libs) + flags.pkg_config + flags.cmake + flags.cmake_version > 1:
        raise UsageError(
            "flags, --pkg-config, --cmake and --cmake-version exclude each other",
            remedy="print one after the other",
        )
    if flags.cmake_version:
        click.echo(cmake_version_file(__version__), nl=False)
        return
    includes = [sort_include_dir(), include_dir()] if flags.sort else [include_dir()]
    if flags.cflags and not flags.libs:
        click.echo(for_programs(shlex.join(compile_flags(includes))))
        return
    mpi = replace(find_mpi(mpi_name), abi=Abi(flags.abi))
    sort = [find_sort(mpi.mpicc)] if flags.sort else []
    libraries = [*sort, find_runtime(mpi.mpicc).library]
    if flags.pkg_config:
        click.echo(for_programs(pkg_config_file(__version__, includes, libraries)), nl=False)
    elif flags.cmake:
        click.echo(for_programs(cmake_file(__version__, includes, libraries, mpi.mpicc)), nl=False)
    else:
        compiled = compile_flags(includes) if flags.cflags or not flags.libs else []
        click.echo(for_programs(shlex.join([*compiled, *link_flags(libraries)])))


@command("hocket info", "mpicc program.c $(hocket info --cflags --libs) -o program")
@click.argument("name", metavar="[ALGORITHM]", required=False, shell_complete=algorithm_names)
@flags_options
@mpi_option
@json_option
def info(name: str | None, flags: Flags, mpi_name: str | None) -> None:
    """Show versions, MPI libraries, settings and algorithms; of ALGORITHM its source, ports and guarantee.

    With --cflags, --libs, --sort, --pkg-config, --cmake or --cmake-version, print only what a build needs. Programs
    that sort or permute need --sort. The wheel has libraries for MPICH 5, Open MPI 5 and the standard ABI. For another
    MPI they are compiled first and kept in the cache. Link again after an update of Hocket."""
    if flags.asked():
        tell_flags(flags, mpi_name)
        return
    entries = entries_of(name)
    if name is not None:
        tell({"algorithms": as_objects(entries)}, lambda: [described(entries)])
        return
    from hocket import __version__, _core

    settings = [_setting(variable, os.environ) for variable in _core.Variable.all()]
    mpis = _mpis(mpi_name)
    cache = str(cache_dir())
    network = os.environ.get("HOCKET_NETWORK") or (str(SITE_NETWORK) if SITE_NETWORK.is_file() else None)
    report = {
        "version": __version__, "python": platform.python_version(), "cache": cache, "network": network,
        "mpis": mpis, "settings": settings, "algorithms": as_objects(entries),
    }  # fmt: skip
    rows = [[one["name"], one["value"], one["from"]] for one in settings]
    told = [f"{mpi['mpiexec']}: {mpi['version']}; runtime {mpi['runtime']}" for mpi in mpis]
    tell(
        report,
        lambda: [
            f"hocket    {__version__}, Python {platform.python_version()}",
            f"cache     {cache}",
            f"network   {network or f'none; HOCKET_NETWORK or {SITE_NETWORK} would name one'}",
            *(f"mpi       {each}" for each in told or ["none found; --mpi names one"]),
            f"\n{as_columns(['setting', 'value', 'from'], rows)}",
            f"\n{table(entries)}",
        ],
    )
    if not wants_json():
        for complaint in _core.Variable.complaints([f"{key}={value}" for key, value in os.environ.items()]):
            click.echo(f"hocket: warning: {complaint}", err=True)


def _setting(variable: Any, environment: Mapping[str, str]) -> dict[str, str]:
    """Value of a variable, and where it comes from: the environment or the default."""
    if value := environment.get(variable.name):
        return {"name": variable.name, "value": value, "from": "environment"}
    usual = {"number": str(variable.fallback), "word": "".join(variable.words[:1]), "text": ""}[variable.kind]
    return {"name": variable.name, "value": usual, "from": "default"}


def _mpis(which: str | None) -> list[dict[str, str]]:
    """Each MPI that is found, or the one asked for: its launcher, its version and its runtime."""
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
            runtime = ready.library if ready else runtime_library(mpi.mpicc)
            said = f"in {runtime.parent}" if runtime.is_file() else "not built yet"
        except HocketError as error:
            said = f"in {ready.library.parent}" if ready else f"cannot be built: {error.what}"
        found.append({"mpiexec": mpi.mpiexec, "version": version, "runtime": said})
    return found
