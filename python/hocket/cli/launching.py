"""Options of commands that start the ranks of an MPI program, with schedules or without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hocket.errors import UsageError

if TYPE_CHECKING:
    from hocket._core import Network
    from hocket.mpi import Mpi

F = TypeVar("F", bound=Callable[..., Any])


def mpi_option(function: F) -> F:
    return click.option("--mpi", "mpi_name", metavar="MPI", help="mpich, openmpi or the path of an mpiexec.")(
        function
    )


def abi_option(function: F) -> F:
    return click.option(
        "--abi",
        type=click.Choice(["auto", "native", "standard"]),
        default="auto",
        show_default=True,
        help="What the program speaks with its MPI: the library's own ABI, or that of MPI 5 (libmpi_abi). "
        "auto: by what it is linked with; say it for scripts.",
    )(function)


def chosen_mpi(name: str | None, abi: str, program: str) -> Mpi:
    """The MPI that --mpi and --abi mean for this program."""
    from hocket.mpi import Abi, abi_of, find_mpi

    return replace(find_mpi(name), abi=abi_of(program) if abi == "auto" else Abi(abi))


def scheduling_options(function: F) -> F:
    """How exchanges follow the network: --placement, --flow, --scheduler."""
    for option in (
        click.option(
            "--scheduler", metavar="NAME", help="Of irregular exchanges; chosen for each unless given."
        ),
        click.option(
            "--flow",
            metavar="FLOW",
            help="token, window:K, barrier or free.  [default: HOCKET_FLOW, token]",
        ),
        click.option(
            "--placement",
            metavar="HOW",
            help="Ranks to hosts: names (of processors), slurm (the names that Slurm gave), order "
            "(rank i on place i), a file of names or coordinates.  [default: HOCKET_PLACEMENT, names]",
        ),
    ):
        function = option(function)
    return function


def hostfile_option(function: F) -> F:
    return click.option("--hostfile", metavar="FILE", help="Passed to mpiexec: the hosts to start on.")(
        function
    )


def check_places(network: Network, source: str, ranks: int, placement: str | None) -> None:
    """Raises UsageError where rank i should go to a place i that the network does not have."""
    if placement == "order" and ranks > network.ranks:
        raise UsageError(
            f"{ranks} ranks do not fit on the {network.ranks} places of {source}",
            remedy="start fewer, or give hosts more ranks in the network file",
        )
