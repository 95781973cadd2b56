"""Flags and files for compilers and build systems, which ``hocket info`` prints."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from hocket.cli._shared.usage import options
from hocket.errors import UsageError
from hocket.system.terminal import for_programs


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


_options = options(
    click.option("--cflags", is_flag=True, help="Print compiler flags: where hocket.h is."),
    click.option("--libs", is_flag=True, help="Print linker flags: where the library is, also at run time."),
    click.option("--sort", is_flag=True, help="Add the flags of hocket_sort.h and hocket_elements.h."),
    click.option("--pkg-config", is_flag=True, help="Print a file for pkg-config: hocket.pc."),
    click.option("--cmake", is_flag=True, help="Print a file for CMake's find_package: HocketConfig.cmake."),
    click.option(
        "--cmake-version", is_flag=True, help="Print HocketConfigVersion.cmake, for find_package with a version."
    ),
    click.option(
        "--abi", type=click.Choice(["native", "standard"]), default="native", show_default=True,
        help="ABI of these flags. standard is for programs compiled with mpicc_abi.",
    ),
)  # fmt: skip


def flags_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for flags, as one argument ``flags``."""

    @functools.wraps(function)
    def with_flags(*args: Any, **given: Any) -> Any:
        flags = Flags(**{name: given.pop(name) for name in Flags.__slots__})
        return function(*args, flags=flags, **given)

    return _options(with_flags)


def tell_flags(flags: Flags, mpi_name: str | None) -> None:
    """Print what is asked for; compile the library first if this MPI has none yet. Raises UsageError."""
    from hocket import __version__
    from hocket.export.packages import (
        cmake_file,
        cmake_version_file,
        compile_flags,
        link_flags,
        pkg_config_file,
    )
    from hocket.launch.mpi import Abi, find_mpi
    from hocket.launch.runtime.build import include_dir, sort_include_dir
    from hocket.launch.runtime.ready import find_runtime, find_sort

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
    runtime = find_runtime(mpi.mpicc).library
    libraries = [find_sort(mpi.mpicc), runtime] if flags.sort else [runtime]
    if flags.pkg_config:
        click.echo(for_programs(pkg_config_file(__version__, includes, libraries)), nl=False)
    elif flags.cmake:
        click.echo(for_programs(cmake_file(__version__, includes, libraries, mpi.mpicc)), nl=False)
    else:
        compiled = compile_flags(includes) if flags.cflags or not flags.libs else []
        click.echo(for_programs(shlex.join([*compiled, *link_flags(libraries)])))
