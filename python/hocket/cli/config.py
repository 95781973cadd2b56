"""``hocket config``: what a compiler needs to know."""

from __future__ import annotations

import shlex
from dataclasses import replace

import click

from hocket.cli._shared.launching import mpi_option
from hocket.system.terminal import for_programs


@click.command()
@click.option("--cflags", is_flag=True, help="Where hocket.h is.")
@click.option("--libs", is_flag=True, help="Where the library is, at link time and at run time.")
@click.option("--sort", is_flag=True, help="Those of hocket_sort.h and hocket_elements.h, too.")
@click.option("--pkg-config", is_flag=True, help="Both as a file for pkg-config: hocket.pc.")
@click.option("--cmake", is_flag=True, help="A file for CMake's find_package: HocketConfig.cmake.")
@click.option(
    "--cmake-version",
    is_flag=True,
    help="What it needs where a version is wanted: HocketConfigVersion.cmake.",
)
@mpi_option
@click.option("--abi", type=click.Choice(["native", "standard"]), default="native", show_default=True,
              help="standard: for programs compiled with mpicc_abi.")  # fmt: skip
def config(
    cflags: bool,
    libs: bool,
    sort: bool,
    pkg_config: bool,
    cmake: bool,
    cmake_version: bool,
    mpi_name: str | None,
    abi: str,
) -> None:
    """Print the flags that compile and link programs with hocket.h, in one line; both kinds by default.

    Programs that sort or permute need --sort. Hocket's wheel brings the libraries for MPICH 5, Open MPI 5 and the
    standard ABI. For another MPI they are compiled first and lie in the cache: link again when Hocket has been
    updated.

    \b
    mpicc program.c $(hocket config --cflags --libs) -o program
    mpicc sorts.c $(hocket config --cflags --libs --sort) -o sorts
    hocket config --pkg-config > hocket.pc
    hocket config --cmake > HocketConfig.cmake
    hocket config --cmake-version > HocketConfigVersion.cmake
    """
    from hocket import __version__
    from hocket.errors import UsageError
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

    if (cflags or libs) + pkg_config + cmake + cmake_version > 1:
        raise UsageError(
            "flags, --pkg-config, --cmake and --cmake-version exclude each other",
            remedy="print one after the other",
        )
    if cmake_version:
        click.echo(cmake_version_file(__version__), nl=False)
        return
    includes = [sort_include_dir(), include_dir()] if sort else [include_dir()]
    if cflags and not libs:
        click.echo(for_programs(shlex.join(compile_flags(includes))))
        return
    mpi = replace(find_mpi(mpi_name), abi=Abi(abi))
    runtime = find_runtime(mpi.mpicc).library
    libraries = [find_sort(mpi.mpicc), runtime] if sort else [runtime]
    if pkg_config:
        click.echo(for_programs(pkg_config_file(__version__, includes, libraries)), nl=False)
    elif cmake:
        click.echo(for_programs(cmake_file(__version__, includes, libraries, mpi.mpicc)), nl=False)
    else:
        flags = compile_flags(includes) if cflags or not libs else []
        click.echo(for_programs(shlex.join([*flags, *link_flags(libraries)])))
