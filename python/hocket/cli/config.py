"""``hocket config``: what a compiler needs to know."""

from __future__ import annotations

import shlex
from dataclasses import replace

import click

from hocket.cli.launching import mpi_option


@click.command()
@click.option("--cflags", is_flag=True, help="Where hocket.h is.")
@click.option("--libs", is_flag=True, help="Where the library is, at link time and at run time.")
@mpi_option
@click.option("--abi", type=click.Choice(["native", "standard"]), default="native", show_default=True,
              help="standard: for programs compiled with mpicc_abi.")  # fmt: skip
def config(cflags: bool, libs: bool, mpi_name: str | None, abi: str) -> None:
    """Print the flags that compile and link programs with hocket.h, in one line; both kinds by default.

    Hocket's wheel brings the library for MPICH 5, Open MPI 5 and the standard ABI. For another MPI it is
    compiled first and lies in the cache: link again when Hocket has been updated.

    \b
    mpicc program.c $(hocket config --cflags --libs) -o program
    """
    from hocket.mpi import Abi, find_mpi
    from hocket.runtime.build import include_dir
    from hocket.runtime.ready import find_runtime

    flags: list[str] = []
    if cflags or not libs:
        flags += [f"-I{include_dir()}"]
    if libs or not cflags:
        library = find_runtime(replace(find_mpi(mpi_name), abi=Abi(abi)).mpicc).library
        flags += [f"-L{library.parent}", "-lhocket_runtime", f"-Wl,-rpath,{library.parent}"]
    click.echo(shlex.join(flags))
