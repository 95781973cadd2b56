"""``hocket calibrate``: what this machine's parts cost, measured once and used from then on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.cli._shared.commands import Group
from hocket.cli._shared.launching import check_ranks_here
from hocket.cli._shared.options import json_option
from hocket.cli._shared.sizes import parse_size
from hocket.cli._shared.usage import Whole
from hocket.cli._shared.work import as_columns, check_writable, progress_of, write_atomically
from hocket.cli.calibrate_network import network

if TYPE_CHECKING:
    from hocket import _core

LEAST_MEMORY: Final = 1 << 20


@click.group(
    cls=Group,
    examples=("hocket calibrate memory --quick", "hocket calibrate network -n 32 --hostfile hosts"),
)
def calibrate() -> None:
    """Measure the costs of memory and of messages, which predictions use."""


calibrate.add_command(network)


@calibrate.command(
    examples=("hocket calibrate memory", "hocket calibrate memory --show --evaluate 'wC1 o 1S0'")
)
@click.option(
    "-n",
    "ranks",
    type=Whole(min=2),
    metavar="RANKS",
    help="Number of ranks.  [default: one for each core]",
)
@click.option(
    "-o", "--output", metavar="FILE", help="File for the profile.  [default: the one in the user's cache]"
)
@click.option("--quick", is_flag=True, help="Measure less, in 30 s, with less accuracy.")
@click.option(
    "--memory", "size", metavar="SIZE", help="Memory that each rank works on.  [default: by what is free]"
)
@click.option(
    "--mpi",
    "mpi_name",
    metavar="MPI",
    help="MPI: mpich, openmpi or the path of an mpiexec.  [default: the first found]",
)
@click.option(
    "--show",
    metavar="FILE",
    is_flag=False,
    flag_value="",
    help="Measure nothing and show this profile.  [default: the one in use]",
)
@click.option(
    "--evaluate", metavar="COMPOSITION", help="Also print the rate of this composition, such as 'wC1 o 1S0'."
)
@click.option(
    "--width",
    type=Whole(1, 1 << 20),
    default=8,
    show_default=True,
    metavar="BYTES",
    help="Size of an element in the table.",
)
@json_option
def memory(
    ranks: int | None,
    output: str | None,
    quick: bool,
    size: str | None,
    mpi_name: str | None,
    show: str | None,
    evaluate: str | None,
    width: int,
    as_json: bool,
) -> None:
    """Measure memory and messages: the basic transfers of the copy-transfer model.

    All ranks of this host measure at the same time. Permuting and sorting choose their methods by the result.
    """  # fmt: skip
    from hocket.measure.memory.basic import composed, transfers

    if evaluate is not None:
        composed(evaluate)  # say what is wrong with it before the long work
    if show is not None:
        from hocket.costs.memory import read_profile

        profile, where = read_profile(show or None), None
    else:
        profile, where = _measure(ranks, output, quick, size, mpi_name, as_json)
    figures = transfers(profile, width)
    rate = None if evaluate is None else composed(evaluate, figures)
    if as_json:
        report = {"origin": profile.origin, "width": width, "transfers": figures, "profile": where}
        click.echo(json.dumps(report | ({} if rate is None else {"evaluated": rate}), indent=2))
        return
    click.echo(profile.origin)
    _print_transfers(profile, figures, width)
    if rate is not None:
        click.echo(f"{evaluate} = {rate:.4g} MB/s")
    if where is not None:
        click.echo(f"wrote {where}", err=True)


def _measure(
    ranks: int | None, output: str | None, quick: bool, size: str | None, mpi_name: str | None, quiet: bool
) -> tuple[_core.memory.Profile, str]:
    from hocket.costs.memory import kept_path
    from hocket.errors import UsageError
    from hocket.launch.mpi import find_mpi
    from hocket.measure.memory.calibrate import DIFFER, cores, made_slower, usable_memory
    from hocket.measure.memory.calibrate import calibrate as measure

    check_writable(output)
    check_ranks_here(ranks, None, instead="")
    ranks = ranks or max(cores(), 2)
    usable = usable_memory(ranks, quick)
    memory = usable if size is None else parse_size(size, option="--memory")
    if memory < LEAST_MEMORY or memory > 4 * usable:
        raise UsageError(f"{memory} bytes per rank are too few or too many to measure with",
                         remedy=f"give from 1MiB to {4 * usable >> 20}MiB, or leave it out")  # fmt: skip
    path = output or str(kept_path())
    mpi = find_mpi(mpi_name)
    with progress_of(quiet) as report:
        profile = measure(mpi, ranks, memory, quick, report)
    write_atomically(path, [profile.text()])
    again = "calibrate again when nothing else runs"
    if DIFFER in profile.origin:
        click.echo(f"hocket: warning: many figures {DIFFER}; {again}", err=True)
    for sort, ratio in made_slower(mpi, ranks, memory, path).items():
        click.echo(
            f"hocket: warning: sorting {sort} keys takes {ratio:.1f} times as long by this profile as by the "
            f"built-in figures; {again}, or remove {path}",
            err=True,
        )
    return profile, path


def _print_transfers(profile: _core.memory.Profile, figures: dict[str, float], width: int) -> None:
    from hocket.measure.memory.basic import MEANINGS, WAYS, composed

    rows: list[list[Any]] = [[name, MEANINGS[name], f"{rate:,.0f}"] for name, rate in figures.items()]
    click.echo(as_columns(["transfer", f"elements of {width} bytes, out of the caches", "MB/s"], rows))
    click.echo()
    rows = [[what, way, f"{composed(way, figures):,.0f}"] for what, way in WAYS.items()]
    click.echo(as_columns(["operation", "composition", "MB/s"], rows))
